/* SPDX-License-Identifier: MIT */
/*
 * For declarations of variables that hot paths read. Without it the compiler has to suppose that they
 * are another library's, and loads their address first.
 */
#ifndef RTL_CORE_HIDDEN_H
#define RTL_CORE_HIDDEN_H

#define HIDDEN __attribute__((visibility("hidden")))

#endif
