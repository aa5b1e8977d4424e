/* SPDX-License-Identifier: MIT */
/* The HSA interceptor's settings, from the environment: see rtl(1). Threads: read in OnLoad. No locks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum config_mode {
	CONFIG_LITE,     /* dispatches without a completion signal of the application */
	CONFIG_STANDARD, /* every dispatch, and copies */
	CONFIG_FULL,     /* and barriers, memory, calls of the HSA runtime */
};

/* Where work of GPUs is learnt from. */
enum config_source {
	CONFIG_QUEUE,   /* queues are intercepted, copies are hooked */
	CONFIG_RUNTIME, /* HIP reports its work itself: report/report.h */
	CONFIG_AUTO,    /* as it is read; report_part decides which of the two it becomes */
};

struct config {
	enum config_mode mode;
	enum config_source source;
	uint32_t slots;
	uint32_t wait_ms;
	uint32_t exit_timeout_ms;
	bool strict; /* what cannot be had ends the program */
};

/* Reads the settings. What is wrong with them is said in one line each. Returns whether collecting is possible as
 * asked. Does not return if RTL_STRICT is 1 and they are wrong. */
bool config_read(struct config *config);
