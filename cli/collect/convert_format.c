/* SPDX-License-Identifier: MIT */
/*
 * convert_format.c: which format an output has, by --format and the suffix of its name, and the
 * making of it. An older file of that kind is replaced, another file is not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "convert.h"
#include "timeline.h"

enum kind { KIND_TIMELINE, KIND_JSON, KIND_TABLES, KIND_DATABASE, KIND_RPD };

static const struct suffix {
	const char *name;
	enum kind kind;
	enum timeline_format timeline; /* of text: whether it is compressed */
} suffixes[] = {
	{".json", KIND_JSON, TIMELINE_JSON},
	{".json.gz", KIND_JSON, TIMELINE_JSON_GZ},
	{".pftrace", KIND_TIMELINE, TIMELINE_PFTRACE},
	{".csv", KIND_TABLES, 0},
	{".db", KIND_DATABASE, 0},
	{".rpd", KIND_RPD, 0},
};

#define SUFFIXES (sizeof(suffixes) / sizeof(*suffixes))

/* What each can be; a suffix alone means the first format that has it. */
static const struct format {
	const char *name;
	bool has[SUFFIXES];
} formats[] = {
	[CONVERT_PERFETTO] = {"perfetto", {true, true, true}},
	[CONVERT_ROCPROFV3] = {"rocprofv3", {true, true, false, true}},
	[CONVERT_HTA] = {"hta", {true, true}},
	[CONVERT_ROCPD7] = {"rocpd7", {false, false, false, false, true}},
	[CONVERT_RPD] = {"rpd", {false, false, false, false, false, true}},
};

#define FORMATS (sizeof(formats) / sizeof(*formats))

/* ---- the choice ---- */

static size_t find_suffix(const char *output)
{
	size_t i = 0;

	while (i < SUFFIXES && !output_ends_in(output, suffixes[i].name))
		i++;
	return i;
}

static size_t find_format(const char *name, size_t suffix)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (name ? strcmp(formats[i].name, name) == 0 : formats[i].has[suffix])
			return i;
	return FORMATS;
}

static int refuse_suffix(const char *output, const struct format *format)
{
	char list[64] = "";

	for (size_t i = 0; i < SUFFIXES; i++)
		if (format->has[i]) {
			strcat(list, *list ? ", " : "");
			strcat(list, suffixes[i].name);
		}
	return cli_usage("convert: -o %s: a file of --format %s ends in %s", output, format->name,
			 list);
}

int convert_choose(struct convert_job *job, const char *format)
{
	const size_t suffix = find_suffix(job->output);
	size_t chosen;

	if (suffix == SUFFIXES)
		return cli_usage("convert: -o %s: the suffix says what is written, and is not "
				 "known; known are " CONVERT_SUFFIXES,
				 job->output);
	chosen = find_format(format, suffix);
	if (chosen == FORMATS)
		return cli_usage("convert: --format %s: is not known; known are " CONVERT_FORMATS,
				 format);
	if (!formats[chosen].has[suffix])
		return refuse_suffix(job->output, &formats[chosen]);
	job->format = (enum convert_format)chosen;
	job->suffix = suffix;
	if (job->count > 1 && chosen != CONVERT_PERFETTO && chosen != CONVERT_HTA)
		return cli_usage(
			"convert: %s files are made of one trace; `rtl merge` makes one of "
			"several",
			formats[chosen].name);
	if (chosen == CONVERT_RPD && convert_selects(&job->selection))
		return cli_usage("convert: -o %s: holds all of a trace; RPD's rpd_trim cuts it",
				 job->output);
	return CLI_OK;
}

/* ---- the making ---- */

static int make_file(const struct convert_job *job, const struct part *part, uint64_t *slices)
{
	const struct suffix *suffix = &suffixes[job->suffix];

	if (job->format == CONVERT_ROCPD7)
		return convert_rocpd7(part, job->inputs[0], &job->selection);
	if (job->format == CONVERT_ROCPROFV3)
		return convert_rocprofv3(part, suffix->timeline == TIMELINE_JSON_GZ, job->inputs[0],
					 &job->selection);
	return convert_timeline(part, suffix->timeline, job, slices);
}

static bool may_replace(const struct convert_job *job)
{
	const struct suffix *suffix = &suffixes[job->suffix];

	return suffix->kind == KIND_DATABASE
		       ? convert_rocpd7_replaceable(job->output)
		       : timeline_look(job->output, suffix->timeline, NULL, NULL) != LOOK_FOREIGN;
}

int convert_run(const struct convert_job *job)
{
	const enum kind kind = suffixes[job->suffix].kind;
	uint64_t slices = 0;
	struct part part;
	int status;

	if (kind == KIND_TABLES) {
		status = convert_csv(job->output, job->inputs[0], &job->selection);
	} else if (kind == KIND_RPD) {
		status = convert_rpd(job->output, job->inputs[0], job->selection.unfinished);
	} else {
		if (!may_replace(job))
			return cli_failed("output %s exists and is no %s, so it is not written "
					  "over; move it away, or choose another file with -o",
					  job->output,
					  kind == KIND_DATABASE ? "database that rtl converted"
								: "timeline");
		status = part_begin(&part, job->output);
		if (!status)
			status = part_end(&part, make_file(job, &part, &slices));
	}
	if (status)
		return status;
	if (slices)
		cli_line("%s: %llu slices", job->output, (unsigned long long)slices);
	else
		cli_line("%s%s", job->output, kind == KIND_TABLES ? ": a folder of tables" : "");
	return cli_finish_output();
}
