/* SPDX-License-Identifier: MIT */
/* Arguments of HIP's copy kernels that no HIP at hand has; those of 5.2, 6.4 and 7.2 real programs try. */
#include "../../streams/hsa/objects/copy_kernels.h"
#include "unit.h"

TEST(test_copy_kernels__of_6_1__read_if_they_fit)
{
	uint64_t words[16] = {0x1000, 0x8000, 16, 32, 100, 16LL << 32 | 4, 0x8000 + 32 + 96};
	const hsa_kernel_dispatch_packet_t packet = {
		.workgroup_size_x = 512, .grid_size_x = 512, .kernarg_address = words};
	uint8_t kernel = copy_kernel_find("__amd_rocclr_copyBuffer");
	struct copy_facts facts;

	assert_true(copy_kernel_read(kernel, sizeof(words), &packet, &facts));
	assert_true(facts.src == 0x1010 && facts.dst == 0x8020 && facts.bytes == 100);
	assert_false(copy_kernel_read(kernel, 6 * 8, &packet, &facts));
	words[6]++;
	assert_false(copy_kernel_read(kernel, sizeof(words), &packet, &facts));
	kernel = copy_kernel_find("__amd_rocclr_fillBufferAligned");
	words[2] = 1LL << 32 | 1; /* its end is before its begin */
	assert_false(copy_kernel_read(kernel, sizeof(words), &packet, &facts));
	assert_int_equal(copy_kernel_find("__amd_rocclr_streamOpsWrite"), 0);
	for (kernel = copy_kernel_find("__amd_rocclr_fillBufferAligned2D"); kernel; kernel--)
		for (unsigned byte = 0; byte < 256; byte++) {
			memset(words, (int)byte, sizeof(words));
			assert_false(copy_kernel_read(kernel, sizeof(words), &packet, &facts));
		}
}

RUN_TESTS(NULL, NULL, NULL, NULL)
