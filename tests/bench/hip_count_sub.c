/* SPDX-License-Identifier: MIT */
/* A subscriber that only counts the ends of HIP calls, and those without one, for tests/bench/hip: of the stream named
 * by the setting stream, "call" or "debug"; "ends": of "call", ends alone. */
#include <rtl/events.h>
#include <rtl/subscriber.h>
#include <stdlib.h>
#include <string.h>

struct count {
	const struct rtl_host *host;
	const char *stream;
	uint64_t events;
	bool ends;
};

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	((struct count *)user)->events += count;
}

static int create(const struct rtl_host *host, const struct rtl_setting *settings, size_t count,
		  void **instance)
{
	struct count *self = calloc(1, sizeof(*self));

	if (!self)
		return RTL_ENOMEM;
	self->host = host;
	self->stream = RTL_STREAM_HIP_CALL;
	if (rtl_setting_at(settings, 0)->number == 1)
		self->stream = RTL_STREAM_HIP_CALL ".debug";
	self->ends = rtl_setting_at(settings, 0)->number == 2;
	*instance = self;
	return 0;
}

static int stream(void *instance, const struct rtl_stream_info *info)
{
	struct count *self = instance;
	const bool debug = strcmp(self->stream, RTL_STREAM_HIP_CALL) != 0;
	int error;

	if (strcmp(info->name, self->stream) != 0)
		return 0;
	error = self->host->subscribe(self->host, info,
				      debug ? RTL_FUNCTION_WITH_ARGS_END : RTL_FUNCTION_END,
				      RTL_BUFFERED, on_events, self, NULL);
	if (error || self->ends)
		return error;
	return self->host->subscribe(self->host, info,
				     debug ? RTL_FUNCTION_WITH_ARGS_UNFINISHED
					   : RTL_FUNCTION_UNFINISHED,
				     RTL_BUFFERED, on_events, self, NULL);
}

static void destroy(void *instance)
{
	free(instance);
}

static const struct rtl_setting_info infos[] = {
	RTL_CHOICE_SETTING("stream", "call", "call|debug|ends", "what is counted"),
};

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "hip_count",
	.version = "1",
	.description = "counts calls of HIP, for benchmarks",
	.settings = infos,
	.setting_count = 1,
	.create = create,
	.stream = stream,
	.destroy = destroy,
};
