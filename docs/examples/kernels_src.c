/* SPDX-License-Identifier: MIT */
/* A source that reads the kernels in rocprofv3's CSV (NAME_kernel_trace.csv) for any subscriber. Start your
 * own from it:
 *     cc -shared -fPIC kernels_src.c -o libkernels_src.so $(pkg-config --cflags rtl)
 *     RTL_PLUGIN_PATH=. rtl replay run_kernel_trace.csv -s libstats_sub.so */
#define _GNU_SOURCE
#include <rtl/describe.h>
#include <rtl/events/hsa.h>
#include <rtl/source.h>
#include <stdio.h>
#include <stdlib.h>

enum { AT_A_TIME = 1000, COLUMNS = 64 };

/* What this source tells of a dispatch; the rest of the payload is 0. */
static const struct rtl_field fields[] = {
	RTL_FIELD(struct rtl_hsa_dispatch, begin_ns, RTL_KIND_TIME, "ns", "GPU begin"),
	RTL_FIELD(struct rtl_hsa_dispatch, end_ns, RTL_KIND_TIME, "ns", "GPU end"),
	RTL_FIELD(struct rtl_hsa_dispatch, kernel_name, RTL_KIND_STRING, "", "name"),
	RTL_FIELD(struct rtl_hsa_dispatch, gpu, RTL_KIND_UINT, "", "KFD node"),
	RTL_FIELD(struct rtl_hsa_dispatch, queue, RTL_KIND_UINT, "", "number of the queue"),
	RTL_FIELD(struct rtl_hsa_dispatch, submit_tid, RTL_KIND_UINT, "", "thread"),
};
static const struct rtl_type_info types[] = {RTL_TYPE_INFO(
	RTL_TASK_END, "task_end", struct rtl_hsa_dispatch, fields, "a kernel has finished")};
static const struct rtl_stream_info hsa =
	RTL_STREAM_INFO(RTL_STREAM_HSA, 1, 5, types, "Kernel dispatches");

struct reader {
	const struct rtl_source_host *host;
	const struct rtl_process *process;
	const struct rtl_stream_info *stream;
	FILE *file;
	char *line;
	size_t room;
	const char *cell[COLUMNS];
	int kernel, gpu, queue, tid, begin, end; /* columns */
	char **names; /* of kernels; the id of a string is its place here, from 1 */
	size_t name_count;
};

/* Reads a line and splits it into cells; returns their number, 0 at the end. */
static int next_line(struct reader *r)
{
	int count = 0;
	ssize_t length = getline(&r->line, &r->room, r->file);

	for (char *at = r->line; length > 0 && *at && *at != '\n' && count < COLUMNS; at++) {
		const int quoted = *at == '"';

		r->cell[count++] = at += quoted;
		at += strcspn(at, quoted ? "\"" : ",\n");
		if (quoted && *at)
			*at++ = '\0';
		if (!*at || *at == '\n')
			break;
		*at = '\0';
	}
	return count;
}

static int column(const struct reader *r, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(r->cell[i], name))
			return i;
	return -1;
}

static uint64_t name_id(struct reader *r, const char *name)
{
	size_t i = 0;

	while (i < r->name_count && strcmp(r->names[i], name) != 0)
		i++;
	if (i == r->name_count) {
		char **names = realloc(r->names, (i + 1) * sizeof(*names));

		if (!names || !(names[i] = strdup(name)))
			return 0;
		r->names = names;
		r->name_count++;
	}
	return i + 1;
}

/* "Agent 4" is 4 here. */
static uint32_t number(const struct reader *r, int at)
{
	return at < 0 ? 0
		      : (uint32_t)strtoul(r->cell[at] + strcspn(r->cell[at], "0123456789"), NULL,
					  10);
}

static bool reads(const char *path)
{
	const char *end = strstr(path, "kernel_trace.csv");

	return end && !strcmp(end, "kernel_trace.csv");
}

static void finish(void *instance)
{
	struct reader *r = instance;

	for (size_t i = 0; i < r->name_count; i++)
		free(r->names[i]);
	free(r->names);
	free(r->line);
	fclose(r->file);
	free(r);
}

static int begin(const struct rtl_source_host *host, const char *path, void **instance)
{
	const struct rtl_process process = {
		.struct_size = sizeof(process), .program = path, .rank = -1};
	struct reader *r = calloc(1, sizeof(*r));
	int count;

	if (!r || !(r->file = fopen(path, "r"))) {
		free(r);
		return r ? RTL_ENOENT : RTL_ENOMEM;
	}
	*instance = r; /* from here on `close` frees it */
	r->host = host;
	count = next_line(r);
	r->kernel = column(r, count, "Kernel_Name");
	r->gpu = column(r, count, "Agent_Id");
	r->queue = column(r, count, "Queue_Id");
	r->tid = column(r, count, "Thread_Id");
	r->begin = column(r, count, "Start_Timestamp");
	r->end = column(r, count, "End_Timestamp");
	if (r->kernel < 0 || r->begin < 0 || r->end < 0)
		return RTL_EFORMAT;
	r->process = host->process(host, &process);
	r->stream = r->process ? host->stream(host, r->process, &hsa) : NULL;
	return r->stream ? 0 : RTL_ENOMEM;
}

static int read_some(void *instance)
{
	struct reader *r = instance;

	for (int i = 0; i < AT_A_TIME; i++) {
		const int count = next_line(r);

		if (!count)
			return 0;
		if (count <= r->kernel || count <= r->begin || count <= r->end)
			return RTL_EFORMAT;
		const struct rtl_hsa_dispatch d = {.begin_ns =
							   strtoull(r->cell[r->begin], NULL, 10),
						   .end_ns = strtoull(r->cell[r->end], NULL, 10),
						   .kernel_name = name_id(r, r->cell[r->kernel]),
						   .gpu = number(r, r->gpu),
						   .queue = number(r, r->queue),
						   .submit_tid = number(r, r->tid)};
		const struct rtl_event event = {.struct_size = sizeof(event),
						.type = RTL_TASK_END,
						.stream = r->stream,
						.process = r->process,
						.tid = d.submit_tid,
						.payload_size = sizeof(d),
						.time_ns = d.end_ns,
						.payload = &d};
		r->host->events(r->host, &event, 1);
	}
	return 1;
}

static const char *string(void *instance, const struct rtl_process *process, uint64_t id)
{
	const struct reader *r = instance;

	(void)process;
	return id && id <= r->name_count ? r->names[id - 1] : NULL;
}

RTL_EXPORT_SOURCE = {.abi_version = RTL_SOURCE_ABI_VERSION,
		     .struct_size = sizeof(rtl_source),
		     .name = "kernels",
		     .version = "1",
		     .description = "kernels in rocprofv3's CSV",
		     .reads = reads,
		     .open = begin,
		     .read = read_some,
		     .string = string,
		     .close = finish};
