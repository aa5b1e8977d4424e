/* SPDX-License-Identifier: MIT */
/*
 * What `rtl check-subscriber` publishes. One thread.
 */
#pragma once

/** Registers streams with fields of all kinds, and publishes that many events; half of them on a stream
 *  that comes late. */
void check_publish(unsigned count);
