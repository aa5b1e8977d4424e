/* SPDX-License-Identifier: MIT */
#include "discard.h"

#include <stddef.h>

static const char *const discard_texts[SPOOL_DISCARD_CAUSES] = {
	[SPOOL_DISCARD_FULL] = "the ring was full",
	[SPOOL_DISCARD_NO_RING] = "no ring for the thread",
	[SPOOL_DISCARD_REENTRANT] = "from a signal handler that interrupted rtl",
	[SPOOL_DISCARD_TOO_LARGE] = "payload too large",
	[SPOOL_DISCARD_DEPTH] = "inline callbacks nested too deep",
	[SPOOL_DISCARD_MALFORMED] = "not as its stream describes it",
	[SPOOL_DISCARD_COLLECTOR_DIED] = "the collector died, and the buffers were full",
	[SPOOL_DISCARD_STALLED] = "the collector or a subscriber did not get on",
};

const char *discard_text(uint32_t cause)
{
	return cause < SPOOL_DISCARD_CAUSES ? discard_texts[cause] : NULL;
}
