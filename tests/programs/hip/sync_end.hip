/* SPDX-License-Identifier: MIT */
/*
 * sync_end ROUNDS KERNELS SYNC END: ROUNDS children, one after the other, each of which launches
 * KERNELS kernels, waits for them in the way SYNC, and ends at once in the way END. The parent, which
 * does not use HIP, checks how they have ended.
 *
 * SYNC: stream, device, event (their synchronize functions), late (stream's, when all has ended by
 * itself), query, event_query (until it says so), copy (hipMemcpy to the host), free (hipFree).
 * END: abort, kill, _exit, _Exit, quick_exit; execv, execve, execvp, execvpe, execl, execlp, execle,
 * fexecve, execveat, of true(1); vfork_exec, whose child of vfork executes a program that is not
 * there, and ends by _exit, before the process itself does; handler, which is abort with a handler
 * that ends by _exit; spawn, by _exit behind a posix_spawn.
 */
#define PROGRAM "sync_end"
#include "../check.h"
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <hip/hip_runtime.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

extern "C" __global__ void sync_end_count(unsigned *counter)
{
	if (!threadIdx.x)
		++*counter;
}

static void synchronize(const char *how, hipStream_t stream, hipEvent_t event, unsigned *counter)
{
	unsigned value;
	hipError_t status = hipErrorNotReady;

	if (!strcmp(how, "late"))
		usleep(300);
	if (!strcmp(how, "stream") || !strcmp(how, "late"))
		CHECK_HIP(hipStreamSynchronize(stream));
	else if (!strcmp(how, "device"))
		CHECK_HIP(hipDeviceSynchronize());
	else if (!strcmp(how, "event"))
		CHECK_HIP(hipEventSynchronize(event));
	else if (!strcmp(how, "copy"))
		CHECK_HIP(hipMemcpy(&value, counter, sizeof(value), hipMemcpyDeviceToHost));
	else if (!strcmp(how, "free"))
		CHECK_HIP(hipFree(counter));
	else if (!strcmp(how, "query"))
		while (status == hipErrorNotReady)
			status = hipStreamQuery(stream);
	else if (!strcmp(how, "event_query"))
		while (status == hipErrorNotReady)
			status = hipEventQuery(event);
	else
		fail("unknown way to wait: %s", how);
}

static void on_abort(int)
{
	_exit(0);
}

/* What only ends a child of vfork, which has the process's memory. */
static void end_in_vfork()
{
	const pid_t child = vfork();
	int status;

	if (!child) {
		execl("/nonexistent/true", "true", static_cast<char *>(nullptr));
		_exit(3);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static void spawn()
{
	char *const argv[] = {const_cast<char *>("true"), nullptr};
	pid_t child;
	int status;

	CHECK(!posix_spawn(&child, "/bin/true", nullptr, nullptr, argv, environ));
	CHECK(waitpid(child, &status, 0) == child && !status);
}

static void execute(const char *way)
{
	char *const argv[] = {const_cast<char *>("true"), nullptr};
	char *const end = nullptr;
	const int file = open("/bin/true", O_RDONLY | O_CLOEXEC);

	if (!strcmp(way, "execv"))
		execv("/bin/true", argv);
	else if (!strcmp(way, "execve"))
		execve("/bin/true", argv, environ);
	else if (!strcmp(way, "execvp"))
		execvp("true", argv);
	else if (!strcmp(way, "execvpe"))
		execvpe("true", argv, environ);
	else if (!strcmp(way, "execl"))
		execl("/bin/true", "true", end);
	else if (!strcmp(way, "execlp"))
		execlp("true", "true", end);
	else if (!strcmp(way, "execle"))
		execle("/bin/true", "true", end, environ);
	else if (!strcmp(way, "fexecve"))
		fexecve(file, argv, environ);
	else if (!strcmp(way, "execveat"))
		execveat(file, "", argv, environ, AT_EMPTY_PATH);
	fail("cannot execute: %s", way);
}

static void end(const char *way)
{
	if (!strcmp(way, "handler"))
		signal(SIGABRT, on_abort);
	if (!strcmp(way, "abort") || !strcmp(way, "handler"))
		abort();
	if (!strcmp(way, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(way, "vfork_exec"))
		end_in_vfork();
	if (!strcmp(way, "spawn"))
		spawn();
	if (!strcmp(way, "_exit") || !strcmp(way, "vfork_exec") || !strcmp(way, "spawn"))
		_exit(0);
	if (!strcmp(way, "_Exit"))
		_Exit(0);
	if (!strcmp(way, "quick_exit"))
		quick_exit(0);
	execute(way);
}

static void work(long kernels, const char *sync, const char *way)
{
	hipStream_t stream;
	hipEvent_t event;
	unsigned *counter;

	CHECK_HIP(hipMalloc(&counter, sizeof(*counter)));
	CHECK_HIP(hipStreamCreate(&stream));
	CHECK_HIP(hipEventCreate(&event));
	for (long i = 0; i < kernels; i++)
		sync_end_count<<<1, 64, 0, stream>>>(counter);
	CHECK_HIP(hipGetLastError());
	CHECK_HIP(hipEventRecord(event, stream));
	synchronize(sync, stream, event, counter);
	end(way);
}

int main(int argc, char **argv)
{
	const long rounds = number_arg(argc, argv, 1, 1);
	const long kernels = number_arg(argc, argv, 2, 1);
	const char *sync = argc > 3 ? argv[3] : "stream";
	const char *way = argc > 4 ? argv[4] : "abort";

	for (long i = 0; i < rounds; i++) {
		const pid_t child = fork();
		int status = 0;

		if (!child)
			work(kernels, sync, way);
		CHECK(child > 0 && waitpid(child, &status, 0) == child);
		if (!strcmp(way, "abort"))
			CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
		else if (!strcmp(way, "kill"))
			CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		else
			CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	}
	return finish("rounds=%ld kernels=%ld sync=%s end=%s", rounds, kernels, sync, way);
}
