/* SPDX-License-Identifier: MIT */
/** @file rtl.h
 * Everything for publishers. Subscribers include <rtl/subscriber.h> instead, and <rtl/events.h> for the payloads of the
 * ROCm streams. */
#ifndef RTL_RTL_H
#define RTL_RTL_H

#include <rtl/publish.h>
#include <rtl/region.h>
#include <rtl/scope.h>
#include <rtl/site.h>
#include <rtl/span.h>
#include <rtl/stash.h>
#include <rtl/stream.h>
#include <rtl/tracepoint.h>
#include <rtl/types.h>

#endif
