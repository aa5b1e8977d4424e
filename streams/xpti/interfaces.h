/* SPDX-License-Identifier: MIT */
/*
 * Payloads, metadata, events and tracepoints as objects of C++: what callers get has a pointer to a
 * table of functions as its first word, in the order in which XPTI's classes declare them (the
 * Itanium ABI of C++). Constant; any thread.
 */
#ifndef STREAMS_XPTI_INTERFACES_H
#define STREAMS_XPTI_INTERFACES_H

/* What the first word of an object points to. */
extern const void *const interface_payload;
extern const void *const interface_metadata;
extern const void *const interface_event;
extern const void *const interface_tracepoint;

struct slot;
struct face;
struct xpti_interface;

/* The slot of a tracepoint that is alive; NULL: it is none. */
struct slot *interface_slot(const struct xpti_interface *tracepoint);

#endif
