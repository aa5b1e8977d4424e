/* SPDX-License-Identifier: MIT */
/* Which kernel lies at which address: a hash table that is read without a lock on the hot path.
 *
 * Kernel objects are addresses, which are used again: an entry is emptied when its executable is destroyed, and filled
 * anew when another is loaded there. struct kernel is never freed: there is one for each distinct kernel, as in librtl.
 *
 * Threads: kernel_table_find from any; the others take a lock. HSA makes sure that no kernel is dispatched before
 * hsa_executable_freeze has returned or after its executable is destroyed: a reader sees no change of its entry. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The name that stands for kernels whose code was not seen. */
#define KERNEL_UNKNOWN "(unknown kernel)"

/* Of its dispatches, for counter/sample.c. Relaxed. */
struct kernel_counting {
	uint32_t next_pass;
	uint8_t asked; /* 0: not known yet */
};
enum { KERNEL_COUNTED = 1, KERNEL_NOT_COUNTED };

struct kernel {
	uint64_t uid;
	uint64_t name;       /* interned, without ".kd" */
	struct kernel *next; /* of a bucket of names */
	bool by_name;        /* stands for all of that name: kernel_table_named */
	/* Relaxed, from before the first dispatch on: */
	bool left_out;          /* see kernels.h */
	uint8_t copies;         /* copy_kernel_find */
	uint8_t argument_bytes; /* at most 255; if it copies */
	struct kernel_counting counting;
};

/* Sets a fact of it. */
static inline void kernel_set(const void *fact, uint8_t value)
{
	__atomic_store_n((uint8_t *)(uintptr_t)fact, value, __ATOMIC_RELAXED); /* as below */
}

static inline struct kernel_counting *kernel_counting(const struct kernel *kernel)
{
	return &((struct kernel *)(uintptr_t)kernel)->counting; /* all of them are ours */
}

/* The kernel at that address, or the one that stands for unknown ones. Never NULL once
 * kernel_table_init has succeeded. */
const struct kernel *kernel_table_find(uint64_t object);

/* 0 or RTL_ENOMEM; a second call does nothing. runs_first: by the first dispatch of a kernel that waits; on
 * return it does not. */
int kernel_table_init(void (*runs_first)(uint64_t object));

/* A kernel that waits for its first dispatch: only its symbol is kept, an even number; 0: it is an unknown one. 0 or
 * RTL_ENOMEM. */
int kernel_table_wait(uint64_t object, uint64_t executable, uint64_t symbol);

/* Whether the one at that address does; of which executable. */
bool kernel_table_waits(uint64_t object, uint64_t *executable, uint64_t *symbol);

/* A kernel like that one (uid, name, and the facts that are from before the first dispatch on) at that address, of that
 * executable. 0 or RTL_ENOMEM; then, and where no kernel of that uid was there before, *first becomes true, else false. */
int kernel_table_add(uint64_t object, uint64_t executable, const struct kernel *like, bool *first);

/* The kernel of that name, for who knows no address: the only one that has been added, or if there are
 * none or several, the one of no code object, which `uid` then is. NULL: no memory. */
const struct kernel *kernel_table_named(uint64_t name, uint64_t (*uid)(uint64_t name));

/* Whether one of that name has been added. */
bool kernel_table_has_name(uint64_t name);

/* Whether dispatches of it are, wherever it lies. */
static inline bool kernel_is_left_out(const struct kernel *kernel)
{
	return __atomic_load_n(&kernel->left_out, __ATOMIC_RELAXED);
}

/* Empties the entries of an executable. */
void kernel_table_remove(uint64_t executable);
