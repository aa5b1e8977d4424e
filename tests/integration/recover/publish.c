/* SPDX-License-Identifier: MIT */
/* publish.c: publishes as fast as it can and counts, until it is killed or told to stop.
 *
 *     recover_publish COUNTS THREADS
 *
 * Each thread alternates between a stream of its own and dispatches of rtl.hsa; each event has the thread's number and
 * a sequence number without gaps. Threads end and begin anew all the time, so that rings change hands. */
#include "counts.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include <rtl/describe.h>
#include <rtl/rtl.h>

#include "fake_host.h" /* the description of rtl.hsa */

#include "../../programs/hang_guard.h"

#define EVENTS_OF_A_THREAD 3000

#define FIELD(member, kind) RTL_FIELD(struct recover_note, member, kind, "", #member)

RTL_DESCRIBE_STREAM(note_stream, RECOVER_NOTE_STREAM, "notes", RTL_SIGNAL, "note", "a note",
		    struct recover_note, FIELD(number, RTL_KIND_UINT), FIELD(name, RTL_KIND_STRING),
		    FIELD(thread, RTL_KIND_UINT));

static struct recover_counts *counts;
static struct rtl_stream *notes = &rtl_stream_none, *dispatches = &rtl_stream_none;

static void count(enum recover_stream stream, uint32_t thread, uint64_t number)
{
	/* release: not before the commit */
	__atomic_store_n(&counts->published[stream][thread], number, __ATOMIC_RELEASE);
}

static bool publish_note(uint32_t thread)
{
	uint64_t number = counts->published[RECOVER_NOTES][thread] + 1, name = 0;
	struct rtl_record *record;
	struct recover_note *note;
	char text[32];

	snprintf(text, sizeof(text), "name-%u", (unsigned)(number / RECOVER_NAME_EVENTS));
	rtl_string_intern(text, &name);
	record = rtl_reserve(notes, RTL_SIGNAL, sizeof(*note));
	if (!record)
		return false;
	note = rtl_record_payload(record);
	*note = (struct recover_note){.number = number, .name = name, .thread = thread};
	rtl_commit(record);
	count(RECOVER_NOTES, thread, number);
	return true;
}

static bool publish_dispatch(uint32_t thread, uint64_t kernel)
{
	uint64_t number = counts->published[RECOVER_DISPATCHES][thread] + 1;
	struct rtl_record *record =
		rtl_reserve(dispatches, RTL_TASK_END, sizeof(struct rtl_hsa_dispatch));
	struct rtl_hsa_dispatch *d;

	if (!record)
		return false;
	d = rtl_record_payload(record);
	*d = (struct rtl_hsa_dispatch){
		.begin_ns = 1000 * number,
		.end_ns = 1000 * number + 500,
		.submit_ns = 1000 * number - 100,
		.packet_id = number,
		.gpu = 1,
		.queue = 1 + thread,
		.submit_tid = thread,
	};
	record->uid = kernel;
	record->instance = number;
	rtl_commit(record);
	count(RECOVER_DISPATCHES, thread, number);
	return true;
}

static bool is_stopped(void)
{
	return __atomic_load_n(&counts->stop, __ATOMIC_RELAXED);
}

static void *publish_some(void *slot)
{
	uint32_t thread = (uint32_t)(uintptr_t)slot;
	struct rtl_tracepoint_desc desc = {.struct_size = sizeof(desc),
					   .kind = "kernel",
					   .name = "_Z3runi",
					   .line = thread + 1};
	uint64_t kernel = 0;

	rtl_tracepoint_register(&desc, &kernel);
	for (int i = 0; i < EVENTS_OF_A_THREAD && !is_stopped(); i++) {
		bool published = publish_note(thread);

		published &= publish_dispatch(thread, kernel);
		if (!published)
			usleep(1000); /* the collector is gone */
	}
	return NULL;
}

static void *publish_on_and_on(void *slot)
{
	while (!is_stopped()) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, publish_some, slot))
			abort();
		pthread_join(thread, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint32_t threads = argc > 2 ? (uint32_t)atoi(argv[2]) : 0;
	pthread_t slots[RECOVER_THREADS];
	int fd = argc > 1 ? open(argv[1], O_RDWR) : -1;

	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED || threads < 1 || threads > RECOVER_THREADS)
		return 2;
	if (rtl_stream_register(&note_stream, &notes) ||
	    rtl_stream_register(fake_hsa_stream(), &dispatches))
		return 3;
	for (uint32_t i = 0; i < threads; i++)
		if (pthread_create(&slots[i], NULL, publish_on_and_on, (void *)(uintptr_t)i))
			return 4;
	__atomic_store_n(&counts->ready, 1, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < threads; i++)
		pthread_join(slots[i], NULL);
	return 0;
}
