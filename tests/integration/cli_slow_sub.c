/* SPDX-License-Identifier: MIT */
/* A subscriber whose end takes until a file `go` is in the working directory; it makes a file
 * `finishing` first. */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <rtl/subscriber.h>

static int slow_create(const struct rtl_host *host, const struct rtl_setting *settings,
		       size_t count, void **instance)
{
	(void)host;
	(void)settings;
	(void)count;
	*instance = NULL;
	return 0;
}

static int slow_finish(void *instance)
{
	(void)instance;
	close(open("finishing", O_CREAT | O_WRONLY, 0600));
	while (access("go", F_OK))
		nanosleep(&(struct timespec){0, 5000000}, NULL);
	return 0;
}

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "slow",
	.version = "1",
	.description = "takes its time at the end",
	.create = slow_create,
	.finish = slow_finish,
};
