/* SPDX-License-Identifier: MIT */
/* See crash.h. */
#include "crash.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "cli.h"

static const struct {
	int number;
	const char *name;
} crashes[] = {
	{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
	{SIGILL, "SIGILL"},   {SIGABRT, "SIGABRT"},
};

#define CRASHES (sizeof(crashes) / sizeof(*crashes))

static const char *words; /* relaxed: the thread that crashes has set it, or it was long before */

static pthread_key_t thread_key; /* not 0 where a thread is not to end; made by install */

static const char *name_of(int number)
{
	for (size_t i = 0; i < CRASHES; i++) {
		if (crashes[i].number == number)
			return crashes[i].name;
	}
	return "a signal";
}

/* The file that holds the instruction; NULL: not known. dladdr only looks, and this process is not
 * going on. */
static const char *file_of(const void *context)
{
#ifdef __x86_64__
	const ucontext_t *machine = context;
	Dl_info info;

	if (dladdr((void *)machine->uc_mcontext.gregs[REG_RIP], &info))
		return info.dli_fname;
#else
	(void)context;
#endif
	return NULL;
}

static struct iovec piece(const char *text)
{
	return (struct iovec){(char *)(unsigned long)text, strlen(text)};
}

static void on_crash(int number, siginfo_t *info, void *context)
{
	const char *text = __atomic_load_n(&words, __ATOMIC_RELAXED);
	const char *file = info->si_code > 0 ? file_of(context) : NULL;
	struct sigaction standard = {.sa_handler = SIG_DFL};

	if (text) {
		const struct iovec line[] = {piece("rtl: "),
					     piece(name_of(number)),
					     piece(file ? " in " : ""),
					     piece(file ? file : ""),
					     piece(": "),
					     piece(text),
					     piece("\n")};
		ssize_t written = writev(STDERR_FILENO, line, sizeof(line) / sizeof(*line));
		(void)written; /* nobody else is there to be told */
	}
	sigaction(number, &standard, NULL);
	raise(number); /* comes when this returns */
}

void crash_set_stack(char *bytes, size_t size)
{
	const stack_t stack = {.ss_sp = bytes, .ss_size = size};
	stack_t now;

	if (!sigaltstack(NULL, &now) && now.ss_flags & SS_DISABLE)
		sigaltstack(&stack, NULL);
}

static void on_thread_end(void *unused)
{
	(void)unused;
	cli_error("a subscriber has ended the thread that called it (pthread_exit)");
	abort();
}

void crash_expect_thread(bool goes_on)
{
	pthread_setspecific(thread_key, goes_on ? &thread_key : NULL);
}

static void install(void)
{
	static char bytes[CRASH_STACK];
	struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	struct sigaction now;

	crash_set_stack(bytes, sizeof(bytes));
	if (!pthread_key_create(&thread_key, on_thread_end))
		crash_expect_thread(true);
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < CRASHES; i++) {
		/* where somebody else looks at crashes (a sanitizer), that stays so */
		if (!sigaction(crashes[i].number, NULL, &now) && now.sa_handler == SIG_DFL)
			sigaction(crashes[i].number, &action, NULL);
	}
}

void crash_explain(const char *text)
{
	static bool installed;

	__atomic_store_n(&words, text, __ATOMIC_RELAXED);
	if (!installed)
		install();
	installed = true;
}
