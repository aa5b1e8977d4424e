/* SPDX-License-Identifier: MIT */
/* Sizes and offsets of version 8.0's structs, as the library of ROCm has them. */
#include <rocprofiler/rocprofiler.h>

#define SIZE(type, size)     _Static_assert(sizeof(type) == (size), #type)
#define AT(type, member, at) _Static_assert(offsetof(type, member) == (at), #type "." #member)

SIZE(rocprofiler_settings_t, 56);
AT(rocprofiler_settings_t, trace_local, 16);
AT(rocprofiler_settings_t, timeout, 24);
AT(rocprofiler_settings_t, timestamp_on, 32);
AT(rocprofiler_settings_t, obj_dumping, 48);
SIZE(rocprofiler_data_t, 32);
AT(rocprofiler_data_t, result_bytes.size, 16);
AT(rocprofiler_data_t, result_bytes.copy, 24);
SIZE(rocprofiler_feature_t, 72);
AT(rocprofiler_feature_t, counter.event, 16);
AT(rocprofiler_feature_t, parameters, 24);
AT(rocprofiler_feature_t, data, 40);
SIZE(rocprofiler_group_t, 32);
AT(rocprofiler_group_t, context, 24);
SIZE(rocprofiler_properties_t, 32);
AT(rocprofiler_properties_t, handler, 16);
SIZE(rocprofiler_dispatch_record_t, 32);
SIZE(rocprofiler_callback_data_t, 96);
AT(rocprofiler_callback_data_t, queue_id, 32);
AT(rocprofiler_callback_data_t, kernel_code, 72);
AT(rocprofiler_callback_data_t, record, 88);
SIZE(rocprofiler_queue_callbacks_t, 24);
SIZE(rocprofiler_info_query_t, 8);
SIZE(rocprofiler_info_data_t, 56);
AT(rocprofiler_info_data_t, metric.block_counters, 48);
AT(rocprofiler_info_data_t, trace_parameter.description, 32);
SIZE(rocprofiler_pool_entry_t, 16);
SIZE(rocprofiler_pool_properties_t, 24);
SIZE(rocprofiler_hsa_callback_data_t, 72);
SIZE(rocprofiler_hsa_callbacks_t, 48);

int main(void)
{
	return 0;
}
