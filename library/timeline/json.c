/* SPDX-License-Identifier: MIT */
/* json.c: Chrome's trace events, as Perfetto and TraceLens read them. One object, closed by the file's tail; times are
 * microseconds since the base, so that a double has each ns. Slices are complete events (X); a flow is a number at the
 * slices themselves (bind_id), so that it is told without another event and bound exactly. */
#include <inttypes.h>
#include <math.h>

#include "host.h"
#include "json.h"
#include "put.h"
#include "timeline.h"

const char put_pairs[200] = "000102030405060708091011121314151617181920212223242526272829"
			    "303132333435363738394041424344454647484950515253545556575859"
			    "606162636465666768697071727374757677787980818283848586878889"
			    "90919293949596979899";

/* Room for what each event has. */
#define EVENT_ROOM (512u + 4 * NAME_BLOCK)

static size_t mark(const char *session, char text[TIMELINE_MARK_SIZE])
{
	char *to = PUT(text, "{\"producer\":\"rtl\"");

	if (session) {
		to = PUT(to, ",\"session\":\"");
		to = json_escape(to, session, strnlen(session, 64));
		*to++ = '"';
	}
	return (size_t)(to - text);
}

/* Events begin with a comma and a line's end; the first line of the file is one that says nothing to readers. */
static void begin(struct timeline *timeline, bool again)
{
	char *begin, *to;

	if (again || !(begin = file_room(&timeline->file, 1024)))
		return;
	to = begin + mark(timeline->session, begin);
	if (timeline->has_rank) /* a reader looks for the blank */
		to += sprintf(to,
			      ",\"schemaVersion\":1,\"distributedInfo\":{\"rank\": %" PRIu32 "}",
			      timeline->rank);
	to += sprintf(to,
		      ",\"version\":\"" HOST_RTL_VERSION "\",\"displayTimeUnit\":\"ns\","
		      "\"baseTimeNanoseconds\":%" PRIu64 ",\"traceEvents\":[\n"
		      "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"rtl\",\"args\":{}}",
		      timeline->base_ns);
	file_take(&timeline->file, (size_t)(to - begin));
}

/* ---- names ---- */

/* {"ph":"M","pid":..,"tid":..,"name":"WHAT","args":{"KEY":VALUE}} */
static void metadata(struct timeline *timeline, uint32_t pid, uint32_t tid, const char *what,
		     const char *name, int64_t number)
{
	const size_t length = name ? strlen(name) : 0;
	char *begin = file_room(&timeline->file, EVENT_ROOM + JSON_ESCAPED_MAX * length), *to;

	if (!begin)
		return;
	to = begin + sprintf(begin,
			     ",\n{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
			     ",\"name\":\"%s\",\"args\":{",
			     pid, tid, what);
	if (name) {
		to = PUT(to, "\"name\":\"");
		to = json_escape(to, name, length);
		to = PUT(to, "\"}}");
	} else {
		to += sprintf(to, "\"sort_index\":%" PRId64 "}}", number);
	}
	file_take(&timeline->file, (size_t)(to - begin));
}

static void process(struct timeline *timeline, const struct timeline_process *p)
{
	metadata(timeline, p->pid, 0, "process_name", p->name, 0);
	metadata(timeline, p->pid, 0, "process_sort_index", NULL, p->sort);
}

/* By kind, then by number, then by lane. */
static int64_t sort_of(const struct timeline_track *track, uint32_t lane)
{
	const uint64_t low = track->number & 0xffff, high = track->number >> 32 & 0xff;

	if (track->kind == TIMELINE_THREAD || track->kind == TIMELINE_STARTED)
		return (int64_t)(track->number % 4194304 * 64 +
				 (track->kind == TIMELINE_STARTED ? 32 : 0) +
				 (lane < 31 ? lane : 31));
	return (int64_t)((uint64_t)(track->kind - TIMELINE_HOST) << 29 | high << 21 |
			 (low < 4095 ? low : 4095) << 9 >> 1 | (lane < 255 ? lane : 255));
}

static void lane(struct timeline *timeline, const struct timeline_track *track, uint32_t index)
{
	const uint32_t pid = track->process->pid, tid = track->lanes[index]->tid;
	char *name = NULL;

	if (track->kind == TIMELINE_COUNTER)
		return; /* its events have its name */
	if (index && asprintf(&name, "%s (%" PRIu32 ")", track->name->text, index + 1) < 0)
		name = NULL;
	metadata(timeline, pid, tid, "thread_name", name ? name : track->name->text, 0);
	metadata(timeline, pid, tid, "thread_sort_index", NULL, sort_of(track, index));
	free(name);
}

/* ---- events ---- */

static char *put_time(char *to, const struct timeline *timeline, uint64_t ns)
{
	if (__builtin_expect(ns < timeline->base_ns, 0)) {
		*to++ = '-';
		return put_us(to, timeline->base_ns - ns);
	}
	return put_us(to, ns - timeline->base_ns);
}

static char *put_escaped(char *to, const char *text, size_t length)
{
	*to++ = '"';
	to = json_escape(to, text, length);
	*to++ = '"';
	return to;
}

static char *put_value(char *to, const struct timeline_value *value)
{
	switch (value->kind) {
	case TIMELINE_INT:
		return put_int(to, value->integer);
	case TIMELINE_HEX:
		*to++ = '"';
		to = put_hex(to, value->number);
		*to++ = '"';
		return to;
	case TIMELINE_REAL:
		/* JSON has no other numbers */
		return to + (isfinite(value->real) ? sprintf(to, "%.17g", value->real)
						   : sprintf(to, "\"%g\"", value->real));
	case TIMELINE_BOOL:
		return value->number ? PUT(to, "true") : PUT(to, "false");
	case TIMELINE_TEXT:
		return put_escaped(to, value->text, value->length);
	case TIMELINE_NAME:
		return put_name(to, value->name);
	default:
		return put_uint(to, value->number);
	}
}

static size_t room_for(const struct timeline_slice *slice)
{
	size_t room =
		EVENT_ROOM + slice->category->json_length +
		(slice->name ? slice->name->json_length : JSON_ESCAPED_MAX * slice->text_length);

	for (uint32_t i = 0; i < slice->value_count; i++) {
		const struct timeline_value *value = &slice->values[i];

		room += value->key->json_length + 2 * NAME_BLOCK;
		if (value->kind == TIMELINE_TEXT)
			room += JSON_ESCAPED_MAX * (size_t)value->length;
		else if (value->kind == TIMELINE_NAME)
			room += value->name->json_length;
	}
	return room;
}

static char *put_values(char *to, const struct timeline_slice *slice)
{
	to = PUT(to, ",\"args\":{");
	for (uint32_t i = 0; i < slice->value_count; i++) {
		if (i)
			*to++ = ',';
		to = put_name(to, slice->values[i].key);
		*to++ = ':';
		to = put_value(to, &slice->values[i]);
	}
	*to++ = '}';
	return to;
}

static void slice(struct timeline *timeline, const struct timeline_track *track,
		  const struct timeline_lane *lane_, const struct timeline_slice *s)
{
	char *begin = file_room(&timeline->file, room_for(s)), *to;

	if (!begin)
		return;
	to = s->is_mark ? PUT(begin, ",\n{\"ph\":\"i\",\"s\":\"t\",\"pid\":")
			: PUT(begin, ",\n{\"ph\":\"X\",\"pid\":");
	to = put_uint(to, track->process->pid);
	to = PUT(to, ",\"tid\":");
	to = put_uint(to, lane_->tid);
	to = PUT(to, ",\"ts\":");
	to = put_time(to, timeline, s->begin_ns);
	if (!s->is_mark) {
		to = PUT(to, ",\"dur\":");
		to = put_us(to, s->end_ns - s->begin_ns);
	}
	to = PUT(to, ",\"cat\":");
	to = put_name(to, s->category);
	to = PUT(to, ",\"name\":");
	to = s->name ? put_name(to, s->name) : put_escaped(to, s->text, s->text_length);
	if (s->flow != TIMELINE_NO_FLOW) {
		to = PUT(to, ",\"bind_id\":\"");
		to = put_hex(to, s->flow_id);
		to = s->flow == TIMELINE_FLOW_OUT ? PUT(to, "\",\"flow_out\":true")
						  : PUT(to, "\",\"flow_in\":true");
	}
	if (s->value_count)
		to = put_values(to, s);
	*to++ = '}';
	file_take(&timeline->file, (size_t)(to - begin));
}

static void counter(struct timeline *timeline, const struct timeline_track *track, uint64_t time_ns,
		    double value)
{
	char *begin = file_room(&timeline->file,
				EVENT_ROOM + track->name->json_length + track->unit->json_length),
	     *to;

	if (!begin)
		return;
	to = PUT(begin, ",\n{\"ph\":\"C\",\"pid\":");
	to = put_uint(to, track->process->pid);
	to = PUT(to, ",\"ts\":");
	to = put_time(to, timeline, time_ns);
	to = PUT(to, ",\"name\":");
	to = put_name(to, track->name);
	to = PUT(to, ",\"args\":{");
	to = put_name(to, track->unit);
	*to++ = ':';
	if (put_is_whole(value))
		to = put_int(to, (int64_t)value);
	else if (isfinite(value))
		to += snprintf(to, 32, "%.9g", value);
	else
		to = PUT(to, "null");
	to = PUT(to, "}}");
	file_take(&timeline->file, (size_t)(to - begin));
}

/* ---- the end ---- */

static char *tail(struct timeline *timeline, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);
	struct json json = {.file = out, .depth = 1}; /* in the file's object */

	if (!out) {
		timeline->out_of_memory = true;
		return NULL;
	}
	fputs("\n],\n", out);
	json_print(&json,
		   "metadata:{rtl:{version:%s clock:%s base_ns:%lu base_unix_ns:%ld complete:%i"
		   " ?interrupted:%s ended:%s pauses:%s ledger:[",
		   HOST_RTL_VERSION, "CLOCK_BOOTTIME", timeline->base_ns, timeline->unix_ns,
		   !timeline_error(timeline), timeline->interrupted, timeline->ended,
		   timeline->pauses);
	for (size_t i = 0; i < timeline->ledger_count; i++) {
		const struct rtl_ledger *l = &timeline->ledgers[i].counts;

		json_print(&json,
			   "{stream:%s published:%lu delivered:%lu discarded:%lu abandoned:%lu"
			   " missed:%lu ?left_out:%lu}",
			   timeline->ledgers[i].stream, l->published, l->delivered, l->discarded,
			   l->abandoned, l->missed, l->left_out);
	}
	json_print(&json, "] losses:[");
	for (size_t i = 0; i < timeline->loss_count; i++)
		json_print(&json, "{stream:%s cause:%s count:%lu}", timeline->losses[i].stream,
			   timeline->losses[i].cause, timeline->losses[i].count);
	while (json.depth)
		json_end(&json);
	timeline->out_of_memory |= fclose(out) != 0;
	return text;
}

const struct timeline_writer timeline_json = {
	.mark = mark,
	.begin = begin,
	.process = process,
	.lane = lane,
	.slice = slice,
	.counter = counter,
	.tail = tail,
};
