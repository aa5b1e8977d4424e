/* SPDX-License-Identifier: MIT */
/*
 * no_smi.c: preloaded, in the place of librocm_smi64, which finds no GPU where the driver's folders in
 * /sys are not real. What the benchmarks of rocBLAS and hipBLASLt and RCCL ask of it: two GPUs or as many
 * as there are, linked, and nothing is known of clocks and loads. Declared here, as it is called; threads may call it.
 */
#include <stdint.h>
#include <stdlib.h>

enum { success = 0, not_supported = 2, xgmi = 2 };

#define SMI(name, ...)                                                                             \
	int rsmi_##name(__VA_ARGS__);                                                              \
	__attribute__((visibility("default"))) int rsmi_##name(__VA_ARGS__)

SMI(init, uint64_t flags)
{
	return success;
}

SMI(shut_down, void)
{
	return success;
}

SMI(num_monitor_devices, uint32_t *count)
{
	const char *gpus = getenv("SOFTGPU_COUNT");

	*count = gpus && atoi(gpus) > 2 ? (uint32_t)atoi(gpus) : 2;
	return success;
}

/* As the software GPU numbers them. */
SMI(dev_pci_id_get, uint32_t gpu, uint64_t *id)
{
	*id = (3 + gpu) << 8;
	return success;
}

SMI(version_get, void *version)
{
	struct {
		uint32_t number[3];
		const char *build;
	} *all = version;

	*all = (__typeof__(*all)){{7, 0, 0}, "none"};
	return success;
}

SMI(status_string, int status, const char **text)
{
	*text = "there is no SMI";
	return success;
}

SMI(dev_gpu_clk_freq_get, uint32_t gpu, int clock, void *frequencies)
{
	return not_supported;
}

SMI(dev_gpu_metrics_info_get, uint32_t gpu, void *metrics)
{
	return not_supported;
}

SMI(dev_metrics_xcd_counter_get, uint32_t gpu, uint16_t *count)
{
	*count = 1;
	return success;
}

SMI(dev_firmware_version_get, uint32_t gpu, int block, uint64_t *version)
{
	*version = 100;
	return success;
}

SMI(topo_get_link_type, uint32_t from, uint32_t to, uint64_t *hops, int *type)
{
	*hops = 1;
	*type = xgmi;
	return success;
}

SMI(topo_get_link_weight, uint32_t from, uint32_t to, uint64_t *weight)
{
	*weight = 15;
	return success;
}
