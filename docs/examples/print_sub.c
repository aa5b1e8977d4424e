/* SPDX-License-Identifier: MIT */
/* A subscriber that prints every event of every stream, field by field. Start your own from it:
 *     cc -shared -fPIC print_sub.c -o libprint_sub.so $(pkg-config --cflags rtl)
 *     RTL_SUBSCRIBERS=./libprint_sub.so ./app */
#include <inttypes.h>
#include <rtl/args.h>
#include <rtl/subscriber.h>
#include <stdio.h>

/* A text is elsewhere in the payload. It comes from another process, so check its bounds. */
static void print_text(const struct rtl_event *e, struct rtl_text text)
{
	if (text.offset <= e->payload_size && text.length <= e->payload_size - text.offset)
		printf("'%.*s'", (int)text.length, (const char *)e->payload + text.offset);
}

static void print_field(const struct rtl_host *host, const struct rtl_event *e,
			const struct rtl_field *f)
{
	union {
		uint64_t n; /* integers have 1, 2, 4 or 8 bytes (little-endian) */
		float f;
		double d;
		struct rtl_text text;
	} v = {0};
	const char *at = (const char *)e->payload + f->offset, *string;
	char args[1024];
	unsigned unused = f->size < 8 ? 64 - 8 * f->size : 0;

	memcpy(&v, at, f->size < 8 ? f->size : 8);
	printf(" %s=", f->name);
	if (f->kind == RTL_KIND_UINT || f->kind == RTL_KIND_TIME || f->kind == RTL_KIND_BOOL)
		printf("%" PRIu64 "%s", v.n, f->unit);
	else if (f->kind == RTL_KIND_INT)
		printf("%" PRId64 "%s", (int64_t)(v.n << unused) >> unused, f->unit);
	else if (f->kind == RTL_KIND_FLOAT)
		printf("%g%s", f->size == 4 ? v.f : v.d, f->unit);
	else if (f->kind == RTL_KIND_ADDRESS || f->kind == RTL_KIND_UID)
		printf("0x%" PRIx64, v.n);
	else if (f->kind == RTL_KIND_STRING)
		printf("'%s'", (string = host->string(host, e->process, v.n)) ? string : "");
	else if (f->kind == RTL_KIND_TEXT)
		print_text(e, v.text);
	else if (rtl_args_text(host, e, f, args, sizeof(args))) /* arguments of a call and the like */
		printf("(%s)", args);
	else /* RTL_KIND_BYTES, and kinds to come */
		for (uint32_t i = 0; i < f->size; i++)
			printf("%02x", (unsigned char)at[i]);
}

static void on_events(void *host, const struct rtl_event *const *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct rtl_event *e = events[i];

		printf("%" PRIu64 " %d/%u %s.%s", e->time_ns, e->process->pid, e->tid,
		       e->stream->name, e->type_info->name);
		for (uint32_t k = 0; k < e->type_info->field_count; k++)
			print_field(host, e, rtl_type_field(e->type_info, k));
		printf("\n");
	}
}

static int create(const struct rtl_host *host, const struct rtl_setting *s, size_t n, void **out)
{
	(void)s, (void)n;
	*out = (void *)host; /* the instance: usually a struct of its own, made here */
	return 0;
}

static int stream(void *host, const struct rtl_stream_info *info)
{
	return ((const struct rtl_host *)host)->subscribe(host, info, RTL_TYPE_ANY, RTL_BUFFERED,
							  on_events, host, NULL);
}

RTL_EXPORT_SUBSCRIBER = {.abi_version = RTL_ABI_VERSION, .struct_size = sizeof(rtl_subscriber),
			 .name = "print", .version = "1", .description = "prints every event",
			 .create = create, .stream = stream};
