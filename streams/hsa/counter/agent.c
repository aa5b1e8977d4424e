/* SPDX-License-Identifier: MIT */
#include "agent.h"

#include <stdio.h>

/* Came after 5.2; what does not know it says nothing. */
#define AGENT_INFO_NUM_XCC 0xA111

static double number_of(agent_ask *ask, hsa_agent_t agent, uint32_t attribute)
{
	uint32_t number = 0;

	(void)ask(agent, (hsa_agent_info_t)attribute, &number);
	return number;
}

struct counter_set *agent_counters_load(agent_ask *ask, hsa_agent_t agent,
					const struct counter_options *options, char *message,
					size_t size)
{
	const double cus = number_of(ask, agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
	const double simds = number_of(ask, agent, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU);
	const double engines = number_of(ask, agent, HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES);
	const double arrays = number_of(ask, agent, HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE);
	const double wave = number_of(ask, agent, HSA_AGENT_INFO_WAVEFRONT_SIZE);
	const double waves = number_of(ask, agent, HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU);
	const double told = number_of(ask, agent, AGENT_INFO_NUM_XCC);
	const double xccs = told > 0 ? told : 1;
	const struct counter_property properties[] = {
		{"CU_NUM", cus},
		{"SIMD_NUM", cus * simds},
		{"SE_NUM", engines},
		{"XCC_NUM", xccs},
		{"MAX_WAVE_SIZE", wave},
		/* as the driver's topology has them */
		{"cu_count", cus},
		{"simd_count", cus * simds},
		{"simd_per_cu", simds},
		{"num_xcc", xccs},
		{"num_shader_banks", engines},
		{"array_count", engines * arrays},
		{"simd_arrays_per_engine", arrays},
		{"wave_front_size", wave},
		{"max_waves_per_cu", waves},
		{"max_waves_per_simd", simds > 0 ? waves / simds : 0},
	};
	struct counter_options with = options ? *options : (struct counter_options){0};
	char gfx[65] = ""; /* HSA_AGENT_INFO_NAME has 64 */

	with.properties = properties;
	with.property_count = sizeof(properties) / sizeof(*properties);
	(void)ask(agent, HSA_AGENT_INFO_NAME, gfx);
	return counter_set_load(gfx, &with, message, size);
}

/* 5.2's runtime fills in ten functions, later ones the same ten and more. */
bool agent_library_find(agent_extension *ask, agent_library *library, char *why, size_t size)
{
	agent_library found = {0};

	if (!ask(HSA_EXTENSION_AMD_AQLPROFILE, 1, sizeof(found), &found) &&
	    found.hsa_ven_amd_aqlprofile_start && found.hsa_ven_amd_aqlprofile_stop &&
	    found.hsa_ven_amd_aqlprofile_read && found.hsa_ven_amd_aqlprofile_get_info &&
	    found.hsa_ven_amd_aqlprofile_iterate_data) {
		*library = found;
		return true;
	}
	snprintf(why, size,
		 "the HSA runtime finds no " hsa_ven_amd_aqlprofile_LIB(
			 "64") " (AMD's package hsa-amd-aqlprofile, or "
			       "libhsa-amd-aqlprofile64-1-dev)");
	return false;
}

struct agent_block agent_block(const agent_library *library, hsa_agent_t agent, const char *name)
{
	hsa_ven_amd_aqlprofile_id_query_t query = {.name = name};
	hsa_ven_amd_aqlprofile_event_t event = {0};
	hsa_ven_amd_aqlprofile_profile_t profile = {
		.agent = agent,
		.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC,
		.events = &event,
		.event_count = 1,
	};
	struct agent_block block = {0};

	if (library->hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID,
						     &query))
		return block;
	event.block_name = (hsa_ven_amd_aqlprofile_block_name_t)query.id;
	block.number = query.id;
	block.instances = query.instance_count ? query.instance_count : 1;
	if (library->hsa_ven_amd_aqlprofile_get_info(
		    &profile, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_COUNTERS, &block.registers))
		block.registers = 0;
	return block;
}
