/* SPDX-License-Identifier: MIT */
/* Between hip_forward.c and hip_fake.c. */
#pragma once

#include <rtl/types.h>

#include "functions.h"

/* What the last call of the library's received. */
struct hip_fake_seen {
	enum hip_id id;
	unsigned calls; /* since the program cleared it */
	uint64_t slots[CALL_ARGUMENTS];
};

/* Of hip_fake.c, found with dlsym. */
#define HIP_FAKE_SEEN   "hip_fake_seen"   /* struct hip_fake_seen */
#define HIP_FAKE_LIVELY "hip_fake_lively" /* int: not 0: some functions do something, see there */

/* What a function leaves where its argument number i points to: negative where it has a sign, a
 * value with a name where it is of an enumeration, 0.5 * i as a float. */
static inline uint64_t hip_fake_output(const struct call_argument *argument, unsigned i)
{
	const float real = 0.5f * (float)i;
	uint32_t bits;

	if (argument->out_kind == RTL_KIND_FLOAT) {
		__builtin_memcpy(&bits, &real, sizeof(bits));
		return bits;
	}
	if (argument->values)
		return 1;
	if (argument->out_kind == RTL_KIND_INT)
		return (uint64_t) - (int64_t)(i + 2);
	return 0x1234567890u + i;
}
