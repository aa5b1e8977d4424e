/* SPDX-License-Identifier: MIT
 *
 * Topology: node 0 is the host's CPU, nodes 1 to SOFTGPU_COUNT are GPUs, each linked to
 * the CPU and to the others by PCI Express. ROCr insists on the CPU's caches, doorbells of
 * type 2 and some firmware versions.
 *
 * Threads: any. Reads the configuration only.
 */
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "kmt.h"

#define GPU_BANKS   4u
#define NODE_CACHES 2u

KMT_EXPORT HSAKMT_STATUS hsaKmtAcquireSystemProperties(HsaSystemProperties *properties)
{
	memset(properties, 0, sizeof(*properties));
	properties->NumNodes = 1 + sg_config.gpu_count;
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtReleaseSystemProperties(void)
{
	return HSAKMT_STATUS_SUCCESS;
}

static void set_marketing_name(HsaNodeProperties *p, const char *name)
{
	for (size_t i = 0; name[i]; i++)
		p->MarketingName[i] = (HSAuint16)name[i];
}

static void cpu_properties(HsaNodeProperties *p)
{
	p->NumCPUCores = (HSAuint32)sysconf(_SC_NPROCESSORS_ONLN);
	p->NumMemoryBanks = 1;
	p->NumCaches = NODE_CACHES;
	p->NumIOLinks = sg_config.large_bar ? sg_config.gpu_count : 0;
	p->MaxEngineClockMhzCCompute = 2000;
	p->DrmRenderMinor = -1;
	set_marketing_name(p, "softgpu host CPU");
}

static void gpu_identity(HsaNodeProperties *p, uint32_t node)
{
	const struct sg_arch *arch = sg_config.arch;

	p->EngineId.ui32.uCode = 470;
	p->EngineId.ui32.Major = arch->major;
	p->EngineId.ui32.Minor = arch->minor;
	p->EngineId.ui32.Stepping = arch->stepping;
	p->uCodeEngineVersions.uCodeSDMA = 145;
	p->VendorId = 0x1002;
	p->DeviceId = 0x66a1;
	p->LocationId = (node + 2) << 8;
	p->DrmRenderMinor = (HSAint32)(127 + node);
	p->UniqueID = 0x50f7607500000000u + node;
	set_marketing_name(p, "softgpu");
	snprintf((char *)p->AMDName, sizeof(p->AMDName), "softgpu");
}

static void gpu_properties(HsaNodeProperties *p, uint32_t node)
{
	const struct sg_arch *arch = sg_config.arch;
	bool is_gfx9 = arch->major == 9;

	gpu_identity(p, node);
	p->NumFComputeCores = 240; /* 60 CUs of 4 SIMDs */
	p->NumSIMDPerCU = 4;
	p->NumShaderBanks = sg_config.engines;
	p->NumArrays = 1;
	p->NumCUPerArray = 16;
	p->MaxWavesPerSIMD = is_gfx9 && arch->stepping == 10 ? 8 : 10;
	p->MaxSlotsScratchCU = 32;
	p->WaveFrontSize = is_gfx9 ? 64 : 32;
	p->LDSSizeInKB = 64;
	p->VGPRSizePerCU = 262144;
	p->SGPRSizePerCU = 12800;
	p->NumMemoryBanks = GPU_BANKS;
	p->NumCaches = NODE_CACHES;
	p->NumIOLinks = sg_config.gpu_count; /* the CPU and the other GPUs */
	p->FComputeIdLo = 0x80000000u + node * 0x1000;
	p->Capability.ui32.DoorbellType = 2;
	p->Capability.ui32.WatchPointsSupported = 1;
	p->Capability.ui32.WatchPointsTotalBits = 2;
	p->Capability.ui32.QueueSizePowerOfTwo = 1;
	p->Capability.ui32.SRAM_EDCSupport = 1;
	p->Capability.ui32.ASICRevision = 1;
	p->MaxEngineClockMhzFCompute = 1725;
	p->NumSdmaEngines = 2;
	p->NumSdmaQueuesPerEngine = 8;
	p->NumCpQueues = 24;
	p->NumGws = is_gfx9 && arch->stepping >= 6 ? 64 : 0;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtGetNodeProperties(HSAuint32 node, HsaNodeProperties *properties)
{
	memset(properties, 0, sizeof(*properties));
	if (node > sg_config.gpu_count)
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	if (node)
		gpu_properties(properties, node);
	else
		cpu_properties(properties);
	return HSAKMT_STATUS_SUCCESS;
}

static void cpu_memory(HsaMemoryProperties *m)
{
	struct sysinfo info;

	sysinfo(&info);
	m->HeapType = HSA_HEAPTYPE_SYSTEM;
	m->SizeInBytes = (uint64_t)info.totalram * info.mem_unit;
	m->Width = 64;
	m->MemoryClockMax = 2400;
}

static void gpu_memory(HsaMemoryProperties *m, uint32_t node, uint32_t bank)
{
	switch (bank) {
	case 0:
		m->HeapType = HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC;
		m->SizeInBytes = sg_config.vram_bytes;
		m->Width = 4096;
		m->MemoryClockMax = 1000;
		break;
	case 1:
		m->HeapType = HSA_HEAPTYPE_GPU_LDS;
		m->SizeInBytes = 64 << 10;
		m->VirtualBaseAddress = 0x1000000000000u;
		break;
	case 2:
		m->HeapType = HSA_HEAPTYPE_GPU_SCRATCH;
		m->SizeInBytes = UINT64_C(4) << 30;
		m->VirtualBaseAddress = 0x2000000000000u;
		break;
	default:
		m->HeapType = HSA_HEAPTYPE_MMIO_REMAP;
		m->SizeInBytes = KMT_PAGE_BYTES;
		m->VirtualBaseAddress = (uintptr_t)kmt_mmio_page(node);
		break;
	}
}

KMT_EXPORT HSAKMT_STATUS hsaKmtGetNodeMemoryProperties(HSAuint32 node, HSAuint32 count,
						       HsaMemoryProperties *banks)
{
	if (node > sg_config.gpu_count || !banks)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	memset(banks, 0, count * sizeof(*banks));
	if (!node && count)
		cpu_memory(&banks[0]);
	for (uint32_t i = 0; node && i < count && i < GPU_BANKS; i++)
		gpu_memory(&banks[i], node, i);
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtGetNodeCacheProperties(HSAuint32 node, HSAuint32 processor,
						      HSAuint32 count, HsaCacheProperties *caches)
{
	if (node > sg_config.gpu_count || !caches)
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	memset(caches, 0, count * sizeof(*caches));
	for (uint32_t i = 0; i < count && i < NODE_CACHES; i++) {
		caches[i].ProcessorIdLow = processor;
		caches[i].CacheLevel = i + 1;
		caches[i].CacheSize = i ? 4096 : 32;
		caches[i].CacheLineSize = 64;
		caches[i].CacheType.ui32.Data = 1;
		caches[i].CacheType.ui32.HSACU = node > 0;
		caches[i].CacheType.ui32.CPU = node == 0;
	}
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtGetNodeIoLinkProperties(HSAuint32 node, HSAuint32 count,
						       HsaIoLinkProperties *links)
{
	uint32_t n = 0;

	if (node > sg_config.gpu_count)
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	for (uint32_t to = 0; to <= sg_config.gpu_count && n < count; to++) {
		if (to == node)
			continue;
		memset(&links[n], 0, sizeof(*links));
		links[n].IoLinkType = HSA_IOLINKTYPE_PCIEXPRESS;
		links[n].NodeFrom = node;
		links[n].NodeTo = to;
		links[n].Weight = node && to ? 40 : 20;
		links[n].MaximumBandwidth = 16000;
		n++;
	}
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtGetTileConfig(HSAuint32 node __attribute__((unused)),
					     HsaGpuTileConfig *config)
{
	if (!config)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	config->NumTileConfigs = config->NumMacroTileConfigs = 0;
	config->GbAddrConfig = 0x26110001;
	config->NumBanks = 2;
	config->NumRanks = 1;
	return HSAKMT_STATUS_SUCCESS;
}
