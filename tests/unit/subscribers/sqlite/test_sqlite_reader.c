/* SPDX-License-Identifier: MIT */
/* test_sqlite_reader.c: the source: what the subscriber has written comes back as it was. */
#include "test_sqlite.h"

#include <dlfcn.h>
#include <rtl/describe.h>
#include <rtl/publish.h>
#include <rtl/source.h>

#define ROUNDS_OF_DAMAGE 300
#define KEPT             4096

/* ---- a host for the source: keeps what it is told */

struct kept_event {
	struct rtl_event event;
	uint64_t payload[64];
};

struct reading {
	struct rtl_source_host host; /* first */
	void *library;
	const struct rtl_source *source;
	void *self;
	int result;
	char line[1024]; /* the last that was reported, and how many errors there were */
	unsigned errors;
	struct rtl_process processes[4];
	uint32_t process_count;
	const struct rtl_stream_info *streams[64]; /* the source's: they last until it is closed */
	uint32_t stream_count;
	struct kept_event *events;
	size_t event_count, bad;
};

static struct reading *of(const struct rtl_source_host *host)
{
	return (struct reading *)(uintptr_t)host;
}

static const struct rtl_process *on_process(const struct rtl_source_host *host,
					    const struct rtl_process *process)
{
	struct reading *r = of(host);

	assert_in_range(r->process_count, 0, 3);
	r->processes[r->process_count] = *process;
	r->processes[r->process_count].number = r->process_count + 1;
	return &r->processes[r->process_count++];
}

static const struct rtl_stream_info *on_stream(const struct rtl_source_host *host,
					       const struct rtl_process *process,
					       const struct rtl_stream_info *info)
{
	struct reading *r = of(host);

	assert_non_null(process);
	for (uint32_t i = 0; i < r->stream_count; i++)
		if (r->streams[i] == info)
			return info;
	assert_in_range(r->stream_count, 0, 63);
	return r->streams[r->stream_count++] = info;
}

static int on_events(const struct rtl_source_host *host, const struct rtl_event *events,
		     size_t count)
{
	struct reading *r = of(host);

	for (size_t i = 0; i < count; i++) {
		const struct rtl_event *e = &events[i];
		const struct rtl_type_info *type = rtl_stream_find_type(e->stream, e->type);

		assert_ptr_equal(e->process, &r->processes[e->process->number - 1]);
		if (!type) {
			r->bad++;
			continue;
		}
		assert_true(e->payload_size >= type->payload_size);
		if (r->event_count < KEPT && e->payload_size <= sizeof(r->events->payload)) {
			struct kept_event *kept = &r->events[r->event_count];

			kept->event = *e;
			kept->event.type_info = type;
			memcpy(kept->payload, e->payload, e->payload_size);
			kept->event.payload = kept->payload;
		}
		r->event_count++;
	}
	return 0;
}

static void on_ledger(const struct rtl_source_host *host, const struct rtl_process *process,
		      const struct rtl_stream_info *stream, const struct rtl_ledger *ledger)
{
}

static void on_loss(const struct rtl_source_host *host, const struct rtl_process *process,
		    const struct rtl_stream_info *stream, const char *cause, uint64_t count)
{
}

static void on_waits(const struct rtl_source_host *host, const struct rtl_process *process,
		     const struct rtl_waits *waits)
{
}

static void on_calibration(const struct rtl_source_host *host, const struct rtl_process *process,
			   const struct rtl_calibration *calibration)
{
}

static void on_property(const struct rtl_source_host *host, const char *key, const char *value)
{
}

static void on_report(const struct rtl_source_host *host, int level, const char *text)
{
	snprintf(of(host)->line, sizeof(of(host)->line), "%s", text);
	of(host)->errors += level <= RTL_LEVEL_ERROR;
}

/* Reads all of a file; the result is in it. To be given to done(). */
static struct reading *read_all(const char *file)
{
	struct reading *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->host = (struct rtl_source_host){
		.struct_size = sizeof(r->host),
		.abi_version = RTL_SOURCE_ABI_VERSION,
		.process = on_process,
		.stream = on_stream,
		.events = on_events,
		.ledger = on_ledger,
		.loss = on_loss,
		.left_out = on_loss,
		.waits = on_waits,
		.calibration = on_calibration,
		.property = on_property,
		.report = on_report,
	};
	r->events = calloc(KEPT, sizeof(*r->events));
	r->library = dlopen(SQLITE_SUB_FILE, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(r->library);
	r->source = dlsym(r->library, RTL_SOURCE_SYMBOL);
	assert_non_null(r->source);
	r->result = r->source->open(&r->host, file, &r->self);
	while (!r->result && (r->result = r->source->read(r->self)) > 0) {
		r->source->left(r->self);
		r->result = 0;
	}
	return r;
}

static void done(struct reading *r)
{
	if (r->self)
		r->source->close(r->self);
	dlclose(r->library);
	free(r->events);
	free(r);
}

static const char *text_of(struct reading *r, uint64_t id)
{
	const char *text = r->source->string(r->self, &r->processes[0], id);

	return text ? text : "NULL";
}

/* ---- a stream with all kinds of fields */

struct kinds {
	uint8_t u1;
	int8_t i1;
	uint16_t u2;
	int32_t i4;
	uint64_t same, other; /* as the correlation, and not */
	int64_t i8;
	float f4;
	uint8_t yes;
	uint8_t bytes[3];
	double f8, nan;
	uint64_t address, time, none, string, uid;
	struct rtl_text text, args;
	uint64_t grouped; /* with the next two */
	uint32_t grouped_too;
	uint32_t reserved;
	struct rtl_text grouped_text;
};

struct message {
	struct kinds kinds;
	struct rtl_arg arg[2];
	char characters[16];
};

#define FIELD(member, kind)   RTL_FIELD(struct kinds, member, kind, "unit", "what it is")
#define GROUPED(member, kind) RTL_FIELD_OF(1, struct kinds, member, kind, "", "")

static const struct rtl_field kinds_fields[] = {
	FIELD(u1, RTL_KIND_UINT),
	FIELD(i1, RTL_KIND_INT),
	FIELD(u2, RTL_KIND_UINT),
	FIELD(i4, RTL_KIND_INT),
	FIELD(same, RTL_KIND_UINT),
	FIELD(other, RTL_KIND_UINT),
	FIELD(i8, RTL_KIND_INT),
	FIELD(f4, RTL_KIND_FLOAT),
	FIELD(yes, RTL_KIND_BOOL),
	FIELD(bytes, RTL_KIND_BYTES),
	FIELD(f8, RTL_KIND_FLOAT),
	FIELD(nan, RTL_KIND_FLOAT),
	FIELD(address, RTL_KIND_ADDRESS),
	FIELD(time, RTL_KIND_TIME),
	FIELD(none, RTL_KIND_TIME),
	FIELD(string, RTL_KIND_STRING),
	FIELD(uid, RTL_KIND_UID),
	FIELD(text, RTL_KIND_TEXT),
	FIELD(args, RTL_KIND_ARGS),
	GROUPED(grouped, RTL_KIND_UINT),
	GROUPED(grouped_too, RTL_KIND_UINT),
	GROUPED(grouped_text, RTL_KIND_TEXT),
};
static const struct rtl_type_info kinds_types[] = {
	RTL_TYPE_INFO_REPEATED(RTL_TASK_BEGIN, RTL_TASK_END, "begin", struct kinds, kinds_fields,
			       ""),
	RTL_TYPE_INFO(RTL_TASK_END, "end", struct kinds, kinds_fields, "an end"),
	/* arguments and texts are within its fixed part */
	RTL_TYPE_INFO(RTL_SIGNAL, "whole", struct message, kinds_fields, ""),
};
static const struct rtl_stream_info kinds_stream =
	RTL_STREAM_INFO("my.app", 3, 4, kinds_types, "mine");

static struct message sample_message(struct trace *t)
{
	struct message m = {
		.kinds = {.u1 = 255,
			  .i1 = -128,
			  .u2 = 65535,
			  .i4 = INT32_MIN,
			  .same = 77,
			  .other = UINT64_MAX,
			  .i8 = INT64_MIN,
			  .f4 = 0.1f,
			  .yes = 1,
			  .bytes = {1, 0, 3},
			  .f8 = -1e300,
			  .address = 0xffff800000000000,
			  .time = 1,
			  .uid = 600,
			  .text = {offsetof(struct message, characters), 5},
			  .args = {offsetof(struct message, arg), 2 * sizeof(struct rtl_arg)},
			  .grouped = UINT64_MAX - 1,
			  .grouped_too = 9,
			  .grouped_text = {offsetof(struct message, characters) + 5, 4}},
		.arg = {{.kind = RTL_KIND_STRING}, {.value.integer = -1, .kind = RTL_KIND_INT}},
		.characters = "it's.\xc3\xbc!!",
	};

	memset(&m.kinds.nan, 0xff, sizeof(m.kinds.nan));
	m.kinds.string = fake_host_string(t->host, t->process, "a \"text\"");
	m.arg[0].name = fake_host_string(t->host, t->process, "first");
	m.arg[0].value.number = m.kinds.string;
	m.arg[1].name = fake_host_string(t->host, t->process, "second");
	return m;
}

static void deliver_as(struct trace *t, uint16_t type, const struct message *m, uint64_t number)
{
	FAKE_DELIVER(t->host, &kinds_stream, type, t->process, m, .tid = 42,
		     .time_ns = 2000000 + number, .uid = UINT64_MAX, .parent_uid = 5,
		     .instance = number, .correlation = 77);
}

static void deliver_message(struct trace *t, const struct message *m, uint64_t number)
{
	deliver_as(t, RTL_TASK_END, m, number);
}

static void assert_text(const struct rtl_event *e, struct rtl_text text, const char *expected)
{
	assert_true(text.offset + text.length <= e->payload_size);
	assert_int_equal(text.length, strlen(expected));
	assert_memory_equal((const char *)e->payload + text.offset, expected, text.length);
}

static void assert_message(struct reading *r, const struct rtl_event *e, const struct message *m)
{
	const struct kinds *k = e->payload;
	struct kinds expected = m->kinds;
	struct rtl_arg args[2];

	assert_string_equal(text_of(r, k->string), "a \"text\"");
	assert_text(e, k->text, "it's.");
	assert_text(e, k->grouped_text, "\xc3\xbc!!");
	assert_int_equal(k->args.length, sizeof(args));
	assert_int_equal(k->args.offset % 8, 0);
	memcpy(args, (const char *)e->payload + k->args.offset, sizeof(args));
	assert_string_equal(text_of(r, args[0].name), "first");
	assert_string_equal(text_of(r, args[0].value.number), "a \"text\"");
	assert_string_equal(text_of(r, args[1].name), "second");
	assert_int_equal(args[1].value.integer, -1);
	/* the rest is the same to the last bit */
	expected.string = k->string;
	expected.text = k->text;
	expected.args = k->args;
	expected.grouped_text = k->grouped_text;
	assert_memory_equal(k, &expected, sizeof(expected));
}

/* ---- tests */

TRACE_TEST(test_sqlite_reader__all_kinds_of_fields__come_back)
{
	struct message m = sample_message(t);
	struct reading *r;

	trace_begin(t, "");
	fake_host_stream(t->host, &kinds_stream);
	deliver_message(t, &m, 8);
	m.kinds.same = 78;
	m.kinds.other = 0;
	m.kinds.f8 = -0.0;
	deliver_as(t, RTL_SIGNAL, &m, 9);
	trace_end(t);
	r = read_all(t->file);
	assert_int_equal(r->result, 0);
	assert_int_equal(r->event_count, 2);
	for (uint64_t i = 0; i < 2; i++) {
		const struct rtl_event *e = &r->events[i].event;

		m.kinds.same = i ? 78 : 77;
		m.kinds.other = i ? 0 : UINT64_MAX;
		m.kinds.f8 = i ? -0.0 : -1e300;
		assert_int_equal(e->tid, 42);
		assert_int_equal(e->time_ns, 2000008 + i);
		assert_int_equal(e->uid, UINT64_MAX);
		assert_int_equal(e->parent_uid, 5);
		assert_int_equal(e->instance, 8 + i);
		assert_int_equal(e->correlation, 77);
		assert_message(r, e, &m);
	}
	done(r);
}

TRACE_TEST(test_sqlite_reader__file_that_is_written__gives_what_is_committed)
{
	struct reading *r;

	trace_begin(t, "");
	deliver_dispatches(t, 500);
	fake_host_flush(t->host);
	deliver_dispatches(t, 10);
	r = read_all(t->file);
	assert_int_equal(r->result, 0);
	assert_int_equal(r->event_count, 500);
	done(r);
	fake_host_flush(t->host);
	r = read_all(t->file);
	assert_int_equal(r->event_count, 510);
	done(r);
	trace_end(t);
}

static void change(const struct trace *t, const char *sql)
{
	sqlite3 *db;
	char *error = NULL;

	assert_int_equal(sqlite3_open(t->file, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s: %s", sql, error);
	sqlite3_close(db);
}

TRACE_TEST(test_sqlite_reader__other_files__are_refused_with_one_line)
{
	static const char *const changes[][2] = {
		{"CREATE TABLE x (y)", "is not a trace of rtl: it has no table rtl_meta"},
		{"CREATE TABLE rtl_meta (key, value)", "it has no table rtl_origin"},
		{"CREATE TABLE rtl_origin (id)", "does not say of which version"},
		{"INSERT INTO rtl_meta VALUES ('schema', '1')",
		 "written by another version of rtl"},
	};
	struct reading *r;

	write_file(t->file, "no database");
	r = read_all(t->file);
	assert_int_equal(r->result, RTL_EFORMAT);
	assert_false(r->source->reads(t->file));
	assert_false(r->source->reads("/nowhere"));
	done(r);
	remove(t->file);
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		change(t, changes[i][0]);
		r = read_all(t->file);
		assert_int_equal(r->result, RTL_EFORMAT);
		assert_int_equal(r->errors, 1);
		assert_non_null(strstr(r->line, changes[i][1]));
		assert_int_equal(r->source->reads(t->file), i > 1);
		done(r);
	}
}

TEST(test_sqlite_reader__rows_that_make_no_sense__count_as_abandoned)
{
	static const char *const changes[] = {
		"origin = 99",   "g1 = 99",          "g1 = 'x'",     "u1 = NULL",      "u2 = 'x'",
		"bytes = x'00'", "f8 = 'x'",         "nan = x'01'",  "text = 99",      "args = 99",
		"i8 = 1.5",      "time_rel = x'00'", "string = 'x'", "same = x'0102'",
	};
	const size_t count = sizeof(changes) / sizeof(*changes);
	struct trace *t = *state;
	struct message m = sample_message(t);
	struct reading *r;
	char sql[256];

	trace_begin(t, "");
	fake_host_stream(t->host, &kinds_stream);
	for (uint64_t i = 0; i <= count; i++)
		deliver_message(t, &m, i);
	trace_end(t);
	for (size_t i = 0; i < count; i++) {
		snprintf(sql, sizeof(sql), "UPDATE rtl_s_my_app_end SET %s WHERE instance = %zu",
			 changes[i], i);
		change(t, sql);
	}
	r = read_all(t->file);
	assert_int_equal(r->result, 0);
	assert_int_equal(r->bad, count);
	assert_int_equal(r->event_count, 1);
	assert_message(r, &r->events[0].event, &m);
	assert_int_equal(r->errors, 0);
	assert_non_null(strstr(r->line, "14 events are not as their streams describe them"));
	done(r);
}

/* Not by ALTER TABLE: that looks at views. */
#define RENAME(table, column)                                                                      \
	"PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql ="                                \
	" replace(sql, '\"" column "\"', 'x') WHERE name = '" table "'"

TEST(test_sqlite_reader__tables_that_make_no_sense__end_it_with_a_line)
{
	static const char *const changes[][2] = {
		{RENAME("rtl_s_my_app_end", "u1"), "has no column u1"},
		{RENAME("rtl_s_my_app_end_g1", "grouped"), "has no column grouped"},
		{"UPDATE rtl_field SET offset = 100000 WHERE name = 'u1'",
		 "outside of the payload"},
		{"UPDATE rtl_type SET payload_bytes = 100000", "outside of the payload"},
		{"UPDATE rtl_type SET table_name = 'nowhere' WHERE name = 'end'", "no such table"},
		{"DROP TABLE rtl_s_my_app_end_g1", "no such table"},
		{"DROP TABLE rtl_field", "no such table"},
		{"DROP TABLE rtl_ledger", "no such table"},
		{"DELETE FROM rtl_process", "has events of no process"},
	};
	struct trace *t = *state;
	struct message m = sample_message(t);
	struct reading *r;

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		trace_new_host(t, "process");
		remove(t->file);
		trace_begin(t, "");
		fake_host_stream(t->host, &kinds_stream);
		deliver_message(t, &m, 1);
		trace_end(t);
		change(t, changes[i][0]);
		r = read_all(t->file);
		if (r->result != RTL_EFORMAT || r->errors != 1 || !strstr(r->line, changes[i][1]))
			fail_msg("%s: %d, %s", changes[i][0], r->result, r->line);
		done(r);
	}
}

/* Nothing but a crash fails, or what the sanitizers find. */
TRACE_TEST(test_sqlite_reader__damaged_bytes__never_crash)
{
	struct message m = sample_message(t);
	uint64_t random = 1;
	char *whole, *damaged;
	long size;
	FILE *file;

	trace_begin(t, "");
	fake_host_stream(t->host, &kinds_stream);
	for (uint64_t i = 1; i < 100; i++)
		deliver_message(t, &m, i);
	trace_end(t);
	file = fopen(t->file, "r+");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	whole = malloc((size_t)size);
	damaged = malloc((size_t)size);
	rewind(file);
	assert_int_equal(fread(whole, 1, (size_t)size, file), size);
	for (int round = 0; round < ROUNDS_OF_DAMAGE; round++) {
		memcpy(damaged, whole, (size_t)size);
		for (int i = 0; i <= round % 20; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			damaged[100 + (random >> 33) % (uint64_t)(size - 100)] ^=
				(char)(random >> 25);
		}
		rewind(file);
		assert_int_equal(fwrite(damaged, 1, (size_t)size, file), size);
		fflush(file);
		done(read_all(t->file));
	}
	fclose(file);
	free(whole);
	free(damaged);
}

RUN_TESTS(trace_setup, trace_teardown, NULL, NULL)
