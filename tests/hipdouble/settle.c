/* SPDX-License-Identifier: MIT */
#include "settle.h"

#include "find.h"

#include <errno.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define LESS_THAN 2 /* hsa_signal_condition_t */
#define TIMEOUT_S 30
#define ROUNDS    2 /* the second begins behind a whole pass of the handler thread */

static struct {
	int (*create)(int64_t value, uint32_t consumers, const void *list, uint64_t *signal);
	int (*handle)(uint64_t signal, int condition, int64_t value, bool (*f)(int64_t, void *),
		      void *arg);
	void (*store)(uint64_t signal, int64_t value);
	int (*destroy)(uint64_t signal);
} hsa;

static bool find(void)
{
	*(void **)&hsa.create = HSA_FIND("hsa_signal_create");
	*(void **)&hsa.handle = HSA_FIND("hsa_amd_signal_async_handler");
	*(void **)&hsa.store = HSA_FIND("hsa_signal_store_relaxed");
	*(void **)&hsa.destroy = HSA_FIND("hsa_signal_destroy");
	return hsa.create && hsa.handle && hsa.store && hsa.destroy;
}

static bool post(int64_t value, void *arrived)
{
	(void)value;
	sem_post(arrived);
	return false;
}

/* Whether the handler thread has come to a handler that was registered last. */
static bool round_trip(void)
{
	sem_t *arrived = malloc(sizeof(*arrived)); /* stays where the handler does not come */
	struct timespec until;
	uint64_t signal;
	int error;

	if (!arrived || sem_init(arrived, 0, 0) || hsa.create(1, 0, NULL, &signal) ||
	    hsa.handle(signal, LESS_THAN, 1, post, arrived))
		return false;
	hsa.store(signal, 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += TIMEOUT_S;
	do {
		error = sem_timedwait(arrived, &until) ? errno : 0;
	} while (error == EINTR);
	if (error)
		return false;
	hsa.destroy(signal);
	free(arrived);
	return true;
}

void settle_reports(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (!find() || !round_trip())
			return;
	}
}
