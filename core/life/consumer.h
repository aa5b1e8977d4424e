/* SPDX-License-Identifier: MIT */
/*
 * The bus's own thread, `rtl-bus`, which delivers to the subscribers in this process.
 */
#ifndef RTL_CORE_CONSUMER_H
#define RTL_CORE_CONSUMER_H

#include <stdbool.h>

/* Starts it; RTL_ELIMIT, which has been said. While the bus starts. */
int consumer_start(void);
/* Has it drain all and finish the subscribers, and waits for it as long as it gets on, and
 * RTL_EXIT_TIMEOUT longer. False: it does not end, and may still use all. */
bool consumer_end(void);
/* In a child: it is not here. */
void consumer_forget(void);

#endif
