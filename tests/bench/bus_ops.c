/* SPDX-License-Identifier: MIT */
/* bus_ops THREADS [BATCHES]: what single operations of the bus take, beside an empty loop and the clocks; nobody
 * listens. For each a line: NAME MIN MEDIAN, ns, over batches on each thread, all operations in turn.
 * `disabled_tracepoint` is there to be disassembled. */
#include <pthread.h>
#ifdef __x86_64__
#	include <x86intrin.h>
#endif

#include <rtl/describe.h>
#include <rtl/rtl.h>

#include "bus_bench.h"

#define BATCH 2000u
/* New things are made in batches of so many, in the first rounds only: some 10,000, as a large program has. */
#define NEW_BATCH  100u
#define NEW_ROUNDS 100u
/* Keeps a value, and the loop. */
#define USE(value) __asm__ volatile("" : : "r"(value) : "memory")

struct op {
	const char *name;
	void (*run)(void);
	void (*prepare)(void);
	unsigned count, rounds; /* operations a run, and runs; 0: BATCH, and all */
};

static struct rtl_stream *stream = &rtl_stream_none;
static __thread char (*texts)[24]; /* that no batch had before */
static struct rtl_tracepoint_desc place = {
	.struct_size = sizeof(place),
	.line = 17,
	.kind = "function",
	.name = "hipModuleLaunchKernel",
	.source = "bus_ops.c",
};

void disabled_tracepoint(void);

__attribute__((noinline)) void disabled_tracepoint(void)
{
	struct rtl_record *record;

	if (rtl_enabled(stream, RTL_TASK_BEGIN)) {
		record = rtl_reserve(stream, RTL_TASK_BEGIN, 0);
		if (record)
			rtl_commit(record);
	}
}

static void make_texts(void)
{
	static uint64_t next;

	if (!texts && !(texts = malloc(NEW_BATCH * sizeof(*texts))))
		abort();
	for (unsigned i = 0; i < NEW_BATCH; i++)
		snprintf(texts[i], sizeof(texts[i]), "bench text %llu",
			 (unsigned long long)__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED));
}

static __thread uint64_t now_ticks;

static void take_ticks(void)
{
	now_ticks = rtl_ticks();
}

static void new_tracepoint(const char *name)
{
	struct rtl_tracepoint_desc desc = place;
	uint64_t uid;

	desc.name = name;
	if (rtl_tracepoint_register(&desc, &uid))
		abort();
	USE(uid);
}

static void known_tracepoint(const struct rtl_tracepoint_desc *desc)
{
	uint64_t uid = 0;

	(void)rtl_tracepoint_register(desc, &uid);
	USE(uid);
}

static void intern(const char *text)
{
	uint64_t id = 0;

	(void)rtl_string_intern(text, &id);
	USE(id);
}

#define OP(name_, ...) OPS_OF(BATCH, name_, __VA_ARGS__)
#define OPS_OF(count_, name_, ...)                                                                 \
	static void op_##name_(void)                                                               \
	{                                                                                          \
		for (unsigned i = 0; i < (count_); i++) {                                          \
			__VA_ARGS__;                                                               \
		}                                                                                  \
	}

OP(empty, USE(i))
OP(clock_boottime, USE(bench_ns(CLOCK_BOOTTIME)))
OP(clock_monotonic, USE(bench_ns(CLOCK_MONOTONIC)))
#ifdef __x86_64__
OP(rdtsc, USE(__rdtsc()))
OP(lfence_rdtsc, _mm_lfence(); USE(__rdtsc()))
#endif
OP(disabled, if (rtl_enabled(stream, RTL_TASK_BEGIN)) disabled_tracepoint(); USE(i))
OP(clock_ns, USE(rtl_clock_ns()))
OP(ticks, USE(rtl_ticks()))
OP(ticks_to_ns, USE(rtl_ticks_to_ns(now_ticks - i)))
OP(thread_id, USE(rtl_thread_id()))
OP(unique_id, USE(rtl_unique_id()))
OP(string_known, intern("hipModuleLaunchKernel"))
OPS_OF(NEW_BATCH, string_new, intern(texts[i]))
OP(tracepoint_known, known_tracepoint(&place))
OPS_OF(NEW_BATCH, tracepoint_new, new_tracepoint(texts[i]))

static const struct op ops[] = {
	{"empty", op_empty, NULL, 0, 0},
	{"clock_boottime", op_clock_boottime, NULL, 0, 0},
	{"clock_monotonic", op_clock_monotonic, NULL, 0, 0},
#ifdef __x86_64__
	{"rdtsc", op_rdtsc, NULL, 0, 0},
	{"lfence_rdtsc", op_lfence_rdtsc, NULL, 0, 0},
#endif
	{"disabled", op_disabled, NULL, 0, 0},
	{"clock_ns", op_clock_ns, NULL, 0, 0},
	{"ticks", op_ticks, NULL, 0, 0},
	{"ticks_to_ns", op_ticks_to_ns, take_ticks, 0, 0},
	{"thread_id", op_thread_id, NULL, 0, 0},
	{"unique_id", op_unique_id, NULL, 0, 0},
	{"string_known", op_string_known, NULL, 0, 0},
	{"string_new", op_string_new, make_texts, NEW_BATCH, NEW_ROUNDS},
	{"tracepoint_known", op_tracepoint_known, NULL, 0, 0},
	{"tracepoint_new", op_tracepoint_new, make_texts, NEW_BATCH, NEW_ROUNDS},
};

#define OPS (sizeof(ops) / sizeof(*ops))

static struct samples samples[OPS][THREADS_MAX];
static unsigned batches = 200;
static pthread_barrier_t begin;

static void *thread(void *arg)
{
	const unsigned me = (unsigned)(uintptr_t)arg;
	uint64_t from;

	for (unsigned b = 0; b < batches; b++)
		for (size_t i = 0; i < OPS; i++) {
			if (ops[i].rounds && b >= ops[i].rounds)
				continue;
			if (ops[i].prepare)
				ops[i].prepare();
			pthread_barrier_wait(&begin);
			from = bench_ns(CLOCK_MONOTONIC);
			ops[i].run();
			samples_add(&samples[i][me], (double)(bench_ns(CLOCK_MONOTONIC) - from) /
							     (ops[i].count ? ops[i].count : BATCH));
		}
	return NULL;
}

static const struct rtl_type_info types[] = {
	{sizeof(types[0]), RTL_TASK_BEGIN, 0, 0, 0, "event", "", NULL}};
static const struct rtl_stream_info info =
	RTL_STREAM_INFO("bench.ops", 1, 0, types, "never wanted");

int main(int argc, char **argv)
{
	const unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	pthread_t ids[THREADS_MAX];

	if (argc > 2)
		batches = (unsigned)atoi(argv[2]);
	if (threads < 1 || threads > THREADS_MAX || batches < 1)
		return 2;
	if (rtl_stream_register(&info, &stream))
		return 1;
	pthread_barrier_init(&begin, NULL, threads);
	for (unsigned t = 0; t < threads; t++)
		if (pthread_create(&ids[t], NULL, thread, (void *)(uintptr_t)t))
			return 1;
	for (unsigned t = 0; t < threads; t++)
		pthread_join(ids[t], NULL);
	for (size_t i = 0; i < OPS; i++) {
		samples_join(samples[i], threads);
		samples_print(ops[i].name, &samples[i][0]);
	}
	return 0;
}
