/* SPDX-License-Identifier: MIT */
/*
 * A subscriber that ends its process: how=segv|abort|overflow (of the stack)|thread (ends it), after so many events
 * (at=N), or, with at=0, when it finishes.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <rtl/subscriber.h>

struct crash {
	const struct rtl_host *host;
	unsigned long left; /* events until it happens; 0: at the end */
	const char *how;
};

/* Each call has a page that the next one reads. */
static int use_stack_up(const volatile char *page, int depth)
{
	volatile char mine[4096];

	mine[0] = page ? page[0] : 1;
	return depth ? use_stack_up(mine, depth + 1) + mine[0] : mine[0];
}

static _Noreturn void crash(const struct crash *c)
{
	volatile int *nowhere = NULL;

	if (!strcmp(c->how, "segv"))
		*nowhere = 1;
	if (!strcmp(c->how, "overflow"))
		*nowhere = use_stack_up(NULL, 1);
	if (!strcmp(c->how, "thread"))
		pthread_exit(NULL);
	abort();
}

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct crash *c = user;

	(void)events;
	if (c->left && c->left <= count)
		crash(c);
	c->left -= c->left ? count : 0;
}

static const char *how_of(const char *value)
{
	static const char *const ways[] = {"segv", "overflow", "thread"};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (!strcmp(value, ways[i]))
			return ways[i];
	}
	return "abort";
}

static const struct rtl_setting_info infos[] = {
	RTL_NUMBER_SETTING("at", "0", 0, 0, "the event at which it happens; 0: at the end"),
	RTL_TEXT_SETTING("how", "segv", 1, 0, "segv, abort, overflow or thread"),
};

static int crash_create(const struct rtl_host *host, const struct rtl_setting *settings,
			size_t count, void **instance)
{
	struct crash *c = calloc(1, sizeof(*c));

	if (!c)
		return RTL_ENOMEM;
	(void)count;
	*c = (struct crash){.host = host};
	c->left = rtl_setting_at(settings, 0)->number;
	c->how = how_of(rtl_setting_at(settings, 1)->value);
	*instance = c;
	return 0;
}

static int crash_stream(void *instance, const struct rtl_stream_info *stream)
{
	struct crash *c = instance;

	return c->left ? c->host->subscribe(c->host, stream, RTL_TYPE_ANY, RTL_BUFFERED, on_events,
					    c, NULL)
		       : 0;
}

static int crash_finish(void *instance)
{
	crash(instance);
}

static void crash_destroy(void *instance)
{
	free(instance);
}

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "crash",
	.version = "1",
	.description = "ends its process",
	.settings = infos,
	.setting_count = sizeof(infos) / sizeof(*infos),
	.create = crash_create,
	.stream = crash_stream,
	.finish = crash_finish,
	.destroy = crash_destroy,
};
