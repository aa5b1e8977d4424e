/* SPDX-License-Identifier: MIT */
/* rtl doctor: what of a command is seen. A subscriber of our own counts events; there is one at a time, and it can be
 * given nothing. */
#include <inttypes.h>
#include <sys/wait.h>

#include <rtl/events.h>

#include "doctor.h"
#include "launch.h"

/* ---- counting ---- */

static struct doctor *into;

static struct doctor_process *process_of(int32_t pid)
{
	for (size_t i = into->process_count; i-- > 0;)
		if (into->processes[i].pid == pid)
			return &into->processes[i];
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
	for (size_t i = 0; i < count; i++) {
		struct doctor_process *p = process_of(events[i]->process->pid);

		if (p)
			count_event(p, events[i]);
	}
}

static int on_stream(void *instance, const struct rtl_stream_info *stream)
{
	collect_note_stream(instance, stream);
	return collect_host->subscribe(collect_host, stream, RTL_TYPE_ANY, RTL_BUFFERED, on_events,
				       NULL, NULL);
}

static int on_process(void *instance, const struct rtl_process *process)
{
	*CLI_ADD(into->processes, into->process_count) = (struct doctor_process){
		.pid = process->pid, .program = cli_need(strdup(cli_text(process->program)))};
	return 0;
}

static const struct rtl_subscriber subscriber =
	COLLECT_OWN("doctor", on_stream, on_process, run_ledger_finish);

static void note_losses(const struct doctor *doctor, const struct run_ledger *ledger)
{
	char *text = NULL;
	size_t size;
	FILE *out = cli_need(open_memstream(&text, &size));

	for (size_t i = 0; i < ledger->loss_count; i++)
		fprintf(out, "%s%s: %s", i ? ", " : "", ledger->losses[i].stream,
			ledger->losses[i].causes);
	fclose(out);
	doctor_fact(doctor, "losses", "%s", cli_text(text));
	free(text);
}

int doctor_run(struct doctor *doctor, struct launch *launch)
{
	struct session *session = &launch->session;
	int error, status = 0;

	into = doctor;
	session->output_to_stderr = true;
	session_set(session, "RTL_SESSION", launch->id);
	error = launch_run(launch,
			   (struct rtl_collector_options){
				   .kind = RTL_COLLECT, .subscribers = "", .own = &subscriber},
			   "count", &status);
	if (error)
		return error;
	doctor->ran = true;
	doctor_fact(doctor, "ran", "1");
	note_losses(doctor, &launch->collect.ledger);
	doctor_fact(doctor, "refused", "%u", launch->collect.refused);
	if (WIFSIGNALED(status))
		doctor_fact(doctor, "ended", "by a signal: %s", strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		doctor_fact(doctor, "ended", "with status %d", WEXITSTATUS(status));
	for (size_t i = 0; i < doctor->process_count; i++)
		doctor->works |= doctor->processes[i].hsa > 0;
	return CLI_OK;
}

/* ---- what was seen ---- */

/* Calls for doctor.sh. */
static void note_processes(const struct doctor *doctor)
{
	char *calls = NULL;
	size_t size;
	FILE *out = cli_need(open_memstream(&calls, &size));

	for (size_t i = 0; i < doctor->process_count; i++) {
		const struct doctor_process *p = &doctor->processes[i];
		char *program = cli_quote(p->program);

		fprintf(out,
			"judge_process %d %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			" %" PRIu64 " %" PRIu64 "\n",
			p->pid, program, p->hsa, p->dispatches, p->copies, p->hip, p->roctx,
			p->others);
		free(program);
	}
	fclose(out);
	doctor_fact(doctor, "processes", "%s", cli_text(calls));
	free(calls);
}

void doctor_command(struct doctor *doctor, const struct launch *launch)
{
	char file[PATH_MAX] = "";

	doctor_section(doctor, "command");
	(void)launch_find(launch->command[0], file);
	doctor_fact(doctor, "file", "%s", file);
	note_processes(doctor);
	doctor_script(doctor, "command");
}
