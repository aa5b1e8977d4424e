/* SPDX-License-Identifier: MIT */
/* What the calling thread is in the middle of. */
#ifndef RTL_CORE_THREAD_H
#define RTL_CORE_THREAD_H

#include <stdint.h>

#include "hidden.h"

/* > 0 while this thread is where a signal handler must not publish. */
extern __thread uint32_t thread_locked __attribute__((tls_model("initial-exec"))) HIDDEN;
/* > 0 while this thread holds what the consumer needs: it must not wait for room. */
extern __thread uint32_t thread_no_wait __attribute__((tls_model("initial-exec"))) HIDDEN;

#endif
