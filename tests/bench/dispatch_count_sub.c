/* SPDX-License-Identifier: MIT */
/* A subscriber that only counts what rtl.hsa publishes: tests/bench/dispatch measures the interceptor and the bus with
 * it, not what a subscriber makes of events. Prints the ledger to standard error at the end. Threads: the host calls
 * one function at a time. */
#include <inttypes.h>
#include <rtl/events.h>
#include <rtl/subscriber.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counter {
	const struct rtl_host *host;
	const struct rtl_stream_info *stream;
	uint64_t events, values;
};

static void count_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct counter *counter = user;

	counter->events += count;
}

/* What hardware counters were. */
static void count_values(void *user, const struct rtl_event *const *events, size_t count)
{
	struct counter *counter = user;

	counter->values += count;
}

static int counter_create(const struct rtl_host *host, const struct rtl_setting *settings,
			  size_t count, void **instance)
{
	struct counter *counter = calloc(1, sizeof(*counter));

	if (!counter)
		return RTL_ENOMEM;
	counter->host = host;
	*instance = counter;
	return 0;
}

static int counter_stream(void *instance, const struct rtl_stream_info *stream)
{
	struct counter *counter = instance;

	if (strcmp(stream->name, RTL_STREAM_HSA_COUNTER) == 0) {
		int error = counter->host->subscribe(counter->host, stream, RTL_SIGNAL,
						     RTL_BUFFERED, count_values, counter, NULL);

		return error ? error
			     : counter->host->subscribe(counter->host, stream, RTL_SAMPLE,
							RTL_BUFFERED, count_values, counter, NULL);
	}
	if (strcmp(stream->name, "rtl.hsa") != 0)
		return 0;
	counter->stream = stream;
	return counter->host->subscribe(counter->host, stream, RTL_TASK_END, RTL_BUFFERED,
					count_events, counter, NULL);
}

static int counter_finish(void *instance)
{
	struct counter *counter = instance;
	struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};

	if (counter->stream &&
	    !counter->host->ledger(counter->host, NULL, counter->stream, &ledger))
		fprintf(stderr,
			"counted %" PRIu64 " missed %" PRIu64 " discarded %" PRIu64
			" values of counters %" PRIu64 "\n",
			counter->events, ledger.missed, ledger.discarded, counter->values);
	return 0;
}

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "count",
	.version = "1",
	.description = "counts dispatches, for benchmarks",
	.create = counter_create,
	.stream = counter_stream,
	.finish = counter_finish,
	.destroy = free,
};
