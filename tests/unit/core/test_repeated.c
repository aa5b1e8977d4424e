/* SPDX-License-Identifier: MIT */
/* What other events repeat (rtl_type_info.repeated_by): a recording leaves it out unless it is asked for, and a replay
 * makes the events of a stream of those of its debug stream. */

#include <sys/wait.h>

#include <rtl/collector.h>
#include <rtl/describe.h>
#include <rtl/rtl.h>

#include "unit.h"

#define CALLS 3000u /* several batches of a host */

struct call {
	uint64_t number;
	uint64_t end;
};

struct debug {
	struct call call;
	uint64_t more;
};

static const struct rtl_field call_fields[] = {
	RTL_FIELD(struct call, number, RTL_KIND_UINT, "", "which"),
	RTL_FIELD(struct call, end, RTL_KIND_UINT, "", "1: it has ended"),
};
static const struct rtl_field debug_fields[] = {
	RTL_FIELD(struct debug, more, RTL_KIND_UINT, "", "more of it"),
};
static const struct rtl_type_info call_types[] = {
	RTL_TYPE_INFO_REPEATED(RTL_FUNCTION_BEGIN, RTL_FUNCTION_END, "begin", struct call,
			       call_fields, ""),
	RTL_TYPE_INFO_REPEATED(RTL_FUNCTION_END, RTL_IN_DEBUG | RTL_FUNCTION_WITH_ARGS_END, "end",
			       struct call, call_fields, ""),
	RTL_TYPE_INFO(RTL_SIGNAL, "signal", struct call, call_fields, ""),
};
static const struct rtl_type_info debug_types[] = {
	RTL_TYPE_INFO_REPEATED(RTL_FUNCTION_WITH_ARGS_BEGIN, RTL_FUNCTION_WITH_ARGS_END, "begin",
			       struct debug, debug_fields, ""),
	RTL_TYPE_INFO(RTL_FUNCTION_WITH_ARGS_END, "end", struct debug, debug_fields, ""),
};
static const struct rtl_stream_info infos[] = {
	RTL_STREAM_INFO("t.calls", 1, 0, call_types, ""),
	RTL_STREAM_INFO("t.calls.debug", 1, 0, debug_types, ""),
};
static const struct rtl_stream_info *const expected[] = {&infos[0], &infos[1]};

/* ---- the program */

static void publish(struct rtl_stream *stream, uint16_t type, uint64_t number, size_t size)
{
	const struct debug filled = {{number, type & 1}, number * 2};
	struct rtl_record *record =
		rtl_enabled(stream, type) ? rtl_reserve(stream, type, (uint32_t)size) : NULL;

	if (!record)
		return;
	memcpy(rtl_record_payload(record), &filled, size);
	record->instance = number;
	rtl_commit(record);
}

static void program(const char *folder)
{
	struct rtl_stream *plain = &rtl_stream_none, *debug = &rtl_stream_none;

	setenv("RTL_COLLECTOR", folder, 1);
	rtl_stream_register(&infos[0], &plain);
	rtl_stream_register(&infos[1], &debug);
	for (uint64_t i = 1; i <= CALLS; i++) {
		publish(plain, RTL_FUNCTION_BEGIN, i, sizeof(struct call));
		publish(debug, RTL_FUNCTION_WITH_ARGS_BEGIN, i, sizeof(struct debug));
		publish(plain, RTL_FUNCTION_END, i, sizeof(struct call));
		publish(debug, RTL_FUNCTION_WITH_ARGS_END, i, sizeof(struct debug));
	}
	exit(0);
}

/* ---- the reader */

static const struct rtl_host *host;
static const struct rtl_stream_info *known[2];
static uint32_t counts[32]; /* by type */
static struct rtl_ledger ledgers[2];

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct rtl_event *e = events[i];
		const struct call *call = e->payload;
		const bool is_debug = e->stream == known[1];

		counts[e->type]++;
		assert_ptr_equal(e->stream, known[is_debug]);
		assert_int_equal(e->type_info->type, e->type);
		assert_int_equal(e->payload_size,
				 is_debug ? sizeof(struct debug) : sizeof(struct call));
		assert_int_equal(call->number, counts[e->type]); /* in order, none twice */
		assert_int_equal(call->end, e->type & 1);
		assert_int_equal(e->instance, call->number);
	}
}

static int create(const struct rtl_host *h, const struct rtl_setting *settings, size_t count,
		  void **instance)
{
	host = h;
	*instance = NULL;
	return 0;
}

static int on_stream(void *instance, const struct rtl_stream_info *s)
{
	if (strncmp(s->name, "t.calls", 7) != 0)
		return 0;
	known[!strcmp(s->name, "t.calls.debug")] = s;
	return host->subscribe(host, s, RTL_TYPE_ANY, RTL_BUFFERED, on_events, NULL, NULL);
}

static int finish(void *instance)
{
	for (int i = 0; i < 2; i++) {
		ledgers[i].struct_size = sizeof ledgers[i];
		assert_int_equal(host->ledger(host, NULL, known[i], &ledgers[i]), 0);
	}
	return 0;
}

static const struct rtl_subscriber reader = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof reader,
	.name = "reader",
	.version = "1",
	.description = "counts",
	.create = create,
	.stream = on_stream,
	.finish = finish,
};

/* ---- steps */

static char base[64], recording[80];

static int setup(void **state)
{
	strcpy(base, "/tmp/rtl-test-repeated-XXXXXX");
	assert_non_null(mkdtemp(base));
	snprintf(recording, sizeof recording, "%s/recording", base);
	memset(counts, 0, sizeof counts);
	unsetenv("RTL_STREAMS");
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf %s", base);
	return system(command);
}

static void end(struct rtl_collector *collector)
{
	uint32_t left;

	rtl_collector_finish(collector, &left);
	rtl_collector_destroy(collector);
}

static void record(bool keep_repeated)
{
	const struct rtl_collector_options options = {.struct_size = sizeof options,
						      .kind = RTL_RECORD,
						      .folder = base,
						      .output = recording,
						      .keep_repeated = keep_repeated,
						      .streams = expected,
						      .stream_count = 2};
	struct rtl_collector *collector;
	char message[256] = "";
	int status;
	pid_t pid;

	assert_int_equal(rtl_collector_create(&options, &collector, message, sizeof message), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		program(rtl_collector_folder(collector));
	while (!waitpid(pid, &status, WNOHANG))
		rtl_collector_poll(collector, 5);
	assert_int_equal(status, 0);
	end(collector);
}

static void replay(void)
{
	const struct rtl_collector_options options = {.struct_size = sizeof options,
						      .kind = RTL_REPLAY,
						      .subscribers = "",
						      .folder = recording,
						      .own = &reader};
	struct rtl_collector *collector;
	char message[256] = "";

	assert_int_equal(rtl_collector_create(&options, &collector, message, sizeof message), 0);
	end(collector);
}

/* ---- tests */

TEST(test_repeated__recorded__left_out_and_made_again)
{
	record(false);
	replay();
	assert_int_equal(ledgers[0].published, 0);
	assert_int_equal(ledgers[0].delivered, 0);
	assert_int_equal(ledgers[1].published, CALLS);
	assert_int_equal(ledgers[1].delivered, CALLS);
	assert_int_equal(counts[RTL_FUNCTION_WITH_ARGS_END], CALLS);
	assert_int_equal(counts[RTL_FUNCTION_END], CALLS);
	assert_int_equal(counts[RTL_FUNCTION_BEGIN], 0);
	assert_int_equal(counts[RTL_FUNCTION_WITH_ARGS_BEGIN], 0);
}

TEST(test_repeated__kept__each_once)
{
	record(true);
	replay();
	assert_int_equal(ledgers[0].published, 2 * CALLS);
	assert_int_equal(ledgers[1].published, 2 * CALLS);
	assert_int_equal(counts[RTL_FUNCTION_BEGIN], CALLS);
	assert_int_equal(counts[RTL_FUNCTION_END], CALLS);
	assert_int_equal(counts[RTL_FUNCTION_WITH_ARGS_BEGIN], CALLS);
	assert_int_equal(counts[RTL_FUNCTION_WITH_ARGS_END], CALLS);
}

TEST(test_repeated__debug_stream_not_selected__recorded)
{
	setenv("RTL_STREAMS", "t.calls", 1);
	record(false);
	unsetenv("RTL_STREAMS");
	replay();
	assert_int_equal(ledgers[0].published, CALLS);
	assert_int_equal(counts[RTL_FUNCTION_END], CALLS);
	assert_int_equal(counts[RTL_FUNCTION_BEGIN], 0);
	assert_int_equal(counts[RTL_FUNCTION_WITH_ARGS_END], 0);
}

RUN_TESTS(setup, teardown, NULL, NULL)
