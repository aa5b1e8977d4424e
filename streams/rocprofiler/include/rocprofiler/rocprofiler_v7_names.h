/* SPDX-License-Identifier: MIT */
/* The specification's names for what rocprofiler_v7.h has, which includes this at its end. */
#ifndef RTL_ROCPROFILER_V7_NAMES_H
#define RTL_ROCPROFILER_V7_NAMES_H

#define ROCPROFILER_METRIC ROCPROFILER_FEATURE_KIND_METRIC
#define ROCPROFILER_TRACE  ROCPROFILER_FEATURE_KIND_TRACE

#define rocprofiler_settings_t               rocprofiler_v7_settings_t
#define rocprofiler_feature_parameter_t      rocprofiler_v7_feature_parameter_t
#define rocprofiler_feature_t                rocprofiler_v7_feature_t
#define rocprofiler_t                        rocprofiler_v7_t
#define rocprofiler_group_t                  rocprofiler_v7_group_t
#define rocprofiler_context_callback_t       rocprofiler_v7_context_callback_t
#define rocprofiler_properties_t             rocprofiler_v7_properties_t
#define rocprofiler_time_id_t                rocprofiler_v7_time_id_t
#define ROCPROFILER_TIME_ID_CLOCK_REALTIME   ROCPROFILER_V7_TIME_ID_CLOCK_REALTIME
#define ROCPROFILER_TIME_ID_CLOCK_MONOTONIC  ROCPROFILER_V7_TIME_ID_CLOCK_MONOTONIC
#define rocprofiler_callback_data_t          rocprofiler_v7_callback_data_t
#define rocprofiler_callback_t               rocprofiler_v7_callback_t
#define rocprofiler_queue_callbacks_t        rocprofiler_v7_queue_callbacks_t
#define rocprofiler_intercepting_t           rocprofiler_v7_queue_callbacks_t
#define rocprofiler_pool_t                   rocprofiler_v7_pool_t
#define rocprofiler_pool_entry_t             rocprofiler_v7_pool_entry_t
#define rocprofiler_pool_handler_t           rocprofiler_v7_pool_handler_t
#define rocprofiler_pool_properties_t        rocprofiler_v7_pool_properties_t
#define rocprofiler_error_string             rocprofiler_v7_error_string
#define rocprofiler_open                     rocprofiler_v7_open
#define rocprofiler_close                    rocprofiler_v7_close
#define rocprofiler_group_count              rocprofiler_v7_group_count
#define rocprofiler_get_group                rocprofiler_v7_get_group
#define rocprofiler_get_metrics              rocprofiler_v7_get_metrics
#define rocprofiler_iterate_trace_data       rocprofiler_v7_iterate_trace_data
#define rocprofiler_start                    rocprofiler_v7_start
#define rocprofiler_stop                     rocprofiler_v7_stop
#define rocprofiler_read                     rocprofiler_v7_read
#define rocprofiler_get_data                 rocprofiler_v7_get_data
#define rocprofiler_group_start              rocprofiler_v7_group_start
#define rocprofiler_group_stop               rocprofiler_v7_group_stop
#define rocprofiler_group_read               rocprofiler_v7_group_read
#define rocprofiler_group_get_data           rocprofiler_v7_group_get_data
#define rocprofiler_get_time                 rocprofiler_v7_get_time
#define rocprofiler_set_queue_callbacks      rocprofiler_v7_set_queue_callbacks
#define rocprofiler_set_intercepting         rocprofiler_v7_set_queue_callbacks
#define rocprofiler_add_dispatch_callback    rocprofiler_v7_add_dispatch_callback
#define rocprofiler_remove_intercepting      rocprofiler_remove_queue_callbacks
#define rocprofiler_remove_dispatch_callback rocprofiler_remove_queue_callbacks
#define rocprofiler_get_info                 rocprofiler_v7_get_info
#define rocprofiler_query_info               rocprofiler_v7_query_info
#define rocprofiler_pool_open                rocprofiler_v7_pool_open
#define rocprofiler_pool_close               rocprofiler_v7_pool_close
#define rocprofiler_pool_fetch               rocprofiler_v7_pool_fetch
#define rocprofiler_pool_release             rocprofiler_v7_pool_release
#define rocprofiler_pool_iterate             rocprofiler_v7_pool_iterate
#define rocprofiler_pool_flush               rocprofiler_v7_pool_flush

#endif
