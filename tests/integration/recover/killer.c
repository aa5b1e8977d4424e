/* SPDX-License-Identifier: MIT */
/*
 * killer.c: a subscriber that kills its process in the n-th flush. Behind another in the list
 * that is the moment when that one has stored what was delivered and the rings do not know;
 * before it, the one when nothing of it is stored.
 */
#include <rtl/subscriber.h>

#include <signal.h>
#include <stdlib.h>

static const struct rtl_setting_info infos[] = {
	RTL_NUMBER_SETTING("at", "1", 0, 0, "the flush in which the process is killed, from 1"),
};

static int killer_create(const struct rtl_host *host, const struct rtl_setting *given, size_t count,
			 void **instance)
{
	long *flushes_left = malloc(sizeof(*flushes_left));

	if (!flushes_left)
		return RTL_ENOMEM;
	*flushes_left = (long)rtl_setting_at(given, 0)->number;
	*instance = flushes_left;
	return 0;
}

static int killer_flush(void *instance)
{
	long *flushes_left = instance;

	if (--*flushes_left == 0)
		raise(SIGKILL);
	return 0;
}

static void killer_destroy(void *instance)
{
	free(instance);
}

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "killer",
	.version = "1",
	.description = "kills its process",
	.settings = infos,
	.setting_count = 1,
	.create = killer_create,
	.flush = killer_flush,
	.destroy = killer_destroy,
};
