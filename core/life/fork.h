/* SPDX-License-Identifier: MIT */
/*
 * What becomes of the bus when the process forks: nobody is in the middle of it, and the child
 * takes nothing of its parent's but the registries. A signal handler that has interrupted rtl may
 * fork for a child that ends or execs; it does not wait for what its own thread holds.
 */
#ifndef RTL_CORE_FORK_H
#define RTL_CORE_FORK_H

/* From now on forks are prepared for before all that was registered for them until now. At the
 * first start; children inherit it. Until then a constructor's handlers do the same. */
void fork_watch(void);

#endif
