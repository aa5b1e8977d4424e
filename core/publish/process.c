/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "bus.h"
#include "clock.h"
#include "futex.h"
#include "hash.h"
#include "thread.h"

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

/* A job's id by its launcher, else the session of its `rtl trace` or `rtl record`; cut to fit. */
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

/* ---- what is loaded into it */

/* Longest wait for the lock: its holder may be in the loader. */
#define LOCK_MS 1000u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool loaded_lock(void)
{
	const struct timespec until = deadline_in(CLOCK_REALTIME, LOCK_MS);

	return !pthread_mutex_timedlock(&lock, &until);
}

void loaded_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void loaded_reopen(bool held)
{
	if (held)
		pthread_mutex_unlock(&lock);
	else
		pthread_mutex_init(&lock, NULL);
}

struct module_search {
	uintptr_t address;
	struct module *out;
};

/* Hash of the GNU build id among the notes of a segment; 0 if there is none. */
static uint64_t build_id_in(const char *notes, size_t size)
{
	size_t at = 0;

	while (at + sizeof(ElfW(Nhdr)) <= size) {
		const ElfW(Nhdr) *note = (const void *)(notes + at);
		size_t name = at + sizeof(*note), desc = name + ((note->n_namesz + 3u) & ~3u);

		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4))
			return hash_finish(hash_bytes(0, notes + desc, note->n_descsz));
		at = desc + ((note->n_descsz + 3u) & ~3u);
	}
	return 0;
}

static int match_module(struct dl_phdr_info *info, size_t size, void *user)
{
	struct module_search *search = user;
	bool inside = false;
	uint64_t id = 0;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && search->address - at < ph->p_memsz)
			inside = true;
		if (ph->p_type == PT_NOTE && !id)
			id = build_id_in((const char *)at, ph->p_memsz);
	}
	if (!inside)
		return 0;
	search->out->path =
		info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "(main program)";
	search->out->build_id =
		id ? id : hash_finish(hash_bytes(0, search->out->path, strlen(search->out->path)));
	search->out->offset = search->address - info->dlpi_addr;
	return 1;
}

struct module loaded_module(const void *code)
{
	struct module module = {0, 0, ""};
	struct module_search search = {(uintptr_t)code, &module};
	bool locked;

	if (!code)
		return module;
	bus_note_begin();
	thread_locked++;
	locked = loaded_lock();
	if (!dl_iterate_phdr(match_module, &search))
		module.offset = (uintptr_t)code; /* generated code: no better name for it */
	if (locked)
		loaded_unlock();
	thread_locked--;
	return module;
}
