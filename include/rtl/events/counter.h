/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from counter.toml. Not to be edited. */
/**
 * @file counter.h
 *
 * The streams rtl.hsa.counter and rtl.hsa.counter.debug: hardware counters, of kernel dispatches or
 * of intervals.
 */
#ifndef RTL_EVENTS_COUNTER_H
#define RTL_EVENTS_COUNTER_H

#include <rtl/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Not verified on hardware: what is known of it was read in AMD's sources and run on a software
 * GPU.
 */
#define RTL_STREAM_HSA_COUNTER "rtl.hsa.counter"
#define RTL_STREAM_HSA_COUNTER_VERSION 1
#define RTL_STREAM_HSA_COUNTER_VERSION_MINOR 1

#define RTL_STREAM_HSA_COUNTER_DEBUG "rtl.hsa.counter.debug"
#define RTL_STREAM_HSA_COUNTER_DEBUG_VERSION 1
#define RTL_STREAM_HSA_COUNTER_DEBUG_VERSION_MINOR 1

/** Bits of rtl_hsa_counter.flags. */
enum rtl_hsa_counter_flags {
	RTL_HSA_COUNTER_DERIVED = 1, /**< A metric: an expression over counters. */
	RTL_HSA_COUNTER_NO_VALUE = 2, /**< It has no value (a division by zero, say): value is 0. */
};

/**
 * RTL_METADATA: a counter or metric that is collected on a GPU. Published when its first queue is
 * created, and again when recording was started late.
 *
 * Of the event: uid = its tracepoint (kind "counter", name, and as source the architecture and what
 * it is), parent_uid = the agent's.
 */
struct rtl_hsa_counter_info {
	uint64_t name; /**< name of the counter or metric */
	uint64_t unit; /**< unit; 0: none is known */
	uint64_t block; /**< block of a counter; 0: a metric */
	uint64_t expression; /**< expression of a metric; 0: a counter */
	uint64_t description; /**< what it means */
	uint32_t gpu; /**< KFD node id of the agent */
	uint32_t event; /**< of a counter: the number of its event in the block */
	uint32_t pass; /**< in which pass it is counted, from 0 */
	/**
	 * how many passes there are; they take turns from dispatch to dispatch of a kernel, or from
	 * interval to interval
	 */
	uint32_t passes;
};

/**
 * RTL_SIGNAL: what a counter or metric was for a dispatch. Nothing else ran on the GPU meanwhile,
 * of what goes through intercepted queues: the dispatch has the flag SERIALISED.
 *
 * Of the event: uid = the counter's tracepoint, parent_uid = the queue's, instance = the
 * dispatch's, correlation = that of the dispatch's API call. It comes some time after the
 * dispatch's end.
 */
struct rtl_hsa_counter {
	double value; /**< its value: of a counter the sum of all parts of the GPU */
	uint64_t name; /**< name of the counter or metric */
	uint64_t kernel; /**< tracepoint of the kernel */
	uint32_t gpu; /**< KFD node id of the agent */
	uint32_t pass; /**< in which pass it was counted, from 0 */
	uint32_t flags; /**< bits: enum rtl_hsa_counter_flags */
	uint32_t reserved;
};

/**
 * RTL_SAMPLE: what a counter or metric of a GPU was in an interval (RTL_COUNTERS_SAMPLE), of the
 * work of all queues of the process. Dispatches are not held back. A dispatch may be counted in
 * part in each of two intervals.
 *
 * Of the event: uid = the counter's tracepoint, parent_uid = the agent's, instance = the number of
 * the reading, which all counters that were read at once have. Intervals of a GPU follow each other
 * without a gap, unless there are several passes or recording has paused.
 */
struct rtl_hsa_counter_interval {
	double value; /**< its value: of a counter the sum of all parts of the GPU */
	uint64_t name; /**< name of the counter or metric */
	uint64_t begin_ns; /**< when the counters were read or started before */
	uint64_t end_ns; /**< when they were read */
	uint32_t gpu; /**< KFD node id of the agent */
	uint32_t pass; /**< in which pass it was counted, from 0 */
	uint32_t flags; /**< bits: enum rtl_hsa_counter_flags */
	uint32_t reserved;
};

/**
 * RTL_DIAGNOSTICS: what has become of a GPU's dispatches, as numbers that only grow; the last one
 * counts. dispatches = counted + not_asked + given_up + refused, but for those that are under way.
 * A dispatch is counted in one pass: each counter has been counted for a part of these.
 *
 * Of the event: uid = the agent's tracepoint.
 */
struct rtl_hsa_counter_ledger {
	uint64_t dispatches; /**< dispatches seen while counters were asked for */
	uint64_t counted; /**< counted, in one of the passes */
	uint64_t not_asked; /**< of kernels whose counters nobody asked for */
	/** begun to be counted and given up: something else ran, or it did not end */
	uint64_t given_up;
	uint64_t refused; /**< not counted: no library, no such counter, no room */
	uint32_t gpu; /**< KFD node id of the agent */
	uint32_t passes; /**< how many passes take turns; 0: nothing can be counted */
};

/**
 * RTL_SIGNAL of the debug stream: what one part of the GPU has counted of a dispatch; RTL_SAMPLE:
 * in an interval.
 *
 * Of the event: as of rtl_hsa_counter, or rtl_hsa_counter_interval, of the counter or metric that
 * needs it.
 */
struct rtl_hsa_counter_sample {
	uint64_t value; /**< what was counted */
	uint64_t name; /**< name of the basic counter */
	uint64_t block; /**< its block */
	uint32_t event; /**< the number of its event in the block */
	uint32_t gpu; /**< KFD node id of the agent */
	uint32_t xcc; /**< compute die, from 0 */
	uint32_t engine; /**< shader engine of it, from 0; 0 where the block is not in engines */
	uint32_t part; /**< instance of the block, from 0 */
	uint32_t pass; /**< in which pass it was counted */
};

#ifdef __cplusplus
}
#endif

#endif
