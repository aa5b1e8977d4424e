/* SPDX-License-Identifier: MIT */
/* From XPTI to the bus: each stream becomes one of librtl's, each wanted notify an event there, and what begins and
 * ends a scope (rtl/scope.h), so that calls and GPU work below name their node. Any thread.
 *
 * Nothing of the publisher's memory is read but user data that its stream is known to promise, by type. Objects are
 * looked up, never followed.
 *
 * A stream "NAME.debug" is recorded if RTL_XPTI_DEBUG=1 asks for it. Else its events, which come when a plugin wants
 * them, go to the stream NAME: publishers give them to one of the two. */
#pragma once

#include "streams.h"

struct entry;
struct slot;
struct thread;

enum known_flags {
	KNOWN_BEGIN = 1, /* the end is the next type */
	KNOWN_END = 2,
	KNOWN_TEXT = 4, /* its user data are a text */
};

static inline struct known_type bridge_type(const struct stream *stream, uint16_t type)
{
	static const struct known_type other = {.number = RTL_OTHER};

	return type < 256 ? stream->types[type] : other;
}

/* Once, before the state tells that anything is on. */
void bridge_start(void);

/* What a name tells of a stream; before others see it. */
void bridge_name(struct stream *stream, const char *name);
/* Registers it with librtl. Not under the lock: subscribers are told. */
void bridge_stream(struct stream *stream);
/* Registers those that came before anybody knew that they are recorded. Not under the lock. */
void bridge_streams(void);
/* Initialize and Finalize. */
void bridge_begin(struct stream *stream, uint32_t major, uint32_t minor, const char *version);
void bridge_end(struct stream *stream);

bool bridge_wants_any(const struct rtl_stream *rtl);

/* Whether somebody records it; type 0: any. */
static inline bool bridge_wants(const struct stream *stream, uint16_t type)
{
	const struct rtl_stream *rtl = __atomic_load_n(&stream->rtl, __ATOMIC_ACQUIRE);

	if (!rtl)
		return false;
	return type ? rtl_enabled(rtl, bridge_type(stream, type).number) : bridge_wants_any(rtl);
}

/* An event, where somebody wants it. XPTI_SUCCESS. */
int32_t bridge_notify(struct stream *stream, uint16_t type, const void *parent, const void *object,
		      uint64_t instance, const void *user);

/* Metadata were added: told if the object's creation was. */
void bridge_metadata(struct slot *slot, struct entry *key, int32_t object);
/* A tracepoint scope is a scope of librtl's; NULL: none. */
void bridge_scope(struct thread *thread, struct slot *slot);
void bridge_stash(const char *key, uint64_t value);
