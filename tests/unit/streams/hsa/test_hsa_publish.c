/* SPDX-License-Identifier: MIT */
/*
 * Events of work from facts alone, with librtl played here: of a source that knows packets, and of
 * one that knows of kernels and times and of nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <rtl/events.h>

#include "../../streams/hsa/objects/agents.h"
#include "../../streams/hsa/objects/kernel_table.h"
#include "../../streams/hsa/objects/publish.h"
#include "../../streams/hsa/runtime/handler_thread.h"
#include "../../streams/hsa/runtime/interceptor.h"

struct interceptor interceptor;
uint32_t handler_thread;

static struct {
	struct rtl_record record;
	uint64_t payload[64];
} written;
static unsigned committed, waits;
static bool full;

static struct rtl_record *reserve(const struct rtl_stream *stream, uint16_t type, uint32_t bytes)
{
	assert_true(stream == interceptor.stream || stream == interceptor.copies);
	assert_true(bytes <= sizeof(written.payload));
	if (full)
		return NULL;
	memset(&written, 0xee, sizeof(written));
	written.record.type = type;
	return &written.record;
}

struct rtl_record *rtl_reserve(struct rtl_stream *stream, uint16_t type, uint32_t bytes)
{
	waits++;
	return reserve(stream, type, bytes);
}

struct rtl_record *rtl_try_reserve(struct rtl_stream *stream, uint16_t type, uint32_t bytes)
{
	return reserve(stream, type, bytes);
}

void rtl_commit(struct rtl_record *record)
{
	assert_ptr_equal(record, &written.record);
	committed++;
}

uint64_t rtl_ticks_to_ns(uint64_t ticks)
{
	return ticks + 1000;
}

uint32_t rtl_thread_id(void)
{
	return 5;
}

int rtl_tracepoint_register(const struct rtl_tracepoint_desc *desc, uint64_t *uid)
{
	*uid = desc->hash ? desc->hash : 77;
	return 0;
}

void interceptor_set_number(uint64_t uid, const char *key, uint64_t value)
{
	(void)uid;
	assert_non_null(key);
	(void)value;
}

const struct agent *agents_find_node(uint32_t node)
{
	static const struct agent gpu = {.node = 3, .uid = 33};

	return node == 3 ? &gpu : NULL;
}

static int setup(void **state)
{
	static struct rtl_stream streams[2];

	(void)state;
	interceptor.stream = &streams[0];
	interceptor.copies = &streams[1];
	committed = waits = 0;
	full = false;
	handler_thread = 0;
	return 0;
}

static const struct kernel kernel = {.uid = 11, .name = 12};

static void test_dispatch__of_a_packet__has_all(void **state)
{
	const struct work_queue queue = {.uid = 1, .agent_uid = 2, .number = 4, .node = 3};
	const struct dispatch dispatch = {.submit_ticks = 500,
					  .packet_id = 9,
					  .submit_tid = 6,
					  .flags = RTL_HSA_DISPATCH_APP_SIGNAL,
					  .workgroup = {64, 2, 1},
					  .group_bytes = 100,
					  .kernel_object = 0xabc,
					  .kernel = &kernel,
					  .private_bytes = 200,
					  .grid = {640, 4, 1}};
	const struct work_scope scope = {.correlation = 21,
					 .scope = 22,
					 .scope_instance = 23,
					 .call_ticks = 400,
					 .hip_stream = 24,
					 .range = 25};
	const struct rtl_hsa_dispatch expected = {.begin_ns = 2000,
						  .end_ns = 3000,
						  .submit_ns = 1500,
						  .packet_id = 9,
						  .kernel_object = 0xabc,
						  .kernel_name = 12,
						  .gpu = 3,
						  .queue = 4,
						  .submit_tid = 6,
						  .flags = RTL_HSA_DISPATCH_APP_SIGNAL,
						  .grid_x = 640,
						  .grid_y = 4,
						  .grid_z = 1,
						  .workgroup_x = 64,
						  .workgroup_y = 2,
						  .workgroup_z = 1,
						  .group_segment_bytes = 100,
						  .private_segment_bytes = 200,
						  .scope = 22,
						  .scope_instance = 23,
						  .call_ns = 1400,
						  .hip_stream = 24,
						  .range = 25};

	(void)state;
	publish_dispatch(RTL_TASK_END, &queue, &dispatch, &scope, (struct work_times){2000, 3000});
	assert_int_equal(committed, 1);
	assert_int_equal(written.record.uid, 11);
	assert_int_equal(written.record.parent_uid, 1);
	assert_int_equal(written.record.correlation, 21);
	assert_int_equal(written.record.instance, (UINT64_C(4) << 44) + 10);
	assert_memory_equal(rtl_record_payload(&written.record), &expected, sizeof(expected));
}

static void test_dispatch__of_a_source_without_queues__leaves_the_rest_0(void **state)
{
	const struct work_queue gpu = {.node = 3};
	const struct dispatch dispatch = {.kernel = &kernel};
	const struct rtl_hsa_dispatch expected = {
		.begin_ns = 2000, .end_ns = 3000, .kernel_name = 12, .gpu = 3};

	(void)state;
	publish_dispatch(RTL_TASK_END, &gpu, &dispatch, NULL, (struct work_times){2000, 3000});
	assert_int_equal(committed, 1);
	assert_int_equal(written.record.correlation, 0);
	assert_memory_equal(rtl_record_payload(&written.record), &expected, sizeof(expected));
}

static void test_barrier__has_its_kind(void **state)
{
	const struct work_queue queue = {.uid = 1, .number = 4, .node = 3};
	const struct barrier barrier = {
		.submit_ticks = 5, .packet_id = 1, .kind = RTL_HSA_BARRIER_OR, .dependencies = 2};
	const struct rtl_hsa_barrier *payload = rtl_record_payload(&written.record);

	(void)state;
	publish_init();
	publish_barrier(RTL_BARRIER_END, &queue, &barrier, NULL, (struct work_times){1, 2});
	assert_int_equal(committed, 1);
	assert_int_equal(written.record.uid, 77);
	assert_int_equal(payload->kind, RTL_HSA_BARRIER_OR);
	assert_int_equal(payload->dependencies, 2);
	assert_int_equal(payload->submit_ns, 1005);
}

static void test_copy__refused__has_its_status(void **state)
{
	const struct copy copy = {.number = 8,
				  .bytes = 100,
				  .node = 3,
				  .dst_node = 3,
				  .direction = RTL_HSA_COPY_HOST_TO_DEVICE,
				  .function = RTL_HSA_COPY_LINEAR,
				  .flags = RTL_HSA_COPY_FAILED,
				  .status = 0x1001};
	const struct rtl_hsa_copy *payload = rtl_record_payload(&written.record);

	(void)state;
	publish_copy(RTL_TRANSFER_END, &copy, NULL, (struct work_times){0, 0});
	assert_int_equal(committed, 1);
	assert_int_equal(written.record.instance, 8);
	assert_int_equal(written.record.parent_uid, 33);
	assert_int_equal(payload->status, 0x1001);
	assert_int_equal(payload->submit_ns, 0);
	assert_int_equal(payload->direction, RTL_HSA_COPY_HOST_TO_DEVICE);
}

static void test_begin__on_the_runtimes_own_thread__does_not_wait(void **state)
{
	const struct work_queue queue = {.uid = 1, .number = 4, .node = 3};
	const struct dispatch dispatch = {.kernel = &kernel};

	(void)state;
	publish_dispatch(RTL_TASK_BEGIN, &queue, &dispatch, NULL, (struct work_times){0, 0});
	assert_int_equal(waits, 1);
	handler_thread = 5;
	publish_dispatch(RTL_TASK_BEGIN, &queue, &dispatch, NULL, (struct work_times){0, 0});
	assert_int_equal(waits, 1);
	full = true;
	publish_dispatch(RTL_TASK_BEGIN, &queue, &dispatch, NULL, (struct work_times){0, 0});
	assert_int_equal(committed, 2);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_dispatch__of_a_packet__has_all),
		TEST(test_dispatch__of_a_source_without_queues__leaves_the_rest_0),
		TEST(test_barrier__has_its_kind),
		TEST(test_copy__refused__has_its_status),
		TEST(test_begin__on_the_runtimes_own_thread__does_not_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
