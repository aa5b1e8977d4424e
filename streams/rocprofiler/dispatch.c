/* SPDX-License-Identifier: MIT */
#include "context.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PACKETS_MOST 6u /* for one dispatch: two barriers, start, kernel, read, stop */
#define ROOM_MARGIN  4u /* packets of the ring that the runtime may need */
#define ROOM_MS      30000
#define SLEEP_NS     20000

bool dispatch_times, dispatch_terse;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what the tool has set */
static struct dispatch_callbacks set;

struct dispatch_callbacks dispatch_callbacks(void)
{
	HOLD_LOCK(&lock);
	return set;
}

/* ---- packets ---- */

/* The packets of a counted dispatch; returns how many. */
static uint32_t put_counted(struct work *work, const struct library_packet *kernel,
			    struct library_packet *out)
{
	struct context *context = work->context;

	context->has_data = true;
	hsa->signal_store(context->ready, 1);
	hsa->signal_store(context->grant, 1);
	hsa->signal_store(context->done, 1);
	out[0] = library_barrier(0, context->ready.handle, LIBRARY_FENCES);
	out[1] = library_barrier(context->grant.handle, 0, LIBRARY_FENCES);
	out[2] = context->count->start;
	out[3] = *kernel;
	out[3].header |= 1 << HSA_PACKET_HEADER_BARRIER;
	out[4] = context->count->read;
	out[5] = context->count->stop;
	out[5].signal = context->done.handle;
	return PACKETS_MOST;
}

/* The kernel's signal is ours, for its times; the program's tells of its end when its counts are there. */
static bool take_signal(struct work *work, struct library_packet *kernel)
{
	if (!work->queue->times && !kernel->signal)
		return true;
	if (hsa->signal_create(1, 0, NULL, &work->kernel))
		return false;
	work->original.handle = kernel->signal;
	kernel->signal = work->kernel.handle;
	return true;
}

static bool asks(struct queue *queue, uint64_t index, const struct library_packet *packet,
		 struct work *work)
{
	hsa_kernel_dispatch_packet_t dispatch;
	rocprofiler_callback_data_t data;
	const struct dispatch_callbacks callbacks = dispatch_callbacks();

	if (!callbacks.started || !callbacks.functions.dispatch || service_released())
		return false;
	memcpy(&dispatch, packet, sizeof(dispatch));
	work->gpu = queue->gpu;
	work->queue = queue;
	if (queue->times) {
		work->record = calloc(1, sizeof(*work->record));
		if (!work->record) {
			complain("out of memory: a dispatch is not counted");
			return false;
		}
		work->record->dispatch = clock_hsa_ns();
	}
	data = (rocprofiler_callback_data_t){
		.agent = queue->gpu->agent,
		.agent_index = queue->gpu->index,
		.queue = queue->queue,
		.queue_index = index,
		.queue_id = queue->id,
		.completion_signal = dispatch.completion_signal,
		.packet = &dispatch,
		.record = work->record,
	};
	if (!dispatch_terse) {
		data.kernel_name = kernel_name(dispatch.kernel_object);
		data.kernel_object = dispatch.kernel_object;
		data.kernel_code = kernel_code(dispatch.kernel_object);
		data.thread_id = (uint32_t)syscall(SYS_gettid);
	}
	if (callbacks.functions.dispatch(&data, callbacks.data, &work->group) ||
	    !work->group.context) {
		free(work->record);
		return false;
	}
	work->context = work->group.context;
	return true;
}

/* Whether the context is free for this dispatch; it is its then. */
static bool take_context(struct work *work)
{
	struct context *context = work->context;
	const char *why = NULL;

	if (context->queue)
		why = "with a queue of its own cannot count a dispatch; it is not counted";
	else if (context->gpu != work->gpu)
		why = "of another GPU cannot count a dispatch; it is not counted";
	else if (context_is_abandoned(context))
		why = "whose dispatch has not ended cannot count a further one";
	else if (__atomic_exchange_n(&context->busy, true, __ATOMIC_ACQ_REL))
		why = "that is under way cannot count a further dispatch";
	if (why) {
		complain("a context %s", why);
		return false;
	}
	__atomic_fetch_add(&context->uses, 1, __ATOMIC_RELAXED);
	return true;
}

static void leave_context(struct context *context)
{
	__atomic_store_n(&context->busy, false, __ATOMIC_RELEASE);
	context_unuse(context);
}

static uint32_t put_work(struct work *work, const struct library_packet *packet,
			 struct library_packet *out)
{
	struct library_packet kernel = *packet;
	uint32_t count = 1;

	work->counts = work->group.feature_count && work->context->count;
	if ((!work->counts && !work->queue->times) || !take_signal(work, &kernel)) {
		/* Nothing to wait for: without times the original never tells of such a one, either. */
		leave_context(work->context);
		return 0;
	}
	if (work->counts)
		count = put_counted(work, &kernel, out);
	else
		*out = kernel;
	work->position = work->queue->written + count;
	if (service_take(work))
		return count;
	leave_context(work->context);
	if (work->kernel.handle)
		(void)hsa->signal_destroy(work->kernel);
	return 0;
}

void queue_wait(const struct queue *queue, uint64_t packets, uint32_t ms)
{
	const uint64_t most = queue->queue->size - ROOM_MARGIN;
	const uint64_t until = clock_read_ns(CLOCK_MONOTONIC) + ms * UINT64_C(1000000);

	while (__atomic_load_n(&queue->under_way, __ATOMIC_ACQUIRE) &&
	       queue->written + packets - __atomic_load_n(&queue->ended, __ATOMIC_ACQUIRE) > most &&
	       clock_read_ns(CLOCK_MONOTONIC) < until)
		nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
}

struct batch {
	struct queue *queue;
	packet_writer write;
	size_t count;
};

static void flush(struct batch *batch)
{
	if (batch->count) {
		batch->write(batch->queue->packets, batch->count);
		batch->queue->written += batch->count;
	}
	batch->count = 0;
}

/* What is before a dispatch that is asked for goes first: the tool may wait for its end (in a pool). */
static void put_packet(struct batch *batch, uint64_t index, const struct library_packet *packet)
{
	struct queue *queue = batch->queue;
	struct library_packet counted[PACKETS_MOST];
	const unsigned type = packet->header >> HSA_PACKET_HEADER_TYPE & 0xff;
	struct work *work =
		type == HSA_PACKET_TYPE_KERNEL_DISPATCH ? calloc(1, sizeof(*work)) : NULL;
	uint32_t count = 0;

	if (work && asks(queue, index, packet, work)) {
		if (take_context(work)) {
			flush(batch);
			/* Some runtimes fail where the GPU's ring overflows twice in a call. */
			queue_wait(queue, PACKETS_MOST, ROOM_MS);
			count = put_work(work, packet, counted);
		}
		if (!count) {
			record_complete(work->record);
			if (work->context->entry)
				(void)pool_give_back(work->context->entry);
		}
	}
	if (count) {
		memcpy(queue->packets, counted, count * sizeof(*counted));
		batch->count = count;
		flush(batch);
		return;
	}
	free(work);
	queue->packets[batch->count++] = *packet;
}

void dispatch_on_packets(const void *packets, uint64_t count, uint64_t index, void *data,
			 packet_writer write)
{
	const struct library_packet *in = packets;
	struct queue *queue = data;
	struct batch batch = {queue, write, 0};
	const size_t room = count > PACKETS_MOST ? count : PACKETS_MOST;

	if (queue->room < room) {
		struct library_packet *more =
			reallocarray(queue->packets, room, sizeof(*queue->packets));
		if (!more) {
			write(packets, count);
			return;
		}
		queue->packets = more;
		queue->room = room;
	}
	for (uint64_t i = 0; i < count; i++)
		put_packet(&batch, index + i, &in[i]);
	flush(&batch);
}

/* ---- callbacks ---- */

hsa_status_t rocprofiler_set_queue_callbacks(rocprofiler_queue_callbacks_t callbacks, void *data)
{
	HOLD_LOCK(&lock);
	if (set.functions.dispatch)
		return fail(HSA_STATUS_ERROR, "queue callbacks are set already; remove them first");
	set = (struct dispatch_callbacks){callbacks, data, true, true};
	return HSA_STATUS_SUCCESS;
}

hsa_status_t rocprofiler_remove_queue_callbacks(void)
{
	HOLD_LOCK(&lock);
	set = (struct dispatch_callbacks){0};
	return HSA_STATUS_SUCCESS;
}

/* False: none are set. */
static bool set_started(bool started)
{
	HOLD_LOCK(&lock);
	set.started = set.there && started;
	return set.there;
}

hsa_status_t rocprofiler_start_queue_callbacks(void)
{
	return set_started(true) ? HSA_STATUS_SUCCESS
				 : fail(HSA_STATUS_ERROR, "no queue callbacks are set");
}

hsa_status_t rocprofiler_stop_queue_callbacks(void)
{
	(void)set_started(false);
	return HSA_STATUS_SUCCESS;
}
