/* SPDX-License-Identifier: MIT */
/* See fake_host.h. Strings and tracepoints are kept in trees (tsearch), everything else in short lists; all memory is
 * given back when the host is destroyed. */
#include "fake_host.h"

#include "events/events.h"
#include "stream_info.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rtl/plugin.h>

#define MAX_RINGS 8

/* Of a tree. */
struct key {
	uint32_t process;
	uint64_t id;
};

struct text {
	struct key key;
	const char *text;
};

struct tracepoint {
	struct key key;
	struct rtl_tracepoint tp;
	struct rtl_values_info *values; /* once it has been asked for */
};

struct ring {
	uint64_t position; /* bytes of all events so far */
	uint64_t flushed;
	uint64_t stored; /* as the subscriber said by resume */
};

struct process {
	struct process *next;
	struct rtl_process process;
	bool begun;
	bool delivered; /* too late to resume */
	struct ring rings[MAX_RINGS];
};

/* A property with its value, a loss with its cause, a line that was reported. */
struct note {
	struct note *next;
	const char *key, *text;
	uint64_t number;
};

struct stream {
	struct stream *next;
	const struct rtl_stream_info *info;
	struct rtl_ledger ledger;
	bool ledger_set;
	struct note *losses;
};

struct rtl_subscription {
	struct rtl_subscription *next;
	const struct rtl_stream_info *stream;
	uint16_t type;
	rtl_events_fn fn;
	void *user;
};

struct memory {
	struct memory *next;
	max_align_t bytes[];
};

struct fake_host {
	struct rtl_host api; /* first: the API's pointer is the host's */
	struct memory *memory;
	struct note *properties, *reports;
	struct process *processes;
	uint32_t ring;
	bool kept; /* the last flush has stored nothing */
	struct stream *streams;
	struct rtl_subscription *subscriptions;
	void *strings, *tracepoints; /* trees */
	uint64_t next_string;
	const char *failure;
	int error;
	struct rtl_plugin *plugin;
	const struct rtl_subscriber *subscriber;
	void *instance;
};

static void *checked(void *p)
{
	if (!p)
		abort();
	return p;
}

/* Zeros, until the host is destroyed. */
static void *get(struct fake_host *h, size_t size)
{
	struct memory *m = checked(calloc(1, sizeof(*m) + size));

	m->next = h->memory;
	h->memory = m;
	return m->bytes;
}

static char *copy(struct fake_host *h, const char *text)
{
	text = text ? text : "";
	return strcpy(get(h, strlen(text) + 1), text);
}

/* At the end of a list. */
static struct note *append(struct fake_host *h, struct note **list)
{
	while (*list)
		list = &(*list)->next;
	return *list = get(h, sizeof(**list));
}

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static struct key key_of(const struct rtl_process *process, uint64_t id)
{
	return (struct key){.process = process ? process->number : 0, .id = id};
}

/* What a tree has; NULL: nothing. */
static void *find_in(void *const *tree, const struct rtl_process *process, uint64_t id)
{
	const struct key key = key_of(process, id);
	void *node = tfind(&key, tree, compare_keys);

	return node ? *(void **)node : NULL;
}

static struct stream *find_stream(const struct fake_host *h, const struct rtl_stream_info *info)
{
	struct stream *s = h->streams;

	while (s && s->info != info)
		s = s->next;
	return s;
}

static struct process *find_process(const struct fake_host *h, const struct rtl_process *process)
{
	struct process *p = h->processes;

	while (p && &p->process != process)
		p = p->next;
	return p;
}

static struct stream *need_stream(struct fake_host *h, const struct rtl_stream_info *info)
{
	struct stream *s = find_stream(h, info);

	if (s)
		return s;
	s = get(h, sizeof(*s));
	s->info = info;
	s->ledger.struct_size = sizeof(s->ledger);
	s->next = h->streams;
	return h->streams = s;
}

/* The first error stays. */
static void note_error(struct fake_host *h, int error)
{
	if (error < 0 && !h->error)
		h->error = error;
}

/* ---- what the subscriber calls ---- */

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
	s = get(h, sizeof(*s));
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
	if (*at)
		*at = subscription->next;
}

static const char *api_string(const struct rtl_host *host, const struct rtl_process *process,
			      uint64_t id)
{
	const struct text *t = find_in(&fake_of(host)->strings, process, id);

	return t ? t->text : NULL;
}

static const struct rtl_tracepoint *api_tracepoint(const struct rtl_host *host,
						   const struct rtl_process *process, uint64_t uid)
{
	struct tracepoint *t = find_in(&fake_of(host)->tracepoints, process, uid);

	return t ? &t->tp : NULL;
}

static const struct rtl_values_info *api_values(const struct rtl_host *host,
						const struct rtl_process *process, uint64_t uid)
{
	struct tracepoint *t = find_in(&fake_of(host)->tracepoints, process, uid);
	const char *text = t ? rtl_tracepoint_value(&t->tp, RTL_VALUES_KEY) : NULL;

	if (text && !t->values)
		t->values = values_parse(text);
	return t ? t->values : NULL;
}

static int api_ledger(const struct rtl_host *host, const struct rtl_process *process,
		      const struct rtl_stream_info *stream, struct rtl_ledger *ledger)
{
	struct stream *s = find_stream(fake_of(host), stream);
	uint32_t size = ledger->struct_size;

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
	struct stream *s = find_stream(fake_of(host), stream);

	for (struct note *l = s ? s->losses : NULL; l; l = l->next)
		fn(user, l->key, l->number);
}

static void api_report(const struct rtl_host *host, int level, const char *text)
{
	struct fake_host *h = fake_of(host);
	struct note *report = append(h, &h->reports);

	report->text = copy(h, text);
	report->number = (uint64_t)level;
}

static void api_fail(const struct rtl_host *host, const char *reason)
{
	struct fake_host *h = fake_of(host);

	if (!h->failure)
		h->failure = copy(h, reason);
	note_error(h, RTL_EPLUGIN);
}

static const struct rtl_process *api_process(const struct rtl_host *host, uint32_t number)
{
	for (struct process *p = fake_of(host)->processes; p; p = p->next)
		if (p->process.number == number && p->begun)
			return &p->process;
	return NULL;
}

/* NULL: there is none. */
static struct note *find_property(const struct fake_host *h, const char *key)
{
	struct note *property = h->properties;

	while (property && strcmp(property->key, key) != 0)
		property = property->next;
	return property;
}

static const char *api_property(const struct rtl_host *host, const char *key)
{
	const struct note *property = find_property(fake_of(host), key);

	return property ? property->text : NULL;
}

static void api_positions(const struct rtl_host *host,
			  void (*fn)(void *user, const struct rtl_process *process, uint32_t ring,
				     uint64_t position),
			  void *user)
{
	for (struct process *p = fake_of(host)->processes; p; p = p->next)
		for (uint32_t i = 0; i < MAX_RINGS; i++)
			if (p->rings[i].position != p->rings[i].flushed)
				fn(user, &p->process, i, p->rings[i].position);
}

static int api_resume(const struct rtl_host *host, const struct rtl_process *process, uint32_t ring,
		      uint64_t position)
{
	struct process *p = find_process(fake_of(host), process);

	if (!p || p->delivered || ring >= MAX_RINGS)
		return RTL_EBUSY;
	p->rings[ring].stored = position;
	return 0;
}

static int api_calibration(const struct rtl_host *host, const struct rtl_process *process,
			   struct rtl_calibration *calibration)
{
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
}

static const struct rtl_host functions = {
	.struct_size = sizeof(functions),
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

/* ---- making and filling ---- */

struct fake_host *fake_host_create(void)
{
	struct fake_host *h = checked(calloc(1, sizeof(*h)));

	h->api = functions;
	h->next_string = 1000;
	fake_host_set_property(h, "version", "0.1.0");
	fake_host_set_property(h, "mode", "standard");
	fake_host_set_property(h, "where", "process");
	fake_host_set_property(h, "session", "test-session");
	return h;
}

static void destroy_instance(struct fake_host *h)
{
	if (h->instance && h->subscriber->destroy)
		h->subscriber->destroy(h->instance);
	h->instance = NULL;
	h->subscriptions = NULL;
}

static void keep_text(void *node)
{
	(void)node; /* the host's memory has it */
}

static void free_values(void *node)
{
	free(((struct tracepoint *)node)->values);
}

void fake_host_destroy(struct fake_host *h)
{
	if (!h)
		return;
	destroy_instance(h);
	rtl_plugin_close(h->plugin);
	tdestroy(h->strings, keep_text);
	tdestroy(h->tracepoints, free_values);
	for (struct memory *m = h->memory, *next; m; m = next) {
		next = m->next;
		free(m);
	}
	free(h);
}

void fake_host_set_property(struct fake_host *h, const char *key, const char *value)
{
	struct note *property = find_property(h, key);

	if (!property) {
		property = append(h, &h->properties);
		property->key = copy(h, key);
	}
	property->text = value ? copy(h, value) : NULL;
}

struct rtl_process *fake_host_process(struct fake_host *h, uint32_t number, int32_t pid,
				      const char *program)
{
	struct process *p = get(h, sizeof(*p));

	p->process = (struct rtl_process){
		.struct_size = sizeof(p->process),
		.number = number,
		.pid = pid,
		.parent_pid = 1,
		.start_ns = 1000000,
		.program = copy(h, program),
		.command = copy(h, program),
		.host_name = "testhost",
		.spool_id = 0xf000000000000000u + (uint64_t)pid,
		.rank = -1,
	};
	p->next = h->processes;
	h->processes = p;
	return &p->process;
}

void fake_host_set_string(struct fake_host *h, const struct rtl_process *process, uint64_t id,
			  const char *text)
{
	struct text *t = get(h, sizeof(*t));

	*t = (struct text){key_of(process, id), copy(h, text)};
	/* an id keeps its first text, as in the real host */
	checked(tsearch(t, &h->strings, compare_keys));
}

static _Thread_local const char *wanted_text;
static _Thread_local uint64_t found_id;

static void match_text(const void *node, VISIT visit, int depth)
{
	const struct text *t = *(struct text *const *)node;

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
	struct tracepoint *t = get(h, sizeof(*t)), **node;
	struct rtl_metadata *metadata = get(h, tracepoint->metadata_count * sizeof(*metadata));

	t->key = key_of(process, tracepoint->uid);
	t->tp = *tracepoint;
	t->tp.struct_size = sizeof(t->tp);
	t->tp.kind = copy(h, tracepoint->kind);
	t->tp.name = copy(h, tracepoint->name);
	t->tp.source = copy(h, tracepoint->source);
	t->tp.module = copy(h, tracepoint->module);
	t->tp.metadata = metadata;
	for (uint32_t i = 0; i < tracepoint->metadata_count; i++)
		metadata[i] = (struct rtl_metadata){
			.struct_size = sizeof(metadata[i]),
			.key = copy(h, tracepoint->metadata[i].key),
			.value = copy(h, tracepoint->metadata[i].value),
		};
	node = checked(tsearch(t, &h->tracepoints, compare_keys));
	if (*node != t) {
		free((*node)->values);
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
	struct stream *s = need_stream(h, stream);

	s->ledger = *ledger;
	s->ledger.struct_size = sizeof(s->ledger);
	s->ledger_set = true;
}

void fake_host_add_loss(struct fake_host *h, const struct rtl_stream_info *stream,
			const char *cause, uint64_t count)
{
	struct note *loss = get(h, sizeof(*loss));
	struct stream *s = need_stream(h, stream);

	*loss = (struct note){.next = s->losses, .key = copy(h, cause), .number = count};
	s->losses = loss;
}

/* ---- the subscriber's life ---- */

/* As it stands in a list of subscribers. To be freed. */
static char *write_spec(const char *file, const char *settings)
{
	char *spec = NULL;
	size_t size;
	FILE *out = checked(open_memstream(&spec, &size));

	fprintf(out, "%s?", file);
	for (; settings && *settings; settings++)
		fputs(*settings == '%' ? "%25" : (char[]){*settings, '\0'}, out);
	fclose(out);
	return checked(spec);
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
	note_error(h, result);
	return result;
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
		note_error(h, h->subscriber->stream(h->instance, stream));
	return stream;
}

void fake_host_begin(struct fake_host *h, const struct rtl_process *process)
{
	for (struct process *p = h->processes; p; p = p->next)
		if (&p->process == process)
			p->begun = true;
	if (runs(h) && h->subscriber->process_begin)
		note_error(h, h->subscriber->process_begin(h->instance, process));
}

void fake_host_process_end(struct fake_host *h, const struct rtl_process *process)
{
	if (runs(h) && h->subscriber->process_end)
		note_error(h, h->subscriber->process_end(h->instance, process));
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
	struct stream *stream = need_stream(h, event->stream);

	if (stream->ledger_set)
		return;
	stream->ledger.published += count;
	stream->ledger.delivered += count;
}

/* Whether the subscriber has stored an event before; its ring goes on past it. */
static bool pass_by(struct fake_host *h, const struct rtl_event *event)
{
	struct process *p = find_process(h, event->process);
	struct ring *ring = p ? &p->rings[h->ring] : NULL;

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
	note_error(h, result);
	for (struct process *p = h->processes; result == 0 && !h->kept && p; p = p->next)
		for (uint32_t i = 0; i < MAX_RINGS; i++)
			p->rings[i].flushed = p->rings[i].position;
}

void fake_host_set_ring(struct fake_host *h, uint32_t ring)
{
	if (ring >= MAX_RINGS)
		abort();
	h->ring = ring;
}

uint64_t fake_host_resumed(const struct fake_host *h, const struct rtl_process *process,
			   uint32_t ring)
{
	return find_process(h, process)->rings[ring].stored;
}

int fake_host_end(struct fake_host *h)
{
	if (!h->instance)
		return h->error;
	for (struct process *p = h->processes; p; p = p->next)
		if (p->begun)
			fake_host_process_end(h, &p->process);
	if (h->subscriber->finish)
		note_error(h, h->subscriber->finish(h->instance));
	destroy_instance(h);
	return h->error;
}

/* ---- what happened ---- */

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
	size_t count = 0;

	for (const struct note *report = h->reports; report; report = report->next)
		count++;
	return count;
}

const char *fake_host_report(const struct fake_host *h, size_t n, int *level)
{
	const struct note *report = h->reports;

	while (report && n--)
		report = report->next;
	if (report && level)
		*level = (int)report->number;
	return report ? report->text : NULL;
}

bool fake_host_reported(const struct fake_host *h, const char *part)
{
	for (const struct note *report = h->reports; report; report = report->next)
		if (strstr(report->text, part))
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
	return (struct rtl_event){
		.struct_size = sizeof(struct rtl_event),
		.type = type,
		.stream = stream,
		.type_info = rtl_stream_find_type(stream, type),
		.process = process,
		.payload = payload,
		.payload_size = payload_size,
	};
}

/* ---- the real descriptions, with numbers ---- */

static const struct rtl_stream_info *numbered(const struct rtl_stream_info *stream, uint32_t number)
{
	static struct rtl_stream_info infos[10];

	infos[number] = *stream;
	infos[number].number = number;
	return &infos[number];
}

const struct rtl_stream_info *fake_hsa_stream(void)
{
	return numbered(&hsa_stream_info, 1);
}

const struct rtl_stream_info *fake_copy_stream(void)
{
	return numbered(&copy_stream_info, 2);
}

const struct rtl_stream_info *fake_call_stream(void)
{
	return numbered(&hip_call_stream_info, 3);
}

const struct rtl_stream_info *fake_counter_stream(void)
{
	return numbered(&counter_stream_info, 9);
}
