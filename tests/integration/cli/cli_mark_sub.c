/* SPDX-License-Identifier: MIT */
/* A subscriber that leaves a file where TEST_MARK says when it is loaded: who loaded it, and did it? */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <rtl/subscriber.h>

__attribute__((constructor)) static void leave_mark(void)
{
	const char *path = getenv("TEST_MARK");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd >= 0)
		close(fd);
}

static int mark_create(const struct rtl_host *host, const struct rtl_setting *settings,
		       size_t count, void **instance)
{
	*instance = NULL;
	return 0;
}

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "mark",
	.version = "1",
	.description = "leaves a mark when it is loaded",
	.create = mark_create,
};
