/* SPDX-License-Identifier: MIT */
/*
 * xpti.c: the streams of XPTI, whatever they are called. A node is a row of rtl_node, an edge one of
 * rtl_edge, a value of their metadata one of rtl_xpti_metadata, with its type. What has begun and
 * ended (tasks, waits, calls) is a row of rocpd_api and one of rtl_span with the same id, made of the
 * end, which tells when it began; or of the begin, if the process ends before. The rest goes into
 * generic tables.
 */
#include "schema.h"
#include "sub.h"
#include "tables_rocpd.h"
#include "tables_rtl.h"

#include <rtl/args.h>
#include <stdio.h>
#include <string.h>

#define DOMAIN "SYCL"

bool xpti_init(struct sub *sub)
{
	struct writer *w = &sub->writer;

	if (sub->has_xpti)
		return true;
	sub->has_xpti = true; /* else the writer has failed */
	return writer_exec(w, schema_xpti_tables) &&
	       rows_init(&sub->node, w, "INSERT", &table_rtl_node) &&
	       rows_init(&sub->xpti_metadata, w, "INSERT OR REPLACE", &table_rtl_xpti_metadata) &&
	       rows_init(&sub->edge, w, "INSERT", &table_rtl_edge);
}

/* Types of ends whose rows are spans. */
static const struct span_type {
	uint16_t type;
	const char *name;
} span_types[] = {
	{RTL_REGION_END, "region"},     {RTL_TASK_END, "task"},
	{RTL_BARRIER_END, "barrier"},   {RTL_LOCK_END, "lock"},
	{RTL_TRANSFER_END, "transfer"}, {RTL_WAIT_END, "wait"},
	{RTL_FUNCTION_END, "call"},     {RTL_FUNCTION_WITH_ARGS_END, "call"},
};

#define SPAN_TYPES (sizeof(span_types) / sizeof(span_types[0]))

static const struct span_type *span_type(uint16_t type)
{
	for (size_t i = 0; i < SPAN_TYPES; i++)
		if (span_types[i].type == type)
			return &span_types[i];
	return NULL;
}

/* Whether it is told with metadata, in a struct rtl_xpti_object. */
static bool has_metadata(uint16_t type)
{
	return type == RTL_NODE_CREATE || type == RTL_METADATA || type == RTL_QUEUE_CREATE ||
	       type == RTL_GRAPH_CREATE;
}

static const char *xpti_table(uint16_t type)
{
	return type == RTL_NODE_CREATE   ? "rtl_node"
	       : type == RTL_EDGE_CREATE ? "rtl_edge"
	       : span_type(type)         ? "rtl_span"
					 : NULL;
}

/* ---- texts */

struct text {
	char characters[RTL_PAYLOAD_MAX + 1];
};

/* A text of the payload; NULL: it is empty. The host has seen to it that it lies there. */
static const char *read_text(const struct rtl_event *event, struct rtl_text place,
			     struct text *room)
{
	if (!place.length)
		return NULL;
	memcpy(room->characters, (const char *)event->payload + place.offset, place.length);
	room->characters[place.length] = '\0';
	return room->characters;
}

static const struct rtl_tracepoint *tracepoint(struct sub *sub, const struct process *process,
					       uint64_t uid)
{
	return uid ? sub->host->tracepoint(sub->host, process->info, uid) : NULL;
}

/* Name of a tracepoint in rocpd_string. */
static int64_t name_id(struct sub *sub, const struct process *process, uint64_t uid,
		       const char *otherwise)
{
	int64_t id = uid ? (int64_t)map_get(&sub->xpti_names, uid) : 0;
	const struct rtl_tracepoint *tp;

	if (id)
		return id;
	tp = tracepoint(sub, process, uid);
	id = names_string(&sub->names, tp && *tp->name ? tp->name : otherwise);
	if (tp && !map_set(&sub->xpti_names, uid, (uint64_t)id))
		writer_error(&sub->writer, SQLITE_NOMEM, "name of a node");
	return id;
}

/* ---- metadata */

static const struct rtl_field metadata_field = {
	.struct_size = sizeof(metadata_field),
	.kind = RTL_KIND_ARGS,
	.offset = offsetof(struct rtl_xpti_object, metadata),
};

/* The value of that name; false: there is none. */
static bool find_value(struct sub *sub, const struct rtl_event *event, const char *name,
		       struct rtl_value *out)
{
	struct rtl_args args = rtl_args_begin(sub->host, event, &metadata_field);

	while (rtl_args_next(&args, out))
		if (strcmp(out->name, name) == 0)
			return true;
	return false;
}

static const char *find_text(struct sub *sub, const struct rtl_event *event, const char *name,
			     struct text *room)
{
	struct rtl_value value;
	uint32_t offset;

	if (!find_value(sub, event, name, &value) || value.kind != RTL_KIND_TEXT)
		return NULL;
	offset = (uint32_t)(value.text - (const char *)event->payload);
	return read_text(event, (struct rtl_text){offset, value.length}, room);
}

/* What its type is called in rtl_xpti_metadata. */
static const char *kind_name(uint16_t kind)
{
	switch (kind) {
	case RTL_KIND_TEXT:
		return "text";
	case RTL_KIND_FLOAT:
		return "float";
	case RTL_KIND_INT:
		return "int";
	case RTL_KIND_BOOL:
		return "bool";
	case RTL_KIND_ADDRESS:
		return "address";
	default:
		return "uint";
	}
}

/* Of a graph, node or queue, or what was added to it since. */
static void take_metadata(struct sub *sub, const struct process *process,
			  const struct rtl_event *event)
{
	const struct rtl_xpti_object *p = event->payload;
	struct rtl_args args = rtl_args_begin(sub->host, event, &metadata_field);
	struct rtl_value value;

	while (p->event.object && rtl_args_next(&args, &value))
		if (value.kind)
			table_add_rtl_xpti_metadata(&sub->xpti_metadata,
						    &(struct row_rtl_xpti_metadata){
							    .process = process->number,
							    .object = (int64_t)p->event.object,
							    .key = value.name,
							    .kind = kind_name(value.kind),
							    .value = &value,
						    });
}

/* ---- rows */

static void take_node(struct sub *sub, const struct process *process, const struct rtl_event *event)
{
	const struct rtl_xpti_object *p = event->payload;
	const struct rtl_tracepoint *tp;
	struct text kind, kernel, device, metadata;
	const char *device_text;
	struct rtl_value queue;
	int64_t graph = (int64_t)p->event.parent, line, queue_id;
	bool has_queue = find_value(sub, event, "queue_id", &queue);

	device_text = find_text(sub, event, "sycl_device_name", &device);
	if (!device_text)
		device_text = find_text(sub, event, "sycl_device_type", &device);
	rtl_args_text(sub->host, event, &metadata_field, metadata.characters,
		      sizeof(metadata.characters));
	tp = tracepoint(sub, process, event->uid);
	line = tp ? tp->line : 0;
	queue_id = (int64_t)queue.number;
	table_add_rtl_node(&sub->node,
			   &(struct row_rtl_node){
				   .process = process->number,
				   .id = (int64_t)p->event.object,
				   .graph = graph ? &graph : NULL,
				   .name = tp ? tp->name : NULL,
				   .kind = read_text(event, p->event.text, &kind),
				   .kernel = find_text(sub, event, "kernel_name", &kernel),
				   .file = tp && *tp->source ? tp->source : NULL,
				   .line = line ? &line : NULL,
				   .device = device_text,
				   .queue = has_queue ? &queue_id : NULL,
				   .time_ns = (int64_t)event->time_ns,
				   .tid = event->tid,
				   .uid = (int64_t)event->uid,
				   .instance = (int64_t)event->instance,
				   .metadata = *metadata.characters ? metadata.characters : NULL,
			   });
}

static void take_edge(struct sub *sub, const struct process *process, const struct rtl_event *event)
{
	const struct rtl_xpti_edge *p = event->payload;
	const struct rtl_tracepoint *tp = tracepoint(sub, process, event->uid);
	int64_t graph = (int64_t)p->event.parent;

	table_add_rtl_edge(&sub->edge, &(struct row_rtl_edge){
					       .process = process->number,
					       .id = (int64_t)p->event.object,
					       .graph = graph ? &graph : NULL,
					       .source = (int64_t)p->source,
					       .target = (int64_t)p->target,
					       .name = tp ? tp->name : NULL,
					       .time_ns = (int64_t)event->time_ns,
				       });
}

static void take_span(struct sub *sub, const struct stream *stream, const struct process *process,
		      const struct rtl_event *event, const struct span_type *type, bool unfinished)
{
	const struct rtl_xpti *p = event->payload;
	const struct rtl_xpti_call *call =
		type->type == RTL_FUNCTION_WITH_ARGS_END && !unfinished ? event->payload : NULL;
	const bool is_call = strcmp(type->name, "call") == 0;
	int64_t result = call ? call->result : 0, name, args = NAMES_EMPTY;
	struct text room;
	const char *text = read_text(event, p->text, &room);
	char values[RTL_PAYLOAD_MAX + 24];

	if (is_call && text)
		name = names_string(&sub->names, text);
	else if (type->type == RTL_TASK_END)
		name = name_id(sub, process, event->uid, type->name);
	else
		name = names_string(&sub->names, type->name);
	if (text && !is_call) {
		args = names_argument(&sub->names, text, p->text.length);
	} else if (call && event->type_info->payload_size >= sizeof(*call) &&
		   call->arguments.length) {
		text = read_text(event, call->arguments, &room);
		args = names_argument(&sub->names, values,
				      (size_t)snprintf(values, sizeof(values), "function = %u, %s",
						       call->function, text));
	}
	table_add_rocpd_api(&sub->api,
			    &(struct row_rocpd_api){
				    .id = sub->next_api,
				    .pid = process->pid,
				    .tid = event->tid,
				    .start = (int64_t)(p->begin_ns && p->begin_ns < event->time_ns
							       ? p->begin_ns
							       : event->time_ns),
				    .end = (int64_t)event->time_ns,
				    .apiName_id = name,
				    .category_id = names_string(&sub->names, type->name),
				    .domain_id = names_string(&sub->names, DOMAIN),
				    .args_id = args,
			    });
	table_add_rtl_span(&sub->span, &(struct row_rtl_span){
					       .api_id = sub->next_api++,
					       .process = process->number,
					       .stream = stream->number,
					       .type = type->name,
					       .object = (int64_t)p->object,
					       .parent = (int64_t)p->parent,
					       .uid = (int64_t)event->uid,
					       .parent_uid = (int64_t)event->parent_uid,
					       .instance = (int64_t)event->instance,
					       .correlation = (int64_t)event->correlation,
					       .result = call ? &result : NULL,
					       .unfinished = unfinished,
				       });
}

/* Begins of spans. */
static bool is_begin(uint16_t type)
{
	return type < 64 && (type & 1) == 0 && span_type(type + 1);
}

void xpti_take_open(struct stream *stream, struct process *process, const struct rtl_event *event,
		    uint64_t end_ns)
{
	const struct span_type *type = span_type(event->type + 1);
	struct rtl_event ended = *event;
	union {
		struct rtl_xpti fixed;
		char bytes[RTL_PAYLOAD_MAX];
	} payload;

	memcpy(payload.bytes, event->payload, event->payload_size);
	payload.fixed.begin_ns = event->time_ns;
	ended.payload = &payload;
	ended.time_ns = end_ns > event->time_ns ? end_ns : event->time_ns;
	take_span(stream->sub, stream, process, &ended, type, true);
	process_span(process, ended.time_ns, ended.time_ns);
}

static void take_end(struct stream *stream, const struct process *process,
		     const struct rtl_event *event)
{
	xpti_open_end(stream, process, event);
	take_span(stream->sub, stream, process, event, span_type(event->type), false);
}

static void take_event(struct stream *stream, struct process *process,
		       const struct rtl_event *event)
{
	struct sub *sub = stream->sub;
	const struct rtl_xpti *begun = event->payload;

	tracepoints_need(sub, process, event->uid);
	tracepoints_need(sub, process, event->parent_uid);
	if (has_metadata(event->type))
		take_metadata(sub, process, event);
	if (event->type == RTL_NODE_CREATE)
		take_node(sub, process, event);
	else if (event->type == RTL_EDGE_CREATE)
		take_edge(sub, process, event);
	else if (is_begin(event->type))
		xpti_open_begin(stream, process, event, event->type + 1);
	else if (!has_metadata(event->type))
		take_end(stream, process, event);
	process_span(process, begun->begin_ns ? begun->begin_ns : event->time_ns, event->time_ns);
}

static void xpti_events(void *user, const struct rtl_event *const *events, size_t count)
{
	sub_each(user, events, count, 0, take_event);
}

/* ---- streams */

/* Whether it is as streams/events/xpti.toml describes one: its name may be any. */
static bool is_xpti(const struct rtl_stream_info *info)
{
	const struct rtl_type_info *type = rtl_stream_find_type(info, RTL_OTHER);

	return type && info->version_major == RTL_STREAM_XPTI_VERSION &&
	       type->payload_size >= sizeof(struct rtl_xpti) && type->field_count >= 2 &&
	       strcmp(rtl_type_field(type, 0)->name, "begin_ns") == 0 &&
	       strcmp(rtl_type_field(type, 1)->name, "object") == 0;
}

static size_t known_size(uint16_t type)
{
	return has_metadata(type)                   ? sizeof(struct rtl_xpti_object)
	       : type == RTL_EDGE_CREATE            ? sizeof(struct rtl_xpti_edge)
	       : type == RTL_FUNCTION_WITH_ARGS_END ? offsetof(struct rtl_xpti_call, arguments)
						    : sizeof(struct rtl_xpti);
}

int xpti_subscribe(struct sub *sub, struct stream *stream)
{
	const struct rtl_stream_info *info = stream->info;
	const struct rtl_host *host = sub->host;
	int result = 0;

	if (!is_xpti(info))
		return RTL_ENOTSUP;
	stream->is_xpti = true;
	stream->table = xpti_table;
	for (uint32_t i = 0; !result && i < info->type_count; i++) {
		const struct rtl_type_info *type = rtl_stream_type(info, i);
		const bool known = type->payload_size >= known_size(type->type);
		const bool ours = xpti_table(type->type) || is_begin(type->type);

		if (known && (ours || has_metadata(type->type)))
			result = host->subscribe(host, info, type->type, RTL_BUFFERED, xpti_events,
						 stream, NULL);
		if (!result && (!known || !ours))
			result = generic_subscribe(sub, stream, type->type);
	}
	return result;
}
