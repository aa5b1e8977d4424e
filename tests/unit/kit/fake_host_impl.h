/* SPDX-License-Identifier: MIT */
/*
 * fake_host_impl.h: what a fake host is made of, for its two halves: fake_host_api.c, which the
 * subscriber calls, and fake_host.c, which the test calls. One thread.
 */
#ifndef FAKE_HOST_IMPL_H
#define FAKE_HOST_IMPL_H

#include "fake_host.h"

#define MAX_PROPERTIES 16
#define MAX_RINGS      8

struct fake_key {
	uint32_t process;
	uint64_t id;
};

struct fake_text {
	struct fake_key key;
	char *text;
};

struct fake_tracepoint {
	struct fake_key key;
	struct rtl_tracepoint tp;
	struct rtl_metadata *metadata;
	struct rtl_values_info *values; /* once it has been asked for */
};

struct fake_ring {
	uint64_t position; /* bytes of all events so far */
	uint64_t flushed;
	uint64_t stored; /* as the subscriber said by resume */
};

struct fake_process {
	struct fake_process *next;
	struct rtl_process process;
	bool begun;
	bool delivered; /* too late to resume */
	struct fake_ring rings[MAX_RINGS];
};

struct fake_loss {
	struct fake_loss *next;
	char *cause;
	uint64_t count;
};

struct fake_stream {
	struct fake_stream *next;
	const struct rtl_stream_info *info;
	struct rtl_ledger ledger;
	bool ledger_set;
	struct fake_loss *losses;
};

struct rtl_subscription {
	struct rtl_subscription *next;
	const struct rtl_stream_info *stream;
	uint16_t type;
	rtl_events_fn fn;
	void *user;
};

struct fake_report {
	int level;
	char *text;
};

struct fake_host {
	struct rtl_host api; /* first: the API's pointer is the host's */
	char *property_key[MAX_PROPERTIES], *property_value[MAX_PROPERTIES];
	struct fake_process *processes;
	uint32_t ring;
	bool kept; /* the last flush has stored nothing */
	struct fake_stream *streams;
	struct rtl_subscription *subscriptions;
	void *strings, *tracepoints; /* trees */
	uint64_t next_string;
	struct fake_report *reports;
	size_t report_count;
	char *failure;
	int error;
	struct rtl_plugin *plugin;
	const struct rtl_subscriber *subscriber;
	void *instance;
};

/* p, which must not be NULL: running out of memory aborts. */
void *fake_checked(void *p);
char *fake_copy_text(const char *text);
int fake_compare_keys(const void *a, const void *b);
struct fake_key fake_key_of(const struct rtl_process *process, uint64_t id);
/* NULL if it is not there. */
struct fake_stream *fake_find_stream(const struct fake_host *h, const struct rtl_stream_info *info);
struct fake_process *fake_find_process(const struct fake_host *h,
				       const struct rtl_process *process);
/* The first error stays. */
void fake_note_error(struct fake_host *h, int error);
/* What the subscriber gets: fake_host_api.c. */
void fake_host_api_fill(struct rtl_host *api);

#endif
