/* SPDX-License-Identifier: MIT */
/* Runs a command and kills it, with all processes that it has started, before the COUNTth system call that one of them
 * makes; `unlink:COUNT`: before the COUNTth that removes or renames a file.
 *
 *	kill_at [unlink:]COUNT COMMAND...
 *
 * Prints how many calls there were: COUNT, or fewer if it had ended. Exit status 77: processes cannot be traced here.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT 77
#define UNLINK "unlink:"

static const long follow = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
			   PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;

static _Noreturn void become(char **command)
{
	setpgid(0, 0);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(CANNOT);
	raise(SIGSTOP);
	execvp(command[0], command);
	fprintf(stderr, "kill_at: %s: %s\n", command[0], strerror(errno));
	_exit(127);
}

/* The signal that a stopped thread must get. */
static int signal_of(int status)
{
	int signal = WSTOPSIG(status);

	/* SIGTRAP: an event of ours; SIGSTOP: how a new thread begins */
	return status >> 16 || signal == SIGTRAP || signal == SIGSTOP ? 0 : signal;
}

static bool is_unlink(uint64_t call)
{
	static const uint64_t unlinks[] = {SYS_unlink, SYS_unlinkat, SYS_rmdir,
					   SYS_rename, SYS_renameat, SYS_renameat2};

	for (size_t i = 0; i < sizeof(unlinks) / sizeof(*unlinks); i++)
		if (call == unlinks[i])
			return true;
	return false;
}

/* Whether a thread is about to make a call that counts: it stops before and after each. */
static bool enters(pid_t thread, bool unlinks)
{
	struct __ptrace_syscall_info info;

	return ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info) > 0 &&
	       info.op == PTRACE_SYSCALL_INFO_ENTRY && (!unlinks || is_unlink(info.entry.nr));
}

static long run(long count, bool unlinks)
{
	long calls = 0;
	int status;
	pid_t thread;

	while ((thread = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status))
			continue;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80))
			ptrace(PTRACE_SYSCALL, thread, NULL, signal_of(status));
		else if (!enters(thread, unlinks) || ++calls < count)
			ptrace(PTRACE_SYSCALL, thread, NULL, NULL);
		else
			return calls;
	}
	return calls;
}

int main(int argc, char **argv)
{
	const bool unlinks = argc > 2 && !strncmp(argv[1], UNLINK, strlen(UNLINK));
	const char *number = argc > 2 ? argv[1] + (unlinks ? strlen(UNLINK) : 0) : "0";
	const long count = strtol(number, NULL, 10);
	int status;
	pid_t child;

	if (count < 1) {
		fprintf(stderr, "usage: kill_at [unlink:]COUNT COMMAND...\n");
		return 2;
	}
	child = fork();
	if (child == 0)
		become(argv + 2);
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, child, NULL, follow) ||
	    ptrace(PTRACE_SYSCALL, child, NULL, NULL)) {
		fprintf(stderr, "kill_at: processes cannot be traced here\n");
		return CANNOT;
	}
	printf("%ld\n", run(count, unlinks));
	/* What is traced dies with us; it must be dead before we have ended. */
	kill(-child, SIGKILL);
	while (waitpid(-1, &status, __WALL) > 0 || errno == EINTR)
		;
	return 0;
}
