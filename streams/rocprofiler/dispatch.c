/* SPDX-License-Identifier: MIT */
/* Dispatches: see dispatch.h. */
#include "dispatch.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "interceptor.h"
#include "pool.h"

#define PACKETS_MOST   6u /* for one dispatch: two barriers, start, kernel, read, stop */
#define ROOM_MARGIN    4u /* packets of the ring that the runtime may need */
#define ROOM_MS        30000
#define FINISH_MS      5000
#define DESTROY_MS     1000
#define SPIN_NS        200000u /* without news: then the service sleeps between looks */
#define SLEEP_NS       20000
#define DEFAULT_WAIT_S 10

bool dispatch_times;

/* A dispatch of which the tool wants something. Made by the submitting thread, then the service's. */
struct work {
	struct work *next;  /* of the service's list */
	struct work *after; /* of those that wait for their turn */
	struct gpu *gpu;
	struct queue *queue;
	uint64_t position; /* packets of the queue up to its last */
	struct context *context;
	rocprofiler_group_t group;
	hsa_signal_t kernel, original; /* with times: ours in the packet, and the program's */
	rocprofiler_dispatch_record_t record;
	bool counts;
	bool arrived, has_turn, kernel_ended, counts_ended; /* seen by the service */
};

struct queue {
	struct queue *next;
	hsa_queue_t *queue;
	struct gpu *gpu;
	uint32_t id;
	struct library_packet *packets; /* of one call */
	size_t room;
	uint64_t written; /* packets, in the queue's lock */
	/* Of these, how many are known to have ended; work under way. Release by the service, acquire by
	 * who waits for room. A queue's memory stays: work may name it when it is destroyed. */
	_Atomic uint64_t ended;
	_Atomic uint32_t under_way;
	atomic_bool destroyed; /* release, acquire */
};

static struct {
	pthread_mutex_t lock; /* of all below */
	struct queue *queues;
	uint32_t queue_count;
	rocprofiler_queue_callbacks_t callbacks;
	void *callback_data;
	bool set, started;
	rocprofiler_hsa_callback_fun_t submit;
	void *submit_arg;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Relaxed, but for the last: release when it falls, acquire in dispatch_finish. */
static _Atomic uint64_t under_way;

static __typeof__(hsa_queue_create) *next_create;
static __typeof__(hsa_queue_destroy) *next_destroy;
static __typeof__(((struct hsa_functions *)0)->intercept_create) intercept_create;
static __typeof__(((struct hsa_functions *)0)->intercept_register) intercept_register;

static uint64_t now_ns(void)
{
	uint64_t ticks = 0;

	(void)runtime.system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &ticks);
	return ticks;
}

/* ---- the service: a thread that sees what has ended ---- */

/*
 * Not the runtime's thread of handlers: a handler of the program's may wait there for the very kernel
 * whose turn we would give.
 */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct work *incoming; /* newest first */
	bool started;
	/* The service's own. */
	struct work *works;
	uint64_t wait_ns; /* for a turn to end */
} service = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

/* Turns have ended for good: relaxed, who submits does less. */
static atomic_bool released;

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_over(hsa_signal_t signal)
{
	return runtime.signal_load(signal) < 1;
}

static void give_turn(struct work *work)
{
	work->has_turn = true;
	work->gpu->turn = work;
	work->gpu->turn_since_ns = monotonic_ns();
	runtime.signal_store(work->context->grant, 0);
}

static void pass_turn(struct work *work)
{
	struct gpu *gpu = work->gpu;
	struct work **at = &gpu->first;

	if (gpu->turn == work) {
		gpu->turn = NULL;
		if (gpu->first) {
			struct work *next = gpu->first;
			gpu->first = next->after;
			give_turn(next);
		}
		return;
	}
	while (*at && *at != work)
		at = &(*at)->after;
	if (*at)
		*at = work->after;
}

static void on_arrival(struct work *work)
{
	struct work **last = &work->gpu->first;

	work->arrived = true;
	if (!work->gpu->turn || atomic_load_explicit(&released, memory_order_relaxed)) {
		give_turn(work);
		return;
	}
	while (*last)
		last = &(*last)->after;
	*last = work;
}

/* The program's signal gets the times as well as the end: its own timing asks there. */
static void on_kernel(struct work *work)
{
	hsa_amd_profiling_dispatch_time_t time = {0};

	work->kernel_ended = true;
	if (!runtime.get_dispatch_time(work->gpu->agent, work->kernel, &time)) {
		work->record.begin = time.start;
		work->record.end = time.end;
	}
	if (work->original.handle) {
		const amd_signal_t *ours = (const amd_signal_t *)(uintptr_t)work->kernel.handle;
		amd_signal_t *program = (amd_signal_t *)(uintptr_t)work->original.handle;
		program->start_ts = ours->start_ts;
		program->end_ts = ours->end_ts;
		runtime.signal_subtract(work->original, 1);
	}
}

static void on_counts(struct work *work)
{
	struct queue *queue = work->queue;

	work->counts_ended = true;
	if (work->position > atomic_load_explicit(&queue->ended, memory_order_relaxed))
		atomic_store_explicit(&queue->ended, work->position, memory_order_release);
	pass_turn(work);
}

static void deliver(struct work *work)
{
	struct context *context = work->context;
	struct pool_entry *entry = context->entry;

	work->record.complete = now_ns();
	atomic_fetch_sub_explicit(&work->queue->under_way, 1, memory_order_release);
	if (entry) {
		pool_complete(entry);
	} else {
		context_handled = context;
		if (context->handler)
			(void)context->handler(work->group, context->handler_arg);
		/* The handler may have closed it: context_destroy says so. */
		if (context_handled)
			atomic_store_explicit(&context->busy, false, memory_order_release);
		context_handled = NULL;
	}
	if (work->kernel.handle && work->kernel_ended)
		(void)runtime.signal_destroy(work->kernel);
	free(work);
	atomic_fetch_sub_explicit(&under_way, 1, memory_order_release);
}

/* Its queue is gone, and what it waited for never ends. */
static void give_up(struct work *work)
{
	work->context->abandoned = true;
	work->counts_ended = work->kernel_ended = true;
	work->kernel.handle = 0; /* the GPU's, should it still write */
	if (work->counts)
		pass_turn(work);
}

/* Whether there was news. */
static bool look(struct work *work)
{
	bool news = false;

	if (work->counts && !work->arrived && is_over(work->context->ready)) {
		on_arrival(work);
		news = true;
	}
	if (work->kernel.handle && !work->kernel_ended && is_over(work->kernel)) {
		on_kernel(work);
		news = true;
	}
	if (work->counts && work->has_turn && !work->counts_ended && is_over(work->context->done)) {
		on_counts(work);
		news = true;
	}
	if (!news && atomic_load_explicit(&work->queue->destroyed, memory_order_acquire)) {
		give_up(work);
		news = true;
	}
	return news;
}

/* A turn that does not end, for whatever reason: all go, and nothing more is counted. */
static void release(struct gpu *gpu)
{
	complain("a kernel that is counted has not ended for %llu s (RTL_COUNTERS_TIMEOUT): the "
		 "others go on, "
		 "and nothing more is counted",
		 (unsigned long long)(service.wait_ns / 1000000000u));
	atomic_store_explicit(&released, true, memory_order_relaxed);
	gpu->turn->context->abandoned = true;
	while (gpu->first) {
		struct work *work = gpu->first;
		gpu->first = work->after;
		work->context->abandoned = true;
		give_turn(work);
	}
}

static void watch(void)
{
	struct gpu *gpu;
	const uint64_t now = monotonic_ns();

	if (atomic_load_explicit(&released, memory_order_relaxed))
		return;
	for (uint32_t i = 0; (gpu = gpu_at(i)); i++) {
		if (gpu->turn && now > gpu->turn_since_ns + service.wait_ns)
			release(gpu);
	}
}

static void take_incoming(bool may_wait)
{
	struct work *work, **last = &service.works;

	pthread_mutex_lock(&service.lock);
	while (may_wait && !service.works && !service.incoming)
		pthread_cond_wait(&service.more, &service.lock);
	work = service.incoming;
	service.incoming = NULL;
	pthread_mutex_unlock(&service.lock);
	while (*last)
		last = &(*last)->next;
	while (work) { /* oldest first */
		struct work *next = work->next;
		work->next = *last;
		*last = work;
		work = next;
	}
}

static bool pass(void)
{
	struct work **at = &service.works;
	bool news = false;

	while (*at) {
		struct work *work = *at;
		news |= look(work);
		if ((work->counts && !work->counts_ended) ||
		    (work->kernel.handle && !work->kernel_ended)) {
			at = &work->next;
			continue;
		}
		*at = work->next;
		deliver(work);
	}
	return news;
}

static void *serve(void *unused)
{
	const struct timespec pause = {0, SLEEP_NS};
	uint64_t news_ns = monotonic_ns();

	for (;;) {
		take_incoming(true);
		if (pass()) {
			news_ns = monotonic_ns();
			continue;
		}
		watch();
		if (monotonic_ns() - news_ns < SPIN_NS)
			sched_yield();
		else
			nanosleep(&pause, NULL);
	}
	return unused;
}

static uint64_t wait_setting(void)
{
	const char *text = getenv("RTL_COUNTERS_TIMEOUT");
	uint32_t seconds = DEFAULT_WAIT_S;

	if (text && *text) {
		char *end;
		unsigned long value = strtoul(text, &end, 10);
		if (*end || !value || value > 3600)
			complain("RTL_COUNTERS_TIMEOUT is '%s': 1 to 3600 seconds were expected",
				 text);
		else
			seconds = (uint32_t)value;
	}
	return seconds * UINT64_C(1000000000);
}

/* With all signals blocked: they are the program's threads'. */
static bool start_service(void)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;
	bool done;

	if (service.started)
		return true;
	service.wait_ns = wait_setting();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	done = !pthread_create(&thread, &attributes, serve, NULL);
	if (done)
		(void)pthread_setname_np(thread, "rtl-rocprof");
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	service.started = done;
	return done;
}

/* False: there is no service. */
static bool hand_over(struct work *work)
{
	bool done;

	pthread_mutex_lock(&service.lock);
	done = start_service();
	if (done) {
		work->next = service.incoming;
		service.incoming = work;
		pthread_cond_signal(&service.more);
	}
	pthread_mutex_unlock(&service.lock);
	if (!done)
		complain("no thread can be started; a dispatch is not counted");
	return done;
}

/* ---- packets ---- */

static bool is_dispatch(const struct library_packet *packet)
{
	return (packet->header >> HSA_PACKET_HEADER_TYPE & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
}

static struct library_packet barrier(hsa_signal_t waits_for, hsa_signal_t tells)
{
	hsa_barrier_and_packet_t packet = {
		.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE |
			  1 << HSA_PACKET_HEADER_BARRIER |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE,
		.dep_signal[0] = waits_for,
		.completion_signal = tells,
	};
	struct library_packet copy;

	memcpy(&copy, &packet, sizeof(copy));
	return copy;
}

/* The packets of a counted dispatch; returns how many. */
static uint32_t put_counted(struct work *work, const struct library_packet *kernel,
			    struct library_packet *out)
{
	struct context *context = work->context;
	const hsa_signal_t none = {0};

	runtime.signal_store(context->ready, 1);
	runtime.signal_store(context->grant, 1);
	runtime.signal_store(context->done, 1);
	out[0] = barrier(none, context->ready);
	out[1] = barrier(context->grant, none);
	out[2] = *library_count_start(context->count);
	out[3] = *kernel;
	out[3].header |= 1 << HSA_PACKET_HEADER_BARRIER;
	out[4] = *library_count_read(context->count);
	out[5] = *library_count_stop(context->count);
	out[5].signal = context->done.handle;
	return PACKETS_MOST;
}

/* With times the kernel's signal is ours. */
static bool take_times(struct work *work, struct library_packet *kernel)
{
	if (!dispatch_times)
		return true;
	if (runtime.signal_create(1, 0, NULL, &work->kernel))
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
	rocprofiler_callback_t callback;
	void *user;

	pthread_mutex_lock(&state.lock);
	callback = state.started && !atomic_load_explicit(&released, memory_order_relaxed)
			   ? state.callbacks.dispatch
			   : NULL;
	user = state.callback_data;
	pthread_mutex_unlock(&state.lock);
	if (!callback)
		return false;
	memcpy(&dispatch, packet, sizeof(dispatch));
	work->gpu = queue->gpu;
	work->queue = queue;
	work->record.dispatch = now_ns();
	data = (rocprofiler_callback_data_t){
		.agent = queue->gpu->agent,
		.agent_index = queue->gpu->index,
		.queue = queue->queue,
		.queue_index = index,
		.queue_id = queue->id,
		.completion_signal = dispatch.completion_signal,
		.packet = &dispatch,
		.kernel_name = kernel_name(dispatch.kernel_object),
		.kernel_object = dispatch.kernel_object,
		.kernel_code = kernel_code(dispatch.kernel_object),
		.thread_id = (uint32_t)syscall(SYS_gettid),
		.record = dispatch_times ? &work->record : NULL,
	};
	if (callback(&data, user, &work->group) || !work->group.context)
		return false;
	work->context = work->group.context;
	return true;
}

/* Whether the context is free for this dispatch; it is its then. */
static bool take_context(struct work *work)
{
	struct context *context = work->context;

	if (context->queue) {
		complain("a context with a queue of its own cannot count a dispatch; it is not "
			 "counted");
		return false;
	}
	if (context->gpu != work->gpu) {
		complain("a context of another GPU cannot count a dispatch; it is not counted");
		return false;
	}
	if (context->abandoned) {
		complain("a context whose dispatch has not ended cannot count a further one");
		return false;
	}
	if (atomic_exchange_explicit(&context->busy, true, memory_order_acq_rel)) {
		complain("a context that is under way cannot count a further dispatch");
		return false;
	}
	return true;
}

static uint32_t put_work(struct work *work, const struct library_packet *packet,
			 struct library_packet *out)
{
	struct library_packet kernel = *packet;
	uint32_t count = 1;

	work->counts = work->group.feature_count && work->context->count;
	if ((!work->counts && !dispatch_times) || !take_times(work, &kernel)) {
		/* Nothing to wait for: without times the original never tells of such a one, either. */
		atomic_store_explicit(&work->context->busy, false, memory_order_release);
		return 0;
	}
	if (work->counts)
		count = put_counted(work, &kernel, out);
	else
		*out = kernel;
	work->position = work->queue->written + count;
	atomic_fetch_add_explicit(&under_way, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&work->queue->under_way, 1, memory_order_relaxed);
	if (hand_over(work))
		return count;
	atomic_fetch_sub_explicit(&under_way, 1, memory_order_relaxed);
	atomic_fetch_sub_explicit(&work->queue->under_way, 1, memory_order_relaxed);
	atomic_store_explicit(&work->context->busy, false, memory_order_release);
	if (work->kernel.handle)
		(void)runtime.signal_destroy(work->kernel);
	return 0;
}

static void tell_submit(const struct queue *queue, const struct library_packet *packet)
{
	rocprofiler_hsa_callback_data_t data = {0};
	rocprofiler_hsa_callback_fun_t submit;
	void *arg;

	pthread_mutex_lock(&state.lock);
	submit = state.submit;
	arg = state.submit_arg;
	pthread_mutex_unlock(&state.lock);
	if (!submit)
		return;
	data.submit.packet = packet;
	data.submit.queue = queue->queue;
	data.submit.device_type = HSA_DEVICE_TYPE_GPU;
	data.submit.device_id = queue->gpu->index;
	if (is_dispatch(packet)) {
		hsa_kernel_dispatch_packet_t dispatch;
		memcpy(&dispatch, packet, sizeof(dispatch));
		data.submit.kernel_name = kernel_name(dispatch.kernel_object);
	}
	(void)submit(ROCPROFILER_HSA_CB_ID_SUBMIT, &data, arg);
}

/* Some runtimes do not bear that the GPU's ring overflows twice in a call. Waits until there is room, if
 * that is known: by the counted work under way. */
static void wait_for_room(const struct queue *queue, uint64_t packets)
{
	const uint64_t most = queue->queue->size - ROOM_MARGIN;
	const struct timespec pause = {0, SLEEP_NS};
	const uint64_t until = monotonic_ns() + ROOM_MS * UINT64_C(1000000);

	while (atomic_load_explicit(&queue->under_way, memory_order_acquire) &&
	       queue->written + packets -
			       atomic_load_explicit(&queue->ended, memory_order_acquire) >
		       most &&
	       monotonic_ns() < until)
		nanosleep(&pause, NULL);
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
	struct work *work = is_dispatch(packet) ? calloc(1, sizeof(*work)) : NULL;
	uint32_t count = 0;

	tell_submit(queue, packet);
	if (work && asks(queue, index, packet, work) && take_context(work)) {
		flush(batch);
		wait_for_room(queue, PACKETS_MOST);
		count = put_work(work, packet, counted);
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

/* In the queue's lock, on the thread that rings. */
static void on_packets(const void *packets, uint64_t count, uint64_t index, void *data,
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

/* ---- queues ---- */

static hsa_status_t add_queue(struct gpu *gpu, hsa_queue_t *queue, bool times)
{
	struct queue *added = calloc(1, sizeof(*added));
	hsa_status_t (*create)(hsa_queue_t *, void *);
	void *user;

	if (!added)
		return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory");
	added->queue = queue;
	added->gpu = gpu;
	if (times)
		(void)runtime.set_profiler_enabled(queue, 1);
	pthread_mutex_lock(&state.lock);
	added->id = state.queue_count++;
	added->next = state.queues;
	state.queues = added;
	create = state.callbacks.create;
	user = state.callback_data;
	pthread_mutex_unlock(&state.lock);
	if (intercept_register(queue, on_packets, added))
		complain("a queue cannot be intercepted; its dispatches are not counted");
	return create ? create(queue, user) : HSA_STATUS_SUCCESS;
}

static hsa_status_t create_intercepted(struct gpu *gpu, uint32_t size, hsa_queue_type32_t type,
				       queue_error_callback callback, void *data,
				       uint32_t private_bytes, uint32_t group_bytes,
				       hsa_queue_t **queue, bool times)
{
	hsa_status_t status;

	runtime_own_call = true;
	status = intercept_create(gpu->agent, size, type, callback, data, private_bytes,
				  group_bytes, queue);
	runtime_own_call = false;
	return status ? status : add_queue(gpu, *queue, times);
}

static hsa_status_t on_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			      queue_error_callback callback, void *data, uint32_t private_bytes,
			      uint32_t group_bytes, hsa_queue_t **queue)
{
	struct gpu *gpu = runtime_own_call ? NULL : gpu_of(agent);

	if (!gpu)
		return next_create(agent, size, type, callback, data, private_bytes, group_bytes,
				   queue);
	return create_intercepted(gpu, size, type, callback, data, private_bytes, group_bytes,
				  queue, dispatch_times);
}

static struct queue *take_queue(const hsa_queue_t *queue)
{
	struct queue **at, *taken;

	pthread_mutex_lock(&state.lock);
	for (at = &state.queues; *at && (*at)->queue != queue; at = &(*at)->next)
		;
	taken = *at;
	if (taken)
		*at = taken->next;
	pthread_mutex_unlock(&state.lock);
	return taken;
}

/* The program has seen its kernels end; the counters' ends are right behind them. */
static void wait_for_work(const struct queue *queue)
{
	const struct timespec pause = {0, SLEEP_NS};
	const uint64_t until = monotonic_ns() + DESTROY_MS * UINT64_C(1000000);

	while (atomic_load_explicit(&queue->under_way, memory_order_acquire) &&
	       monotonic_ns() < until)
		nanosleep(&pause, NULL);
}

static hsa_status_t on_destroy(hsa_queue_t *queue)
{
	struct queue *taken = take_queue(queue);
	hsa_status_t status;

	if (taken) {
		hsa_status_t (*destroy)(hsa_queue_t *, void *);
		void *user;
		pthread_mutex_lock(&state.lock);
		destroy = state.callbacks.destroy;
		user = state.callback_data;
		pthread_mutex_unlock(&state.lock);
		if (destroy)
			(void)destroy(queue, user);
	}
	if (taken)
		wait_for_work(taken);
	status = next_destroy(queue);
	if (taken) {
		free(taken->packets);
		taken->packets = NULL;
		atomic_store_explicit(&taken->destroyed, true, memory_order_release);
	}
	return status;
}

EXPORT hsa_status_t rocprofiler_queue_create_profiled(
	hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
	void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
	uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue)
{
	struct gpu *gpu = gpu_of(agent);

	if (!gpu)
		return HSA_STATUS_ERROR;
	if (!intercept_create)
		return fail(
			HSA_STATUS_ERROR,
			"queues can be profiled only where the HSA runtime has loaded this library "
			"(HSA_TOOLS_LIB)");
	return create_intercepted(gpu, size, type, callback, data, private_bytes, group_bytes,
				  queue, true);
}

/* ---- standalone: what lets a queue's work count ---- */

static void enable(struct gpu *gpu, hsa_queue_t *queue)
{
	static struct agent_library library;
	struct library_packet packet = {0};
	hsa_signal_t done = {0};
	uint32_t bytes = 0;
	void *memory;
	char why[512];

	if (!agent_library_find(runtime.get_major_extension_table, &library, why, sizeof(why))) {
		complain("%s; queues' work is not counted", why);
		return;
	}
	bytes = agent_enable_bytes(&library, gpu->agent);
	runtime_own_call = true;
	memory = bytes ? memory_for_gpu(gpu->agent, bytes) : NULL;
	runtime_own_call = false;
	if (!memory || !agent_enable_packet(&library, gpu->agent, memory, bytes, &packet) ||
	    runtime.signal_create(1, 0, NULL, &done)) {
		complain("a queue's work cannot be counted");
		memory_free(memory);
		return;
	}
	packet.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE |
			1 << HSA_PACKET_HEADER_BARRIER;
	packet.signal = done.handle;
	queue_submit(queue, &packet, 1);
	if (runtime_wait(done, "what lets a queue's work count")) {
		(void)runtime.signal_destroy(done);
		memory_free(memory);
	}
}

static hsa_status_t on_create_enable(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				     queue_error_callback callback, void *data,
				     uint32_t private_bytes, uint32_t group_bytes,
				     hsa_queue_t **queue)
{
	struct gpu *gpu = runtime_own_call ? NULL : gpu_of(agent);
	hsa_status_t status =
		next_create(agent, size, type, callback, data, private_bytes, group_bytes, queue);

	if (!status && gpu)
		enable(gpu, *queue);
	return status;
}

/* ---- hooks ---- */

static void find_next(struct root_table *table)
{
	void **create = table_amd(table->amd, AMD_QUEUE_INTERCEPT_CREATE);
	void **registers = table_amd(table->amd, AMD_QUEUE_INTERCEPT_REGISTER);

	if (create && registers) {
		memcpy(&intercept_create, create, sizeof(*create));
		memcpy(&intercept_register, registers, sizeof(*registers));
	}
}

void dispatch_hook(struct root_table *table)
{
	find_next(table);
	if (!intercept_create) {
		complain("this HSA runtime cannot intercept queues; nothing is counted");
		return;
	}
	(void)table_hook(table_core(table->core, CORE_QUEUE_CREATE), (void *)on_create,
			 &next_create);
	(void)table_hook(table_core(table->core, CORE_QUEUE_DESTROY), (void *)on_destroy,
			 &next_destroy);
}

void dispatch_hook_enable(struct root_table *table)
{
	find_next(table);
	(void)table_hook(table_core(table->core, CORE_QUEUE_CREATE), (void *)on_create_enable,
			 &next_create);
}

void dispatch_unhook(struct root_table *table)
{
	if (next_create)
		(void)table_hook(table_core(table->core, CORE_QUEUE_CREATE), (void *)next_create,
				 NULL);
	if (next_destroy)
		(void)table_hook(table_core(table->core, CORE_QUEUE_DESTROY), (void *)next_destroy,
				 NULL);
}

void dispatch_finish(void)
{
	const struct timespec pause = {0, 1000000};

	for (int i = 0; i < FINISH_MS; i++) {
		if (!atomic_load_explicit(&under_way, memory_order_acquire))
			return;
		nanosleep(&pause, NULL);
	}
	complain("dispatches have not ended; their counts are lost");
}

/* ---- callbacks ---- */

void dispatch_set_submit_callback(rocprofiler_hsa_callback_fun_t callback, void *arg)
{
	pthread_mutex_lock(&state.lock);
	state.submit = callback;
	state.submit_arg = arg;
	pthread_mutex_unlock(&state.lock);
}

EXPORT hsa_status_t rocprofiler_set_queue_callbacks(rocprofiler_queue_callbacks_t callbacks,
						    void *data)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	pthread_mutex_lock(&state.lock);
	if (state.set && state.callbacks.dispatch) {
		status = HSA_STATUS_ERROR;
	} else {
		state.callbacks = callbacks;
		state.callback_data = data;
		state.set = state.started = true;
	}
	pthread_mutex_unlock(&state.lock);
	return status ? fail(status, "queue callbacks are set already; remove them first") : status;
}

EXPORT hsa_status_t rocprofiler_remove_queue_callbacks(void)
{
	pthread_mutex_lock(&state.lock);
	memset(&state.callbacks, 0, sizeof(state.callbacks));
	state.set = state.started = false;
	pthread_mutex_unlock(&state.lock);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t set_started(bool started)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	pthread_mutex_lock(&state.lock);
	if (state.set)
		state.started = started;
	else
		status = HSA_STATUS_ERROR;
	pthread_mutex_unlock(&state.lock);
	return status ? fail(status, "no queue callbacks are set") : status;
}

EXPORT hsa_status_t rocprofiler_start_queue_callbacks(void)
{
	return set_started(true);
}

EXPORT hsa_status_t rocprofiler_stop_queue_callbacks(void)
{
	return set_started(false);
}
