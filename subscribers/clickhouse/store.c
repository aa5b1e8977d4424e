/* SPDX-License-Identifier: MIT */
/* See store.h. */
#include "store.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include <rtl/types.h>

#include "clock.h"

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
	http_fini(&store->http);
}

struct store_table *store_add(struct store *store, const struct table_info *info)
{
	struct store_table *table = calloc(1, sizeof(*table));

	if (!table) {
		store->out_of_memory = true;
		return NULL;
	}
	table->info = info;
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

struct block *store_block_slowly(struct store *store, struct store_table *table)
{
	if (table->block && table->block->rows >= BLOCK_ROWS)
		seal(table);
	if (!table->block)
		table->block = block_create(table->info);
	if (!table->block) {
		store->out_of_memory = true;
		return NULL;
	}
	if (!store->rows++)
		store->waiting_ns = clock_now_ns();
	return table->block;
}

/* ---- statements ---- */

char *store_quote(const char *text)
{
	char *quoted = malloc(2 * strlen(text) + 3), *to = quoted;

	if (!quoted)
		return NULL;
	*to++ = '\'';
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			*to++ = '\\';
		*to++ = *text;
	}
	*to++ = '\'';
	*to = '\0';
	return quoted;
}

static enum http_result no_memory(struct store *store)
{
	store->out_of_memory = true;
	snprintf(store->http.message, sizeof(store->http.message), "out of memory");
	return HTTP_REFUSED;
}

enum http_result store_ask(struct store *store, const char *format, ...)
{
	enum http_result result;
	char *statement;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&statement, format, args);
	va_end(args);
	if (length < 0)
		return no_memory(store);
	result = http_ask(&store->http, statement);
	free(statement);
	return result;
}

/* CREATE TABLE; to be freed. */
static char *creation(const struct table_info *info)
{
	char *text = NULL, *doc;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool partitioned = false;

	if (!out)
		return NULL;
	fprintf(out, "CREATE TABLE IF NOT EXISTS `%s` (", info->name);
	for (uint32_t i = 0; i < info->count; i++) {
		doc = store_quote(info->columns[i].doc);
		fprintf(out, "%s`%s` %s COMMENT %s", i ? ", " : "", info->columns[i].name,
			info->columns[i].type, doc ? doc : "''");
		free(doc);
		partitioned |= info->columns[i].how == COLUMN_DAY;
	}
	fprintf(out, ") ENGINE = %s%s ORDER BY (%s)",
		info->replaces ? "ReplacingMergeTree(version)" : "MergeTree",
		partitioned && !info->replaces ? " PARTITION BY day" : "", info->order);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static enum http_result create(struct store *store, struct store_table *table);

/* The stream may have another version there. */
static enum http_result choose_name(struct store *store, struct store_table *table)
{
	bool there;
	const int has = store_has(store, table->info, &there);

	if (has < 0)
		return HTTP_AWAY;
	table->made = has;
	if (has)
		return HTTP_DONE;
	table->renamed->name = table->other_name;
	table->renamed = NULL;
	return create(store, table);
}

static enum http_result create(struct store *store, struct store_table *table)
{
	char *statement = creation(table->info);
	enum http_result result;

	if (!statement)
		return no_memory(store);
	result = http_ask(&store->http, statement);
	free(statement);
	if (result == HTTP_DONE && table->renamed)
		result = choose_name(store, table);
	else
		table->made = result == HTTP_DONE;
	return result;
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
		snprintf(store->http.message, sizeof(store->http.message),
			 "%s: this is no ClickHouse, or its HTTP port is another one",
			 store->http.url);
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
			STORE_SCHEMA, clock_realtime_ns());
	if (schema == STORE_SCHEMA)
		return HTTP_DONE;
	snprintf(
		store->http.message, sizeof(store->http.message),
		"%s: the tables in the database '%s' are of schema %lu, and this rtl writes schema "
		"%u: give another database with database=",
		store->http.url, store->http.server.database, schema, STORE_SCHEMA);
	return HTTP_REFUSED;
}

int store_has(struct store *store, const struct table_info *info, bool *there)
{
	const char *at;
	char column[512];
	uint32_t i = 0;

	if (store_ask(
		    store,
		    "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND "
		    "table = '%s' FORMAT TabSeparated",
		    info->name) != HTTP_DONE)
		return -1;
	at = http_answer(&store->http);
	*there = *at;
	for (; i < info->count && *at; i++) {
		snprintf(column, sizeof(column), "%s\t%s\n", info->columns[i].name,
			 info->columns[i].type);
		if (strncmp(at, column, strlen(column)) != 0)
			return 0;
		at += strlen(column);
	}
	return i == info->count && !*at;
}

enum http_result store_prepare(struct store *store)
{
	enum http_result result = HTTP_DONE;
	bool first = !store->ready;

	if (first)
		result = choose_settings(store);
	for (struct store_table *t = store->tables; t && result == HTTP_DONE; t = t->next)
		if (!t->made)
			result = create(store, t);
	if (result == HTTP_DONE && first)
		result = check_schema(store);
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
		snprintf(store->http.message, sizeof(store->http.message),
			 "%s: the server is still at an INSERT whose answer was lost",
			 store->http.url);
		result = HTTP_BUSY;
	}
	return result;
}

/* Whether a block is there, whose answer was lost: after the server has done with its statement. */
static enum http_result find_out(struct store *store, const struct block *block, bool *there)
{
	const uint32_t n = block->table->count, last = block->rows - 1;
	enum http_result result;
	uint64_t position;
	uint32_t ring;
	char *run;

	result = store_is_quiet(store, block->query);
	*there = false;
	if (result != HTTP_DONE || block->table->replaces) /* once more does no harm */
		return result;
	memcpy(&ring, block->columns[n - 2].data + last * sizeof(ring), sizeof(ring));
	memcpy(&position, block->columns[n - 1].data + last * sizeof(position), sizeof(position));
	run = store_quote(store->names->texts[block->processes[last]->run]);
	if (!run)
		return no_memory(store);
	result = store_ask(store,
			   "SELECT count() FROM `%s` WHERE run = %s AND spool = %" PRIu64
			   " AND ring = %u AND position = %" PRIu64,
			   block->table->name, run, block->processes[last]->spool, ring, position);
	free(run);
	if (result == HTTP_DONE && !isdigit((unsigned char)*http_answer(&store->http))) {
		snprintf(store->http.message, sizeof(store->http.message),
			 "%s: the server does not say whether an INSERT is stored",
			 store->http.url);
		return HTTP_BUSY; /* to be asked again */
	}
	*there = result == HTTP_DONE && *http_answer(&store->http) != '0';
	return result;
}

static char *insertion(const struct table_info *info)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "INSERT INTO `%s` (", info->name);
	for (uint32_t i = 0; i < info->count; i++)
		fprintf(out, "%s`%s`", i ? "," : "", info->columns[i].name);
	fputs(") FORMAT Native", out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static enum http_result send_block(struct store *store, struct block *block)
{
	char *statement = insertion(block->table);
	struct native native = {0};
	enum http_result result;

	snprintf(block->query, sizeof(block->query), "rtl-%.30s-%" PRIx64 "-%" PRIu64,
		 store->session, store->nonce, ++store->queries);
	if (statement && native_make(&native, block, store->names))
		result = http_insert(&store->http, statement, block->query, &native);
	else
		result = no_memory(store);
	native_fini(&native);
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
		table->blocks = block->next;
		if (!table->blocks)
			table->last = &table->blocks;
		if (table->blocks || block->room > BLOCK_ROWS) {
			block_destroy(block);
			continue;
		}
		block_clear(block);
		table->block = block;
	}
	return result;
}

static bool has_rows(const struct store_table *table)
{
	return table->blocks || (table->block && table->block->rows);
}

static enum http_result commit(struct store *store)
{
	enum http_result result = HTTP_DONE;
	bool made = store->ready;

	for (struct store_table *t = store->tables; t; t = t->next)
		made &= t->made;
	if (!made)
		result = store_prepare(store);
	for (struct store_table *t = store->tables; t && result == HTTP_DONE; t = t->next)
		if (has_rows(t))
			result = send_table(store, t);
	return result;
}

enum http_result store_commit(struct store *store)
{
	enum http_result result = store->out_of_memory ? no_memory(store) : commit(store);
	const uint64_t now = clock_now_ns();

	if (result == HTTP_DONE) {
		store->rows = 0; /* those of which no memory was left */
		store->away_ns = store->retry_ns = store->pause_ns = 0;
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
