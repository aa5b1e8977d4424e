/* SPDX-License-Identifier: MIT */
/*
 * plugin.c: the descriptor, the settings, and the calls of the host.
 *
 * The output is opened in create; where its name depends on a process that is not known yet, with
 * the first process. In a collector, which starts its command next, a thread makes the tables
 * meanwhile; it is waited for before anything else is done.
 */
#include "sub.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STRING(x)  STRING_(x)
#define STRING_(x) #x

static const struct rtl_setting_info setting_infos[] = {
	{
		.struct_size = sizeof(struct rtl_setting_info),
		.key = "output",
		.fallback = "rtl-%e-%p.db",
		.description = "file to write; %e program, %p pid, %h host name",
	},
	{
		.struct_size = sizeof(struct rtl_setting_info),
		.key = "batch",
		.fallback = "8192",
		.description = "rows of a transaction in hosts that cannot tell positions, 1000 to "
			       "10000000",
	},
	{
		.struct_size = sizeof(struct rtl_setting_info),
		.key = "page_size",
		.fallback = "16384",
		.description = "bytes of a page of the database, a power of two, 512 to 65536",
	},
	{
		.struct_size = sizeof(struct rtl_setting_info),
		.key = "links",
		.fallback = "yes",
		.description =
			"yes or no: rows of rocpd_api, rocpd_api_ops and rocpd_kernelapi for "
			"each dispatch, which RPD's tools ask for",
	},
	{
		.struct_size = sizeof(struct rtl_setting_info),
		.key = "args",
		.fallback = "yes",
		.description = "yes or no: calls with their arguments, where these were recorded",
	},
	{
		.struct_size = sizeof(struct rtl_setting_info),
		.key = "gpu",
		.fallback = "node",
		.description = "node or index: whether gpuId of rocpd_op is the KFD node of a GPU, "
			       "as elsewhere in the file, or its place among the GPUs, from 0",
	},
};

#define SETTING_COUNT (sizeof(setting_infos) / sizeof(setting_infos[0]))

static const char *setting_value(const struct rtl_setting *settings, size_t count, size_t which)
{
	const char *value = setting_infos[which].fallback;

	for (size_t i = 0; i < count; i++)
		if (strcmp(settings[i].key, setting_infos[which].key) == 0)
			value = settings[i].value ? settings[i].value : "";
	return value;
}

static bool parse_number(const char *text, uint32_t min, uint32_t max, uint32_t *out)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value < min || value > max)
		return false;
	*out = (uint32_t)value;
	return true;
}

static bool parse_switch(const char *text, bool *out)
{
	*out = strcmp(text, "yes") == 0;
	return *out || strcmp(text, "no") == 0;
}

static bool parse_gpu(const char *text, bool *is_index)
{
	*is_index = strcmp(text, "index") == 0;
	return *is_index || strcmp(text, "node") == 0;
}

static bool parse_page_size(const char *text, uint32_t *out)
{
	return parse_number(text, 512, 65536, out) && (*out & (*out - 1)) == 0;
}

static int refuse_setting(const struct rtl_host *host, size_t which, const char *value)
{
	char line[512];

	snprintf(line, sizeof(line), "%s=%.100s: should be: %s", setting_infos[which].key, value,
		 setting_infos[which].description);
	host->report(host, RTL_LEVEL_ERROR, line);
	return RTL_EINVAL;
}

static int parse_settings(struct sub *sub, const struct rtl_setting *settings, size_t count)
{
	struct settings *s = &sub->settings;
	const char *values[SETTING_COUNT];
	bool fine[SETTING_COUNT];

	for (size_t i = 0; i < SETTING_COUNT; i++)
		values[i] = setting_value(settings, count, i);
	fine[0] = *values[0] != '\0';
	fine[1] = parse_number(values[1], 1000, 10000000, &s->batch);
	fine[2] = parse_page_size(values[2], &s->page_size);
	fine[3] = parse_switch(values[3], &s->links);
	fine[4] = parse_switch(values[4], &s->args);
	fine[5] = parse_gpu(values[5], &s->gpu_index);
	for (size_t i = 0; i < SETTING_COUNT; i++)
		if (!fine[i])
			return refuse_setting(sub->host, i, values[i]);
	s->output = strdup(values[0]);
	return s->output ? 0 : RTL_ENOMEM;
}

/* From here on it can be written to. */
static void open_writer(struct sub *sub)
{
	sub->writer.before_commit = run_before_commit;
	sub->writer.before_commit_user = sub;
	sub->writer.started = true;
	sub->open = true;
}

/* Makes the tables. 0, or why not, after a line. */
static int begin_output(struct sub *sub)
{
	const bool begun = run_begin(sub) && run_streams(sub) && writer_commit(&sub->writer);

	output_release(&sub->output);
	if (!begun)
		return RTL_EIO;
	open_writer(sub);
	return 0;
}

/* Touches nothing of what plugin_stream does, which does not wait. */
static void *begin_in_thread(void *user)
{
	struct sub *sub = user;

	pthread_setname_np(pthread_self(), "rtl-sqlite");
	sub->begun = run_begin(sub) && writer_commit(&sub->writer);
	output_release(&sub->output);
	return NULL;
}

/* With all signals blocked. false: there is no thread. */
static bool begin_meanwhile(struct sub *sub)
{
	const char *where = sub->host->property(sub->host, "where");
	sigset_t all, old;

	if (!where || strcmp(where, "collector") != 0 || sub->continues)
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	sub->begins = !pthread_create(&sub->beginner, NULL, begin_in_thread, sub);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return sub->begins;
}

/* Waits for the thread, if there is one. */
static void await_begin(struct sub *sub)
{
	if (!sub->begins)
		return;
	pthread_join(sub->beginner, NULL);
	sub->begins = false;
	if (sub->begun) {
		open_writer(sub);
		(void)run_streams(sub); /* a failure is the writer's */
	}
}

/* Opens the output; the names are those of its process. may_wait: the tables may come later. */
static int open_output(struct sub *sub, const struct output_names *names, bool may_wait)
{
	struct writer *w = &sub->writer;
	char line[PATH_MAX + 128];
	bool empty = true;
	int result = sub->recovers
			     ? output_continue(&sub->output, sub->host, sub->settings.output, names,
					       &empty)
			     : output_choose(&sub->output, sub->host, sub->settings.output, names);

	if (result != 0)
		return result;
	sub->continues = !empty;
	result = writer_open(w, sub->host, sub->output.path, sub->settings.page_size,
			     sub->exact ? UINT32_MAX : sub->settings.batch);
	if (result != 0) {
		snprintf(line, sizeof(line),
			 "%s: cannot be opened as a database (%s); choose "
			 "another file with output=",
			 sub->output.path, sqlite3_errmsg(w->db));
		sub->host->report(sub->host, RTL_LEVEL_ERROR, line);
		output_release(&sub->output);
		return RTL_EIO;
	}
	return may_wait && begin_meanwhile(sub) ? 0 : begin_output(sub);
}

static int open_for(struct sub *sub, const struct rtl_process *process)
{
	struct output_names names = output_names_of(process);

	return open_output(sub, &names, false);
}

/* Opens now if the name can be known now. */
static int open_if_known(struct sub *sub)
{
	struct output_names_room room;
	struct output_names names;

	return output_names_known(sub->host, sub->settings.output, &room, &names)
		       ? open_output(sub, &names, true)
		       : 0;
}

static void plugin_destroy(void *instance)
{
	struct sub *sub = instance;

	await_begin(sub);
	/* Without finish: the host delivers again what it has not flushed. */
	if (sub->exact && sub->events_pending)
		writer_abandon(&sub->writer);
	writer_close(&sub->writer);
	names_fini(&sub->names);
	generic_fini(sub);
	run_fini(sub);
	output_fini(&sub->output, !sub->open && !sub->recovers);
	free(sub->settings.output);
	free(sub);
}

/* What the host is and can do. */
static int meet_host(struct sub *sub)
{
	const struct rtl_host *host = sub->host;
	const char *where = host->property(host, "where");

	sub->exact = SUB_HOST_HAS(host, positions);
	sub->recovers = where && strcmp(where, "recover") == 0;
	if (!sub->recovers || (sub->exact && SUB_HOST_HAS(host, resume)))
		return 0;
	host->report(host, RTL_LEVEL_ERROR,
		     "this version of rtl cannot tell what an output lacks: use a newer one to "
		     "recover");
	return RTL_ENOTSUP;
}

static int plugin_create(const struct rtl_host *host, const struct rtl_setting *settings,
			 size_t count, void **instance)
{
	struct sub *sub;
	int result;

	if (!sqlite3_threadsafe()) {
		host->report(host, RTL_LEVEL_ERROR,
			     "the program's SQLite is built for a single thread; use rtl trace, "
			     "which writes outside of the program");
		return RTL_ENOTSUP;
	}
	sub = calloc(1, sizeof(*sub));
	if (!sub)
		return RTL_ENOMEM;
	sub->host = host;
	sub->output.lock_fd = -1;
	result = meet_host(sub);
	if (result == 0)
		result = parse_settings(sub, settings, count);
	if (result == 0)
		result = open_if_known(sub);
	if (result != 0) {
		plugin_destroy(sub);
		return result;
	}
	*instance = sub;
	return 0;
}

/* Commits what can be committed outside of flush: no rows of events. */
static void commit_between(struct sub *sub)
{
	if (!sub->exact || !sub->events_pending)
		writer_commit(&sub->writer);
}

static int status(const struct sub *sub)
{
	return sub->writer.failed ? sub->writer.failed_result : 0;
}

/* A call that fails is the last but finish: what the host delivers from there on does not come to
 * us, though its positions go on. Nothing more is stored. */
static int settle(struct sub *sub, int result)
{
	if (result >= 0)
		return status(sub);
	writer_abandon(&sub->writer);
	return result;
}

static int plugin_stream(void *instance, const struct rtl_stream_info *stream)
{
	struct sub *sub = instance;

	int result = run_stream(sub, stream);

	if (result >= 0 && sub->begins)
		return 0; /* it is written when the tables are there */
	await_begin(sub);
	return settle(sub, result);
}

static int plugin_process_begin(void *instance, const struct rtl_process *process)
{
	struct sub *sub = instance;
	int result;

	await_begin(sub);
	result = sub->open ? 0 : sub->writer.failed ? RTL_EIO : open_for(sub, process);
	if (result == 0)
		result = exact_resume(sub, process);
	if (result == 0) {
		run_process(sub, process);
		commit_between(sub);
	}
	return settle(sub, result);
}

static int plugin_process_end(void *instance, const struct rtl_process *process)
{
	struct sub *sub = instance;
	struct process *p;

	await_begin(sub);
	p = sub->open ? run_process(sub, process) : NULL;

	if (p) {
		run_process_end(sub, p);
		commit_between(sub);
	}
	return status(sub);
}

static int plugin_flush(void *instance)
{
	struct sub *sub = instance;

	await_begin(sub);
	if (!sub->open)
		return status(sub);
	if (run_ledger_due(sub))
		run_ledger(sub);
	run_skipped(sub);
	exact_positions(sub);
	/* The host forgets what it had delivered: it must be in the database now. */
	if (writer_commit(&sub->writer))
		sub->events_pending = false;
	return status(sub);
}

static int plugin_finish(void *instance)
{
	struct sub *sub = instance;
	char line[PATH_MAX + 128];

	await_begin(sub);
	if (!sub->open)
		return status(sub);
	run_end(sub);
	sub->events_pending = false;
	writer_close(&sub->writer);
	if (!sub->writer.failed) {
		snprintf(line, sizeof(line), "%s: %lld GPU operations, %llu rows", sub->output.path,
			 (long long)(sub->next_op - 1),
			 (unsigned long long)sub->writer.committed_rows);
		sub->host->report(sub->host, RTL_LEVEL_INFO, line);
	}
	return status(sub);
}

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "sqlite",
	.version = STRING(RTL_VERSION_MAJOR) "." STRING(RTL_VERSION_MINOR) "." STRING(
		RTL_VERSION_PATCH),
	.description = "SQLite database with the rocpd schema of RPD and tables of rtl",
	.settings = setting_infos,
	.setting_count = SETTING_COUNT,
	.create = plugin_create,
	.stream = plugin_stream,
	.process_begin = plugin_process_begin,
	.process_end = plugin_process_end,
	.flush = plugin_flush,
	.finish = plugin_finish,
	.destroy = plugin_destroy,
};
