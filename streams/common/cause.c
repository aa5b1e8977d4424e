/* SPDX-License-Identifier: MIT */
/* See cause.h. */
#include "cause.h"

__thread struct cause thread_cause;
atomic_bool cause_missing;
