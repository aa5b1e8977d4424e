/* SPDX-License-Identifier: MIT */
/* bus_events burst|sustained THREADS EVENTS [PUBLISHER_CPU CONSUMER_CPU]: publishes EVENTS events of four numbers on
 * each thread, and prints what one of them took:
 *	slice MIN MEDIAN	ns of wall time, over slices of 10,000 events
 *	cpu NS			of the publishing threads
 *	process NS		CPU time of the whole process (with the bus's thread, if there is
 * one) wall NS			from the first event until all have been consumed, of one thread's
 *	memory ...
 * burst: a pause after each slice, in which the consumer gets through: one slice fits a ring. A CPU is a number, or -1
 * for any; with two threads, the second runs on the next CPU. bus_events is rtl's, bus_events_lttng the same with
 * LTTng-UST. */
#include <pthread.h>
#include <sys/resource.h>

#include "bus_bench.h"
#include "bus_emit.h"

#define SLICE 10000u

static struct {
	int burst, cpu, threads;
	uint64_t events;
	pthread_barrier_t begin;
	struct samples samples[THREADS_MAX];
	uint64_t cpu_ns[THREADS_MAX];
} run;

static void *publisher(void *arg)
{
	const unsigned me = (unsigned)(uintptr_t)arg;
	uint64_t left, cpu_ns, from;

	use_cpu(run.cpu < 0 ? -1 : run.cpu + (int)me);
	emit(SLICE); /* the first event makes the ring */
	emit_drain();
	pthread_barrier_wait(&run.begin);
	for (left = run.events; left >= SLICE; left -= SLICE) {
		cpu_ns = bench_ns(CLOCK_THREAD_CPUTIME_ID);
		from = bench_ns(CLOCK_MONOTONIC);
		emit(SLICE);
		samples_add(&run.samples[me], (double)(bench_ns(CLOCK_MONOTONIC) - from) / SLICE);
		run.cpu_ns[me] += bench_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
		if (run.burst)
			emit_drain();
	}
	return NULL;
}

static void measure(void)
{
	const double events = (double)(run.events / SLICE * SLICE);
	pthread_t threads[THREADS_MAX];
	uint64_t wall_ns, process_ns, cpu_ns = 0;

	pthread_barrier_init(&run.begin, NULL, (unsigned)run.threads + 1);
	for (int t = 0; t < run.threads; t++)
		if (pthread_create(&threads[t], NULL, publisher, (void *)(uintptr_t)t))
			abort();
	pthread_barrier_wait(&run.begin);
	wall_ns = bench_ns(CLOCK_MONOTONIC);
	process_ns = bench_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (int t = 0; t < run.threads; t++) {
		pthread_join(threads[t], NULL);
		cpu_ns += run.cpu_ns[t];
	}
	emit_drain();
	process_ns = bench_ns(CLOCK_PROCESS_CPUTIME_ID) - process_ns;
	wall_ns = bench_ns(CLOCK_MONOTONIC) - wall_ns;
	samples_join(run.samples, (unsigned)run.threads);
	samples_print("slice", &run.samples[0]);
	printf("cpu %.3f\nprocess %.3f\nwall %.3f\n", (double)cpu_ns / events / run.threads,
	       (double)process_ns / events / run.threads, (double)wall_ns / events);
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "bus_events burst|sustained THREADS EVENTS [CPU CONSUMER_CPU]\n");
		return 2;
	}
	run.burst = !strcmp(argv[1], "burst");
	run.threads = atoi(argv[2]);
	run.events = strtoull(argv[3], NULL, 10);
	run.cpu = argc > 4 ? atoi(argv[4]) : -1;
	if (run.threads < 1 || run.threads > THREADS_MAX || run.events < SLICE)
		return 2;
	use_cpu(argc > 5 ? atoi(argv[5]) : -1); /* the bus's thread inherits it */
	emit_start();
	measure();
	print_memory("publisher");
	return 0;
}
