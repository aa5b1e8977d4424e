/* SPDX-License-Identifier: MIT */
/* Scenarios of threads that publish: many, short ones, ending and cancelled ones. */
#include "test_bus_child.h"

static const struct probe_hooks counting = {.buffered = count_arrived};

static struct rtl_stream *ordered;

static void *publish_three(void *user)
{
	uint32_t me = (uint32_t)(uintptr_t)user, i;

	for (i = 0; i < 3; i++)
		CHECK(publish_item(ordered, RTL_TASK_BEGIN, me, i, 10));
	return NULL;
}

/* Waves of threads; their rings serve the next wave. At most 8 full rings fit in the total. */
SCENARIO(threads_come_and_go)
{
	pthread_t threads[50];

	probe_hooks = &counting;
	ordered = register_stream("t.main");
	for (uintptr_t i = 0; i < 1000; i += 50) {
		for (uintptr_t k = 0; k < 50; k++)
			threads[k] = start_thread(publish_three, (void *)(i + k));
		for (uintptr_t k = 0; k < 50; k++)
			join_thread(threads[k]);
		flush_all();
		flush_all();
	}
	CHECK(arrived.total == 3000 && arrived.gaps == 0);
	CHECK(ledger_of(ordered).discarded == 0);
}

static pthread_barrier_t barrier;

static void *publish_together(void *user)
{
	publish_three(user);
	pthread_barrier_wait(&barrier); /* all of them have a ring now */
	return NULL;
}

SCENARIO(threads_at_once)
{
	static pthread_t threads[1000];
	pthread_attr_t attr;

	probe_hooks = &counting;
	ordered = register_stream("t.main");
	pthread_barrier_init(&barrier, NULL, 1000);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	for (uintptr_t i = 0; i < 1000; i++)
		CHECK(!pthread_create(&threads[i], &attr, publish_together, (void *)i));
	for (uintptr_t i = 0; i < 1000; i++)
		join_thread(threads[i]);
	flush_all();
	CHECK(arrived.total == 3000 && arrived.gaps == 0);
}

static void *publish_some(void *user)
{
	uint32_t me = (uint32_t)(uintptr_t)user;

	/* who can have none has nothing to wait for */
	CHECK(!rtl_room(ordered, RTL_TASK_BEGIN, sizeof(struct item)));
	publish_item(ordered, RTL_TASK_BEGIN, me, 0, 0);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* More threads than rings: who gets none discards, and that is counted. */
SCENARIO(no_ring_left)
{
	pthread_t threads[8];
	struct rtl_ledger ledger;

	probe_hooks = &counting;
	ordered = register_stream("t.main");
	pthread_barrier_init(&barrier, NULL, 8);
	for (uintptr_t i = 0; i < 8; i++)
		threads[i] = start_thread(publish_some, (void *)i);
	for (uintptr_t i = 0; i < 8; i++)
		join_thread(threads[i]);
	flush_all();
	ledger = ledger_of(ordered);
	CHECK(ledger.published == 8 && ledger.discarded > 0 && ledger.delivered > 0);
	CHECK(ledger.delivered + ledger.discarded == 8 && arrived.total == ledger.delivered);
}

static pthread_key_t keys[2];

/* Destructors of thread data, in several rounds, of keys older and newer than librtl's. */
static void publish_at_exit(void *user)
{
	uint64_t *left = user;

	CHECK(publish_item(ordered, RTL_TASK_END, 0, *left, 0));
	if (--*left)
		pthread_setspecific(keys[*left % 2], left);
	else
		free(left);
}

static void *end_with_data(void *user)
{
	uint64_t *left = malloc(sizeof(*left));

	CHECK(left);
	*left = 3;
	CHECK(publish_item(ordered, RTL_TASK_END, 0, 4, 0));
	pthread_setspecific(keys[1], left);
	return NULL;
}

SCENARIO(thread_data_destructors)
{
	struct rtl_ledger ledger;

	CHECK(!pthread_key_create(&keys[0], publish_at_exit));
	ordered = register_stream("t.main");
	CHECK(publish_item(ordered, RTL_TASK_END, 0, 0, 0));
	CHECK(!pthread_key_create(&keys[1], publish_at_exit));
	for (int i = 0; i < 200; i++)
		join_thread(start_thread(end_with_data, NULL));
	flush_all();
	ledger = ledger_of(ordered);
	CHECK(ledger.delivered == 1 + 200 * 4 && !ledger.discarded);
}

/* ---- cancellation: a thread that is cancelled takes no lock of rtl with it, and is cancelled
 * where the program has a cancellation point, not where rtl has one: what calls rtl may be C++ that
 * ends the process when it is unwound */

static void *cancelled(void *user)
{
	int *steps = user;

	CHECK(!pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL));
	CHECK(!pthread_cancel(pthread_self())); /* due at the next cancellation point */
	CHECK(!pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL));
	publish_item(ordered, RTL_TASK_END, 0, 0, 0); /* its first: makes files */
	*steps = 1;
	rtl_flush(1000);
	*steps = 2;
	rtl_log(RTL_LEVEL_INFO, "test", "written");
	*steps = 3;
	register_stream("t.another");
	*steps = 4;
	for (int i = 0; i < 100000; i++) /* through all of its ring, and waiting */
		publish_item(ordered, RTL_TASK_END, 0, 0, 0);
	*steps = 5;
	pthread_testcancel();
	CHECK(false);
	return NULL;
}

SCENARIO(thread_cancelled)
{
	pthread_t thread;
	void *result;

	int steps = 0;

	ordered = register_stream("t.main");
	thread = start_thread(cancelled, &steps);
	CHECK(!pthread_join(thread, &result) && result == PTHREAD_CANCELED);
	CHECK(steps == 5);
	CHECK(rtl_stream_find("t.another"));
	CHECK(publish_item(ordered, RTL_TASK_END, 0, 0, 0));
	flush_all();
	CHECK(ledger_of(ordered).delivered == 100002);
}
