/* SPDX-License-Identifier: MIT */
/* Scenarios of lack: no spool, no file descriptors, no room, no memory. */
#include "test_bus_child.h"

#include <dlfcn.h>
#include <sys/resource.h>

static struct rtl_stream *stream;

/* The bus has no spool: nothing is wanted, and nothing is harmed. */
SCENARIO(nothing_recorded)
{
	struct rtl_ledger ledger;

	stream = register_stream("t.main");
	CHECK(!rtl_enabled(stream, RTL_TASK_BEGIN));
	CHECK(!publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	CHECK(!rtl_flush(1000));
	ledger = ledger_of(stream);
	CHECK(ledger.delivered == 0);
}

static rlim_t set_descriptors(rlim_t n)
{
	struct rlimit limit;
	rlim_t before;

	CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
	before = limit.rlim_cur;
	limit.rlim_cur = n;
	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	return before;
}

/* File descriptors run out after the start: rings cannot be made, and all is counted. */
SCENARIO(no_descriptors)
{
	struct rtl_ledger ledger;
	rlim_t before;

	stream = register_stream("t.main");
	before = set_descriptors(3);
	CHECK(!publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	flush_all();
	ledger = ledger_of(stream);
	CHECK(ledger.published == 1 && ledger.discarded == 1);
	set_descriptors(before);
}

SCENARIO(no_descriptors_at_start)
{
	rlim_t before = set_descriptors(3);

	run_nothing_recorded();
	set_descriptors(before);
}

/* Files may not be as large as a ring: the kernel would kill who tries. */
SCENARIO(small_files)
{
	struct rlimit limit;
	struct rtl_ledger ledger;

	stream = register_stream("t.main");
	CHECK(!getrlimit(RLIMIT_FSIZE, &limit));
	limit.rlim_cur = 100000;
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
	publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0);
	flush_all();
	ledger = ledger_of(stream);
	CHECK(ledger.published == 1 && ledger.delivered + ledger.discarded == 1);
}

static void *publish_one(void *user)
{
	publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0);
	return user;
}

/* The folder fills up while the program runs. */
SCENARIO(full_folder)
{
	struct rtl_ledger ledger;

	stream = register_stream("t.main");
	for (int k = 0; k < 20; k++)
		join_thread(start_thread(publish_one, NULL));
	for (uint64_t i = 0; i < 20000; i++)
		publish_item(stream, RTL_TASK_BEGIN, 1, i, 100);
	flush_all();
	ledger = ledger_of(stream);
	CHECK(ledger.published == ledger.delivered + ledger.discarded);
}

/* ---- allocations that fail (test_bus_failing.c) */

/* Everything that asks for something, each time with an answer that says whether it was had. */
static void use_everything(void)
{
	static const struct rtl_type_info type = {.struct_size = sizeof(type),
						  .type = RTL_TASK_BEGIN,
						  .payload_size = sizeof(struct item),
						  .name = "task_begin"};
	struct rtl_stream_info info = {
		.struct_size = sizeof(info), .name = "t.main", .types = &type, .type_count = 1};
	struct rtl_tracepoint_desc desc = {.struct_size = sizeof(desc), .name = "point"};
	struct rtl_stream *streams[3] = {&rtl_stream_none, &rtl_stream_none, &rtl_stream_none};
	static const char *const names[3] = {"t.main", "t.second", "x.third"};
	uint64_t id, uid, i;
	uint8_t vendor;
	char text[32];

	for (int k = 0; k < 3; k++) {
		info.name = names[k];
		if (rtl_stream_register(&info, &streams[k]) == RTL_ENOMEM)
			CHECK(streams[k] == &rtl_stream_none);
	}
	for (i = 0; i < 50; i++) { /* so many that the tables grow */
		snprintf(text, sizeof(text), "text %llu", (unsigned long long)i);
		desc.name = text;
		if (!rtl_string_intern(text, &id))
			CHECK(!strcmp(rtl_string_text(id), text));
		if (!rtl_tracepoint_register(&desc, &uid))
			rtl_tracepoint_set(uid, "key", text);
	}
	(void)rtl_vendor_register("vendor", &vendor);
	for (int k = 0; k < 3; k++)
		for (i = 0; i < 200; i++)
			publish_item(streams[k], RTL_TASK_BEGIN, 0, i, 300);
	rtl_stream_count_missed(streams[0], "a cause", 1);
	CHECK(!rtl_flush(10000));
	stream = streams[0];
}

static void check_after_failure(void)
{
	struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};

	if (stream == &rtl_stream_none)
		return;
	CHECK(!rtl_stream_ledger(stream, &ledger));
	/* of a ring that the consumer had no memory for nothing is delivered, but it is counted */
	CHECK(ledger.published >= ledger.delivered + ledger.discarded);
	CHECK(!rtl_enabled(stream, RTL_TASK_BEGIN) || ledger.published == 200);
}

static void look_up_any(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	struct rtl_tracepoint_desc desc = {.struct_size = sizeof(desc), .name = "text 1"};
	uint64_t uid;

	if (!rtl_tracepoint_register(&desc, &uid))
		(void)p->host->tracepoint(p->host, events[0]->process, uid);
}

SCENARIO(failing_allocation)
{
	void (*start)(void) = (void (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "failing_start");
	bool (*reached)(void) = (bool (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "failing_reached");

	if (!start || !reached)
		_exit(SKIPPED);
	USE_HOOKS(.buffered = look_up_any);
	start();
	use_everything();
	check_after_failure();
	use_everything(); /* what failed once may succeed now */
	if (!reached())
		_exit(79);
}
