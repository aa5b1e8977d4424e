/* SPDX-License-Identifier: MIT */
/* fake_host_api.c: the functions of struct rtl_host, over what the test has filled in. */
#include "fake_host_impl.h"

#include "stream_info.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static struct fake_host *fake_of(const struct rtl_host *host)
{
	return (struct fake_host *)(uintptr_t)host;
}

static bool describes(const struct rtl_stream_info *stream, uint16_t type)
{
	if (type == RTL_TYPE_ANY)
		return true;
	for (uint32_t i = 0; i < stream->type_count; i++)
		if (rtl_stream_type(stream, i)->type == type)
			return true;
	return false;
}

static int api_subscribe(const struct rtl_host *host, const struct rtl_stream_info *stream,
			 uint16_t type, enum rtl_delivery delivery, rtl_events_fn fn, void *user,
			 struct rtl_subscription **out)
{
	struct fake_host *h = fake_of(host);
	struct rtl_subscription *s, **end = &h->subscriptions;

	if (!stream || !fn)
		return RTL_EINVAL;
	if (!describes(stream, type))
		return RTL_ENOENT;
	if (delivery != RTL_BUFFERED)
		return RTL_ENOTSUP;
	s = fake_checked(calloc(1, sizeof(*s)));
	*s = (struct rtl_subscription){.stream = stream, .type = type, .fn = fn, .user = user};
	while (*end)
		end = &(*end)->next;
	*end = s;
	if (out)
		*out = s;
	return 0;
}

static void api_unsubscribe(const struct rtl_host *host, struct rtl_subscription *subscription)
{
	struct rtl_subscription **at = &fake_of(host)->subscriptions;

	while (*at && *at != subscription)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = subscription->next;
	free(subscription);
}

static const char *api_string(const struct rtl_host *host, const struct rtl_process *process,
			      uint64_t id)
{
	struct fake_key key = fake_key_of(process, id);
	void *node = tfind(&key, &fake_of(host)->strings, fake_compare_keys);

	return node ? (*(struct fake_text **)node)->text : NULL;
}

static const struct rtl_tracepoint *api_tracepoint(const struct rtl_host *host,
						   const struct rtl_process *process, uint64_t uid)
{
	struct fake_key key = fake_key_of(process, uid);
	void *node = tfind(&key, &fake_of(host)->tracepoints, fake_compare_keys);

	return node ? &(*(struct fake_tracepoint **)node)->tp : NULL;
}

static const struct rtl_values_info *api_values(const struct rtl_host *host,
						const struct rtl_process *process, uint64_t uid)
{
	struct fake_key key = fake_key_of(process, uid);
	void *node = tfind(&key, &fake_of(host)->tracepoints, fake_compare_keys);
	struct fake_tracepoint *t = node ? *(struct fake_tracepoint **)node : NULL;
	const char *text = t ? rtl_tracepoint_value(&t->tp, RTL_VALUES_KEY) : NULL;

	if (text && !t->values)
		t->values = values_parse(text);
	return t ? t->values : NULL;
}

static int api_ledger(const struct rtl_host *host, const struct rtl_process *process,
		      const struct rtl_stream_info *stream, struct rtl_ledger *ledger)
{
	struct fake_stream *s = fake_find_stream(fake_of(host), stream);
	uint32_t size = ledger->struct_size;

	(void)process;
	if (!s)
		return RTL_ENOENT;
	memcpy(ledger, &s->ledger, size < sizeof(*ledger) ? size : sizeof(*ledger));
	ledger->struct_size = size;
	return 0;
}

static void api_losses(const struct rtl_host *host, const struct rtl_process *process,
		       const struct rtl_stream_info *stream,
		       void (*fn)(void *user, const char *cause, uint64_t count), void *user)
{
	struct fake_stream *s = fake_find_stream(fake_of(host), stream);

	(void)process;
	for (struct fake_loss *l = s ? s->losses : NULL; l; l = l->next)
		fn(user, l->cause, l->count);
}

static void api_report(const struct rtl_host *host, int level, const char *text)
{
	struct fake_host *h = fake_of(host);

	h->reports = fake_checked(realloc(h->reports, (h->report_count + 1) * sizeof(*h->reports)));
	h->reports[h->report_count++] = (struct fake_report){level, fake_copy_text(text)};
}

static void api_fail(const struct rtl_host *host, const char *reason)
{
	struct fake_host *h = fake_of(host);

	if (!h->failure)
		h->failure = fake_copy_text(reason);
	fake_note_error(h, RTL_EPLUGIN);
}

static const struct rtl_process *api_process(const struct rtl_host *host, uint32_t number)
{
	for (struct fake_process *p = fake_of(host)->processes; p; p = p->next)
		if (p->process.number == number && p->begun)
			return &p->process;
	return NULL;
}

static const char *api_property(const struct rtl_host *host, const char *key)
{
	struct fake_host *h = fake_of(host);

	for (int i = 0; i < MAX_PROPERTIES; i++)
		if (h->property_key[i] && strcmp(h->property_key[i], key) == 0)
			return h->property_value[i];
	return NULL;
}

static void api_positions(const struct rtl_host *host,
			  void (*fn)(void *user, const struct rtl_process *process, uint32_t ring,
				     uint64_t position),
			  void *user)
{
	for (struct fake_process *p = fake_of(host)->processes; p; p = p->next)
		for (uint32_t i = 0; i < MAX_RINGS; i++)
			if (p->rings[i].position != p->rings[i].flushed)
				fn(user, &p->process, i, p->rings[i].position);
}

static int api_resume(const struct rtl_host *host, const struct rtl_process *process, uint32_t ring,
		      uint64_t position)
{
	struct fake_process *p = fake_find_process(fake_of(host), process);

	if (!p || p->delivered || ring >= MAX_RINGS)
		return RTL_EBUSY;
	p->rings[ring].stored = position;
	return 0;
}

static int api_calibration(const struct rtl_host *host, const struct rtl_process *process,
			   struct rtl_calibration *calibration)
{
	(void)host;
	if (!process || calibration->struct_size < sizeof(*calibration))
		return RTL_EINVAL;
	*calibration = (struct rtl_calibration){
		.struct_size = sizeof(*calibration),
		.pairs = 3,
		.error_ns = 25,
		.ns_per_tick = 0.5,
		.first_ns = process->start_ns,
		.last_ns = process->start_ns + 1000,
	};
	return 0;
}

/* Nor does it let its processes wait. */
static int api_waits(const struct rtl_host *host, const struct rtl_process *process,
		     struct rtl_waits *waits)
{
	(void)host, (void)process, (void)waits;
	return RTL_ENOENT;
}

static int api_keep(const struct rtl_host *host, bool anyway)
{
	if (!anyway)
		return RTL_EBUSY;
	fake_of(host)->kept = true;
	return 0;
}

/* A fake host has no selection. */
static void api_left_out(const struct rtl_host *host, const struct rtl_process *process,
			 const struct rtl_stream_info *stream,
			 void (*fn)(void *user, const char *cause, uint64_t count), void *user)
{
	(void)host, (void)process, (void)stream, (void)fn, (void)user;
}

void fake_host_api_fill(struct rtl_host *api)
{
	*api = (struct rtl_host){
		.struct_size = sizeof(*api),
		.abi_version = RTL_ABI_VERSION,
		.subscribe = api_subscribe,
		.unsubscribe = api_unsubscribe,
		.string = api_string,
		.tracepoint = api_tracepoint,
		.ledger = api_ledger,
		.losses = api_losses,
		.report = api_report,
		.fail = api_fail,
		.process = api_process,
		.property = api_property,
		.positions = api_positions,
		.resume = api_resume,
		.calibration = api_calibration,
		.values = api_values,
		.waits = api_waits,
		.keep = api_keep,
		.left_out = api_left_out,
	};
}
