/* SPDX-License-Identifier: MIT */
/* harm_fork_first [rounds]: in each round a process that has not used rtl yet makes its first mark on one thread while
 * another one forks; the child makes a mark, too, and ends. A child that hangs is ended by an alarm. Prints
 * "harm_fork_first: ok". */
#define PROGRAM "harm_fork_first"
#include "../../programs/check.h"

#include <stdatomic.h>
#include <sys/wait.h>

#include "harm_stream.h"

#define CHILD_S 30

/* Of the preload, if it is there. */
#pragma weak roctxMarkA
void roctxMarkA(const char *message);

static atomic_bool begins;

static void mark(void)
{
	struct rtl_stream *stream = &rtl_stream_none;

	if (roctxMarkA)
		roctxMarkA("mark");
	CHECK(!rtl_stream_register(&harm_stream_info, &stream));
	harm_publish(stream);
}

static void *mark_first(void *data)
{
	begins = true;
	mark();
	return data;
}

static int wait_for(pid_t child)
{
	int status = 0;

	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	return status;
}

/* The fork comes a little later each time. */
static void run_round(int round)
{
	pthread_t thread;
	pid_t child;

	CHECK(!pthread_create(&thread, NULL, mark_first, NULL));
	while (!begins)
		;
	for (volatile int i = 0; i < round % 50 * 2000; i++)
		;
	child = fork();
	if (!child) {
		alarm(CHILD_S);
		mark();
		exit(0);
	}
	exit(wait_for(child) || pthread_join(thread, NULL));
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 100;

	for (int i = 0; i < rounds; i++) {
		const pid_t process = fork();
		int status;

		if (!process)
			run_round(i);
		status = wait_for(process);
		if (status)
			fail("in round %d a process ended with status 0x%x", i, (unsigned)status);
	}
	printf("harm_fork_first: ok\n");
	return 0;
}
