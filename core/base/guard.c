/* SPDX-License-Identifier: MIT */
#include "guard.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct range {
	struct range *next;
	uintptr_t begin, end;
	bool hit;
};

static struct range *ranges;
static uint32_t users;
static struct sigaction before; /* what SIGBUS did before us */
/* Guards all of it. A spin lock, as the handler takes it too: nobody touches a guarded mapping
 * while holding it, so the handler never waits for its own thread. */
static uint32_t locked;

static void lock(void)
{
	while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void unlock(void)
{
	__atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
}

static struct range *find(const void *at)
{
	struct range *range;

	for (range = ranges; range; range = range->next)
		if ((uintptr_t)at >= range->begin && (uintptr_t)at < range->end)
			return range;
	return NULL;
}

void guard_forked(void)
{
	unlock();
}

/* Puts a page of zeros where one is missing. By a system call: this is a signal handler, in which
 * nobody's mmap but the kernel's is of use. */
static bool replace_page(void *address)
{
	uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *page = (void *)((uintptr_t)address & ~(size - 1));
	struct range *range;

	lock();
	range = find(address);
	if (range && syscall(SYS_mmap, page, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != -1)
		range->hit = true;
	else
		range = NULL;
	unlock();
	return range != NULL;
}

static void on_sigbus(int number, siginfo_t *info, void *context)
{
	int err = errno;

	/* > 0: from the kernel, about an access of this thread */
	if (info->si_code > 0 && replace_page(info->si_addr)) {
		errno = err;
		return;
	}
	errno = err;
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(number, info, context);
	else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
		before.sa_handler(number);
	else
		sigaction(number, &before, NULL); /* it happens again, and is not ours */
}

void guard_start(void)
{
	struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	lock();
	sigemptyset(&action.sa_mask);
	if (!users++)
		sigaction(SIGBUS, &action, &before);
	unlock();
}

void guard_stop(void)
{
	lock();
	if (!--users)
		sigaction(SIGBUS, &before, NULL);
	unlock();
}

bool guard_add(void *at, size_t bytes)
{
	struct range *range = malloc(sizeof(*range));

	if (!range)
		return false;
	range->begin = (uintptr_t)at;
	range->end = range->begin + ((bytes + 4095) & ~(size_t)4095);
	range->hit = false;
	lock();
	range->next = ranges;
	/* release: complete in a child that is forked now, too */
	__atomic_store_n(&ranges, range, __ATOMIC_RELEASE);
	unlock();
	return true;
}

bool guard_was_hit(const void *at)
{
	const struct range *range;
	bool hit;

	lock();
	range = find(at);
	hit = range && range->hit;
	unlock();
	return hit;
}

void guard_remove(const void *at)
{
	struct range **link, *range = NULL;

	lock();
	for (link = &ranges; *link; link = &(*link)->next)
		if ((*link)->begin == (uintptr_t)at) {
			range = *link;
			*link = range->next;
			break;
		}
	unlock();
	free(range);
}
