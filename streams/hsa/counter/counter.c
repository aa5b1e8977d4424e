/* SPDX-License-Identifier: MIT */
#include "counter.h"

#include <rtl/rtl.h>
#include <unistd.h>

#include "interceptor.h"
#include "parts.h"
#include "plan.h"
#include "sample.h"
#include "settings.h"
#include "turns.h"

static void register_streams(void)
{
	if (!counter_settings_read() && interceptor.config.strict)
		_exit(2);
	if (counter_settings.count)
		counter_streams_register();
}

/* After the harvester's: what it has not published is given up by now. */
static void stop(uint32_t timeout_ms)
{
	sampler_stop(timeout_ms);
	turns_release_all();
	for (struct counter_gpu *gpu = plan_first(); gpu; gpu = gpu->next)
		sample_publish_ledger(gpu);
}

const struct hsa_part counter_part = {
	.register_streams = register_streams,
	.stop = stop,
	.runtime_ends = turns_forget,
};
