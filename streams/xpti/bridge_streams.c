/* SPDX-License-Identifier: MIT */
/* See bridge.h: XPTI's streams as librtl's. Their descriptions are in streams/events/xpti.toml. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rtl/events/xpti.h>
#include <rtl/plugin.h>
#include <rtl/publish.h>
#include <rtl/scope.h>

#include "bridge.h"
#include "events/events.h"
#include "thread.h"

#define NAME_MAX_LENGTH 100u

static struct known_type types[KIND_MEMORY + 1][256];

static const struct rtl_stream_info *const descriptions[KIND_MEMORY + 1] = {
	[KIND_UNKNOWN] = &xpti_other_info, [KIND_SYCL] = &xpti_sycl_info,
	[KIND_CALLS] = &xpti_calls_info,   [KIND_BUFFER] = &xpti_buffer_info,
	[KIND_IMAGE] = &xpti_buffer_info,  [KIND_MEMORY] = &xpti_memory_info,
};

static const struct known {
	const char *name;
	enum stream_kind kind;
} known[] = {
	{"sycl", KIND_SYCL},
	{"sycl.debug", KIND_SYCL},
	{"ur.call", KIND_CALLS},
	{"ur.call.debug", KIND_CALLS},
	{"sycl.experimental.buffer", KIND_BUFFER},
	{"sycl.experimental.image", KIND_IMAGE},
	{"sycl.experimental.mem_alloc", KIND_MEMORY},
	{"sycl.pi", KIND_CALLS},
	{"sycl.pi.debug", KIND_CALLS},
	{"sycl.experimental.level_zero.call", KIND_CALLS},
	{"sycl.experimental.level_zero.debug", KIND_CALLS},
	{"sycl.experimental.cuda.call", KIND_CALLS},
	{"sycl.experimental.cuda.debug", KIND_CALLS},
	{"xpti.framework", KIND_UNKNOWN},
};

#define KNOWN (sizeof known / sizeof known[0])

static const uint8_t begins[] = {8, 10, 12, 14, 18, 20, 22, 24, 28, 32, 34};
/* Types whose user data are a text: of the stream sycl, and of calls. */
static const uint8_t sycl_texts[] = {4, 10, 11, 12, 13, 22, 23, 42, 43, RTL_DIAGNOSTICS};
static const uint8_t call_texts[] = {24, 25};

static void mark(struct known_type *of, const uint8_t *list, size_t count, uint8_t flags)
{
	for (size_t i = 0; i < count; i++)
		of[list[i]].flags |= flags;
}

/* Only types that streams of the kind describe have payloads and texts of their own. */
static void describe(struct known_type *of, uint32_t kind)
{
	const struct rtl_stream_info *info = descriptions[kind];

	if (kind == KIND_SYCL)
		mark(of, sycl_texts, sizeof sycl_texts, KNOWN_TEXT);
	if (kind == KIND_CALLS)
		mark(of, call_texts, sizeof call_texts, KNOWN_TEXT);
	for (uint32_t i = 0; i < 256; i++)
		of[i].number = RTL_OTHER;
	for (uint32_t i = 0; i < info->type_count; i++)
		if (info->types[i].type < 0x80)
			of[info->types[i].type].number = (uint8_t)info->types[i].type;
	for (uint32_t i = 0; i < 256; i++)
		if (of[i].number == RTL_OTHER)
			of[i].flags = 0;
	for (uint32_t i = 0; i < sizeof begins; i++) {
		of[begins[i]].flags |= KNOWN_BEGIN;
		of[begins[i] + 1].flags |= KNOWN_END;
	}
}

void bridge_start(void)
{
	for (uint32_t kind = 0; kind <= KIND_MEMORY; kind++)
		describe(types[kind], kind);
}

/* ---- names */

static const char debug_end[] = ".debug";

void bridge_name(struct stream *stream, const char *name)
{
	size_t length = strlen(name), end = sizeof debug_end - 1;

	for (uint32_t i = 0; i < KNOWN; i++)
		if (!strcmp(known[i].name, name))
			stream->kind = (uint8_t)known[i].kind;
	stream->types = types[stream->kind];
	stream->debug = length > end && !strcmp(name + length - end, debug_end);
	/* whichever of the two comes later finds the other */
	for (uint32_t i = 1; i < STREAMS && streams[i].name; i++) {
		struct stream *other = &streams[i];
		size_t other_length = strlen(other->name);

		if (stream->debug && other_length == length - end &&
		    !memcmp(other->name, name, other_length))
			__atomic_store_n(&stream->plain, other, __ATOMIC_RELEASE);
		if (other->debug && other_length == length + end &&
		    !memcmp(other->name, name, length))
			__atomic_store_n(&other->plain, stream, __ATOMIC_RELEASE);
	}
}

/* What librtl calls it: in small letters; anything else that it has no room for is _XX. */
static void make_name(char *out, size_t size, const char *name)
{
	size_t n = 0;

	for (; *name && n + 4 < size; name++) {
		if (*name >= 'A' && *name <= 'Z')
			out[n++] = (char)(*name - 'A' + 'a');
		else if (strchr("abcdefghijklmnopqrstuvwxyz0123456789_-.", *name))
			out[n++] = *name;
		else
			n += (size_t)snprintf(out + n, size - n, "_%02x", (unsigned char)*name);
	}
	out[n] = '\0';
}

void bridge_stream(struct stream *stream)
{
	char name[NAME_MAX_LENGTH], description[256];
	struct rtl_stream_info info = *descriptions[stream->kind];
	struct rtl_stream *rtl = &rtl_stream_none;
	int err;

	if (!(framework_now() & STATE_RTL) || (stream->debug && !framework_wants_debug()))
		return;
	make_name(name, sizeof name, stream->name);
	info.name = name;
	if (strcmp(name, stream->name) != 0 || stream->kind == KIND_UNKNOWN) {
		snprintf(description, sizeof description, "XPTI's stream \"%.200s\"", stream->name);
		info.description = description;
	}
	err = rtl_stream_register(&info, &rtl);
	if (err) {
		/* it is not tried again */
		__atomic_store_n(&stream->rtl, NULL, __ATOMIC_RELEASE);
		rtl_log(RTL_LEVEL_WARNING, "xpti", "XPTI's stream \"%s\" is not recorded: %s",
			stream->name, rtl_error_text(err));
		return;
	}
	/* release: with the acquire in bridge_notify */
	__atomic_store_n(&stream->rtl, rtl, __ATOMIC_RELEASE);
}

void bridge_streams(void)
{
	for (uint32_t i = 1; i < XPTI_INVALID_STREAM; i++)
		if (__atomic_load_n(&streams[i].name, __ATOMIC_ACQUIRE) &&
		    __atomic_load_n(&streams[i].rtl, __ATOMIC_ACQUIRE) == &rtl_stream_none)
			bridge_stream(&streams[i]);
}

/* Types below 64, diagnostics, and the two that are not XPTI's: no stream has others. */
bool bridge_wants_any(const struct rtl_stream *rtl)
{
	uint64_t any = 0, word;

	for (uint32_t i = 0; i < 64; i += 8) {
		memcpy(&word, rtl->wanted + i, 8);
		any |= word;
	}
	memcpy(&word, rtl->wanted + 124, 8);
	return (any | word) != 0;
}

/* ---- begin and end */

/* Unified Runtime's loader, which publishes the stream, knows how to read its arguments. */
static void find_printer(struct stream *stream)
{
	static const char name[] = "urPrintFunctionParams";
	void *loader = dlopen("libur_loader.so.0", RTLD_LAZY | RTLD_NOLOAD);
	void *symbol = loader ? dlsym(loader, name) : dlsym(RTLD_DEFAULT, name);

	/* release: with the acquire in record_call */
	__atomic_store_n(&stream->print, (ur_print_fn *)symbol, __ATOMIC_RELEASE);
}

void bridge_begin(struct stream *stream, uint32_t major, uint32_t minor, const char *version)
{
	struct rtl_stream *rtl = __atomic_load_n(&stream->rtl, __ATOMIC_ACQUIRE);
	struct rtl_xpti_object *payload;
	struct rtl_record *r;
	char text[256];
	size_t length;

	__atomic_store_n(&stream->ended, false, __ATOMIC_RELAXED);
	if (stream->debug && stream->kind == KIND_CALLS && !strncmp(stream->name, "ur.", 3))
		find_printer(stream);
	if (!rtl || !rtl_enabled(rtl, RTL_METADATA))
		return;
	snprintf(text, sizeof text, "%u.%u %.200s", major, minor, version);
	length = strlen(text);
	r = rtl_reserve_in_scope(rtl, RTL_METADATA, (uint32_t)(sizeof *payload + length));
	if (!r)
		return;
	payload = rtl_record_payload(r);
	*payload = (struct rtl_xpti_object){
		.event = {.type = RTL_METADATA, .text = {sizeof *payload, (uint32_t)length}},
		.metadata = {sizeof *payload, 0}};
	memcpy(payload + 1, text, length);
	rtl_commit(r);
}

void bridge_end(struct stream *stream)
{
	struct rtl_stream *rtl = __atomic_load_n(&stream->rtl, __ATOMIC_ACQUIRE);

	if (rtl && !__atomic_exchange_n(&stream->ended, true, __ATOMIC_RELAXED))
		rtl_stream_end(rtl);
}

/* ---- for `rtl list-streams` */

XPTI_API const struct rtl_stream_info *const *rtl_publisher_streams(size_t *count);

const struct rtl_stream_info *const *rtl_publisher_streams(size_t *count)
{
	static struct rtl_stream_info infos[KNOWN];
	static const struct rtl_stream_info *list[KNOWN];

	for (uint32_t i = 0; i < KNOWN; i++) {
		infos[i] = *descriptions[known[i].kind];
		infos[i].name = known[i].name;
		list[i] = &infos[i];
	}
	*count = KNOWN;
	return list;
}
