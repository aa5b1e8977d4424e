/* SPDX-License-Identifier: MIT */
/* Payloads and events. A key is what payloads with one name, file, line and column share; it stays. Each visit makes an
 * event: a slot, see README.md. Keys' ids are below those of slots. Programs rarely release events: their number grows
 * until memory ends. */
#pragma once

#include "tables.h"
#include "xpti.h"

/* An object of C++ as its caller sees it. */
struct face {
	const void *table;
};

struct key {
	struct node node;          /* in the table of keys */
	uint64_t instances;        /* how often it was visited; relaxed */
	uint64_t uid;              /* librtl's; 0: not yet asked for; relaxed: always the same */
	struct entry *name, *file; /* NULL: none */
	struct slot *event;        /* see key_event; acq_rel; NULL: none yet */
	struct face payload_face;  /* right before the payload, see interfaces.c */
	struct xpti_payload payload;
};

enum slot_state {
	SLOT_FREE,
	SLOT_EVENT,
	SLOT_TRACEPOINT,
};

struct slot {
	struct xpti_event event;
	struct face payload_face; /* right before the payload, as in a key */
	struct xpti_payload payload;
	struct face metadata_face, event_face, tracepoint_face;
	union {
		struct key *key;
		struct slot *next; /* of free ones */
	};
	uint32_t uses;  /* how often it was taken */
	uint8_t state;  /* enum slot_state; release when it is complete, acquire by slot_of */
	uint8_t stream; /* in which its creation was recorded; 0: it was not; relaxed */
	uint8_t unused[2];
};

_Static_assert(sizeof(struct slot) == 256, "a slot is four cache lines");

/* The slot of an event that is alive, from a pointer that may be anything; NULL: it is none. */
struct slot *slot_of(const void *event);
/* The same by id. */
struct slot *slot_by_id(uint64_t id);

/* Whether it has a name or a file. */
bool payload_valid(const struct xpti_payload *payload);
/* A payload's key, made if it is new; NULL: the payload is not valid, or there is no memory. */
struct key *key_of(const struct xpti_payload *payload);
struct key *key_by_id(uint64_t id);
/* An event that has the payload's id, and stays. NULL: no memory. */
struct slot *key_event(struct key *key);
/* A new event of it. NULL: no memory; also where there was none for a key (NULL). */
struct slot *slot_make(struct key *key, enum slot_state state);
void slot_release(struct slot *slot);

/* Metadata: the map of an event, under the framework's lock. */
int32_t metadata_set(struct xpti_map *map, uint32_t key, int32_t value);
/* Before the first map, and not under a lock: it asks the loader, which a constructor may have to wait for. */
void metadata_prepare(void);
void metadata_init(struct xpti_map *map);
void metadata_clear(struct xpti_map *map);

/* Payloads, metadata, events and tracepoints as objects of C++ (interfaces.c): what the first word of each points
 * to, a table of functions in the order in which XPTI's classes declare them (the Itanium ABI of C++). */
extern const void *const interface_payload;
extern const void *const interface_metadata;
extern const void *const interface_event;
extern const void *const interface_tracepoint;

/* The slot of a tracepoint that is alive; NULL: it is none. */
struct slot *interface_slot(const struct xpti_interface *tracepoint);
