/* SPDX-License-Identifier: MIT */
/* A trace (trace_seed.c) that the input spoils, read by one of the commands that read traces. The first byte
 * chooses the command, the second how many edits there are. An edit is six bytes: what, which table, which
 * row, which column, which value, and a byte of the value. What is left are patches of the file, four
 * bytes each: where (3), and the byte. */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli_run.h"
#include "fuzz.h"
#include "scratch.h"

#define TABLES_MOST 200

static unsigned char *original;
static size_t original_size;
static char *tables[TABLES_MOST];
static unsigned table_count, columns[TABLES_MOST];

static char *path_of(const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", scratch, name) < 0)
		abort();
	return path;
}

static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	struct stat st;
	char *text;

	if (!file || fstat(fileno(file), &st) || !(text = calloc(1, (size_t)st.st_size + 1)) ||
	    fread(text, 1, (size_t)st.st_size, file) != (size_t)st.st_size)
		abort();
	fclose(file);
	*size = (size_t)st.st_size;
	return text;
}

static void write_file(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void find_tables(sqlite3 *db)
{
	sqlite3_stmt *ask;

	if (sqlite3_prepare_v2(db,
			       "SELECT name, (SELECT count(*) FROM pragma_table_info(m.name)) FROM"
			       " sqlite_master AS m WHERE type = 'table' AND name NOT LIKE"
			       " 'sqlite_%' ORDER BY name",
			       -1, &ask, NULL))
		abort();
	while (sqlite3_step(ask) == SQLITE_ROW && table_count < TABLES_MOST) {
		tables[table_count] = strdup((const char *)sqlite3_column_text(ask, 0));
		columns[table_count++] = (unsigned)sqlite3_column_int(ask, 1);
	}
	sqlite3_finalize(ask);
}

/* In small pages, so that patches of the file meet all of it. */
static void make_original(void)
{
	char *path = path_of("original.db"), *seed;
	size_t size;
	sqlite3 *db;

	seed = read_file(TRACE_SEED, &size);
	write_file(path, seed, size);
	if (sqlite3_open(path, &db) ||
	    sqlite3_exec(db, "PRAGMA journal_mode=DELETE; PRAGMA page_size=1024; VACUUM", 0, 0, 0))
		abort();
	find_tables(db);
	sqlite3_close(db);
	original = (unsigned char *)read_file(path, &original_size);
	free(seed);
	free(path);
}

/* ---- edits ---- */

static void bind_value(sqlite3_stmt *edit, int at, uint32_t kind, uint32_t byte)
{
	static const sqlite3_int64 numbers[] = {
		0,         1,          -1,           INT32_MAX, INT64_MAX,
		INT64_MIN, UINT32_MAX, 1ll << 32,    1000000,   1000000000000000000,
		65535,     65536,      INT64_MAX - 1};
	static char text[4096];

	switch (kind % 8) {
	case 0:
		sqlite3_bind_null(edit, at);
		break;
	case 1:
		sqlite3_bind_int64(edit, at, (sqlite3_int64)byte - 8);
		break;
	case 2:
		sqlite3_bind_int64(edit, at, numbers[byte % (sizeof(numbers) / sizeof(*numbers))]);
		break;
	case 3:
		sqlite3_bind_double(edit, at, byte & 1 ? 1e308 * 10 : byte * -1e17);
		break;
	case 4:
		sqlite3_bind_text(edit, at, "", 0, SQLITE_STATIC);
		break;
	case 5:
		memset(text, (int)(byte | 1), sizeof(text));
		sqlite3_bind_text(edit, at, text, (int)(byte * 16), SQLITE_STATIC);
		break;
	case 6:
		sqlite3_bind_blob(edit, at, "\0\377\n\"\\,{[%s\033\n9999", (int)(byte % 17),
				  SQLITE_STATIC);
		break;
	default:
		sqlite3_bind_text(edit, at, "{\"a\": [1, \"x\"]}", (int)(byte % 16), SQLITE_STATIC);
		break;
	}
}

static char *column_of(sqlite3 *db, unsigned table, uint32_t column)
{
	sqlite3_stmt *ask = NULL;
	char *name = NULL;

	if (sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_info(?) LIMIT 1 OFFSET ?", -1,
			       &ask, NULL) == SQLITE_OK) {
		sqlite3_bind_text(ask, 1, tables[table], -1, SQLITE_STATIC);
		sqlite3_bind_int64(ask, 2, column % (columns[table] ? columns[table] : 1));
		if (sqlite3_step(ask) == SQLITE_ROW)
			name = strdup((const char *)sqlite3_column_text(ask, 0));
	}
	sqlite3_finalize(ask);
	return name;
}

static char *write_edit(uint32_t what, const char *table, const char *column)
{
	static const char *const edits[] = {
		"UPDATE \"%w\" SET \"%w\" = ?1 WHERE rowid = ?2",
		"UPDATE \"%w\" SET \"%w\" = ?1 WHERE rowid = ?2",
		"UPDATE \"%w\" SET \"%w\" = ?1",
		"DELETE FROM \"%w\" WHERE rowid = ?2 OR \"%w\" = ?1",
		"INSERT OR REPLACE INTO \"%w\" (rowid, \"%w\") VALUES (?2, ?1)",
		"DELETE FROM \"%w\" WHERE ?1 IS ?1 OR \"%w\"",
		"ALTER TABLE \"%w\" DROP COLUMN \"%w\"",
		"DROP TABLE \"%w\" -- %w",
	};

	return sqlite3_mprintf(edits[what % (sizeof(edits) / sizeof(*edits))], table, column);
}

static void do_edit(sqlite3 *db, struct input *in)
{
	const uint32_t what = input_number(in, 1), table = input_number(in, 1) % table_count;
	const uint32_t row = input_number(in, 1), column = input_number(in, 1);
	const uint32_t kind = input_number(in, 1), byte = input_number(in, 1);
	char *name = column_of(db, table, column);
	char *sql = name ? write_edit(what, tables[table], name) : NULL;
	sqlite3_stmt *edit = NULL;

	if (sql && sqlite3_prepare_v2(db, sql, -1, &edit, NULL) == SQLITE_OK) {
		bind_value(edit, 1, kind, byte);
		sqlite3_bind_int64(edit, 2, row);
		sqlite3_step(edit);
	}
	sqlite3_finalize(edit);
	sqlite3_free(sql);
	free(name);
}

/* ---- the file, and who reads it ---- */

static void spoil(const char *path, struct input *in)
{
	uint32_t edits = input_number(in, 1) % 16;
	sqlite3 *db;
	int fd;

	write_file(path, original, original_size);
	if (sqlite3_open(path, &db))
		abort();
	sqlite3_exec(
		db,
		"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA legacy_alter_table=ON;"
		"BEGIN",
		NULL, NULL, NULL);
	for (; edits && in->left; edits--)
		do_edit(db, in);
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	sqlite3_close(db);
	fd = open(path, O_RDWR);
	for (unsigned n = 0; fd >= 0 && in->left && n < 64; n++) {
		const off_t at = (off_t)(input_number(in, 3) % original_size);
		const unsigned char byte = (unsigned char)input_number(in, 1);

		(void)!pwrite(fd, &byte, 1, at);
	}
	close(fd);
}

static void read_it(uint32_t how, const char *trace, const char *other)
{
	static const char *const outputs[] = {"o.json", "o.pftrace", "o.json.gz", "o.csv"};
	char *out = path_of(how < 4 ? outputs[how] : "o");

	switch (how) {
	case 0:
	case 1:
	case 2:
	case 3:
		cli_run(&cmd_convert, "-o", out, trace, NULL);
		break;
	case 4:
		cli_run(&cmd_convert, "--format", "rocprofv3", "-o", out, trace, NULL);
		break;
	case 5:
		cli_run(&cmd_convert, "--format", "rocpd7", "-o", out, trace, NULL);
		break;
	case 6:
		cli_run(&cmd_convert, "--format", "hta", "-o", out, trace, NULL);
		break;
	case 7:
		cli_run(&cmd_summary, trace, NULL);
		break;
	case 8:
		cli_run(&cmd_summary, "--json", trace, NULL);
		break;
	case 9:
		cli_run(&cmd_info, trace, NULL);
		break;
	case 10:
		cli_run(&cmd_report, "-o", out, trace, NULL);
		break;
	case 11:
		cli_run(&cmd_merge, "-o", out, other, trace, NULL);
		break;
	case 12:
		cli_run(&cmd_merge, "-o", out, trace, other, NULL);
		break;
	case 13:
		cli_run(&cmd_diff, other, trace, NULL);
		break;
	case 14:
		cli_run(&cmd_list_streams, trace, NULL);
		break;
	default:
		cli_run(&cmd_summary, "--per", "process", trace, NULL);
		break;
	}
	scratch_remove(out);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	const uint32_t how = input_number(&in, 1) % 16;
	static char *trace, *other;

	if (!original) {
		scratch_init();
		cli_run_init();
		make_original();
		trace = path_of("trace.db");
		other = path_of("other.db");
		write_file(other, original, original_size);
	}
	spoil(trace, &in);
	read_it(how, trace, other);
	unlink(trace);
	return 0;
}
