/* SPDX-License-Identifier: MIT */
/*
 * rtl doctor: what of a command is seen. A subscriber of our own counts events; there is one at a time, and
 * it can be given nothing.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <rtl/events.h>

#include "cli.h"
#include "database.h"
#include "doctor.h"
#include "launch.h"

/* ---- counting ---- */

#define STREAMS_MOST 256

static struct {
	struct doctor *into;
	const struct rtl_stream_info *streams[STREAMS_MOST];
	size_t stream_count;
} state;

static struct doctor_process *process_of(int32_t pid)
{
	for (size_t i = state.into->process_count; i-- > 0;)
		if (state.into->processes[i].pid == pid)
			return &state.into->processes[i];
	return NULL;
}

static void count_event(struct doctor_process *p, const struct rtl_event *event)
{
	const char *stream = event->stream->name;

	if (!strcmp(stream, RTL_STREAM_HSA)) {
		p->hsa++;
		p->dispatches += event->type == RTL_TASK_END;
	} else if (!strcmp(stream, RTL_STREAM_HSA_COPY)) {
		p->copies += event->type == RTL_TRANSFER_END;
	} else if (!strcmp(stream, RTL_STREAM_HIP_CALL_DEBUG)) {
		p->hip += event->type == RTL_FUNCTION_WITH_ARGS_END;
	} else if (!strcmp(stream, RTL_STREAM_ROCTX)) {
		p->roctx += event->type == RTL_REGION_END || event->type == RTL_SIGNAL;
	} else if (strcmp(stream, RTL_STREAM_HIP_CALL)) {
		p->others++;
	}
}

static void on_events(void *user, const struct rtl_event *const *events, size_t count)
{
	(void)user;
	for (size_t i = 0; i < count; i++) {
		struct doctor_process *p = process_of(events[i]->process->pid);

		if (p)
			count_event(p, events[i]);
	}
}

static int on_stream(void *instance, const struct rtl_stream_info *stream)
{
	(void)instance;
	if (state.stream_count < STREAMS_MOST)
		state.streams[state.stream_count++] = stream;
	return collect_host->subscribe(collect_host, stream, RTL_TYPE_ANY, RTL_BUFFERED, on_events,
				       NULL, NULL);
}

static int on_process(void *instance, const struct rtl_process *process)
{
	struct doctor *into = state.into;
	struct doctor_process *processes =
		reallocarray(into->processes, into->process_count + 1, sizeof(*processes));
	char *program = strdup(process->program ? process->program : "");

	(void)instance;
	if (processes)
		into->processes = processes;
	if (processes && program) {
		processes[into->process_count++] =
			(struct doctor_process){.pid = process->pid, .program = program};
		return 0;
	}
	free(program);
	into->failed = true;
	return 0;
}

struct losses {
	FILE *out;
	const char *stream;
};

static void add_loss(void *user, const char *cause, uint64_t count)
{
	const struct losses *losses = user;

	fprintf(losses->out, "%s%s: %" PRIu64 " %s", ftell(losses->out) ? ", " : "", losses->stream,
		count, cause);
}

static int on_finish(void *instance)
{
	struct losses losses;
	char *text = NULL;
	size_t size;

	(void)instance;
	losses.out = open_memstream(&text, &size);
	for (size_t i = 0; losses.out && i < state.stream_count; i++) {
		losses.stream = state.streams[i]->name;
		collect_host->losses(collect_host, NULL, state.streams[i], add_loss, &losses);
	}
	if (!losses.out || fclose(losses.out))
		state.into->failed = true;
	doctor_fact(state.into, "losses", "%s", cli_text(text));
	free(text);
	return 0;
}

static const struct rtl_subscriber subscriber =
	COLLECT_OWN("doctor", on_stream, on_process, on_finish);

int doctor_run(struct doctor *doctor, struct launch *launch)
{
	struct session *session = &launch->session;
	int error = launch_find(launch->command[0]), status;

	if (error)
		return launch_refuse(launch->command[0], error);
	memset(&state, 0, sizeof(state));
	state.into = doctor;
	session->output_to_stderr = true;
	status = session_set(session, "RTL_SESSION", launch->id);
	if (!status)
		status = collect_start(launch, (struct rtl_collector_options){
						       .kind = RTL_COLLECT,
						       .subscribers = "",
						       .own = &subscriber,
					       });
	if (status)
		return status;
	doctor_watch_children(doctor);
	error = launch_collected(launch, "count", &status);
	doctor_watch_end();
	if (error)
		return launch_refuse(launch->command[0], error);
	doctor->ran = true;
	doctor_fact(doctor, "ran", "1");
	doctor_fact(doctor, "refused", "%u", launch->collect.refused);
	if (WIFSIGNALED(status))
		doctor_fact(doctor, "ended", "by a signal: %s", strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		doctor_fact(doctor, "ended", "with status %d", WEXITSTATUS(status));
	for (size_t i = 0; i < doctor->process_count; i++)
		doctor->works |= doctor->processes[i].hsa > 0;
	return CLI_OK;
}

/* ---- what the file tells ---- */

#define CLASS_32 "rtl's libraries are for 64 bits, and the loader cannot load them there"

/* Whether who starts it gets other rights, as the loader decides it. */
static bool has_other_rights(const char *file, const struct stat *st)
{
	return (st->st_mode & S_ISUID && st->st_uid != getuid()) ||
	       (st->st_mode & S_ISGID && st->st_mode & S_IXGRP && st->st_gid != getgid()) ||
	       (getuid() && getxattr(file, "security.capability", NULL, 0) > 0);
}

/* Whether an ELF file for 64 bits names a loader; true where that cannot be seen. */
static bool names_loader(int fd, const Elf64_Ehdr *head)
{
	Elf64_Phdr part;

	for (unsigned i = 0; i < head->e_phnum; i++) {
		off_t at = (off_t)(head->e_phoff + (uint64_t)i * head->e_phentsize);

		if (pread(fd, &part, sizeof(part), at) != sizeof(part) || part.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static void look_at_file(struct doctor *doctor, const char *file, bool script_allowed);

/* "#!/usr/bin/python3 -B": what is run then. */
static void look_at_interpreter(struct doctor *doctor, char *line)
{
	char *name = line + strspn(line, " \t");

	name[strcspn(name, " \t\n")] = '\0';
	if (*name)
		look_at_file(doctor, name, false);
}

static void look_at_elf(struct doctor *doctor, const char *file, int fd, const Elf64_Ehdr *head)
{
	if (head->e_ident[EI_CLASS] == ELFCLASS32)
		doctor_fault(doctor, "program",
			     "build it for 64 bits; 64-bit programs that it starts are traced",
			     "%s is a program for 32 bits: " CLASS_32, file);
	else if (!names_loader(fd, head))
		doctor_warn(doctor, "program",
			    "link it dynamically; programs that it starts are traced",
			    "%s is linked statically: nothing can be loaded into it", file);
}

static void look_at_file(struct doctor *doctor, const char *file, bool script_allowed)
{
	union {
		Elf64_Ehdr elf;
		char text[PATH_MAX];
	} head;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t size;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	memset(&head, 0, sizeof(head));
	size = read(fd, &head, sizeof(head) - 1);
	if (size > 2 && !memcmp(head.text, "#!", 2) && script_allowed) {
		look_at_interpreter(doctor, head.text + 2);
	} else if (size >= (ssize_t)sizeof(Elf32_Ehdr) && !memcmp(head.text, ELFMAG, SELFMAG)) {
		if (has_other_rights(file, &st))
			doctor_fault(
				doctor, "program",
				"start it as its owner, or take the bit or the capability away "
				"from a copy",
				"%s runs with other rights than yours: it heeds none of rtl's "
				"variables, and the loader preloads nothing",
				file);
		look_at_elf(doctor, file, fd, &head.elf);
	}
	close(fd);
}

/* ---- what was seen ---- */

static void note_processes(const struct doctor *doctor)
{
	struct doctor_process all = {0};
	char *calls = NULL;
	size_t size;
	FILE *out = open_memstream(&calls, &size);

	for (size_t i = 0; out && i < doctor->process_count; i++) {
		const struct doctor_process *p = &doctor->processes[i];
		char *program = cli_quote(p->program);

		fprintf(out, "judge_process %d %s %" PRIu64 " '%s'\n", p->pid, cli_text(program),
			p->hip, p->hsa ? "1" : "");
		free(program);
		all.dispatches += p->dispatches;
		all.copies += p->copies;
		all.hip += p->hip;
		all.roctx += p->roctx;
		all.others += p->others;
	}
	if (out)
		fclose(out);
	doctor_fact(doctor, "processes", "%s", cli_text(calls));
	doctor_fact(doctor, "dispatches", "%" PRIu64, all.dispatches);
	doctor_fact(doctor, "copies", "%" PRIu64, all.copies);
	doctor_fact(doctor, "hip", "%" PRIu64, all.hip);
	doctor_fact(doctor, "roctx", "%" PRIu64, all.roctx);
	doctor_fact(doctor, "others", "%" PRIu64, all.others);
	free(calls);
}

/* Those that are not the command itself. */
static void look_at_children(struct doctor *doctor, const char *own)
{
	for (size_t i = 0; i < doctor->child_count; i++)
		if (!database_same_file(own, doctor->children[i]))
			look_at_file(doctor, doctor->children[i], false);
	if (doctor->hidden_children)
		doctor_fault(
			doctor, "program",
			"start what uses the GPU without it (sudo, su and their like)",
			"a program below the command runs with other rights than yours: it and "
			"what it starts heed none of rtl's variables");
}

void doctor_command(struct doctor *doctor, const struct launch *launch)
{
	char file[PATH_MAX] = "";

	doctor_section(doctor, "command");
	if (!launch_find_file(launch->command[0], file, sizeof(file)))
		look_at_file(doctor, file, true);
	look_at_children(doctor, file);
	note_processes(doctor);
	doctor_script(doctor, "command");
}
