/* SPDX-License-Identifier: MIT */
/* The functions for ids, strings, objects, payloads, events, tracepoints, stash and scope. */
#include <string.h>

#include "bridge.h"
#include "events.h"
#include "thread.h"

/* ---- ids, and what a thread leaves to itself */

uint64_t xptiGetUniqueId(void)
{
	static uint64_t last; /* relaxed: only uniqueness counts */

	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

uint64_t xptiGetUniversalId(void)
{
	const struct thread *thread = thread_self();

	return thread ? thread->universal_id : 0;
}

void xptiSetUniversalId(uint64_t id)
{
	struct thread *thread = thread_self();

	if (thread)
		thread->universal_id = id;
}

int32_t xptiStashTuple(const char *key, uint64_t value)
{
	struct thread *thread = thread_self();

	if (!key || !thread)
		return XPTI_FAIL;
	thread->stash_key = key;
	thread->stash_value = value;
	thread->has_stash = thread->stash_is_new = true;
	bridge_stash(key, value);
	return XPTI_SUCCESS;
}

int32_t xptiGetStashedTuple(char **key, uint64_t *value)
{
	const struct thread *thread = thread_self();

	if (!key || !value)
		return XPTI_INVALIDARG;
	if (!thread || !thread->has_stash)
		return XPTI_NOTFOUND;
	*key = (char *)(uintptr_t)thread->stash_key;
	*value = thread->stash_value;
	return XPTI_SUCCESS;
}

/* SYCL unstashes before the notify for which it stashed. So what is there stays. */
void xptiUnstashTuple(void)
{
}

/* ---- strings and objects */

uint32_t xptiRegisterString(const char *text, char **table)
{
	struct entry *entry = table ? strings_add(text) : NULL;

	if (!entry)
		return XPTI_INVALID_STRING;
	*table = entry->data;
	return entry->node.id + 1;
}

const char *xptiLookupString(uint32_t id)
{
	const struct entry *entry = strings_get(id);

	return entry ? entry->data : NULL;
}

int32_t xptiRegisterObject(const char *data, size_t size, uint8_t type)
{
	const struct entry *entry = data ? objects_add(data, size, type) : NULL;

	return entry ? (int32_t)entry->node.id : XPTI_INVALID_OBJECT;
}

struct xpti_object xptiLookupObject(int32_t id)
{
	const struct entry *entry = objects_get((uint32_t)id);

	return entry ? (struct xpti_object){entry->size, entry->data, entry->type}
		     : (struct xpti_object){0};
}

/* ---- payloads */

uint64_t xptiRegisterPayload(struct xpti_payload *payload)
{
	struct key *key = payload ? key_of(payload) : NULL;

	if (!key)
		return 0;
	payload->internal = key->payload.internal;
	payload->uid = key->payload.uid;
	payload->flags |= XPTI_PAYLOAD_REGISTERED | XPTI_PAYLOAD_HASH;
	return payload->internal;
}

const struct xpti_payload *xptiQueryPayload(struct xpti_event *event)
{
	return slot_of(event) ? event->payload : NULL;
}

static struct xpti_interface *shown(struct face *face)
{
	return (struct xpti_interface *)(void *)face;
}

/* The face of an event's payload, or a key's. */
struct xpti_interface *xptiLookupPayload(uint64_t id)
{
	struct slot *slot = slot_by_id(id);
	struct key *key = slot ? NULL : key_by_id(id);

	return shown(slot ? &slot->payload_face : key ? &key->payload_face : NULL);
}

/* It stands behind its face. */
const struct xpti_payload *xptiQueryPayloadByUID(uint64_t id)
{
	struct face *face = (struct face *)(void *)xptiLookupPayload(id);

	return face ? (const struct xpti_payload *)(void *)(face + 1) : NULL;
}

/* ---- events */

/* Of an event's id, or a payload's. */
static struct slot *find_event(uint64_t id)
{
	struct slot *slot = slot_by_id(id);
	struct key *key = slot ? NULL : key_by_id(id);

	return key ? key_event(key) : slot;
}

struct xpti_interface *xptiLookupEvent(uint64_t id)
{
	struct slot *slot = find_event(id);

	return slot ? shown(&slot->event_face) : NULL;
}

struct xpti_event *xptiMakeEvent(const char *name, struct xpti_payload *payload, uint16_t event,
				 int32_t activity, uint64_t *instance)
{
	struct slot *slot;

	(void)name; /* the payload has one */
	if (!payload || !instance || !payload_valid(payload))
		return NULL;
	slot = slot_make(key_of(payload), SLOT_EVENT);
	if (!slot)
		return NULL;
	slot->payload.code = payload->code;
	slot->event.event_type = event;
	slot->event.activity_type = (uint16_t)activity;
	slot->event.flags |= XPTI_EVENT_EVENT | XPTI_EVENT_ACTIVITY;
	*instance = slot->event.instance_id;
	return &slot->event;
}

const struct xpti_event *xptiFindEvent(uint64_t id)
{
	struct slot *slot = find_event(id);

	return slot ? &slot->event : NULL;
}

void xptiReleaseEvent(struct xpti_event *event)
{
	struct slot *slot = slot_of(event);

	if (slot && slot != slot->key->event)
		slot_release(slot);
}

int32_t xptiAddMetadata(struct xpti_event *event, const char *name, int32_t object)
{
	struct slot *slot = slot_of(event);
	struct entry *key = slot ? strings_add(name) : NULL;
	int32_t result;

	if (!key)
		return XPTI_INVALIDARG;
	pthread_mutex_lock(&framework_lock);
	result = metadata_set(&event->metadata, key->node.id + 1, object);
	pthread_mutex_unlock(&framework_lock);
	bridge_metadata(slot, key, object);
	return result;
}

struct xpti_map *xptiQueryMetadata(struct xpti_event *event)
{
	return slot_of(event) ? &event->metadata : NULL;
}

/* ---- tracepoints and scope */

struct xpti_interface *xptiCreateTracepoint(const char *function, const char *file, uint32_t line,
					    uint32_t column, void *code)
{
	const bool has_name = function && *function, has_file = file && *file;
	const struct xpti_payload payload = {
		.name = has_name || has_file ? function : "unknown",
		.file = has_name || has_file ? file : "unknown-file",
		.line = line,
		.column = column,
		.flags = (has_name || !has_file ? XPTI_PAYLOAD_NAME : 0) |
			 (has_file || !has_name ? XPTI_PAYLOAD_FILE : 0) | XPTI_PAYLOAD_LINE |
			 XPTI_PAYLOAD_COLUMN,
	};
	struct slot *slot = slot_make(key_of(&payload), SLOT_TRACEPOINT);

	(void)code; /* some callers do not give it: it may be anything */
	if (!slot)
		return NULL;
	slot->event.event_type = xptiGetDefaultEventType();
	slot->event.activity_type = XPTI_ACTIVITY_ACTIVE;
	slot->event.flags |= XPTI_EVENT_EVENT | XPTI_EVENT_ACTIVITY;
	return shown(&slot->tracepoint_face);
}

int32_t xptiDeleteTracepoint(struct xpti_interface *tracepoint)
{
	struct slot *slot = interface_slot(tracepoint);
	struct thread *thread = thread_self();

	if (!slot)
		return XPTI_INVALIDARG;
	if (thread && thread->scope == slot)
		xptiUnsetTracepointScopeData();
	slot_release(slot);
	return XPTI_SUCCESS;
}

__typeof__(xptiCreateTracepoint) xptiRegisterTracepointScope
	__attribute__((alias("xptiCreateTracepoint")));

struct xpti_interface *xptiGetTracepointScopeData(void)
{
	const struct thread *thread = thread_self();
	struct slot *slot = thread ? slot_of(thread->scope) : NULL;

	/* another thread may have deleted it */
	return slot && slot->state == SLOT_TRACEPOINT ? shown(&slot->tracepoint_face) : NULL;
}

int32_t xptiSetTracepointScopeData(struct xpti_interface *tracepoint)
{
	struct slot *slot = interface_slot(tracepoint);
	struct thread *thread = thread_self();

	if (!slot || !thread)
		return XPTI_INVALIDARG;
	thread->scope = slot;
	thread->universal_id = slot->event.unique_id;
	bridge_scope(thread, slot);
	return XPTI_SUCCESS;
}

void xptiUnsetTracepointScopeData(void)
{
	struct thread *thread = thread_self();

	if (!thread)
		return;
	thread->scope = NULL;
	thread->universal_id = 0;
	bridge_scope(thread, NULL);
}

static bool scopes_notify; /* relaxed: it orders nothing */

void xptiEnableTracepointScopeNotification(bool on)
{
	__atomic_store_n(&scopes_notify, on, __ATOMIC_RELAXED);
}

bool xptiCheckTracepointScopeNotification(void)
{
	return __atomic_load_n(&scopes_notify, __ATOMIC_RELAXED);
}
