/* SPDX-License-Identifier: MIT */
/* What has begun and not ended when a process ends (rtl_open_reserve): an event then, once, from every way in which a
 * process can end and be read. A child does what a test says; the reader is a subscriber of our own. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include <rtl/rtl.h>

#include "own_sub.h"
#include "unit.h"

#define KEPT 22u /* of a thread, at a time */

struct payload {
	uint64_t begin_ns;
	uint64_t tid;
};

static const struct rtl_field fields[] = {
	{sizeof(struct rtl_field), RTL_KIND_TIME, 0, 0, 8, "begin_ns", "ns", ""},
	{sizeof(struct rtl_field), RTL_KIND_UINT, 0, 8, 8, "tid", "", ""},
};
static const struct rtl_type_info types[] = {
	{sizeof(types[0]), RTL_REGION_END, 2, sizeof(struct payload), 0, "end", "", fields},
	{sizeof(types[0]), RTL_REGION_UNFINISHED, 2, sizeof(struct payload), 0, "unfinished", "",
	 fields},
};
static const struct rtl_stream_info info = {sizeof(info), 1, 0, "test.open", "", types, 2, 0};

/* ---- the reader */

#define NUMBERS (1u << 22)

static struct {
	uint64_t ended, unfinished;
	uint64_t begin_ns, time_ns; /* of the last unfinished one */
	uint64_t tid;
	uint8_t times[NUMBERS]; /* how often each instance came */
} seen;

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct payload *payload = events[i]->payload;

		seen.times[events[i]->instance % NUMBERS]++;
		if (events[i]->type == RTL_REGION_END) {
			seen.ended++;
			continue;
		}
		assert_int_equal(events[i]->type, RTL_REGION_UNFINISHED);
		seen.unfinished++;
		seen.begin_ns = payload->begin_ns;
		seen.tid = payload->tid;
		seen.time_ns = events[i]->time_ns;
	}
}

static void reset(void)
{
	memset(&seen, 0, sizeof(seen));
	own_reset(info.name, on_events);
}

/* ---- the program */

static struct rtl_stream *stream = &rtl_stream_none;

/* What the child tells its parent, in memory that both have. */
static struct {
	uint64_t begun; /* numbers up to here have been opened, one more perhaps */
	uint32_t ready;
	uint32_t tid;
} * told;

static uint32_t begin(uint64_t instance)
{
	uint32_t open;
	struct rtl_record *record =
		rtl_open_reserve(stream, RTL_REGION_UNFINISHED, sizeof(struct payload), &open);
	struct payload *payload;

	if (!record)
		return open;
	record->instance = instance;
	payload = rtl_record_payload(record);
	payload->begin_ns = rtl_clock_ns();
	payload->tid = rtl_thread_id();
	rtl_open_commit(record);
	return open;
}

static void end(uint64_t instance, uint32_t open)
{
	struct rtl_record *record = rtl_reserve(stream, RTL_REGION_END, sizeof(struct payload));

	if (!record) {
		rtl_open_close(stream, open, instance);
		return;
	}
	record->instance = instance;
	memset(rtl_record_payload(record), 0, sizeof(struct payload));
	rtl_commit_end(record, stream, open, instance);
}

static void open_one_and_die(void)
{
	end(1, begin(1));
	begin(2);
	raise(SIGKILL);
}

static void open_none_and_die(void)
{
	const uint32_t outer = begin(1), inner = begin(2);

	end(2, inner);
	rtl_open_close(stream, outer, 1);
	raise(SIGKILL);
}

static void open_too_many_and_die(void)
{
	uint32_t open[KEPT + 5];

	for (uint32_t i = 0; i < KEPT + 5; i++)
		open[i] = begin(i + 1);
	end(KEPT + 5, open[KEPT + 4]);
	end(1, open[0]); /* makes room for another one */
	begin(KEPT + 6);
	raise(SIGKILL);
}

static void *close_it(void *open)
{
	rtl_open_close(stream, *(uint32_t *)open, 1);
	return NULL;
}

static void close_on_another_thread_and_die(void)
{
	uint32_t open = begin(1);
	pthread_t thread;

	if (pthread_create(&thread, NULL, close_it, &open) || pthread_join(thread, NULL))
		_exit(3);
	begin(2);
	raise(SIGKILL);
}

static void *open_and_stay(void *unused)
{
	told->tid = rtl_thread_id();
	begin(1);
	__atomic_store_n(&told->ready, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
	return NULL;
}

static void exit_while_another_thread_is_inside(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, open_and_stay, NULL))
		_exit(3);
	while (!__atomic_load_n(&told->ready, __ATOMIC_ACQUIRE))
		usleep(100);
	exit(0);
}

static void *open_and_leave(void *unused)
{
	begin(1);
	return NULL;
}

static void exit_after_the_thread_has_ended(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, open_and_leave, NULL) || pthread_join(thread, NULL))
		_exit(3);
	begin(2); /* in that thread's ring, maybe */
	raise(SIGKILL);
}

/* A child has what its parent had open: closing it is nothing there, and the parent's stays. */
static void fork_inside_and_die(void)
{
	uint32_t open[KEPT + 1];
	int status;
	pid_t pid;

	for (uint32_t i = 0; i <= KEPT; i++)
		open[i] = begin(i + 1);
	pid = fork();
	if (!pid) {
		for (uint32_t i = 0; i <= KEPT; i++)
			rtl_open_close(stream, open[i], i + 1);
		end(1000, begin(1000)); /* starts the child's bus */
		for (uint32_t i = 0; i <= KEPT; i++)
			rtl_open_close(stream, open[i], i + 1);
		begin(1001);
		raise(SIGKILL);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		_exit(3);
	raise(SIGKILL);
}

static void end_one_after_the_other(void)
{
	for (uint64_t i = 1; i < NUMBERS; i++) {
		__atomic_store_n(&told->begun, i, __ATOMIC_RELAXED);
		end(i, begin(i));
		if (i == 1000)
			__atomic_store_n(&told->ready, 1, __ATOMIC_RELEASE);
	}
	_exit(4);
}

/* ---- steps */

static char base[64], recording[80];

static int setup(void **state)
{
	reset();
	memset(told, 0, sizeof(*told));
	strcpy(base, "/tmp/test_open-XXXXXX");
	if (!mkdtemp(base))
		return -1;
	snprintf(recording, sizeof(recording), "%s/recording", base);
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", base);
	return system(command);
}

static pid_t run(void (*program)(void))
{
	const pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close_range(3, ~0u, 0); /* the collector's lock too, as an exec does */
	if (rtl_stream_register(&info, &stream))
		_exit(1);
	program();
	_exit(0);
}

static void await(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : !WEXITSTATUS(status));
}

/* The program, under a collector of that kind. */
static void run_collected(uint32_t kind, void (*program)(void))
{
	struct rtl_collector *collector = own_collector(kind, base, recording);

	setenv("RTL_COLLECTOR", rtl_collector_folder(collector), 1);
	await(run(program));
	unsetenv("RTL_COLLECTOR");
	own_finish(collector);
}

static void collect(void (*program)(void))
{
	run_collected(RTL_COLLECT, program);
	assert_int_equal(own.ledger.published, own.ledger.delivered);
}

static void replay(void)
{
	own_finish(own_collector(RTL_REPLAY, recording, NULL));
	assert_int_equal(own.ledger.published, own.ledger.delivered);
}

static void record_and_replay(void (*program)(void))
{
	run_collected(RTL_RECORD, program);
	replay();
}

/* ---- tests */

TEST(test_open__process_is_killed__delivered_once_with_its_begin)
{
	const uint64_t before = rtl_clock_ns();

	collect(open_one_and_die);
	assert_int_equal(seen.ended, 1);
	assert_int_equal(seen.unfinished, 1);
	assert_int_equal(seen.times[2], 1);
	assert_true(seen.begin_ns >= before && seen.begin_ns <= rtl_clock_ns());
	assert_true(seen.time_ns >= before && seen.time_ns <= rtl_clock_ns() + 1000000);
	assert_int_equal(own.ledger.published, 2);
	assert_int_equal(own.ledger.missed, 0);
}

TEST(test_open__all_closed__nothing)
{
	collect(open_none_and_die);
	assert_int_equal(seen.ended, 1);
	assert_int_equal(seen.unfinished, 0);
	assert_int_equal(own.ledger.published, 1);
	assert_int_equal(own.ledger.missed, 0);
}

TEST(test_open__more_than_a_thread_keeps__others_are_missed)
{
	collect(open_too_many_and_die);
	assert_int_equal(seen.ended, 2);
	assert_int_equal(seen.unfinished, KEPT);
	assert_int_equal(seen.times[KEPT + 6], 1);
	assert_int_equal(own.ledger.missed, 4);
	assert_string_equal(own.cause, "open when the process ended, and not recorded");
}

TEST(test_open__closed_on_another_thread__not_delivered)
{
	collect(close_on_another_thread_and_die);
	assert_int_equal(seen.unfinished, 1);
	assert_int_equal(seen.times[2], 1);
}

TEST(test_open__process_exits_in_order__handed_in)
{
	collect(exit_while_another_thread_is_inside);
	assert_int_equal(seen.unfinished, 1);
	assert_int_equal(seen.tid, told->tid);
	assert_int_equal(own.ledger.missed, 0);
}

TEST(test_open__thread_has_ended__delivered_at_the_end)
{
	collect(exit_after_the_thread_has_ended);
	assert_int_equal(seen.unfinished, 2);
	assert_int_equal(seen.times[1], 1);
	assert_int_equal(seen.times[2], 1);
}

TEST(test_open__fork__each_process_has_its_own)
{
	collect(fork_inside_and_die);
	assert_int_equal(seen.unfinished, KEPT + 1);
	for (uint32_t i = 1; i <= KEPT; i++)
		assert_int_equal(seen.times[i], 1);
	assert_int_equal(seen.times[1001], 1);
	assert_int_equal(own.ledger.missed, 1);
}

TEST(test_open__recorded__replayed_once_each_time)
{
	record_and_replay(open_one_and_die);
	assert_int_equal(seen.ended, 1);
	assert_int_equal(seen.unfinished, 1);
	replay();
	assert_int_equal(seen.unfinished, 2);
	assert_int_equal(seen.times[2], 2);
}

/* The collector dies with its process: whoever reads what is left finds it, but only once. */
TEST(test_open__collector_died__recovered_once)
{
	struct rtl_collector *collector;
	int ends[2], status;
	char folder[128];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		collector = own_collector(RTL_COLLECT, base, NULL);
		setenv("RTL_COLLECTOR", rtl_collector_folder(collector), 1);
		waitpid(run(open_one_and_die), &status, 0);
		dprintf(ends[1], "%s", rtl_collector_folder(collector));
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	status = (int)read(ends[0], folder, sizeof(folder) - 1);
	assert_true(status > 0);
	folder[status] = '\0';
	close(ends[0]);
	close(ends[1]);
	own_finish(own_collector(RTL_RECOVER, folder, NULL));
	assert_int_equal(seen.ended, 1);
	assert_int_equal(seen.unfinished, 1);
	assert_int_equal(own.ledger.published, own.ledger.delivered);
}

/* Wherever the kill comes: each number has ended, or is unfinished, once; but the last, which may not have begun. */
TEST(test_open__killed_anywhere__each_once)
{
	for (long nap_ns = 1000; nap_ns < 2000000; nap_ns += nap_ns / 2 + 1) {
		const struct timespec nap = {.tv_nsec = nap_ns};
		struct rtl_collector *collector;
		uint64_t begun;
		pid_t pid;

		reset();
		memset(told, 0, sizeof(*told));
		collector = own_collector(RTL_COLLECT, base, NULL);
		setenv("RTL_COLLECTOR", rtl_collector_folder(collector), 1);
		pid = run(end_one_after_the_other);
		while (!__atomic_load_n(&told->ready, __ATOMIC_ACQUIRE))
			rtl_collector_poll(collector, 1);
		nanosleep(&nap, NULL);
		kill(pid, SIGKILL);
		await(pid);
		unsetenv("RTL_COLLECTOR");
		own_finish(collector);
		begun = told->begun;
		assert_int_equal(own.ledger.missed, 0);
		assert_true(seen.unfinished <= 1);
		assert_true(seen.ended + seen.unfinished >= begun - 1);
		for (uint64_t i = 1; i < begun; i++)
			assert_int_equal(seen.times[i], 1);
		assert_true(seen.times[begun] <= 1);
	}
}

static int share_memory(void **state)
{
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return told == MAP_FAILED;
}

RUN_TESTS(setup, teardown, share_memory, NULL)
