/* SPDX-License-Identifier: MIT */
#include "life.h"

#include <stdlib.h>

#include "bus.h"
#include "futex.h"
#include "host.h"
#include "log.h"
#include "parts.h"

struct at_finish {
	struct at_finish *next;
	rtl_at_finish_fn fn;
	void *user;
};

static struct at_finish *list; /* under bus.lock */

static struct at_finish *take(void)
{
	struct at_finish *entry;

	bus_lock();
	entry = list;
	if (entry)
		list = entry->next;
	else
		__atomic_store_n(&bus.state, BUS_FINISHED, __ATOMIC_RELEASE);
	bus_unlock();
	return entry;
}

void finish_call(void)
{
	struct at_finish *entry;

	while ((entry = take())) {
		entry->fn(entry->user);
		free(entry);
	}
}

int rtl_at_finish(rtl_at_finish_fn fn, void *user)
{
	struct at_finish *entry = malloc(sizeof(*entry));
	int err = 0;

	if (!entry)
		return RTL_ENOMEM;
	*entry = (struct at_finish){.fn = fn, .user = user};
	bus_lock();
	if (bus.state == BUS_FINISHED) {
		err = RTL_EBUSY;
	} else {
		entry->next = list;
		list = entry;
	}
	bus_unlock();
	if (err)
		free(entry);
	return err;
}

/* As late as a library can: after main, atexit and static destructors of the program. */
__attribute__((destructor)) static void finish(void)
{
	if (!bus_here())
		return;
	/* a signal may be ending the bus just now: that is waited for */
	if (__atomic_load_n(&bus.state, __ATOMIC_RELAXED) == BUS_FINISHED &&
	    !termination_requested())
		return;
	finish_call();
	if (bus.collected) {
		bus_stop_publishing();
		open_hand_in();
		/* release: with the acquire of the collector, which then sees the last heads */
		__atomic_store_n(&bus.spool.control->finished, 1, __ATOMIC_RELEASE);
		bus_ring_bell();
		if (session_is_own()) {
			bus_lock(); /* somebody may be making a ring */
			session_remove_own();
			bus_unlock();
		}
	}
	if (!__atomic_load_n(&bus.consumer_runs, __ATOMIC_RELAXED) || bus_own_thread)
		return;
	if (!consumer_end()) {
		log_line(RTL_LEVEL_ERROR, "bus",
			 "a subscriber made no progress for %u ms: the program ends without it, "
			 "and what it had not written is lost",
			 bus.settings.exit_timeout_ms);
		return; /* it may still use all of this */
	}
	if (bus.keeps_spool)
		return; /* for `rtl recover` */
	bus_lock();     /* somebody may be making a ring */
	spool_remove_files(&bus.spool);
	bus_unlock();
}

/* ---- signals that end the process */

/* What the interrupted thread holds, the consumer may need: then it is not waited for for ever. */
#define PATIENCE_NS 10000000000u

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static uint32_t requested; /* release by the handler, acquire by the consumer */
static uint32_t done;      /* release by the consumer, acquire by the handler; a futex */

static void act_as_default(int signo)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	sigaction(signo, &action, NULL);
	raise(signo); /* blocked here: it comes when the handler returns */
}

/* Async-signal-safe: atomics, futex, clock_gettime, sigaction, raise. */
static void on_signal(int signo)
{
	uint64_t until = clock_ns() + PATIENCE_NS;
	int err = errno;

	if (bus_here() && bus_has_consumer() && !bus_own_thread &&
	    !__atomic_exchange_n(&requested, 1, __ATOMIC_ACQ_REL)) {
		bus_ring_bell();
		while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE) && clock_ns() < until &&
		       __atomic_load_n(&requested, __ATOMIC_RELAXED) == 1)
			futex_wait(&done, 0, 100);
	} else {
		/* somebody is impatient: the thread that waits stops waiting */
		__atomic_store_n(&requested, 2, __ATOMIC_RELAXED);
	}
	act_as_default(signo);
	errno = err;
}

/* Whether the consumer is this very process's: a child of vfork shares its parent's memory. */
static bool has_own_consumer(void)
{
	return bus_here() && !bus.collected && bus_has_consumer() && !bus_own_thread &&
	       __atomic_load_n(bus.alive, __ATOMIC_RELAXED) == (uint32_t)getpid();
}

void rtl_process_ends(void)
{
	struct patience patience = {0};
	int err = errno, state;

	if (!has_own_consumer())
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	/* as on_signal, whose signal may be there already */
	__atomic_exchange_n(&requested, 1, __ATOMIC_ACQ_REL);
	bus_ring_bell();
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE) && consumer_gets_ahead(&patience))
		futex_wait(&done, 0, 100);
	pthread_setcancelstate(state, NULL);
	errno = err;
}

void termination_init(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (!sigaction(signals[i], NULL, &old) && !(old.sa_flags & SA_SIGINFO) &&
		    old.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

bool termination_requested(void)
{
	return __atomic_load_n(&requested, __ATOMIC_ACQUIRE) != 0;
}

void termination_done(void)
{
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	futex_wake(&done);
}
