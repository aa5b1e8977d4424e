/* SPDX-License-Identifier: MIT */
/* What programs and plugins are compiled with: objects of C++ (events.h), and the layouts of xpti.h. An object points
 * into a table, behind the distance to the whole object and the type, which we lack. `this` is the first argument. */

#include "events.h"
#include "thread.h"

/* Size, and where the last member is. */
#define LAYOUT(type, size, last, offset)                                                           \
	_Static_assert(sizeof(struct type) == (size) && offsetof(struct type, last) == (offset),   \
		       #type)

LAYOUT(xpti_uid, 24, p3, 16);
LAYOUT(xpti_payload, 80, uid, 56);
LAYOUT(xpti_map_node, 16, value, 12);
LAYOUT(xpti_map, 56, single, 48);
LAYOUT(xpti_event, 128, flags, 120);
LAYOUT(xpti_object, 24, type, 16);
LAYOUT(xpti_call, 40, user, 32);
LAYOUT(xpti_memory, 40, reserved, 32);
LAYOUT(xpti_buffer, 56, range, 32);
LAYOUT(xpti_image, 80, filtering, 68);
LAYOUT(xpti_accessor, 24, mode, 20);
LAYOUT(xpti_image_accessor, 48, element_size, 40);
LAYOUT(xpti_association, 16, memory, 8);
LAYOUT(xpti_enqueue, 80, args, 72);
LAYOUT(xpti_kernel_arg, 24, index, 20);

typedef void (*method)(void);

struct methods {
	ptrdiff_t to_whole;
	const void *type;
	method methods[16];
};

#define METHOD(function)  ((method)(function))
#define SLOT(this, face)  ((struct slot *)(void *)((char *)(this) - offsetof(struct slot, face)))
#define FACE(slot, which) ((struct xpti_interface *)(void *)&(slot)->which)
/* A method that only gives something of its object. */
#define GIVES(type, name, value)                                                                   \
	static type name(void *this)                                                               \
	{                                                                                          \
		return value;                                                                      \
	}

/* Objects are ours, and end with their events. */
static void destroy(void *this)
{
}

static const char *text(const char *maybe)
{
	return maybe ? maybe : "";
}

/* ---- payload: it stands behind its face, in slots and in keys */

_Static_assert(offsetof(struct slot, payload) ==
		       offsetof(struct slot, payload_face) + sizeof(struct face),
	       "behind its face");
_Static_assert(offsetof(struct key, payload) ==
		       offsetof(struct key, payload_face) + sizeof(struct face),
	       "behind its face");

static struct xpti_payload *payload_ref(void *this)
{
	return (struct xpti_payload *)(void *)((struct face *)this + 1);
}

GIVES(const char *, payload_name, text(payload_ref(this)->name))
GIVES(const char *, payload_file, text(payload_ref(this)->file))
GIVES(uint32_t, payload_line, payload_ref(this)->line)
GIVES(uint32_t, payload_column, payload_ref(this)->column)
GIVES(uint64_t, payload_flags, payload_ref(this)->flags)
GIVES(uint64_t, payload_name_id, payload_ref(this)->uid.p2)
GIVES(uint64_t, payload_file_id, payload_ref(this)->uid.p1 >> 32)
GIVES(uint64_t, payload_id, payload_ref(this)->internal)
GIVES(bool, payload_is_valid,
      (payload_ref(this)->flags & (XPTI_PAYLOAD_NAME | XPTI_PAYLOAD_FILE)) != 0)

static const struct methods payload_table = {
	.methods = {METHOD(destroy), METHOD(destroy), METHOD(payload_name), METHOD(payload_file),
		    METHOD(payload_line), METHOD(payload_column), METHOD(payload_flags),
		    METHOD(payload_name_id), METHOD(payload_file_id), METHOD(payload_id),
		    METHOD(payload_is_valid), METHOD(payload_ref)}};

/* ---- metadata */

/* `first`: else the one behind that which the thread was given last. */
static int32_t give_item(void *this, bool first, char **key, int32_t *value)
{
	const struct xpti_map *map = &SLOT(this, metadata_face)->event.metadata;
	struct thread *thread = thread_self();
	const struct xpti_map_node *node;
	const struct entry *entry;

	HOLD_LOCK(&framework_lock);
	node = thread && (first || thread->walk == map) ? map->first : NULL;
	for (bool behind = first; node && !behind; node = node->next)
		behind = node->key == thread->walk_key;
	entry = node ? strings_get(node->key) : NULL;
	if (entry) {
		thread->walk = map;
		thread->walk_key = node->key;
		*key = (char *)(uintptr_t)entry->data;
		*value = node->value;
	}
	return entry ? XPTI_SUCCESS : XPTI_FALSE;
}

static int32_t metadata_first(void *this, char **key, int32_t *value)
{
	return give_item(this, true, key, value);
}

static int32_t metadata_next(void *this, char **key, int32_t *value)
{
	return give_item(this, false, key, value);
}

static int32_t metadata_add(void *this, const char *key, int32_t object)
{
	return xptiAddMetadata(&SLOT(this, metadata_face)->event, key, object);
}

GIVES(size_t, metadata_count, SLOT(this, metadata_face)->event.metadata.count)

static const struct methods metadata_table = {
	.methods = {METHOD(destroy), METHOD(destroy), METHOD(metadata_first), METHOD(metadata_next),
		    METHOD(metadata_add), METHOD(metadata_count)}};

/* ---- events */

GIVES(struct xpti_interface *, event_payload, FACE(SLOT(this, event_face), payload_face))
GIVES(struct xpti_interface *, event_metadata, FACE(SLOT(this, event_face), metadata_face))
GIVES(uint64_t, event_id, SLOT(this, event_face)->event.unique_id)
GIVES(uint64_t, event_instance, SLOT(this, event_face)->event.instance_id)
GIVES(uint16_t, event_type, SLOT(this, event_face)->event.event_type)
GIVES(uint16_t, event_activity, SLOT(this, event_face)->event.activity_type)
GIVES(uint64_t, event_source, SLOT(this, event_face)->event.source_id)
GIVES(uint64_t, event_target, SLOT(this, event_face)->event.target_id)
GIVES(uint64_t, event_flags, SLOT(this, event_face)->event.flags)

#define SETS(name, member, flag)                                                                   \
	static void name(void *this, uint16_t value)                                               \
	{                                                                                          \
		SLOT(this, event_face)->event.member = value;                                      \
		SLOT(this, event_face)->event.flags |= flag;                                       \
	}
SETS(event_set_activity, activity_type, XPTI_EVENT_ACTIVITY)
SETS(event_set_type, event_type, XPTI_EVENT_EVENT)

GIVES(struct xpti_payload *, event_payload_ref, &SLOT(this, event_face)->payload)
GIVES(struct xpti_event *, event_ref, &SLOT(this, event_face)->event)

static const struct methods event_table = {
	.methods = {METHOD(destroy), METHOD(destroy), METHOD(event_payload), METHOD(event_metadata),
		    METHOD(event_id), METHOD(event_instance), METHOD(event_type),
		    METHOD(event_activity), METHOD(event_source), METHOD(event_target),
		    METHOD(event_flags), METHOD(event_set_activity), METHOD(event_set_type),
		    METHOD(event_payload_ref), METHOD(event_ref)}};

/* ---- tracepoints */

GIVES(struct xpti_interface *, tracepoint_payload, FACE(SLOT(this, tracepoint_face), payload_face))
GIVES(struct xpti_interface *, tracepoint_metadata,
      FACE(SLOT(this, tracepoint_face), metadata_face))
GIVES(struct xpti_interface *, tracepoint_event, FACE(SLOT(this, tracepoint_face), event_face))
GIVES(uint64_t, tracepoint_id, SLOT(this, tracepoint_face)->event.unique_id)
GIVES(uint64_t, tracepoint_instance, SLOT(this, tracepoint_face)->event.instance_id)
GIVES(struct xpti_event *, tracepoint_event_ref, &SLOT(this, tracepoint_face)->event)
GIVES(struct xpti_payload *, tracepoint_payload_ref, &SLOT(this, tracepoint_face)->payload)

static const struct methods tracepoint_table = {
	.methods = {METHOD(destroy), METHOD(destroy), METHOD(tracepoint_payload),
		    METHOD(tracepoint_metadata), METHOD(tracepoint_event), METHOD(tracepoint_id),
		    METHOD(tracepoint_instance), METHOD(tracepoint_event_ref),
		    METHOD(tracepoint_payload_ref)}};

const void *const interface_payload = payload_table.methods;
const void *const interface_metadata = metadata_table.methods;
const void *const interface_event = event_table.methods;
const void *const interface_tracepoint = tracepoint_table.methods;

struct slot *interface_slot(const struct xpti_interface *tracepoint)
{
	struct slot *slot = tracepoint ? slot_of(SLOT(tracepoint, tracepoint_face)) : NULL;

	return slot && slot->state == SLOT_TRACEPOINT ? slot : NULL;
}
