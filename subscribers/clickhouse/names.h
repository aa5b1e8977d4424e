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

struct names {
	struct hash hash;
	char **texts;
	uint32_t count, room;
	bool out_of_memory;
};

/** False: no memory. */
bool names_init(struct names *names);
/** The number of a text, 0 also where there is no memory, which names->out_of_memory tells. */
uint32_t names_of(struct names *names, const char *text);
void names_fini(struct names *names);

#endif
