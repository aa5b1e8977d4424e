/* SPDX-License-Identifier: MIT
 *
 * A stand-in for libhsa-amd-aqlprofile64.so, for tests of counter collection where the real one
 * cannot be had: the functions of hsa_ven_amd_aqlprofile.h for counters (no traces) of gfx9, and
 * the same PM4 packets that the real library makes, dword for dword.
 *
 * Threads: any; a profile belongs to one thread at a time. The last error is the thread's.
 */
#define HSA_LARGE_MODEL
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ven_amd_aqlprofile.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

#define MAX_SLOTS    8u
#define MAX_DWORDS   65536u
#define ALIGN_BYTES  256u
#define HEADER_BYTES ALIGN_BYTES /* of ours, at the begin of the command buffer */
#define SLACK_BYTES  0x1800u /* what the real library adds to the size before it rounds to pages */

/* Registers, in dwords. */
#define GRBM_GFX_INDEX           0xc200u
#define CP_PERFMON_CNTL          0xd808u
#define SQ_PERFCOUNTER_CTRL      0xd9e0u
#define SQ_PERFCOUNTER_MASK      0xd9e1u
#define RLC_PERFMON_CLK_CNTL     0xdcbfu
#define COMPUTE_PERFCOUNT_ENABLE 0x2e0bu
#define UCONFIG_BASE             0xc000u
#define SH_BASE                  0x2c00u

/* GRBM_GFX_INDEX: [7:0] instance, [23:16] engine, broadcast to all arrays, instances, engines. */
#define ALL_ARRAYS    (1u << 29)
#define ALL_INSTANCES (1u << 30)
#define ALL_ENGINES   (1u << 31)
#define EVERYWHERE    (ALL_ARRAYS | ALL_INSTANCES | ALL_ENGINES)

#define PERFMON_RESET 0x000u
#define PERFMON_START 0x001u
#define PERFMON_STOP  0x002u
#define PERFMON_READ  0x401u

#define SQ_STAGES_ALL     0xffff007fu /* every VMID and shader stage */
#define SQ_STAGES_COMPUTE 0xffff0057u

#define OP_INDIRECT_BUFFER 0x3fu
#define OP_COPY_DATA       0x40u
#define OP_EVENT_WRITE     0x46u
#define OP_ACQUIRE_MEM     0x58u
#define OP_SET_SH_REG      0x76u
#define OP_SET_UCONFIG_REG 0x79u

struct block {
	const char *name;
	unsigned int id, slots;
	unsigned int instances[2]; /* of gfx900 and gfx906, and later */
	bool per_engine, texture, sq;
	int hi; /* where the high half is, from the low one */
	uint16_t select[MAX_SLOTS], low[MAX_SLOTS];
};

static const struct block blocks[] = {
	{"CPC", 0, 2, {1, 1}, false, false, false, 1, {0xd809, 0xd803}, {0xd006, 0xd004}},
	{"CPF", 1, 2, {1, 1}, false, false, false, 1, {0xd807, 0xd805}, {0xd00a, 0xd008}},
	{"GRBM", 3, 2, {1, 1}, false, false, false, 1, {0xd840, 0xd841}, {0xd040, 0xd043}},
	{"SPI",
	 5,
	 6,
	 {1, 1},
	 true,
	 false,
	 false,
	 -1,
	 {0xd980, 0xd981, 0xd982, 0xd983, 0xd984, 0xd985},
	 {0xd181, 0xd183, 0xd185, 0xd187, 0xd189, 0xd18b}},
	{"SQ",
	 6,
	 8,
	 {1, 1},
	 true,
	 false,
	 true,
	 1,
	 {0xd9c0, 0xd9c1, 0xd9c2, 0xd9c3, 0xd9c4, 0xd9c5, 0xd9c6, 0xd9c7},
	 {0xd1c0, 0xd1c2, 0xd1c4, 0xd1c6, 0xd1c8, 0xd1ca, 0xd1cc, 0xd1ce}},
	{"TA", 10, 2, {16, 16}, true, true, false, 1, {0xdac0, 0xdac2}, {0xd2c0, 0xd2c2}},
	{"TCA",
	 11,
	 4,
	 {2, 32},
	 false,
	 true,
	 false,
	 1,
	 {0xdb90, 0xdb92, 0xdb94, 0xdb95},
	 {0xd390, 0xd392, 0xd394, 0xd396}},
	{"TCC",
	 12,
	 4,
	 {16, 32},
	 false,
	 true,
	 false,
	 1,
	 {0xdb80, 0xdb82, 0xdb84, 0xdb85},
	 {0xd380, 0xd382, 0xd384, 0xd386}},
	{"TCP",
	 13,
	 4,
	 {16, 16},
	 true,
	 true,
	 false,
	 1,
	 {0xdb40, 0xdb42, 0xdb44, 0xdb45},
	 {0xd340, 0xd342, 0xd344, 0xd346}},
	{"TD", 14, 2, {16, 16}, true, true, false, 1, {0xdb00, 0xdb02}, {0xd300, 0xd302}},
};
#define BLOCKS (sizeof(blocks) / sizeof(*blocks))

/* What stop and read must know later; at the begin of the command buffer. */
struct header {
	uint32_t read_dwords, start_dwords, stop_dwords;
};

struct commands {
	unsigned int count;
	uint32_t dwords[MAX_DWORDS];
};

struct gpu {
	unsigned int engines;
	bool late; /* gfx908 and later */
};

static _Thread_local char last_error[256];

static hsa_status_t fail(hsa_status_t status, const char *what, unsigned int a, unsigned int b)
{
	snprintf(last_error, sizeof(last_error), "%s (%u, %u)", what, a, b);
	return status;
}

static bool gpu_of(hsa_agent_t agent, struct gpu *gpu)
{
	char name[64] = "";
	uint32_t engines = 0;

	hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, name);
	hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES,
			   &engines);
	gpu->engines = engines;
	gpu->late = strcmp(name, "gfx900") != 0 && strcmp(name, "gfx906") != 0;
	return strncmp(name, "gfx9", 4) == 0 && strncmp(name, "gfx94", 5) != 0 && engines;
}

static const struct block *block_of(const hsa_ven_amd_aqlprofile_event_t *event,
				    const struct gpu *gpu)
{
	for (size_t i = 0; i < BLOCKS; i++)
		if (blocks[i].id == event->block_name &&
		    event->block_index < blocks[i].instances[gpu->late])
			return &blocks[i];
	return NULL;
}

/* --- packets ------------------------------------------------------------------------ */

static void put(struct commands *c, uint32_t dword)
{
	if (c->count < MAX_DWORDS)
		c->dwords[c->count++] = dword;
}

static void put_header(struct commands *c, uint32_t opcode, uint32_t body)
{
	put(c, 3u << 30 | (body - 1) << 16 | opcode << 8);
}

static void put_register(struct commands *c, uint32_t reg, uint32_t value)
{
	put_header(c, reg >= UCONFIG_BASE ? OP_SET_UCONFIG_REG : OP_SET_SH_REG, 2);
	put(c, reg - (reg >= UCONFIG_BASE ? UCONFIG_BASE : SH_BASE));
	put(c, value);
}

static void put_wait_idle(struct commands *c)
{
	put_header(c, OP_EVENT_WRITE, 1);
	put(c, 7 | 4 << 8); /* CS_PARTIAL_FLUSH */
}

/* 32 bits of a register to memory. */
static void put_copy(struct commands *c, uint32_t reg, uint64_t address)
{
	put_header(c, OP_COPY_DATA, 5);
	put(c, 0 | 5 << 8 | 1 << 13 | 1 << 25); /* from a register to memory, both streaming */
	put(c, reg);
	put(c, 0);
	put(c, (uint32_t)address & ~3u);
	put(c, (uint32_t)(address >> 32));
}

static void put_flush(struct commands *c, uint64_t address, uint64_t bytes)
{
	uint64_t size = ((address % 256 + bytes) >> 8) + ((bytes + 0xff) >> 8) - (bytes >> 8);

	put_header(c, OP_ACQUIRE_MEM, 6);
	put(c, 0x28c40000);
	put(c, (uint32_t)size);
	put(c, (uint32_t)(size >> 32));
	put(c, (uint32_t)(address >> 8));
	put(c, (uint32_t)(address >> 40) & 0xff);
	put(c, 0x10);
}

/* --- counters ----------------------------------------------------------------------- */

/* Calls `visit` with each event, its block and the block instance's next counter. */
typedef void visitor(struct commands *c, const struct gpu *gpu, const struct block *block,
		     const hsa_ven_amd_aqlprofile_event_t *event, unsigned int slot, void *data);

static hsa_status_t for_each(const hsa_ven_amd_aqlprofile_profile_t *profile, const struct gpu *gpu,
			     struct commands *c, visitor *visit, void *data)
{
	for (uint32_t i = 0; i < profile->event_count; i++) {
		const hsa_ven_amd_aqlprofile_event_t *event = &profile->events[i];
		const struct block *block = block_of(event, gpu);
		unsigned int slot = 0;

		if (!block)
			return fail(HSA_STATUS_ERROR, "bad block or instance", event->block_name,
				    event->block_index);
		for (uint32_t k = 0; k < i; k++)
			slot += profile->events[k].block_name == event->block_name &&
				profile->events[k].block_index == event->block_index;
		if (slot >= block->slots)
			return fail(HSA_STATUS_ERROR, "more events than the block has counters",
				    event->block_name, event->counter_id);
		visit(c, gpu, block, event, slot, data);
	}
	return HSA_STATUS_SUCCESS;
}

static void visit_select(struct commands *c, const struct gpu *gpu, const struct block *block,
			 const hsa_ven_amd_aqlprofile_event_t *event, unsigned int slot, void *data)
{
	bool several = block->instances[gpu->late] > 1;

	put_register(c, GRBM_GFX_INDEX,
		     several ? ALL_ENGINES | ALL_ARRAYS | event->block_index : EVERYWHERE);
	put_register(c, block->select[slot],
		     block->sq ? 0x0f0ff000u | event->counter_id : event->counter_id);
	if (block->sq) {
		put_register(c, SQ_PERFCOUNTER_MASK, 0xffffffff);
		put_register(c, SQ_PERFCOUNTER_CTRL, SQ_STAGES_COMPUTE);
	}
}

static void visit_read(struct commands *c, const struct gpu *gpu, const struct block *block,
		       const hsa_ven_amd_aqlprofile_event_t *event, unsigned int slot, void *data)
{
	uint64_t *at = data;
	bool several = block->instances[gpu->late] > 1;

	put_register(c, GRBM_GFX_INDEX, EVERYWHERE);
	for (unsigned int e = 0; e < (block->per_engine ? gpu->engines : 1); e++) {
		put_register(c, GRBM_GFX_INDEX,
			     ALL_ARRAYS | (several ? event->block_index : ALL_INSTANCES) |
				     (block->per_engine ? e << 16 : ALL_ENGINES));
		put_copy(c, block->low[slot], *at);
		put_copy(c, (uint32_t)(block->low[slot] + block->hi), *at + 4);
		*at += 8;
	}
}

static hsa_status_t make_start(const hsa_ven_amd_aqlprofile_profile_t *p, const struct gpu *gpu,
			       struct commands *c)
{
	bool texture = false;
	hsa_status_t status;

	for (uint32_t i = 0; i < p->event_count; i++) {
		const struct block *block = block_of(&p->events[i], gpu);

		texture |= block && block->texture;
	}
	put_wait_idle(c);
	put_register(c, GRBM_GFX_INDEX, EVERYWHERE);
	put_register(c, RLC_PERFMON_CLK_CNTL, 1); /* no clock gating while counting */
	put_register(c, CP_PERFMON_CNTL, PERFMON_RESET);
	if (texture)
		put_register(c, SQ_PERFCOUNTER_CTRL, SQ_STAGES_ALL);
	status = for_each(p, gpu, c, visit_select, NULL);
	put_register(c, GRBM_GFX_INDEX, EVERYWHERE);
	put_register(c, COMPUTE_PERFCOUNT_ENABLE, 1);
	put_register(c, CP_PERFMON_CNTL, PERFMON_RESET);
	put_register(c, CP_PERFMON_CNTL, PERFMON_START);
	put_wait_idle(c);
	return status;
}

static hsa_status_t make_read(const hsa_ven_amd_aqlprofile_profile_t *p, const struct gpu *gpu,
			      struct commands *c, uint32_t *bytes)
{
	uint64_t begin = (uint64_t)(uintptr_t)p->output_buffer.ptr, at = begin;
	hsa_status_t status;

	put_register(c, CP_PERFMON_CNTL, PERFMON_READ);
	put_register(c, GRBM_GFX_INDEX, EVERYWHERE);
	put_wait_idle(c);
	status = for_each(p, gpu, c, visit_read, &at);
	put_register(c, GRBM_GFX_INDEX, EVERYWHERE);
	put_flush(c, begin, at - begin);
	*bytes = (uint32_t)(at - begin);
	return status;
}

static void make_stop(struct commands *c)
{
	put_register(c, GRBM_GFX_INDEX, EVERYWHERE);
	put_register(c, CP_PERFMON_CNTL, PERFMON_STOP);
	put_register(c, RLC_PERFMON_CLK_CNTL, 0);
	put_wait_idle(c);
}

/* --- the packet of the queue -------------------------------------------------------- */

/* Header and completion signal are the caller's. */
static void point_at(hsa_ext_amd_aql_pm4_packet_t *packet, const void *commands, uint32_t dwords)
{
	struct {
		uint16_t header, format;
		uint32_t pm4[4], remain, reserved[8];
	} *aql = (void *)packet;
	uint64_t address = (uint64_t)(uintptr_t)commands;

	aql->format = 1;
	aql->pm4[0] = 3u << 30 | 2u << 16 | OP_INDIRECT_BUFFER << 8;
	aql->pm4[1] = (uint32_t)address & ~3u;
	aql->pm4[2] = (uint32_t)(address >> 32) & 0xffff;
	aql->pm4[3] = 1u << 23 | 1u << 28 | dwords; /* valid, streaming */
	aql->remain = 10;
	memset(aql->reserved, 0, sizeof(aql->reserved));
}

static uint32_t aligned(uint32_t dwords)
{
	return (dwords * 4 + ALIGN_BYTES - 1) & ~(ALIGN_BYTES - 1);
}

static bool reads_are_apart(void)
{
	const char *text = getenv("AQLPROFILE_READ_API");

	return !text || atoi(text) != 0;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_start(hsa_ven_amd_aqlprofile_profile_t *p,
						 hsa_ext_amd_aql_pm4_packet_t *packet)
{
	static _Thread_local struct commands read, start, stop;
	struct gpu gpu;
	uint32_t output_bytes, bytes;
	hsa_status_t status;

	read.count = start.count = stop.count = 0;
	if (!gpu_of(p->agent, &gpu) || p->type != HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC)
		return fail(HSA_STATUS_ERROR, "no such GPU, or not counters", p->type, 0);
	status = make_read(p, &gpu, &read, &output_bytes);
	if (status == HSA_STATUS_SUCCESS)
		status = make_start(p, &gpu, &start);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (!reads_are_apart()) { /* what reads is the begin of what stops */
		stop = read;
		read.count = 0;
	}
	make_stop(&stop);
	bytes = HEADER_BYTES + aligned(read.count) + aligned(start.count) + aligned(stop.count);
	bytes = (bytes + SLACK_BYTES) & ~0xfffu;
	if (p->output_buffer.size < output_bytes) {
		p->output_buffer.size = output_bytes;
		if (p->output_buffer.ptr)
			return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	if (p->command_buffer.size < bytes) {
		p->command_buffer.size = bytes;
		if (p->command_buffer.ptr)
			return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
	if (p->command_buffer.ptr) {
		char *to = p->command_buffer.ptr;
		struct header header = {read.count, start.count, stop.count};

		memcpy(to, &header, sizeof(header));
		to += HEADER_BYTES;
		memcpy(to, read.dwords, read.count * 4);
		to += aligned(read.count);
		memcpy(to, start.dwords, start.count * 4);
		point_at(packet, to, start.count);
		memcpy(to + aligned(start.count), stop.dwords, stop.count * 4);
	}
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t point(const hsa_ven_amd_aqlprofile_profile_t *p, bool stop,
			  hsa_ext_amd_aql_pm4_packet_t *packet)
{
	const struct header *header = p->command_buffer.ptr;
	const char *at = (const char *)header + HEADER_BYTES;

	if (!header)
		return fail(HSA_STATUS_ERROR, "no command buffer", 0, 0);
	if (stop)
		point_at(packet, at + aligned(header->read_dwords) + aligned(header->start_dwords),
			 header->stop_dwords);
	else if (header->read_dwords)
		point_at(packet, at, header->read_dwords);
	else
		return fail(HSA_STATUS_ERROR, "AQLPROFILE_READ_API=0", 0, 0);
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_stop(const hsa_ven_amd_aqlprofile_profile_t *p,
						hsa_ext_amd_aql_pm4_packet_t *packet)
{
	return point(p, true, packet);
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_read(const hsa_ven_amd_aqlprofile_profile_t *p,
						hsa_ext_amd_aql_pm4_packet_t *packet)
{
	return point(p, false, packet);
}

/* --- questions ---------------------------------------------------------------------- */

/* Not in the header. */
EXPORT uint32_t hsa_ven_amd_aqlprofile_version_major(void);
EXPORT uint32_t hsa_ven_amd_aqlprofile_version_minor(void);

EXPORT uint32_t hsa_ven_amd_aqlprofile_version_major(void)
{
	return HSA_AQLPROFILE_VERSION_MAJOR;
}

EXPORT uint32_t hsa_ven_amd_aqlprofile_version_minor(void)
{
	return HSA_AQLPROFILE_VERSION_MINOR;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_error_string(const char **text)
{
	*text = last_error;
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_validate_event(
	hsa_agent_t agent, const hsa_ven_amd_aqlprofile_event_t *event, bool *result)
{
	struct gpu gpu;

	*result = false;
	if (!gpu_of(agent, &gpu))
		return fail(HSA_STATUS_ERROR, "no such GPU", 0, 0);
	*result = block_of(event, &gpu) != NULL;
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t
hsa_ven_amd_aqlprofile_iterate_data(const hsa_ven_amd_aqlprofile_profile_t *p,
				    hsa_ven_amd_aqlprofile_data_callback_t callback, void *data)
{
	const uint64_t *at = p->output_buffer.ptr;
	struct gpu gpu;

	if (!gpu_of(p->agent, &gpu) || !at)
		return fail(HSA_STATUS_ERROR, "no such GPU, or no output buffer", 0, 0);
	for (uint32_t i = 0; i < p->event_count; i++) {
		const struct block *block = block_of(&p->events[i], &gpu);

		for (unsigned int e = 0; block && e < (block->per_engine ? gpu.engines : 1); e++) {
			hsa_ven_amd_aqlprofile_info_data_t info = {.sample_id = e};
			hsa_status_t status;

			info.pmc_data.event = p->events[i];
			info.pmc_data.result = *at++;
			status = callback(HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA, &info, data);
			if (status != HSA_STATUS_SUCCESS)
				return status == HSA_STATUS_INFO_BREAK ? HSA_STATUS_SUCCESS
								       : status;
		}
	}
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_sum(hsa_ven_amd_aqlprofile_info_type_t type,
			   hsa_ven_amd_aqlprofile_info_data_t *info, void *data)
{
	hsa_ven_amd_aqlprofile_info_data_t *wanted = data;

	if (memcmp(&info->pmc_data.event, &wanted->pmc_data.event,
		   sizeof(wanted->pmc_data.event)) != 0)
		return HSA_STATUS_SUCCESS;
	if (wanted->sample_id == UINT32_MAX)
		wanted->pmc_data.result += info->pmc_data.result;
	else if (wanted->sample_id == info->sample_id)
		wanted->pmc_data.result = info->pmc_data.result;
	return HSA_STATUS_SUCCESS;
}

/* Commands that switch the queue on which they are run: 6 on, 7 off, 8 wait until idle. */
static hsa_status_t queue_command(hsa_ven_amd_aqlprofile_profile_t *p, unsigned int which,
				  void *value)
{
	static _Thread_local struct commands c;

	c.count = 0;
	if (which == 8)
		put_wait_idle(&c);
	else
		put_register(&c, COMPUTE_PERFCOUNT_ENABLE,
			     which == HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD);
	if (!p->command_buffer.ptr) {
		p->command_buffer.size = c.count * 4;
		return HSA_STATUS_SUCCESS;
	}
	if (p->command_buffer.size != c.count * 4 || !value)
		return fail(HSA_STATUS_ERROR, "wrong size of the command buffer",
			    p->command_buffer.size, 0);
	memcpy(p->command_buffer.ptr, c.dwords, c.count * 4);
	point_at(value, p->command_buffer.ptr, c.count);
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_get_info(const hsa_ven_amd_aqlprofile_profile_t *p,
						    hsa_ven_amd_aqlprofile_info_type_t what,
						    void *value)
{
	struct gpu gpu;

	if (!gpu_of(p->agent, &gpu))
		return fail(HSA_STATUS_ERROR, "no such GPU", 0, 0);
	switch ((unsigned int)what) {
	case HSA_VEN_AMD_AQLPROFILE_INFO_COMMAND_BUFFER_SIZE:
		*(uint32_t *)value = 0x2000;
		return HSA_STATUS_SUCCESS;
	case HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA_SIZE:
		*(uint32_t *)value = 0x1800;
		return HSA_STATUS_SUCCESS;
	case HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA:
		((hsa_ven_amd_aqlprofile_info_data_t *)value)->pmc_data.result = 0;
		return hsa_ven_amd_aqlprofile_iterate_data(p, on_sum, value);
	case HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_COUNTERS: {
		const struct block *block = block_of(&p->events[0], &gpu);

		if (!block)
			return fail(HSA_STATUS_ERROR, "bad block or instance",
				    p->events[0].block_name, p->events[0].block_index);
		*(uint32_t *)value = block->slots;
		return HSA_STATUS_SUCCESS;
	}
	case HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID: {
		hsa_ven_amd_aqlprofile_id_query_t *query = value;

		for (size_t i = 0; i < BLOCKS; i++)
			if (strcmp(blocks[i].name, query->name) == 0) {
				query->id = blocks[i].id;
				query->instance_count = blocks[i].instances[gpu.late];
				return HSA_STATUS_SUCCESS;
			}
		return HSA_STATUS_ERROR;
	}
	case HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD:
	case HSA_VEN_AMD_AQLPROFILE_INFO_DISABLE_CMD:
	case 8:
		return queue_command((hsa_ven_amd_aqlprofile_profile_t *)p, (unsigned int)what,
				     value);
	default:
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "unknown attribute", what, 0);
	}
}

EXPORT hsa_status_t
hsa_ven_amd_aqlprofile_legacy_get_pm4(const hsa_ext_amd_aql_pm4_packet_t *packet, void *data)
{
	return fail(HSA_STATUS_ERROR, "gfx8 only", 0, 0);
}
