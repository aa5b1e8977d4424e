/* SPDX-License-Identifier: MIT */
/* See stream_sources.h. */
#include "stream_sources.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "database.h"
#include "folders.h"
#include "launch.h"
#include "library.h"

/* ---- libraries ---- */

static void add_all(const struct stream_sink *sink, rtl_publisher_streams_fn publisher,
		    const char *from)
{
	size_t count = 0;
	const struct rtl_stream_info *const *streams = publisher(&count);

	for (size_t i = 0; i < count; i++)
		sink->add(sink->user, streams[i], from);
}

/* One of rtl's own libraries, which has streams or not. */
static int add_own(const struct stream_sink *sink, char *path)
{
	int status = CLI_OK;

	if (!path)
		return cli_failed("out of memory");
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	rtl_publisher_streams_fn publisher = handle ? library_publisher(handle) : NULL;
	if (publisher)
		add_all(sink, publisher, path);
	else if (!handle && !access(path, F_OK))
		status = cli_failed("list-streams: %s", dlerror());
	else if (!handle)
		cli_error("this rtl has no interceptors for ROCm, and none of their streams: %s is "
			  "not there",
			  path);
	free(path);
	return status;
}

int streams_of_rtl(const struct stream_sink *sink)
{
	int status = add_own(sink, library_rtl());
	int rocm = add_own(sink, library_beside_rtl(LIBRARY_ROCM));
	char *path = library_beside_rtl(LIBRARY_XPTI);
	int xpti = CLI_OK;

	if (path && !access(path, F_OK))
		xpti = add_own(sink, path);
	else
		free(path);
	return status ? status : rocm ? rocm : xpti;
}

/* The library stays loaded: it may not like to go. */
static int add_library(const struct stream_sink *sink, const char *path)
{
	char *file = strchr(path, '/') || access(path, F_OK) ? strdup(path) : NULL;

	/* A name without a slash is a file in the working directory if there is one. */
	if (!file && asprintf(&file, "./%s", path) < 0)
		return cli_failed("out of memory");
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
	add_all(sink, publisher, path);
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
	const struct stream_sink *sink;
	const char *from;
	size_t count;
} listener;

static int on_stream(void *instance, const struct rtl_stream_info *stream)
{
	(void)instance;
	listener.count++;
	listener.sink->add(listener.sink->user, stream, listener.from);
	return 0;
}

static const struct rtl_subscriber subscriber = COLLECT_OWN("list-streams", on_stream, NULL, NULL);

/* All streams, whatever is to be recorded. */
static void listen(const struct stream_sink *sink, const char *from)
{
	unsetenv("RTL_STREAMS");
	listener.sink = sink;
	listener.from = from;
	listener.count = 0;
}

static int add_folder(const struct stream_sink *sink, const char *path)
{
	struct rtl_folder is;
	int status = folder_look("list-streams", path, &is);

	listen(sink, path);
	return status ? status : collect_inspect(path, true, &subscriber);
}

static int add_database(const struct stream_sink *sink, const char *path)
{
	struct database *database = database_open(path, false);
	int status = CLI_FAILED;

	listen(sink, path);
	if (database)
		status = collect_inspect(path, false, &subscriber);
	if (!status && !listener.count)
		status = cli_failed("%s tells of no streams: it was not written by rtl", path);
	if (!status)
		status = database_say_unfinished(database);
	database_close(database);
	return status;
}

int streams_of_path(const char *path, const struct stream_sink *sink)
{
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return add_folder(sink, path);
	return is_database(path) ? add_database(sink, path) : add_library(sink, path);
}

/* ---- commands ---- */

int streams_of_command(char **command, const struct stream_sink *sink, int *ended)
{
	/* paused: it is told of streams, and nothing is recorded */
	struct launch launch = {
		.command = command, .session = {.output_to_stderr = true}, .paused = true};
	int error = launch_find(command[0]), status;

	if (error)
		return launch_refuse(command[0], error);
	listen(sink, command[0]);
	launch_make_id(&launch);
	status = session_prepare_programs(&launch.session, launch.id);
	if (!status)
		status = collect_start(&launch, (struct rtl_collector_options){
							.kind = RTL_COLLECT,
							.subscribers = "",
							.own = &subscriber,
						});
	if (status)
		goto out;
	error = launch_collected(&launch, "list", ended);
	if (error)
		status = launch_refuse(command[0], error);
	launch_report_left(&launch);
out:
	launch_fini(&launch);
	return status;
}
