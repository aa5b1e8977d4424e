/* SPDX-License-Identifier: MIT */
/* Recording without subscribers, and replaying: rtl_collector with RTL_RECORD, RTL_REPLAY and RTL_RECORD_RECOVER. A
 * child publishes numbered events of two threads; the replay checks that each is there once and in order. */

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <rtl/collector.h>
#include <rtl/rtl.h>

#include "own_sub.h"
#include "unit.h"

#define THREADS 2
#define EVENTS  100000u
/* In segments: see core/format/ring.h. */
#define SEGMENT_HEADER 12288u
#define RECORD_BYTES   (48u + 8u)

struct payload {
	uint32_t thread;
	uint32_t number;
};

static const struct rtl_field fields[] = {
	{sizeof(struct rtl_field), RTL_KIND_UINT, 0, 0, 4, "thread", "", "which"},
	{sizeof(struct rtl_field), RTL_KIND_UINT, 0, 4, 4, "number", "count", "from 0"},
};
static const struct rtl_type_info types[] = {{sizeof(struct rtl_type_info), RTL_TASK_END, 2,
					      sizeof(struct payload), 0, "task_end", "one",
					      fields}};
static const struct rtl_stream_info info = {sizeof(info), 1,     0, "test.recorder",
					    "numbers",    types, 1, 0};

/* ---- the program */

static struct rtl_stream *stream = &rtl_stream_none;

static void *publish(void *arg)
{
	uint32_t thread = (uint32_t)(uintptr_t)arg, i;

	for (i = 0; i < EVENTS; i++) {
		struct rtl_record *record =
			rtl_reserve(stream, RTL_TASK_END, sizeof(struct payload));

		if (!record)
			continue;
		*(struct payload *)rtl_record_payload(record) = (struct payload){thread, i};
		rtl_commit(record);
	}
	return NULL;
}

enum how { ENDS, IS_KILLED, CLOSES_DESCRIPTORS };

static char victim[96]; /* a folder that is none of ours */

/* Closes all descriptors, ours too, and has others under their numbers. */
static void close_descriptors(void)
{
	close_range(3, ~0u, 0);
	for (int i = 0; i < 40; i++)
		if (open(victim, O_RDONLY | O_DIRECTORY) < 0)
			_exit(8);
}

/* Publishes and ends; by SIGKILL, when all has been published, if it IS_KILLED. */
static void program(const char *collector, enum how how)
{
	pthread_t threads[THREADS];
	uint64_t id;
	char text[64];

	setenv("RTL_COLLECTOR", collector, 1);
	if (rtl_stream_register(&info, &stream))
		_exit(9);
	if (how == CLOSES_DESCRIPTORS)
		close_descriptors();
	for (uintptr_t i = 0; i < 10000; i++) { /* more than the dictionary begins with */
		snprintf(text, sizeof(text), "string %d", (int)i);
		if (rtl_string_intern(text, &id))
			_exit(7);
	}
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, publish, (void *)i);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (how == IS_KILLED)
		raise(SIGKILL);
	exit(0);
}

/* ---- the reader: a subscriber of our own */

static uint32_t next_number[THREADS], gaps;

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct payload *p = events[i]->payload;

		assert_true(p->thread < THREADS);
		assert_true(p->number >= next_number[p->thread]); /* no event twice */
		gaps += p->number - next_number[p->thread];
		next_number[p->thread] = p->number + 1;
		own.events++;
	}
}

/* ---- steps */

struct scratch {
	char base[64];
	char spools[80];
	char recording[80];
};

static int setup(void **state)
{
	struct scratch *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	strcpy(s->base, "/tmp/rtl-test-recorder-XXXXXX");
	assert_non_null(mkdtemp(s->base));
	snprintf(s->spools, sizeof(s->spools), "%s/spools", s->base);
	snprintf(s->recording, sizeof(s->recording), "%s/recording", s->base);
	snprintf(victim, sizeof(victim), "%s/victim", s->base);
	assert_int_equal(mkdir(s->spools, 0700), 0);
	assert_int_equal(mkdir(victim, 0700), 0);
	memset(next_number, 0, sizeof(next_number));
	gaps = 0;
	own_reset(info.name, on_events);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scratch *s = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", s->base);
	assert_int_equal(system(command), 0);
	free(s);
	return 0;
}

static struct rtl_collector *start(const struct scratch *s, uint32_t kind, const char *folder)
{
	return own_collector(kind, folder, s->recording);
}

/* Runs the program under a recorder; returns its status. */
static int record(const struct scratch *s, struct rtl_collector *collector, enum how how)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		program(rtl_collector_folder(collector), how);
	while (!waitpid(pid, &status, WNOHANG))
		rtl_collector_poll(collector, 5);
	return status;
}

static void replay(const struct scratch *s)
{
	own_finish(own_collector(RTL_REPLAY, s->recording, NULL));
	assert_int_equal(own.ledger.published,
			 own.ledger.delivered + own.ledger.discarded + own.ledger.abandoned);
}

static void assert_everything_seen(void)
{
	assert_int_equal(own.events, THREADS * EVENTS);
	assert_int_equal(gaps, 0);
	assert_int_equal(own.ledger.published, THREADS * EVENTS);
	assert_int_equal(own.ledger.delivered, THREADS * EVENTS);
}

/* ---- tests */

TEST_OF(test_recorder__program_ends__replay_has_each_event_once, struct scratch *s)
{
	struct rtl_collector *collector = start(s, RTL_RECORD, s->spools);

	assert_int_equal(record(s, collector, ENDS), 0);
	own_finish(collector);
	assert_int_equal(rmdir(s->spools), 0); /* nothing is left there */
	replay(s);
	assert_everything_seen();
}

TEST_OF(test_recorder__replayed_twice__same_both_times, struct scratch *s)
{
	struct rtl_collector *collector = start(s, RTL_RECORD, s->spools);

	assert_int_equal(record(s, collector, ENDS), 0);
	own_finish(collector);
	replay(s);
	memset(next_number, 0, sizeof(next_number));
	own.events = 0;
	replay(s);
	assert_everything_seen();
}

TEST_OF(test_recorder__program_killed__replay_has_each_event_once, struct scratch *s)
{
	struct rtl_collector *collector = start(s, RTL_RECORD, s->spools);

	assert_int_equal(record(s, collector, IS_KILLED), SIGKILL);
	own_finish(collector);
	replay(s);
	assert_everything_seen();
}

TEST_OF(test_recorder__program_closes_all_descriptors__nothing_lost_nothing_of_its_own_touched,
	struct scratch *s)
{
	struct rtl_collector *collector = start(s, RTL_RECORD, s->spools);

	assert_int_equal(record(s, collector, CLOSES_DESCRIPTORS), 0);
	own_finish(collector);
	assert_int_equal(rmdir(victim), 0); /* still empty */
	replay(s);
	assert_everything_seen();
}

TEST_OF(test_recorder__bound__oldest_events_go_and_are_counted, struct scratch *s)
{
	struct rtl_collector *collector;

	setenv("RTL_BUFFER_SIZE", "64K", 1);
	setenv("RTL_BUFFER_TOTAL", "128M", 1);
	own.limit_bytes = 1000000;
	collector = start(s, RTL_RECORD, s->spools);
	assert_int_equal(record(s, collector, ENDS), 0);
	unsetenv("RTL_BUFFER_SIZE");
	unsetenv("RTL_BUFFER_TOTAL");
	own_finish(collector);
	replay(s);
	assert_true(own.events > 0 && own.events < THREADS * EVENTS);
	assert_int_equal(own.ledger.published, THREADS * EVENTS);
	assert_int_equal(own.ledger.delivered, own.events);
	assert_int_equal(own.ledger.discarded, THREADS * EVENTS - own.events);
	/* what is there is the end */
	assert_int_equal(next_number[0] > next_number[1] ? next_number[0] : next_number[1], EVENTS);
}

/* Bytes of records in the recording. */
static uint64_t recorded_bytes(const struct scratch *s)
{
	char pattern[128];
	uint64_t sum = 0;
	struct stat st;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/rtl-spool-*/segment-*", s->recording);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		assert_int_equal(stat(found.gl_pathv[i], &st), 0);
		sum += (uint64_t)st.st_size - SEGMENT_HEADER;
	}
	globfree(&found);
	return sum;
}

TEST_OF(test_recorder__bound_below_a_segment__kept_to_and_not_empty, struct scratch *s)
{
	struct rtl_collector *collector;

	own.limit_bytes = 100000;
	collector = start(s, RTL_RECORD, s->spools);

	assert_int_equal(record(s, collector, ENDS), 0);
	own_finish(collector);
	assert_in_range(recorded_bytes(s), 70000, 100000);
	replay(s);
	assert_int_equal(own.events, recorded_bytes(s) / RECORD_BYTES);
	assert_int_equal(own.ledger.published, THREADS * EVENTS);
	assert_int_equal(own.ledger.delivered, own.events);
	assert_int_equal(own.ledger.discarded, THREADS * EVENTS - own.events);
}

TEST_OF(test_recorder__spool_disk_full__no_filler_and_all_counted, struct scratch *s)
{
	struct rtl_collector *collector;

	if (mount("tmpfs", s->spools, "tmpfs", 0, "size=2m")) {
		print_message("SKIPPED: no tmpfs can be mounted here (%s)\n", strerror(errno));
		skip();
	}
	collector = start(s, RTL_RECORD, s->spools);
	assert_int_equal(record(s, collector, ENDS), 0);
	own_finish(collector);
	assert_int_equal(umount(s->spools), 0);
	assert_int_equal(rmdir(s->spools), 0);
	replay(s);
	assert_true(own.events > 0);
	assert_int_equal(recorded_bytes(s), (uint64_t)own.events * RECORD_BYTES);
	assert_int_equal(own.ledger.published, THREADS * EVENTS);
	assert_int_equal(own.ledger.delivered, own.events);
	assert_int_equal(own.ledger.discarded, THREADS * EVENTS - own.events);
	assert_int_equal(own.ledger.abandoned, 0);
}

/* A recorder that dies at once; the program goes on without it. */
static void recorder_that_dies(const struct scratch *s, int fd)
{
	struct rtl_collector *collector = start(s, RTL_RECORD, s->spools);
	const char *folder = rtl_collector_folder(collector);
	pid_t pid;

	if (write(fd, folder, strlen(folder) + 1) < 0)
		_exit(1);
	pid = fork();
	if (!pid) { /* as exec does: the recorder's lock is not the program's */
		close_range(3, ~0u, 0);
		program(folder, ENDS);
	}
	for (int i = 0; i < 3; i++)
		rtl_collector_poll(collector, 5);
	raise(SIGKILL);
}

TEST_OF(test_recorder__recorder_killed__recovered_without_gaps_or_twins, struct scratch *s)
{
	char folder[4096] = "";
	int fds[2], status;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* of the program, too */
	setenv("RTL_BUFFER_SIZE", "64K", 1);
	setenv("RTL_BUFFER_TOTAL", "128M", 1);
	pid = fork();
	if (!pid)
		recorder_that_dies(s, fds[1]);
	close(fds[1]);
	assert_true(read(fds[0], folder, sizeof(folder)) > 0);
	close(fds[0]);
	waitpid(pid, &status, 0);
	while (wait(NULL) > 0)
		;
	unsetenv("RTL_BUFFER_SIZE");
	unsetenv("RTL_BUFFER_TOTAL");
	assert_true(WIFSIGNALED(status));
	own_finish(start(s, RTL_RECORD_RECOVER, folder));
	assert_int_equal(access(folder, F_OK), -1);
	replay(s);
	/* recording ended with the recorder, in the middle: all up to there, nothing twice */
	assert_int_equal(gaps, 0);
	assert_int_equal(own.ledger.delivered, own.events);
}

TEST_OF(test_recorder__disk_full__says_so_and_the_program_ends_well, struct scratch *s)
{
	struct rtl_collector *collector;
	uint32_t left;

	assert_int_equal(mkdir(s->recording, 0700), 0);
	if (mount("tmpfs", s->recording, "tmpfs", 0, "size=1m")) {
		print_message("SKIPPED: no tmpfs can be mounted here (%s)\n", strerror(errno));
		skip();
	}
	collector = start(s, RTL_RECORD, s->spools);
	assert_int_equal(record(s, collector, ENDS), 0);
	rtl_collector_finish(collector, &left);
	assert_non_null(rtl_collector_failure(collector));
	assert_non_null(strstr(rtl_collector_failure(collector), s->recording));
	rtl_collector_destroy(collector);
	assert_int_equal(umount(s->recording), 0);
}

TEST_OF(test_recorder__output_cannot_be_made__one_line, struct scratch *s)
{
	struct rtl_collector_options options = {.struct_size = sizeof(options),
						.kind = RTL_RECORD,
						.folder = s->spools,
						.output = "/proc/nowhere/recording"};
	struct rtl_collector *collector;
	char message[256] = "";

	assert_int_equal(rtl_collector_create(&options, &collector, message, sizeof(message)),
			 RTL_EIO);
	assert_non_null(strstr(message, "/proc/nowhere/recording"));
	assert_null(strchr(message, '\n'));
	assert_int_equal(rmdir(s->spools), 0); /* no folder was left */
}

RUN_TESTS(setup, teardown, NULL, NULL)
