/* SPDX-License-Identifier: MIT */
/* A histogram of durations for percentiles: log-linear, 64 buckets in each power of two. Values below 128 are kept
 * exactly; what is read back is the middle of a bucket, at most 1/128 (0.8 %) off. An octave's buckets are allocated
 * when its first value comes: a few KiB where values are alike, 30 KiB at most.
 *
 * Threads: one at a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HISTOGRAM_BITS    6
#define HISTOGRAM_BUCKETS (1u << HISTOGRAM_BITS)
#define HISTOGRAM_OCTAVES (64u - HISTOGRAM_BITS + 1)

/** All zeros is an empty one. */
struct histogram {
	uint64_t count;
	uint64_t *octaves[HISTOGRAM_OCTAVES];
};

void histogram_fini(struct histogram *histogram);

/** For histogram_add: allocates the octave; false if out of memory. */
bool histogram_grow(struct histogram *histogram, unsigned octave);

/** Counts a value; if memory runs out it is left out of the percentiles. */
static inline void histogram_add(struct histogram *histogram, uint64_t value)
{
	unsigned octave = 0, shift = 0;

	if (value >= HISTOGRAM_BUCKETS) {
		shift = 63u - HISTOGRAM_BITS - (unsigned)__builtin_clzll(value);
		octave = shift + 1;
	}
	if (__builtin_expect(!histogram->octaves[octave], 0) && !histogram_grow(histogram, octave))
		return;
	histogram->octaves[octave][value >> shift & (HISTOGRAM_BUCKETS - 1)]++;
	histogram->count++;
}

/** Adds all values of `from`; false if out of memory. */
bool histogram_merge(struct histogram *to, const struct histogram *from);

/** The value that `share` (0 to 1) of all values do not exceed (nearest rank); 0 if there are none. */
uint64_t histogram_quantile(const struct histogram *histogram, double share);
