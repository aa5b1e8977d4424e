/* SPDX-License-Identifier: MIT */
/* bus_collect CPU SUBSCRIBERS COMMAND...: runs COMMAND under a collector that has a process of its own, as `rtl trace`
 * does, on the CPU (-1: any). Prints, after COMMAND's own lines:
 *	collector NS	CPU time that it took, in all
 *	memory collector ... */
#include <sys/wait.h>
#include <unistd.h>

#include <rtl/collector.h>

#include "bus_bench.h"

static pid_t start(char **command, const char *folder)
{
	pid_t child = fork();

	if (child)
		return child;
	setenv("RTL_COLLECTOR", folder, 1);
	execv(command[0], command);
	perror(command[0]);
	_exit(127);
}

int main(int argc, char **argv)
{
	struct rtl_collector_options options = {.struct_size = sizeof(options),
						.kind = RTL_COLLECT};
	struct rtl_collector *collector;
	char message[512];
	uint64_t cpu_ns;
	uint32_t left;
	int status;
	pid_t child;

	if (argc < 4)
		return 2;
	options.subscribers = argv[2];
	options.folder = getenv("RTL_SPOOL");
	if (rtl_collector_create(&options, &collector, message, sizeof(message))) {
		fprintf(stderr, "bus_collect: %s\n", message);
		return 1;
	}
	child = start(argv + 3, rtl_collector_folder(collector));
	use_cpu(atoi(argv[1]));
	cpu_ns = bench_ns(CLOCK_PROCESS_CPUTIME_ID);
	while (!waitpid(child, &status, WNOHANG))
		rtl_collector_poll(collector, 20);
	rtl_collector_finish(collector, &left);
	printf("collector %llu\n",
	       (unsigned long long)(bench_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns));
	print_memory("collector");
	rtl_collector_destroy(collector);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
