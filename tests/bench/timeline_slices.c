/* SPDX-License-Identifier: MIT */
/* timeline_slices.c: slices per second of processor time that the writers of timelines make, from memory to a file,
 * beside fprintf of the same JSON in the same run.
 *
 *     timeline_slices FOLDER [SLICES [ROUNDS]]
 *
 * Two kinds of slices: "short" ones have three values and a flow, as most tracers write them; "kernels" are dispatches
 * with all that rtl writes of them (20 values and a flow). Rounds alternate between the ways; the best of each counts,
 * and on a busy machine the ratios. "Live" is JSON that is closed after each flush, as the subscriber writes it; the
 * others are as `rtl convert` writes them. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

#define KERNELS 50u
#define QUEUES  4u

static char path[4096];

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct rtl_hsa_dispatch make_dispatch(uint64_t i)
{
	const uint64_t now = 1000000000000u + i * 2000;

	return (struct rtl_hsa_dispatch){
		.begin_ns = now + 900,
		.end_ns = now + 1700 + i % 97,
		.submit_ns = now,
		.packet_id = i / QUEUES,
		.gpu = 1 + (uint32_t)(i & 1),
		.queue = 1 + (uint32_t)(i % QUEUES),
		.submit_tid = 4711,
		.grid_x = 1u << (10 + i % 8),
		.grid_y = 1,
		.grid_z = 1,
		.workgroup_x = 256,
		.workgroup_y = 1,
		.workgroup_z = 1,
		.group_segment_bytes = 4096,
		.call_ns = now - 100,
		.hip_stream = 0x7f0000001000,
	};
}

struct bench_names {
	struct work_kernel kernels[KERNELS];
	struct name *category, *keys[3];
};

static void make_names(struct timeline *timeline, struct bench_names *names)
{
	char text[64];

	for (unsigned i = 0; i < KERNELS; i++) {
		snprintf(text, sizeof(text), "void kernel_number_%u<float>(float*, int)", i);
		names->kernels[i] =
			(struct work_kernel){timeline_intern(timeline, text), true, 32, 0, 48};
	}
	names->category = timeline_intern(timeline, "kernel");
	names->keys[0] = timeline_intern(timeline, "corr_id");
	names->keys[1] = timeline_intern(timeline, "queue");
	names->keys[2] = timeline_intern(timeline, "bytes");
}

static void write_short(struct work *work, struct timeline_track *track,
			const struct bench_names *names, uint64_t i)
{
	const struct rtl_hsa_dispatch d = make_dispatch(i);
	struct timeline_slice slice = {
		.name = names->kernels[i % KERNELS].name,
		.category = names->category,
		.begin_ns = d.begin_ns,
		.end_ns = d.end_ns,
		.flow = TIMELINE_FLOW_IN,
		.flow_id = i + 1,
		.values = work->values,
		.value_count = 3,
	};

	work_begin_values(work);
	work_value(work, names->keys[0], TIMELINE_UINT)->number = i + 1;
	work_value(work, names->keys[1], TIMELINE_UINT)->number = d.queue;
	work_value(work, names->keys[2], TIMELINE_UINT)->number = 4096 + i % 1000;
	timeline_slice(work->timeline, track, &slice);
}

static double run_timeline(enum timeline_format format, bool kernels, uint64_t count,
			   uint64_t *bytes)
{
	struct timeline timeline = {0};
	static struct work work;
	static struct bench_names names;
	struct work_process *process;
	struct timeline_track *track;
	double begin;

	if (!timeline_begin(&timeline, path, open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), format,
			    1000000000000u, 0, "", false) ||
	    !work_init(&work, &timeline, false))
		exit(1);
	process = work_process(&work, 1, 4711, "/bin/app", "host");
	make_names(&timeline, &names);
	track = timeline_add(&timeline, process->process, TIMELINE_HOST, 1, "track");
	begin = seconds();
	for (uint64_t i = 0; i < count; i++) {
		const struct rtl_hsa_dispatch d = make_dispatch(i);

		if (kernels)
			work_dispatch(&work, process, &d, &names.kernels[i % KERNELS], i + 1);
		else
			write_short(&work, track, &names, i);
	}
	timeline_finish(&timeline);
	begin = seconds() - begin;
	*bytes = timeline.file.offset;
	if (timeline_error(&timeline))
		exit(1);
	work_fini(&work);
	timeline_fini(&timeline, true);
	return begin;
}

static double run_fprintf(bool kernels, uint64_t count, uint64_t *bytes)
{
	FILE *out = fopen(path, "w");
	double begin = seconds();

	if (!out)
		exit(1);
	for (uint64_t i = 0; i < count; i++) {
		const struct rtl_hsa_dispatch d = make_dispatch(i);
		const uint64_t ts = d.begin_ns - 1000000000000u, dur = d.end_ns - d.begin_ns;

		fprintf(out,
			",\n{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
			".%03u,\"dur\":%" PRIu64 ".%03u,\"cat\":\"%s\",\"name\":\"void "
			"kernel_number_%u<float>(float*, int)\","
			"\"bind_id\":\"0x%" PRIx64
			"\",\"flow_in\":true,\"args\":{\"corr_id\":%" PRIu64,
			4711u, d.queue, ts / 1000, (unsigned)(ts % 1000), dur / 1000,
			(unsigned)(dur % 1000), "kernel_dispatch", (unsigned)(i % KERNELS), i + 1,
			i + 1);
		if (!kernels)
			fprintf(out, ",\"queue\":%u,\"bytes\":%" PRIu64 "}}", d.queue,
				4096 + i % 1000);
		else
			fprintf(out,
				",\"begin_ns\":%" PRIu64 ",\"end_ns\":%" PRIu64
				",\"delta_ns\":%" PRIu64 ",\"agent\":%u,\"queue\":%u,\"stream_ID\":"
				"%u,\"stream\":\"0x%" PRIx64
				"\",\"grid_size\":%u,\"workgroup_size\":%u,\"grid\":\"%ux%ux%u\","
				"\"workgroup\":\"%ux%ux%u\",\"VGPR_Count\":%u,\"Accum_VGPR_Count\":"
				"%u,"
				"\"SGPR_Count\":%u,\"LDS_Block_Size\":%u,\"Scratch_Size\":%u,"
				"\"submit_ns\":%" PRIu64 ",\"submit_tid\":%u,\"packet\":%" PRIu64
				"}}",
				d.begin_ns, d.end_ns, dur, d.gpu, d.queue, 1u, d.hip_stream,
				d.grid_x, d.workgroup_x, d.grid_x, d.grid_y, d.grid_z,
				d.workgroup_x, d.workgroup_y, d.workgroup_z, 32u, 0u, 48u,
				d.group_segment_bytes, 0u, d.submit_ns, d.submit_tid, d.packet_id);
	}
	*bytes = (uint64_t)ftell(out);
	fclose(out);
	return seconds() - begin;
}

static const struct way {
	const char *name;
	enum timeline_format format;
} ways[] = {{"fprintf", 0},
	    {"JSON", TIMELINE_JSON},
	    {"JSON, compressed", TIMELINE_JSON_GZ},
	    {"protobuf", TIMELINE_PFTRACE}};

#define WAYS (sizeof(ways) / sizeof(*ways))

static void compare(bool kernels, uint64_t count, int rounds)
{
	double best[WAYS];
	uint64_t bytes[WAYS] = {0};

	for (size_t i = 0; i < WAYS; i++)
		best[i] = 1e9;
	for (int round = 0; round < rounds; round++)
		for (size_t i = 0; i < WAYS; i++) {
			const struct way *way = &ways[i];
			const double s = i ? run_timeline(way->format, kernels, count, &bytes[i])
					   : run_fprintf(kernels, count, &bytes[i]);

			best[i] = s < best[i] ? s : best[i];
		}
	for (size_t i = 0; i < WAYS; i++)
		printf("%-8s %-17s %6.2f M slices/s  %5.2f of fprintf  %4" PRIu64 " B each\n",
		       kernels ? "kernels" : "short", ways[i].name, (double)count / best[i] * 1e-6,
		       best[0] / best[i], bytes[i] / count);
}

int main(int argc, char **argv)
{
	const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 500000;
	const int rounds = argc > 3 ? atoi(argv[3]) : 3;

	if (argc < 2) {
		fprintf(stderr, "usage: timeline_slices FOLDER [SLICES [ROUNDS]]\n");
		return 2;
	}
	snprintf(path, sizeof(path), "%s/timeline_slices.%d", argv[1], getpid());
	compare(false, count, rounds);
	compare(true, count, rounds);
	unlink(path);
	return 0;
}
