/* SPDX-License-Identifier: MIT */
/* What a host's subscribers want of each stream, and how processes are told: without a gap, as publishers look any
 * time. */
#include <stdio.h>
#include <stdlib.h>

#include "host.h"

#define PAUSES_MOST (1u << 20) /* bytes of text */
#define WANT_BITS   (SPOOL_WANT_INLINE | SPOOL_WANT_RECORD | SPOOL_WANT_COUNT)
#define ANEW_BITS   (WANT_BITS | RTL_WANTED_AGAIN)

/* Adds what a subscription, or the host itself, wants of a type or of all. */
static void add(struct stream_wants *wants, const struct rtl_stream_info *info, uint16_t type,
		uint8_t bits)
{
	for (uint32_t i = 0; i < info->type_count; i++)
		if (type == RTL_TYPE_ANY || type == info->types[i].type)
			wants->bits[info->types[i].type & 0xff] |= bits;
}

/* Whether what a type says is recorded of another one, which is said to repeat it. */
static bool is_recorded_twice(const struct rtl_stream_info *info, const struct rtl_type_info *type)
{
	char debug[256];

	if (!(type->repeated_by & RTL_IN_DEBUG))
		return type->repeated_by;
	snprintf(debug, sizeof(debug), "%s.debug", info->name);
	return stream_list_selects(debug);
}

/* What goes into a recording. */
static void add_recorded(const struct host *host, struct stream_wants *wants,
			 const struct rtl_stream_info *info)
{
	for (uint32_t i = 0; i < info->type_count; i++)
		if (host->keep_repeated || !is_recorded_twice(info, &info->types[i]))
			add(wants, info, info->types[i].type, SPOOL_WANT_RECORD);
}

/* What the user's selection leaves out now is only counted. */
static void leave_out(struct stream_wants *wants, const struct rtl_stream_info *info)
{
	for (uint32_t i = 0; i < info->type_count; i++) {
		uint8_t *bits = &wants->bits[info->types[i].type & 0xff];

		if (*bits && !stream_type_describes(info, info->types[i].type))
			*bits = SPOOL_WANT_COUNT;
	}
}

static void collect(const struct host *host, const struct rtl_stream_info *info,
		    struct stream_wants *wants)
{
	const struct rtl_subscription *s;

	memset(wants, 0, sizeof(*wants));
	if (host->recording && !host->off && stream_list_selects(info->name))
		add_recorded(host, wants, info);
	for (s = host->subscriptions[info->number]; s; s = s->next)
		if (s->fn && !host->off)
			add(wants, info, s->type,
			    s->is_inline ? SPOOL_WANT_INLINE : SPOOL_WANT_RECORD);
	if (host->outside)
		leave_out(wants, info);
}

void wants_tell(struct host *host, const struct rtl_stream_info *info)
{
	struct stream_wants wants;

	if (info == host->meets)
		return;
	collect(host, info, &wants);
	for (uint32_t i = 0; i < host->source_count; i++)
		source_want(host->sources[i], info, &wants, WANT_BITS);
}

void wants_tell_one(struct host *host, struct source *source, const struct rtl_stream_info *info)
{
	struct stream_wants wants;

	collect(host, info, &wants);
	for (uint32_t i = 0; host->attached && i < info->type_count; i++)
		if (stream_type_describes(info, info->types[i].type))
			add(&wants, info, info->types[i].type, RTL_WANTED_AGAIN);
	source_want(source, info, &wants, host->attached ? ANEW_BITS : WANT_BITS);
}

/* Recording goes on. If there is no memory, or there were too many pauses, the last one lasts until now. */
static void note_pause(struct host *host)
{
	const size_t most = sizeof("18446744073709551615-18446744073709551615 ");
	char *text = host->pauses_length < PAUSES_MOST
			     ? realloc(host->pauses, host->pauses_length + most)
			     : NULL;

	if (text) {
		host->pauses = text;
		host->pauses_length += (size_t)sprintf(text + host->pauses_length, "%llu-%llu ",
						       (unsigned long long)host->paused_ns,
						       (unsigned long long)clock_ns());
		host->paused_ns = 0;
	}
}

/* Changes what goes for all streams, and tells the processes. */
static void set(struct host *host, bool *what, bool value)
{
	const uint64_t now_ns = clock_ns();

	if (*what == value)
		return;
	host_data_lock(host);
	*what = value;
	for (uint32_t i = 0; i < host->stream_count; i++)
		wants_tell(host, host->streams[i]);
	host_data_unlock(host);
	if (!host->off && !host->outside)
		note_pause(host);
	else if (!host->paused_ns)
		host->paused_ns = now_ns;
}

void host_set_paused(struct host *host, bool paused)
{
	set(host, &host->off, paused);
}

uint64_t host_follow_periods(struct host *host, const struct periods *periods, uint64_t start_ns)
{
	uint64_t change_ns;

	set(host, &host->outside, !periods_are_in(periods, start_ns, clock_ns(), &change_ns));
	return change_ns;
}

void host_stop_publishing(struct host *host)
{
	static const struct stream_wants nothing;

	for (uint32_t i = 0; i < host->source_count; i++)
		for (uint32_t k = 0;
		     !host->sources[i]->closed && k < host->sources[i]->stream_count; k++)
			source_want(host->sources[i], host->sources[i]->streams[k], &nothing,
				    SPOOL_WANT_RECORD | SPOOL_WANT_COUNT | RTL_WANTED_AGAIN);
}

void host_write_wants(struct host *host, char *text, size_t size)
{
	FILE *out = fmemopen(text, size, "w");
	struct stream_wants wants;

	for (uint32_t i = 0; out && i < host->stream_count; i++) {
		const struct rtl_stream_info *info = host->streams[i];

		collect(host, info, &wants);
		fputs(info->name, out);
		for (uint32_t k = 0; k < info->type_count; k++)
			if (wants.bits[info->types[k].type & 0xff])
				fprintf(out, " %u", info->types[k].type);
		fputc('\n', out);
	}
	if (out)
		fclose(out);
}
