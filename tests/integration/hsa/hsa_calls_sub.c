/* SPDX-License-Identifier: MIT */
/*
 * A subscriber that writes what rtl.hsa.call and rtl.hsa.call.debug say, a line for each event:
 *     STREAM begin|end TID INSTANCE BEGIN_NS END_NS NAME(ARGUMENTS) STATUS RESULT
 *     mem alloc|release begin|end TID INSTANCE BEGIN_NS END_NS FUNCTION ADDRESS BYTES IN_USE NODE
 * KIND FLAGS STATUS AGENT'S-KIND SEGMENT      (of rtl.hsa.mem; in one line) ledger STREAM PUBLISHED
 * DELIVERED DISCARDED MISSED
 */
#include <inttypes.h>
#include <rtl/args.h>
#include <rtl/events.h>
#include <stdlib.h>
#include <string.h>

struct writer {
	const struct rtl_host *host;
	FILE *file;
	const struct rtl_stream_info *streams[3];
	unsigned stream_count;
};

static const char *text(const struct writer *w, const struct rtl_event *event, uint64_t id)
{
	const char *found = id ? w->host->string(w->host, event->process, id) : "";

	return found ? found : "(unknown string)";
}

static void write_event(struct writer *w, const struct rtl_event *event)
{
	const struct rtl_hsa_call *call = event->payload;
	const struct rtl_field *field = rtl_args_field(event->type_info);
	const struct rtl_tracepoint *function =
		w->host->tracepoint(w->host, event->process, event->uid);
	const char *name = text(w, event, call->function);
	char args[8192] = "";

	if (field)
		rtl_args_text(w->host, event, field, args, sizeof(args));
	if (!function || strcmp(function->kind, "function") != 0 || strcmp(function->name, name))
		fprintf(w->file, "wrong tracepoint for %s\n", name);
	fprintf(w->file, "%s %s %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %s(%s) %s %" PRId64 "\n",
		event->stream->name, event->type & 1 ? "end" : "begin", event->tid, event->instance,
		call->begin_ns, call->end_ns, name, args, text(w, event, call->status),
		call->result);
}

static void write_memory(struct writer *w, const struct rtl_event *event)
{
	const struct rtl_hsa_mem *m = event->payload;
	const struct rtl_tracepoint *agent =
		event->parent_uid ? w->host->tracepoint(w->host, event->process, event->parent_uid)
				  : NULL;

	fprintf(w->file,
		"mem %s %s %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %s 0x%" PRIx64 " %" PRIu64
		" %" PRIu64 " %u %u %u %s %s %s\n",
		event->type < RTL_MEM_RELEASE_BEGIN ? "alloc" : "release",
		event->type & 1 ? "end" : "begin", event->tid, event->instance, m->begin_ns,
		m->end_ns, text(w, event, m->function), m->address, m->bytes, m->in_use_bytes,
		m->node, m->kind, m->flags, m->status ? text(w, event, m->status) : "-",
		agent ? agent->kind : "-", text(w, event, m->segment));
}

static void on_memory(void *user, const struct rtl_event *const *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		write_memory(user, events[i]);
}

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		write_event(user, events[i]);
}

static int create(const struct rtl_host *host, const struct rtl_setting *settings, size_t count,
		  void **instance)
{
	struct writer *w = calloc(1, sizeof(*w));

	if (!w)
		return RTL_ENOMEM;
	w->host = host;
	w->file = fopen(rtl_setting_at(settings, 0)->value, "w");
	*instance = w;
	return w->file ? 0 : RTL_EIO;
}

static int stream(void *instance, const struct rtl_stream_info *info)
{
	struct writer *w = instance;
	const bool is_memory = !strcmp(info->name, RTL_STREAM_HSA_MEM);

	if ((!is_memory &&
	     strncmp(info->name, RTL_STREAM_HSA_CALL, strlen(RTL_STREAM_HSA_CALL)) != 0) ||
	    w->stream_count == 3)
		return 0;
	w->streams[w->stream_count++] = info;
	return w->host->subscribe(w->host, info, RTL_TYPE_ANY, RTL_BUFFERED,
				  is_memory ? on_memory : on_events, w, NULL);
}

static int finish(void *instance)
{
	struct writer *w = instance;

	for (unsigned i = 0; i < w->stream_count; i++) {
		struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};

		if (w->host->ledger(w->host, NULL, w->streams[i], &ledger))
			return RTL_EIO;
		fprintf(w->file, "ledger %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			w->streams[i]->name, ledger.published, ledger.delivered, ledger.discarded,
			ledger.missed);
	}
	return fclose(w->file) ? RTL_EIO : 0;
}

static const struct rtl_setting_info infos[] = {
	RTL_TEXT_SETTING("output", "/dev/stderr", 1, 0, "file to write"),
};

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "hsa_calls",
	.version = "1",
	.description = "calls of the HSA runtime as text, for tests",
	.settings = infos,
	.setting_count = 1,
	.create = create,
	.stream = stream,
	.finish = finish,
	.destroy = free,
};
