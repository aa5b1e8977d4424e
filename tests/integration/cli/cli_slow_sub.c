/* SPDX-License-Identifier: MIT */
/* A subscriber whose end takes until a file `go` is in the working directory; it makes a file
 * `finishing` first. With at=events its first events take that long, not its end. */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rtl/subscriber.h>

static const struct rtl_host *slow_host;
static bool at_events;

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
	wait_for_go();
}

static const struct rtl_setting_info infos[] = {
	RTL_CHOICE_SETTING("at", "end", "end|events", "when it sleeps"),
};

static int slow_create(const struct rtl_host *host, const struct rtl_setting *settings,
		       size_t count, void **instance)
{
	slow_host = host;
	(void)count;
	at_events = rtl_setting_at(settings, 0)->number == 1;
	*instance = NULL;
	return 0;
}

static int slow_stream(void *instance, const struct rtl_stream_info *stream)
{
	(void)instance;
	return at_events ? slow_host->subscribe(slow_host, stream, RTL_TYPE_ANY, RTL_BUFFERED,
						on_events, NULL, NULL)
			 : 0;
}

static int slow_finish(void *instance)
{
	(void)instance;
	close(open("finishing", O_CREAT | O_WRONLY, 0600));
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
