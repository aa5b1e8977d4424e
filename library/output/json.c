/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <inttypes.h>
#include <stdarg.h>

#include "utf8.h"

static const char digits[] = "0123456789abcdef";

/* Whether a byte stands for itself in JSON, without a look at its neighbours. */
static inline bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static char *escape_byte(char *to, unsigned char c)
{
	static const char letters[32] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};

	*to++ = '\\';
	if (c == '"' || c == '\\') {
		*to++ = (char)c;
	} else if (c < 32 && letters[c]) {
		*to++ = letters[c];
	} else {
		memcpy(to, "u00", 3);
		to[3] = digits[c >> 4];
		to[4] = digits[c & 15];
		to += 5;
	}
	return to;
}

char *json_escape(char *to, const char *text, size_t length)
{
	const unsigned char *s = (const unsigned char *)text;

	for (size_t i = 0, n; i < length; i += n) {
		n = 1;
		if (__builtin_expect(is_plain(s[i]), 1))
			*to++ = (char)s[i];
		else if (s[i] && s[i] < 0x80)
			to = escape_byte(to, s[i]);
		else
			to = utf8_copy(to, s + i, length - i, &n);
	}
	return to;
}

void json_string(FILE *file, const char *text)
{
	size_t left = strlen(text);
	char room[JSON_ESCAPED_MAX * 128];

	putc('"', file);
	while (left) {
		size_t n = left < 128 ? left : 128;

		/* Not within a sequence. */
		while (n > 125 && n < left && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
		fwrite(room, 1, (size_t)(json_escape(room, text, n) - room), file);
		text += n;
		left -= n;
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
	json->filled = json->depth;
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

void json_value(struct json *json, const char *key, const char *value)
{
	begin(json, key);
	fputs(value ? value : "null", json->file);
}

/* Writes what a conversion, behind its percent sign, stands for. Returns its end. */
static const char *print_value(struct json *json, const char *key, const char *at, bool is_optional,
			       va_list *args)
{
	const bool is_long = *at == 'l';
	const char *text;
	uint64_t number;

	at += is_long;
	switch (*at) {
	case 's':
		text = va_arg(*args, const char *);
		if (text || !is_optional)
			json_text(json, key, text);
		break;
	case 'i':
		json_value(json, key, va_arg(*args, int) ? "true" : "false");
		break;
	case 'd':
		begin(json, key);
		fprintf(json->file, "%ld", is_long ? va_arg(*args, long) : va_arg(*args, int));
		break;
	case 'u':
		number = is_long ? va_arg(*args, unsigned long) : va_arg(*args, unsigned);
		if (number || !is_optional)
			json_number(json, key, number);
		break;
	default: /* .6f */
		begin(json, key);
		fprintf(json->file, "%.*f", at[1] - '0', va_arg(*args, double));
		return at + 3;
	}
	return at + 1;
}

void json_print(struct json *json, const char *format, ...)
{
	char name[32], *key;
	va_list args;

	va_start(args, format);
	for (const char *at = format; *(at += strspn(at, " "));) {
		const bool is_optional = *at == '?';
		const size_t length = strcspn(at += is_optional, ":{[%]}");

		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		key = length ? name : NULL;
		at += length + (at[length] == ':');
		if (*at == '%')
			at = print_value(json, key, at + 1, is_optional, &args);
		else if (*at == '{' || *at == '[')
			open(json, key, *at++ == '[');
		else
			json_end(json), at++;
	}
	va_end(args);
}
