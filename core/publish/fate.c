/* SPDX-License-Identifier: MIT */
#include "fate.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "bus.h"
#include "log.h"
#include "session.h"

/* Whether the collector's folder is there, and the program cannot see it any more: it has another
 * root. */
static bool is_out_of_sight(void)
{
	int fd = kept_fd_get(&bus.spool.dir);
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_nlink > 0;
}

/* What has become of the collector. */
enum fate { FATE_SERVES, FATE_ENDED, FATE_REMOVED, FATE_OUT_OF_REACH, FATE_DIED };

static uint32_t fate; /* relaxed: nothing else depends on it */

static enum fate look_for_fate(int *err)
{
	*err = session_look_error();
	if (session_has_ended()) /* it has told its user that we still run */
		return FATE_ENDED;
	if (!*err)
		return FATE_DIED;
	return *err == ENOENT && !is_out_of_sight() ? FATE_REMOVED : FATE_OUT_OF_REACH;
}

static void say_fate(enum fate now, int err)
{
	if (now == FATE_ENDED)
		log_line(RTL_LEVEL_INFO, "bus", "the collector has ended: so has recording");
	else if (now == FATE_REMOVED)
		log_line(RTL_LEVEL_WARNING, "bus",
			 "the collector's folder %s was removed: recording has ended",
			 session_folder());
	else if (now == FATE_OUT_OF_REACH)
		log_line(RTL_LEVEL_WARNING, "bus",
			 "the collector's folder %s is out of the program's reach (%s): events "
			 "that find no room are discarded and counted",
			 session_folder(), strerror(err));
	else
		log_line(
			RTL_LEVEL_WARNING, "bus",
			"the collector is gone: recording goes on as far as RTL_BUFFER_TOTAL goes, "
			"then events are discarded and counted; `rtl recover %s` completes the "
			"trace",
			session_folder());
}

void fate_look(void)
{
	static uint32_t said; /* bits; relaxed, as fate; also for the children */
	int err;
	enum fate now = look_for_fate(&err);

	if (now == FATE_ENDED || now == FATE_REMOVED)
		bus_stop_publishing();
	__atomic_store_n(&fate, now, __ATOMIC_RELAXED);
	if (!(__atomic_fetch_or(&said, 1u << now, __ATOMIC_RELAXED) & 1u << now))
		say_fate(now, err);
}

bool fate_collector_died(void)
{
	return __atomic_load_n(&fate, __ATOMIC_RELAXED) == FATE_DIED;
}

bool fate_is_lost(void)
{
	return __atomic_load_n(&fate, __ATOMIC_RELAXED) >= FATE_OUT_OF_REACH &&
	       !session_has_ended();
}

void fate_forget(void)
{
	__atomic_store_n(&fate, FATE_SERVES, __ATOMIC_RELAXED);
}
