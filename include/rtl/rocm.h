/* SPDX-License-Identifier: MIT */
/**
 * @file rocm.h
 * Payloads of the streams that rtl's collectors for ROCm publish. `rtl list-streams` prints the
 * same with units. For subscribers that know these streams; a subscriber that does not can use
 * the descriptions that come with the stream.
 *
 * A payload may be longer than the struct here (a newer collector). Check
 * event->type_info->payload_size >= sizeof(struct) once per stream and version_major.
 */
#ifndef RTL_ROCM_H
#define RTL_ROCM_H

#include <rtl/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RTL_STREAM_HSA               "rtl.hsa"
#define RTL_STREAM_HSA_VERSION       1
#define RTL_STREAM_HSA_VERSION_MINOR 3
/** The cause by which dispatches and copies are missed that had not ended when their process had. */
#define RTL_CAUSE_UNDER_WAY "under way when the process ended"

/** Bits of rtl_hsa_dispatch.flags. */
enum rtl_hsa_dispatch_flags {
	/** The dispatch carried a completion signal of the application. */
	RTL_HSA_DISPATCH_APP_SIGNAL = 1,
	/** The runtime could not tell the GPU times: begin_ns and end_ns are 0. */
	RTL_HSA_DISPATCH_NO_TIME = 2,
	/** An extended dispatch (a vendor's packet, gfx1250): the grid is in work-items, too. */
	RTL_HSA_DISPATCH_EXTENDED = 4,
	/** The runtime's own thread passed the packet on: when there was room in the ring, and then
	 * the thread, the scope and the correlation are not the submitter's; or from a handler of
	 * the application's that it ran (since 1.2). */
	RTL_HSA_DISPATCH_PASSED_ON = 8,
	/** Another thread's doorbell, or a later one of the same, passed the packet on: submit_ns
	 * is when it did, and the call that wrote the packet may have returned before (in modes
	 * with calls; since 1.3). */
	RTL_HSA_DISPATCH_CARRIED = 16,
};

/**
 * rtl.hsa, RTL_TASK_BEGIN and RTL_TASK_END: a kernel dispatch.
 * Begin is published by the thread that submits, end after the GPU has finished; the end repeats
 * all that the begin said, so that a subscriber needs only one of them.
 * Of the event: uid = the kernel's tracepoint, parent_uid = the queue's, instance pairs begin
 * and end, correlation = that of the API call, 0 if none.
 */
struct rtl_hsa_dispatch {
	uint64_t begin_ns;      /**< GPU begin, HSA system clock; 0 in RTL_TASK_BEGIN */
	uint64_t end_ns;        /**< GPU end; 0 in RTL_TASK_BEGIN */
	uint64_t submit_ns;     /**< when the packet was passed on to the GPU, see CARRIED */
	uint64_t packet_id;     /**< index of the packet in its queue, counted from 0 */
	uint64_t kernel_object; /**< address of the kernel descriptor */
	uint64_t kernel_name;   /**< string: mangled, without ".kd" */
	uint32_t gpu;           /**< KFD node id of the agent */
	uint32_t queue;         /**< number of the queue in the process, from 1 */
	/** In modes with calls the thread that took the packet's place in the queue; else that
	 * which rang the doorbell: where several threads write to one queue, one may ring for
	 * packets of another, and then this, the scope and the correlation are the former's. */
	uint32_t submit_tid;
	uint32_t flags;                                 /**< enum rtl_hsa_dispatch_flags */
	uint32_t grid_x, grid_y, grid_z;                /**< work-items */
	uint32_t workgroup_x, workgroup_y, workgroup_z; /**< work-items */
	uint32_t group_segment_bytes;                   /**< LDS for each workgroup */
	uint32_t private_segment_bytes;                 /**< scratch for each work-item */
	/** Since 1.1: tracepoint and instance of the innermost scope (rtl/scope.h) that was open on
	 *  the thread that submitted; 0 = none. */
	uint64_t scope;
	uint64_t scope_instance;
	/** Since 1.1: when the call of HIP that submitted it began; 0 = none that is recorded. */
	uint64_t call_ns;
	/** The hipStream_t among that call's arguments; 0 = the null stream, or none. */
	uint64_t stream;
	/** Instance of the innermost range of roctx that was open there; 0 = none that is recorded.
	 */
	uint64_t range;
};

/** rtl_hsa_barrier.kind */
enum rtl_hsa_barrier_kind {
	RTL_HSA_BARRIER_AND = 1,
	RTL_HSA_BARRIER_OR = 2,
};

/**
 * rtl.hsa, RTL_BARRIER_BEGIN and RTL_BARRIER_END (since 1.1, in mode full): a barrier packet, as
 * for a dispatch: the begin when it is submitted, the end when the GPU has completed it. parent_uid
 * = the queue's, instance and correlation as for a dispatch, uid = a tracepoint of kind "barrier".
 */
struct rtl_hsa_barrier {
	uint64_t begin_ns; /**< GPU begin, HSA system clock; 0 in RTL_BARRIER_BEGIN, or not known */
	uint64_t end_ns;   /**< GPU end */
	uint64_t submit_ns;    /**< as of a dispatch */
	uint64_t packet_id;    /**< index of the packet in its queue, counted from 0 */
	uint32_t gpu;          /**< KFD node id of the agent */
	uint32_t queue;        /**< number of the queue in the process, from 1 */
	uint32_t submit_tid;   /**< as of a dispatch */
	uint32_t flags;        /**< enum rtl_hsa_dispatch_flags */
	uint32_t kind;         /**< enum rtl_hsa_barrier_kind */
	uint32_t dependencies; /**< signals that it waits for */
};

/**
 * rtl.hsa, RTL_QUEUE_CREATE and RTL_QUEUE_DESTROY. uid = the queue's tracepoint (kind "queue"),
 * parent_uid = the agent's.
 */
struct rtl_hsa_queue {
	uint64_t address; /**< the hsa_queue_t */
	uint32_t gpu;     /**< KFD node id of the agent */
	uint32_t queue;   /**< number of the queue in the process, from 1 */
	uint32_t packets; /**< size of the ring, packets */
	uint32_t type;    /**< hsa_queue_type32_t: 0 multi, 1 single, 2 cooperative */
};

/** Bits of rtl_hsa_metadata.flags. */
enum rtl_hsa_metadata_flags {
	/** A code object is about to be unloaded: its addresses, and those of its kernels, may be
	 *  used again for others. */
	RTL_HSA_METADATA_GONE = 1,
};

/**
 * rtl.hsa, RTL_METADATA: something that later events refer to has become known: uid names it,
 * and its tracepoint's kind, name and metadata say what it is ("agent", "kernel", "code_object";
 * the name of a kernel is its symbol, mangled as it is: who shows it demangles it);
 * parent_uid is that of the agent to which it belongs. May come again: agents when recording was
 * started late, the others each time that they are loaded.
 */
struct rtl_hsa_metadata {
	uint64_t address; /**< agent handle, kernel object, or load address of a code object */
	uint64_t name;    /**< string */
	uint32_t gpu;     /**< KFD node id of the agent it belongs to */
	uint32_t flags;   /**< enum rtl_hsa_metadata_flags */
	uint64_t bytes;   /**< of a code object: its size on the GPU, else 0; since 1.1 */
};

#define RTL_STREAM_HSA_COPY         "rtl.hsa.copy"
#define RTL_STREAM_HSA_COPY_VERSION 1

/** rtl_hsa_copy.direction, by the agents that the caller named. */
enum rtl_hsa_copy_direction {
	RTL_HSA_COPY_NONE = 0, /**< a fill */
	RTL_HSA_COPY_HOST_TO_DEVICE = 1,
	RTL_HSA_COPY_DEVICE_TO_HOST = 2,
	RTL_HSA_COPY_DEVICE_TO_DEVICE = 3, /**< within one GPU */
	RTL_HSA_COPY_PEER = 4,             /**< from one GPU to another */
	RTL_HSA_COPY_HOST_TO_HOST = 5,     /**< a thread of the runtime does it */
};

/** rtl_hsa_copy.kind: the function that was called. */
enum rtl_hsa_copy_kind {
	RTL_HSA_COPY_LINEAR = 1, /**< hsa_amd_memory_async_copy, _on_engine; hsa_memory_copy */
	RTL_HSA_COPY_RECT = 2,   /**< hsa_amd_memory_async_copy_rect */
	RTL_HSA_COPY_BATCH = 3,  /**< hsa_amd_memory_async_batch_copy */
	RTL_HSA_COPY_FILL = 4,   /**< hsa_amd_memory_fill */
};

/** Bits of rtl_hsa_copy.flags. */
enum rtl_hsa_copy_flags {
	/** It completes a signal of the application: all but synchronous ones do. */
	RTL_HSA_COPY_APP_SIGNAL = 1,
	/** The runtime could not tell the times: begin_ns and end_ns are 0. */
	RTL_HSA_COPY_NO_TIME = 2,
	/** An SDMA engine did it. */
	RTL_HSA_COPY_SDMA = 4,
	/** A kernel of the runtime did it, or, from host to host, a thread. */
	RTL_HSA_COPY_BLIT = 8,
	/** The runtime refused it, see status: nothing was copied, there are no times. */
	RTL_HSA_COPY_FAILED = 16,
	/** begin_ns and end_ns are those of the synchronous call within which the GPU did it. */
	RTL_HSA_COPY_CALL_TIME = 32,
};

/**
 * rtl.hsa.copy, RTL_TRANSFER_BEGIN and RTL_TRANSFER_END: a copy or fill of memory that a GPU does.
 * Begin is published by the thread that submits, end after it has finished; the end repeats all
 * that the begin said. Synchronous ones have an end only.
 * Of the event: uid = the path's tracepoint (kind "copy": direction, from and to which GPU),
 * parent_uid = the agent's that does it, instance pairs begin and end, correlation = that of the
 * API call, 0 if none.
 */
struct rtl_hsa_copy {
	uint64_t begin_ns;   /**< GPU begin, HSA system clock; 0 in RTL_TRANSFER_BEGIN */
	uint64_t end_ns;     /**< GPU end; 0 in RTL_TRANSFER_BEGIN */
	uint64_t submit_ns;  /**< when the function was called */
	uint64_t bytes;      /**< all that is written */
	uint64_t src;        /**< address of the first byte; of a fill its 32-bit value */
	uint64_t dst;        /**< address of the first byte */
	uint64_t signal;     /**< completion signal of the application; 0: none */
	uint32_t gpu;        /**< KFD node id of the GPU that does it, 0: none */
	uint32_t src_gpu;    /**< KFD node id of the source's GPU, 0: host memory */
	uint32_t dst_gpu;    /**< KFD node id of the destination's GPU, 0: host memory */
	uint32_t direction;  /**< enum rtl_hsa_copy_direction */
	uint32_t kind;       /**< enum rtl_hsa_copy_kind */
	uint32_t engine;     /**< hsa_amd_sdma_engine_id_t as asked for; 0: the runtime's choice */
	uint32_t submit_tid; /**< thread that submitted */
	uint32_t flags;      /**< enum rtl_hsa_copy_flags */
	uint32_t extent_x;   /**< of RTL_HSA_COPY_RECT: bytes of a row; else 0 */
	uint32_t extent_y;   /**< rows */
	uint32_t extent_z;   /**< slices */
	uint32_t parts;  /**< copies in it: of RTL_HSA_COPY_BATCH more than 1 may share a signal */
	uint32_t status; /**< hsa_status_t of a refused one; else 0 */
	uint32_t reserved;
	/** Tracepoint and instance of the innermost scope (rtl/scope.h) that was open on the thread
	 *  that submitted; 0: none. */
	uint64_t scope;
	uint64_t scope_instance;
	/** When the call of HIP that submitted it began; 0: none that is recorded. */
	uint64_t call_ns;
	/** The hipStream_t among that call's arguments; 0: the null stream, or none. */
	uint64_t stream;
	/** Instance of the innermost range of roctx that was open there; 0: none that is recorded.
	 */
	uint64_t range;
};

#define RTL_STREAM_HSA_MEM         "rtl.hsa.mem"
#define RTL_STREAM_HSA_MEM_VERSION 1

/** rtl_hsa_mem.kind: what was allocated. */
enum rtl_hsa_mem_kind {
	RTL_HSA_MEM_REGION = 1,    /**< hsa_memory_allocate */
	RTL_HSA_MEM_POOL = 2,      /**< hsa_amd_memory_pool_allocate */
	RTL_HSA_MEM_HANDLE = 3,    /**< hsa_amd_vmem_handle_create */
	RTL_HSA_MEM_ADDRESSES = 4, /**< hsa_amd_vmem_address_reserve: addresses, no memory */
	RTL_HSA_MEM_LOCKED = 5,    /**< hsa_amd_memory_lock: the host's, for GPUs to use */
	RTL_HSA_MEM_ATTACHED = 6,  /**< hsa_amd_ipc_memory_attach: another process's */
};

/** Bits of rtl_hsa_mem.flags. */
enum rtl_hsa_mem_flags {
	/** The pool is a GPU's. */
	RTL_HSA_MEM_ON_GPU = 1,
	/** Its allocation was not seen: bytes and pool are not known. */
	RTL_HSA_MEM_UNKNOWN = 2,
	/** The function failed, see status: nothing was allocated or released. */
	RTL_HSA_MEM_FAILED = 4,
};

/**
 * rtl.hsa.mem, RTL_MEM_ALLOC_BEGIN and _END, RTL_MEM_RELEASE_BEGIN and _END: memory that the
 * program allocates or releases. The end says all that the begin said. A virtual memory handle that
 * is held more than once is in use until its last release. Of the event: uid = the function's
 * tracepoint, parent_uid = the agent's whose pool it is, else that of the scope around it; instance
 * pairs begin and end, correlation = that of the scope, 0 if none.
 */
struct rtl_hsa_mem {
	uint64_t begin_ns;     /**< when the function was called; 0 in a begin */
	uint64_t end_ns;       /**< when it returned; 0 in a begin */
	uint64_t address;      /**< of the memory, or its handle; 0 where an allocation begins */
	uint64_t bytes;        /**< as asked for; of a release as when it was allocated */
	uint64_t in_use_bytes; /**< after it, on that agent; without an agent, of that kind */
	uint64_t pool;         /**< handle of the pool or region; 0: none */
	uint64_t function;     /**< string: its name */
	uint64_t segment;      /**< string: what memory the pool has; 0: no pool */
	uint64_t status;       /**< string: the hsa_status_t that it returned; 0 in a begin */
	uint32_t node;         /**< KFD node id of the pool's agent */
	uint32_t kind;         /**< enum rtl_hsa_mem_kind */
	uint32_t flags;        /**< enum rtl_hsa_mem_flags */
	uint32_t reserved;
};

#define RTL_STREAM_HSA_CALL       "rtl.hsa.call"
#define RTL_STREAM_HSA_CALL_DEBUG "rtl.hsa.call.debug"
/** Of both. */
#define RTL_STREAM_HSA_CALL_VERSION 1

/**
 * rtl.hsa.call, RTL_FUNCTION_BEGIN and RTL_FUNCTION_END: a call of a function of the HSA runtime,
 * in the thread that makes it. The end says all that the begin said. Of the event: uid = the
 * function's tracepoint (kind "function"), parent_uid and correlation = of the scope that is open
 * around it (rtl_scope_push), 0 if none; instance pairs begin and end, and those of rtl.hsa.call
 * with those of rtl.hsa.call.debug.
 */
struct rtl_hsa_call {
	uint64_t begin_ns; /**< when it was called; 0 in a begin */
	uint64_t end_ns;   /**< when it returned; 0 in a begin */
	uint64_t function; /**< string: its name */
	uint64_t status;   /**< string: the hsa_status_t that it returned; 0: it returns none */
	int64_t result;    /**< what it returned, as a number; 0: nothing */
};

/**
 * rtl.hsa.call.debug, RTL_FUNCTION_WITH_ARGS_BEGIN and RTL_FUNCTION_WITH_ARGS_END: the same with
 * the arguments, see <rtl/args.h>. In an end that returned HSA_STATUS_SUCCESS, an argument that
 * the function has written to is what it has written (RTL_ARG_OUT); other pointers are addresses,
 * and not followed but for texts.
 */
struct rtl_hsa_call_debug {
	struct rtl_hsa_call call;
	struct rtl_text args; /**< RTL_KIND_ARGS */
};

#define RTL_STREAM_HIP_CALL       "rtl.hip.call"
#define RTL_STREAM_HIP_CALL_DEBUG "rtl.hip.call.debug"
/** Of both. */
#define RTL_STREAM_HIP_CALL_VERSION 1

/** Bits of rtl_hip_call.flags. */
enum rtl_hip_call_flags {
	/** The status that it returned tells of a failure. */
	RTL_HIP_CALL_FAILED = 1,
	/** A stream is among its arguments: stream is that, and 0 the null stream. */
	RTL_HIP_CALL_STREAM = 2,
	/** It had not returned when the process ended. */
	RTL_HIP_CALL_UNFINISHED = 4,
};

/**
 * rtl.hip.call, RTL_FUNCTION_BEGIN and RTL_FUNCTION_END: a call of a function of HIP, in the thread
 * that makes it. The end repeats all that the begin said, so that a subscriber needs only one of
 * them.
 * Of the event: uid = the function's tracepoint (kind "function", metadata "domain", "category",
 * "arguments", "result"), parent_uid = that of the scope around it, instance pairs begin and end,
 * correlation = that of the work which it causes, and no other call's.
 *
 * RTL_FUNCTION_UNFINISHED: a call that had not returned when the process ended, however that did.
 * It says what a begin says; the event's time is that of the end, as far as it is known, and its
 * thread may be another than tid. Of a call there is either this or the end.
 */
struct rtl_hip_call {
	uint64_t begin_ns; /**< when it was called */
	uint64_t end_ns;   /**< when it returned; 0 in a begin */
	uint64_t function; /**< string: its name */
	uint64_t status;   /**< string: the hipError_t or hiprtcResult that it returned; 0: none */
	int64_t result;    /**< what it returned, as a number or address; 0: nothing */
	uint64_t parent;   /**< instance of the call or region around it; 0 = none */
	uint64_t stream;   /**< the hipStream_t among its arguments, see RTL_HIP_CALL_STREAM */
	int32_t device;    /**< the device among its arguments; -1: none */
	uint32_t flags;    /**< enum rtl_hip_call_flags */
	/** Dispatches and copies with its correlation that its own thread had handed to GPUs when
	 * it returned. 0 in a begin. There may be more: where threads share a queue, another one's
	 * doorbell may take a packet along, even after the return. */
	uint32_t work;
	uint32_t tid; /**< of one that has not ended, its thread; else 0 */
};

/**
 * rtl.hip.call.debug, RTL_FUNCTION_WITH_ARGS_BEGIN, RTL_FUNCTION_WITH_ARGS_END and
 * RTL_FUNCTION_WITH_ARGS_UNFINISHED: the same with the arguments, see <rtl/args.h>. In an end that
 * returned success, an argument that points to where the function leaves a single value is that
 * value (RTL_ARG_OUT); other pointers are addresses, and not followed but for texts. Structs that
 * are passed by value are there member by member. Instance and correlation are those of
 * rtl.hip.call.
 */
struct rtl_hip_call_debug {
	struct rtl_hip_call call;
	struct rtl_text args; /**< RTL_KIND_ARGS */
};

#define RTL_STREAM_ROCTX         "rtl.roctx"
#define RTL_STREAM_ROCTX_VERSION 1

/** Bits of the flags of rtl.roctx. */
enum rtl_roctx_flags {
	/** The name was longer than 1024 bytes: this is its beginning. */
	RTL_ROCTX_CUT = 1,
	/** A range of roctxRangeStart, which any thread may stop; else of roctxRangePush. */
	RTL_ROCTX_STARTED = 2,
	/** It had not ended when the process did. */
	RTL_ROCTX_UNFINISHED = 4,
};

/**
 * rtl.roctx, RTL_REGION_BEGIN and RTL_REGION_END: a range. The end repeats what the begin said.
 * Of the event: parent_uid and correlation are those of the scope around it, instance pairs begin
 * and end. A range that is not popped or stopped until the process ends is RTL_REGION_UNFINISHED
 * instead, at the time of that end, of which perhaps only the first 328 bytes of the name are kept;
 * the event's thread may be another one.
 */
struct rtl_roctx_range {
	uint64_t begin_ns;  /**< when it was pushed or started */
	uint64_t end_ns;    /**< when it was popped or stopped; 0 in a begin */
	uint64_t parent;    /**< instance of the range or call around it; 0 = none */
	uint64_t id;        /**< of a started range, the program's roctx_range_id_t; else 0 */
	uint32_t begin_tid; /**< thread that pushed or started it */
	int32_t level;      /**< how many pushed ranges were around it; -1 if it was started */
	uint32_t flags;     /**< enum rtl_roctx_flags */
	uint32_t reserved;
	struct rtl_text name; /**< RTL_KIND_TEXT */
};

/** rtl.roctx, RTL_SIGNAL: a mark. */
struct rtl_roctx_mark {
	uint64_t parent; /**< instance of the range or call around it; 0 = none */
	uint32_t flags;  /**< enum rtl_roctx_flags */
	uint32_t reserved;
	struct rtl_text name; /**< RTL_KIND_TEXT */
};

/** rtl_roctx_name.kind: what gets a name. */
enum rtl_roctx_kind {
	RTL_ROCTX_THREAD = 1, /**< object: the kernel's id of the thread */
	RTL_ROCTX_AGENT = 2,  /**< object: the agent's handle */
	RTL_ROCTX_DEVICE = 3, /**< object: HIP's number of the device */
	RTL_ROCTX_STREAM = 4, /**< object: the hipStream_t */
};

/** rtl.roctx, RTL_METADATA: the program has named something. */
struct rtl_roctx_name {
	uint64_t object;
	uint32_t kind;        /**< enum rtl_roctx_kind */
	uint32_t flags;       /**< enum rtl_roctx_flags */
	struct rtl_text name; /**< RTL_KIND_TEXT */
};

#ifdef __cplusplus
}
#endif
#endif
