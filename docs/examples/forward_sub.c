/* SPDX-License-Identifier: MIT */
/*
 * A filter: forwards the events of one stream, each as a line of JSON, to whoever listens at a Unix
 * socket. Settings choose the stream, and the types of it.
 *
 *     cc -shared -fPIC forward_sub.c -o libforward_sub.so $(pkg-config --cflags rtl)
 *
 *     socat UNIX-LISTEN:/tmp/events - &
 *     rtl trace -s './libforward_sub.so?stream=rtl.hsa&type=task_*&to=/tmp/events' ./app
 *
 * A slow listener makes rtl wait, and the program's buffers grow. If it is gone, or reads nothing for ten
 * seconds, only this instance ends, with a message.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <rtl/subscriber.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { STREAM, TYPE, TO };
static const struct rtl_setting_info settings[] = {
	[STREAM] = RTL_TEXT_SETTING("stream", "rtl.hsa", 1, 0, "name of the stream"),
	[TYPE] = RTL_TEXT_SETTING("type", "*", 1, 0, "pattern of its types"),
	[TO] = RTL_TEXT_SETTING("to", "events.sock", 1, 100, "path of the socket"),
};

struct forward {
	const struct rtl_host *host;
	char *stream, *type;
	int socket;
	FILE *lines; /* of the events of a batch, in memory */
	char *text;
	size_t size;
};

static void write_string(FILE *out, const char *s, size_t length)
{
	putc('"', out);
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < 0x20 || c == '"' || c == '\\')
			fprintf(out, "\\u%04x", c);
		else
			putc(c, out);
	}
	putc('"', out);
}

static void write_number(FILE *out, double number)
{
	if (isfinite(number))
		fprintf(out, "%.17g", number);
	else
		fputs("null", out);
}

/* Kinds that JSON does not have become null. */
static void write_field(struct forward *f, const struct rtl_event *e, const struct rtl_field *field)
{
	union {
		uint64_t n; /* little-endian: a shorter integer fills its beginning */
		float f;
		double d;
		struct rtl_text text;
	} v = {0};
	unsigned unused = field->size < 8 ? 64 - 8 * field->size : 0;
	const char *string;

	memcpy(&v, (const char *)e->payload + field->offset, field->size < 8 ? field->size : 8);
	fprintf(f->lines, ",\"%s\":", field->name);
	switch (field->kind) {
	case RTL_KIND_UINT:
	case RTL_KIND_TIME:
	case RTL_KIND_BOOL:
	case RTL_KIND_ADDRESS:
	case RTL_KIND_UID:
		fprintf(f->lines, "%" PRIu64, v.n);
		break;
	case RTL_KIND_INT:
		fprintf(f->lines, "%" PRId64, (int64_t)(v.n << unused) >> unused);
		break;
	case RTL_KIND_FLOAT:
		write_number(f->lines, field->size == 4 ? (double)v.f : v.d);
		break;
	case RTL_KIND_STRING:
		string = f->host->string(f->host, e->process, v.n);
		write_string(f->lines, string ? string : "", string ? strlen(string) : 0);
		break;
	case RTL_KIND_TEXT: /* the host has checked that it lies in the payload */
		write_string(f->lines, (const char *)e->payload + v.text.offset, v.text.length);
		break;
	default:
		fputs("null", f->lines);
	}
}

static void send_lines(struct forward *f)
{
	const char *at = f->text, *end = f->text + ftello(f->lines);
	ssize_t n = 1;

	while (at < end && (n = send(f->socket, at, (size_t)(end - at), MSG_NOSIGNAL)) > 0)
		at += n;
	if (n <= 0)
		f->host->fail(f->host, errno == EAGAIN ? "the listener has not read for 10 s"
						       : "the listener has gone");
	rewind(f->lines);
}

static void on_events(void *instance, const struct rtl_event *const *events, size_t count)
{
	struct forward *f = instance;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_event *e = events[i];
		const struct rtl_tracepoint *about = f->host->tracepoint(f->host, e->process, e->uid);

		fprintf(f->lines, "{\"time_ns\":%" PRIu64 ",\"pid\":%d,\"tid\":%u,\"type\":\"%s\"",
			e->time_ns, e->process->pid, e->tid, e->type_info->name);
		if (about) {
			fputs(",\"about\":", f->lines);
			write_string(f->lines, about->name, strlen(about->name));
		}
		for (uint32_t k = 0; k < e->type_info->field_count; k++)
			write_field(f, e, rtl_type_field(e->type_info, k));
		fputs("}\n", f->lines);
	}
	if (fflush(f->lines))
		f->host->fail(f->host, "no memory for lines");
	else
		send_lines(f);
}

static void destroy(void *instance)
{
	struct forward *f = instance;

	if (f->lines)
		fclose(f->lines);
	if (f->socket >= 0)
		close(f->socket);
	free(f->text);
	free(f->stream);
	free(f->type);
	free(f);
}

static int create(const struct rtl_host *host, const struct rtl_setting *s, size_t n, void **out)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct timeval patience = {.tv_sec = 10};
	struct forward *f = calloc(1, sizeof(*f));
	char text[256];

	(void)n;
	if (!f)
		return RTL_ENOMEM;
	f->host = host;
	f->stream = strdup(rtl_setting_at(s, STREAM)->value);
	f->type = strdup(rtl_setting_at(s, TYPE)->value);
	f->lines = open_memstream(&f->text, &f->size);
	f->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strcpy(to.sun_path, rtl_setting_at(s, TO)->value); /* at most 100 bytes, as the setting says */
	if (!f->stream || !f->type || !f->lines) {
		destroy(f);
		return RTL_ENOMEM;
	}
	if (f->socket < 0 || connect(f->socket, (struct sockaddr *)&to, sizeof(to))) {
		snprintf(text, sizeof(text), "nobody listens at %s: %s", to.sun_path, strerror(errno));
		host->report(host, RTL_LEVEL_ERROR, text);
		destroy(f);
		return RTL_EIO;
	}
	setsockopt(f->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	*out = f;
	return 0;
}

static int stream(void *instance, const struct rtl_stream_info *info)
{
	struct forward *f = instance;
	int error = 0;

	if (strcmp(info->name, f->stream))
		return 0;
	for (uint32_t i = 0; i < info->type_count && !error; i++) {
		const struct rtl_type_info *type = rtl_stream_type(info, i);

		if (!fnmatch(f->type, type->name, 0))
			error = f->host->subscribe(f->host, info, type->type, RTL_BUFFERED, on_events, f,
						   NULL);
	}
	return error;
}

RTL_EXPORT_SUBSCRIBER = {.abi_version = RTL_ABI_VERSION, .struct_size = sizeof(rtl_subscriber),
			 .name = "forward", .version = "1", .description = "forwards one stream",
			 .settings = settings, .setting_count = sizeof(settings) / sizeof(*settings),
			 .create = create, .stream = stream, .destroy = destroy};
