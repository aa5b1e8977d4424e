/* SPDX-License-Identifier: MIT */
/* Two plugins in files of the same name come of this: TWIN_NAME tells them apart. It appends a line
 * "TWIN_NAME TAG EVENTS" to a file `twins` in the working directory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rtl/subscriber.h>

struct twin {
	const struct rtl_host *host;
	const char *tag;
	uint64_t events;
};

/* A symbol that both have: each must find its own. */
const char *twin_name(void);

const char *twin_name(void)
{
	return TWIN_NAME;
}

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct twin *twin = user;

	(void)events;
	twin->events += count;
}

static int twin_create(const struct rtl_host *host, const struct rtl_setting *settings,
		       size_t count, void **instance)
{
	struct twin *twin = calloc(1, sizeof(*twin));

	if (!twin)
		return RTL_ENOMEM;
	(void)count;
	*twin = (struct twin){host, rtl_setting_at(settings, 0)->value, 0};
	*instance = twin;
	return 0;
}

static int twin_stream(void *instance, const struct rtl_stream_info *stream)
{
	struct twin *twin = instance;

	return twin->host->subscribe(twin->host, stream, RTL_TYPE_ANY, RTL_BUFFERED, on_events,
				     twin, NULL);
}

static int twin_finish(void *instance)
{
	struct twin *twin = instance;
	FILE *file = fopen("twins", "a");

	if (!file)
		return RTL_EIO;
	fprintf(file, "%s %s %" PRIu64 "\n", twin_name(), twin->tag, twin->events);
	return fclose(file) ? RTL_EIO : 0;
}

static void twin_destroy(void *instance)
{
	free(instance);
}

static const struct rtl_setting_info infos[] = {
	RTL_TEXT_SETTING("tag", "-", 0, 0, "said again at the end"),
};

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "twin",
	.version = "1",
	.description = "counts",
	.settings = infos,
	.setting_count = 1,
	.create = twin_create,
	.stream = twin_stream,
	.finish = twin_finish,
	.destroy = twin_destroy,
};
