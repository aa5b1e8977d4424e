/* SPDX-License-Identifier: MIT */
#include "events.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "thread.h"

#define KEY_IDS     (1ull << 47) /* their ids begin here */
#define FIRST_USE   0x10000u     /* so that ids of slots begin at 2^48 */
#define CHUNK       (2u << 20)   /* a large page */
#define CHUNK_SLOTS (CHUNK / sizeof(struct slot))
#define CHUNKS_BITS 17u
#define CHUNKS      (1u << CHUNKS_BITS) /* three quarters of them are used: 192 GiB */
#define CHUNKS_MAX  (CHUNKS / 4 * 3)

/* ---- keys */

/* What makes a key. */
struct place {
	struct entry *name, *file;
	uint32_t line, column;
	const struct xpti_payload *payload; /* from here on for a new one alone */
};

static bool same_place(const struct node *node, const void *what)
{
	const struct key *k = (const struct key *)node;
	const struct place *place = what;

	return k->name == place->name && k->file == place->file && k->payload.line == place->line &&
	       k->payload.column == place->column;
}

static void fill_payload(struct key *key, const struct xpti_payload *from, uint64_t id)
{
	struct xpti_payload *p = &key->payload;

	*p = *from;
	p->name = key->name ? key->name->data : NULL;
	p->file = key->file ? key->file->data : NULL;
	p->stack = NULL; /* the caller's, who may give it up */
	p->flags = (from->flags & ~(uint64_t)XPTI_PAYLOAD_STACK) | XPTI_PAYLOAD_REGISTERED |
		   XPTI_PAYLOAD_HASH;
	p->internal = id;
	p->uid.p1 = (uint64_t)(key->file ? key->file->node.id + 1 : 0) << 32 | from->line;
	p->uid.p2 = key->name ? key->name->node.id + 1 : 0;
	p->uid.p3 = 0;
}

static struct node *make_key(const void *what, uint32_t id)
{
	const struct place *place = what;
	struct key *k = calloc(1, sizeof *k);

	if (!k)
		return NULL;
	k->name = place->name;
	k->file = place->file;
	k->payload_face.table = interface_payload;
	fill_payload(k, place->payload, KEY_IDS + id);
	return &k->node;
}

static struct table keys = {.same = same_place, .make = make_key};

bool payload_valid(const struct xpti_payload *p)
{
	return ((p->flags & XPTI_PAYLOAD_NAME) && p->name && *p->name) ||
	       ((p->flags & XPTI_PAYLOAD_FILE) && p->file && *p->file);
}

struct key *key_of(const struct xpti_payload *payload)
{
	const char *name = payload->flags & XPTI_PAYLOAD_NAME ? payload->name : NULL;
	const char *file = payload->flags & XPTI_PAYLOAD_FILE ? payload->file : NULL;
	const struct place place = {.name = strings_add(name),
				    .file = strings_add(file),
				    .line = payload->line,
				    .column = payload->column,
				    .payload = payload};

	if (!payload_valid(payload) || (name && *name && !place.name) ||
	    (file && *file && !place.file))
		return NULL;
	return (struct key *)table_add(&keys, table_hash(&place, offsetof(struct place, payload)),
				       &place);
}

struct key *key_by_id(uint64_t id)
{
	return (struct key *)table_get(&keys, id - KEY_IDS);
}

/* ---- slots */

static char *chunks[CHUNKS];       /* in the order in which they came; release, acquire */
static char *chunk_places[CHUNKS]; /* by address: open addressing; release, acquire */
static uint32_t chunk_count;       /* release, acquire */
static uint32_t chunk_used;        /* slots of the last one that were given out */
static struct slot *free_slots;    /* that were given back; under the lock, as chunk_used */

static uint32_t chunk_place(const char *chunk)
{
	return (uint32_t)((uintptr_t)chunk / CHUNK * 0x9e3779b97f4a7c15u >> (64 - CHUNKS_BITS));
}

struct slot *slot_of(const void *event)
{
	uintptr_t offset = (uintptr_t)event % CHUNK;
	char *chunk = (char *)((uintptr_t)event - offset), *there;
	struct slot *slot = (struct slot *)(uintptr_t)event;
	uint32_t i;

	if (!event || offset % sizeof(struct slot))
		return NULL;
	i = chunk_place(chunk);
	while ((there = __atomic_load_n(&chunk_places[i], __ATOMIC_ACQUIRE)) && there != chunk)
		i = (i + 1) % CHUNKS;
	if (!there || __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == SLOT_FREE)
		return NULL;
	return slot;
}

struct slot *slot_by_id(uint64_t id)
{
	uint32_t index = (uint32_t)id;
	struct slot *slot;

	if (id >> 32 < FIRST_USE ||
	    index / CHUNK_SLOTS >= __atomic_load_n(&chunk_count, __ATOMIC_ACQUIRE))
		return NULL;
	slot = slot_of((struct slot *)(void *)chunks[index / CHUNK_SLOTS] + index % CHUNK_SLOTS);
	return slot && slot->event.unique_id == id ? slot : NULL;
}

static uint32_t index_of(const struct slot *slot)
{
	/* the first slot of a chunk is never given out: the number stands there */
	const struct slot *first = (const struct slot *)((uintptr_t)slot & ~(uintptr_t)(CHUNK - 1));

	return (uint32_t)(first->event.data_id * CHUNK_SLOTS + (uint64_t)(slot - first));
}

static bool add_chunk(void)
{
	char *memory, *chunk;
	uint32_t i;

	/* malloc's: so that sanitizers follow what metadata hangs on it. Of its pages only those
	 * are used that become slots. */
	memory = chunk_count < CHUNKS_MAX ? calloc(1, 2 * CHUNK) : NULL;
	if (!memory)
		return false;
	chunk = (char *)(((uintptr_t)memory + CHUNK - 1) & ~(uintptr_t)(CHUNK - 1));
	/* One fault in place of 512, where the kernel has large pages; else it stays as it is. */
	madvise(chunk, CHUNK, MADV_HUGEPAGE);
	((struct slot *)(void *)chunk)->event.data_id = chunk_count;
	for (i = chunk_place(chunk); chunk_places[i]; i = (i + 1) % CHUNKS)
		;
	__atomic_store_n(&chunk_places[i], chunk, __ATOMIC_RELEASE);
	__atomic_store_n(&chunks[chunk_count], chunk, __ATOMIC_RELEASE);
	__atomic_store_n(&chunk_count, chunk_count + 1, __ATOMIC_RELEASE);
	chunk_used = 1;
	return true;
}

/* A slot that was never used; NULL: there is none. Under the lock. */
static struct slot *fresh(void)
{
	if ((!chunk_count || chunk_used == CHUNK_SLOTS) && !add_chunk())
		return NULL;
	return (struct slot *)(void *)chunks[chunk_count - 1] + chunk_used++;
}

struct slot *slot_make(struct key *key, enum slot_state state)
{
	struct slot *slot;
	struct xpti_event *event;
	uint64_t instance;

	if (!key)
		return NULL;
	metadata_prepare();
	pthread_mutex_lock(&framework_lock);
	slot = free_slots ? free_slots : fresh();
	if (free_slots)
		free_slots = free_slots->next;
	pthread_mutex_unlock(&framework_lock);
	if (!slot)
		return NULL;
	instance = __atomic_add_fetch(&key->instances, 1, __ATOMIC_RELAXED);
	event = &slot->event;
	slot->key = key;
	slot->uses = slot->uses && slot->uses + 1 ? slot->uses + 1 : FIRST_USE;
	slot->stream = 0;
	*event = (struct xpti_event){
		.unique_id = (uint64_t)slot->uses << 32 | index_of(slot),
		.data_id = instance,
		.instance_id = instance,
		.payload = &slot->payload,
		.flags = XPTI_EVENT_UID | XPTI_EVENT_PAYLOAD,
	};
	metadata_init(&event->metadata);
	slot->payload = key->payload;
	slot->payload.internal = event->unique_id;
	/* as objects of C++ */
	slot->payload_face.table = interface_payload;
	slot->metadata_face.table = interface_metadata;
	slot->event_face.table = interface_event;
	slot->tracepoint_face.table = interface_tracepoint;
	/* release: with the acquire in slot_of */
	__atomic_store_n(&slot->state, state, __ATOMIC_RELEASE);
	return slot;
}

struct slot *key_event(struct key *key)
{
	struct slot *there = __atomic_load_n(&key->event, __ATOMIC_ACQUIRE), *made;

	if (there)
		return there;
	made = slot_make(key, SLOT_EVENT);
	if (!made)
		return NULL;
	made->event.unique_id = made->payload.internal = key->payload.internal;
	/* acq_rel: with the acquire here and above */
	if (__atomic_compare_exchange_n(&key->event, &there, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return made;
	slot_release(made);
	return there;
}

void slot_release(struct slot *slot)
{
	HOLD_LOCK(&framework_lock);
	__atomic_store_n(&slot->state, SLOT_FREE, __ATOMIC_RELEASE);
	metadata_clear(&slot->event.metadata);
	slot->next = free_slots;
	free_slots = slot;
}
