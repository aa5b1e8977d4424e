/* SPDX-License-Identifier: MIT */
/* memory.c: the stream rtl.hsa.mem. Each allocation and each release is a row of rtl_mem. */
#include "schema.h"
#include "sub.h"

bool memory_init(struct sub *sub)
{
	struct writer *w = &sub->writer;

	/* Outputs of versions without memory can be continued. */
	if (!writer_exec(w, schema_memory_tables))
		return false;
	sub->next_memory = writer_ask_int(w, "SELECT max(id) FROM rtl_mem") + 1;
	return rows_init(&sub->memory, w, "INSERT", "rtl_mem", 18);
}

static const char *memory_table(uint16_t type)
{
	return type == RTL_MEM_ALLOC_END || type == RTL_MEM_RELEASE_END ? "rtl_mem" : NULL;
}

static void write_memory(struct sub *sub, const struct process *process,
			 const struct rtl_event *event)
{
	const struct rtl_host *host = sub->host;
	const struct rtl_hsa_mem *m = event->payload;
	struct cell *cell = rows_add(&sub->memory);
	const int64_t numbers[] = {
		sub->next_memory++,
		process->number,
		event->tid,
		(int64_t)m->begin_ns,
		(int64_t)m->end_ns,
		event->type == RTL_MEM_RELEASE_END,
		m->kind,
		m->node,
		(int64_t)m->address,
		(int64_t)m->bytes,
		(int64_t)m->in_use_bytes,
		(int64_t)m->pool,
		m->flags,
		(int64_t)event->instance,
		(int64_t)event->correlation,
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		cell_int(&cell[i], numbers[i]);
	cell_text(&sub->memory, &cell[15], host->string(host, process->info, m->function));
	cell_text(&sub->memory, &cell[16],
		  m->segment ? host->string(host, process->info, m->segment) : NULL);
	cell_text(&sub->memory, &cell[17],
		  m->status ? host->string(host, process->info, m->status) : NULL);
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
			write_memory(sub, process, events[i]);
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
