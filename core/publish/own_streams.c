/* SPDX-License-Identifier: MIT */
/* The streams that librtl itself publishes. Its first use registers "rtl.default", for programs without their own. */
#include <errno.h>

#include <rtl/plugin.h>

#include "events/events.h"
#include "log.h"
#include "parts.h"

/* Longer names are cut off. */
#define TEXT_MAX 1024u

/* Until the stream is registered everything seems wanted, so that the first use comes to us. */
static const uint8_t everything[256] = {
	[RTL_REGION_BEGIN] = 1, [RTL_REGION_END] = 1, [RTL_SIGNAL] = 1};

const uint8_t *rtl_default_wanted = everything;
static struct rtl_stream *stream = &rtl_stream_none; /* valid where rtl_default_wanted is its */

__attribute__((noinline, cold)) static struct rtl_stream *register_stream(void)
{
	struct rtl_stream *found = &rtl_stream_none;
	int err = errno; /* the program's */

	/* twice in a race: it is the same stream. A child made by fork has it at the same place. */
	rtl_stream_register(&default_stream_info, &found);
	__atomic_store_n(&stream, found, __ATOMIC_RELAXED);
	/* release: with the acquire in rtl_default_enabled and below */
	__atomic_store_n(&rtl_default_wanted, found->wanted, __ATOMIC_RELEASE);
	errno = err;
	return found;
}

struct rtl_stream *rtl_default_stream(void)
{
	if (__atomic_load_n(&rtl_default_wanted, __ATOMIC_ACQUIRE) == everything)
		return register_stream();
	return __atomic_load_n(&stream, __ATOMIC_RELAXED);
}

static uint32_t text_length(const char *text)
{
	return text ? (uint32_t)strnlen(text, TEXT_MAX) : 0;
}

static void fill(struct rtl_default_payload *payload, uint64_t name, const char *text,
		 uint32_t length, uint32_t kind, uint64_t bits)
{
	payload->name = name;
	payload->text.offset = (uint32_t)sizeof(*payload);
	payload->text.length = length;
	payload->integer = kind == RTL_KIND_UINT ? bits : 0;
	payload->number = 0;
	if (kind == RTL_KIND_FLOAT)
		memcpy(&payload->number, &bits, sizeof(bits));
	payload->kind = kind;
	payload->reserved = 0;
	if (length)
		memcpy(payload + 1, text, length);
}

static uint64_t name_of(struct rtl_site *site, uint64_t *uid)
{
	*uid = site ? rtl_site_register(site) : 0;
	return *uid ? __atomic_load_n(&site->name_string, __ATOMIC_RELAXED) : 0;
}

void rtl_default_mark(struct rtl_site *site, const char *text, uint32_t kind, uint64_t bits)
{
	struct rtl_stream *to = rtl_default_stream();
	uint32_t length = text_length(text);
	struct rtl_record *record;
	uint64_t uid, name;

	if (!rtl_enabled(to, RTL_SIGNAL))
		return;
	name = name_of(site, &uid);
	record = rtl_reserve_in_scope(to, RTL_SIGNAL,
				      (uint32_t)sizeof(struct rtl_default_payload) + length);
	if (!record)
		return;
	record->uid = uid;
	fill(rtl_record_payload(record), name, text, length, kind, bits);
	rtl_commit(record);
}

static void publish(const struct rtl_span *span, uint16_t type, const char *text, uint32_t kind,
		    uint64_t bits)
{
	uint32_t length = text_length(text);
	struct rtl_record *record;

	if (!rtl_enabled(span->stream, type))
		return;
	record = scope_reserve(span, type, (uint32_t)sizeof(struct rtl_default_payload) + length);
	if (!record)
		return;
	fill(rtl_record_payload(record), span->name, text, length, kind, bits);
	rtl_commit(record);
}

void rtl_default_begin(struct rtl_span *span, struct rtl_site *site, const char *text,
		       uint32_t kind, uint64_t bits)
{
	struct rtl_stream *to = rtl_default_stream();

	if (!rtl_span_prepare(span, to, RTL_REGION_BEGIN, RTL_REGION_END, 0))
		return;
	span->name = name_of(site, &span->uid);
	scope_open_span(span);
	publish(span, RTL_REGION_BEGIN, text, kind, bits);
}

void rtl_default_end(struct rtl_span *span, uint32_t kind, uint64_t bits)
{
	if (!scope_span_is_open(span))
		return;
	publish(span, RTL_REGION_END, NULL, kind, bits);
	scope_close_span(span);
}

/* ---- "rtl.diagnostics": rtl's own warnings and errors as events */

static struct rtl_stream *diagnostics = &rtl_stream_none;

static void publish_line(enum rtl_level level, const char *who, const char *text)
{
	uint32_t who_length = (uint32_t)strnlen(who, 128);
	uint32_t text_length = (uint32_t)strnlen(text, LOG_TEXT);
	struct rtl_record *record;
	struct rtl_diagnostic *d;

	if (level > RTL_LEVEL_INFO || !rtl_enabled(diagnostics, RTL_DIAGNOSTICS))
		return;
	/* never waits: the consumer itself may be the one that speaks */
	record = rtl_try_reserve(diagnostics, RTL_DIAGNOSTICS,
				 (uint32_t)sizeof(*d) + who_length + text_length);
	if (!record)
		return;
	d = rtl_record_payload(record);
	d->level = level;
	d->reserved = 0;
	d->who = (struct rtl_text){sizeof(*d), who_length};
	d->text = (struct rtl_text){(uint32_t)sizeof(*d) + who_length, text_length};
	memcpy((char *)d + d->who.offset, who, who_length);
	memcpy((char *)d + d->text.offset, text, text_length);
	rtl_commit(record);
}

void diagnostics_start(void)
{
	rtl_stream_register(&diagnostics_stream_info, &diagnostics);
	log_tell(publish_line);
}

/* For `rtl list-streams`: the streams that librtl itself publishes. */
RTL_API const struct rtl_stream_info *const *rtl_publisher_streams(size_t *count);

const struct rtl_stream_info *const *rtl_publisher_streams(size_t *count)
{
	static const struct rtl_stream_info *const all[] = {&diagnostics_stream_info,
							    &default_stream_info};

	*count = sizeof(all) / sizeof(*all);
	return all;
}
