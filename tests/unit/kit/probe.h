/* SPDX-License-Identifier: MIT */
/* The probe: a subscriber for tests of the bus (probe_sub.c). It does what its settings say and writes what it is told,
 * a line each, to its output; and it calls the functions of the program's
 * `probe_hooks`, if the program exports one, so that a test can look and interfere at every point
 * of an instance's life. */
#pragma once

#include <rtl/publish.h>
#include <rtl/subscriber.h>

/* An instance of the probe. */
struct probe {
	const struct rtl_host *host;
	const char *name;   /* setting "name", default "probe" */
	const char *prefix; /* setting "streams": prefix of those to subscribe to */
	const char
		*fail_at; /* setting "fail_at": create, process_begin, stream, flush, batch, ... */
	bool buffered, inlined; /* setting "delivery": buffered, inline, both, none */
	bool detail;            /* setting "detail": a line for each event */
	uint16_t type;          /* setting "type", default RTL_TYPE_ANY */
	unsigned slow_us;       /* setting "slow_us": sleeps so long in each batch */
	int fd;                 /* setting "output"; -1: none */
	uint64_t buffered_count, inline_count; /* events */
	void *user;                            /* the test's */
};

/* What the program can have called; NULL members are left out. */
struct probe_hooks {
	int (*create)(struct probe *probe);
	int (*process_begin)(struct probe *probe, const struct rtl_process *process);
	/* > 0: the probe does not subscribe by itself */
	int (*stream)(struct probe *probe, const struct rtl_stream_info *stream);
	void (*buffered)(struct probe *probe, const struct rtl_event *const *events, size_t count);
	void (*inlined)(struct probe *probe, const struct rtl_event *event);
	int (*flush)(struct probe *probe);
	int (*process_end)(struct probe *probe, const struct rtl_process *process);
	int (*finish)(struct probe *probe);
	void (*destroy)(struct probe *probe);
};

extern const struct probe_hooks *probe_hooks;

/* From here on: USE_HOOKS(.stream = a_function). */
#define USE_HOOKS(...)                                                                             \
	do {                                                                                       \
		static const struct probe_hooks hooks_ = {__VA_ARGS__};                            \
		probe_hooks = &hooks_;                                                             \
	} while (0)
