/* SPDX-License-Identifier: MIT */
/* pftrace.c: Perfetto's protobuf (perfetto/protos/perfetto/trace/trace_packet.proto and what it names). A file is a row
 * of packets, so it is valid wherever it ends. Times are CLOCK_BOOTTIME.
 *
 * A slice is two events, its begin and its end; readers sort by time, and by place in the file
 * where times are equal. Names, categories and keys are written once and then told by number;
 * whoever goes on with a file begins another sequence with numbers of its own. A number of a flow
 * stands at two slices only: where a call has caused several operations each has a number. */
#include <sys/random.h>
#include <time.h>

#include "put.h"
#include "timeline.h"

/* Fields of protobuf are written as their tags: number << 3 | kind, as a varint. */
#define VARINT  0u
#define FIXED64 1u
#define BYTES   2u

enum {
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_CLOCKS = 6,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
	PACKET_UUID = 89,
	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30,
	EVENT_COUNTER_REAL = 44,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48,
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,
	CLOCK_ID_REALTIME = 1,
	CLOCK_ID_BOOTTIME = 6,
	/* which tables a name is in, and their fields */
	INTERNED_CATEGORY = 1,
	INTERNED_NAME = 2,
	INTERNED_KEY = 3,
};

#define FLOWS_MOST 4096u
/* What stands for the length of a message before it is known: three bytes, up to 2 MiB. */
#define LENGTH_BYTES 3u

static inline char *put_tag(char *to, uint32_t field, uint32_t kind)
{
	return put_varint(to, field << 3 | kind);
}

static inline char *put_number(char *to, uint32_t field, uint64_t value)
{
	return put_varint(put_tag(to, field, VARINT), value);
}

static char *put_fixed(char *to, uint32_t field, uint64_t value)
{
	to = put_tag(to, field, FIXED64);
	memcpy(to, &value, sizeof(value)); /* little-endian, as the format */
	return to + sizeof(value);
}

static char *put_bytes(char *to, uint32_t field, const char *bytes, size_t length)
{
	to = put_varint(put_tag(to, field, BYTES), length);
	memcpy(to, bytes, length);
	return to + length;
}

/* A message of a length that is not known yet: the place behind its length. */
static inline char *open_message(char *to, uint32_t field)
{
	return put_tag(to, field, BYTES) + LENGTH_BYTES;
}

/* `begin`: what open_message returned. */
static inline void close_message(char *begin, const char *end)
{
	const size_t length = (size_t)(end - begin);

	begin[-3] = (char)(length | 0x80);
	begin[-2] = (char)(length >> 7 | 0x80);
	begin[-1] = (char)(length >> 14);
}

/* A packet of the file's, with so much room; fields of it follow, from what is returned. NULL: there is no room. */
static char *begin_packet(struct timeline *timeline, size_t size, char **room)
{
	char *to = *room = file_room(&timeline->file, size);

	return to ? put_number(open_message(to, 1), PACKET_SEQUENCE, timeline->sequence) : NULL;
}

static void end_packet(struct timeline *timeline, char *room, const char *end)
{
	close_message(open_message(room, 1), end);
	file_take(&timeline->file, (size_t)(end - room));
}

/* ---- the beginning ---- */

/* Another number than other files', which may be joined with this one. */
static uint32_t new_sequence(void)
{
	uint32_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (uint32_t)getpid() * 2654435761u ^ (uint32_t)time(NULL);
	return number % 2000000u + 2; /* 3 bytes; 0 is none, 1 is Perfetto's own */
}

/* "rtl trac", by which the file is known again; the lower half is the session's. */
#define UUID_HIGH      UINT64_C(0x72746c2074726163)
#define UUID_LOW_BYTES 11u /* with the tag; the highest bit is always set */

static size_t mark(const char *session, char room[TIMELINE_MARK_SIZE])
{
	char *packet, *to, *uuid;

	packet = to = open_message(room, 1);
	uuid = to = open_message(to, PACKET_UUID);
	to = put_number(to, 1, UUID_HIGH);
	to = put_number(to, 2,
			UINT64_C(1) << 63 |
				hash_text(session ? session : "", session ? strlen(session) : 0));
	close_message(uuid, to);
	close_message(packet, to);
	return (size_t)(to - room) - (session ? 0 : UUID_LOW_BYTES);
}

/* What both clocks show at the base. */
static void write_clocks(struct timeline *timeline)
{
	const struct {
		uint64_t id, ns;
	} clocks[] = {{CLOCK_ID_BOOTTIME, timeline->base_ns},
		      {CLOCK_ID_REALTIME, (uint64_t)timeline->unix_ns}};
	char *room, *to = begin_packet(timeline, 128, &room), *snapshot, *clock;

	if (!to)
		return;
	snapshot = to = open_message(to, PACKET_CLOCKS);
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		clock = to = open_message(to, 1);
		to = put_number(to, 1, clocks[i].id);
		to = put_number(to, 2, clocks[i].ns);
		close_message(clock, to);
	}
	to = put_number(to, 2, CLOCK_ID_BOOTTIME);
	close_message(snapshot, to);
	end_packet(timeline, room, to);
}

/* The sequence's state is empty, and its times are of CLOCK_BOOTTIME. */
static void write_defaults(struct timeline *timeline)
{
	char *room, *to = begin_packet(timeline, 64, &room), *defaults;

	if (!to)
		return;
	to = put_number(to, PACKET_FLAGS, 1);
	defaults = to = open_message(to, PACKET_DEFAULTS);
	to = put_number(to, 58, CLOCK_ID_BOOTTIME);
	close_message(defaults, to);
	end_packet(timeline, room, to);
}

static void begin(struct timeline *timeline, bool again)
{
	char *room = again ? NULL : file_room(&timeline->file, TIMELINE_MARK_SIZE);

	timeline->sequence = new_sequence();
	if (room)
		file_take(&timeline->file, mark(timeline->session, room));
	write_defaults(timeline);
	if (!again && timeline->unix_ns)
		write_clocks(timeline);
}

/* ---- tracks ---- */

static uint64_t short_uuid(uint64_t uuid)
{
	return uuid & ((UINT64_C(1) << 40) - 1);
}

static void process(struct timeline *timeline, const struct timeline_process *p)
{
	char *room, *to = begin_packet(timeline, 128 + 3 * strlen(p->name), &room), *track;
	char *name = to ? room + 64 : NULL, *inner = NULL;
	size_t length;

	if (!to)
		return;
	track = to = open_message(to, PACKET_TRACK);
	to = put_number(to, 1, short_uuid(p->uuid));
	if (p->is_gpu) {
		to = put_number(to, 11, 3); /* children in the order of their ranks */
		to = put_number(to, 12, (uint64_t)p->sort);
		to = put_tag(to, 2, BYTES);
	} else {
		inner = to = open_message(to, 3);
		to = put_number(to, 1, p->pid);
		to = put_tag(to, 6, BYTES);
	}
	length = (size_t)(name_clean(name, p->name, strlen(p->name)) - name);
	to = put_varint(to, length);
	memmove(to, name, length);
	to += length;
	if (inner)
		close_message(inner, to);
	close_message(track, to);
	end_packet(timeline, room, to);
}

static char *put_thread(char *to, const struct timeline_track *track, uint32_t tid)
{
	char *thread = to = open_message(to, 4);

	to = put_number(to, 1, track->process->pid);
	to = put_number(to, 2, tid);
	to = put_bytes(to, 5, track->name->text, track->name->length);
	close_message(thread, to);
	return to;
}

static char *put_counter_unit(char *to, const struct timeline_track *track)
{
	char *counter = to = open_message(to, 8);

	if (strcmp(track->unit->text, "bytes") == 0)
		to = put_number(to, 3, 3);
	else
		to = put_bytes(to, 6, track->unit->text, track->unit->length);
	close_message(counter, to);
	return to;
}

/* Further lanes have the same name: readers show tracks of one name and parent as one. */
static void lane(struct timeline *timeline, const struct timeline_track *track, uint32_t index)
{
	char *room, *to = begin_packet(timeline, 192 + track->name->length, &room), *message;

	if (!to)
		return;
	message = to = open_message(to, PACKET_TRACK);
	to = put_number(to, 1, short_uuid(track->lanes[index]->uuid));
	to = put_number(to, 5, short_uuid(track->process->uuid));
	if (track->kind == TIMELINE_THREAD && index == 0) {
		to = put_thread(to, track, track->lanes[index]->tid);
	} else {
		to = put_bytes(to, 2, track->name->text, track->name->length);
		to = put_number(to, 12, (track->number & 0xffff) + 65536u * track->kind);
	}
	if (track->kind == TIMELINE_COUNTER && track->unit)
		to = put_counter_unit(to, track);
	close_message(message, to);
	end_packet(timeline, room, to);
}

/* ---- events ---- */

/* Sees to it that a name is in a table of the sequence; `to` is in the message of the tables. */
static char *intern(char *to, struct name *name, uint32_t table)
{
	char *entry;

	if (__builtin_expect(name->interned >> table & 1, 1))
		return to;
	name->interned |= 1u << table;
	entry = to = open_message(to, table);
	to = put_number(to, 1, name->number);
	to = put_bytes(to, 2, name->text, name->length);
	close_message(entry, to);
	return to;
}

static inline bool is_in(const struct name *name, uint32_t table)
{
	return name->interned >> table & 1;
}

static bool all_interned(const struct timeline_slice *s)
{
	bool all = is_in(s->category, INTERNED_CATEGORY) &&
		   (!s->name || is_in(s->name, INTERNED_NAME));

	for (uint32_t i = 0; i < s->value_count; i++)
		all &= is_in(s->values[i].key, INTERNED_KEY);
	return all;
}

static char *put_interned(char *to, const struct timeline_slice *s)
{
	char *tables = to = open_message(to, PACKET_INTERNED);

	to = intern(to, s->category, INTERNED_CATEGORY);
	if (s->name)
		to = intern(to, s->name, INTERNED_NAME);
	for (uint32_t i = 0; i < s->value_count; i++)
		to = intern(to, s->values[i].key, INTERNED_KEY);
	close_message(tables, to);
	return to;
}

static char *put_clean(char *to, uint32_t field, const char *text, size_t length)
{
	char *begin = open_message(to, field);

	to = name_clean(begin, text, length);
	close_message(begin, to);
	return to;
}

/* Tables of numbers are not worth it for values: a text stands where it is. */
static char *put_annotation(char *to, const struct timeline_value *value)
{
	const bool is_long = value->kind == TIMELINE_TEXT || value->kind == TIMELINE_NAME;
	char *begin = is_long ? open_message(to, EVENT_ANNOTATION)
			      : put_tag(to, EVENT_ANNOTATION, BYTES) + 1;

	to = put_number(begin, 1, value->key->number);
	switch (value->kind) {
	case TIMELINE_INT:
		to = put_number(to, 4, (uint64_t)value->integer);
		break;
	case TIMELINE_HEX:
		to = put_number(to, 7, value->number);
		break;
	case TIMELINE_REAL:
		to = put_fixed(to, 5, value->number);
		break;
	case TIMELINE_BOOL:
		to = put_number(to, 2, value->number != 0);
		break;
	case TIMELINE_TEXT:
		to = put_clean(to, 6, value->text, value->length);
		break;
	case TIMELINE_NAME:
		to = put_bytes(to, 6, value->name->text, value->name->length);
		break;
	default:
		to = put_number(to, 3, value->number);
		break;
	}
	if (is_long)
		close_message(begin, to);
	else
		begin[-1] = (char)(to - begin);
	return to;
}

static uint32_t flow_count(const struct timeline_slice *s)
{
	if (s->flow != TIMELINE_FLOW_OUT)
		return s->flow == TIMELINE_FLOW_IN;
	return s->flow_part < FLOWS_MOST ? s->flow_part : FLOWS_MOST;
}

static char *put_flows(char *to, const struct timeline_slice *s)
{
	const uint32_t count = flow_count(s);

	if (s->flow == TIMELINE_FLOW_IN)
		return s->flow_part < FLOWS_MOST ? put_fixed(to, EVENT_FLOW_END,
							     hash_number(s->flow_id + s->flow_part))
						 : to;
	for (uint32_t i = 0; i < count; i++)
		to = put_fixed(to, EVENT_FLOW, hash_number(s->flow_id + i));
	return to;
}

static size_t room_for(const struct timeline_slice *s)
{
	size_t room = 256 + s->category->length + (s->name ? s->name->length : 3 * s->text_length) +
		      (size_t)10 * flow_count(s);

	for (uint32_t i = 0; i < s->value_count; i++) {
		room += 64 + s->values[i].key->length;
		if (s->values[i].kind == TIMELINE_TEXT)
			room += (size_t)3 * s->values[i].length;
		else if (s->values[i].kind == TIMELINE_NAME)
			room += s->values[i].name->length;
	}
	return room;
}

/* What each event begins with. */
static inline char *put_head(char *to, const struct timeline *timeline, uint64_t ns)
{
	to = put_number(to, PACKET_TIMESTAMP, ns);
	to = put_number(to, PACKET_SEQUENCE, timeline->sequence);
	return put_number(to, PACKET_FLAGS, 2);
}

static inline char *put_event(char *to, uint32_t type, uint64_t track)
{
	return put_number(put_number(to, EVENT_TYPE, type), EVENT_TRACK, short_uuid(track));
}

static void slice(struct timeline *timeline, const struct timeline_track *track,
		  const struct timeline_lane *l, const struct timeline_slice *s)
{
	/* one without a length would end before it begins */
	const bool is_instant = s->is_mark || s->end_ns == s->begin_ns;
	char *room = file_room(&timeline->file, room_for(s)), *packet, *to, *event;

	if (!room)
		return;
	packet = to = open_message(room, 1);
	to = put_head(to, timeline, s->begin_ns);
	if (__builtin_expect(!all_interned(s), 0))
		to = put_interned(to, s);
	event = to = open_message(to, PACKET_TRACK_EVENT);
	to = put_event(to, is_instant ? TYPE_INSTANT : TYPE_BEGIN, l->uuid);
	to = put_number(to, EVENT_CATEGORY, s->category->number);
	to = s->name ? put_number(to, EVENT_NAME_IID, s->name->number)
		     : put_clean(to, EVENT_NAME, s->text, s->text_length);
	for (uint32_t i = 0; i < s->value_count; i++)
		if (s->values[i].kind != TIMELINE_TIME)
			to = put_annotation(to, &s->values[i]);
	if (s->flow)
		to = put_flows(to, s);
	close_message(event, to);
	close_message(packet, to);
	if (!is_instant) {
		packet = to = open_message(to, 1);
		to = put_head(to, timeline, s->end_ns);
		event = to = open_message(to, PACKET_TRACK_EVENT);
		to = put_event(to, TYPE_END, l->uuid);
		close_message(event, to);
		close_message(packet, to);
	}
	file_take(&timeline->file, (size_t)(to - room));
}

static void counter(struct timeline *timeline, const struct timeline_track *track, uint64_t time_ns,
		    double value)
{
	const bool whole = put_is_whole(value);
	uint64_t bits;
	char *room = file_room(&timeline->file, 96), *to, *event;

	if (!room)
		return;
	to = open_message(room, 1);
	to = put_head(to, timeline, time_ns);
	event = to = open_message(to, PACKET_TRACK_EVENT);
	to = put_event(to, TYPE_COUNTER, track->lanes[0]->uuid);
	memcpy(&bits, &value, sizeof(bits));
	to = whole ? put_number(to, EVENT_COUNTER, (uint64_t)(int64_t)value)
		   : put_fixed(to, EVENT_COUNTER_REAL, bits);
	close_message(event, to);
	end_packet(timeline, room, to);
}

/* ---- the end ---- */

static void add_mark(struct timeline *timeline, struct timeline_track *track, const char *name,
		     const struct timeline_value *values, uint32_t count)
{
	struct timeline_slice mark = {
		.name = timeline_intern(timeline, name),
		.category = timeline_intern(timeline, "ledger"),
		.begin_ns = timeline->latest_ns,
		.end_ns = timeline->latest_ns,
		.is_mark = true,
		.values = values,
		.value_count = count,
	};

	for (uint32_t i = 0; i < count; i++)
		if (!values[i].key)
			return;
	if (mark.name && mark.category)
		timeline_slice(timeline, track, &mark);
}

static struct timeline_value number(struct timeline *timeline, const char *key, uint64_t value)
{
	return (struct timeline_value){
		.key = timeline_intern(timeline, key), .kind = TIMELINE_UINT, .number = value};
}

static struct timeline_value text(struct timeline *timeline, const char *key, const char *value)
{
	return (struct timeline_value){.key = timeline_intern(timeline, key),
				       .kind = TIMELINE_TEXT,
				       .text = value,
				       .length = (uint32_t)strlen(value)};
}

/* The ledger, how the command ended, and when recording was paused, as marks on a track of its own at the end. */
static void end(struct timeline *timeline)
{
	struct timeline_process *p =
		timeline_process(timeline, 0, true, 0, "rtl: what was recorded", 1 << 20);
	struct timeline_track *track =
		p ? timeline_add(timeline, p, TIMELINE_HOST, 0, "ledger") : NULL;

	for (size_t i = 0; track && i < timeline->ledger_count; i++) {
		const struct timeline_ledger *l = &timeline->ledgers[i];
		const struct timeline_value values[] = {
			number(timeline, "published", l->counts.published),
			number(timeline, "delivered", l->counts.delivered),
			number(timeline, "discarded", l->counts.discarded),
			number(timeline, "abandoned", l->counts.abandoned),
			number(timeline, "missed", l->counts.missed),
			number(timeline, "left out", l->counts.left_out),
		};

		add_mark(timeline, track, l->stream, values, l->counts.left_out ? 6 : 5);
	}
	for (size_t i = 0; track && i < timeline->loss_count; i++) {
		const struct timeline_loss *l = &timeline->losses[i];
		const struct timeline_value values[] = {
			text(timeline, "stream", l->stream),
			number(timeline, "count", l->count),
		};

		add_mark(timeline, track, l->cause, values, 2);
	}
	if (track && timeline->ended)
		add_mark(timeline, track, timeline->ended, NULL, 0);
	if (track && timeline->pauses) {
		const struct timeline_value ns = text(timeline, "ns", timeline->pauses);

		add_mark(timeline, track, "recording was paused", &ns, 1);
	}
}

const struct timeline_writer timeline_pftrace = {
	.strict = true,
	.counts_flows = true,
	.mark = mark,
	.begin = begin,
	.process = process,
	.lane = lane,
	.slice = slice,
	.counter = counter,
	.end = end,
};
