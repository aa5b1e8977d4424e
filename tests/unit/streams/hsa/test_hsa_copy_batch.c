/* SPDX-License-Identifier: MIT */
/* Batches of copies, as newer runtimes have them, which none of those here has. */
#include <sys/mman.h>

#include <rtl/events.h>

#include "../../streams/hsa/runtime/interceptor.h"
#include "../../streams/hsa/submit/copies.h"
#include "unit.h"

struct interceptor interceptor;

static struct copy_request begun[8];
static uint64_t begun_signals[8];
static char begun_slots[8]; /* by their addresses */
static uint32_t begun_count, ended_count, runtime_calls;
static uint64_t missed;
static hsa_status_t ended_status, runtime_status;
static struct rtl_stream *const stream = (struct rtl_stream *)&begun;

bool copies_traced(void)
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
	interceptor.copies = stream;
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

static const uint64_t a_copy[] = {0x1000, 7, 8, 0x2000, 100};

static void check_stride(size_t words)
{
	const uint64_t second[] = {0x3000, 8, 7, 0x4000, 200};
	const uint64_t third[] = {0x5000, 7, 8, 0x6000, 300};
	uint64_t ops[3 * 32] = {0};

	setup_batch(NULL);
	set_op(ops, 0, 0, 71, a_copy);
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

TEST(test_batch__descriptions_of_any_size__are_read)
{
	for (size_t bytes = 64; bytes <= 256; bytes += 8)
		check_stride(bytes / 8);
}

TEST(test_batch__lists__are_summed_up)
{
	const uint64_t sources[] = {0x1000, 0x2000}, sizes[] = {10, 20};
	const uint64_t agents[] = {8, 9}, destinations[] = {0x5000, 0x6000};
	const uint64_t linear[] = {(uintptr_t)sources, 7, (uintptr_t)agents,
				   (uintptr_t)destinations, (uintptr_t)sizes};
	const uint64_t broadcast[] = {0x9000, 7, (uintptr_t)agents, (uintptr_t)destinations, 50};
	uint64_t ops[32] = {0};

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

TEST(test_batch__refused__is_told)
{
	uint64_t op[16] = {0};

	set_op(op, 0, 0, 71, a_copy);
	runtime_status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
	assert_int_equal(copy_batch(op, 1, 0, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(ended_count, 1);
	assert_int_equal(ended_status, HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST(test_batch__not_understood__is_counted_and_passed_on)
{
	uint64_t ops[2 * 16] = {0};

	set_op(ops, 0, 0, 71, a_copy);
	set_op(ops + 16, 99, 0, 72, a_copy);
	assert_int_equal(copy_batch(ops, 2, 0, NULL), HSA_STATUS_SUCCESS);
	assert_int_equal(begun_count, 0);
	assert_int_equal(missed, 2);
	ops[0] = 2; /* another version */
	assert_int_equal(copy_batch(ops, 1, 0, NULL), HSA_STATUS_SUCCESS);
	assert_int_equal(missed, 3);
	assert_int_equal(runtime_calls, 2);
}

TEST(test_batch__at_the_end_of_memory__is_not_left)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *ops = (uint64_t *)(pages + 4096 - 2 * 80);

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	set_op(ops, 0, 0, 71, a_copy);
	set_op(ops + 10, 0, 0, 72, a_copy);
	assert_int_equal(copy_batch(ops, 2, 0, NULL), HSA_STATUS_SUCCESS);
	assert_int_equal(begun_count, 2);
	assert_int_equal(missed, 0);
	setup_batch(NULL);
	set_op(ops + 10, 99, 0, 72, a_copy);
	assert_int_equal(copy_batch(ops, 2, 0, NULL), HSA_STATUS_SUCCESS);
	assert_int_equal(begun_count, 0);
	assert_int_equal(missed, 2);
	munmap(pages, 8192);
}

TEST(test_batch__without_a_signal__is_counted)
{
	uint64_t ops[2 * 16] = {0};

	set_op(ops, 0, 0, 0, a_copy);
	set_op(ops + 16, 0, 0, 72, a_copy);
	assert_int_equal(copy_batch(ops, 2, 0, NULL), HSA_STATUS_SUCCESS);
	assert_int_equal(begun_count, 1);
	assert_int_equal(missed, 1);
}

RUN_TESTS(setup_batch, NULL, NULL, NULL)
