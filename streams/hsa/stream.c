/* SPDX-License-Identifier: MIT */
/* The description of the stream rtl.hsa: payloads as in rtl/rocm.h. Constant, no side effects. */
#include "stream.h"

#include <rtl/rocm.h>

#include "../common/describe.h"

/* The offsets are part of what subscribers are compiled with. */
_Static_assert(sizeof(struct rtl_hsa_dispatch) == 136, "rtl_hsa_dispatch");
_Static_assert(offsetof(struct rtl_hsa_dispatch, kernel_name) == 40, "rtl_hsa_dispatch");
_Static_assert(offsetof(struct rtl_hsa_dispatch, gpu) == 48, "rtl_hsa_dispatch");
_Static_assert(offsetof(struct rtl_hsa_dispatch, grid_x) == 64, "rtl_hsa_dispatch");
_Static_assert(offsetof(struct rtl_hsa_dispatch, private_segment_bytes) == 92, "rtl_hsa_dispatch");
_Static_assert(offsetof(struct rtl_hsa_dispatch, scope) == 96, "rtl_hsa_dispatch");
_Static_assert(sizeof(struct rtl_hsa_barrier) == 56, "rtl_hsa_barrier");
_Static_assert(sizeof(struct rtl_hsa_queue) == 24, "rtl_hsa_queue");
_Static_assert(sizeof(struct rtl_hsa_metadata) == 32, "rtl_hsa_metadata");

#define D(member, kind, unit, text) FIELD(struct rtl_hsa_dispatch, member, kind, unit, text)
static const struct rtl_field dispatch_fields[] = {
	D(begin_ns, RTL_KIND_TIME, "ns", "GPU begin, HSA system clock; 0 if not known"),
	D(end_ns, RTL_KIND_TIME, "ns", "GPU end"),
	D(submit_ns, RTL_KIND_TIME, "ns", "when the packet was passed on to the GPU"),
	D(packet_id, RTL_KIND_UINT, "", "index of the packet in its queue, from 0"),
	D(kernel_object, RTL_KIND_ADDRESS, "", "address of the kernel descriptor"),
	D(kernel_name, RTL_KIND_STRING, "", "mangled name of the kernel"),
	D(gpu, RTL_KIND_UINT, "", "KFD node id of the agent"),
	D(queue, RTL_KIND_UINT, "", "number of the queue in the process, from 1"),
	D(submit_tid, RTL_KIND_UINT, "",
	  "thread that submitted; without calls the one that rang the doorbell, where several "
	  "write to one queue maybe for another"),
	D(flags, RTL_KIND_UINT, "",
	  "1: completion signal of the application, 2: no GPU times, 4: extended dispatch, 8: "
	  "passed on by the runtime's thread, which may not be the submitter, 16: passed on by a "
	  "later doorbell than that of its call, another thread's mostly: see submit_ns"),
	D(grid_x, RTL_KIND_UINT, "work-items", "grid size in x"),
	D(grid_y, RTL_KIND_UINT, "work-items", "grid size in y"),
	D(grid_z, RTL_KIND_UINT, "work-items", "grid size in z"),
	D(workgroup_x, RTL_KIND_UINT, "work-items", "workgroup size in x"),
	D(workgroup_y, RTL_KIND_UINT, "work-items", "workgroup size in y"),
	D(workgroup_z, RTL_KIND_UINT, "work-items", "workgroup size in z"),
	D(group_segment_bytes, RTL_KIND_UINT, "bytes", "LDS for each workgroup"),
	D(private_segment_bytes, RTL_KIND_UINT, "bytes", "scratch for each work-item"),
	D(scope, RTL_KIND_UID, "", "innermost scope of that thread"),
	D(scope_instance, RTL_KIND_UINT, "", "instance of that scope"),
	D(call_ns, RTL_KIND_TIME, "ns", "when the call of HIP that submitted it began"),
	D(stream, RTL_KIND_ADDRESS, "", "the hipStream_t among that call's arguments"),
	D(range, RTL_KIND_UINT, "", "instance of the innermost range of roctx there"),
};

#define B(member, kind, unit, text) FIELD(struct rtl_hsa_barrier, member, kind, unit, text)
static const struct rtl_field barrier_fields[] = {
	B(begin_ns, RTL_KIND_TIME, "ns", "GPU begin, HSA system clock; 0 if not known"),
	B(end_ns, RTL_KIND_TIME, "ns", "GPU end"),
	B(submit_ns, RTL_KIND_TIME, "ns", "when the packet was passed on to the GPU"),
	B(packet_id, RTL_KIND_UINT, "", "index of the packet in its queue, from 0"),
	B(gpu, RTL_KIND_UINT, "", "KFD node id of the agent"),
	B(queue, RTL_KIND_UINT, "", "number of the queue in the process, from 1"),
	B(submit_tid, RTL_KIND_UINT, "", "as of a dispatch"),
	B(flags, RTL_KIND_UINT, "",
	  "1: completion signal of the application, 2: no GPU times, 8: as of a dispatch"),
	B(kind, RTL_KIND_UINT, "", "1: and, 2: or"),
	B(dependencies, RTL_KIND_UINT, "", "signals that it waits for"),
};

#define Q(member, kind, unit, text) FIELD(struct rtl_hsa_queue, member, kind, unit, text)
static const struct rtl_field queue_fields[] = {
	Q(address, RTL_KIND_ADDRESS, "", "the hsa_queue_t"),
	Q(gpu, RTL_KIND_UINT, "", "KFD node id of the agent"),
	Q(queue, RTL_KIND_UINT, "", "number of the queue in the process, from 1"),
	Q(packets, RTL_KIND_UINT, "packets", "size of the ring"),
	Q(type, RTL_KIND_UINT, "", "hsa_queue_type32_t: 0 multi, 1 single, 2 cooperative"),
};

#define M(member, kind, unit, text) FIELD(struct rtl_hsa_metadata, member, kind, unit, text)
static const struct rtl_field metadata_fields[] = {
	M(address, RTL_KIND_ADDRESS, "", "agent handle, kernel object, or load address"),
	M(name, RTL_KIND_STRING, "", "name of the agent, kernel or code object"),
	M(gpu, RTL_KIND_UINT, "", "KFD node id of the agent that it belongs to"),
	M(flags, RTL_KIND_UINT, "", "1: it is unloaded, its addresses may be used again"),
	M(bytes, RTL_KIND_UINT, "bytes", "of a code object: its size on the GPU"),
};

static const struct rtl_type_info types[] = {
	TYPE(RTL_TASK_BEGIN, "task_begin", struct rtl_hsa_dispatch, dispatch_fields,
	     "a kernel dispatch was submitted"),
	TYPE(RTL_TASK_END, "task_end", struct rtl_hsa_dispatch, dispatch_fields,
	     "a kernel dispatch has finished; repeats what task_begin said"),
	TYPE(RTL_BARRIER_BEGIN, "barrier_begin", struct rtl_hsa_barrier, barrier_fields,
	     "a barrier packet was submitted (mode full)"),
	TYPE(RTL_BARRIER_END, "barrier_end", struct rtl_hsa_barrier, barrier_fields,
	     "a barrier packet has finished; repeats what barrier_begin said"),
	TYPE(RTL_QUEUE_CREATE, "queue_create", struct rtl_hsa_queue, queue_fields,
	     "a queue was created"),
	TYPE(RTL_QUEUE_DESTROY, "queue_destroy", struct rtl_hsa_queue, queue_fields,
	     "a queue was destroyed"),
	TYPE(RTL_METADATA, "metadata", struct rtl_hsa_metadata, metadata_fields,
	     "an agent, kernel or code object has become known, or a code object is unloaded"),
};

const struct rtl_stream_info hsa_stream_info = {
	.struct_size = sizeof(struct rtl_stream_info),
	.version_major = RTL_STREAM_HSA_VERSION,
	.version_minor = RTL_STREAM_HSA_VERSION_MINOR,
	.name = RTL_STREAM_HSA,
	.description = "Queues and kernel dispatches of the HSA runtime",
	.types = types,
	.type_count = COUNT(types),
};
