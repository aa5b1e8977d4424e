/* SPDX-License-Identifier: MIT */
/* A subscriber that does one thing wrong: for `rtl check-subscriber`. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rtl/subscriber.h>

enum way { GOOD, CRASH, SAY, COMPLAIN, LEAVE_FILE, LEAVE_THREAD, HANG, END, FAIL };

static struct {
	const struct rtl_host *host;
	enum way way;
	unsigned streams;
} state;

static void *sleep_long(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

static int create(const struct rtl_host *host, const struct rtl_setting *settings, size_t count,
		  void **instance)
{
	pthread_t thread;

	(void)count;
	state.host = host;
	state.way = (enum way)settings->number;
	state.streams = 0;
	*instance = &state;
	if (state.way == LEAVE_FILE && open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
		return -1;
	if (state.way == LEAVE_THREAD && pthread_create(&thread, NULL, sleep_long, NULL))
		return -1;
	return 0;
}

/* On events of the stream that comes late, so that it is seen that they come. */
static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	(void)user;
	if (!count || strcmp(events[0]->stream->name, "check.late") != 0)
		return;
	if (state.way == CRASH)
		abort();
	if (state.way == FAIL)
		state.host->fail(state.host, "does not like it");
}

static int stream(void *instance, const struct rtl_stream_info *info)
{
	(void)instance;
	state.streams++;
	if (state.way == SAY)
		printf("hello\n");
	if (state.way == COMPLAIN)
		fprintf(stderr, "hello\n");
	return state.host->subscribe(state.host, info, RTL_TYPE_ANY, RTL_BUFFERED, on_events, NULL,
				     NULL);
}

static int finish(void *instance)
{
	(void)instance;
	if (state.way == END)
		exit(0);
	while (state.way == HANG && !state.streams)
		pause();
	return 0;
}

static const struct rtl_setting_info settings[] = {
	RTL_CHOICE_SETTING("way", "good",
			   "good|crash|say|complain|leave_file|leave_thread|hang|end|fail",
			   "what it does wrong"),
};

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "bad",
	.version = "1",
	.description = "does one thing wrong",
	.settings = settings,
	.setting_count = 1,
	.create = create,
	.stream = stream,
	.finish = finish,
};
