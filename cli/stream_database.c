/* SPDX-License-Identifier: MIT */
/* See stream_database.h: rows become descriptions again, which the rest of rtl knows to handle. */
#include "stream_database.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "database.h"
#include "stream_print.h"

/* A stream with the lists that its description points to. */
struct stored {
	long long number; /* in the database */
	struct rtl_stream_info info;
	struct stored_type {
		struct rtl_type_info info;
		struct rtl_field *fields;
	} * types;
	struct rtl_type_info *type_infos; /* of the same types, in one piece */
};

struct reading {
	struct stored *streams;
	size_t count;
	bool failed; /* out of memory */
};

/* One more element, all zeros; NULL: out of memory. */
static void *append(struct reading *reading, void *array, size_t count, size_t size)
{
	void **at = array, *larger = reallocarray(*at, count + 1, size);

	if (!larger) {
		reading->failed = true;
		return NULL;
	}
	*at = larger;
	return memset((char *)larger + count * size, 0, size);
}

static const char *copy(struct reading *reading, const char *text)
{
	char *copied = strdup(text ? text : "");

	reading->failed |= !copied;
	return copied;
}

static long long number(const char *text)
{
	return text ? strtoll(text, NULL, 10) : 0;
}

static void add_stream(void *user, const char *const *row)
{
	struct reading *reading = user;
	struct stored *stream = append(reading, &reading->streams, reading->count, sizeof(*stream));

	if (!stream)
		return;
	reading->count++;
	stream->number = number(row[0]);
	stream->info = (struct rtl_stream_info){
		.struct_size = sizeof(stream->info),
		.version_major = (uint16_t)number(row[2]),
		.version_minor = (uint16_t)number(row[3]),
		.name = copy(reading, row[1]),
		.description = copy(reading, row[4]),
	};
}

static struct stored *find_stream(const struct reading *reading, long long n)
{
	for (size_t i = 0; i < reading->count; i++) {
		if (reading->streams[i].number == n)
			return &reading->streams[i];
	}
	return NULL;
}

static void add_type(void *user, const char *const *row)
{
	struct reading *reading = user;
	struct stored *stream = find_stream(reading, number(row[0]));
	struct stored_type *type =
		stream ? append(reading, &stream->types, stream->info.type_count, sizeof(*type))
		       : NULL;

	if (!type)
		return;
	stream->info.type_count++;
	type->info = (struct rtl_type_info){
		.struct_size = sizeof(type->info),
		.type = (uint16_t)number(row[1]),
		.payload_size = (uint32_t)number(row[4]),
		.name = copy(reading, row[2]),
		.description = copy(reading, row[3]),
	};
}

static struct stored_type *find_type(const struct stored *stream, long long type)
{
	for (uint32_t i = 0; stream && i < stream->info.type_count; i++) {
		if (stream->types[i].info.type == type)
			return &stream->types[i];
	}
	return NULL;
}

static void add_field(void *user, const char *const *row)
{
	struct reading *reading = user;
	struct stored_type *type = find_type(find_stream(reading, number(row[0])), number(row[1]));
	struct rtl_field *field =
		type ? append(reading, &type->fields, type->info.field_count, sizeof(*field))
		     : NULL;

	if (!field)
		return;
	type->info.field_count++;
	*field = (struct rtl_field){
		.struct_size = sizeof(*field),
		.kind = stream_kind_by_name(row[3] ? row[3] : ""),
		.offset = (uint32_t)number(row[5]),
		.size = (uint32_t)number(row[6]),
		.name = copy(reading, row[2]),
		.unit = copy(reading, row[4]),
		.description = copy(reading, row[7]),
	};
}

/* Ties the lists together. */
static void complete(struct reading *reading, struct stored *stream)
{
	uint32_t count = stream->info.type_count;

	stream->type_infos = calloc(count + 1u, sizeof(*stream->type_infos));
	if (!stream->type_infos) {
		reading->failed = true;
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		stream->types[i].info.fields = stream->types[i].fields;
		stream->type_infos[i] = stream->types[i].info;
	}
	stream->info.types = stream->type_infos;
}

static void drop(const char *text)
{
	free((char *)(uintptr_t)text);
}

static void free_stream(struct stored *stream)
{
	for (uint32_t i = 0; i < stream->info.type_count; i++) {
		struct stored_type *type = &stream->types[i];
		for (uint16_t k = 0; k < type->info.field_count; k++) {
			drop(type->fields[k].name);
			drop(type->fields[k].unit);
			drop(type->fields[k].description);
		}
		free(type->fields);
		drop(type->info.name);
		drop(type->info.description);
	}
	free(stream->types);
	free(stream->type_infos);
	drop(stream->info.name);
	drop(stream->info.description);
}

static int read_streams(struct database *database, struct reading *reading)
{
	static const struct {
		const char *sql;
		void (*add)(void *user, const char *const *row);
	} queries[] = {
		{"SELECT stream, name, version_major, version_minor, description FROM rtl_stream "
		 "ORDER BY stream",
		 add_stream},
		{"SELECT stream, type, name, description, payload_bytes FROM rtl_type "
		 "ORDER BY stream, type",
		 add_type},
		{"SELECT stream, type, name, kind, unit, offset, size_bytes, description "
		 "FROM rtl_field ORDER BY stream, type, position",
		 add_field},
	};
	int error = 0;

	for (size_t i = 0; !error && i < sizeof(queries) / sizeof(*queries); i++)
		error = database_query(database, queries[i].sql, queries[i].add, reading);
	for (size_t i = 0; !error && i < reading->count; i++)
		complete(reading, &reading->streams[i]);
	if (!error && reading->failed)
		return cli_failed("out of memory");
	return error ? CLI_FAILED : CLI_OK;
}

int streams_of_database(const char *path, const struct stream_sink *sink)
{
	struct database *database = database_open(path, false);
	struct reading reading = {0};
	int status = database ? read_streams(database, &reading) : CLI_FAILED;

	for (size_t i = 0; !status && i < reading.count; i++)
		sink->add(sink->user, &reading.streams[i].info, path);
	if (!status && !reading.count)
		status = cli_failed("%s tells of no streams: it was not written by rtl", path);
	if (!status)
		status = database_say_unfinished(database);
	for (size_t i = 0; i < reading.count; i++)
		free_stream(&reading.streams[i]);
	free(reading.streams);
	database_close(database);
	return status;
}
