/* SPDX-License-Identifier: MIT */
/*
 * Copies under way on signals of the application, the engines played by hand, where no software
 * GPU can force the order; and the batches of newer runtimes, which none of those here has.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <rtl/events.h>

#include "../../streams/hsa/harvest/signal_watch.h"
#include "../../streams/hsa/runtime/interceptor.h"
#include "../../streams/hsa/submit/copies.h"

struct interceptor interceptor;

static const struct slot_kinds copy_kinds = SLOT_KINDS(.is_copy = true),
			       dispatch_kinds = SLOT_KINDS();

/* A signal as the runtime has it. */
struct memory {
	amd_signal_t signal;
	uint64_t sdma_begin, object, id, reserved, sdma_end, more[3];
};

static struct memory signal_a;

#define A ((uint64_t)(uintptr_t)&signal_a)

static int setup(void **state)
{
	(void)state;
	memset(&signal_a, 0, sizeof(signal_a));
	signal_a.id = 0x71fcca6a3d5d5276u;
	signal_a.signal.value = 1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return (int)signal_watch_entries();
}

/* What the runtime does before a copy is submitted. */
static void prepare(struct memory *memory)
{
	memory->sdma_begin = memory->sdma_end = 0;
}

static void engine_completes(struct memory *memory, uint64_t begin, uint64_t end)
{
	memory->sdma_begin = begin;
	memory->sdma_end = end;
	memory->signal.value--;
}

static void assert_times(const struct slot *slot, uint64_t begin, uint64_t end, enum slot_times by)
{
	assert_int_equal(slot->ticks.begin, begin);
	assert_int_equal(slot->ticks.end, end);
	assert_int_equal(slot->times_by, by);
}

static void test_copy__alone__stays_and_is_read(void **state)
{
	struct slot slot = {0};

	(void)state;
	signal_a.sdma_end = 5; /* of an earlier one */
	assert_true(signal_watch_enter(&slot, &copy_kinds, A));
	assert_false(signal_watch_finished(&slot));
	prepare(&signal_a);
	assert_false(signal_watch_finished(&slot));
	engine_completes(&signal_a, 10, 20);
	assert_true(signal_watch_finished(&slot));
	assert_times(&slot, 10, 20, SLOT_TIMES_SDMA);
}

static void test_copy__by_a_kernel__has_its_times(void **state)
{
	struct slot slot = {0};

	(void)state;
	signal_a.signal.end_ts = 6;
	assert_true(signal_watch_enter(&slot, &copy_kinds, A));
	prepare(&signal_a);
	signal_a.signal.start_ts = 30;
	signal_a.signal.end_ts = 40;
	signal_a.signal.value--;
	assert_true(signal_watch_finished(&slot));
	assert_times(&slot, 30, 40, SLOT_TIMES_KERNEL);
}

static void test_copy__signal_used_again__keeps_the_first_times(void **state)
{
	struct slot copy = {0}, dispatch = {0}, second = {0};

	(void)state;
	assert_true(signal_watch_enter(&copy, &copy_kinds, A));
	engine_completes(&signal_a, 10, 20);
	signal_a.signal.value = 1;
	assert_true(signal_watch_enter(&dispatch, &dispatch_kinds, A));
	signal_a.signal.start_ts = 30;
	signal_a.signal.end_ts = 40;
	signal_a.signal.value = 1;
	assert_true(signal_watch_enter(&second, &copy_kinds, A));
	prepare(&signal_a);
	assert_false(signal_watch_finished(&second));
	engine_completes(&signal_a, 50, 60);
	assert_true(signal_watch_finished(&copy) && signal_watch_finished(&dispatch) &&
		    signal_watch_finished(&second));
	assert_times(&copy, 10, 20, SLOT_TIMES_SDMA);
	assert_times(&dispatch, 30, 40, SLOT_TIMES_NONE);
	assert_times(&second, 50, 60, SLOT_TIMES_SDMA);
}

static void test_copy__signal_not_as_known__is_finished_without_times(void **state)
{
	struct slot slot = {0};

	(void)state;
	signal_a.id = 1;
	assert_true(signal_watch_enter(&slot, &copy_kinds, A));
	engine_completes(&signal_a, 10, 20);
	assert_false(signal_watch_finished(&slot));
	assert_true(signal_watch_finished(&slot));
	assert_times(&slot, 0, 0, SLOT_TIMES_NONE);
}

/* ---- threads ---- */

#define ROUNDS 20000

static void *use_signal(void *data)
{
	struct memory *memory = data;

	for (uint64_t i = 1; i <= ROUNDS; i++) {
		struct slot slot = {0};

		memory->signal.value = 1;
		if (!signal_watch_enter(&slot, &copy_kinds, (uintptr_t)memory))
			return data;
		prepare(memory);
		engine_completes(memory, 2 * i, 2 * i + 1);
		if (!signal_watch_finished(&slot) || slot.ticks.begin != 2 * i ||
		    slot.ticks.end != 2 * i + 1)
			return data;
	}
	return NULL;
}

static void test_copies__of_many_threads__are_kept_apart(void **state)
{
	static struct memory memories[8];
	pthread_t threads[8];
	void *failed;

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		memories[i].id = 0x71fcca6a3d5d5276u;
		assert_int_equal(pthread_create(&threads[i], NULL, use_signal, &memories[i]), 0);
	}
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
}

/* ---- batches ---- */

static struct copy_request begun[8];
static uint64_t begun_signals[8];
static char begun_slots[8]; /* by their addresses */
static uint32_t begun_count, ended_count, runtime_calls;
static uint64_t missed;
static hsa_status_t ended_status, runtime_status;
static struct rtl_stream *const stream = (struct rtl_stream *)&begun;

bool copies_wanted(void)
{
	return true;
}

struct copy_slot *copies_begin(const struct copy_request *request, uint64_t signal)
{
	begun[begun_count] = *request;
	begun_signals[begun_count] = signal;
	return (struct copy_slot *)&begun_slots[begun_count++];
}

void copies_end(struct copy_slot *slot, hsa_status_t status)
{
	assert_ptr_equal(slot, &begun_slots[ended_count++]);
	ended_status = status;
}

void copies_untraced(uint64_t bytes, uint32_t count, hsa_status_t status)
{
	assert_true(bytes && count);
	assert_int_equal(status, runtime_status);
}

void rtl_stream_count_missed(struct rtl_stream *of, const char *cause, uint64_t count)
{
	assert_ptr_equal(of, stream);
	assert_non_null(cause);
	missed += count;
}

static hsa_status_t runtime_copies(const void *ops, uint32_t count, uint32_t dep_count,
				   const hsa_signal_t *deps)
{
	assert_non_null(ops);
	assert_int_equal(count + dep_count, count);
	assert_null(deps);
	assert_int_equal(ended_count, 0);
	runtime_calls++;
	return runtime_status;
}

static int setup_batch(void **state)
{
	(void)state;
	interceptor.copies = stream;
	interceptor.config.mode = CONFIG_STANDARD;
	interceptor.hsa.async_batch_copy = runtime_copies;
	begun_count = ended_count = runtime_calls = 0;
	missed = 0;
	runtime_status = HSA_STATUS_SUCCESS;
	return 0;
}

/* The first 64 bytes of hsa_amd_memory_copy_op_t, the rest 0. */
static void set_op(uint64_t *at, uint16_t type, uint16_t entries, uint64_t signal,
		   const uint64_t words[5])
{
	at[0] = 1u | (uint64_t)type << 16 | (uint64_t)entries << 32;
	at[1] = signal;
	memcpy(&at[2], words, 5 * sizeof(*words));
}

static void check_stride(size_t words)
{
	const uint64_t first[] = {0x1000, 7, 8, 0x2000, 100};
	const uint64_t second[] = {0x3000, 8, 7, 0x4000, 200};
	const uint64_t third[] = {0x5000, 7, 8, 0x6000, 300};
	uint64_t ops[3 * 32] = {0};

	setup_batch(NULL);
	set_op(ops, 0, 0, 71, first);
	set_op(ops + words, 0, 0, 72, second);
	set_op(ops + 2 * words, 0, 0, 71, third);
	assert_int_equal(copy_batch(ops, 3, 0, NULL), HSA_STATUS_SUCCESS);
	assert_int_equal(runtime_calls, 1);
	assert_int_equal(begun_count, 2);
	assert_int_equal(ended_count, 2);
	assert_int_equal(missed, 0);
	/* Those with one signal are one. */
	assert_int_equal(begun_signals[0], 71);
	assert_int_equal(begun[0].bytes, 400);
	assert_int_equal(begun[0].parts, 2);
	assert_int_equal(begun[0].src, 0x1000);
	assert_int_equal(begun[0].dst_agent.handle, 8);
	assert_int_equal(begun_signals[1], 72);
	assert_int_equal(begun[1].bytes, 200);
	assert_int_equal(begun[1].dst, 0x4000);
	assert_int_equal(begun[1].function, RTL_HSA_COPY_BATCH);
}

static void test_batch__descriptions_of_any_size__are_read(void **state)
{
	(void)state;
	for (size_t bytes = 64; bytes <= 256; bytes += 8)
		check_stride(bytes / 8);
}

static void test_batch__lists__are_summed_up(void **state)
{
	const uint64_t sources[] = {0x1000, 0x2000}, sizes[] = {10, 20};
	const uint64_t agents[] = {8, 9}, destinations[] = {0x5000, 0x6000};
	const uint64_t linear[] = {(uintptr_t)sources, 7, (uintptr_t)agents,
				   (uintptr_t)destinations, (uintptr_t)sizes};
	const uint64_t broadcast[] = {0x9000, 7, (uintptr_t)agents, (uintptr_t)destinations, 50};
	uint64_t ops[32] = {0};

	(void)state;
	set_op(ops, 0, 2, 71, linear);
	set_op(ops + 16, 1, 2, 72, broadcast);
	assert_int_equal(copy_batch(ops, 2, 0, NULL), HSA_STATUS_SUCCESS);
	assert_int_equal(begun_count, 2);
	assert_int_equal(begun[0].bytes, 30);
	assert_int_equal(begun[0].parts, 2);
	assert_int_equal(begun[0].src, 0x1000);
	assert_int_equal(begun[0].dst, 0x5000);
	assert_int_equal(begun[0].dst_agent.handle, 8);
	assert_int_equal(begun[1].bytes, 100);
	assert_int_equal(begun[1].src, 0x9000);
}

static void test_batch__refused__is_told(void **state)
{
	const uint64_t words[] = {0x1000, 7, 8, 0x2000, 100};
	uint64_t op[16] = {0};

	(void)state;
	set_op(op, 0, 0, 71, words);
	runtime_status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
	assert_int_equal(copy_batch(op, 1, 0, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(ended_count, 1);
	assert_int_equal(ended_status, HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void test_batch__not_understood__is_counted_and_passed_on(void **state)
{
	const uint64_t words[] = {0x1000, 7, 8, 0x2000, 100};
	uint64_t ops[2 * 16] = {0};

	(void)state;
	set_op(ops, 0, 0, 71, words);
	set_op(ops + 16, 99, 0, 72, words);
	assert_int_equal(copy_batch(ops, 2, 0, NULL), HSA_STATUS_SUCCESS);
	assert_int_equal(begun_count, 0);
	assert_int_equal(missed, 2);
	ops[0] = 2; /* another version */
	assert_int_equal(copy_batch(ops, 1, 0, NULL), HSA_STATUS_SUCCESS);
	assert_int_equal(missed, 3);
	assert_int_equal(runtime_calls, 2);
}

static void test_batch__at_the_end_of_memory__is_not_left(void **state)
{
	const uint64_t words[] = {0x1000, 7, 8, 0x2000, 100};
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *ops = (uint64_t *)(pages + 4096 - 2 * 80);

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	set_op(ops, 0, 0, 71, words);
	set_op(ops + 10, 0, 0, 72, words);
	assert_int_equal(copy_batch(ops, 2, 0, NULL), HSA_STATUS_SUCCESS);
	assert_int_equal(begun_count, 2);
	assert_int_equal(missed, 0);
	setup_batch(NULL);
	set_op(ops + 10, 99, 0, 72, words);
	assert_int_equal(copy_batch(ops, 2, 0, NULL), HSA_STATUS_SUCCESS);
	assert_int_equal(begun_count, 0);
	assert_int_equal(missed, 2);
	munmap(pages, 8192);
}

static void test_batch__without_a_signal__is_counted(void **state)
{
	const uint64_t words[] = {0x1000, 7, 8, 0x2000, 100};
	uint64_t ops[2 * 16] = {0};

	(void)state;
	set_op(ops, 0, 0, 0, words);
	set_op(ops + 16, 0, 0, 72, words);
	assert_int_equal(copy_batch(ops, 2, 0, NULL), HSA_STATUS_SUCCESS);
	assert_int_equal(begun_count, 1);
	assert_int_equal(missed, 1);
}

#define COPY(name)  cmocka_unit_test_setup_teardown(name, setup, teardown)
#define BATCH(name) cmocka_unit_test_setup(name, setup_batch)

int main(void)
{
	const struct CMUnitTest tests[] = {
		COPY(test_copy__alone__stays_and_is_read),
		COPY(test_copy__by_a_kernel__has_its_times),
		COPY(test_copy__signal_used_again__keeps_the_first_times),
		COPY(test_copy__signal_not_as_known__is_finished_without_times),
		COPY(test_copies__of_many_threads__are_kept_apart),
		BATCH(test_batch__descriptions_of_any_size__are_read),
		BATCH(test_batch__lists__are_summed_up),
		BATCH(test_batch__refused__is_told),
		BATCH(test_batch__not_understood__is_counted_and_passed_on),
		BATCH(test_batch__at_the_end_of_memory__is_not_left),
		BATCH(test_batch__without_a_signal__is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
