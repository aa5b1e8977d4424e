/* SPDX-License-Identifier: MIT */
/* module_launch [ROUNDS]: loads one of two code objects, launches its kernel in three ways and unloads it, in turn, so
 * that different kernels get the same address. The code objects lie beside the program. */
#define PROGRAM "module_launch"
#include "../check.h"
#include <fstream>
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>
#include <iterator>
#include <string>
#include <vector>

static constexpr unsigned n = 1024, block = 256;

/* The program's own kernel, beside those of the modules */
extern "C" __global__ void module_start(unsigned *data, unsigned size, unsigned value)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < size)
		data[i] = value;
}

struct parameters {
	unsigned *data;
	unsigned n, value;
};

/* The architecture without its features: gfx906 */
static std::string gpu_name()
{
	hipDeviceProp_t properties;

	CHECK_HIP(hipGetDeviceProperties(&properties, 0));
	std::string name = properties.gcnArchName;
	return name.substr(0, name.find(':'));
}

static std::vector<char> file_content(const std::string &path)
{
	std::ifstream file(path, std::ios::binary);

	return std::vector<char>(std::istreambuf_iterator<char>(file), {});
}

static void launch_with_pointers(hipFunction_t function, struct parameters parameters)
{
	void *pointers[] = {&parameters.data, &parameters.n, &parameters.value};

	CHECK_HIP(hipModuleLaunchKernel(function, n / block, 1, 1, block, 1, 1, 0, nullptr,
					pointers, nullptr));
}

static void launch_with_buffer(hipFunction_t function, struct parameters parameters)
{
	size_t size = sizeof(parameters);
	void *config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &parameters,
			  HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};

	CHECK_HIP(hipModuleLaunchKernel(function, n / block, 1, 1, block, 1, 1, 0, nullptr, nullptr,
					config));
}

/* The extended launch counts work items, not blocks, and times the kernel with events. */
static void launch_extended(hipFunction_t function, struct parameters parameters)
{
	void *pointers[] = {&parameters.data, &parameters.n, &parameters.value};
	hipEvent_t start, stop;
	float ms = -1;

	CHECK_HIP(hipEventCreate(&start));
	CHECK_HIP(hipEventCreate(&stop));
	CHECK_HIP(hipExtModuleLaunchKernel(function, n, 1, 1, block, 1, 1, 0, nullptr, pointers,
					   nullptr, start, stop, 0));
	CHECK_HIP(hipEventSynchronize(stop));
	CHECK_HIP(hipEventElapsedTime(&ms, start, stop));
	if (ms < 0 || ms > 60000)
		fail("the extended launch took %.3f ms", ms);
	CHECK_HIP(hipEventDestroy(start));
	CHECK_HIP(hipEventDestroy(stop));
}

int main(int argc, char **argv)
{
	static const char *const files[] = {"module_add", "module_mul"};
	static const char *const symbols[] = {"_Z10module_addPjjj", "_Z10module_mulPjjj"};
	const long rounds = number_arg(argc, argv, 1, 10);
	const std::string program = argv[0];
	const std::string folder = program.substr(0, program.rfind('/') + 1);
	const std::string suffix = "." + gpu_name() + ".co";
	struct parameters parameters = {nullptr, n, 3};
	std::vector<unsigned> data(n);
	unsigned expected = 7;

	CHECK_HIP(hipMalloc(&parameters.data, n * sizeof(unsigned)));
	module_start<<<n / block, block>>>(parameters.data, n, expected);
	for (long round = 0; round < rounds; round++) {
		const std::string path = folder + files[round % 2] + suffix;
		hipFunction_t function;
		hipModule_t module;

		if (round % 4 < 2)
			CHECK_HIP(hipModuleLoad(&module, path.c_str()));
		else
			CHECK_HIP(hipModuleLoadData(&module, file_content(path).data()));
		CHECK_HIP(hipModuleGetFunction(&function, module, symbols[round % 2]));
		launch_with_pointers(function, parameters);
		launch_with_buffer(function, parameters);
		launch_extended(function, parameters);
		CHECK_HIP(hipDeviceSynchronize());
		CHECK_HIP(hipModuleUnload(module));
		expected = round % 2 ? expected * 27 : expected + 9;
	}
	CHECK_HIP(hipMemcpy(data.data(), parameters.data, n * sizeof(unsigned),
			    hipMemcpyDeviceToHost));
	for (unsigned i = 0; kernels_run() && i < n; i++)
		if (data[i] != expected)
			fail("element %u differs: %u instead of %u", i, data[i], expected);
	CHECK_HIP(hipFree(parameters.data));
	return finish("rounds=%ld launches=%ld", rounds, 3 * rounds);
}
