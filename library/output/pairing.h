/* SPDX-License-Identifier: MIT */
/* Begins that wait for their ends: a table of bounded size, by owner (what is paired with what), process and instance.
 *
 * Threads: one at a time. */
#pragma once

#include <rtl/subscriber.h>

#include "hash.h"

/** What begins and ends in streams; the end's type is the begin's and 1. */
#define PAIRING_KINDS 11u
extern const struct pairing_kind {
	uint16_t begin;
	const char *name, *xpti; /**< what it is called; in XPTI's streams, NULL: not there */
} pairing_kinds[PAIRING_KINDS];

/** The first field of that kind, size (0: any) and name (NULL: any); NULL: there is none, or no type. */
const struct rtl_field *pairing_field(const struct rtl_type_info *type, uint16_t kind,
				      uint32_t size, const char *name);
/** Whether events of a type say when it began and ended. */
bool pairing_has_times(const struct rtl_type_info *type);

/** Begins that can wait at once; 5 MiB when that many ever did. */
#define PAIRING_MAX 65536u

struct pairing_begin {
	const void *owner; /* NULL: a free place; it stands first for hash_has_pointer */
	uint64_t instance;
	uint64_t time_ns;
	union {
		uint64_t uid;
		void *group; /* if has_group: whatever its owner knows it by */
	};
	uint32_t process;
	bool has_group;
};

/** All zeros is an empty one. */
struct pairing {
	struct hash hash;
};

void pairing_fini(struct pairing *pairing);
/** Keeps a begin; false: no room, or one like it is waiting already. */
bool pairing_put(struct pairing *pairing, const struct pairing_begin *begin);
/** Takes out the begin of that owner, process and instance; false: there is none. */
bool pairing_take(struct pairing *pairing, struct pairing_begin *begin);
/** The n-th place, of pairing->hash.capacity; NULL: nothing is there. */
const struct pairing_begin *pairing_at(const struct pairing *pairing, size_t n);
/** How many of an owner wait. */
size_t pairing_waiting(const struct pairing *pairing, const void *owner);
