/* SPDX-License-Identifier: MIT */
/*
 * What is loaded into the process: what the address of a call site means outside of it.
 *
 * Threads: any, not under bus.lock: the loader's lock is taken. glibc does not open that lock anew
 * in a child of fork, whose first look would wait for ever; so a fork waits for ours, which is held
 * meanwhile.
 */
#ifndef RTL_CORE_LOADED_H
#define RTL_CORE_LOADED_H

#include <stdbool.h>
#include <stdint.h>

struct module {
	uint64_t build_id; /* hash of the build id, else of the file's name */
	uint64_t offset;
	const char *path;
};

/* Where an address is; NULL: nowhere. */
struct module loaded_module(const void *code);
/* How many libraries the process has unloaded: until there are more, an address is where it was. */
uint64_t loaded_unloads(void);

/* For a fork: false: it was not to be had in a second. */
bool loaded_lock(void);
void loaded_unlock(void);
/* In the child. held: by this thread, before the fork. */
void loaded_reopen(bool held);

#endif
