/* SPDX-License-Identifier: MIT */
/* A subscriber to "bench.bus" that does nothing with its events: what tests/bench/bus measures is the bus. Setting
 * "delivery": inline or buffered. Threads: the host calls one function at a time, inline callbacks come from any. */
#include <stdlib.h>
#include <string.h>

#include <rtl/subscriber.h>

struct nothing {
	const struct rtl_host *host;
	enum rtl_delivery delivery;
};

static void ignore(void *user, const struct rtl_event *const *events, size_t count)
{
}

static int nothing_create(const struct rtl_host *host, const struct rtl_setting *settings,
			  size_t count, void **instance)
{
	struct nothing *nothing = calloc(1, sizeof(*nothing));

	if (!nothing)
		return RTL_ENOMEM;
	nothing->host = host;
	if (rtl_setting_at(settings, 0)->number == RTL_INLINE)
		nothing->delivery = RTL_INLINE;
	*instance = nothing;
	return 0;
}

static int nothing_stream(void *instance, const struct rtl_stream_info *stream)
{
	const struct nothing *nothing = instance;

	if (strcmp(stream->name, "bench.bus") != 0)
		return 0;
	return nothing->host->subscribe(nothing->host, stream, RTL_TYPE_ANY, nothing->delivery,
					ignore, NULL, NULL);
}

static const struct rtl_setting_info nothing_settings[] = {
	RTL_CHOICE_SETTING("delivery", "buffered", "buffered|inline", "how events come"),
};

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "nothing",
	.version = "1",
	.description = "ignores events, for benchmarks",
	.settings = nothing_settings,
	.setting_count = 1,
	.create = nothing_create,
	.stream = nothing_stream,
	.destroy = free,
};
