/* SPDX-License-Identifier: MIT */
#include "reported.h"

#include <errno.h>
#include <rtl/events.h>

#include "../../common/reserve.h"
#include "../../common/shared.h"
#include "../../common/threads.h"
#include "../../hip/preload.h"
#include "agents.h"
#include "interceptor.h"
#include "kernel_table.h"
#include "kernels.h"

#define SLOW "not taken by a slow subscriber"

/* How long the thread sleeps while something is under way, and after how many such naps without
 * anything it sleeps until it is woken. */
#define NAP_NS 1000000
#define LINGER 20
#define LONG_S 1

/* Who has waited looks so often without sleeping, then sleeps so long between two looks, and gives up where nothing
 * has come for so long. Each time that happens the next has a quarter of that: an unresponsive HIP soon costs nothing.
 *  */
#define AWAIT_SPINS  100
#define AWAIT_NAP_NS 20000
#define AWAIT_NS     200000000u

/* HIP copies memory of the program's that is not pinned in pieces of that size or more. */
#define PIECE_BYTES (1u << 20)

/* Who is to settle goes on while HIP reports anything, but no longer than that. */
#define SETTLE_MOST_NS 2000000000u

/* What has been reported and not published. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t more, less; /* something may come; fewer wait */
	/* The lock's: a ring, which begins anew when it is empty, so that only what was ever needed is memory. */
	struct reported *ring;
	uint32_t first;
	uint32_t taken; /* of whoever publishes them just now */
	bool stops;     /* no more is taken */
	/* How many wait. Written under the lock. Relaxed where it is read without: a hint. */
	uint32_t count;
	bool idle; /* relaxed: the thread sleeps until it is woken, and wakes now and then */
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
	   .more = PTHREAD_COND_INITIALIZER,
	   .less = PTHREAD_COND_INITIALIZER};
FORK_LOCK(queue, queue.lock);

/* What is under way: of dispatches and barriers, and of copies. Several threads write them. */
static struct rtl_pending *pending[2];
static uint64_t numbers;           /* relaxed: of pieces of work */
static void (*poll_reports)(void); /* written before the thread is started */
static __thread bool is_own __attribute__((tls_model("initial-exec"))); /* the thread is rtl-hip */

/* Their events. */
static const struct {
	struct rtl_stream *const *stream;
	uint16_t end;
	uint32_t size;
} events[] = {
	[REPORTED_DISPATCH] = {&interceptor.stream, RTL_TASK_END, sizeof(struct rtl_hsa_dispatch)},
	[REPORTED_COPY] = {&interceptor.copies, RTL_TRANSFER_END, sizeof(struct rtl_hsa_copy)},
	[REPORTED_BARRIER] = {&interceptor.stream, RTL_BARRIER_END, sizeof(struct rtl_hsa_barrier)},
};

/* How much has begun and ended by HIP's streams, several of which may share a place. Only where calls tell streams. */
#define STREAMS           256u
#define ALL_STREAMS       STREAMS /* a place for all of them, where calls do not tell */
#define STREAM_PER_THREAD 2       /* hipStreamPerThread: each thread's own, by one name */
static struct {
	bool known;           /* written before anything begins */
	bool several;         /* GPUs have worked; relaxed */
	uint32_t node;        /* of the first; relaxed */
	uint64_t patience_ns; /* relaxed: a hint */
	struct {
		uint64_t begun, ended; /* relaxed; release, acquire by who awaits */
		/* Relaxed: so much of it did not come when it was awaited; when it was to settle. */
		uint64_t missing[2];
	} of[STREAMS + 1];
} streams;

/* ---- the ledger ---- */

__attribute__((cold, noinline)) static void wake(void)
{
	const int saved = errno;

	pthread_mutex_lock(&queue.lock);
	pthread_cond_signal(&queue.more);
	pthread_mutex_unlock(&queue.lock);
	errno = saved;
}

static uint32_t stream_place(uint64_t stream)
{
	return streams.known && stream != REPORTED_NO_STREAM
		       ? (uint32_t)(stream * 0x9e3779b97f4a7c15u >> 32) % STREAMS
		       : ALL_STREAMS;
}

/* Release: a process that is killed afterwards has said so. Partner: the ledger's reader. */
void reported_begin(enum reported_op op, uint64_t count)
{
	__atomic_fetch_add(&streams.of[stream_place(thread_context.hip_stream)].begun, count,
			   __ATOMIC_RELAXED);
	__atomic_fetch_add(&pending[op == REPORTED_COPY]->begun, count, __ATOMIC_RELEASE);
	if (__builtin_expect(__atomic_load_n(&queue.idle, __ATOMIC_RELAXED), 0))
		wake();
}

/* The same; what has ended is in a ring, or counted elsewhere. */
void reported_forget(enum reported_op op, uint64_t count, uint64_t stream)
{
	if (!count)
		return;
	/* Release: who awaits it finds it in the ring. */
	__atomic_fetch_add(&streams.of[stream_place(stream)].ended, count, __ATOMIC_RELEASE);
	__atomic_fetch_add(&pending[op == REPORTED_COPY]->ended, count, __ATOMIC_RELEASE);
}

void reported_count_unwanted(uint64_t stream, bool ended)
{
	const uint32_t place = stream_place(stream);

	/* Release: of an end. */
	__atomic_fetch_add(ended ? &streams.of[place].ended : &streams.of[place].begun, 1,
			   __ATOMIC_RELEASE);
}

static void miss(enum reported_op op, const char *cause, uint64_t count)
{
	if (count)
		rtl_stream_count_missed(*events[op].stream, cause, count);
}

static uint64_t under_way(int which)
{
	return __atomic_load_n(&pending[which]->begun, __ATOMIC_RELAXED) -
	       __atomic_load_n(&pending[which]->ended, __ATOMIC_RELAXED);
}

uint64_t reported_under_way(void)
{
	return pending[0] ? under_way(0) + under_way(1) : 0;
}

static void end_work(const struct reported *work)
{
	reported_forget(work->op, work->ends,
			work->submitter.in_scope ? work->submitter.scope.hip_stream : 0);
}

void reported_abandon(const char *cause, const char *copies)
{
	for (int op = 0; pending[0] && op <= REPORTED_COPY; op++) {
		const uint64_t left = under_way(op);

		miss(op, op == REPORTED_COPY ? copies : cause, left);
		reported_forget(op, left, 0);
	}
}

/* ---- events ---- */

static uint64_t next_number(void)
{
	return __atomic_fetch_add(&numbers, 1, __ATOMIC_RELAXED);
}

static uint16_t flags_of(const struct reported *work)
{
	return RTL_HSA_DISPATCH_REPORTED | (work->times.begin_ns ? 0 : RTL_HSA_DISPATCH_NO_TIME);
}

/* From where to where: by the addresses of its buffers, where they are known; else as HIP has it. What HIP reads and
 * writes in the host's memory the processor does, not the GPU. */
static void find_ends(const struct reported *work, struct copy *copy)
{
	const uint16_t node = (uint16_t)work->node;
	bool src_known = false, dst_known = false;
	const uint16_t src = work->has_addresses ? agents_node_of(copy->src, &src_known) : 0;
	const uint16_t dst = work->has_addresses ? agents_node_of(copy->dst, &dst_known) : 0;

	if (work->how == REPORTED_FILL) {
		copy->dst_node = node;
		copy->direction = RTL_HSA_COPY_NONE;
		copy->function = RTL_HSA_COPY_FILL;
		return;
	}
	if (work->how != REPORTED_WRITE)
		copy->src_node = src_known ? src : node;
	if (work->how != REPORTED_READ)
		copy->dst_node = dst_known ? dst : node;
	copy->direction = copy_direction(copy->src_node, copy->dst_node);
	if (work->how != REPORTED_INNER && !copy->src_node && !copy->dst_node) {
		copy->node = 0;
		copy->flags |= RTL_HSA_COPY_BLIT;
	}
	/* HIP copies such memory piece by piece, and may tell an end before the last one's. */
	if (work->how == REPORTED_WRITE && work->has_addresses && !src_known && copy->node &&
	    copy->bytes > PIECE_BYTES)
		copy->flags |= RTL_HSA_COPY_NO_TIME;
}

static void publish_as_copy(struct reported *work, const struct work_scope *scope)
{
	struct copy *copy = &work->copy;

	copy->number = next_number() + 1;
	copy->parts = 1;
	copy->submit_tid = work->submitter.tid;
	copy->node = (uint16_t)work->node;
	copy->flags = RTL_HSA_COPY_REPORTED;
	copy->function = work->is_rect ? RTL_HSA_COPY_RECT : RTL_HSA_COPY_LINEAR;
	find_ends(work, copy);
	if (!work->times.begin_ns)
		copy->flags |= RTL_HSA_COPY_NO_TIME;
	if (copy->flags & RTL_HSA_COPY_NO_TIME)
		work->times = (struct work_times){0};
	publish_copy(RTL_TRANSFER_END, copy, scope, work->times);
}

static void publish(struct reported *work)
{
	const struct agent *agent = agents_find_node(work->node);
	const struct work_queue of = {.agent_uid = agent ? agent->uid : 0, .node = work->node};
	const struct work_scope *scope = work->submitter.in_scope ? &work->submitter.scope : NULL;

	if (work->op == REPORTED_DISPATCH) {
		work->dispatch.packet_id = next_number();
		work->dispatch.submit_tid = work->submitter.tid;
		work->dispatch.flags = flags_of(work);
		publish_dispatch(RTL_TASK_END, &of, &work->dispatch, scope, work->times);
	} else if (work->op == REPORTED_COPY) {
		publish_as_copy(work, scope);
	} else {
		publish_barrier(RTL_BARRIER_END, &of,
				&(struct barrier){.packet_id = next_number(),
						  .submit_tid = work->submitter.tid,
						  .flags = flags_of(work),
						  .kind = RTL_HSA_BARRIER_AND},
				scope, work->times);
	}
	end_work(work);
}

/* ---- what waits ---- */

static uint32_t waiting(void)
{
	return __atomic_load_n(&queue.count, __ATOMIC_RELAXED);
}

/* Under the lock: the first of what waits, which is something. */
static struct reported take(void)
{
	const struct reported work = queue.ring[queue.first];

	__atomic_store_n(&queue.count, waiting() - 1, __ATOMIC_RELAXED);
	queue.first = waiting() ? (queue.first + 1) % interceptor.config.slots : 0;
	return work;
}

/* False: too much waits, or it is over. */
static bool put(const struct reported *work)
{
	HOLD_LOCK(&queue.lock);
	const uint32_t count = waiting();

	if (queue.stops || count == interceptor.config.slots)
		return false;
	queue.ring[(queue.first + count) % interceptor.config.slots] = *work;
	__atomic_store_n(&queue.count, count + 1, __ATOMIC_RELAXED);
	return true;
}

/* Publishes what waits. Where it may not wait for room, as far as there is some. */
static void publish_all(bool may_wait)
{
	pthread_mutex_lock(&queue.lock);
	while (waiting()) {
		const enum reported_op op = queue.ring[queue.first].op;

		if (!may_wait && rtl_room(*events[op].stream, events[op].end, events[op].size))
			break;
		struct reported work = take();

		queue.taken++;
		pthread_mutex_unlock(&queue.lock);
		publish(&work);
		pthread_mutex_lock(&queue.lock);
		if (!--queue.taken || !waiting())
			pthread_cond_broadcast(&queue.less);
	}
	pthread_mutex_unlock(&queue.lock);
}

/* A thread of the program, in a call of HIP that is about to return. */
__attribute__((cold, noinline)) static void help(void)
{
	const int saved = errno;
	int cancellation;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
	publish_all(false);
	pthread_setcancelstate(cancellation, NULL);
	errno = saved;
}

bool reported_has_room(bool may_wait)
{
	if (waiting() == interceptor.config.slots)
		publish_all(may_wait || is_own);
	return waiting() < interceptor.config.slots;
}

void reported_help(void)
{
	if (__builtin_expect(waiting() != 0, 0))
		help();
}

/* ---- who has waited ---- */

static uint64_t begun_in(uint32_t place)
{
	return __atomic_load_n(&streams.of[place].begun, __ATOMIC_RELAXED);
}

static uint64_t ended_in(uint32_t place)
{
	return __atomic_load_n(&streams.of[place].ended, __ATOMIC_ACQUIRE);
}

enum { AWAIT, SETTLE };

/* How much has begun and not ended, but for what did not come before. */
static uint64_t left_in(uint32_t place, uint64_t begun, int why)
{
	const uint64_t ended = ended_in(place);
	const uint64_t missing = __atomic_load_n(&streams.of[place].missing[why], __ATOMIC_RELAXED);
	const uint64_t left = begun > ended ? begun - ended : 0;

	if (left < missing)
		__atomic_store_n(&streams.of[place].missing[why], left, __ATOMIC_RELAXED);
	return left > missing ? left - missing : 0;
}

/* Until HIP has reported what had begun, which others may follow; not where it reports nothing for that long. Whether
 * it has. */
__attribute__((cold, noinline)) static bool await_place(uint32_t place, uint64_t begun, int why,
							uint64_t patience_ns)
{
	const int saved = errno;
	uint64_t left = left_in(place, begun, why), seen = 0, ended;
	uint64_t now_ns = rtl_clock_ns(), until_ns = now_ns + patience_ns;
	const uint64_t most_ns = why == SETTLE ? now_ns + SETTLE_MOST_NS : UINT64_MAX;
	int cancellation;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
	for (unsigned i = 0; left && now_ns < until_ns && now_ns < most_ns; i++) {
		if (i >= AWAIT_SPINS) {
			nanosleep(&(struct timespec){.tv_nsec = AWAIT_NAP_NS}, NULL);
			if (poll_reports)
				poll_reports();
		}
		publish_all(false);
		left = left_in(place, begun, why);
		now_ns = rtl_clock_ns();
		ended = ended_in(place);
		if (why == SETTLE) /* or anywhere */
			ended += ended_in(ALL_STREAMS) +
				 __atomic_load_n(&pending[0]->ended, __ATOMIC_ACQUIRE) +
				 __atomic_load_n(&pending[1]->ended, __ATOMIC_ACQUIRE);
		if (ended != seen)
			until_ns = now_ns + patience_ns;
		seen = ended;
	}
	if (left)
		__atomic_fetch_add(&streams.of[place].missing[why], left, __ATOMIC_RELAXED);
	pthread_setcancelstate(cancellation, NULL);
	errno = saved;
	return !left;
}

bool reported_is_behind(void)
{
	const uint32_t place = stream_place(thread_context.hip_stream);

	return left_in(place, begun_in(place), AWAIT);
}

void reported_settle(bool all, uint64_t patience_ns)
{
	const uint32_t one = stream_place(thread_context.hip_stream);
	bool waited = false;

	if (!pending[0])
		return;
	for (uint32_t i = 0; i <= ALL_STREAMS; i++) {
		const uint64_t begun = begun_in(i);

		if ((!all && i != one && i != ALL_STREAMS) || !left_in(i, begun, SETTLE))
			continue;
		(void)await_place(i, begun, SETTLE, patience_ns);
		waited = true;
	}
	if (waited) /* what was reported last is still in the hands of HIP's thread */
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

void reported_await(bool all)
{
	const uint64_t stream = thread_context.hip_stream;
	const uint32_t one = stream_place(stream);

	reported_help();
	/* Who waits for a GPU waits for that alone: which streams are of which is not known. */
	if (!streams.known || (all ? __atomic_load_n(&streams.several, __ATOMIC_RELAXED)
				   : stream == STREAM_PER_THREAD))
		return;
	for (uint32_t i = all ? 0 : one; i < (all ? STREAMS : one + 1); i++) {
		const uint64_t patience_ns =
			__atomic_load_n(&streams.patience_ns, __ATOMIC_RELAXED);
		const uint64_t begun = begun_in(i);

		if (__builtin_expect(left_in(i, begun, AWAIT) != 0, 0) &&
		    !await_place(i, begun, AWAIT, patience_ns))
			__atomic_store_n(&streams.patience_ns, patience_ns / 4, __ATOMIC_RELAXED);
	}
}

/* ---- the thread ---- */

/* A nap; or if nothing is under way for long, until somebody wakes it. */
static void nap(unsigned *quiet)
{
	struct timespec until;

	*quiet = poll_reports || reported_under_way() ? 0 : *quiet + 1;
	if (*quiet < LINGER) {
		nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
		return;
	}
	pthread_mutex_lock(&queue.lock);
	__atomic_store_n(&queue.idle, true, __ATOMIC_RELAXED);
	until = time_from_now(LONG_S * 1000000000ull);
	if (!waiting())
		(void)pthread_cond_timedwait(&queue.more, &queue.lock, &until);
	__atomic_store_n(&queue.idle, false, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&queue.lock);
	*quiet = 0;
}

static void *run(void *data)
{
	unsigned quiet = 0;

	pthread_setname_np(pthread_self(), "rtl-hip");
	is_own = true;
	for (;;) {
		if (poll_reports)
			poll_reports();
		publish_all(true);
		(void)rtl_room_prepare();
		nap(&quiet);
	}
	return NULL;
}

int reported_start(void (*poll)(void))
{
	poll_reports = poll;
	streams.known = hip_mode_has_calls();
	streams.patience_ns = AWAIT_NS;
	pending[1] = rtl_stream_pending(interceptor.copies, RTL_CAUSE_UNDER_WAY);
	pending[0] = rtl_stream_pending(interceptor.stream, RTL_CAUSE_UNDER_WAY);
	queue.ring = memory_reserve(interceptor.config.slots * sizeof(*queue.ring));
	queue.stops = !queue.ring;
	return queue.stops || own_thread_start(run, NULL) ? RTL_ENOMEM : 0;
}

/* Until no more than that wait, and the thread has published what it had taken if that is none. */
static void wait_for_thread(uint32_t most, uint32_t timeout_ms)
{
	const struct timespec until = time_from_now(timeout_ms * 1000000ull);
	int cancellation;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
	pthread_mutex_lock(&queue.lock);
	pthread_cond_signal(&queue.more);
	while (waiting() > most || (!most && queue.taken))
		if (pthread_cond_timedwait(&queue.less, &queue.lock, &until))
			break;
	pthread_mutex_unlock(&queue.lock);
	pthread_setcancelstate(cancellation, NULL);
}

void reported_stop(uint32_t timeout_ms)
{
	uint64_t left[REPORTED_OPS] = {0}, ends[REPORTED_OPS] = {0};

	if (!pending[0])
		return;
	wait_for_thread(0, timeout_ms > interceptor.config.wait_ms ? timeout_ms
								   : interceptor.config.wait_ms);
	pthread_mutex_lock(&queue.lock);
	queue.stops = true;
	while (waiting()) {
		const struct reported work = take();

		left[work.op]++;
		ends[work.op] += work.ends;
	}
	pthread_cond_broadcast(&queue.less);
	pthread_mutex_unlock(&queue.lock);
	for (int op = 0; op < REPORTED_OPS; op++) {
		miss(op, SLOW ", at exit", left[op]);
		reported_forget(op, ends[op], 0);
	}
}

void reported_forked(void)
{
	queue.stops = true;
	pthread_cond_init(&queue.more, NULL);
	pthread_cond_init(&queue.less, NULL);
	__atomic_store_n(&queue.count, 0, __ATOMIC_RELAXED);
}

/* ---- what reports ---- */

bool reported_is_wanted(enum reported_op op)
{
	if (!interceptor_on() || is_paused() || !rtl_enabled(*events[op].stream, events[op].end))
		return false;
	return op != REPORTED_BARRIER || interceptor.config.mode == CONFIG_FULL;
}

bool reported_leave_out(enum reported_op op, uint64_t count)
{
	const bool outside = is_outside();

	if (op == REPORTED_COPY && interceptor.config.mode == CONFIG_LITE) {
		rtl_stream_count_missed(interceptor.copies, "mode lite: copy", count);
		return true;
	}
	if (!outside && !rtl_only_counted(*events[op].stream, events[op].end))
		return false;
	rtl_stream_count_left_out(*events[op].stream,
				  outside ? RTL_LEFT_OUT_RANGE : RTL_LEFT_OUT_PERIOD, count);
	return true;
}

void reported_hold_back(void)
{
	const int saved = errno;

	if (__builtin_expect(waiting() > interceptor.config.slots / 2, 0) &&
	    interceptor.config.wait_ms)
		wait_for_thread(interceptor.config.slots / 2, interceptor.config.wait_ms);
	errno = saved;
}

void reported_publish(const struct reported *work)
{
	const uint32_t first = __atomic_load_n(&streams.node, __ATOMIC_RELAXED);
	const int saved = errno;

	if (!first)
		__atomic_store_n(&streams.node, work->node, __ATOMIC_RELAXED);
	else if (__builtin_expect(work->node != first, 0))
		__atomic_store_n(&streams.several, true, __ATOMIC_RELAXED);
	if (work->op == REPORTED_DISPATCH && kernel_is_left_out(work->dispatch.kernel)) {
		rtl_stream_count_left_out(interceptor.stream, RTL_LEFT_OUT_KERNEL, 1);
		end_work(work);
	} else if (!put(work)) {
		miss(work->op, SLOW, 1);
		end_work(work);
	}
	errno = saved;
}
