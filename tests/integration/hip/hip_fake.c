/* SPDX-License-Identifier: MIT */
/*
 * A library with every function of HIP's C API that only notes what it received: to see that the
 * interceptor's wrappers hand on arguments and results as they came, for all 5xx of them. What the
 * functions of the real HIP do is tested with the real one.
 *
 * Where a function leaves a value, it leaves the number of the argument and more, see hip_fake_output.
 *
 * With hip_fake_lively set, hipLaunchHostFunc calls the function that it is given at once, and
 * hipDeviceSynchronize calls hipGetDevice as a library calls its own exported functions.
 */
#include "hip_fake.h"

#include <string.h>

#include "slots.h"
#include "types.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT extern struct hip_fake_seen hip_fake_seen;
EXPORT extern int hip_fake_lively;
struct hip_fake_seen hip_fake_seen;
int hip_fake_lively;

int32_t hipGetDevice(int32_t *device);

static void leave_outputs(enum hip_id id, const uint64_t *slots)
{
	const struct hip_function *function = &hip_functions[id];

	for (unsigned i = 0; i < function->signature.count; i++) {
		const uint64_t value = hip_fake_output(&function->signature.arguments[i], i);

		memcpy((void *)(uintptr_t)slots[i], &value,
		       function->signature.arguments[i].out_size);
	}
}

static void note(enum hip_id id, const uint64_t *slots, size_t size)
{
	int32_t device;

	hip_fake_seen.id = id;
	hip_fake_seen.calls++;
	memset(hip_fake_seen.slots, 0, sizeof(hip_fake_seen.slots));
	memcpy(hip_fake_seen.slots, slots, size);
	if (!hip_fake_lively)
		leave_outputs(id, slots);
	if (hip_fake_lively && id == HIP_ID_hipLaunchHostFunc)
		((void (*)(void *))slots[1])((void *)slots[2]);
	if (hip_fake_lively && id == HIP_ID_hipDeviceSynchronize)
		hipGetDevice(&device);
}

/* A result that depends on the function. Every third succeeds. */
#define RESULT_e(id) (int32_t)((id) % 3)
#define RESULT_i(id) (int32_t)((id) % 3)
#define RESULT_a(id) (const char *)(uintptr_t)(0x7000000000 + (id))
#define RESULT_s(id)                                                                               \
	(struct hip_channel_format_desc)                                                           \
	{                                                                                          \
		(int32_t)(id), 1, 2, 3, 4                                                          \
	}

#define CALL_FUNCTION(id, name, symbol, category, ctype, kind, type, notes, parameters, names,     \
		      arguments)                                                                   \
	EXPORT ctype fake_##id parameters __asm__(symbol);                                         \
	ctype fake_##id parameters                                                                 \
	{                                                                                          \
		const uint64_t slots_[] = {arguments 0};                                           \
                                                                                                   \
		note(HIP_ID_##id, slots_, sizeof(slots_));                                         \
		return RESULT_##kind(HIP_ID_##id);                                                 \
	}
#define CALL_PROCEDURE(id, name, symbol, category, ctype, kind, type, notes, parameters, names,    \
		       arguments)                                                                  \
	EXPORT void fake_##id parameters __asm__(symbol);                                          \
	void fake_##id parameters                                                                  \
	{                                                                                          \
		const uint64_t slots_[] = {arguments 0};                                           \
                                                                                                   \
		note(HIP_ID_##id, slots_, sizeof(slots_));                                         \
	}
#define CALL_ENUMERATION(...)
#define HIP_EXCLUDED(...)
#include "functions.def"
