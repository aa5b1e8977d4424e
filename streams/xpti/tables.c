/* SPDX-License-Identifier: MIT */
/* See tables.h. Buckets of lists, and arrays of pieces for the way from a number to its entry. */
#include "tables.h"

#include <stdlib.h>
#include <string.h>

#include <rtl/tracepoint.h>

#include "thread.h"

#define BUCKETS     16384u
#define PIECE       4096u
#define PIECES      4096u
#define RECENT      512u
#define STRING_BASE 1u /* the first string's number */

struct table {
	struct entry *buckets[BUCKETS]; /* release by add, acquire by find */
	struct entry **pieces[PIECES];  /* likewise */
	uint32_t count;
};

static struct table strings, objects;
static struct entry *forgotten; /* by a reset; others may still look at them */

/* What was found last for a text at that address; its content is compared. Release, acquire. */
static struct entry *recent[RECENT];

static uint64_t hash_of(uint64_t state, const void *data, size_t size)
{
	const unsigned char *p = data;
	uint64_t word;

	for (; size >= 8; size -= 8, p += 8) {
		memcpy(&word, p, 8);
		state = (state ^ word) * 0x9e3779b97f4a7c15u;
		state ^= state >> 32;
	}
	word = size;
	memcpy(&word, p, size);
	state = (state ^ word ^ (uint64_t)size << 56) * 0x9e3779b97f4a7c15u;
	return state ^ state >> 29;
}

static struct entry *find(const struct table *table, uint64_t hash, const void *data, size_t size)
{
	struct entry *e = __atomic_load_n(&table->buckets[hash % BUCKETS], __ATOMIC_ACQUIRE);

	for (; e; e = __atomic_load_n(&e->next, __ATOMIC_ACQUIRE))
		if (e->hash == hash && e->size == size && !memcmp(e->data, data, size))
			return e;
	return NULL;
}

/* The place in the array for the next number; NULL: there is none. */
static struct entry **next_place(struct table *table)
{
	uint32_t piece = table->count / PIECE;
	struct entry **made;

	if (piece == PIECES)
		return NULL;
	if (!table->pieces[piece]) {
		made = calloc(PIECE, sizeof *made);
		/* release: with the acquire in get */
		__atomic_store_n(&table->pieces[piece], made, __ATOMIC_RELEASE);
	}
	return table->pieces[piece] ? &table->pieces[piece][table->count % PIECE] : NULL;
}

static struct entry *add_locked(struct table *table, uint64_t hash, const void *data, size_t size,
				uint8_t type)
{
	struct entry *e = find(table, hash, data, size);
	struct entry **place = e ? NULL : next_place(table);

	if (e || !place || size >= UINT32_MAX)
		return e;
	e = malloc(sizeof *e + size + 1);
	if (!e)
		return NULL;
	*e = (struct entry){.next = table->buckets[hash % BUCKETS],
			    .hash = hash,
			    .id = table->count,
			    .size = (uint32_t)size,
			    .type = type};
	memcpy(e->data, data, size);
	e->data[size] = '\0';
	/* release: with the acquire in get and find */
	__atomic_store_n(place, e, __ATOMIC_RELEASE);
	__atomic_store_n(&table->count, table->count + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&table->buckets[hash % BUCKETS], e, __ATOMIC_RELEASE);
	return e;
}

static struct entry *add(struct table *table, const void *data, size_t size, uint8_t type)
{
	uint64_t hash = hash_of(0, data, size);
	struct entry *e = find(table, hash, data, size);

	if (!e) {
		framework_lock();
		e = add_locked(table, hash, data, size, type);
		framework_unlock();
	}
	return e;
}

static const struct entry *get(const struct table *table, uint32_t index)
{
	struct entry **piece;

	if (index >= __atomic_load_n(&table->count, __ATOMIC_ACQUIRE))
		return NULL;
	piece = __atomic_load_n(&table->pieces[index / PIECE], __ATOMIC_ACQUIRE);
	return piece ? __atomic_load_n(&piece[index % PIECE], __ATOMIC_ACQUIRE) : NULL;
}

struct entry *strings_add(const char *text)
{
	struct entry **place, *e;

	if (!text || !*text)
		return NULL;
	place = &recent[(uintptr_t)text * 0x9e3779b97f4a7c15u >> 55];
	e = __atomic_load_n(place, __ATOMIC_ACQUIRE);
	if (e && !strcmp(e->data, text))
		return e;
	e = add(&strings, text, strlen(text), 0);
	if (e)
		__atomic_store_n(place, e, __ATOMIC_RELEASE);
	return e;
}

struct entry *objects_add(const char *data, size_t size, uint8_t type)
{
	return add(&objects, data, size, type);
}

const struct entry *strings_get(uint32_t id)
{
	return get(&strings, id - STRING_BASE);
}

const struct entry *objects_get(uint32_t id)
{
	return get(&objects, id);
}

void strings_reset(void)
{
	struct entry *e, *next;
	uint32_t i;

	for (i = 0; i < BUCKETS; i++) {
		e = strings.buckets[i];
		__atomic_store_n(&strings.buckets[i], NULL, __ATOMIC_RELEASE);
		for (; e; e = next) {
			next = e->next;
			e->next = forgotten;
			forgotten = e;
		}
	}
	for (i = 0; i < RECENT; i++)
		__atomic_store_n(&recent[i], NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&strings.count, 0, __ATOMIC_RELEASE);
}

uint64_t entry_rtl(struct entry *entry)
{
	uint64_t id = __atomic_load_n(&entry->rtl, __ATOMIC_RELAXED);

	if (!id && !rtl_string_intern(entry->data, &id))
		__atomic_store_n(&entry->rtl, id, __ATOMIC_RELAXED);
	return id;
}
