/* SPDX-License-Identifier: MIT */
/* Sizes of version 8.0's structs and places of members, as the library of ROCm has them. */
#include <rocprofiler/rocprofiler.h>

#define LAYOUT(type, size, member, at)                                                             \
	_Static_assert(sizeof(type) == (size) && offsetof(type, member) == (at), #type)

LAYOUT(rocprofiler_settings_t, 56, timeout, 24);
LAYOUT(rocprofiler_settings_t, 56, obj_dumping, 48);
LAYOUT(rocprofiler_data_t, 32, result_bytes.copy, 24);
LAYOUT(rocprofiler_feature_t, 72, counter.event, 16);
LAYOUT(rocprofiler_feature_t, 72, data, 40);
LAYOUT(rocprofiler_group_t, 32, context, 24);
LAYOUT(rocprofiler_properties_t, 32, handler, 16);
LAYOUT(rocprofiler_dispatch_record_t, 32, complete, 24);
LAYOUT(rocprofiler_callback_data_t, 96, queue_id, 32);
LAYOUT(rocprofiler_callback_data_t, 96, record, 88);
LAYOUT(rocprofiler_queue_callbacks_t, 24, destroy, 16);
LAYOUT(rocprofiler_info_query_t, 8, info_kind, 0);
LAYOUT(rocprofiler_info_data_t, 56, metric.block_counters, 48);
LAYOUT(rocprofiler_info_data_t, 56, trace_parameter.description, 32);
LAYOUT(rocprofiler_pool_entry_t, 16, payload, 8);
LAYOUT(rocprofiler_pool_properties_t, 24, handler_arg, 16);
LAYOUT(rocprofiler_hsa_callback_data_t, 72, codeobj.unload, 64);
LAYOUT(rocprofiler_hsa_callbacks_t, 48, codeobj, 40);

int main(void)
{
	return 0;
}
