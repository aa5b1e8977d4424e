/* SPDX-License-Identifier: MIT */
/* The second file of each library with a stub: it shares the first one's, in C++ too. */
#include <rtl/stub.h>

#include "test_stub_library.h"

bool stub_second_found(void)
{
	return rtl_stub_calls.found && rtl_version()[0];
}
