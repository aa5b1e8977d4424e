/* SPDX-License-Identifier: MIT */
#include "life.h"

#include "bus.h"
#include "host.h"
#include "inline.h"
#include "parts.h"

/* Longest time that a registration waits for subscribers that are at work. */
#define TELL_WAIT_MS 500u

/* ---- for the host */

static uint32_t count_streams(const struct source *source)
{
	return stream_count();
}

static const struct rtl_stream_info *describe_stream(const struct source *source, uint32_t number)
{
	return stream_info(number);
}

static struct source_rings rings(const struct source *source)
{
	/* acquire: with the release of the thread that has made the ring */
	return (struct source_rings){
		bus.rings, NULL, __atomic_load_n(&source->control->ring_count, __ATOMIC_ACQUIRE)};
}

static void prepare(const struct source *source, uint32_t ring, uint64_t bytes)
{
	spool_ring_prepare(&bus.spool, source->reader.list[ring].ring, bytes, false);
}

static const char *string(const struct source *source, uint64_t id)
{
	return rtl_string_text(id);
}

static bool tracepoint(const struct source *source, uint64_t uid, struct rtl_tracepoint *out,
		       struct rtl_metadata **metadata, uint32_t *room)
{
	return ids_tracepoint(uid, out, metadata, room);
}

int own_process_add(struct host *host)
{
	static const struct source_ops ops = {
		.stream_count = count_streams,
		.stream = describe_stream,
		.rings = rings,
		.prepare = prepare,
		.string = string,
		.tracepoint = tracepoint,
	};
	static struct host_own own = {
		.source = &ops,
		.inline_add = inline_add,
		.inline_remove = inline_remove,
		.inline_wait = inline_wait,
		.inline_awaited = inline_awaited,
	};

	own.process = process_self();
	own.control = bus.spool.control;
	return host_add_own(host, &own);
}

/* ---- for publishers */

static void look_around(void *done)
{
	*(bool *)done = host_look_around(bus.host, TELL_WAIT_MS);
}

/* If a subscriber is in a call that does not end, and may wait for this thread, the consumer tells them later. */
static bool tell_stream(uint32_t number)
{
	struct signals_of_writes held;
	bool done = false;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	signals_of_writes_hold(&held);
	large_stack_call(look_around, &done);
	signals_of_writes_drop(&held);
	if (!done)
		host_await_stream(bus.host, number);
	pthread_setcancelstate(state, NULL);
	return done;
}

static uint64_t progress(void)
{
	return bus.host ? host_progress(bus.host) : 0;
}

static const char *at_work(void)
{
	const struct instance *instance =
		bus.host ? __atomic_load_n(&bus.host->at_work, __ATOMIC_RELAXED) : NULL;

	return instance ? instance->name : NULL;
}

static bool is_starved(void)
{
	return bus.host && bus.host->source_count &&
	       __atomic_load_n(&bus.host->sources[0]->reader.starved, __ATOMIC_RELAXED);
}

const struct bus_ops bus_ops = {
	.start = start_bus,
	.tell_stream = tell_stream,
	.progress = progress,
	.at_work = at_work,
	.is_starved = is_starved,
};

int rtl_stream_ledger(const struct rtl_stream *stream, struct rtl_ledger *ledger)
{
	if (!stream || stream == &rtl_stream_none || !ledger ||
	    ledger->struct_size < RTL_LEDGER_SIZE_MIN)
		return RTL_EINVAL;
	host_own_ledger(bus.host, stream->number, ledger);
	return 0;
}
