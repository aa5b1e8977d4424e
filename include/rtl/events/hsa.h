/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from hsa.toml. Not to be edited. */
/**
 * @file hsa.h
 *
 * The stream rtl.hsa: queues, kernel dispatches and barriers of the HSA runtime.
 */
#ifndef RTL_EVENTS_HSA_H
#define RTL_EVENTS_HSA_H

#include <rtl/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RTL_STREAM_HSA "rtl.hsa"
#define RTL_STREAM_HSA_VERSION 1
#define RTL_STREAM_HSA_VERSION_MINOR 5

/**
 * The cause by which dispatches and copies are missed that had not ended when their process had.
 */
#define RTL_CAUSE_UNDER_WAY "under way when the process ended"

/** Bits of rtl_hsa_dispatch.flags and rtl_hsa_barrier.flags. */
enum rtl_hsa_dispatch_flags {
	/** The packet carried a completion signal of the application. */
	RTL_HSA_DISPATCH_APP_SIGNAL = 1,
	/** The runtime could not tell the GPU times: begin_ns and end_ns are 0. */
	RTL_HSA_DISPATCH_NO_TIME = 2,
	/** An extended dispatch (a vendor's packet, gfx1250). Its grid is in work-items, too. */
	RTL_HSA_DISPATCH_EXTENDED = 4,
	/**
	 * The runtime's own thread passed the packet on (since 1.2). Either there was no room in
	 * the ring before, and then the thread, the scope and the correlation are not the
	 * submitter's; or a handler of the application's ran on that thread.
	 */
	RTL_HSA_DISPATCH_PASSED_ON = 8,
	/**
	 * Another thread's doorbell, or a later one of the same, passed the packet on (in modes
	 * with calls, since 1.3). submit_ns is when it did; the call that wrote the packet may have
	 * returned before.
	 */
	RTL_HSA_DISPATCH_CARRIED = 16,
	/**
	 * Hardware counters were collected (since 1.4): dispatches of the GPU went one at a time,
	 * with commands around them. Times and latencies are those of such a run.
	 */
	RTL_HSA_DISPATCH_SERIALISED = 32,
	/**
	 * HIP has reported it (RTL_SOURCE=runtime, since 1.5). What HIP does not tell is 0:
	 * submit_ns, packet_id, kernel_object, queue, the segments' bytes, and grid and workgroup
	 * where they are not among the arguments of the call that launched it. There is no begin
	 * event.
	 */
	RTL_HSA_DISPATCH_REPORTED = 64,
};

/** rtl_hsa_barrier.kind */
enum rtl_hsa_barrier_kind {
	RTL_HSA_BARRIER_AND = 1,
	RTL_HSA_BARRIER_OR = 2,
};

/** Bits of rtl_hsa_metadata.flags. */
enum rtl_hsa_metadata_flags {
	/**
	 * A code object is about to be unloaded. Its addresses, and those of its kernels, may be
	 * used again for others.
	 */
	RTL_HSA_METADATA_GONE = 1,
};

/**
 * RTL_TASK_BEGIN and RTL_TASK_END: a kernel dispatch. The thread that submits publishes the begin;
 * the end follows when the GPU has finished, and repeats all that the begin said, so that a
 * subscriber needs only one of them.
 *
 * Of the event: uid = the kernel's tracepoint, parent_uid = the queue's, instance pairs begin and
 * end, correlation = that of the API call, 0 if none.
 */
struct rtl_hsa_dispatch {
	uint64_t begin_ns; /**< GPU begin, HSA system clock; 0 in task_begin, or not known */
	uint64_t end_ns; /**< GPU end; 0 in task_begin, or not known */
	uint64_t submit_ns; /**< when the packet was passed on to the GPU, see CARRIED */
	uint64_t packet_id; /**< index of the packet in its queue, from 0 */
	uint64_t kernel_object; /**< address of the kernel descriptor */
	uint64_t kernel_name; /**< mangled name of the kernel, without ".kd" */
	uint32_t gpu; /**< KFD node id of the agent */
	uint32_t queue; /**< number of the queue in the process, from 1 */
	/**
	 * thread that submitted. In modes with calls the thread that took the packet's place in the
	 * queue. Else the one that rang the doorbell: where several threads write to one queue, one
	 * may ring for packets of another, and then this, the scope and the correlation are the
	 * former's.
	 */
	uint32_t submit_tid;
	uint32_t flags; /**< bits: enum rtl_hsa_dispatch_flags */
	uint32_t grid_x; /**< grid size in x, work-items */
	uint32_t grid_y; /**< grid size in y, work-items */
	uint32_t grid_z; /**< grid size in z, work-items */
	uint32_t workgroup_x; /**< workgroup size in x, work-items */
	uint32_t workgroup_y; /**< workgroup size in y, work-items */
	uint32_t workgroup_z; /**< workgroup size in z, work-items */
	uint32_t group_segment_bytes; /**< LDS for each workgroup */
	uint32_t private_segment_bytes; /**< scratch for each work-item */
	/** tracepoint of the innermost scope of that thread (rtl/scope.h); 0: none */
	uint64_t scope;
	uint64_t scope_instance; /**< instance of that scope */
	/** when the call of HIP that submitted it began; 0: none that is known */
	uint64_t call_ns;
	/** the hipStream_t among that call's arguments; 0: the null stream, or none */
	uint64_t hip_stream;
	/** instance of the innermost range of roctx there; 0: none that is known */
	uint64_t range;
};

/**
 * RTL_BARRIER_BEGIN and RTL_BARRIER_END (since 1.1, in mode full): a barrier packet. The begin
 * comes when it is submitted, the end when the GPU has completed it.
 *
 * Of the event: parent_uid = the queue's, instance and correlation as for a dispatch, uid = a
 * tracepoint of kind "barrier".
 */
struct rtl_hsa_barrier {
	uint64_t begin_ns; /**< GPU begin, HSA system clock; 0 in barrier_begin, or not known */
	uint64_t end_ns; /**< GPU end; 0 in barrier_begin, or not known */
	uint64_t submit_ns; /**< as of a dispatch */
	uint64_t packet_id; /**< index of the packet in its queue, from 0 */
	uint32_t gpu; /**< KFD node id of the agent */
	uint32_t queue; /**< number of the queue in the process, from 1 */
	uint32_t submit_tid; /**< as of a dispatch */
	uint32_t flags; /**< bits: enum rtl_hsa_dispatch_flags */
	uint32_t kind; /**< which kind of barrier: enum rtl_hsa_barrier_kind */
	uint32_t dependencies; /**< signals that it waits for */
};

/**
 * RTL_QUEUE_CREATE and RTL_QUEUE_DESTROY. Of the event: uid = the queue's tracepoint (kind
 * "queue"), parent_uid = the agent's.
 */
struct rtl_hsa_queue {
	uint64_t address; /**< the hsa_queue_t */
	uint32_t gpu; /**< KFD node id of the agent */
	uint32_t queue; /**< number of the queue in the process, from 1 */
	uint32_t packets; /**< size of the ring, packets */
	uint32_t type; /**< hsa_queue_type32_t: 0 multi, 1 single, 2 cooperative */
};

/**
 * RTL_METADATA: something that later events refer to has become known. Its tracepoint's kind, name
 * and metadata say what it is ("agent", "kernel", "code_object"). The name of a kernel is its
 * symbol, mangled as it is: who shows it demangles it. It may come again: agents when recording was
 * started late, the others each time that they are loaded.
 *
 * Of the event: uid names it, parent_uid is that of the agent to which it belongs.
 */
struct rtl_hsa_metadata {
	uint64_t address; /**< agent handle, kernel object, or load address of a code object */
	uint64_t name; /**< name of the agent, kernel or code object */
	uint32_t gpu; /**< KFD node id of the agent that it belongs to */
	uint32_t flags; /**< bits: enum rtl_hsa_metadata_flags */
	uint64_t bytes; /**< of a code object: its size on the GPU, else 0; since 1.1 */
};

#ifdef __cplusplus
}
#endif

#endif
