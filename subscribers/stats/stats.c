/* SPDX-License-Identifier: MIT */
/* The statistics subscriber, libstats_sub.so: sums up by name how long things took and how busy each GPU was, and
 * prints that at the end. Memory is bounded, nothing is allocated for an event. rtl-stats(7) is its manual, sink.h says
 * what it counts.
 *
 * Threads: the host calls one instance from one thread at a time; instances share nothing. */
#include "host.h"
#include "output_place.h"
#include "sink.h"

struct stats {
	const struct rtl_host *host;
	struct sink sink;
	struct summary *summary;
	char *pattern; /* of the output; NULL: stderr */
	char *folder;  /* that a relative one counts from */
	char *path;    /* absolute, once it is known */
	/* What stderr was at the start: a program may put another file in its place. */
	dev_t stderr_device;
	ino_t stderr_inode;
	bool json;
	unsigned top; /* 0: all */
};

/* ---- settings ---- */

/* The pattern with its names, absolute. */
static int name_output(struct stats *stats, const struct output_names *names)
{
	char *name = NULL;
	int error = output_expand(stats->pattern, names, &name);

	if (error == RTL_EINVAL)
		return host_fail(stats->host, error, "output=%s: %s", stats->pattern,
				 OUTPUT_NAME_KNOWN);
	if (!error && asprintf(&stats->path, "%s%s%s", *name == '/' ? "" : stats->folder,
			       *name == '/' ? "" : "/", name) < 0) {
		stats->path = NULL;
		error = RTL_ENOMEM;
	}
	free(name);
	return error ? host_fail(stats->host, error, "out of memory") : 0;
}

/* A descriptor, or an error, said. */
static int open_path(const struct stats *stats, int flags)
{
	uid_t owner;
	const int fd = output_open(stats->path, O_WRONLY | O_CREAT | flags, &owner);

	if (fd == OUTPUT_NOT_OURS)
		return host_fail(stats->host, RTL_EIO, "%s: " OUTPUT_FOREIGN, stats->path,
				 (unsigned)owner);
	return fd >= 0 ? fd
		       : host_fail(stats->host, RTL_EIO,
				   "cannot write %s: %s; choose another file with output=",
				   stats->path, strerror(errno));
}

/* As much as can be known of the output now: its name, or at least that its pattern is one. */
static int set_output(struct stats *stats, const char *value)
{
	struct output_names_room room;
	struct output_names names;
	bool known = output_names_known(stats->host, value, &room, &names);
	int error, fd;

	if (!strcmp(value, "stderr"))
		return 0;
	stats->pattern = strdup(value);
	stats->folder = *value == '/' ? strdup("") : getcwd(NULL, 0);
	if (!stats->pattern || !stats->folder)
		return host_fail(stats->host, RTL_EIO, "working directory: %s", strerror(errno));
	if (!known)
		names = output_names_here(&room);
	error = name_output(stats, &names);
	if (!error && known) {
		fd = open_path(stats, 0); /* whether that can be */
		return fd < 0 ? fd : close(fd);
	}
	free(stats->path);
	stats->path = NULL;
	return error;
}

enum { OUTPUT, FORMAT, TOP, BY, GROUPS };

static const struct rtl_setting_info infos[] = {
	[OUTPUT] = RTL_TEXT_SETTING("output", "stderr", 1, 0,
				    "file, or stderr; with %p, %e, %h: pid, program, host"),
	[FORMAT] = RTL_CHOICE_SETTING("format", "text", "text|json",
				      "text, a table for people; json, for programs"),
	[TOP] = RTL_NUMBER_SETTING("top", "20", 0, 0,
				   "rows of a table, those that took longest; 0: all, as in json"),
	[BY] = RTL_CHOICE_SETTING("by", "none", "none|range|stream|thread|process|gpu|graph|group",
				  "what tables are broken down by"),
	[GROUPS] = RTL_TEXT_SETTING("groups", NULL, 1, 0,
				    "file of patterns of kernels' names, for by=group"),
};

static int set(struct stats *stats, const struct rtl_setting *settings)
{
	const struct rtl_setting *top = rtl_setting_at(settings, TOP);
	const struct rtl_setting *by = rtl_setting_at(settings, BY);
	char error[SUMMARY_ERROR];
	const int is = summary_set_by(stats->summary, by->number ? by->value : NULL,
				      rtl_setting_at(settings, GROUPS)->value, error);

	if (is)
		return host_fail(stats->host, is, "%s", error);

	stats->json = rtl_setting_at(settings, FORMAT)->number == 1;
	stats->top = stats->json && !top->given ? 0
		     : top->number > UINT32_MAX ? UINT32_MAX
						: (unsigned)top->number;
	return set_output(stats, rtl_setting_at(settings, OUTPUT)->value);
}

/* ---- the subscriber ---- */

static void stats_destroy(void *instance)
{
	struct stats *stats = instance;

	sink_fini(&stats->sink);
	summary_destroy(stats->summary);
	free(stats->pattern);
	free(stats->folder);
	free(stats->path);
	free(stats);
}

static int stats_create(const struct rtl_host *host, const struct rtl_setting *settings,
			size_t count, void **instance)
{
	struct stats *stats = calloc(1, sizeof(*stats));
	struct stat st;
	int error;

	if (!stats)
		return host_fail(host, RTL_ENOMEM, "out of memory");
	stats->host = host;
	stats->summary = summary_create();
	sink_init(&stats->sink, host, stats->summary);
	if (!fstat(STDERR_FILENO, &st)) {
		stats->stderr_device = st.st_dev;
		stats->stderr_inode = st.st_ino;
	}
	error = stats->summary ? set(stats, settings)
			       : host_fail(stats->host, RTL_ENOMEM, "out of memory");
	if (error)
		stats_destroy(stats);
	else
		*instance = stats;
	return error;
}

static int stats_stream(void *instance, const struct rtl_stream_info *stream)
{
	struct stats *stats = instance;

	return sink_add_stream(&stats->sink, stream);
}

/* Not where a program has put another file in its place. */
static int open_stderr(const struct stats *stats)
{
	struct stat st;
	int fd;

	errno = EBADF;
	fd = fstat(STDERR_FILENO, &st) || st.st_dev != stats->stderr_device ||
			     st.st_ino != stats->stderr_inode
		     ? -1
		     : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? host_fail(stats->host, RTL_EIO, "cannot write to stderr: %s",
				  strerror(errno))
		      : fd;
}

static int print(struct stats *stats, const char *title)
{
	const struct summary_style style = {.title = title, .top = stats->top};
	const int fd = stats->path ? open_path(stats, O_TRUNC) : open_stderr(stats);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	bool good = file;

	if (fd < 0)
		return fd;
	if (!file) {
		close(fd);
	} else {
		if (stats->json)
			summary_print_json(stats->summary, file, &style);
		else
			summary_print_text(stats->summary, file, &style);
		good = !ferror(file);
		good &= !fclose(file);
	}
	return good ? 0
		    : host_fail(stats->host, RTL_EIO, "cannot write %s: %s",
				stats->path ? stats->path : "to stderr", strerror(errno));
}

static int stats_finish(void *instance)
{
	struct stats *stats = instance;
	const struct rtl_process *process = stats->host->process(stats->host, 1);
	struct output_names names;
	char *title = NULL;
	int error = 0;

	if (sink_finish(&stats->sink))
		return host_fail(stats->host, RTL_ENOMEM, "out of memory");
	if (stats->pattern && !stats->path) {
		if (!process)
			return 0; /* there was none, and nothing to name the file after */
		names = output_names_of(process);
		error = name_output(stats, &names);
	}
	if (error)
		return error;
	if (process && asprintf(&title, "rtl: %s, process %d", process->program, process->pid) < 0)
		title = NULL;
	error = print(stats, title ? title : "rtl");
	free(title);
	return error;
}

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "stats",
	.version = HOST_RTL_VERSION,
	.description = "sums up kernels and other events by name, prints a table at the end",
	.settings = infos,
	.setting_count = sizeof(infos) / sizeof(*infos),
	.create = stats_create,
	.stream = stats_stream,
	.finish = stats_finish,
	.destroy = stats_destroy,
};
