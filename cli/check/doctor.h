/* SPDX-License-Identifier: MIT */
/* What `rtl doctor` looks at. Each check tells what it found. One thread. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "cli.h"
#include "view.h"

struct launch;

enum doctor_level {
	DOCTOR_OK,
	DOCTOR_WARNING, /* it works, but not as well as it could, or only perhaps */
	DOCTOR_FAULT,   /* something will not work */
	DOCTOR_LEVELS
};

/* What rtl saw of a process of the command. */
struct doctor_process {
	int32_t pid;
	char *program;
	uint64_t hsa;        /* events of rtl.hsa: the HSA runtime has loaded rtl */
	uint64_t dispatches; /* ended */
	uint64_t copies;
	uint64_t hip; /* calls */
	uint64_t roctx;
	uint64_t others; /* events of all other streams */
};

struct doctor {
	struct view view; /* gets what is found */
	size_t counts[DOCTOR_LEVELS];
	char section[16]; /* of what is found next, for scripts, too */
	int facts;        /* a file for doctor.sh, children's too */

	/* The command's run. */
	bool ran;
	bool works; /* it used a GPU, and rtl saw that */
	struct doctor_process *processes;
	size_t process_count;
};

void doctor_fini(struct doctor *doctor);

void doctor_section(struct doctor *doctor, const char *section);
/** Tells what was found, a text that it frees; a remedy is one clause that says what to do, NULL: none is needed. */
void doctor_add(struct doctor *doctor, enum doctor_level level, const char *check,
		const char *remedy, char *text);
/** The same of a format. */
#define doctor_ok(doctor, check, ...)                                                              \
	doctor_add(doctor, DOCTOR_OK, check, NULL, cli_format(__VA_ARGS__))
#define doctor_fault(doctor, check, remedy, ...)                                                   \
	doctor_add(doctor, DOCTOR_FAULT, check, remedy, cli_format(__VA_ARGS__))
/** As doctor_fault, of a line that says what is wrong and, behind the first semicolon, what to do; else
 *  that is `remedy`. */
void doctor_fault_line(struct doctor *doctor, const char *check, const char *line,
		       const char *remedy);

/** Notes something for doctor.sh: a variable of it. The text is freed; doctor_fact: of a format. */
void doctor_add_fact(const struct doctor *doctor, const char *name, char *text);
#define doctor_fact(doctor, name, ...) doctor_add_fact(doctor, name, cli_format(__VA_ARGS__))
/** Tells what that part of doctor.sh says of the facts so far and of the machine. */
void doctor_script(struct doctor *doctor, const char *part);

/** Notes which runtimes there are, and whether they load rtl: doctor_runtime.c. */
void doctor_runtime(struct doctor *doctor, const struct launch *launch);

/** Runs the command of a prepared session as `rtl trace` does, and counts what it publishes. doctor_command.c, as the
 * next.
 * @return CLI_OK, or an exit status after a line */
int doctor_run(struct doctor *doctor, struct launch *launch);
/** What its file tells, and what was seen of it. */
void doctor_command(struct doctor *doctor, const struct launch *launch);
