/* SPDX-License-Identifier: MIT */
/* See convert.h: kernels, copies, calls, ranges and memory. */
#include "convert.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "database.h"
#include "progress.h"

#define TELL_EVERY  4096u
#define BYTES_A_ROW 300u /* of a timeline, for the bar */
/* Each look at a column would take the lock otherwise: a sixth of the instructions. */
#define ONE_THREAD (SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX)

int convert_refuse(struct convert_input *input)
{
	return cli_failed("%s: %s", input->path, sqlite3_errmsg(input->db));
}

int convert_refuse_foreign(const char *path)
{
	return cli_failed(
		"%s: has no tables of rtl's, another tool wrote it; only traces of rtl can "
		"be converted",
		path);
}

static int out_of_memory(void)
{
	return cli_failed("out of memory");
}

/* ---- rows ---- */

static bool is_missing(sqlite3 *db)
{
	return strncmp(sqlite3_errmsg(db), "no such table", 13) == 0;
}

int convert_add(struct convert *convert, struct convert_input *input, convert_take take, void *what,
		const char *sql)
{
	struct convert_source *sources;
	sqlite3_stmt *rows = NULL;

	if (sqlite3_prepare_v2(input->db, sql, -1, &rows, NULL) != SQLITE_OK)
		return is_missing(input->db) ? CLI_OK : convert_refuse(input);
	sources = reallocarray(convert->sources, convert->source_count + 1, sizeof(*sources));
	if (!sources) {
		sqlite3_finalize(rows);
		return out_of_memory();
	}
	convert->sources = sources;
	sources[convert->source_count++] =
		(struct convert_source){.input = input, .rows = rows, .take = take, .what = what};
	return CLI_OK;
}

/* The next row; false: there is none, or it cannot be read, which is said. */
static bool step(struct convert_source *source, int *status)
{
	const int result = sqlite3_step(source->rows);

	if (result == SQLITE_ROW) {
		source->end_ns = convert_uint(source, 2);
		return true;
	}
	if (result != SQLITE_DONE)
		*status = convert_refuse(source->input);
	sqlite3_finalize(source->rows);
	source->rows = NULL;
	return false;
}

/* ---- names ---- */

bool convert_wants(struct convert *convert, const char *name)
{
	if (convert->selection.name && fnmatch(convert->selection.name, name, 0) != 0)
		return false;
	convert->selected++;
	return true;
}

/* One text for a number; to be freed. NULL: there is none. */
static char *ask_text(struct convert_input *input, const char *sql, int64_t a, int64_t b)
{
	sqlite3_stmt *question = NULL;
	char *text = NULL;

	if (sqlite3_prepare_v2(input->db, sql, -1, &question, NULL) == SQLITE_OK) {
		sqlite3_bind_int64(question, 1, a);
		sqlite3_bind_int64(question, 2, b);
		if (sqlite3_step(question) == SQLITE_ROW && sqlite3_column_text(question, 0))
			text = strdup((const char *)sqlite3_column_text(question, 0));
	}
	sqlite3_finalize(question);
	return text;
}

static void keep(struct convert *convert, struct map *map, uint64_t key, void *value)
{
	if (!value || !map_set(map, key, (uintptr_t)value))
		convert->timeline.out_of_memory = true;
}

struct timeline_name *convert_string(struct convert *convert, struct convert_input *input,
				     int64_t id)
{
	struct timeline_name *name =
		(struct timeline_name *)(uintptr_t)map_get(&input->names, (uint64_t)id);
	char *text;

	if (__builtin_expect(name != NULL, 1))
		return name;
	text = ask_text(input, "SELECT string FROM rocpd_string WHERE id = ?1", id, 0);
	name = timeline_intern(&convert->timeline, text && *text ? text : "(unnamed)");
	free(text);
	keep(convert, &input->names, (uint64_t)id, name);
	return name;
}

static uint32_t register_of(struct convert_input *input, int64_t uid, const char *sql, bool *known)
{
	char *text = ask_text(input, sql, uid, 0);
	const uint32_t number = text ? (uint32_t)strtoul(text, NULL, 10) : 0;

	*known |= text != NULL;
	free(text);
	return number;
}

#define METADATA(key) "SELECT value FROM rtl_tracepoint_metadata WHERE uid = ?1 AND key = '" key "'"

static const struct work_kernel *find_kernel(struct convert *convert, struct convert_input *input,
					     int64_t uid, int64_t name)
{
	const uint64_t key = hash_number((uint64_t)uid) + (uint64_t)name;
	struct work_kernel *kernel = (struct work_kernel *)(uintptr_t)map_get(&input->kernels, key);

	if (__builtin_expect(kernel != NULL, 1))
		return kernel;
	kernel = calloc(1, sizeof(*kernel));
	keep(convert, &input->kernels, key, kernel);
	if (!kernel)
		return NULL;
	kernel->name = convert_string(convert, input, name);
	kernel->vgprs = register_of(input, uid, METADATA("vgprs"), &kernel->has_registers);
	kernel->agprs = register_of(input, uid, METADATA("agprs"), &kernel->has_registers);
	kernel->sgprs = register_of(input, uid, METADATA("sgprs"), &kernel->has_registers);
	return kernel;
}

/* ---- what is on a GPU ---- */

static void take_dispatch(struct convert *convert, struct convert_source *source,
			  struct work_process *process)
{
	const struct work_kernel *kernel =
		find_kernel(convert, source->input, (int64_t)convert_uint(source, 3),
			    (int64_t)convert_uint(source, 4));
	const struct rtl_hsa_dispatch d = {
		.begin_ns = convert_uint(source, 1),
		.end_ns = convert_uint(source, 2),
		.submit_ns = convert_uint(source, 5),
		.packet_id = convert_uint(source, 6),
		.gpu = (uint32_t)convert_uint(source, 7),
		.queue = (uint32_t)convert_uint(source, 8),
		.submit_tid = (uint32_t)convert_uint(source, 9),
		.flags = (uint32_t)convert_uint(source, 10),
		.grid_x = (uint32_t)convert_uint(source, 11),
		.grid_y = (uint32_t)convert_uint(source, 12),
		.grid_z = (uint32_t)convert_uint(source, 13),
		.workgroup_x = (uint32_t)convert_uint(source, 14),
		.workgroup_y = (uint32_t)convert_uint(source, 15),
		.workgroup_z = (uint32_t)convert_uint(source, 16),
		.group_segment_bytes = (uint32_t)convert_uint(source, 17),
		.private_segment_bytes = (uint32_t)convert_uint(source, 18),
		.call_ns = convert_uint(source, 19),
		.hip_stream = convert_uint(source, 20),
		.range = convert_uint(source, 21),
	};

	if (kernel && convert_wants_gpu(convert, d.gpu) &&
	    convert_wants(convert, kernel->name->text))
		work_dispatch(&convert->work, process, &d, kernel, convert_uint(source, 22));
}

static const char dispatches[] =
	"SELECT d.process, o.start, o.end, d.uid, o.description_id, d.submit_ns, d.packet_id, "
	"d.gpu,"
	" d.queue, d.tid, d.flags, d.grid_x, d.grid_y, d.grid_z, d.workgroup_x, d.workgroup_y,"
	" d.workgroup_z, d.lds_bytes, d.scratch_bytes, d.call_ns, d.stream, d.range, d.correlation"
	" FROM (SELECT id FROM rocpd_op ORDER BY end) AS i CROSS JOIN rtl_dispatch AS d"
	" ON d.op_id = i.id CROSS JOIN rocpd_op AS o ON o.id = i.id";

static void take_copy(struct convert *convert, struct convert_source *source,
		      struct work_process *process)
{
	const struct rtl_hsa_copy c = {
		.begin_ns = convert_uint(source, 3),
		.end_ns = convert_uint(source, 4),
		.submit_ns = convert_uint(source, 5),
		.bytes = convert_uint(source, 6),
		.src = convert_uint(source, 7),
		.dst = convert_uint(source, 8),
		.gpu = (uint32_t)convert_uint(source, 9),
		.src_gpu = (uint32_t)convert_uint(source, 10),
		.dst_gpu = (uint32_t)convert_uint(source, 11),
		.direction = (uint32_t)convert_uint(source, 12),
		.kind = (uint32_t)convert_uint(source, 13),
		.submit_tid = (uint32_t)convert_uint(source, 14),
		.flags = (uint32_t)convert_uint(source, 15),
		.status = (uint32_t)convert_uint(source, 16),
		.call_ns = convert_uint(source, 17),
		.hip_stream = convert_uint(source, 18),
		.range = convert_uint(source, 19),
	};
	const uint32_t direction = c.direction < 6 ? c.direction : 0;

	if (convert_wants_gpu(convert, c.gpu) &&
	    convert_wants(convert, convert->work.directions[direction]->text))
		work_copy(&convert->work, process, &c, convert_uint(source, 20));
}

static const char copies[] =
	"SELECT process, ifnull(begin_ns, submit_ns), ifnull(end_ns, submit_ns), begin_ns, end_ns,"
	" submit_ns, bytes, src, dst, gpu, src_gpu, dst_gpu, direction, kind, tid, flags, status,"
	" call_ns, stream, range, correlation FROM rtl_copy ORDER BY 3";

/* ---- what threads do ---- */

static void take_call(struct convert *convert, struct convert_source *source,
		      struct work_process *process)
{
	struct convert_input *input = source->input;
	const bool is_hip = sqlite3_column_type(source->rows, 9) != SQLITE_NULL;
	const struct work_call call = {
		.function = convert_string(convert, input, (int64_t)convert_uint(source, 4)),
		.status = convert_string(convert, input, (int64_t)convert_uint(source, 6)),
		.is_hip = is_hip,
		.unfinished = is_hip && convert_uint(source, 9) & RTL_HIP_CALL_UNFINISHED,
		.begin_ns = convert_uint(source, 1),
		.end_ns = convert_uint(source, 2),
		.correlation = convert_uint(source, 7),
		.result = sqlite3_column_int64(source->rows, 8),
		.tid = (uint32_t)convert_uint(source, 3),
		.work = (uint32_t)convert_uint(source, 10),
		.arguments = (const char *)sqlite3_column_text(source->rows, 12),
		.arguments_length = (uint32_t)sqlite3_column_bytes(source->rows, 12),
	};
	struct work_call shown = call;

	if (!call.function || !convert_wants(convert, call.function->text))
		return;
	if (call.status && strcmp(call.status->text, "(unnamed)") == 0)
		shown.status = NULL;
	work_call(&convert->work, process, &shown);
}

static void take_range(struct convert *convert, struct convert_source *source,
		       struct work_process *process)
{
	const char *name = (const char *)sqlite3_column_text(source->rows, 12);
	const uint64_t flags = convert_uint(source, 15);
	const struct work_range range = {
		.name = name ? name : "",
		.name_length = (uint32_t)sqlite3_column_bytes(source->rows, 12),
		.is_mark = !convert_uint(source, 13),
		.unfinished = flags & RTL_ROCTX_UNFINISHED,
		.started = flags & RTL_ROCTX_STARTED,
		.cut = flags & RTL_ROCTX_CUT,
		.begin_ns = convert_uint(source, 1),
		.end_ns = convert_uint(source, 2),
		.id = convert_uint(source, 14),
		.tid = (uint32_t)convert_uint(source, 3),
		.end_tid = (uint32_t)convert_uint(source, 16),
	};

	if (convert_wants(convert, range.name))
		work_range(&convert->work, process, &range);
}

static void take_api(struct convert *convert, struct convert_source *source,
		     struct work_process *process)
{
	if (sqlite3_column_type(source->rows, 5) == SQLITE_NULL)
		take_range(convert, source, process);
	else
		take_call(convert, source, process);
}

/* Calls, and ranges and marks: both are rows of rocpd_api. */
static const char apis[] =
	"SELECT ifnull(c.process, m.process), a.start, a.end, a.tid, a.apiName_id, c.api_id,"
	" c.status_id, c.correlation, c.result, c.flags, c.work, k.string = 'launch', u.string,"
	" m.is_range, m.id, m.flags, m.end_tid"
	" FROM (SELECT id FROM rocpd_api ORDER BY end) AS i CROSS JOIN rocpd_api AS a"
	" ON a.id = i.id LEFT JOIN rtl_call AS c ON c.api_id = i.id LEFT JOIN rtl_marker AS m"
	" ON m.api_id = i.id LEFT JOIN rocpd_string AS k ON k.id = a.category_id"
	" LEFT JOIN rocpd_ustring AS u ON u.id = a.args_id"
	" WHERE c.api_id IS NOT NULL OR m.api_id IS NOT NULL";

static struct timeline_name *text_name(struct convert *convert, struct convert_source *source,
				       int column)
{
	const char *text = (const char *)sqlite3_column_text(source->rows, column);

	return text && *text ? timeline_intern(&convert->timeline, text) : NULL;
}

static void take_memory(struct convert *convert, struct convert_source *source,
			struct work_process *process)
{
	const struct rtl_hsa_mem m = {
		.begin_ns = convert_uint(source, 1),
		.end_ns = convert_uint(source, 2),
		.address = convert_uint(source, 5),
		.bytes = convert_uint(source, 6),
		.in_use_bytes = convert_uint(source, 7),
		.node = (uint32_t)convert_uint(source, 10),
		.kind = (uint32_t)convert_uint(source, 11),
		.flags = (uint32_t)convert_uint(source, 12),
	};
	const struct work_memory memory = {
		.function = text_name(convert, source, 8),
		.status = text_name(convert, source, 9),
		.is_release = convert_uint(source, 4),
		.mem = &m,
		.tid = (uint32_t)convert_uint(source, 3),
	};

	if (memory.function && convert_wants(convert, memory.function->text))
		work_memory(&convert->work, process, &memory);
}

static const char memories[] =
	"SELECT process, begin_ns, end_ns, tid, is_release, address, bytes, in_use_bytes, function,"
	" status, node, kind, flags FROM rtl_mem ORDER BY end_ns";

static void take_counter(struct convert *convert, struct convert_source *source,
			 struct work_process *process)
{
	const uint32_t gpu = (uint32_t)convert_uint(source, 3);
	const char *kernel = (const char *)sqlite3_column_text(source->rows, 7);

	if (convert_wants_gpu(convert, gpu) && convert_wants(convert, kernel ? kernel : ""))
		work_hardware_counter(&convert->work, process, gpu,
				      (const char *)sqlite3_column_text(source->rows, 4),
				      (const char *)sqlite3_column_text(source->rows, 5),
				      convert_uint(source, 1), convert_uint(source, 2),
				      sqlite3_column_double(source->rows, 6));
}

/* In the order of their dispatches' ends: of a GPU one is over before the next begins. */
static const char counters[] =
	"SELECT d.process, o.start, o.end, d.gpu, n.string, (SELECT m.value FROM"
	" rtl_tracepoint_metadata AS m JOIN rtl_tracepoint AS t ON t.process = m.process AND"
	" t.uid = m.uid WHERE t.kind = 'counter' AND t.name = n.string AND m.key = 'unit' LIMIT 1),"
	" c.value, k.string FROM rocpd_counter AS c JOIN rtl_dispatch AS d ON d.op_id = c.op_id"
	" JOIN rocpd_op AS o ON o.id = c.op_id JOIN rocpd_string AS n ON n.id = c.name_id"
	" JOIN rocpd_string AS k ON k.id = o.description_id ORDER BY o.end";

static void take_interval(struct convert *convert, struct convert_source *source,
			  struct work_process *process)
{
	const uint32_t gpu = (uint32_t)convert_uint(source, 3);
	const char *name = (const char *)sqlite3_column_text(source->rows, 4);

	if (name && convert_wants_gpu(convert, gpu) && convert_wants(convert, name))
		work_hardware_interval(&convert->work, process, gpu, name,
				       (const char *)sqlite3_column_text(source->rows, 5),
				       convert_uint(source, 1), convert_uint(source, 2),
				       sqlite3_column_type(source->rows, 6) == SQLITE_NULL
					       ? NAN
					       : sqlite3_column_double(source->rows, 6));
}

static const char intervals[] =
	"SELECT process, begin_ns, end_ns, gpu, counter, unit, value FROM rtl_counter_intervals"
	" ORDER BY end_ns";

/* ---- all of it ---- */

static int open_input(struct convert_input *input, const char *path, bool unfinished)
{
	struct database *database = database_open(path, false);
	sqlite3_stmt *rows = NULL;
	int result, status;

	input->path = path;
	if (!database)
		return CLI_FAILED;
	status = database_refuse_unfinished(database, unfinished);
	database_close(database);
	if (status)
		return status;
	if (sqlite3_open_v2(path, &input->db, ONE_THREAD, NULL) != SQLITE_OK)
		return convert_refuse(input);
	result = sqlite3_prepare_v2(input->db, "SELECT 1 FROM rtl_process", -1, &rows, NULL);
	sqlite3_finalize(rows);
	return result == SQLITE_OK ? CLI_OK : convert_refuse_foreign(path);
}

static int64_t ask_number(struct convert_input *input, const char *sql)
{
	sqlite3_stmt *question = NULL;
	int64_t number = 0;

	if (sqlite3_prepare_v2(input->db, sql, -1, &question, NULL) == SQLITE_OK &&
	    sqlite3_step(question) == SQLITE_ROW)
		number = sqlite3_column_int64(question, 0);
	sqlite3_finalize(question);
	return number;
}

/* Makes the file. */
static int begin_output(struct convert *convert, enum timeline_format format)
{
	const char *path = convert->part->path;
	const bool is_hta = convert->job->format == CONVERT_HTA;
	struct timeline *timeline = &convert->timeline;
	int64_t unix_ns, clock_ns;
	const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		return part_failed(convert->part, errno);
	clock_ns = ask_number(&convert->inputs[0], "SELECT time_ns FROM rtl_clock WHERE"
						   " realtime_ns IS NOT NULL LIMIT 1");
	unix_ns = ask_number(&convert->inputs[0], "SELECT realtime_ns FROM rtl_clock WHERE"
						  " realtime_ns IS NOT NULL LIMIT 1");
	if (!timeline_begin(timeline, path, fd, format, convert->first_ns,
			    unix_ns ? unix_ns - clock_ns + (int64_t)convert->first_ns : 0, "",
			    false) ||
	    !work_init(&convert->work, timeline, !is_hta) ||
	    (is_hta && !work_use_kineto_names(&convert->work)))
		return part_failed(convert->part, timeline_error(timeline));
	return CLI_OK;
}

static int add_sources(struct convert *convert, struct convert_input *input)
{
	const struct {
		const char *sql;
		convert_take take;
	} kinds[] = {{apis, take_api},         {dispatches, take_dispatch},
		     {copies, take_copy},      {memories, take_memory},
		     {counters, take_counter}, {intervals, take_interval}};
	int status = convert_add_processes(convert, input);

	convert_name_gpus(convert, input);
	for (size_t i = 0; !status && i < sizeof(kinds) / sizeof(*kinds); i++)
		status = convert_add(convert, input, kinds[i].take, NULL, kinds[i].sql);
	return status ? status : convert_generic(convert, input);
}

/* The row that ended first; NULL: there is none left. */
static struct convert_source *first_source(struct convert *convert)
{
	struct convert_source *first = NULL;

	for (size_t i = 0; i < convert->source_count; i++) {
		struct convert_source *source = &convert->sources[i];

		if (source->rows && (!first || source->end_ns < first->end_ns))
			first = source;
	}
	return first;
}

static void take_row(struct convert *convert, struct convert_source *source)
{
	const struct convert_selection *s = &convert->selection;
	const uint64_t begin = convert_uint(source, 1);
	struct work_process *process = convert_find_process(source->input, convert_uint(source, 0));

	if (process && (!s->to_ns || begin < convert->first_ns + s->to_ns) &&
	    (!s->from_ns || source->end_ns >= convert->first_ns + s->from_ns))
		source->take(convert, source, process);
}

static int take_all(struct convert *convert)
{
	struct progress progress;
	struct convert_source *source;
	uint64_t rows = 0, all = 0;
	int status = CLI_OK;

	for (size_t i = 0; i < convert->input_count; i++)
		all += (uint64_t)ask_number(&convert->inputs[i],
					    "SELECT (SELECT ifnull(max(id), 0) FROM rocpd_api) +"
					    " (SELECT ifnull(max(id), 0) FROM rocpd_op)");
	progress_init(&progress, "converting", false);
	progress.stops = "Ctrl-C stops";
	for (size_t i = 0; !status && i < convert->source_count; i++)
		step(&convert->sources[i], &status);
	while (!status && (source = first_source(convert))) {
		take_row(convert, source);
		step(source, &status);
		if (++rows % TELL_EVERY == 0 && rows < all) {
			progress_tell(&progress, (all - rows) * BYTES_A_ROW);
			work_flush(&convert->work, false);
		}
		if (!status && timeline_error(&convert->timeline))
			status = part_failed(convert->part, timeline_error(&convert->timeline));
	}
	progress_clear(&progress);
	return status;
}

static int finish_output(struct convert *convert)
{
	convert_generic_end(convert);
	if (!convert->selected && convert_selects(&convert->selection))
		return convert_refuse_empty(&convert->selection);
	work_flush(&convert->work, true);
	convert_add_ledgers(convert);
	timeline_finish(&convert->timeline);
	return timeline_error(&convert->timeline)
		       ? part_failed(convert->part, timeline_error(&convert->timeline))
		       : CLI_OK;
}

static void convert_fini(struct convert *convert)
{
	for (size_t i = 0; i < convert->source_count; i++)
		sqlite3_finalize(convert->sources[i].rows);
	convert_generic_fini(convert);
	for (size_t i = 0; i < convert->input_count; i++) {
		struct convert_input *input = &convert->inputs[i];

		for (size_t k = 0; k < input->kernels.hash.capacity; k++)
			free((void *)(uintptr_t)map_at(&input->kernels, k)->value);
		map_fini(&input->kernels);
		map_fini(&input->names);
		map_fini(&input->processes);
		map_fini(&input->tracepoints);
		sqlite3_close(input->db);
	}
	for (size_t i = 0; i < convert->ledger_count; i++)
		free((char *)(size_t)convert->ledgers[i].stream);
	for (size_t i = 0; i < convert->loss_count; i++) {
		free(convert->losses[i].stream);
		free(convert->losses[i].cause);
	}
	free(convert->ledgers);
	free(convert->losses);
	free(convert->sources);
	free(convert->inputs);
	work_fini(&convert->work);
	if (convert->timeline.writer)
		timeline_fini(&convert->timeline, true);
}

static bool has_gpu(const struct convert *convert)
{
	for (size_t i = 0; i < convert->input_count; i++)
		if (convert_has_gpu(convert->inputs[i].db, convert->selection.gpu))
			return true;
	return false;
}

static int convert_inputs(struct convert *convert, enum timeline_format format)
{
	const struct convert_job *job = convert->job;
	int status = CLI_OK;

	for (size_t i = 0; !status && i < job->count; i++) {
		struct convert_input *input = &convert->inputs[convert->input_count++];
		uint64_t first;

		status = open_input(input, job->inputs[i], job->selection.unfinished);
		if (status)
			break;
		first = (uint64_t)ask_number(input, "SELECT min(start_ns) FROM rtl_process");
		if (i == 0 || first < convert->first_ns)
			convert->first_ns = first;
	}
	if (!status && job->format == CONVERT_HTA)
		status = convert_find_only_process(convert);
	if (!status)
		status = begin_output(convert, format);
	for (size_t i = 0; !status && i < job->count; i++)
		status = add_sources(convert, &convert->inputs[i]);
	if (!status && convert->selection.process && !convert->work.processes)
		status = cli_failed("--process %s: there is none with that pid or program; `rtl "
				    "info` lists them",
				    convert->selection.process);
	if (!status && convert->selection.gpu && !has_gpu(convert))
		status = convert_refuse_gpu(convert->selection.gpu);
	if (!status)
		status = take_all(convert);
	return status ? status : finish_output(convert);
}

int convert_timeline(const struct part *part, enum timeline_format format,
		     const struct convert_job *job, uint64_t *slices)
{
	struct convert convert = {.job = job,
				  .selection = job->selection,
				  .part = part,
				  .inputs = calloc(job->count, sizeof(*convert.inputs))};
	int status = convert.inputs ? convert_inputs(&convert, format) : out_of_memory();

	*slices = convert.timeline.slices;
	convert_fini(&convert);
	return status;
}
