/* SPDX-License-Identifier: MIT */
/* pieces.c: views that are put together of several streams' tables, as these appear: rtl_span (what begins and ends in
 * a program's own streams, and in XPTI's), and of XPTI rtl_node, rtl_edge and rtl_xpti_value. pieces.sql makes the
 * pieces. Which a view has says its own SQL, so a host that continues an output goes on with it. */
#include "sub.h"

#include "embed.h"
#include "pairing.h"

#include <rtl/events.h>

#include "events/events.h"

EMBED(schema_views_xpti, RTL_SQLITE_FOLDER "/views_xpti.sql");
EMBED(schema_pieces, RTL_SQLITE_FOLDER "/pieces.sql");

/* Whether it is as streams/events/xpti.toml describes one: its name may be any. */
static bool is_xpti(const struct rtl_stream_info *info)
{
	const struct rtl_type_info *type = rtl_stream_find_type(info, RTL_OTHER);

	return type && info->version_major == RTL_STREAM_XPTI_VERSION &&
	       type->payload_size >= sizeof(struct rtl_xpti) && type->field_count >= 2 &&
	       strcmp(rtl_type_field(type, 0)->name, "begin_ns") == 0 &&
	       strcmp(rtl_type_field(type, 1)->name, "object") == 0;
}

static bool has_views(const struct rtl_stream_info *stream)
{
	static const struct rtl_stream_info *const known[] = {EVENTS_STREAMS};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i]->name, stream->name) == 0)
			return true;
	return false;
}

/* What a type begins or ends; NULL: nothing. */
static const struct pairing_kind *kind_of(uint16_t type, bool xpti)
{
	for (const struct pairing_kind *k = pairing_kinds; k < pairing_kinds + PAIRING_KINDS; k++)
		if (type == k->begin || type == k->begin + 1)
			return xpti && !k->xpti ? NULL : k;
	return NULL;
}

void pieces_add(struct sub *sub, const struct rtl_stream_info *stream, int64_t number,
		const struct rtl_type_info *type, const char *view)
{
	const bool xpti = is_xpti(stream);
	const struct pairing_kind *kind = kind_of(type->type, xpti);
	const char *name = !kind ? NULL : xpti ? kind->xpti : kind->name;
	const struct rtl_type_info *begin = kind ? rtl_stream_find_type(stream, kind->begin) : NULL;
	const struct rtl_type_info *end =
		kind ? rtl_stream_find_type(stream, kind->begin + 1) : NULL;
	const bool begins = kind && type->type == kind->begin;
	struct writer *w = &sub->writer;
	sqlite3_stmt *question;
	char other[256] = "", *sql = NULL;

	if (!stream->name || has_views(stream) || !writer_begin(w))
		return;
	if (xpti &&
	    !writer_ask_int(w, "SELECT count(*) FROM sqlite_master WHERE name = 'rtl_node'"))
		writer_exec(w, schema_views_xpti);
	if (begin && end && (xpti ? begins : !pairing_has_times(end)) &&
	    !store_view(sub, stream, begins ? end : begin, other, sizeof(other)))
		return;
	question = writer_ask(w, "%s", schema_pieces);
	sqlite3_bind_int64(question, 1, number);
	sqlite3_bind_int(question, 2, type->type);
	sqlite3_bind_text(question, 3, view, -1, SQLITE_STATIC);
	sqlite3_bind_text(question, 4, *other ? other : NULL, -1, SQLITE_STATIC);
	if (kind)
		sqlite3_bind_int(question, 5, kind->begin);
	sqlite3_bind_text(question, 6, name, -1, SQLITE_STATIC);
	if (kind && xpti)
		sqlite3_bind_int64(question, 7, string_id(sub, name, strlen(name)));
	sqlite3_bind_int(question, 8, xpti);
	while (writer_next(w, question))
		if (sqlite3_column_text(question, 0))
			sql = sqlite3_mprintf("%s", sqlite3_column_text(question, 0));
	if (sql)
		writer_exec(w, sql);
	sqlite3_free(sql);
}
