/* SPDX-License-Identifier: MIT */
/*
 * What has begun and not ended, see rtl_open_reserve in rtl/publish.h. It lies in the ring of its
 * thread (struct ring_open), and becomes an event when the process ends: in order, by
 * open_hand_in; else by who drains the ring (seal.c).
 */
#ifndef RTL_CORE_OPEN_H
#define RTL_CORE_OPEN_H

#include <rtl/publish.h>

/* Publishes what is open in this process, all threads', on the calling thread. Publishing has been
 * stopped. */
void open_hand_in(void);

/* Publishes a copy of a record on the calling thread, wanted or not (publish.c). */
void publish_copy(const struct rtl_record *record);

#endif
