/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from tables.toml and streams/events. Not to be edited. */
/* How tables of rocpd are made, and a function for each that adds a row. The host's thread. */
#ifndef RTL_SQLITE_TABLES_ROCPD_H
#define RTL_SQLITE_TABLES_ROCPD_H

#include "rows.h"

#define TABLE_ROCPD_STRING \
	"CREATE TABLE IF NOT EXISTS rocpd_string (" \
	" id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL," \
	" string TEXT NOT NULL" \
	");"
static const struct table table_rocpd_string = {"rocpd_string", 2};

struct row_rocpd_string {
	int64_t id;
	const char *string;
	size_t string_length;
};

/* A row of rocpd_string: its cells. */
static inline struct cell *table_add_rocpd_string(struct rows *rows, const struct row_rocpd_string *row)
{
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], row->id);
	cell_static_text(&cell[1], row->string, row->string_length);
	return cell;
}

#define TABLE_ROCPD_USTRING \
	"CREATE TABLE IF NOT EXISTS rocpd_ustring (" \
	" id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL," \
	" string TEXT NOT NULL" \
	");"
static const struct table table_rocpd_ustring = {"rocpd_ustring", 2};

struct row_rocpd_ustring {
	int64_t id;
	const char *string;
	size_t string_length;
};

/* A row of rocpd_ustring: its cells. */
static inline struct cell *table_add_rocpd_ustring(struct rows *rows, const struct row_rocpd_ustring *row)
{
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], row->id);
	cell_static_text(&cell[1], row->string, row->string_length);
	return cell;
}

#define TABLE_ROCPD_API \
	"CREATE TABLE IF NOT EXISTS rocpd_api (" \
	" id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL," \
	" pid INTEGER NOT NULL," \
	" tid INTEGER NOT NULL," \
	" start INTEGER NOT NULL," \
	" \"end\" INTEGER NOT NULL," \
	" apiName_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED," \
	" category_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED," \
	" domain_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED," \
	" args_id INTEGER NOT NULL REFERENCES rocpd_ustring (id) DEFERRABLE INITIALLY DEFERRED" \
	");"
static const struct table table_rocpd_api = {"rocpd_api", 9};

struct row_rocpd_api {
	int64_t id;
	int64_t pid;
	int64_t tid;
	int64_t start;
	int64_t end;
	int64_t apiName_id;
	int64_t category_id;
	int64_t domain_id;
	int64_t args_id;
};

/* A row of rocpd_api: its cells. */
static inline struct cell *table_add_rocpd_api(struct rows *rows, const struct row_rocpd_api *row)
{
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], row->id);
	cell_int(&cell[1], row->pid);
	cell_int(&cell[2], row->tid);
	cell_int(&cell[3], row->start);
	cell_int(&cell[4], row->end);
	cell_int(&cell[5], row->apiName_id);
	cell_int(&cell[6], row->category_id);
	cell_int(&cell[7], row->domain_id);
	cell_int(&cell[8], row->args_id);
	return cell;
}

#define TABLE_ROCPD_OP \
	"CREATE TABLE IF NOT EXISTS rocpd_op (" \
	" id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL," \
	" gpuId INTEGER NOT NULL," \
	" queueId INTEGER NOT NULL," \
	" sequenceId INTEGER NOT NULL," \
	" start INTEGER NOT NULL," \
	" \"end\" INTEGER NOT NULL," \
	" description_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED," \
	" opType_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED" \
	");"
static const struct table table_rocpd_op = {"rocpd_op", 8};

struct row_rocpd_op {
	int64_t id;
	int64_t gpuId;
	int64_t queueId;
	int64_t sequenceId;
	int64_t start;
	int64_t end;
	int64_t description_id;
	int64_t opType_id;
};

/* A row of rocpd_op: its cells. */
static inline struct cell *table_add_rocpd_op(struct rows *rows, const struct row_rocpd_op *row)
{
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], row->id);
	cell_int(&cell[1], row->gpuId);
	cell_int(&cell[2], row->queueId);
	cell_int(&cell[3], row->sequenceId);
	cell_int(&cell[4], row->start);
	cell_int(&cell[5], row->end);
	cell_int(&cell[6], row->description_id);
	cell_int(&cell[7], row->opType_id);
	return cell;
}

#define TABLE_ROCPD_API_OPS \
	"CREATE TABLE IF NOT EXISTS rocpd_api_ops (" \
	" id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL," \
	" api_id INTEGER NOT NULL REFERENCES rocpd_api (id) DEFERRABLE INITIALLY DEFERRED," \
	" op_id INTEGER NOT NULL REFERENCES rocpd_op (id) DEFERRABLE INITIALLY DEFERRED" \
	");"
static const struct table table_rocpd_api_ops = {"rocpd_api_ops", 3};

struct row_rocpd_api_ops {
	int64_t id;
	int64_t api_id;
	int64_t op_id;
};

/* A row of rocpd_api_ops: its cells. */
static inline struct cell *table_add_rocpd_api_ops(struct rows *rows, const struct row_rocpd_api_ops *row)
{
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], row->id);
	cell_int(&cell[1], row->api_id);
	cell_int(&cell[2], row->op_id);
	return cell;
}

#define TABLE_ROCPD_KERNELAPI \
	"CREATE TABLE IF NOT EXISTS rocpd_kernelapi (" \
	" api_ptr_id INTEGER PRIMARY KEY NOT NULL REFERENCES rocpd_api (id) DEFERRABLE INITIALLY DEFERRED," \
	" stream TEXT NOT NULL," \
	" gridX INTEGER NOT NULL," \
	" gridY INTEGER NOT NULL," \
	" gridZ INTEGER NOT NULL," \
	" workgroupX INTEGER NOT NULL," \
	" workgroupY INTEGER NOT NULL," \
	" workgroupZ INTEGER NOT NULL," \
	" groupSegmentSize INTEGER NOT NULL," \
	" privateSegmentSize INTEGER NOT NULL," \
	" kernelName_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED" \
	");"
static const struct table table_rocpd_kernelapi = {"rocpd_kernelapi", 11};

struct row_rocpd_kernelapi {
	int64_t api_ptr_id;
	const char *stream;
	int64_t gridX;
	int64_t gridY;
	int64_t gridZ;
	int64_t workgroupX;
	int64_t workgroupY;
	int64_t workgroupZ;
	int64_t groupSegmentSize;
	int64_t privateSegmentSize;
	int64_t kernelName_id;
};

/* A row of rocpd_kernelapi: its cells. */
static inline struct cell *table_add_rocpd_kernelapi(struct rows *rows, const struct row_rocpd_kernelapi *row)
{
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], row->api_ptr_id);
	cell_text(rows, &cell[1], row->stream);
	cell_int(&cell[2], row->gridX);
	cell_int(&cell[3], row->gridY);
	cell_int(&cell[4], row->gridZ);
	cell_int(&cell[5], row->workgroupX);
	cell_int(&cell[6], row->workgroupY);
	cell_int(&cell[7], row->workgroupZ);
	cell_int(&cell[8], row->groupSegmentSize);
	cell_int(&cell[9], row->privateSegmentSize);
	cell_int(&cell[10], row->kernelName_id);
	return cell;
}

#define TABLE_ROCPD_COPYAPI \
	"CREATE TABLE IF NOT EXISTS rocpd_copyapi (" \
	" api_ptr_id INTEGER PRIMARY KEY NOT NULL REFERENCES rocpd_api (id) DEFERRABLE INITIALLY DEFERRED," \
	" stream TEXT NOT NULL," \
	" size INTEGER NOT NULL," \
	" width INTEGER NOT NULL," \
	" height INTEGER NOT NULL," \
	" kind INTEGER NOT NULL," \
	" dst TEXT NOT NULL," \
	" src TEXT NOT NULL," \
	" dstDevice INTEGER NOT NULL," \
	" srcDevice INTEGER NOT NULL," \
	" sync INTEGER NOT NULL," \
	" pinned INTEGER NOT NULL" \
	");"
static const struct table table_rocpd_copyapi = {"rocpd_copyapi", 12};

struct row_rocpd_copyapi {
	int64_t api_ptr_id;
	const char *stream;
	int64_t size;
	int64_t width;
	int64_t height;
	int64_t kind;
	const char *dst;
	const char *src;
	int64_t dstDevice;
	int64_t srcDevice;
	int64_t sync;
	int64_t pinned;
};

/* A row of rocpd_copyapi: its cells. */
static inline struct cell *table_add_rocpd_copyapi(struct rows *rows, const struct row_rocpd_copyapi *row)
{
	struct cell *cell = rows_add(rows);

	cell_int(&cell[0], row->api_ptr_id);
	cell_text(rows, &cell[1], row->stream);
	cell_int(&cell[2], row->size);
	cell_int(&cell[3], row->width);
	cell_int(&cell[4], row->height);
	cell_int(&cell[5], row->kind);
	cell_text(rows, &cell[6], row->dst);
	cell_text(rows, &cell[7], row->src);
	cell_int(&cell[8], row->dstDevice);
	cell_int(&cell[9], row->srcDevice);
	cell_int(&cell[10], row->sync);
	cell_int(&cell[11], row->pinned);
	return cell;
}

#endif
