/* SPDX-License-Identifier: MIT */
/*
 * names.h: texts that many rows share. Each has a number, from 0, which is the empty text; in what is
 * sent it stands once for each column and block (LowCardinality). They are valid UTF-8, and stay as
 * long as the instance. One thread.
 */
#ifndef RTL_CLICKHOUSE_NAMES_H
#define RTL_CLICKHOUSE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "map.h"

struct names_used {
	const char **texts;
	uint32_t count;
};

struct names {
	struct hash hash;
	char **texts;
	uint32_t count, room;
	bool out_of_memory;
	/* of the column that is being sent: */
	uint32_t *stamp, *index; /* by name: in which round it was used, and where */
	uint32_t round;
	const char **used;
	uint32_t used_count, used_room;
};

/** False: no memory. */
bool names_init(struct names *names);
/** The number of a text, 0 also where there is no memory, which names->out_of_memory tells. */
uint32_t names_of(struct names *names, const char *text);
void names_fini(struct names *names);

/** Around the names_use of a column. */
void names_begin(struct names *names);
uint32_t names_use_first(struct names *names, uint32_t name);
/** The place of a name among those that the column uses. */
static inline uint32_t names_use(struct names *names, uint32_t name)
{
	return names->stamp[name] == names->round ? names->index[name]
						  : names_use_first(names, name);
}
/** Those that were used, the empty text first. False: no memory. */
bool names_end(struct names *names, struct names_used *used);

#endif
