/* SPDX-License-Identifier: MIT */
/* The room `runtime`: the way into the HSA runtime and out of it, its tables and functions, the settings, the state, the
 * clocks. The rooms from the bottom up, and what each sees, are in README.md. What the runtime's beginning and end mean
 * to a room it says in a struct hsa_part. That is the only way up: calls.c, above all rooms, lists them.
 *
 * Threads of this room: the thread in hsa_init or hsa_shut_down, under the runtime's own lock, and the one at whose
 * hands the process ends. What hsa_init leaves here is read by all threads and does not change until hsa_shut_down, but
 * for the state. No locks, except the loader's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct root_table;

/* Members may be NULL. Called in the order of the list. */
struct hsa_part {
	/* The settings have been read: whether what they ask for can be had. If not, it says why, and
	 * nothing is traced. */
	bool (*accept)(void);
	/* Registers streams of its own where the settings ask for them. At each beginning. */
	void (*register_streams)(void);
	/* Once in a process, before the first hook. False: no memory, nothing is traced. */
	bool (*prepare)(void);
	/* Puts its hooks into the tables. Those of later parts stand outside of earlier ones'. */
	void (*hook)(struct root_table *root);
	/* Nothing is recorded any more: ends what is under way, in that time. */
	void (*stop)(uint32_t timeout_ms);
	/* After that: the runtime is about to end, for good. Its handles mean nothing any more. */
	void (*runtime_ends)(void);
	/* In the child of a fork, whose runtime is of no use. */
	void (*forked)(void);
};

extern const struct hsa_part objects_part, harvest_part, counter_part, submit_part, report_part;

/* Ends with NULL. */
extern const struct hsa_part *const hsa_parts[];
