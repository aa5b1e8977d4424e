/* SPDX-License-Identifier: MIT */
/*
 * convert_format.c: which format an output has, by --format and the suffix of its name, and the
 * making of it. An older file of that kind is replaced, another file is not.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "convert.h"
#include "convert_rows.h"
#include "database.h"
#include "embed.h"
#include "look.h"

EMBED(convert_rpd_sql, RTL_CLI "/collect/convert_rpd.sql");
extern const char convert_rpd_sql[];

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
	const size_t length = strlen(output);

	for (size_t i = 0; i < SUFFIXES; i++) {
		const size_t n = strlen(suffixes[i].name);

		if (length > n && output[length - n - 1] != '/' &&
		    strcmp(output + length - n, suffixes[i].name) == 0)
			return i;
	}
	return SUFFIXES;
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

/* ---- what is selected ---- */

bool convert_selects(const struct convert_selection *s)
{
	return s->from_ns || s->to_ns || s->process || s->name || s->gpu;
}

struct work_selection convert_select(const struct convert_selection *s, uint64_t first_ns)
{
	return (struct work_selection){
		.from_ns = s->from_ns ? first_ns + s->from_ns : 0,
		.to_ns = s->to_ns ? first_ns + s->to_ns : 0,
		.name = s->name,
		.has_gpu = s->gpu,
		.gpu = s->gpu ? (uint32_t)strtoul(s->gpu, NULL, 10) : 0,
	};
}

int convert_refuse_empty(const struct convert_selection *s)
{
	const struct {
		const char *name;
		bool given;
	} options[] = {{"--from", s->from_ns != 0},
		       {"--to", s->to_ns != 0},
		       {"--process", s->process != NULL},
		       {"--gpu", s->gpu != NULL},
		       {"--name", s->name != NULL}};
	char list[64] = "";

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].given) {
			strcat(list, *list ? ", " : "");
			strcat(list, options[i].name);
		}
	return cli_failed("nothing is selected by %s, so nothing is written; `rtl summary` shows "
			  "what there is",
			  list);
}

static bool is_there(sqlite3 *db, const char *sql, const char *gpu)
{
	sqlite3_stmt *rows = NULL;
	bool there = false;

	if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) == SQLITE_OK) {
		sqlite3_bind_int64(rows, 1, (int64_t)strtoul(gpu, NULL, 10));
		there = sqlite3_step(rows) == SQLITE_ROW;
	}
	sqlite3_finalize(rows);
	return there;
}

bool convert_has_gpu(sqlite3 *db, const char *gpu)
{
	return is_there(db,
			"SELECT 1 FROM rtl_tracepoint AS t JOIN rtl_tracepoint_metadata AS m"
			" USING (process, uid) WHERE t.kind = 'agent' AND m.key = 'node' AND"
			" CAST(m.value AS INTEGER) = ?1",
			gpu) ||
	       is_there(db, "SELECT 1 FROM rtl_dispatch WHERE gpu = ?1", gpu) ||
	       is_there(db, "SELECT 1 FROM rtl_copy WHERE gpu = ?1", gpu);
}

int convert_refuse_gpu(const char *gpu)
{
	return cli_failed("--gpu %s: there is none; `rtl info` lists them", gpu);
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

bool convert_wants_process(const struct convert_selection *selection, int64_t pid,
			   const char *program)
{
	const char *wanted = selection->process;
	char number[24];

	snprintf(number, sizeof(number), "%lld", (long long)pid);
	return !wanted || strcmp(wanted, number) == 0 ||
	       fnmatch(wanted, base_name(program), 0) == 0;
}

int convert_refuse_foreign(const char *path)
{
	return cli_failed(
		"%s: has no tables of rtl's, another tool wrote it; only traces of rtl can "
		"be converted",
		path);
}

/* ---- RPD's schema as tables ---- */

static int make_rpd(const struct part *part, const char *input, bool unfinished)
{
	const struct convert_selection all = {.unfinished = unfinished};
	struct convert_rows rows;
	int status = convert_rows_open(&rows, input, &all);

	if (!status)
		status = convert_rows_begin(&rows, part, 0);
	if (!status)
		status = convert_rows_script(&rows, part, convert_rpd_sql, NULL, NULL);
	if (!status)
		status = convert_rows_script(&rows, part, "COMMIT;\nDETACH o", NULL, NULL);
	convert_rows_close(&rows);
	return status;
}

int convert_check_rpd(const char *output)
{
	return database_replaceable(output) ? CLI_OK
					    : cli_failed("output %s exists and is no trace, so it "
							 "is not written over; move "
							 "it away, or choose another file with -o",
							 output);
}

int convert_rpd(const char *output, const char *input, bool unfinished)
{
	struct part part;
	int status = convert_check_rpd(output);

	if (!status)
		status = part_begin(&part, output);
	return status ? status : part_end(&part, make_rpd(&part, input, unfinished));
}

/* ---- the making ---- */

static int refuse_foreign(const char *output, const char *what)
{
	return cli_failed("output %s exists and is no %s, so it is not written over; move it away, "
			  "or choose another file with -o",
			  output, what);
}

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
			return refuse_foreign(job->output, kind == KIND_DATABASE
								   ? "database that rtl converted"
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
