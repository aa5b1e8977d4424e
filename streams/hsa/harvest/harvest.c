/* SPDX-License-Identifier: MIT */
/* The harvester, a thread, and threads of the program that publish in its stead: see harvest.h. What is done in a pass:
 * source.h. */
#include "harvest.h"

#include <errno.h>

#include "../../common/shared.h"
#include "../../common/threads.h"
#include "interceptor.h"
#include "parts.h"
#include "signal_watch.h"
#include "source.h"
#include "turn.h"

/* Each poll may take the processor from the program or from what feeds its GPU. */
#define POLL_MIN_NS 400000u
#define POLL_MAX_NS 1000000u
#define NAP_NS      1000000u
#define SLEEP_NS    1000000000u
/* While nobody wants work. Whoever comes learns of the GPUs when something is submitted or called. */
#define ASLEEP_NS 3600000000000u
/* Time for the last pass, which may wait for room in a ring, on top of what is configured. */
#define LAST_PASS_MS 500u
/* Longest wait for a harvester that has to stop and is inside of the runtime, or gets no processor.
 */
#define LAST_WAIT_NS 5000000000u
/* Passes without anything under way before it sleeps: some 20 ms, so that a program that waits
 * for each dispatch does not have to wake it for each. */
#define LINGER_PASSES 20

/* How far behind the harvester may be before submitting threads help. */
#define PATIENCE_NS 5000000u
/* Passes, one in a millisecond, after which the harvester itself waits for room. */
#define NO_ROOM_PASSES 2000
/* Longest wait of a process that leaves. */
#define LEAVING_NS 500000000u

struct harvest_signs harvest_signs = {.patience_ticks = INT64_MAX};

struct harvester {
	struct turn turn; /* whose pass it is */
	uint32_t ended;   /* a futex; release by the thread, acquire by who stops it */
	/* rtl_clock_ns at which to stop; 0: not. Release, acquire. */
	uint64_t stop_at_ns;
	uint32_t no_room;       /* the owner's: passes since there was room for all of it */
	struct sources sources; /* the owner's, or of whose turn it is */
};

/* How much a submitting thread does when the harvester is behind. Where it cannot, it yields to the harvester for a
 * while, from LATE to STUCK times the harvester's patience. */
#define CATCH_UP_MOST 256u
#define LATE          2u
#define GIVE_WAY_NS   5000000u
#define STUCK         200u

static struct {
	/* Starting and stopping. */
	pthread_mutex_t lock;
	/* The one that runs, for helpers: release when it is complete; the lock's. */
	struct harvester *running;
	uint32_t hurry; /* relaxed; see harvest_hurry */
	pid_t process;  /* relaxed: written before `running` */
	/* Futexes and what they say; release or acq_rel by the writer, acquire by the reader. */
	uint32_t wake_count;
	uint32_t passes;
	uint32_t pass_waiters; /* seq_cst, with passes: no waiter is overlooked */
} harvest = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(harvest, harvest.lock);

/* The one that runs, or NULL. */
static inline struct harvester *harvester_current(void)
{
	/* Pairs with the release in start. */
	return __atomic_load_n(&harvest.running, __ATOMIC_ACQUIRE);
}

/* Has the harvester look, and waits for the end of its next pass. */
static void harvest_wait_for_pass(uint64_t timeout_ns)
{
	uint32_t passes;

	__atomic_fetch_add(&harvest.pass_waiters, 1, __ATOMIC_SEQ_CST);
	passes = harvest_passes();
	harvest_wake();
	futex_wait(&harvest.passes, passes, timeout_ns);
	__atomic_fetch_sub(&harvest.pass_waiters, 1, __ATOMIC_SEQ_CST);
}

__attribute__((cold)) void harvest_rouse(uint64_t now_ticks)
{
	__atomic_store_n(&harvest_signs.looked_ticks, now_ticks ? now_ticks : rtl_ticks(),
			 __ATOMIC_RELAXED);
	harvest_wake();
}

void harvest_hurry(void)
{
	if (!__atomic_load_n(&harvest.hurry, __ATOMIC_RELAXED) &&
	    !__atomic_exchange_n(&harvest.hurry, 1, __ATOMIC_RELAXED))
		harvest_wake();
}

void harvest_leaving(void)
{
	const int saved = errno;
	const uint32_t passes = harvest_passes();
	uint64_t until_ns;

	/* The child of a vfork has its parent's memory. */
	if (!interceptor_on() || !harvester_current() || turn_self ||
	    getpid() != __atomic_load_n(&harvest.process, __ATOMIC_RELAXED))
		return;
	until_ns = rtl_clock_ns() + LEAVING_NS;
	/* One pass may have been half done. */
	while (harvest_passes() - passes < 2 && interceptor_on() && rtl_clock_ns() < until_ns)
		harvest_wait_pass();
	errno = saved;
}

void harvest_wake(void)
{
	const int saved = errno;

	__atomic_store_n(&harvest_signs.idle, 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&harvest.wake_count, 1, __ATOMIC_ACQ_REL);
	futex_wake(&harvest.wake_count);
	errno = saved;
}

void harvest_look_around(void)
{
	if (__atomic_load_n(&interceptor.stream->wanted[RTL_METADATA & 0xff], __ATOMIC_RELAXED) &
	    RTL_WANTED_AGAIN)
		harvest_wake();
}

void harvest_add(struct source *source)
{
	sources_add(source);
	harvest_wake();
}

/* ---- helpers ---- */

/* The one to help; NULL: there is nothing to do, or not for this thread. */
static inline struct harvester *to_help(void)
{
	struct harvester *harvester = harvester_current();

	return !harvester || turn_self || !interceptor_on() ? NULL : harvester;
}

/* In a pass: publishes what has finished, as sources_help. There is no cancellation point in this, and errno stays. */
static inline int help(struct harvester *harvester, uint32_t most)
{
	int room;

	if (__atomic_load_n(&harvester->ended, __ATOMIC_ACQUIRE) || turn_is_left(&harvester->turn))
		return 0;
	harvester->turn.helping = true;
	room = sources_help(&harvester->sources, most);
	harvester->turn.helping = false;
	return room;
}

/* Until the harvester has published what there was no room for here. */
static __attribute__((cold, noinline)) void wait_for_harvester(struct harvester *harvester)
{
	const struct turn_patience patience = turn_begin_waiting(&harvester->turn);
	const uint32_t passes = harvest_passes();
	const int saved = errno;

	/* One pass may have been half done. */
	while (harvest_passes() - passes < 2 && turn_is_worth_waiting(&harvester->turn, &patience))
		harvest_wait_pass();
	errno = saved;
}

bool harvest_help(void)
{
	const uint32_t thread = rtl_thread_id();
	const bool may_wait = handler_thread_id() != thread;
	struct harvester *harvester = to_help();
	int room;

	if (!harvester || !turn_take(&harvester->turn, thread, may_wait))
		return false;
	room = help(harvester, UINT32_MAX);
	turn_give_back(&harvester->turn);
	/* Not for inline callbacks: they may need what this thread's caller has locked. */
	if (__builtin_expect(room < 0 && room != RTL_ENOTSUP && may_wait, 0))
		wait_for_harvester(harvester);
	return !room;
}

struct slot *harvest_wait_for_slot(struct slot *(*take)(void *from), void *from)
{
	const uint64_t deadline = rtl_clock_ns() + interceptor.config.wait_ms * 1000000ull;
	const uint32_t passes = harvest_passes();
	struct slot *slot = NULL;

	if (!interceptor.config.wait_ms || handler_thread_is_this())
		return NULL;
	do {
		harvest_wait_pass();
		slot = take(from);
	} while (!slot && harvest_passes() - passes < 3 && rtl_clock_ns() < deadline &&
		 interceptor_on());
	return slot;
}

/* How late the harvester is, in times of the patience that one may have. */
static uint64_t lateness(void)
{
	const uint64_t looked = __atomic_load_n(&harvest_signs.looked_ticks, __ATOMIC_RELAXED);

	return (rtl_ticks() - looked) /
	       __atomic_load_n(&harvest_signs.patience_ticks, __ATOMIC_RELAXED);
}

/* Tries to; false: another one makes a pass, or there is no room. */
static bool catch_up(struct harvester *harvester)
{
	const uint64_t now_ticks = rtl_ticks();
	int room;

	if (!turn_try(&harvester->turn, rtl_thread_id()))
		return false;
	room = help(harvester, CATCH_UP_MOST);
	turn_give_back(&harvester->turn);
	if (!room)
		__atomic_store_n(&harvest_signs.looked_ticks, now_ticks, __ATOMIC_RELAXED);
	return room >= 0;
}

__attribute__((cold)) void harvest_catch_up(void)
{
	struct harvester *harvester = to_help();
	const int saved = errno;

	if (!harvester || handler_thread_is_this() || turn_is_mine(&harvester->turn) ||
	    catch_up(harvester))
		return;
	/* Where it has been stuck for long, it is not the processor that it lacks. */
	while (interceptor.config.wait_ms && interceptor_on() && lateness() >= LATE &&
	       lateness() < STUCK) {
		harvest_wait_for_pass(GIVE_WAY_NS);
		if (catch_up(harvester))
			break;
	}
	errno = saved;
}

/* ---- the thread ---- */

/* Whether something waits for the next pass, which can be given up meanwhile. */
static bool is_waited_for(struct harvester *harvester)
{
	bool waiting;

	turn_take_for_sure(&harvester->turn);
	waiting = turn_is_left(&harvester->turn) || sources_waiting(&harvester->sources);
	turn_give_back(&harvester->turn);
	return waiting;
}

/* Sleeps until harvest_wake. The submitting thread stores its slot and then loads `idle` without a fence between, so
 * that its slot may become visible only after we have looked; but a store is not held back for a millisecond: after
 * such a nap, we either see the slot, or the thread has seen that we sleep. (membarrier would do, too, but registering
 * for it can take tens of milliseconds.) The long sleep ends now and then, should this ever be wrong. */
static void sleep_idle(struct harvester *harvester, uint32_t seen)
{
	__atomic_store_n(&harvest_signs.idle, 1, __ATOMIC_SEQ_CST);
	futex_wait(&harvest.wake_count, seen, NAP_NS);
	if (!is_waited_for(harvester)) {
		/* seq_cst, before it is looked what is wanted: who records a call later sees it */
		if (!work_wanted())
			__atomic_store_n(&harvest_signs.idle, HARVEST_ASLEEP, __ATOMIC_SEQ_CST);
		futex_wait(&harvest.wake_count, seen, work_wanted() ? SLEEP_NS : ASLEEP_NS);
	}
	__atomic_store_n(&harvest_signs.idle, 0, __ATOMIC_RELAXED);
}

static bool pass(struct harvester *harvester, uint32_t number, bool may_wait)
{
	const uint64_t now_ticks = rtl_ticks();
	bool all = false;
	const bool progress = sources_pass(&harvester->sources, number, may_wait, &all);

	if (turn_is_left(&harvester->turn))
		return false;
	harvester->no_room = all ? 0 : harvester->no_room + 1;
	if (!all)
		return progress;
	__atomic_store_n(&harvest_signs.looked_ticks, now_ticks, __ATOMIC_RELAXED);
	__atomic_fetch_add(&harvest.passes, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&harvest.pass_waiters, __ATOMIC_SEQ_CST))
		futex_wake(&harvest.passes);
	return progress;
}

/* Whether the next pass may wait for room in the ring: at the end, and where the bus is to see that nobody makes room,
 * is to discard, or calls inline callbacks. Otherwise it comes again, as helpers have rings of their own. */
static bool may_wait_for_room(const struct harvester *harvester)
{
	return __atomic_load_n(&harvester->stop_at_ns, __ATOMIC_ACQUIRE) ||
	       harvester->no_room >= NO_ROOM_PASSES || !interceptor.config.wait_ms ||
	       rtl_room(interceptor.stream, RTL_TASK_END, 0) == RTL_ENOTSUP ||
	       rtl_room(interceptor.copies, RTL_TRANSFER_END, 0) == RTL_ENOTSUP ||
	       rtl_room(interceptor.stream, RTL_BARRIER_END, 0) == RTL_ENOTSUP;
}

/* Whether it is time to end: asked to, and nothing is under way or there is no more time; or the
 * program goes on meanwhile. */
static bool is_over(const struct harvester *harvester, bool progress)
{
	const uint64_t stop_at_ns = __atomic_load_n(&harvester->stop_at_ns, __ATOMIC_ACQUIRE);

	return stop_at_ns &&
	       ((!progress && !harvester->sources.under_way) || rtl_clock_ns() >= stop_at_ns ||
		__atomic_load_n(&harvest.hurry, __ATOMIC_RELAXED));
}

/* Until it has to end, or is given up. Then nobody else can make a pass any more. */
static void harvest_on(struct harvester *harvester)
{
	uint64_t poll_ns = POLL_MIN_NS;
	uint32_t quiet = 0;

	for (uint32_t number = 1;; number++) {
		const uint32_t seen = __atomic_load_n(&harvest.wake_count, __ATOMIC_ACQUIRE);
		bool progress;

		turn_take_for_sure(&harvester->turn);
		progress = !turn_is_left(&harvester->turn) &&
			   pass(harvester, number, may_wait_for_room(harvester));
		if (turn_is_left(&harvester->turn))
			return;
		if (is_over(harvester, progress)) {
			(void)pass(harvester, 0, true); /* at all of it: what has ended by now */
			return;
		}
		quiet = progress || harvester->sources.under_way ? 0 : quiet + 1;
		turn_give_back(&harvester->turn);
		(void)rtl_room_prepare();
		poll_ns = progress ? POLL_MIN_NS : poll_ns * 2;
		if (poll_ns > POLL_MAX_NS)
			poll_ns = POLL_MAX_NS;
		if (quiet > LINGER_PASSES)
			sleep_idle(harvester, seen);
		else
			futex_wait(&harvest.wake_count, seen, poll_ns);
	}
}

static void *run(void *data)
{
	struct harvester *harvester = data;

	handler_thread_find();
	/* not before: the runtime's thread, which that makes, would inherit it */
	pthread_setname_np(pthread_self(), "rtl-hsa");
	harvest_on(harvester);
	/* New ones may be the next harvester's if this one is late. */
	if (!turn_is_left(&harvester->turn))
		sources_adopt(&harvester->sources);
	/* Relaxed: what it was set to while somebody was out, he has seen in turn_in. */
	if (turn_state(&harvester->turn) != TURN_TAKEN)
		sources_abandon(&harvester->sources, "not finished at exit");
	__atomic_store_n(&harvester->ended, 1, __ATOMIC_RELEASE);
	futex_wake(&harvester->ended);
	turn_give_back(&harvester->turn);
	return NULL;
}

static uint64_t ticks_of(uint64_t ns)
{
	const uint64_t ticks = rtl_ticks(), some = 1u << 24;
	const uint64_t some_ns = rtl_ticks_to_ns(ticks + some) - rtl_ticks_to_ns(ticks);

	return some_ns ? ns * some / some_ns : ns;
}

/* Under the lock: the only one in the process's life. */
static int start(void)
{
	static struct harvester harvester;
	int error;

	harvester.sources.wanted = rtl_enabled(interceptor.stream, RTL_METADATA);
	error = own_thread_start(run, &harvester);
	if (error)
		return error;
	__atomic_store_n(&harvest_signs.looked_ticks, rtl_ticks(), __ATOMIC_RELAXED);
	__atomic_store_n(&harvest_signs.patience_ticks, ticks_of(PATIENCE_NS), __ATOMIC_RELAXED);
	__atomic_store_n(&harvest.process, getpid(), __ATOMIC_RELAXED);
	__atomic_store_n(&harvest.running, &harvester, __ATOMIC_RELEASE);
	return 0;
}

/* Under the lock, or where there is one thread only. */
static struct harvester *no_more(void)
{
	struct harvester *harvester = __atomic_exchange_n(&harvest.running, NULL, __ATOMIC_RELAXED);

	__atomic_store_n(&harvest_signs.patience_ticks, INT64_MAX, __ATOMIC_RELAXED);
	return harvester;
}

int harvest_start(void)
{
	bool stopped;
	int error = 0;

	pthread_mutex_lock(&harvest.lock);
	/* The stopper sets the flag before it takes the lock. */
	stopped = !interceptor_on();
	if (!stopped && !harvester_current())
		error = start();
	pthread_mutex_unlock(&harvest.lock);
	if (error)
		rtl_log(RTL_LEVEL_ERROR, "hsa", "cannot start a thread (%d)", error);
	return error || stopped ? RTL_ENOMEM : 0;
}

uint32_t harvest_passes(void)
{
	return __atomic_load_n(&harvest.passes, __ATOMIC_SEQ_CST);
}

void harvest_wait_pass(void)
{
	harvest_wait_for_pass(POLL_MAX_NS);
}

/* Takes the queues from a harvester that waits for a subscriber; false: it does not. */
static bool give_up(struct harvester *harvester)
{
	if (!turn_change(&harvester->turn, TURN_OUT, TURN_TAKEN))
		return false;
	sources_adopt(&harvester->sources);
	sources_abandon(&harvester->sources, "not finished, or not taken by a slow "
					     "subscriber, at exit");
	rtl_log(RTL_LEVEL_WARNING, "hsa",
		"a subscriber is too slow: what it has not taken at the end is missed");
	return true;
}

/* Until the harvester has ended; or, after patient_until_ns, it waits for a subscriber; or, after until_ns, it is
 * elsewhere for long, in the runtime, which must not end under its hands, or without a processor. */
static void wait_until_ended(struct harvester *harvester, uint64_t until_ns,
			     uint64_t patient_until_ns)
{
	uint64_t alive_ns = until_ns;
	uint32_t seen = 0;

	while (!__atomic_load_n(&harvester->ended, __ATOMIC_ACQUIRE)) {
		const uint32_t outs = __atomic_load_n(&harvester->turn.outs, __ATOMIC_RELAXED);
		const uint64_t now = rtl_clock_ns();

		if ((outs != seen || turn_state(&harvester->turn) == TURN_OUT) && now > alive_ns)
			alive_ns = now;
		seen = outs;
		if (now >= patient_until_ns && give_up(harvester))
			return;
		if (now >= alive_ns + LAST_WAIT_NS &&
		    turn_change(&harvester->turn, TURN_IN, TURN_LATE))
			return;
		futex_wait(&harvester->ended, 0, 10000000);
	}
}

/* Ends the thread when nothing is under way or the time is over; the rest is counted. */
static void stop(uint32_t timeout_ms)
{
	const uint64_t now = rtl_clock_ns();
	struct harvester *harvester;
	uint64_t least_ms, most_ms;

	HOLD_LOCK(&harvest.lock);
	harvester = no_more();
	if (harvester) {
		__atomic_store_n(&harvester->stop_at_ns, now + timeout_ms * 1000000ull + 1,
				 __ATOMIC_RELEASE);
		harvest_wake();
		/* For what is under way, then for the last pass; and if it waits for a subscriber,
		 * as long as a submitting thread would. */
		least_ms = (uint64_t)timeout_ms + LAST_PASS_MS;
		most_ms = least_ms > interceptor.config.wait_ms ? least_ms
								: interceptor.config.wait_ms;
		wait_until_ended(harvester, now + least_ms * 1000000, now + most_ms * 1000000);
	}
}

/* In the child of a fork. The thread is not here; what it had is left to the parent. */
static void forked(void)
{
	(void)no_more();
	signal_watch_forked();
	__atomic_store_n(&harvest_signs.idle, 0, __ATOMIC_RELAXED);
}

static void hook(struct root_table *root)
{
	if (interceptor.config.source != CONFIG_QUEUE)
		return;
	signal_watch_hook(root);
	waits_hook(root);
}

const struct hsa_part harvest_part = {
	.prepare = ends_init, .hook = hook, .stop = stop, .forked = forked};
