/* SPDX-License-Identifier: MIT */
/* rtl doctor: which runtimes there are, and whether they load rtl. They are tried in a child, as they may crash, hang,
 * print, and never leave a process. What it finds it notes as facts. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor.h"
#include "launch.h"
#include "library.h"

#define LONGEST_S 30u

/* Of hsa.h, which is not there in a build without ROCm. */
#define HSA_SYSTEM_BUILD_VERSION 0x200
#define HSA_AGENT_NAME           0
#define HSA_AGENT_DEVICE         17
#define HSA_DEVICE_GPU           1
struct hsa_agent {
	uint64_t handle;
};
typedef int agent_ask(struct hsa_agent agent, int attribute, void *value);

static agent_ask *ask_agent; /* for callbacks of the runtime's */
static char gpu_names[512];
static unsigned gpus;

/* ---- in the child ---- */

/* Its file is noted, without symbolic links: its name has the version. */
static void *open_library(const struct doctor *doctor, const char *file, const char *name)
{
	void *handle = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
	char path[PATH_MAX], fact[32];
	struct link_map *map;

	snprintf(fact, sizeof(fact), "%s_%s", name, handle ? "path" : "error");
	if (!handle)
		doctor_fact(doctor, fact, "%s", dlerror());
	else if (!dlinfo(handle, RTLD_DI_LINKMAP, &map))
		doctor_fact(doctor, fact, "%s", realpath(map->l_name, path) ? path : map->l_name);
	return handle;
}

static int add_agent(struct hsa_agent agent, void *user)
{
	size_t used = strlen(gpu_names);
	char name[64] = "";
	int device = 0;

	if (ask_agent(agent, HSA_AGENT_DEVICE, &device) || device != HSA_DEVICE_GPU)
		return 0;
	(void)ask_agent(agent, HSA_AGENT_NAME, name);
	snprintf(gpu_names + used, sizeof(gpu_names) - used, "%s%.63s", used ? ", " : "", name);
	gpus++;
	return 0;
}

static void try_hsa(const struct doctor *doctor, const char *tool)
{
	void *handle = open_library(doctor, "libhsa-runtime64.so.1", "hsa");
	int (*init)(void) = handle ? (int (*)(void))dlsym(handle, "hsa_init") : NULL;
	int (*ask_system)(int attribute, void *value);
	int (*iterate)(int (*fn)(struct hsa_agent agent, void *user), void *user);
	const char *build = NULL;
	int status;

	if (!init)
		return;
	status = init();
	doctor_fact(doctor, "hsa_status", status ? "0x%x" : "%d", status);
	if (status)
		return;
	doctor_fact(doctor, "tool_loaded", "%s", dlopen(tool, RTLD_LAZY | RTLD_NOLOAD) ? "1" : "");
	*(void **)&ask_system = dlsym(handle, "hsa_system_get_info");
	*(void **)&ask_agent = dlsym(handle, "hsa_agent_get_info");
	*(void **)&iterate = dlsym(handle, "hsa_iterate_agents");
	if (ask_system && !ask_system(HSA_SYSTEM_BUILD_VERSION, (void *)&build) && build)
		doctor_fact(doctor, "hsa_build", "%s", build);
	if (ask_agent && iterate)
		(void)iterate(add_agent, NULL);
	doctor_fact(doctor, "gpus", "%u", gpus);
	doctor_fact(doctor, "gpu_names", "%s", gpu_names);
}

static void try_hip(const struct doctor *doctor)
{
	for (int i = 8; i >= 5; i--) {
		char file[32], name[32];
		int (*version)(int *), number = 0;
		void *handle;

		snprintf(file, sizeof(file), "libamdhip64.so.%d", i);
		snprintf(name, sizeof(name), "hip%d", i);
		handle = open_library(doctor, file, name);
		version = handle ? (int (*)(int *))dlsym(handle, "hipRuntimeGetVersion") : NULL;
		snprintf(name, sizeof(name), "hip%d_version", i);
		if (version && !version(&number))
			doctor_fact(doctor, name, "%d", number);
	}
}

static void ask_source(const struct doctor *doctor, const char *(*ask)(bool, bool *), bool is_asked,
		       int hip)
{
	bool is_runtime = false;
	const char *how = ask(is_asked, &is_runtime);
	char name[32];

	snprintf(name, sizeof(name), "source%d_%s", hip, is_asked ? "asked" : "left");
	doctor_fact(doctor, name, "%s", is_runtime ? "1" : "");
	strcat(name, "_how");
	doctor_fact(doctor, name, "%s", how);
}

static void set_variables(const struct session *session)
{
	for (size_t i = 0; i < session->variable_count; i++)
		setenv(session->variables[i].name, session->variables[i].value, 1);
}

/* Of one HIP, which is alone in its process: rtl itself says it, before HSA begins. */
static void try_source(const struct doctor *doctor, const char *tool, int hip)
{
	const char *(*ask)(bool is_asked, bool *is_runtime) = NULL;
	struct session other = {.source = "auto"};
	char file[32];
	void *handle;

	if (!session_prepare_source(&other))
		set_variables(&other);
	snprintf(file, sizeof(file), "libamdhip64.so.%d", hip);
	handle =
		dlopen(file, RTLD_LAZY | RTLD_GLOBAL) ? dlopen(tool, RTLD_LAZY | RTLD_LOCAL) : NULL;
	if (handle)
		*(void **)&ask = dlsym(handle, "rtl_publisher_source");
	if (ask) {
		ask_source(doctor, ask, true, hip);
		ask_source(doctor, ask, false, hip);
	}
}

/* As in a program that was started with what `rtl trace` sets; nothing is recorded. */
_Noreturn static void be_child(const struct doctor *doctor, const struct session *session,
			       const char *tool, int hip)
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
	if (hip) {
		try_source(doctor, tool, hip);
	} else {
		open_library(doctor, "librocprofiler-register.so.0", "register");
		try_hsa(doctor, tool);
		try_hip(doctor);
	}
	_exit(0);
}

/* ---- the children ---- */

/* A child for a HIP, or (0) for all runtimes; how it has ended. */
static int run_child(const struct doctor *doctor, const struct session *session, const char *tool,
		     int hip)
{
	const pid_t pid = tool ? fork() : -1;
	int status = 0;

	if (!pid)
		be_child(doctor, session, tool, hip);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

void doctor_runtime(struct doctor *doctor, const struct launch *launch)
{
	char *tool = library_beside_rtl(LIBRARY_ROCM);
	int status;

	fflush(NULL);
	status = run_child(doctor, &launch->session, tool, 0);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		doctor_fact(doctor, "probe_hangs", "%u", LONGEST_S);
	else if (WIFSIGNALED(status))
		doctor_fact(doctor, "probe_signal", "%s", strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		doctor_fact(doctor, "probe_status", "%d", WEXITSTATUS(status));
	for (int hip = 8; hip >= 5 && !launch->session.no_rocm; hip--)
		(void)run_child(doctor, &launch->session, tool, hip);
	free(tool);
}
