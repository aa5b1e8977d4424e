/* SPDX-License-Identifier: MIT */
/* rtl doctor: why tracing does not work here, or what will not, and what to do about it. */
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "doctor.h"
#include "embed.h"
#include "launch.h"
#include "library.h"

EMBED(doctor_sql, RTL_CLI "/check/doctor.sql");

#define SUBSCRIBERS "libsqlite_sub.so:libstats_sub.so"
#define MIB         (1024 * 1024ull)
#define BUDGET_MIB  (RTL_BUFFER_TOTAL_LEAST / MIB)
/* The first buffer of a thread, and what goes with it. */
#define FIRST_BUFFER_MIB (2 * RTL_BUFFER_SIZE_DEFAULT / MIB)

struct request {
	struct launch launch;
	bool as_json;
};

static void write_process(struct json *json, const struct doctor_process *p)
{
	json_print(json,
		   "{pid:%d program:%s hsa_tool:%i dispatches:%lu copies:%lu hip_calls:%lu"
		   " roctx:%lu other_events:%lu}",
		   p->pid, p->program, p->hsa > 0, p->dispatches, p->copies, p->hip, p->roctx,
		   p->others);
}

static int end(struct doctor *doctor)
{
	struct json *json = &doctor->view.json;

	json_print(json, "] faults:%lu warnings:%lu", doctor->counts[DOCTOR_FAULT],
		   doctor->counts[DOCTOR_WARNING]);
	if (doctor->ran) {
		json_array(json, "processes");
		for (size_t i = 0; i < doctor->process_count; i++)
			write_process(json, &doctor->processes[i]);
	}
	return view_end(&doctor->view, doctor_sql);
}

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
		doctor_fault(doctor, "mode", "fix what the message on standard error names",
			     "a session cannot be prepared");
}

/* ---- our own ---- */

static void look_at_rocm(struct doctor *doctor)
{
	char *path = library_beside_rtl(LIBRARY_ROCM);

	if (dlopen(path, RTLD_NOW | RTLD_LOCAL))
		doctor_ok(doctor, "librtl_rocm", "interceptors: %s", path);
	else if (access(path, F_OK))
		doctor_fault(doctor, "librtl_rocm",
			     "install the rtl that was built with ROCm's headers",
			     "no interceptors for ROCm: %s is missing", path);
	else
		doctor_fault(doctor, "librtl_rocm", "reinstall rtl",
			     "the interceptors for ROCm cannot be loaded: %s", dlerror());
	free(path);
}

static void look_at_subscriber(struct doctor *doctor, const char *spec)
{
	struct rtl_plugin *plugin;
	char message[4096];

	if (rtl_plugin_open(spec, &plugin, message, sizeof(message))) {
		doctor_fault_line(doctor, "subscriber", message,
				  "build it for this rtl, or take it out of RTL_SUBSCRIBERS");
		return;
	}
	doctor_ok(doctor, "subscriber", "subscriber %s %s: %s", rtl_plugin_subscriber(plugin)->name,
		  rtl_plugin_subscriber(plugin)->version, rtl_plugin_path(plugin));
	rtl_plugin_close(plugin);
}

static void look_at_libraries(struct doctor *doctor)
{
	const char *list = getenv("RTL_SUBSCRIBERS");
	char *copy = cli_need(strdup(list && *list ? list : SUBSCRIBERS)), *rest = copy, *spec;
	char *librtl = library_rtl(), self[PATH_MAX] = "";

	doctor_section(doctor, "libraries");
	doctor_ok(doctor, "librtl", "rtl %s: %s", rtl_version(), librtl);
	look_at_rocm(doctor);
	while ((spec = strsep(&rest, ":")))
		if (*spec)
			look_at_subscriber(doctor, spec);
	doctor_fact(doctor, "librtl", "%s", librtl);
	doctor_fact(doctor, "self", "%s", cli_text(realpath("/proc/self/exe", self)));
	doctor_fact(doctor, "subscribers", "%s", cli_text(list));
	doctor_script(doctor, "libraries");
	free(librtl);
	free(copy);
}

/* Makes a collector as `rtl trace` does; notes where. */
static void try_spool(struct doctor *doctor, const char *folder)
{
	const struct rtl_collector_options options = {
		.struct_size = sizeof(options),
		.kind = RTL_COLLECT,
		.subscribers = "",
		.folder = folder && *folder ? folder : NULL,
		.own = &collect_nothing,
		.paused = true,
	};
	struct rtl_collector *collector;
	char message[4096] = "";
	uint32_t left;

	unsetenv("RTL_SUBSCRIBERS");
	unsetenv("RTL_COLLECTOR");
	doctor_section(doctor, "permissions");
	if (rtl_collector_create(&options, &collector, message, sizeof(message))) {
		doctor_fault_line(doctor, "spool", message, "name another folder with RTL_SPOOL");
		return;
	}
	const char *made = rtl_collector_folder(collector);
	doctor_fact(doctor, "spool", "%.*s", (int)(strrchr(made, '/') - made), made);
	rtl_collector_finish(collector, &left);
	rtl_collector_destroy(collector);
}

static int examine(struct doctor *doctor, struct launch *launch)
{
	int status = CLI_OK;

	json_print(&doctor->view.json, "{version:%s checks:[", rtl_version());
	prepare(doctor, &launch->session);
	const bool prepared = !doctor->counts[DOCTOR_FAULT];
	doctor_fact(doctor, "mode", "%s", cli_text(session_mode(&launch->session)));
	doctor_fact(doctor, "source", "%s", cli_text(session_source(&launch->session)));
	doctor_fact(doctor, "no_rocm", "%s", cli_text(launch->session.no_rocm));
	look_at_libraries(doctor);
	/* Before the machine is judged: what the command can do here is no fault of it. */
	if (launch->command && prepared)
		status = doctor_run(doctor, launch);
	if (status == CLI_NOT_FOUND || status == CLI_CANNOT_RUN)
		return status;
	doctor_fact(doctor, "first_mib", "%d", (int)FIRST_BUFFER_MIB);
	doctor_fact(doctor, "budget_mib", "%d", (int)BUDGET_MIB);
	doctor_fact(doctor, "works", "%s", doctor->works ? "1" : "");
	doctor_runtime(doctor, launch);
	doctor_section(doctor, "runtime");
	doctor_script(doctor, "runtime");
	try_spool(doctor, launch->spool ? launch->spool : getenv("RTL_SPOOL"));
	doctor_script(doctor, "machine");
	if (launch->command)
		doctor_command(doctor, launch);
	status = end(doctor);
	return status ? status : doctor->counts[DOCTOR_FAULT] ? CLI_FAILED : CLI_OK;
}

static const struct cli_option options[] = {
	CLI_VALUE('m', "mode", "MODE", offsetof(struct request, launch.session.mode),
		  "what to record: " SESSION_MODES),
	SESSION_SOURCE_OPTION(offsetof(struct request, launch.session)),
	CLI_VALUE(0, "spool", "DIR", offsetof(struct request, launch.spool),
		  "folder in which the processes' events wait for rtl\n"
		  "(default: RTL_SPOOL, or memory)"),
	CLI_FLAG(0, "json", offsetof(struct request, as_json), "print JSON, for programs"),
};

static int run(void *user)
{
	struct request *request = user;
	struct launch *launch = &request->launch;
	struct doctor doctor = {.facts = memfd_create("facts", MFD_CLOEXEC)};
	int status, error;

	launch->command = launch->operands.command;
	error = launch->command ? launch_find(launch->command[0], NULL) : 0;
	if (error)
		return launch_refuse(launch->command[0], error);
	launch_make_id(launch);
	launch->collect.quiet = true;
	view_begin(&doctor.view, request->as_json);
	status = examine(&doctor, launch);
	doctor_fini(&doctor);
	launch_fini(launch);
	return status;
}

const struct cli_command cmd_doctor = {
	.name = "doctor",
	.operands = "[-- COMMAND [ARGUMENT]...]",
	.purpose = "Finds what would stop tracing here, and says how to fix it",
	.details =
		"Checks the runtimes, what loads from where, permissions, limits and the clock.\n"
		"Runs COMMAND to see what rtl sees of it; its standard output goes to standard\n"
		"error. Exit status 0: all is well; 1: something will not work.",
	CLI_OPTIONS(options),
	.request_size = sizeof(struct request),
	.operands_at = offsetof(struct request, launch.operands),
	.runs = CLI_RUNS_REST,
	.excess = ": a command to run stands behind --",
	.run = run,
};
