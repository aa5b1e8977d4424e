/* SPDX-License-Identifier: MIT */
/* What HIP_DOUBLE asks for; hip_double.h tells of each. Set once, when the library is loaded. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Without and with a value. */
/* clang-format off */
#define HIP_DOUBLE_SWITCHES(_) \
	_(clean) _(v02) _(hashed_tid) _(lost_graph) _(no_end) _(last_error) _(disable_hangs) \
	_(exit_hangs) _(enable_fails) _(no_start) _(shifted) _(bad_op) _(bad_node) _(bad_times) _(bad_name)
#define HIP_DOUBLE_NUMBERS(_) _(slab) _(lost_kernel) _(lost_copy) _(crowd)
/* clang-format on */

struct settings {
#define MEMBER(name) bool name;
	HIP_DOUBLE_SWITCHES(MEMBER)
#undef MEMBER
#define MEMBER(name) uint64_t name;
	HIP_DOUBLE_NUMBERS(MEMBER)
#undef MEMBER
};
extern struct settings settings;

/* Ends the process with a line where HIP_DOUBLE has what it should not. */
void settings_read(void);
