/* SPDX-License-Identifier: MIT */
/* Who this process is. Filled by the thread that starts the bus. */
#ifndef RTL_CORE_PROCESS_H
#define RTL_CORE_PROCESS_H

#include <rtl/subscriber.h>

const struct rtl_process *process_self(void);
/* In a child after fork: who it is is another. */
void process_forget(void);

#endif
