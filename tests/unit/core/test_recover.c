/* SPDX-License-Identifier: MIT */
/* Recovery by a collector, where a host has died in the middle of something: a process drains
 * itself and dies, then what is in its spool is put as a death at that moment would leave it. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <rtl/rtl.h>

#include "folder.h"
#include "own_sub.h"
#include "ring.h"
#include "spool.h"
#include "unit.h"

#define EVENTS 100

static const struct rtl_type_info types[] = {
	{sizeof(types[0]), RTL_SIGNAL, 0, 0, 0, "signal", "", NULL},
};
static const struct rtl_stream_info info = {sizeof(info), 1, 0, "test.own", "", types, 1, 0};

static uint64_t last_position;

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(events[i]->ring, 0);
		assert_true(i + own.events == 0 || events[i]->position > last_position);
		last_position = events[i]->position;
	}
	own.events += count;
}

static char base[64], spool[512];

static int setup(void **state)
{
	own_reset(info.name, on_events);
	strcpy(base, "/tmp/test_recover-XXXXXX");
	return mkdtemp(base) ? 0 : -1;
}

/* Fails if something was left there. */
static int teardown(void **state)
{
	return rmdir(base);
}

static void publish_and_die(void)
{
	struct rtl_stream *stream = &rtl_stream_none;

	rtl_stream_register(&info, &stream);
	for (int i = 0; i < EVENTS; i++) {
		struct rtl_record *record = rtl_reserve(stream, RTL_SIGNAL, 0);

		if (!record)
			_exit(1);
		rtl_commit(record);
	}
	raise(SIGKILL);
}

/* Returns whether all could be stored. */
static bool recover(const char *folder)
{
	return own_finish(own_collector(RTL_RECOVER, folder, NULL));
}

/* The spool of a process whose collector, which was here, has delivered nothing. */
static void leave_spool(void)
{
	struct rtl_collector *collector = own_collector(RTL_COLLECT, base, NULL);
	struct dirent *entry;
	int status;
	pid_t pid;
	DIR *dir;

	setenv("RTL_COLLECTOR", rtl_collector_folder(collector), 1);
	pid = fork();
	if (pid == 0)
		publish_and_die();
	unsetenv("RTL_COLLECTOR");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	dir = opendir(rtl_collector_folder(collector));
	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			snprintf(spool, sizeof(spool), "%s/%s", rtl_collector_folder(collector),
				 entry->d_name);
	closedir(dir);
	rtl_collector_destroy(collector); /* without finish: the folder stays */
	own_reset(info.name, on_events);
}

static void *map(const char *name)
{
	char path[640];
	struct stat st;
	void *p;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", spool, name);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	assert_true(p != MAP_FAILED);
	return p; /* stays */
}

static const char *collector_folder(void)
{
	static char folder[512];

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(spool, '/') - spool), spool);
	return folder;
}

/* The slot that holds our stream: the one whose events are in the ring. */
static struct spool_stream *slot_of(struct spool_control *control, const struct ring_header *ring)
{
	uint32_t i = 0;

	while (ring->published[i] != EVENTS)
		i++;
	return &control->streams[i];
}

/* So many are noted as delivered; room is to be given back up to so far past the ring's head. */
static void set_release(uint64_t delivered, uint64_t past, bool releasing)
{
	struct spool_control *control = map("control");
	struct ring_header *ring = map("ring-0");

	slot_of(control, ring)->delivered_next = delivered;
	ring->release_to = ring->head + past;
	control->releasing = releasing;
}

TEST(test_recover__nothing_was_delivered__all_is)
{
	leave_spool();
	assert_true(recover(collector_folder()));
	assert_int_equal(own.events, EVENTS);
	assert_int_equal(own.ledger.delivered, EVENTS);
	assert_int_equal(own.ledger.published, EVENTS);
}

/* A full disk, say: what could not be stored is not thrown away. */
TEST(test_recover__subscriber_fails__another_recovery_has_it_all)
{
	leave_spool();
	own.flush_result = RTL_ENOSPC;
	assert_false(recover(collector_folder()));
	own.flush_result = 0;
	own.events = 0;
	assert_true(recover(collector_folder()));
	assert_int_equal(own.events, EVENTS);
	assert_int_equal(own.ledger.delivered, EVENTS);
}

/* Its output is out of reach, to the end: what it keeps is not thrown away, nor given twice to one
 * that is told where each event stands. */
TEST(test_recover__subscriber_keeps_all_and_cannot_store__another_recovery_has_it)
{
	uint64_t last;

	leave_spool();
	own.keeps = true;
	own.finish_result = RTL_EIO;
	assert_false(recover(collector_folder()));
	assert_int_equal(own.events, EVENTS);
	assert_true(own.kept > 0);
	last = last_position;
	own_reset(info.name, on_events);
	assert_true(recover(collector_folder()));
	assert_int_equal(own.events, EVENTS);
	assert_int_equal(own.ledger.delivered, EVENTS);
	assert_int_equal(last_position, last);
	assert_int_equal(own.ledger.abandoned, 0);
}

/* It keeps until the end, and stores all then. */
TEST(test_recover__subscriber_keeps_and_stores_at_the_end__nothing_is_left)
{
	leave_spool();
	own.keeps = own.yields = true;
	assert_true(recover(collector_folder()));
	assert_int_equal(own.events, EVENTS);
	assert_int_not_equal(access(collector_folder(), F_OK), 0);
}

/* All had been flushed; what was delivered was noted, the ring's tail had not been moved. */
TEST(test_recover__died_while_giving_room_back__nothing_is_delivered_twice)
{
	leave_spool();
	set_release(EVENTS, 0, true);
	recover(collector_folder());
	assert_int_equal(own.events, 0);
	assert_int_equal(own.ledger.published, EVENTS);
	assert_int_equal(own.ledger.delivered, EVENTS);
	assert_int_equal(own.ledger.abandoned, 0);
}

/* It was about to be noted: nothing holds. */
TEST(test_recover__died_before_giving_room_back__all_is_delivered)
{
	leave_spool();
	set_release(EVENTS, 0, false);
	recover(collector_folder());
	assert_int_equal(own.events, EVENTS);
	assert_int_equal(own.ledger.delivered, EVENTS);
}

TEST(test_recover__damaged_release__is_ignored)
{
	leave_spool();
	set_release(0, 4096, true);
	recover(collector_folder());
	assert_int_equal(own.events, EVENTS);
}

/* Its removal was cut off: the control file is the first to go. */
TEST(test_recover__half_removed_spool__the_rest_goes_and_nothing_is_delivered)
{
	char path[640];

	leave_spool();
	snprintf(path, sizeof(path), "%s/control", spool);
	assert_int_equal(unlink(path), 0);
	recover(collector_folder());
	assert_int_equal(own.events, 0);
	assert_int_not_equal(access(collector_folder(), F_OK), 0);
}

TEST(test_recover__folder_of_the_user__keeps_its_files)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/thesis.txt", base);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	recover(base);
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
	recover(base); /* empty: stays too */
	assert_int_equal(access(base, F_OK), 0);
}

RUN_TESTS(setup, teardown, NULL, NULL)
