/* SPDX-License-Identifier: MIT */
/* Describes this process to subscribers. The thread that starts the bus fills it. */
#ifndef RTL_CORE_PROCESS_H
#define RTL_CORE_PROCESS_H

#include <rtl/subscriber.h>

const struct rtl_process *process_self(void);
/* In a child after fork: it is another process. */
void process_forget(void);

#endif
