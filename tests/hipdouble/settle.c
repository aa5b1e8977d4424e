/* SPDX-License-Identifier: MIT */
#include "settle.h"

#include "../rocm7/handlers.h"
#include "find.h"

#define TIMEOUT_S 30

void settle_reports(void)
{
	struct handlers_hsa hsa;

	*(void **)&hsa.signal_create = HSA_FIND("hsa_signal_create");
	*(void **)&hsa.signal_async_handler = HSA_FIND("hsa_amd_signal_async_handler");
	*(void **)&hsa.signal_store_relaxed = HSA_FIND("hsa_signal_store_relaxed");
	*(void **)&hsa.signal_destroy = HSA_FIND("hsa_signal_destroy");
	if (hsa.signal_create && hsa.signal_async_handler && hsa.signal_store_relaxed &&
	    hsa.signal_destroy)
		handlers_settle(&hsa, TIMEOUT_S);
}
