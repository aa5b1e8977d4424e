/* SPDX-License-Identifier: MIT
 *
 * The software GPU's performance counters, through ROCr's extension and whichever library of
 * the vendor's it loads: what is read around a dispatch is what the log says that it counted.
 */
#define HSA_LARGE_MODEL
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hsa_fixture.h"

#include <hsa/hsa_ven_amd_aqlprofile.h>

#define WAIT_S 300u
#define GROUPS 18u

static hsa_ven_amd_aqlprofile_pfn_t api;

struct wanted {
	const char *block;
	uint32_t instance, event;
	uint64_t sum;
};

static struct wanted wanted[] = {
	{"SQ", 0, 4, 0},   {"SQ", 0, 26, 0},  {"TCC", 0, 17, 0}, {"TCC", 3, 17, 0},
	{"GRBM", 0, 2, 0}, {"TCP", 5, 12, 0}, {"SPI", 0, 7, 0},
};
#define WANTED (sizeof(wanted) / sizeof(*wanted))

static hsa_ven_amd_aqlprofile_event_t events[WANTED];

static hsa_status_t on_data(hsa_ven_amd_aqlprofile_info_type_t type,
			    hsa_ven_amd_aqlprofile_info_data_t *d, void *data)
{
	(void)type;
	(void)data;
	for (size_t i = 0; i < WANTED; i++)
		if (memcmp(&events[i], &d->pmc_data.event, sizeof(events[i])) == 0)
			wanted[i].sum += d->pmc_data.result;
	return HSA_STATUS_SUCCESS;
}

static void *allocate(const struct fixture *f, size_t bytes)
{
	void *p;

	HSA_OK(hsa_amd_memory_pool_allocate(f->cpu_pool, (bytes + 4095) & ~(size_t)4095, 0, &p));
	HSA_OK(hsa_amd_agents_allow_access(1, &f->gpus[0], NULL, p));
	return p;
}

static void submit(hsa_queue_t *queue, hsa_ext_amd_aql_pm4_packet_t packet, hsa_signal_t signal)
{
	packet.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC | 1 << HSA_PACKET_HEADER_BARRIER;
	packet.completion_signal = signal;
	fixture_submit(queue, &packet);
}

/* What the log has for it; UINT64_MAX if that is nothing. */
static uint64_t logged(const char *path, const struct wanted *w)
{
	FILE *file = fopen(path, "r");
	uint64_t sum = UINT64_MAX;
	char line[1024];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		const char *count = strstr(line, " block=");
		unsigned int instance, event;
		unsigned long value;
		char block[16];

		if (*line != '#' && strstr(line, "kind=count ") && count &&
		    sscanf(count, " block=%15s instance=%u event=%u value=%lu", block, &instance,
			   &event, &value) == 4 &&
		    !strcmp(block, w->block) && instance == w->instance && event == w->event)
			sum = value;
	}
	fclose(file);
	return sum;
}

static void profile_fill(hsa_ven_amd_aqlprofile_profile_t *profile, const struct fixture *f)
{
	*profile = (hsa_ven_amd_aqlprofile_profile_t){
		.agent = f->gpus[0],
		.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC,
		.events = events,
		.event_count = WANTED,
	};
	for (size_t i = 0; i < WANTED; i++) {
		hsa_ven_amd_aqlprofile_id_query_t id = {wanted[i].block, 0, 0};

		HSA_OK(api.hsa_ven_amd_aqlprofile_get_info(
			profile, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID, &id));
		events[i].block_name = (hsa_ven_amd_aqlprofile_block_name_t)id.id;
		events[i].block_index = wanted[i].instance;
		events[i].counter_id = wanted[i].event;
	}
	HSA_OK(api.hsa_ven_amd_aqlprofile_start(profile, NULL));
	profile->command_buffer.ptr = allocate(f, profile->command_buffer.size);
	profile->output_buffer.ptr = allocate(f, profile->output_buffer.size);
	memset(profile->output_buffer.ptr, 0xee, profile->output_buffer.size);
}

static void counters__around_a_dispatch__are_what_the_log_says(void **state)
{
	hsa_ext_amd_aql_pm4_packet_t start = {0}, read = {0}, stop = {0};
	hsa_signal_t done, none = {0};
	hsa_kernel_dispatch_packet_t kernel;
	hsa_ven_amd_aqlprofile_profile_t profile;
	struct fixture f;
	hsa_queue_t *queue;

	fixture_open(&f);
	HSA_OK(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_AQLPROFILE, 1, sizeof(api),
						    &api));
	profile_fill(&profile, &f);
	HSA_OK(api.hsa_ven_amd_aqlprofile_start(&profile, &start));
	HSA_OK(api.hsa_ven_amd_aqlprofile_read(&profile, &read));
	HSA_OK(api.hsa_ven_amd_aqlprofile_stop(&profile, &stop));
	queue = fixture_queue(&f, 64, NULL, NULL);
	kernel = fixture_dispatch(GROUPS * 64, none);
	fixture_submit(queue, &kernel); /* before: not counted */
	done = fixture_signal(1);
	submit(queue, start, none);
	fixture_submit(queue, &kernel);
	submit(queue, read, none);
	submit(queue, stop, done);
	fixture_submit(queue, &kernel);
	assert_true(fixture_wait(done, WAIT_S));
	HSA_OK(api.hsa_ven_amd_aqlprofile_iterate_data(&profile, on_data, NULL));
	assert_int_equal(wanted[0].sum, GROUPS);
	for (size_t i = 0; i < WANTED; i++)
		assert_int_equal(wanted[i].sum, logged(*state, &wanted[i]));
	HSA_OK(hsa_queue_destroy(queue));
	fixture_close();
}

int main(void)
{
	static char path[] = "/tmp/softgpu-counters-XXXXXX";
	const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(
		counters__around_a_dispatch__are_what_the_log_says, path)};
	const int fd = mkstemp(path);
	int failed;

	if (fd < 0)
		return 1;
	close(fd);
	setenv("SOFTGPU_LOG", path, 1);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
