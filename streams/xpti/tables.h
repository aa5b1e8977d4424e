/* SPDX-License-Identifier: MIT */
/* What is interned: strings, objects (bytes with a type), and the keys of events.h. An entry has a number, is found
 * without a lock, and never changes or moves; the framework's lock serialises additions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_BUCKETS 16384u
#define TABLE_PIECE   4096u
#define TABLE_PIECES  4096u

/* What is in a table begins with this. */
struct node {
	struct node *next; /* of the same bucket; release, acquire */
	uint64_t hash;
	uint32_t id;
};

struct table {
	/* Of what is in it, by number. False: it is another one. */
	bool (*same)(const struct node *node, const void *what);
	/* Allocates it; NULL: no memory. */
	struct node *(*make)(const void *what, uint32_t id);
	struct node *buckets[TABLE_BUCKETS]; /* release by table_add, acquire by who looks */
	struct node **pieces[TABLE_PIECES];  /* by number; likewise */
	uint32_t count; /* numbers given out; relaxed: pieces tell what is there */
};

uint64_t table_hash(const void *data, size_t size);
/* What has that hash and is the same, added if it is new. NULL: no memory or no number left. */
struct node *table_add(struct table *table, uint64_t hash, const void *what);
/* By number; NULL: there is none. */
struct node *table_get(const struct table *table, uint64_t id);

/* A string or an object. */
struct entry {
	struct node node;
	uint32_t size;
	uint64_t rtl; /* the string in librtl, 0: not yet asked for; relaxed: always the same */
	uint8_t type;
	char data[]; /* and a NUL behind it */
};

/* A text's entry, added if it is new. NULL: no memory or no number left; NULL or "" too. */
struct entry *strings_add(const char *text);
/* Objects likewise, found by their bytes alone: the first type that they came with stays. */
struct entry *objects_add(const char *data, size_t size, uint8_t type);
/* By number, of strings from 1; NULL: there is none. */
const struct entry *strings_get(uint32_t id);
const struct entry *objects_get(uint32_t id);
/* A string's id in librtl. */
uint64_t entry_rtl(struct entry *entry);
