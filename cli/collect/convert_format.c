/* SPDX-License-Identifier: MIT */
/* convert_format.c: which format an output has, by --format and the suffix of its name, and the making of it. An older
 * file of that kind is replaced, another file is not. */

#include "cli.h"
#include "convert.h"

#define TABLES      ".csv"
#define CAN(format) (1u << CONVERT_##format)

/* What can have each; a suffix alone means the first of these. */
static const struct suffix {
	const char *name;
	unsigned formats;
	enum timeline_format timeline; /* of text: whether it is compressed */
} suffixes[] = {
	{".json", CAN(PERFETTO) | CAN(ROCPROFV3) | CAN(HTA), TIMELINE_JSON},
	{".json.gz", CAN(PERFETTO) | CAN(ROCPROFV3) | CAN(HTA), TIMELINE_JSON_GZ},
	{".pftrace", CAN(PERFETTO), TIMELINE_PFTRACE},
	{TABLES, CAN(ROCPROFV3), 0},
	{".db", CAN(ROCPD7), 0},
	{".rpd", CAN(RPD), 0},
};

static const char *const formats[] = {"perfetto", "rocprofv3", "hta", "rocpd7", "rpd"};

#define SUFFIXES (sizeof(suffixes) / sizeof(*suffixes))
#define FORMATS  (sizeof(formats) / sizeof(*formats))

/* ---- the choice ---- */

static int refuse_suffix(const char *output, unsigned format)
{
	char list[64] = "";

	for (size_t i = 0; i < SUFFIXES; i++)
		if (suffixes[i].formats & 1u << format) {
			strcat(list, *list ? ", " : "");
			strcat(list, suffixes[i].name);
		}
	return cli_usage("convert: -o %s: a file of --format %s ends in %s", output,
			 formats[format], list);
}

int convert_choose(struct convert_job *job, const char *format)
{
	unsigned chosen = 0;

	while (job->suffix < SUFFIXES && !output_ends_in(job->output, suffixes[job->suffix].name))
		job->suffix++;
	if (job->suffix == SUFFIXES)
		return cli_usage("convert: -o %s: unknown suffix; known are " CONVERT_SUFFIXES,
				 job->output);
	while (chosen < FORMATS && (format ? strcmp(formats[chosen], format) != 0
					   : !(suffixes[job->suffix].formats & 1u << chosen)))
		chosen++;
	if (chosen == FORMATS)
		return cli_usage("convert: --format %s: unknown; known are " CONVERT_FORMATS,
				 format);
	if (!(suffixes[job->suffix].formats & 1u << chosen))
		return refuse_suffix(job->output, chosen);
	job->format = (enum convert_format)chosen;
	if (job->count > 1 && chosen != CONVERT_PERFETTO && chosen != CONVERT_HTA)
		return cli_usage(
			"convert: %s files are made of one trace; `rtl merge` makes one of several",
			formats[chosen]);
	if (chosen == CONVERT_RPD && convert_selects(&job->selection))
		return cli_usage("convert: -o %s: has the whole trace; RPD's rpd_trim cuts it",
				 job->output);
	return CLI_OK;
}

/* ---- the making ---- */

static int make_file(const struct convert_job *job, uint64_t *slices)
{
	const enum timeline_format timeline = suffixes[job->suffix].timeline;
	const bool is_database = job->format == CONVERT_ROCPD7;
	struct part part;
	int status;

	if (is_database ? !convert_rocpd7_replaceable(job->output)
			: timeline_look(job->output, timeline, NULL, NULL) == LOOK_FOREIGN)
		return part_refuse(job->output,
				   is_database ? "database that rtl converted" : "timeline");
	status = part_begin(&part, job->output);
	if (status)
		return status;
	if (is_database)
		status = convert_rocpd7(&part, job->inputs[0], &job->selection);
	else if (job->format == CONVERT_ROCPROFV3)
		status = convert_rocprofv3(&part, timeline == TIMELINE_JSON_GZ, job->inputs[0],
					   &job->selection);
	else
		status = convert_timeline(&part, timeline, job, slices);
	return part_end(&part, status);
}

int convert_run(const struct convert_job *job)
{
	const bool is_tables = !strcmp(suffixes[job->suffix].name, TABLES);
	uint64_t slices = 0;
	const int status = is_tables ? convert_csv(job->output, job->inputs[0], &job->selection)
			   : job->format == CONVERT_RPD ? convert_rpd(job->output, job->inputs[0],
								      job->selection.unfinished)
							: make_file(job, &slices);

	if (status)
		return status;
	if (slices)
		cli_line("%s: %llu slices", job->output, (unsigned long long)slices);
	else
		cli_line("%s%s", job->output, is_tables ? ": a folder of tables" : "");
	return cli_finish_output();
}
