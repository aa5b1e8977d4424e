/* SPDX-License-Identifier: MIT */
/*
 * A subscriber that does nothing with the events that it wants: ends of calls and of operations on
 * memory. Setting "want": a stream. Threads: the host's.
 */
#include <rtl/subscriber.h>
#include <stdlib.h>
#include <string.h>

struct nothing {
	const struct rtl_host *host;
	char stream[64];
};

static void ignore(void *user, const struct rtl_event *const *events, size_t count)
{
	(void)user, (void)events, (void)count;
}

static int nothing_create(const struct rtl_host *host, const struct rtl_setting *settings,
			  size_t count, void **instance)
{
	struct nothing *nothing = calloc(1, sizeof(*nothing));

	if (!nothing)
		return RTL_ENOMEM;
	nothing->host = host;
	(void)count;
	strncpy(nothing->stream, rtl_setting_at(settings, 0)->value, sizeof(nothing->stream) - 1);
	*instance = nothing;
	return 0;
}

static int nothing_stream(void *instance, const struct rtl_stream_info *stream)
{
	static const uint16_t types[] = {RTL_FUNCTION_END, RTL_FUNCTION_WITH_ARGS_END,
					 RTL_MEM_ALLOC_END, RTL_MEM_RELEASE_END};
	const struct nothing *nothing = instance;

	if (strcmp(stream->name, nothing->stream) != 0)
		return 0;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		int result = nothing->host->subscribe(nothing->host, stream, types[i], RTL_BUFFERED,
						      ignore, NULL, NULL);

		if (result && result != RTL_ENOENT)
			return result;
	}
	return 0;
}

static const struct rtl_setting_info infos[] = {
	RTL_TEXT_SETTING("want", "", 0, 63, "name of a stream"),
};

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "hsa_calls_nothing",
	.version = "1",
	.description = "ignores calls, for benchmarks",
	.settings = infos,
	.setting_count = 1,
	.create = nothing_create,
	.stream = nothing_stream,
	.destroy = free,
};
