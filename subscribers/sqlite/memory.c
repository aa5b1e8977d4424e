/* SPDX-License-Identifier: MIT */
/* memory.c: the stream rtl.hsa.mem. Each allocation and each release is a row of rtl_mem. */
#include "schema.h"
#include "sub.h"
#include "tables_rtl.h"

bool memory_init(struct sub *sub)
{
	struct writer *w = &sub->writer;

	/* Outputs of versions without memory can be continued. */
	if (!writer_exec(w, schema_memory_tables))
		return false;
	sub->next_memory = writer_ask_int(w, "SELECT max(id) FROM rtl_mem") + 1;
	return rows_init(&sub->memory, w, "INSERT", &table_rtl_mem);
}

static const char *memory_table(uint16_t type)
{
	return type == RTL_MEM_ALLOC_END || type == RTL_MEM_RELEASE_END ? "rtl_mem" : NULL;
}

static void memory_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	sub->events_pending = true;
	for (size_t i = 0; i < count && !sub->writer.failed; i++) {
		const struct rtl_hsa_mem *m = events[i]->payload;
		struct process *process = sub_process(sub, events[i]->process);

		if (!process)
			return;
		if (events[i]->payload_size < sizeof(*m)) {
			stream->skipped++;
		} else {
			tracepoints_need(sub, process, events[i]->uid);
			tracepoints_need(sub, process, events[i]->parent_uid);
			table_add_rtl_mem(&sub->memory, sub->host, process, events[i],
					  sub->next_memory++);
			process_span(process, m->begin_ns, m->end_ns);
		}
		writer_commit_if_full(&sub->writer);
	}
}

int memory_subscribe(struct sub *sub, struct stream *stream)
{
	const struct rtl_host *host = sub->host;
	int result;

	if (stream->info->version_major != RTL_STREAM_HSA_MEM_VERSION ||
	    dispatch_payload_size(stream->info, RTL_MEM_ALLOC_END) < sizeof(struct rtl_hsa_mem) ||
	    dispatch_payload_size(stream->info, RTL_MEM_RELEASE_END) < sizeof(struct rtl_hsa_mem))
		return RTL_ENOTSUP;
	stream->table = memory_table;
	result = host->subscribe(host, stream->info, RTL_MEM_ALLOC_END, RTL_BUFFERED, memory_events,
				 stream, NULL);
	if (result)
		return result;
	return host->subscribe(host, stream->info, RTL_MEM_RELEASE_END, RTL_BUFFERED, memory_events,
			       stream, NULL);
}
