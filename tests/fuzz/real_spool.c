/* SPDX-License-Identifier: MIT */
#include "real_spool.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtl/collector.h>
#include <rtl/describe.h>
#include <rtl/publish.h>
#include <rtl/tracepoint.h>

struct item {
	uint64_t number;
	uint64_t name;
	uint64_t uid;
	struct rtl_text text;
	double real;
	int32_t small;
	uint8_t flag;
	uint8_t bytes[3];
	uint64_t address;
	uint64_t time;
	struct rtl_text args;
	struct rtl_arg arg[2];
	struct rtl_text values;
	uint64_t states;
	struct rtl_text value;
	uint64_t out;
};

#define FIELD(member, kind) RTL_FIELD(struct item, member, kind, "count", "of the tests")

static const struct rtl_field fields[] = {
	FIELD(number, RTL_KIND_UINT),     FIELD(name, RTL_KIND_STRING),
	FIELD(uid, RTL_KIND_UID),         FIELD(text, RTL_KIND_TEXT),
	FIELD(real, RTL_KIND_FLOAT),      FIELD(small, RTL_KIND_INT),
	FIELD(flag, RTL_KIND_BOOL),       FIELD(bytes, RTL_KIND_BYTES),
	FIELD(address, RTL_KIND_ADDRESS), FIELD(time, RTL_KIND_TIME),
	FIELD(args, RTL_KIND_ARGS),       FIELD(values, RTL_KIND_VALUES),
};

static const struct rtl_type_info types[] = {
	RTL_TYPE_INFO(RTL_TASK_BEGIN, "task_begin", struct item, fields, "all kinds"),
	{sizeof(struct rtl_type_info), RTL_SIGNAL, 0, 0, 0, "signal", "nothing", NULL},
};

static const struct rtl_stream_info info =
	RTL_STREAM_INFO(REAL_STREAM, 1, 2, types, "of the tests");

static const struct real_spool *wanted;
static struct rtl_stream *stream = &rtl_stream_none;
static uint64_t uid, name;

static void publish_item(uint32_t number)
{
	struct rtl_record *record =
		rtl_reserve(stream, RTL_TASK_BEGIN, sizeof(struct item) + wanted->filler);
	struct item *item;

	if (!record)
		return;
	item = rtl_record_payload(record);
	*item = (struct item){.number = number,
			      .name = name,
			      .uid = uid,
			      .text = {sizeof(*item), wanted->filler},
			      .real = 0.5,
			      .small = -(int32_t)number,
			      .flag = 1,
			      .bytes = {1, 2, 3},
			      .address = 0x1000,
			      .time = number,
			      .args = {offsetof(struct item, arg), sizeof(item->arg)},
			      .arg = {{.name = name,
				       .value.text = {sizeof(*item), wanted->filler},
				       .kind = RTL_KIND_TEXT},
				      {.name = name,
				       .value.number = number,
				       .kind = RTL_KIND_UINT,
				       .flags = RTL_ARG_OUT}},
			      .values = {offsetof(struct item, states), 24},
			      .states = RTL_VALUE_FOLLOWED | RTL_VALUE_FOLLOWED << 2,
			      .value = {sizeof(*item), wanted->filler},
			      .out = number};
	memset(item + 1, 'x', wanted->filler);
	record->uid = uid;
	record->parent_uid = uid;
	record->instance = number + 1;
	rtl_commit(record);
}

static void publish_signal(uint32_t number)
{
	struct rtl_record *record = rtl_reserve(stream, RTL_SIGNAL, 0);

	if (record) {
		record->instance = number + 1;
		rtl_commit(record);
	}
}

static void *publish(void *user)
{
	uint32_t i, *first = user;

	for (i = 0; i < wanted->events; i++)
		if (i % 4 == 3)
			publish_signal(*first + i);
		else
			publish_item(*first + i);
	return NULL;
}

static void define(void)
{
	const struct rtl_tracepoint_desc here = {.struct_size = sizeof(here),
						 .kind = "function",
						 .name = "work",
						 .source = "work.c",
						 .line = 7,
						 .column = 3};
	uint64_t empty;

	rtl_stream_register(&info, &stream);
	rtl_string_intern("a name", &name);
	rtl_string_intern("", &empty);
	rtl_tracepoint_register(&here, &uid);
	rtl_tracepoint_set(uid, "key", "value");
	rtl_tracepoint_set(uid, RTL_VALUES_KEY, "text:text out:address>u32{1=ONE}");
	rtl_tracepoint_set(uid, "other", "1");
	rtl_tracepoint_set(uid, "key", "newer value");
	rtl_stream_count_missed(stream, "not seen", 3);
}

/* The child: publishes and dies. */
static void run(const char *folder)
{
	setenv("RTL_COLLECTOR", folder, 1);
	if (wanted->ring_bytes)
		setenv("RTL_BUFFER_SIZE", wanted->ring_bytes, 1);
	define();
	for (uint32_t t = 0; t < wanted->threads; t++) {
		uint32_t first = t * wanted->events;
		pthread_t thread;

		if (pthread_create(&thread, NULL, publish, &first))
			_exit(1);
		pthread_join(thread, NULL);
	}
	_exit(stream == &rtl_stream_none);
}

static int find(const char *folder, char *path, size_t size)
{
	struct dirent *entry;
	DIR *dir = opendir(folder);
	int found = -1;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "rtl-spool-", 10)) {
			snprintf(path, size, "%s/%s", folder, entry->d_name);
			found = 0;
		}
	if (dir)
		closedir(dir);
	return found;
}

/* A collector that is not finished, with a process that dies: what is in its folder stays. */
static int collect(const char *base, const char *subscriber, char *path, size_t size)
{
	const struct rtl_collector_options options = {.struct_size = sizeof(options),
						      .kind = RTL_COLLECT,
						      .subscribers = subscriber,
						      .folder = base};
	struct rtl_collector *collector;
	char message[256];
	int status = 1;
	pid_t pid;

	if (rtl_collector_create(&options, &collector, message, sizeof(message))) {
		fprintf(stderr, "%s\n", message);
		return -1;
	}
	pid = fork();
	if (!pid)
		run(rtl_collector_folder(collector));
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return -1;
	return find(rtl_collector_folder(collector), path, size);
}

int real_spool_make(const struct real_spool *what, const char *base, const char *subscriber,
		    char *path, size_t size)
{
	int pipe_fd[2], status = 1;
	ssize_t n;
	pid_t pid;

	wanted = what;
	if (pipe(pipe_fd))
		return -1;
	pid = fork();
	if (!pid) {
		if (collect(base, subscriber, path, size) ||
		    write(pipe_fd[1], path, strlen(path)) < 0)
			_exit(1);
		_exit(0);
	}
	close(pipe_fd[1]);
	n = read(pipe_fd[0], path, size - 1);
	close(pipe_fd[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status || n <= 0)
		return -1;
	path[n] = 0;
	return 0;
}
