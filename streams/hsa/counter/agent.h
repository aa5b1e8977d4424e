/* SPDX-License-Identifier: MIT */
/* The counters of a GPU that the HSA runtime has, with what expressions may know of it, and the blocks
 * that the vendor's library can count there. The runtime's functions are the caller's to find.
 *
 * Threads: any, once the runtime has begun. No state. */
#pragma once

#define HSA_LARGE_MODEL
#include <hsa/hsa_ext_amd.h>

/* Needs what is before it, and defines a variable. */
#define HSA_VEN_AMD_AQLPROFILE_LEGACY_PM4_PACKET_SIZE agent_unused __attribute__((weak))
#include <hsa/hsa_ven_amd_aqlprofile.h>

#include "metrics.h"

typedef hsa_status_t agent_ask(hsa_agent_t agent, hsa_agent_info_t attribute, void *value);

/* As counter_set_load, for that GPU; the options' properties are not looked at. */
struct counter_set *agent_counters_load(agent_ask *ask, hsa_agent_t agent,
					const struct counter_options *options, char *message,
					size_t size);

typedef hsa_status_t agent_extension(uint16_t extension, uint16_t version, size_t size,
				     void *table);

/* The library's functions. */
typedef hsa_ven_amd_aqlprofile_pfn_t agent_library;

/* The vendor's library, which the runtime loads when it is first asked. False after a line in `why`. */
bool agent_library_find(agent_extension *ask, agent_library *library, char *why, size_t size);

/* A block of a GPU: the library's number of it, how many instances there are, and how many events each counts at the
 * same time; 0: there is no such block. */
struct agent_block {
	uint32_t number, instances, registers;
};

struct agent_block agent_block(const agent_library *library, hsa_agent_t agent, const char *name);
