/* SPDX-License-Identifier: MIT */
/* json.h: writes JSON to a file, with commas, brackets and escapes where they belong. Texts of any bytes become valid
 * UTF-8. Errors are the file's (ferror). One thread for each struct json.
 *
 *     struct json json = {.file = stdout};
 *
 *     json_object(&json, NULL);
 *     json_text(&json, "name", name);             // NULL: null
 *     json_array(&json, "rows");
 *     for (...) {
 *             json_object(&json, NULL);
 *             json_number(&json, "count", count);
 *             json_end(&json);
 *     }
 *     json_end(&json);
 *     json_end(&json);                            // {"name":"x","rows":[ ... ]} and a line's end
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
/** Several: as many numbers as there are keys, which have a space between them; "?key": not if it is 0. */
#define json_numbers(json, keys, ...) json_number_list(json, keys, (const uint64_t[]){__VA_ARGS__})
void json_number_list(struct json *json, const char *keys, const uint64_t *numbers);
void json_bool(struct json *json, const char *key, bool value);
void json_real(struct json *json, const char *key, double number, int decimals);
/** A value that is JSON already, such as a number in decimal; NULL: null. */
void json_value(struct json *json, const char *key, const char *value);

/** The most bytes that json_escape makes of one. */
#define JSON_ESCAPED_MAX 6u
/** Writes a text as JSON has it between quotes; what is no valid UTF-8 becomes U+FFFD. Returns the end. */
char *json_escape(char *to, const char *text, size_t length);
/** A text alone, quotes included. */
void json_string(FILE *file, const char *text);
