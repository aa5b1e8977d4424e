/* SPDX-License-Identifier: MIT */
/* A subscriber whose end takes until a file `go` is in the working directory; it makes a file
 * `finishing` first. With at=events its first events take that long, not its end; with at=batches each batch
 * of events takes 20 ms until then. */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rtl/subscriber.h>

static const struct rtl_host *slow_host;
static enum { AT_END, AT_EVENTS, AT_BATCHES } slow_at;

static void wait_for_go(void)
{
	while (access("go", F_OK))
		nanosleep(&(struct timespec){0, 5000000}, NULL);
}

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	(void)user;
	(void)events;
	(void)count;
	if (slow_at == AT_EVENTS)
		wait_for_go();
	else if (access("go", F_OK))
		nanosleep(&(struct timespec){0, 20000000}, NULL);
}

static const struct rtl_setting_info infos[] = {
	RTL_CHOICE_SETTING("at", "end", "end|events|batches", "when it sleeps"),
};

static int slow_create(const struct rtl_host *host, const struct rtl_setting *settings,
		       size_t count, void **instance)
{
	slow_host = host;
	(void)count;
	slow_at = (int)rtl_setting_at(settings, 0)->number;
	*instance = NULL;
	return 0;
}

static int slow_stream(void *instance, const struct rtl_stream_info *stream)
{
	(void)instance;
	return slow_at ? slow_host->subscribe(slow_host, stream, RTL_TYPE_ANY, RTL_BUFFERED,
					      on_events, NULL, NULL)
		       : 0;
}

static int slow_finish(void *instance)
{
	(void)instance;
	close(open("finishing", O_CREAT | O_WRONLY, 0600));
	if (slow_at != AT_BATCHES)
		wait_for_go();
	return 0;
}

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "slow",
	.version = "1",
	.description = "takes its time at the end",
	.settings = infos,
	.setting_count = 1,
	.create = slow_create,
	.stream = slow_stream,
	.finish = slow_finish,
};
