/* SPDX-License-Identifier: MIT */
/* Scenarios of test_bus_ticks.c: rtl_ticks_to_ns against rtl_clock_ns. */
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "test_bus_child.h"

/* What a reading between two readings of the clock may be off, where others use the processor:
 * nothing, by construction, but for the error of the line. */
#define ERROR_NS 2000u

static void sleep_ms(long ms)
{
	const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

static void check_now(void)
{
	const uint64_t before = rtl_clock_ns(), ns = rtl_ticks_to_ns(rtl_ticks());
	const uint64_t after = rtl_clock_ns();

	CHECK(ns + ERROR_NS >= before);
	CHECK(ns <= after + ERROR_NS);
}

/* With and without pauses in which the line ends. */
SCENARIO(ticks_now)
{
	static const long pauses_ms[] = {0, 0, 1, 2, 5, 10, 15, 18, 20, 22, 30, 50, 100, 300, 0};

	for (size_t i = 0; i < sizeof(pauses_ms) / sizeof(*pauses_ms); i++) {
		sleep_ms(pauses_ms[i]);
		for (size_t k = 0; k < 10000; k++)
			check_now();
	}
}

/* Taken all along, converted at the end: the times of long ago as well. */
SCENARIO(ticks_converted_late)
{
	enum { TIMES = 400 };
	static uint64_t before[TIMES], ticks[TIMES], after[TIMES];
	uint64_t ns, last = 0;

	for (int i = 0; i < TIMES; i++) {
		before[i] = rtl_clock_ns();
		ticks[i] = rtl_ticks();
		after[i] = rtl_clock_ns();
		/* converted by others meanwhile, so that the line goes on: or not */
		if (i > TIMES / 4)
			(void)rtl_ticks_to_ns(rtl_ticks());
		sleep_ms(18);
	}
	for (int i = 0; i < TIMES; i++) {
		ns = rtl_ticks_to_ns(ticks[i]);
		CHECK(ns + ERROR_NS >= before[i] && ns <= after[i] + ERROR_NS);
		CHECK(ns >= last);
		last = ns;
	}
}

/* Threads hand the largest that they have seen from one to the next: nobody gets less for more. */
static uint64_t seen_ticks, seen_ns; /* under lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *convert(void *unused)
{
	const uint64_t end = rtl_clock_ns() + 1000000000u;
	uint64_t ticks, ns = 0, i;

	for (i = 0; ns < end; i++) {
		pthread_mutex_lock(&lock);
		ticks = rtl_ticks();
		if (ticks < seen_ticks)
			ticks = seen_ticks;
		ns = rtl_ticks_to_ns(ticks);
		CHECK(ns >= seen_ns);
		seen_ticks = ticks;
		seen_ns = ns;
		pthread_mutex_unlock(&lock);
		if (i % 50000 == 0)
			sleep_ms((long)(i / 50000 % 30));
	}
	return NULL;
}

/* Every conversion of a tick gives the same, whoever asks for it and when. */
static void *convert_same(void *unused)
{
	const uint64_t end = rtl_clock_ns() + 1000000000u;
	uint64_t ticks, ns;

	do {
		ticks = rtl_ticks();
		ns = rtl_ticks_to_ns(ticks);
		CHECK(rtl_ticks_to_ns(ticks) == ns);
		CHECK(rtl_ticks_to_ns(ticks + 1) >= ns);
		CHECK(rtl_ticks_to_ns(ticks - 1) <= ns);
	} while (ns < end);
	return NULL;
}

SCENARIO(ticks_of_several_threads)
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		threads[i] = start_thread(i < 4 ? convert : convert_same, NULL);
	for (int i = 0; i < 8; i++)
		join_thread(threads[i]);
}

static volatile sig_atomic_t handled;

static void on_alarm(int number)
{
	check_now();
	handled++;
}

SCENARIO(ticks_in_signal_handlers)
{
	const struct itimerval often = {{0, 200}, {0, 200}};
	const uint64_t end = rtl_clock_ns() + 500000000u;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	while (rtl_clock_ns() < end)
		check_now();
	CHECK(handled > 10);
}

static void *convert_for_ever(void *unused)
{
	for (;;)
		(void)rtl_ticks_to_ns(rtl_ticks());
	return NULL;
}

SCENARIO(ticks_after_fork)
{
	int i, status;
	pid_t child;

	start_thread(convert_for_ever, NULL);
	for (i = 0; i < 50; i++) {
		child = fork();
		if (!child) {
			for (i = 0; i < 50; i++) {
				check_now();
				sleep_ms(1);
			}
			_exit(0);
		}
		CHECK(child > 0 && waitpid(child, &status, 0) == child);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}
