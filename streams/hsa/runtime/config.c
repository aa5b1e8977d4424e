/* SPDX-License-Identifier: MIT */
/* The HSA interceptor's settings, from the environment; rtl(1) has them. */
#include "config.h"

#include <errno.h>
#include <rtl/publish.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../hip/preload.h"

/* Whether RTL_MODE can be done, and which it is. */
static bool read_mode(enum config_mode *mode)
{
	const char *name = secure_getenv("RTL_MODE");
	const char *fallback = secure_getenv("RTL_MODE_FALLBACK");

	*mode = CONFIG_STANDARD;
	if (!name || !*name || !strcmp(name, "standard") || !strcmp(name, "default"))
		return true;
	if (!strcmp(name, "lite") || !strcmp(name, "full")) {
		*mode = *name == 'l' ? CONFIG_LITE : CONFIG_FULL;
		return true;
	}
	if (strcmp(name, "hip") != 0) {
		rtl_log(RTL_LEVEL_ERROR, "hsa",
			"RTL_MODE=%s: there is no such mode, GPU work is not traced; modes: lite, "
			"standard (or default), hip, full",
			name);
		return false;
	}
	if (hip_is_preloaded() || hip_table_taken())
		return true;
	if (fallback && *fallback && strcmp(fallback, "0") != 0) {
		rtl_log(RTL_LEVEL_WARNING, "hsa",
			"RTL_MODE=hip needs librtl_rocm.so in LD_PRELOAD: mode standard instead");
		return true;
	}
	rtl_log(RTL_LEVEL_ERROR, "hsa",
		"RTL_MODE=hip needs librtl_rocm.so in LD_PRELOAD, GPU work is not traced; use "
		"`rtl trace` or `rtl env`, another mode, or set RTL_MODE_FALLBACK=1");
	return false;
}

/* Whether RTL_SOURCE makes sense, and which it is. */
static bool read_source(enum config_source *source)
{
	const char *name = getenv("RTL_SOURCE");

	*source = CONFIG_QUEUE;
	if (!name || !*name || !strcmp(name, "queue"))
		return true;
	if (!strcmp(name, "runtime") || !strcmp(name, "auto")) {
		*source = *name == 'r' ? CONFIG_RUNTIME : CONFIG_AUTO;
		return true;
	}
	rtl_log(RTL_LEVEL_ERROR, "hsa",
		"RTL_SOURCE=%s: there is no such source, GPU work is not traced; sources: queue, "
		"runtime, auto",
		name);
	return false;
}

static bool read_number(const char *name, uint32_t least, uint32_t most, uint32_t *value)
{
	const char *text = secure_getenv(name);
	char *end;
	unsigned long long number;

	if (!text || !*text)
		return true;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (*end || errno || *text == '-' || number < least || number > most) {
		rtl_log(RTL_LEVEL_ERROR, "hsa", "%s=%s: must be a number from %u to %u; using %u",
			name, text, least, most, *value);
		return false;
	}
	*value = (uint32_t)number;
	return true;
}

bool config_read(struct config *config)
{
	const char *policy = secure_getenv("RTL_BUFFER_POLICY");
	const char *strict = secure_getenv("RTL_STRICT");
	bool good = true, able;

	*config = (struct config){.slots = 131072,
				  .wait_ms = 60000,
				  .exit_timeout_ms = 1000,
				  .strict = strict && !strcmp(strict, "1")};
	able = read_mode(&config->mode);
	able &= read_source(&config->source);
	good &= read_number("RTL_HSA_SLOTS", 64, 1u << 24, &config->slots);
	good &= read_number("RTL_HSA_WAIT_MS", 0, 600000, &config->wait_ms);
	good &= read_number("RTL_HSA_EXIT_MS", 0, 600000, &config->exit_timeout_ms);
	if (policy && !strcmp(policy, "discard"))
		config->wait_ms = 0;
	if (config->strict && (!good || !able))
		_exit(2);
	return able;
}
