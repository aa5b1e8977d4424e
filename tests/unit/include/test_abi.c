/* SPDX-License-Identifier: MIT */
/* The layout of what crosses the ABI, for 64-bit machines. Structs grow at their ends only: a line here may be added,
 * never changed (before the first release: with the agreement of all). This file is compiled as C11, C17 and C++17;
 * that it compiles is the test. */
#include <rtl/events.h>
#include <rtl/plugin.h>
#include <rtl/rtl.h>
#include <rtl/subscriber.h>

#ifdef __cplusplus
#	define AT(type, member, bytes)                                                            \
		static_assert(offsetof(struct type, member) == (bytes), #type "." #member)
#else
#	define AT(type, member, bytes)                                                            \
		_Static_assert(offsetof(struct type, member) == (bytes), #type "." #member)
#endif

#ifdef __cplusplus
#	define IS(type, number) static_assert((int)(type) == (number), #        type)
#else
#	define IS(type, number) _Static_assert((int)(type) == (number), #        type)
#endif

/* As XPTI numbers them: trace_point_type_t in xpti/xpti_trace_framework.h of intel/llvm. */
IS(RTL_GRAPH_CREATE, 2);
IS(RTL_NODE_CREATE, 4);
IS(RTL_EDGE_CREATE, 6);
IS(RTL_REGION_BEGIN, 8);
IS(RTL_REGION_END, 9);
IS(RTL_TASK_BEGIN, 10);
IS(RTL_TASK_END, 11);
IS(RTL_BARRIER_BEGIN, 12);
IS(RTL_BARRIER_END, 13);
IS(RTL_LOCK_BEGIN, 14);
IS(RTL_LOCK_END, 15);
IS(RTL_SIGNAL, 16);
IS(RTL_TRANSFER_BEGIN, 18);
IS(RTL_TRANSFER_END, 19);
IS(RTL_THREAD_BEGIN, 20);
IS(RTL_THREAD_END, 21);
IS(RTL_WAIT_BEGIN, 22);
IS(RTL_WAIT_END, 23);
IS(RTL_FUNCTION_BEGIN, 24);
IS(RTL_FUNCTION_END, 25);
IS(RTL_METADATA, 26);
IS(RTL_FUNCTION_WITH_ARGS_BEGIN, 28);
IS(RTL_FUNCTION_WITH_ARGS_END, 29);
IS(RTL_MEM_ALLOC_BEGIN, 32);
IS(RTL_MEM_ALLOC_END, 33);
IS(RTL_MEM_RELEASE_BEGIN, 34);
IS(RTL_MEM_RELEASE_END, 35);
IS(RTL_OFFLOAD_ALLOC_CONSTRUCT, 36);
IS(RTL_OFFLOAD_ALLOC_DESTRUCT, 37);
IS(RTL_OFFLOAD_ALLOC_ASSOCIATE, 38);
IS(RTL_OFFLOAD_ALLOC_RELEASE, 39);
IS(RTL_OFFLOAD_ALLOC_ACCESSOR, 40);
IS(RTL_QUEUE_CREATE, 42);
IS(RTL_QUEUE_DESTROY, 43);
IS(RTL_DIAGNOSTICS, 126);

AT(rtl_field, struct_size, 0);
AT(rtl_field, kind, 4);
AT(rtl_field, group, 6);
AT(rtl_field, offset, 8);
AT(rtl_field, size, 12);
AT(rtl_field, name, 16);
AT(rtl_field, unit, 24);
AT(rtl_field, description, 32);

AT(rtl_type_info, struct_size, 0);
AT(rtl_type_info, type, 4);
AT(rtl_type_info, field_count, 6);
AT(rtl_type_info, payload_size, 8);
AT(rtl_type_info, repeated_by, 12);
AT(rtl_type_info, name, 16);
AT(rtl_type_info, description, 24);
AT(rtl_type_info, fields, 32);

AT(rtl_stream_info, struct_size, 0);
AT(rtl_stream_info, version_major, 4);
AT(rtl_stream_info, version_minor, 6);
AT(rtl_stream_info, name, 8);
AT(rtl_stream_info, description, 16);
AT(rtl_stream_info, types, 24);
AT(rtl_stream_info, type_count, 32);
AT(rtl_stream_info, number, 36);

AT(rtl_ledger, struct_size, 0);
AT(rtl_ledger, reserved, 4);
AT(rtl_ledger, published, 8);
AT(rtl_ledger, delivered, 16);
AT(rtl_ledger, discarded, 24);
AT(rtl_ledger, abandoned, 32);
AT(rtl_ledger, missed, 40);

AT(rtl_pending, begun, 0);
AT(rtl_pending, ended, 64);
AT(rtl_pending, reserved1, 72);

AT(rtl_text, offset, 0);
AT(rtl_text, length, 4);
AT(rtl_arg, name, 0);
AT(rtl_arg, value, 8);
AT(rtl_arg, kind, 16);
AT(rtl_arg, flags, 18);

AT(rtl_enumerator, value, 0);
AT(rtl_enumerator, name, 8);
AT(rtl_value_info, struct_size, 0);
AT(rtl_value_info, kind, 4);
AT(rtl_value_info, size, 6);
AT(rtl_value_info, out_kind, 8);
AT(rtl_value_info, out_size, 10);
AT(rtl_value_info, offset, 12);
AT(rtl_value_info, name, 16);
AT(rtl_value_info, enumerators, 24);
AT(rtl_value_info, enumerator_count, 32);
AT(rtl_value_info, reserved, 36);
AT(rtl_values_info, struct_size, 0);
AT(rtl_values_info, count, 4);
AT(rtl_values_info, has_states, 8);
AT(rtl_values_info, reserved, 12);
AT(rtl_values_info, values, 16);

AT(rtl_stream, struct_size, 0);
AT(rtl_stream, number, 4);
AT(rtl_stream, wanted, 8);

AT(rtl_record, size, 0);
AT(rtl_record, stream, 4);
AT(rtl_record, type, 6);
AT(rtl_record, ticks, 8);
AT(rtl_record, uid, 16);
AT(rtl_record, parent_uid, 24);
AT(rtl_record, instance, 32);
AT(rtl_record, correlation, 40);

AT(rtl_tracepoint_desc, struct_size, 0);
AT(rtl_tracepoint_desc, line, 4);
AT(rtl_tracepoint_desc, column, 8);
AT(rtl_tracepoint_desc, reserved, 12);
AT(rtl_tracepoint_desc, kind, 16);
AT(rtl_tracepoint_desc, name, 24);
AT(rtl_tracepoint_desc, source, 32);
AT(rtl_tracepoint_desc, code, 40);
AT(rtl_tracepoint_desc, hash, 48);

AT(rtl_process, struct_size, 0);
AT(rtl_process, number, 4);
AT(rtl_process, pid, 8);
AT(rtl_process, parent_pid, 12);
AT(rtl_process, start_ns, 16);
AT(rtl_process, program, 24);
AT(rtl_process, command, 32);
AT(rtl_process, host_name, 40);
AT(rtl_process, spool_id, 48);
AT(rtl_process, rank, 56);

AT(rtl_event, struct_size, 0);
AT(rtl_event, type, 4);
AT(rtl_event, reserved, 6);
AT(rtl_event, stream, 8);
AT(rtl_event, type_info, 16);
AT(rtl_event, process, 24);
AT(rtl_event, tid, 32);
AT(rtl_event, payload_size, 36);
AT(rtl_event, time_ns, 40);
AT(rtl_event, uid, 48);
AT(rtl_event, parent_uid, 56);
AT(rtl_event, instance, 64);
AT(rtl_event, correlation, 72);
AT(rtl_event, payload, 80);
AT(rtl_event, position, 88);
AT(rtl_event, ring, 96);

AT(rtl_metadata, struct_size, 0);
AT(rtl_metadata, key, 8);
AT(rtl_metadata, value, 16);

AT(rtl_tracepoint, struct_size, 0);
AT(rtl_tracepoint, line, 4);
AT(rtl_tracepoint, column, 8);
AT(rtl_tracepoint, metadata_count, 12);
AT(rtl_tracepoint, uid, 16);
AT(rtl_tracepoint, kind, 24);
AT(rtl_tracepoint, name, 32);
AT(rtl_tracepoint, source, 40);
AT(rtl_tracepoint, module, 48);
AT(rtl_tracepoint, module_offset, 56);
AT(rtl_tracepoint, hash, 64);
AT(rtl_tracepoint, metadata, 72);

AT(rtl_setting, struct_size, 0);
AT(rtl_setting, type, 4);
AT(rtl_setting, key, 8);
AT(rtl_setting, value, 16);
AT(rtl_setting, number, 24);
AT(rtl_setting, given, 32);

AT(rtl_host, struct_size, 0);
AT(rtl_host, abi_version, 4);
AT(rtl_host, subscribe, 8);
AT(rtl_host, unsubscribe, 16);
AT(rtl_host, string, 24);
AT(rtl_host, tracepoint, 32);
AT(rtl_host, ledger, 40);
AT(rtl_host, losses, 48);
AT(rtl_host, report, 56);
AT(rtl_host, fail, 64);
AT(rtl_host, process, 72);
AT(rtl_host, property, 80);
AT(rtl_host, positions, 88);
AT(rtl_host, resume, 96);
AT(rtl_host, calibration, 104);
AT(rtl_host, values, 112);
AT(rtl_host, waits, 120);
AT(rtl_host, keep, 128);
AT(rtl_host, left_out, 136);
AT(rtl_host, unfinished, 144);

AT(rtl_waits, struct_size, 0);
AT(rtl_waits, reserved, 4);
AT(rtl_waits, count, 8);
AT(rtl_waits, total_ns, 16);

AT(rtl_setting_info, struct_size, 0);
AT(rtl_setting_info, type, 4);
AT(rtl_setting_info, key, 8);
AT(rtl_setting_info, fallback, 16);
AT(rtl_setting_info, description, 24);
AT(rtl_setting_info, least, 32);
AT(rtl_setting_info, most, 40);
AT(rtl_setting_info, choices, 48);

AT(rtl_subscriber, abi_version, 0);
AT(rtl_subscriber, struct_size, 4);
AT(rtl_subscriber, name, 8);
AT(rtl_subscriber, version, 16);
AT(rtl_subscriber, description, 24);
AT(rtl_subscriber, settings, 32);
AT(rtl_subscriber, setting_count, 40);
AT(rtl_subscriber, reserved, 44);
AT(rtl_subscriber, create, 48);
AT(rtl_subscriber, stream, 56);
AT(rtl_subscriber, process_begin, 64);
AT(rtl_subscriber, process_end, 72);
AT(rtl_subscriber, flush, 80);
AT(rtl_subscriber, finish, 88);
AT(rtl_subscriber, destroy, 96);

AT(rtl_hsa_dispatch, begin_ns, 0);
AT(rtl_hsa_dispatch, end_ns, 8);
AT(rtl_hsa_dispatch, submit_ns, 16);
AT(rtl_hsa_dispatch, packet_id, 24);
AT(rtl_hsa_dispatch, kernel_object, 32);
AT(rtl_hsa_dispatch, kernel_name, 40);
AT(rtl_hsa_dispatch, gpu, 48);
AT(rtl_hsa_dispatch, queue, 52);
AT(rtl_hsa_dispatch, submit_tid, 56);
AT(rtl_hsa_dispatch, flags, 60);
AT(rtl_hsa_dispatch, grid_x, 64);
AT(rtl_hsa_dispatch, grid_y, 68);
AT(rtl_hsa_dispatch, grid_z, 72);
AT(rtl_hsa_dispatch, workgroup_x, 76);
AT(rtl_hsa_dispatch, workgroup_y, 80);
AT(rtl_hsa_dispatch, workgroup_z, 84);
AT(rtl_hsa_dispatch, group_segment_bytes, 88);
AT(rtl_hsa_dispatch, private_segment_bytes, 92);
AT(rtl_hsa_dispatch, scope, 96);
AT(rtl_hsa_dispatch, scope_instance, 104);

AT(rtl_hsa_barrier, begin_ns, 0);
AT(rtl_hsa_barrier, packet_id, 24);
AT(rtl_hsa_barrier, gpu, 32);
AT(rtl_hsa_barrier, kind, 48);
AT(rtl_hsa_barrier, dependencies, 52);

AT(rtl_hsa_queue, address, 0);
AT(rtl_hsa_queue, gpu, 8);
AT(rtl_hsa_queue, queue, 12);
AT(rtl_hsa_queue, packets, 16);
AT(rtl_hsa_queue, type, 20);

AT(rtl_hsa_metadata, address, 0);
AT(rtl_hsa_metadata, name, 8);
AT(rtl_hsa_metadata, gpu, 16);
AT(rtl_hsa_metadata, flags, 20);
AT(rtl_hsa_metadata, bytes, 24);

AT(rtl_hsa_copy, begin_ns, 0);
AT(rtl_hsa_copy, end_ns, 8);
AT(rtl_hsa_copy, submit_ns, 16);
AT(rtl_hsa_copy, bytes, 24);
AT(rtl_hsa_copy, src, 32);
AT(rtl_hsa_copy, dst, 40);
AT(rtl_hsa_copy, signal, 48);
AT(rtl_hsa_copy, gpu, 56);
AT(rtl_hsa_copy, src_gpu, 60);
AT(rtl_hsa_copy, dst_gpu, 64);
AT(rtl_hsa_copy, direction, 68);
AT(rtl_hsa_copy, kind, 72);
AT(rtl_hsa_copy, engine, 76);
AT(rtl_hsa_copy, submit_tid, 80);
AT(rtl_hsa_copy, flags, 84);
AT(rtl_hsa_copy, extent_x, 88);
AT(rtl_hsa_copy, extent_y, 92);
AT(rtl_hsa_copy, extent_z, 96);
AT(rtl_hsa_copy, parts, 100);
AT(rtl_hsa_copy, status, 104);
AT(rtl_hsa_copy, reserved, 108);
AT(rtl_hsa_copy, scope, 112);
AT(rtl_hsa_copy, scope_instance, 120);
