/* SPDX-License-Identifier: MIT */
/*
 * publisher.c: does what libsycl and the loader of Unified Runtime do with XPTI, and writes down in
 * a file of its own what it has told, for compare.py. Compiled as C and as C++.
 *
 *   publisher RECORD THREADS ROUNDS [END]      END: exit (default), kill, abort, fork, many, race
 *
 * race: two threads register each of 100 streams at once, and tell an event each.
 * many: as many streams as there can be, with an event each, and no more.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proxy.h"

static struct proxy xpti;
static int rounds;
static const char *record_name;
static uint8_t sycl, calls, zero, buffers, images, memory, own;
static struct xpti_event *graph;
static const char *sycl_name, *calls_name;
static uint16_t own_type;

struct worker {
	pthread_t thread;
	int number;
	FILE *record;
};

static long tid(void)
{
	return syscall(SYS_gettid);
}

static struct xpti_payload payload(const char *name, const char *file, uint32_t line)
{
	struct xpti_payload p;

	memset(&p, 0, sizeof(p));
	p.name = name;
	p.file = file;
	p.line = line;
	p.column = 5;
	p.flags = XPTI_PAYLOAD_NAME | XPTI_PAYLOAD_FILE | XPTI_PAYLOAD_LINE | XPTI_PAYLOAD_COLUMN;
	return p;
}

static int32_t text_object(const char *text)
{
	return xpti.RegisterObject(text, strlen(text), XPTI_OBJECT_STRING);
}

static int32_t number_object(uint64_t number)
{
	return xpti.RegisterObject((const char *)&number, sizeof(number), XPTI_OBJECT_UNSIGNED);
}

/* ---- what libsycl does */

static void make_queue(struct worker *w, uint64_t queue)
{
	struct xpti_payload p = payload("queue", "queue.cpp", 3);
	uint64_t instance;
	struct xpti_event *event = xpti.MakeEvent("queue", &p, 1, XPTI_ACTIVITY_ACTIVE, &instance);

	xpti.AddMetadata(event, "queue_id", number_object(queue));
	xpti.AddMetadata(event, "is_inorder", xpti.RegisterObject("\1", 1, XPTI_OBJECT_BOOL));
	for (int i = 0; i < 2; i++) { /* told again, with the same metadata */
		xpti.NotifySubscribers(sycl, RTL_QUEUE_CREATE, NULL, event, instance,
				       "queue_create");
		fprintf(w->record, "Q\t%" PRIu64 "\t%s\t%" PRIu64 "\t%ld\n", event->unique_id,
			"queue_create", queue, tid());
	}
	xpti.StashTuple("queue_id", queue);
}

/* As Unified Runtime's loader exports it. */
#ifdef __cplusplus
extern "C" {
#endif
XPTI_API int32_t urPrintFunctionParams(uint32_t function, const void *args, char *text, size_t size,
				       size_t *needed);
#ifdef __cplusplus
}
#endif

int32_t urPrintFunctionParams(uint32_t function, const void *args, char *text, size_t size,
			      size_t *needed)
{
	const struct worker *w = *(const struct worker *const *)args;

	*needed = 1 + (size_t)snprintf(text, size, ".worker = %d", w->number);
	return 0;
}

static void call_runtime(struct worker *w, uint8_t stream, const char *stream_name,
			 uint32_t function, const char *name, int32_t result)
{
	uint64_t instance = xpti.GetUniqueId();
	struct xpti_call call;
	void *args[2] = {w, &call};

	memset(&call, 0, sizeof(call));
	call.function = function;
	call.name = name;
	call.args = args;
	if (!xpti.CheckTraceEnabled(stream, RTL_FUNCTION_WITH_ARGS_BEGIN))
		return;
	xpti.NotifySubscribers(stream, RTL_FUNCTION_WITH_ARGS_BEGIN, NULL, NULL, instance, &call);
	call.result = &result;
	xpti.NotifySubscribers(stream, RTL_FUNCTION_WITH_ARGS_END, NULL, NULL, instance, &call);
	fprintf(w->record, "S\tcall\t%s\t", name);
	if (!strcmp(stream_name, "ur.call.debug"))
		fprintf(w->record, ".worker = %d", w->number);
	fprintf(w->record, "\t0\t0\t%" PRIu64 "\t%d\t%ld\t%s\n", instance, result, tid(),
		stream_name);
}

static void wait_for_queue(struct worker *w, uint64_t round)
{
	static const char text[] = "queue.wait[0x5581a0]";
	struct xpti_payload p = payload(text, "main.cpp", 90);
	uint64_t instance;
	struct xpti_event *event = xpti.MakeEvent(text, &p, 5, XPTI_ACTIVITY_ACTIVE, &instance);
	uint64_t number = xpti.GetUniqueId();

	xpti.NotifySubscribers(sycl, 22, NULL, event, number, text);
	xpti.NotifySubscribers(sycl, 23, NULL, event, number, text);
	fprintf(w->record, "S\twait\twait\t%s\t%" PRIu64 "\t0\t%" PRIu64 "\t\t%ld\t%s\n", text,
		event->unique_id, number, tid(), sycl_name);
	if (round & 1)
		xpti.ReleaseEvent(event);
}

static void use_memory(struct worker *w, uint64_t round)
{
	struct xpti_memory m;
	uint64_t number = xpti.GetUniqueId();

	memset(&m, 0, sizeof(m));
	m.size = 4096 + round;
	xpti.NotifySubscribers(memory, 32, NULL, NULL, number, &m);
	m.pointer = 0x7f0000000000u + round;
	xpti.NotifySubscribers(memory, 33, NULL, NULL, number, &m);
	fprintf(w->record, "M\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%ld\n", number, m.pointer,
		m.size, tid());
}

static void use_buffer(struct worker *w, uint64_t round)
{
	struct xpti_payload p = payload("buffer", "main.cpp", 12);
	struct xpti_association a = {0x1000 + round, 0x2000 + round};
	struct xpti_accessor accessor = {0x1000 + round, 0x3000 + round, 2, 1};
	struct xpti_image image;
	struct xpti_buffer b;
	uint64_t instance, *handle = (uint64_t *)malloc(sizeof(*handle));
	struct xpti_event *place = xpti.MakeEvent("buffer", &p, 9, XPTI_ACTIVITY_ACTIVE, &instance);

	memset(&b, 0, sizeof(b));
	b.user = 0x1000 + round;
	b.element = "float";
	b.element_size = 4;
	b.dimensions = 2;
	b.range[0] = 64;
	b.range[1] = 32;
	xpti.NotifySubscribers(buffers, 36, NULL, place, instance, &b);
	fprintf(w->record,
		"B\tsycl_experimental_buffer_construct\t%" PRIu64 "\tfloat\t64\t32\t-1\n", b.user);
	xpti.NotifySubscribers(buffers, 38, NULL, NULL, instance, &a);
	xpti.NotifySubscribers(buffers, 40, NULL, place, instance, &accessor);
	xpti.NotifySubscribers(buffers, 39, NULL, NULL, instance, &a);
	if (handle) { /* of what is destroyed nothing but the handle is there */
		*handle = b.user;
		xpti.NotifySubscribers(buffers, 37, NULL, NULL, instance, handle);
	}
	free(handle);
	memset(&image, 0, sizeof(image));
	image.user = 0x4000 + round;
	image.dimensions = 1;
	image.range[0] = 16;
	image.format = 7;
	image.filtering.value = 3;
	image.filtering.engaged = 1;
	xpti.NotifySubscribers(images, 36, NULL, place, instance, &image);
	fprintf(w->record, "B\tsycl_experimental_image_construct\t%" PRIu64 "\t\t16\t0\t3\n",
		image.user);
}

static void own_events(struct worker *w, uint64_t round)
{
	struct xpti_payload p = payload("mine", "own.cpp", 1);
	uint64_t instance;
	struct xpti_event *event = xpti.MakeEvent("mine", &p, 1, XPTI_ACTIVITY_ACTIVE, &instance);

	/* What user data is here nobody knows: it must not be followed. */
	round++; /* 0 is none */
	xpti.NotifySubscribers(own, own_type, NULL, event, round, (void *)1);
	fprintf(w->record, "O\t%u\t%" PRIu64 "\t%" PRIu64 "\t%ld\n", own_type, event->unique_id,
		round, tid());
	xpti.ReleaseEvent(event);
}

static struct xpti_event *submit(struct worker *w, struct xpti_event *before, uint64_t round)
{
	static const char *const kernels[] = {"saxpy", "reduce", "_ZTS4scan"};
	const char *kernel = kernels[round % 3];
	struct xpti_payload p = payload(kernel, "main.cpp", 40 + (uint32_t)(round % 3)), e;
	uint64_t instance, edge_instance;
	struct xpti_event *node = xpti.MakeEvent(kernel, &p, 2, XPTI_ACTIVITY_ACTIVE, &instance);
	struct xpti_event *edge;
	const int32_t late = -5;
	double real = 0.5;
	struct xpti_kernel_arg arg = {3, (const void *)0x7f00, 8, 0};
	struct xpti_enqueue enqueue = {{64, 2, 1}, {32, 1, 1}, {0, 0, 0}, 1};

	xpti.AddMetadata(node, "kernel_name", text_object(kernel));
	xpti.AddMetadata(node, "sycl_device_type", text_object("GPU"));
	xpti.AddMetadata(
		node, "enqueue_kernel_data",
		xpti.RegisterObject((const char *)&enqueue, sizeof(enqueue), XPTI_OBJECT_BINARY));
	xpti.AddMetadata(node, "arg0",
			 xpti.RegisterObject((const char *)&arg, sizeof(arg), XPTI_OBJECT_BINARY));
	if (round & 1) { /* as operations on memory have it; the others have stashed it */
		xpti.AddMetadata(node, "queue_id", number_object(round));
	} else {
		xpti.StashTuple("queue_id", round);
		xpti.UnstashTuple();
	}
	xpti.AddMetadata(node, "real",
			 xpti.RegisterObject((const char *)&real, sizeof(real), XPTI_OBJECT_FLOAT));
	xpti.NotifySubscribers(sycl, RTL_NODE_CREATE, graph, node, instance, "command_group_node");
	xpti.AddMetadata(
		node, "late",
		xpti.RegisterObject((const char *)&late, sizeof(late), XPTI_OBJECT_SIGNED));
	fprintf(w->record,
		"N\t%" PRIu64 "\t%" PRIu64 "\t%s\tcommand_group_node\t%s\tmain.cpp\t%u"
		"\tGPU\t%" PRIu64 "\t%" PRIu64 "\t%ld\n",
		node->unique_id, graph->unique_id, kernel, kernel, p.line, round, instance, tid());
	if (before) {
		e = payload("event", "main.cpp", 1);
		edge = xpti.MakeEvent("event", &e, 1, XPTI_ACTIVITY_ACTIVE, &edge_instance);
		edge->source_id = before->unique_id;
		edge->target_id = node->unique_id;
		xpti.NotifySubscribers(sycl, RTL_EDGE_CREATE, graph, edge, edge_instance, NULL);
		fprintf(w->record, "E\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\tevent\n",
			edge->unique_id, graph->unique_id, edge->source_id, edge->target_id);
	}
	xpti.NotifySubscribers(sycl, RTL_TASK_BEGIN, graph, node, instance, NULL);
	call_runtime(w, calls, calls_name, 7, "urEnqueueKernelLaunch", (int32_t)(round % 5));
	call_runtime(w, zero, "sycl.experimental.level_zero.debug", 3, "zeInit", 1);
	xpti.NotifySubscribers(sycl, RTL_SIGNAL, graph, node, instance, (void *)(0xabc000 + round));
	xpti.NotifySubscribers(sycl, RTL_TASK_END, graph, node, instance, NULL);
	fprintf(w->record, "S\ttask\t%s\t\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t\t%ld\t%s\n",
		kernel, node->unique_id, graph->unique_id, instance, tid(), sycl_name);
	fprintf(w->record, "H\t%" PRIu64 "\t%" PRIu64 "\n", node->unique_id,
		(uint64_t)0xabc000 + round);
	/* the one before is done with */
	if (before && round % 4 == 0)
		xpti.ReleaseEvent(before);
	return node;
}

static void *work(void *user)
{
	struct worker *w = (struct worker *)user;
	struct xpti_event *node = NULL;
	struct xpti_interface *scope;
	/* callers of 2024 give four arguments */
	struct xpti_interface *(*with_four)(const char *, const char *, uint32_t, uint32_t);

	memcpy((void *)&with_four, (void *)&xpti.RegisterTracepointScope, sizeof(with_four));
	make_queue(w, 10 + (uint64_t)w->number);
	for (int i = 0; i < rounds; i++) {
		scope = i & 1 ? with_four("submit", "main.cpp", 30, 1)
			      : xpti.RegisterTracepointScope("submit", "main.cpp", 30, 1, w);
		xpti.SetTracepointScopeData(scope);
		node = submit(w, node, (uint64_t)i);
		wait_for_queue(w, (uint64_t)i);
		use_memory(w, (uint64_t)i);
		if (i % 8 == 0) {
			use_buffer(w, (uint64_t)i);
			own_events(w, (uint64_t)i);
		}
		xpti.UnsetTracepointScopeData();
		xpti.DeleteTracepoint(scope);
	}
	fflush(w->record);
	return NULL;
}

/* ---- the program */

static uint8_t open_stream(const char *name, uint32_t major, uint32_t minor)
{
	uint8_t number = xpti.RegisterStream(name);

	xpti.Initialize(name, major, minor, "test");
	return number;
}

/* As libsycl does: where the debug stream is wanted, all goes there. */
static uint8_t choose(const char **name, const char *plain, const char *debug, uint32_t major)
{
	uint8_t number = open_stream(plain, major, 0), other = open_stream(debug, major, 0);

	*name = xpti.CheckTraceEnabled(other, 0) ? debug : plain;
	return *name == debug ? other : number;
}

static void begin(void)
{
	struct xpti_payload p = payload("application_graph", "", 0);
	uint64_t instance;

	xpti.Finalize("sycl"); /* a stray one */
	xpti.FrameworkInitialize();
	sycl = choose(&sycl_name, "sycl", "sycl.debug", 8);
	calls = choose(&calls_name, "ur.call", "ur.call.debug", 0);
	zero = open_stream("sycl.experimental.level_zero.debug", 0, 1);
	buffers = open_stream("sycl.experimental.buffer", 8, 0);
	images = open_stream("sycl.experimental.image", 8, 0);
	memory = open_stream("sycl.experimental.mem_alloc", 8, 0);
	own = open_stream("My own/Stream", 1, 2);
	own_type = xpti.RegisterUserDefinedTracePoint("mine", 5);
	graph = xpti.MakeEvent("application_graph", &p, 1, XPTI_ACTIVITY_ACTIVE, &instance);
	xpti.NotifySubscribers(sycl, RTL_GRAPH_CREATE, NULL, graph, instance, NULL);
	xpti.NotifySubscribers(sycl, RTL_DIAGNOSTICS, NULL, NULL, 0, "something is odd");
}

static void use_many_streams(void)
{
	struct xpti_payload p = payload("many", "many.cpp", 1);
	uint64_t instance;
	struct xpti_event *event = xpti.MakeEvent("many", &p, 1, XPTI_ACTIVITY_ACTIVE, &instance);
	char name[32];

	for (int i = 0;; i++) {
		snprintf(name, sizeof(name), "stream %d", i);
		uint8_t number = xpti.RegisterStream(name);

		if (number == XPTI_INVALID_STREAM)
			break;
		xpti.Initialize(name, 1, 0, "1");
		xpti.NotifySubscribers(number, 30, NULL, event, 1 + (uint64_t)i, NULL);
	}
}

static pthread_barrier_t barrier;

static void *race(void *unused)
{
	struct xpti_payload p = payload("race", "race.cpp", 1);
	uint64_t instance;
	struct xpti_event *event = xpti.MakeEvent("race", &p, 1, XPTI_ACTIVITY_ACTIVE, &instance);
	char name[32];

	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "stream %d", i);
		pthread_barrier_wait(&barrier);
		xpti.NotifySubscribers(xpti.RegisterStream(name), 30, NULL, event, 1, NULL);
	}
	return unused;
}

static int race_for_streams(void)
{
	pthread_t other;

	if (pthread_barrier_init(&barrier, NULL, 2) || pthread_create(&other, NULL, race, NULL))
		return 1;
	race(NULL);
	return pthread_join(other, NULL);
}

static void finish(void)
{
	xpti.Finalize("sycl");
	xpti.Finalize("ur.call");
	xpti.FrameworkFinalize();
	xpti.FrameworkFinalize();
}

static int run(int threads)
{
	struct worker *workers = (struct worker *)calloc((size_t)threads, sizeof(*workers));
	char name[4096];

	if (!workers)
		return 1;
	for (int i = 0; i < threads; i++) {
		snprintf(name, sizeof(name), "%s.%d.%d", record_name, (int)getpid(), i);
		workers[i].number = i;
		workers[i].record = fopen(name, "a");
		if (!workers[i].record ||
		    pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 1;
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		fclose(workers[i].record);
	}
	free(workers);
	return 0;
}

static void *end_task(void *user)
{
	xpti.NotifySubscribers(sycl, RTL_TASK_END, graph, (struct xpti_event *)user, 4, NULL);
	return (void *)tid();
}

/* The process is to end within a task, a call and a wait. Another task ends on another thread. */
static void begin_and_stay(void)
{
	struct xpti_payload p = payload("stays", "main.cpp", 77);
	uint64_t instance;
	struct xpti_event *node = xpti.MakeEvent("stays", &p, 2, XPTI_ACTIVITY_ACTIVE, &instance);
	char name[4096];
	pthread_t other;
	void *ended = NULL;
	FILE *record;

	snprintf(name, sizeof(name), "%s.%d.stays", record_name, (int)getpid());
	record = fopen(name, "a");
	xpti.NotifySubscribers(sycl, RTL_TASK_BEGIN, graph, node, 4, NULL);
	if (!record || pthread_create(&other, NULL, end_task, node) || pthread_join(other, &ended))
		exit(1);
	fprintf(record, "S\ttask\tstays\t\t%" PRIu64 "\t%" PRIu64 "\t4\t\t%ld\t%s\n",
		node->unique_id, graph->unique_id, (long)ended, sycl_name);
	for (uint64_t i = 5; i < 7; i++) {
		xpti.NotifySubscribers(sycl, RTL_TASK_BEGIN, graph, node, i, NULL);
		fprintf(record, "U\ttask\tstays\t\t%" PRIu64 "\t%" PRIu64 "\t%d\t\t%ld\t%s\n",
			node->unique_id, graph->unique_id, (int)i, tid(), sycl_name);
	}
	xpti.NotifySubscribers(calls, RTL_FUNCTION_BEGIN, NULL, NULL, 8, "urQueueFinish");
	fprintf(record, "U\tcall\turQueueFinish\t\t0\t0\t8\t\t%ld\t%s\n", tid(), calls_name);
	xpti.NotifySubscribers(sycl, 22, NULL, node, 9, "queue.wait");
	fprintf(record, "U\twait\twait\tqueue.wait\t%" PRIu64 "\t0\t9\t\t%ld\t%s\n",
		node->unique_id, tid(), sycl_name);
	fclose(record);
	usleep(300000);
}

int main(int argc, char **argv)
{
	const char *end = argc > 4 ? argv[4] : "exit";
	int failed, status;
	pid_t child;

	if (argc < 4)
		return 2;
	record_name = argv[1];
	rounds = atoi(argv[3]);
	if (!proxy_open(&xpti) || !xpti.TraceEnabled()) {
		printf("no tracing\n");
		return 0;
	}
	if (!strcmp(end, "many")) {
		use_many_streams();
		return 0;
	}
	if (!strcmp(end, "race"))
		return race_for_streams();
	begin();
	failed = run(atoi(argv[2]));
	if (!failed && !strcmp(end, "fork")) {
		child = fork();
		if (!child) {
			failed = run(atoi(argv[2]));
			finish();
			exit(failed);
		}
		if (waitpid(child, &status, 0) != child || status)
			return 1;
		failed = run(atoi(argv[2]));
	}
	if (!strcmp(end, "kill") || !strcmp(end, "abort") || !strcmp(end, "_exit"))
		begin_and_stay();
	if (!strcmp(end, "_exit"))
		_exit(0);
	if (!strcmp(end, "kill"))
		raise(SIGKILL);
	if (!strcmp(end, "abort"))
		abort();
	finish();
	return failed;
}
