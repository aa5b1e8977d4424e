/* SPDX-License-Identifier: MIT */
/* The same as C++. */
#include "test_abi.c"
