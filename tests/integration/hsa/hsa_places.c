/* SPDX-License-Identifier: MIT */
/* hsa_places: until it is killed, a dispatch each millisecond within a scope, whose place it takes by storing the
 * write index. Prints a line when it begins. */
#define PROGRAM "hsa_places"

#include <hsa/hsa.h>
#include <rtl/stub.h>
#include <unistd.h>

static uint64_t take_place(const hsa_queue_t *queue, uint64_t count)
{
	const uint64_t index = hsa_queue_load_write_index_relaxed(queue);

	hsa_queue_store_write_index_relaxed(queue, index + count);
	return index;
}

#define hsa_queue_add_write_index_relaxed take_place
#include "hsa_program.h"

int main(void)
{
	struct rtl_tracepoint_desc scope = {
		.struct_size = sizeof(scope), .kind = "call", .name = "place"};
	hsa_queue_t *queue;
	uint64_t uid;

	CHECK(!hsa_init());
	queue = create_queue(first_gpu(), 64, HSA_QUEUE_TYPE_SINGLE);
	CHECK(rtl_stub_available() && !rtl_tracepoint_register(&scope, &uid));
	CHECK(puts("begins") >= 0 && !fflush(stdout));
	for (uint64_t number = 1;; number++) {
		const uint32_t depth = rtl_scope_push(uid, number, number);

		dispatch(queue, 64, (hsa_signal_t){0});
		rtl_scope_pop(depth);
		usleep(1000);
	}
}
