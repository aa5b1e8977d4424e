/* SPDX-License-Identifier: MIT */
/* Scenarios of the bus's start on one thread while another one is in dlopen, or forks. */
#include "test_bus_child.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/wait.h>

#define EVENTS 100

void in_constructor(void) __attribute__((visibility("default")));

static struct rtl_stream *stream;
static uint32_t constructing, starter_tid, started, told;
static bool forced; /* the constructor waits until the other thread waits for the loader */

static int note(struct probe *p, const struct rtl_stream_info *info)
{
	told += !strcmp(info->name, "t.loaded");
	return 0;
}

/* On the thread that is in dlopen, with the loader's lock. */
void in_constructor(void)
{
	flag_set(&constructing, 1);
	while (forced && !flag_get(&started) &&
	       (!flag_get(&starter_tid) || thread_state(flag_get(&starter_tid)) != 'S'))
		sched_yield();
	stream = register_stream("t.loaded");
	for (int i = 0; i < EVENTS; i++)
		CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, (uint64_t)i, 0));
}

static void *load_library(void *user)
{
	CHECK(dlopen(getenv("BUS_LIBRARY"), RTLD_NOW | RTLD_LOCAL));
	return user;
}

static void load_while_starting(void)
{
	pthread_t loader;

	USE_HOOKS(.stream = note, .buffered = count_arrived);
	loader = start_thread(load_library, NULL);
	if (forced)
		flag_wait(&constructing, 1);
	flag_set(&starter_tid, (uint32_t)gettid());
	register_stream("t.main");
	flag_set(&started, 1);
	join_thread(loader);
	flush_all();
	flush_all(); /* the pass of the first one may be the one that tells of the stream */
	CHECK(told == 1 && arrived.total == EVENTS && !arrived.gaps);
	CHECK(ledger_of(stream).published == EVENTS && ledger_of(stream).delivered == EVENTS);
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, EVENTS, 0));
	flush_all();
	CHECK(arrived.total == EVENTS + 1);
}

SCENARIO(constructor_registers_while_bus_loads)
{
	forced = true;
	load_while_starting();
}

SCENARIO(constructor_registers_at_any_time)
{
	load_while_starting();
}

/* ---- forks */

static __thread bool starts_bus;
static uint32_t stopped, forked;

static void stop_here(void)
{
	if (!starts_bus || flag_get(&stopped))
		return;
	flag_set(&stopped, 1);
	flag_wait(&forked, 1);
}

/* librtl asks for its settings here: the start can be stopped at each of them. */
__attribute__((visibility("default"))) char *secure_getenv(const char *name)
{
	const char *point = starts_bus ? getenv("BUS_STOP") : NULL;

	if (point && !strcmp(name, point))
		stop_here();
	return getenv(name);
}

static int stop_in_create(struct probe *p)
{
	if (!strcmp(getenv("BUS_STOP"), "create"))
		stop_here();
	return 0;
}

static void *start_bus(void *user)
{
	starts_bus = true;
	register_stream("t.main");
	return user;
}

/* The thread that starts the bus is not in the child: there it starts anew. */
SCENARIO(fork_while_bus_starts)
{
	const bool heard = getenv("RTL_SUBSCRIBERS") != NULL;
	pthread_t starter;
	int status;
	pid_t pid;

	NOT_UNDER_TSAN("threads in children");
	USE_HOOKS(.create = stop_in_create, .buffered = count_arrived);
	starter = start_thread(start_bus, NULL);
	flag_wait(&stopped, 1);
	pid = fork();
	if (!pid) {
		alarm(20);
		stream = register_stream("t.main");
		CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0) == heard);
		flush_all();
		CHECK(arrived.total == heard && ledger_of(stream).delivered == heard);
		exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
	flag_set(&forked, 1);
	join_thread(starter);
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0) == heard);
	flush_all();
	CHECK(arrived.total == heard && ledger_of(stream).delivered == heard);
}
