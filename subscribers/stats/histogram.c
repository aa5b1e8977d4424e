/* SPDX-License-Identifier: MIT */
/* See histogram.h. */
#include "histogram.h"

#include <stdlib.h>

void histogram_fini(struct histogram *histogram)
{
	for (unsigned i = 0; i < HISTOGRAM_OCTAVES; i++)
		free(histogram->octaves[i]);
}

bool histogram_grow(struct histogram *histogram, unsigned octave)
{
	histogram->octaves[octave] = calloc(HISTOGRAM_BUCKETS, sizeof(uint64_t));
	return histogram->octaves[octave] != NULL;
}

/* The middle of a bucket. */
static uint64_t bucket_value(unsigned octave, unsigned bucket)
{
	if (!octave)
		return bucket;
	uint64_t width = (uint64_t)1 << (octave - 1);
	return (HISTOGRAM_BUCKETS + bucket) * width + (width - 1) / 2;
}

uint64_t histogram_quantile(const struct histogram *histogram, double share)
{
	double exact = share * (double)histogram->count;
	uint64_t rank = (uint64_t)exact, seen = 0, value = 0;

	if ((double)rank < exact || !rank)
		rank++;
	for (unsigned i = 0; i < HISTOGRAM_OCTAVES; i++) {
		for (unsigned j = 0; histogram->octaves[i] && j < HISTOGRAM_BUCKETS; j++) {
			if (!histogram->octaves[i][j])
				continue;
			value = bucket_value(i, j);
			seen += histogram->octaves[i][j];
			if (seen >= rank)
				return value;
		}
	}
	return value;
}

bool histogram_merge(struct histogram *to, const struct histogram *from)
{
	for (unsigned i = 0; i < HISTOGRAM_OCTAVES; i++) {
		if (from->octaves[i] && !to->octaves[i] && !histogram_grow(to, i))
			return false;
		for (unsigned j = 0; j < HISTOGRAM_BUCKETS && from->octaves[i]; j++)
			to->octaves[i][j] += from->octaves[i][j];
	}
	to->count += from->count;
	return true;
}
