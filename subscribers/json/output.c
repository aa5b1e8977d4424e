/* SPDX-License-Identifier: MIT */
/*
 * output.c: which file is written, and what happens to one that is there already: no file is ever
 * replaced but a timeline of rtl's, and none that still grows or belongs to the same session; a
 * host that recovers goes on with what is there.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "look.h"
#include "output_place.h"
#include "sub.h"

#define TRIES_MOST 1000

void output_say(struct sub *sub, int level, const char *format, ...)
{
	char line[PATH_MAX + 512];
	va_list args;
	int n = snprintf(line, sizeof(line), "%s: ", sub->path ? sub->path : sub->pattern);

	n = n < PATH_MAX ? n : PATH_MAX;
	va_start(args, format);
	vsnprintf(line + n, sizeof(line) - (size_t)n, format, args);
	va_end(args);
	sub->sink.host->report(sub->sink.host, level, line);
}

static int64_t clock_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* What the wall clock showed at that time; of a recording it is not known. */
static int64_t unix_at(const struct sub *sub, uint64_t base_ns)
{
	if (sub->replays)
		return 0;
	return clock_now(CLOCK_REALTIME) - clock_now(CLOCK_BOOTTIME) + (int64_t)base_ns;
}

int output_format(struct sub *sub, const char *name, enum timeline_format *format)
{
	if (timeline_format_of(name, format))
		return 0;
	output_say(
		sub, RTL_LEVEL_ERROR,
		"the suffix says what is written, and is not known; known are " TIMELINE_SUFFIXES);
	return RTL_EINVAL;
}

static int refuse_foreign(struct sub *sub, uid_t owner)
{
	output_say(sub, RTL_LEVEL_ERROR, OUTPUT_FOREIGN, (unsigned)owner);
	return RTL_EIO;
}

static int begin(struct sub *sub, enum timeline_format format, uint64_t base_ns,
		 const char *session)
{
	uid_t owner;
	const int fd = output_open(sub->path, O_RDWR | O_CREAT | O_EXCL, &owner);

	if (fd == OUTPUT_NOT_OURS)
		return refuse_foreign(sub, owner);
	if (fd < 0) {
		output_say(sub, RTL_LEVEL_ERROR,
			   "cannot be created (%s); choose another file with output=, or make the "
			   "folder writable",
			   strerror(errno));
		return RTL_EIO;
	}
	sub->open = timeline_begin(&sub->sink.timeline, sub->path, fd, format, base_ns,
				   unix_at(sub, base_ns), session ? session : "", true);
	if (sub->open)
		return 0;
	output_say(sub, RTL_LEVEL_ERROR, "cannot be written (%s)",
		   strerror(timeline_error(&sub->sink.timeline)));
	timeline_fini(&sub->sink.timeline, true);
	unlink(sub->path);
	return RTL_EIO;
}

/* Takes the first name that is free. */
static int divert(struct sub *sub, enum look found, int32_t pid)
{
	char *name;

	for (int i = 1; i < TRIES_MOST; i++) {
		name = output_other_name(sub->path, pid, i);
		if (!name)
			return RTL_ENOMEM;
		if (access(name, F_OK) != 0) {
			output_say(sub, RTL_LEVEL_WARNING, "%s; writing to %s",
				   found == LOOK_SESSION ? "holds another process of this session"
							 : "is being written by another process",
				   name);
			free(sub->path);
			sub->path = name;
			return 0;
		}
		free(name);
	}
	return RTL_EEXIST;
}

static void remove_old(const struct sub *sub)
{
	char *state;

	unlink(sub->path);
	if (asprintf(&state, "%s" STATE_SUFFIX, sub->path) >= 0) {
		unlink(state);
		free(state);
	}
}

static int choose(struct sub *sub, enum look found, int32_t pid)
{
	switch (found) {
	case LOOK_FOREIGN:
		output_say(sub, RTL_LEVEL_ERROR,
			   "exists and is no trace that could be replaced; move it away, or choose "
			   "another file with output=");
		return RTL_EIO;
	case LOOK_SESSION:
	case LOOK_LIVE:
		return divert(sub, found, pid);
	case LOOK_OLD:
	case LOOK_UNFINISHED:
		remove_old(sub);
		return 0;
	default:
		return 0;
	}
}

/* ---- going on ---- */

static int go_on(struct sub *sub, enum timeline_format format)
{
	uid_t owner;
	const int fd = output_open(sub->path, O_RDWR, &owner);

	if (fd == OUTPUT_NOT_OURS)
		return refuse_foreign(sub, owner);
	if (fd < 0) {
		output_say(sub, RTL_LEVEL_ERROR, "cannot be opened (%s)", strerror(errno));
		return RTL_EIO;
	}
	sub->open = timeline_continue(&sub->sink.timeline, fd, format);
	if (sub->open)
		return 0;
	if (timeline_error(&sub->sink.timeline))
		output_say(sub, RTL_LEVEL_ERROR, "cannot be continued (%s)",
			   strerror(timeline_error(&sub->sink.timeline)));
	else
		output_say(sub, RTL_LEVEL_ERROR,
			   "is not as its writer has left it: recover to another file");
	timeline_fini(&sub->sink.timeline, false);
	return RTL_EFORMAT;
}

static int recover(struct sub *sub, enum timeline_format format, enum look found, uint64_t base_ns,
		   const char *session)
{
	switch (found) {
	case LOOK_UNFINISHED:
		return go_on(sub, format);
	case LOOK_SESSION:
		sub->complete = !*sub->sink.timeline.state.writer;
		if (sub->complete) { /* its writer died later */
			output_say(sub, RTL_LEVEL_INFO, "is complete already");
			return 0;
		}
		/* fall through */
	case LOOK_LIVE:
		output_say(sub, RTL_LEVEL_ERROR,
			   "is still being written by another process; end that one first");
		return RTL_EBUSY;
	case LOOK_NOTHING:
		return begin(sub, format, base_ns, session);
	default:
		output_say(sub, RTL_LEVEL_ERROR,
			   "is no timeline that somebody has left unfinished; name another file");
		return RTL_EFORMAT;
	}
}

/* Its writer died before its first commit: then nothing is there. */
static bool holds_nothing(const struct sub *sub, enum look found)
{
	const struct state *state = &sub->sink.timeline.state;
	struct stat st;

	if (found == LOOK_UNFINISHED)
		return !state->offset;
	return found == LOOK_OLD && stat(sub->path, &st) == 0 && !st.st_size;
}

/* ---- both ---- */

static int open_locked(struct sub *sub, enum timeline_format format, uint64_t base_ns, int32_t pid)
{
	const char *session = sub->sink.host->property(sub->sink.host, "session");
	enum look found;
	int result;

	if (!state_init(&sub->sink.timeline.state, sub->path))
		return RTL_ENOMEM;
	found = timeline_look(sub->path, format, session, &sub->sink.timeline.state);
	if (sub->recovers && holds_nothing(sub, found)) {
		remove_old(sub);
		found = LOOK_NOTHING;
	}
	if (sub->recovers && found == LOOK_NOTHING && !base_ns) {
		state_fini(&sub->sink.timeline.state, false);
		free(sub->path);
		sub->path = NULL;
		return 0; /* there may be nothing to write either */
	}
	if (sub->recovers) {
		if (found == LOOK_NOTHING || found == LOOK_UNFINISHED)
			return recover(sub, format, found, base_ns, session);
		result = recover(sub, format, found, base_ns, session);
		state_fini(&sub->sink.timeline.state, false);
		return result;
	}
	state_fini(&sub->sink.timeline.state, false);
	result = choose(sub, found, pid);
	return result ? result : begin(sub, format, base_ns, session);
}

int output_begin(struct sub *sub, const struct output_names *names, uint64_t base_ns)
{
	enum timeline_format format;
	uid_t owner;
	int lock, result = output_expand(sub->pattern, names, &sub->path);
	char *real;

	if (result == RTL_EINVAL)
		output_say(sub, RTL_LEVEL_ERROR, "%s", OUTPUT_NAME_KNOWN);
	if (result != 0)
		return result;
	timeline_format_of(sub->path,
			   &format); /* it ends as the pattern, which has been looked at */
	if (output_is_foreign(sub->path, &owner))
		return refuse_foreign(sub, owner);
	/* a symbolic link stays, what it points to is the output */
	real = realpath(sub->path, NULL);
	if (real) {
		free(sub->path);
		sub->path = real;
	}
	lock = output_lock_folder(sub->path);
	if (!base_ns && !sub->recovers)
		base_ns = (uint64_t)clock_now(CLOCK_BOOTTIME);
	result = open_locked(sub, format, base_ns, names->pid);
	if (lock >= 0)
		close(lock);
	return result;
}
