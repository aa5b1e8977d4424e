/* SPDX-License-Identifier: MIT */
#include "store.h"

#include <ctype.h>
#include <inttypes.h>
#include <sys/random.h>

#include "embed.h"
#include "utf8.h"

EMBED(clickhouse_tables, RTL_CLICKHOUSE_FOLDER "/tables.sql");
EMBED(clickhouse_views, RTL_CLICKHOUSE_FOLDER "/views.sql");

#define PAUSE_LEAST_NS 100000000u
#define PAUSE_MOST_NS  5000000000u
#define LOOK_AGAIN_NS  250000000u

int store_init(struct store *store, const struct http_server *server, struct names *names,
	       const char *session)
{
	store->names = names;
	store->session = session;
	store->last = &store->tables;
	if (getrandom(&store->nonce, sizeof(store->nonce), GRND_NONBLOCK) < 0)
		store->nonce = clock_now_ns() ^ (uintptr_t)store;
	return http_init(&store->http, server);
}

static void forget_facts(struct store_facts *facts)
{
	if (facts->json.file)
		fclose(facts->json.file);
	free(facts->text);
	*facts = (struct store_facts){0};
}

void store_fini(struct store *store)
{
	for (struct store_table *t = store->tables, *next; t; t = next) {
		next = t->next;
		for (struct block *b = t->blocks, *after; b; b = after) {
			after = b->next;
			block_destroy(b);
		}
		block_destroy(t->block);
		free(t);
	}
	for (int i = 0; i < STORE_FACTS; i++)
		forget_facts(&store->facts[i]);
	http_fini(&store->http);
}

struct store_table *store_add(struct store *store, struct table_info *info, const char *other_name)
{
	struct store_table *table = calloc(1, sizeof(*table));

	if (!table) {
		store->out_of_memory = true;
		return NULL;
	}
	table->info = info;
	table->other_name = other_name;
	table->last = &table->blocks;
	*store->last = table;
	store->last = &table->next;
	return table;
}

/* Puts the block that is being filled to those that are full. */
static void seal(struct store_table *table)
{
	if (!table->block || !table->block->rows)
		return;
	*table->last = table->block;
	table->last = &table->block->next;
	table->block = NULL;
}

static void add_row(struct store *store)
{
	if (!store->rows++)
		store->waiting_ns = clock_now_ns();
}

struct block *store_block_slowly(struct store *store, struct store_table *table)
{
	if (table->block && table->block->rows >= BLOCK_ROWS)
		seal(table);
	if (!table->block)
		table->block = block_create(table->info);
	if (table->block)
		add_row(store);
	else
		store->out_of_memory = true;
	return table->block;
}

/* ---- facts ---- */

struct json *store_fact(struct store *store, enum store_fact fact)
{
	static const char *const tables[] = {
		[STORE_PROCESS] = "rtl_process",   [STORE_GPU] = "rtl_gpu",
		[STORE_LEDGER] = "rtl_ledger",     [STORE_LOSS] = "rtl_loss",
		[STORE_LEFT_OUT] = "rtl_left_out",
	};
	struct store_facts *facts = &store->facts[fact];

	if (!facts->json.file) {
		facts->json.file = open_memstream(&facts->text, &facts->size);
		store->out_of_memory |= !facts->json.file;
		if (!facts->json.file)
			return NULL;
		fprintf(facts->json.file, "INSERT INTO %s FORMAT JSONEachRow\n", tables[fact]);
	}
	json_print(&facts->json, "{version:%lu", host_clock_ns(CLOCK_REALTIME));
	facts->rows++;
	add_row(store);
	return &facts->json;
}

/* ---- statements ---- */

void store_put_text(FILE *out, const char *text)
{
	const size_t length = strlen(text);
	char sequence[4];

	fputc('\'', out);
	for (size_t at = 0, used; at < length; at += used) {
		const char *end =
			utf8_copy(sequence, (const unsigned char *)text + at, length - at, &used);

		if (*sequence == '\'' || *sequence == '\\')
			fputc('\\', out);
		fwrite(sequence, 1, (size_t)(end - sequence), out);
	}
	fputc('\'', out);
}

static enum http_result no_memory(struct store *store)
{
	store->out_of_memory = true;
	snprintf(store->http.message, sizeof(store->http.message), "out of memory");
	return HTTP_REFUSED;
}

FILE *store_begin(struct store *store)
{
	store->statement = open_memstream(&store->text, &store->text_size);
	if (!store->statement)
		no_memory(store);
	return store->statement;
}

/* To be freed; NULL: no memory. */
static char *end_statement(struct store *store)
{
	if (!fclose(store->statement))
		return store->text;
	free(store->text);
	no_memory(store);
	return NULL;
}

enum http_result store_send(struct store *store)
{
	char *statement = end_statement(store);
	enum http_result result = statement ? http_ask(&store->http, statement) : HTTP_REFUSED;

	free(statement);
	return result;
}

enum http_result store_ask(struct store *store, const char *format, ...)
{
	FILE *out = store_begin(store);
	va_list args;

	if (!out)
		return HTTP_REFUSED;
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	return store_send(store);
}

/* Each of a file's statements, which end with a semicolon at a line's end. */
static enum http_result run_sql(struct store *store, const char *sql)
{
	enum http_result result = HTTP_DONE;

	for (const char *end; result == HTTP_DONE && (end = strstr(sql, ";\n")); sql = end + 2)
		result = store_ask(store, "%.*s", (int)(end - sql), sql);
	return result;
}

static enum http_result create_table(struct store *store, const struct table_info *info)
{
	FILE *out = store_begin(store);

	if (!out)
		return HTTP_REFUSED;
	fprintf(out, "CREATE TABLE IF NOT EXISTS `%s` (", info->name);
	for (uint32_t i = 0; i < info->count; i++) {
		fprintf(out, "%s`%s` %s COMMENT ", i ? ", " : "", info->columns[i].name,
			info->columns[i].type);
		store_put_text(out, info->columns[i].doc);
	}
	/* rows are sorted as they come: else the server had to */
	fputs(") ENGINE = MergeTree PARTITION BY day ORDER BY (spool, time_ns)", out);
	return store_send(store);
}

/* Whether the server's table has all columns: 1, 0; -1: it cannot be asked. */
static int has_columns(struct store *store, const struct table_info *info)
{
	const char *answer = http_answer(&store->http);
	char column[512];

	if (store_ask(
		    store,
		    "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND "
		    "table = '%s' FORMAT TabSeparated",
		    info->name) != HTTP_DONE)
		return -1;
	answer = http_answer(&store->http);
	for (uint32_t i = 0; i < info->count; i++) {
		const char *at = answer;
		const int length = snprintf(column, sizeof(column), "%s\t%s\n",
					    info->columns[i].name, info->columns[i].type);

		while (*at && strncmp(at, column, (size_t)length) != 0)
			at += strcspn(at, "\n") + 1;
		if (!*at)
			return 0;
	}
	return 1;
}

/* Under another name, where the stream has another version there. */
static enum http_result create(struct store *store, struct store_table *table)
{
	enum http_result result;
	int has;

	do {
		result = create_table(store, table->info);
		has = result == HTTP_DONE ? has_columns(store, table->info) : -1;
		if (has == 0 && table->info->name == table->other_name)
			return result; /* its INSERT will say what is wrong */
		if (has == 0)
			table->info->name = table->other_name;
	} while (has == 0);
	table->made = has > 0;
	return result == HTTP_DONE && has < 0 ? HTTP_AWAY : result;
}

/* Settings of each statement. Before 19.x names need one that newer servers may have forgotten; since
 * 21.11 an INSERT may be told done before it is. */
static enum http_result choose_settings(struct store *store)
{
	enum http_result result =
		store_ask(store, "SELECT countIf(name = 'allow_experimental_low_cardinality_type'),"
				 " countIf(name = 'async_insert') FROM system.settings");
	const char *answer = http_answer(&store->http);
	char *parameters;

	if (result != HTTP_DONE || strchr(store->http.parameters, '&'))
		return result;
	if (strlen(answer) != 4 || !strchr("01", answer[0]) || answer[1] != '\t' ||
	    !strchr("01", answer[2]) || answer[3] != '\n') {
		http_say(&store->http, "this is no ClickHouse, or its HTTP port is another one");
		return HTTP_REFUSED;
	}
	if (asprintf(&parameters, "%s%s%s", store->http.parameters,
		     answer[0] == '1' ? "&allow_experimental_low_cardinality_type=1" : "",
		     answer[2] == '1' ? "&async_insert=0" : "") < 0)
		return no_memory(store);
	free(store->http.parameters);
	store->http.parameters = parameters;
	return HTTP_DONE;
}

/* Other tables under the same names would be written to as far as they fit, and read wrongly. */
static enum http_result check_schema(struct store *store)
{
	enum http_result result = store_ask(store, "SELECT max(schema) FROM rtl_schema");
	unsigned long schema;

	if (result != HTTP_DONE)
		return result;
	schema = strtoul(http_answer(&store->http), NULL, 10);
	if (!schema)
		return store_ask(
			store, "INSERT INTO rtl_schema (schema, version) VALUES (%u, %" PRIu64 ")",
			STORE_SCHEMA, host_clock_ns(CLOCK_REALTIME));
	if (schema == STORE_SCHEMA)
		return HTTP_DONE;
	http_say(
		&store->http,
		"the tables in the database '%s' are of schema %lu, and this rtl writes schema %u: "
		"give another database with database=",
		store->http.server.database, schema, STORE_SCHEMA);
	return HTTP_REFUSED;
}

enum http_result store_prepare(struct store *store)
{
	enum http_result result = HTTP_DONE;
	const bool first = !store->ready;

	if (first)
		result = choose_settings(store);
	if (first && result == HTTP_DONE)
		result = run_sql(store, clickhouse_tables);
	if (first && result == HTTP_DONE)
		result = check_schema(store);
	for (struct store_table *t = store->tables; t && result == HTTP_DONE; t = t->next)
		if (!t->made)
			result = create(store, t);
	if (first && result == HTTP_DONE)
		result = run_sql(store, clickhouse_views);
	store->ready |= result == HTTP_DONE;
	return result;
}

/* ---- blocks ---- */

enum http_result store_is_quiet(struct store *store, const char *query_id)
{
	const struct timespec pause = {0, LOOK_AGAIN_NS};
	enum http_result result = HTTP_DONE;

	for (int look = 0; look < 2 && result == HTTP_DONE; look++) {
		if (look)
			nanosleep(&pause, NULL);
		result = store_ask(store,
				   "SELECT count() FROM system.processes WHERE query_id LIKE '%s'",
				   query_id);
		if (result != HTTP_DONE || *http_answer(&store->http) == '0')
			continue;
		http_say(&store->http, "the server is still at an INSERT whose answer was lost");
		result = HTTP_BUSY;
	}
	return result;
}

/* Whether a block is there, whose answer was lost: after the server has done with its statement. */
static enum http_result find_out(struct store *store, const struct block *block, bool *there)
{
	enum http_result result = store_is_quiet(store, block->query);
	FILE *out;

	*there = false;
	if (result != HTTP_DONE)
		return result;
	out = store_begin(store);
	if (!out)
		return HTTP_REFUSED;
	fprintf(out, "SELECT count() FROM `%s` WHERE run = ", block->table->name);
	store_put_text(out, name_text(store->names, block->run));
	fprintf(out, " AND spool = %" PRIu64 " AND ring = %u AND position = %" PRIu64, block->spool,
		block->ring, block->position);
	result = store_send(store);
	if (result == HTTP_DONE && !isdigit((unsigned char)*http_answer(&store->http))) {
		http_say(&store->http, "the server does not say whether an INSERT is stored");
		return HTTP_BUSY; /* to be asked again */
	}
	*there = result == HTTP_DONE && *http_answer(&store->http) != '0';
	return result;
}

/* To be freed; NULL: no memory. */
static char *insertion(struct store *store, const struct table_info *info)
{
	FILE *out = store_begin(store);

	if (!out)
		return NULL;
	fprintf(out, "INSERT INTO `%s` (", info->name);
	for (uint32_t i = 0; i < info->count; i++)
		fprintf(out, "%s`%s`", i ? "," : "", info->columns[i].name);
	fputs(") FORMAT Native", out);
	return end_statement(store);
}

static enum http_result send_block(struct store *store, struct block *block)
{
	char *statement = insertion(store, block->table);
	struct bytes data = {0};
	enum http_result result;

	snprintf(block->query, sizeof(block->query), "rtl-%.30s-%" PRIx64 "-%" PRIu64,
		 store->session, store->nonce, ++store->queries);
	if (statement && block_write(block, store->names, &data))
		result = http_insert(&store->http, statement, block->query, data.data, data.used);
	else
		result = no_memory(store);
	free(data.data);
	free(statement);
	return result;
}

/* HTTP_DONE: it is stored. */
static enum http_result deliver_block(struct store *store, struct block *block)
{
	enum http_result result;
	bool there = false;

	for (int tries = 0; tries < 2; tries++) {
		if (block->doubtful) {
			result = find_out(store, block, &there);
			if (result != HTTP_DONE || there)
				return result;
			block->doubtful = false;
		}
		result = send_block(store, block);
		if (result == HTTP_DONE || result == HTTP_REFUSED)
			return result;
		block->doubtful = result == HTTP_DOUBT;
		/* a connection that the server had just closed: once more at once, on a new one */
		if (result != HTTP_DOUBT || store->http.code)
			return result;
	}
	return result;
}

/* The server takes rows: it is waited for anew. */
static void note_progress(struct store *store)
{
	store->away_ns = store->retry_ns = store->pause_ns = 0;
}

static enum http_result send_table(struct store *store, struct store_table *table)
{
	enum http_result result = HTTP_DONE;
	struct block *block;

	seal(table);
	while (result == HTTP_DONE && (block = table->blocks)) {
		result = deliver_block(store, block);
		if (result != HTTP_DONE)
			break;
		store->rows -= block->rows;
		store->stored += block->rows;
		note_progress(store);
		table->blocks = block->next;
		if (!table->blocks)
			table->last = &table->blocks;
		block_destroy(block);
	}
	return result;
}

static enum http_result send_facts(struct store *store, struct store_facts *facts)
{
	enum http_result result;

	if (!facts->rows)
		return HTTP_DONE;
	if (fflush(facts->json.file))
		return no_memory(store);
	result = http_ask(&store->http, facts->text);
	if (result != HTTP_DONE)
		return result;
	store->rows -= facts->rows;
	store->stored += facts->rows;
	note_progress(store);
	forget_facts(facts);
	return HTTP_DONE;
}

static enum http_result commit(struct store *store)
{
	enum http_result result = HTTP_DONE;
	bool made = store->ready;

	for (struct store_table *t = store->tables; t; t = t->next)
		made &= t->made;
	if (!made)
		result = store_prepare(store);
	/* a process comes before its rows: a recovery looks for it first */
	for (int i = 0; i < STORE_FACTS && result == HTTP_DONE; i++)
		result = send_facts(store, &store->facts[i]);
	for (struct store_table *t = store->tables; t && result == HTTP_DONE; t = t->next)
		result = send_table(store, t);
	return result;
}

enum http_result store_commit(struct store *store)
{
	enum http_result result = store->out_of_memory ? no_memory(store) : commit(store);
	const uint64_t now = clock_now_ns();

	if (result == HTTP_DONE) {
		store->rows = 0; /* those of which no memory was left */
		note_progress(store);
		return result;
	}
	if (!store->away_ns)
		store->away_ns = now;
	store->pause_ns = store->pause_ns ? 2 * store->pause_ns : PAUSE_LEAST_NS;
	if (store->pause_ns > PAUSE_MOST_NS)
		store->pause_ns = PAUSE_MOST_NS;
	store->retry_ns = now + store->pause_ns;
	return result;
}
