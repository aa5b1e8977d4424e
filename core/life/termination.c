/* SPDX-License-Identifier: MIT */
#include "life.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "bus.h"
#include "clock.h"
#include "futex.h"
#include "host.h"

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

/* Whether the consumer is one of this very process's: a child of vfork shares its parent's memory.
 */
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
