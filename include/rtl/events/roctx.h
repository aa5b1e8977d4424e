/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from roctx.toml. Not to be edited. */
/**
 * @file roctx.h
 *
 * The stream rtl.roctx: ranges and marks of the program.
 */
#ifndef RTL_EVENTS_ROCTX_H
#define RTL_EVENTS_ROCTX_H

#include <rtl/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RTL_STREAM_ROCTX "rtl.roctx"
#define RTL_STREAM_ROCTX_VERSION 1
#define RTL_STREAM_ROCTX_VERSION_MINOR 0

/** Bits of the flags of rtl.roctx. */
enum rtl_roctx_flags {
	RTL_ROCTX_CUT = 1, /**< The name was longer than 1024 bytes: this is its beginning. */
	/** A range of roctxRangeStart, which any thread may stop; else of roctxRangePush. */
	RTL_ROCTX_STARTED = 2,
	RTL_ROCTX_UNFINISHED = 4, /**< It had not ended when the process did. */
};

/** rtl_roctx_name.kind: what gets a name. */
enum rtl_roctx_kind {
	RTL_ROCTX_THREAD = 1, /**< object: the kernel's id of the thread */
	RTL_ROCTX_AGENT = 2, /**< object: the agent's handle */
	RTL_ROCTX_DEVICE = 3, /**< object: HIP's number of the device */
	RTL_ROCTX_STREAM = 4, /**< object: the hipStream_t */
};

/**
 * RTL_REGION_BEGIN and RTL_REGION_END: a range. The end repeats what the begin said. A range that
 * is not popped or stopped until the process ends is RTL_REGION_UNFINISHED instead, at the time of
 * that end. Perhaps only the first 328 bytes of its name are kept; the event's thread may be
 * another one.
 *
 * Of the event: parent_uid and correlation are those of the scope around it, instance pairs begin
 * and end.
 */
struct rtl_roctx_range {
	uint64_t begin_ns; /**< when it was pushed or started */
	uint64_t end_ns; /**< when it was popped or stopped; 0 in a begin */
	uint64_t parent; /**< instance of the range or call around it; 0: none */
	uint64_t id; /**< of a started range, the program's roctx_range_id_t; else 0 */
	uint32_t begin_tid; /**< thread that pushed or started it */
	int32_t level; /**< how many pushed ranges were around it; -1: it was started */
	uint32_t flags; /**< bits: enum rtl_roctx_flags */
	uint32_t reserved;
	struct rtl_text name; /**< what the program calls it */
};

/** RTL_SIGNAL: a mark. */
struct rtl_roctx_mark {
	uint64_t parent; /**< instance of the range or call around it; 0: none */
	uint32_t flags; /**< bits: enum rtl_roctx_flags */
	uint32_t reserved;
	struct rtl_text name; /**< what the program says */
};

/** RTL_METADATA: the program has named something. */
struct rtl_roctx_name {
	uint64_t object; /**< thread, agent, device or stream */
	uint32_t kind; /**< what it is: enum rtl_roctx_kind */
	uint32_t flags; /**< bits: enum rtl_roctx_flags */
	struct rtl_text name; /**< its name */
};

#ifdef __cplusplus
}
#endif

#endif
