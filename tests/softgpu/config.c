/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf.h"

#define FAULT_ADDRESS 0xdead000u

struct sg_config sg_config;

static uint64_t env_u64(const char *name, uint64_t fallback)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : fallback;
}

static const char *env_text(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

static const struct sg_arch *arch_find(const char *name)
{
	static const struct sg_arch archs[] = {
		{"gfx906", 9, 0, 6, 0x66a1, 141, 10, 4}, {"gfx900", 9, 0, 0, 0x6860, 141, 10, 4},
		{"gfx908", 9, 0, 8, 0x738c, 141, 10, 4}, {"gfx90a", 9, 0, 10, 0x7408, 141, 8, 4},
		{"gfx942", 9, 4, 2, 0x74a1, 141, 8, 8},  {"gfx1030", 10, 3, 0, 0x73bf, 143, 10, 4},
	};

	for (size_t i = 0; name && i < sizeof(archs) / sizeof(*archs); i++)
		if (strcmp(name, archs[i].name) == 0)
			return &archs[i];
	if (name)
		fprintf(stderr, "softgpu: SOFTGPU_ARCH=%s is not known, taking %s\n", name,
			archs[0].name);
	return &archs[0];
}

/* NAME[@N][=ADDRESS], or N */
static void load_fault_kernel(struct sg_config *config, const char *text)
{
	const char *nth = strchr(text, '@'), *address = strchr(text, '=');

	snprintf(config->fault_kernel, sizeof(config->fault_kernel), "%.*s",
		 (int)strcspn(text, "@="), text);
	config->fault_nth = strtoull(nth ? nth + 1 : text, NULL, 10);
	config->fault_address = address ? strtoull(address + 1, NULL, 0) : FAULT_ADDRESS;
}

static void load_fault(struct sg_config *config)
{
	static const struct {
		const char *name;
		enum sg_fault_kind kind;
	} kinds[] = {{"vm:", SG_FAULT_VM},       {"ill:", SG_FAULT_ILL},
		     {"hang:", SG_FAULT_HANG},   {"long:", SG_FAULT_LONG},
		     {"short:", SG_FAULT_SHORT}, {"commands:", SG_FAULT_COMMANDS},
		     {"hw:", SG_FAULT_HW}};
	const char *text = env_text("SOFTGPU_FAULT");

	config->fault_kind = SG_FAULT_NONE;
	for (size_t i = 0; text && i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t len = strlen(kinds[i].name);

		if (strncmp(text, kinds[i].name, len) == 0) {
			config->fault_kind = kinds[i].kind;
			load_fault_kernel(config, text + len);
		}
	}
	if (text && config->fault_kind == SG_FAULT_NONE)
		fprintf(stderr,
			"softgpu: SOFTGPU_FAULT=%s is not vm:, ill:, hw:, hang:, long:, "
			"short:NAME[@N][=ADDRESS] or commands:N\n",
			text);
}

static void load_kernels(struct sg_config *config)
{
	const char *path = env_text("SOFTGPU_KERNELS");

	if (!path || config->kernels)
		return;
	config->kernels = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!config->kernels)
		fprintf(stderr, "softgpu: SOFTGPU_KERNELS: %s\n", dlerror());
}

void sg_config_load(void)
{
	struct sg_config *config = &sg_config;

	config->gpu_count = (uint32_t)clamp(env_u64("SOFTGPU_COUNT", 1), 0, SG_MAX_GPUS);
	config->arch = arch_find(env_text("SOFTGPU_ARCH"));
	config->engines = (uint32_t)clamp(env_u64("SOFTGPU_ENGINES", config->arch->engines), 1,
					  SG_MAX_ENGINES);
	config->xccs = (uint32_t)clamp(env_u64("SOFTGPU_XCCS", 1), 1, SG_MAX_XCCS);
	config->large_bar = env_u64("SOFTGPU_LARGE_BAR", 1);
	config->run_kernels = env_u64("SOFTGPU_EXEC", 1);
	config->trace_calls = env_u64("SOFTGPU_TRACE", 0);
	config->vram_bytes = env_u64("SOFTGPU_VRAM_MB", 16384) << 20;
	config->kernel_ns = env_u64("SOFTGPU_KERNEL_NS", 2000);
	config->ns_per_workgroup = env_u64("SOFTGPU_NS_PER_WG", 0);
	config->clock_hz = clamp(env_u64("SOFTGPU_CLOCK_HZ", 100000000), 1000, 10000000000);
	config->clock_offset_ticks = env_u64("SOFTGPU_CLOCK_OFF", 123456789);
	config->spin_ns = env_u64("SOFTGPU_SPIN_US", 30) * 1000;
	config->sleep_ns = clamp(env_u64("SOFTGPU_SLEEP_US", 2000), 20, 1000000) * 1000;
	config->max_events = (uint32_t)clamp(env_u64("SOFTGPU_EVENTS", 4094), 1, 8191);
	config->log_path = env_text("SOFTGPU_LOG");
	load_fault(config);
	load_kernels(config);
	sg_perf_load(env_text("SOFTGPU_COUNTERS"));
}
