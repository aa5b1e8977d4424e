/* SPDX-License-Identifier: MIT */
/*
 * handlers.h: waits for the thread of ROCr's that calls the handlers of signals. A handler may be called
 * long after what the program has waited for.
 *
 * Threads: any but that one.
 */
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ROCr's functions of these names, or what a tool has in their place. */
struct handlers_hsa {
	hsa_status_t (*signal_create)(hsa_signal_value_t value, uint32_t consumer_count,
				      const hsa_agent_t *consumers, hsa_signal_t *signal);
	hsa_status_t (*signal_async_handler)(hsa_signal_t signal, hsa_signal_condition_t condition,
					     hsa_signal_value_t value,
					     hsa_amd_signal_handler handler, void *arg);
	void (*signal_store_relaxed)(hsa_signal_t signal, hsa_signal_value_t value);
	hsa_status_t (*signal_destroy)(hsa_signal_t signal);
};

/* Whether each handler whose signal was ready has been called and has come back, in time. */
bool handlers_settle(const struct handlers_hsa *hsa, unsigned timeout_s);

#ifdef __cplusplus
}
#endif
