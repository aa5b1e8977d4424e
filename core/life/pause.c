/* SPDX-License-Identifier: MIT */
#include "life.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "futex.h"
#include "session_page.h"

/* Others may cut the file off: what is behind is looked at through the kernel. */
static struct session_page *page;
static bool lost;

void pause_join(void)
{
	const char *folder = secure_getenv("RTL_CONTROL");
	int fd;

	pause_leave();
	if (!folder || !*folder)
		return;
	lost = session_join_page("RTL_CONTROL", folder, &page, &fd);
	if (!lost)
		close(fd);
}

void pause_leave(void)
{
	if (page)
		munmap(page, sizeof(*page));
	page = NULL;
	lost = false;
}

bool pause_is_on(void)
{
	return page ? futex_is(&page->paused, 1) : lost;
}
