/* SPDX-License-Identifier: MIT */
/*
 * What `rtl check-subscriber` publishes. One thread.
 */
#ifndef RTL_CLI_CHECK_H
#define RTL_CLI_CHECK_H

/** Registers streams with fields of all kinds, and publishes that many events; half of them on a stream
 *  that comes late. */
void check_publish(unsigned count);

#endif
