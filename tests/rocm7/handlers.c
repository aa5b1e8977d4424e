/* SPDX-License-Identifier: MIT */
#include "handlers.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 2 /* the second begins behind a whole pass over all signals */

static bool post(hsa_signal_value_t value, void *arrived)
{
	sem_post(arrived);
	return false;
}

/* Whether the thread has come to a handler that was registered last. */
static bool round_trip(const struct handlers_hsa *hsa, const struct timespec *until)
{
	sem_t *arrived = malloc(sizeof(*arrived)); /* stays where the thread does not come */
	hsa_signal_t signal;
	int error;

	if (!arrived || sem_init(arrived, 0, 0) || hsa->signal_create(1, 0, NULL, &signal) ||
	    hsa->signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, post, arrived))
		return false;
	hsa->signal_store_relaxed(signal, 0);
	do {
		error = sem_timedwait(arrived, until) ? errno : 0;
	} while (error == EINTR);
	if (error)
		return false;
	hsa->signal_destroy(signal);
	free(arrived);
	return true;
}

bool handlers_settle(const struct handlers_hsa *hsa, unsigned timeout_s)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += timeout_s;
	for (int i = 0; i < ROUNDS; i++) {
		if (!round_trip(hsa, &until))
			return false;
	}
	return true;
}
