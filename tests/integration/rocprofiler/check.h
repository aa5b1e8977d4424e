/* SPDX-License-Identifier: MIT */
/* What tests of the rocprofiler API ask of its calls, with cmocka. One thread. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <rocprofiler/rocprofiler.h>

#define OK(call) assert_ok(call, #call)

static inline const char *error(void)
{
	const char *text = "";

	rocprofiler_error_string(&text);
	return text;
}

static inline void assert_ok(hsa_status_t status, const char *call)
{
	if (status != HSA_STATUS_SUCCESS)
		fail_msg("%s: %s", call, error());
}

static inline void assert_fails(hsa_status_t status, const char *says)
{
	assert_int_not_equal(status, HSA_STATUS_SUCCESS);
	if (!strstr(error(), says))
		fail_msg("'%s' is not in '%s'", says, error());
}
