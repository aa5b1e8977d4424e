/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from the descriptions beside it. Not to be edited. */
/**
 * @file events.h
 *
 * Payloads of the streams that rtl's interceptors publish, for subscribers that know them; a
 * subscriber that does not can use the descriptions that come with each stream. `rtl list-streams`
 * prints the same.
 *
 * A payload may be longer than the struct here, where a newer interceptor published it. Check once
 * per stream that version_major is the one here and payload_size of the type at least
 * sizeof(struct).
 */
#ifndef RTL_EVENTS_H
#define RTL_EVENTS_H

#include <rtl/events/hsa.h>
#include <rtl/events/hsa_copy.h>
#include <rtl/events/hsa_mem.h>
#include <rtl/events/hsa_call.h>
#include <rtl/events/hip_call.h>
#include <rtl/events/roctx.h>
#include <rtl/events/counter.h>
#include <rtl/events/xpti.h>

#endif
