/* SPDX-License-Identifier: MIT */
/* fake_host.h: a host for unit tests of subscribers. It offers what struct rtl_host promises, from tables that the test
 * fills, and calls the subscriber when the test says so. Plugins are loaded by librtl.
 *
 *     struct fake_host *h = fake_host_create();
 *     const struct rtl_process *p = fake_host_process(h, 1, 4711, "/bin/app");
 *     assert(fake_host_load(h, PLUGIN_PATH, "output=x.db") == 0);
 *     const struct rtl_stream_info *hsa = fake_host_stream(h, fake_hsa_stream());
 *     fake_host_begin(h, p);
 *     ... fill payloads and events, fake_host_deliver(h, events, n), fake_host_flush(h) ...
 *     fake_host_end(h);     // process_end of all, finish, destroy
 *     fake_host_destroy(h);
 *
 * One thread. Running out of memory aborts: this is for tests. */
#pragma once

#include <rtl/events.h>
#include <rtl/subscriber.h>

struct fake_host;

struct fake_host *fake_host_create(void);
/** Also destroys the instance if there is one, and closes the plugin. */
void fake_host_destroy(struct fake_host *host);

/* What the host knows. Texts are copied. All of it may be added at any time. */

/** A property of the run ("session", "mode", "where", "version"); value NULL removes it. */
void fake_host_set_property(struct fake_host *host, const char *key, const char *value);
/** A process; its subscriber is not told before fake_host_begin. Its spool_id comes of its pid. */
struct rtl_process *fake_host_process(struct fake_host *host, uint32_t number, int32_t pid,
				      const char *program);
/** Interns a text in a process: the same text gets the same id in each. */
uint64_t fake_host_string(struct fake_host *host, const struct rtl_process *process,
			  const char *text);
/** Gives a text an id of the test's choice. */
void fake_host_set_string(struct fake_host *host, const struct rtl_process *process, uint64_t id,
			  const char *text);
/** A tracepoint; NULL texts become "". The metadata are copied. */
void fake_host_set_tracepoint(struct fake_host *host, const struct rtl_process *process,
			      const struct rtl_tracepoint *tracepoint);
/** Short form: kind, name, and one key with its value (NULL: none). */
void fake_host_tracepoint(struct fake_host *host, const struct rtl_process *process, uint64_t uid,
			  const char *kind, const char *name, const char *key, const char *value);
/** Ledger of a stream (for every process alike); without it delivered events are counted. */
void fake_host_set_ledger(struct fake_host *host, const struct rtl_stream_info *stream,
			  const struct rtl_ledger *ledger);
void fake_host_add_loss(struct fake_host *host, const struct rtl_stream_info *stream,
			const char *cause, uint64_t count);

/* The subscriber. */

/** Loads a plugin file and creates an instance. settings: "key=value&key=value", NULL = none.
 *  What a real host refuses is refused, with a report. */
int fake_host_load(struct fake_host *host, const char *file, const char *settings);
/** Tells of a stream. The description stays the caller's; returns it. If the subscriber fails,
 *  fake_host_error tells. */
const struct rtl_stream_info *fake_host_stream(struct fake_host *host,
					       const struct rtl_stream_info *stream);
void fake_host_begin(struct fake_host *host, const struct rtl_process *process);
void fake_host_process_end(struct fake_host *host, const struct rtl_process *process);
/** Delivers events to whoever has subscribed, in order, in runs of one subscription.
 *
 * Each event advances its process's ring by its size. What the subscriber has said to be stored, by host->resume, is
 * not delivered again but counted: so a test that plays a run once more is a recovery. */
void fake_host_deliver(struct fake_host *host, const struct rtl_event *const *events, size_t count);
/** Delivers one event. */
void fake_host_deliver_one(struct fake_host *host, const struct rtl_event *event);
void fake_host_flush(struct fake_host *host);
/** The ring that events come from, from here on: 0 to 7, at first 0. */
void fake_host_set_ring(struct fake_host *host, uint32_t ring);
/** Position that the subscriber has given to host->resume; 0: none. */
uint64_t fake_host_resumed(const struct fake_host *host, const struct rtl_process *process,
			   uint32_t ring);
/** process_end for each process that has begun, finish, destroy. Returns fake_host_error. */
int fake_host_end(struct fake_host *host);

/* What the subscriber did. */

/** First negative value that the subscriber returned, or RTL_EPLUGIN after host->fail; else 0. */
int fake_host_error(const struct fake_host *host);
/** Reason given to host->fail; NULL if it was not called. */
const char *fake_host_failure(const struct fake_host *host);
/** Number of lines given to host->report, and the n-th; NULL past the end. */
size_t fake_host_reports(const struct fake_host *host);
const char *fake_host_report(const struct fake_host *host, size_t n, int *level);
/** Whether any report contains that text. */
bool fake_host_reported(const struct fake_host *host, const char *part);
/** Whether somebody has subscribed to that (stream, type). */
bool fake_host_subscribed(const struct fake_host *host, const struct rtl_stream_info *stream,
			  uint16_t type);

/* Material. */

/** Description of "rtl.hsa" with all its types and fields, as in <rtl/events.h>. */
const struct rtl_stream_info *fake_hsa_stream(void);
/** The same of rtl.hsa.copy. */
const struct rtl_stream_info *fake_copy_stream(void);
/** The same of rtl.hip.call. */
const struct rtl_stream_info *fake_call_stream(void);
/** The same of rtl.hsa.counter. */
const struct rtl_stream_info *fake_counter_stream(void);
/** An event of that stream and type with that payload, all other members 0. */
struct rtl_event fake_event(const struct rtl_stream_info *stream, uint16_t type,
			    const struct rtl_process *process, const void *payload,
			    uint32_t payload_size);
/** Delivers one, with the payload that payload_ points to and with further members: .uid = 5, ... */
#define FAKE_DELIVER(host_, stream_, type_, process_, payload_, ...)                               \
	fake_host_deliver_one(                                                                     \
		host_, &(struct rtl_event){.struct_size = sizeof(struct rtl_event),                \
					   .type = (type_),                                        \
					   .stream = (stream_),                                    \
					   .type_info = rtl_stream_find_type(stream_, type_),      \
					   .process = (process_),                                  \
					   .payload = (payload_),                                  \
					   .payload_size = sizeof(*(payload_)),                    \
					   ##__VA_ARGS__})
