/* SPDX-License-Identifier: MIT */
/* A program to trace without a GPU: it publishes dispatches on the stream rtl.hsa, as the interceptors for ROCm would.
 *
 *	cli_program COUNT [WAY]
 *
 *	children	each of two child processes does so as well
 *	exit, kill	ends by _exit, SIGKILL
 *	cut		publishes nothing, and is killed while COUNT dispatches are under way
 *	missed		as many as COUNT are missed for a reason of the test's, and it is killed
 *	lost CAUSE	as many again are missed for that reason
 *	exec		does it once more as a program that it executes
 *	print		prints how many it published
 *	stay		prints its process number, and sleeps for ever
 *	hang		the same, in a range, while COUNT dispatches are under way
 *	fault		allocates memory, releases some, and GPU 1 faults at addresses in and about it
 *	regions		COUNT regions of rtl.default besides, and as many within these; one has not ended
 *	lines		for each line that it reads does it once, and prints how many it published
 *	now		the same, each the work of the time just before
 *	threads		the same, each time on a further thread, which stays */
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <rtl/events.h>
#include <rtl/rtl.h>

#include "../../programs/hang_guard.h"
#include "events/events.h"

static uint64_t begun_ns = 1000000;

/* Returns whether somebody wanted it. */
static bool publish(struct rtl_stream *stream, uint64_t uid, uint64_t n)
{
	struct rtl_record *record;
	struct rtl_hsa_dispatch *d;

	if (!rtl_enabled(stream, RTL_TASK_END))
		return false;
	record = rtl_reserve(stream, RTL_TASK_END, sizeof(*d));
	if (!record)
		return false;
	d = rtl_record_payload(record);
	memset(d, 0, sizeof(*d));
	record->uid = uid;
	d->begin_ns = begun_ns + 10000 * n;
	d->end_ns = d->begin_ns + 2500;
	d->submit_ns = d->begin_ns - 500;
	d->packet_id = n;
	d->queue = 1;
	d->grid_x = d->workgroup_x = 64;
	d->grid_y = d->grid_z = d->workgroup_y = d->workgroup_z = 1;
	rtl_commit(record);
	return true;
}

/* How many; -1: not at all. */
static long publish_all(uint64_t count)
{
	static const char *const names[] = {"first_kernel", "second_kernel"};
	struct rtl_stream *stream = &rtl_stream_none;
	uint64_t uids[2];
	long published = 0;

	if (rtl_stream_register(&hsa_stream_info, &stream))
		return -1;
	for (int i = 0; i < 2; i++) {
		struct rtl_tracepoint_desc desc = {.struct_size = sizeof(desc)};
		desc.kind = "kernel";
		desc.name = names[i];
		if (rtl_tracepoint_register(&desc, &uids[i]))
			return -1;
	}
	for (uint64_t n = 0; n < count; n++)
		published += publish(stream, uids[n % 4 == 3], n);
	return published;
}

/* Of which nothing has ended yet. */
static long begin_all(uint64_t count, bool miss)
{
	struct rtl_stream *stream = &rtl_stream_none;

	if (rtl_stream_register(&hsa_stream_info, &stream))
		return -1;
	rtl_pending_begin(rtl_stream_pending(stream, RTL_CAUSE_UNDER_WAY), count);
	if (miss)
		rtl_stream_count_missed(stream, "of the test", count);
	return 0;
}

static void open_range(const char *name)
{
	struct rtl_stream *stream = &rtl_stream_none;
	const uint32_t length = (uint32_t)strlen(name) + 1;
	struct rtl_roctx_range *range;
	struct rtl_record *record;
	uint32_t open;

	if (rtl_stream_register(&roctx_stream_info, &stream))
		return;
	record = rtl_open_reserve(stream, RTL_REGION_UNFINISHED, (uint32_t)sizeof(*range) + length,
				  &open);
	if (!record)
		return;
	range = rtl_record_payload(record);
	*range = (struct rtl_roctx_range){.begin_ns = rtl_ticks_to_ns(rtl_ticks()),
					  .flags = RTL_ROCTX_UNFINISHED,
					  .begin_tid = (uint32_t)getpid(),
					  .name = {.offset = sizeof(*range), .length = length - 1}};
	memcpy(range + 1, name, length);
	record->uid = record->parent_uid = record->correlation = 0;
	record->instance = 1;
	rtl_open_commit(record);
}

static void *begin_event(struct rtl_stream *stream, uint16_t type, uint64_t uid, uint32_t bytes)
{
	struct rtl_record *record = rtl_reserve(stream, type, bytes);

	if (!record)
		_exit(1);
	record->uid = uid;
	return memset(rtl_record_payload(record), 0, bytes);
}

static void publish_faults(void)
{
	static const uint64_t addresses[] = {0x20000010, 0x20001080, 0x1fffff00, 0x10000010,
					     0x7f0000000000};
	const struct rtl_tracepoint_desc desc = {
		.struct_size = sizeof(desc), .kind = "fault", .name = "memory access fault"};
	struct rtl_stream *memory, *stream;
	struct rtl_hsa_mem *mem;
	struct rtl_hsa_fault *fault;
	uint64_t uid, now_ns, function, reason;

	open_range("layer 3");
	now_ns = rtl_ticks_to_ns(rtl_ticks());
	if (rtl_stream_register(&memory_stream_info, &memory) ||
	    rtl_stream_register(&hsa_stream_info, &stream) ||
	    rtl_tracepoint_register(&desc, &uid) || rtl_string_intern("allocate", &function) ||
	    rtl_string_intern("page not present", &reason))
		_exit(1);
	for (int i = 0; i < 3; i++) { /* the first one is released */
		mem = begin_event(memory, i == 2 ? RTL_MEM_RELEASE_END : RTL_MEM_ALLOC_END, 0,
				  sizeof(*mem));
		*mem = (struct rtl_hsa_mem){.begin_ns = now_ns + 10 * (uint64_t)i,
					    .end_ns = now_ns + 10 * (uint64_t)i + 5,
					    .address = i == 1 ? 0x20000000 : 0x10000000,
					    .bytes = i == 1 ? 4096 : 4194304,
					    .function = function,
					    .kind = RTL_HSA_MEM_POOL,
					    .allocated_ns = i == 2 ? now_ns : 0};
		rtl_commit((struct rtl_record *)mem - 1);
	}
	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		fault = begin_event(stream, RTL_DIAGNOSTICS, uid, sizeof(*fault));
		*fault = (struct rtl_hsa_fault){.address = addresses[i],
						.reason = reason,
						.gpu = 1,
						.kind = RTL_HSA_FAULT_MEMORY};
		rtl_commit((struct rtl_record *)fault - 1);
	}
}

static int count_missed(uint64_t count, const char *cause)
{
	struct rtl_stream *stream = &rtl_stream_none;

	if (rtl_stream_register(&hsa_stream_info, &stream))
		return 1;
	rtl_stream_count_missed(stream, cause, count);
	return 0;
}

struct job {
	uint64_t count;
	long published;
	sem_t done;
};

static void *publish_and_stay(void *user)
{
	struct job *job = user;

	job->published = publish_all(job->count);
	sem_post(&job->done);
	for (;;)
		pause();
	return NULL;
}

static long publish_now(uint64_t count)
{
	begun_ns = rtl_ticks_to_ns(rtl_ticks()) - 10000 * count;
	return publish_all(count);
}

static long publish_on_a_thread(uint64_t count)
{
	struct job job = {.count = count};
	pthread_t thread;

	sem_init(&job.done, 0, 0);
	if (pthread_create(&thread, NULL, publish_and_stay, &job))
		return -1;
	while (sem_wait(&job.done))
		;
	return job.published;
}

static void publish_regions(uint64_t count)
{
	struct rtl_span outer, inner;

	for (uint64_t n = 0; n < count; n++) {
		rtl_region_begin(&outer, n % 2 ? "odd" : "even");
		rtl_region_begin(&inner, "inner");
		rtl_region_end(&inner);
		rtl_region_end(&outer);
	}
	rtl_region_begin(&outer, "open");
}

static int publish_by_lines(uint64_t count, long (*how)(uint64_t count))
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		printf("%ld\n", how(count));
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[2] : "";

	if (argc < 2)
		return 2;
	uint64_t count = strtoull(argv[1], NULL, 10);
	for (int i = 0; !strcmp(way, "children") && i < 2; i++) {
		if (!fork()) {
			execl(argv[0], argv[0], argv[1], (char *)NULL);
			_exit(1);
		}
		wait(NULL);
	}
	if (!strcmp(way, "lines"))
		return publish_by_lines(count, publish_all);
	if (!strcmp(way, "now"))
		return publish_by_lines(count, publish_now);
	if (!strcmp(way, "threads"))
		return publish_by_lines(count, publish_on_a_thread);
	bool cut = !strcmp(way, "cut"), miss = !strcmp(way, "missed");
	bool hangs = !strcmp(way, "hang"), stays = hangs || !strcmp(way, "stay");
	long published = cut || miss || hangs ? begin_all(count, miss) : publish_all(count);
	int status = published < 0;
	if (!strcmp(way, "lost") && argc > 3)
		status |= count_missed(count, argv[3]);
	if (!strcmp(way, "fault"))
		publish_faults();
	if (!strcmp(way, "regions"))
		publish_regions(count);
	if (!strcmp(way, "exec"))
		execl(argv[0], argv[0], argv[1], (char *)NULL);
	if (!strcmp(way, "print"))
		printf("%ld\n", published);
	if (hangs)
		open_range("layer 3");
	if (stays)
		printf("%d\n", getpid());
	fflush(stdout);
	while (stays)
		pause();
	if (!strcmp(way, "exit"))
		_exit(status);
	if (cut || miss || !strcmp(way, "kill"))
		raise(SIGKILL);
	return status;
}
