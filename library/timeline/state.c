/* SPDX-License-Identifier: MIT */
/* See state.h. */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output_place.h"
#include "output_writer.h"

#define HEAD       "rtl timeline 2\n"
#define LONG_BYTES ((uint64_t)1 << 20)
#define LINE_MOST  2048u

bool state_init(struct state *state, const char *timeline)
{
	*state = (struct state){.fd = -1};
	if (asprintf(&state->path, "%s" STATE_SUFFIX, timeline) < 0)
		state->path = NULL;
	return state->path != NULL;
}

static void add(struct state *state, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct state *state, const char *format, ...)
{
	va_list args;
	int n;

	if (state->size - state->used < LINE_MOST) {
		char *lines = realloc(state->lines, 2 * state->size + LINE_MOST);

		if (!lines) {
			state->error = ENOMEM;
			return;
		}
		state->lines = lines;
		state->size = 2 * state->size + LINE_MOST;
	}
	va_start(args, format);
	n = vsnprintf(state->lines + state->used, LINE_MOST, format, args);
	va_end(args);
	state->used += n > 0 && n < (int)LINE_MOST ? (size_t)n : 0;
}

static void write_lines(struct state *state, int fd)
{
	size_t done = 0;

	while (!state->error && done < state->used) {
		ssize_t n = write(fd, state->lines + done, state->used - done);

		if (n < 0 && errno != EINTR)
			state->error = errno;
		done += n > 0 ? (size_t)n : 0;
	}
	state->length += state->used;
	state->used = 0;
}

static void add_commit(struct state *state)
{
	add(state, "commit %" PRIu64 " %" PRIu64 "\n", state->offset, state->latest_ns);
}

static void add_all(struct state *state)
{
	add(state,
	    HEAD "writer %s\nsession %s\nbase %" PRIu64 " %" PRId64 "\nresumed %" PRIu32 "\n",
	    state->writer, state->session, state->base_ns, state->unix_ns, state->resumes);
	for (size_t i = 0; i < state->pids.hash.capacity; i++)
		if (map_at(&state->pids, i)->value)
			add(state, "pid %" PRIx64 " %" PRIu64 "\n", map_at(&state->pids, i)->key,
			    map_at(&state->pids, i)->value);
	for (size_t i = 0; i < state->tracks.hash.capacity; i++)
		if (map_at(&state->tracks, i)->value)
			add(state, "track %" PRIx64 " %" PRIu64 "\n",
			    map_at(&state->tracks, i)->key, map_at(&state->tracks, i)->value);
	for (size_t i = 0; i < state->ring_count; i++)
		add(state, "ring %" PRIx64 " %" PRIu32 " %" PRIu64 "\n", state->rings[i].spool,
		    state->rings[i].ring, state->rings[i].position);
	add_commit(state);
}

/* All of it, in place of what is there. */
static void write_anew(struct state *state)
{
	char *path;
	int fd;

	if (state->error || asprintf(&path, "%s.new", state->path) < 0)
		return;
	unlink(path); /* what one that was killed has left */
	fd = output_move_fd(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
	state->used = 0;
	state->length = 0;
	add_all(state);
	state->whole = state->used;
	if (fd < 0)
		state->error = errno;
	else
		write_lines(state, fd);
	if (!state->error && rename(path, state->path) != 0)
		state->error = errno;
	if (state->error) {
		unlink(path);
		if (fd >= 0)
			close(fd);
	} else {
		if (state->fd >= 0)
			close(state->fd);
		state->fd = fd;
	}
	free(path);
}

bool state_create(struct state *state)
{
	output_writer(state->writer, sizeof(state->writer));
	write_anew(state);
	return state->error == 0;
}

/* ---- what is told ---- */

static void out_of_memory_unless(struct state *state, bool done)
{
	if (!done)
		state->error = ENOMEM;
}

static struct state_ring *find_ring(struct state *state, uint64_t spool, uint32_t ring)
{
	const uint64_t key = hash_number(spool) + ring;
	uint64_t index = map_get(&state->ring_index, key);

	if (index)
		return &state->rings[index - 1];
	if (state->ring_count == state->ring_size) {
		const size_t size = state->ring_size ? 2 * state->ring_size : 64;
		struct state_ring *rings = reallocarray(state->rings, size, sizeof(*rings));

		out_of_memory_unless(state, rings);
		if (!rings)
			return NULL;
		state->rings = rings;
		state->ring_size = size;
	}
	out_of_memory_unless(state, map_set(&state->ring_index, key, state->ring_count + 1));
	state->rings[state->ring_count] = (struct state_ring){.spool = spool, .ring = ring};
	return &state->rings[state->ring_count++];
}

void state_set_ring(struct state *state, uint64_t spool, uint32_t ring, uint64_t position)
{
	struct state_ring *entry = find_ring(state, spool, ring);

	if (!entry)
		return;
	entry->position = position;
	add(state, "ring %" PRIx64 " %" PRIu32 " %" PRIu64 "\n", spool, ring, position);
}

void state_set_pid(struct state *state, uint64_t spool, uint32_t pid)
{
	out_of_memory_unless(state, map_set(&state->pids, spool, pid));
	add(state, "pid %" PRIx64 " %" PRIu32 "\n", spool, pid);
}

void state_set_track(struct state *state, uint64_t key, uint32_t tid)
{
	out_of_memory_unless(state, map_set(&state->tracks, key, tid));
	add(state, "track %" PRIx64 " %" PRIu32 "\n", key, tid);
}

void state_commit(struct state *state, uint64_t offset, uint64_t latest_ns)
{
	state->offset = offset;
	state->latest_ns = latest_ns;
	add_commit(state);
	if (state->length + state->used > LONG_BYTES + 2 * state->whole)
		write_anew(state);
	else
		write_lines(state, state->fd);
}

/* ---- reading ---- */

static void take_line(struct state *state, const char *line)
{
	uint64_t a, b;
	uint32_t d;

	if (sscanf(line, "ring %" SCNx64 " %" SCNu32 " %" SCNu64, &a, &d, &b) == 3)
		state_set_ring(state, a, d, b);
	else if (sscanf(line, "pid %" SCNx64 " %" SCNu64, &a, &b) == 2)
		state_set_pid(state, a, (uint32_t)b);
	else if (sscanf(line, "track %" SCNx64 " %" SCNu64, &a, &b) == 2)
		state_set_track(state, a, (uint32_t)b);
	else if (sscanf(line, "resumed %" SCNu32, &d) == 1)
		state->resumes = d;
	else if (strncmp(line, "writer ", 7) == 0)
		snprintf(state->writer, sizeof(state->writer), "%s", line + 7);
	else if (strncmp(line, "session ", 8) == 0)
		snprintf(state->session, sizeof(state->session), "%s", line + 8);
	else if (sscanf(line, "base %" SCNu64 " %" SCNu64, &a, &b) == 2) {
		state->base_ns = a;
		state->unix_ns = (int64_t)b;
	} else if (sscanf(line, "commit %" SCNu64 " %" SCNu64, &a, &b) == 2) {
		state->offset = a;
		state->latest_ns = b;
	}
}

/* The length up to the end of the last commit; 0: there is none. */
static size_t committed(const char *text, size_t length)
{
	size_t end = 0, begin = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] != '\n')
			continue;
		if (i - begin > 7 && strncmp(text + begin, "commit ", 7) == 0)
			end = i + 1;
		begin = i + 1;
	}
	return end;
}

/* Somebody else may have put it there: follows no link, and waits at no FIFO. */
static FILE *open_to_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	FILE *file = NULL;
	uid_t owner;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !output_is_foreign(path, &owner))
		file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

bool state_read(struct state *state)
{
	FILE *file = open_to_read(state->path);
	char *text = NULL, *line, *rest;
	size_t size = 0, length = 0;
	bool good = false;

	if (!file)
		return false;
	while (!feof(file) && !ferror(file) && length < 64 * LONG_BYTES) {
		char *more = realloc(text, size + LONG_BYTES + 1);

		if (!more)
			break;
		text = more;
		size += LONG_BYTES;
		length += fread(text + length, 1, size - length, file);
	}
	fclose(file);
	length = text ? committed(text, length) : 0;
	if (length && strncmp(text, HEAD, strlen(HEAD)) == 0) {
		text[length] = '\0';
		for (rest = text; (line = strsep(&rest, "\n"));)
			take_line(state, line);
		state->used = 0;
		good = state->error == 0;
	}
	free(text);
	return good;
}

void state_fini(struct state *state, bool done)
{
	if (done && state->path)
		unlink(state->path);
	if (state->fd >= 0)
		close(state->fd);
	free(state->path);
	free(state->lines);
	free(state->rings);
	map_fini(&state->ring_index);
	map_fini(&state->pids);
	map_fini(&state->tracks);
	*state = (struct state){.fd = -1};
}
