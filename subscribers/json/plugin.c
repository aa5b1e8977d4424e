/* SPDX-License-Identifier: MIT */
/*
 * plugin.c: the descriptor, the settings, and the calls of the host. The output is opened in
 * create; where its name depends on a process that is not known yet, or all of it is of the past,
 * with the first process.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sub.h"

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

#define SETTING_COUNT (sizeof(setting_infos) / sizeof(setting_infos[0]))

/* ---- the output ---- */

static int open_output(struct sub *sub, const struct output_names *names, uint64_t base_ns)
{
	int result = output_begin(sub, names, base_ns);

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
		output_say(&sub->output, RTL_LEVEL_ERROR,
			   sub->replays ? "cannot be written (%s): nothing of it is kept; choose "
					  "another place with output="
					: "cannot be written (%s): the trace ends here, what was "
					  "written so far is complete",
			   strerror(error));
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
	enum timeline_format format;
	int result;

	if (!sub)
		return RTL_ENOMEM;
	sub->sink.host = host;
	sub->pattern = strdup(rtl_setting_at(settings, OUTPUT)->value);
	sub->sink.args = rtl_setting_at(settings, ARGS)->number;
	sub->sink.counters = rtl_setting_at(settings, COUNTERS)->number;
	sub->recovers = host_is(host, "recover");
	sub->replays = host_is(host, "replay");
	result = sub->pattern ? output_format(sub, sub->pattern, &format) : RTL_ENOMEM;
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

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "json",
	.version = HOST_RTL_VERSION,
	.description = "timeline for Perfetto and TraceLens: JSON, compressed JSON, or protobuf",
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
