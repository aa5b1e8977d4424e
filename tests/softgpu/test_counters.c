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

static void profile_make(hsa_ven_amd_aqlprofile_profile_t *profile, const struct fixture *f,
			 const struct wanted *list, uint32_t count)
{
	*profile = (hsa_ven_amd_aqlprofile_profile_t){
		.agent = f->gpus[0],
		.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC,
		.events = events,
		.event_count = count,
	};
	for (uint32_t i = 0; i < count; i++) {
		hsa_ven_amd_aqlprofile_id_query_t id = {list[i].block, 0, 0};

		HSA_OK(api.hsa_ven_amd_aqlprofile_get_info(
			profile, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID, &id));
		events[i].block_name = (hsa_ven_amd_aqlprofile_block_name_t)id.id;
		events[i].block_index = list[i].instance;
		events[i].counter_id = list[i].event;
	}
	HSA_OK(api.hsa_ven_amd_aqlprofile_start(profile, NULL));
	profile->command_buffer.ptr = allocate(f, profile->command_buffer.size);
	profile->output_buffer.ptr = allocate(f, profile->output_buffer.size);
	memset(profile->output_buffer.ptr, 0xee, profile->output_buffer.size);
}

/* The next line of the file is that. */
static void expect_line(FILE *file, const char *format, ...)
{
	char line[256], expected[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(expected, sizeof(expected), format, arguments);
	va_end(arguments);
	do
		assert_non_null(fgets(line, sizeof(line), file));
	while (*line == '#');
	line[strcspn(line, "\n")] = '\0';
	assert_string_equal(line, expected);
}

/* A command at that dword; how many dwords it has. */
static uint32_t compare_command(FILE *file, const uint32_t *p, uint32_t at, uint64_t output)
{
	const unsigned int opcode = p[at] >> 8 & 0xff;
	const uint32_t *b = &p[at + 1];
	uint32_t place;

	assert_int_equal(p[at] >> 30, 3);
	switch (opcode) {
	case 0x23:
		expect_line(file, "%u PRED_EXEC %02x %u", at, b[0] >> 24, b[0] & 0x3fff);
		break;
	case 0x46:
		expect_line(file, "%u EVENT_WRITE %u %u", at, b[0] & 0x3f, b[0] >> 8 & 0xf);
		break;
	case 0x76:
		expect_line(file, "%u SET %05x %08x", at, (b[0] & 0xffff) + 0x2c00, b[1]);
		break;
	case 0x79:
		expect_line(file, "%u SET %05x %08x", at, (b[0] & 0xffff) + 0xc000, b[1]);
		break;
	case 0x40:
		assert_int_equal(b[0] & 0xf, 0);
		place = (uint32_t)((b[3] | (uint64_t)b[4] << 32) - output);
		if ((b[0] >> 8 & 0xf) == 5)
			expect_line(file, "%u COPY %x %u", at, b[1], place);
		else
			expect_line(file, "%u COPY %x %u to %u", at, b[1], place, b[0] >> 8 & 0xf);
		break;
	default:
		assert_int_equal(opcode, 0x58);
		expect_line(file, "%u ACQUIRE_MEM", at);
	}
	return (p[at] >> 16 & 0x3fff) + 2;
}

static void compare_packet(FILE *file, const char *name, const hsa_ext_amd_aql_pm4_packet_t *packet,
			   const void *output)
{
	uint32_t d[6], count;
	const uint32_t *commands;

	memcpy(d, packet, sizeof(d));
	assert_int_equal(d[0] >> 16, 1);
	assert_int_equal(d[1], 0xc0023f00);
	assert_int_equal(d[4] & ~0xfffffu, 0x10800000);
	assert_int_equal(d[5], 10);
	commands = (const uint32_t *)(uintptr_t)((d[2] & ~3u) | (uint64_t)(d[3] & 0xffff) << 32);
	count = d[4] & 0xfffff;
	expect_line(file, "%s %u", name, count);
	for (uint32_t at = 0; at < count;)
		at += compare_command(file, commands, at, (uint64_t)(uintptr_t)output);
}

/* The line that names the events: "events SQ:0:4 ...". How many. */
static uint32_t read_events(FILE *file, struct wanted *list, char blocks[][16])
{
	char line[256], *next = line, *one;
	uint32_t count = 0;

	do
		assert_non_null(fgets(line, sizeof(line), file));
	while (*line == '#');
	assert_string_equal(strsep(&next, " "), "events");
	while ((one = strsep(&next, " \n")) && *one) {
		assert_true(count < WANTED);
		assert_int_equal(sscanf(one, "%15[^:]:%u:%u", blocks[count], &list[count].instance,
					&list[count].event),
				 3);
		list[count].block = blocks[count];
		count++;
	}
	return count;
}

static void packets__of_some_events__are_those_of_amds_library(void **state)
{
	const char *const path = getenv("SOFTGPU_PACKETS");
	struct wanted list[WANTED];
	char blocks[WANTED][16];
	hsa_ext_amd_aql_pm4_packet_t packet = {0};
	hsa_ven_amd_aqlprofile_profile_t profile;
	struct fixture f;
	FILE *file = fopen(path, "r");
	uint32_t count;

	assert_non_null(file);
	count = read_events(file, list, blocks);
	fixture_open(&f);
	HSA_OK(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_AQLPROFILE, 1, sizeof(api),
						    &api));
	profile_make(&profile, &f, list, count);
	expect_line(file, "output %u", profile.output_buffer.size);
	HSA_OK(api.hsa_ven_amd_aqlprofile_start(&profile, &packet));
	compare_packet(file, "start", &packet, profile.output_buffer.ptr);
	HSA_OK(api.hsa_ven_amd_aqlprofile_read(&profile, &packet));
	compare_packet(file, "read", &packet, profile.output_buffer.ptr);
	HSA_OK(api.hsa_ven_amd_aqlprofile_stop(&profile, &packet));
	compare_packet(file, "stop", &packet, profile.output_buffer.ptr);
	fclose(file);
	fixture_close();
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
	profile_make(&profile, &f, wanted, WANTED);
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

/* test_counters [counts | packets]: that one alone, where the runtime can begin once only. */
int main(int argc, char **argv)
{
	static char path[] = "/tmp/softgpu-counters-XXXXXX";
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(counters__around_a_dispatch__are_what_the_log_says, path),
		cmocka_unit_test(packets__of_some_events__are_those_of_amds_library),
	};
	const int fd = mkstemp(path);
	int failed;

	if (fd < 0)
		return 1;
	close(fd);
	setenv("SOFTGPU_LOG", path, 1);
	cmocka_set_test_filter(argc < 2                     ? NULL
			       : !strcmp(argv[1], "counts") ? "counters__*"
							    : "packets__*");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
