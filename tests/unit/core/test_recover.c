/* SPDX-License-Identifier: MIT */
/* Recovery by a collector, where a host has died in the middle of something: a process drains
 * itself and dies, then what is in its spool is put as a death at that moment would leave it. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <rtl/collector.h>
#include <rtl/rtl.h>

#include "ring.h"
#include "session_page.h"
#include "spool.h"

#define EVENTS 100

static const struct rtl_type_info types[] = {
	{sizeof(types[0]), RTL_SIGNAL, 0, 0, 0, "signal", "", NULL},
};
static const struct rtl_stream_info info = {sizeof(info), 1, 0, "test.own", "", types, 1, 0};

/* What our own subscriber has seen. */
static struct {
	const struct rtl_host *host;
	uint64_t events;
	bool fails;
	struct rtl_ledger ledger;
	const struct rtl_stream_info *stream;
} seen;

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	(void)user;
	(void)events;
	seen.events += count;
}

static int own_create(const struct rtl_host *host, const struct rtl_setting *settings, size_t count,
		      void **instance)
{
	(void)settings;
	(void)count;
	seen.host = host;
	*instance = &seen;
	return 0;
}

static int own_stream(void *instance, const struct rtl_stream_info *stream)
{
	(void)instance;
	if (strcmp(stream->name, "test.own") != 0)
		return 0;
	seen.stream = stream;
	return seen.host->subscribe(seen.host, stream, RTL_TYPE_ANY, RTL_BUFFERED, on_events, NULL,
				    NULL);
}

static int own_flush(void *instance)
{
	(void)instance;
	return seen.fails ? RTL_ENOSPC : 0;
}

static int own_finish(void *instance)
{
	(void)instance;
	seen.ledger.struct_size = sizeof(seen.ledger);
	return seen.stream ? seen.host->ledger(seen.host, NULL, seen.stream, &seen.ledger) : 0;
}

static const struct rtl_subscriber own = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(own),
	.name = "own",
	.version = "1",
	.description = "",
	.create = own_create,
	.stream = own_stream,
	.flush = own_flush,
	.finish = own_finish,
};

static char base[64], spool[512];

static int setup(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof(seen));
	strcpy(base, "/tmp/test_recover-XXXXXX");
	return mkdtemp(base) ? 0 : -1;
}

/* Fails if something was left there. */
static int teardown(void **state)
{
	(void)state;
	return rmdir(base);
}

static struct rtl_collector *create(uint32_t kind, const char *folder)
{
	const struct rtl_collector_options options = {
		.struct_size = sizeof(options),
		.kind = kind,
		.subscribers = "",
		.folder = folder,
		.own = &own,
	};
	struct rtl_collector *collector = NULL;
	char message[512] = "";

	if (rtl_collector_create(&options, &collector, message, sizeof(message)))
		fail_msg("%s", message);
	return collector;
}

/* Returns whether all could be stored. */
static bool recover(const char *folder)
{
	struct rtl_collector *collector = create(RTL_RECOVER, folder);
	uint32_t left;
	bool well;

	rtl_collector_finish(collector, &left);
	well = !rtl_collector_failure(collector);
	rtl_collector_destroy(collector);
	assert_int_equal(left, 0);
	return well;
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

/* The spool of a process whose collector, which was here, has delivered nothing. */
static void leave_spool(void)
{
	struct rtl_collector *collector = create(RTL_COLLECT, base);
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
	memset(&seen, 0, sizeof(seen));
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

static void test_recover__nothing_was_delivered__all_is(void **state)
{
	(void)state;
	leave_spool();
	assert_true(recover(collector_folder()));
	assert_int_equal(seen.events, EVENTS);
	assert_int_equal(seen.ledger.delivered, EVENTS);
	assert_int_equal(seen.ledger.published, EVENTS);
}

/* A full disk, say: what could not be stored is not thrown away. */
static void test_recover__subscriber_fails__another_recovery_has_it_all(void **state)
{
	(void)state;
	leave_spool();
	seen.fails = true;
	assert_false(recover(collector_folder()));
	seen.fails = false;
	seen.events = 0;
	assert_true(recover(collector_folder()));
	assert_int_equal(seen.events, EVENTS);
	assert_int_equal(seen.ledger.delivered, EVENTS);
}

/* All had been flushed; what was delivered was noted, the ring's tail had not been moved. */
static void test_recover__died_while_giving_room_back__nothing_is_delivered_twice(void **state)
{
	struct spool_control *control;
	struct ring_header *ring;

	(void)state;
	leave_spool();
	control = map("control");
	ring = map("ring-0");
	slot_of(control, ring)->delivered_next = EVENTS;
	ring->release_to = ring->head;
	control->releasing = 1;
	recover(collector_folder());
	assert_int_equal(seen.events, 0);
	assert_int_equal(seen.ledger.published, EVENTS);
	assert_int_equal(seen.ledger.delivered, EVENTS);
	assert_int_equal(seen.ledger.abandoned, 0);
}

/* It was about to be noted: nothing holds. */
static void test_recover__died_before_giving_room_back__all_is_delivered(void **state)
{
	struct spool_control *control;
	struct ring_header *ring;

	(void)state;
	leave_spool();
	control = map("control");
	ring = map("ring-0");
	slot_of(control, ring)->delivered_next = EVENTS;
	ring->release_to = ring->head;
	recover(collector_folder());
	assert_int_equal(seen.events, EVENTS);
	assert_int_equal(seen.ledger.delivered, EVENTS);
}

static void test_recover__damaged_release__is_ignored(void **state)
{
	struct spool_control *control;
	struct ring_header *ring;

	(void)state;
	leave_spool();
	control = map("control");
	ring = map("ring-0");
	ring->release_to = ring->head + 4096;
	control->releasing = 1;
	recover(collector_folder());
	assert_int_equal(seen.events, EVENTS);
}

/* Its removal was cut off: the control file is the first to go. */
static void test_recover__half_removed_spool__the_rest_goes_and_nothing_is_delivered(void **state)
{
	char path[640];

	(void)state;
	leave_spool();
	snprintf(path, sizeof(path), "%s/control", spool);
	assert_int_equal(unlink(path), 0);
	recover(collector_folder());
	assert_int_equal(seen.events, 0);
	assert_int_not_equal(access(collector_folder(), F_OK), 0);
}

static void test_recover__folder_of_the_user__keeps_its_files(void **state)
{
	char path[128];
	FILE *f;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(test_recover__nothing_was_delivered__all_is),
		TEST(test_recover__subscriber_fails__another_recovery_has_it_all),
		TEST(test_recover__died_while_giving_room_back__nothing_is_delivered_twice),
		TEST(test_recover__died_before_giving_room_back__all_is_delivered),
		TEST(test_recover__damaged_release__is_ignored),
		TEST(test_recover__half_removed_spool__the_rest_goes_and_nothing_is_delivered),
		TEST(test_recover__folder_of_the_user__keeps_its_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
