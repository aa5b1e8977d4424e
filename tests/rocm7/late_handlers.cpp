/* SPDX-License-Identifier: MIT */
/*
 * late_handlers: a tool with which each handler of a signal comes LATE_HANDLERS_US later, as on a busy
 * machine. A program that has waited for its work then ends while HIP has not handled it.
 *
 * Threads: any.
 */
#include <cstdlib>
#include <unistd.h>

#include <hsa/hsa.h>
#include <hsa/hsa_api_trace.h>
#include <hsa/hsa_ext_amd.h>

namespace
{

struct handler {
	hsa_amd_signal_handler function;
	void *arg;
};

decltype(hsa_amd_signal_async_handler) *next;
useconds_t late_us;

bool call_late(hsa_signal_value_t value, void *arg)
{
	handler *const called = static_cast<handler *>(arg);
	bool again;

	usleep(late_us);
	again = called->function(value, called->arg);
	if (!again)
		free(called);
	return again;
}

hsa_status_t signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t condition,
				  hsa_signal_value_t value, hsa_amd_signal_handler function,
				  void *arg)
{
	handler *const called = static_cast<handler *>(malloc(sizeof(*called)));

	if (!called)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	*called = {function, arg};
	return next(signal, condition, value, call_late, called);
}

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT bool OnLoad(HsaApiTable *table, uint64_t, uint64_t, const char *const *)
{
	const char *us = getenv("LATE_HANDLERS_US");

	late_us = us ? atoi(us) : 0;
	next = table->amd_ext_->hsa_amd_signal_async_handler_fn;
	table->amd_ext_->hsa_amd_signal_async_handler_fn = signal_async_handler;
	return true;
}

EXPORT void OnUnload()
{
}
