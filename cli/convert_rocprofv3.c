/* SPDX-License-Identifier: MIT */
/*
 * convert_rocprofv3.c: JSON as rocprofv3 writes it, which TraceLens reads: an element of
 * "rocprofiler-sdk-tool" for each process, with numbers for names of kernels, functions and kinds.
 * What rtl does not know is 0 or empty. Each record is made of a row by a pattern: # stands for a
 * number of the row, $ for a text of it, ~ for JSON, in the order of its columns.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "convert.h"
#include "convert_rows.h"
#include "file.h"
#include "json.h"
#include "put.h"

#define TELL_EVERY 4096u
#define ROW_ROOM   2048u /* of a pattern, with its numbers */

struct out {
	struct convert_rows rows;
	struct file file;
	int64_t process; /* the one that is written */
	long long first_pid;
	int count; /* of processes */
};

/* ---- rows as text ---- */

static void put(struct out *out, const char *text)
{
	const size_t length = strlen(text);
	char *to = file_room(&out->file, length);

	if (!to)
		return;
	memcpy(to, text, length);
	file_take(&out->file, length);
}

static void put_row(struct out *out, const char *pattern, sqlite3_stmt *row, bool first)
{
	size_t room = ROW_ROOM;
	int column = 0;
	char *begin, *to;

	for (int i = 0; i < sqlite3_column_count(row); i++)
		if (sqlite3_column_type(row, i) == SQLITE_TEXT)
			room += JSON_ESCAPED_MAX * (size_t)sqlite3_column_bytes(row, i);
	begin = to = file_room(&out->file, room);
	if (!begin)
		return;
	to = first ? PUT(to, "\n") : PUT(to, ",\n");
	for (; *pattern; pattern++) {
		if (*pattern == '#') {
			to = put_int(to, sqlite3_column_int64(row, column++));
		} else if (*pattern == '$') {
			const char *text = (const char *)sqlite3_column_text(row, column);

			if (text)
				to = json_escape(to, text,
						 (size_t)sqlite3_column_bytes(row, column));
			column++;
		} else if (*pattern == '~') {
			const size_t bytes = (size_t)sqlite3_column_bytes(row, column);

			if (bytes)
				memcpy(to, sqlite3_column_text(row, column), bytes);
			to += bytes;
			column++;
		} else {
			*to++ = *pattern;
		}
	}
	file_take(&out->file, (size_t)(to - begin));
}

/* All rows of a query, of the process that is ?1. CLI_OK, or CLI_FAILED after a line. */
static int put_rows(struct out *out, const char *pattern, const char *sql)
{
	sqlite3_stmt *rows = NULL;
	uint64_t count = 0;
	int result;

	if (sqlite3_prepare_v2(out->rows.db, sql, -1, &rows, NULL) != SQLITE_OK)
		return convert_rows_missing(&out->rows) ? CLI_OK : convert_rows_refuse(&out->rows);
	sqlite3_bind_int64(rows, 1, out->process);
	while ((result = sqlite3_step(rows)) == SQLITE_ROW && !out->file.error) {
		put_row(out, pattern, rows, count == 0);
		if (++count % TELL_EVERY == 0)
			convert_rows_tell(&out->rows, TELL_EVERY);
	}
	convert_rows_tell(&out->rows, count % TELL_EVERY);
	sqlite3_finalize(rows);
	return result == SQLITE_DONE || out->file.error ? CLI_OK : convert_rows_refuse(&out->rows);
}

/* A part of the element: what stands before the rows and behind them, each as it is; what follows. */
struct section {
	const char *before, *pattern, *sql, *after;
	int (*next)(struct out *out);
};

/* ---- kinds and operations ---- */

/* By their places in strings.buffer_records, as rocprofv3 of ROCm 7.1 has them. */
static const char *const kinds[] = {
	"NONE",
	"HSA_CORE_API",
	"HSA_AMD_EXT_API",
	"HSA_IMAGE_EXT_API",
	"HSA_FINALIZE_EXT_API",
	"HIP_RUNTIME_API",
	"HIP_COMPILER_API",
	"MARKER_CORE_API",
	"MARKER_CONTROL_API",
	"MARKER_NAME_API",
	"MEMORY_COPY",
	"KERNEL_DISPATCH",
	"SCRATCH_MEMORY",
	"CORRELATION_ID_RETIREMENT",
	"RCCL_API",
	"OMPT",
	"MEMORY_ALLOCATION",
	"RUNTIME_INITIALIZATION",
	"ROCDECODE_API",
	"ROCJPEG_API",
	"HIP_STREAM",
	"HIP_RUNTIME_API_EXT",
	"HIP_COMPILER_API_EXT",
	"ROCDECODE_API_EXT",
	"KFD_EVENT_PAGE_MIGRATE",
	"KFD_EVENT_PAGE_FAULT",
	"KFD_EVENT_QUEUE",
	"KFD_EVENT_UNMAP_FROM_GPU",
	"KFD_EVENT_DROPPED_EVENTS",
	"KFD_PAGE_MIGRATE",
	"KFD_PAGE_FAULT",
	"KFD_QUEUE",
	"MARKER_CORE_RANGE_API",
};

/* Names of calls get numbers in the order in which they are in the trace's table of texts. */
static const char operations_of_calls[] =
	"CREATE TEMP TABLE c_operation AS SELECT row_number() OVER (PARTITION BY is_hip ORDER BY"
	" name_id) - 1 AS number, is_hip, name_id, name FROM (SELECT DISTINCT is_hip, name_id,"
	" name FROM c_call);CREATE UNIQUE INDEX temp.c_operation_of ON c_operation (is_hip,"
	" name_id)";

static int put_operations(struct out *out, const char *kind)
{
	static const struct {
		const char *kind, *sql;
	} lists[] = {
		{"HSA_CORE_API",
		 "SELECT name FROM c_operation WHERE NOT is_hip AND ?1 ORDER BY number"},
		{"HIP_RUNTIME_API_EXT",
		 "SELECT name FROM c_operation WHERE is_hip AND ?1 ORDER BY number"},
		{"MEMORY_COPY",
		 "VALUES ('MEMORY_COPY_NONE'), (rtl_direction(5)), (rtl_direction(1)),"
		 " (rtl_direction(2)), (rtl_direction(3))"},
		{"KERNEL_DISPATCH", "VALUES ('KERNEL_DISPATCH_NONE'), ('KERNEL_DISPATCH_ENQUEUE'),"
				    " ('KERNEL_DISPATCH_COMPLETE')"},
		{"MEMORY_ALLOCATION",
		 "VALUES ('MEMORY_ALLOCATION_NONE'), ('MEMORY_ALLOCATION_ALLOCATE'),"
		 " ('MEMORY_ALLOCATION_VMEM_ALLOCATE'), ('MEMORY_ALLOCATION_FREE'),"
		 " ('MEMORY_ALLOCATION_VMEM_FREE')"},
		{"MARKER_CORE_RANGE_API",
		 "VALUES ('roctxMarkA'), ('roctxThreadRangeA'), ('roctxProcessRangeA'),"
		 " ('roctxGetThreadId')"},
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (strcmp(lists[i].kind, kind) == 0)
			return put_rows(out, "\"$\"", lists[i].sql);
	return CLI_OK;
}

static int put_kinds(struct out *out)
{
	int status = CLI_OK;

	put(out, "\"buffer_records\":[");
	for (size_t i = 0; !status && i < sizeof(kinds) / sizeof(*kinds); i++) {
		put(out, i ? "]},\n{\"kind\":\"" : "\n{\"kind\":\"");
		put(out, kinds[i]);
		put(out, "\",\"operations\":[");
		status = put_operations(out, kinds[i]);
	}
	put(out, "]}],\n");
	return status;
}

/* ---- an element ---- */

static const char metadata[] =
	"\"metadata\":{\"node\":{\"id\":0,\"hash\":0,\"machine_id\":\"\",\"system_name\":\"Linux\","
	"\"hostname\":\"$\",\"release\":\"\",\"version\":\"\",\"hardware_name\":\"\","
	"\"domain_name\":\"\"},\"pid\":#,\"ppid\":#,\"init_time\":#,\"fini_time\":#,"
	"\"command\":[\"$\"],\"config\":{}},\n";

/* Numbers of ranges and marks, beyond those of calls. */
#define MARKER "4503599627370496 + id"

static const struct section sections[] = {
	{"\"agents\":[",
	 "{\"size\":0,\"id\":{\"handle\":#},\"type\":#,\"cu_count\":#,\"wave_front_size\":#,"
	 "\"max_engine_clk_fcompute\":#,\"local_mem_size\":#,\"name\":\"$\",\"vendor_name\":\"$\","
	 "\"product_name\":\"$\",\"model_name\":\"\",\"node_id\":#,\"logical_node_id\":#,"
	 "\"logical_node_type_id\":#,\"uuid\":\"$\",\"bus_id\":\"$\"}",
	 "SELECT id, 1 + is_gpu, compute_units, wavefront_size, clock_mhz, memory_bytes, name,"
	 " CASE WHEN is_gpu THEN 'AMD' ELSE 'CPU' END, product, id, row_number() OVER (ORDER BY"
	 " id) - 1, place, uuid, bus_id FROM c_agent WHERE process = ?1 ORDER BY id",
	 "],\n", NULL},
	{"\"counters\":[",
	 "{\"size\":0,\"agent_id\":{\"handle\":#},\"id\":{\"handle\":#},\"is_constant\":0,"
	 "\"is_derived\":#,\"name\":\"$\",\"description\":\"$\",\"block\":\"$\","
	 "\"expression\":\"\",\"dimension_ids\":[]}",
	 "SELECT gpu, id, derived, name, description, block FROM c_pmc WHERE process = ?1 ORDER BY"
	 " id",
	 "],\n\"strings\":{\"callback_records\":[],\n", put_kinds},
	{"\"marker_api\":[", "{\"key\":#,\"value\":\"$\"}",
	 "SELECT " MARKER ", name FROM c_marker WHERE process = ?1 ORDER BY id",
	 "],\n\"correlation_id\":{\"external\":[]},\n\"counters\":{\"dimension_ids\":[]},"
	 "\"pc_sample_instructions\":[],\"pc_sample_comments\":[],\"att_filenames\":[],"
	 "\"code_object_snapshot_filenames\":[]},\n",
	 NULL},
	{"\"code_objects\":[",
	 "{\"size\":0,\"code_object_id\":#,\"agent_id\":{\"handle\":0},\"uri\":\"$\","
	 "\"load_base\":0,\"load_size\":0,\"load_delta\":0,\"storage_type\":0}",
	 "SELECT min(id), code FROM c_kernel WHERE process = ?1 GROUP BY code ORDER BY 1", "],\n",
	 NULL},
	{"\"kernel_symbols\":[",
	 "{\"size\":0,\"kernel_id\":#,\"code_object_id\":#,\"kernel_name\":\"$\","
	 "\"kernel_object\":#,\"kernarg_segment_size\":#,\"kernarg_segment_alignment\":0,"
	 "\"group_segment_size\":#,\"private_segment_size\":#,\"sgpr_count\":#,"
	 "\"arch_vgpr_count\":#,\"accum_vgpr_count\":#,\"kernel_code_entry_byte_offset\":0,"
	 "\"kernel_address\":{\"handle\":0},\"formatted_kernel_name\":\"$\","
	 "\"demangled_kernel_name\":\"$\",\"truncated_kernel_name\":\"$\"}",
	 "SELECT id, (SELECT min(id) FROM c_kernel AS o WHERE o.process = k.process AND o.code"
	 " IS k.code), symbol, object, kernarg_bytes, lds_bytes, scratch_bytes, sgprs, vgprs,"
	 " agprs, name, name, name FROM c_kernel AS k WHERE process = ?1 ORDER BY id",
	 "],\n\"host_functions\":[],\n\"summary\":[],\n", NULL},
#define DISPATCH                                                                                   \
	"\"dispatch_info\":{\"size\":0,\"agent_id\":{\"handle\":#},"                               \
	"\"queue_id\":{\"handle\":#},\"kernel_id\":#,\"dispatch_id\":#,"                           \
	"\"private_segment_size\":#,\"group_segment_size\":#,"                                     \
	"\"workgroup_size\":{\"x\":#,\"y\":#,\"z\":#},"                                            \
	"\"grid_size\":{\"x\":#,\"y\":#,\"z\":#}}"
#define OF_DISPATCH                                                                                \
	" d.gpu, d.queue, k.id, d.id, d.scratch_bytes, d.lds_bytes, d.workgroup_x, d.workgroup_y," \
	" d.workgroup_z, d.grid_x, d.grid_y, d.grid_z,"
#define ITS_KERNEL                                                                                 \
	" CROSS JOIN c_kernel AS k ON k.process = d.process AND k.uid = d.uid AND k.name_id ="     \
	" d.name_id"
	/* A metric without a value is null. */
	{"\"callback_records\":{\"counter_collection\":[",
	 "{\"thread_id\":#,\"dispatch_data\":{\"size\":0,\"correlation_id\":{\"internal\":#,"
	 "\"external\":0},\"start_timestamp\":#,\"end_timestamp\":#," DISPATCH "},"
	 "\"arch_vgpr_count\":#,\"sgpr_count\":#,\"lds_block_size_v\":#,\"records\":~}",
	 "SELECT d.tid, d.correlation, d.begin_ns, d.end_ns," OF_DISPATCH " k.vgprs, k.sgprs,"
	 " d.lds_bytes, json_group_array(json_object('counter_id', json_object('handle', p.id),"
	 " 'value', c.value)) FROM c_counter AS c CROSS JOIN c_pmc AS p ON p.process = c.process"
	 " AND p.gpu = c.gpu AND p.name_id = c.name_id CROSS JOIN c_dispatch AS d ON d.id ="
	 " c.op_id" ITS_KERNEL " WHERE c.process = ?1 GROUP BY c.op_id",
	 "]},\n\"buffer_records\":{\n", NULL},
#define RECORD(kind)                                                                               \
	"{\"size\":0,\"kind\":" kind ",\"operation\":#,\"thread_id\":#,\"correlation_id\":{"       \
	"\"internal\":#,\"external\":0,\"ancestor\":#},\"start_timestamp\":#,"                     \
	"\"end_timestamp\":#"
	{"\"kernel_dispatch\":[", RECORD("11") "," DISPATCH ",\"stream_id\":{\"handle\":#}}",
	 "SELECT 2, d.tid, d.correlation, 0, d.begin_ns, d.end_ns," OF_DISPATCH " s.number FROM"
	 " c_dispatch AS d" ITS_KERNEL " CROSS JOIN c_stream AS s ON s.process = d.process AND"
	 " s.stream = d.stream WHERE d.process = ?1 ORDER BY d.id",
	 "],\n", NULL},
	{"\"hip_api\":[", RECORD("21") "}",
	 "SELECT o.number, c.tid, c.correlation, 0, c.begin_ns, c.end_ns FROM c_call AS c CROSS"
	 " JOIN c_operation AS o ON o.is_hip AND o.name_id = c.name_id WHERE c.is_hip AND"
	 " c.process = ?1 ORDER BY c.id",
	 "],\n", NULL},
	{"\"hsa_api\":[", RECORD("1") "}",
	 "SELECT o.number, c.tid, c.instance, c.correlation, c.begin_ns, c.end_ns FROM c_call AS"
	 " c CROSS JOIN c_operation AS o ON NOT o.is_hip AND o.name_id = c.name_id WHERE NOT"
	 " c.is_hip AND c.process = ?1 ORDER BY c.id",
	 "],\n", NULL},
	{"\"marker_api\":[", RECORD("32") "}",
	 "SELECT CASE WHEN NOT is_range THEN 0 WHEN started THEN 2 ELSE 1 END, tid, " MARKER ", 0,"
	 " begin_ns, end_ns FROM c_marker WHERE process = ?1 ORDER BY id",
	 "],\n\"rccl_api\":[],\n", NULL},
	/* What fills memory is no copy to rocprofv3. */
	{"\"memory_copy\":[",
	 RECORD("10") ",\"dst_agent_id\":{\"handle\":#},\"src_agent_id\":{\"handle\":#},"
		      "\"bytes\":#,\"dst_address\":\"$\",\"src_address\":\"$\","
		      "\"stream_id\":{\"handle\":#}}",
	 "SELECT CASE c.direction WHEN 5 THEN 1 WHEN 1 THEN 2 WHEN 2 THEN 3 ELSE 4 END, c.tid, "
	 "c.correlation, 0, c.begin_ns, c.end_ns, CASE WHEN c.dst_gpu THEN c.dst_gpu"
	 " ELSE h.agent END, CASE WHEN c.src_gpu THEN c.src_gpu ELSE h.agent END, c.bytes,"
	 " printf('0x%x', c.dst), printf('0x%x', c.src), s.number FROM c_copy AS c CROSS JOIN"
	 " c_stream AS s ON s.process = c.process AND s.stream = c.stream CROSS JOIN c_host AS h"
	 " ON h.process = c.process WHERE c.kind <> 4 AND c.process = ?1 ORDER BY c.id",
	 "],\n", NULL},
	{"\"memory_allocation\":[",
	 RECORD("16") ",\"agent_id\":{\"handle\":#},\"address\":\"$\",\"allocation_size\":#}",
	 "SELECT 1 + 2 * is_release + is_virtual, tid, correlation, 0, begin_ns, end_ns, node,"
	 " printf('0x%x', address), bytes FROM c_mem WHERE process = ?1 ORDER BY id",
	 "],\n\"scratch_memory\":[],\"rocdecode_api\":[],\"rocjpeg_api\":[],"
	 "\"pc_sample_host_trap\":[],\"pc_sample_stochastic\":[]}}",
	 NULL},
};

static int put_process(struct out *out, sqlite3_stmt *row, bool first)
{
	int status = CLI_OK;

	out->process = sqlite3_column_int64(row, 6);
	put(out, first ? "{" : ",\n{");
	put_row(out, metadata, row, true);
	for (size_t i = 0; !status && i < sizeof(sections) / sizeof(*sections); i++) {
		const struct section *s = &sections[i];

		put(out, s->before);
		status = put_rows(out, s->pattern, s->sql);
		put(out, s->after);
		if (!status && s->next)
			status = s->next(out);
	}
	return status;
}

/* Readers look at the first one only: that is the one with the most kernels. */
static int put_processes(struct out *out)
{
	sqlite3_stmt *rows = NULL;
	int status = CLI_OK, count = 0, result = SQLITE_DONE;

	if (sqlite3_prepare_v2(out->rows.db,
			       "SELECT host_name, pid, parent_pid, start_ns, end_ns, command,"
			       " process FROM c_process AS p LEFT JOIN (SELECT process,"
			       " sum(kernels) AS kernels FROM c_seen GROUP BY process)"
			       " USING (process) ORDER BY kernels DESC, process",
			       -1, &rows, NULL) != SQLITE_OK)
		return convert_rows_refuse(&out->rows);
	while (!status && !out->file.error && (result = sqlite3_step(rows)) == SQLITE_ROW) {
		if (count++ == 0)
			out->first_pid = sqlite3_column_int64(rows, 1);
		status = put_process(out, rows, count == 1);
	}
	sqlite3_finalize(rows);
	if (!status && !out->file.error && result != SQLITE_DONE)
		status = convert_rows_refuse(&out->rows);
	out->count = count;
	return status;
}

/* ---- the file ---- */

static int write_all(struct out *out)
{
	int status = convert_rows_objects(&out->rows);

	if (!status)
		status = convert_rows_run(&out->rows, operations_of_calls);
	put(out, "{\"producer\":\"rtl\",\"rocprofiler-sdk-tool\":[\n");
	if (!status)
		status = put_processes(out);
	put(out, "]}\n");
	return status;
}

int convert_rocprofv3(const struct part *part, bool compressed, const char *input,
		      const struct convert_selection *selection)
{
	struct out out = {0};
	int status = convert_rows_open(&out.rows, input, selection);

	if (!status)
		status = convert_rows_check(&out.rows);

	const int fd = status ? -1 : open(part->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (!status && fd < 0)
		status = part_failed(part, errno);
	if (!status && !file_open(&out.file, compressed, fd))
		status = cli_failed("out of memory");
	if (!status) {
		status = write_all(&out);
		file_finish(&out.file, "", 0);
		file_close(&out.file);
		if (!status && out.file.error)
			status = part_failed(part, out.file.error);
	}
	if (!status && out.count > 1)
		cli_error("there are %d processes, of which TraceLens reads the first, pid %lld; "
			  "--process chooses another",
			  out.count, out.first_pid);
	convert_rows_close(&out.rows);
	return status;
}
