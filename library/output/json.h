/* SPDX-License-Identifier: MIT */
/* json.h: writes JSON to a file, with commas, brackets and escapes where they belong. Texts of any bytes become valid
 * UTF-8. Errors are the file's (ferror). One thread for each struct json.
 *
 *     struct json json = {.file = stdout};
 *
 *     json_print(&json, "{name:%s rows:[", name);
 *     for (...)
 *             json_print(&json, "{count:%lu}", count);
 *     json_print(&json, "]}");                    // {"name":"x","rows":[ ... ]} and a line's end
 *
 * Keys are NULL for what stands in an array, and for the outermost. An object in an array begins a line. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Objects and arrays in each other. */
#define JSON_DEPTH_MAX 64u

/** All zeros but for the file at the beginning. */
struct json {
	FILE *file;
	unsigned depth;
	bool filled;     /* something stands before in the innermost one */
	uint64_t arrays; /* a bit for each depth */
};

void json_object(struct json *json, const char *key);
void json_array(struct json *json, const char *key);
/** Ends the innermost object or array. */
void json_end(struct json *json);

void json_text(struct json *json, const char *key, const char *text);
void json_number(struct json *json, const char *key, uint64_t number);
/** A value that is JSON already, such as a number in decimal; NULL: null. */
void json_value(struct json *json, const char *key, const char *value);
/** Several of them, with or without a blank between. `key:` stands before a value; with a ? before it that is left out
 * if it is 0 or NULL. Values: { and [ begin an object or array, } and ] end the innermost; %s is a text, %u %lu %d %ld a
 * number, %i a bool, %.6f a number with so many decimals, one digit. */
__attribute__((format(printf, 2, 3))) void json_print(struct json *json, const char *format, ...);

/** The most bytes that json_escape makes of one. */
#define JSON_ESCAPED_MAX 6u
/** Writes a text as JSON has it between quotes; what is no valid UTF-8 becomes U+FFFD. Returns the end. */
char *json_escape(char *to, const char *text, size_t length);
/** A text alone, quotes included. */
void json_string(FILE *file, const char *text);
