/* SPDX-License-Identifier: MIT */
/* plugin.c: the descriptor, the settings, and the calls of the host.
 *
 * The output is opened in create; where its name depends on a process that is not known yet, with the first process. In
 * a collector, which starts its command next, a thread makes the tables meanwhile; it is waited for before anything
 * else is done. */
#include "sub.h"
#include "thread_start.h"

enum { OUTPUT, ARGS, GPU };

static const struct rtl_setting_info setting_infos[] = {
	[OUTPUT] = RTL_TEXT_SETTING("output", "rtl-%e-%p.db", 1, 0,
				    "file to write; %e program, %p pid, %h host name"),
	[ARGS] =
		RTL_CHOICE_SETTING("args", "yes", "yes|no|rpd",
				   "calls with their arguments, where these were recorded; rpd: as "
				   "RPD's tools split them"),
	[GPU] = RTL_CHOICE_SETTING("gpu", "node", "node|index",
				   "gpuId of rocpd_op: the KFD node of a GPU, as elsewhere in the "
				   "file, or its place among the GPUs, from 0"),
};

static int take_settings(struct sub *sub, const struct rtl_setting *settings)
{
	sub->settings = (struct settings){
		.output = strdup(rtl_setting_at(settings, OUTPUT)->value),
		.args = rtl_setting_at(settings, ARGS)->number != 1,
		.rpd_args = rtl_setting_at(settings, ARGS)->number == 2,
		.gpu_index = rtl_setting_at(settings, GPU)->number == 1,
	};
	return sub->settings.output ? 0 : RTL_ENOMEM;
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
	bool empty = true;
	int result = sub->recovers
			     ? output_continue(&sub->output, sub->settings.output, names, &empty)
			     : output_choose(&sub->output, sub->settings.output, names);

	if (result != 0)
		return result;
	sub->continues = !empty;
	result = writer_open(w, sub->host, sub->output.path);
	if (result)
		host_say(
			sub->host, RTL_LEVEL_ERROR,
			"%s: cannot be opened as a database (%s); choose another file with output=",
			sub->output.path, sqlite3_errmsg(w->db));
	else if ((result = output_check(&sub->output)))
		writer_close(w);
	if (result) {
		output_release(&sub->output);
		return RTL_EIO;
	}
	if (may_wait && host_is(sub->host, "collector") && !sub->continues)
		sub->begins = thread_start(&sub->beginner, begin_in_thread, sub);
	return sub->begins ? 0 : begin_output(sub);
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
	if (sub->events_pending)
		writer_abandon(&sub->writer);
	writer_close(&sub->writer);
	run_fini(sub);
	store_fini(sub);
	/* a replay can be made again */
	if (sub->output.path &&
	    (sub->replays ? !sub->open || sub->writer.failed : !sub->open && !sub->recovers))
		output_remove(&sub->output);
	output_fini(&sub->output);
	free(sub->settings.output);
	free(sub);
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
	sub->output.host = host;
	sub->recovers = host_is(host, "recover");
	sub->replays = host_is(host, "replay");
	result = take_settings(sub, settings);
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
	if (!sub->events_pending)
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
	const struct output_names names = output_names_of(process);
	struct sub *sub = instance;
	int result;

	await_begin(sub);
	result = sub->open ? 0 : sub->writer.failed ? RTL_EIO : open_output(sub, &names, false);
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
	if (!writer_commit(&sub->writer))
		return status(sub);
	sub->events_pending = false;
	for (struct stream *s = sub->streams; s; s = s->next)
		s->stored = s->delivered;
	return 0;
}

static int plugin_finish(void *instance)
{
	struct sub *sub = instance;

	await_begin(sub);
	if (!sub->open)
		return status(sub);
	run_end(sub);
	sub->events_pending = false;
	if (sub->writer.failed && !sub->recovers && !sub->replays)
		run_not_stored(sub);
	writer_close(&sub->writer);
	if (!sub->writer.failed)
		host_say(sub->host, RTL_LEVEL_INFO, "%s: %llu rows", sub->output.path,
			 (unsigned long long)sub->writer.committed_rows);
	return status(sub);
}

HOST_SUBSCRIBER("sqlite", "SQLite database with the rocpd schema of RPD and tables of rtl",
		setting_infos);
