/* SPDX-License-Identifier: MIT */
/*
 * harm_fork_first [rounds]: in each round a process that has not used rtl yet makes its first mark
 * on one thread while another one forks; the child makes a mark, too, and ends. A child that hangs
 * is ended by an alarm. Prints "harm_fork_first: ok".
 */
#define PROGRAM "harm_fork_first"
#include "../programs/check.h"

#include <pthread.h>
#include <rtl/rtl.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_S 30

/* Of the preload, if it is there. */
#pragma weak roctxMarkA
void roctxMarkA(const char *message);

static const struct rtl_type_info types[] = {{
	.struct_size = sizeof(struct rtl_type_info),
	.type = RTL_TASK_END,
	.name = "task",
	.description = "something was done",
}};
static const struct rtl_stream_info info = {
	.struct_size = sizeof(info),
	.version_major = 1,
	.name = "harm.first",
	.description = "of a test",
	.types = types,
	.type_count = 1,
};
static atomic_bool begins;

static void mark(void)
{
	struct rtl_stream *stream = &rtl_stream_none;
	struct rtl_record *record = NULL;

	if (roctxMarkA)
		roctxMarkA("mark");
	CHECK(!rtl_stream_register(&info, &stream));
	if (rtl_enabled(stream, RTL_TASK_END))
		record = rtl_reserve(stream, RTL_TASK_END, 0);
	if (record)
		rtl_commit(record);
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
