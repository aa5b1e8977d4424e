/* SPDX-License-Identifier: MIT */
/* rtl doctor: why tracing does not work here, or what will not, and what to do about it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rtl/types.h>

#include "cli.h"
#include "doctor.h"
#include "json.h"
#include "launch.h"

struct request {
	struct launch launch;
	bool as_json;
};

static const char *const levels[] = {"ok", "warning", "fault"};

static size_t count_of(const struct doctor *doctor, enum doctor_level level)
{
	size_t count = 0;

	for (size_t i = 0; i < doctor->count; i++)
		count += doctor->findings[i].level == level;
	return count;
}

/* ---- text ---- */

static void print(const struct doctor *doctor)
{
	const char *section = "";
	const size_t faults = count_of(doctor, DOCTOR_FAULT);
	const size_t warnings = count_of(doctor, DOCTOR_WARNING);

	for (size_t i = 0; i < doctor->count; i++) {
		const struct doctor_finding *f = &doctor->findings[i];

		if (strcmp(section, f->section))
			cli_line("%s", f->section);
		section = f->section;
		cli_line("  %-9s%s%s%s", levels[f->level], f->text, f->remedy ? "; " : "",
			 f->remedy ? f->remedy : "");
	}
	cli_line("%zu fault%s, %zu warning%s", faults, faults == 1 ? "" : "s", warnings,
		 warnings == 1 ? "" : "s");
}

/* ---- JSON ---- */

static void print_process_json(struct json *json, const struct doctor_process *p)
{
	json_object(json, NULL);
	json_number(json, "pid", (uint64_t)p->pid);
	json_text(json, "program", p->program);
	json_bool(json, "hsa_tool", p->hsa > 0);
	json_number(json, "dispatches", p->dispatches);
	json_number(json, "copies", p->copies);
	json_number(json, "hip_calls", p->hip);
	json_number(json, "roctx", p->roctx);
	json_number(json, "other_events", p->others);
	json_end(json);
}

static void print_json(const struct doctor *doctor)
{
	struct json json = {.file = stdout};

	json_object(&json, NULL);
	json_text(&json, "version", rtl_version());
	json_number(&json, "faults", count_of(doctor, DOCTOR_FAULT));
	json_number(&json, "warnings", count_of(doctor, DOCTOR_WARNING));
	json_array(&json, "checks");
	for (size_t i = 0; i < doctor->count; i++) {
		const struct doctor_finding *f = &doctor->findings[i];

		json_object(&json, NULL);
		json_text(&json, "section", f->section);
		json_text(&json, "check", f->check);
		json_text(&json, "level", levels[f->level]);
		json_text(&json, "text", f->text);
		json_text(&json, "remedy", f->remedy);
		json_end(&json);
	}
	json_end(&json);
	if (doctor->ran) {
		json_array(&json, "processes");
		for (size_t i = 0; i < doctor->process_count; i++)
			print_process_json(&json, &doctor->processes[i]);
		json_end(&json);
	}
	json_end(&json);
}

/* ---- */

/* As `rtl trace` prepares it; what cannot be had has been said on stderr. */
static void prepare(struct doctor *doctor, struct session *session)
{
	int status;

	session->default_mode = RTL_TRACE_MODE;
	doctor_section(doctor, "settings");
	status = session_prepare_mode(session);
	if (!status)
		status = session_prepare_runtime(session);
	if (!status)
		doctor_ok(doctor, "mode", "mode %s", session_mode(session));
	else
		doctor_fault(doctor, "mode", "mend what the line on standard error names",
			     "a session cannot be prepared");
}

static int examine(struct doctor *doctor, struct request *request)
{
	struct launch *launch = &request->launch;
	int status = CLI_OK;

	prepare(doctor, &launch->session);
	const bool prepared = !count_of(doctor, DOCTOR_FAULT);
	doctor_libraries(doctor);
	/* Before the machine is judged: what the command can do here is no fault of it. */
	if (launch->command && prepared)
		status = doctor_run(doctor, launch);
	if (status == CLI_NOT_FOUND || status == CLI_CANNOT_RUN)
		return status;
	doctor_runtime(doctor, launch);
	doctor_machine(doctor, launch);
	if (launch->command)
		doctor_command(doctor, launch);
	if (doctor->failed)
		return cli_failed("out of memory");
	if (request->as_json)
		print_json(doctor);
	else
		print(doctor);
	status = cli_finish_output();
	return status ? status : count_of(doctor, DOCTOR_FAULT) ? CLI_FAILED : CLI_OK;
}

static const struct cli_option options[] = {
	CLI_VALUE('m', "mode", "MODE", offsetof(struct request, launch.session.mode),
		  "what is to be collected: " SESSION_MODES),
	SESSION_SOURCE_OPTION(offsetof(struct request, launch.session)),
	CLI_VALUE(0, "spool", "DIR", offsetof(struct request, launch.spool),
		  "folder in which the processes' events wait for rtl\n"
		  "(default: RTL_SPOOL, or memory)"),
	CLI_FLAG(0, "json", offsetof(struct request, as_json), "print JSON, for programs"),
};

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct request request = {0};
	struct doctor doctor = {0};
	int status = cli_read(command, argc, argv, &request);

	if (status >= 0)
		return status;
	request.launch.command = request.launch.operands.command;
	launch_make_id(&request.launch);
	request.launch.collect.quiet = true;
	status = examine(&doctor, &request);
	doctor_fini(&doctor);
	launch_fini(&request.launch);
	return status;
}

const struct cli_command cmd_doctor = {
	.name = "doctor",
	.operands = "[-- COMMAND [ARGUMENT]...]",
	.purpose = "Says what of tracing will not work here, and what to do",
	.details =
		"Looks at the runtimes, what loads from where, permissions, limits and the clock.\n"
		"COMMAND is run, to see what rtl sees of it; its standard output goes to standard\n"
		"error. Exit status 0: all is well; 1: something will not work.",
	CLI_OPTIONS(options),
	.operands_at = offsetof(struct request, launch.operands),
	.runs = CLI_RUNS_REST,
	.excess = ": a command to run stands behind --",
	.run = run,
};
