/* SPDX-License-Identifier: MIT */
/* store.c: events, each once, as their stream describes them: a row in the table of its type,
 * rtl_s_<stream>_<type>, and a view rtl_e_<stream>_<type> that decodes it. Ids of rows count
 * over all of these tables: they are the order of delivery.
 *
 * Names may be anything: in tables and columns only [A-Za-z0-9_] is left of them, and what is taken already gets a
 * number. rtl_type and rtl_field say which table and column holds what. */
#include "sub.h"

#include "events/events.h"

#include <strings.h>

#define TABLE_PREFIX "rtl_s_"
#define VIEW_PREFIX  "rtl_e_"

struct store {
	struct store *next;
	char *stream; /* its name: streams of one name, version and layout, of several processes, share it */
	uint16_t version, type;
	bool is_known; /* of rtl's own streams, as views know them */
	char table[2 * PLAN_MAX_NAME + 32];
	struct plan plan;
	struct rows rows;
};

/* ---- names ---- */

/* Whether another type's table has the name, of this host or an earlier one. */
static bool is_taken(struct sub *sub, const struct store *store, const char *table)
{
	sqlite3_stmt *question;
	bool taken = false;

	for (const struct store *s = sub->stores; s; s = s->next)
		if (strcasecmp(s->table, table) == 0)
			return true;
	if (!sub->continues)
		return false;
	question = writer_ask(&sub->writer,
			      "SELECT 1 FROM rtl_type JOIN rtl_stream AS s USING (stream) WHERE"
			      " table_name = %Q COLLATE NOCASE AND NOT"
			      " (s.name = %Q AND version_major = %u AND type = %u)",
			      table, store->stream, store->version, store->type);
	while (writer_next(&sub->writer, question))
		taken = true;
	return taken;
}

static const char *view_of(const struct store *store, char *name, size_t size)
{
	snprintf(name, size, VIEW_PREFIX "%s", store->table + strlen(TABLE_PREFIX));
	return name;
}

/* ---- tables and views ---- */

static const char *suffix_of(enum plan_how how)
{
	return how == PLAN_TIME ? "_rel" : "";
}

static bool run_sql(struct sub *sub, sqlite3_str *sql)
{
	char *text = sqlite3_str_finish(sql);
	const bool done = text ? writer_begin(&sub->writer) && writer_exec(&sub->writer, text)
			       : writer_error(&sub->writer, SQLITE_NOMEM, "table");

	sqlite3_free(text);
	return done;
}

static void add_columns(sqlite3_str *sql, const struct plan *plan, uint32_t group)
{
	for (uint32_t i = 0; i < plan->count; i++) {
		const struct plan_column *c = &plan->list[i];

		if (c->group == group)
			sqlite3_str_appendf(sql, ", \"%w%s\"%s", c->name, suffix_of(c->how),
					    c->how == PLAN_FLOAT   ? " REAL"
					    : c->how == PLAN_BYTES ? " BLOB"
								   : " INTEGER");
	}
}

/* To be freed by sqlite3_free. */
static char *table_sql(const struct store *store)
{
	const struct plan *plan = &store->plan;
	sqlite3_str *sql = sqlite3_str_new(NULL);

	sqlite3_str_appendf(
		sql,
		"CREATE TABLE \"%w\" (id INTEGER PRIMARY KEY NOT NULL, origin INTEGER NOT NULL,"
		" time_ns INTEGER NOT NULL, instance INTEGER NOT NULL, correlation INTEGER",
		store->table);
	for (uint32_t i = 0; i < plan->group_count; i++)
		sqlite3_str_appendf(sql, ", g%u INTEGER NOT NULL", plan->groups[i].number);
	add_columns(sql, plan, 0);
	sqlite3_str_appendall(sql, ")");
	return sqlite3_str_finish(sql);
}

static bool make_table(struct sub *sub, const struct store *store)
{
	const struct plan *plan = &store->plan;
	sqlite3_str *sql = sqlite3_str_new(sub->writer.db);
	char *own = table_sql(store);

	sqlite3_str_appendf(sql, "%s;", own);
	sqlite3_free(own);
	for (uint32_t i = 0; i < plan->group_count; i++) {
		sqlite3_str_appendf(sql, "CREATE TABLE \"%w_g%u\" (id INTEGER PRIMARY KEY NOT NULL",
				    store->table, plan->groups[i].number);
		add_columns(sql, plan, plan->groups[i].number);
		sqlite3_str_appendall(sql, ");");
	}
	return run_sql(sub, sql);
}

/* A column of the view, and what it joins: LEFT, so that SQLite leaves out what nobody asks for. */
static void add_view_column(sqlite3_str *what, sqlite3_str *from, const struct plan_column *c,
			    uint32_t n)
{
	char table[16] = "e";

	if (c->group)
		snprintf(table, sizeof(table), "g%u", c->group);
	switch (c->how) {
	case PLAN_TIME:
		sqlite3_str_appendf(what, ", e.time_ns + e.\"%w_rel\" AS \"%w\"", c->name, c->name);
		break;
	case PLAN_WORD:
		if (c->group)
			sqlite3_str_appendf(what, ", %s.\"%w\" AS \"%w\"", table, c->name, c->name);
		else
			sqlite3_str_appendf(
				what,
				", ifnull(e.\"%w\", ifnull(e.correlation, e.instance)) AS \"%w\"",
				c->name, c->name);
		break;
	case PLAN_STRING:
	case PLAN_TEXT:
	case PLAN_ARGS:
		sqlite3_str_appendf(what, ", t%u.string AS \"%w\", %s.\"%w\" AS \"%w_id\"", n,
				    c->name, table, c->name, c->name);
		sqlite3_str_appendf(from, " LEFT JOIN %s AS t%u ON t%u.id = %s.\"%w\"",
				    c->how == PLAN_ARGS ? "rtl_args" : "rtl_string", n, n, table,
				    c->name);
		break;
	default:
		sqlite3_str_appendf(what, ", %s.\"%w\" AS \"%w\"", table, c->name, c->name);
		break;
	}
}

static bool make_view(struct sub *sub, const struct store *store)
{
	const struct plan *plan = &store->plan;
	sqlite3_str *sql = sqlite3_str_new(sub->writer.db), *from = sqlite3_str_new(sub->writer.db);
	char name[sizeof(store->table)], *joins;

	sqlite3_str_appendf(
		sql,
		"CREATE VIEW \"%w\" AS SELECT e.id AS id, ifnull(o.process, 0) AS process, o.tid "
		"AS tid,"
		" e.time_ns AS time_ns, o.uid AS uid, o.parent_uid AS parent_uid,"
		" e.instance AS instance, ifnull(e.correlation, e.instance) AS correlation",
		view_of(store, name, sizeof(name)));
	sqlite3_str_appendf(from, " FROM \"%w\" AS e LEFT JOIN rtl_origin AS o ON o.id = e.origin",
			    store->table);
	for (uint32_t i = 0; i < plan->group_count; i++)
		sqlite3_str_appendf(from, " LEFT JOIN \"%w_g%u\" AS g%u ON g%u.id = e.g%u",
				    store->table, plan->groups[i].number, plan->groups[i].number,
				    plan->groups[i].number, plan->groups[i].number);
	for (uint32_t i = 0; i < plan->count; i++)
		add_view_column(sql, from, &plan->list[i], i);
	joins = sqlite3_str_finish(from);
	sqlite3_str_appendall(sql, joins ? joins : "");
	sqlite3_free(joins);
	return run_sql(sub, sql);
}

/* ---- stores ---- */

/* Other minor versions of streams that views know have more fields, or fewer. */
static bool same_layout(const struct store *store, const struct plan *b)
{
	const struct plan *a = &store->plan;
	const uint32_t both = a->count < b->count ? a->count : b->count;

	if (!store->is_known &&
	    (a->count != b->count || a->info->payload_size != b->info->payload_size))
		return false;
	for (uint32_t i = 0; i < both; i++) {
		const struct plan_column *x = &a->list[i], *y = &b->list[i];

		if (strcmp(x->name, y->name) != 0 || x->how != y->how || x->group != y->group ||
		    x->field->offset != y->field->offset || x->field->size != y->field->size)
			return false;
	}
	return true;
}

/* What an earlier host has made under the store's name: nothing, a table with its columns, or another. */
enum there { NOT_THERE, AS_WANTED, OTHERWISE };

static enum there look_at(struct sub *sub, const struct store *store)
{
	char *sql = table_sql(store);
	sqlite3_stmt *question = writer_ask(
		&sub->writer, "SELECT sql = %Q FROM sqlite_master WHERE name = %Q COLLATE NOCASE",
		sql, store->table);
	enum there is = NOT_THERE;

	while (writer_next(&sub->writer, question))
		is = sqlite3_column_int(question, 0) ? AS_WANTED : OTHERWISE;
	sqlite3_free(sql);
	return is;
}

/* Chooses the table's name; whether it is there: an earlier host has made it, with these columns. */
static bool find_table(struct sub *sub, struct store *store)
{
	char stream[PLAN_MAX_NAME], type[PLAN_MAX_NAME], number[16];
	enum there is = NOT_THERE;

	snprintf(number, sizeof(number), "type%u", store->type);
	plan_name(stream, store->stream, "stream");
	plan_name(type, store->plan.info->name, number);
	snprintf(store->table, sizeof(store->table), TABLE_PREFIX "%s_%s", stream, type);
	for (unsigned n = 2; is_taken(sub, store, store->table) ||
			     (sub->continues && (is = look_at(sub, store)) == OTHERWISE);
	     n++)
		snprintf(store->table, sizeof(store->table), TABLE_PREFIX "%s_%s_%u", stream, type,
			 n);
	return is == AS_WANTED;
}

static bool open_groups(struct sub *sub, struct store *store)
{
	char table[sizeof(store->table) + 16];

	for (uint32_t i = 0; i < store->plan.group_count; i++) {
		struct plan_group *group = &store->plan.groups[i];

		snprintf(table, sizeof(table), "%s_g%u", store->table, group->number);
		group->known.next_id =
			writer_ask_int(&sub->writer, "SELECT max(id) FROM \"%w\"", table) + 1;
		if (!rows_init(&group->rows, &sub->writer, "INSERT OR FAIL", table, group->columns))
			return false;
	}
	return true;
}

static void store_free(struct store *store)
{
	if (!store)
		return;
	plan_fini(&store->plan);
	free(store->stream);
	free(store);
}

static struct store *find(struct sub *sub, const struct store *like)
{
	struct store *store = sub->stores;

	while (store &&
	       (store->type != like->type || store->version != like->version ||
		strcmp(store->stream, like->stream) != 0 || !same_layout(store, &like->plan)))
		store = store->next;
	return store;
}

/* The store of a type; NULL: the writer has failed. The description stays as long as the subscriber. */
static struct store *get(struct sub *sub, const struct rtl_stream_info *stream,
			 const struct rtl_type_info *info)
{
	struct store *store = calloc(1, sizeof(*store)), *there;

	if (store)
		store->stream = strdup(stream->name ? stream->name : "");
	if (!store || !store->stream || !plan_init(&store->plan, info)) {
		store_free(store);
		writer_error(&sub->writer, SQLITE_NOMEM, "table");
		return NULL;
	}
	store->version = stream->version_major;
	store->type = info->type;
	there = find(sub, store);
	if (there) {
		store_free(store);
		return there;
	}
	if (!find_table(sub, store))
		(void)(make_table(sub, store) && make_view(sub, store));
	store->next = sub->stores; /* also after a failure: its rows may be the writer's already */
	sub->stores = store;
	return !sub->writer.failed && open_groups(sub, store) &&
			       rows_init(&store->rows, &sub->writer, "INSERT OR FAIL", store->table,
					 store->plan.columns)
		       ? store
		       : NULL;
}

bool store_view(struct sub *sub, const struct rtl_stream_info *stream,
		const struct rtl_type_info *type, char *name, size_t size)
{
	const struct store *store = get(sub, stream, type);

	if (store)
		view_of(store, name, size);
	return store;
}

bool store_known(struct sub *sub)
{
	static const struct rtl_stream_info *const known[] = {EVENTS_STREAMS};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && !sub->writer.failed; i++)
		for (uint32_t k = 0; k < known[i]->type_count; k++) {
			const struct rtl_type_info *type = rtl_stream_type(known[i], k);
			const bool is_stored =
				!type->repeated_by || type->repeated_by & RTL_IN_DEBUG;
			struct store *store = is_stored ? get(sub, known[i], type) : NULL;

			if (store)
				store->is_known = true;
		}
	return !sub->writer.failed;
}

int64_t store_last_id(struct sub *sub)
{
	struct writer *w = &sub->writer;
	int64_t last = writer_ask_int(w, "SELECT max(end_api_id) FROM rtl_process");
	sqlite3_stmt *question = writer_ask(w, "SELECT DISTINCT table_name FROM rtl_type"
					       " WHERE table_name IS NOT NULL");

	while (writer_next(w, question)) {
		const int64_t one = writer_ask_int(w, "SELECT max(id) FROM \"%w\"",
						   sqlite3_column_text(question, 0));

		last = one > last ? one : last;
	}
	return last;
}

void store_fini(struct sub *sub)
{
	for (struct store *next, *store = sub->stores; store; store = next) {
		next = store->next;
		store_free(store);
	}
	sub->stores = NULL;
}

/* ---- types ---- */

static void note_columns(struct sub *sub, const struct stream *stream, const struct store *store)
{
	const struct plan *plan = &store->plan;
	char view[sizeof(store->table)];

	writer_execf(&sub->writer,
		     "UPDATE rtl_type SET table_name = %Q WHERE stream = %lld AND type = %u",
		     store->table, (long long)stream->number, store->type);
	for (uint32_t i = 0; i < plan->count; i++) {
		const struct plan_column *c = &plan->list[i];
		char group[16] = "";

		if (c->group)
			snprintf(group, sizeof(group), "g%u", c->group);
		writer_execf(&sub->writer,
			     "UPDATE rtl_field SET column_name = '%q%s', group_name = %Q"
			     " WHERE stream = %lld AND type = %u AND position = %u",
			     c->name, suffix_of(c->how), group, (long long)stream->number,
			     store->type, i);
	}
	pieces_add(sub, stream->info, stream->number, plan->info,
		   view_of(store, view, sizeof(view)));
}

/* ---- events ---- */

static int64_t origin_id(struct sub *sub, struct process *process, const struct rtl_event *event)
{
	const uint64_t key[] = {process->number, event->tid, event->uid, event->parent_uid};
	struct cell *cells;
	bool is_new;
	const int64_t id = dictionary_find(&sub->origins, key, sizeof(key), &is_new);

	if (!id)
		writer_error(&sub->writer, SQLITE_NOMEM, "origin");
	if (!is_new)
		return id;
	cells = rows_add(&sub->origin);
	cell_int(&cells[0], id);
	for (int i = 0; i < 4; i++)
		cell_int(&cells[i + 1], (int64_t)key[i]);
	tracepoints_need(sub, process, event->uid);
	tracepoints_need(sub, process, event->parent_uid);
	return id;
}

static void take_event(struct type *type, struct process *process, const struct rtl_event *event)
{
	struct sub *sub = type->stream->sub;
	struct store *store = type->store;
	struct cell *cells;

	if (!store && (store = type->store = get(sub, type->stream->info, type->info)))
		note_columns(sub, type->stream, store);
	if (!store || event->payload_size < type->info->payload_size ||
	    (!event->payload && type->info->payload_size)) {
		type->stream->skipped++;
		return;
	}
	if (event->type == RTL_METADATA && event->uid)
		tracepoints_write(sub, process, event->uid); /* it may say more than before */
	cells = rows_add(&store->rows);
	cell_int(&cells[0], sub->next_id++);
	cell_int(&cells[1], origin_id(sub, process, event));
	cell_int(&cells[2], (int64_t)event->time_ns);
	cell_int(&cells[3], (int64_t)event->instance);
	cell_int_if(&cells[4], event->correlation != event->instance, (int64_t)event->correlation);
	plan_fill(sub, process, &store->plan, &store->rows, cells, event);
	process_extend(process, event->time_ns);
}

static void take_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct type *type = user;
	struct sub *sub = type->stream->sub;

	sub->events_pending = true;
	type->stream->delivered += count;
	for (size_t i = 0; i < count && !sub->writer.failed; i++) {
		struct process *process = sub_process(sub, events[i]->process);

		if (!process)
			return;
		take_event(type, process, events[i]);
	}
}

/* ---- subscriptions ---- */

static bool is_wanted(const struct stream *stream, const struct rtl_type_info *type, bool has_debug)
{
	if (type->repeated_by & RTL_IN_DEBUG)
		return !has_debug;
	return !type->repeated_by ||
	       !rtl_stream_find_type(stream->info, (uint16_t)type->repeated_by);
}

/* Gives up what the stream with the arguments says again, if that is taken; whether there is such. */
static bool give_up_repeated(struct sub *sub, struct stream *plain)
{
	bool any = false;

	for (uint32_t i = 0; i < plain->info->type_count; i++) {
		struct type *type = &plain->types[i];

		if (!(rtl_stream_type(plain->info, i)->repeated_by & RTL_IN_DEBUG))
			continue;
		any = true;
		if (sub->settings.args && type->taken) {
			sub->host->unsubscribe(sub->host, type->taken);
			type->taken = NULL;
		}
	}
	return any;
}

int store_subscribe(struct sub *sub, struct stream *stream)
{
	const struct rtl_stream_info *info = stream->info;
	bool has_debug = false, repeats = false;
	int result = 0;

	stream->types = calloc(info->type_count + 1, sizeof(*stream->types));
	if (!stream->types)
		return RTL_ENOMEM;
	for (struct stream *s = sub->streams; s; s = s->next) {
		has_debug |= sub->settings.args && wanted_is_debug(s->info->name, info->name);
		repeats |= wanted_is_debug(info->name, s->info->name) && give_up_repeated(sub, s);
	}
	if (repeats && !sub->settings.args)
		return 0;
	for (uint32_t i = 0; i < info->type_count && result == 0; i++) {
		struct type *type = &stream->types[i];

		*type = (struct type){.stream = stream, .info = rtl_stream_type(info, i)};
		if (is_wanted(stream, type->info, has_debug))
			result =
				sub->host->subscribe(sub->host, info, type->info->type,
						     RTL_BUFFERED, take_events, type, &type->taken);
	}
	return result;
}
