/* SPDX-License-Identifier: MIT */
/* See stream_print.h. */
#include "stream_print.h"

#include <stdio.h>
#include <string.h>

#include "summary.h"

static const char *const kind_names[] = {
	[RTL_KIND_UINT] = "uint",     [RTL_KIND_INT] = "int",         [RTL_KIND_FLOAT] = "float",
	[RTL_KIND_BOOL] = "bool",     [RTL_KIND_ADDRESS] = "address", [RTL_KIND_TIME] = "time",
	[RTL_KIND_STRING] = "string", [RTL_KIND_UID] = "uid",         [RTL_KIND_TEXT] = "text",
	[RTL_KIND_BYTES] = "bytes",   [RTL_KIND_ARGS] = "args",
};

#define KINDS (sizeof(kind_names) / sizeof(*kind_names))

const char *stream_kind_name(uint16_t kind)
{
	return kind < KINDS && kind_names[kind] ? kind_names[kind] : "unknown";
}

uint16_t stream_kind_by_name(const char *name)
{
	for (size_t kind = 0; kind < KINDS; kind++) {
		if (kind_names[kind] && !strcmp(kind_names[kind], name))
			return (uint16_t)kind;
	}
	return 0;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* ---- text ---- */

static void print_type(const struct rtl_type_info *type)
{
	int width = 4;

	printf("  %s (type %u, %u bytes): %s\n", or_empty(type->name), type->type,
	       type->payload_size, or_empty(type->description));
	for (uint32_t i = 0; i < type->field_count; i++) {
		int length = (int)strlen(or_empty(rtl_type_field(type, i)->name));
		if (length > width)
			width = length;
	}
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct rtl_field *f = rtl_type_field(type, i);
		char kind[32];
		snprintf(kind, sizeof(kind), "%s%u", stream_kind_name(f->kind), f->size * 8);
		printf("    %-*s  %-9s  %-6s  %s\n", width, or_empty(f->name),
		       f->kind == RTL_KIND_UINT || f->kind == RTL_KIND_INT ||
				       f->kind == RTL_KIND_FLOAT
			       ? kind
			       : stream_kind_name(f->kind),
		       f->unit && *f->unit ? f->unit : "-", or_empty(f->description));
	}
}

static void print_text(const struct rtl_stream_info *stream, const char *from)
{
	printf("%s %u.%u: %s\n  from %s\n", or_empty(stream->name), stream->version_major,
	       stream->version_minor, or_empty(stream->description), from);
	for (uint32_t i = 0; i < stream->type_count; i++)
		print_type(rtl_stream_type(stream, i));
}

/* ---- JSON ---- */

static void print_member(const char *key, const char *text)
{
	printf(",\"%s\":", key);
	summary_print_json_string(stdout, or_empty(text));
}

static void print_field_json(const struct rtl_field *field)
{
	fputs("{\"name\":", stdout);
	summary_print_json_string(stdout, or_empty(field->name));
	print_member("kind", stream_kind_name(field->kind));
	print_member("unit", field->unit);
	printf(",\"offset\":%u,\"size\":%u", field->offset, field->size);
	print_member("description", field->description);
	putchar('}');
}

static void print_type_json(const struct rtl_type_info *type)
{
	printf("{\"type\":%u", type->type);
	print_member("name", type->name);
	print_member("description", type->description);
	printf(",\"payload_size\":%u,\"fields\":[", type->payload_size);
	for (uint32_t i = 0; i < type->field_count; i++) {
		fputs(i ? ",\n    " : "\n    ", stdout);
		print_field_json(rtl_type_field(type, i));
	}
	fputs("]}", stdout);
}

static void print_stream_json(const struct rtl_stream_info *stream, const char *from)
{
	fputs("{\"name\":", stdout);
	summary_print_json_string(stdout, or_empty(stream->name));
	printf(",\"version\":\"%u.%u\"", stream->version_major, stream->version_minor);
	print_member("description", stream->description);
	print_member("from", from);
	fputs(",\"types\":[", stdout);
	for (uint32_t i = 0; i < stream->type_count; i++) {
		fputs(i ? ",\n   " : "\n   ", stdout);
		print_type_json(rtl_stream_type(stream, i));
	}
	fputs("]}", stdout);
}

void stream_print_begin(const struct stream_print *print)
{
	if (print->json)
		fputs("{\"streams\":[", stdout);
}

void stream_print(struct stream_print *print, const struct rtl_stream_info *stream,
		  const char *from)
{
	if (print->json) {
		fputs(print->streams ? ",\n  " : "\n  ", stdout);
		print_stream_json(stream, from);
	} else {
		fputs(print->streams ? "\n" : "", stdout);
		print_text(stream, from);
	}
	print->streams++;
}

void stream_print_end(const struct stream_print *print)
{
	if (print->json)
		fputs("]}\n", stdout);
}
