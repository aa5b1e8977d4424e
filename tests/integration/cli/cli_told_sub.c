/* SPDX-License-Identifier: MIT */
/* A subscriber that does one thing wrong, or takes its time, as `way` says:
 *
 *	say, complain, leave_file, leave_thread, hang, fail	for `rtl check-subscriber`
 *	end, crash, segv, overflow (of the stack), thread	ends its process, or its thread; with at=N after so many
 *								events, else when it finishes
 *	kill		kills its process in the flush of that number
 *	slow		its end takes until a file `go` is in the working directory; it makes a file `finishing` first
 *	slow_events	the same of its events
 *	slow_batches	each batch of events takes 20 ms until then */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rtl/subscriber.h>

#define WAYS                                                                                       \
	"good|say|complain|leave_file|leave_thread|hang|fail|end|crash|segv|overflow|thread|kill|" \
	"slow|slow_events|slow_batches"
enum way {
	GOOD,
	SAY,
	COMPLAIN,
	LEAVE_FILE,
	LEAVE_THREAD,
	HANG,
	FAIL,
	END,
	CRASH,
	SEGV,
	OVERFLOW,
	THREAD,
	KILL,
	SLOW,
	SLOW_EVENTS,
	SLOW_BATCHES,
};

static struct {
	const struct rtl_host *host;
	enum way way;
	unsigned streams;
	unsigned long left; /* events, or flushes, until it ends; 0: at the end */
} state;

static void *sleep_long(void *unused)
{
	for (;;)
		pause();
	return NULL;
}

static void wait_for_go(void)
{
	while (access("go", F_OK))
		nanosleep(&(struct timespec){0, 5000000}, NULL);
}

/* Each call has a page that the next one reads. */
static int use_stack_up(const volatile char *page, int depth)
{
	volatile char mine[4096];

	mine[0] = page ? page[0] : 1;
	return depth ? use_stack_up(mine, depth + 1) + mine[0] : mine[0];
}

static void end_process(void)
{
	volatile int *nowhere = NULL;

	if (state.way == END)
		exit(0);
	if (state.way == SEGV)
		*nowhere = 1;
	if (state.way == OVERFLOW)
		*nowhere = use_stack_up(NULL, 1);
	if (state.way == THREAD)
		pthread_exit(NULL);
	if (state.way == CRASH)
		abort();
}

static int create(const struct rtl_host *host, const struct rtl_setting *settings, size_t count,
		  void **instance)
{
	pthread_t thread;

	state.host = host;
	state.way = (enum way)rtl_setting_at(settings, 0)->number;
	state.left = rtl_setting_at(settings, 1)->number;
	state.streams = 0;
	*instance = &state;
	if (state.way == LEAVE_FILE && open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
		return -1;
	if (state.way == LEAVE_THREAD && pthread_create(&thread, NULL, sleep_long, NULL))
		return -1;
	return 0;
}

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	if (state.way == FAIL)
		state.host->fail(state.host, "does not like it");
	if (state.way == SLOW_EVENTS)
		wait_for_go();
	if (state.way == SLOW_BATCHES && access("go", F_OK))
		nanosleep(&(struct timespec){0, 20000000}, NULL);
	if (state.way == KILL)
		return;
	if (state.left && state.left <= count)
		end_process();
	state.left -= state.left ? count : 0;
}

static int stream(void *instance, const struct rtl_stream_info *info)
{
	state.streams++;
	if (state.way == SAY)
		printf("hello\n");
	if (state.way == COMPLAIN)
		fprintf(stderr, "hello\n");
	return state.host->subscribe(state.host, info, RTL_TYPE_ANY, RTL_BUFFERED, on_events, NULL,
				     NULL);
}

/* Behind another subscriber this is when that one has stored what the rings do not know of. */
static int flush(void *instance)
{
	if (state.way == KILL && --state.left == 0)
		raise(SIGKILL);
	return 0;
}

static int finish(void *instance)
{
	if (state.way >= SLOW)
		close(open("finishing", O_CREAT | O_WRONLY, 0600));
	if (state.way == SLOW || state.way == SLOW_EVENTS)
		wait_for_go();
	while (state.way == HANG && !state.streams)
		pause();
	end_process();
	return 0;
}

static const struct rtl_setting_info settings[] = {
	RTL_CHOICE_SETTING("way", "good", WAYS, "what it does wrong"),
	RTL_NUMBER_SETTING("at", "0", 0, 0,
			   "the event at which it ends its process; 0: at the end"),
};

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "told",
	.version = "1",
	.description = "does one thing wrong",
	.settings = settings,
	.setting_count = sizeof(settings) / sizeof(*settings),
	.create = create,
	.stream = stream,
	.flush = flush,
	.finish = finish,
};
