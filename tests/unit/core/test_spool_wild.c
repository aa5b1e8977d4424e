/* SPDX-License-Identifier: MIT */
/* Processes that destroy their spools while a collector reads them: files that are cut off under its mapping, and
 * random bytes written over all of them. The collector lives and says so. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <rtl/describe.h>
#include <rtl/publish.h>

#include "test_spool_kit.h"
#include "unit.h"

#define SCRIBBLE_MS 2000

struct payload {
	struct rtl_text text, args;
	struct rtl_arg arg;
	char letters[32];
};
static const struct rtl_field fields[] = {
	RTL_FIELD(struct payload, text, RTL_KIND_TEXT, "", ""),
	RTL_FIELD(struct payload, args, RTL_KIND_ARGS, "", ""),
};
static const struct rtl_type_info types[] = {
	RTL_TYPE_INFO(RTL_SIGNAL, "signal", char[16], fields, ""),
};
static const struct rtl_stream_info info = RTL_STREAM_INFO("t.real", 1, 0, types, "");

static void publish(struct rtl_stream *stream, uint32_t n)
{
	while (n--) {
		struct rtl_record *r = rtl_reserve(stream, RTL_SIGNAL, sizeof(struct payload));
		struct payload *payload;

		if (!r)
			continue;
		payload = rtl_record_payload(r);
		payload->text = (struct rtl_text){offsetof(struct payload, letters), 32};
		payload->args = (struct rtl_text){offsetof(struct payload, arg), 24};
		payload->arg = (struct rtl_arg){.value.text = payload->text, .kind = RTL_KIND_TEXT};
		memset(payload->letters, 'a', 32);
		rtl_commit(r);
	}
}

static struct rtl_stream *join(const char *folder)
{
	struct rtl_stream *stream = &rtl_stream_none;

	setenv("RTL_COLLECTOR", folder, 1);
	rtl_stream_register(&info, &stream);
	return stream;
}

/* The path of a file of the only spool in a folder; false: there is none yet. */
static bool find_file(const char *folder, const char *file, char *path, size_t size)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	bool found = false;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "rtl-spool-", 10)) {
			snprintf(path, size, "%s/%s/%s", folder, entry->d_name, file);
			found = !access(path, F_OK);
		}
	if (dir)
		closedir(dir);
	return found;
}

static struct rtl_collector *start(void)
{
	char subscriber[1024], message[512];
	const struct rtl_collector_options options = {.struct_size = sizeof(options),
						      .kind = RTL_COLLECT,
						      .subscribers = subscriber,
						      .folder = kit_base};
	struct rtl_collector *collector = NULL;

	snprintf(subscriber, sizeof(subscriber), "%s?output=%s/out&twice=1", READ_ALL_SUB,
		 kit_base);
	if (rtl_collector_create(&options, &collector, message, sizeof(message))) {
		fprintf(stderr, "%s\n", message);
		_exit(3);
	}
	return collector;
}

static void finish(struct rtl_collector *collector)
{
	uint32_t left;

	rtl_collector_finish(collector, &left);
	rtl_collector_destroy(collector);
	_exit(0);
}

/* Runs a function in a process of its own, with its log in a file. */
static void run(void (*fn)(const void *arg), const void *arg, struct outcome *outcome)
{
	char path[512];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/out", kit_base);
	unlink(path);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		snprintf(path, sizeof(path), "%s/err", kit_base);
		dup2(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
		fcntl(STDERR_FILENO, F_SETFL, O_APPEND);
		kit_child();
		fn(arg);
	}
	memset(outcome, 0, sizeof(*outcome));
	assert_int_equal(waitpid(pid, &outcome->status, 0), pid);
	kit_outcome(outcome);
	assert_int_equal(outcome->status, 0);
}

/* ---- files cut off */

struct cut {
	const char *file;
	size_t size;
};

/* 1000 events, then, when they have been read, 1000 more and a file that is cut off. */
static void cut_one(const char *folder, const struct cut *cut, int go)
{
	struct rtl_stream *stream = join(folder);
	char path[1024], byte;

	publish(stream, 1000);
	if (read(go, &byte, 1) != 1)
		_exit(1);
	publish(stream, 1000);
	_exit(!find_file(folder, cut->file, path, sizeof(path)) ||
	      truncate(path, (off_t)cut->size));
}

static uint32_t events_so_far(void)
{
	struct outcome outcome = {0};

	kit_outcome(&outcome);
	return outcome.events;
}

static void collect_cut(const void *arg)
{
	struct rtl_collector *collector = start();
	int go[2], status;
	pid_t pid;

	if (pipe(go))
		_exit(2);
	pid = fork();
	if (!pid)
		cut_one(rtl_collector_folder(collector), arg, go[0]);
	while (events_so_far() < 1000)
		rtl_collector_poll(collector, 10);
	if (write(go[1], "", 1) != 1 || waitpid(pid, &status, 0) != pid || status)
		_exit(4);
	rtl_collector_poll(collector, 10);
	finish(collector);
}

TEST(test_file__cut_off_while_it_is_read__collector_lives)
{
	static const struct cut cuts[] = {
		{"ring-0", 0},   {"ring-0", 4096}, {"ring-0", 4096 + 65536},
		{"ring-0", 100}, {"control", 0},   {"control", 4096},
		{"dict", 0},
	};
	struct outcome outcome;

	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		run(collect_cut, &cuts[i], &outcome);
		if (*cuts[i].file == 'd') /* it had been read */
			assert_int_equal(outcome.events, 2000);
		else
			assert_int_equal(outcome.damaged, 1);
		assert_in_range(outcome.events, *cuts[i].file == 'c' ? 0 : 1000, 2000);
	}
	assert_int_equal(events_so_far(), 2000);
}

/* ---- a header that names another file and another size */

#define LIE_BYTES (1ull << 30)

/* 1000 events, then a ring that claims to be `ring-7`, and larger than any file. */
static void lie(const char *folder, int go, int done)
{
	struct rtl_stream *stream;
	struct ring_header *ring;
	char path[1024], byte;
	int fd;

	setenv("RTL_BUFFER_SIZE", "256K", 1);
	setenv("RTL_LOG", "error:/dev/null", 1);
	stream = join(folder);
	publish(stream, 1000);
	if (read(go, &byte, 1) != 1 || !find_file(folder, "ring-0", path, sizeof(path)))
		_exit(1);
	fd = open(path, O_RDWR);
	ring = mmap(NULL, RING_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	path[strlen(path) - 1] = '7';
	if (ring == MAP_FAILED || open(path, O_RDWR | O_CREAT, 0600) < 0)
		_exit(1);
	ring->index = 7;
	ring->capacity = 16 * LIE_BYTES;
	ring->head = LIE_BYTES;
	ring->ready = LIE_BYTES;
	if (write(done, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static off_t size_of(const char *folder, const char *file)
{
	char path[1024];
	struct stat st;

	return find_file(folder, file, path, sizeof(path)) && !stat(path, &st) ? st.st_size : -1;
}

static void collect_lie(const void *arg)
{
	struct rtl_collector *collector = start();
	const char *folder = rtl_collector_folder(collector);
	int go[2], done[2], i;
	bool grown;
	char byte;
	pid_t pid;

	if (pipe(go) || pipe(done))
		_exit(2);
	pid = fork();
	if (!pid) {
		kit_child();
		lie(folder, go[0], done[1]);
	}
	while (events_so_far() < 1000)
		rtl_collector_poll(collector, 10);
	if (write(go[1], "", 1) != 1 || read(done[0], &byte, 1) != 1)
		_exit(4);
	for (i = 0; i < 20; i++)
		rtl_collector_poll(collector, 10);
	grown = size_of(folder, "ring-7") ||
		size_of(folder, "ring-0") != RING_HEADER_SIZE + (256 << 10);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (grown)
		_exit(5);
	finish(collector);
}

TEST(test_ring__claims_another_file_and_size__none_grows)
{
	struct outcome outcome;

	run(collect_lie, NULL, &outcome);
	assert_in_range(outcome.events, 1000, 1000);
	assert_int_equal(outcome.damaged, 1);
}

/* ---- random bytes */

struct scribbler {
	const char *folder;
	uint32_t stop;
};

static uint64_t wild_value(const uint64_t *at)
{
	switch (unit_random() % 6) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return *at + 8 * (unit_random() % 64);
	case 3:
		return *at ^ 1ull << unit_random() % 64;
	case 4:
		return unit_random() % 4096 * 8;
	default:
		return unit_random();
	}
}

/* Some words of a file, mostly near its beginning. */
static void scribble_over(const char *folder, const char *file)
{
	char path[1024];
	struct stat st;
	uint64_t *words;
	size_t i, n, at;
	int fd;

	if (!find_file(folder, file, path, sizeof(path)) || (fd = open(path, O_RDWR)) < 0)
		return;
	if (!fstat(fd, &st) && st.st_size >= 8 &&
	    (words = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) !=
		    MAP_FAILED) {
		n = (size_t)st.st_size / 8;
		for (i = 0; i < 200; i++) {
			at = i % 4 ? unit_random() % n : unit_random() % (n < 64 ? n : 64);
			words[at] = wild_value(&words[at]);
		}
		munmap(words, (size_t)st.st_size);
	}
	close(fd);
}

static void *scribble(void *user)
{
	static const char *const files[] = {"ring-0", "ring-1", "control", "dict"};
	struct scribbler *s = user;

	for (unsigned i = 0; !__atomic_load_n(&s->stop, __ATOMIC_RELAXED); i++) {
		/* the rings soon, the rest only later: nothing would be read any more */
		scribble_over(s->folder, files[i % (i < 2000 ? 2 : 4)]);
		usleep(200);
	}
	return NULL;
}

static void *publish_for_ever(void *stream)
{
	for (;;)
		publish(stream, 1000);
	return NULL;
}

static void be_scribbled(const char *folder)
{
	struct rtl_stream *stream;
	pthread_t thread;

	setenv("RTL_BUFFER_SIZE", "256K", 1);
	setenv("RTL_LOG", "error:/dev/null", 1);
	stream = join(folder);
	pthread_create(&thread, NULL, publish_for_ever, stream);
	publish_for_ever(stream);
}

static void collect_scribbled(const void *arg)
{
	struct rtl_collector *collector = start();
	struct scribbler scribbler = {.folder = rtl_collector_folder(collector)};
	struct timespec begin, now;
	pthread_t thread;
	pid_t pid = fork();

	if (!pid) {
		kit_child();
		be_scribbled(rtl_collector_folder(collector));
	}
	while (!events_so_far()) /* something sound first */
		rtl_collector_poll(collector, 1);
	pthread_create(&thread, NULL, scribble, &scribbler);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		rtl_collector_poll(collector, 1);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 <
		 SCRIBBLE_MS);
	__atomic_store_n(&scribbler.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	finish(collector);
}

TEST(test_files__random_bytes_while_they_are_read__collector_lives)
{
	struct outcome outcome;

	run(collect_scribbled, NULL, &outcome);
	assert_true(outcome.events > 0);
	assert_int_equal(outcome.damaged, 1);
}

RUN_TESTS(NULL, NULL, kit_setup, kit_teardown)
