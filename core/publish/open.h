/* SPDX-License-Identifier: MIT */
/*
 * What has begun and not ended: see rtl_open_reserve in rtl/publish.h. It lies in the ring of its
 * thread (struct ring_open) and becomes an event when the process ends. open_hand_in makes it one
 * if the process ends in order, else the consumer of the ring does (seal.c).
 */
#ifndef RTL_CORE_OPEN_H
#define RTL_CORE_OPEN_H

#include <rtl/publish.h>

/* Publishes on the calling thread what all threads of this process have open. After publishing has
 * been stopped. */
void open_hand_in(void);

/* Publishes a copy of a record on the calling thread, wanted or not (publish.c). */
void publish_copy(const struct rtl_record *record);

#endif
