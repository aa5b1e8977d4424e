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
#include "tables_rocpd.h"
#include "tables_rtl.h"

#include <string.h>

bool call_init(struct sub *sub)
{
	struct writer *w = &sub->writer;

	/* Outputs of versions without calls can be continued. */
	return writer_exec(w, schema_call_tables) &&
	       rows_init(&sub->call, w, "INSERT", &table_rtl_call);
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

/* When it returned; of one that had not, when its process ended. */
static uint64_t call_end(const struct rtl_event *event, const struct rtl_hsa_call *call)
{
	if (!is_unfinished(event->type))
		return call->end_ns;
	return event->time_ns > call->begin_ns ? event->time_ns : call->begin_ns;
}

/* A row of rtl_call without what only calls of HIP have. */
static struct row_rtl_call call_row(const struct process *process, const struct rtl_event *event,
				    int64_t api, int64_t status)
{
	const struct rtl_hsa_call *call = event->payload; /* HIP's begins with the same */

	return (struct row_rtl_call){
		.api_id = api,
		.process = process->number,
		.uid = (int64_t)event->uid,
		.parent_uid = (int64_t)event->parent_uid,
		.instance = (int64_t)event->instance,
		.correlation = (int64_t)event->correlation,
		.status_id = status,
		.result = call->result,
	};
}

/* work: what it has submitted, as far as is known. */
static void add_hip_call(struct sub *sub, struct row_rtl_call row, const struct rtl_hip_call *call,
			 int64_t work)
{
	const int64_t parent = (int64_t)call->parent, stream = (int64_t)call->hip_stream,
		      device = call->device, flags = call->flags;

	row.parent = &parent;
	row.stream = call->flags & RTL_HIP_CALL_STREAM ? &stream : NULL;
	row.device = call->device >= 0 ? &device : NULL;
	row.flags = &flags;
	row.work = &work;
	table_add_rtl_call(&sub->call, &row);
}

static void write_call(struct sub *sub, struct process *process, const struct rtl_event *event,
		       bool is_hip)
{
	const struct rtl_hsa_call *call = event->payload;
	const struct rtl_hip_call *hip = is_hip ? event->payload : NULL;
	const bool unfinished = hip && is_unfinished(event->type);
	uint32_t work = unfinished ? LINKS_WORK_UNKNOWN : hip ? hip->work : 0;
	const int64_t api =
		hip ? links_call(sub, process, event->correlation, &work) : sub->next_api++;
	const struct row_rtl_call row =
		call_row(process, event, api, string_id(sub, process, call->status));

	table_add_rocpd_api(
		&sub->api,
		&(struct row_rocpd_api){
			.id = api,
			.pid = process->pid,
			.tid = unfinished ? hip->tid : event->tid,
			.start = (int64_t)call->begin_ns,
			.end = (int64_t)call_end(event, call),
			.apiName_id = string_id(sub, process, call->function),
			.category_id = hip ? call_category(sub, process, event->uid) : NAMES_EMPTY,
			.domain_id = hip ? sub->names.hip : sub->names.hsa,
			.args_id = call_args_id(sub, process, event),
		});
	if (hip)
		add_hip_call(sub, row, hip, work);
	else
		table_add_rtl_call(&sub->call, &row);
}

static void take_call(struct stream *stream, struct process *process, const struct rtl_event *event)
{
	const struct rtl_hsa_call *call = event->payload;

	tracepoints_need(stream->sub, process, event->uid);
	tracepoints_need(stream->sub, process, event->parent_uid);
	write_call(stream->sub, process, event, stream->is_hip);
	process_span(process, call->begin_ns, call_end(event, call));
}

static void call_events(void *user, const struct rtl_event *const *events, size_t count)
{
	const struct stream *stream = user;

	sub_each(user, events, count,
		 stream->is_hip ? sizeof(struct rtl_hip_call) : sizeof(struct rtl_hsa_call),
		 take_call);
}

int call_subscribe(struct sub *sub, struct stream *stream)
{
	const int which = wanted_call_stream(stream->info->name);
	int result;

	if (which < 0)
		return RTL_ENOTSUP;
	stream->is_hip = which & WANTED_HIP;
	result = wanted_subscribe_calls(sub->host, stream->info, which, sub->settings.args,
					call_events, stream,
					stream->is_hip ? &sub->hip_calls : &sub->hsa_calls);
	if (result == 0)
		stream->table = which & WANTED_DEBUG ? debug_table : call_table;
	return result;
}
