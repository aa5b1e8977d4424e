/* SPDX-License-Identifier: MIT */
/* Streams, their callbacks, and what is wanted of them: see README.md. */
#pragma once

#include <rtl/stream.h>

#include "xpti.h"

#define STREAMS 256u

struct callback {
	struct callback *next;  /* for types with the same low byte; release, acquire */
	xpti_callback function; /* NULL: forgotten by a reset */
	uint16_t type;
	bool on; /* relaxed: a call that has begun goes on */
};

/* A type of XPTI's, below 256, in a kind of stream. */
struct known_type {
	uint8_t number; /* in librtl's stream: its own, or RTL_OTHER */
	uint8_t flags;  /* enum known_flags, see bridge.h */
};

/* What a stream's user data are known to be, see bridge.c. */
enum stream_kind { KIND_UNKNOWN, KIND_SYCL, KIND_CALLS, KIND_BUFFER, KIND_IMAGE, KIND_MEMORY };

/* urPrintFunctionParams: the arguments of a call as a text; 0: done. */
typedef int32_t ur_print_fn(uint32_t function, const void *args, char *text, size_t size,
			    size_t *needed);

struct stream {
	/* Not 0 if there are callbacks for types of that low byte; 0: of any. Relaxed: it orders
	 * nothing, the list does. */
	uint8_t wanted[256];
	struct rtl_stream *rtl;         /* &rtl_stream_none: it is not recorded; release, acquire */
	const struct known_type *types; /* 256 of its kind; before the rest */
	struct stream *plain; /* of "NAME.debug", that of NAME; release, acquire; NULL: none */
	const char *name;     /* release, acquire; NULL: there is none */
	ur_print_fn *print;   /* of "ur.call.debug"; release, acquire; NULL: none */
	uint8_t kind;         /* enum stream_kind; before the name */
	uint8_t number;
	bool debug; /* its name ends with ".debug" */
	bool ended; /* relaxed: it was said to librtl */
} __attribute__((aligned(512)));

#pragma GCC visibility push(hidden)

extern struct stream streams[STREAMS];
/* The callbacks of each, by the low byte of their types; release, acquire. */
extern struct callback *stream_callbacks[STREAMS][256];

/* Bits of framework_state. */
enum state {
	STATE_PLUGINS = 1, /* callbacks are called */
	STATE_RTL = 2,     /* librtl may want something */
	STATE_NOT_YET = 4, /* nobody has looked: framework_start */
};

extern uint8_t framework_state; /* relaxed: it orders nothing */

#pragma GCC visibility pop

/* Reads the environment and loads the plugins. */
void framework_start(void);
static inline uint8_t framework_now(void)
{
	uint8_t state = __atomic_load_n(&framework_state, __ATOMIC_RELAXED);

	if (__builtin_expect(state & STATE_NOT_YET, 0)) {
		framework_start();
		state = __atomic_load_n(&framework_state, __ATOMIC_RELAXED);
	}
	return state;
}

/* Publishers may record more: RTL_XPTI_DEBUG=1 asks for the streams with ".debug", too. */
bool framework_wants_debug(void);

/* A stream's number by its name; 0: there is none. */
uint8_t stream_find(const char *name);
/* Undoes all callbacks of a stream, and forgets them if asked. False: it never had one. Under the lock. */
bool callbacks_end(struct stream *stream, bool forget);
