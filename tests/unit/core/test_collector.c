/* SPDX-License-Identifier: MIT */
/* The collector's parts that the command line builds on: waking, subscribers of the command's own,
 * looking at folders, processes that are left or dead without their parent's notice. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include <rtl/rtl.h>

#include "own_sub.h"
#include "unit.h"

static const struct rtl_type_info types[] = {
	{sizeof(types[0]), RTL_SIGNAL, 0, 0, 0, "signal", "", NULL},
};
static const struct rtl_stream_info info = {sizeof(info), 1, 0, "test.own", "", types, 1, 0};

static void (*at_first_events)(void);
static void (*while_delivered)(void); /* once */

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	void (*call)(void) = while_delivered;

	if (!own.events && at_first_events)
		at_first_events();
	own.events += count;
	while_delivered = NULL;
	if (call)
		call();
}

static char base[64];

static int setup(void **state)
{
	own_reset(info.name, on_events);
	strcpy(base, "/tmp/test_collector-XXXXXX");
	return mkdtemp(base) ? 0 : -1;
}

/* Fails if something was left there. */
static int teardown(void **state)
{
	return rmdir(base);
}

/* What it has under way; of that as much ends as it publishes signals, or less. */
#define PENDING       12
#define PENDING_ENDED 9

static struct rtl_pending *pending, *more_pending; /* of the same cause */

static void release_pending(void)
{
	rtl_pending_release(pending);
	rtl_pending_release(more_pending);
}

static struct rtl_stream *stream = &rtl_stream_none;

static void publish(int count)
{
	for (int i = 0; i < count; i++) {
		struct rtl_record *record = rtl_reserve(stream, RTL_SIGNAL, 0);
		if (record)
			rtl_commit(record);
	}
}

static void wait_until_told(const int ends[2])
{
	char byte;

	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
}

/* What happens in a traced process: publishes, tells the parent, which waits for that, then does `end`. */
static pid_t start_process(const struct rtl_collector *collector, int count, void (*end)(void))
{
	int ends[2], tell;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid) {
		wait_until_told(ends);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	tell = dup2(ends[1], 3);
	close_range(4, ~0u, 0); /* the collector's lock too, as an exec does */
	setenv("RTL_COLLECTOR", rtl_collector_folder(collector), 1);
	if (rtl_stream_register(&info, &stream))
		_exit(1);
	pending = rtl_stream_pending(stream, "cut off");
	more_pending = rtl_stream_pending(stream, "cut off");
	rtl_pending_begin(pending, PENDING - 1);
	rtl_pending_begin(more_pending, 1);
	publish(count);
	rtl_pending_end(pending, PENDING_ENDED);
	if (write(tell, "", 1) != 1)
		_exit(1);
	end();
	_exit(0);
}

static void end_at_once(void)
{
}

static void end_never(void)
{
	for (;;)
		pause();
}

static void end_by_kill(void)
{
	raise(SIGKILL);
}

#define LATE 100

static void stop_and_publish_more(void)
{
	struct rtl_stream *more = &rtl_stream_none;

	raise(SIGSTOP);
	rtl_stream_register(&info, &more);
	for (int i = 0; i < LATE; i++) {
		struct rtl_record *record = rtl_reserve(more, RTL_SIGNAL, 0);
		if (record)
			rtl_commit(record);
	}
	raise(SIGKILL);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All of one process, which has ended when it is looked at. */
static void collect_one(int count, void (*end)(void))
{
	struct rtl_collector *collector = own_collector(RTL_COLLECT, base, NULL);
	pid_t pid = start_process(collector, count, end);

	assert_int_equal(waitpid(pid, NULL, 0), pid);
	rtl_collector_poll(collector, 0);
	own_finish(collector);
}

static pid_t late_one;

/* The process publishes more and dies, all within a pass that takes longer than passes may. */
static void let_it_publish_more(void)
{
	const struct timespec longer_than_a_pass = {.tv_nsec = 200000000};

	kill(late_one, SIGCONT);
	assert_int_equal(waitpid(late_one, NULL, 0), late_one);
	nanosleep(&longer_than_a_pass, NULL);
}

/* The pass is interrupted where all that it had begun with was delivered. */
TEST(test_collector__published_in_a_pass_and_died__delivered)
{
	struct rtl_collector *collector = own_collector(RTL_COLLECT, base, NULL);
	const int batch = 512; /* as the host hands over at once */

	late_one = start_process(collector, batch, stop_and_publish_more);
	assert_int_equal(waitpid(late_one, NULL, WUNTRACED), late_one);
	while_delivered = let_it_publish_more;
	rtl_collector_poll(collector, 0);
	own_finish(collector);
	assert_int_equal(own.events, batch + LATE);
	assert_int_equal(own.ledger.delivered, batch + LATE);
	assert_int_equal(own.ledger.abandoned, 0);
}

TEST(test_collector__own_subscriber_and_no_list__gets_all)
{
	collect_one(1000, end_at_once);
	assert_int_equal(own.events, 1000);
	assert_int_equal(own.ledger.published, 1000);
	assert_int_equal(own.ledger.delivered, 1000);
	assert_int_equal(own.ledger.missed, PENDING - PENDING_ENDED);
	assert_int_equal(own.losses, PENDING - PENDING_ENDED);
	assert_int_equal(own.causes, 1);
	assert_string_equal(own.cause, "cut off");
	assert_int_equal(own.begun, 1);
	assert_int_equal(own.ended, 1);
	assert_int_equal(own.finished, 1);
}

/* Events that a subscriber gets at once, and longer than a pass goes on without a flush. */
#define BATCH   512
#define PASS_MS 60

static pid_t process;

static void end_with_more(void)
{
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (!sigwait(&set, &number))
		publish(1000);
}

/* It has published more, and is gone, when its first batch has been delivered. */
static void let_it_end(void)
{
	kill(process, SIGUSR1);
	assert_int_equal(waitpid(process, NULL, 0), process);
	nanosleep(&(struct timespec){0, PASS_MS * 1000000L}, NULL);
}

/* A pass that is cut short where nothing of it is left is not the last one. */
TEST(test_collector__slow_batch_is_all_of_a_pass__rest_is_delivered)
{
	struct rtl_collector *collector = own_collector(RTL_COLLECT, base, NULL);
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &before);
	process = start_process(collector, BATCH, end_with_more);
	sigprocmask(SIG_SETMASK, &before, NULL);
	at_first_events = let_it_end;
	rtl_collector_poll(collector, 0);
	at_first_events = NULL;
	own_finish(collector);
	assert_int_equal(own.events, BATCH + 1000);
	assert_int_equal(own.ledger.delivered, BATCH + 1000);
}

TEST(test_collector__process_is_killed__what_was_under_way_is_missed)
{
	collect_one(10, end_by_kill);
	assert_int_equal(own.events, 10);
	assert_int_equal(own.ledger.published, 10);
	assert_int_equal(own.ledger.missed, PENDING - PENDING_ENDED);
	assert_int_equal(own.losses, PENDING - PENDING_ENDED);
	assert_int_equal(own.causes, 1);
}

TEST(test_collector__under_way_and_given_back__not_missed)
{
	collect_one(10, release_pending);
	assert_int_equal(own.ledger.published, 10);
	assert_int_equal(own.ledger.missed, 0);
	assert_int_equal(own.losses, 0);
}

TEST(test_collector__killed_and_not_reaped__counts_as_dead)
{
	struct rtl_collector *collector = own_collector(RTL_COLLECT, base, NULL);
	siginfo_t end;
	pid_t pid = start_process(collector, 10, end_by_kill);

	assert_int_equal(waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT), 0);
	own_finish(collector);
	waitpid(pid, NULL, 0);
	assert_int_equal(own.events, 10);
}

TEST(test_collector__process_outlives_it__counted_and_nothing_left)
{
	struct rtl_collector *collector = own_collector(RTL_COLLECT, base, NULL);
	uint32_t left;
	pid_t pid = start_process(collector, 10, end_never);

	rtl_collector_finish(collector, &left);
	rtl_collector_destroy(collector);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(left, 1);
	assert_int_equal(own.events, 10);
	assert_int_equal(own.ledger.missed, 0); /* it is under way still */
}

static struct rtl_collector *finishing;
static pid_t begun_late;

/* One that has been told to stop ends before all is delivered, and another one begins. */
static void let_one_end_and_one_begin(void)
{
	kill(process, SIGKILL);
	assert_int_equal(waitpid(process, NULL, 0), process);
	begun_late = start_process(finishing, 10, end_never);
}

TEST(test_collector__processes_end_and_begin_while_it_finishes__counted)
{
	uint32_t left;

	finishing = own_collector(RTL_COLLECT, base, NULL);
	process = start_process(finishing, 10, end_never);
	while_delivered = let_one_end_and_one_begin;
	rtl_collector_finish(finishing, &left);
	rtl_collector_destroy(finishing);
	kill(begun_late, SIGKILL);
	waitpid(begun_late, NULL, 0);
	assert_int_equal(own.events, 10);
	assert_int_equal(left, 2);
}

/* As `rtl stop` does as soon as it finds the folder. */
static void stop_it(void)
{
	char path[PATH_MAX], message[512] = "";
	struct dirent *entry;
	DIR *dir = opendir(base);
	int stopped = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", base, entry->d_name);
		if (rtl_collector_set_paused(path, true, message, sizeof(message)))
			fail_msg("%s", message);
		stopped++;
	}
	closedir(dir);
	assert_int_equal(stopped, 1);
}

TEST(test_collector__stopped_while_it_starts__stays_so)
{
	struct rtl_collector *collector;
	pid_t pid;

	own.while_created = stop_it;
	collector = own_collector(RTL_COLLECT, base, NULL);
	own.while_created = NULL;
	pid = start_process(collector, 10, end_at_once);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	own_finish(collector);
	assert_int_equal(own.begun, 1);
	assert_int_equal(own.events, 0);
}

static void on_alarm(int number)
{
}

TEST(test_collector__woken__next_sleep_ends_at_once)
{
	struct rtl_collector *collector = own_collector(RTL_COLLECT, base, NULL);
	double begin;

	signal(SIGALRM, on_alarm); /* would end the sleep, far too late */
	alarm(20);
	rtl_collector_wake(collector);
	begin = seconds();
	rtl_collector_poll(collector, 60000);
	assert_true(seconds() - begin < 15);
	alarm(0);
	/* and only that one */
	begin = seconds();
	rtl_collector_poll(collector, 50);
	assert_true(seconds() - begin > 0.045);
	own_finish(collector);
}

static void check_folder(const char *path, uint32_t kind, uint32_t in_use, pid_t pid)
{
	struct rtl_folder folder = {.struct_size = sizeof(folder)};

	assert_int_equal(rtl_folder_look(path, &folder), 0);
	assert_int_equal(folder.kind, kind);
	assert_int_equal(folder.in_use, in_use);
	assert_int_equal(folder.pid, pid);
}

static void check_busy(const char *path)
{
	struct rtl_collector *collector = NULL;
	char message[512] = "";

	assert_int_equal(own_try(RTL_RECOVER, path, NULL, &collector, message, sizeof(message)),
			 RTL_EBUSY);
	assert_non_null(strstr(message, path));
}

/* Also for whom the struct has no room for it: another version's program. */
static void check_program(const char *spool)
{
	struct rtl_folder look = {.struct_size = sizeof(look)};

	assert_int_equal(rtl_folder_look(spool, &look), 0);
	assert_string_equal(look.program, program_invocation_short_name);
	look = (struct rtl_folder){.struct_size = offsetof(struct rtl_folder, program),
				   .program = "untouched"};
	assert_int_equal(rtl_folder_look(spool, &look), 0);
	assert_int_equal(look.kind, RTL_FOLDER_SPOOL);
	assert_string_equal(look.program, "untouched");
	look.struct_size--;
	assert_int_equal(rtl_folder_look(spool, &look), RTL_EINVAL);
}

/* The one spool in a collector's folder. */
static void find_spool(const char *folder, char *path, size_t size)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	*path = '\0';
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			snprintf(path, size, "%s/%s", folder, entry->d_name);
	}
	closedir(dir);
	assert_int_not_equal(*path, '\0');
}

TEST(test_folder__collector_dies__recovered_and_removed)
{
	struct rtl_collector *collector = own_collector(RTL_COLLECT, base, NULL);
	char folder[256], spool[1024];
	struct rtl_folder none = {.struct_size = sizeof(none)};
	pid_t pid;

	snprintf(folder, sizeof(folder), "%s", rtl_collector_folder(collector));
	check_folder(base, RTL_FOLDER_OTHER, 0, 0);
	check_folder(folder, RTL_FOLDER_COLLECTOR, 1, getpid());
	check_busy(folder);
	pid = start_process(collector, 100, end_never);
	find_spool(folder, spool, sizeof(spool));
	check_folder(spool, RTL_FOLDER_SPOOL, 1, pid);
	check_program(spool);
	rtl_collector_destroy(collector); /* as if it had died */
	assert_int_equal(own.destroyed, 1);
	assert_int_equal(own.finished, 0);
	check_folder(folder, RTL_FOLDER_COLLECTOR, 0, getpid());
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	check_folder(spool, RTL_FOLDER_SPOOL, 0, pid);

	collector = own_collector(RTL_INSPECT, folder, NULL);
	own_finish(collector);
	assert_int_equal(own.events, 0);
	assert_int_equal(own.ledger.published, 100);
	assert_int_equal(own.ledger.delivered, 0);
	assert_int_equal(own.ledger.abandoned, 100);

	collector = own_collector(RTL_REPLAY, folder, NULL);
	own_finish(collector);
	assert_int_equal(own.events, 100);
	collector = own_collector(RTL_RECOVER, folder, NULL);
	check_busy(folder);
	own_finish(collector);
	assert_int_equal(own.events, 200);
	assert_int_equal(rtl_folder_look(folder, &none), RTL_ENOENT);
	assert_int_equal(own.destroyed, 4);
	assert_int_equal(own.finished, 3);
}

RUN_TESTS(setup, teardown, NULL, NULL)
