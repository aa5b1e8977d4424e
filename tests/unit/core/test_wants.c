/* SPDX-License-Identifier: MIT */
/* A subscriber that asks for a stream's types one by one loses nothing of those that it asks for last, however much the
 * program publishes in between; and metadata of its tracepoints have their kinds there. */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <rtl/collector.h>
#include <rtl/rtl.h>
#include <rtl/subscriber.h>

#include "unit.h"

#define EVENTS 100

static const struct rtl_type_info types[] = {
	{sizeof(types[0]), RTL_SIGNAL, 0, 0, 0, "signal", "", NULL},
	{sizeof(types[0]), RTL_TASK_END, 0, 0, 0, "task_end", "", NULL},
};
static const struct rtl_stream_info info = {sizeof(info), 1, 0, "test.wants", "", types, 2, 0};

static const struct rtl_host *host;
static int to_child[2], from_child[2];
static size_t signals, ends;
static uint32_t kinds; /* of a tracepoint's metadata, as seen from outside */

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	const struct rtl_tracepoint *tp;

	for (size_t i = 0; i < count; i++) {
		tp = host->tracepoint(host, events[i]->process, events[i]->uid);
		for (uint32_t k = 0; tp && k < tp->metadata_count; k++)
			if (!strcmp(tp->metadata[k].value,
				    tp->metadata[k].kind == RTL_KIND_UINT ? "42" : "a text"))
				kinds |= 1u << tp->metadata[k].kind;
		signals += events[i]->type == RTL_SIGNAL;
		ends += events[i]->type == RTL_TASK_END;
	}
}

static int on_create(const struct rtl_host *h, const struct rtl_setting *settings, size_t count,
		     void **instance)
{
	host = h;
	*instance = &host;
	return 0;
}

static int on_stream(void *instance, const struct rtl_stream_info *stream)
{
	char byte = 0;

	if (strcmp(stream->name, info.name) != 0)
		return 0;
	assert_int_equal(
		host->subscribe(host, stream, RTL_SIGNAL, RTL_BUFFERED, on_events, NULL, NULL), 0);
	/* the program publishes now, and has done it when the second is asked for */
	assert_int_equal(write(to_child[1], &byte, 1), 1);
	assert_int_equal(read(from_child[0], &byte, 1), 1);
	return host->subscribe(host, stream, RTL_TASK_END, RTL_BUFFERED, on_events, NULL, NULL);
}

static const struct rtl_subscriber subscriber = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(subscriber),
	.name = "wants",
	.version = "1",
	.description = "",
	.create = on_create,
	.stream = on_stream,
};

static const struct rtl_subscriber plain = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(plain),
	.name = "plain",
	.version = "1",
	.description = "",
	.create = on_create,
};

static int publish(const char *folder)
{
	const struct rtl_tracepoint_desc place = {.struct_size = sizeof(place), .name = "place"};
	struct rtl_stream *own = &rtl_stream_none;
	uint64_t uid;
	char byte = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	to_child[0] = dup2(to_child[0], 3);
	from_child[1] = dup2(from_child[1], 4);
	close_range(5, ~0u, 0); /* the collector's lock too, as an exec does */
	setenv("RTL_COLLECTOR", folder, 1);
	if (rtl_stream_register(&info, &own) || write(from_child[1], &byte, 1) != 1 ||
	    read(to_child[0], &byte, 1) != 1)
		return 1;
	if (rtl_tracepoint_register(&place, &uid) ||
	    rtl_tracepoint_set_value(uid, "value", RTL_KIND_UINT, 42) ||
	    rtl_tracepoint_set(uid, "text", "a text"))
		return 1;
	for (int i = 0; i < EVENTS; i++) {
		struct rtl_record *r = rtl_reserve(own, i % 2 ? RTL_SIGNAL : RTL_TASK_END, 0);

		if (!r)
			continue;
		r->uid = uid;
		rtl_commit(r);
	}
	return write(from_child[1], &byte, 1) != 1;
}

/* Collects what a child publishes that ends with what that function returns. `meanwhile`: NULL, nothing. */
static void collect(const struct rtl_subscriber *own, int (*child)(const char *folder),
		    void (*meanwhile)(struct rtl_collector *collector))
{
	char base[] = "/tmp/test_wants-XXXXXX", message[512] = "";
	struct rtl_collector *collector = NULL;
	struct rtl_collector_options options = {
		.struct_size = sizeof(options), .kind = RTL_COLLECT, .subscribers = "", .own = own};
	uint32_t left;
	int status;
	pid_t pid;

	options.folder = mkdtemp(base);
	if (rtl_collector_create(&options, &collector, message, sizeof(message)))
		fail_msg("%s", message);
	pid = fork();
	if (!pid)
		_exit(child(rtl_collector_folder(collector)));
	if (meanwhile)
		meanwhile(collector);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	rtl_collector_finish(collector, &left);
	rtl_collector_destroy(collector);
	rmdir(base);
}

static void meet_stream(struct rtl_collector *collector)
{
	char byte;

	assert_int_equal(read(from_child[0], &byte, 1), 1);
	rtl_collector_poll(collector, 0);
}

TEST(test_wants__asked_for_one_by_one__none_is_lost_meanwhile)
{
	assert_int_equal(pipe(to_child) | pipe(from_child), 0);
	collect(&subscriber, publish, meet_stream);
	assert_int_equal(signals, EVENTS / 2);
	assert_int_equal(ends, EVENTS / 2);
	assert_int_equal(kinds, 1u << RTL_KIND_UINT | 1u << 0);
}

static struct rtl_stream *stream = &rtl_stream_none;
static int spins, seen_off, stop;

static void *look(void *user)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		if (!rtl_enabled(stream, RTL_SIGNAL))
			__atomic_store_n(&seen_off, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&spins, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void publish_one(void)
{
	struct rtl_record *r = rtl_reserve(stream, RTL_SIGNAL, 0);

	if (r)
		rtl_commit(r);
}

/* In a child of a traced process: one thread publishes, another one looks meanwhile. */
static int child_of_traced(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, look, NULL))
		return 1;
	while (!__atomic_load_n(&spins, __ATOMIC_RELAXED))
		;
	publish_one();
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	return seen_off ? 2 : 0;
}

static int traced(const char *folder)
{
	int status;
	pid_t pid;

	close_range(3, ~0u, 0);
	setenv("RTL_COLLECTOR", folder, 1);
	if (rtl_stream_register(&info, &stream) || !rtl_enabled(stream, RTL_SIGNAL))
		return 1;
	publish_one();
	for (int i = 0; i < 10; i++) {
		pid = fork();
		if (!pid)
			_exit(child_of_traced());
		if (waitpid(pid, &status, 0) != pid || status)
			return 2;
	}
	return 0;
}

/* While a child's bus starts, its other threads find wanted what was wanted before. */
TEST(test_wants__child_starts__wanted_all_the_time)
{
	collect(&plain, traced, NULL);
}

RUN_TESTS(NULL, NULL, NULL, NULL)
