/* SPDX-License-Identifier: MIT */
/* The scenarios of `rtl check-subscriber`: see check.h. All runs in children. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtl/collector.h>

#include "check.h"

#define EVENTS     2000u
#define LIVE_MS    50
#define SLEEP_MS   5u
#define FULL_BYTES 4096u

static int count_entries(const char *folder)
{
	DIR *dir = opendir(folder);
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static struct rtl_collector *create(struct rtl_collector_options *options)
{
	struct rtl_collector *collector = NULL;
	char message[4096] = "";

	options->struct_size = sizeof(*options);
	if (!options->folder)
		options->folder = getenv("RTL_SPOOL");
	if (rtl_collector_create(options, &collector, message, sizeof(message)))
		fprintf(stderr, "rtl: error: %s\n", message);
	return collector;
}

static void finish(struct rtl_collector *collector)
{
	uint32_t left;

	if (!collector)
		return;
	rtl_collector_finish(collector, &left);
	if (rtl_collector_failure(collector))
		fprintf(stderr, "rtl: error: %s\n", rtl_collector_failure(collector));
	rtl_collector_destroy(collector);
}

static void replay_once(const char *recording, const char *list)
{
	struct rtl_collector_options options = {
		.kind = RTL_REPLAY, .subscribers = list, .folder = recording};

	finish(create(&options));
}

/* A process whose events the collector gets; one that `stays` is to be killed. It never outlives us. */
static pid_t start_publisher(const struct rtl_collector *collector, bool stays)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv("RTL_COLLECTOR", rtl_collector_folder(collector), 1);
	check_publish(EVENTS);
	for (; stays; stays = true)
		pause();
	_exit(0);
}

/* Drains until the processes have ended; kills the second of them after a while. */
static void drain(struct rtl_collector *collector, pid_t first, pid_t killed)
{
	for (int ms = 0; first > 0 || killed > 0; ms += (int)SLEEP_MS) {
		rtl_collector_poll(collector, SLEEP_MS);
		if (killed > 0 && ms >= LIVE_MS) {
			kill(killed, SIGKILL);
			waitpid(killed, NULL, 0);
			killed = 0;
		}
		if (first > 0 && waitpid(first, NULL, WNOHANG))
			first = 0;
	}
}

bool check_record(const char *recording)
{
	struct rtl_collector_options options = {.kind = RTL_RECORD, .output = recording};
	struct rtl_collector *collector = create(&options);
	pid_t first, second;

	if (!collector)
		return false;
	first = start_publisher(collector, false);
	second = start_publisher(collector, true);
	drain(collector, first, second);
	finish(collector);
	return first > 0 && second > 0;
}

/* ---- the scenarios ---- */

static void *do_nothing(void *unused)
{
	return unused;
}

/* What the C library or a sanitizer makes with the first thread is there before it is counted. */
static void make_a_thread(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, do_nothing, NULL))
		pthread_join(thread, NULL);
}

static void replay_thrice(const char *recording, const char *list)
{
	int files, threads;

	make_a_thread();
	files = count_entries("/proc/self/fd");
	threads = count_entries("/proc/self/task");
	for (int i = 0; i < 3; i++)
		replay_once(recording, list);
	files = count_entries("/proc/self/fd") - files;
	threads = count_entries("/proc/self/task") - threads;
	if (threads > 0)
		fprintf(stderr, CHECK_SAYS "leaves %d threads behind after destroy\n", threads);
	if (files > 0)
		fprintf(stderr, CHECK_SAYS "leaves %d file descriptors open after destroy\n",
			files);
}

static void replay(const char *recording, const char *list)
{
	replay_once(recording, list);
}

static void live(const char *recording, const char *list)
{
	struct rtl_collector_options options = {.kind = RTL_COLLECT, .subscribers = list};
	struct rtl_collector *collector = create(&options);

	(void)recording;
	if (!collector)
		return;
	drain(collector, start_publisher(collector, false), start_publisher(collector, true));
	finish(collector);
}

static void nothing(const char *recording, const char *list)
{
	struct rtl_collector_options options = {.kind = RTL_COLLECT, .subscribers = list};

	(void)recording;
	finish(create(&options));
}

/* What `finish` would have said never comes. */
static void give_up(const char *recording, const char *list)
{
	struct rtl_collector_options options = {
		.kind = RTL_REPLAY, .subscribers = list, .folder = recording};
	struct rtl_collector *collector = create(&options);

	if (!collector)
		return;
	rtl_collector_poll(collector, 0);
	rtl_collector_destroy(collector);
}

static void full_disk(const char *recording, const char *list)
{
	const struct rlimit limit = {FULL_BYTES, FULL_BYTES};

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	replay_once(recording, list);
}

/* The bus of this process hosts it. */
static void in_process(const char *recording, const char *list)
{
	(void)recording;
	setenv("RTL_SUBSCRIBERS", list, 1);
	check_publish(EVENTS);
	exit(CHECK_DONE); /* what comes now is the bus's: it has the subscriber finish */
}

const struct check_scenario check_scenarios[] = {
	{"replay", "two processes, one recording, three times", false, replay_thrice, false},
	{"twins", "two instances side by side", false, replay, true},
	{"live", "processes that run, one is killed", false, live, false},
	{"nothing", "no process at all", false, nothing, false},
	{"in-process", "in the program that publishes", false, in_process, false},
	{"give-up", "destroyed without `finish`", true, give_up, false},
	{"full-disk", "no file may grow", true, full_disk, false},
};
const size_t check_scenario_count = sizeof(check_scenarios) / sizeof(*check_scenarios);
