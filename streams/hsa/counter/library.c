/* SPDX-License-Identifier: MIT */
#include "library.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "interceptor.h"

#define PAGE_BYTES 4096u

struct counted {
	struct library_count count; /* first: what is given out */
	hsa_ven_amd_aqlprofile_profile_t profile;
	hsa_ven_amd_aqlprofile_event_t *events;
	uint32_t life; /* of the runtime, whose memory it has */
};

static agent_library library;
static hsa_amd_memory_pool_t kernarg_pool, system_pool;
static bool looked, found;
/* How often the runtime has ended: relaxed, what it orders is the program's. */
static uint32_t life;

/* Packets of library_enable, by GPU. */
static struct enabling {
	struct enabling *next;
	hsa_agent_t agent;
	struct library_packet packet;
} * enablings;

/* What the library says of its last failure. */
static const char *last_error(void)
{
	const char *text = NULL;

	if (library.hsa_ven_amd_aqlprofile_error_string)
		(void)library.hsa_ven_amd_aqlprofile_error_string(&text);
	return text && *text ? text : "no reason given";
}

/* ---- finding it ---- */

static hsa_status_t look_at_pool(hsa_amd_memory_pool_t pool, void *data)
{
	hsa_amd_segment_t segment;
	uint32_t flags = 0;

	if (interceptor.hsa.memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT,
						 &segment) ||
	    segment != HSA_AMD_SEGMENT_GLOBAL ||
	    interceptor.hsa.memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS,
						 &flags))
		return HSA_STATUS_SUCCESS;
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
		kernarg_pool = pool;
	else
		system_pool = pool;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t look_at_agent(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	if (!system_pool.handle &&
	    !interceptor.hsa.agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) &&
	    type == HSA_DEVICE_TYPE_CPU)
		(void)interceptor.hsa.iterate_memory_pools(agent, look_at_pool, NULL);
	return HSA_STATUS_SUCCESS;
}

static bool find(char *why, size_t size)
{
	if (!agent_library_find(interceptor.hsa.get_major_extension_table, &library, why, size))
		return false;
	kernarg_pool.handle = system_pool.handle = 0;
	(void)interceptor.hsa.iterate_agents(look_at_agent, NULL);
	if (kernarg_pool.handle && system_pool.handle && interceptor.hsa.memory_pool_allocate &&
	    interceptor.hsa.agents_allow_access && interceptor.hsa.memory_pool_free)
		return true;
	snprintf(why, size, "the HSA runtime has no memory that a GPU can count into");
	return false;
}

bool library_find(char *why, size_t size)
{
	static char reason[256];

	if (!looked) {
		found = find(reason, sizeof(reason));
		looked = true;
	}
	if (!found)
		snprintf(why, size, "%s", reason);
	return found;
}

void library_forget(void)
{
	__atomic_fetch_add(&life, 1, __ATOMIC_RELAXED);
	looked = found = false;
	system_pool.handle = kernarg_pool.handle = 0;
	enablings = NULL; /* somebody may look at one still */
}

/* ---- blocks ---- */

struct agent_block library_block(hsa_agent_t agent, const char *name)
{
	return agent_block(&library, agent, name);
}

bool library_instances(hsa_agent_t agent, const struct metric_input *input,
		       struct library_event *first, uint32_t *end, char *why, size_t size)
{
	const struct agent_block block = library_block(agent, input->block);

	*first = (struct library_event){.event = input->event, .block = block.number};
	*end = block.instances;
	if (!block.registers) {
		snprintf(why, size, "%s: block %s cannot be counted on this GPU", input->name,
			 input->block);
		return false;
	}
	if (input->instance == METRIC_ALL_INSTANCES)
		return true;
	if (input->instance >= *end) {
		snprintf(why, size, "%s[%u]: block %s has %u instances", input->name,
			 input->instance, input->block, *end);
		return false;
	}
	first->instance = input->instance;
	*end = input->instance + 1;
	return true;
}

bool library_has(const struct library_events *events, uint32_t count,
		 const struct library_event *event)
{
	for (const struct library_event *e = events->list; e < events->list + count; e++)
		if (e->block == event->block && e->instance == event->instance &&
		    e->event == event->event)
			return true;
	return false;
}

bool library_add(struct library_events *events, struct library_event event)
{
	struct library_event *added = ARRAY_ADD(events->list, events->count);

	if (added)
		*added = event;
	return added != NULL;
}

/* ---- counts ---- */

static void *allocate(hsa_amd_memory_pool_t pool, hsa_agent_t agent, uint32_t bytes)
{
	const size_t size = ((size_t)bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
	void *memory = NULL;

	if (interceptor.hsa.memory_pool_allocate(pool, size, 0, &memory))
		return NULL;
	if (interceptor.hsa.agents_allow_access(1, &agent, NULL, memory)) {
		(void)interceptor.hsa.memory_pool_free(memory);
		return NULL;
	}
	memset(memory, 0, size);
	return memory;
}

/* The library fills in the commands; they wait for what was before them, and are seen by all. */
static void finish_packet(struct library_packet *packet)
{
	packet->header =
		HSA_PACKET_TYPE_VENDOR_SPECIFIC | 1 << HSA_PACKET_HEADER_BARRIER | LIBRARY_FENCES;
	packet->signal = 0;
}

/* Without memory the library tells how much it needs. */
static struct enabling *make_enabling(hsa_agent_t agent)
{
	const hsa_ven_amd_aqlprofile_info_type_t enable = HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD;
	hsa_ven_amd_aqlprofile_profile_t profile = {.agent = agent};
	struct enabling *made = calloc(1, sizeof(*made));

	if (!made || library.hsa_ven_amd_aqlprofile_get_info(&profile, enable, NULL) ||
	    !profile.command_buffer.size)
		goto failed;
	profile.command_buffer.ptr = allocate(system_pool, agent, profile.command_buffer.size);
	if (profile.command_buffer.ptr &&
	    !library.hsa_ven_amd_aqlprofile_get_info(&profile, enable, &made->packet)) {
		finish_packet(&made->packet);
		made->agent = agent;
		return made;
	}
	if (profile.command_buffer.ptr)
		(void)interceptor.hsa.memory_pool_free(profile.command_buffer.ptr);
failed:
	free(made);
	return NULL;
}

const struct library_packet *library_enable(hsa_agent_t agent, char *why, size_t size)
{
	struct enabling *made = enablings;

	while (made && made->agent.handle != agent.handle)
		made = made->next;
	if (made)
		return &made->packet;
	made = make_enabling(agent);
	if (!made) {
		snprintf(why, size, "aqlprofile: %s", last_error());
		return NULL;
	}
	made->next = enablings;
	enablings = made;
	return &made->packet;
}

/* ---- queues ---- */

void library_submit(hsa_queue_t *queue, const struct library_packet *packet, uint32_t count)
{
	for (; count; count--, packet++) {
		const uint64_t index = interceptor.hsa.queue_add_write_index(queue, 1);
		char *place =
			(char *)queue->base_address + (index & (queue->size - 1)) * sizeof(*packet);
		uint32_t word;

		while (index - interceptor.hsa.queue_load_read_index(queue) >= queue->size)
			sched_yield();
		memcpy(place + sizeof(word), (const char *)packet + sizeof(word),
		       sizeof(*packet) - sizeof(word));
		/* The header and what follows in its word make the packet the GPU's: all else is there. */
		memcpy(&word, packet, sizeof(word));
		__atomic_store_n((uint32_t *)(void *)place, word, __ATOMIC_RELEASE);
		interceptor.hsa.signal_store(queue->doorbell_signal, (hsa_signal_value_t)index);
	}
}

/* ---- packets ---- */

static bool make_packets(struct counted *counted)
{
	struct library_count *count = &counted->count;
	hsa_ext_amd_aql_pm4_packet_t *start = (void *)&count->start, *read = (void *)&count->read,
				     *stop = (void *)&count->stop;

	_Static_assert(sizeof(*start) == sizeof(struct library_packet), "an AQL packet");
	if (library.hsa_ven_amd_aqlprofile_start(&counted->profile, start) ||
	    library.hsa_ven_amd_aqlprofile_read(&counted->profile, read) ||
	    library.hsa_ven_amd_aqlprofile_stop(&counted->profile, stop))
		return false;
	finish_packet(&count->start);
	finish_packet(&count->read);
	finish_packet(&count->stop);
	return true;
}

/* The sizes that the library gives as attributes are too small; a start without memory tells. */
static bool make_memory(struct counted *counted)
{
	hsa_ven_amd_aqlprofile_profile_t *profile = &counted->profile;

	(void)library.hsa_ven_amd_aqlprofile_start(profile, NULL);
	if (!profile->command_buffer.size || !profile->output_buffer.size)
		return false;
	profile->command_buffer.ptr =
		allocate(system_pool, profile->agent, profile->command_buffer.size);
	profile->output_buffer.ptr =
		allocate(kernarg_pool, profile->agent, profile->output_buffer.size);
	counted->count.output = profile->output_buffer.ptr;
	counted->count.bytes = profile->output_buffer.size;
	return profile->command_buffer.ptr && profile->output_buffer.ptr;
}

struct library_count *library_count_make(hsa_agent_t agent, const struct library_events *events,
					 char *why, size_t size)
{
	struct counted *counted = calloc(1, sizeof(*counted));

	if (!counted || !(counted->events = calloc(events->count, sizeof(*counted->events)))) {
		snprintf(why, size, "no memory");
		goto failed;
	}
	counted->life = __atomic_load_n(&life, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < events->count; i++)
		counted->events[i] = (hsa_ven_amd_aqlprofile_event_t){
			(hsa_ven_amd_aqlprofile_block_name_t)events->list[i].block,
			events->list[i].instance, events->list[i].event};
	counted->profile = (hsa_ven_amd_aqlprofile_profile_t){
		.agent = agent,
		.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC,
		.events = counted->events,
		.event_count = events->count,
	};
	if (!make_memory(counted) || !make_packets(counted)) {
		snprintf(why, size, "aqlprofile: %s", last_error());
		goto failed;
	}
	return &counted->count;

failed:
	library_count_destroy(&counted->count);
	return NULL;
}

void library_count_destroy(struct library_count *count)
{
	struct counted *counted = (struct counted *)count;
	bool lasts;

	if (!counted)
		return;
	/* Else its memory went with the runtime; another may have it. */
	lasts = counted->life == __atomic_load_n(&life, __ATOMIC_RELAXED);
	if (lasts && counted->profile.command_buffer.ptr)
		(void)interceptor.hsa.memory_pool_free(counted->profile.command_buffer.ptr);
	if (lasts && counted->profile.output_buffer.ptr)
		(void)interceptor.hsa.memory_pool_free(counted->profile.output_buffer.ptr);
	free(counted->events);
	free(counted);
}

/* ---- samples ---- */

/* The library names the event of a sample and counts its samples from 0, once for each XCC. An event
 * may be in the list twice; its samples then come in the order of the list. */
struct reading {
	const struct counted *counted;
	void (*found)(void *user, const struct library_sample *sample);
	void *user;
	uint32_t *runs; /* of each event: how often its samples have begun */
	uint32_t at;    /* the event whose samples come; UINT32_MAX: none yet */
	uint32_t last_id;
};

static bool same_event(const hsa_ven_amd_aqlprofile_event_t *a,
		       const hsa_ven_amd_aqlprofile_event_t *b)
{
	return a->block_name == b->block_name && a->block_index == b->block_index &&
	       a->counter_id == b->counter_id;
}

/* The next place of that event, after the current one, around the list; false: there is none. */
static bool next_place(struct reading *reading, const hsa_ven_amd_aqlprofile_event_t *event)
{
	const uint32_t count = reading->counted->profile.event_count;
	const uint32_t first = reading->at + 1;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t at = (first + i) % count;

		if (same_event(&reading->counted->events[at], event)) {
			reading->at = at;
			reading->runs[at]++;
			return true;
		}
	}
	return false;
}

static hsa_status_t on_data(hsa_ven_amd_aqlprofile_info_type_t type,
			    hsa_ven_amd_aqlprofile_info_data_t *data, void *user)
{
	struct reading *reading = user;
	const hsa_ven_amd_aqlprofile_event_t *event = &data->pmc_data.event;
	struct library_sample sample;

	if (type != HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA)
		return HSA_STATUS_SUCCESS;
	if ((reading->at == UINT32_MAX ||
	     !same_event(&reading->counted->events[reading->at], event) ||
	     data->sample_id <= reading->last_id) &&
	    !next_place(reading, event))
		return HSA_STATUS_ERROR;
	reading->last_id = data->sample_id;
	sample = (struct library_sample){
		.event = reading->at,
		.xcc = reading->runs[reading->at] - 1,
		.engine = data->sample_id,
		.value = data->pmc_data.result,
	};
	reading->found(reading->user, &sample);
	return HSA_STATUS_SUCCESS;
}

bool library_count_samples(const struct library_count *count, const void *output,
			   void (*found_one)(void *user, const struct library_sample *sample),
			   void *user)
{
	const struct counted *counted = (const struct counted *)count;
	hsa_ven_amd_aqlprofile_profile_t profile = counted->profile;
	struct reading reading = {
		.counted = counted, .found = found_one, .user = user, .at = UINT32_MAX};
	bool good;

	reading.runs = calloc(profile.event_count, sizeof(*reading.runs));
	if (!reading.runs)
		return false;
	profile.output_buffer.ptr = (void *)(uintptr_t)output;
	good = !library.hsa_ven_amd_aqlprofile_iterate_data(&profile, on_data, &reading);
	free(reading.runs);
	return good;
}
