/* SPDX-License-Identifier: MIT */
#include "thread.h"

__thread uint32_t thread_locked __attribute__((tls_model("initial-exec")));
__thread uint32_t thread_no_wait __attribute__((tls_model("initial-exec")));
