/* SPDX-License-Identifier: MIT */
/* hip_storm THREADS SLICES: calls hipGetDevice, in slices of 10,000, on each thread; prints the least and the median
 * time of a call over the slices of all threads, ns: "min N median N". */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLICE 10000

int32_t hipInit(uint32_t flags);
int32_t hipGetDevice(int32_t *device);

static int slices;
static pthread_barrier_t begin;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *storm(void *out)
{
	double *times = out;
	int32_t device;

	hipGetDevice(&device);
	pthread_barrier_wait(&begin);
	for (int slice = 0; slice < slices; slice++) {
		const double start = now_ns();

		for (int i = 0; i < SLICE; i++)
			if (hipGetDevice(&device))
				abort();
		times[slice] = (now_ns() - start) / SLICE;
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t ids[64];
	double *times;

	slices = argc > 2 ? atoi(argv[2]) : 100;
	if (threads < 1 || threads > 64 || slices < 1 || hipInit(0)) {
		fprintf(stderr, "usage: hip_storm THREADS SLICES\n");
		return 2;
	}
	times = calloc((size_t)threads * (size_t)slices, sizeof(*times));
	pthread_barrier_init(&begin, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, storm, times + (size_t)i * (size_t)slices);
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	qsort(times, (size_t)threads * (size_t)slices, sizeof(*times), compare);
	printf("min %.1f median %.1f\n", times[0], times[(size_t)threads * (size_t)slices / 2]);
	free(times);
	return 0;
}
