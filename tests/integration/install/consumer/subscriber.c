/* SPDX-License-Identifier: MIT */
/* A subscriber from the installed headers alone: prints each event of consumer.steps. */
#include <rtl/subscriber.h>
#include <stdio.h>
#include <string.h>

static const struct rtl_host *host;

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	(void)user;
	for (size_t i = 0; i < count; i++)
		printf("step %llu\n", *(const unsigned long long *)events[i]->payload);
}

static int create(const struct rtl_host *h, const struct rtl_setting *settings, size_t count,
		  void **instance)
{
	(void)settings;
	(void)count;
	*instance = NULL;
	host = h;
	return 0;
}

static int stream(void *instance, const struct rtl_stream_info *info)
{
	(void)instance;
	if (strcmp(info->name, "consumer.steps") != 0)
		return 0;
	return host->subscribe(host, info, RTL_TASK_END, RTL_BUFFERED, on_events, NULL, NULL);
}

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "steps",
	.version = "1",
	.description = "prints steps",
	.create = create,
	.stream = stream,
};
