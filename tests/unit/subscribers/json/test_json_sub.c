/* SPDX-License-Identifier: MIT */
/* Unit tests of libjson_sub.so as a plugin, on the fake host: which file, and what is in it how often. Strict parsers
 * read whole files in tests/integration/timeline. */

#include <rtl/describe.h>

#include "events/events.h"
#include "fake_host.h"
#include "unit.h"

struct run {
	char folder[64], path[128], other[128], state[160];
	struct fake_host *host;
	struct rtl_process *process;
	const struct rtl_stream_info *hsa;
	char *text; /* what was written */
};

static int setup(void **state)
{
	struct run *run = calloc(1, sizeof(*run));

	strcpy(run->folder, "/tmp/test_json_sub.XXXXXX");
	assert_non_null(mkdtemp(run->folder));
	snprintf(run->path, sizeof(run->path), "%s/t.json", run->folder);
	snprintf(run->other, sizeof(run->other), "%s/t-%d.json", run->folder, getpid());
	snprintf(run->state, sizeof(run->state), "%s.unfinished", run->path);
	run->host = fake_host_create();
	run->process = fake_host_process(run->host, 1, 4711, "/bin/app");
	*state = run;
	return 0;
}

static int teardown(void **state)
{
	struct run *run = *state;

	fake_host_destroy(run->host);
	unlink(run->path);
	unlink(run->other);
	unlink(run->state);
	assert_int_equal(rmdir(run->folder), 0);
	free(run->text);
	free(run);
	return 0;
}

static void new_host(struct run *run, const char *where, const char *session)
{
	fake_host_destroy(run->host);
	run->host = fake_host_create();
	run->process = fake_host_process(run->host, 1, 4711, "/bin/app");
	fake_host_set_property(run->host, "where", where);
	fake_host_set_property(run->host, "session", session);
}

static int load(struct run *run, const char *path)
{
	char settings[256];

	snprintf(settings, sizeof(settings), "output=%s", path);
	return fake_host_load(run->host, JSON_SUB, settings);
}

static void begin(struct run *run)
{
	assert_int_equal(load(run, run->path), 0);
	run->hsa = fake_host_stream(run->host, fake_hsa_stream());
	fake_host_begin(run->host, run->process);
	assert_int_equal(fake_host_error(run->host), 0);
}

static const char *slurp(struct run *run, const char *path)
{
	FILE *file = fopen(path, "r");
	size_t length;

	free(run->text);
	run->text = calloc(1, (size_t)4 << 20);
	assert_non_null(file);
	length = fread(run->text, 1, ((size_t)4 << 20) - 1, file);
	assert_int_equal(strlen(run->text), length);
	fclose(file);
	return run->text;
}

static unsigned count(const char *text, const char *part)
{
	unsigned n = 0;

	while ((text = strstr(text, part))) {
		n++;
		text++;
	}
	return n;
}

static void deliver(struct run *run, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		const struct rtl_hsa_dispatch d = {
			.begin_ns = 1000 * i + 300,
			.end_ns = 1000 * i + 900,
			.submit_ns = 1000 * i,
			.packet_id = i,
			.gpu = 1 + (uint32_t)(i % 2),
			.queue = 1 + (uint32_t)(i % 3),
			.submit_tid = 4711,
			.grid_x = 1024,
			.grid_y = 1,
			.grid_z = 1,
		};

		FAKE_DELIVER(run->host, run->hsa, RTL_TASK_END, run->process, &d, .uid = 77,
			     .time_ns = d.end_ns);
	}
}

/* ---- which file ---- */

TEST_OF(test_create__unknown_suffix__is_refused_with_those_that_are_known, struct run *run)
{
	assert_int_equal(load(run, "/tmp/x.csw"), RTL_EINVAL);
	assert_true(fake_host_reported(run->host, "/tmp/x.csw"));
	assert_true(fake_host_reported(run->host, ".json, .json.gz, .pftrace"));
}

TEST_OF(test_create__no_such_folder__is_refused, struct run *run)
{
	assert_int_not_equal(load(run, "/nonexistent/x.json"), 0);
	assert_true(fake_host_reported(run->host, "/nonexistent/x.json: cannot be created"));
}

TEST_OF(test_create__something_else_is_there__it_stays, struct run *run)
{
	FILE *file = fopen(run->path, "w");

	fputs("{\"precious\":1}", file);
	fclose(file);
	assert_int_not_equal(load(run, run->path), 0);
	assert_true(fake_host_reported(run->host, "exists and is not a trace"));
	assert_string_equal(slurp(run, run->path), "{\"precious\":1}");
}

TEST_OF(test_create__old_timeline_is_there__is_replaced, struct run *run)
{
	begin(run);
	deliver(run, 0, 10);
	assert_int_equal(fake_host_end(run->host), 0);
	new_host(run, "process", "second");
	begin(run);
	deliver(run, 0, 3);
	assert_int_equal(fake_host_end(run->host), 0);
	assert_int_equal(count(slurp(run, run->path), "\"ph\":\"X\""), 3);
	assert_int_not_equal(access(run->state, F_OK), 0);
}

TEST_OF(test_create__one_of_this_session_is_there__another_name_is_taken, struct run *run)
{
	new_host(run, "process", "the session");
	begin(run);
	deliver(run, 0, 10);
	assert_int_equal(fake_host_end(run->host), 0);
	new_host(run, "process", "the session");
	begin(run);
	deliver(run, 0, 3);
	assert_true(fake_host_reported(run->host, "holds another process of this session"));
	assert_int_equal(fake_host_end(run->host), 0);
	assert_int_equal(count(slurp(run, run->path), "\"ph\":\"X\""), 10);
	assert_int_equal(count(slurp(run, run->other), "\"ph\":\"X\""), 3);
}

TEST_OF(test_finish__no_process_came__no_file_stays, struct run *run)
{
	assert_int_equal(load(run, run->path), 0);
	assert_int_equal(fake_host_end(run->host), 0);
	assert_int_not_equal(access(run->path, F_OK), 0);
}

/* ---- each event once ---- */

TEST_OF(test_flush__at_any_time__all_events_are_there, struct run *run)
{
	const char *text;

	begin(run);
	for (uint64_t i = 0; i < 2000; i += 100) {
		deliver(run, i, i + 100);
		fake_host_flush(run->host);
		text = slurp(run, run->path);
		assert_int_equal(count(text, "\"ph\":\"X\""), i + 100);
		assert_int_equal(count(text, "]}}}"), 0);
	}
	assert_int_equal(fake_host_end(run->host), 0);
	text = slurp(run, run->path);
	assert_int_equal(count(text, "\"ph\":\"X\""), 2000);
	assert_string_equal(text + strlen(text) - 5, "]}}}\n");
	assert_non_null(strstr(text, "\"complete\":true"));
}

/* The writer of an unfinished timeline must be dead: here it is this process. */
static void forget_writer(struct run *run)
{
	char *text = strdup(slurp(run, run->state)), *at = strstr(text, "writer ");
	FILE *file = fopen(run->state, "w");

	assert_non_null(at);
	/* another one with that pid, at another time */
	at = strchr(at + 7, ' ');
	assert_non_null(at);
	at[1] = at[1] == '9' ? '8' : '9';
	fputs(text, file);
	fclose(file);
	free(text);
}

TEST_OF(test_recover__host_died_between_flushes__each_event_is_there_once, struct run *run)
{
	const uint64_t delivered[] = {100, 101, 250, 500};

	for (size_t i = 0; i < 4; i++) {
		unlink(run->path);
		unlink(run->state);
		new_host(run, "collector", "s");
		begin(run);
		deliver(run, 0, 100);
		fake_host_flush(run->host);
		deliver(run, 100, delivered[i]);
		new_host(run, "recover", "s");
		forget_writer(run);
		begin(run);
		deliver(run, 0, 500); /* what is stored does not come again */
		assert_int_equal(fake_host_end(run->host), 0);
		assert_int_equal(count(slurp(run, run->path), "\"ph\":\"X\""), 500);
		for (unsigned k = 0; k < 500; k += 7) {
			char packet[32];

			snprintf(packet, sizeof(packet), "\"packet\":%u}", k);
			assert_int_equal(count(run->text, packet), 1);
		}
		assert_int_not_equal(access(run->state, F_OK), 0);
	}
}

TEST_OF(test_recover__all_was_stored__timeline_is_completed, struct run *run)
{
	new_host(run, "collector", "s");
	begin(run);
	deliver(run, 0, 100);
	fake_host_flush(run->host);
	fake_host_destroy(run->host);
	run->host = fake_host_create();
	forget_writer(run);
	fake_host_set_property(run->host, "where", "recover");
	assert_int_equal(load(run, run->path), 0);
	assert_int_equal(fake_host_end(run->host), 0); /* no process has anything left */
	assert_int_equal(count(slurp(run, run->path), "\"ph\":\"X\""), 100);
	assert_non_null(strstr(run->text, "\"complete\":true"));
	assert_int_not_equal(access(run->state, F_OK), 0);
}

TEST_OF(test_recover__timeline_of_the_session_is_complete__nothing_is_added, struct run *run)
{
	new_host(run, "collector", "s");
	begin(run);
	deliver(run, 0, 10);
	assert_int_equal(fake_host_end(run->host), 0);
	new_host(run, "recover", "s");
	begin(run);
	deliver(run, 0, 10);
	assert_int_equal(fake_host_end(run->host), 0);
	assert_int_equal(count(slurp(run, run->path), "\"ph\":\"X\""), 10);
}

TEST_OF(test_recover__timeline_is_complete__is_refused, struct run *run)
{
	begin(run);
	deliver(run, 0, 10);
	assert_int_equal(fake_host_end(run->host), 0);
	new_host(run, "recover", "s");
	assert_int_not_equal(load(run, run->path), 0);
	assert_true(fake_host_reported(run->host, "no timeline that somebody has left unfinished"));
	assert_int_equal(count(slurp(run, run->path), "\"ph\":\"X\""), 10);
}

/* ---- streams that are known by their description ---- */

struct step {
	struct rtl_text name;
	uint64_t size;
	double share;
	int32_t delta;
	uint32_t reserved;
};

static const struct rtl_field step_fields[] = {
	RTL_FIELD(struct step, name, RTL_KIND_TEXT, "", "what it is called"),
	RTL_FIELD(struct step, size, RTL_KIND_UINT, "bytes", "how large"),
	RTL_FIELD(struct step, share, RTL_KIND_FLOAT, "", "how much"),
	RTL_FIELD(struct step, delta, RTL_KIND_INT, "", "how much more"),
};

static const struct rtl_type_info step_types[] = {
	RTL_TYPE_INFO(RTL_REGION_BEGIN, "step_begin", struct step, step_fields, "a step begins"),
	RTL_TYPE_INFO(RTL_REGION_END, "step_end", struct step, step_fields, "a step has ended"),
	RTL_TYPE_INFO(RTL_SIGNAL, "tick", struct step, step_fields, "something happened"),
};

static const struct rtl_stream_info step_stream =
	RTL_STREAM_INFO("my.steps", 1, 0, step_types, "steps");

static void deliver_step(struct run *run, uint16_t type, uint64_t time_ns, uint64_t instance,
			 const char *name, uint64_t size)
{
	struct {
		struct step step;
		char name[64];
	} payload = {.step = {.size = size, .share = 0.5, .delta = -3}};

	payload.step.name = (struct rtl_text){sizeof(struct step), (uint32_t)strlen(name)};
	memcpy(payload.name, name, strlen(name));
	FAKE_DELIVER(run->host, &step_stream, type, run->process, &payload, .time_ns = time_ns,
		     .instance = instance, .tid = 99);
}

TEST_OF(test_generic__pairs_and_marks__are_slices_and_marks_with_their_fields, struct run *run)
{
	begin(run);
	fake_host_stream(run->host, &step_stream);
	deliver_step(run, RTL_REGION_BEGIN, 1000, 5, "load \"all\"", 10);
	deliver_step(run, RTL_SIGNAL, 1500, 0, "tick", 11);
	deliver_step(run, RTL_REGION_END, 4000, 5, "", 12);
	deliver_step(run, RTL_REGION_END, 4500, 6, "lost", 13);
	deliver_step(run, RTL_REGION_BEGIN, 5000, 7, "never ends", 14);
	assert_int_equal(fake_host_end(run->host), 0);
	slurp(run, run->path);
	assert_non_null(strstr(run->text,
			       ",\"dur\":3.000,\"cat\":\"my.steps\",\"name\":\"load \\\"all\\\"\","
			       "\"args\":{\"name\":\"load \\\"all\\\"\",\"size\":10,"
			       "\"share\":0.5,\"delta\":-3,\"end_size\":12}}"));
	assert_non_null(strstr(run->text,
			       "\"cat\":\"my.steps\",\"name\":\"tick\",\"args\":{\"name\":"
			       "\"tick\",\"size\":11,\"share\":0.5,\"delta\":-3}}"));
	assert_int_equal(count(run->text, "\"ph\":\"i\""), 2); /* and the end without a begin */
	assert_non_null(strstr(run->text, "\"name\":\"lost\""));
	assert_non_null(strstr(run->text, "\"name\":\"never ends\""));
	assert_non_null(strstr(run->text, "\"name\":\"thread 99\""));
}

/* ---- collectives of RCCL ---- */

static void deliver_operation(struct run *run, const char *name, uint64_t correlation)
{
	const struct rtl_rccl p = {.operation = fake_host_string(run->host, run->process, name),
				   .bytes = 4096};

	FAKE_DELIVER(run->host, &rccl_stream_info, RTL_SIGNAL, run->process, &p,
		     .correlation = correlation);
}

TEST_OF(test_rccl__kernels__are_called_by_their_collectives, struct run *run)
{
	const struct rtl_hsa_dispatch d = {.begin_ns = 1000, .end_ns = 2000, .gpu = 1, .queue = 1};

	fake_host_tracepoint(run->host, run->process, 78, "kernel", "ncclDevKernel", NULL, NULL);
	begin(run);
	fake_host_stream(run->host, &rccl_stream_info);
	deliver_operation(run, "AllReduce", 5);
	deliver_operation(run, "Send", 6);
	deliver_operation(run, "Recv", 6);
	deliver_operation(run, "Broadcast", 0);
	for (uint64_t i = 4; i < 7; i++)
		FAKE_DELIVER(run->host, run->hsa, RTL_TASK_END, run->process, &d, .uid = 78,
			     .correlation = i);
	assert_int_equal(fake_host_end(run->host), 0);
	slurp(run, run->path);
#define KERNEL(name) count(run->text, "\"cat\":\"kernel_dispatch\",\"name\":\"" name "\"")
	assert_int_equal(KERNEL("ncclDevKernel"), 1);
	assert_int_equal(KERNEL("AllReduce, 4096 bytes"), 1);
	assert_int_equal(KERNEL("Send, 4096 bytes, ..."), 1);
	assert_int_equal(count(run->text, "\"cat\":\"rtl.rccl\""), 4);
}

/* ---- hardware counters ---- */

enum { COUNTER_UID = 500 };

static void deliver_counted(struct run *run, uint64_t instance, uint64_t begin_ns)
{
	const struct rtl_hsa_dispatch d = {.begin_ns = begin_ns,
					   .end_ns = begin_ns + 1000,
					   .gpu = 1,
					   .queue = 1,
					   .flags = RTL_HSA_DISPATCH_SERIALISED};

	FAKE_DELIVER(run->host, run->hsa, RTL_TASK_END, run->process, &d, .uid = 77,
		     .instance = instance);
}

static void deliver_value(struct run *run, uint64_t instance, double value, uint32_t flags)
{
	const struct rtl_hsa_counter c = {
		.value = value,
		.name = fake_host_string(run->host, run->process, "SQ_WAVES"),
		.gpu = 1,
		.flags = flags};

	FAKE_DELIVER(run->host, fake_counter_stream(), RTL_SIGNAL, run->process, &c,
		     .uid = COUNTER_UID, .instance = instance);
}

static void deliver_interval(struct run *run, uint64_t begin_ns, double value, uint32_t flags)
{
	const struct rtl_hsa_counter_interval c = {
		.value = value,
		.name = fake_host_string(run->host, run->process, "SQ_WAVES"),
		.begin_ns = begin_ns,
		.end_ns = begin_ns + 1000,
		.gpu = 1,
		.flags = flags};

	FAKE_DELIVER(run->host, fake_counter_stream(), RTL_SAMPLE, run->process, &c,
		     .uid = COUNTER_UID);
}

static void begin_counters(struct run *run)
{
	fake_host_tracepoint(run->host, run->process, COUNTER_UID, "counter", "SQ_WAVES", "unit",
			     "waves");
	begin(run);
	fake_host_stream(run->host, fake_counter_stream());
}

TEST_OF(test_counters__of_dispatches__are_shown_whichever_comes_first, struct run *run)
{
	begin_counters(run);
	deliver_counted(run, 1, 10000);
	deliver_value(run, 1, 11, 0);
	deliver_value(run, 2, 22, 0);
	fake_host_flush(run->host);
	deliver_counted(run, 2, 20000);
	deliver_value(run, 2, 0, RTL_HSA_COUNTER_NO_VALUE);
	deliver_value(run, 3, 33, 0); /* of a dispatch that does not come */
	assert_int_equal(fake_host_end(run->host), 0);
	slurp(run, run->path);
	assert_int_equal(count(run->text, "\"name\":\"SQ_WAVES\",\"args\":{\"waves\":11}"), 1);
	assert_int_equal(count(run->text, "\"name\":\"SQ_WAVES\",\"args\":{\"waves\":22}"), 1);
	assert_int_equal(count(run->text, "\"name\":\"SQ_WAVES\",\"args\":{\"waves\":0}"), 2);
	assert_int_equal(count(run->text, "\"waves\":33}"), 0);
	assert_non_null(strstr(run->text, "json: value of a dispatch that is not there"));
}

/* Each lasts to the next one; the track is at 0 in gaps, without a value, and in the end. */
TEST_OF(test_counters__in_intervals__are_shown_without_gaps_that_there_are_not, struct run *run)
{
	begin_counters(run);
	deliver_interval(run, 10000, 11, 0);
	deliver_interval(run, 11000, 22, 0);
	deliver_interval(run, 15000, 33, 0);
	deliver_interval(run, 16000, 0, RTL_HSA_COUNTER_NO_VALUE);
	deliver_interval(run, 17000, 44, 0);
	assert_int_equal(fake_host_end(run->host), 0);
	slurp(run, run->path);
	assert_int_equal(count(run->text, "\"name\":\"SQ_WAVES, process 4711\",\"args\""), 7);
	assert_int_equal(count(run->text, "\"args\":{\"waves\":0}"), 3);
}

RUN_TESTS(setup, teardown, NULL, NULL)
