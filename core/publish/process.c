/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bus.h"
#include "clock.h"
#include "files.h"

static char program[PATH_MAX];
static char command[8192];
static char host_name[256];
static char run[256];
static struct rtl_process own;

/* Reads the arguments with blanks in between; what does not fit is cut. */
static void read_command(void)
{
	ssize_t n = read_text("/proc/self/cmdline", command, sizeof(command));

	if (n < 0)
		n = 0;
	while (n > 0 && !command[n - 1])
		n--;
	for (ssize_t i = 0; i < n; i++)
		if (!command[i])
			command[i] = ' ';
	command[n] = 0;
}

/* The first of the variables that is set; NULL: none is. */
static const char *first_of(const char *const *variables, size_t n)
{
	const char *value = NULL;

	for (size_t i = 0; i < n && (!value || !*value); i++)
		value = getenv(variables[i]);
	return value && *value ? value : NULL;
}

/* As the launchers tell it; -1: none has. library/output/output_name.c knows the same. */
static int32_t read_rank(void)
{
	static const char *const variables[] = {
		"OMPI_COMM_WORLD_RANK", "PMIX_RANK",    "PMI_RANK",
		"MV2_COMM_WORLD_RANK",  "SLURM_PROCID", "RANK",
	};
	const char *value = first_of(variables, sizeof(variables) / sizeof(*variables));
	char *end;
	const long rank = value ? strtol(value, &end, 10) : -1;

	return !value || *end || rank < 0 || rank >= INT32_MAX ? -1 : (int32_t)rank;
}

/* A job's id by its launcher, else the session of this process's `rtl trace` or `rtl record`. What
 * does not fit is cut. */
static void read_run(void)
{
	static const char *const variables[] = {
		"SLURM_JOB_ID",   "PBS_JOBID", "LSB_JOBID",           "FLUX_JOB_ID",
		"PMIX_NAMESPACE", "JOB_ID",    "TORCHELASTIC_RUN_ID", "RTL_SESSION",
	};
	const char *value = first_of(variables, sizeof(variables) / sizeof(*variables));

	snprintf(run, sizeof(run), "%s", value ? value : "");
}

static void fill(void)
{
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	program[n < 0 ? 0 : n] = 0;
	read_command();
	read_run();
	if (gethostname(host_name, sizeof(host_name) - 1))
		host_name[0] = 0;
	own = (struct rtl_process){
		.struct_size = sizeof(own),
		.number = 1,
		.pid = getpid(),
		.parent_pid = getppid(),
		.start_ns = clock_ns(),
		.program = program,
		.command = command,
		.host_name = host_name,
		.spool_id = bus.spool.control ? bus.spool.control->spool_id : 0,
		.rank = read_rank(),
		.run = run,
	};
}

const struct rtl_process *process_self(void)
{
	if (!own.struct_size)
		fill();
	return &own;
}

void process_forget(void)
{
	own.struct_size = 0;
}
