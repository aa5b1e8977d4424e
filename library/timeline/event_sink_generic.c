/* SPDX-License-Identifier: MIT */
/* event_sink_generic.c: streams of which only the description is known. What has a begin and an end is a slice of its
 * thread, or of the GPU that it names. It is an event with both times in it, or a pair of events with the same
 * instance, whose begin is kept until the end comes. All else is a mark. Fields are values. */
#include <rtl/args.h>

#include "event_sink.h"

#define NO_FIELD UINT32_MAX

/* How events of a type are shown. */
enum how { AS_MARK, AS_SLICE, AS_BEGIN, AS_END };

struct type {
	struct type *next;
	const struct rtl_type_info *info;
	enum how how;
	uint32_t begin_ns, end_ns; /* offsets in the payload */
	const struct rtl_field *gpu, *queue;
	const struct rtl_field *string, *text;
	struct name *name;
	/* of the fields; and of those of an end that its begin has as well */
	struct name **keys, **end_keys;
};

/* A begin that waits for its end. */
struct opened {
	struct type *type;
	struct stream *stream;
	const struct rtl_process *process;
	struct rtl_event event; /* with the payload below */
	uint64_t payload[];
};

/* ---- types ---- */

/* Whether events of that type begin something that those of the next type end. */
static bool begins_something(uint16_t type)
{
	for (size_t i = 0; i < PAIRING_KINDS; i++)
		if (pairing_kinds[i].begin == type)
			return true;
	return false;
}

static enum how how_to_show(const struct rtl_stream_info *stream, const struct rtl_type_info *info)
{
	const uint16_t type = info->type;

	if (begins_something(type) && rtl_stream_find_type(stream, (uint16_t)(type + 1)))
		return AS_BEGIN;
	if (pairing_has_times(info))
		return AS_SLICE;
	if (type && begins_something((uint16_t)(type - 1)) &&
	    rtl_stream_find_type(stream, (uint16_t)(type - 1)))
		return AS_END;
	return AS_MARK;
}

static struct type *new_type(struct stream *stream, const struct rtl_type_info *info)
{
	struct event_sink *sink = stream->sink;
	const uint32_t count = info->field_count;
	struct type *type = timeline_alloc(&sink->timeline, sizeof(*type));
	char name[256];

	if (type)
		type->keys = timeline_alloc(&sink->timeline,
					    (2 * (size_t)count + 1) * sizeof(struct name *));
	if (!type || !type->keys) {
		free(type);
		return NULL;
	}
	type->info = info;
	type->how = how_to_show(stream->info, info);
	if (pairing_has_times(info)) {
		type->begin_ns = pairing_field(info, RTL_KIND_TIME, 8, "begin_ns")->offset;
		type->end_ns = pairing_field(info, RTL_KIND_TIME, 8, "end_ns")->offset;
	}
	type->string = pairing_field(info, RTL_KIND_STRING, 8, NULL);
	type->text = pairing_field(info, RTL_KIND_TEXT, 8, NULL);
	type->gpu = pairing_field(info, RTL_KIND_UINT, 4, "gpu");
	type->queue = pairing_field(info, RTL_KIND_UINT, 4, "queue");
	type->name = timeline_intern(&sink->timeline, info->name ? info->name : "event");
	type->end_keys = type->keys + count;
	for (uint32_t i = 0; i < count; i++) {
		const char *field = rtl_type_field(info, i)->name;
		/* what readers of Kineto's names take for theirs */
		const bool is_taken = sink->work.is_kineto &&
				      (!strcmp(field, "stream") || !strcmp(field, "correlation"));

		snprintf(name, sizeof(name), "%s%s", field, is_taken ? "_" : "");
		type->keys[i] = timeline_intern(&sink->timeline, name);
		snprintf(name, sizeof(name), "end_%s", field);
		type->end_keys[i] = timeline_intern(&sink->timeline, name);
	}
	type->next = stream->types;
	stream->types = type;
	return type;
}

static struct type *find_type(struct stream *stream, const struct rtl_event *event)
{
	const struct rtl_type_info *info = event->type_info;

	if (stream->last_type && stream->last_type->info == info)
		return stream->last_type;
	stream->last_type = stream->types;
	while (stream->last_type && stream->last_type->info != info)
		stream->last_type = stream->last_type->next;
	if (!stream->last_type)
		stream->last_type = new_type(stream, info);
	if (!stream->category)
		stream->category = timeline_intern(&stream->sink->timeline, stream->info->name);
	return stream->category && !stream->sink->timeline.out_of_memory ? stream->last_type : NULL;
}

/* ---- names and values ---- */

static uint64_t read_uint(const struct rtl_event *event, uint32_t offset, uint32_t size)
{
	return host_number((const char *)event->payload + offset, size);
}

static struct rtl_text read_text(const struct rtl_event *event, const struct rtl_field *field)
{
	struct rtl_text text = {0, 0};

	if (field && (uint64_t)field->offset + sizeof(text) <= event->payload_size)
		memcpy(&text, (const char *)event->payload + field->offset, sizeof(text));
	return text;
}

/* What it is called: as its tracepoint is, by a string or text in it, or as its type. */
static void set_name(struct event_sink *sink, const struct type *type,
		     const struct rtl_event *event, struct timeline_slice *slice)
{
	const struct rtl_tracepoint *tp =
		event->uid ? sink->host->tracepoint(sink->host, event->process, event->uid) : NULL;
	const struct rtl_text text = read_text(event, type->text);

	slice->name = NULL;
	if (tp && *tp->name)
		slice->name = timeline_intern(&sink->timeline, tp->name);
	else if (type->string)
		slice->name = event_lookup_string(sink, event->process,
						  read_uint(event, type->string->offset, 8));
	if (!slice->name && text.length) {
		slice->text = (const char *)event->payload + text.offset;
		slice->text_length = text.length;
	} else if (!slice->name) {
		slice->name = type->name;
	}
}

static void set_room(struct timeline_value *value, struct room *room, size_t length)
{
	value->kind = TIMELINE_TEXT;
	value->text = room->text + room->used;
	value->length = (uint32_t)length;
	room->used += length;
}

static void set_bytes(struct timeline_value *value, struct room *room,
		      const struct rtl_event *event, const struct rtl_field *field)
{
	const unsigned char *at = (const unsigned char *)event->payload + field->offset;
	size_t length = 0;

	for (uint32_t i = 0; i < field->size && room->used + length + 3 < sizeof(room->text); i++)
		length += (size_t)sprintf(room->text + room->used + length, "%02x", at[i]);
	set_room(value, room, length);
}

static void set_args(struct event_sink *sink, struct timeline_value *value, struct room *room,
		     const struct rtl_event *event, const struct rtl_field *field)
{
	const size_t left = sizeof(room->text) - room->used;
	const size_t length =
		rtl_args_text(sink->host, event, field, room->text + room->used, left);

	set_room(value, room, length < left ? length : left - 1);
}

/* The host has seen to it that a field is of a size of its kind. */
static void set_value(struct event_sink *sink, struct timeline_value *value, struct room *room,
		      const struct rtl_event *event, const struct rtl_field *field)
{
	const unsigned char *at = (const unsigned char *)event->payload + field->offset;
	struct rtl_value read = {.kind = field->kind};
	struct rtl_text text;

	if (field->size <= sizeof(read.number))
		rtl_args_number(&read, at, field->size);
	value->number = read.number;
	switch (field->kind) {
	case RTL_KIND_UINT:
	case RTL_KIND_TIME:
		return;
	case RTL_KIND_INT:
		value->kind = TIMELINE_INT;
		value->integer = read.integer;
		return;
	case RTL_KIND_BOOL:
		value->kind = TIMELINE_BOOL;
		return;
	case RTL_KIND_FLOAT:
		value->kind = TIMELINE_REAL;
		value->real = read.real;
		return;
	case RTL_KIND_ADDRESS:
	case RTL_KIND_UID:
		value->kind = TIMELINE_HEX;
		return;
	case RTL_KIND_STRING:
		value->name = event_lookup_string(sink, event->process, read.number);
		value->kind = value->name ? TIMELINE_NAME : TIMELINE_TEXT;
		if (!value->name)
			value->text = "", value->length = 0;
		return;
	case RTL_KIND_TEXT:
		text = read_text(event, field);
		value->kind = TIMELINE_TEXT;
		value->text = (const char *)event->payload + text.offset;
		value->length = text.length;
		return;
	case RTL_KIND_ARGS:
	case RTL_KIND_VALUES:
		set_args(sink, value, room, event, field);
		return;
	default:
		set_bytes(value, room, event, field);
	}
}

/* Of an end whose begin is there: values that the begin has as well are told once. */
static void add_values(struct event_sink *sink, struct room *room, const struct type *type,
		       const struct rtl_event *event, const struct rtl_event *told)
{
	for (uint32_t i = 0; i < type->info->field_count; i++) {
		const struct rtl_field *field = rtl_type_field(type->info, i);
		const uint64_t end = (uint64_t)field->offset + field->size;

		if (end > event->payload_size)
			continue;
		if (told && end <= told->payload_size && field->kind != RTL_KIND_ARGS &&
		    field->kind != RTL_KIND_VALUES && field->kind != RTL_KIND_TEXT &&
		    memcmp((const char *)told->payload + field->offset,
			   (const char *)event->payload + field->offset, field->size) == 0)
			continue;
		if (told && field->kind == RTL_KIND_TEXT && read_text(event, field).length == 0)
			continue;
		set_value(sink,
			  work_value(&sink->work, told ? type->end_keys[i] : type->keys[i],
				     TIMELINE_UINT),
			  room, event, field);
	}
}

/* ---- events ---- */

/* gpu NULL: of a thread. */
static void show(struct stream *stream, const struct type *type, const struct rtl_event *event,
		 struct timeline_slice *slice, const uint32_t *gpu, const struct opened *opened)
{
	struct event_sink *sink = stream->sink;
	struct work *work = &sink->work;
	struct work_process *process = event_lookup_process(sink, event->process);
	const uint32_t queue =
		gpu && type->queue ? (uint32_t)read_uint(event, type->queue->offset, 4) : 0;
	struct work_gpu *node;

	set_name(sink, opened ? opened->type : type, opened ? &opened->event : event, slice);
	slice->category = stream->category;
	if (!process || !work_selects(work, gpu, slice))
		return;
	sink->room.used = 0;
	work_begin_values(work);
	if (event->correlation && !work->is_kineto)
		work_add(work, WORK_CORR_ID, TIMELINE_UINT, event->correlation);
	if (opened)
		add_values(sink, &sink->room, opened->type, &opened->event, NULL);
	if (!opened || opened->event.payload != event->payload)
		add_values(sink, &sink->room, type, event, opened ? &opened->event : NULL);
	if (!gpu)
		work_slice(work,
			   work_thread(work, process, opened ? opened->event.tid : event->tid),
			   slice);
	else if ((node = work_gpu(work, process, *gpu, NULL)))
		work_slice(work,
			   work_gpu_track(work, process, node, TIMELINE_GPU_OTHER, queue,
					  slice->category->text),
			   slice);
}

static void show_mark(struct stream *stream, struct type *type, const struct rtl_event *event)
{
	show(stream, type, event,
	     &(struct timeline_slice){
		     .is_mark = true, .begin_ns = event->time_ns, .end_ns = event->time_ns},
	     NULL, NULL);
}

static void show_slice(struct stream *stream, struct type *type, const struct rtl_event *event)
{
	struct timeline_slice slice = {.begin_ns = read_uint(event, type->begin_ns, 8),
				       .end_ns = read_uint(event, type->end_ns, 8)};
	const uint32_t gpu = type->gpu ? (uint32_t)read_uint(event, type->gpu->offset, 4) : 0;

	if (!slice.end_ns && event->type & 0x80) /* it had not ended when the process did */
		slice.end_ns = event->time_ns;
	if (!slice.begin_ns || !slice.end_ns)
		show_mark(stream, type, event);
	else /* times of a GPU's say nothing of the thread */
		show(stream, type, event, &slice, gpu ? &gpu : NULL, NULL);
}

/* Keeps it; false: it cannot. */
static bool keep_begin(struct stream *stream, struct type *type, const struct rtl_event *event)
{
	struct opened *opened = malloc(sizeof(*opened) + event->payload_size + 8);
	struct pairing_begin begin = {
		.owner = stream,
		.instance = event->instance,
		.time_ns = event->time_ns,
		.process = event->process->number,
		.has_group = true,
	};

	begin.group = opened;
	if (!opened || !pairing_put(&stream->sink->pairing, &begin)) {
		free(opened);
		return false;
	}
	*opened = (struct opened){.type = type, .stream = stream, .process = event->process};
	memcpy(&opened->event, event,
	       event->struct_size < sizeof(*event) ? event->struct_size : sizeof(*event));
	memcpy(opened->payload, event->payload, event->payload_size);
	opened->event.payload = opened->payload;
	return true;
}

static void show_pair(struct opened *opened, struct type *type, const struct rtl_event *event,
		      uint64_t end_ns)
{
	show(opened->stream, type, event,
	     &(struct timeline_slice){.begin_ns = opened->event.time_ns, .end_ns = end_ns}, NULL,
	     opened);
	free(opened);
}

static void end_pair(struct stream *stream, struct type *type, const struct rtl_event *event)
{
	struct pairing_begin begin = {
		.owner = stream,
		.instance = event->instance,
		.process = event->process->number,
	};

	if (pairing_take(&stream->sink->pairing, &begin))
		show_pair(begin.group, type, event, event->time_ns);
	else
		show_mark(stream, type, event);
}

void generic_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;

	stream->sink->pending = true;
	for (size_t i = 0; i < count; i++) {
		struct type *type = find_type(stream, events[i]);

		if (!type)
			return;
		if (type->how == AS_SLICE)
			show_slice(stream, type, events[i]);
		else if (type->how == AS_END)
			end_pair(stream, type, events[i]);
		else if (type->how == AS_MARK || !keep_begin(stream, type, events[i]))
			show_mark(stream, type, events[i]);
	}
}

/* ---- the end ---- */

void generic_unfinished(struct event_sink *sink, const struct rtl_process *process)
{
	struct pairing *pairing = &sink->pairing;

	for (size_t i = 0; i < pairing->hash.capacity;) {
		const struct pairing_begin *at = pairing_at(pairing, i);
		struct opened *opened = at ? at->group : NULL;
		struct pairing_begin begin;

		if (!opened || (process && opened->process != process)) {
			i++;
			continue;
		}
		begin = *at;
		pairing_take(pairing, &begin); /* another one may take its place */
		show_pair(opened, opened->type, &opened->event,
			  sink->timeline.latest_ns > opened->event.time_ns
				  ? sink->timeline.latest_ns
				  : opened->event.time_ns);
	}
}

int generic_subscribe(struct stream *stream)
{
	const struct rtl_host *host = stream->sink->host;
	int result = 0;

	for (uint32_t i = 0; i < stream->info->type_count && result == 0; i++) {
		const struct rtl_type_info *info = rtl_stream_type(stream->info, i);

		/* not if its end says all that it says */
		if (!begins_something(info->type) ||
		    !pairing_has_times(
			    rtl_stream_find_type(stream->info, (uint16_t)(info->type + 1))))
			result = host->subscribe(host, stream->info, info->type, RTL_BUFFERED,
						 generic_events, stream, NULL);
	}
	return result;
}

void generic_fini(struct event_sink *sink)
{
	for (size_t i = 0; i < sink->pairing.hash.capacity; i++)
		if (pairing_at(&sink->pairing, i))
			free(pairing_at(&sink->pairing, i)->group);
	pairing_fini(&sink->pairing);
	for (struct stream *s = sink->streams; s; s = s->next) {
		for (struct type *t = s->types; t; t = t->next)
			free(t->keys);
		list_free(s->types);
	}
}
