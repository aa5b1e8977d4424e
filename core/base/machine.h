/* SPDX-License-Identifier: MIT */
/* What the machine has for this process. Any thread; reads files. */
#ifndef RTL_CORE_MACHINE_H
#define RTL_CORE_MACHINE_H

#include <stdint.h>

/* Bytes of memory: what there is, or what the process's control groups (version 1 or 2) allow. */
uint64_t machine_memory(void);

/* The same, for tests: `groups` is a file as /proc/self/cgroup, `root` a folder as /sys/fs/cgroup. */
uint64_t machine_memory_of(const char *groups, const char *root);

#endif
