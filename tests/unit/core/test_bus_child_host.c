/* SPDX-License-Identifier: MIT */
/* Scenarios of subscribers: callbacks that publish, unsubscribe or fail; what a host answers. */
#include "test_bus_child.h"

#include <sched.h>

static struct rtl_stream *stream, *other;
static const struct rtl_host *host;
static const struct rtl_stream_info *told;
static struct rtl_subscription *subscription;

/* Remembers t.main; the scenario subscribes by itself. */
static int remember(struct probe *p, const struct rtl_stream_info *info)
{
	if (!strcmp(info->name, "t.main")) {
		host = p->host;
		told = info;
	}
	return 1;
}

static void subscribe(enum rtl_delivery delivery, rtl_events_fn fn, void *user)
{
	CHECK(!host->subscribe(host, told, RTL_TASK_BEGIN, delivery, fn, user, &subscription));
}

/* ---- callbacks that publish */

static uint64_t inline_seen[3];

static void publish_to_others(struct probe *p, const struct rtl_event *event)
{
	bool first = !strcmp(event->stream->name, "t.main");

	if (first && event->type == RTL_TASK_BEGIN) {
		inline_seen[0]++;
		CHECK(publish_item(stream, RTL_TASK_END, 0, event_item(event)->sequence, 30));
		CHECK(publish_item(other, RTL_TASK_BEGIN, 0, event_item(event)->sequence, 0));
	} else {
		CHECK(item_is_whole(event));
		inline_seen[first ? 1 : 2]++;
	}
}

SCENARIO(inline_publishes)
{
	USE_HOOKS(.inlined = publish_to_others);
	stream = register_stream("t.main");
	other = register_stream("t.other");
	for (uint64_t i = 0; i < 1000; i++)
		CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, i, 7));
	flush_all();
	CHECK(inline_seen[0] == 1000 && inline_seen[1] == 1000 && inline_seen[2] == 1000);
	CHECK(ledger_of(stream).delivered == 2000 && ledger_of(other).delivered == 1000);
}

static void publish_same(struct probe *p, const struct rtl_event *event)
{
	inline_seen[0]++;
	publish_item(stream, RTL_TASK_BEGIN, 0, event_item(event)->sequence + 1, 100);
	CHECK(item_is_whole(event)); /* what is nested has not overwritten it */
}

/* Each event makes another one: that ends at some depth, and the last one is counted. */
SCENARIO(inline_recursion)
{
	struct rtl_ledger ledger;

	USE_HOOKS(.inlined = publish_same);
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 100));
	CHECK(inline_seen[0] >= 4 && inline_seen[0] <= 64);
	CHECK(ledger_of(stream).discarded == 1);
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 100)); /* and all is as before */
	flush_all();
	ledger = ledger_of(stream);
	CHECK(ledger.discarded == 2 && ledger.delivered == inline_seen[0]);
}

static struct {
	uint64_t sequence;
	uint32_t tail;
	uint16_t type;
} awaited;

static void await(struct probe *p, const struct rtl_event *event)
{
	CHECK(event->type == awaited.type && event_item(event)->sequence == awaited.sequence);
	CHECK(event->payload_size == sizeof(struct item) + awaited.tail && item_is_whole(event));
	CHECK(event->type_info->type == event->type && event->tid == rtl_thread_id());
	CHECK(event->time_ns && !event->position);
	inline_seen[0]++;
	errno = (int)awaited.sequence;
}

/* Sizes and types change from one event to the next, or stay for some. */
SCENARIO(inline_sizes)
{
	static const uint32_t tails[] = {0, 0, 0, 40, 40, 3, 8000, 0, 1, 1, 2, 7, 8000, 7};
	uint64_t i;

	USE_HOOKS(.inlined = await);
	stream = register_stream("t.main");
	other = register_stream("t.other");
	for (i = 0; i < 3000; i++) {
		awaited.sequence = i;
		awaited.tail = tails[i % (sizeof(tails) / sizeof(*tails))];
		awaited.type = i / 5 % 3 ? RTL_TASK_BEGIN : RTL_TASK_END;
		errno = EXDEV;
		CHECK(publish_item(i / 7 % 4 ? stream : other, awaited.type, 0, i, awaited.tail));
		CHECK(errno == EXDEV && inline_seen[0] == i + 1);
	}
	/* too small, and too large: turned away and counted, whatever was there before */
	CHECK(!rtl_reserve(stream, awaited.type, sizeof(struct item) - 1));
	CHECK(!rtl_reserve(stream, awaited.type, RTL_PAYLOAD_MAX + 1));
	CHECK(!rtl_reserve(stream, awaited.type, UINT32_MAX));
	CHECK(ledger_of(stream).discarded == 3);
	CHECK(publish_item(stream, awaited.type, 0, awaited.sequence, awaited.tail));
	CHECK(inline_seen[0] == i + 1);
}

/* ---- unsubscribing */

static uint64_t calls;

static void unsubscribe_self(void *user, const struct rtl_event *const *events, size_t count)
{
	calls++;
	host->unsubscribe(host, subscription);
}

SCENARIO(unsubscribe_self)
{
	USE_HOOKS(.stream = remember);
	stream = register_stream("t.main");
	for (int i = 1; i < 100; i++) {
		subscribe(i % 2 ? RTL_INLINE : RTL_BUFFERED, unsubscribe_self, NULL);
		CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
		flush_all();
		CHECK(calls == (uint64_t)i);
		CHECK(!rtl_enabled(stream, RTL_TASK_BEGIN));
		publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0);
	}
}

static uint32_t inside, leave, left, unsubscriber_tid, returned;
static void (*while_inside)(void);

static void stay_inside(void *user, const struct rtl_event *const *events, size_t count)
{
	if (flag_get(&inside))
		return; /* nested */
	flag_set(&inside, 1);
	flag_wait(&leave, 1);
	if (while_inside)
		while_inside();
	flag_set(&left, 1);
}

static void *publish_one(void *user)
{
	publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0);
	return user;
}

static void *unsubscribe_now(void *user)
{
	flag_set(&unsubscriber_tid, (uint32_t)gettid());
	host->unsubscribe(host, subscription);
	CHECK(flag_get(&left)); /* no callback runs any more */
	flag_set(&returned, 1);
	return user;
}

/* One thread is inside the callback, another one unsubscribes it; that one waits, and what the
 * callback does meanwhile does not keep it from ending. */
static void unsubscribe_while_inside(void (*then)(void))
{
	pthread_t publisher, unsubscriber;

	USE_HOOKS(.stream = remember);
	while_inside = then;
	stream = register_stream("t.main");
	subscribe(RTL_INLINE, stay_inside, NULL);
	publisher = start_thread(publish_one, NULL);
	flag_wait(&inside, 1);
	unsubscriber = start_thread(unsubscribe_now, NULL);
	while (!flag_get(&unsubscriber_tid) ||
	       (thread_state(flag_get(&unsubscriber_tid)) != 'S' && !flag_get(&returned)))
		sched_yield();
	CHECK(!flag_get(&returned));
	flag_set(&leave, 1);
	join_thread(publisher);
	join_thread(unsubscriber);
	inside = 0;
	publish_one(NULL);
	CHECK(!flag_get(&inside));
}

SCENARIO(unsubscribe_waits)
{
	unsubscribe_while_inside(NULL);
}

static void ignore(void *user, const struct rtl_event *const *events, size_t count)
{
}

static void ignore_loss(void *user, const char *cause, uint64_t count)
{
}

static void call_the_host(void)
{
	struct rtl_subscription *another;

	CHECK(!host->subscribe(host, told, RTL_TASK_END, RTL_BUFFERED, ignore, NULL, &another));
	host->unsubscribe(host, another);
	CHECK(!host->subscribe(host, told, RTL_TASK_END, RTL_INLINE, ignore, NULL, &another));
	host->unsubscribe(host, another);
	(void)ledger_of(stream);
	register_stream("t.within");
	host->fail(host, "told to fail");
}

SCENARIO(unsubscribe_while_callback_calls_host)
{
	unsubscribe_while_inside(call_the_host);
}

/* The same from within a call into the subscriber, which holds the host's lock: then the
 * callback's thread cannot wait for room in its ring, which nobody would make. */
static void fill_ring(void)
{
	for (int i = 0; i < 5000; i++)
		publish_item(stream, RTL_TASK_END, 0, 0, 100);
}

static void unsubscribe_buffered(void *user, const struct rtl_event *const *events, size_t count)
{
	if (flag_get(&returned))
		return;
	flag_set(&leave, 1);
	unsubscribe_now(user);
}

SCENARIO(unsubscribe_nested_while_ring_is_full)
{
	pthread_t publisher;

	USE_HOOKS(.stream = remember);
	while_inside = fill_ring;
	stream = register_stream("t.main");
	subscribe(RTL_INLINE, stay_inside, NULL);
	publisher = start_thread(publish_one, NULL);
	flag_wait(&inside, 1);
	CHECK(!host->subscribe(host, told, RTL_TASK_END, RTL_BUFFERED, unsubscribe_buffered, NULL,
			       NULL));
	CHECK(publish_item(stream, RTL_TASK_END, 0, 0, 0));
	join_thread(publisher);
	flush_all();
	CHECK(flag_get(&returned));
}

/* ... nor for what the consumer holds while it calls subscribers: the host's functions answer, and
 * a stream that is registered is told of later. */
static uint32_t told_within;

static int remember_within(struct probe *p, const struct rtl_stream_info *info)
{
	told_within += !strcmp(info->name, "t.within");
	return remember(p, info);
}

static void call_all_of_the_host(void)
{
	struct rtl_calibration calibration = {.struct_size = sizeof(calibration)};
	struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};
	struct rtl_subscription *another;

	for (int i = 0; i < 2; i++) {
		CHECK(!host->subscribe(host, told, RTL_TASK_END, i ? RTL_INLINE : RTL_BUFFERED,
				       ignore, NULL, &another));
		host->unsubscribe(host, another);
	}
	CHECK(!host->ledger(host, NULL, told, &ledger));
	host->losses(host, NULL, told, ignore_loss, NULL);
	CHECK(host->process(host, 1) && host->property(host, "where"));
	CHECK(!host->calibration(host, host->process(host, 1), &calibration));
	(void)host->string(host, host->process(host, 1), 1);
	(void)host->tracepoint(host, host->process(host, 1), 1);
	(void)ledger_of(stream);
	other = register_stream("t.within");
	/* nobody has been told: it is recorded until then */
	CHECK(publish_item(other, RTL_TASK_BEGIN, 0, 0, 0));
	host->report(host, RTL_LEVEL_INFO, "from within");
}

static void unsubscribe_within(const struct probe_hooks *hooks, rtl_events_fn fn)
{
	pthread_t publisher;

	probe_hooks = hooks;
	while_inside = call_all_of_the_host;
	stream = register_stream("t.main");
	subscribe(RTL_INLINE, stay_inside, NULL);
	publisher = start_thread(publish_one, NULL);
	flag_wait(&inside, 1);
	if (fn)
		CHECK(!host->subscribe(host, told, RTL_TASK_END, RTL_BUFFERED, fn, NULL, NULL));
	if (fn)
		CHECK(publish_item(stream, RTL_TASK_END, 0, 0, 0));
	else
		register_stream("t.second"); /* its function `stream` does it */
	join_thread(publisher);
	flush_all();
	CHECK(flag_get(&returned) && told_within == 1);
	CHECK(ledger_of(other).published == 1 && ledger_of(other).delivered == 1);
	CHECK(!rtl_enabled(other, RTL_TASK_BEGIN)); /* told, and nobody has subscribed */
}

SCENARIO(unsubscribe_in_batch_while_callback_calls_host)
{
	static const struct probe_hooks hooks = {.stream = remember_within};

	unsubscribe_within(&hooks, unsubscribe_buffered);
}

static int unsubscribe_in_stream(struct probe *p, const struct rtl_stream_info *info)
{
	remember_within(p, info);
	if (!strcmp(info->name, "t.second"))
		unsubscribe_buffered(NULL, NULL, 0);
	return 1;
}

SCENARIO(unsubscribe_in_stream_while_callback_calls_host)
{
	static const struct probe_hooks hooks = {.stream = unsubscribe_in_stream};

	unsubscribe_within(&hooks, NULL);
}

static int unsubscribe_in_flush(struct probe *p)
{
	if (flag_get(&inside))
		unsubscribe_buffered(NULL, NULL, 0);
	return 0;
}

SCENARIO(unsubscribe_in_flush_while_callback_calls_host)
{
	static const struct probe_hooks hooks = {.stream = remember_within,
						 .flush = unsubscribe_in_flush};

	unsubscribe_within(&hooks, ignore);
}

/* The callback waits for the host when the other one begins to wait for it. */
static struct rtl_subscription *buffered;
static uint32_t in_batch;

static void unsubscribe_other(void)
{
	host->unsubscribe(host, buffered);
}

static void unsubscribe_inline(void *user, const struct rtl_event *const *events, size_t count)
{
	if (flag_get(&in_batch))
		return;
	flag_set(&in_batch, 1);
	flag_set(&leave, 1);
	while (thread_state(flag_get(&unsubscriber_tid)) != 'S' && !flag_get(&left))
		sched_yield();
	host->unsubscribe(host, subscription);
	CHECK(flag_get(&left));
}

static void *publish_one_known(void *user)
{
	flag_set(&unsubscriber_tid, (uint32_t)gettid());
	return publish_one(user);
}

SCENARIO(unsubscribe_each_other)
{
	pthread_t publisher;

	USE_HOOKS(.stream = remember);
	while_inside = unsubscribe_other;
	stream = register_stream("t.main");
	subscribe(RTL_INLINE, stay_inside, NULL);
	publisher = start_thread(publish_one_known, NULL);
	flag_wait(&inside, 1);
	CHECK(!host->subscribe(host, told, RTL_TASK_END, RTL_BUFFERED, unsubscribe_inline, NULL,
			       &buffered));
	CHECK(publish_item(stream, RTL_TASK_END, 0, 0, 0));
	join_thread(publisher);
	flush_all();
	CHECK(flag_get(&in_batch) && !rtl_enabled(stream, RTL_TASK_END));
}

static struct rtl_subscription *of_failed;

static int unsubscribe_at_end(struct probe *p)
{
	p->host->unsubscribe(p->host, of_failed);
	return 0;
}

/* What a failed instance unsubscribes in the end, by what it has kept. */
SCENARIO(unsubscribe_after_failure)
{
	USE_HOOKS(.stream = remember, .finish = unsubscribe_at_end);
	stream = register_stream("t.main");
	CHECK(!host->subscribe(host, told, RTL_TASK_END, RTL_BUFFERED, ignore, NULL, &of_failed));
	host->fail(host, "told to fail");
	publish_item(stream, RTL_TASK_END, 0, 0, 0);
	flush_all();
}

static uint32_t stop;

static void *publish_until_stopped(void *user)
{
	for (uint64_t i = 0; !flag_get(&stop); i++)
		publish_item(stream, RTL_TASK_BEGIN, 0, i, 0);
	return user;
}

static uint64_t *live; /* what a callback may use until it is unsubscribed */

static void use_live(void *user, const struct rtl_event *const *events, size_t count)
{
	CHECK(__atomic_load_n((uint64_t *)user, __ATOMIC_RELAXED) == 0x600d);
}

/* Threads publish, and subscriptions come and go: none is called when it has gone. */
SCENARIO(subscriptions_come_and_go)
{
	pthread_t threads[2];

	USE_HOOKS(.stream = remember);
	stream = register_stream("t.main");
	for (int i = 0; i < 2; i++)
		threads[i] = start_thread(publish_until_stopped, NULL);
	for (int i = 0; i < 400; i++) {
		live = malloc(sizeof(*live));
		CHECK(live);
		*live = 0x600d;
		subscribe(i % 4 ? RTL_INLINE : RTL_BUFFERED, use_live, live);
		sched_yield();
		host->unsubscribe(host, subscription);
		*live = 0xbad;
		free(live);
	}
	flag_set(&stop, 1);
	for (int i = 0; i < 2; i++)
		join_thread(threads[i]);
}

/* What one subscription wants is wanted all the time, while others come and go. */
static void *publish_all_wanted(void *user)
{
	for (uint64_t i = 0; !flag_get(&stop); i++)
		if (!rtl_enabled(stream, RTL_TASK_BEGIN) || !rtl_enabled(stream, RTL_TASK_END))
			break;
	CHECK(flag_get(&stop));
	return user;
}

SCENARIO(wanted_while_others_come_and_go)
{
	struct rtl_subscription *stays[2];
	pthread_t thread;

	USE_HOOKS(.stream = remember);
	stream = register_stream("t.main");
	CHECK(!host->subscribe(host, told, RTL_TYPE_ANY, RTL_BUFFERED, ignore, NULL, &stays[0]));
	CHECK(!host->subscribe(host, told, RTL_TASK_END, RTL_INLINE, ignore, NULL, &stays[1]));
	thread = start_thread(publish_all_wanted, NULL);
	for (int i = 0; i < 20000; i++) {
		subscribe(RTL_BUFFERED, ignore, NULL);
		host->unsubscribe(host, subscription);
	}
	flag_set(&stop, 1);
	join_thread(thread);
	host->unsubscribe(host, stays[0]);
	CHECK(!rtl_enabled(stream, RTL_TASK_BEGIN) && rtl_enabled(stream, RTL_TASK_END));
	host->unsubscribe(host, stays[1]);
	CHECK(!rtl_enabled(stream, RTL_TASK_END));
}

/* ---- publishing from a subscriber's other functions */

static int publish_much(struct probe *p, const struct rtl_stream_info *info)
{
	for (int i = 0; !strcmp(info->name, "t.second") && i < 5000; i++)
		publish_item(stream, RTL_TASK_BEGIN, 0, 0, 100);
	return 0;
}

/* On the thread that registers, while it holds what the consumer needs to make room. */
SCENARIO(stream_function_publishes)
{
	struct rtl_ledger ledger;

	USE_HOOKS(.stream = publish_much);
	stream = register_stream("t.main");
	register_stream("t.second");
	flush_all();
	ledger = ledger_of(stream);
	CHECK(ledger.published == 5000 && ledger.delivered + ledger.discarded == 5000);
	CHECK(ledger.delivered > 0);
}

/* ---- failing */

SCENARIO(some_events)
{
	stream = register_stream("t.main");
	for (uint64_t i = 0; i < 10; i++) {
		publish_item(stream, RTL_TASK_BEGIN, 0, i, 0);
		flush_all();
	}
}

/* ---- answers of the host */

static uint64_t string_id, uids[2];
static bool answered;

static void check_tracepoint(const struct rtl_tracepoint *t, int n)
{
	CHECK(t && t->struct_size == sizeof(*t) && t->uid == uids[n]);
	CHECK(!strcmp(t->name, n ? "second" : "first") && !strcmp(t->kind, "kernel"));
	CHECK(t->line == (n ? 20u : 10u) && t->hash == 7 && !strcmp(t->source, "a.hip"));
	CHECK(!strcmp(t->module, "") && t->module_offset == 0);
}

static const char *value_of(const struct rtl_tracepoint *t, const char *key)
{
	for (uint32_t i = 0; i < t->metadata_count; i++)
		if (!strcmp(t->metadata[i].key, key))
			return t->metadata[i].value;
	return "";
}

/* A host fills what the caller's struct has, whatever version it is of. */
static void ask_calibration(const struct rtl_host *api, const struct rtl_process *process)
{
	struct {
		struct rtl_calibration c;
		uint64_t more;
	} newer = {.c.struct_size = sizeof(newer), .more = 77};
	struct rtl_calibration older = {.struct_size = offsetof(struct rtl_calibration, last_ns),
					.last_ns = 77};

	CHECK(!api->calibration(api, process, &newer.c));
	CHECK(newer.c.struct_size == sizeof(newer) && newer.more == 77);
	CHECK(newer.c.pairs && newer.c.ns_per_tick > 0 && newer.c.last_ns >= newer.c.first_ns);
	CHECK(!api->calibration(api, process, &older));
	CHECK(older.struct_size == offsetof(struct rtl_calibration, last_ns));
	CHECK(older.first_ns == newer.c.first_ns && older.last_ns == 77);
	older.struct_size = 4;
	CHECK(api->calibration(api, process, &older) == RTL_EINVAL);
	CHECK(api->calibration(api, NULL, &newer.c) == RTL_EINVAL);
	CHECK(api->calibration(api, process, NULL) == RTL_EINVAL);
}

static void ask(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	const struct rtl_process *process = events[0]->process;
	const struct rtl_tracepoint *first, *second;

	CHECK(!strcmp(p->host->string(p->host, process, string_id), "a string"));
	CHECK(!p->host->string(p->host, process, string_id + 1));
	CHECK(!p->host->string(p->host, process, 0));
	first = p->host->tracepoint(p->host, process, uids[0]);
	check_tracepoint(first, 0);
	CHECK(first->metadata_count == 2);
	CHECK(!strcmp(value_of(first, "color"), "green") && !strcmp(value_of(first, "size"), "9"));
	second = p->host->tracepoint(p->host, process, uids[1]);
	check_tracepoint(second, 1);
	CHECK(second->metadata_count == 0);
	check_tracepoint(first, 0); /* valid until the instance is destroyed */
	CHECK(!p->host->tracepoint(p->host, process, 0));
	CHECK(!p->host->tracepoint(p->host, process, uids[0] ^ 1));
	CHECK(p->host->process(p->host, 1) == process && !p->host->process(p->host, 2));
	CHECK(!p->host->process(p->host, 0));
	CHECK(!strcmp(p->host->property(p->host, "where"), "process"));
	CHECK(!strcmp(p->host->property(p->host, "version"), rtl_version()));
	CHECK(!p->host->property(p->host, "no such"));
	ask_calibration(p->host, process);
	answered = true;
}

static void register_point(const char *name, uint32_t line, uint64_t *uid)
{
	const struct rtl_tracepoint_desc desc = {.struct_size = sizeof(desc),
						 .line = line,
						 .kind = "kernel",
						 .name = name,
						 .source = "a.hip",
						 .hash = 7};

	CHECK(!rtl_tracepoint_register(&desc, uid));
}

SCENARIO(lookups)
{
	USE_HOOKS(.buffered = ask);
	stream = register_stream("t.main");
	CHECK(!rtl_string_intern("a string", &string_id));
	register_point("first", 10, &uids[0]);
	register_point("second", 20, &uids[1]);
	CHECK(!rtl_tracepoint_set(uids[0], "color", "red"));
	CHECK(!rtl_tracepoint_set(uids[0], "size", "9"));
	CHECK(!rtl_tracepoint_set(uids[0], "color", "green"));
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	flush_all();
	CHECK(answered);
}

static void look_up_often(void *user, const struct rtl_event *const *events, size_t count)
{
	const struct rtl_host *api = user;
	int n = (int)(event_item(events[0])->sequence % 2);

	check_tracepoint(api->tracepoint(api, events[0]->process, uids[n]), n);
}

static void *publish_numbered(void *user)
{
	for (uint64_t i = 0; i < 20000; i++) {
		publish_item(stream, RTL_TASK_BEGIN, 0, i + (uintptr_t)user, 0);
		if (i % 1000 == 0)
			CHECK(!rtl_tracepoint_set(uids[0], "size", i % 2000 ? "1" : "2"));
	}
	return NULL;
}

/* Look-ups may be made from any thread: inline callbacks of two do so at once. */
SCENARIO(lookups_of_threads)
{
	pthread_t threads[2];

	USE_HOOKS(.stream = remember);
	stream = register_stream("t.main");
	register_point("first", 10, &uids[0]);
	register_point("second", 20, &uids[1]);
	subscribe(RTL_INLINE, look_up_often, (void *)(uintptr_t)host);
	for (uintptr_t i = 0; i < 2; i++)
		threads[i] = start_thread(publish_numbered, (void *)i);
	for (uintptr_t i = 0; i < 2; i++)
		join_thread(threads[i]);
}

/* ---- diagnostics */

static uint64_t diagnosed;

static void read_diagnostic(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const uint8_t *payload = events[i]->payload;
		const struct rtl_text *texts = (const void *)(payload + 8);

		CHECK(!strcmp(events[i]->stream->name, "rtl.diagnostics"));
		CHECK(events[i]->type == RTL_DIAGNOSTICS && events[i]->type_info->field_count == 3);
		CHECK(texts[0].length == 4 && !memcmp(payload + texts[0].offset, "test", 4));
		CHECK(texts[1].length == 7 && !memcmp(payload + texts[1].offset, "line 42", 7));
		diagnosed++;
	}
}

SCENARIO(diagnostics)
{
	USE_HOOKS(.buffered = read_diagnostic);
	stream = register_stream("t.main");
	rtl_log(RTL_LEVEL_INFO, "test", "line %d", 42); /* not shown, but published */
	rtl_log(RTL_LEVEL_DEBUG, "test", "line %d", 43);
	rtl_log(RTL_LEVEL_INFO, NULL, "nobody");
	flush_all();
	CHECK(diagnosed == 1);
}
