/* SPDX-License-Identifier: MIT */
/* See convert.h: timelines. Their inputs are replayed into the sink that libjson_sub.so is made of. */
#include "convert.h"

#include <errno.h>
#include <fcntl.h>

#include "cli.h"
#include "collect.h"
#include "database.h"
#include "event_sink.h"
#include "sink.h"

struct convert {
	struct event_sink sink; /* first: it asks whom it wants */
	const struct convert_job *job;
	struct work_selection selection;
	uint64_t first_ns;    /* when the first process started */
	int64_t unix_less_ns; /* what CLOCK_REALTIME is ahead of times; 0: not known */
	/* Of --format hta: how many processes have used a GPU, and the last of them. */
	unsigned users;
	struct {
		int64_t pid;
		uint64_t start_ns;
		uint32_t rank;
	} user;
};

/* ---- the inputs ---- */

/* Rows: when the first process started, what the day's time is ahead of that clock. */
static void take_times(void *user, const char *const *row)
{
	struct convert *convert = user;
	const uint64_t first_ns = row[0] ? strtoull(row[0], NULL, 10) : 0;

	if (!convert->first_ns)
		convert->unix_less_ns = row[1] ? atoll(row[1]) : 0;
	if (!convert->first_ns || first_ns < convert->first_ns)
		convert->first_ns = first_ns;
}

static void take_user(void *to, const char *const *row)
{
	struct convert *convert = to;
	const int64_t pid = atoll(row[0]);

	if (!convert_wants_process(&convert->job->selection, pid, row[1]))
		return;
	convert->users++;
	convert->user.pid = pid;
	convert->user.start_ns = strtoull(row[2], NULL, 10);
	convert->user.rank = row[3] ? (uint32_t)strtoul(row[3], NULL, 10) : 0;
}

static int look_at(struct convert *convert, struct database *database, bool *has_gpu)
{
	const struct convert_selection *s = &convert->job->selection;
	const int status = database_refuse_unfinished(database, s->unfinished);
	const int there = status ? 0 : database_has_table(database, "rtl_process");

	if (status || there < 0)
		return status ? status : CLI_FAILED;
	if (!there)
		return convert_refuse_foreign(database->path);
	*has_gpu |= !s->gpu || convert_has_gpu(database->connection, s->gpu);
	if (database_query(database,
			   "SELECT min(start_ns), (SELECT realtime_ns - time_ns FROM rtl_clock "
			   "WHERE realtime_ns NOT NULL LIMIT 1) FROM rtl_process",
			   take_times, convert))
		return CLI_FAILED;
	if (convert->job->format != CONVERT_HTA)
		return CLI_OK;
	return database_query(database,
			      "SELECT pid, program, start_ns, rank FROM rtl_process WHERE process "
			      "IN (SELECT process FROM rtl_dispatch)",
			      take_user, convert)
		       ? CLI_FAILED
		       : CLI_OK;
}

static int look_at_inputs(struct convert *convert)
{
	const struct convert_job *job = convert->job;
	bool has_gpu = false;
	int status = CLI_OK;

	for (size_t i = 0; !status && i < job->count; i++) {
		struct database *database = database_open(job->inputs[i], false);

		status = database ? look_at(convert, database, &has_gpu) : CLI_FAILED;
		database_close(database);
	}
	if (!status && !has_gpu)
		return convert_refuse_gpu(job->selection.gpu);
	if (status || job->format != CONVERT_HTA || convert->users == 1)
		return status;
	if (!convert->users)
		return cli_failed("no process that is selected has used a GPU, so there is nothing "
				  "for --format hta; `rtl info` lists them");
	return cli_failed("%u processes have used GPUs, and a file of --format hta is that of one: "
			  "choose it with --process",
			  convert->users);
}

static bool wants(const struct event_sink *sink, const struct rtl_process *process)
{
	const struct convert *convert = (const struct convert *)sink;

	if (convert->job->format == CONVERT_HTA &&
	    (process->pid != convert->user.pid || process->start_ns != convert->user.start_ns))
		return false;
	return convert_wants_process(&convert->job->selection, process->pid, process->program);
}

/* ---- the output ---- */

static int begin_output(struct convert *convert, const struct part *part,
			enum timeline_format format)
{
	struct event_sink *sink = &convert->sink;
	struct timeline *timeline = &sink->timeline;
	const bool is_hta = convert->job->format == CONVERT_HTA;
	const int fd = open(part->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		return part_failed(part, errno);
	sink->args = true;
	sink->counters = !is_hta;
	sink->wants = wants;
	timeline->has_rank = is_hta;
	timeline->rank = convert->job->has_rank ? convert->job->rank : convert->user.rank;
	if (!timeline_begin(
		    timeline, part->path, fd, format, convert->first_ns,
		    convert->unix_less_ns ? convert->unix_less_ns + (int64_t)convert->first_ns : 0,
		    "", false) ||
	    !work_init(&sink->work, timeline, sink->counters) ||
	    (is_hta && !work_use_kineto_names(&sink->work)))
		return part_failed(part, timeline_error(timeline));
	convert->selection = convert_select(&convert->job->selection, convert->first_ns);
	if (convert_selects(&convert->job->selection))
		sink->work.selection = &convert->selection;
	return CLI_OK;
}

/* ---- as a subscriber ---- */

/* A subscriber of the command's own can be given nothing. Either can be NULL. */
static struct event_sink *fed;
static struct summary *filled;
static struct sink counting;

static int begin_sinks(const struct rtl_host *host, const struct rtl_setting *settings,
		       size_t count, void **instance)
{
	if (fed)
		fed->host = host;
	if (filled)
		sink_init(&counting, host, filled);
	*instance = fed;
	return 0;
}

static int take_stream(void *sink, const struct rtl_stream_info *info)
{
	const int error = filled ? sink_add_stream(&counting, info) : 0;

	return error || !sink ? error : event_sink_stream(sink, info);
}

static int take_process(void *sink, const struct rtl_process *process)
{
	if (sink)
		event_lookup_process(sink, process);
	return 0;
}

static int end_process(void *sink, const struct rtl_process *process)
{
	if (sink)
		generic_unfinished(sink, process);
	return 0;
}

static int finish(void *sink)
{
	const int error = filled ? sink_finish(&counting) : 0;

	if (sink)
		event_sink_finish(sink);
	return error;
}

static const struct rtl_subscriber subscriber = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(subscriber),
	.name = "convert",
	.version = "1",
	.description = "of the command rtl",
	.create = begin_sinks,
	.stream = take_stream,
	.process_begin = take_process,
	.process_end = end_process,
	.finish = finish,
};

int convert_feed(const struct part *part, char *const *inputs, size_t count,
		 struct event_sink *sink, struct summary *summary)
{
	int status, error;

	fed = sink;
	filled = summary;
	collect_set_properties(NULL, NULL);
	status = collect_feed(inputs, count, NULL, "", &subscriber);
	sink_fini(&counting);
	counting = (struct sink){0};
	error = sink ? timeline_error(&sink->timeline) : 0;
	return error ? part_failed(part, error) : status;
}

static int replay(struct convert *convert, const struct part *part)
{
	const struct convert_selection *s = &convert->job->selection;
	struct event_sink *sink = &convert->sink;
	const int status =
		convert_feed(part, convert->job->inputs, convert->job->count, sink, NULL);

	if (!status && s->process && !sink->work.processes)
		return cli_failed("--process %s: no process has that pid or program; `rtl "
				  "info` lists them",
				  s->process);
	return !status && sink->work.selection && !convert->selection.count
		       ? convert_refuse_empty(s)
		       : status;
}

int convert_timeline(const struct part *part, enum timeline_format format,
		     const struct convert_job *job, uint64_t *slices)
{
	struct convert convert = {.job = job};
	int status = look_at_inputs(&convert);

	if (!status)
		status = begin_output(&convert, part, format);
	if (!status)
		status = replay(&convert, part);
	*slices = convert.sink.timeline.slices;
	event_sink_fini(&convert.sink);
	if (convert.sink.timeline.writer)
		timeline_fini(&convert.sink.timeline, true);
	return status;
}
