/* SPDX-License-Identifier: MIT
 *
 * The topology as the driver's folders in /sys have it: node 0 is the host's CPU, nodes 1 to SOFTGPU_COUNT are GPUs,
 * each linked to the CPU and to the others by PCI Express. Also the caches of CPUs, which the thunk insists on and not
 * every machine shows. Files are made when they are opened; of folders, only how many entries they have counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <hsakmttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "kfd.h"

#define CPUS          "/sys/devices/system/"
#define SIMDS_PER_CU  4u
#define CUS           60u /* of an XCC */
#define CACHES        2u  /* of a GPU, and of each CPU */
#define FIRST_SIMD(n) (0x80000000u + (n)*0x1000u)

/* The rest of a path in the topology, or NULL. */
static const char *in_topology(const char *path)
{
	static const char *const roots[] = {"/sys/devices/virtual/kfd/kfd/topology/",
					    "/sys/class/kfd/kfd/topology/"};

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
		if (strncmp(path, roots[i], strlen(roots[i])) == 0)
			return path + strlen(roots[i]);
	return NULL;
}

bool kfd_sysfs_has(const char *path)
{
	if (strncmp(path, "/sys/", strlen("/sys/")) != 0)
		return false;
	return in_topology(path) ||
	       (strncmp(path, CPUS, strlen(CPUS)) == 0 && strstr(path, "/cache"));
}

static uint32_t links_of(uint32_t node)
{
	return node || sg_config.large_bar ? sg_config.gpu_count : 0;
}

static void write_cpu(FILE *f)
{
	fprintf(f, "cpu_cores_count %ld\nmem_banks_count 1\nio_links_count %u\n",
		sysconf(_SC_NPROCESSORS_ONLN), links_of(0));
	fprintf(f, "max_engine_clk_ccompute 2000\n");
}

static uint32_t capability(void)
{
	const HSA_CAPABILITY c = {.ui32 = {
					  .DoorbellType = 2,
					  .WatchPointsSupported = 1,
					  .WatchPointsTotalBits = 2,
					  .QueueSizePowerOfTwo = 1,
					  .SRAM_EDCSupport = 1,
					  .ASICRevision = 1,
				  }};

	return c.Value;
}

static void write_gpu(FILE *f, uint32_t node)
{
	const struct sg_arch *arch = sg_config.arch;
	const struct {
		const char *name;
		uint64_t value;
	} properties[] = {
		{"simd_count", CUS * SIMDS_PER_CU * sg_config.xccs},
		{"mem_banks_count", 1},
		{"caches_count", CACHES},
		{"io_links_count", links_of(node)},
		{"simd_id_base", FIRST_SIMD(node)},
		{"max_waves_per_simd", arch->waves},
		{"lds_size_in_kb", 64},
		{"num_gws", arch->major == 9 && arch->stepping >= 6 ? 64 : 0},
		{"wave_front_size", arch->major == 9 ? 64 : 32},
		{"array_count", sg_config.engines * sg_config.xccs},
		{"simd_arrays_per_engine", 1},
		{"cu_per_simd_array", 16},
		{"simd_per_cu", SIMDS_PER_CU},
		{"max_slots_scratch_cu", 32},
		{"gfx_target_version", arch->major * 10000 + arch->minor * 100 + arch->stepping},
		{"vendor_id", 0x1002},
		{"device_id", arch->device},
		{"location_id", (node + 2) << 8},
		{"drm_render_minor", KFD_RENDER_MINOR + node - 1},
		{"num_sdma_engines", 2},
		{"num_sdma_queues_per_engine", 8},
		{"num_cp_queues", 24},
		{"max_engine_clk_fcompute", 1725},
		{"fw_version", 470},
		{"sdma_fw_version", 145},
		{"capability", capability()},
		{"unique_id", 0x50f7607500000000u + node},
		{"num_xcc", sg_config.xccs},
		{"max_engine_clk_ccompute", 3000},
	};

	for (size_t i = 0; i < sizeof(properties) / sizeof(*properties); i++)
		fprintf(f, "%s %llu\n", properties[i].name,
			(unsigned long long)properties[i].value);
}

static void write_memory(FILE *f, uint32_t node)
{
	struct sysinfo info;

	sysinfo(&info);
	if (node)
		fprintf(f,
			"heap_type %d\nsize_in_bytes %llu\nflags 0\nwidth 4096\nmem_clk_max 1000\n",
			sg_config.large_bar ? HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC
					    : HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE,
			(unsigned long long)sg_config.vram_bytes);
	else
		fprintf(f,
			"heap_type %d\nsize_in_bytes %llu\nflags 0\nwidth 64\nmem_clk_max 2400\n",
			HSA_HEAPTYPE_SYSTEM, (unsigned long long)info.totalram * info.mem_unit);
}

/* One of a GPU's. */
static void write_cache(FILE *f, uint32_t node, uint32_t index)
{
	fprintf(f, "processor_id_low %u\nlevel %u\nsize %u\ncache_line_size 64\n", FIRST_SIMD(node),
		index + 1, index ? 4096 : 32);
	fprintf(f, "cache_lines_per_tag 1\nassociation 16\nlatency 1\ntype 9\nsibling_map 1,0\n");
}

static void write_link(FILE *f, uint32_t node, uint32_t index)
{
	const uint32_t to = index + (index >= node);

	fprintf(f, "type %d\nnode_from %u\nnode_to %u\nweight %u\nmin_bandwidth 312\n",
		HSA_IOLINKTYPE_PCIEXPRESS, node, to, node && to ? 40 : 20);
	fprintf(f, "max_bandwidth 16000\nflags 1\n");
}

/* False: there is no such file. */
static bool write_node(FILE *f, uint32_t node, const char *name)
{
	uint32_t index;

	if (node > sg_config.gpu_count)
		return false;
	if (strcmp(name, "gpu_id") == 0)
		fprintf(f, "%u\n", node ? KFD_FIRST_GPU_ID + node - 1 : 0);
	else if (strcmp(name, "name") == 0)
		fprintf(f, "%s\n", node ? "softgpu" : "");
	else if (strcmp(name, "properties") == 0)
		node ? write_gpu(f, node) : write_cpu(f);
	else if (sscanf(name, "mem_banks/%u/", &index) == 1)
		write_memory(f, node);
	else if (sscanf(name, "caches/%u/", &index) == 1)
		write_cache(f, node, index);
	else if (sscanf(name, "io_links/%u/", &index) == 1)
		write_link(f, node, index);
	else
		return false;
	return true;
}

static bool write_topology(FILE *f, const char *name)
{
	uint32_t node;
	int length = 0;

	if (strcmp(name, "generation_id") == 0)
		fprintf(f, "2\n");
	else if (strcmp(name, "system_properties") == 0)
		fprintf(f, "platform_oem 0\nplatform_id 0\nplatform_rev 2\n");
	else if (sscanf(name, "nodes/%u/%n", &node, &length) == 1 && length)
		return write_node(f, node, name + length);
	else
		return false;
	return true;
}

/* The number after the last such word in a path. */
static unsigned int number_after(const char *path, const char *word)
{
	unsigned int number = 0;

	for (; (path = strstr(path, word)); path += strlen(word))
		number = (unsigned int)strtoul(path + strlen(word), NULL, 10);
	return number;
}

/* A cache of one CPU's own, level 1 or 2. */
static bool write_cpu_cache(FILE *f, const char *path)
{
	const unsigned int index = number_after(path, "/index"), cpu = number_after(path, "/cpu");
	const char *name = strrchr(path, '/') + 1;
	const struct {
		const char *name;
		unsigned int value;
		const char *unit;
	} files[] = {
		{"level", index + 1, ""},           {"size", index ? 4096 : 32, "K"},
		{"coherency_line_size", 64, ""},    {"ways_of_associativity", 16, ""},
		{"physical_line_partition", 1, ""}, {"shared_cpu_map", 1, ""},
	};

	if (strcmp(name, "type") == 0)
		return fprintf(f, "Data\n") > 0;
	if (strcmp(name, "shared_cpu_list") == 0)
		return fprintf(f, "%u\n", cpu) > 0;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (strcmp(name, files[i].name) == 0)
			return fprintf(f, "%u%s\n", files[i].value, files[i].unit) > 0;
	return false;
}

int kfd_sysfs_open(const char *path)
{
	const char *name = in_topology(path);
	int fd = kfd_make_file("softgpu-sysfs", 0);
	FILE *f = fd < 0 ? NULL : fdopen(dup(fd), "w");
	bool exists = false;

	kfd_load();
	if (f) {
		exists = name ? write_topology(f, name) : write_cpu_cache(f, path);
		fclose(f);
		lseek(fd, 0, SEEK_SET);
	}
	if (!exists && fd >= 0) {
		close(fd);
		fd = -1;
		errno = ENOENT;
	}
	return fd;
}

const char *kfd_sysfs_folder(const char *path)
{
	/* The build makes folders with 0, 1, ... entries. */
	static char folder[sizeof(KFD_COUNTS) + 16];
	const char *name = in_topology(path);
	const char *end = strrchr(path, '/') + 1;
	uint32_t node = 0, count = CACHES;

	kfd_load();
	if (name && strcmp(name, "nodes") == 0)
		count = 1 + sg_config.gpu_count;
	else if (name && sscanf(name, "nodes/%u/", &node) == 1 && strcmp(end, "io_links") == 0)
		count = links_of(node);
	else if (name && strcmp(end, "mem_banks") == 0)
		count = 1;
	else if (name && (strcmp(end, "caches") != 0 || !node))
		return NULL;
	snprintf(folder, sizeof(folder), KFD_COUNTS "/%u", count);
	return folder;
}
