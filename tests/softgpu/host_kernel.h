/* SPDX-License-Identifier: MIT
 *
 * What a library that SOFTGPU_KERNELS names exports for a kernel: a function of the kernel's (mangled) name, which does
 * the kernel's work on the host when it is dispatched. Public to tests; needs only the HSA headers.
 */
#pragma once

#include <hsa/hsa.h>
#include <stdint.h>

/* Runs on the engine's thread, for the whole grid at once. kernarg is the argument segment;
 * pointers in it are device addresses: host() makes them usable (and gives back those that
 * are usable already). */
typedef void softgpu_host_kernel(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet,
				 void *(*host)(uint64_t device_address));
