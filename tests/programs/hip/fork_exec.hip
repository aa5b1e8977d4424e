/* SPDX-License-Identifier: MIT */
/* fork_exec: uses HIP in children and in itself, in the orders that HIP allows:
 *
 *	before its own first HIP call, children by fork (two at once, one with a child of its
 *	own), by fork and exec, by vfork and exec, and by posix_spawn;
 *	then itself;
 *	then children by exec and posix_spawn again, and by fork ones that leave without HIP;
 *	then itself again.
 *
 * fork_exec forks: only the first ones by fork, and then itself.
 * fork_exec child: is what those execute: uses HIP and says nothing. */
#define PROGRAM "fork_exec"
#include "../check.h"
#include <cerrno>
#include <cstring>
#include <hip/hip_runtime.h>
#include <spawn.h>
#include <sys/wait.h>

extern "C" __global__ void fork_exec_count(unsigned *counters, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		counters[i]++;
}

static constexpr unsigned counter_count = 64, launches = 20;
static char *program;
static int children;

static void use_hip()
{
	unsigned counters[counter_count] = {};
	unsigned *gpu;

	CHECK_HIP(hipMalloc(&gpu, sizeof(counters)));
	CHECK_HIP(hipMemcpy(gpu, counters, sizeof(counters), hipMemcpyHostToDevice));
	for (unsigned i = 0; i < launches; i++)
		fork_exec_count<<<1, counter_count>>>(gpu, counter_count);
	CHECK_HIP(hipDeviceSynchronize());
	CHECK_HIP(hipMemcpy(counters, gpu, sizeof(counters), hipMemcpyDeviceToHost));
	for (unsigned i = 0; kernels_run() && i < counter_count; i++)
		if (counters[i] != launches)
			fail("process %d: counter %u differs: %u instead of %u", getpid(), i,
			     counters[i], launches);
	CHECK_HIP(hipFree(gpu));
	settle();
}

static void wait_for(pid_t child, const char *what)
{
	int status;

	CHECK(waitpid(child, &status, 0) == child);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail("%s: ended with %s %d", what, WIFEXITED(status) ? "status" : "signal",
		     WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	children++;
}

static pid_t checked(const char *what, pid_t child)
{
	if (child < 0)
		fail("%s: %s", what, strerror(errno));
	return child;
}

/* Forks a child that calls work and exits. */
static pid_t fork_child(void (*work)())
{
	pid_t child = checked("fork", fork());

	if (child == 0) {
		work();
		exit(0);
	}
	return child;
}

static void use_hip_after_own_child()
{
	wait_for(fork_child(use_hip), "child of a child");
	use_hip();
}

static void fork_users()
{
	pid_t first = fork_child(use_hip), second = fork_child(use_hip);

	wait_for(first, "first of two children");
	wait_for(second, "second of two children");
	wait_for(fork_child(use_hip_after_own_child), "child with a child");
}

static void execute_program()
{
	char child[] = "child";
	char *const arguments[] = {program, child, nullptr};
	extern char **environ;
	pid_t pid = checked("fork", fork());

	if (pid == 0) {
		execv(program, arguments);
		_exit(127);
	}
	wait_for(pid, "child by fork and exec");
	pid = vfork();
	if (pid == 0) {
		execv(program, arguments);
		_exit(127);
	}
	wait_for(checked("vfork", pid), "child by vfork and exec");
	CHECK(posix_spawn(&pid, program, nullptr, nullptr, arguments, environ) == 0);
	wait_for(pid, "child by posix_spawn");
}

static void leave_without_hip()
{
	pid_t child = checked("fork", fork());

	if (child == 0)
		_exit(0);
	wait_for(child, "child that leaves without HIP");
}

int main(int argc, char **argv)
{
	const bool forks_only = argc > 1 && !strcmp(argv[1], "forks");

	program = argv[0];
	if (argc > 1 && !strcmp(argv[1], "child")) {
		use_hip();
		return 0;
	}
	fork_users();
	if (forks_only) {
		use_hip();
	} else {
		execute_program();
		use_hip();
		execute_program();
		leave_without_hip();
		use_hip();
	}
	return finish("children=%d", children);
}
