/* SPDX-License-Identifier: MIT */
/* Events on their way from the rings to the subscribers. Records stay in their rings until subscribers have flushed
 * them: what is not durable can be delivered again after a crash. */
#include <sched.h>
#include <stdlib.h>

#include "host.h"

#define FLUSH_NS 50000000u
/* A pass over rings that are full is interrupted after that time, for a flush. */
#define PASS_NS FLUSH_NS
#define TIDY_NS 100000000u
/* So many rings of ended threads may lie about while a subscriber keeps what was in them. */
#define CLOSED_MOST 8u

static void hand_over(struct instance *instance)
{
	uint32_t n = instance->pending;

	instance->pending = 0;
	if (!n || instance_failed(instance))
		return;
	instance_works(instance, true);
	instance->fn(instance->user, instance->events, n);
	instance_works(instance, false);
}

static void sweep_if_due(struct host *host)
{
	if (__atomic_load_n(&host->undone, __ATOMIC_RELAXED))
		host_sweep(host);
}

static void hand_over_all(struct host *host)
{
	struct instance *instance;

	for (instance = host->instances; instance; instance = instance->next)
		hand_over(instance);
	__atomic_store_n(&host->progress, host->progress + 1, __ATOMIC_RELAXED);
	sweep_if_due(host);
}

/* Puts an event on the list of each subscription that wants it. `resumed`: its process, if subscribers may have
 * stored the event before; else NULL. */
static inline __attribute__((always_inline)) void
distribute(struct host *host, const struct rtl_event *event, const struct source *resumed)
{
	struct rtl_subscription *const *first = &host->subscriptions[event->stream->number];
	const struct rtl_subscription *s;

	/* acquire: with the release in add_subscription */
	for (s = __atomic_load_n(first, __ATOMIC_ACQUIRE); s; s = s->next) {
		rtl_events_fn fn = __atomic_load_n(&s->fn, __ATOMIC_RELAXED);
		struct instance *instance = s->instance;

		if (s->is_inline || !fn || (s->type != event->type && s->type != RTL_TYPE_ANY))
			continue;
		if (resumed && event->position < source_stored(resumed, instance, event->ring))
			continue;
		if (instance->pending && (instance->fn != fn || instance->user != s->user)) {
			hand_over(instance); /* keeps the order over all callbacks of one */
			if (!__atomic_load_n(&s->fn, __ATOMIC_RELAXED))
				continue; /* undone by that very callback */
		}
		instance->fn = fn;
		instance->user = s->user;
		instance->events[instance->pending++] = event;
		if (instance->pending == HOST_BATCH)
			hand_over(instance);
	}
}

/* Whether it says where something else in the payload is. */
static bool is_place(uint16_t kind)
{
	return kind == RTL_KIND_TEXT || kind == RTL_KIND_ARGS || kind == RTL_KIND_VALUES;
}

static bool has_texts(const struct rtl_type_info *type)
{
	for (uint16_t i = 0; i < type->field_count; i++)
		if (is_place(type->fields[i].kind))
			return true;
	return false;
}

static const struct rtl_type_info *type_of(struct source *source, uint32_t stream, uint16_t type)
{
	if (source->last_type && source->last_stream == stream && source->last_type->type == type)
		return source->last_type;
	source->last_stream = stream;
	source->last_type = rtl_stream_find_type(source->streams[stream], type);
	source->last_has_texts = source->last_type && has_texts(source->last_type);
	return source->last_type;
}

static bool text_fits(const struct rtl_event *event, struct rtl_text text)
{
	return (uint64_t)text.offset + text.length <= event->payload_size;
}

/* Whether they are whole arguments, and lie in the payload with their texts. */
static bool args_fit(const struct rtl_event *event, struct rtl_text place)
{
	if (!text_fits(event, place) || place.offset % 8 || place.length % sizeof(struct rtl_arg))
		return false;
	for (uint32_t i = 0; i < place.length; i += (uint32_t)sizeof(struct rtl_arg)) {
		struct rtl_arg arg;

		memcpy(&arg, (const char *)event->payload + place.offset + i, sizeof(arg));
		if (arg.kind == RTL_KIND_TEXT && !text_fits(event, arg.value.text))
			return false;
	}
	return true;
}

/* Whether the payload's texts, arguments and values lie in it. */
static bool texts_fit(const struct rtl_event *event)
{
	struct rtl_text text;

	for (uint16_t i = 0; i < event->type_info->field_count; i++) {
		const struct rtl_field *field = rtl_type_field(event->type_info, i);

		if (!is_place(field->kind))
			continue;
		memcpy(&text, (const char *)event->payload + field->offset, sizeof(text));
		if (field->kind == RTL_KIND_ARGS ? !args_fit(event, text) : !text_fits(event, text))
			return false;
		if (field->kind == RTL_KIND_VALUES && text.offset % 8)
			return false;
	}
	return true;
}

/* Where others can write to the payload, subscribers get a copy: what was checked stays so. */
static const void *keep_payload(struct host *host, const struct source *source, const void *payload,
				uint32_t size)
{
	uint8_t *copy = host->copies + host->copies_used;

	if (source->own)
		return payload;
	memcpy(copy, payload, size);
	host->copies_used += (size + 7) & ~7u;
	return copy;
}

/* An event of a record; false: not one that its stream describes. */
static bool describe(struct host *host, struct source *source, const struct reader_record *record,
		     struct rtl_event *event)
{
	uint32_t payload_size = record->size - (uint32_t)sizeof(*record->at);
	const struct rtl_type_info *type;

	if (!source->process || record->stream >= source->stream_count)
		return false;
	type = type_of(source, record->stream, record->type);
	if (!type || payload_size < type->payload_size)
		return false;
	/* one by one: of an initializer gcc makes a `rep stos` */
	event->struct_size = sizeof(*event);
	event->type = record->type;
	event->reserved = 0;
	event->stream = source->streams[record->stream];
	event->type_info = type;
	event->process = source->process;
	event->tid = record->tid;
	event->payload_size = payload_size;
	event->time_ns = clock_line_ns(&source->reader.clock, record->ticks);
	event->uid = record->at->uid;
	event->parent_uid = record->at->parent_uid;
	event->instance = record->at->instance;
	event->correlation = record->at->correlation;
	event->payload = keep_payload(host, source, record->at + 1, payload_size);
	event->position = record->position;
	event->ring = record->ring;
	event->reserved2 = 0;
	return !source->last_has_texts || texts_fit(event);
}

/* ---- what was not recorded, as other events repeat it */

#define REPEATS_NONE 0xffffu

/* The number of a stream that was not recorded, and whose debug stream that is, plus 1. */
static uint16_t find_repeated(const struct source *source, uint32_t debug)
{
	const char *of = source->streams[debug]->name;

	for (uint32_t i = 0; i < source->stream_count; i++) {
		const char *name = source->streams[i]->name;
		struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};

		if (strncmp(of, name, strlen(name)) != 0 ||
		    strcmp(of + strlen(name), ".debug") != 0)
			continue;
		source_ledger(source, i, &ledger);
		return ledger.published ? REPEATS_NONE : (uint16_t)(i + 1);
	}
	return REPEATS_NONE;
}

/* Makes the event that another one repeats, if only that was recorded. */
static bool make_repeated(struct source *source, uint32_t stream, const struct rtl_event *event,
			  struct rtl_event *out)
{
	const struct rtl_stream_info *info;
	const struct rtl_type_info *type;

	if (!source->repeats[stream])
		source->repeats[stream] = find_repeated(source, stream);
	if (source->repeats[stream] == REPEATS_NONE)
		return false;
	info = source->streams[source->repeats[stream] - 1];
	for (uint32_t i = 0; i < info->type_count; i++) {
		type = &info->types[i];
		if (type->repeated_by != (RTL_IN_DEBUG | event->type) ||
		    type->payload_size > event->type_info->payload_size)
			continue;
		*out = *event;
		out->type = type->type;
		out->stream = info;
		out->type_info = type;
		out->payload_size = type->payload_size;
		return true;
	}
	return false;
}

/* ---- passes */

static void count_malformed(struct source *source, const struct reader_record *record)
{
	source->malformed++;
	if (record->stream < source->stream_count)
		__atomic_store_n(&source->abandoned[record->stream],
				 source->abandoned[record->stream] + 1, __ATOMIC_RELAXED);
	/* others the end of the ledger counts */
}

/* Room for copies of payloads; false: no memory, everything waits. */
static bool make_copies(struct host *host, const struct source *source)
{
	host->copies_used = 0;
	if (!source->own && !host->copies)
		host->copies = malloc(HOST_COPIES);
	return source->own || host->copies;
}

struct open_user {
	struct host *host;
	struct source *source;
	void (*fn)(void *user, const struct rtl_event *event);
	void *user;
	uint32_t tid;
};

static void give_open(void *user, struct ring_open *open, uint8_t *under_way)
{
	const struct open_user *to = user;
	const struct reader_record record = {.at = &open->record,
					     .ticks = clock_ticks(),
					     .size = open->record.size,
					     .tid = to->tid,
					     .stream = open->record.stream,
					     .type = open->record.type};
	struct rtl_event event;

	if (make_copies(to->host, to->source) && describe(to->host, to->source, &record, &event))
		to->fn(to->user, &event);
}

void host_each_open(struct host *host, struct source *source,
		    void (*fn)(void *user, const struct rtl_event *event), void *user)
{
	struct open_user to = {.host = host, .source = source, .fn = fn, .user = user};

	for (uint32_t i = 0; i < source->reader.count; i++) {
		const struct ring_header *ring = source_ring(source, i);

		for (uint32_t k = 0; ring && k < RING_OPEN_MAX; k++) {
			struct ring_open copy = *(const volatile struct ring_open *)&ring->open[k];

			to.tid = ring->tid;
			/* after the copy: what still is kept with that number was so all the time */
			if (ring_open_is_sound(&copy, source->stream_count) &&
			    (copy.sealed ||
			     (ring_open_is_kept(&ring->open[k],
						__atomic_load_n(&ring->head, __ATOMIC_ACQUIRE)) &&
			      ring->open[k].record.instance == copy.record.instance)))
				give_open(&to, &copy, NULL);
		}
	}
	to.tid = 0;
	source_each_slot(source, give_open, &to);
}

/* Begins a pass over a process's rings; false: there is nothing. */
static bool begin_pass(struct host *host, struct source *source)
{
	bool something;

	host_data_lock(host);
	something = source_begin(source);
	host_data_unlock(host);
	source_prepare(source);
	/* what records refer to is in its dictionary by now */
	if (!source->own || source->stream_count < source->ops->stream_count(source))
		host_look_at(host, source);
	return something;
}

/* Whether a pass is to go on later, from where it is. */
static bool is_over(const struct host *host)
{
	return __atomic_load_n(&host->paused, __ATOMIC_RELAXED) ||
	       clock_ns() - host->pass_ns >= PASS_NS;
}

/* A pass, or the rest of an interrupted one with the heads and the clock that it began with. */
static uint32_t pass_over(struct host *host, struct source *source)
{
	struct reader_record record;
	uint32_t n = 0, total = 0;

	if (!source->interrupted && !begin_pass(host, source))
		return 0;
	if (source->interrupted && source->files.shared)
		spool_files_map_rings(
			&source->files); /* while their files are there: see PASS_NS */
	if (!make_copies(host, source))
		return 0;
	source->interrupted = false;
	while (reader_next(&source->reader, &record)) {
		size_t used = host->copies_used;

		total++;
		if (!describe(host, source, &record, &host->batch[n])) {
			host->copies_used = used;
			count_malformed(source, &record);
			continue;
		}
		source_count_delivered(source, record.stream);
		if (__builtin_expect(source->resume != NULL, 0))
			distribute(host, &host->batch[n], source);
		else
			distribute(host, &host->batch[n], NULL);
		n++;
		if (host->replays &&
		    make_repeated(source, record.stream, &host->batch[n - 1], &host->batch[n]))
			distribute(host, &host->batch[n++], NULL);
		if (n >= HOST_BATCH - 1 || host->copies_used > HOST_COPIES - RTL_PAYLOAD_MAX) {
			hand_over_all(host);
			n = 0;
			host->copies_used = 0;
			source->interrupted = is_over(host);
			if (source->interrupted)
				break;
		}
	}
	hand_over_all(host);
	return total;
}

/* The host's process that a feed's event names, and its stream's number there; NULL: it has no such stream. */
static struct source *source_of(const struct host *host, const struct rtl_event *event,
				uint32_t *stream)
{
	struct source *source = host->sources[event->process->number - 1];
	int number;

	if (source->last_type && source->streams[source->last_stream] == event->stream) {
		*stream = source->last_stream;
		return source;
	}
	number = source_number(source, event->stream);
	*stream = (uint32_t)number;
	return number < 0 ? NULL : source;
}

/* The ledger of a feed is what it says, or else what it delivers. */
static void count_fed(struct source *source, uint32_t stream, bool good)
{
	struct rtl_ledger *ledger = &source->last[stream];

	if (!source->ledger_told[stream]) {
		ledger->struct_size = sizeof(*ledger);
		ledger->published++;
		ledger->delivered += good;
		ledger->abandoned += !good;
	} else if (!good && ledger->delivered) {
		ledger->delivered--;
		ledger->abandoned++;
	}
}

void host_deliver(struct host *host, const struct rtl_event *events, size_t count)
{
	struct rtl_event *event;
	struct source *source;
	uint32_t n = 0, stream;
	bool good;

	for (size_t i = 0; i < count; i++) {
		event = &host->batch[n];
		*event = events[i];
		event->struct_size = sizeof(*event);
		event->ring = event->reserved2 = event->reserved = 0;
		event->position = 0;
		source = source_of(host, event, &stream);
		if (!source)
			continue;
		event->type_info = type_of(source, stream, event->type);
		good = event->type_info && event->payload_size >= event->type_info->payload_size &&
		       (!source->last_has_texts || texts_fit(event));
		count_fed(source, stream, good);
		if (!good)
			continue;
		distribute(host, event, NULL);
		if (++n == HOST_BATCH) {
			hand_over_all(host);
			n = 0;
		}
	}
	hand_over_all(host);
}

/* Instead of a pass: for ledgers. */
static void count(struct host *host, struct source *source)
{
	if (source->closed)
		return;
	host_look_at(host, source);
	spool_files_map_rings(&source->files);
	reader_add_rings(&source->reader, source->files.rings, source->files.ring_bytes,
			 source->files.ring_count);
}

bool host_pass(struct host *host)
{
	/* of a pass that was interrupted: what came behind its heads is not seen */
	bool rest = false;
	uint32_t total = 0;

	while (__atomic_load_n(&host->paused, __ATOMIC_RELAXED))
		sched_yield(); /* lets a waiting thread have the lock */
	host_lock(host);
	host->pass_ns = clock_ns();
	host->interrupted = false;
	for (uint32_t i = 0; i < host->source_count; i++) {
		rest |= !host->sources[i]->closed && host->sources[i]->interrupted;
		if (host->counting)
			count(host, host->sources[i]);
		else if (!host->sources[i]->closed)
			total += pass_over(host, host->sources[i]);
		host->interrupted |= !host->sources[i]->closed && host->sources[i]->interrupted;
	}
	if (host_read_feeds(host))
		host->interrupted = rest = true;
	sweep_if_due(host);
	host->dirty |= total > 0;
	host_unlock(host);
	return total > 0 || rest;
}

/* What a process has in further rings. */
static uint64_t growth_of(const struct source *source)
{
	const uint64_t growth = __atomic_load_n(&source->control->growth, __ATOMIC_RELAXED);
	const uint64_t empty = reader_empty(&source->reader);

	return growth > empty ? growth - empty : 0;
}

/* What one process may have is what all may have together: each gets an equal part of what is left. */
static void share_growth(struct host *host)
{
	uint64_t most = 0, used = 0, one, living = 0;

	for (uint32_t i = 0; i < host->source_count; i++) {
		const struct source *source = host->sources[i];

		if (source->closed)
			continue;
		/* acquire: it has written growth_allowed before */
		one = __atomic_load_n(&source->control->growth_most, __ATOMIC_ACQUIRE);
		most = one > most ? one : most;
		used += growth_of(source);
		living += !source->gone;
	}
	host->grown = most ? (uint32_t)(used * 100 / most) : 100;
	for (uint32_t i = 0; i < host->source_count; i++) {
		const struct source *source = host->sources[i];

		if (source->closed || source->gone ||
		    !__atomic_load_n(&source->control->growth_most, __ATOMIC_RELAXED))
			continue;
		one = growth_of(source) + (most > used ? (most - used) / living : 0);
		__atomic_store_n(&source->control->growth_allowed, one, __ATOMIC_RELAXED);
	}
}

void host_tidy(struct host *host, bool leaves)
{
	const uint64_t now = clock_ns();

	if (now - host->tidied_ns < TIDY_NS && !leaves)
		return;
	host->tidied_ns = now;
	for (uint32_t i = 0; i < host->source_count; i++)
		if (!host->sources[i]->closed && !host->sources[i]->recorded)
			reader_give_back(&host->sources[i]->reader, host->sources[i]->own, leaves);
	share_growth(host);
}

uint64_t host_backlog(const struct host *host)
{
	uint64_t bytes = host_feeds_left(host);

	for (uint32_t i = 0; i < host->source_count; i++)
		if (!host->sources[i]->closed)
			bytes += reader_backlog(&host->sources[i]->reader) +
				 host->sources[i]->files.segment_bytes -
				 host->sources[i]->taken_bytes;
	return bytes;
}

bool host_drain(struct host *host, uint32_t passes)
{
	bool something = true;

	while (something && passes) {
		something = host_pass(host);
		passes -= !host->interrupted;
		host_flush(host, false);
	}
	return something;
}

static bool lacks_room(const struct host *host, uint32_t closed_most)
{
	for (uint32_t i = 0; i < host->source_count; i++)
		if (!host->sources[i]->closed &&
		    reader_lacks_room(&host->sources[i]->reader, closed_most))
			return true;
	return false;
}

/* Whether a subscriber has asked to keep what was delivered. */
static bool is_kept(const struct host *host)
{
	const struct instance *instance = host->instances;

	while (instance && (!instance->keeps || (instance_failed(instance) && !host->finished)))
		instance = instance->next;
	return instance;
}

bool host_has_failed(const struct host *host)
{
	const struct instance *instance = host->instances;

	while (instance && !instance_failed(instance))
		instance = instance->next;
	return instance;
}

bool host_keeps(const struct host *host)
{
	return (host_has_failed(host) && strcmp(host->where, "recover") == 0) || is_kept(host);
}

static void flush_instances(struct host *host, bool now)
{
	struct instance *instance;

	/* in a program `now` is somebody who waits for what is written (rtl_flush) */
	host->urgent = host->last || (now && host->own) || lacks_room(host, CLOSED_MOST);
	for (instance = host->instances; host->dirty && instance; instance = instance->next) {
		instance->keeps = false;
		INSTANCE_CALL(instance, flush);
	}
	host->dirty = is_kept(host);
}

void host_flush(struct host *host, bool now)
{
	host_lock(host);
	if (now || clock_ns() - host->flushed_ns >= FLUSH_NS || lacks_room(host, 0)) {
		host->flushed_ns = clock_ns();
		flush_instances(host, now);
		/* the rings of ended threads become free by this as well */
		for (uint32_t i = 0; i < host->source_count && !host_keeps(host); i++)
			if (!host->sources[i]->closed)
				source_release(host->sources[i]);
	}
	host_unlock(host);
}
