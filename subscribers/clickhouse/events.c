/* SPDX-License-Identifier: MIT */
/* events.c: events, as their streams describe them. Each type that has events gets a table, rtl_e_<stream>_<type>, with
 * a column for each field; those of rtl's own streams are always there, for the views over them (views.sql). Of names
 * only [a-z0-9_] is left. Beside a field `gpu` stands the GPU's uuid.
 *
 * If the server has a table of that name without these columns, because the stream has another version there, the
 * table's name gets a number that stands for its columns. */
#include <ctype.h>

#include <rtl/args.h>

#include "events/events.h"
#include "sub.h"

#define NAME_MOST 96

static const struct column_info before[] = {
	{"run", "LowCardinality(String)", "the job, the same in all of its ranks", true},
	{"day", "Date", "when it began", false},
	{"rank", "Int32", "as the launcher tells; -1: none", false},
	{"host", "LowCardinality(String)", "name of the machine", true},
	{"pid", "UInt32", "number of the process", false},
	{"spool", "UInt64", "the process in this run, as in rtl_process", false},
	{"ring", "UInt32", "with the position: where the event stood", false},
	{"position", "UInt64", "in a ring of a spool each event has another one", false},
	{"time_ns", "UInt64", "when it was published", false},
	{"tid", "UInt32", "thread", false},
	{"tracepoint", "LowCardinality(String)", "its name", true},
	{"uid", "UInt64", "the tracepoint's universal id", false},
	{"parent_uid", "UInt64", "that of what it happened within", false},
	{"instance", "UInt64", "the same in a begin and its end", false},
	{"correlation", "UInt64", "the same in a call and what it caused; 0: not known", false},
};
#define BEFORE ((uint32_t)(sizeof(before) / sizeof(before[0])))

static const struct column_info gpu_uuid = {"gpu_uuid", "LowCardinality(String)",
					    "the same GPU in every process; empty: not known",
					    true};

/* A table: of a type, or of several that are described alike. */
struct layout {
	struct layout *next;
	struct store_table *table;
	struct table_info info;
	uint32_t gpu; /* place of the field, and 1; 0: there is none */
	char name[NAME_MOST + 16], other_name[NAME_MOST + 32];
	uint32_t fields;
	struct column_info columns[];
};

struct type {
	struct type *next;
	const struct rtl_type_info *info;
	struct layout *layout;
};

/* ---- tables ---- */

static void put_plain(char *to, size_t size, const char *from)
{
	size_t at = strlen(to);

	for (; *from && at + 1 < size; from++)
		to[at++] =
			isalnum((unsigned char)*from) ? (char)tolower((unsigned char)*from) : '_';
	to[at] = '\0';
}

static bool is_taken(const struct layout *layout, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(layout->columns[i].name, name))
			return true;
	return !strcmp(name, gpu_uuid.name);
}

/* As what a field is stored; NULL: as a text. */
static const char *number_type(const struct rtl_field *f)
{
	static const char *const unsigneds[] = {"UInt8", "UInt16", "UInt32", "UInt64"};
	static const char *const signeds[] = {"Int8", "Int16", "Int32", "Int64"};
	const bool is_number = f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;
	const int log2_size = __builtin_ctz(f->size | 16);

	switch (f->kind) {
	case RTL_KIND_UINT:
	case RTL_KIND_BOOL:
	case RTL_KIND_ADDRESS:
	case RTL_KIND_TIME:
	case RTL_KIND_UID:
		return is_number ? unsigneds[log2_size] : NULL;
	case RTL_KIND_INT:
		return is_number ? signeds[log2_size] : NULL;
	case RTL_KIND_FLOAT:
		return f->size == 8 ? "Float64" : f->size == 4 ? "Float32" : NULL;
	default:
		return NULL;
	}
}

/* A text as long as the instance; "" where there is no memory. */
static const char *keep(struct sub *sub, const char *text)
{
	return name_text(&sub->names, lookup_name(sub, text));
}

static void describe_field(struct sub *sub, struct layout *layout, uint32_t n,
			   const struct rtl_field *f)
{
	const bool is_name = f->kind == RTL_KIND_STRING && f->size == 8;
	const char *number = number_type(f), *unit = f->unit ? f->unit : "";
	char name[NAME_MOST + 8] = "", doc[4096];

	put_plain(name, NAME_MOST, f->name && *f->name ? f->name : "field");
	for (unsigned twins = 2; is_taken(layout, BEFORE + n, name); twins++) {
		*name = '\0';
		put_plain(name, NAME_MOST, f->name ? f->name : "field");
		snprintf(name + strlen(name), 8, "_%u", twins);
	}
	snprintf(doc, sizeof(doc), "%s%s%s", f->description ? f->description : "",
		 *unit ? ", " : "", unit);
	layout->columns[BEFORE + n] = (struct column_info){
		.name = keep(sub, name),
		.type = number    ? number
			: is_name ? "LowCardinality(String)"
				  : "String",
		.doc = keep(sub, doc),
		.is_name = is_name,
	};
	if (!strcmp(name, "gpu") && number && f->size == 4)
		layout->gpu = n + 1;
}

/* Stands for the columns. */
static uint32_t hash_columns(const struct table_info *info)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < info->count; i++) {
		hash = hash_bytes(hash, info->columns[i].name, strlen(info->columns[i].name));
		hash = hash_bytes(hash, info->columns[i].type, strlen(info->columns[i].type));
	}
	return (uint32_t)hash;
}

static struct layout *describe(struct sub *sub, const struct rtl_stream_info *stream,
			       const struct rtl_type_info *info)
{
	const uint32_t fields = info->field_count;
	struct layout *layout =
		calloc(1, sizeof(*layout) + (BEFORE + fields + 1) * sizeof(struct column_info));

	if (!layout)
		return NULL;
	layout->fields = fields;
	memcpy(layout->columns, before, sizeof(before));
	for (uint32_t i = 0; i < fields; i++)
		describe_field(sub, layout, i, rtl_type_field(info, i));
	layout->columns[BEFORE + fields] = gpu_uuid;
	strcpy(layout->name, EVENT_TABLES);
	put_plain(layout->name, NAME_MOST, stream->name);
	put_plain(layout->name, NAME_MOST, "_");
	put_plain(layout->name, NAME_MOST, info->name ? info->name : "event");
	layout->info = (struct table_info){
		.name = layout->name,
		.columns = layout->columns,
		.count = BEFORE + fields + (layout->gpu != 0),
	};
	snprintf(layout->other_name, sizeof(layout->other_name), "%s_%08x", layout->name,
		 hash_columns(&layout->info));
	return layout;
}

/* The one of that type, which stays as long as the instance. NULL: no memory. */
static struct layout *layout_of(struct sub *sub, const struct rtl_stream_info *stream,
				const struct rtl_type_info *info)
{
	struct layout *layout = describe(sub, stream, info), *found = sub->layouts;

	while (layout && found && strcmp(found->other_name, layout->other_name) != 0)
		found = found->next;
	if (layout && !found) {
		layout->table = store_add(&sub->store, &layout->info, layout->other_name);
		if (layout->table) {
			layout->next = sub->layouts;
			return sub->layouts = layout;
		}
	}
	free(layout);
	sub->lost_memory |= !found;
	return found;
}

bool events_init(struct sub *sub)
{
	static const struct rtl_stream_info *const known[] = {EVENTS_STREAMS};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		for (uint32_t k = 0; k < known[i]->type_count; k++) {
			const struct rtl_type_info *type = rtl_stream_type(known[i], k);

			if ((!type->repeated_by || type->repeated_by & RTL_IN_DEBUG) &&
			    !layout_of(sub, known[i], type))
				return false;
		}
	return true;
}

static struct type *new_type(struct stream *stream, const struct rtl_type_info *info)
{
	struct sub *sub = stream->sub;
	struct type *type = calloc(1, sizeof(*type));

	if (!type || !(type->layout = layout_of(sub, stream->info, info))) {
		sub->lost_memory = true;
		free(type);
		return NULL;
	}
	type->info = info;
	type->next = stream->types;
	stream->types = type;
	/* what a recovery finds there goes by the name that the table has */
	if ((sub->recovers || sub->replays) && run_await_server(sub) != HTTP_DONE)
		sub->unprepared = true;
	return type;
}

static struct type *find_type(struct stream *stream, const struct rtl_type_info *info)
{
	struct type *type = stream->types;

	while (type && type->info != info)
		type = type->next;
	return type ? type : new_type(stream, info);
}

/* ---- events ---- */

static void put_bytes(struct block *block, uint32_t column, const unsigned char *at, uint32_t size)
{
	static const char digits[] = "0123456789abcdef";
	char text[1024];
	size_t length = 0;

	for (uint32_t i = 0; i < size && length + 2 <= sizeof(text); i++) {
		text[length++] = digits[at[i] >> 4];
		text[length++] = digits[at[i] & 15];
	}
	block_put_text(block, column, text, length);
}

static void put_text(struct sub *sub, struct block *block, uint32_t column,
		     const struct rtl_event *event, const struct rtl_field *f)
{
	const char *at = (const char *)event->payload + f->offset;
	char line[RTL_PAYLOAD_MAX];
	struct rtl_text text;
	size_t length;

	switch (f->kind) {
	case RTL_KIND_TEXT: /* the host has seen to it that it lies in the payload */
		memcpy(&text, at, sizeof(text));
		at = (const char *)event->payload + text.offset;
		block_put_text(block, column, at, strnlen(at, text.length));
		return;
	case RTL_KIND_ARGS:
	case RTL_KIND_VALUES:
		length = rtl_args_text(sub->host, event, f, line, sizeof(line));
		block_put_text(block, column, line,
			       length < sizeof(line) ? length : sizeof(line) - 1);
		return;
	default:
		put_bytes(block, column, (const unsigned char *)at, f->size);
	}
}

static void put_u32(struct block *block, uint32_t column, uint32_t value)
{
	block_put(block, column, &value, sizeof(value));
}

static void put_u64(struct block *block, uint32_t column, uint64_t value)
{
	block_put(block, column, &value, sizeof(value));
}

static void put_field(struct sub *sub, struct process *process, struct block *block,
		      uint32_t column, const struct rtl_event *event, const struct rtl_field *f)
{
	const char *at = (const char *)event->payload + f->offset;

	if (block->table->columns[column].is_name)
		put_u32(block, column, lookup_string(sub, process, host_number(at, 8)));
	else if (number_type(f))
		block_put(block, column, at, f->size);
	else
		put_text(sub, block, column, event, f);
}

/* In the order of `before`. */
static void put_head(struct sub *sub, const struct process *process, struct block *block,
		     const struct rtl_event *event)
{
	const struct rtl_process *info = process->info;

	block->run = process->run;
	block->spool = info->spool_id;
	block->ring = event->ring;
	block->position = event->position;
	put_u32(block, 0, process->run);
	block_put(block, 1, &process->day, sizeof(process->day));
	put_u32(block, 2, (uint32_t)info->rank);
	put_u32(block, 3, process->host);
	put_u32(block, 4, (uint32_t)info->pid);
	put_u64(block, 5, info->spool_id);
	put_u32(block, 6, event->ring);
	put_u64(block, 7, event->position);
	put_u64(block, 8, event->time_ns);
	put_u32(block, 9, event->tid);
	put_u32(block, 10, lookup_tracepoint(sub, event));
	put_u64(block, 11, event->uid);
	put_u64(block, 12, event->parent_uid);
	put_u64(block, 13, event->instance);
	put_u64(block, 14, event->correlation);
}

/* 0: none. */
static uint32_t gpu_of(const struct type *type, const struct rtl_event *event)
{
	const uint32_t place = type->layout->gpu;
	const struct rtl_field *f = place ? rtl_type_field(type->info, place - 1) : NULL;

	return f ? (uint32_t)host_number((const char *)event->payload + f->offset, 4) : 0;
}

/* An agent of rtl.hsa is a GPU. */
static void take_metadata(struct sub *sub, struct process *process, const struct type *type,
			  const struct rtl_event *event)
{
	const struct rtl_tracepoint *tp =
		event->uid ? sub->host->tracepoint(sub->host, event->process, event->uid) : NULL;
	const uint32_t gpu = gpu_of(type, event);

	if (gpu && tp && !strcmp(tp->kind, "agent"))
		run_gpu(sub, process, gpu, tp);
}

static void take_event(struct stream *stream, struct process *process,
		       const struct rtl_event *event)
{
	struct sub *sub = stream->sub;
	const struct type *type = find_type(stream, event->type_info);
	const struct layout *layout;
	struct block *block;

	if (!type)
		return;
	if (event->payload_size < type->info->payload_size) {
		stream->skipped++;
		return;
	}
	if (event->type == RTL_METADATA)
		take_metadata(sub, process, type, event);
	layout = type->layout;
	block = run_block(sub, layout->table, process, event);
	if (!block)
		return;
	put_head(sub, process, block, event);
	for (uint32_t i = 0; i < layout->fields; i++)
		put_field(sub, process, block, BEFORE + i, event, rtl_type_field(type->info, i));
	if (layout->gpu) {
		const uint64_t uuid = map_get(&process->gpus, gpu_of(type, event));

		put_u32(block, BEFORE + layout->fields, uuid ? (uint32_t)uuid - 1 : 0);
	}
	block->rows++;
}

static void take_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;

	for (size_t i = 0; i < count; i++) {
		struct process *process = lookup_process(stream->sub, events[i]->process);

		if (process)
			take_event(stream, process, events[i]);
	}
}

int events_subscribe(struct stream *stream)
{
	struct sub *sub = stream->sub;
	const struct rtl_host *host = sub->host;
	const int calls = wanted_call_stream(stream->info->name);
	int result = RTL_ENOTSUP;

	if (calls >= 0)
		result = wanted_subscribe_calls(
			host, stream->info, calls, sub->args, take_events, stream,
			calls & WANTED_HIP ? &sub->hip_calls : &sub->hsa_calls);
	if (result != RTL_ENOTSUP)
		return result;
	result = 0;
	for (uint32_t i = 0; i < stream->info->type_count && result == 0; i++) {
		const struct rtl_type_info *info = rtl_stream_type(stream->info, i);

		if (!info->repeated_by) /* else its end says all that it says */
			result = host->subscribe(host, stream->info, info->type, RTL_BUFFERED,
						 take_events, stream, NULL);
	}
	return result;
}

void events_fini(struct sub *sub)
{
	for (struct stream *s = sub->streams; s; s = s->next)
		list_free(s->types);
	list_free(sub->layouts);
}
