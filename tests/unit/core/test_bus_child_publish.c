/* SPDX-License-Identifier: MIT */
/* Scenarios of publishing: order, content, full rings, threads. */
#include "test_bus_child.h"

#include <sched.h>

static const struct probe_hooks counting = {.buffered = count_arrived};

/* ---- what arrives */

static struct rtl_event copies[4];
static uint64_t copied_payload[4][2];
static uint32_t copied;

static void copy_event(const struct rtl_event *event)
{
	uint32_t n = __atomic_fetch_add(&copied, 1, __ATOMIC_ACQ_REL);

	CHECK(n < 4);
	copies[n] = *event;
	memcpy(copied_payload[n], event->payload, sizeof(copied_payload[n]));
	CHECK((uintptr_t)event->payload % 8 == 0);
}

static void copy_buffered(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	CHECK(count == 1);
	copy_event(events[0]);
}

static void copy_inlined(struct probe *p, const struct rtl_event *event)
{
	copy_event(event);
}

static void check_copy(const struct rtl_event *e, const struct rtl_stream *stream, uint64_t before,
		       uint64_t after)
{
	CHECK(e->struct_size == sizeof(*e));
	CHECK(e->type == RTL_TASK_END);
	CHECK(e->stream == rtl_stream_describe(stream));
	CHECK(e->type_info == rtl_stream_type(e->stream, 1));
	CHECK(!strcmp(e->type_info->name, "task_end"));
	CHECK(e->process && e->process->pid == getpid() && e->process->number == 1);
	CHECK(e->process->parent_pid == getppid());
	CHECK(strstr(e->process->program, "test_bus_child"));
	CHECK(strstr(e->process->command, " fields"));
	CHECK(e->tid == (uint32_t)gettid());
	CHECK(e->payload_size == sizeof(struct item));
	CHECK(e->time_ns >= before && e->time_ns <= after);
	CHECK(e->uid == 0x1111111111111111u && e->parent_uid == 0x2222222222222222u);
	CHECK(e->instance == 0x3333333333333333u && e->correlation == 0x4444444444444444u);
}

SCENARIO(fields)
{
	struct rtl_stream *stream;
	struct rtl_record *record;
	struct item *item;
	uint64_t before, after;
	uint32_t i, n = getenv("BUS_BOTH") ? 2 : 1;

	USE_HOOKS(.buffered = copy_buffered, .inlined = copy_inlined);
	stream = register_stream("t.main");
	/* the clock's readings have an error of some ns, and buffered time is interpolated */
	before = rtl_clock_ns() - 2000;
	record = rtl_reserve(stream, RTL_TASK_END, sizeof(*item));
	CHECK(record);
	CHECK(!record->uid && !record->parent_uid && !record->instance && !record->correlation);
	CHECK(record->type == RTL_TASK_END && record->stream == stream->number);
	record->uid = 0x1111111111111111u;
	record->parent_uid = 0x2222222222222222u;
	record->instance = 0x3333333333333333u;
	record->correlation = 0x4444444444444444u;
	item = rtl_record_payload(record);
	*item = (struct item){0x5555555555555555u, 0x66666666u, 0x77777777u};
	rtl_commit(record);
	after = rtl_clock_ns() + 2000;
	flush_all();
	CHECK(copied == n);
	for (i = 0; i < n; i++) {
		check_copy(&copies[i], stream, before, after);
		CHECK(copied_payload[i][0] == 0x5555555555555555u);
		CHECK(copied_payload[i][1] == 0x7777777766666666u);
	}
	flush_all();
	CHECK(copied == n);
}

/* ---- enabled */

static struct rtl_subscription *subscription;
static const struct rtl_host *host;
static const struct rtl_stream_info *told;

static void ignore(void *user, const struct rtl_event *const *events, size_t count)
{
}

static int remember_stream(struct probe *p, const struct rtl_stream_info *info)
{
	if (!strcmp(info->name, "t.main")) {
		host = p->host;
		told = info;
	}
	return 1;
}

static void check_toggle(struct rtl_stream *stream, uint16_t type, enum rtl_delivery delivery)
{
	bool any = type == RTL_TYPE_ANY;

	CHECK(!host->subscribe(host, told, type, delivery, ignore, NULL, &subscription));
	CHECK(rtl_enabled(stream, RTL_TASK_BEGIN) == (any || type == RTL_TASK_BEGIN));
	CHECK(rtl_enabled(stream, RTL_TASK_END) == (any || type == RTL_TASK_END));
	CHECK(rtl_enabled(stream, RTL_SIGNAL) == (any || type == RTL_SIGNAL));
	CHECK(!rtl_enabled(stream, RTL_LOCK_BEGIN));
	host->unsubscribe(host, subscription);
	CHECK(!rtl_enabled(stream, RTL_TASK_BEGIN) && !rtl_enabled(stream, RTL_TASK_END));
	CHECK(!rtl_enabled(stream, RTL_SIGNAL));
}

SCENARIO(enabled)
{
	struct rtl_subscription *other;
	struct rtl_stream *stream;

	USE_HOOKS(.stream = remember_stream);
	CHECK(!rtl_enabled(&rtl_stream_none, RTL_TASK_BEGIN));
	stream = register_stream("t.main");
	CHECK(told && told == rtl_stream_describe(stream));
	CHECK(!rtl_enabled(stream, RTL_TASK_BEGIN));
	CHECK(!rtl_reserve(stream, RTL_TASK_BEGIN, sizeof(struct item)));
	check_toggle(stream, RTL_TYPE_ANY, RTL_BUFFERED);
	check_toggle(stream, RTL_TYPE_ANY, RTL_INLINE);
	check_toggle(stream, RTL_TASK_END, RTL_BUFFERED);
	check_toggle(stream, RTL_SIGNAL, RTL_INLINE);
	CHECK(host->subscribe(host, told, RTL_LOCK_BEGIN, RTL_BUFFERED, ignore, NULL, &other) ==
	      RTL_ENOENT);
	CHECK(host->subscribe(host, told, RTL_SIGNAL, RTL_BUFFERED, NULL, NULL, &other) ==
	      RTL_EINVAL);
	CHECK(host->subscribe(host, NULL, RTL_SIGNAL, RTL_BUFFERED, ignore, NULL, &other) ==
	      RTL_EINVAL);
	CHECK(host->subscribe(host, told, RTL_SIGNAL, (enum rtl_delivery)7, ignore, NULL, &other) ==
	      RTL_EINVAL);
	/* one of two of the same type goes: the other one keeps the type */
	CHECK(!host->subscribe(host, told, RTL_SIGNAL, RTL_BUFFERED, ignore, NULL, &other));
	CHECK(!host->subscribe(host, told, RTL_TYPE_ANY, RTL_INLINE, ignore, NULL, &subscription));
	host->unsubscribe(host, subscription);
	CHECK(rtl_enabled(stream, RTL_SIGNAL) && !rtl_enabled(stream, RTL_TASK_BEGIN));
	host->unsubscribe(host, other);
	CHECK(!rtl_enabled(stream, RTL_SIGNAL));
	host->unsubscribe(host, NULL);
}

/* ---- order */

/* tests/unit: one thread publishes, then tells the other one by a plain flag, and so on. */
#define HANDOVERS 100000u

static uint32_t turn;
static struct rtl_stream *ordered;

static void *publish_in_turn(void *user)
{
	uint32_t me = (uint32_t)(uintptr_t)user, i, spins;

	for (i = me; i < HANDOVERS; i += 2) {
		for (spins = 0; flag_get(&turn) != i; spins++)
			if (spins > 1000)
				sched_yield();
		CHECK(publish_item(ordered, RTL_TASK_BEGIN, 0, i, 0));
		flag_set(&turn, i + 1);
	}
	return NULL;
}

SCENARIO(causal_order)
{
	pthread_t other;

	probe_hooks = &counting;
	ordered = register_stream("t.main");
	other = start_thread(publish_in_turn, (void *)1);
	publish_in_turn((void *)0);
	join_thread(other);
	flush_all();
	CHECK(arrived.total == HANDOVERS && arrived.gaps == 0);
}

#define EACH 50000u

static void *publish_many(void *user)
{
	uint32_t me = (uint32_t)(uintptr_t)user;

	for (uint64_t i = 0; i < EACH; i++)
		CHECK(publish_item(ordered, RTL_TASK_BEGIN, me, i, (uint32_t)(i * 13 % 97)));
	return NULL;
}

SCENARIO(thread_order)
{
	pthread_t threads[4];
	struct rtl_ledger ledger;

	probe_hooks = &counting;
	ordered = register_stream("t.main");
	for (uintptr_t i = 0; i < 4; i++)
		threads[i] = start_thread(publish_many, (void *)i);
	for (uintptr_t i = 0; i < 4; i++)
		join_thread(threads[i]);
	flush_all();
	CHECK(arrived.total == 4 * EACH && arrived.gaps == 0);
	ledger = ledger_of(ordered);
	CHECK(ledger.published == 4 * EACH && ledger.delivered == 4 * EACH);
	CHECK(!ledger.discarded && !ledger.abandoned && !ledger.missed);
}

/* ---- sizes */

SCENARIO(wrap_around)
{
	const uint32_t most = RTL_PAYLOAD_MAX - (uint32_t)sizeof(struct item);
	struct rtl_stream *stream;
	uint64_t i, random = 1;

	probe_hooks = &counting;
	stream = register_stream("t.main");
	for (i = 0; i < 20000; i++) {
		uint32_t tail;

		random = random * 6364136223846793005u + 1442695040888963407u;
		tail = i % 3 ? (uint32_t)(random >> 33) % (most + 1) : most - (uint32_t)(i % 19);
		CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, i, tail));
	}
	flush_all();
	CHECK(arrived.total == 20000 && arrived.gaps == 0);
}

SCENARIO(too_large)
{
	struct rtl_stream *stream;
	struct rtl_ledger ledger;

	probe_hooks = &counting;
	stream = register_stream("t.main");
	CHECK(rtl_enabled(stream, RTL_TASK_BEGIN));
	CHECK(!rtl_reserve(stream, RTL_TASK_BEGIN, RTL_PAYLOAD_MAX + 1));
	CHECK(!rtl_reserve(stream, RTL_TASK_BEGIN, UINT32_MAX));
	CHECK(!rtl_try_reserve(stream, RTL_TASK_BEGIN, UINT32_MAX - 7));
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0,
			   RTL_PAYLOAD_MAX - (uint32_t)sizeof(struct item)));
	CHECK(!rtl_reserve(stream, RTL_TASK_BEGIN, RTL_PAYLOAD_MAX + 1));
	flush_all();
	ledger = ledger_of(stream);
	CHECK(arrived.total == 1 && ledger.delivered == 1);
	CHECK(ledger.discarded == 4 && ledger.published == 5);
}

/* ---- a ring that is full when a pass begins */

#define FULL_EVENTS 40000u
#define BATCH_NS    10000000u

static uint32_t batch_begun, batch_may_end, batches, most_batches;

static void take_long(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	uint64_t begin;

	count_arrived(p, events, count);
	flag_set(&batch_begun, 1);
	flag_wait(&batch_may_end, 1);
	begin = rtl_clock_ns();
	while (rtl_clock_ns() - begin < BATCH_NS)
		;
	if (++batches > most_batches)
		most_batches = batches;
}

static int note_flush(struct probe *p)
{
	batches = 0;
	return 0;
}

/* Each batch takes 10 ms: flushes come in between, not at the end of it all. Batches that take
 * longer on a slow machine make them come after fewer. */
SCENARIO(flush_within_pass)
{
	struct rtl_stream *stream;

	USE_HOOKS(.buffered = take_long, .flush = note_flush);
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	flag_wait(&batch_begun, 1);
	for (uint64_t i = 1; i < FULL_EVENTS; i++)
		CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, i, 0));
	flag_set(&batch_may_end, 1);
	flush_all(); /* and a pass that was interrupted is none that answers */
	CHECK(arrived.total == FULL_EVENTS && !arrived.gaps);
	CHECK(most_batches > 1 && most_batches < 20);
}

/* Events that their description does not fit are nobody's, whatever the delivery. */
static void count_all(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		CHECK(events[i]->type_info);
		CHECK(events[i]->payload_size >= events[i]->type_info->payload_size);
	}
	arrived.total += count;
}

static void count_one(struct probe *p, const struct rtl_event *event)
{
	count_all(p, &event, 1);
}

static void publish_bare(struct rtl_stream *stream, uint16_t type, uint32_t size)
{
	struct rtl_record *record = rtl_reserve(stream, type, size);

	if (record)
		rtl_commit(record);
}

SCENARIO(malformed)
{
	struct rtl_stream *stream;
	struct rtl_ledger ledger;

	USE_HOOKS(.buffered = count_all, .inlined = count_one);
	stream = register_stream("t.main");
	publish_bare(stream, RTL_TASK_BEGIN, sizeof(struct item) - 1 - 7);
	publish_bare(stream, RTL_TASK_BEGIN, 0);
	publish_bare(stream, 0x1000 | RTL_TASK_BEGIN, sizeof(struct item));
	publish_bare(stream, RTL_SIGNAL, 0);
	flush_all();
	ledger = ledger_of(stream);
	CHECK(arrived.total == 1);
	CHECK(ledger.discarded + ledger.abandoned == 3);
	CHECK(ledger.published == ledger.delivered + ledger.discarded + ledger.abandoned);
}

/* ---- full rings */

SCENARIO(policy_wait)
{
	struct rtl_stream *stream;
	struct rtl_ledger ledger;

	probe_hooks = &counting;
	stream = register_stream("t.main");
	for (uint64_t i = 0; i < 10000; i++)
		CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, i, 100));
	flush_all();
	CHECK(arrived.total == 10000 && arrived.gaps == 0);
	ledger = ledger_of(stream);
	CHECK(ledger.published == 10000 && ledger.delivered == 10000 && !ledger.discarded);
}

static uint32_t gate_reached, gate_open;

static void stand_at_gate(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	flag_set(&gate_reached, 1);
	flag_wait(&gate_open, 1);
	count_arrived(p, events, count);
}

struct losses {
	uint64_t full, other;
};

static void sum_losses(void *user, const char *cause, uint64_t count)
{
	struct losses *losses = user;

	if (strstr(cause, "full"))
		losses->full += count;
	else
		losses->other += count;
}

static uint64_t published_by_us, accepted;

static int check_final_ledger(struct probe *p)
{
	struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};
	struct losses losses = {0, 0};

	CHECK(!p->host->ledger(p->host, NULL, told, &ledger));
	CHECK(ledger.published == published_by_us);
	CHECK(ledger.delivered == accepted && arrived.total == accepted);
	CHECK(ledger.published == ledger.delivered + ledger.discarded + ledger.abandoned);
	p->host->losses(p->host, NULL, told, sum_losses, &losses);
	CHECK(losses.full == ledger.discarded && losses.other == 0);
	return 0;
}

static int remember_and_subscribe(struct probe *p, const struct rtl_stream_info *info)
{
	remember_stream(p, info);
	return 0;
}

/* The consumer stands still until the ring has been full for long. */
SCENARIO(policy_discard)
{
	struct rtl_stream *stream;

	USE_HOOKS(.stream = remember_and_subscribe, .buffered = stand_at_gate,
		  .finish = check_final_ledger);
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 100));
	flag_wait(&gate_reached, 1);
	accepted = 1;
	for (published_by_us = 1; published_by_us < 5000; published_by_us++)
		accepted += publish_item(stream, RTL_TASK_BEGIN, 0, published_by_us, 100);
	CHECK(accepted > 300 && accepted < 1000);
	flag_set(&gate_open, 1);
	flush_all();
	for (; published_by_us < 5100; published_by_us++)
		CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, published_by_us, 100));
	accepted += 100;
}

/* rtl_try_reserve does not wait, whatever the policy. */
SCENARIO(try_reserve)
{
	struct rtl_stream *stream;
	struct rtl_ledger ledger;
	uint64_t i, got = 0;

	USE_HOOKS(.buffered = stand_at_gate);
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	flag_wait(&gate_reached, 1);
	for (i = 1; i < 5000; i++) {
		struct rtl_record *record =
			rtl_try_reserve(stream, RTL_TASK_END, sizeof(struct item));

		if (record) {
			rtl_commit(record);
			got++;
		}
	}
	CHECK(got < 4000);
	flag_set(&gate_open, 1);
	flush_all();
	ledger = ledger_of(stream);
	CHECK(ledger.delivered == got + 1 && ledger.discarded == 4999 - got);
}

/* Who asks before he reserves discards nothing, and does not wait. */
SCENARIO(room)
{
	struct rtl_stream *stream;
	struct rtl_ledger ledger;
	uint64_t i, got = 0;

	USE_HOOKS(.buffered = stand_at_gate);
	stream = register_stream("t.main");
	CHECK(!rtl_room(stream, RTL_TASK_BEGIN, sizeof(struct item)));
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	flag_wait(&gate_reached, 1);
	for (i = 1; i < 5000; i++) {
		const int room = rtl_room(stream, RTL_TASK_END, sizeof(struct item));

		CHECK(!room || room == RTL_EBUSY);
		if (room)
			continue;
		CHECK(publish_item(stream, RTL_TASK_END, 0, i, 0));
		got++;
	}
	CHECK(got > 300 && got < 4000);
	flag_set(&gate_open, 1);
	flush_all();
	ledger = ledger_of(stream);
	CHECK(ledger.delivered == got + 1 && ledger.discarded == 0);
	CHECK(!rtl_room(stream, RTL_TASK_END, sizeof(struct item)));
}

/* ---- flush */

static uint32_t stop;

static void *publish_until_stopped(void *user)
{
	for (uint64_t i = 0; !flag_get(&stop); i++)
		publish_item(ordered, RTL_TASK_BEGIN, 1, i, 0);
	return NULL;
}

/* A flush is about what was published before it: it ends though others go on. */
SCENARIO(flush_while_publishing)
{
	pthread_t other;

	probe_hooks = &counting;
	ordered = register_stream("t.main");
	other = start_thread(publish_until_stopped, NULL);
	for (int i = 0; i < 20; i++) {
		CHECK(publish_item(ordered, RTL_TASK_BEGIN, 0, (uint64_t)i, 0));
		flush_all();
		CHECK(__atomic_load_n(&arrived.next[0], __ATOMIC_RELAXED) == (uint64_t)i + 1);
	}
	flag_set(&stop, 1);
	join_thread(other);
}

static int flush_result = 1;

static void flush_inside(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	flush_result = rtl_flush(1000);
}

static void flush_inside_inline(struct probe *p, const struct rtl_event *event)
{
	flush_result = rtl_flush(1000);
}

SCENARIO(flush_in_callback)
{
	struct rtl_stream *stream;

	CHECK(!rtl_flush(0)); /* no bus yet */
	USE_HOOKS(.buffered = flush_inside, .inlined = flush_inside_inline);
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	flush_all();
	CHECK(flush_result == RTL_EBUSY);
}

/* A consumer that stands still: the time is up. */
SCENARIO(flush_timeout)
{
	struct rtl_stream *stream;

	USE_HOOKS(.buffered = stand_at_gate);
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	flag_wait(&gate_reached, 1);
	CHECK(rtl_flush(10) == RTL_EBUSY);
	flag_set(&gate_open, 1);
	flush_all();
}

/* ---- the program's errno */

/* Slow paths make system calls; the program's errno is not theirs. */
static void *keep_errno(void *user)
{
	struct rtl_record *record;

	errno = 4711;
	record = rtl_reserve(ordered, RTL_TASK_END, sizeof(struct item));
	CHECK(errno == 4711);
	if (record)
		rtl_commit(record);
	CHECK(errno == 4711);
	return user;
}

SCENARIO(errno_kept)
{
	ordered = register_stream("t.main");
	join_thread(start_thread(keep_errno, NULL));
	for (uint64_t i = 0; i < 3000; i++)
		keep_errno(NULL);
	errno = 4711;
	rtl_stream_count_missed(ordered, "a cause", 1);
	(void)rtl_clock_ns();
	(void)rtl_thread_id();
	(void)rtl_unique_id();
	CHECK(errno == 4711);
}
