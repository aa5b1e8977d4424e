/* SPDX-License-Identifier: MIT */
#include "diagnostics.h"

#include <string.h>

#include <rtl/describe.h>
#include <rtl/plugin.h>
#include <rtl/publish.h>

#include "default_stream.h"
#include "log.h"

struct diagnostic {
	uint32_t level;
	uint32_t reserved;
	struct rtl_text who;
	struct rtl_text text;
};

static const struct rtl_field fields[] = {
	RTL_FIELD(struct diagnostic, level, RTL_KIND_UINT, "", "1 error, 2 warning, 3 info"),
	RTL_FIELD(struct diagnostic, who, RTL_KIND_TEXT, "",
		  "part of rtl, or subscriber, that speaks"),
	RTL_FIELD(struct diagnostic, text, RTL_KIND_TEXT, "", "what it says"),
};

static const struct rtl_type_info types[] = {
	RTL_TYPE_INFO(RTL_DIAGNOSTICS, "diagnostics", struct diagnostic, fields,
		      "a line that was shown to the user"),
};

static const struct rtl_stream_info info = RTL_STREAM_INFO(
	"rtl.diagnostics", 1, 0, types, "warnings, errors and changes that rtl itself reports");

static struct rtl_stream *stream = &rtl_stream_none;

static void publish(enum rtl_level level, const char *who, const char *text)
{
	uint32_t who_length = (uint32_t)strnlen(who, 128);
	uint32_t text_length = (uint32_t)strnlen(text, LOG_TEXT);
	struct rtl_record *record;
	struct diagnostic *d;

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
	rtl_stream_register(&info, &stream);
	log_tell(publish);
}

/* For `rtl list-streams`: the streams that librtl itself publishes. */
RTL_API const struct rtl_stream_info *const *rtl_publisher_streams(size_t *count);

const struct rtl_stream_info *const *rtl_publisher_streams(size_t *count)
{
	static const struct rtl_stream_info *const all[] = {&info, &default_stream_info};

	*count = sizeof(all) / sizeof(*all);
	return all;
}
