/* SPDX-License-Identifier: MIT */
/*
 * fake_host.c: filling a fake host, and driving a subscriber in it: see fake_host.h. Strings and
 * tracepoints are kept in trees (tsearch), everything else in short lists.
 */
#include "fake_host_impl.h"

#include "events/events.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rtl/plugin.h>

void *fake_checked(void *p)
{
	if (!p)
		abort();
	return p;
}

char *fake_copy_text(const char *text)
{
	return fake_checked(strdup(text ? text : ""));
}

int fake_compare_keys(const void *a, const void *b)
{
	const struct fake_key *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

struct fake_key fake_key_of(const struct rtl_process *process, uint64_t id)
{
	return (struct fake_key){.process = process ? process->number : 0, .id = id};
}

struct fake_stream *fake_find_stream(const struct fake_host *h, const struct rtl_stream_info *info)
{
	struct fake_stream *s = h->streams;

	while (s && s->info != info)
		s = s->next;
	return s;
}

struct fake_process *fake_find_process(const struct fake_host *h, const struct rtl_process *process)
{
	struct fake_process *p = h->processes;

	while (p && &p->process != process)
		p = p->next;
	return p;
}

static struct fake_stream *need_stream(struct fake_host *h, const struct rtl_stream_info *info)
{
	struct fake_stream *s = fake_find_stream(h, info);

	if (s)
		return s;
	s = fake_checked(calloc(1, sizeof(*s)));
	s->info = info;
	s->ledger.struct_size = sizeof(s->ledger);
	s->next = h->streams;
	h->streams = s;
	return s;
}

void fake_note_error(struct fake_host *h, int error)
{
	if (error < 0 && !h->error)
		h->error = error;
}

/* Making and filling. */

struct fake_host *fake_host_create(void)
{
	struct fake_host *h = fake_checked(calloc(1, sizeof(*h)));

	fake_host_api_fill(&h->api);
	h->next_string = 1000;
	fake_host_set_property(h, "version", "0.1.0");
	fake_host_set_property(h, "mode", "standard");
	fake_host_set_property(h, "where", "process");
	fake_host_set_property(h, "session", "test-session");
	return h;
}

static void free_text(void *node)
{
	struct fake_text *t = node;

	free(t->text);
	free(t);
}

static void free_tracepoint(void *node)
{
	struct fake_tracepoint *t = node;

	for (uint32_t i = 0; i < t->tp.metadata_count; i++) {
		free((char *)(uintptr_t)t->metadata[i].key);
		free((char *)(uintptr_t)t->metadata[i].value);
	}
	free(t->metadata);
	free(t->values);
	free((char *)(uintptr_t)t->tp.kind);
	free((char *)(uintptr_t)t->tp.name);
	free((char *)(uintptr_t)t->tp.source);
	free((char *)(uintptr_t)t->tp.module);
	free(t);
}

static void free_streams(struct fake_host *h)
{
	for (struct fake_stream *s = h->streams, *next; s; s = next) {
		next = s->next;
		for (struct fake_loss *l = s->losses, *after; l; l = after) {
			after = l->next;
			free(l->cause);
			free(l);
		}
		free(s);
	}
}

static void free_processes(struct fake_host *h)
{
	for (struct fake_process *p = h->processes, *next; p; p = next) {
		next = p->next;
		free((char *)(uintptr_t)p->process.program);
		free((char *)(uintptr_t)p->process.command);
		free((char *)(uintptr_t)p->process.host_name);
		free(p);
	}
}

static void destroy_instance(struct fake_host *h)
{
	if (h->instance && h->subscriber->destroy)
		h->subscriber->destroy(h->instance);
	h->instance = NULL;
	while (h->subscriptions)
		h->api.unsubscribe(&h->api, h->subscriptions);
}

void fake_host_destroy(struct fake_host *h)
{
	if (!h)
		return;
	destroy_instance(h);
	rtl_plugin_close(h->plugin);
	for (int i = 0; i < MAX_PROPERTIES; i++) {
		free(h->property_key[i]);
		free(h->property_value[i]);
	}
	for (size_t i = 0; i < h->report_count; i++)
		free(h->reports[i].text);
	free(h->reports);
	free(h->failure);
	tdestroy(h->strings, free_text);
	tdestroy(h->tracepoints, free_tracepoint);
	free_streams(h);
	free_processes(h);
	free(h);
}

void fake_host_set_property(struct fake_host *h, const char *key, const char *value)
{
	int slot = -1;

	for (int i = MAX_PROPERTIES - 1; i >= 0; i--)
		if (!h->property_key[i] && slot < 0)
			slot = i;
	for (int i = 0; i < MAX_PROPERTIES; i++)
		if (h->property_key[i] && strcmp(h->property_key[i], key) == 0)
			slot = i;
	if (slot < 0)
		abort();
	free(h->property_key[slot]);
	free(h->property_value[slot]);
	h->property_key[slot] = value ? fake_copy_text(key) : NULL;
	h->property_value[slot] = value ? fake_copy_text(value) : NULL;
}

struct rtl_process *fake_host_process(struct fake_host *h, uint32_t number, int32_t pid,
				      const char *program)
{
	struct fake_process *p = fake_checked(calloc(1, sizeof(*p)));

	p->process = (struct rtl_process){
		.struct_size = sizeof(p->process),
		.number = number,
		.pid = pid,
		.parent_pid = 1,
		.start_ns = 1000000,
		.program = fake_copy_text(program),
		.command = fake_copy_text(program),
		.host_name = fake_copy_text("testhost"),
		.spool_id = 0xf000000000000000u + (uint64_t)pid,
		.rank = -1,
	};
	if (h->api.struct_size < sizeof(h->api)) {
		p->process.struct_size = offsetof(struct rtl_process, spool_id);
		p->process.spool_id = 1; /* not to be looked at */
	}
	p->next = h->processes;
	h->processes = p;
	return &p->process;
}

void fake_host_set_string(struct fake_host *h, const struct rtl_process *process, uint64_t id,
			  const char *text)
{
	struct fake_text *t = fake_checked(calloc(1, sizeof(*t)));
	struct fake_text **node;

	t->key = fake_key_of(process, id);
	t->text = fake_copy_text(text);
	node = fake_checked(tsearch(t, &h->strings, fake_compare_keys));
	if (*node != t)
		free_text(t); /* an id keeps its first text, as in the real host */
}

static _Thread_local const char *wanted_text;
static _Thread_local uint64_t found_id;

static void match_text(const void *node, VISIT visit, int depth)
{
	const struct fake_text *t = *(struct fake_text *const *)node;

	(void)depth;
	if ((visit == preorder || visit == leaf) && strcmp(t->text, wanted_text) == 0)
		found_id = t->key.id;
}

uint64_t fake_host_string(struct fake_host *h, const struct rtl_process *process, const char *text)
{
	wanted_text = text;
	found_id = 0;
	twalk(h->strings, match_text);
	if (!found_id)
		found_id = ++h->next_string;
	fake_host_set_string(h, process, found_id, text);
	return found_id;
}

void fake_host_set_tracepoint(struct fake_host *h, const struct rtl_process *process,
			      const struct rtl_tracepoint *tracepoint)
{
	struct fake_tracepoint *t = fake_checked(calloc(1, sizeof(*t)));
	struct fake_tracepoint **node;
	uint32_t count = tracepoint->metadata_count;

	t->key = fake_key_of(process, tracepoint->uid);
	t->tp = *tracepoint;
	t->tp.struct_size = sizeof(t->tp);
	t->tp.kind = fake_copy_text(tracepoint->kind);
	t->tp.name = fake_copy_text(tracepoint->name);
	t->tp.source = fake_copy_text(tracepoint->source);
	t->tp.module = fake_copy_text(tracepoint->module);
	t->metadata = fake_checked(calloc(count + 1, sizeof(*t->metadata)));
	for (uint32_t i = 0; i < count; i++) {
		t->metadata[i].struct_size = sizeof(t->metadata[i]);
		t->metadata[i].key = fake_copy_text(tracepoint->metadata[i].key);
		t->metadata[i].value = fake_copy_text(tracepoint->metadata[i].value);
	}
	t->tp.metadata = t->metadata;
	node = fake_checked(tsearch(t, &h->tracepoints, fake_compare_keys));
	if (*node != t) {
		free_tracepoint(*node);
		*node = t;
	}
}

void fake_host_tracepoint(struct fake_host *h, const struct rtl_process *process, uint64_t uid,
			  const char *kind, const char *name, const char *key, const char *value)
{
	struct rtl_metadata metadata = {
		.struct_size = sizeof(metadata), .key = key, .value = value};
	struct rtl_tracepoint tp = {
		.uid = uid,
		.kind = kind,
		.name = name,
		.metadata_count = key ? 1 : 0,
		.metadata = &metadata,
	};

	fake_host_set_tracepoint(h, process, &tp);
}

void fake_host_set_ledger(struct fake_host *h, const struct rtl_stream_info *stream,
			  const struct rtl_ledger *ledger)
{
	struct fake_stream *s = need_stream(h, stream);

	s->ledger = *ledger;
	s->ledger.struct_size = sizeof(s->ledger);
	s->ledger_set = true;
}

void fake_host_add_loss(struct fake_host *h, const struct rtl_stream_info *stream,
			const char *cause, uint64_t count)
{
	struct fake_stream *s = need_stream(h, stream);
	struct fake_loss *l = fake_checked(calloc(1, sizeof(*l)));

	l->cause = fake_copy_text(cause);
	l->count = count;
	l->next = s->losses;
	s->losses = l;
}

/* The subscriber's life. */

/* As it stands in a list of subscribers. To be freed. */
static char *write_spec(const char *file, const char *settings)
{
	char *spec = NULL;
	size_t size;
	FILE *out = fake_checked(open_memstream(&spec, &size));

	fprintf(out, "%s?", file);
	for (; settings && *settings; settings++)
		fputs(*settings == '%' ? "%25" : (char[]){*settings, '\0'}, out);
	fclose(out);
	return fake_checked(spec);
}

int fake_host_load(struct fake_host *h, const char *file, const char *settings)
{
	char *spec = write_spec(file, settings), message[512];
	const struct rtl_setting *read;
	size_t count;
	int result = rtl_plugin_open(spec, &h->plugin, message, sizeof(message));

	free(spec);
	if (result) {
		h->api.report(&h->api, RTL_LEVEL_ERROR, message);
		return result;
	}
	h->subscriber = rtl_plugin_subscriber(h->plugin);
	read = rtl_plugin_settings(h->plugin, &count);
	result = h->subscriber->create(&h->api, read, count, &h->instance);
	if (result < 0)
		h->instance = NULL;
	fake_note_error(h, result);
	return result;
}

const struct rtl_subscriber *fake_host_subscriber(const struct fake_host *h)
{
	return h->subscriber;
}

static bool runs(const struct fake_host *h)
{
	return h->instance && !h->error;
}

const struct rtl_stream_info *fake_host_stream(struct fake_host *h,
					       const struct rtl_stream_info *stream)
{
	need_stream(h, stream);
	if (runs(h) && h->subscriber->stream)
		fake_note_error(h, h->subscriber->stream(h->instance, stream));
	return stream;
}

void fake_host_begin(struct fake_host *h, const struct rtl_process *process)
{
	for (struct fake_process *p = h->processes; p; p = p->next)
		if (&p->process == process)
			p->begun = true;
	if (runs(h) && h->subscriber->process_begin)
		fake_note_error(h, h->subscriber->process_begin(h->instance, process));
}

void fake_host_process_end(struct fake_host *h, const struct rtl_process *process)
{
	if (runs(h) && h->subscriber->process_end)
		fake_note_error(h, h->subscriber->process_end(h->instance, process));
}

static bool wants(const struct rtl_subscription *s, const struct rtl_event *e)
{
	return s->stream == e->stream && (s->type == e->type || s->type == RTL_TYPE_ANY);
}

/* Length of the run of events that all go to the same subscriptions as the first. */
static size_t run_length(const struct rtl_event *const *events, size_t count)
{
	size_t n = 1;

	while (n < count && events[n]->stream == events[0]->stream &&
	       events[n]->type == events[0]->type)
		n++;
	return n;
}

static void count_delivered(struct fake_host *h, const struct rtl_event *event, size_t count)
{
	struct fake_stream *stream = need_stream(h, event->stream);

	if (stream->ledger_set)
		return;
	stream->ledger.published += count;
	stream->ledger.delivered += count;
}

/* Whether the subscriber has stored an event before; its ring goes on past it. */
static bool pass_by(struct fake_host *h, const struct rtl_event *event)
{
	struct fake_process *p = fake_find_process(h, event->process);
	struct fake_ring *ring = p ? &p->rings[h->ring] : NULL;

	if (!ring)
		return false;
	p->delivered = true;
	ring->position += 48 + ((event->payload_size + 7u) & ~7u);
	return ring->position <= ring->stored;
}

static void deliver_run(struct fake_host *h, const struct rtl_event *const *events, size_t count)
{
	bool anybody = false;

	for (struct rtl_subscription *s = h->subscriptions, *next; s; s = next) {
		next = s->next;
		if (!wants(s, events[0]) || !runs(h))
			continue;
		s->fn(s->user, events, count);
		anybody = true;
	}
	if (anybody)
		count_delivered(h, events[0], count);
}

void fake_host_deliver(struct fake_host *h, const struct rtl_event *const *events, size_t count)
{
	for (size_t i = 0, n; i < count; i += n) {
		size_t limit = run_length(events + i, count - i);

		if (pass_by(h, events[i])) {
			count_delivered(h, events[i], 1);
			n = 1;
			continue;
		}
		/* What follows one that is new in its ring is new. */
		for (n = 1; n < limit && events[i + n]->process == events[i]->process; n++)
			pass_by(h, events[i + n]);
		deliver_run(h, events + i, n);
	}
}

void fake_host_deliver_one(struct fake_host *h, const struct rtl_event *event)
{
	fake_host_deliver(h, &event, 1);
}

void fake_host_flush(struct fake_host *h)
{
	int result = 0;

	h->kept = false;
	if (runs(h) && h->subscriber->flush)
		result = h->subscriber->flush(h->instance);
	fake_note_error(h, result);
	for (struct fake_process *p = h->processes; result == 0 && !h->kept && p; p = p->next)
		for (uint32_t i = 0; i < MAX_RINGS; i++)
			p->rings[i].flushed = p->rings[i].position;
}

void fake_host_set_ring(struct fake_host *h, uint32_t ring)
{
	if (ring >= MAX_RINGS)
		abort();
	h->ring = ring;
}

uint64_t fake_host_position(const struct fake_host *h, const struct rtl_process *process,
			    uint32_t ring)
{
	return fake_find_process(h, process)->rings[ring].position;
}

uint64_t fake_host_resumed(const struct fake_host *h, const struct rtl_process *process,
			   uint32_t ring)
{
	return fake_find_process(h, process)->rings[ring].stored;
}

int fake_host_end(struct fake_host *h)
{
	if (!h->instance)
		return h->error;
	for (struct fake_process *p = h->processes; p; p = p->next)
		if (p->begun)
			fake_host_process_end(h, &p->process);
	if (h->subscriber->finish)
		fake_note_error(h, h->subscriber->finish(h->instance));
	destroy_instance(h);
	return h->error;
}

/* What happened. */

int fake_host_error(const struct fake_host *h)
{
	return h->error;
}

const char *fake_host_failure(const struct fake_host *h)
{
	return h->failure;
}

size_t fake_host_reports(const struct fake_host *h)
{
	return h->report_count;
}

const char *fake_host_report(const struct fake_host *h, size_t n, int *level)
{
	if (n >= h->report_count)
		return NULL;
	if (level)
		*level = h->reports[n].level;
	return h->reports[n].text;
}

bool fake_host_reported(const struct fake_host *h, const char *part)
{
	for (size_t i = 0; i < h->report_count; i++)
		if (strstr(h->reports[i].text, part))
			return true;
	return false;
}

bool fake_host_subscribed(const struct fake_host *h, const struct rtl_stream_info *stream,
			  uint16_t type)
{
	for (const struct rtl_subscription *s = h->subscriptions; s; s = s->next)
		if (s->stream == stream && (s->type == type || s->type == RTL_TYPE_ANY))
			return true;
	return false;
}

struct rtl_event fake_event(const struct rtl_stream_info *stream, uint16_t type,
			    const struct rtl_process *process, const void *payload,
			    uint32_t payload_size)
{
	struct rtl_event e = {
		.struct_size = sizeof(e),
		.type = type,
		.stream = stream,
		.process = process,
		.payload = payload,
		.payload_size = payload_size,
	};

	for (uint32_t i = 0; i < stream->type_count; i++)
		if (rtl_stream_type(stream, i)->type == type)
			e.type_info = rtl_stream_type(stream, i);
	return e;
}

/* The real descriptions, with numbers. */

const struct rtl_stream_info *fake_hsa_stream(void)
{
	static struct rtl_stream_info info;

	info = hsa_stream_info;
	info.number = 1;
	return &info;
}

const struct rtl_stream_info *fake_copy_stream(void)
{
	static struct rtl_stream_info info;

	info = copy_stream_info;
	info.number = 2;
	return &info;
}

const struct rtl_stream_info *fake_call_stream(void)
{
	static struct rtl_stream_info info;

	info = hip_call_stream_info;
	info.number = 3;
	return &info;
}

const struct rtl_stream_info *fake_counter_stream(void)
{
	static struct rtl_stream_info info;

	info = counter_stream_info;
	info.number = 9;
	return &info;
}
