/* SPDX-License-Identifier: MIT */
/* In place of gpus.c where rtl is built without the headers of the HSA runtime: there is no GPU. */

#include "cli.h"
#include "gpus.h"

int gpus_find(struct gpu *const **found)
{
	return cli_failed("this rtl was built without ROCm; choose a GPU with --arch");
}

struct counter_set *gpu_counters(const struct gpu *gpu, const struct counter_options *options,
				 char *message, size_t size)
{
	return counter_set_load("", options, message, size);
}

bool gpus_count(char *why, size_t size)
{
	snprintf(why, size, "this rtl was built without ROCm");
	return false;
}

bool gpu_block(const struct gpu *gpu, const char *block, uint32_t *instances, uint32_t *registers)
{
	return false;
}
