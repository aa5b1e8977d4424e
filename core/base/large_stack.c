/* SPDX-License-Identifier: MIT */
#include "large_stack.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define LEAST_BYTES (128u << 10)
#define OWN_BYTES   (512u << 10)
#define GUARD_BYTES 4096u

struct call {
	void (*function)(void *argument);
	void *argument;
	ucontext_t here;
};

/* The first thread's grows by itself, and to ask about it means to read a file. */
static bool has_room(void)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	pthread_attr_t attributes;
	void *begin = NULL;
	size_t size = 0;
	bool known;

	if (gettid() == getpid())
		return true;
	if (pthread_getattr_np(pthread_self(), &attributes))
		return false;
	known = !pthread_attr_getstack(&attributes, &begin, &size);
	pthread_attr_destroy(&attributes);
	/* else this is a signal handler on a stack of its own, or a coroutine */
	return known && here - (uintptr_t)begin < size && here - (uintptr_t)begin >= LEAST_BYTES;
}

/* makecontext passes ints. */
static void run(unsigned low, unsigned high)
{
	struct call *call = (struct call *)((uintptr_t)high << 32 | low);

	call->function(call->argument);
}

static bool call_on(char *stack, struct call *call)
{
	const uintptr_t place = (uintptr_t)call;
	ucontext_t there;

	if (getcontext(&there))
		return false;
	there.uc_stack.ss_sp = stack + GUARD_BYTES;
	there.uc_stack.ss_size = OWN_BYTES - GUARD_BYTES;
	there.uc_link = &call->here;
	makecontext(&there, (void (*)(void))run, 2, (unsigned)place, (unsigned)(place >> 32));
	return !swapcontext(&call->here, &there);
}

void large_stack_call(void (*function)(void *argument), void *argument)
{
	struct call call = {.function = function, .argument = argument};
	char *stack;
	bool called;

	if (has_room()) {
		function(argument);
		return;
	}
	stack = mmap(NULL, OWN_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	called = stack != MAP_FAILED && !mprotect(stack, GUARD_BYTES, PROT_NONE) &&
		 call_on(stack, &call);
	if (stack != MAP_FAILED)
		munmap(stack, OWN_BYTES);
	if (!called)
		function(argument);
}
