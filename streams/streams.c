/* SPDX-License-Identifier: MIT */
/* All streams of the collectors, for `rtl list-streams`. */
#include <rtl/plugin.h>

#include "common/describe.h"
#include "hip/stream.h"
#include "hsa/calls.h"
#include "hsa/copy_publish.h"
#include "hsa/memory.h"
#include "hsa/stream.h"
#include "roctx/stream.h"

__attribute__((visibility("default"))) const struct rtl_stream_info *const *
rtl_publisher_streams(size_t *count);

const struct rtl_stream_info *const *rtl_publisher_streams(size_t *count)
{
	static const struct rtl_stream_info *const streams[] = {
		&hsa_stream_info,
		&copy_stream_info,
		&memory_stream_info,
		&call_stream_info,
		&call_debug_stream_info,
		&hip_call_stream_info,
		&hip_call_debug_stream_info,
		&roctx_stream_info,
	};

	*count = COUNT(streams);
	return streams;
}
