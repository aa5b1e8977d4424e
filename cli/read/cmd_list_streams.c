/* SPDX-License-Identifier: MIT */
/* rtl list-streams: what can be subscribed to: of rtl, of a library, in a trace, in a command. */
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "database.h"
#include "embed.h"
#include "folders.h"
#include "launch.h"
#include "library.h"
#include "view.h"
#include "wanted.h"

EMBED(list_streams_sql, RTL_CLI "/read/list_streams.sql");

struct listing {
	struct cli_operands operands;
	bool as_json;
	struct view view;
	size_t count;
};

/* ---- descriptions ---- */

static void write_type(struct json *json, const struct rtl_type_info *type)
{
	json_print(json, "{type:%u name:%s description:%s payload_size:%u fields:[", type->type,
		   cli_text(type->name), cli_text(type->description), type->payload_size);
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct rtl_field *field = rtl_type_field(type, i);

		json_print(json, "{name:%s kind:%s unit:%s offset:%u size:%u description:%s}",
			   cli_text(field->name), wanted_kind_name(field->kind),
			   cli_text(field->unit), field->offset, field->size,
			   cli_text(field->description));
	}
	json_print(json, "]}");
}

static void add_stream(struct listing *listing, const struct rtl_stream_info *stream,
		       const char *from)
{
	struct json *json = &listing->view.json;
	char version[16];

	snprintf(version, sizeof(version), "%u.%u", stream->version_major, stream->version_minor);
	json_print(json, "{name:%s version:%s description:%s from:%s types:[",
		   cli_text(stream->name), version, cli_text(stream->description), cli_text(from));
	for (uint32_t i = 0; i < stream->type_count; i++)
		write_type(json, rtl_stream_type(stream, i));
	json_print(json, "]}");
	listing->count++;
}

/* ---- libraries ---- */

static void add_all(struct listing *listing, rtl_publisher_streams_fn publisher, const char *from)
{
	size_t count = 0;
	const struct rtl_stream_info *const *streams = publisher(&count);

	for (size_t i = 0; i < count; i++)
		add_stream(listing, streams[i], from);
}

/* Adds the streams of one of rtl's own libraries, if it has any. */
static int add_own(struct listing *listing, char *path)
{
	int status = CLI_OK;
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	rtl_publisher_streams_fn publisher = handle ? library_publisher(handle) : NULL;
	if (publisher)
		add_all(listing, publisher, path);
	else if (!handle && !access(path, F_OK))
		status = cli_failed("list-streams: %s", dlerror());
	else if (!handle)
		cli_error("this rtl has no interceptors for ROCm, and none of their streams: %s is "
			  "missing",
			  path);
	free(path);
	return status;
}

static int add_rtl(struct listing *listing)
{
	int status = add_own(listing, library_rtl());
	int rocm = add_own(listing, library_beside_rtl(LIBRARY_ROCM));
	static const char *const optional[] = {LIBRARY_RCCL, LIBRARY_XPTI};

	status = status ? status : rocm;
	for (size_t i = 0; !status && i < sizeof(optional) / sizeof(*optional); i++) {
		char *path = library_beside_rtl(optional[i]);

		if (!access(path, F_OK))
			status = add_own(listing, path);
		else
			free(path);
	}
	return status;
}

/* The library stays loaded: unloading may crash it. */
static int add_library(struct listing *listing, const char *path)
{
	/* A name without a slash is a file in the working directory if there is one. */
	const bool is_here = !strchr(path, '/') && !access(path, F_OK);
	char *file = cli_format("%s%s", is_here ? "./" : "", path);
	void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
	bool runs = !handle && !access(file, X_OK);
	free(file);
	if (!handle && runs)
		return cli_failed("%s is neither a library nor a trace; `rtl list-streams -- %s` "
				  "runs it as a command",
				  path, path);
	if (!handle)
		return cli_failed("library %s cannot be loaded: %s", path, dlerror());
	rtl_publisher_streams_fn publisher = library_publisher(handle);
	if (!publisher)
		return cli_failed("library %s publishes no streams: it does not export '%s'", path,
				  RTL_PUBLISHER_SYMBOL);
	add_all(listing, publisher, path);
	return CLI_OK;
}

static bool is_database(const char *path)
{
	static const char magic[] = "SQLite format 3"; /* with its NUL: 16 bytes */
	char head[sizeof(magic)] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, head, sizeof(head));

	if (fd >= 0)
		close(fd);
	return size == (ssize_t)sizeof(head) && !memcmp(head, magic, sizeof(head));
}

/* ---- what the bus knows of processes ---- */

static struct {
	struct listing *listing; /* a subscriber of the command's own can be given nothing */
	const char *from;
} listener;

static int on_stream(void *instance, const struct rtl_stream_info *stream)
{
	add_stream(listener.listing, stream, listener.from);
	return 0;
}

static const struct rtl_subscriber subscriber = COLLECT_OWN("list-streams", on_stream, NULL, NULL);

/* All streams, whatever is to be recorded. */
static void listen(struct listing *listing, const char *from)
{
	unsetenv("RTL_STREAMS");
	listener.listing = listing;
	listener.from = from;
}

static int add_folder(struct listing *listing, const char *path)
{
	struct rtl_folder is;
	int status = folder_look("list-streams", path, &is);

	listen(listing, path);
	return status ? status : collect_inspect(path, true, &subscriber);
}

static int add_database(struct listing *listing, const char *path)
{
	struct database *database = database_open(path, false);
	const size_t before = listing->count;
	int status = CLI_FAILED;

	listen(listing, path);
	if (database)
		status = collect_inspect(path, false, &subscriber);
	if (!status && listing->count == before)
		status = cli_failed("%s describes no streams: it was not written by rtl", path);
	if (!status)
		status = database_say_unfinished(database);
	database_close(database);
	return status;
}

static int add_path(struct listing *listing, const char *path)
{
	if (folder_is(path))
		return add_folder(listing, path);
	return is_database(path) ? add_database(listing, path) : add_library(listing, path);
}

/* ---- commands ---- */

static int add_command(struct listing *listing, char **command, int *ended)
{
	/* paused: it is told of streams, and nothing is recorded */
	struct launch launch = {
		.command = command, .session = {.output_to_stderr = true}, .paused = true};
	int error = launch_find(command[0], NULL), status;

	if (error)
		return launch_refuse(command[0], error);
	listen(listing, command[0]);
	launch_make_id(&launch);
	status = session_prepare_programs(&launch.session, launch.id);
	if (!status)
		status = launch_run(&launch,
				    (struct rtl_collector_options){.kind = RTL_COLLECT,
								   .subscribers = "",
								   .own = &subscriber},
				    "list", ended);
	launch_report_left(&launch);
	launch_fini(&launch);
	return status;
}

static int add_command_streams(struct listing *listing, int *ended)
{
	const size_t before = listing->count;
	const int status = add_command(listing, listing->operands.command, ended);

	if (status || listing->count > before)
		return status;
	return cli_failed("%s registered no stream: it does so through librtl or <rtl/stub.h>, or, "
			  "if it uses a GPU, when it initialises the HSA runtime",
			  listing->operands.command[0]);
}

/* ---- the command ---- */

static int list(struct listing *listing, int *ended)
{
	int status = CLI_OK, error;

	view_begin(&listing->view, listing->as_json);
	json_print(&listing->view.json, "{streams:[");
	if (!listing->operands.count && !listing->operands.command)
		status = add_rtl(listing);
	for (size_t i = 0; i < listing->operands.count; i++) {
		error = add_path(listing, listing->operands.list[i]);
		status = error ? error : status;
	}
	if (listing->operands.command) {
		error = add_command_streams(listing, ended);
		status = error ? error : status;
	}
	error = view_end(&listing->view, list_streams_sql);
	return status ? status : error;
}

static const struct cli_option options[] = {
	CLI_FLAG(0, "json", offsetof(struct listing, as_json), "print JSON, for programs"),
};

static int run(void *listing)
{
	int ended = 0, status = list(listing, &ended);

	if (ended)
		child_end_like(ended);
	return status;
}

const struct cli_command cmd_list_streams = {
	.name = "list-streams",
	.operands = "[PATH]... [-- COMMAND...]",
	.purpose = "Lists the streams, their trace-point types and fields",
	.details = "PATH is a library that describes its streams, a trace, or the folder of a\n"
		   "recording. COMMAND is run to see which streams it registers; nothing is\n"
		   "recorded, and its standard output goes to standard error.\n"
		   "Without either: the streams of rtl itself.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct listing, operands, SIZE_MAX, NULL),
	.runs = CLI_RUNS_REST,
	.run = run,
};
