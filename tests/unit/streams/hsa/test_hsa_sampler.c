/* SPDX-License-Identifier: MIT */
/*
 * Counters of a GPU in intervals (streams/hsa/counter/sampler.c): what becomes of readings, and the end. The
 * GPU is here a thread that completes the signal of what was submitted last, or does not; its one counter
 * grows by 3 with each reading.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "interceptor.h"
#include "plan.h"
#include "sampler.h"
#include "settings.h"
#include "stream.h"
#include "values.h"

#define MS 1000000u

struct interceptor interceptor;
struct counter_settings counter_settings;
bool program_paused;

static struct rtl_stream stream;
struct counter_streams counter_streams = {.values = &stream, .samples = &stream};

static amd_signal_t signal_of_readings;
static _Atomic uint64_t submitted;      /* packets */
static _Atomic uint64_t answered_until; /* the GPU does those; others never end */
static _Atomic uint64_t output;
static atomic_bool resets; /* before the next reading */
static atomic_bool gone;   /* the runtime: nothing may touch it */
static _Atomic uint64_t touched_late;

static uint64_t now_value, before_value;
static _Atomic uint64_t published, sum, missed, enabled;
static _Atomic uint64_t last_end_ns;
static atomic_bool gaps;

static struct metric *const no_metric = NULL;
static struct counter_metric metric;
static struct counter_metric *metrics[] = {&metric};
static struct counter_pass pass = {.metrics = metrics, .metric_count = 1};
static struct counter_gpu gpu = {.passes = &pass, .pass_count = 1, .output_bytes = 8};

/* ---- what the sampler stands on ---- */

static void touch(void)
{
	touched_late += gone;
}

void rtl_stream_count_missed(struct rtl_stream *of, const char *cause, uint64_t count)
{
	(void)of;
	(void)cause;
	missed += count;
}

uint64_t slot_signal_make(void)
{
	return (uint64_t)(uintptr_t)&signal_of_readings;
}

bool slot_signal_is_pending(uint64_t signal)
{
	touch();
	return __atomic_load_n(&((amd_signal_t *)signal)->value, __ATOMIC_ACQUIRE) >= 1;
}

static const struct library_packet packet;

const struct library_packet *library_count_start(const struct library_count *count)
{
	(void)count;
	return &packet;
}

const struct library_packet *library_count_read(const struct library_count *count)
{
	(void)count;
	return &packet;
}

const struct library_packet *library_count_stop(const struct library_count *count)
{
	(void)count;
	return &packet;
}

const void *library_count_output(const struct library_count *count)
{
	(void)count;
	return &output;
}

size_t library_count_bytes(const struct library_count *count)
{
	(void)count;
	return sizeof(output);
}

const struct library_packet *library_enable(hsa_agent_t agent, char *why, size_t size)
{
	(void)agent;
	(void)why;
	(void)size;
	enabled++;
	return &packet;
}

/* The GPU: at once, unless it has stopped answering. */
void library_submit(hsa_queue_t *queue, const struct library_packet *packets, uint32_t count)
{
	touch();
	if (!queue) /* a program's */
		return;
	submitted += count;
	if (submitted > answered_until || !packets[count - 1].signal)
		return;
	if (atomic_exchange(&resets, false))
		output = 0;
	output += 3;
	__atomic_store_n(&signal_of_readings.value, 0, __ATOMIC_RELEASE);
}

bool values_read(const struct counter_pass *of, const void *from)
{
	(void)of;
	touch();
	memcpy(&now_value, from, sizeof(now_value));
	before_value = 0;
	return true;
}

bool values_subtract(const struct counter_pass *of, const void *before)
{
	(void)of;
	memcpy(&before_value, before, sizeof(before_value));
	return now_value >= before_value;
}

bool values_of(const struct counter_pass *of, const struct counter_metric *one, double *value)
{
	(void)of;
	(void)one;
	*value = (double)(now_value - before_value);
	return true;
}

void values_publish_parts(const struct counter_gpu *of, const struct counter_pass *a, uint16_t type,
			  const struct counter_dispatch *reading)
{
	(void)of;
	(void)a;
	(void)type;
	(void)reading;
}

void counter_publish(struct rtl_stream *of, uint16_t type, uint64_t uid,
		     const struct counter_dispatch *reading, const void *payload, uint32_t size)
{
	const struct rtl_hsa_counter_interval *interval = payload;

	(void)of;
	(void)type;
	(void)uid;
	assert_int_equal(size, sizeof(*interval));
	if (last_end_ns && last_end_ns != interval->begin_ns)
		gaps = true;
	last_end_ns = interval->end_ns;
	assert_int_equal(reading->instance, ++published);
	sum += (uint64_t)interval->value;
}

static hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				 queue_error_callback callback, void *data, uint32_t private_bytes,
				 uint32_t group_bytes, hsa_queue_t **queue)
{
	static hsa_queue_t ours;

	(void)agent;
	(void)size;
	(void)type;
	(void)callback;
	(void)data;
	(void)private_bytes;
	(void)group_bytes;
	*queue = &ours;
	return HSA_STATUS_SUCCESS;
}

/* ---- */

static void listen(bool wanted)
{
	__atomic_store_n(&stream.wanted[RTL_SAMPLE & 0xff], (uint8_t)wanted, __ATOMIC_RELAXED);
}

static void begin(uint64_t answers, uint64_t timeout_ns)
{
	interceptor.hsa.queue_create = queue_create;
	counter_settings.sample_ns = MS;
	counter_settings.timeout_ns = timeout_ns;
	answered_until = answers;
	submitted = output = missed = enabled = sum = last_end_ns = 0;
	gone = gaps = false;
	listen(true);
	sampler_add_queue(&gpu, NULL);
	sampler_add_queue(&gpu, NULL);
	assert_int_equal(enabled, 2);
}

static void sleep_ms(unsigned ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * MS}, NULL);
}

static void wait_for(const _Atomic uint64_t *number, uint64_t least)
{
	while (*number < least)
		sleep_ms(1);
}

/* Nothing is touched once the end is over. */
static void end(void)
{
	sampler_stop(100);
	gone = true;
	sleep_ms(20);
	assert_int_equal(touched_late, 0);
}

static void test_sampler__readings__are_differences_without_gaps_to_the_end(void **state)
{
	(void)state;
	begin(UINT64_MAX, 10000000000u);
	wait_for(&published, 5);
	end();
	/* The start has counted 3 before the first reading; so has each reading. */
	assert_int_equal(sum, output);
	assert_false(gaps);
	assert_int_equal(missed, 0);
}

static void test_sampler__nobody_listens__nothing_is_published_nor_left_for_later(void **state)
{
	uint64_t before, readings;

	(void)state;
	begin(UINT64_MAX, 10000000000u);
	wait_for(&published, published + 2);
	listen(false);
	readings = submitted;
	wait_for(&submitted, readings + 3);
	before = published;
	readings = submitted;
	wait_for(&submitted, readings + 5);
	assert_int_equal(published, before);
	listen(true);
	wait_for(&published, before + 2);
	assert_true(gaps);
	end();
	assert_true(sum < output);
}

/* As another process on the same GPU would. */
static void test_sampler__somebody_resets_the_counters__that_interval_is_missed(void **state)
{
	(void)state;
	begin(UINT64_MAX, 10000000000u);
	wait_for(&published, published + 3);
	resets = true;
	wait_for(&missed, 1);
	wait_for(&published, published + 3);
	end();
	assert_int_equal(missed, 1);
	assert_true(gaps);
}

static void test_sampler__a_reading_never_ends__is_given_up_and_nothing_waits(void **state)
{
	(void)state;
	begin(4, 20 * MS);
	wait_for(&missed, 1);
	assert_int_equal(published, 3);
	end();
	assert_int_equal(missed, 1);
}

static void test_sampler__end_during_a_reading_that_never_ends__comes(void **state)
{
	(void)state;
	begin(2, 10000000000u);
	wait_for(&submitted, 3);
	end();
	assert_int_equal(missed, 0);
}

static void test_sampler__counters_do_not_start__nothing_is_read(void **state)
{
	(void)state;
	begin(0, 5 * MS);
	wait_for(&submitted, 1);
	sleep_ms(10);
	assert_int_equal(submitted, 1);
	end();
	assert_int_equal(published, 0);
}

/* There is one sampler in a process's life. */
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sampler__readings__are_differences_without_gaps_to_the_end),
		cmocka_unit_test(
			test_sampler__nobody_listens__nothing_is_published_nor_left_for_later),
		cmocka_unit_test(
			test_sampler__somebody_resets_the_counters__that_interval_is_missed),
		cmocka_unit_test(test_sampler__a_reading_never_ends__is_given_up_and_nothing_waits),
		cmocka_unit_test(test_sampler__end_during_a_reading_that_never_ends__comes),
		cmocka_unit_test(test_sampler__counters_do_not_start__nothing_is_read),
	};
	int failed = 0;

	metric.metric = no_metric;
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		const pid_t child = fork();
		int status = 1;

		if (!child)
			_exit(_cmocka_run_group_tests(tests[i].name, &tests[i], 1, NULL, NULL));
		waitpid(child, &status, 0);
		failed |= status;
	}
	return failed != 0;
}
