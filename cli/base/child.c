/* SPDX-License-Identifier: MIT */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "host.h"

/* How long to wait for the witness before a signal counts as sent to rtl alone. */
#define WITNESS_TRIES    20
#define WITNESS_PAUSE_NS 1000000

#define GRACE_S   5 /* between SIGTERM and SIGKILL to a command whose time is over */
#define TIMED_OUT 124
#define NS_PER_S  INT64_C(1000000000)

struct witness {
	pid_t pid;
	int status_fd;    /* its /proc/PID/status */
	uint32_t *counts; /* shared, NSIG of them: signals that it took */
	uint32_t known[NSIG];
};

/* ---- the witness ---- */

static _Noreturn void witness_main(uint32_t *counts, pid_t parent)
{
	sigset_t all;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "rtl-witness");
	if (getppid() != parent)
		_exit(0);
	/* Nobody shall wait for a pipe to end because of us. */
	close_range(0, ~0u, 0);
	sigfillset(&all);
	for (;;) {
		int number = sigwaitinfo(&all, NULL);
		if (number > 0 && number < NSIG)
			/* relaxed: the count is all that is told */
			__atomic_fetch_add(&counts[number], 1, __ATOMIC_RELAXED);
	}
}

/* Needs all signals blocked. Without a witness (pid -1) every signal counts as sent to all. */
static void witness_start(struct witness *witness)
{
	pid_t self = getpid();

	*witness = (struct witness){.pid = -1, .status_fd = -1};
	witness->counts = mmap(NULL, NSIG * sizeof(uint32_t), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (witness->counts == MAP_FAILED)
		return;
	witness->pid = fork();
	if (!witness->pid)
		witness_main(witness->counts, self);
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/status", witness->pid);
	witness->status_fd = open(path, O_RDONLY | O_CLOEXEC);
}

static void witness_stop(struct witness *witness)
{
	if (witness->pid > 0) {
		kill(witness->pid, SIGKILL);
		while (waitpid(witness->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (witness->status_fd >= 0)
		close(witness->status_fd);
	if (witness->counts != MAP_FAILED)
		munmap(witness->counts, NSIG * sizeof(uint32_t));
	*witness = (struct witness){.pid = -1, .status_fd = -1, .counts = MAP_FAILED};
}

/* Whether the witness has been sent a signal that it did not come to take yet. */
static bool witness_has_pending(const struct witness *witness, int number)
{
	char text[4096];
	ssize_t size = pread(witness->status_fd, text, sizeof(text) - 1, 0);

	text[size > 0 ? size : 0] = '\0';
	const char *line = strstr(text, "\nShdPnd:");
	unsigned long long pending = line ? strtoull(line + sizeof("\nShdPnd:"), NULL, 16) : 0;
	return pending >> (number - 1) & 1;
}

/* Whether the group got a signal that rtl got just now. */
static bool witness_saw(struct witness *witness, int number)
{
	const struct timespec pause = {0, WITNESS_PAUSE_NS};

	if (witness->pid < 0)
		return true;
	for (int i = 0; i < WITNESS_TRIES; i++) {
		/* In this order: it may take the signal in between. */
		uint32_t count = __atomic_load_n(&witness->counts[number], __ATOMIC_RELAXED);
		bool pending = witness_has_pending(witness, number);
		if (pending || count != witness->known[number]) {
			witness->known[number] = count + pending;
			return true;
		}
		nanosleep(&pause, NULL);
	}
	return false;
}

/* ---- the environment ---- */

static bool is_replaced(const struct session_variable *variables, size_t count, const char *entry)
{
	for (size_t i = 0; i < count; i++) {
		const size_t length = strlen(variables[i].name);

		if (!strncmp(entry, variables[i].name, length) && entry[length] == '=')
			return true;
	}
	return false;
}

/* The variables, then what else our own environment has, which is not copied. */
static char **environment_with(const struct session_variable *variables, size_t count)
{
	size_t size = 0, n = 0;
	char **made;

	while (environ && environ[size])
		size++;
	made = cli_need(calloc(count + size + 1, sizeof(*made)));
	for (; n < count; n++)
		made[n] = cli_format("%s=%s", variables[n].name, variables[n].value);
	for (size_t i = 0; i < size; i++)
		if (!is_replaced(variables, count, environ[i]))
			made[n++] = environ[i];
	return made;
}

/* ---- the command ---- */

/* The kernel sends these to a process that writes where nobody reads, or more than a file may hold. */
static const int of_writes[] = {SIGPIPE, SIGXFSZ};

#define OF_WRITES (sizeof(of_writes) / sizeof(*of_writes))

/* The command's, which rtl has changed for itself. */
static struct sigaction on_writes[OF_WRITES];

void child_init(void)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	for (size_t i = 0; i < OF_WRITES; i++)
		sigaction(of_writes[i], &ignore, &on_writes[i]);
}

/* What a command is started with. All of it is made before the fork: after that a process that has
 * threads can neither allocate nor lock. */
struct launchpad {
	char **argv, **environment;
	sigset_t mask;
	struct sigaction on_child;
	bool output_to_stderr;
};

/* In the child: becomes the command, or writes errno to the pipe. */
static _Noreturn void become(const struct launchpad *pad, int pipe)
{
	int error;

	sigaction(SIGCHLD, &pad->on_child, NULL);
	for (size_t i = 0; i < OF_WRITES; i++)
		sigaction(of_writes[i], &on_writes[i], NULL);
	sigprocmask(SIG_SETMASK, &pad->mask, NULL);
	if (pad->output_to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO); /* without one, it stays as it is */
	execvpe(pad->argv[0], pad->argv, pad->environment);
	error = errno;
	while (write(pipe, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* Starts the command; 0, or errno. */
static int start(const struct launchpad *pad, pid_t *pid)
{
	int ends[2], error = 0;
	ssize_t size;

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	*pid = fork();
	if (*pid < 0) {
		error = errno;
		close(ends[1]);
		goto out;
	}
	if (!*pid)
		become(pad, ends[1]);
	close(ends[1]);
	/* Ends when the command runs, or brings what was in the way. */
	do
		size = read(ends[0], &error, sizeof(error));
	while (size < 0 && errno == EINTR);
	if (size != sizeof(error))
		error = 0;
	else
		waitpid(*pid, NULL, 0);
out:
	close(ends[0]);
	return error;
}

/* ---- signals ---- */

/* Those that rtl takes care of: all but what tells of an error of its own, or cannot be had. */
static void fill_handled(sigset_t *set)
{
	static const int left[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT, SIGSYS,
				   SIGTRAP, SIGPIPE, SIGTTIN, SIGTTOU, SIGXFSZ};

	sigfillset(set);
	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
		sigdelset(set, left[i]);
}

/* ---- the time that the command has */

static struct {
	void (*expired)(void *user, pid_t pid, int number);
	void *user;
	pid_t pid; /* the command; 0: it has ended */
	unsigned seconds;
	int64_t end_ns; /* 0: no end */
	bool over;
} limit;

void child_limit(unsigned seconds, void (*expired)(void *user, pid_t pid, int number), void *user)
{
	limit.seconds = seconds;
	limit.expired = expired;
	limit.user = user;
}

bool child_timed_out(void)
{
	return limit.over;
}

static void expire(void)
{
	const int number = limit.over ? SIGKILL : SIGTERM;

	limit.over = true;
	limit.expired(limit.user, limit.pid, number);
	if (limit.pid)
		kill(limit.pid, number);
	limit.end_ns = number == SIGKILL
			       ? 0
			       : (int64_t)host_clock_ns(CLOCK_MONOTONIC) + GRACE_S * NS_PER_S;
}

/* As sigwaitinfo, as long as the command has time. */
static int next_signal(const sigset_t *handled, siginfo_t *info)
{
	const int64_t left_ns =
		limit.end_ns ? limit.end_ns - (int64_t)host_clock_ns(CLOCK_MONOTONIC) : 0;

	if (!limit.end_ns)
		return sigwaitinfo(handled, info);
	if (left_ns > 0)
		return sigtimedwait(handled, info,
				    &(struct timespec){left_ns / NS_PER_S, left_ns % NS_PER_S});
	expire();
	return -1;
}

static void pass_on(pid_t pid, const siginfo_t *info)
{
	if (info->si_code == SI_QUEUE)
		sigqueue(pid, info->si_signo, info->si_value);
	else
		kill(pid, info->si_signo);
}

/* Stops rtl too, as the terminal wants, so that the shell gets it back. */
static void stop_self(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void take_signal(pid_t pid, struct witness *witness, const struct child_work *work,
			const siginfo_t *info)
{
	bool alone;

	if (info->si_signo == SIGCHLD)
		return;
	/* The kernel signals all that the terminal has in the foreground; but that the terminal has gone it tells
	 * the session's leader alone, which rtl may be. */
	alone = !witness_saw(witness, info->si_signo) &&
		(info->si_code != SI_KERNEL || info->si_signo == SIGHUP ||
		 info->si_signo == SIGCONT);
	if (alone && work && work->snapshot_signal == info->si_signo)
		work->snapshot(work->user);
	else if (alone)
		pass_on(pid, info);
	if (info->si_signo == SIGTSTP)
		stop_self();
}

static void wait_for_end(pid_t pid, struct witness *witness, const struct child_work *work,
			 const sigset_t *handled, int *status)
{
	siginfo_t info;

	limit.pid = pid;
	limit.end_ns = limit.seconds
			       ? (int64_t)host_clock_ns(CLOCK_MONOTONIC) + limit.seconds * NS_PER_S
			       : 0;
	while (waitpid(pid, status, WNOHANG) != pid)
		if (next_signal(handled, &info) > 0)
			take_signal(pid, witness, work, &info);
	limit.pid = 0;
}

/* ---- work ---- */

/* Ends by a signal, without a core of our own. */
static _Noreturn void end_by(int number)
{
	sigset_t set;

	prctl(PR_SET_DUMPABLE, 0);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	raise(number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	/* The first process of a container cannot die so. */
	_exit(128 + number);
}

/* What the thread that waits knows. */
struct watch {
	pid_t pid;
	struct witness *witness;
	const sigset_t *handled;
	const struct child_work *work;
	int status;
	bool ended; /* the command; release by the thread, acquire by the work */
	bool woken; /* the thread needs `work` no more to wake it; release and acquire alike */
	bool done;  /* the work, after that; release by the work, acquire by the thread */
};

static bool wants_to_end(int number)
{
	return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

/* While rtl finishes. */
static void wait_for_work(const struct watch *watch)
{
	int asked = 0;

	/* what the command has ended by is not to end rtl too */
	while (sigtimedwait(watch->handled, NULL, &(struct timespec){0}) > 0)
		;
	while (!__atomic_load_n(&watch->done, __ATOMIC_ACQUIRE)) {
		int number = sigwaitinfo(watch->handled, NULL);
		if (number == SIGTSTP)
			stop_self();
		if (!wants_to_end(number))
			continue;
		if (watch->work->is_stoppable(watch->work->user) || ++asked > 1) {
			cli_error("%s", watch->work->last_words);
			end_by(number);
		}
		cli_error("%s", watch->work->hold_on);
	}
}

/* For orphans of the command as well, whose ends SIGCHLD tells of. */
static void wait_for_children(struct watch *watch)
{
	int number = 0;
	pid_t ended;

	witness_stop(watch->witness); /* a child of ours */
	while (!wants_to_end(number)) {
		while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (ended < 0)
			return;
		number = next_signal(watch->handled, NULL);
		if (number == SIGTSTP)
			stop_self();
	}
}

static void *watch_command(void *user)
{
	struct watch *watch = user;

	wait_for_end(watch->pid, watch->witness, watch->work, watch->handled, &watch->status);
	if (watch->work->waits_for_all)
		wait_for_children(watch);
	__atomic_store_n(&watch->ended, true, __ATOMIC_RELEASE);
	watch->work->wake(watch->work->user);
	__atomic_store_n(&watch->woken, true, __ATOMIC_RELEASE);
	wait_for_work(watch);
	return NULL;
}

static void work_until_end(struct watch *watch)
{
	const struct child_work *work = watch->work;
	pthread_t thread;

	if (pthread_create(&thread, NULL, watch_command, watch)) {
		/* what the command publishes stays in its buffers until it has ended */
		wait_for_end(watch->pid, watch->witness, work, watch->handled, &watch->status);
		work->finish(work->user, watch->status);
		return;
	}
	pthread_setname_np(thread, "rtl-signals");
	while (!__atomic_load_n(&watch->ended, __ATOMIC_ACQUIRE))
		work->work(work->user);
	while (!__atomic_load_n(&watch->woken, __ATOMIC_ACQUIRE))
		sched_yield(); /* finish takes away what it wakes by */
	work->finish(work->user, watch->status);
	__atomic_store_n(&watch->done, true, __ATOMIC_RELEASE);
	pthread_kill(thread, SIGCHLD); /* ends its sleep */
	pthread_join(thread, NULL);
}

int child_run(char **argv, const struct session_variable *variables, size_t count,
	      const struct child_work *work, int *status)
{
	struct launchpad pad = {.argv = argv,
				.environment = environment_with(variables, count),
				.output_to_stderr = work && work->output_to_stderr};
	struct sigaction standard = {.sa_handler = SIG_DFL};
	struct watch watch = {.work = work};
	struct witness witness;
	sigset_t all, handled;
	int error;

	sigfillset(&all);
	fill_handled(&handled);
	sigprocmask(SIG_BLOCK, &all, &pad.mask);
	sigaction(SIGCHLD, &standard, &pad.on_child);
	witness_start(&witness);
	watch.witness = &witness;
	watch.handled = &handled;
	error = start(&pad, &watch.pid);
	for (size_t i = 0; i < count; i++)
		free(pad.environment[i]);
	free(pad.environment);
	/* From here on errors of our own and the terminal's SIGTTIN, SIGTTOU act as ever. */
	sigprocmask(SIG_SETMASK, &handled, NULL);
	if (!error && work)
		work_until_end(&watch);
	else if (!error)
		wait_for_end(watch.pid, &witness, NULL, &handled, &watch.status);
	*status = watch.status;
	witness_stop(&witness);
	/* The signal that ended the command must not end rtl too; later ones may. */
	while (sigtimedwait(&handled, NULL, &(struct timespec){0}) > 0)
		;
	sigprocmask(SIG_SETMASK, &pad.mask, NULL);
	return error;
}

_Noreturn void child_end_like(int status)
{
	if (limit.over)
		exit(TIMED_OUT);
	if (WIFEXITED(status))
		exit(WEXITSTATUS(status));
	fflush(NULL);
	end_by(WTERMSIG(status));
}

void child_end_if_unread(void)
{
	struct pollfd output = {.fd = STDOUT_FILENO};

	if (on_writes[0].sa_handler == SIG_DFL && poll(&output, 1, 0) == 1 &&
	    output.revents & POLLERR)
		end_by(SIGPIPE);
}
