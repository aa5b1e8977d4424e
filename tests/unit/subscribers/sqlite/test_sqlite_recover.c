/* SPDX-License-Identifier: MIT */
/* test_sqlite_recover.c: an output whose host died is continued by another: each event once, ids go on, names and
 * tables are found again. The fake host plays the run once more and leaves out what the plugin says to have. */
#include "test_sqlite.h"

#include <rtl/describe.h>

#include <signal.h>
#include <sys/wait.h>

#define SIZE (48 + sizeof(struct rtl_hsa_dispatch))

/* A stream with one type: a number, a text, and perhaps one more number. */

struct note {
	uint64_t number;
	struct rtl_text text;
	uint64_t more;
};

#define FIELD(member, kind) RTL_FIELD(struct note, member, kind, NULL, NULL)

static const struct rtl_field note_fields[] = {
	FIELD(number, RTL_KIND_UINT),
	FIELD(text, RTL_KIND_TEXT),
	FIELD(more, RTL_KIND_UINT),
};

#define NOTE_TYPE(fields_used)                                                                     \
	{                                                                                          \
		.struct_size = sizeof(struct rtl_type_info), .type = RTL_SIGNAL,                   \
		.field_count = (fields_used), .payload_size = sizeof(struct note), .name = "note", \
		.fields = note_fields,                                                             \
	}

static const struct rtl_type_info note_types[] = {NOTE_TYPE(2), NOTE_TYPE(3)};

static const struct rtl_stream_info note_streams[] = {
	{
		.struct_size = sizeof(struct rtl_stream_info),
		.name = "notes",
		.types = &note_types[0],
		.type_count = 1,
	},
	{
		.struct_size = sizeof(struct rtl_stream_info),
		.name = "notes",
		.types = &note_types[1],
		.type_count = 1,
	},
};

static void deliver_notes(struct fake_host *h, const struct rtl_stream_info *stream,
			  const struct rtl_process *process, uint64_t from, uint64_t to)
{
	struct {
		struct note note;
		char text[8];
	} payload = {.note.text = {sizeof(struct note), 4}, .text = "text"};

	for (uint64_t i = from; i < to; i++) {
		payload.note.number = i;
		FAKE_DELIVER(h, stream, RTL_SIGNAL, process, &payload, .time_ns = 1000 + i);
	}
}

/* A host with the plugin, its streams and its process begun. */

static void begin_host(struct trace *t, const char *where)
{
	trace_new_host(t, where);
	trace_begin(t, "");
	fake_host_stream(t->host, &note_streams[0]);
}

/* The writer was this process, which lives: now it was another. */
static void bury(const char *file)
{
	if (file_exists(file))
		ask(file, "UPDATE rtl_meta SET value = replace(value, substr(value, 1,"
			  " instr(value, ' ')), '999999999 ') WHERE key = 'writer'");
}

/* What survives the death of a host: all that is destroyed without finish. */
static void die(struct trace *t)
{
	assert_int_equal(fake_host_error(t->host), 0);
	fake_host_destroy(t->host);
	t->host = NULL;
	bury(t->file);
}

static void assert_whole(struct trace *t, int64_t dispatches)
{
	char expected[128];

	assert_sql(t, "PRAGMA integrity_check", "ok");
	assert_sql(t, "PRAGMA foreign_key_check", "");
	snprintf(expected, sizeof(expected), "%lld|%lld|%lld|%lld", (long long)dispatches,
		 (long long)dispatches, (long long)dispatches, (long long)dispatches);
	assert_answer(
		t->file,
		"SELECT count(*), count(DISTINCT sequenceId), count(DISTINCT o.id), max(o.id) - 2"
		" FROM rocpd_op o JOIN rtl_dispatch d ON d.op_id = o.id"
		" JOIN rocpd_api_ops l ON l.op_id = o.id JOIN rocpd_api a ON a.id = l.api_id"
		" JOIN rocpd_kernelapi k ON k.api_ptr_id = a.id",
		expected);
	assert_sql(t, "SELECT value FROM rtl_meta WHERE key = 'state'", "complete");
}

/* A host that has flushed so many dispatches. */
static void die_after(struct trace *t, uint64_t dispatches)
{
	begin_host(t, "collector");
	deliver_dispatches(t, dispatches);
	fake_host_flush(t->host);
	die(t);
}

/* Goes on after what is stored, to the whole of it. */
static void recover_whole(struct trace *t, uint64_t stored, uint64_t dispatches)
{
	begin_host(t, "recover");
	assert_int_equal(fake_host_resumed(t->host, t->process, 0), stored * SIZE);
	deliver_dispatches(t, dispatches);
	trace_end(t);
	assert_whole(t, (int64_t)dispatches);
}

TRACE_TEST(test_sqlite_recover__host_died__each_event_is_there_once)
{
	begin_host(t, "collector");
	deliver_dispatches(t, 500);
	fake_host_flush(t->host);
	deliver_dispatches(t, 300); /* not flushed: not there */
	die(t);
	assert_sql(t, "SELECT count(*) FROM rocpd_op", "500");

	recover_whole(t, 500, 800);
	assert_sql(t, "SELECT published, delivered FROM rtl_ledger WHERE stream='rtl.hsa'",
		   "800|800");
	assert_sql(t, "SELECT count(*) FROM rtl_process", "1");
	assert_sql(t,
		   "SELECT count(*) FROM rocpd_api WHERE domain_id = (SELECT id FROM rocpd_string "
		   "WHERE string = 'rtl')",
		   "2");
	assert_sql(t, "SELECT value FROM rtl_meta WHERE key = 'recovered'", "1");
	assert_sql(t, "SELECT value FROM rtl_meta WHERE key = 'where'", "collector");
}

/* A dispatch on the GPU of that node, from a queue with that uid. */
static void deliver_on(struct trace *t, uint32_t node, uint64_t queue)
{
	struct rtl_hsa_dispatch d = sample_dispatch(0);

	d.gpu = node;
	FAKE_DELIVER(t->host, t->hsa, RTL_TASK_END, t->process, &d, .uid = 100,
		     .parent_uid = queue);
}

static void begin_gpus(struct trace *t, const char *where, const char *settings)
{
	trace_new_host(t, where);
	fake_host_tracepoint(t->host, t->process, 8, "queue", "queue 1", "gpu_index", "0");
	fake_host_tracepoint(t->host, t->process, 9, "queue", "queue 2", "gpu_index", "5");
	fake_host_tracepoint(t->host, t->process, 10, "queue", "queue 3", NULL, NULL);
	trace_begin(t, settings);
}

TRACE_TEST(test_sqlite_recover__gpus_by_index__go_on_so)
{
	begin_gpus(t, "collector", "gpu=index");
	deliver_on(t, 2, 8);
	deliver_on(t, 7, 9);
	fake_host_flush(t->host);
	die(t);
	begin_gpus(t, "recover", "");
	for (int i = 0; i < 2; i++)
		deliver_on(t, 3, 10); /* had come */
	deliver_on(t, 7, 9);
	deliver_on(t, 3, 10); /* not told: of an older version */
	trace_end(t);
	assert_sql(t, "SELECT gpuId, gpu FROM rocpd_op JOIN rtl_dispatch ON op_id = id ORDER BY id",
		   "0|2;5|7;5|7;3|3");
	assert_sql(t, "SELECT value FROM rtl_meta WHERE key = 'gpu'", "index");
}

TRACE_TEST(test_sqlite_recover__names__are_not_doubled)
{
	die_after(t, 20);
	recover_whole(t, 20, 40);
	assert_sql(t,
		   "SELECT count(*) - count(DISTINCT string), count(*) - count(DISTINCT id) FROM "
		   "rocpd_string",
		   "0|0");
	assert_sql(t, "SELECT count(*) - count(DISTINCT string) FROM rocpd_ustring", "0");
	assert_sql(t, "SELECT id FROM rocpd_string WHERE string = ''", "1");
	assert_sql(t,
		   "SELECT count(*) FROM rocpd_string s JOIN rocpd_ustring u USING (string) WHERE "
		   "s.id <> u.id",
		   "0");
	/* uid 100 is every seventh */
	assert_sql(t, "SELECT count(*) FROM op WHERE description = 'add'", "6");
}

TRACE_TEST(test_sqlite_recover__queues__are_found_again_and_ids_go_on)
{
	const char *sql = "SELECT group_concat(queueId || ':' || process || ':' || queue) FROM"
			  " (SELECT * FROM rtl_queue ORDER BY queueId)";
	struct rtl_hsa_queue payload = {.address = 77, .gpu = 1, .queue = 2, .packets = 64};
	struct rtl_process *other;
	struct rtl_hsa_dispatch d = sample_dispatch(50); /* queue 3 */

	begin_host(t, "collector");
	FAKE_DELIVER(t->host, t->hsa, RTL_QUEUE_CREATE, t->process, &payload, .time_ns = 99);
	deliver_dispatches(t, 3);
	fake_host_flush(t->host);
	die(t);
	assert_sql(t, sql, "1:1:1,2:1:2,3:1:3");

	begin_host(t, "recover");
	other = fake_host_process(t->host, 2, 5000, "/usr/bin/other");
	fake_host_begin(t->host, other);
	deliver_dispatch(t, other, &d, 100);
	FAKE_DELIVER(t->host, t->hsa, RTL_QUEUE_CREATE, t->process, &payload);
	deliver_dispatches(t, 6);
	FAKE_DELIVER(t->host, t->hsa, RTL_QUEUE_DESTROY, t->process, &payload, .time_ns = 500);
	trace_end(t);
	assert_sql(t, sql, "1:1:1,2:1:2,3:1:3,4:2:3");
	assert_sql(
		t,
		"SELECT address, packets, create_ns, destroy_ns FROM rtl_queue WHERE queueId = 2",
		"77|64|99|500");
}

TRACE_TEST(test_sqlite_recover__generic_tables__go_on)
{
	begin_host(t, "collector");
	deliver_notes(t->host, &note_streams[0], t->process, 0, 10);
	fake_host_flush(t->host);
	deliver_notes(t->host, &note_streams[0], t->process, 10, 15);
	die(t);
	begin_host(t, "recover");
	deliver_notes(t->host, &note_streams[0], t->process, 0, 30);
	trace_end(t);
	assert_sql(t,
		   "SELECT count(*), count(DISTINCT number), min(id), max(id), max(text) FROM "
		   "rtl_e_notes_note",
		   "30|30|3|32|text");
	assert_sql(t, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'rtl_e_notes%'", "1");
	assert_sql(t, "SELECT group_concat(name) FROM rtl_stream", "rtl.hsa,notes");
	assert_sql(t, "SELECT count(*) FROM rtl_type WHERE table_name LIKE 'rtl_s_%'", "1");
}

TRACE_TEST(test_sqlite_recover__changed_stream__gets_its_own_table)
{
	begin_host(t, "collector");
	deliver_notes(t->host, &note_streams[0], t->process, 0, 10);
	fake_host_flush(t->host);
	die(t);
	trace_new_host(t, "recover");
	t->process->pid = 4712;
	t->process->spool_id++;
	trace_begin(t, "");
	fake_host_stream(t->host, &note_streams[1]);
	deliver_notes(t->host, &note_streams[1], t->process, 0, 7);
	trace_end(t);
	assert_sql(t, "SELECT count(*) FROM rtl_e_notes_note", "10");
	assert_sql(t, "SELECT count(*), count(DISTINCT more) FROM rtl_e_notes_note_2", "7|1");
	assert_sql(t,
		   "SELECT stream, rtl_type.name, table_name FROM rtl_stream JOIN rtl_type USING "
		   "(stream) WHERE rtl_stream.name = 'notes'",
		   "2|note|rtl_s_notes_note;3|note|rtl_s_notes_note_2");
	assert_sql(
		t,
		"SELECT process, delivered FROM rtl_ledger WHERE stream = 'notes' ORDER BY process",
		"1|10;2|7");
}

TRACE_TEST(test_sqlite_recover__two_layouts_at_once__ledger_keeps_both)
{
	begin_host(t, "collector");
	fake_host_stream(t->host, &note_streams[1]);
	deliver_notes(t->host, &note_streams[0], t->process, 0, 5);
	trace_end(t);
	assert_sql(t, "SELECT delivered FROM rtl_ledger WHERE stream = 'notes'", "5");
}

/* Two processes, one of them on two rings. */
static void play_processes(struct trace *t, uint64_t a0, uint64_t a1, uint64_t b)
{
	struct rtl_process *second = fake_host_process(t->host, 2, 5000, "/usr/bin/other");

	fake_host_begin(t->host, second);
	deliver_notes(t->host, &note_streams[0], t->process, 0, a0);
	fake_host_set_ring(t->host, 1);
	deliver_notes(t->host, &note_streams[0], t->process, 1000, 1000 + a1);
	fake_host_set_ring(t->host, 0);
	deliver_notes(t->host, &note_streams[0], second, 5000, 5000 + b);
}

TRACE_TEST(test_sqlite_recover__several_processes_and_rings__each_goes_on)
{
	begin_host(t, "collector");
	play_processes(t, 10, 20, 30);
	fake_host_flush(t->host);
	deliver_notes(t->host, &note_streams[0], t->process, 10, 12);
	die(t);
	begin_host(t, "recover");
	play_processes(t, 15, 20, 35);
	trace_end(t);
	assert_sql(t,
		   "SELECT process, count(*), count(DISTINCT number) FROM rtl_e_notes_note GROUP "
		   "BY process",
		   "1|35|35;2|35|35");
	assert_sql(t, "SELECT process, pid, spool <> 0 FROM rtl_process", "1|4711|1;2|5000|1");
	assert_sql(t, "SELECT count(*), count(DISTINCT spool) FROM rtl_position", "3|2");
}

TRACE_TEST(test_sqlite_recover__pid_used_again__is_another_process)
{
	begin_host(t, "collector");
	deliver_notes(t->host, &note_streams[0], t->process, 0, 3);
	fake_host_flush(t->host);
	die(t);
	trace_new_host(t, "recover");
	t->process->spool_id = 77;
	trace_begin(t, "");
	fake_host_stream(t->host, &note_streams[0]);
	assert_int_equal(fake_host_resumed(t->host, t->process, 0), 0);
	deliver_notes(t->host, &note_streams[0], t->process, 0, 3);
	trace_end(t);
	assert_sql(t, "SELECT process, count(*) FROM rtl_e_notes_note GROUP BY process", "1|3;2|3");
}

static void die_in_a_transaction(struct trace *t)
{
	begin_host(t, "collector");
	deliver_dispatches(t, 1000);
	fake_host_flush(t->host);
	deliver_dispatches(t, 50000); /* much of it is in the log, uncommitted */
	raise(SIGKILL);
}

TRACE_TEST(test_sqlite_recover__killed_within_a_transaction__goes_on_before_it)
{
	pid_t child = fork();
	siginfo_t info = {0};

	if (child == 0) {
		die_in_a_transaction(t);
		_exit(0);
	}
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(info.si_code, CLD_KILLED);
	recover_whole(t, 1000, 51000); /* though nobody has waited for it yet */
	waitpid(child, NULL, 0);
}

TRACE_TEST(test_sqlite_recover__recovery_died__another_goes_on)
{
	die_after(t, 100);
	for (int i = 1; i <= 3; i++) {
		begin_host(t, "recover");
		deliver_dispatches(t, 100 + (uint64_t)i * 50);
		fake_host_flush(t->host);
		deliver_dispatches(t, 7);
		die(t);
	}
	recover_whole(t, 250, 300);
	assert_sql(t, "SELECT value FROM rtl_meta WHERE key = 'recovered'", "4");
}

TRACE_TEST(test_sqlite_recover__nothing_left__output_is_completed)
{
	die_after(t, 100);
	trace_new_host(t, "recover");
	assert_int_equal(trace_load(t, ""), 0);
	trace_end(t);
	assert_whole(t, 100);
	assert_false(file_exists(in_folder(t, "t.db-wal")));
}

TRACE_TEST(test_sqlite_recover__finished_output__is_appended_to)
{
	begin_host(t, "collector");
	deliver_dispatches(t, 100);
	trace_end(t);
	recover_whole(t, 100, 150);
	assert_sql(t, "SELECT count(*) FROM rtl_clock WHERE pairs IS NOT NULL", "1");
	assert_sql(t, "PRAGMA journal_mode", "delete");
}

TRACE_TEST(test_sqlite_recover__flush_fails__neither_rows_nor_positions)
{
	sqlite3 *other;

	begin_host(t, "collector");
	deliver_dispatches(t, 100);
	fake_host_flush(t->host);
	assert_int_equal(sqlite3_open(t->file, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	deliver_dispatches(t, 50);
	fake_host_flush(t->host);
	assert_int_not_equal(fake_host_error(t->host), 0);
	sqlite3_close(other);
	fake_host_end(t->host);
	bury(t->file);
	recover_whole(t, 100, 150);
}

TRACE_TEST(test_sqlite_recover__process_ends_before_the_flush__not_without_positions)
{
	struct rtl_process *other;

	begin_host(t, "collector");
	deliver_dispatches(t, 100);
	fake_host_process_end(t->host, t->process);
	other = fake_host_process(t->host, 2, 5000, "/usr/bin/other");
	fake_host_begin(t->host, other);
	assert_sql(t, "SELECT count(*) FROM rocpd_op", "0");
	fake_host_flush(t->host);
	assert_sql(t, "SELECT count(*) FROM rocpd_op", "100");
	assert_sql(t, "SELECT count(*) FROM rtl_position", "1");
	trace_end(t);
}

TRACE_TEST(test_sqlite_recover__events_not_as_described__are_counted_on)
{
	struct rtl_hsa_dispatch d = sample_dispatch(0);
	struct rtl_event e;

	for (int i = 0; i < 2; i++) {
		begin_host(t, i ? "recover" : "collector");
		e = fake_event(t->hsa, RTL_TASK_END, t->process, &d, 8);
		fake_host_deliver_one(t->host, &e);
		if (i)
			fake_host_deliver_one(t->host, &e);
		fake_host_flush(t->host);
		die(t);
	}
	assert_sql(t, "SELECT count FROM rtl_loss WHERE process = 0", "2");
}

TRACE_TEST(test_sqlite_recover__calibration__is_written_at_the_end)
{
	begin_host(t, "collector");
	trace_end(t);
	assert_sql(t,
		   "SELECT time_ns, pairs, tick_error_ns, ns_per_tick, first_ns, last_ns FROM "
		   "rtl_clock WHERE pairs IS NOT NULL",
		   "1001000|3|25|0.5|1000000|1001000");
	assert_sql(t, "SELECT count(*) FROM rtl_clock WHERE realtime_ns > 0", "2");
}

TRACE_TEST(test_sqlite_recover__host_died_before_the_tables__begins_anew)
{
	write_file(t->file, "");
	begin_host(t, "recover");
	deliver_dispatches(t, 30);
	trace_end(t);
	assert_whole(t, 30);
	assert_sql(t, "SELECT count(*) FROM rtl_meta WHERE key = 'recovered'", "0");
}

TRACE_TEST(test_sqlite_recover__name_of_the_process__is_known_with_it)
{
	char text[512];

	snprintf(text, sizeof(text), "output=%s", in_folder(t, "%e-%p.db"));
	for (int i = 0; i < 2; i++) {
		trace_new_host(t, i ? "recover" : "collector");
		assert_int_equal(fake_host_load(t->host, SQLITE_SUB_FILE, text), 0);
		fake_host_stream(t->host, t->hsa);
		fake_host_begin(t->host, t->process);
		deliver_dispatches(t, 10 + (uint64_t)i * 10);
		fake_host_flush(t->host);
		if (!i)
			die(t);
		bury(in_folder(t, "app-4711.db"));
	}
	trace_end(t);
	assert_answer(in_folder(t, "app-4711.db"), "SELECT count(*) FROM rocpd_op", "20");
}

RUN_TESTS(trace_setup, trace_teardown, NULL, NULL)
