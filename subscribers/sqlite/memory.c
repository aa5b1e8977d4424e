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

static void take_memory(struct stream *stream, struct process *process,
			const struct rtl_event *event)
{
	struct sub *sub = stream->sub;
	const struct rtl_hsa_mem *m = event->payload;

	tracepoints_need(sub, process, event->uid);
	tracepoints_need(sub, process, event->parent_uid);
	table_add_rtl_mem(&sub->memory, sub->host, process, event, sub->next_memory++);
	process_span(process, m->begin_ns, m->end_ns);
}

static void memory_events(void *user, const struct rtl_event *const *events, size_t count)
{
	sub_each(user, events, count, sizeof(struct rtl_hsa_mem), take_memory);
}

static const struct wanted memory_types[] = {
	{RTL_MEM_ALLOC_END, sizeof(struct rtl_hsa_mem), memory_events, false},
	{RTL_MEM_RELEASE_END, sizeof(struct rtl_hsa_mem), memory_events, false},
};
const struct known_stream memory_stream = {
	{RTL_STREAM_HSA_MEM, RTL_STREAM_HSA_MEM_VERSION, WANTED(memory_types)}, memory_table};
