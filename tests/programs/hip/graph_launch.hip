/* SPDX-License-Identifier: MIT */
/* graph_launch [LAUNCHES [updated]]: launches two graphs, LAUNCHES times each. One is captured from a
 * stream: a copy to the GPU, kernels, a copy back. The other is built of nodes: a memset,
 * kernels side by side on both halves of the data, a copy back, and a function on the host.
 * With "updated" there is a third one, of two kernels, whose second one is another from the third launch on. */
#define PROGRAM "graph_launch"
#include "../check.h"
#include <hip/hip_runtime.h>

template <typename T> __global__ void graph_multiply(T *data, T factor, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i] *= factor;
}

template <typename T> __global__ void graph_add(T *data, T value, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i] += value;
}

static constexpr int n = 2048, block = 256;
static constexpr int captured_kernels = 4;

static void launch_captured(long launches)
{
	const size_t size = n * sizeof(float);
	hipGraphExec_t executable;
	float *in, *out, *data;
	hipStream_t stream;
	hipGraph_t graph;

	CHECK_HIP(hipStreamCreate(&stream));
	CHECK_HIP(hipMalloc(&data, size));
	CHECK_HIP(hipHostMalloc(&in, size, 0));
	CHECK_HIP(hipHostMalloc(&out, size, 0));

	CHECK_HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	CHECK_HIP(hipMemcpyAsync(data, in, size, hipMemcpyHostToDevice, stream));
	for (int i = 0; i < captured_kernels; i++)
		graph_multiply<float><<<n / block, block, 0, stream>>>(data, 2, n);
	CHECK_HIP(hipMemcpyAsync(out, data, size, hipMemcpyDeviceToHost, stream));
	CHECK_HIP(hipStreamEndCapture(stream, &graph));
	CHECK_HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));

	for (long launch = 0; launch < launches; launch++) {
		const float factor = kernels_run() ? 1 << captured_kernels : 1;

		for (int i = 0; i < n; i++)
			in[i] = i + launch;
		CHECK_HIP(hipGraphLaunch(executable, stream));
		CHECK_HIP(hipStreamSynchronize(stream));
		for (int i = 0; i < n; i++)
			if (out[i] != factor * (i + launch))
				fail("captured graph, launch %ld: element %d differs: %g instead "
				     "of %g",
				     launch, i, out[i], factor * (i + launch));
	}
	CHECK_HIP(hipGraphExecDestroy(executable));
	CHECK_HIP(hipGraphDestroy(graph));
	CHECK_HIP(hipHostFree(in));
	CHECK_HIP(hipHostFree(out));
	CHECK_HIP(hipFree(data));
	CHECK_HIP(hipStreamDestroy(stream));
}

/* Adds a node that runs kernel(data, value, count) after the one before it. */
static hipGraphNode_t add_kernel(hipGraph_t graph, const hipGraphNode_t *before,
				 void (*kernel)(int *, int, int), int *data, int value, int count)
{
	void *pointers[] = {&data, &value, &count};
	hipKernelNodeParams parameters = {};
	hipGraphNode_t node;

	parameters.func = reinterpret_cast<void *>(kernel);
	parameters.gridDim = dim3(count / block);
	parameters.blockDim = dim3(block);
	parameters.kernelParams = pointers;
	CHECK_HIP(hipGraphAddKernelNode(&node, graph, before, before ? 1 : 0, &parameters));
	return node;
}

static void count_call(void *calls)
{
	++*static_cast<long *>(calls);
}

/* memset to 0, then (0 + 5) * 3 in one half and 0 + 7 in the other */
static void build(hipGraph_t graph, int *data, int *out, long *calls)
{
	hipGraphNode_t memset_node, halves[2], copy_node, host_node;
	hipMemsetParams memset_parameters = {};
	hipHostNodeParams host_parameters = {};
	hipGraph_t child;

	memset_parameters.dst = data;
	memset_parameters.elementSize = 4;
	memset_parameters.width = n;
	memset_parameters.height = 1;
	CHECK_HIP(hipGraphAddMemsetNode(&memset_node, graph, nullptr, 0, &memset_parameters));
	halves[0] = add_kernel(graph, &memset_node, graph_add<int>, data, 5, n / 2);
	CHECK_HIP(hipGraphCreate(&child, 0));
	add_kernel(child, nullptr, graph_multiply<int>, data, 3, n / 2);
	CHECK_HIP(hipGraphAddChildGraphNode(&halves[1], graph, halves, 1, child));
	halves[0] = halves[1]; /* the two may not be the same to HIP 5.2 */
	CHECK_HIP(hipGraphDestroy(child));
	halves[1] = add_kernel(graph, &memset_node, graph_add<int>, data + n / 2, 7, n / 2);
	CHECK_HIP(hipGraphAddMemcpyNode1D(&copy_node, graph, halves, 2, out, data, n * sizeof(int),
					  hipMemcpyDeviceToHost));
	host_parameters.fn = count_call;
	host_parameters.userData = calls;
	CHECK_HIP(hipGraphAddHostNode(&host_node, graph, &copy_node, 1, &host_parameters));
}

static void launch_built(long launches)
{
	hipGraphExec_t executable;
	hipStream_t stream;
	hipGraph_t graph;
	int *data, *out;
	long calls = 0;

	CHECK_HIP(hipStreamCreate(&stream));
	CHECK_HIP(hipMalloc(&data, n * sizeof(int)));
	CHECK_HIP(hipHostMalloc(&out, n * sizeof(int), 0));
	CHECK_HIP(hipGraphCreate(&graph, 0));
	build(graph, data, out, &calls);
	CHECK_HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));

	for (long launch = 0; launch < launches; launch++) {
		for (int i = 0; i < n; i++)
			out[i] = -1;
		CHECK_HIP(hipGraphLaunch(executable, stream));
		CHECK_HIP(hipStreamSynchronize(stream));
		for (int i = 0; kernels_run() && i < n; i++)
			if (out[i] != (i < n / 2 ? 15 : 7))
				fail("built graph, launch %ld: element %d differs: %d", launch, i,
				     out[i]);
	}
	if (calls != launches)
		fail("the host function of the graph ran %ld times in %ld launches", calls,
		     launches);
	CHECK_HIP(hipGraphExecDestroy(executable));
	CHECK_HIP(hipGraphDestroy(graph));
	CHECK_HIP(hipHostFree(out));
	CHECK_HIP(hipFree(data));
	CHECK_HIP(hipStreamDestroy(stream));
}

static void launch_updated(long launches)
{
	hipKernelNodeParams parameters = {};
	hipGraphNode_t first, second;
	hipGraphExec_t executable;
	hipStream_t stream;
	hipGraph_t graph;
	int *data, value = 2, count = n;
	void *pointers[] = {&data, &value, &count};

	CHECK_HIP(hipStreamCreate(&stream));
	CHECK_HIP(hipMalloc(&data, n * sizeof(int)));
	CHECK_HIP(hipGraphCreate(&graph, 0));
	first = add_kernel(graph, nullptr, graph_add<int>, data, 5, n);
	second = add_kernel(graph, &first, graph_add<int>, data, 3, n);
	CHECK_HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
	parameters.func = reinterpret_cast<void *>(graph_multiply<int>);
	parameters.gridDim = dim3(n / block);
	parameters.blockDim = dim3(block);
	parameters.kernelParams = pointers;
	for (long launch = 0; launch < launches; launch++) {
		if (launch == 2)
			CHECK_HIP(hipGraphExecKernelNodeSetParams(executable, second, &parameters));
		CHECK_HIP(hipGraphLaunch(executable, stream));
	}
	CHECK_HIP(hipStreamSynchronize(stream));
	CHECK_HIP(hipGraphExecDestroy(executable));
	CHECK_HIP(hipGraphDestroy(graph));
	CHECK_HIP(hipFree(data));
	CHECK_HIP(hipStreamDestroy(stream));
}

int main(int argc, char **argv)
{
	const long launches = number_arg(argc, argv, 1, 5);

	launch_captured(launches);
	launch_built(launches);
	if (argc > 2)
		launch_updated(launches);
	return finish("launches=%ld", 2 * launches);
}
