/* SPDX-License-Identifier: MIT */
/* <rtl/collector.h>: asking the flight recorder of another process for a snapshot. Any thread. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>

#include <rtl/collector.h>

#include "futex.h"
#include "recorder.h"
#include "session_page.h"

#define WAIT_MS 100u
/* For a collector that does not answer: it is stopped, or a machine is far too busy. */
#define PATIENCE 600u

/* For as long as this process lives: the descriptor stays open. */
static int hold(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return RTL_ENOENT;
	(void)flock(fd, LOCK_SH | LOCK_NB);
	return 0;
}

/* Waits for the snapshot of that number; 0, or what came of it. */
static int await(const char *folder, struct session_page *page, uint32_t number)
{
	uint32_t made, waits = 0;

	/* acquire: with the release of the collector */
	while ((int32_t)((made = __atomic_load_n(&page->snapshots_made, __ATOMIC_ACQUIRE)) -
			 number) < 0) {
		if (!session_folder_is_alive(folder))
			return RTL_ENOENT;
		if (waits++ == PATIENCE)
			return RTL_EBUSY;
		futex_wait(&page->snapshots_made, made, WAIT_MS);
	}
	return -(int)__atomic_load_n(&page->snapshot_error, __ATOMIC_RELAXED);
}

static int ask(const char *folder, struct session_page *page, char *path, size_t path_size,
	       uint32_t *kept_ms)
{
	/* release: with the acquire of the collector */
	const uint32_t number = __atomic_add_fetch(&page->snapshots_asked, 1, __ATOMIC_RELEASE);
	char *name = snapshot_path(folder, number);
	int err = name ? 0 : RTL_ENOMEM;

	session_ring(page);
	if (!err)
		err = await(folder, page, number);
	if (!err)
		err = hold(name);
	if (!err) {
		*kept_ms = __atomic_load_n(&page->snapshot_kept_ms, __ATOMIC_RELAXED);
		snprintf(path, path_size, "%s", name);
	}
	free(name);
	return err;
}

static void explain(int err, const char *folder, char *message, size_t size)
{
	if (err == RTL_ENOTSUP)
		snprintf(message, size,
			 "the rtl of %s is no flight recorder: it was started without --last",
			 folder);
	else if (err == RTL_ENOENT)
		snprintf(message, size, "the rtl of %s has ended; its output has what it kept",
			 folder);
	else if (err == RTL_EBUSY)
		snprintf(message, size, "the rtl of %s does not answer: is it stopped?", folder);
	else
		snprintf(message, size, "%s: the snapshot could not be made: %s", folder,
			 rtl_error_text(err));
}

int rtl_collector_snapshot(const char *folder, char *path, size_t path_size, uint32_t *kept_ms,
			   char *message, size_t size)
{
	struct session_page *page;
	int err = session_map(folder, &page);

	if (err) {
		snprintf(message, size, "%s is not the folder of a running rtl: %s", folder,
			 rtl_error_text(err));
		return err;
	}
	err = session_folder_is_alive(folder) ? ask(folder, page, path, path_size, kept_ms)
					      : RTL_ENOENT;
	if (err)
		explain(err, folder, message, size);
	munmap(page, sizeof(*page));
	return err;
}

void rtl_collector_snapshot_remove(const char *path)
{
	snapshot_remove(path);
}
