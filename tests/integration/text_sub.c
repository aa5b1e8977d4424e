/* SPDX-License-Identifier: MIT */
/*
 * A subscriber for tests: a line for each event, NAME=VALUE separated by tabs. At first what events have alike: @stream,
 * @type, @tid, @instance, @correlation, @time, @kind and @name (of its tracepoint), @category, @parent (kind of the
 * tracepoint above); then its fields. At the end a line for each stream, its ledger (@type=ledger). text_trace.py reads it.
 */
#include <inttypes.h>
#include <rtl/args.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT, STREAMS, BEGIN, INLINE, DELAY, STALL, SETTINGS };

static const struct rtl_setting_info infos[] = {
	[OUTPUT] = RTL_TEXT_SETTING("output", "/dev/stderr", 1, 0, "file to write"),
	[STREAMS] = RTL_TEXT_SETTING("streams", "", 0, 0, "names, with commas between them"),
	[BEGIN] = RTL_NUMBER_SETTING("begin", "0", 0, 1, "1: begins, too"),
	[INLINE] = RTL_TEXT_SETTING("inline", "", 0, 0, "the stream with inline delivery"),
	[DELAY] = RTL_NUMBER_SETTING("delay_us", "0", 0, 1000000, "pause for each event"),
	[STALL] = RTL_NUMBER_SETTING("stall_ms", "0", 0, 600000, "pause for the first dispatch"),
};

struct writer {
	const struct rtl_host *host;
	const struct rtl_stream_info *streams[8];
	size_t stream_count;
	char names[128], inline_name[32];
	FILE *file;
	uint64_t begin, delay_us, stall_ms;
};

static void write_field(struct writer *w, const struct rtl_event *e, const struct rtl_field *field)
{
	const unsigned char *from = (const unsigned char *)e->payload + field->offset;
	struct rtl_value value = {.kind = field->kind};
	const char *string = "";
	char text[8192];

	fprintf(w->file, "\t%s=", field->name);
	switch (field->kind) {
	case RTL_KIND_TEXT:
		rtl_args_place(e, &value, from);
		fprintf(w->file, "%.*s", (int)value.length, value.text);
		break;
	case RTL_KIND_ARGS:
	case RTL_KIND_VALUES:
		rtl_args_text(w->host, e, field, text, sizeof(text));
		fputs(text, w->file);
		break;
	case RTL_KIND_STRING:
		rtl_args_number(&value, from, field->size);
		if (value.number)
			string = w->host->string(w->host, e->process, value.number);
		fputs(string ? string : "(unknown string)", w->file);
		break;
	case RTL_KIND_INT:
		rtl_args_number(&value, from, field->size);
		fprintf(w->file, "%" PRId64, value.integer);
		break;
	default:
		rtl_args_number(&value, from, field->size);
		fprintf(w->file, "%" PRIu64, value.number);
	}
}

static void write_event(struct writer *w, const struct rtl_event *e)
{
	const struct rtl_host *host = w->host;
	const struct rtl_tracepoint *point = host->tracepoint(host, e->process, e->uid);
	const struct rtl_tracepoint *parent = host->tracepoint(host, e->process, e->parent_uid);
	const char *category = rtl_tracepoint_value(point, "category");

	flockfile(w->file); /* inline callbacks write, too */
	fprintf(w->file,
		"@stream=%s\t@type=%s\t@tid=%u\t@instance=%" PRIu64 "\t@correlation=%" PRIu64
		"\t@time=%" PRIu64 "\t@kind=%s\t@name=%s\t@category=%s\t@parent=%s",
		e->stream->name, e->type_info->name, e->tid, e->instance, e->correlation,
		e->time_ns, point ? point->kind : "", point ? point->name : "",
		category ? category : "", parent ? parent->kind : "");
	for (uint32_t i = 0; i < e->type_info->field_count; i++)
		write_field(w, e, rtl_type_field(e->type_info, i));
	fputc('\n', w->file);
	funlockfile(w->file);
}

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct writer *w = user;

	for (size_t i = 0; i < count; i++) {
		if (w->delay_us)
			usleep((useconds_t)w->delay_us);
		if (w->stall_ms && events[i]->type == RTL_TASK_END) {
			usleep((useconds_t)w->stall_ms * 1000);
			w->stall_ms = 0;
		}
		write_event(w, events[i]);
	}
}

static int create(const struct rtl_host *host, const struct rtl_setting *settings, size_t count,
		  void **instance)
{
	struct writer *w = calloc(1, sizeof(*w));

	if (!w)
		return RTL_ENOMEM;
	w->host = host;
	snprintf(w->names, sizeof(w->names), "%s", rtl_setting_at(settings, STREAMS)->value);
	snprintf(w->inline_name, sizeof(w->inline_name), "%s",
		 rtl_setting_at(settings, INLINE)->value);
	w->begin = rtl_setting_at(settings, BEGIN)->number;
	w->delay_us = rtl_setting_at(settings, DELAY)->number;
	w->stall_ms = rtl_setting_at(settings, STALL)->number;
	w->file = fopen(rtl_setting_at(settings, OUTPUT)->value, "w");
	*instance = w;
	return w->file ? 0 : RTL_EIO;
}

static bool is_listed(const char *names, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = names; (at = strstr(at, name)); at += length)
		if ((at == names || at[-1] == ',') && (!at[length] || at[length] == ','))
			return true;
	return false;
}

static int stream(void *instance, const struct rtl_stream_info *info)
{
	struct writer *w = instance;
	int error = 0;

	if (!is_listed(w->names, info->name) || w->stream_count == 8)
		return 0;
	w->streams[w->stream_count++] = info;
	for (uint32_t i = 0; i < info->type_count && !error; i++) {
		const struct rtl_type_info *type = rtl_stream_type(info, i);

		if (type->type < 0x80 && (w->begin || !strstr(type->name, "_begin")))
			error = w->host->subscribe(w->host, info, type->type,
						   strcmp(info->name, w->inline_name) ? RTL_BUFFERED
										      : RTL_INLINE,
						   on_events, w, NULL);
	}
	return error;
}

static int finish(void *instance)
{
	struct writer *w = instance;

	for (size_t i = 0; i < w->stream_count; i++) {
		struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};

		if (w->host->ledger(w->host, NULL, w->streams[i], &ledger))
			return RTL_EIO;
		fprintf(w->file,
			"@stream=%s\t@type=ledger\tpublished=%" PRIu64 "\tdelivered=%" PRIu64
			"\tdiscarded=%" PRIu64 "\tmissed=%" PRIu64 "\n",
			w->streams[i]->name, ledger.published, ledger.delivered, ledger.discarded,
			ledger.missed);
	}
	return fflush(w->file) ? RTL_EIO : 0;
}

static void destroy(void *instance)
{
	struct writer *w = instance;

	fclose(w->file);
	free(w);
}

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "text",
	.version = "1",
	.description = "events as text, for tests",
	.settings = infos,
	.setting_count = SETTINGS,
	.create = create,
	.stream = stream,
	.finish = finish,
	.destroy = destroy,
};
