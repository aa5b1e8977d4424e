/* SPDX-License-Identifier: MIT */
#include "own_sub.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct own own;

static int own_create(const struct rtl_host *host, const struct rtl_setting *settings, size_t count,
		      void **instance)
{
	assert_null(settings);
	assert_int_equal(count, 0);
	own.host = host;
	*instance = &own;
	if (own.while_created)
		own.while_created();
	return 0;
}

static int own_stream(void *instance, const struct rtl_stream_info *stream)
{
	if (strcmp(stream->name, own.wanted) != 0)
		return 0;
	own.stream = stream;
	return own.host->subscribe(own.host, stream, RTL_TYPE_ANY, RTL_BUFFERED, own.on_events,
				   NULL, NULL);
}

static int own_begin(void *instance, const struct rtl_process *process)
{
	own.begun++;
	return 0;
}

static int own_end(void *instance, const struct rtl_process *process)
{
	own.ended++;
	return 0;
}

static int own_flush(void *instance)
{
	if (own.keeps && own.host->keep(own.host, !own.yields) == 0)
		own.kept++;
	return own.flush_result;
}

static void on_loss(void *user, const char *cause, uint64_t count)
{
	own.losses += count;
	own.causes++;
	snprintf(own.cause, sizeof(own.cause), "%s", cause);
}

static int own_at_finish(void *instance)
{
	own.finished++;
	own.ledger.struct_size = sizeof(own.ledger);
	if (!own.stream || own.finish_result)
		return own.finish_result;
	own.host->losses(own.host, NULL, own.stream, on_loss, NULL);
	return own.host->ledger(own.host, NULL, own.stream, &own.ledger);
}

static void own_destroy(void *instance)
{
	own.destroyed++;
}

static const struct rtl_subscriber subscriber = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(subscriber),
	.name = "own",
	.version = "1",
	.description = "",
	.create = own_create,
	.stream = own_stream,
	.process_begin = own_begin,
	.process_end = own_end,
	.flush = own_flush,
	.finish = own_at_finish,
	.destroy = own_destroy,
};

void own_reset(const char *wanted, rtl_events_fn on_events)
{
	memset(&own, 0, sizeof(own));
	own.wanted = wanted;
	own.on_events = on_events;
}

int own_try(uint32_t kind, const char *folder, const char *output, struct rtl_collector **collector,
	    char *message, size_t size)
{
	const bool reads = kind != RTL_RECORD && kind != RTL_RECORD_RECOVER;
	const struct rtl_collector_options options = {
		.struct_size = sizeof(options),
		.kind = kind,
		.subscribers = reads ? "" : NULL,
		.folder = folder,
		.output = output,
		.limit_bytes = own.limit_bytes,
		.own = reads ? &subscriber : NULL,
	};

	return rtl_collector_create(&options, collector, message, size);
}

struct rtl_collector *own_collector(uint32_t kind, const char *folder, const char *output)
{
	struct rtl_collector *collector = NULL;
	char message[512] = "";

	if (own_try(kind, folder, output, &collector, message, sizeof(message)))
		fail_msg("%s", message);
	return collector;
}

bool own_finish(struct rtl_collector *collector)
{
	uint32_t left;
	bool well;

	rtl_collector_finish(collector, &left);
	well = !rtl_collector_failure(collector);
	rtl_collector_destroy(collector);
	assert_int_equal(left, 0);
	return well;
}
