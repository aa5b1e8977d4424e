/* SPDX-License-Identifier: MIT */
/* See inspect.h. The library calls a subscriber of our own, which never subscribes to anything. */
#include "inspect.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "collect.h"
#include "folders.h"

/* What the subscriber knows. */
static struct {
	struct inspection *into;
	const struct rtl_process **processes;
	size_t process_count;
	const struct rtl_stream_info **streams;
	size_t stream_count;
} state;

/* Makes room for one more element; false: out of memory. */
static bool grow(void *array, size_t count, size_t size)
{
	void **at = array, *larger = reallocarray(*at, count + 1, size);

	if (larger)
		*at = larger;
	else
		state.into->failed = true;
	return larger != NULL;
}

static char *copy(const char *text)
{
	char *copied = strdup(text ? text : "");

	state.into->failed |= !copied;
	return copied;
}

static void add_cause(void *user, const char *cause, uint64_t count)
{
	struct inspected_causes *causes = user;

	if (grow(&causes->list, causes->count, sizeof(*causes->list)))
		causes->list[causes->count++] = (struct inspected_cause){copy(cause), count};
}

static void add_stream(struct inspected_process *process, const struct rtl_process *info,
		       const struct rtl_stream_info *stream)
{
	struct inspected_stream found = {.ledger = {.struct_size = sizeof(found.ledger)}};
	const struct rtl_ledger *l = &found.ledger;

	if (collect_host->ledger(collect_host, info, stream, &found.ledger) ||
	    !(l->published || l->delivered || l->missed) ||
	    !grow(&process->streams, process->stream_count, sizeof(found)))
		return;
	found.name = copy(stream->name);
	collect_host->losses(collect_host, info, stream, add_cause, &found.losses);
	collect_host->left_out(collect_host, info, stream, add_cause, &found.left_out);
	process->streams[process->stream_count++] = found;
}

static void add_process(const struct rtl_process *info)
{
	struct inspection *into = state.into;
	struct inspected_process process = {.pid = info->pid, .parent_pid = info->parent_pid};

	if (!grow(&into->processes, into->count, sizeof(process)))
		return;
	process.program = copy(info->program);
	process.command = copy(info->command);
	for (size_t i = 0; i < state.stream_count; i++)
		add_stream(&process, info, state.streams[i]);
	process.waits.struct_size = sizeof(process.waits);
	collect_host->waits(collect_host, info, &process.waits);
	into->processes[into->count++] = process;
}

static int on_stream(void *instance, const struct rtl_stream_info *stream)
{
	(void)instance;
	if (grow(&state.streams, state.stream_count, sizeof(stream)))
		state.streams[state.stream_count++] = stream;
	return 0;
}

static int on_process(void *instance, const struct rtl_process *process)
{
	(void)instance;
	if (grow(&state.processes, state.process_count, sizeof(process)))
		state.processes[state.process_count++] = process;
	return 0;
}

static int on_finish(void *instance)
{
	const char *interrupted = collect_host->property(collect_host, "interrupted");

	(void)instance;
	if (interrupted)
		state.into->interrupted = copy(interrupted);
	for (size_t i = 0; i < state.process_count; i++)
		add_process(state.processes[i]);
	return 0;
}

static const struct rtl_subscriber subscriber =
	COLLECT_OWN("inspect", on_stream, on_process, on_finish);

static void note_living(void *user, const char *path, const struct rtl_folder *is)
{
	struct inspection *inspection = user;

	(void)path;
	for (size_t i = 0; i < inspection->count; i++)
		inspection->processes[i].alive |=
			is->in_use && inspection->processes[i].pid == is->pid;
}

int inspect(const char *folder, struct inspection *inspection)
{
	int status;

	*inspection = (struct inspection){0};
	state.into = inspection;
	status = collect_inspect(folder, &subscriber);
	free(state.processes);
	free(state.streams);
	memset(&state, 0, sizeof(state));
	if (status)
		return status;
	folder_visit_spools(folder, note_living, inspection);
	return inspection->failed ? cli_failed("out of memory") : CLI_OK;
}

static void causes_fini(struct inspected_causes *causes)
{
	for (size_t i = 0; i < causes->count; i++)
		free(causes->list[i].cause);
	free(causes->list);
}

void inspection_fini(struct inspection *inspection)
{
	for (size_t i = 0; i < inspection->count; i++) {
		struct inspected_process *process = &inspection->processes[i];
		for (size_t k = 0; k < process->stream_count; k++) {
			causes_fini(&process->streams[k].losses);
			causes_fini(&process->streams[k].left_out);
			free(process->streams[k].name);
		}
		free(process->streams);
		free(process->program);
		free(process->command);
	}
	free(inspection->processes);
	free(inspection->interrupted);
	*inspection = (struct inspection){0};
}
