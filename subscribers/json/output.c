/* SPDX-License-Identifier: MIT */
/*
 * output.c: which file is written, and what happens to one that is there already: no file is ever
 * replaced but a timeline of rtl's, and none that still grows or belongs to the same session; a
 * host that recovers goes on with what is there.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "sub.h"

static const char *const beside[] = {STATE_SUFFIX, NULL};

/* What the wall clock showed at that time; of a recording it is not known. */
static int64_t unix_at(const struct sub *sub, uint64_t base_ns)
{
	if (sub->replays)
		return 0;
	return (int64_t)(host_clock_ns(CLOCK_REALTIME) - host_clock_ns(CLOCK_BOOTTIME) + base_ns);
}

int output_format(struct sub *sub, const char *name, enum timeline_format *format)
{
	if (timeline_format_of(name, format))
		return 0;
	host_say(sub->sink.host, RTL_LEVEL_ERROR,
		 "%s: unknown suffix; known are " TIMELINE_SUFFIXES, name);
	return RTL_EINVAL;
}

/* `found`: what is there. */
static int begin(struct sub *sub, enum timeline_format format, enum look found, uint64_t base_ns,
		 int32_t pid)
{
	const char *session = sub->sink.host->property(sub->sink.host, "session");
	const int fd = output_create(&sub->output, found, pid, O_RDWR);

	if (fd < 0)
		return fd;
	sub->open = timeline_begin(&sub->sink.timeline, sub->output.path, fd, format, base_ns,
				   unix_at(sub, base_ns), session ? session : "", true);
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
	if (found == LOOK_SESSION || found == LOOK_LIVE) {
		output_say(&sub->output, RTL_LEVEL_ERROR,
			   "is still being written by another process; end that one first");
		return RTL_EBUSY;
	}
	output_say(&sub->output, RTL_LEVEL_ERROR,
		   "is no timeline that somebody has left unfinished; name another file");
	return RTL_EFORMAT;
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

/* ---- both ---- */

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

int output_begin(struct sub *sub, const struct output_names *names, uint64_t base_ns)
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
	return result;
}
