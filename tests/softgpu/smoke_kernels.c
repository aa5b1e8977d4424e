/* SPDX-License-Identifier: MIT
 *
 * What smoke.hip's kernel does, for SOFTGPU_KERNELS.
 */
#include "host_kernel.h"

__attribute__((visibility("default"))) softgpu_host_kernel smoke_add;

void smoke_add(const void *kernarg,
	       const hsa_kernel_dispatch_packet_t *packet __attribute__((unused)),
	       void *(*host)(uint64_t))
{
	const struct {
		uint64_t to, from;
		int count;
	} *a = kernarg;
	const int *from = host(a->from);
	int *to = host(a->to);

	for (int i = 0; i < a->count; i++)
		to[i] += from[i];
}
