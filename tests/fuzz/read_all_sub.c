/* SPDX-License-Identifier: MIT */
/* A subscriber that reads all there is: every field of every event as its description says, every string and tracepoint
 * that it names, ledgers, losses, positions, calibrations. It checks what <rtl/subscriber.h> promises and aborts where
 * that is not so.
 *
 * Settings: output=FILE gets a line for each event ("event STREAM TYPE TID INSTANCE"), stream, process and ledger;
 * twice=1 reads each payload again and aborts if it has changed meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rtl/args.h>
#include <rtl/subscriber.h>

#define STREAMS_MAX 256

struct reader {
	const struct rtl_host *host;
	FILE *output; /* NULL: none */
	bool twice;
	const struct rtl_stream_info *streams[STREAMS_MAX];
	uint32_t stream_count;
	volatile uint64_t sum; /* so that nothing that is read can be left out */
};

#define PROMISED(x)                                                                                \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "not as promised, line %d: %s\n", __LINE__, #x);           \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static void read_bytes(struct reader *r, const void *data, size_t size)
{
	const uint8_t *bytes = data;
	uint64_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum = sum * 31 + bytes[i];
	r->sum += sum;
}

static void read_text(struct reader *r, const char *text)
{
	PROMISED(text);
	read_bytes(r, text, strlen(text));
}

static void read_tracepoint(struct reader *r, const struct rtl_process *process, uint64_t uid)
{
	const struct rtl_tracepoint *t = r->host->tracepoint(r->host, process, uid);

	if (!t)
		return;
	PROMISED(t->uid == uid);
	read_text(r, t->kind);
	read_text(r, t->name);
	read_text(r, t->source);
	read_text(r, t->module);
	for (uint32_t i = 0; i < t->metadata_count; i++) {
		read_text(r, t->metadata[i].key);
		read_text(r, t->metadata[i].value);
	}
}

/* Texts of an array have been looked at. */
static void check_args(const struct rtl_event *e, struct rtl_text place)
{
	struct rtl_arg arg;

	PROMISED(place.length % sizeof(arg) == 0);
	for (uint32_t i = 0; i < place.length; i += (uint32_t)sizeof(arg)) {
		memcpy(&arg, (const uint8_t *)e->payload + place.offset + i, sizeof(arg));
		PROMISED(arg.kind != RTL_KIND_TEXT ||
			 (uint64_t)arg.value.text.offset + arg.value.text.length <=
				 e->payload_size);
	}
}

static void read_args(struct reader *r, const struct rtl_event *e, const struct rtl_field *f)
{
	struct rtl_args args = rtl_args_begin(r->host, e, f);
	struct rtl_value value;
	char text[256];

	rtl_args_text(r->host, e, f, text, sizeof(text));
	read_text(r, text);
	while (rtl_args_next(&args, &value)) {
		read_text(r, value.name);
		if (value.enumerator)
			read_text(r, value.enumerator);
		if (value.kind == RTL_KIND_TEXT)
			read_bytes(r, value.text, value.length);
	}
}

static void read_field(struct reader *r, const struct rtl_event *e, const struct rtl_field *f)
{
	const uint8_t *at = (const uint8_t *)e->payload + f->offset;
	struct rtl_text text;
	const char *string;
	uint64_t value = 0;

	PROMISED((uint64_t)f->offset + f->size <= e->payload_size);
	read_bytes(r, at, f->size);
	if (f->size == 8)
		memcpy(&value, at, 8);
	if (f->kind == RTL_KIND_STRING && (string = r->host->string(r->host, e->process, value)))
		read_text(r, string);
	if (f->kind == RTL_KIND_UID)
		read_tracepoint(r, e->process, value);
	if (f->kind == RTL_KIND_TEXT) {
		PROMISED(f->size == sizeof(text));
		memcpy(&text, at, sizeof(text));
		PROMISED((uint64_t)text.offset + text.length <= e->payload_size);
		read_bytes(r, (const uint8_t *)e->payload + text.offset, text.length);
	}
	if (f->kind == RTL_KIND_ARGS || f->kind == RTL_KIND_VALUES) {
		PROMISED(f->size == sizeof(text));
		memcpy(&text, at, sizeof(text));
		PROMISED((uint64_t)text.offset + text.length <= e->payload_size);
		PROMISED(text.offset % 8 == 0);
		if (f->kind == RTL_KIND_ARGS)
			check_args(e, text);
		read_args(r, e, f);
	}
}

static void check_event(const struct reader *r, const struct rtl_event *e)
{
	PROMISED(e->struct_size >= sizeof(*e) && e->stream && e->type_info && e->process);
	PROMISED(e->stream->number < r->stream_count && r->streams[e->stream->number] == e->stream);
	PROMISED(e->type == e->type_info->type && e->payload_size >= e->type_info->payload_size);
	PROMISED(e->type_info >= e->stream->types &&
		 e->type_info < e->stream->types + e->stream->type_count);
	PROMISED((uintptr_t)e->payload % 8 == 0);
}

static void read_event(struct reader *r, const struct rtl_event *e)
{
	uint64_t before = r->sum;

	check_event(r, e);
	for (uint16_t i = 0; i < e->type_info->field_count; i++)
		read_field(r, e, rtl_type_field(e->type_info, i));
	if (r->twice) {
		uint64_t first = r->sum - before;

		before = r->sum;
		for (uint16_t i = 0; i < e->type_info->field_count; i++)
			read_field(r, e, rtl_type_field(e->type_info, i));
		PROMISED(r->sum - before == first);
	}
	read_tracepoint(r, e->process, e->uid);
	read_tracepoint(r, e->process, e->parent_uid);
	if (r->output)
		fprintf(r->output, "event %s %u %u %llu\n", e->stream->name, e->type, e->tid,
			(unsigned long long)e->instance);
}

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		read_event(user, events[i]);
}

static void read_loss(void *user, const char *cause, uint64_t count)
{
	struct reader *r = user;

	read_text(r, cause);
	r->sum += count;
}

static void read_ledgers(struct reader *r, const struct rtl_process *process)
{
	struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};

	for (uint32_t i = 0; i < r->stream_count; i++) {
		const struct rtl_stream_info *stream = r->streams[i];

		PROMISED(!r->host->ledger(r->host, process, stream, &ledger));
		r->host->losses(r->host, process, stream, read_loss, r);
		if (r->output && !process)
			fprintf(r->output, "ledger %s %llu %llu %llu %llu\n", stream->name,
				(unsigned long long)ledger.published,
				(unsigned long long)ledger.delivered,
				(unsigned long long)ledger.discarded,
				(unsigned long long)ledger.abandoned);
	}
}

static const char *setting(const struct rtl_setting *settings, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(rtl_setting_at(settings, i)->key, key) &&
		    rtl_setting_at(settings, i)->given)
			return rtl_setting_at(settings, i)->value;
	return NULL;
}

static int create(const struct rtl_host *host, const struct rtl_setting *settings, size_t count,
		  void **instance)
{
	struct reader *r = calloc(1, sizeof(*r));
	const char *output = setting(settings, count, "output");
	const char *twice = setting(settings, count, "twice");

	if (!r)
		return RTL_ENOMEM;
	r->host = host;
	r->twice = twice && *twice == '1';
	if (output && *output && !(r->output = fopen(output, "a"))) {
		free(r);
		return RTL_EIO;
	}
	*instance = r;
	return 0;
}

static int stream(void *instance, const struct rtl_stream_info *info)
{
	struct reader *r = instance;
	uint32_t i, err;

	PROMISED(info->number == r->stream_count && info->number < STREAMS_MAX);
	r->streams[r->stream_count++] = info;
	read_text(r, info->name);
	read_text(r, info->description);
	for (i = 0; i < info->type_count; i++) {
		const struct rtl_type_info *type = rtl_stream_type(info, i);

		read_text(r, type->name);
		read_text(r, type->description);
		for (uint16_t k = 0; k < type->field_count; k++) {
			const struct rtl_field *f = rtl_type_field(type, k);

			PROMISED((uint64_t)f->offset + f->size <= type->payload_size);
			read_text(r, f->name);
			read_text(r, f->unit);
			read_text(r, f->description);
		}
	}
	if (r->output)
		fprintf(r->output, "stream %s\n", info->name);
	err = (uint32_t)r->host->subscribe(r->host, info, RTL_TYPE_ANY, RTL_BUFFERED, on_events, r,
					   NULL);
	PROMISED(!err);
	return 0;
}

static int process_begin(void *instance, const struct rtl_process *process)
{
	struct reader *r = instance;

	PROMISED(r->host->process(r->host, process->number) == process);
	read_text(r, process->program);
	read_text(r, process->command);
	read_text(r, process->host_name);
	if (r->output)
		fprintf(r->output, "process %u %d\n", process->number, (int)process->pid);
	return 0;
}

static int process_end(void *instance, const struct rtl_process *process)
{
	struct rtl_calibration calibration = {.struct_size = sizeof(calibration)};
	struct reader *r = instance;

	r->host->calibration(r->host, process, &calibration);
	read_ledgers(r, process);
	return 0;
}

static void read_position(void *user, const struct rtl_process *process, uint32_t ring,
			  uint64_t position)
{
	struct reader *r = user;

	PROMISED(process);
	r->sum += ring + position;
}

static int flush(void *instance)
{
	struct reader *r = instance;

	r->host->positions(r->host, read_position, r);
	if (r->output)
		fflush(r->output);
	return 0;
}

static int finish(void *instance)
{
	struct reader *r = instance;

	read_ledgers(r, NULL);
	if (r->output)
		fprintf(r->output, "finish\n");
	return 0;
}

static void destroy(void *instance)
{
	struct reader *r = instance;

	if (r->output)
		fclose(r->output);
	free(r);
}

#define SETTING(name)                                                                              \
	{                                                                                          \
		.struct_size = sizeof(struct rtl_setting_info), .key = name, .fallback = "",       \
		.description = ""                                                                  \
	}
static const struct rtl_setting_info settings[] = {SETTING("output"), SETTING("twice")};

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "read_all",
	.version = "1",
	.description = "reads all there is",
	.settings = settings,
	.setting_count = 2,
	.create = create,
	.stream = stream,
	.process_begin = process_begin,
	.process_end = process_end,
	.flush = flush,
	.finish = finish,
	.destroy = destroy,
};
