/* SPDX-License-Identifier: MIT */
#include "diagnostics.h"

#include <string.h>

#include <rtl/events/bus.h>
#include <rtl/plugin.h>
#include <rtl/publish.h>

#include "events/events.h"
#include "log.h"

static struct rtl_stream *stream = &rtl_stream_none;

static void publish(enum rtl_level level, const char *who, const char *text)
{
	uint32_t who_length = (uint32_t)strnlen(who, 128);
	uint32_t text_length = (uint32_t)strnlen(text, LOG_TEXT);
	struct rtl_record *record;
	struct rtl_diagnostic *d;

	if (level > RTL_LEVEL_INFO || !rtl_enabled(stream, RTL_DIAGNOSTICS))
		return;
	/* never waits: the consumer itself may be the one that speaks */
	record = rtl_try_reserve(stream, RTL_DIAGNOSTICS,
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
	rtl_stream_register(&diagnostics_stream_info, &stream);
	log_tell(publish);
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
