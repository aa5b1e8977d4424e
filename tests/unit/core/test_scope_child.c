/* SPDX-License-Identifier: MIT */
/* Scenarios of scopes and the stash: no events. Run by test_scope.c. */
#include "test_bus_child.h"

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include <rtl/rtl.h>

/* The scope is that one; a uid of 0: none is open. */
static bool current_is(uint32_t depth, uint64_t uid, uint64_t instance, uint64_t correlation)
{
	struct rtl_scope scope = {.struct_size = sizeof(scope), .depth = 4711};
	int err = rtl_scope_current(&scope);

	if (!depth)
		return err == RTL_ENOENT && scope.depth == 4711;
	return !err && scope.depth == depth && scope.uid == uid && scope.instance == instance &&
	       scope.correlation == correlation;
}

SCENARIO(scope_nesting)
{
	struct rtl_scope too_small = {.struct_size = sizeof(too_small) - 1};

	CHECK(current_is(0, 0, 0, 0));
	rtl_scope_pop(1);
	CHECK(rtl_scope_push(10, 11, 12) == 1);
	CHECK(current_is(1, 10, 11, 12));
	CHECK(rtl_scope_push(20, 21, 22) == 2);
	CHECK(current_is(2, 20, 21, 22));
	CHECK(rtl_scope_push(0, 31, 0) == 3); /* what it does not say is as around it */
	CHECK(current_is(3, 20, 31, 22));
	rtl_scope_pop(3);
	CHECK(current_is(2, 20, 21, 22));
	rtl_scope_pop(3); /* closed already */
	rtl_scope_pop(0);
	CHECK(current_is(2, 20, 21, 22));
	rtl_scope_pop(2);
	CHECK(current_is(1, 10, 11, 12));
	CHECK(rtl_scope_current(&too_small) == RTL_EINVAL);
	CHECK(rtl_scope_current(NULL) == RTL_EINVAL);
	rtl_scope_pop(1);
	CHECK(current_is(0, 0, 0, 0));
	CHECK(rtl_scope_push(0, 0, 0) == 1); /* nothing of the old one shows */
	CHECK(current_is(1, 0, 0, 0));
}

SCENARIO(scope_overflow)
{
	uint32_t i, more = RTL_SCOPE_DEPTH_MAX + 1000;

	for (i = 1; i <= more; i++) {
		CHECK(rtl_scope_push(i, i, i) == i);
		if (i > RTL_SCOPE_DEPTH_MAX)
			CHECK(current_is(RTL_SCOPE_DEPTH_MAX, RTL_SCOPE_DEPTH_MAX,
					 RTL_SCOPE_DEPTH_MAX, RTL_SCOPE_DEPTH_MAX));
	}
	for (i = more; i > RTL_SCOPE_DEPTH_MAX; i--) {
		CHECK(current_is(RTL_SCOPE_DEPTH_MAX, RTL_SCOPE_DEPTH_MAX, RTL_SCOPE_DEPTH_MAX,
				 RTL_SCOPE_DEPTH_MAX));
		rtl_scope_pop(i);
	}
	for (; i > 0; i--) {
		CHECK(current_is(i, i, i, i));
		rtl_scope_pop(i);
	}
	CHECK(current_is(0, 0, 0, 0));
	for (i = 1; i <= more; i++)
		rtl_scope_push(i, i, i);
	rtl_scope_pop(1);
	CHECK(current_is(0, 0, 0, 0));
	CHECK(rtl_scope_push(7, 8, 9) == 1 && current_is(1, 7, 8, 9));
}

SCENARIO(scope_left_open)
{
	jmp_buf back;
	volatile uint32_t outer = rtl_scope_push(1, 1, 1);

	if (!setjmp(back)) {
		rtl_scope_push(2, 2, 2);
		rtl_scope_push(3, 3, 3);
		longjmp(back, 1);
	}
	CHECK(current_is(3, 3, 3, 3));
	rtl_scope_pop(outer);
	CHECK(current_is(0, 0, 0, 0));
}

/* ---- threads */

static void *own_scopes(void *user)
{
	uint64_t value = 0;

	CHECK(current_is(0, 0, 0, 0));
	CHECK(rtl_stash_get(5, &value) == RTL_ENOENT);
	CHECK(rtl_scope_push(3, 4, 5) == 1 && current_is(1, 3, 4, 5));
	CHECK(!rtl_stash_set(5, 6));
	return user; /* with both left behind */
}

static uint64_t pages_mapped(void)
{
	unsigned long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	CHECK(file && fscanf(file, "%llu", &pages) == 1);
	fclose(file);
	return pages;
}

SCENARIO(scope_threads)
{
	uint64_t before;

	rtl_scope_push(1, 2, 3);
	CHECK(!rtl_stash_set(5, 7));
	for (int i = 0; i < 50; i++)
		join_thread(start_thread(own_scopes, NULL));
	before = pages_mapped();
	for (int i = 0; i < 2000; i++)
		join_thread(start_thread(own_scopes, NULL));
	CHECK(UNDER_TSAN || pages_mapped() < before + 1000);
	CHECK(current_is(1, 1, 2, 3));
}

static pthread_key_t late_key;

static void late(void *user)
{
	own_scopes(NULL); /* whichever destructor came first */
}

static void *uses_in_destructor(void *user)
{
	pthread_setspecific(late_key, user);
	own_scopes(NULL);
	rtl_stash_remove(5);
	rtl_scope_pop(1);
	return NULL;
}

SCENARIO(scope_thread_destructors)
{
	uint64_t before;

	CHECK(!pthread_key_create(&late_key, late));
	join_thread(start_thread(uses_in_destructor, &late_key));
	before = pages_mapped();
	for (int i = 0; i < 2000; i++)
		join_thread(start_thread(uses_in_destructor, &late_key));
	CHECK(UNDER_TSAN || pages_mapped() < before + 1000);
}

/* ---- fork */

SCENARIO(scope_fork)
{
	uint32_t depth = rtl_scope_push(1, 2, 3);
	uint64_t value = 0;
	int status;
	pid_t pid;

	CHECK(!rtl_stash_set(9, 10));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK(current_is(1, 1, 2, 3));
		CHECK(!rtl_stash_get(9, &value) && value == 10);
		CHECK(!rtl_stash_set(9, 11));
		rtl_scope_push(4, 5, 6);
		CHECK(current_is(2, 4, 5, 6));
		rtl_scope_pop(depth);
		CHECK(current_is(0, 0, 0, 0));
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(current_is(1, 1, 2, 3));
	CHECK(!rtl_stash_get(9, &value) && value == 10);
}

/* ---- signal handlers */

static volatile sig_atomic_t handled, consistent = 1;
static uint32_t stop_signals;

/* All scopes of the test hold (n, n + 1, n + 2), and the stash n under 100 and 101. */
static void look(void)
{
	struct rtl_scope scope = {.struct_size = sizeof(scope)};

	if (!rtl_scope_current(&scope) &&
	    (scope.instance != scope.uid + 1 || scope.correlation != scope.uid + 2))
		consistent = 0;
}

static void on_signal(int number)
{
	struct rtl_scope before = {.struct_size = sizeof(before)}, after = before;
	uint64_t uid = 1000000u + (uint64_t)handled, value = 0;
	int had, err = errno;
	uint32_t depth;

	look();
	had = rtl_scope_current(&before);
	depth = rtl_scope_push(uid, uid + 1, uid + 2);
	if (rtl_scope_current(&after) || after.uid != uid)
		consistent = 0;
	look();
	rtl_scope_pop(depth);
	if (rtl_scope_current(&after) != had || (!had && memcmp(&before, &after, sizeof(before))))
		consistent = 0;
	if (rtl_stash_set(200, uid) || rtl_stash_get(200, &value) || value != uid ||
	    rtl_stash_remove(200))
		consistent = 0;
	handled = handled + 1;
	errno = err;
}

static void *send_signals(void *user)
{
	const struct timespec pause = {0, 20000};
	pthread_t to = *(pthread_t *)user;

	while (!flag_get(&stop_signals)) {
		pthread_kill(to, SIGUSR1);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void work_between_signals(uint64_t n)
{
	uint32_t outer = rtl_scope_push(n, n + 1, n + 2), inner;
	uint64_t value = 0;

	CHECK(outer == 1);
	CHECK(current_is(1, n, n + 1, n + 2));
	inner = rtl_scope_push(n + 3, n + 4, n + 5);
	CHECK(current_is(2, n + 3, n + 4, n + 5));
	CHECK(!rtl_stash_set(100, n) && !rtl_stash_set(101, n));
	CHECK(!rtl_stash_get(101, &value) && value == n);
	rtl_scope_pop(n % 2 ? inner : outer);
	rtl_scope_pop(outer);
	CHECK(!rtl_stash_remove(100));
	CHECK(!rtl_stash_get(101, &value) && value == n);
	CHECK(!rtl_stash_remove(101));
	CHECK(current_is(0, 0, 0, 0));
}

SCENARIO(scope_signals)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pthread_t self = pthread_self(), sender;

	CHECK(!sigaction(SIGUSR1, &action, NULL));
	sender = start_thread(send_signals, &self);
	for (uint64_t n = 1; handled < 3000 && n < 4000000000u; n++)
		work_between_signals(n);
	flag_set(&stop_signals, 1);
	join_thread(sender);
	CHECK(handled >= 3000);
	CHECK(consistent);
}

/* The first use of a thread is in a handler. */
static void *first_use_in_handler(void *user)
{
	raise(SIGUSR1);
	CHECK(current_is(0, 0, 0, 0));
	CHECK(rtl_scope_push(1, 2, 3) == 1);
	return user;
}

SCENARIO(scope_first_use_in_handler)
{
	struct sigaction action = {.sa_handler = on_signal};

	CHECK(!sigaction(SIGUSR1, &action, NULL));
	join_thread(start_thread(first_use_in_handler, NULL));
	CHECK(handled == 1 && consistent);
}

/* ---- stash */

SCENARIO(stash_keys)
{
	uint64_t key, value = 77, i;

	CHECK(rtl_stash_get(1, &value) == RTL_ENOENT && value == 77);
	CHECK(rtl_stash_remove(1) == RTL_ENOENT);
	CHECK(rtl_stash_set(0, 1) == RTL_EINVAL && rtl_stash_get(0, &value) == RTL_EINVAL);
	CHECK(rtl_stash_get(1, NULL) == RTL_EINVAL && rtl_stash_remove(0) == RTL_ENOENT);
	for (i = 1; i <= RTL_STASH_MAX; i++)
		CHECK(!rtl_stash_set(i * 1000, i));
	CHECK(rtl_stash_set(1, 1) == RTL_ELIMIT);
	CHECK(!rtl_stash_set(5000, 55)); /* of a known key: still */
	for (i = 1; i <= RTL_STASH_MAX; i++)
		CHECK(!rtl_stash_get(i * 1000, &value) && value == (i == 5 ? 55 : i));
	CHECK(!rtl_stash_remove(5000) && rtl_stash_remove(5000) == RTL_ENOENT);
	CHECK(rtl_stash_get(5000, &value) == RTL_ENOENT);
	CHECK(!rtl_stash_set(1, 0) && !rtl_stash_get(1, &value) && value == 0);
	key = rtl_stash_key("mylib.stage");
	CHECK(key && key == rtl_stash_key("mylib.stage") && key != rtl_stash_key("mylib.stagf"));
	CHECK(rtl_stash_key("") && rtl_stash_key("") != rtl_stash_key("a"));
	CHECK(rtl_stash_key("mylib.stage") == UINT64_C(0x6463b2d112966db0)); /* in every process */
}

SCENARIO(scope_no_allocation)
{
	struct mallinfo2 before, after;
	uint64_t value, i;

	rtl_scope_push(1, 1, 1);
	before = mallinfo2();
	errno = 4711;
	for (i = 0; i < 100000; i++) {
		uint32_t depth = rtl_scope_push(i, i, i);

		CHECK(!rtl_stash_set(1 + i, i) && !rtl_stash_get(1 + i, &value));
		CHECK(!rtl_stash_remove(1 + i));
		rtl_scope_pop(depth);
	}
	CHECK(errno == 4711);
	after = mallinfo2();
	CHECK(before.uordblks == after.uordblks && before.hblkhd == after.hblkhd);
}
