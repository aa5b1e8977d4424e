/* SPDX-License-Identifier: MIT */
/* What rtl leaves for a recovery: a collector's `notes`, and what stands beside an unfinished timeline. The
 * first byte chooses. What was read is written and read once more: it is the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "notes.h"
#include "scratch.h"
#include "state.h"

static char timeline[300], beside[320], notes_file[300];

static void write_file(const char *path, const uint8_t *data, size_t size)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		abort();
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void try_notes(const uint8_t *data, size_t size)
{
	struct notes once, twice;

	write_file(notes_file, data, size);
	if (notes_read(scratch, &once) || notes_write(scratch, &once) ||
	    notes_read(scratch, &twice))
		abort();
	if (!same(once.session, twice.session) || !same(once.database, twice.database) ||
	    !same(once.subscribers, twice.subscribers) || !same(once.recording, twice.recording))
		abort();
	notes_fini(&once);
	notes_fini(&twice);
}

static void try_state(const uint8_t *data, size_t size)
{
	struct state state;

	write_file(beside, data, size);
	if (!state_init(&state, timeline))
		abort();
	if (state_read(&state)) {
		if (state.ring_count > size || strlen(state.writer) >= sizeof(state.writer))
			abort();
		state_commit(&state, state.offset, state.latest_ns);
	}
	state_fini(&state, true);
	if (!access(beside, F_OK))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!*timeline) {
		scratch_init();
		snprintf(timeline, sizeof(timeline), "%s/run.json", scratch);
		snprintf(beside, sizeof(beside), "%s" STATE_SUFFIX, timeline);
		snprintf(notes_file, sizeof(notes_file), "%s/notes", scratch);
	}
	if (!size)
		return 0;
	if (*data & 1)
		try_state(data + 1, size - 1);
	else
		try_notes(data + 1, size - 1);
	return 0;
}
