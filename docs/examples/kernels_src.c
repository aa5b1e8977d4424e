/* SPDX-License-Identifier: MIT */
/* A source of the kernels in rocprofv3's CSV (NAME_kernel_trace.csv), for any subscriber. Start your own from it:
 *     cc -shared -fPIC kernels_src.c -o libkernels_src.so $(pkg-config --cflags rtl)
 *     RTL_PLUGIN_PATH=. rtl replay run_kernel_trace.csv -s libstats_sub.so */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <rtl/describe.h>
#include <rtl/events/hsa.h>
#include <rtl/source.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME, GPU, BEGIN, END, WANTED, COLUMNS = 64 };
static const char *const wanted[] = {"Kernel_Name", "Agent_Id", "Start_Timestamp", "End_Timestamp"};

/* What this source tells of a dispatch; the rest of the payload is 0. */
static const struct rtl_field fields[] = {
	RTL_FIELD(struct rtl_hsa_dispatch, begin_ns, RTL_KIND_TIME, "ns", "GPU begin"),
	RTL_FIELD(struct rtl_hsa_dispatch, end_ns, RTL_KIND_TIME, "ns", "GPU end"),
	RTL_FIELD(struct rtl_hsa_dispatch, kernel_name, RTL_KIND_STRING, "", "name"),
	RTL_FIELD(struct rtl_hsa_dispatch, gpu, RTL_KIND_UINT, "", "KFD node"),
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
	const char *cells[COLUMNS]; /* of the line; "" behind its last */
	int column[WANTED];
	void *names; /* of kernels, a tree; the id of a string is its address */
};

/* Reads a line and splits it into cells; false at the end. */
static bool next_line(struct reader *r)
{
	char *at = getline(&r->line, &r->room, r->file) > 0 ? r->line : NULL;
	const bool is_there = at != NULL;

	for (int i = 0; i < COLUMNS; i++) {
		const bool quoted = at && *at == '"';

		r->cells[i] = at ? at + quoted : "";
		if (quoted && at++)
			(void)strsep(&at, "\"");
		(void)strsep(&at, ",\n");
	}
	return is_there;
}

/* "Agent 4" is 4 here. */
static uint64_t number(const char *text)
{
	return strtoull(text + strcspn(text, "0123456789"), NULL, 10);
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static uint64_t name_id(struct reader *r, const char *name)
{
	char *copy = strdup(name), **found = copy ? tsearch(copy, &r->names, compare) : NULL;

	if (!found || *found != copy)
		free(copy);
	return found ? (uintptr_t)*found : 0;
}

static bool reads(const char *path)
{
	return !fnmatch("*kernel_trace.csv", path, 0);
}

static void finish(void *instance)
{
	struct reader *r = instance;

	tdestroy(r->names, free);
	free(r->line);
	fclose(r->file);
	free(r);
}

static int begin(const struct rtl_source_host *host, const char *path, void **instance)
{
	const struct rtl_process is = {.struct_size = sizeof(is), .program = path, .rank = -1};
	FILE *file = fopen(path, "r");
	struct reader *r = file ? calloc(1, sizeof(*r)) : NULL;

	if (!r)
		return file ? fclose(file), RTL_ENOMEM : RTL_ENOENT;
	*r = (struct reader){.host = host, .file = file};
	*instance = r; /* from here on `close` frees it */
	(void)next_line(r);
	for (int i = 0; i < WANTED; i++)
		while (strcmp(r->cells[r->column[i]], wanted[i]) != 0)
			if (++r->column[i] == COLUMNS)
				return RTL_EFORMAT;
	r->process = host->process(host, &is);
	r->stream = r->process ? host->stream(host, r->process, &hsa) : NULL;
	return r->stream ? 0 : RTL_ENOMEM;
}

static int read_one(void *instance)
{
	struct reader *r = instance;
	struct rtl_hsa_dispatch d = {0};
	struct rtl_event event = {.struct_size = sizeof(event), .type = RTL_TASK_END};

	if (!next_line(r))
		return 0;
	d.begin_ns = number(r->cells[r->column[BEGIN]]);
	d.end_ns = event.time_ns = number(r->cells[r->column[END]]);
	d.kernel_name = name_id(r, r->cells[r->column[NAME]]);
	d.gpu = (uint32_t)number(r->cells[r->column[GPU]]);
	event.stream = r->stream;
	event.process = r->process;
	event.payload = &d;
	event.payload_size = sizeof(d);
	if (d.begin_ns && d.end_ns)
		r->host->events(r->host, &event, 1);
	return d.begin_ns && d.end_ns ? 1 : RTL_EFORMAT;
}

static const char *string(void *instance, const struct rtl_process *process, uint64_t id)
{
	(void)instance, (void)process;
	return (const char *)(uintptr_t)id;
}

RTL_EXPORT_SOURCE = {.abi_version = RTL_SOURCE_ABI_VERSION,
		     .struct_size = sizeof(rtl_source),
		     .name = "kernels",
		     .version = "1",
		     .description = "kernels in rocprofv3's CSV",
		     .reads = reads,
		     .open = begin,
		     .read = read_one,
		     .string = string,
		     .close = finish};
