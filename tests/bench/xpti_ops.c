/* SPDX-License-Identifier: MIT */
/*
 * xpti_ops FRAMEWORK OPERATION THREADS BATCHES: nanoseconds of processor time for each operation of an
 * XPTI framework, the least and the median of batches. Run by tests/bench/xpti.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include <rtl/events/xpti.h>
#include <rtl/publish.h>

#include "bus_bench.h"
#include "xpti/xpti.h"

#define BATCH 2000

static struct {
	__typeof__(&xptiRegisterStream) register_stream;
	__typeof__(&xptiInitialize) initialize;
	__typeof__(&xptiRegisterCallback) register_callback;
	__typeof__(&xptiForceSetTraceEnabled) force;
	__typeof__(&xptiGetDefaultStreamID) default_stream;
	__typeof__(&xptiCheckTraceEnabled) check;
	__typeof__(&xptiNotifySubscribers) notify;
	__typeof__(&xptiMakeEvent) make;
	__typeof__(&xptiReleaseEvent) release;
	__typeof__(&rtl_stream_find) find;
	__typeof__(&rtl_reserve) reserve;
	__typeof__(&rtl_commit) commit;
} f;

static const char *operation;
static int batches;
static uint8_t stream, silent;
static struct samples samples[THREADS_MAX];

static void callback(uint16_t type, struct xpti_event *parent, struct xpti_event *object,
		     uint64_t instance, const void *user)
{
	(void)type, (void)parent, (void)object, (void)instance, (void)user;
}

static struct xpti_payload payload(const char *name, uint32_t line)
{
	return (struct xpti_payload){
		.name = name,
		.file = "bench.cpp",
		.line = line,
		.flags = XPTI_PAYLOAD_NAME | XPTI_PAYLOAD_FILE | XPTI_PAYLOAD_LINE,
	};
}

/* What a call through a pointer and the loop cost. */
static __attribute__((noinline)) bool nothing(uint16_t number, uint16_t type)
{
	__asm__ volatile("" ::: "memory");
	return number && type;
}

static bool (*volatile floor_call)(uint16_t number, uint16_t type) = nothing;

static uint64_t one_batch(int thread, int batch, struct xpti_event *event)
{
	uint64_t seen = 0, instance;
	struct xpti_payload p;
	int i;

	if (!strcmp(operation, "floor")) {
		for (i = 0; i < BATCH; i++)
			seen += floor_call(silent, 10);
	} else if (!strcmp(operation, "least")) {
		for (i = 0; i < BATCH; i++)
			seen += f.default_stream();
	} else if (!strcmp(operation, "check")) {
		for (i = 0; i < BATCH; i++)
			seen += f.check(silent, 10);
	} else if (!strcmp(operation, "check_any")) {
		for (i = 0; i < BATCH; i++)
			seen += f.check(silent, 0);
	} else if (!strcmp(operation, "notify")) {
		for (i = 0; i < BATCH; i++)
			f.notify(stream, 16, NULL, event, 1, NULL);
	} else if (!strcmp(operation, "raw")) { /* librtl's own event of the same size */
		struct rtl_stream *rtl = f.find("sycl");

		for (i = 0; i < BATCH; i++) {
			struct rtl_record *r = f.reserve(rtl, RTL_SIGNAL, sizeof(struct rtl_xpti));

			if (!r)
				continue;
			r->instance = 1;
			*(struct rtl_xpti *)rtl_record_payload(r) = (struct rtl_xpti){.type = 16};
			f.commit(r);
		}
	} else if (!strcmp(operation, "task")) { /* a begin and an end: per notify */
		for (i = 0; i < BATCH / 2; i++) {
			f.notify(stream, 10, NULL, event, 1, NULL);
			f.notify(stream, 11, NULL, event, 1, NULL);
		}
	} else {
		for (i = 0; i < BATCH; i++) {
			bool is_new = !strcmp(operation, "make_new");

			p = payload("kernel",
				    is_new ? 1000u + (uint32_t)((batch * 8 + thread) * BATCH + i)
					   : (uint32_t)i % 16);
			event = f.make("kernel", &p, 2, 1, &instance);
			if (!strcmp(operation, "make_release"))
				f.release(event);
		}
	}
	return seen;
}

static void *work(void *user)
{
	int thread = (int)(intptr_t)user;
	struct xpti_payload p = payload("thread", 1);
	uint64_t instance, begin, end;
	struct xpti_event *event = f.make("thread", &p, 2, 1, &instance);

	for (int i = 0; i < batches; i++) {
		begin = bench_ns(CLOCK_THREAD_CPUTIME_ID);
		one_batch(thread, i, event);
		end = bench_ns(CLOCK_THREAD_CPUTIME_ID);
		if (i)
			samples_add(&samples[thread], (double)(end - begin) / BATCH);
	}
	return NULL;
}

static void take(void *library, const char *name, void *place)
{
	void *symbol = dlsym(library, name);

	if (!symbol) {
		fprintf(stderr, "xpti_ops: no %s\n", name);
		exit(1);
	}
	memcpy(place, &symbol, sizeof(symbol));
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	void *library = argc > 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
	unsigned count, i;

	if (!library) {
		fprintf(stderr, "xpti_ops FRAMEWORK OPERATION THREADS BATCHES: %s\n", dlerror());
		return 2;
	}
	take(library, "xptiRegisterStream", &f.register_stream);
	take(library, "xptiInitialize", &f.initialize);
	take(library, "xptiRegisterCallback", &f.register_callback);
	take(library, "xptiForceSetTraceEnabled", &f.force);
	take(library, "xptiGetDefaultStreamID", &f.default_stream);
	take(library, "xptiCheckTraceEnabled", &f.check);
	take(library, "xptiNotifySubscribers", &f.notify);
	take(library, "xptiMakeEvent", &f.make);
	take(library, "xptiReleaseEvent", &f.release);
	operation = argv[2];
	if (!strcmp(operation, "raw")) {
		take(library, "rtl_stream_find", &f.find);
		take(library, "rtl_reserve", &f.reserve);
		take(library, "rtl_commit", &f.commit);
	}
	count = (unsigned)atoi(argv[3]);
	count = count > THREADS_MAX ? THREADS_MAX : count;
	batches = atoi(argv[4]);
	stream = f.register_stream("sycl");
	silent = f.register_stream("nobody.debug");
	f.initialize("sycl", 8, 0, "bench");
	if (!getenv("RTL_SUBSCRIBERS") && !getenv("RTL_COLLECTOR")) {
		f.force(true);
		for (i = 10; i <= 16; i++)
			f.register_callback(stream, (uint16_t)i, callback);
	}
	for (i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	samples_join(samples, count);
	printf("%.2f %.2f\n", samples[0].ns[0], samples[0].ns[samples[0].count / 2]);
	return 0;
}
