/* SPDX-License-Identifier: MIT */
/* What runtime and GPUs there are, and the kernels, compiled for the first GPU by the runtime's own compiler: nothing
 * else is needed. */
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

static char gpu_name[64]; /* of the first, such as gfx906 */

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

	if (hsa.ask_agent(agent, HSA_AGENT_DEVICE, &device) || device != HSA_DEVICE_GPU)
		return 0;
	(void)hsa.ask_agent(agent, HSA_AGENT_NAME, name);
	(void)hsa.ask_agent(agent, HSA_AGENT_PRODUCT_NAME, product);
	(void)hsa.ask_agent(agent, HSA_AGENT_COMPUTE_UNITS, &units);
	(void)hsa.ask_agent(agent, HSA_AGENT_WAVEFRONT_SIZE, &wavefront);
	if (!*gpu_name)
		memcpy(gpu_name, name, sizeof(gpu_name));
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

/* rtl_selftest_spin and its twins: each lane computes `rounds` numbers, each from the one before. Groups have
 * 64. No header is included. */
#define SPIN(name)                                                                                 \
	"__kernel void " name "(__global unsigned *out, unsigned rounds)\n"                        \
	"{\n"                                                                                      \
	"	unsigned at = __builtin_amdgcn_workgroup_id_x() * 64 +\n"                                \
	"		__builtin_amdgcn_workitem_id_x(), x = at;\n"                                            \
	"	for (unsigned i = 0; i < rounds; i++)\n"                                                 \
	"		x = (x ^ (x >> 3)) * 1664525u + 1013904223u;\n"                                         \
	"	out[at] = x;\n"                                                                          \
	"}\n"

static const char source[] = SPIN("rtl_selftest_around") SPIN("rtl_selftest_within")
	SPIN("rtl_selftest_spin") SPIN("rtl_selftest_thread") SPIN("rtl_selftest_graph");

/* Of amd_comgr.h: libamd_comgr is the compiler that the HIP runtime itself cannot do without. */
enum { COMGR_OPENCL_1_2 = 1, COMGR_SOURCE = 1, COMGR_EXECUTABLE = 8 };
struct comgr_handle {
	uint64_t handle;
};

#define COMGR_FUNCTIONS(X)                                                                         \
	X(create_data, (int kind, struct comgr_handle *data))                                      \
	X(set_data, (struct comgr_handle data, size_t size, const char *bytes))                    \
	X(set_data_name, (struct comgr_handle data, const char *name))                             \
	X(get_data, (struct comgr_handle data, size_t * size, char *bytes))                        \
	X(create_data_set, (struct comgr_handle * set))                                            \
	X(data_set_add, (struct comgr_handle set, struct comgr_handle data))                       \
	X(create_action_info, (struct comgr_handle * info))                                        \
	X(action_info_set_language, (struct comgr_handle info, int language))                      \
	X(action_info_set_isa_name, (struct comgr_handle info, const char *name))                  \
	X(action_info_set_option_list,                                                             \
	  (struct comgr_handle info, const char **options, size_t count))                          \
	X(do_action,                                                                               \
	  (int kind, struct comgr_handle info, struct comgr_handle from, struct comgr_handle to))  \
	X(action_data_get_data,                                                                    \
	  (struct comgr_handle set, int kind, size_t index, struct comgr_handle *data))

static struct {
#define COMGR_POINTER(name, parameters) int(*name) parameters;
	COMGR_FUNCTIONS(COMGR_POINTER)
#undef COMGR_POINTER
} comgr;

static void check_comgr(const char *what, int status)
{
	if (status)
		selftest_fail(
			"the kernels cannot be compiled for %s: %s failed: amd_comgr_status_t %d",
			gpu_name, what, status);
}

#define COMGR(name, ...) check_comgr(#name, comgr.name(__VA_ARGS__))

/* From source to bitcode, from there to an object, and to one that can be loaded; NULL: there is no library. */
static const int *open_comgr(void)
{
	static const struct {
		const char *file;
		int actions[3];
	} versions[] = {{"libamd_comgr.so.3", {2, 4, 7}}, {"libamd_comgr.so.2", {2, 6, 9}}};
	const int *actions = NULL;
	void *library = NULL;

	/* the one that the runtime has loaded, if that is told */
	for (size_t i = 0; i < 4 && !library; i++) {
		library = dlopen(versions[i % 2].file, RTLD_NOW | (i < 2 ? RTLD_NOLOAD : 0));
		actions = versions[i % 2].actions;
	}
	if (!library)
		selftest_fail("the kernels cannot be compiled: %s", dlerror());
#define COMGR_FIND(name, parameters)                                                               \
	comgr.name = (int(*) parameters)dlsym(library, "amd_comgr_" #name);                        \
	check_comgr(#name, !comgr.name);
	COMGR_FUNCTIONS(COMGR_FIND)
#undef COMGR_FIND
	return actions;
}

static void compile(const char *path)
{
	const int *actions = open_comgr();
	const char *optimize[] = {"-O2"};
	struct comgr_handle info, data, set, next;
	char isa[sizeof("amdgcn-amd-amdhsa--") + sizeof(gpu_name)], *code;
	size_t size = 0;
	FILE *file;

	snprintf(isa, sizeof(isa), "amdgcn-amd-amdhsa--%s", gpu_name);
	COMGR(create_action_info, &info);
	COMGR(action_info_set_language, info, COMGR_OPENCL_1_2);
	COMGR(action_info_set_isa_name, info, isa);
	COMGR(action_info_set_option_list, info, optimize, 1);
	COMGR(create_data, COMGR_SOURCE, &data);
	COMGR(set_data, data, strlen(source), source);
	COMGR(set_data_name, data, "selftest.cl");
	COMGR(create_data_set, &set);
	COMGR(data_set_add, set, data);
	for (size_t i = 0; i < 3; i++, set = next) {
		COMGR(create_data_set, &next);
		COMGR(do_action, actions[i], info, set, next);
		if (!i) /* the linker takes no -O2 of the compiler's */
			COMGR(action_info_set_option_list, info, NULL, 0);
	}
	COMGR(action_data_get_data, set, COMGR_EXECUTABLE, 0, &data);
	COMGR(get_data, data, &size, NULL);
	code = malloc(size);
	if (!code)
		selftest_fail("out of memory");
	COMGR(get_data, data, &size, code);
	file = fopen(path, "we");
	if (!file || fwrite(code, size, 1, file) != 1 || fclose(file))
		selftest_fail("the kernels cannot be written to a temporary file");
	free(code);
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
