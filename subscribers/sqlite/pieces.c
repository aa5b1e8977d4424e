/* SPDX-License-Identifier: MIT */
/*
 * pieces.c: views that are put together of several streams' tables, as these appear: rtl_span (what begins
 * and ends in a program's own streams, and in XPTI's), and of XPTI rtl_node, rtl_edge and rtl_xpti_value. Which pieces
 * a view has says its own SQL, so a host that continues an output goes on with it.
 */
#include "sub.h"

#include "embed.h"
#include "pairing.h"

#include <rtl/events.h>
#include <string.h>

#include "events/events.h"

EMBED(schema_views_xpti, RTL_SQLITE_FOLDER "/views_xpti.sql");

/* Constants of tables.sql. */
#define USER_MARKER 7
#define ROCTX       6
#define SYCL        21
#define UNNAMED     22

/* Adds a SELECT to a view, unless it has what stands in the table already. Takes the piece. */
static void add_piece(struct sub *sub, const char *view, const char *table, char *piece)
{
	struct writer *w = &sub->writer;
	sqlite3_stmt *question = writer_ask(
		w,
		"SELECT sql FROM sqlite_master WHERE name = %Q AND instr(sql, '\"%w\" AS b') = 0",
		view, table);
	char *sql = NULL;

	while (writer_next(w, question))
		sql = sqlite3_mprintf("DROP VIEW %s; %s UNION ALL %s", view,
				      sqlite3_column_text(question, 0), piece);
	if (sql && piece)
		writer_exec(w, sql);
	sqlite3_free(sql);
	sqlite3_free(piece);
}

/* ---- a program's own streams ---- */

/* What a region is called: as its tracepoint is, or by a string or text in it; `e`: an end may say it. */
static char *name_expression(const struct rtl_type_info *begin, const struct rtl_type_info *end)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);
	const struct rtl_type_info *const both[] = {begin, end};

	sqlite3_str_appendall(sql, "coalesce(nullif(t.label, 1)");
	for (int i = 0; i < 2; i++) {
		const struct rtl_field *string = pairing_field(both[i], RTL_KIND_STRING, 0, NULL);
		const struct rtl_field *text = pairing_field(both[i], RTL_KIND_TEXT, 0, NULL);

		if (string)
			sqlite3_str_appendf(sql, ", nullif(%s.\"%w_id\", 1)", i ? "e" : "b",
					    string->name);
		if (text)
			sqlite3_str_appendf(sql, ", nullif(%s.\"%w_id\", 1)", i ? "e" : "b",
					    text->name);
	}
	sqlite3_str_appendf(sql, ", %d)", UNNAMED);
	return sqlite3_str_finish(sql);
}

static void add_pair(struct sub *sub, int64_t number, const struct pairing_kind *kind,
		     const struct rtl_type_info *begin, const char *begins,
		     const struct rtl_type_info *end, const char *ends)
{
	char *name = name_expression(begin, end);

	add_piece(
		sub, "rtl_span", begins,
		sqlite3_mprintf(
			"SELECT b.id, b.process, %lld, %Q, 0, 0, b.uid, b.parent_uid, b.instance,"
			" b.correlation, NULL, e.id IS NULL, b.tid, b.time_ns,"
			" max(b.time_ns, coalesce(e.time_ns, p.end_ns, p.last_ns)), %d, 1, %d, %s"
			" FROM \"%w\" AS b LEFT JOIN \"%w\" AS e ON e.instance = b.instance"
			" AND e.process = b.process JOIN rtl_process AS p ON p.process = b.process"
			" LEFT JOIN rtl_tracepoint AS t ON t.process = b.process AND t.uid = b.uid"
			" WHERE e.id NOT NULL OR p.end_ns NOT NULL",
			(long long)number, kind->name, USER_MARKER, ROCTX, name, begins, ends));
	sqlite3_free(name);
}

static void add_whole(struct sub *sub, int64_t number, const struct pairing_kind *kind,
		      const struct rtl_type_info *end, const char *ends)
{
	char *name = name_expression(end, NULL);

	add_piece(
		sub, "rtl_span", ends,
		sqlite3_mprintf(
			"SELECT b.id, b.process, %lld, %Q, 0, 0, b.uid, b.parent_uid, b.instance,"
			" b.correlation, NULL, 0, b.tid, b.begin_ns, max(b.begin_ns, b.end_ns), %d,"
			" 1, %d, %s FROM \"%w\" AS b LEFT JOIN rtl_tracepoint AS t"
			" ON t.process = b.process AND t.uid = b.uid"
			" WHERE b.begin_ns > 0 AND b.end_ns > 0",
			(long long)number, kind->name, USER_MARKER, ROCTX, name, ends));
	sqlite3_free(name);
}

static void add_region(struct sub *sub, const struct rtl_stream_info *stream, int64_t number,
		       const struct rtl_type_info *type, const char *view)
{
	for (const struct pairing_kind *k = pairing_kinds; k < pairing_kinds + PAIRING_KINDS; k++) {
		const struct rtl_type_info *begin = rtl_stream_find_type(stream, k->begin);
		const struct rtl_type_info *end = rtl_stream_find_type(stream, k->begin + 1);
		char other[256];

		if (type != begin && type != end)
			continue;
		if (type == end && pairing_has_times(end))
			add_whole(sub, number, k, end, view);
		else if (begin && end && !pairing_has_times(end) &&
			 store_view(sub, stream, type == begin ? end : begin, other, sizeof(other)))
			add_pair(sub, number, k, begin, type == begin ? view : other, end,
				 type == begin ? other : view);
	}
}

/* ---- XPTI ---- */

/* Whether it is as streams/events/xpti.toml describes one: its name may be any. */
static bool is_xpti(const struct rtl_stream_info *info)
{
	const struct rtl_type_info *type = rtl_stream_find_type(info, RTL_OTHER);

	return type && info->version_major == RTL_STREAM_XPTI_VERSION &&
	       type->payload_size >= sizeof(struct rtl_xpti) && type->field_count >= 2 &&
	       strcmp(rtl_type_field(type, 0)->name, "begin_ns") == 0 &&
	       strcmp(rtl_type_field(type, 1)->name, "object") == 0;
}

/* Columns that an end has, or a begin whose end never came. */
#define XPTI_SPAN                                                                                  \
	"SELECT b.id, b.process, %lld, %Q, b.object, b.parent, b.uid, b.parent_uid, b.instance,"   \
	" b.correlation, "
#define XPTI_NAMES                                                                                 \
	" %s, %lld, %d, %s FROM \"%w\" AS b"                                                       \
	" LEFT JOIN rtl_tracepoint AS t ON t.process = b.process AND t.uid = b.uid"

static void add_xpti_span(struct sub *sub, const struct rtl_stream_info *stream, int64_t number,
			  const struct pairing_kind *kind, uint16_t type, const char *view)
{
	const bool is_call = strcmp(kind->xpti, "call") == 0, is_end = type == kind->begin + 1;
	const long long category = string_id(sub, kind->xpti, strlen(kind->xpti));
	char *name = is_call ? sqlite3_mprintf("coalesce(nullif(b.text_id, 1), %lld)", category)
		     : kind->begin == RTL_TASK_BEGIN
			     ? sqlite3_mprintf("coalesce(nullif(t.label, 1), %lld)", category)
			     : sqlite3_mprintf("%lld", category);
	const char *args = !is_call ? "b.text_id"
			   : is_end && pairing_field(rtl_stream_find_type(stream, type),
						     RTL_KIND_TEXT, 0, "arguments")
				   ? "b.arguments_id"
				   : "1";
	char other[256];

	if (is_end)
		add_piece(sub, "rtl_span", view,
			  sqlite3_mprintf(
				  XPTI_SPAN
				  "%s, 0, b.tid, ifnull(min(b.begin_ns, b.time_ns), b.time_ns),"
				  " b.time_ns," XPTI_NAMES,
				  (long long)number, kind->xpti,
				  type == RTL_FUNCTION_WITH_ARGS_END ? "b.result" : "NULL", name,
				  category, SYCL, args, view));
	else if (store_view(sub, stream, rtl_stream_find_type(stream, kind->begin + 1), other,
			    sizeof(other)))
		add_piece(sub, "rtl_span", view,
			  sqlite3_mprintf(XPTI_SPAN
					  "NULL, 1, b.tid, b.time_ns, max(b.time_ns, "
					  "ifnull(p.end_ns, p.last_ns))," XPTI_NAMES
					  " LEFT JOIN \"%w\" AS e ON e.instance = b.instance"
					  " AND e.object = b.object AND e.process = b.process"
					  " JOIN rtl_process AS p ON p.process = b.process"
					  " WHERE e.id IS NULL AND p.end_ns NOT NULL",
					  (long long)number, kind->xpti, name, category, SYCL, args,
					  view, other));
	sqlite3_free(name);
}

/* Values of keys of an object's metadata. */
#define METADATA(key) "json_extract(a.json, '$." key "[1]')"
#define KERNEL        METADATA("kernel_name")
#define DEVICE_NAME   METADATA("sycl_device_name")
#define DEVICE_TYPE   METADATA("sycl_device_type")
#define QUEUE         METADATA("queue_id")

#define TRACEPOINT " LEFT JOIN rtl_tracepoint AS t ON t.process = b.process AND t.uid = b.uid"

static const char node[] =
	"SELECT b.process, b.object, nullif(b.parent, 0), t.name, nullif(b.text, ''), " KERNEL
	", nullif(t.source, ''), nullif(t.line, 0), ifnull(" DEVICE_NAME ", " DEVICE_TYPE
	"), " QUEUE ", b.time_ns, b.tid, b.uid, b.instance, nullif(b.metadata, '') FROM \"%w\" AS b"
	" LEFT JOIN rtl_args AS a ON a.id = b.metadata_id" TRACEPOINT;
static const char edge[] =
	"SELECT b.process, b.object, nullif(b.parent, 0), b.source, b.target, t.name, b.time_ns"
	" FROM \"%w\" AS b" TRACEPOINT;
static const char value[] =
	"SELECT b.id, b.process, b.object, j.key, json_extract(j.value, '$[0]'),"
	" json_extract(j.value, '$[1]') FROM \"%w\" AS b JOIN rtl_args AS a"
	" ON a.id = b.metadata_id, json_each(a.json) AS j WHERE b.object <> 0";

static void add_objects(struct sub *sub, uint16_t type, const char *view)
{
	const bool is_node = type == RTL_NODE_CREATE;

	if (is_node)
		add_piece(sub, "rtl_node", view, sqlite3_mprintf(node, view));
	if (type == RTL_EDGE_CREATE)
		add_piece(sub, "rtl_edge", view, sqlite3_mprintf(edge, view));
	else if (is_node || type == RTL_METADATA || type == RTL_QUEUE_CREATE ||
		 type == RTL_GRAPH_CREATE)
		add_piece(sub, "rtl_xpti_value", view, sqlite3_mprintf(value, view));
}

static void add_xpti(struct sub *sub, const struct rtl_stream_info *stream, int64_t number,
		     uint16_t type, const char *view)
{
	if (!writer_ask_int(&sub->writer,
			    "SELECT count(*) FROM sqlite_master WHERE name = 'rtl_node'"))
		writer_exec(&sub->writer, schema_views_xpti);
	add_objects(sub, type, view);
	for (const struct pairing_kind *k = pairing_kinds; k < pairing_kinds + PAIRING_KINDS; k++)
		if (k->xpti && (type == k->begin || type == k->begin + 1) &&
		    rtl_stream_find_type(stream, k->begin + 1))
			add_xpti_span(sub, stream, number, k, type, view);
}

/* ---- */

static bool has_views(const struct rtl_stream_info *stream)
{
	static const struct rtl_stream_info *const known[] = {EVENTS_STREAMS};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i]->name, stream->name) == 0)
			return true;
	return false;
}

void pieces_add(struct sub *sub, const struct rtl_stream_info *stream, int64_t number,
		const struct rtl_type_info *type, const char *view)
{
	if (!stream->name || has_views(stream) || !writer_begin(&sub->writer))
		return;
	if (is_xpti(stream))
		add_xpti(sub, stream, number, type->type, view);
	else
		add_region(sub, stream, number, type, view);
}
