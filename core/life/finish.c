/* SPDX-License-Identifier: MIT */
#include "life.h"

#include <stdlib.h>

#include "bus.h"
#include "log.h"
#include "parts.h"

struct at_finish {
	struct at_finish *next;
	rtl_at_finish_fn fn;
	void *user;
};

static struct at_finish *list; /* under bus.lock */

static struct at_finish *take(void)
{
	struct at_finish *entry;

	bus_lock();
	entry = list;
	if (entry)
		list = entry->next;
	else
		__atomic_store_n(&bus.state, BUS_FINISHED, __ATOMIC_RELEASE);
	bus_unlock();
	return entry;
}

void finish_call(void)
{
	struct at_finish *entry;

	while ((entry = take())) {
		entry->fn(entry->user);
		free(entry);
	}
}

int rtl_at_finish(rtl_at_finish_fn fn, void *user)
{
	struct at_finish *entry = malloc(sizeof(*entry));
	int err = 0;

	if (!entry)
		return RTL_ENOMEM;
	*entry = (struct at_finish){.fn = fn, .user = user};
	bus_lock();
	if (bus.state == BUS_FINISHED) {
		err = RTL_EBUSY;
	} else {
		entry->next = list;
		list = entry;
	}
	bus_unlock();
	if (err)
		free(entry);
	return err;
}

/* As late as a library can: after main, atexit and static destructors of the program. */
__attribute__((destructor)) static void finish(void)
{
	if (!bus_here())
		return;
	/* a signal may be ending the bus just now: that is waited for */
	if (__atomic_load_n(&bus.state, __ATOMIC_RELAXED) == BUS_FINISHED &&
	    !termination_requested())
		return;
	finish_call();
	if (bus.collected) {
		bus_stop_publishing();
		open_hand_in();
		/* release: with the acquire of the collector, which then sees the last heads */
		__atomic_store_n(&bus.spool.control->finished, 1, __ATOMIC_RELEASE);
		bus_ring_bell();
	}
	if (!__atomic_load_n(&bus.consumer_runs, __ATOMIC_RELAXED) || bus_own_thread)
		return;
	if (!consumer_end()) {
		log_line(RTL_LEVEL_ERROR, "bus",
			 "a subscriber has not moved for %u ms: the "
			 "program ends without it, what it had not written is lost",
			 bus.settings.exit_timeout_ms);
		return; /* it may still use all of this */
	}
	if (bus.keeps_spool)
		return; /* for `rtl recover` */
	bus_lock();     /* somebody may be making a ring */
	spool_remove_files(&bus.spool);
	bus_unlock();
}
