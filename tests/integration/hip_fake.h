/* SPDX-License-Identifier: MIT */
/* Between hip_forward.c and hip_fake.c. */
#ifndef TESTS_HIP_FAKE_H
#define TESTS_HIP_FAKE_H

#include "functions.h"

/* What the last call of the library's received. */
struct hip_fake_seen {
	enum hip_id id;
	unsigned calls; /* since the program cleared it */
	uint64_t slots[HIP_ARGUMENTS_MAX];
};

/* Of hip_fake.c, found with dlsym. */
#define HIP_FAKE_SEEN   "hip_fake_seen"   /* struct hip_fake_seen */
#define HIP_FAKE_LIVELY "hip_fake_lively" /* int: not 0: some functions do something, see there */

#endif
