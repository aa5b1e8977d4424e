/* SPDX-License-Identifier: MIT */
/* rtl convert: a trace in another format. */
#include <math.h>

#include "cli.h"
#include "convert.h"
#include "database.h"

struct request {
	struct cli_operands files;
	const char *output, *format, *rank, *from, *to;
	struct convert_selection selection;
};

#define INTO(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	CLI_VALUE('o', "output", "FILE", INTO(output),
		  "what to write, by suffix: " TIMELINE_SUFFIXES ", timelines;\n"
		  ".csv, a folder with the files of rocprofv3; .db, ROCm 7's rocpd;\n"
		  ".rpd, RPD's, as tables, for its tools that change a file"),
	CLI_VALUE('f', "format", "NAME", INTO(format),
		  "what to write where the suffix leaves a choice: perfetto\n"
		  "(.json, .json.gz, .pftrace; the default there), rocprofv3 (.csv,\n"
		  ".json, .json.gz), hta for HolisticTraceAnalysis (.json,\n"
		  ".json.gz), rocpd7 (.db), rpd (.rpd)"),
	CLI_VALUE(0, "from", "TIME", INTO(from),
		  "leave out what ended before: seconds since the first process\n"
		  "started, or a number with a unit (s, ms, us, ns), as 250ms"),
	CLI_VALUE(0, "to", "TIME", INTO(to), "leave out what began at that time or later"),
	CLI_VALUE(0, "process", "PROCESS", INTO(selection.process),
		  "only that process: its pid, or a pattern for its program"),
	CLI_VALUE(0, "gpu", "NODE", INTO(selection.gpu), "only this GPU, by its KFD node"),
	CLI_VALUE(0, "name", "PATTERN", INTO(selection.name),
		  "only kernels, calls, ranges whose name matches, as '*gemm*'"),
	DATABASE_UNFINISHED(INTO(selection.unfinished)),
	CLI_VALUE(0, "rank", "N", INTO(rank),
		  "the rank in a file of --format hta, instead of the one that\n"
		  "the launcher set"),
};

/* ---- options ---- */

static int read_time(const char *option, const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
	char *end;
	const double value = text ? strtod(text, &end) : 0;

	if (!text)
		return CLI_OK;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (end != text && isfinite(value) && value >= 0 && value < 1e9 &&
		    !strcmp(end, units[i].name)) {
			*ns = (uint64_t)llround(value * units[i].ns);
			return CLI_OK;
		}
	return cli_usage("convert: --%s %s: give seconds, or a time with a unit: 1.5, 250ms, 10us",
			 option, text);
}

static int read_selection(struct request *request)
{
	struct convert_selection *s = &request->selection;
	unsigned node;
	int status = read_time("from", request->from, &s->from_ns);

	if (!status)
		status = read_time("to", request->to, &s->to_ns);
	if (!status && request->to && s->to_ns <= s->from_ns)
		status = cli_usage("convert: --to %s: is not later than --from", request->to);
	if (!status && s->gpu && !cli_number(s->gpu, &node))
		status = cli_usage("convert: --gpu %s: give a number; `rtl info` lists the GPUs",
				   s->gpu);
	return status;
}

/* ---- the command ---- */

static int read_rank(const struct request *request, struct convert_job *job)
{
	if (!request->rank)
		return CLI_OK;
	if (job->format != CONVERT_HTA)
		return cli_usage("convert: --rank is for --format hta only");
	job->has_rank = cli_number(request->rank, &job->rank);
	return job->has_rank ? CLI_OK
			     : cli_usage("convert: --rank %s: give a number", request->rank);
}

static int convert(void *user)
{
	struct request *request = user;
	const struct cli_operands *files = &request->files;
	struct convert_job job = {
		.output = request->output, .inputs = files->list, .count = files->count};
	int status = read_selection(request);

	if (status)
		return status;
	job.selection = request->selection;
	if (!request->output)
		return cli_usage(
			"convert: give -o FILE with one of these suffixes: " CONVERT_SUFFIXES);
	for (size_t i = 0; i < files->count; i++)
		if (database_same_file(request->output, files->list[i]))
			return cli_usage("convert: %s is the trace itself: give -o another name",
					 request->output);
	status = convert_choose(&job, request->format);
	if (!status)
		status = read_rank(request, &job);
	return status ? status : convert_run(&job);
}

const struct cli_command cmd_convert = {
	.name = "convert",
	.operands = "TRACE...",
	.purpose = "Writes a trace for Perfetto, TraceLens, HTA, ROCm 7's tools, spreadsheets",
	.details =
		"Reads databases that rtl wrote. Overwrites an earlier conversion, no other file.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct request, files, SIZE_MAX, NULL),
	.missing = "give a trace: rtl convert TRACE -o FILE",
	.run = convert,
};
