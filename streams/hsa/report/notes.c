/* SPDX-License-Identifier: MIT */
/* See notes.h. */
#include "notes.h"

#include <rtl/types.h>
#include <stddef.h>
#include <sys/mman.h>

/* Notes that a thread takes at a time. What it leaves is lost; records of other calls make up for that. */
#define SHARE 4u

static struct {
	uint32_t *
		of; /* by record: its note's number and 1; 0: none. Release with the note, acquire */
	struct note *notes;
	uint64_t count;
	uint64_t next; /* relaxed: a number by itself */
} table;

static __thread struct {
	uint64_t next, end;
} share __attribute__((tls_model("initial-exec")));

static void *reserve(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int notes_init(uint64_t records)
{
	table.of = reserve(records * sizeof(*table.of));
	table.notes = reserve(records * sizeof(*table.notes));
	table.count = records;
	return table.of && table.notes ? 0 : RTL_ENOMEM;
}

bool notes_add(uint64_t record, const struct note *note)
{
	if (share.next == share.end) {
		share.next = __atomic_fetch_add(&table.next, SHARE, __ATOMIC_RELAXED);
		share.end = share.next + SHARE;
	}
	if (record >= table.count || share.next >= table.count)
		return false;
	table.notes[share.next] = *note;
	/* Release: with the acquire in notes_find, the note is complete. */
	__atomic_store_n(&table.of[record], (uint32_t)++share.next, __ATOMIC_RELEASE);
	return true;
}

struct note *notes_find(uint64_t record)
{
	const uint32_t number =
		record < table.count ? __atomic_load_n(&table.of[record], __ATOMIC_ACQUIRE) : 0;

	return number ? &table.notes[number - 1] : NULL;
}
