/* SPDX-License-Identifier: MIT */
/* The subscriber that writes timelines; what it makes of events is library/timeline/event_sink.h. The output is opened
 * in create; where its name depends on a process that is not known yet, or all of it is of the past, with the first
 * process. All of it runs on the host's thread. */
#include "event_sink.h"

enum { OUTPUT, ARGS, COUNTERS };

static const struct rtl_setting_info setting_infos[] = {
	[OUTPUT] = RTL_TEXT_SETTING(
		"output", "rtl-%e-%p.json", 1, 0,
		"file to write, by its suffix: " TIMELINE_SUFFIXES
		"; %e program, %p pid, %h host name, %r rank, %q{NAME} a variable"),
	[ARGS] = RTL_SWITCH_SETTING("args", "yes",
				    "calls with their arguments, where these were recorded"),
	[COUNTERS] = RTL_SWITCH_SETTING("counters", "yes", "memory in use, hardware counters"),
};

struct sub {
	struct event_sink sink;
	char *pattern; /* of the output's name */
	bool recovers, replays;
	bool open, failed;
	bool complete; /* it is recovered, and nothing is missing */
	struct output_file output;
};

/* ---- the output: no file is replaced but a timeline of rtl's that is complete, of another session; a host that
 * recovers goes on with what is there ---- */

static const char *const beside[] = {STATE_SUFFIX, NULL};

static int check_pattern(struct sub *sub)
{
	enum timeline_format format;

	if (timeline_format_of(sub->pattern, &format))
		return 0;
	return host_fail(sub->sink.host, RTL_EINVAL,
			 "%s: unknown suffix; known are " TIMELINE_SUFFIXES, sub->pattern);
}

/* `found`: what is there. */
static int begin(struct sub *sub, enum timeline_format format, enum look found, uint64_t base_ns,
		 int32_t pid)
{
	const char *session = sub->sink.host->property(sub->sink.host, "session");
	/* the wall clock at the base; for a recording it is unknown */
	const int64_t unix_ns = sub->replays ? 0
					     : (int64_t)(host_clock_ns(CLOCK_REALTIME) -
							 host_clock_ns(CLOCK_BOOTTIME) + base_ns);
	const int fd = output_create(&sub->output, found, pid, O_RDWR);

	if (fd < 0)
		return fd;
	sub->open = timeline_begin(&sub->sink.timeline, sub->output.path, fd, format, base_ns,
				   unix_ns, session ? session : "", true);
	if (sub->open)
		return 0;
	output_say(&sub->output, RTL_LEVEL_ERROR, "cannot be written (%s)",
		   strerror(timeline_error(&sub->sink.timeline)));
	timeline_fini(&sub->sink.timeline, true);
	output_remove(&sub->output);
	return RTL_EIO;
}

/* ---- going on ---- */

static int go_on(struct sub *sub, enum timeline_format format)
{
	const int fd = output_open_file(&sub->output, O_RDWR);

	if (fd < 0)
		return fd;
	sub->open = timeline_continue(&sub->sink.timeline, fd, format);
	if (sub->open)
		return 0;
	if (timeline_error(&sub->sink.timeline))
		output_say(&sub->output, RTL_LEVEL_ERROR, "cannot be continued (%s)",
			   strerror(timeline_error(&sub->sink.timeline)));
	else
		output_say(&sub->output, RTL_LEVEL_ERROR,
			   "is not as its writer has left it: recover to another file");
	timeline_fini(&sub->sink.timeline, false);
	return RTL_EFORMAT;
}

static int refuse_recovery(struct sub *sub, enum look found)
{
	if (sub->complete) { /* its writer died later */
		output_say(&sub->output, RTL_LEVEL_INFO, "is complete already");
		return 0;
	}
	if (found == LOOK_SESSION || found == LOOK_LIVE)
		return output_fail(&sub->output, RTL_EBUSY,
				   "is still being written by another process; end that one first");
	return output_fail(&sub->output, RTL_EFORMAT,
			   "is no timeline that somebody has left unfinished; name another file");
}

/* Its writer died before its first commit: then nothing is there. */
static bool holds_nothing(const struct sub *sub, enum look found)
{
	const struct state *state = &sub->sink.timeline.state;
	struct stat st;

	if (found == LOOK_UNFINISHED)
		return !state->offset;
	return found == LOOK_OLD && stat(sub->output.path, &st) == 0 && !st.st_size;
}

static int open_locked(struct sub *sub, enum timeline_format format, uint64_t base_ns, int32_t pid)
{
	const char *session = sub->sink.host->property(sub->sink.host, "session");
	struct state *state = &sub->sink.timeline.state;
	enum look found;

	if (!state_init(state, sub->output.path))
		return RTL_ENOMEM;
	found = timeline_look(sub->output.path, format, session, state);
	if (sub->recovers && holds_nothing(sub, found)) {
		output_remove(&sub->output);
		found = LOOK_NOTHING;
	}
	if (sub->recovers && found == LOOK_UNFINISHED)
		return go_on(sub, format);
	sub->complete = sub->recovers && found == LOOK_SESSION && !*state->writer;
	state_fini(state, false);
	if (!sub->recovers || (found == LOOK_NOTHING && base_ns))
		return begin(sub, format, found, base_ns, pid);
	if (found != LOOK_NOTHING)
		return refuse_recovery(sub, found);
	output_fini(&sub->output);
	return 0; /* there may be nothing to write either */
}

/* Chooses, makes and begins the file for those names. base_ns: what times are relative to; 0: now, or what a file
 * says that is to be continued (without one it stays closed). 0 or an enum rtl_error, said. */
static int open_output(struct sub *sub, const struct output_names *names, uint64_t base_ns)
{
	enum timeline_format format;
	int result;

	sub->output.host = sub->sink.host;
	sub->output.beside = beside;
	result = output_name(&sub->output, sub->pattern, names);
	if (result != 0)
		return result;
	/* it ends as the pattern, which has been looked at */
	timeline_format_of(sub->output.path, &format);
	if (!base_ns && !sub->recovers)
		base_ns = host_clock_ns(CLOCK_BOOTTIME);
	result = open_locked(sub, format, base_ns, names->pid);
	output_release(&sub->output);
	if (result == 0 && sub->open &&
	    !work_init(&sub->sink.work, &sub->sink.timeline, sub->sink.counters))
		result = RTL_ENOMEM;
	return result;
}

static int open_if_known(struct sub *sub)
{
	struct output_names_room room;
	struct output_names names;

	/* what is of the past has times of its own, known with its first process */
	if (sub->replays || !output_names_known(sub->sink.host, sub->pattern, &room, &names))
		return 0;
	return open_output(sub, &names, 0);
}

/* ---- positions ---- */

static void take_position(void *user, const struct rtl_process *info, uint32_t ring,
			  uint64_t position)
{
	struct sub *sub = user;

	if (info)
		state_set_ring(&sub->sink.timeline.state, event_lookup_spool(info), ring, position);
}

static int resume(struct sub *sub, const struct rtl_process *info)
{
	const struct state *state = &sub->sink.timeline.state;
	int result = 0;

	if (!sub->sink.timeline.resumed)
		return 0;
	for (size_t i = 0; i < state->ring_count && result == 0; i++)
		if (state->rings[i].spool == event_lookup_spool(info))
			result = sub->sink.host->resume(sub->sink.host, info, state->rings[i].ring,
							state->rings[i].position);
	if (result)
		output_say(&sub->output, RTL_LEVEL_ERROR,
			   "the host cannot go on where this output ends (error %d): nothing is "
			   "added to it",
			   result);
	return result;
}

/* ---- the calls of the host ---- */

/* A failure is said once; afterwards nothing is written. */
static int status(struct sub *sub)
{
	const int error = sub->open ? timeline_error(&sub->sink.timeline) : 0;

	if (!error)
		return 0;
	if (!sub->failed) {
		timeline_finish(&sub->sink.timeline);
		output_say(&sub->output, RTL_LEVEL_ERROR, "cannot be written (%s): %s",
			   strerror(error),
			   sub->replays
				   ? "nothing of it is kept; choose another place with output="
				   : "the trace ends here, what was written so far is complete");
	}
	sub->failed = true;
	return error == ENOMEM ? RTL_ENOMEM : error == ENOSPC ? RTL_ENOSPC : RTL_EIO;
}

static void remove_output(struct sub *sub)
{
	timeline_fini(&sub->sink.timeline, true);
	output_remove(&sub->output);
	sub->open = false;
}

static void plugin_destroy(void *instance)
{
	struct sub *sub = instance;

	event_sink_fini(&sub->sink);
	if (sub->open && sub->replays)
		remove_output(sub); /* a replay can be made again */
	else if (sub->open)         /* without finish: another host goes on */
		timeline_fini(&sub->sink.timeline, false);
	free(sub->pattern);
	output_fini(&sub->output);
	free(sub);
}

static int plugin_create(const struct rtl_host *host, const struct rtl_setting *settings,
			 size_t count, void **instance)
{
	struct sub *sub = calloc(1, sizeof(*sub));
	int result;

	if (!sub)
		return RTL_ENOMEM;
	sub->sink.host = host;
	sub->pattern = strdup(rtl_setting_at(settings, OUTPUT)->value);
	sub->sink.args = rtl_setting_at(settings, ARGS)->number;
	sub->sink.counters = rtl_setting_at(settings, COUNTERS)->number;
	sub->recovers = host_is(host, "recover");
	sub->replays = host_is(host, "replay");
	result = sub->pattern ? check_pattern(sub) : RTL_ENOMEM;
	if (result == 0)
		result = open_if_known(sub);
	if (result != 0) {
		plugin_destroy(sub);
		return result;
	}
	*instance = sub;
	return 0;
}

static int plugin_stream(void *instance, const struct rtl_stream_info *info)
{
	struct sub *sub = instance;

	return sub->complete ? 0 : event_sink_stream(&sub->sink, info);
}

static int plugin_process_begin(void *instance, const struct rtl_process *process)
{
	struct sub *sub = instance;
	const struct output_names names = output_names_of(process);
	int result = sub->open || sub->failed || sub->complete
			     ? 0
			     : open_output(sub, &names, process->start_ns);

	if (result == 0 && sub->open)
		result = resume(sub, process);
	if (result == 0 && sub->open)
		event_lookup_process(&sub->sink, process);
	sub->failed |= result != 0;
	return result ? result : status(sub);
}

static int plugin_process_end(void *instance, const struct rtl_process *process)
{
	struct sub *sub = instance;

	if (sub->open)
		generic_unfinished(&sub->sink, process);
	return status(sub);
}

static int plugin_flush(void *instance)
{
	struct sub *sub = instance;

	if (!sub->open || sub->failed)
		return status(sub);
	if (sub->sink.pending)
		event_sink_update_ledger(&sub->sink, false);
	sub->sink.host->positions(sub->sink.host, take_position, sub);
	/* the host forgets what it had delivered: it must be in the file now */
	if (sub->sink.pending || sub->sink.timeline.state.changed)
		timeline_commit(&sub->sink.timeline);
	sub->sink.pending = false;
	return status(sub);
}

static int plugin_finish(void *instance)
{
	struct sub *sub = instance;
	uint64_t slices;
	int result;

	if (!sub->open || sub->failed)
		return status(sub);
	if (!sub->sink.work.processes && !sub->sink.timeline.resumed) {
		remove_output(sub); /* nothing came: there is nothing to look at */
		return 0;
	}
	event_sink_finish(&sub->sink);
	slices = sub->sink.timeline.slices;
	result = status(sub);
	timeline_fini(&sub->sink.timeline, result == 0);
	sub->open = false;
	if (result == 0)
		output_say(&sub->output, RTL_LEVEL_INFO, "%llu slices", (unsigned long long)slices);
	return result;
}

HOST_SUBSCRIBER("json", "timeline for Perfetto and TraceLens: JSON, compressed JSON, or protobuf",
		setting_infos);
