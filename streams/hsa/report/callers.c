/* SPDX-License-Identifier: MIT */
#include "report.h"

#include "../../common/reserve.h"

#define WORDS (sizeof(struct caller) / 8)
_Static_assert(sizeof(struct caller) % 8 == 0, "whole words");

/* How many busy entries are passed over. */
#define PATIENCE 16u
/* Numbers that a thread takes at a time. */
#define SHARE 16u

struct entry {
	/* The number; 0 while it is written. As in struct submitter_note. */
	uint64_t number;
	uint64_t words[WORDS]; /* release, acquire */
	/* Work that has begun and not ended, by kind. Relaxed: HIP orders the two. */
	uint32_t under_way[CALLERS_OPS];
} __attribute__((aligned(64)));

static struct {
	struct entry *entries; /* written once, before HIP reports */
	uint32_t mask;
	uint64_t next; /* relaxed: a number by itself */
	/* Work under way that belongs to nobody, by kind. Relaxed: as in entries. */
	uint32_t nobodys[CALLERS_OPS];
} table = {.next = CALLERS_FIRST};

static __thread struct {
	uint64_t next, end;
} share __attribute__((tls_model("initial-exec")));

int callers_init(uint32_t count)
{
	uint32_t size = 1024;

	while (size < count)
		size *= 2;
	table.mask = size - 1;
	table.entries = memory_reserve(size * sizeof(struct entry));
	return table.entries ? 0 : RTL_ENOMEM;
}

static inline uint64_t take(void)
{
	if (share.next == share.end) {
		share.next = __atomic_fetch_add(&table.next, SHARE, __ATOMIC_RELAXED);
		share.end = share.next + SHARE;
	}
	return share.next++;
}

static inline struct entry *entry_of(uint64_t number)
{
	return &table.entries[number & table.mask];
}

static bool is_busy(const struct entry *entry)
{
	for (int op = 0; op < CALLERS_OPS; op++)
		if (__atomic_load_n(&entry->under_way[op], __ATOMIC_RELAXED))
			return true;
	return false;
}

uint64_t callers_take(void)
{
	uint64_t number = take();

	for (unsigned i = 0; i < PATIENCE && is_busy(entry_of(number)); i++)
		number = take();
	return number;
}

void callers_note(uint64_t number, const struct caller_facts *facts)
{
	struct entry *entry = entry_of(number);
	struct caller caller = {.facts = *facts};
	uint64_t words[WORDS];

	submitter_fill(&caller.submitter);
	memcpy(words, &caller, sizeof(words));
	__atomic_store_n(&entry->number, 0, __ATOMIC_RELAXED);
	for (size_t i = 0; i < WORDS; i++)
		/* Release, after the number's: with the acquire in read_entry. */
		__atomic_store_n(&entry->words[i], words[i], __ATOMIC_RELEASE);
	for (int op = 0; op < CALLERS_OPS; op++)
		if (__atomic_load_n(&entry->under_way[op], __ATOMIC_RELAXED))
			__atomic_fetch_add(
				&table.nobodys[op],
				__atomic_exchange_n(&entry->under_way[op], 0, __ATOMIC_RELAXED),
				__ATOMIC_RELAXED);
	/* Release: with the acquire in read_entry. */
	__atomic_store_n(&entry->number, number, __ATOMIC_RELEASE);
}

void callers_begin(uint64_t number, unsigned op)
{
	__atomic_fetch_add(number ? &entry_of(number)->under_way[op] : &table.nobodys[op], 1,
			   __ATOMIC_RELAXED);
}

/* Whether some was under way: then it is one less. */
static bool count_down(uint32_t *under_way)
{
	uint32_t count = __atomic_load_n(under_way, __ATOMIC_RELAXED);

	while (count && !__atomic_compare_exchange_n(under_way, &count, count - 1, true,
						     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return count;
}

static bool read_entry(struct entry *entry, uint64_t number, struct caller *caller)
{
	uint64_t words[WORDS];

	if (__atomic_load_n(&entry->number, __ATOMIC_ACQUIRE) != number)
		return false;
	for (size_t i = 0; i < WORDS; i++)
		/* With the release in callers_note: who reads what is of a later number sees then
		 * that it is another. */
		words[i] = __atomic_load_n(&entry->words[i], __ATOMIC_ACQUIRE);
	if (__atomic_load_n(&entry->number, __ATOMIC_RELAXED) != number)
		return false;
	memcpy(caller, words, sizeof(words));
	return true;
}

enum callers_found callers_end(uint64_t number, unsigned op, struct caller *caller, bool *ends)
{
	struct entry *entry = entry_of(number);

	if (number >= CALLERS_FIRST && read_entry(entry, number, caller)) {
		*ends = count_down(&entry->under_way[op]);
		return CALLERS_FOUND;
	}
	*ends = count_down(&table.nobodys[op]);
	return *ends || (number >= CALLERS_FIRST &&
			 __atomic_load_n(&entry->number, __ATOMIC_RELAXED) > number)
		       ? CALLERS_LOST
		       : CALLERS_NONE;
}
