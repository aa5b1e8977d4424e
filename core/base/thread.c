/* SPDX-License-Identifier: MIT */
#include "thread.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

__thread uint32_t thread_locked __attribute__((tls_model("initial-exec")));
__thread uint32_t thread_no_wait __attribute__((tls_model("initial-exec")));

/* ---- signals */

/* What the kernel sends the thread whose write fails. */
static const int of_writes[] = {SIGPIPE, SIGXFSZ};

#define OF_WRITES (sizeof(of_writes) / sizeof(*of_writes))

void signals_block(sigset_t *old)
{
	static const int own_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
	sigset_t all;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(own_faults) / sizeof(*own_faults); i++)
		sigdelset(&all, own_faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, old);
}

void signals_restore(const sigset_t *old)
{
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

void signals_of_writes_hold(struct signals_of_writes *held)
{
	sigset_t block, pending;

	sigemptyset(&block);
	sigemptyset(&pending);
	for (size_t i = 0; i < OF_WRITES; i++)
		sigaddset(&block, of_writes[i]);
	pthread_sigmask(SIG_BLOCK, &block, &held->old);
	sigpending(&pending);
	for (size_t i = 0; i < OF_WRITES; i++)
		held->pending[i] = sigismember(&pending, of_writes[i]) == 1;
}

void signals_of_writes_drop(const struct signals_of_writes *held)
{
	static const struct timespec now = {0, 0};
	int err = errno;
	sigset_t ours;

	sigemptyset(&ours);
	for (size_t i = 0; i < OF_WRITES; i++)
		if (!held->pending[i])
			sigaddset(&ours, of_writes[i]);
	while (sigtimedwait(&ours, NULL, &now) > 0 || errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, &held->old, NULL);
	errno = err;
}

/* ---- stack */

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
