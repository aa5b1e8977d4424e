/* SPDX-License-Identifier: MIT */
/* What is in a folder of spools: processes and ledgers. Nothing is delivered, nothing changes. One
 * thread. */
#ifndef RTL_CLI_INSPECT_H
#define RTL_CLI_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rtl/subscriber.h>

/* "CAUSE: N", each. */
struct inspected_causes {
	struct inspected_cause {
		char *cause;
		uint64_t count;
	} * list;
	size_t count;
};

struct inspected_stream {
	char *name;
	struct rtl_ledger ledger;                 /* abandoned: what is still undelivered */
	struct inspected_causes losses, left_out; /* left out: by the user's selection */
};

struct inspected_process {
	int32_t pid, parent_pid;
	bool alive;
	char *program, *command;
	struct inspected_stream *streams; /* in which something happened */
	size_t stream_count;
	struct rtl_waits waits;
};

struct inspection {
	struct inspected_process *processes;
	size_t count;
	char *interrupted; /* when the collector died; NULL: it did not */
	bool failed;       /* out of memory */
};

/** CLI_OK, or an exit status after a line. */
int inspect(const char *folder, struct inspection *inspection);
void inspection_fini(struct inspection *inspection);

#endif
