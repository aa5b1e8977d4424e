/* SPDX-License-Identifier: MIT */

#include "harvest.h"
#include "interceptor.h"
#include "signal_watch.h"

/* How often to look at a signal before the runtime waits for it: 2 us or so. */
#define LOOKS 64
/* A shorter timeout, in ns, is left to the runtime as a whole. */
#define LOOKS_TIMEOUT_NS 20000u

/* hsa_amd_signal_wait_all has come with ROCm 6; hsa_amd_signal_wait_any has the same type. */
typedef uint32_t wait_many_fn(uint32_t count, hsa_signal_t *signals,
			      hsa_signal_condition_t *conditions, hsa_signal_value_t *values,
			      uint64_t timeout, hsa_wait_state_t state, hsa_signal_value_t *found);

static struct {
	__typeof__(hsa_signal_load_relaxed) *load_relaxed, *load_scacquire;
	__typeof__(hsa_signal_wait_relaxed) *wait_relaxed, *wait_scacquire;
	wait_many_fn *wait_any, *wait_all;
} next;

/* A completed signal has 0: HIP waits for nothing that it sees so. */
#define LOAD(name)                                                                                 \
	static hsa_signal_value_t load_##name(hsa_signal_t signal)                                 \
	{                                                                                          \
		const hsa_signal_value_t value = next.load_##name(signal);                         \
                                                                                                   \
		if (value < 1)                                                                     \
			(void)harvest_help();                                                      \
		return value;                                                                      \
	}
LOAD(relaxed)
LOAD(scacquire)

/* Whether the signal has such a value, or gets it soon: *value. The runtime also looks for a while
 * before it sleeps; calling it takes longer, and it reads a clock before each look. The pause leaves
 * the signal's cache line to the GPU, which writes the times there and then the value. */
static inline bool is_there_soon(hsa_signal_t handle, hsa_signal_condition_t condition,
				 hsa_signal_value_t compared, uint64_t timeout,
				 hsa_signal_value_t *value)
{
	const amd_signal_t *signal = (const amd_signal_t *)handle.handle;

	if (timeout < LOOKS_TIMEOUT_NS || !interceptor_on() || !signal ||
	    signal->kind != AMD_SIGNAL_KIND_USER)
		return false;
	for (int i = 0; i < LOOKS; i++) {
		/* Acquire: pairs with the release of who completes it, the GPU or a thread. */
		*value = __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE);
		if (signal_holds(*value, condition, compared))
			return true;
#ifdef __x86_64__
		__builtin_ia32_pause();
#endif
	}
	return false;
}

/* A wait may have ended because its time was over. */
#define WAIT(name)                                                                                 \
	static hsa_signal_value_t wait_##name(                                                     \
		hsa_signal_t signal, hsa_signal_condition_t condition,                             \
		hsa_signal_value_t compared, uint64_t timeout, hsa_wait_state_t state)             \
	{                                                                                          \
		hsa_signal_value_t value;                                                          \
                                                                                                   \
		if (!is_there_soon(signal, condition, compared, timeout, &value))                  \
			value = next.wait_##name(signal, condition, compared, timeout, state);     \
		if (signal_holds(value, condition, compared))                                      \
			(void)harvest_help();                                                      \
		return value;                                                                      \
	}
WAIT(relaxed)
WAIT(scacquire)

/* What wait_all returns tells whether all of them hold, in a way that releases differ in. */
#define WAIT_MANY(name, has_waited)                                                                \
	static uint32_t wait_##name(uint32_t count, hsa_signal_t *signals,                         \
				    hsa_signal_condition_t *conditions,                            \
				    hsa_signal_value_t *values, uint64_t timeout,                  \
				    hsa_wait_state_t state, hsa_signal_value_t *found)             \
	{                                                                                          \
		const uint32_t which = next.wait_##name(count, signals, conditions, values,        \
							timeout, state, found);                    \
                                                                                                   \
		if (has_waited)                                                                    \
			(void)harvest_help();                                                      \
		return which;                                                                      \
	}
WAIT_MANY(any, which < count)
WAIT_MANY(all, true)

#define HOOK(of, name) table_hook(root, ENTRY_##of##name, (void *)(name), &next.name)

void waits_hook(struct root_table *root)
{
	HOOK(hsa_signal_, load_relaxed);
	HOOK(hsa_signal_, load_scacquire);
	HOOK(hsa_signal_, wait_relaxed);
	HOOK(hsa_signal_, wait_scacquire);
	HOOK(hsa_amd_signal_, wait_any);
	HOOK(hsa_amd_signal_, wait_all);
}
