/* SPDX-License-Identifier: MIT */
/* copies [BYTES]: copies in every direction and way and compares each byte, for several sizes, or for the given one
 * only. */
#define PROGRAM "copies"
#include "../check.h"
#include <cstring>
#include <hip/hip_runtime.h>
#include <vector>

static constexpr size_t guard = 64; /* bytes behind each copy that must not change */

extern "C" __global__ void copies_invert(unsigned char *data, size_t size)
{
	size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;

	if (i < size)
		data[i] = ~data[i];
}

static unsigned seed;

/* Other bytes at each call */
static void fill(void *memory, size_t size)
{
	unsigned char *bytes = static_cast<unsigned char *>(memory);

	seed += 12345;
	for (size_t i = 0; i < size; i++)
		bytes[i] = (seed + i * 7 + (i >> 8)) >> 3;
}

static void compare(const char *what, const void *got, const void *expected, size_t size)
{
	const unsigned char *a = static_cast<const unsigned char *>(got);
	const unsigned char *b = static_cast<const unsigned char *>(expected);

	for (size_t i = 0; i < size; i++)
		if (a[i] != b[i])
			fail("%s: byte %zu of %zu differs: %#x instead of %#x", what, i, size, a[i],
			     b[i]);
}

/* The buffers that all tests of one size share */
struct buffers {
	size_t size, all; /* without and with the guard */
	std::vector<unsigned char> source, result;
	unsigned char *pinned_source, *pinned_result, *gpu, *gpu2;
	hipStream_t stream;
};

static void buffers_create(struct buffers *b, size_t size)
{
	b->size = size;
	b->all = size + guard;
	b->source.resize(b->all);
	b->result.resize(b->all);
	CHECK_HIP(hipHostMalloc(&b->pinned_source, b->all, 0));
	CHECK_HIP(hipHostMalloc(&b->pinned_result, b->all, 0));
	CHECK_HIP(hipMalloc(&b->gpu, b->all));
	CHECK_HIP(hipMalloc(&b->gpu2, b->all));
	CHECK_HIP(hipStreamCreate(&b->stream));
}

static void buffers_destroy(struct buffers *b)
{
	CHECK_HIP(hipHostFree(b->pinned_source));
	CHECK_HIP(hipHostFree(b->pinned_result));
	CHECK_HIP(hipFree(b->gpu));
	CHECK_HIP(hipFree(b->gpu2));
	CHECK_HIP(hipStreamDestroy(b->stream));
}

/* Other bytes to the source and to the GPU */
static void put(struct buffers *b, unsigned char *gpu, size_t size)
{
	fill(b->source.data(), size);
	CHECK_HIP(hipMemcpy(gpu, b->source.data(), size, hipMemcpyHostToDevice));
}

static void compare_gpu(const char *what, struct buffers *b, const unsigned char *gpu)
{
	CHECK_HIP(hipStreamSynchronize(b->stream));
	CHECK_HIP(hipMemcpy(b->result.data(), gpu, b->all, hipMemcpyDeviceToHost));
	compare(what, b->result.data(), b->source.data(), b->all);
}

static void test_pageable(struct buffers *b)
{
	put(b, b->gpu, b->all);
	put(b, b->gpu, b->size);
	compare_gpu("pageable copy", b, b->gpu);

	fill(b->source.data(), b->size);
	CHECK_HIP(hipMemcpyAsync(b->gpu, b->source.data(), b->size, hipMemcpyHostToDevice,
				 b->stream));
	CHECK_HIP(
		hipMemcpyAsync(b->result.data(), b->gpu, b->all, hipMemcpyDeviceToHost, b->stream));
	CHECK_HIP(hipStreamSynchronize(b->stream));
	compare("asynchronous pageable copy", b->result.data(), b->source.data(), b->all);

	fill(b->source.data(), b->size);
	CHECK_HIP(hipMemcpyHtoD(b->gpu, b->source.data(), b->size));
	CHECK_HIP(hipMemcpyDtoH(b->result.data(), b->gpu, b->all));
	compare("HtoD and DtoH copy", b->result.data(), b->source.data(), b->all);
}

static void test_pinned(struct buffers *b)
{
	fill(b->pinned_source, b->all);
	CHECK_HIP(
		hipMemcpyAsync(b->gpu, b->pinned_source, b->all, hipMemcpyHostToDevice, b->stream));
	CHECK_HIP(
		hipMemcpyAsync(b->pinned_result, b->gpu, b->all, hipMemcpyDeviceToHost, b->stream));
	CHECK_HIP(hipStreamSynchronize(b->stream));
	compare("pinned copy", b->pinned_result, b->pinned_source, b->all);

	fill(b->pinned_source, b->size);
	CHECK_HIP(hipMemcpyWithStream(b->gpu, b->pinned_source, b->size, hipMemcpyDefault,
				      b->stream));
	CHECK_HIP(
		hipMemcpyWithStream(b->pinned_result, b->gpu, b->all, hipMemcpyDefault, b->stream));
	compare("copy with a stream", b->pinned_result, b->pinned_source, b->all);
}

/* Memory of the program's own that it registers, once. HIP before 6 cannot unregister what the GPU sees under its
 * address on the host: there it stays so. */
static void test_registered()
{
	static unsigned char source[70000];
	std::vector<unsigned char> result(sizeof(source));
	unsigned char *gpu;

	CHECK_HIP(hipMalloc(&gpu, sizeof(source)));
	CHECK_HIP(hipHostRegister(source, sizeof(source), hipHostRegisterDefault));
	fill(source, sizeof(source));
	CHECK_HIP(hipMemcpyAsync(gpu, source, sizeof(source), hipMemcpyHostToDevice, nullptr));
	CHECK_HIP(hipStreamSynchronize(nullptr));
	CHECK_HIP(hipMemcpy(result.data(), gpu, sizeof(source), hipMemcpyDeviceToHost));
	compare("copy from registered memory", result.data(), source, sizeof(source));
#if HIP_VERSION >= 60000000
	CHECK_HIP(hipHostUnregister(source));
#endif
	CHECK_HIP(hipFree(gpu));
}

/* A kernel between two copies of one stream */
static void test_between(struct buffers *b)
{
	fill(b->pinned_source, b->all);
	CHECK_HIP(
		hipMemcpyAsync(b->gpu, b->pinned_source, b->all, hipMemcpyHostToDevice, b->stream));
	copies_invert<<<(b->size + 255) / 256, 256, 0, b->stream>>>(b->gpu, b->size);
	CHECK_HIP(
		hipMemcpyAsync(b->pinned_result, b->gpu, b->all, hipMemcpyDeviceToHost, b->stream));
	CHECK_HIP(hipStreamSynchronize(b->stream));
	for (size_t i = 0; kernels_run() && i < b->size; i++)
		b->pinned_source[i] = ~b->pinned_source[i];
	compare("copy around a kernel", b->pinned_result, b->pinned_source, b->all);
}

static void test_on_gpu(struct buffers *b)
{
	put(b, b->gpu, b->all);
	CHECK_HIP(hipMemcpy(b->gpu2, b->source.data(), b->all, hipMemcpyHostToDevice));
	put(b, b->gpu, b->size);
	CHECK_HIP(hipMemcpy(b->gpu2, b->gpu, b->size, hipMemcpyDeviceToDevice));
	compare_gpu("copy on the GPU", b, b->gpu2);

	CHECK_HIP(hipMemcpyDtoDAsync(b->gpu, b->gpu2, b->size, b->stream));
	compare_gpu("DtoD copy", b, b->gpu);
}

static void test_memset(struct buffers *b)
{
	const size_t words = b->size / 4;
	const unsigned pattern = 0x89abcdef;

	put(b, b->gpu, b->all);
	memset(b->source.data(), 0x5a, b->size);
	CHECK_HIP(hipMemset(b->gpu, 0x5a, b->size));
	compare_gpu("memset", b, b->gpu);

	for (size_t i = 0; i < words; i++)
		memcpy(&b->source[4 * i], &pattern, 4);
	if (words)
		CHECK_HIP(hipMemsetD32Async(b->gpu, static_cast<int>(pattern), words, b->stream));
	compare_gpu("memset of words", b, b->gpu);
}

/* Rows of up to 300 bytes from a pitch of 320 into one of 512, to and from the GPU. What HIP pins begins in pages of
 * its own: of two ranges that begin in one page and differ in pages ROCm 7.2.4 can unpin neither
 * (hsaKmtDeregisterMemory, fmm.c), and aborts where it was built with assertions. */
static void test_2d(struct buffers *b)
{
	static constexpr size_t height = 9;
	alignas(4096) static unsigned char from[320 * height], to[512 * height];
	const size_t width = b->size < 300 ? b->size : 300;
	std::vector<unsigned char> expected(sizeof(to));
	unsigned char *gpu;

	fill(from, sizeof(from));
	memset(to, 0, sizeof(to));
	for (size_t y = 0; y < height; y++)
		memcpy(&expected[512 * y], &from[320 * y], width);
	CHECK_HIP(hipMalloc(&gpu, 512 * height));
	CHECK_HIP(hipMemcpy(gpu, to, 512 * height, hipMemcpyHostToDevice));
	CHECK_HIP(hipMemcpy2D(gpu, 512, from, 320, width, height, hipMemcpyHostToDevice));
	CHECK_HIP(hipMemcpy(to, gpu, 512 * height, hipMemcpyDeviceToHost));
	compare("2D copy to the GPU", to, expected.data(), sizeof(to));

	memset(to, 0, sizeof(to));
	CHECK_HIP(hipMemcpy2DAsync(to, 512, gpu, 512, width, height, hipMemcpyDeviceToHost,
				   b->stream));
	CHECK_HIP(hipStreamSynchronize(b->stream));
	compare("2D copy from the GPU", to, expected.data(), sizeof(to));
	CHECK_HIP(hipFree(gpu));
}

/* Within the GPU a box of up to 300 * 9 * 3 bytes; then each slice's first row behind its last */
static void test_3d(struct buffers *b)
{
	static constexpr size_t pitch = 512, rows = 10, all = pitch * rows * 3;
	const size_t width = b->size < 300 ? b->size : 300;
	std::vector<unsigned char> from(all), to(all), expected(all);
	hipMemcpy3DParms box = {};
	unsigned char *gpu;

	fill(from.data(), all);
	CHECK_HIP(hipMalloc(&gpu, 2 * all));
	CHECK_HIP(hipMemcpy(gpu, from.data(), all, hipMemcpyHostToDevice));
	CHECK_HIP(hipMemsetD8(gpu + all, 0, all));
	box.srcPtr = make_hipPitchedPtr(gpu, pitch, width, rows);
	box.dstPtr = make_hipPitchedPtr(gpu + all, pitch, width, rows);
	box.extent = make_hipExtent(width, 9, 3);
	box.kind = hipMemcpyDeviceToDevice;
	CHECK_HIP(hipMemcpy3DAsync(&box, b->stream));
	CHECK_HIP(hipMemcpy2DAsync(gpu + all + 9 * pitch, rows * pitch, gpu, rows * pitch, width, 3,
				   hipMemcpyDeviceToDevice, b->stream));
	CHECK_HIP(hipStreamSynchronize(b->stream));
	for (size_t row = 0; row < 3 * rows; row++)
		memcpy(&expected[pitch * row], &from[pitch * (row % rows < 9 ? row : row - 9)],
		       width);
	CHECK_HIP(hipMemcpy(to.data(), gpu + all, all, hipMemcpyDeviceToHost));
	compare("3D and 2D copy on the GPU", to.data(), expected.data(), all);
	CHECK_HIP(hipFree(gpu));
}

/* Behind test_memset, which leaves the GPU's memory as the source: a half of it is filled, all copied. */
static void test_graph(struct buffers *b)
{
	hipGraphExec_t executable;
	hipGraph_t graph;

	CHECK_HIP(hipStreamBeginCapture(b->stream, hipStreamCaptureModeGlobal));
	CHECK_HIP(hipMemsetAsync(b->gpu, 0xa5, (b->size + 1) / 2, b->stream));
	CHECK_HIP(hipMemcpyAsync(b->gpu2, b->gpu, b->all, hipMemcpyDeviceToDevice, b->stream));
	CHECK_HIP(hipStreamEndCapture(b->stream, &graph));
	CHECK_HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
	for (int i = 0; i < 2; i++)
		CHECK_HIP(hipGraphLaunch(executable, b->stream));
	memset(b->source.data(), 0xa5, (b->size + 1) / 2);
	compare_gpu("copy of a graph", b, b->gpu2);
	CHECK_HIP(hipGraphExecDestroy(executable));
	CHECK_HIP(hipGraphDestroy(graph));
}

static void test_peer(struct buffers *b)
{
	unsigned char *peer;

	fill(b->source.data(), b->all);
	CHECK_HIP(hipSetDevice(1));
	CHECK_HIP(hipMalloc(&peer, b->all));
	CHECK_HIP(hipMemcpy(peer, b->source.data(), b->all, hipMemcpyHostToDevice));
	CHECK_HIP(hipSetDevice(0));
	put(b, b->gpu, b->size);
	CHECK_HIP(hipMemcpyPeer(peer, 1, b->gpu, 0, b->size));
	CHECK_HIP(hipMemcpyPeerAsync(b->gpu2, 0, peer, 1, b->all, b->stream));
	compare_gpu("copy between GPUs", b, b->gpu2);
	CHECK_HIP(hipFree(peer));
}

int main(int argc, char **argv)
{
	std::vector<size_t> sizes = {1, 63, 4096, 65537, (1 << 20) + 3, 8 << 20};
	int gpus;

	if (argc > 1)
		sizes = {static_cast<size_t>(number_arg(argc, argv, 1, 0))};
	CHECK_HIP(hipGetDeviceCount(&gpus));
	for (size_t size : sizes) {
		struct buffers b;

		buffers_create(&b, size);
		test_pageable(&b);
		test_pinned(&b);
		test_between(&b);
		test_on_gpu(&b);
		test_memset(&b);
		test_2d(&b);
		test_3d(&b);
		test_graph(&b);
		if (gpus > 1)
			test_peer(&b);
		buffers_destroy(&b);
	}
	test_registered();
	return finish("sizes=%zu peer=%s", sizes.size(), gpus > 1 ? "yes" : "no");
}
