/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from hsa.toml. Not to be edited. */
#include <rtl/describe.h>
#include <rtl/events/hsa.h>

#include "events.h"

/* The layout is part of what subscribers are compiled with: nothing lies between members. */
_Static_assert(sizeof(struct rtl_hsa_dispatch) == 136, "rtl_hsa_dispatch");
_Static_assert(sizeof(struct rtl_hsa_barrier) == 56, "rtl_hsa_barrier");
_Static_assert(sizeof(struct rtl_hsa_queue) == 24, "rtl_hsa_queue");
_Static_assert(sizeof(struct rtl_hsa_metadata) == 32, "rtl_hsa_metadata");

static const struct rtl_field rtl_hsa_dispatch_fields[] = {
	RTL_FIELD_OF(0, struct rtl_hsa_dispatch, begin_ns, RTL_KIND_TIME, "ns", "GPU begin, HSA system clock; 0 in task_begin, or not known"),
	RTL_FIELD_OF(0, struct rtl_hsa_dispatch, end_ns, RTL_KIND_TIME, "ns", "GPU end; 0 in task_begin, or not known"),
	RTL_FIELD_OF(0, struct rtl_hsa_dispatch, submit_ns, RTL_KIND_TIME, "ns", "when the packet was passed on to the GPU, see CARRIED"),
	RTL_FIELD_OF(0, struct rtl_hsa_dispatch, packet_id, RTL_KIND_UINT, "", "index of the packet in its queue, from 0"),
	RTL_FIELD_OF(1, struct rtl_hsa_dispatch, kernel_object, RTL_KIND_ADDRESS, "", "address of the kernel descriptor"),
	RTL_FIELD_OF(1, struct rtl_hsa_dispatch, kernel_name, RTL_KIND_STRING, "", "mangled name of the kernel, without \".kd\""),
	RTL_FIELD_OF(2, struct rtl_hsa_dispatch, gpu, RTL_KIND_UINT, "", "KFD node id of the agent"),
	RTL_FIELD_OF(2, struct rtl_hsa_dispatch, queue, RTL_KIND_UINT, "", "number of the queue in the process, from 1"),
	RTL_FIELD_OF(2, struct rtl_hsa_dispatch, submit_tid, RTL_KIND_UINT, "", "thread that submitted"),
	RTL_FIELD_OF(2, struct rtl_hsa_dispatch, flags, RTL_KIND_UINT, "", "bits: 1 app signal, 2 no time, 4 extended, 8 passed on, 16 carried, 32 serialised, 64 reported"),
	RTL_FIELD_OF(1, struct rtl_hsa_dispatch, grid_x, RTL_KIND_UINT, "work-items", "grid size in x"),
	RTL_FIELD_OF(1, struct rtl_hsa_dispatch, grid_y, RTL_KIND_UINT, "work-items", "grid size in y"),
	RTL_FIELD_OF(1, struct rtl_hsa_dispatch, grid_z, RTL_KIND_UINT, "work-items", "grid size in z"),
	RTL_FIELD_OF(1, struct rtl_hsa_dispatch, workgroup_x, RTL_KIND_UINT, "work-items", "workgroup size in x"),
	RTL_FIELD_OF(1, struct rtl_hsa_dispatch, workgroup_y, RTL_KIND_UINT, "work-items", "workgroup size in y"),
	RTL_FIELD_OF(1, struct rtl_hsa_dispatch, workgroup_z, RTL_KIND_UINT, "work-items", "workgroup size in z"),
	RTL_FIELD_OF(1, struct rtl_hsa_dispatch, group_segment_bytes, RTL_KIND_UINT, "bytes", "LDS for each workgroup"),
	RTL_FIELD_OF(1, struct rtl_hsa_dispatch, private_segment_bytes, RTL_KIND_UINT, "bytes", "scratch for each work-item"),
	RTL_FIELD_OF(2, struct rtl_hsa_dispatch, scope, RTL_KIND_UID, "", "tracepoint of the innermost scope of that thread (rtl/scope.h); 0: none"),
	RTL_FIELD_OF(0, struct rtl_hsa_dispatch, scope_instance, RTL_KIND_UINT, "", "instance of that scope"),
	RTL_FIELD_OF(0, struct rtl_hsa_dispatch, call_ns, RTL_KIND_TIME, "ns", "when the call of HIP that submitted it began; 0: none that is known"),
	RTL_FIELD_OF(2, struct rtl_hsa_dispatch, hip_stream, RTL_KIND_ADDRESS, "", "the hipStream_t among that call's arguments; 0: the null stream, or none"),
	RTL_FIELD_OF(0, struct rtl_hsa_dispatch, range, RTL_KIND_UINT, "", "instance of the innermost range of roctx there; 0: none that is known"),
};

static const struct rtl_field rtl_hsa_barrier_fields[] = {
	RTL_FIELD_OF(0, struct rtl_hsa_barrier, begin_ns, RTL_KIND_TIME, "ns", "GPU begin, HSA system clock; 0 in barrier_begin, or not known"),
	RTL_FIELD_OF(0, struct rtl_hsa_barrier, end_ns, RTL_KIND_TIME, "ns", "GPU end; 0 in barrier_begin, or not known"),
	RTL_FIELD_OF(0, struct rtl_hsa_barrier, submit_ns, RTL_KIND_TIME, "ns", "as of a dispatch"),
	RTL_FIELD_OF(0, struct rtl_hsa_barrier, packet_id, RTL_KIND_UINT, "", "index of the packet in its queue, from 0"),
	RTL_FIELD_OF(1, struct rtl_hsa_barrier, gpu, RTL_KIND_UINT, "", "KFD node id of the agent"),
	RTL_FIELD_OF(1, struct rtl_hsa_barrier, queue, RTL_KIND_UINT, "", "number of the queue in the process, from 1"),
	RTL_FIELD_OF(1, struct rtl_hsa_barrier, submit_tid, RTL_KIND_UINT, "", "as of a dispatch"),
	RTL_FIELD_OF(1, struct rtl_hsa_barrier, flags, RTL_KIND_UINT, "", "bits: 1 app signal, 2 no time, 4 extended, 8 passed on, 16 carried, 32 serialised, 64 reported"),
	RTL_FIELD_OF(1, struct rtl_hsa_barrier, kind, RTL_KIND_UINT, "", "which kind of barrier: 1 and, 2 or"),
	RTL_FIELD_OF(1, struct rtl_hsa_barrier, dependencies, RTL_KIND_UINT, "", "signals that it waits for"),
};

static const struct rtl_field rtl_hsa_queue_fields[] = {
	RTL_FIELD_OF(0, struct rtl_hsa_queue, address, RTL_KIND_ADDRESS, "", "the hsa_queue_t"),
	RTL_FIELD_OF(0, struct rtl_hsa_queue, gpu, RTL_KIND_UINT, "", "KFD node id of the agent"),
	RTL_FIELD_OF(0, struct rtl_hsa_queue, queue, RTL_KIND_UINT, "", "number of the queue in the process, from 1"),
	RTL_FIELD_OF(0, struct rtl_hsa_queue, packets, RTL_KIND_UINT, "packets", "size of the ring"),
	RTL_FIELD_OF(0, struct rtl_hsa_queue, type, RTL_KIND_UINT, "", "hsa_queue_type32_t: 0 multi, 1 single, 2 cooperative"),
};

static const struct rtl_field rtl_hsa_metadata_fields[] = {
	RTL_FIELD_OF(0, struct rtl_hsa_metadata, address, RTL_KIND_ADDRESS, "", "agent handle, kernel object, or load address of a code object"),
	RTL_FIELD_OF(0, struct rtl_hsa_metadata, name, RTL_KIND_STRING, "", "name of the agent, kernel or code object"),
	RTL_FIELD_OF(0, struct rtl_hsa_metadata, gpu, RTL_KIND_UINT, "", "KFD node id of the agent that it belongs to"),
	RTL_FIELD_OF(0, struct rtl_hsa_metadata, flags, RTL_KIND_UINT, "", "bits: 1 gone"),
	RTL_FIELD_OF(0, struct rtl_hsa_metadata, bytes, RTL_KIND_UINT, "bytes", "of a code object: its size on the GPU, else 0; since 1.1"),
};

static const struct rtl_type_info hsa_stream_types[] = {
	RTL_TYPE_INFO_REPEATED(RTL_TASK_BEGIN, RTL_TASK_END, "task_begin", struct rtl_hsa_dispatch, rtl_hsa_dispatch_fields, "a kernel dispatch was submitted"),
	RTL_TYPE_INFO(RTL_TASK_END, "task_end", struct rtl_hsa_dispatch, rtl_hsa_dispatch_fields, "a kernel dispatch has finished; repeats what task_begin said"),
	RTL_TYPE_INFO_REPEATED(RTL_BARRIER_BEGIN, RTL_BARRIER_END, "barrier_begin", struct rtl_hsa_barrier, rtl_hsa_barrier_fields, "a barrier packet was submitted (mode full)"),
	RTL_TYPE_INFO(RTL_BARRIER_END, "barrier_end", struct rtl_hsa_barrier, rtl_hsa_barrier_fields, "a barrier packet has finished; repeats what barrier_begin said"),
	RTL_TYPE_INFO(RTL_QUEUE_CREATE, "queue_create", struct rtl_hsa_queue, rtl_hsa_queue_fields, "a queue was created"),
	RTL_TYPE_INFO(RTL_QUEUE_DESTROY, "queue_destroy", struct rtl_hsa_queue, rtl_hsa_queue_fields, "a queue was destroyed"),
	RTL_TYPE_INFO(RTL_METADATA, "metadata", struct rtl_hsa_metadata, rtl_hsa_metadata_fields, "an agent, kernel or code object has become known, or a code object is unloaded"),
};

const struct rtl_stream_info hsa_stream_info =
	RTL_STREAM_INFO(RTL_STREAM_HSA, RTL_STREAM_HSA_VERSION, RTL_STREAM_HSA_VERSION_MINOR, hsa_stream_types, "Queues and kernel dispatches of the HSA runtime");
