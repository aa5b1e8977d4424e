/* SPDX-License-Identifier: MIT */
/*
 * call.c: the streams rtl.hsa.call and rtl.hip.call, and the two with ".debug". A call that has
 * returned becomes a row of rocpd_api and one of rtl_call with the same id; its arguments, where
 * the second stream of its API tells them, are the row's args. Both streams of an API tell of the
 * same calls: only one is stored. A call that had not returned when its process ended is there with
 * that end, and a flag.
 */
#include "schema.h"
#include "sub.h"

#include <rtl/args.h>
#include <string.h>

bool call_init(struct sub *sub)
{
	struct writer *w = &sub->writer;

	sub->hip_calls.is_hip = true;
	/* Outputs of versions without calls can be continued. */
	return writer_exec(w, schema_call_tables) &&
	       rows_init(&sub->call, w, "INSERT", "rtl_call", 13);
}

static const char *call_table(uint16_t type)
{
	return type == RTL_FUNCTION_END || type == RTL_FUNCTION_UNFINISHED ? "rtl_call" : NULL;
}

static const char *debug_table(uint16_t type)
{
	return type == RTL_FUNCTION_WITH_ARGS_END || type == RTL_FUNCTION_WITH_ARGS_UNFINISHED
		       ? "rtl_call"
		       : NULL;
}

/* The id of a host's string in rocpd_string. */
static int64_t string_id(struct sub *sub, const struct process *process, uint64_t string)
{
	int64_t id;

	if (!string)
		return NAMES_EMPTY;
	id = (int64_t)map_get(&sub->call_strings, string);
	if (id)
		return id;
	id = names_string(&sub->names, sub->host->string(sub->host, process->info, string));
	if (!map_set(&sub->call_strings, string, (uint64_t)id))
		writer_error(&sub->writer, SQLITE_NOMEM, "name of a call");
	return id;
}

static const struct rtl_field *args_field(const struct rtl_type_info *type)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct rtl_field *field = rtl_type_field(type, i);

		if (field->kind == RTL_KIND_ARGS)
			return field;
	}
	return NULL;
}

/* The id of the arguments' text in rocpd_ustring. */
static int64_t args_id(struct sub *sub, const struct rtl_event *event)
{
	const struct rtl_field *field = args_field(event->type_info);
	char text[RTL_PAYLOAD_MAX];

	if (!field || !rtl_args_text(sub->host, event, field, text, sizeof(text)))
		return NAMES_EMPTY;
	return names_argument(&sub->names, text);
}

/* HIP's functions have it in their metadata. */
int64_t call_category(struct sub *sub, const struct process *process, uint64_t uid)
{
	int64_t id = (int64_t)map_get(&sub->call_categories, uid);
	const char *category;

	if (id)
		return id;
	category = tracepoints_metadata(sub, process->info, uid, "category");
	id = category ? names_string(&sub->names, category) : NAMES_EMPTY;
	if (!map_set(&sub->call_categories, uid, (uint64_t)id))
		writer_error(&sub->writer, SQLITE_NOMEM, "category of a call");
	return id;
}

static bool is_unfinished(uint16_t type)
{
	return type == RTL_FUNCTION_UNFINISHED || type == RTL_FUNCTION_WITH_ARGS_UNFINISHED;
}

/* What only calls of HIP have; NULL: none. work: what it has submitted, as far as is known. */
static void write_hip(struct cell *cell, const struct rtl_hip_call *call, uint32_t work)
{
	for (int i = 0; i < 5; i++)
		cell_null(&cell[i]);
	if (!call)
		return;
	cell_int(&cell[0], call->parent ? (int64_t)call->parent : 0);
	if (call->flags & RTL_HIP_CALL_STREAM)
		cell_int(&cell[1], (int64_t)call->stream);
	if (call->device >= 0)
		cell_int(&cell[2], call->device);
	cell_int(&cell[3], call->flags);
	cell_int(&cell[4], work);
}

/* Of one that had not returned, when its process ended. */
static uint64_t call_end(const struct rtl_event *event, const struct rtl_hsa_call *call)
{
	return event->time_ns > call->begin_ns ? event->time_ns : call->begin_ns;
}

static void write_call(struct sub *sub, const struct process *process,
		       const struct rtl_event *event, bool is_hip)
{
	const struct rtl_hsa_call *call = event->payload; /* HIP's begins with the same */
	const struct rtl_hip_call *hip = is_hip ? event->payload : NULL;
	const bool unfinished = hip && is_unfinished(event->type);
	const int64_t status = string_id(sub, process, call->status);
	uint32_t work = unfinished ? LINKS_WORK_UNKNOWN : hip ? hip->work : 0;
	const int64_t api =
		hip ? links_call(sub, process, event->correlation, &work) : sub->next_api++;
	struct cell *cell = rows_add(&sub->api);

	cell_int(&cell[0], api);
	cell_int(&cell[1], process->pid);
	cell_int(&cell[2], unfinished ? hip->tid : event->tid);
	cell_int(&cell[3], (int64_t)call->begin_ns);
	cell_int(&cell[4], (int64_t)(unfinished ? call_end(event, call) : call->end_ns));
	cell_int(&cell[5], string_id(sub, process, call->function));
	cell_int(&cell[6], is_hip ? call_category(sub, process, event->uid) : NAMES_EMPTY);
	cell_int(&cell[7], is_hip ? sub->names.hip : sub->names.hsa);
	cell_int(&cell[8], args_id(sub, event));

	cell = rows_add(&sub->call);
	cell_int(&cell[0], api);
	cell_int(&cell[1], process->number);
	cell_int(&cell[2], (int64_t)event->uid);
	cell_int(&cell[3], (int64_t)event->parent_uid);
	cell_int(&cell[4], (int64_t)event->instance);
	cell_int(&cell[5], (int64_t)event->correlation);
	cell_int(&cell[6], status);
	cell_int(&cell[7], call->result);
	write_hip(&cell[8], hip, work);
}

static void call_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;
	const bool is_hip = stream->calls->is_hip;
	const size_t size = is_hip ? sizeof(struct rtl_hip_call) : sizeof(struct rtl_hsa_call);

	sub->events_pending = true;
	for (size_t i = 0; i < count && !sub->writer.failed; i++) {
		const struct rtl_hsa_call *call = events[i]->payload;
		struct process *process = sub_process(sub, events[i]->process);

		if (!process)
			return;
		if (events[i]->payload_size < size) {
			stream->skipped++;
		} else {
			tracepoints_need(sub, process, events[i]->uid);
			tracepoints_need(sub, process, events[i]->parent_uid);
			write_call(sub, process, events[i], is_hip);
			process_span(process, call->begin_ns,
				     is_unfinished(events[i]->type) ? events[i]->time_ns
								    : call->end_ns);
		}
		writer_commit_if_full(&sub->writer);
	}
}

static bool is_as_known(const struct rtl_stream_info *info, uint16_t version, uint16_t type,
			size_t size)
{
	return info->version_major == version && dispatch_payload_size(info, type) >= size;
}

/* Ends, and calls that have none: not those of HSA, and not in streams of older versions. */
static int subscribe_both(struct sub *sub, struct stream *stream, uint16_t end, uint16_t unfinished,
			  struct rtl_subscription *taken[2])
{
	const struct rtl_host *host = sub->host;
	int result = host->subscribe(host, stream->info, end, RTL_BUFFERED, call_events, stream,
				     &taken[0]);

	if (!result &&
	    dispatch_payload_size(stream->info, unfinished) >= sizeof(struct rtl_hip_call))
		result = host->subscribe(host, stream->info, unfinished, RTL_BUFFERED, call_events,
					 stream, &taken[1]);
	return result;
}

static int subscribe_plain(struct sub *sub, struct stream *stream)
{
	stream->table = call_table;
	if (stream->calls->have_args)
		return 0;
	return subscribe_both(sub, stream, RTL_FUNCTION_END, RTL_FUNCTION_UNFINISHED,
			      stream->calls->plain);
}

static int subscribe_debug(struct sub *sub, struct stream *stream)
{
	const struct rtl_host *host = sub->host;
	struct call_api *api = stream->calls;
	struct rtl_subscription *taken[2] = {NULL, NULL};
	int result;

	stream->table = debug_table;
	if (!sub->settings.args)
		return 0;
	result = subscribe_both(sub, stream, RTL_FUNCTION_WITH_ARGS_END,
				RTL_FUNCTION_WITH_ARGS_UNFINISHED, taken);
	for (int i = 0; result == 0 && i < 2; i++)
		if (api->plain[i]) {
			host->unsubscribe(host, api->plain[i]);
			api->plain[i] = NULL;
		}
	api->have_args = result == 0;
	return result;
}

int call_subscribe(struct sub *sub, struct stream *stream)
{
	const struct rtl_stream_info *info = stream->info;
	const struct {
		const char *name;
		struct call_api *api;
		uint16_t version, type;
		size_t size;
		int (*subscribe)(struct sub *sub, struct stream *stream);
	} streams[] = {
		{RTL_STREAM_HSA_CALL, &sub->hsa_calls, RTL_STREAM_HSA_CALL_VERSION,
		 RTL_FUNCTION_END, sizeof(struct rtl_hsa_call), subscribe_plain},
		{RTL_STREAM_HSA_CALL_DEBUG, &sub->hsa_calls, RTL_STREAM_HSA_CALL_VERSION,
		 RTL_FUNCTION_WITH_ARGS_END, sizeof(struct rtl_hsa_call_debug), subscribe_debug},
		{RTL_STREAM_HIP_CALL, &sub->hip_calls, RTL_STREAM_HIP_CALL_VERSION,
		 RTL_FUNCTION_END, sizeof(struct rtl_hip_call), subscribe_plain},
		{RTL_STREAM_HIP_CALL_DEBUG, &sub->hip_calls, RTL_STREAM_HIP_CALL_VERSION,
		 RTL_FUNCTION_WITH_ARGS_END, sizeof(struct rtl_hip_call_debug), subscribe_debug},
	};

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		if (strcmp(info->name, streams[i].name) != 0)
			continue;
		if (!is_as_known(info, streams[i].version, streams[i].type, streams[i].size))
			return RTL_ENOTSUP;
		stream->calls = streams[i].api;
		return streams[i].subscribe(sub, stream);
	}
	return RTL_ENOTSUP;
}
