/* SPDX-License-Identifier: MIT */
/*
 * call.c: the streams rtl.hsa.call and rtl.hsa.call.debug. A call that has returned becomes a row
 * of rocpd_api and one of rtl_call with the same id; its arguments, where the second stream tells
 * them, are the row's args. Both streams tell of the same calls: only one is stored.
 */
#include "schema.h"
#include "sub.h"

#include <rtl/args.h>
#include <string.h>

bool call_init(struct sub *sub)
{
	struct writer *w = &sub->writer;

	/* Outputs of versions without calls can be continued. */
	return writer_exec(w, schema_call_tables) &&
	       rows_init(&sub->call, w, "INSERT", "rtl_call", 8);
}

static const char *call_table(uint16_t type)
{
	return type == RTL_FUNCTION_END ? "rtl_call" : NULL;
}

static const char *debug_table(uint16_t type)
{
	return type == RTL_FUNCTION_WITH_ARGS_END ? "rtl_call" : NULL;
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

static void write_call(struct sub *sub, const struct process *process,
		       const struct rtl_event *event)
{
	const struct rtl_hsa_call *call = event->payload;
	const int64_t status = string_id(sub, process, call->status);
	struct cell *cell = rows_add(&sub->api);

	cell_int(&cell[0], sub->next_api);
	cell_int(&cell[1], process->pid);
	cell_int(&cell[2], event->tid);
	cell_int(&cell[3], (int64_t)call->begin_ns);
	cell_int(&cell[4], (int64_t)call->end_ns);
	cell_int(&cell[5], string_id(sub, process, call->function));
	cell_int(&cell[6], NAMES_EMPTY);
	cell_int(&cell[7], sub->names.hsa);
	cell_int(&cell[8], args_id(sub, event));

	cell = rows_add(&sub->call);
	cell_int(&cell[0], sub->next_api++);
	cell_int(&cell[1], process->number);
	cell_int(&cell[2], (int64_t)event->uid);
	cell_int(&cell[3], (int64_t)event->parent_uid);
	cell_int(&cell[4], (int64_t)event->instance);
	cell_int(&cell[5], (int64_t)event->correlation);
	cell_int(&cell[6], status);
	cell_int(&cell[7], call->result);
}

static void call_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	sub->events_pending = true;
	for (size_t i = 0; i < count && !sub->writer.failed; i++) {
		const struct rtl_hsa_call *call = events[i]->payload;
		struct process *process = sub_process(sub, events[i]->process);

		if (!process)
			return;
		if (events[i]->payload_size < sizeof(*call)) {
			stream->skipped++;
		} else {
			tracepoints_need(sub, process, events[i]->uid);
			tracepoints_need(sub, process, events[i]->parent_uid);
			write_call(sub, process, events[i]);
			process_span(process, call->begin_ns, call->end_ns);
		}
		writer_commit_if_full(&sub->writer);
	}
}

static bool is_as_known(const struct rtl_stream_info *info, uint16_t type, size_t size)
{
	return info->version_major == RTL_STREAM_HSA_CALL_VERSION &&
	       dispatch_payload_size(info, type) >= size;
}

int call_subscribe(struct sub *sub, struct stream *stream)
{
	const struct rtl_host *host = sub->host;

	if (!is_as_known(stream->info, RTL_FUNCTION_END, sizeof(struct rtl_hsa_call)))
		return RTL_ENOTSUP;
	stream->table = call_table;
	if (sub->calls_have_args)
		return 0;
	return host->subscribe(host, stream->info, RTL_FUNCTION_END, RTL_BUFFERED, call_events,
			       stream, &sub->plain_calls);
}

int call_debug_subscribe(struct sub *sub, struct stream *stream)
{
	const struct rtl_host *host = sub->host;
	int result;

	if (!is_as_known(stream->info, RTL_FUNCTION_WITH_ARGS_END,
			 sizeof(struct rtl_hsa_call_debug)))
		return RTL_ENOTSUP;
	stream->table = debug_table;
	if (!sub->settings.args)
		return 0;
	result = host->subscribe(host, stream->info, RTL_FUNCTION_WITH_ARGS_END, RTL_BUFFERED,
				 call_events, stream, NULL);
	if (result == 0 && sub->plain_calls) {
		host->unsubscribe(host, sub->plain_calls);
		sub->plain_calls = NULL;
	}
	sub->calls_have_args = result == 0;
	return result;
}
