/* SPDX-License-Identifier: MIT */
/* All streams of the interceptors, for `rtl list-streams`. */
#include <rtl/plugin.h>

#include "events/events.h"

__attribute__((visibility("default"))) const struct rtl_stream_info *const *
rtl_publisher_streams(size_t *count);

const struct rtl_stream_info *const *rtl_publisher_streams(size_t *count)
{
	static const struct rtl_stream_info *const streams[] = {EVENTS_STREAMS};

	*count = sizeof(streams) / sizeof(streams[0]);
	return streams;
}
