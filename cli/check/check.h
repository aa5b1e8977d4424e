/* SPDX-License-Identifier: MIT */
/*
 * What `rtl check-subscriber` does to a subscriber: scenarios, each in a process of its own. One thread.
 */
#ifndef RTL_CLI_CHECK_H
#define RTL_CLI_CHECK_H

/** Registers streams with fields of all kinds, and publishes that many events; half of them on a stream
 *  that comes late. */
void check_publish(unsigned count);

/** The exit status of a scenario that came to its end. */
#define CHECK_DONE 77
/** With what stands behind it on standard error, a scenario says what the subscriber does wrong. */
#define CHECK_SAYS "rtl: check: "

/** Becomes that scenario, in the working directory, beside which is the recording that `record` makes: of two
 *  processes, one of them killed. */
_Noreturn void check_scenario(const char *name, const char *list);

#endif
