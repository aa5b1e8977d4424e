/* SPDX-License-Identifier: MIT */
/*
 * What a source plugin (<rtl/source.h>) reads, as processes of a host. Its events do not come from
 * rings: the plugin hands them over, and its processes are closed sources, of which there are the
 * ledger and the answers to subscribers' questions.
 *
 * Threads: the host's call lock, but for strings and tracepoints, which any thread may ask for; the
 * feed's own lock keeps them from the plugin while it reads.
 */
#ifndef RTL_CORE_FEED_H
#define RTL_CORE_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct feed;
struct host;

/*
 * Opens a file or folder with the source plugin of that name, or, with NULL, with the first that says
 * that it reads it.
 * @return 0; RTL_ENOENT: no plugin reads it; others as rtl_source.open's. `message` has a line
 */
int host_add_feed(struct host *host, const char *plugin, const char *path, char *message,
		  size_t size);
/* Lets the one read on that is furthest back in time; false: all is read. */
bool host_read_feeds(struct host *host);
/* Whether one could not be read to the end. */
bool host_feeds_failed(const struct host *host);
/* Bytes that are still to be read. */
uint64_t host_feeds_left(const struct host *host);
/* What a feed says of the run; NULL: nothing. */
const char *host_feeds_property(const struct host *host, const char *key);
/* When no subscriber asks any more. */
void host_close_feeds(struct host *host);

#endif
