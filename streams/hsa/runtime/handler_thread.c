/* SPDX-License-Identifier: MIT */
#include "handler_thread.h"

#include "interceptor.h"

uint32_t handler_thread;

static bool found(hsa_signal_value_t value, void *data)
{
	(void)value;
	__atomic_store_n(&handler_thread, rtl_thread_id(), __ATOMIC_RELAXED);
	interceptor.hsa.signal_destroy((hsa_signal_t){(uint64_t)(uintptr_t)data});
	return false;
}

/* A signal whose condition holds already calls its handler at once. */
void handler_thread_find(void)
{
	hsa_signal_t signal;

	if (interceptor.hsa.signal_create(0, 0, NULL, &signal))
		return;
	if (interceptor.hsa.signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, found,
						 (void *)(uintptr_t)signal.handle))
		interceptor.hsa.signal_destroy(signal);
}
