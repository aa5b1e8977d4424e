/* SPDX-License-Identifier: MIT */
/* Rings that are full: their threads go on in further ones, within RTL_BUFFER_TOTAL and half of the
 * spool's file system. Nobody drains while the process publishes. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <time.h>

#include <rtl/describe.h>
#include <rtl/rtl.h>

#include "own_sub.h"
#include "unit.h"

#define RING     (64u << 10) /* RTL_BUFFER_SIZE */
#define BIG_RING (1u << 20)
#define EVENTS   60000u      /* more than 40 rings */
#define FORKED   1000000000u /* a child's events are numbered from here on */

struct tick {
	uint64_t number; /* from 1 */
};

RTL_DESCRIBE_STREAM(info, "test.growth", "", RTL_SIGNAL, "tick", "", struct tick,
		    RTL_FIELD(struct tick, number, RTL_KIND_UINT, "", ""));

#define RECORD_BYTES (sizeof(struct rtl_record) + sizeof(struct tick))

/* What our own subscriber has seen, beside their number. */
static uint64_t last, last_forked;
static bool disorder, gap;

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct tick *tick = events[i]->payload;
		uint64_t *before = tick->number > FORKED ? &last_forked : &last;

		disorder |= tick->number <= *before;
		gap |= tick->number != *before + 1;
		*before = tick->number;
		own.events++;
	}
}

static char base[64];

static int setup_in(const char *folder)
{
	own_reset(info.name, on_events);
	last = 0;
	last_forked = FORKED;
	disorder = gap = false;
	snprintf(base, sizeof(base), "%s/test_growth-XXXXXX", folder);
	setenv("RTL_BUFFER_SIZE", "64K", 1);
	setenv("RTL_BUFFER_POLICY", "wait", 1);
	setenv("RTL_BUFFER_TOTAL", "1G", 1);
	return mkdtemp(base) ? 0 : -1;
}

static int setup(void **state)
{
	return setup_in("/tmp");
}

static int setup_in_memory(void **state)
{
	return setup_in("/dev/shm");
}

/* Fails if something was left there. */
static int teardown(void **state)
{
	return rmdir(base);
}

static void publish(struct rtl_stream *stream, uint64_t first, uint64_t count)
{
	for (uint64_t i = first; i < first + count; i++) {
		struct rtl_record *record = rtl_reserve(stream, RTL_SIGNAL, sizeof(struct tick));

		if (!record)
			continue;
		((struct tick *)rtl_record_payload(record))->number = i;
		rtl_commit(record);
	}
}

static void begin_publisher(const struct rtl_collector *collector, struct rtl_stream **stream)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close_range(3, 1021, 0); /* the collector's lock, as an exec does; not what is told */
	setenv("RTL_COLLECTOR", rtl_collector_folder(collector), 1);
	if (rtl_stream_register(&info, stream))
		_exit(1);
}

/* A traced process that publishes all, and then ends. */
static void publisher(const struct rtl_collector *collector, bool killed)
{
	struct rtl_stream *stream = &rtl_stream_none;

	begin_publisher(collector, &stream);
	publish(stream, 1, EVENTS);
	if (killed)
		raise(SIGKILL);
	exit(0);
}

static void run_publisher(const struct rtl_collector *collector, bool killed)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		publisher(collector, killed);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, killed ? SIGKILL : 0);
}

static void collect(bool killed)
{
	struct rtl_collector *collector = own_collector(RTL_COLLECT, base, NULL);

	run_publisher(collector, killed);
	own_finish(collector);
	assert_int_equal(own.ledger.published, EVENTS);
	assert_int_equal(own.ledger.delivered, own.events);
	assert_int_equal(own.ledger.discarded, EVENTS - own.events);
	assert_false(disorder);
}

TEST(test_growth__nobody_drains__all_recorded_in_order)
{
	collect(false);
	assert_int_equal(own.events, EVENTS);
	assert_false(gap);
}

TEST(test_growth__killed__all_delivered_in_order)
{
	collect(true);
	assert_int_equal(own.events, EVENTS);
	assert_false(gap);
}

/* Its rings are its parent's no longer: both go on in rings of their own. */
static void fork_and_go_on(struct rtl_stream *stream)
{
	int status;
	pid_t child = fork();

	if (!child) {
		publish(stream, FORKED + 1, EVENTS);
		exit(0);
	}
	publish(stream, EVENTS + 1, EVENTS);
	if (waitpid(child, &status, 0) != child || status)
		_exit(1);
}

TEST(test_growth__forks__each_process_all_in_order)
{
	struct rtl_collector *collector = own_collector(RTL_COLLECT, base, NULL);
	struct rtl_stream *stream = &rtl_stream_none;
	int status;
	pid_t pid = fork();

	if (!pid) {
		begin_publisher(collector, &stream);
		publish(stream, 1, EVENTS);
		fork_and_go_on(stream);
		exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	own_finish(collector);
	assert_int_equal(own.events, 3 * EVENTS);
	assert_int_equal(last, 2 * EVENTS);
	assert_int_equal(last_forked, FORKED + EVENTS);
	assert_false(gap);
	assert_int_equal(own.ledger.discarded, 0);
}

TEST(test_growth__total_is_used_up__discarded_and_counted)
{
	const uint64_t ring = RING / RECORD_BYTES;

	setenv("RTL_BUFFER_TOTAL", "129M", 1);
	setenv("RTL_BUFFER_POLICY", "discard", 1);
	collect(false);
	assert_in_range(own.events, 16 * ring, 17 * ring); /* one ring, and 1M of further ones */
}

/* Makes room ready as a thread of a library does that has time; how many pieces. */
static int prepare_all(void)
{
	int pieces = 0;

	while (rtl_room_prepare())
		pieces++;
	return pieces;
}

/* Bytes of the process's files in its spool. */
static uint64_t spool_bytes(const struct rtl_collector *collector)
{
	char command[256], text[32] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "du -sB1 %s/rtl-spool-* | cut -f1",
		 rtl_collector_folder(collector));
	pipe = popen(command, "r");
	if (!pipe || !fgets(text, sizeof(text), pipe))
		_exit(3);
	pclose(pipe);
	return strtoull(text, NULL, 10);
}

/* Whether the spool has grown by a ring. */
static bool prepares_a_ring(const struct rtl_collector *collector)
{
	const uint64_t before = spool_bytes(collector);

	(void)prepare_all();
	return spool_bytes(collector) >= before + BIG_RING;
}

/* Some events more than what a ring holds. */
#define MORE_THAN_A_RING (BIG_RING / RECORD_BYTES + 100)

static void prepare_and_publish(const struct rtl_collector *collector)
{
	struct rtl_stream *stream = &rtl_stream_none;
	uint64_t next = 1, before;

	begin_publisher(collector, &stream);
	publish(stream, next++, 1);
	if (prepares_a_ring(collector)) /* nobody has filled one */
		_exit(4);
	publish(stream, next, MORE_THAN_A_RING);
	next += MORE_THAN_A_RING;
	if (!prepares_a_ring(collector))
		_exit(5);
	if (prepares_a_ring(collector)) /* one is enough */
		_exit(6);
	before = spool_bytes(collector);
	publish(stream, next, MORE_THAN_A_RING); /* to the end of its ring, and into the spare */
	if (spool_bytes(collector) >= before + BIG_RING)
		_exit(7);
	next += MORE_THAN_A_RING;
	/* half of one: the thread goes on in it */
	(void)rtl_room_prepare();
	publish(stream, next, 2 * MORE_THAN_A_RING);
	exit(0);
}

TEST_WITH(test_growth__room_is_prepared__next_ring_is_there, setup_in_memory)
{
	struct rtl_collector *collector;
	int status;
	pid_t pid;

	setenv("RTL_BUFFER_SIZE", "1M", 1);
	collector = own_collector(RTL_COLLECT, base, NULL);
	pid = fork();
	if (!pid)
		prepare_and_publish(collector);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	own_finish(collector);
	assert_int_equal(own.events, 1 + 4 * MORE_THAN_A_RING);
	assert_false(gap);
	assert_false(disorder);
	assert_int_equal(own.ledger.discarded, 0);
}

static uint32_t preparer_ends; /* relaxed: by and by */

static void *prepare_on(void *unused)
{
	while (!__atomic_load_n(&preparer_ends, __ATOMIC_RELAXED))
		if (!rtl_room_prepare())
			sched_yield();
	return unused;
}

/* Rings change hands as fast as they can: what is made ready is nobody's yet, so nothing is overwritten. */
TEST_WITH(test_growth__room_is_prepared_meanwhile__all_in_order, setup_in_memory)
{
	struct rtl_collector *collector = own_collector(RTL_COLLECT, base, NULL);
	struct rtl_stream *stream = &rtl_stream_none;
	pthread_t threads[2];
	int status;
	pid_t pid = fork();

	if (!pid) {
		begin_publisher(collector, &stream);
		for (int i = 0; i < 2; i++)
			if (pthread_create(&threads[i], NULL, prepare_on, NULL))
				_exit(1);
		publish(stream, 1, EVENTS);
		fork_and_go_on(stream);
		__atomic_store_n(&preparer_ends, 1, __ATOMIC_RELAXED);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		exit(0);
	}
	while (!waitpid(pid, &status, WNOHANG))
		rtl_collector_poll(collector, 1);
	assert_int_equal(status, 0);
	own_finish(collector);
	assert_int_equal(own.events, 3 * EVENTS);
	assert_int_equal(last, 2 * EVENTS);
	assert_int_equal(last_forked, FORKED + EVENTS);
	assert_false(gap);
	assert_false(disorder);
	assert_int_equal(own.ledger.discarded, 0);
}

/* How often a text is in what the publisher says. */
static int said(const char *text)
{
	char path[sizeof(base) + 8], line[1024];
	FILE *file;
	int n = 0;

	snprintf(path, sizeof(path), "%s/said", base);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		n += strstr(line, text) != NULL;
	fclose(file);
	return n;
}

static void forget_said(void)
{
	char path[sizeof(base) + 8];

	snprintf(path, sizeof(path), "%s/said", base);
	unlink(path);
}

/* From here on processes that begin write what they say to a file. */
static int keep_said(void)
{
	char path[sizeof(base) + 8];
	int before = dup(2);

	snprintf(path, sizeof(path), "%s/said", base);
	assert_non_null(freopen(path, "w", stderr));
	return before;
}

static void end_said(int before)
{
	fflush(stderr);
	dup2(before, 2);
	close(before);
}

TEST(test_growth__total_is_used_up_discard__said_once)
{
	int before;

	setenv("RTL_BUFFER_TOTAL", "129M", 1);
	setenv("RTL_BUFFER_POLICY", "discard", 1);
	before = keep_said();
	collect(false);
	end_said(before);
	assert_int_equal(said("are discarded and counted (RTL_BUFFER_POLICY)"), 1);
	forget_said();
}

/* The collector comes only when the process has waited for it. */
TEST(test_growth__total_is_used_up_wait__said_once)
{
	struct rtl_collector *collector = own_collector(RTL_COLLECT, base, NULL);
	const char *waits = "threads wait for the collector, process ";
	int before, status;
	pid_t pid;

	setenv("RTL_BUFFER_TOTAL", "129M", 1);
	before = keep_said();
	pid = fork();
	if (!pid)
		publisher(collector, false);
	end_said(before);
	for (int i = 0; i < 20000 && !said(waits); i++)
		usleep(1000);
	while (!waitpid(pid, &status, WNOHANG))
		rtl_collector_poll(collector, 1);
	assert_int_equal(status, 0);
	own_finish(collector);
	assert_int_equal(own.events, EVENTS);
	assert_int_equal(own.ledger.discarded, 0);
	assert_int_equal(said(waits), 1);
	forget_said();
}

TEST(test_growth__total_has_no_more__discarded_and_counted)
{
	setenv("RTL_BUFFER_TOTAL", "128M", 1);
	setenv("RTL_BUFFER_POLICY", "discard", 1);
	collect(false);
	assert_in_range(own.events, 1, RING / RECORD_BYTES);
}

/* A process that publishes for each byte that it is told, and tells when it has. */
struct told {
	pid_t pid;
	int go, done;
};

static struct told start_told(const struct rtl_collector *collector, uint64_t each)
{
	struct told told;
	int go[2], done[2];
	struct rtl_stream *stream = &rtl_stream_none;
	uint64_t first = 1;
	char byte;

	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(done), 0);
	told = (struct told){.pid = fork(), .go = go[1], .done = done[0]};
	if (told.pid) {
		close(go[0]);
		close(done[1]);
		return told;
	}
	if (dup2(go[0], 1022) != 1022 || dup2(done[1], 1023) != 1023)
		_exit(1);
	begin_publisher(collector, &stream);
	for (; read(1022, &byte, 1) == 1; first += each) {
		publish(stream, first, each);
		if (write(1023, "", 1) != 1)
			_exit(1);
	}
	exit(0);
}

static void tell(const struct told *told)
{
	char byte;

	assert_int_equal(write(told->go, "", 1), 1);
	assert_int_equal(read(told->done, &byte, 1), 1);
}

static void end_told(const struct told *told)
{
	int status;

	close(told->go);
	assert_int_equal(waitpid(told->pid, &status, 0), told->pid);
	assert_int_equal(status, 0);
	close(told->done);
}

/* Where the consumer gets on, rings that it has drained are used again. */
TEST(test_growth__consumer_comes_back__memory_does_not_grow_on)
{
	const uint64_t each = 10 * (RING / RECORD_BYTES); /* of 17 rings that it may have */
	struct rtl_collector *collector = own_collector(RTL_COLLECT, base, NULL);
	struct told told;

	setenv("RTL_BUFFER_TOTAL", "129M", 1);
	setenv("RTL_BUFFER_POLICY", "discard", 1);
	told = start_told(collector, each);
	for (uint64_t i = 1; i <= 40; i++) {
		tell(&told);
		while (own.events < i * each)
			rtl_collector_poll(collector, 10);
		rtl_collector_poll(collector, 0); /* gives rings back */
	}
	end_told(&told);
	own_finish(collector);
	assert_int_equal(own.ledger.discarded, 0);
	assert_int_equal(own.events, 40 * each);
	assert_false(gap);
}

/* The thread goes round through rings that are drained meanwhile. */
TEST(test_growth__consumer_beside_it__all_in_order)
{
	struct rtl_collector *collector = own_collector(RTL_COLLECT, base, NULL);
	pid_t pid = fork();

	if (!pid)
		publisher(collector, false);
	while (waitpid(pid, NULL, WNOHANG) != pid)
		rtl_collector_poll(collector, 0);
	own_finish(collector);
	assert_int_equal(own.events, EVENTS);
	assert_false(gap);
}

static uint64_t blocks_of(const char *folder)
{
	char command[256];
	uint64_t bytes = 0;
	FILE *out;

	snprintf(command, sizeof(command), "du -sB1 %s | cut -f1", folder);
	out = popen(command, "r");
	assert_non_null(out);
	assert_int_equal(fscanf(out, "%" SCNu64, &bytes), 1);
	pclose(out);
	return bytes;
}

static void poll_for_ms(struct rtl_collector *collector, int ms)
{
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += ms / 1000;
	do {
		rtl_collector_poll(collector, 20);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec ||
		 (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

TEST(test_growth__backlog_is_gone__memory_goes_back_and_comes_again)
{
	const uint64_t each = 30 * RING / RECORD_BYTES;
	struct rtl_collector *collector = own_collector(RTL_COLLECT, base, NULL);
	struct told told = start_told(collector, each);
	uint64_t full;

	tell(&told);
	full = blocks_of(base);
	for (int i = 1; i <= 3; i++) {
		poll_for_ms(collector, 3000);
		assert_int_equal(own.events, each * (uint64_t)i);
		assert_true(blocks_of(base) + 20 * RING < full);
		tell(&told);
		assert_true(blocks_of(base) + 5 * RING > full);
	}
	end_told(&told);
	own_finish(collector);
	assert_int_equal(own.events, 4 * each);
	assert_int_equal(own.ledger.discarded, 0);
	assert_false(gap);
}

/* What one process has, another one cannot have: together they have what RTL_BUFFER_TOTAL says. */
TEST(test_growth__several_processes__share_the_total)
{
	const uint64_t each = 60 * RING / RECORD_BYTES; /* far more than 16 */
	struct rtl_collector *collector;
	struct told told[4];
	uint64_t before;

	setenv("RTL_BUFFER_TOTAL", "129M", 1); /* 1M of further rings */
	setenv("RTL_BUFFER_POLICY", "discard", 1);
	collector = own_collector(RTL_COLLECT, base, NULL);
	for (int i = 0; i < 4; i++)
		told[i] = start_told(collector, i ? each : 1);
	tell(&told[0]);               /* a process that has one ring alone */
	poll_for_ms(collector, 1000); /* meets them: they have registered their stream */
	before = own.events;
	for (int i = 1; i < 4; i++)
		tell(&told[i]);
	for (int i = 0; i < 4; i++)
		end_told(&told[i]);
	own_finish(collector);
	assert_in_range(own.events - before, 3 * RING / RECORD_BYTES,
			(16 + 3 + 2) * RING / RECORD_BYTES);
}

TEST(test_growth__half_of_the_file_system__left_to_others)
{
	struct rtl_collector *collector;
	struct statfs fs;
	uint32_t left;

	if (mount("tmpfs", base, "tmpfs", 0, "size=4m")) {
		print_message("SKIPPED: no tmpfs can be mounted here (%s)\n", strerror(errno));
		skip();
	}
	setenv("RTL_BUFFER_POLICY", "discard", 1);
	collector = own_collector(RTL_COLLECT, base, NULL);
	run_publisher(collector, false);
	assert_int_equal(statfs(base, &fs), 0);
	rtl_collector_finish(collector, &left);
	rtl_collector_destroy(collector);
	assert_int_equal(umount(base), 0);
	assert_true((uint64_t)fs.f_bavail >= (uint64_t)fs.f_blocks * 3 / 8);
	assert_in_range(own.events, 2 * RING / RECORD_BYTES, EVENTS - 1);
	assert_int_equal(own.ledger.published, EVENTS);
	assert_int_equal(own.ledger.discarded, EVENTS - own.events);
	assert_false(disorder);
}

RUN_TESTS(setup, teardown, NULL, NULL)
