/* SPDX-License-Identifier: MIT */
/* See json.h. */
#include "json.h"

#include <inttypes.h>
#include <string.h>

#include "utf8.h"

static void write_byte(FILE *file, unsigned char c)
{
	if (c == '"' || c == '\\')
		fprintf(file, "\\%c", c);
	else if (c < 0x20 || c == 0x7f)
		fprintf(file, "\\u%04x", c);
	else
		putc(c, file);
}

void json_string(FILE *file, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t left = strlen(text), length;

	putc('"', file);
	for (; left; p += length, left -= length) {
		length = utf8_length(p, left);
		if (length == 1)
			write_byte(file, *p);
		else if (length)
			fwrite(p, 1, length, file);
		else
			fputs("\\ufffd", file);
		length += !length;
	}
	putc('"', file);
}

/* What stands before a value. */
static void begin(struct json *json, const char *key)
{
	if (json->filled)
		putc(',', json->file);
	json->filled = true;
	if (!key)
		return;
	json_string(json->file, key);
	putc(':', json->file);
}

static void open(struct json *json, const char *key, bool array)
{
	const uint64_t bit = (uint64_t)1 << (json->depth % JSON_DEPTH_MAX);

	begin(json, key);
	if (!array && json->depth && json->arrays & bit >> 1)
		fprintf(json->file, "\n%*s", (int)json->depth, "");
	putc(array ? '[' : '{', json->file);
	json->arrays = array ? json->arrays | bit : json->arrays & ~bit;
	json->depth++;
	json->filled = false;
}

void json_object(struct json *json, const char *key)
{
	open(json, key, false);
}

void json_array(struct json *json, const char *key)
{
	open(json, key, true);
}

void json_end(struct json *json)
{
	json->depth--;
	putc(json->arrays >> (json->depth % JSON_DEPTH_MAX) & 1 ? ']' : '}', json->file);
	json->filled = true;
	if (!json->depth)
		putc('\n', json->file);
}

void json_text(struct json *json, const char *key, const char *text)
{
	begin(json, key);
	if (text)
		json_string(json->file, text);
	else
		fputs("null", json->file);
}

void json_number(struct json *json, const char *key, uint64_t number)
{
	begin(json, key);
	fprintf(json->file, "%" PRIu64, number);
}

void json_bool(struct json *json, const char *key, bool value)
{
	json_value(json, key, value ? "true" : "false");
}

void json_real(struct json *json, const char *key, double number, int decimals)
{
	begin(json, key);
	fprintf(json->file, "%.*f", decimals, number);
}

void json_value(struct json *json, const char *key, const char *value)
{
	begin(json, key);
	fputs(value ? value : "null", json->file);
}
