/* SPDX-License-Identifier: MIT */
#include "child.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "cli.h"

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

#define STACK_BYTES (64u << 10)

static const char *words; /* relaxed: the thread that crashes has set it, or it was long before */
static pthread_key_t thread_key;
static bool has_key;

/* The file that holds the instruction; NULL: not known. dladdr only looks, and this process is not going on. */
static const char *file_of(const void *context)
{
#ifdef __x86_64__
	const ucontext_t *machine = context;
	Dl_info info;

	if (dladdr((void *)machine->uc_mcontext.gregs[REG_RIP], &info))
		return info.dli_fname;
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
		const struct iovec line[] = {piece("rtl: SIG"),
					     piece(sigabbrev_np(number)),
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

static void on_thread_end(void *unused)
{
	cli_error("a subscriber has ended the thread that called it (pthread_exit)");
	abort();
}

static void install(void)
{
	struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	struct sigaction now;

	has_key = !pthread_key_create(&thread_key, on_thread_end);
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++) {
		/* where somebody else looks at crashes (a sanitizer), that stays so */
		if (!sigaction(crashes[i], NULL, &now) && now.sa_handler == SIG_DFL)
			sigaction(crashes[i], &action, NULL);
	}
}

/* The calling thread. Its stack may be what was used up: it gets those bytes. */
static void watch_thread(char bytes[STACK_BYTES])
{
	const stack_t stack = {.ss_sp = bytes, .ss_size = STACK_BYTES};
	static bool installed;
	stack_t before;

	if (!installed)
		install();
	installed = true;
	if (!sigaltstack(NULL, &before) && before.ss_flags & SS_DISABLE)
		sigaltstack(&stack, NULL);
	if (has_key)
		pthread_setspecific(thread_key, bytes);
}

void crash_explain(const char *text)
{
	static char bytes[STACK_BYTES];

	__atomic_store_n(&words, text, __ATOMIC_RELAXED);
	watch_thread(bytes);
}

void crash_explain_thread(bool begins)
{
	static char bytes[STACK_BYTES];

	if (begins)
		watch_thread(bytes);
	else if (has_key)
		pthread_setspecific(thread_key, NULL);
}
