/* SPDX-License-Identifier: MIT */
/* What publishers need of what lies above them. The table is life's; no lock is held around a call. */
#ifndef RTL_CORE_UPCALLS_H
#define RTL_CORE_UPCALLS_H

#include <stdbool.h>
#include <stdint.h>

struct bus_ops {
	/* Starts the bus if it was not yet, or again in a child. Any thread. */
	int (*start)(void);
	/* Tells the subscribers of this process of a stream. False: they hear of it later, and all
	 * of it is recorded until then. */
	bool (*tell_stream)(uint32_t number);
	/* Grows as long as this process's subscribers are given events; 0 without any. */
	uint64_t (*progress)(void);
	/* The subscriber that has been called and has not returned; NULL: none. */
	const char *(*at_work)(void);
	/* Whether there are rings that the consumer in this process cannot read for want of memory. */
	bool (*is_starved)(void);
};

extern const struct bus_ops bus_ops;

#endif
