/* SPDX-License-Identifier: MIT */
/* An emitter of the benchmark's events: bus_emit_rtl.c and bus_emit_lttng.c. */
#pragma once

#include <stdint.h>

/* Once, on the main thread; threads that it starts inherit the CPU of the caller. */
void emit_start(void);
/* n times: the enabled test, and where somebody listens the event. */
void emit(uint64_t n);
/* Waits until what was emitted has been consumed. */
void emit_drain(void);
