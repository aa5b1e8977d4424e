/* SPDX-License-Identifier: MIT */
#include "pause.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rtl/publish.h>

#include "futex.h"
#include "log.h"
#include "session_page.h"

/* Others may cut the file off: what is behind is looked at through the kernel. */
static struct session_page *page;
static bool lost;

static int map_own(const char *folder, uid_t *owner)
{
	int fd, err = session_open_own_page(folder, &fd, owner);

	if (err)
		return err;
	err = session_map_page(fd, &page);
	close(fd);
	return err;
}

void pause_join(void)
{
	const char *folder = secure_getenv("RTL_CONTROL");
	uid_t owner;
	int err;

	pause_leave();
	if (!folder || !*folder)
		return;
	err = map_own(folder, &owner);
	lost = err;
	if (err == RTL_ENOENT) /* a program that outlives `rtl trace` */
		log_line(RTL_LEVEL_INFO, "bus", "nothing is at RTL_CONTROL=%s: nothing is recorded",
			 folder);
	else if (err && owner != geteuid())
		session_say_foreign("RTL_CONTROL", folder, owner);
	else if (err)
		log_line(RTL_LEVEL_ERROR, "bus",
			 "RTL_CONTROL=%s cannot be used (%s): nothing is recorded; unset it, or "
			 "start the program with `rtl trace`",
			 folder, rtl_error_text(err));
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
