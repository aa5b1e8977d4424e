/* SPDX-License-Identifier: MIT */
#include "copy_calls.h"

#include <rtl/events.h>
#include <stddef.h>
#include <string.h>

#define KIND 6 /* `direction` is the number of the argument that says it, and this */

/* Numbers of arguments, from 0. */
static const struct copy_call {
	const char *name; /* also with Async, WithStream, _spt */
	uint8_t src;      /* 0: it fills */
	uint8_t size, size2;
	uint8_t unit; /* bytes that size counts */
	uint8_t direction;
} calls[] = {
	{"hipMemcpy", 1, 2, 0, 1, KIND + 3},
	{"hipMemcpyHtoD", 1, 2, 0, 1, RTL_HSA_COPY_HOST_TO_DEVICE},
	{"hipMemcpyDtoH", 1, 2, 0, 1, RTL_HSA_COPY_DEVICE_TO_HOST},
	{"hipMemcpyDtoD", 1, 2, 0, 1, RTL_HSA_COPY_DEVICE_TO_DEVICE},
	{"hipMemcpyPeer", 2, 4, 0, 1, COPY_BY_ADDRESSES},
	{"hipMemcpy2D", 2, 4, 5, 1, KIND + 6},
	{"hipMemset", 0, 2, 0, 1, RTL_HSA_COPY_NONE},
	{"hipMemsetD8", 0, 2, 0, 1, RTL_HSA_COPY_NONE},
	{"hipMemsetD16", 0, 2, 0, 2, RTL_HSA_COPY_NONE},
	{"hipMemsetD32", 0, 2, 0, 4, RTL_HSA_COPY_NONE},
	{"hipMemset2D", 0, 3, 4, 1, RTL_HSA_COPY_NONE},
};

const struct copy_call *copy_call_find(const char *function)
{
	static const char *const ways[] = {"", "Async", "WithStream", "_spt", "Async_spt"};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		const size_t length = strlen(calls[i].name);

		for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++)
			if (!strncmp(function, calls[i].name, length) &&
			    !strcmp(function + length, ways[k]))
				return &calls[i];
	}
	return NULL;
}

void copy_call_read(const struct copy_call *call, const uint64_t *slots, struct copy_facts *facts)
{
	static const uint8_t directions[] = {RTL_HSA_COPY_HOST_TO_HOST, RTL_HSA_COPY_HOST_TO_DEVICE,
					     RTL_HSA_COPY_DEVICE_TO_HOST,
					     RTL_HSA_COPY_DEVICE_TO_DEVICE}; /* by hipMemcpyKind */

	facts->dst = slots[0];
	facts->src = call->src ? slots[call->src] : 0;
	facts->bytes = slots[call->size] * call->unit * (call->size2 ? slots[call->size2] : 1);
	facts->kind = !call->src    ? RTL_HSA_COPY_FILL
		      : call->size2 ? RTL_HSA_COPY_RECT
				    : RTL_HSA_COPY_LINEAR;
	facts->direction = call->direction;
	if (call->direction > KIND && call->direction != COPY_BY_ADDRESSES) {
		const uint64_t kind = slots[call->direction - KIND];

		facts->direction = kind < sizeof(directions) ? directions[kind] : COPY_BY_ADDRESSES;
	}
}

/* ---- calls under way ---- */

#define TAKEN   (UINT64_C(1) << 63) /* no correlation has it */
#define WRITING UINT64_MAX

static struct left {
	/* The correlation, with TAKEN from its first kernel on; WRITING: somebody writes the facts, which the release
	 * behind them ends. Acquire by who reads them, and looks again afterwards. */
	uint64_t call;
	uint64_t dst, src, bytes; /* release, acquire; as the next */
	uint8_t direction, kind;
} __attribute__((aligned(64))) places[4096];

/* A thread has a block of 2^25 numbers (rtl_unique_id), and 16 places. */
static struct left *place_of(uint64_t correlation)
{
	return &places[((correlation >> 25) * 16 + correlation % 16) % 4096];
}

void copy_call_leave(uint64_t correlation, const struct copy_facts *facts)
{
	struct left *place = place_of(correlation);
	uint64_t before = __atomic_load_n(&place->call, __ATOMIC_RELAXED);

	if (before == WRITING || !__atomic_compare_exchange_n(&place->call, &before, WRITING, false,
							      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&place->dst, facts->dst, __ATOMIC_RELEASE);
	__atomic_store_n(&place->src, facts->src, __ATOMIC_RELEASE);
	__atomic_store_n(&place->bytes, facts->bytes, __ATOMIC_RELEASE);
	__atomic_store_n(&place->direction, facts->direction, __ATOMIC_RELEASE);
	__atomic_store_n(&place->kind, facts->kind, __ATOMIC_RELEASE);
	__atomic_store_n(&place->call, correlation, __ATOMIC_RELEASE);
}

bool copy_call_take(uint64_t correlation, struct copy_facts *facts)
{
	struct left *place = place_of(correlation);
	uint64_t call = __atomic_load_n(&place->call, __ATOMIC_ACQUIRE);

	if (!correlation || (call & ~TAKEN) != correlation)
		return false;
	facts->dst = __atomic_load_n(&place->dst, __ATOMIC_ACQUIRE);
	facts->src = __atomic_load_n(&place->src, __ATOMIC_ACQUIRE);
	facts->bytes = __atomic_load_n(&place->bytes, __ATOMIC_ACQUIRE);
	facts->direction = __atomic_load_n(&place->direction, __ATOMIC_ACQUIRE);
	facts->kind = __atomic_load_n(&place->kind, __ATOMIC_ACQUIRE);
	if (call & TAKEN)
		facts->bytes = 0;
	return __atomic_compare_exchange_n(&place->call, &call, correlation | TAKEN, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
