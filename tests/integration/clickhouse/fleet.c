/* SPDX-License-Identifier: MIT */
/* fleet.c: a rank of a job that trains something, without a GPU: it publishes dispatches as the interceptors do, with
 * times that follow from the rank and the step alone.
 *
 *     RANK=N fleet STEPS [SLOWER]    SLOWER: gemm takes so many percent longer
 *
 * Rank 37 has a slow GPU, rank 12 waits in its all_reduce, and rank 50 launches late. */
#include <stdio.h>
#include <stdlib.h>

#include <rtl/events.h>
#include <rtl/rtl.h>

#include "events/events.h"

#define KERNELS 4u

static const struct {
	const char *name;
	uint64_t ns;
} kernels[KERNELS] = {
	{"_Z4gemmPKfS0_Pf", 180000},
	{"_Z10layer_normPf", 22000},
	{"_Z10all_reducePf", 90000},
	{"_Z4adamPfPKf", 41000},
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static uint64_t duration(unsigned rank, uint64_t step, unsigned kernel, unsigned slower)
{
	uint64_t ns = kernels[kernel].ns;

	ns += mix(rank * 1000003u + step * 17u + kernel) % (ns / 20);
	if (kernel == 0)
		ns += ns * slower / 100;
	if (rank == 37)
		ns += ns / 4;
	if (rank == 12 && kernel == 2)
		ns *= 3;
	return ns;
}

static uint64_t latency(unsigned rank, uint64_t step, unsigned kernel)
{
	const uint64_t ns = 6000 + mix(step * 31u + rank * 7919u + kernel) % 2000;

	return rank == 50 ? 5 * ns : ns;
}

static void describe_gpu(struct rtl_stream *stream, unsigned rank)
{
	const struct rtl_tracepoint_desc desc = {.struct_size = sizeof(desc),
						 .kind = "agent",
						 .name = "gfx942",
						 .line = 1 + rank % 8};
	struct rtl_record *record;
	uint64_t uid = 0;
	char uuid[32];

	snprintf(uuid, sizeof(uuid), "GPU-%016llx", (unsigned long long)mix(rank));
	rtl_tracepoint_register(&desc, &uid);
	rtl_tracepoint_set(uid, "uuid", uuid);
	record = rtl_reserve(stream, RTL_METADATA, sizeof(struct rtl_hsa_metadata));
	if (!record)
		return;
	*(struct rtl_hsa_metadata *)rtl_record_payload(record) =
		(struct rtl_hsa_metadata){.gpu = 1 + rank % 8};
	record->uid = uid;
	rtl_commit(record);
}

static void publish(struct rtl_stream *stream, uint64_t uid, unsigned rank, uint64_t begin_ns,
		    uint64_t ns, uint64_t wait_ns)
{
	struct rtl_record *record =
		rtl_reserve(stream, RTL_TASK_END, sizeof(struct rtl_hsa_dispatch));

	if (!record)
		return;
	*(struct rtl_hsa_dispatch *)rtl_record_payload(record) = (struct rtl_hsa_dispatch){
		.begin_ns = begin_ns,
		.end_ns = begin_ns + ns,
		.submit_ns = begin_ns - wait_ns / 2,
		.call_ns = begin_ns - wait_ns,
		.gpu = 1 + rank % 8,
		.queue = 1,
		.grid_x = 1u << 20,
		.grid_y = 1,
		.grid_z = 1,
		.workgroup_x = 256,
		.workgroup_y = 1,
		.workgroup_z = 1,
	};
	record->uid = uid;
	rtl_commit(record);
}

int main(int argc, char **argv)
{
	const unsigned rank = getenv("RANK") ? (unsigned)atoi(getenv("RANK")) : 0;
	const uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
	const unsigned slower = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	struct rtl_stream *stream = &rtl_stream_none;
	uint64_t uids[KERNELS], now = 1000000000000u;

	if (rtl_stream_register(&hsa_stream_info, &stream))
		return 1;
	describe_gpu(stream, rank);
	for (unsigned k = 0; k < KERNELS; k++) {
		const struct rtl_tracepoint_desc desc = {
			.struct_size = sizeof(desc), .kind = "kernel", .name = kernels[k].name};

		rtl_tracepoint_register(&desc, &uids[k]);
	}
	for (uint64_t step = 0; step < steps; step++)
		for (unsigned k = 0; k < KERNELS; k++) {
			const uint64_t wait_ns = latency(rank, step, k);
			const uint64_t ns = duration(rank, step, k, slower);

			publish(stream, uids[k], rank, now + wait_ns, ns, wait_ns);
			now += wait_ns + ns;
		}
	return 0;
}
