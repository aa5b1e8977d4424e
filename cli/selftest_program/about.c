/* SPDX-License-Identifier: MIT */
/*
 * What runtime and GPUs there are, and the kernels, compiled for the first GPU by the runtime's own compiler:
 * no other is needed.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip.h"

/* ---- the HSA runtime ---- */

/* Of hsa.h and hsa_ext_amd.h, which need not be there. */
enum {
	HSA_SYSTEM_BUILD_VERSION = 0x200,
	HSA_AGENT_NAME = 0,
	HSA_AGENT_WAVEFRONT_SIZE = 6,
	HSA_AGENT_DEVICE = 17,
	HSA_AGENT_COMPUTE_UNITS = 0xA002,
	HSA_AGENT_PRODUCT_NAME = 0xA009,
	HSA_DEVICE_GPU = 1,
};
struct hsa_agent {
	uint64_t handle;
};

static struct {
	int (*init)(void);
	int (*ask_system)(int attribute, void *value);
	int (*ask_agent)(struct hsa_agent agent, int attribute, void *value);
	int (*iterate)(int (*fn)(struct hsa_agent agent, void *user), void *user);
} hsa;

static bool open_hsa(void)
{
	void *library = dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_GLOBAL);

	if (!library)
		return false;
	*(void **)&hsa.init = dlsym(library, "hsa_init");
	*(void **)&hsa.ask_system = dlsym(library, "hsa_system_get_info");
	*(void **)&hsa.ask_agent = dlsym(library, "hsa_agent_get_info");
	*(void **)&hsa.iterate = dlsym(library, "hsa_iterate_agents");
	return hsa.init && hsa.ask_system && hsa.ask_agent && hsa.iterate && !hsa.init();
}

static int print_agent(struct hsa_agent agent, void *user)
{
	uint32_t units = 0, wavefront = 0;
	char name[64] = "", product[64] = "";
	int device = 0;

	(void)user;
	if (hsa.ask_agent(agent, HSA_AGENT_DEVICE, &device) || device != HSA_DEVICE_GPU)
		return 0;
	(void)hsa.ask_agent(agent, HSA_AGENT_NAME, name);
	(void)hsa.ask_agent(agent, HSA_AGENT_PRODUCT_NAME, product);
	(void)hsa.ask_agent(agent, HSA_AGENT_COMPUTE_UNITS, &units);
	(void)hsa.ask_agent(agent, HSA_AGENT_WAVEFRONT_SIZE, &wavefront);
	printf("gpu %.63s %u %u %.63s\n", *name ? name : "?", units, wavefront,
	       *product ? product : "?");
	return 0;
}

static void print_hsa(void)
{
	const char *build = NULL;

	if (!open_hsa())
		return;
	if (!hsa.ask_system(HSA_SYSTEM_BUILD_VERSION, (void *)&build) && build)
		printf("hsa %.*s\n", (int)strcspn(build + (*build == '"'), "\"\n"),
		       build + (*build == '"'));
	(void)hsa.iterate(print_agent, NULL);
}

/* ---- the kernels ---- */

/* rtl_selftest_spin and its twin: each lane computes `rounds` numbers, each from the one before. */
#define SPIN(name)                                                                                 \
	"extern \"C\" __global__ void " name "(unsigned *out, unsigned rounds)\n"                  \
	"{\n"                                                                                      \
	"	unsigned at = blockIdx.x * blockDim.x + threadIdx.x, x = at;\n"                          \
	"	for (unsigned i = 0; i < rounds; i++)\n"                                                 \
	"		x = (x ^ (x >> 3)) * 1664525u + 1013904223u;\n"                                         \
	"	out[at] = x;\n"                                                                          \
	"}\n"

static const char source[] = SPIN("rtl_selftest_around") SPIN("rtl_selftest_within")
	SPIN("rtl_selftest_spin") SPIN("rtl_selftest_thread") SPIN("rtl_selftest_graph");

/* hiprtc is a library of its own, or in that of HIP. */
struct compiler {
	int (*create)(void **program, const char *source, const char *name, int headers,
		      const char **texts, const char **names);
	int (*compile)(void *program, int count, const char **options);
	int (*log_size)(void *program, size_t *size);
	int (*log)(void *program, char *text);
	int (*code_size)(void *program, size_t *size);
	int (*code)(void *program, char *code);
};

static bool find_compiler(struct compiler *compiler)
{
	const char *number = strrchr(hip.file, '.');
	char name[64];

	snprintf(name, sizeof(name), "libhiprtc.so%s", number);
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		library = hip.library;
	*(void **)&compiler->create = dlsym(library, "hiprtcCreateProgram");
	*(void **)&compiler->compile = dlsym(library, "hiprtcCompileProgram");
	*(void **)&compiler->log_size = dlsym(library, "hiprtcGetProgramLogSize");
	*(void **)&compiler->log = dlsym(library, "hiprtcGetProgramLog");
	*(void **)&compiler->code_size = dlsym(library, "hiprtcGetCodeSize");
	*(void **)&compiler->code = dlsym(library, "hiprtcGetCode");
	return compiler->create && compiler->compile && compiler->log_size && compiler->log &&
	       compiler->code_size && compiler->code;
}

#define NO_COMPILER                                                                                \
	"the kernels cannot be compiled: install hiprtc (AMD: hip-runtime-amd; Debian: "           \
	"libhiprtc-builtins5, or libhiprtc7)"

static void compile(const char *path)
{
	struct compiler compiler = {0};
	void *program = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *file;

	if (!find_compiler(&compiler))
		selftest_fail(NO_COMPILER);
	if (compiler.create(&program, source, "selftest.hip", 0, NULL, NULL))
		selftest_fail(NO_COMPILER);
	int error = compiler.compile(program, 0, NULL);
	if (error) {
		if (!compiler.log_size(program, &size) && (text = calloc(1, size + 1)))
			(void)compiler.log(program, text);
		if (text)
			text[strcspn(text, "\n")] = '\0';
		selftest_fail(NO_COMPILER "; hiprtcResult %d%s%s", error, text && *text ? ": " : "",
			      text ? text : "");
	}
	if (compiler.code_size(program, &size) || !(text = malloc(size)) ||
	    compiler.code(program, text))
		selftest_fail("no code comes of the kernels");
	file = fopen(path, "we");
	if (!file || fwrite(text, size, 1, file) != 1 || fclose(file))
		selftest_fail("the kernels cannot be written to a temporary file");
	free(text);
}

void selftest_about(const char *kernels)
{
	int version = 0, devices = 0;

	HIP(hipRuntimeGetVersion, &version);
	printf("hip %d.%d.%d\n", version / 10000000, version / 100000 % 100, version % 100000);
	print_hsa();
	fflush(stdout);
	if (hip.hipGetDeviceCount(&devices) || !devices)
		selftest_fail("the HIP runtime finds no GPU: see `rtl doctor`");
	compile(kernels);
}
