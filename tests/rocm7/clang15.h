/* SPDX-License-Identifier: MIT
 * Included before everything when a HIP program is compiled by clang 15 against the
 * headers of ROCm 7: stands in for the builtins that clang learned later. What a kernel
 * computes does not matter here, no software GPU executes its code.
 */
#pragma once

#define __builtin_amdgcn_wavefrontsize()          64
#define __builtin_amdgcn_ballot_w32(predicate)    ((unsigned int)(predicate))
#define __builtin_amdgcn_ballot_w64(predicate)    ((unsigned long long)(predicate))
#define __builtin_elementwise_rint(x)             (x)
#define __builtin_amdgcn_fence(order, scope, ...) __builtin_amdgcn_fence(order, scope)
