/* SPDX-License-Identifier: MIT */
/*
 * host.c: a collector, and a recovery, as small as they can be.
 *
 *     recover_host collect BASE SUBSCRIBER    until SIGTERM; writes its folder to stdout; 3: a process was not met
 *     recover_host recover FOLDER SUBSCRIBER
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rtl/collector.h>

#include "../../programs/hang_guard.h"

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	stop = 1;
}

int main(int argc, char **argv)
{
	bool collects = argc == 4 && strcmp(argv[1], "collect") == 0;
	struct rtl_collector_options options = {
		.struct_size = sizeof(options),
		.kind = collects ? RTL_COLLECT : RTL_RECOVER,
		.folder = argc == 4 ? argv[2] : NULL,
		.subscribers = argc == 4 ? argv[3] : NULL,
	};
	struct sigaction action = {.sa_handler = on_signal};
	struct rtl_collector *collector;
	char message[1024] = "";
	const char *failure;
	uint32_t left;

	sigaction(SIGTERM, &action, NULL);
	if (rtl_collector_create(&options, &collector, message, sizeof(message))) {
		fprintf(stderr, "recover_host: %s\n", message);
		return 2;
	}
	if (collects) {
		printf("%s\n", rtl_collector_folder(collector));
		fflush(stdout);
		while (!stop)
			rtl_collector_poll(collector, 20);
	}
	rtl_collector_finish(collector, &left);
	failure = rtl_collector_failure(collector);
	if (failure)
		fprintf(stderr, "recover_host: %s\n", failure);
	rtl_collector_destroy(collector);
	return failure ? 4 : left ? 3 : 0;
}
