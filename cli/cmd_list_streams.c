/* SPDX-License-Identifier: MIT */
/*
 * rtl list-streams: what the publishers of rtl, and of any other library, publish. The libraries
 * are loaded and asked (rtl_publisher_streams of <rtl/plugin.h>), nothing is run.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "library.h"
#include "summary.h"

enum { OPTION_JSON };

static const struct cli_option options[] = {
	{0, "json", NULL, "print JSON, for programs"},
};

/* What is being printed. */
struct listing {
	bool json;
	size_t streams; /* printed so far */
};

static const char *kind_name(uint16_t kind)
{
	static const char *const names[] = {
		[RTL_KIND_UINT] = "uint",       [RTL_KIND_INT] = "int",
		[RTL_KIND_FLOAT] = "float",     [RTL_KIND_BOOL] = "bool",
		[RTL_KIND_ADDRESS] = "address", [RTL_KIND_TIME] = "time",
		[RTL_KIND_STRING] = "string",   [RTL_KIND_UID] = "uid",
		[RTL_KIND_TEXT] = "text",       [RTL_KIND_BYTES] = "bytes",
	};

	return kind < sizeof(names) / sizeof(*names) && names[kind] ? names[kind] : "unknown";
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
		snprintf(kind, sizeof(kind), "%s%u", kind_name(f->kind), f->size * 8);
		printf("    %-*s  %-9s  %-6s  %s\n", width, or_empty(f->name),
		       f->kind == RTL_KIND_UINT || f->kind == RTL_KIND_INT ||
				       f->kind == RTL_KIND_FLOAT
			       ? kind
			       : kind_name(f->kind),
		       f->unit && *f->unit ? f->unit : "-", or_empty(f->description));
	}
}

static void print_stream(const struct rtl_stream_info *stream, const char *library)
{
	printf("%s %u.%u: %s\n  from %s\n", or_empty(stream->name), stream->version_major,
	       stream->version_minor, or_empty(stream->description), library);
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
	print_member("kind", kind_name(field->kind));
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

static void print_stream_json(const struct rtl_stream_info *stream, const char *library)
{
	fputs("{\"name\":", stdout);
	summary_print_json_string(stdout, or_empty(stream->name));
	printf(",\"version\":\"%u.%u\"", stream->version_major, stream->version_minor);
	print_member("description", stream->description);
	print_member("library", library);
	fputs(",\"types\":[", stdout);
	for (uint32_t i = 0; i < stream->type_count; i++) {
		fputs(i ? ",\n   " : "\n   ", stdout);
		print_type_json(rtl_stream_type(stream, i));
	}
	fputs("]}", stdout);
}

/* ---- libraries ---- */

static void print_streams(struct listing *listing, rtl_publisher_streams_fn publisher,
			  const char *library)
{
	size_t count = 0;
	const struct rtl_stream_info *const *streams = publisher(&count);

	for (size_t i = 0; i < count; i++, listing->streams++) {
		if (listing->json) {
			fputs(listing->streams ? ",\n  " : "\n  ", stdout);
			print_stream_json(streams[i], library);
		} else {
			fputs(listing->streams ? "\n" : "", stdout);
			print_stream(streams[i], library);
		}
	}
}

/* Lists a library that the user named. The library stays loaded: it may not like to go. */
static int list_library(struct listing *listing, const char *path)
{
	char *file = strchr(path, '/') || access(path, F_OK) ? strdup(path) : NULL;

	/* A name without a slash is a file in the working directory if there is one. */
	if (!file && asprintf(&file, "./%s", path) < 0)
		return cli_failed("out of memory");
	void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
	free(file);
	if (!handle)
		return cli_failed("library %s cannot be loaded: %s", path, dlerror());
	rtl_publisher_streams_fn publisher = library_publisher(handle);
	if (!publisher)
		return cli_failed("library %s publishes no streams: it does not export '%s'", path,
				  RTL_PUBLISHER_SYMBOL);
	print_streams(listing, publisher, path);
	return CLI_OK;
}

/* Lists one of rtl's own libraries, which has streams or not. */
static int list_own(struct listing *listing, char *path, bool required)
{
	int status = CLI_OK;

	if (!path)
		return cli_failed("out of memory");
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	rtl_publisher_streams_fn publisher = handle ? library_publisher(handle) : NULL;
	if (publisher)
		print_streams(listing, publisher, path);
	else if (!handle && required)
		status = cli_failed("the collectors for ROCm cannot be loaded: %s", dlerror());
	free(path);
	return status;
}

static int list(struct listing *listing, char **libraries, size_t count)
{
	int status = list_own(listing, library_rtl(), false);
	/* Where the user asks for a library, rtl need not have collectors. */
	int rocm = list_own(listing, library_beside_rtl(LIBRARY_ROCM), !count);

	for (size_t i = 0; i < count; i++) {
		int error = list_library(listing, libraries[i]);
		if (error)
			status = error;
	}
	return status ? status : rocm;
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct cli_args args = CLI_ARGS(command, argc, argv);
	struct listing listing = {0};
	char **libraries = calloc((size_t)argc, sizeof(*libraries));
	size_t count = 0;
	int option, status = CLI_OK;

	if (!libraries)
		return cli_failed("out of memory");
	while ((option = cli_next(&args)) != CLI_END) {
		if (option == CLI_HELP || option == CLI_BAD) {
			status = option == CLI_BAD ? CLI_USAGE : CLI_OK;
			goto out;
		}
		if (option == OPTION_JSON)
			listing.json = true;
		else
			libraries[count++] = argv[args.next - 1];
	}
	if (listing.json)
		fputs("{\"streams\":[", stdout);
	status = list(&listing, libraries, count);
	if (listing.json)
		fputs("]}\n", stdout);
	option = cli_finish_output();
	if (!status)
		status = option;
out:
	free(libraries);
	return status;
}

const struct cli_command cmd_list_streams = {
	.name = "list-streams",
	.operands = "[LIBRARY]...",
	.purpose = "Shows the streams, their trace-point types and fields",
	.details = "LIBRARY is a shared object that publishes streams of its own.",
	.options = options,
	.option_count = sizeof(options) / sizeof(*options),
	.run = run,
};
