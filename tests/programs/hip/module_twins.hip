/* SPDX-License-Identifier: MIT */
/* module_twins: has two code objects loaded at once, with a kernel of the same name in each, and launches that of the
 * second twice as often. They lie beside the program. */
#define PROGRAM "module_twins"
#include "../check.h"
#include <hip/hip_runtime.h>
#include <string>

int main(int argc, char **argv)
{
	static const char *const files[] = {"module_add", "module_twin"};
	const std::string program = argv[0];
	const std::string folder = program.substr(0, program.rfind('/') + 1);
	hipDeviceProp_t properties;
	hipModule_t modules[2];
	hipFunction_t functions[2];
	unsigned n = 64, value = 1, *data;
	void *arguments[] = {&data, &n, &value};

	CHECK_HIP(hipGetDeviceProperties(&properties, 0));
	std::string gpu = properties.gcnArchName;
	gpu = gpu.substr(0, gpu.find(':'));
	CHECK_HIP(hipMalloc(&data, n * sizeof(unsigned)));
	for (int i = 0; i < 2; i++) {
		const std::string path = folder + files[i] + "." + gpu + ".co";

		CHECK_HIP(hipModuleLoad(&modules[i], path.c_str()));
		CHECK_HIP(hipModuleGetFunction(&functions[i], modules[i], "_Z10module_addPjjj"));
	}
	for (int i : {1, 0, 1})
		CHECK_HIP(hipModuleLaunchKernel(functions[i], 1, 1, 1, 64, 1, 1, 0, nullptr,
						arguments, nullptr));
	CHECK_HIP(hipDeviceSynchronize());
	for (hipModule_t module : modules)
		CHECK_HIP(hipModuleUnload(module));
	CHECK_HIP(hipFree(data));
	return finish("launches=3");
}
