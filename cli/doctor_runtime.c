/* SPDX-License-Identifier: MIT */
/*
 * rtl doctor: which runtimes there are, and whether they load rtl. They are tried in a child, as they may
 * crash, hang, print, and never leave a process. It writes what it finds to memory that is shared with it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor.h"
#include "launch.h"
#include "library.h"

#define HSA           "libhsa-runtime64.so.1"
#define REGISTER      "librocprofiler-register.so.0"
#define LONGEST_S     30u
#define HIPS_MOST     3
#define GPUS_TEXT_MAX 512
/* The versions that rtl is made for: major * 100 + minor. */
#define OLDEST 502
#define NEWEST 799

/* Of hsa.h, which is not there in a build without ROCm. */
#define HSA_SYSTEM_BUILD_VERSION 0x200
#define HSA_AGENT_NAME           0
#define HSA_AGENT_DEVICE         17
#define HSA_DEVICE_GPU           1
struct hsa_agent {
	uint64_t handle;
};
typedef int agent_ask(struct hsa_agent agent, int attribute, void *value);

struct found_library {
	char path[PATH_MAX]; /* "": not there */
	char error[512];
	int version; /* of HIP: as hipRuntimeGetVersion tells it; 0: not known */
};

/* What a source of work comes to with a HIP. */
struct found_source {
	bool known, is_runtime;
	char text[256]; /* how HIP is asked, or why not */
};

struct probe {
	struct found_library hsa, reg, hip[HIPS_MOST];
	char build[64]; /* of the HSA runtime */
	int status;     /* of hsa_init */
	bool initialised;
	unsigned gpus;
	char gpu_names[GPUS_TEXT_MAX];
	bool tool;                                             /* the HSA runtime has loaded rtl */
	struct found_source asked[HIPS_MOST], left[HIPS_MOST]; /* runtime, auto */
};

static struct probe *probe; /* one at a time: callbacks of the runtime's need it */
static agent_ask *ask_agent;

/* ---- in the child ---- */

/* The file, without symbolic links: its name has the version. */
static void *open_library(const char *name, struct found_library *into)
{
	void *handle = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
	struct link_map *map;

	if (!handle) {
		snprintf(into->error, sizeof(into->error), "%s", dlerror());
		return NULL;
	}
	if (!dlinfo(handle, RTLD_DI_LINKMAP, &map) && !realpath(map->l_name, into->path))
		snprintf(into->path, sizeof(into->path), "%s", map->l_name);
	return handle;
}

static int add_agent(struct hsa_agent agent, void *user)
{
	size_t used = strlen(probe->gpu_names);
	char name[64] = "";
	int device = 0;

	(void)user;
	if (ask_agent(agent, HSA_AGENT_DEVICE, &device) || device != HSA_DEVICE_GPU)
		return 0;
	(void)ask_agent(agent, HSA_AGENT_NAME, name);
	snprintf(probe->gpu_names + used, sizeof(probe->gpu_names) - used, "%s%.63s",
		 used ? ", " : "", name);
	probe->gpus++;
	return 0;
}

static void try_hsa(const char *tool)
{
	void *handle = open_library(HSA, &probe->hsa);
	int (*init)(void) = handle ? (int (*)(void))dlsym(handle, "hsa_init") : NULL;
	int (*ask_system)(int attribute, void *value);
	int (*iterate)(int (*fn)(struct hsa_agent agent, void *user), void *user);
	const char *build = NULL;

	if (!init)
		return;
	probe->status = init();
	probe->initialised = true;
	if (probe->status)
		return;
	probe->tool = dlopen(tool, RTLD_LAZY | RTLD_NOLOAD);
	ask_system = (int (*)(int, void *))dlsym(handle, "hsa_system_get_info");
	ask_agent = (agent_ask *)dlsym(handle, "hsa_agent_get_info");
	iterate = (int (*)(int (*)(struct hsa_agent, void *), void *))dlsym(handle,
									    "hsa_iterate_agents");
	if (ask_system && !ask_system(HSA_SYSTEM_BUILD_VERSION, (void *)&build) && build)
		snprintf(probe->build, sizeof(probe->build), "%.*s",
			 (int)strcspn(build + (*build == '"'), "-\""), build + (*build == '"'));
	if (ask_agent && iterate)
		(void)iterate(add_agent, NULL);
}

static void try_hip(void)
{
	static const char *const names[HIPS_MOST] = {"libamdhip64.so.7", "libamdhip64.so.6",
						     "libamdhip64.so.5"};

	for (size_t i = 0; i < HIPS_MOST; i++) {
		void *handle = open_library(names[i], &probe->hip[i]);
		int (*version)(int *) =
			handle ? (int (*)(int *))dlsym(handle, "hipRuntimeGetVersion") : NULL;

		if (version)
			(void)version(&probe->hip[i].version);
	}
}

static void ask_source(const char *(*ask)(bool, bool *), bool is_asked, struct found_source *into)
{
	snprintf(into->text, sizeof(into->text), "%s", ask(is_asked, &into->is_runtime));
	into->known = true;
}

static void set_variables(const struct session *session)
{
	for (size_t i = 0; i < session->variable_count; i++)
		setenv(session->variables[i].name, session->variables[i].value, 1);
}

/* As in a program that was started with what `rtl trace` sets; nothing is recorded. */
static void begin_child(const struct session *session)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	set_variables(session);
	unsetenv("RTL_SUBSCRIBERS");
	unsetenv("RTL_COLLECTOR");
	signal(SIGALRM, SIG_DFL);
	alarm(LONGEST_S);
}

/* Of one HIP, which is alone in its process: rtl itself says it, before HSA begins. */
_Noreturn static void be_source_child(const struct session *session, const char *tool, size_t hip)
{
	struct session other = {.source = "auto"};
	void *handle;

	begin_child(session);
	if (!session_prepare_source(&other))
		set_variables(&other);
	handle = dlopen(probe->hip[hip].path, RTLD_LAZY | RTLD_GLOBAL)
			 ? dlopen(tool, RTLD_LAZY | RTLD_LOCAL)
			 : NULL;
	const char *(*ask)(bool, bool *) =
		handle ? (const char *(*)(bool, bool *))dlsym(handle, "rtl_publisher_source")
		       : NULL;

	if (ask) {
		ask_source(ask, true, &probe->asked[hip]);
		ask_source(ask, false, &probe->left[hip]);
	}
	_exit(0);
}

_Noreturn static void be_child(const struct session *session, const char *tool)
{
	begin_child(session);
	if (open_library(REGISTER, &probe->reg))
		probe->reg.error[0] = '\0';
	try_hsa(tool);
	try_hip();
	_exit(0);
}

/* ---- what it means ---- */

/* major * 100 + minor; 0: not known. HIP tells it; AMD's packages have it in the file's name, too:
 * libhsa-runtime64.so.1.18.70204. */
static int rocm_version(void)
{
	const char *dot = strrchr(probe->hsa.path, '.');
	long number = dot ? strtol(dot + 1, NULL, 10) : 0;

	if (number >= 50000)
		return (int)(number / 100);
	for (size_t i = 0; i < HIPS_MOST; i++)
		if (probe->hip[i].version)
			return probe->hip[i].version / 10000000 * 100 +
			       probe->hip[i].version / 100000 % 100;
	return 0;
}

static void judge_version(struct doctor *doctor)
{
	const int version = rocm_version();

	if (!version)
		return;
	if (version < OLDEST || version > NEWEST)
		doctor_warn(doctor, "version", "use ROCm 5.2 to 7.x, or try it with a command",
			    "this is ROCm %d.%d: rtl was made for 5.2 to 7.x", version / 100,
			    version % 100);
	else if (version == 702)
		doctor_warn(
			doctor, "version",
			"nothing is to be done for most programs; if one crashes under rtl only, "
			"use another version of ROCm",
			"ROCm 7.2 has a fault in its intercept queues: programs that take more "
			"than 256 "
			"places of a queue at once may crash under any tracer");
	else
		doctor_ok(doctor, "version", "ROCm %d.%d", version / 100, version % 100);
}

static void judge_gpus(struct doctor *doctor)
{
	doctor->has_gpu = probe->gpus > 0;
	if (!probe->initialised)
		return;
	if (probe->gpus) {
		doctor_ok(doctor, "gpu", "%u GPU%s: %s", probe->gpus, probe->gpus > 1 ? "s" : "",
			  probe->gpu_names);
	} else if (doctor->works) {
		doctor_ok(doctor, "gpu", "no GPU is found here, but the command has one");
	} else if (probe->status) {
		doctor_fault(
			doctor, "gpu", "see the devices below",
			"the HSA runtime cannot start (hsa_init: 0x%x): no program can use a GPU",
			(unsigned)probe->status);
	} else {
		doctor_fault(doctor, "gpu",
			     "see the devices below, and ROCR_VISIBLE_DEVICES if it is set",
			     "the HSA runtime finds no GPU");
	}
}

static void judge_tool(struct doctor *doctor, const struct session *session)
{
	if (session->no_rocm)
		return;
	if (!probe->initialised || probe->status)
		doctor_warn(doctor, "hsa_tool", "try it again where the HSA runtime starts",
			    "whether the HSA runtime loads rtl is not known: it does not start");
	else if (probe->tool)
		doctor_ok(doctor, "hsa_tool", "the HSA runtime loads rtl by HSA_TOOLS_LIB%s",
			  *probe->reg.path
				  ? ", which HSA_TOOLS_ROCPROFILER_V1_TOOLS=1 keeps on beside "
				    "librocprofiler-register"
				  : "");
	else
		doctor_fault(
			doctor, "hsa_tool",
			"use mode hip, which preloads it, or a runtime that was built with tools",
			"the HSA runtime does not honour HSA_TOOLS_LIB: dispatches and copies "
			"are not seen");
}

static void judge_hsa(struct doctor *doctor, const struct session *session)
{
	if (!*probe->hsa.path) {
		const char *remedy =
			"install ROCm's runtime (hsa-rocr, libhsa-runtime64-1), or name "
			"its folder in LD_LIBRARY_PATH or /etc/ld.so.conf.d";

		if (doctor->works)
			doctor_warn(doctor, "hsa_runtime", remedy,
				    "the loader finds no HSA runtime here; the command does");
		else
			doctor_fault(doctor, "hsa_runtime", remedy, "no HSA runtime: %s",
				     probe->hsa.error);
		return;
	}
	doctor_ok(doctor, "hsa_runtime", "HSA runtime %s: %s",
		  *probe->build ? probe->build : "of unknown version", probe->hsa.path);
	judge_gpus(doctor);
	judge_tool(doctor, session);
}

/* "HIP 7.2.53211" */
static void name_hip(const struct found_library *hip, char *text, size_t size)
{
	if (hip->version)
		snprintf(text, size, "HIP %d.%d.%d", hip->version / 10000000,
			 hip->version / 100000 % 100, hip->version % 100000);
	else
		snprintf(text, size, "%s", hip->path);
}

static void judge_hip(struct doctor *doctor)
{
	size_t count = 0;

	for (size_t i = 0; i < HIPS_MOST; i++) {
		const struct found_library *hip = &probe->hip[i];
		char name[PATH_MAX];

		if (!*hip->path)
			continue;
		count++;
		name_hip(hip, name, sizeof(name));
		doctor_ok(doctor, "hip_runtime", "%s: %s",
			  hip->version ? name : "HIP of unknown version", hip->path);
	}
	if (!count)
		doctor_warn(doctor, "hip_runtime",
			    "install it (hip-runtime-amd, libamdhip64), unless programs bring "
			    "their own",
			    "the loader finds no HIP runtime: libamdhip64.so.5, .6 or .7");
	if (count > 1)
		doctor_warn(doctor, "hip_runtime", "see by `ldd PROGRAM` which one it takes",
			    "the loader finds %zu versions of HIP", count);
}

/* Whether work can be learnt from HIP itself, and what `auto` takes. */
static void judge_source(struct doctor *doctor, const struct session *session)
{
	const char *source = session_source(session);
	const bool is_asked = source && !strcmp(source, "runtime");

	for (size_t i = 0; i < HIPS_MOST; i++) {
		const struct found_source *asked = &probe->asked[i], *left = &probe->left[i];
		char hip[PATH_MAX];

		if (!asked->known)
			continue;
		name_hip(&probe->hip[i], hip, sizeof(hip));
		if (asked->is_runtime && left->is_runtime)
			doctor_ok(doctor, "source",
				  "with %s the sources queue and runtime (%s) are "
				  "possible, and auto takes runtime",
				  hip, asked->text);
		else if (asked->is_runtime)
			doctor_ok(doctor, "source",
				  "with %s the sources queue and runtime (%s) are "
				  "possible, and auto takes queue: %s",
				  hip, asked->text, left->text);
		else if (is_asked)
			doctor_fault(doctor, "source", "use --source queue, or auto",
				     "with %s the source runtime is not possible: %s", hip,
				     asked->text);
		else
			doctor_ok(doctor, "source",
				  "with %s the source queue is possible, and "
				  "auto takes it; runtime is not: %s",
				  hip, asked->text);
	}
}

static void judge_end(struct doctor *doctor, int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		doctor_fault(doctor, "probe",
			     "try `rocminfo`: if that hangs as well, it is not rtl's doing",
			     "the runtime does not answer within %u s", LONGEST_S);
	else if (WIFSIGNALED(status))
		doctor_fault(doctor, "probe",
			     "try `rocminfo`: if that crashes as well, it is not rtl's doing",
			     "the runtime crashes when it starts: %s", strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		doctor_fault(doctor, "probe", "try `rocminfo`",
			     "the runtime ends the process: status %d", WEXITSTATUS(status));
}

/* Its exit status, as waitpid gives it; or -1, errno. */
static int wait_for(pid_t pid)
{
	int status = 0;

	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void try_sources(const struct session *session, const char *tool)
{
	for (size_t i = 0; i < HIPS_MOST; i++) {
		pid_t pid;

		if (!*probe->hip[i].path || session->no_rocm)
			continue;
		pid = fork();
		if (!pid)
			be_source_child(session, tool, i);
		(void)wait_for(pid);
	}
}

void doctor_runtime(struct doctor *doctor, const struct launch *launch)
{
	char *tool = library_beside_rtl(LIBRARY_ROCM);
	int status;
	pid_t pid;

	doctor_section(doctor, "runtime");
	probe = mmap(NULL, sizeof(*probe), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (!tool || probe == MAP_FAILED) {
		doctor->failed = true;
		free(tool);
		return;
	}
	fflush(NULL);
	pid = fork();
	if (!pid)
		be_child(&launch->session, tool);
	status = wait_for(pid);
	if (status >= 0) {
		try_sources(&launch->session, tool);
		judge_end(doctor, status);
		judge_hsa(doctor, &launch->session);
		judge_hip(doctor);
		judge_version(doctor);
		judge_source(doctor, &launch->session);
	} else {
		doctor_fault(doctor, "probe", "end other processes", "no process can be made: %s",
			     strerror(errno));
	}
	munmap(probe, sizeof(*probe));
	free(tool);
}
