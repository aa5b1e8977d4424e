/* SPDX-License-Identifier: MIT */
/* See stream_print.h. */
#include "stream_print.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"

static const char *const kind_names[] = {
	[RTL_KIND_UINT] = "uint",     [RTL_KIND_INT] = "int",         [RTL_KIND_FLOAT] = "float",
	[RTL_KIND_BOOL] = "bool",     [RTL_KIND_ADDRESS] = "address", [RTL_KIND_TIME] = "time",
	[RTL_KIND_STRING] = "string", [RTL_KIND_UID] = "uid",         [RTL_KIND_TEXT] = "text",
	[RTL_KIND_BYTES] = "bytes",   [RTL_KIND_ARGS] = "args",       [RTL_KIND_VALUES] = "values",
};

#define KINDS (sizeof(kind_names) / sizeof(*kind_names))

static const char *stream_kind_name(uint16_t kind)
{
	return kind < KINDS && kind_names[kind] ? kind_names[kind] : "unknown";
}

/* ---- text ---- */

static void print_type(const struct rtl_type_info *type)
{
	int width = 4;

	printf("  %s (type %u, %u bytes): %s\n", cli_text(type->name), type->type,
	       type->payload_size, cli_text(type->description));
	for (uint32_t i = 0; i < type->field_count; i++) {
		int length = (int)strlen(cli_text(rtl_type_field(type, i)->name));
		if (length > width)
			width = length;
	}
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct rtl_field *f = rtl_type_field(type, i);
		char kind[32];
		snprintf(kind, sizeof(kind), "%s%u", stream_kind_name(f->kind), f->size * 8);
		printf("    %-*s  %-9s  %-6s  %s\n", width, cli_text(f->name),
		       f->kind == RTL_KIND_UINT || f->kind == RTL_KIND_INT ||
				       f->kind == RTL_KIND_FLOAT
			       ? kind
			       : stream_kind_name(f->kind),
		       f->unit && *f->unit ? f->unit : "-", cli_text(f->description));
	}
}

static void print_text(const struct rtl_stream_info *stream, const char *from)
{
	printf("%s %u.%u: %s\n  from %s\n", cli_text(stream->name), stream->version_major,
	       stream->version_minor, cli_text(stream->description), from);
	for (uint32_t i = 0; i < stream->type_count; i++)
		print_type(rtl_stream_type(stream, i));
}

/* ---- JSON ---- */

static void print_field_json(struct json *json, const struct rtl_field *field)
{
	json_object(json, NULL);
	json_text(json, "name", cli_text(field->name));
	json_text(json, "kind", stream_kind_name(field->kind));
	json_text(json, "unit", cli_text(field->unit));
	json_number(json, "offset", field->offset);
	json_number(json, "size", field->size);
	json_text(json, "description", cli_text(field->description));
	json_end(json);
}

static void print_type_json(struct json *json, const struct rtl_type_info *type)
{
	json_object(json, NULL);
	json_number(json, "type", type->type);
	json_text(json, "name", cli_text(type->name));
	json_text(json, "description", cli_text(type->description));
	json_number(json, "payload_size", type->payload_size);
	json_array(json, "fields");
	for (uint32_t i = 0; i < type->field_count; i++)
		print_field_json(json, rtl_type_field(type, i));
	json_end(json);
	json_end(json);
}

static void print_stream_json(struct json *json, const struct rtl_stream_info *stream,
			      const char *from)
{
	char version[16];

	snprintf(version, sizeof(version), "%u.%u", stream->version_major, stream->version_minor);
	json_object(json, NULL);
	json_text(json, "name", cli_text(stream->name));
	json_text(json, "version", version);
	json_text(json, "description", cli_text(stream->description));
	json_text(json, "from", cli_text(from));
	json_array(json, "types");
	for (uint32_t i = 0; i < stream->type_count; i++)
		print_type_json(json, rtl_stream_type(stream, i));
	json_end(json);
	json_end(json);
}

void stream_print_begin(struct stream_print *print)
{
	if (!print->as_json)
		return;
	print->json.file = stdout;
	json_object(&print->json, NULL);
	json_array(&print->json, "streams");
}

void stream_print(struct stream_print *print, const struct rtl_stream_info *stream,
		  const char *from)
{
	if (print->as_json) {
		print_stream_json(&print->json, stream, from);
	} else {
		fputs(print->streams ? "\n" : "", stdout);
		print_text(stream, from);
	}
	print->streams++;
}

void stream_print_end(struct stream_print *print)
{
	if (!print->as_json)
		return;
	json_end(&print->json);
	json_end(&print->json);
}
