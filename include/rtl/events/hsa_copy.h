/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from hsa_copy.toml. Not to be edited. */
/**
 * @file hsa_copy.h
 *
 * The stream rtl.hsa.copy: copies and fills of memory that a GPU does.
 */
#ifndef RTL_EVENTS_HSA_COPY_H
#define RTL_EVENTS_HSA_COPY_H

#include <rtl/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RTL_STREAM_HSA_COPY "rtl.hsa.copy"
#define RTL_STREAM_HSA_COPY_VERSION 1
#define RTL_STREAM_HSA_COPY_VERSION_MINOR 1

/** rtl_hsa_copy.direction, by the agents that the caller named. Their texts are RPD's names. */
enum rtl_hsa_copy_direction {
	RTL_HSA_COPY_NONE = 0, /**< A fill. */
	RTL_HSA_COPY_HOST_TO_DEVICE = 1,
	RTL_HSA_COPY_DEVICE_TO_HOST = 2,
	RTL_HSA_COPY_DEVICE_TO_DEVICE = 3, /**< Within one GPU. */
	RTL_HSA_COPY_PEER = 4, /**< From one GPU to another. */
	RTL_HSA_COPY_HOST_TO_HOST = 5, /**< A thread of the runtime does it. */
};

/** What a value is called; one that is not known: "Copy". */
static inline const char *rtl_hsa_copy_direction_text(uint32_t value)
{
	static const char *const texts[] = {
		"FillBuffer",
		"CopyHostToDevice",
		"CopyDeviceToHost",
		"CopyDeviceToDevice",
		"CopyPeerToPeer",
		"CopyHostToHost",
	};

	return value < 6 ? texts[value] : "Copy";
}

/** rtl_hsa_copy.kind: the function that was called. */
enum rtl_hsa_copy_kind {
	RTL_HSA_COPY_LINEAR = 1, /**< hsa_amd_memory_async_copy, _on_engine; hsa_memory_copy */
	RTL_HSA_COPY_RECT = 2, /**< hsa_amd_memory_async_copy_rect */
	RTL_HSA_COPY_BATCH = 3, /**< hsa_amd_memory_async_batch_copy */
	RTL_HSA_COPY_FILL = 4, /**< hsa_amd_memory_fill */
};

/** Bits of rtl_hsa_copy.flags. */
enum rtl_hsa_copy_flags {
	/** It completes a signal of the application: all but synchronous ones do. */
	RTL_HSA_COPY_APP_SIGNAL = 1,
	/** The runtime could not tell the times: begin_ns and end_ns are 0. */
	RTL_HSA_COPY_NO_TIME = 2,
	RTL_HSA_COPY_SDMA = 4, /**< An SDMA engine did it. */
	/** A kernel of the runtime did it, or, from host to host, a thread. */
	RTL_HSA_COPY_BLIT = 8,
	/** The runtime refused it, see status: nothing was copied, there are no times. */
	RTL_HSA_COPY_FAILED = 16,
	/** begin_ns and end_ns are those of the synchronous call within which the GPU did it. */
	RTL_HSA_COPY_CALL_TIME = 32,
	/**
	 * HIP has reported it (RTL_SOURCE=runtime, since 1.1). What HIP does not tell is 0:
	 * submit_ns, signal, engine, extents, and addresses where they are not among the arguments
	 * of the call. There is no begin event. Fills that a kernel does are fills, not dispatches.
	 */
	RTL_HSA_COPY_REPORTED = 64,
};

/**
 * RTL_TRANSFER_BEGIN and RTL_TRANSFER_END: a copy or fill of memory that a GPU does. The thread
 * that submits publishes the begin; the end follows when it has finished, and repeats all that the
 * begin said. Synchronous ones have an end only.
 *
 * Of the event: uid = the path's tracepoint (kind "copy": direction, from and to which GPU),
 * parent_uid = that of the agent that does it, instance pairs begin and end, correlation = that of
 * the API call, 0 if none.
 */
struct rtl_hsa_copy {
	uint64_t begin_ns; /**< GPU begin, HSA system clock; 0 in transfer_begin, or not known */
	uint64_t end_ns; /**< GPU end; 0 in transfer_begin, or not known */
	uint64_t submit_ns; /**< when the function was called */
	uint64_t bytes; /**< all that is written */
	uint64_t src; /**< address of the first byte; of a fill its 32-bit value */
	uint64_t dst; /**< address of the first byte */
	uint64_t signal; /**< completion signal of the application; 0: none */
	uint32_t gpu; /**< KFD node id of the GPU that does it; 0: none */
	uint32_t src_gpu; /**< KFD node id of the source's GPU; 0: host memory */
	uint32_t dst_gpu; /**< KFD node id of the destination's GPU; 0: host memory */
	uint32_t direction; /**< from where to where: enum rtl_hsa_copy_direction */
	uint32_t kind; /**< which function was called: enum rtl_hsa_copy_kind */
	uint32_t engine; /**< hsa_amd_sdma_engine_id_t as asked for; 0: the runtime's choice */
	uint32_t submit_tid; /**< thread that submitted */
	uint32_t flags; /**< bits: enum rtl_hsa_copy_flags */
	uint32_t extent_x; /**< of a rect copy: a row; else 0 */
	uint32_t extent_y; /**< of a rect copy: rows, rows */
	uint32_t extent_z; /**< of a rect copy: slices, slices */
	uint32_t parts; /**< copies in it: of a batch, more than 1 may share a signal */
	uint32_t status; /**< hsa_status_t of a refused one; else 0 */
	uint32_t reserved;
	/** tracepoint of the innermost scope of the submitting thread (rtl/scope.h); 0: none */
	uint64_t scope;
	uint64_t scope_instance; /**< instance of that scope */
	/** when the call of HIP that submitted it began; 0: none that is known */
	uint64_t call_ns;
	/** the hipStream_t among that call's arguments; 0: the null stream, or none */
	uint64_t hip_stream;
	/** instance of the innermost range of roctx there; 0: none that is known */
	uint64_t range;
};

#ifdef __cplusplus
}
#endif

#endif
