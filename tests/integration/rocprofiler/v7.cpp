/* SPDX-License-Identifier: MIT */
/* v7.c as C++. */
#include <cstdlib>
#include <cstring>

extern "C" {
#include "../../softgpu/hsa_fixture.h"
}
#include "v7.c"
