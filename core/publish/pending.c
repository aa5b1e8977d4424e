/* SPDX-License-Identifier: MIT */
/* What publishers have under way: rtl_stream_pending, see rtl/stream.h. */
#include <string.h>

#include "bus.h"
#include "log.h"

/* For publishers that got no entry; nobody reads it. */
static struct rtl_pending none;

_Static_assert(offsetof(struct spool_pending, pub) == 0, "an entry begins with its public part");

static struct spool_pending *take(uint32_t stream, const char *cause)
{
	struct spool_pending *list = bus.spool.control->pending;

	for (uint32_t i = 0; i < SPOOL_PENDING_MAX; i++) {
		if (list[i].used)
			continue;
		memset(&list[i], 0, sizeof(list[i]));
		list[i].stream = stream;
		strncpy(list[i].cause, cause, sizeof(list[i].cause) - 1);
		/* release: with the acquire in ledger.c */
		__atomic_store_n(&list[i].used, 1, __ATOMIC_RELEASE);
		return &list[i];
	}
	return NULL;
}

struct rtl_pending *rtl_stream_pending(struct rtl_stream *stream, const char *cause)
{
	struct spool_pending *entry;

	if (!stream || stream == &rtl_stream_none || !cause || (!bus_here() && bus_ops.start()))
		return &none;
	bus_lock();
	entry = take(stream->number, cause);
	bus_unlock();
	if (entry)
		return &entry->pub;
	log_line(RTL_LEVEL_INFO, "bus",
		 "no entry is left (of %u) for what is under way: if the process is killed, it is "
		 "not counted",
		 SPOOL_PENDING_MAX);
	return &none;
}

void rtl_pending_release(struct rtl_pending *pending)
{
	struct spool_pending *entry = (struct spool_pending *)pending;

	/* in a child of fork it is its parent's */
	if (!pending || pending == &none || !bus_here())
		return;
	bus_lock();
	__atomic_store_n(&entry->used, 0, __ATOMIC_RELEASE);
	bus_unlock();
}
