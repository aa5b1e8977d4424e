// SPDX-License-Identifier: MIT
#include "test_stub_library.c"
