/* SPDX-License-Identifier: MIT */
/* test_sqlite_regions.c: what begins and ends in a program's own streams, as RPD's tools know ranges. */
#include "test_sqlite.h"

#include <rtl/describe.h>

struct span {
	struct rtl_text text;
	uint64_t begin_ns, end_ns;
	char characters[16];
};

#define FIELD(member, kind) RTL_FIELD(struct span, member, kind, "", "")

static const struct rtl_field fields[] = {
	FIELD(text, RTL_KIND_TEXT),
	FIELD(begin_ns, RTL_KIND_TIME),
	FIELD(end_ns, RTL_KIND_TIME),
};

#define TYPE(number, type_name, count)                                                             \
	{                                                                                          \
		.struct_size = sizeof(struct rtl_type_info), .type = (number),                     \
		.field_count = (count), .payload_size = offsetof(struct span, characters),         \
		.name = (type_name), .fields = fields,                                             \
	}

static const struct rtl_type_info types[] = {
	TYPE(RTL_REGION_BEGIN, "region_begin", 1),
	TYPE(RTL_REGION_END, "region_end", 1),
	TYPE(RTL_WAIT_BEGIN, "wait_begin", 1),
	TYPE(RTL_WAIT_END, "wait_end", 3), /* says all of it */
	TYPE(RTL_SIGNAL, "mark", 1),
};

static const struct rtl_stream_info stream = {
	.struct_size = sizeof(stream),
	.name = "my.app",
	.types = types,
	.type_count = sizeof(types) / sizeof(types[0]),
};

static void deliver(struct trace *t, uint16_t type, uint64_t instance, uint64_t time_ns,
		    const char *text, uint64_t uid)
{
	struct span span = {{0, 0}, time_ns - 30, time_ns, ""};

	if (text) {
		span.text = (struct rtl_text){offsetof(struct span, characters),
					      (uint32_t)strlen(text)};
		memcpy(span.characters, text, strlen(text));
	}
	FAKE_DELIVER(t->host, &stream, type, t->process, &span, .instance = instance,
		     .time_ns = time_ns, .tid = 40 + (uint32_t)instance, .uid = uid);
}

static void begin_host(struct trace *t, const char *where)
{
	trace_new_host(t, where);
	trace_begin(t, "");
	fake_host_stream(t->host, &stream);
	fake_host_tracepoint(t->host, t->process, 600, "region", "solve", NULL, NULL);
}

/* As RPD's tools see them. */
static const char markers[] = "SELECT pid, tid, domain, category, args, start, \"end\" FROM api"
			      " WHERE apiName = 'UserMarker' ORDER BY start";

TRACE_TEST(test_sqlite_regions__begin_and_end__as_user_markers)
{
	begin_host(t, "process");
	deliver(t, RTL_REGION_BEGIN, 1, 2000000, NULL, 600);
	deliver(t, RTL_REGION_BEGIN, 2, 2000100, "a \"text\"", 0);
	deliver(t, RTL_SIGNAL, 0, 2000150, "mark", 0);
	deliver(t, RTL_REGION_END, 2, 2000200, NULL, 0);
	deliver(t, RTL_WAIT_BEGIN, 3, 2000270, "w", 0);
	deliver(t, RTL_WAIT_END, 3, 2000300, "w", 0);
	deliver(t, RTL_REGION_END, 9, 2000350, "no begin", 0);
	deliver(t, RTL_REGION_END, 1, 2000400, NULL, 600);
	trace_end(t);
	assert_sql(t, markers,
		   "4711|41|roctx||solve|2000000|2000400;4711|42|roctx||a "
		   "'text'|2000100|2000200;4711|43|roctx||w|2000270|2000300");
	assert_answer(
		t->file,
		"SELECT stream, type, name, instance, unfinished, uid FROM rtl_spans ORDER BY "
		"instance",
		"my.app|region|solve|1|0|600;my.app|region|a 'text'|2|0|0;"
		"my.app|wait|w|3|0|0");
	assert_sql(t,
		   "SELECT (SELECT count(*) FROM rtl_e_my_app_region_begin), (SELECT count(*) FROM "
		   "rtl_e_my_app_region_end)",
		   "2|3");
}

TRACE_TEST(test_sqlite_regions__open_at_the_end__are_unfinished)
{
	begin_host(t, "process");
	deliver(t, RTL_REGION_BEGIN, 1, 2000000, "outer", 0);
	deliver(t, RTL_SIGNAL, 0, 2000700, "last", 0);
	trace_end(t);
	assert_sql(t, markers, "4711|41|roctx||outer|2000000|2000700");
	assert_sql(t, "SELECT name, unfinished FROM rtl_spans", "outer|1");
}

/* What survives the death of a host. */
static void die(struct trace *t)
{
	fake_host_destroy(t->host);
	t->host = NULL;
	if (file_exists(t->file))
		ask(t->file, "UPDATE rtl_meta SET value = replace(value, substr(value, 1,"
			     " instr(value, ' ')), '999999999 ') WHERE key = 'writer'");
}

static void run_events(struct trace *t, int count)
{
	static const struct {
		uint16_t type;
		uint64_t instance, time_ns;
		const char *text;
		uint64_t uid;
	} all[] = {
		{RTL_REGION_BEGIN, 1, 2000000, NULL, 600},
		{RTL_REGION_BEGIN, 2, 2000100, "second", 0},
		{RTL_REGION_END, 2, 2000200, NULL, 0},
		{RTL_REGION_BEGIN, 4, 2000250, "open", 0},
		{RTL_REGION_END, 1, 2000300, NULL, 0},
		{RTL_REGION_BEGIN, 5, 2000400, "last", 0},
		{RTL_REGION_END, 5, 2000500, NULL, 0},
	};

	for (int i = 0; i < count; i++) {
		deliver(t, all[i].type, all[i].instance, all[i].time_ns, all[i].text, all[i].uid);
		fake_host_flush(t->host);
	}
}

TRACE_TEST(test_sqlite_regions__host_died_in_between__each_is_there_once)
{
	for (int at = 0; at <= 7; at++) {
		remove(t->file);
		begin_host(t, "process");
		run_events(t, at);
		die(t);
		begin_host(t, "recover");
		run_events(t, 7);
		trace_end(t);
		assert_sql(t, markers,
			   "4711|41|roctx||solve|2000000|2000300;4711|42|roctx||second|2000100|"
			   "2000200;4711|44|roctx||open|2000250|2000500;4711|45|roctx||last|"
			   "2000400|2000500");
		assert_sql(t, "SELECT name FROM rtl_spans WHERE unfinished", "open");
		assert_sql(t, "PRAGMA foreign_key_check", "");
	}
}

RUN_TESTS(trace_setup, trace_teardown, NULL, NULL)
