/* SPDX-License-Identifier: MIT */
#include "state.h"

#include <inttypes.h>
#include <stdio.h>

#include "array.h"
#include "output_place.h"
#include "output_writer.h"

#define HEAD "rtl timeline 3\n"

bool state_init(struct state *state, const char *timeline)
{
	*state = (struct state){0};
	if (asprintf(&state->path, "%s" STATE_SUFFIX, timeline) < 0)
		state->path = NULL;
	return state->path != NULL;
}

static void put_map(FILE *out, const char *what, const struct map *map)
{
	for (size_t i = 0; i < map->hash.capacity; i++)
		if (map_at(map, i)->value)
			fprintf(out, "%s %" PRIx64 " %" PRIu64 "\n", what, map_at(map, i)->key,
				map_at(map, i)->value);
}

static void put_lines(const struct state *state, FILE *out)
{
	fprintf(out,
		HEAD "writer %s\nsession %s\nbase %" PRIu64 " %" PRId64 "\nresumed %" PRIu32 "\n",
		state->writer, state->session, state->base_ns, state->unix_ns, state->resumes);
	put_map(out, "pid", &state->pids);
	put_map(out, "track", &state->tracks);
	for (size_t i = 0; i < state->ring_count; i++)
		fprintf(out, "ring %" PRIx64 " %" PRIu32 " %" PRIu64 "\n", state->rings[i].spool,
			state->rings[i].ring, state->rings[i].position);
	fprintf(out, "commit %" PRIu64 " %" PRIu64 "\n", state->offset, state->latest_ns);
}

/* In place of what is there: whoever reads it finds one that is whole. */
static void write_whole(struct state *state)
{
	char *path;
	FILE *out;
	int fd;

	if (state->error)
		return;
	if (asprintf(&path, "%s.new", state->path) < 0) {
		state->error = ENOMEM;
		return;
	}
	unlink(path); /* what one that was killed has left */
	fd = output_move_fd(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
	out = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (out)
		put_lines(state, out);
	if (!out || fclose(out) || rename(path, state->path))
		state->error = errno;
	if (state->error)
		unlink(path);
	state->changed = false;
	free(path);
}

bool state_create(struct state *state)
{
	output_writer(state->writer, sizeof(state->writer));
	write_whole(state);
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
	struct state_ring *added;

	if (index)
		return &state->rings[index - 1];
	added = ARRAY_ADD(state->rings, state->ring_count);
	out_of_memory_unless(state, added && map_set(&state->ring_index, key, state->ring_count));
	if (added)
		*added = (struct state_ring){.spool = spool, .ring = ring};
	return added;
}

void state_set_ring(struct state *state, uint64_t spool, uint32_t ring, uint64_t position)
{
	struct state_ring *entry = find_ring(state, spool, ring);

	if (!entry)
		return;
	state->changed |= entry->position != position;
	entry->position = position;
}

void state_set_pid(struct state *state, uint64_t spool, uint32_t pid)
{
	out_of_memory_unless(state, map_set(&state->pids, spool, pid));
}

void state_set_track(struct state *state, uint64_t key, uint32_t tid)
{
	out_of_memory_unless(state, map_set(&state->tracks, key, tid));
}

void state_commit(struct state *state, uint64_t offset, uint64_t latest_ns)
{
	state->offset = offset;
	state->latest_ns = latest_ns;
	write_whole(state);
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

bool state_read(struct state *state)
{
	struct stat st;
	FILE *file = output_read(state->path, &st);
	uid_t owner;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	bool good;

	if (!file)
		return false;
	good = !output_is_foreign(state->path, &owner) && getline(&line, &size, file) > 0 &&
	       !strcmp(line, HEAD);
	while (good && (length = getline(&line, &size, file)) > 0) {
		line[length - 1] = '\0';
		take_line(state, line);
	}
	fclose(file);
	free(line);
	state->changed = false;
	return good && !state->error;
}

void state_fini(struct state *state, bool done)
{
	if (done && state->path)
		unlink(state->path);
	free(state->path);
	free(state->rings);
	map_fini(&state->ring_index);
	map_fini(&state->pids);
	map_fini(&state->tracks);
	*state = (struct state){0};
}
