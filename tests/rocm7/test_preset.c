/* SPDX-License-Identifier: MIT */
/*
 * test_preset: a process that has ROCr's model mode in it can fork, however long the arrays are. The length
 * here is one for which both fit into the memory, and not the two together.
 */
#include "rocr_like.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	const size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	int status;
	pid_t child;

	if (!rocr_like_allocate(memory / 17 * 2)) {
		fprintf(stderr, "SKIPPED: no room for %zu bytes\n", memory / 17 * 2);
		return 77;
	}
	child = fork();
	if (child == 0)
		_exit(0);
	if (child < 0 || waitpid(child, &status, 0) != child || status) {
		fprintf(stderr, "no child: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}
