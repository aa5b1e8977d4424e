/* SPDX-License-Identifier: MIT */
/* wanted.h: the streams that a subscriber knows, as tables: which types it takes, each with the payload that it has at
 * least. Threads: those that call the subscriber. */
#pragma once

#include <rtl/subscriber.h>

struct wanted {
	uint16_t type;
	size_t size; /**< of the payload, at least */
	rtl_events_fn take;
	bool optional; /**< older versions do not have it, or not as much of it */
};

struct wanted_stream {
	const char *name;
	uint16_t version;
	const struct wanted *types;
	size_t count;
};

/** The last two members of a struct wanted_stream. */
#define WANTED(types) (types), sizeof(types) / sizeof((types)[0])

/** What stream of calls it is. */
enum { WANTED_HIP = 1, WANTED_DEBUG = 2 /**< with arguments */ };

/** The two streams of calls of an API, which tell of the same calls: one of them is taken. */
struct wanted_calls {
	bool have_args; /**< it is the one with arguments */
	struct rtl_subscription *plain[2];
};

/** Whether a stream is called as another one with ".debug" behind it: it tells of the same, with arguments. */
static inline bool wanted_is_debug(const char *debug, const char *plain)
{
	const size_t length = strlen(plain);

	return !strncmp(debug, plain, length) && !strcmp(debug + length, ".debug");
}

/** What a kind of fields is called (enum rtl_kind). */
const char *wanted_kind_name(uint16_t kind);
/** The stream of that name; NULL: there is none. */
const struct wanted_stream *wanted_find(const struct wanted_stream *streams, size_t count,
					const char *name);
/** Subscribes to those of its types that the stream has.
 * @param taken NULL, or where to put the subscriptions
 * @return 0; RTL_ENOTSUP: it does not fit; what the host says */
int wanted_subscribe(const struct rtl_host *host, const struct rtl_stream_info *info,
		     const struct wanted_stream *stream, void *user,
		     struct rtl_subscription **taken);
/** Which of the streams of calls of HSA and HIP has that name: WANTED_HIP and WANTED_DEBUG; -1: none. */
int wanted_call_stream(const char *name);
/** Subscribes to ends of calls, and to calls that have none: their payload is a struct rtl_hsa_call or rtl_hip_call at
 * least. Those without arguments are given up when those with them come.
 * @param stream as wanted_call_stream says
 * @param args   whether those with arguments are wanted
 * @param calls  those of that API
 * @return as wanted_subscribe */
int wanted_subscribe_calls(const struct rtl_host *host, const struct rtl_stream_info *info,
			   int stream, bool args, rtl_events_fn take, void *user,
			   struct wanted_calls *calls);
