/* SPDX-License-Identifier: MIT */
/* The dictionary of a spool: a log of definitions, valid up to control.dict_length. A definition is complete before
 * any record that refers to it is committed. Only a tracepoint's metadata is replaced by a later definition.
 *
 * Entries begin on multiples of 8. Texts follow the fixed part in the order of their lengths, each with a NUL
 * that its length does not count. */
#pragma once

#include <rtl/subscriber.h>

#include "spool_writer.h"

enum dict_kind {
	DICT_PROCESS = 1,
	DICT_STREAM = 2,
	DICT_STRING = 3,
	DICT_TRACEPOINT = 4,
	DICT_METADATA = 5,
};

struct dict_entry {
	uint32_t size; /* bytes, of this struct, what follows, and padding */
	uint32_t kind; /* enum dict_kind; a reader skips others */
};

struct dict_process {
	struct dict_entry entry;
	uint32_t lengths[4]; /* program, command, host name, run */
	uint32_t rank;       /* and 1; 0: none */
};

/* Its types follow the texts, each with its texts and then its fields with theirs. */
struct dict_stream {
	struct dict_entry entry;
	uint32_t number;
	uint16_t version_major, version_minor;
	uint32_t type_count;
	uint32_t lengths[2]; /* name, description */
	uint32_t reserved;
};

struct dict_type {
	uint16_t type;
	uint16_t field_count;
	uint32_t payload_size;
	uint32_t repeated_by;
	uint32_t lengths[2]; /* name, description */
	uint32_t reserved;
};

struct dict_field {
	uint16_t kind;
	uint16_t group;
	uint32_t offset;
	uint32_t size;
	uint32_t lengths[3]; /* name, unit, description */
};

struct dict_string {
	struct dict_entry entry;
	uint64_t id;
	uint32_t lengths[1];
	uint32_t reserved;
};

struct dict_tracepoint {
	struct dict_entry entry;
	uint64_t uid;
	uint64_t module_offset;
	uint64_t hash;
	uint32_t line;
	uint32_t column;
	uint32_t lengths[4]; /* kind, name, source, module */
};

struct dict_metadata {
	struct dict_entry entry;
	uint64_t uid;
	uint32_t lengths[2]; /* key, value */
	uint32_t kind;       /* enum rtl_kind; 0: a text */
	uint32_t reserved;
};

/* Writing, under the bus's lock. Nothing is done without a folder. A definition without room is lost, with one
 * line in the log: events stay whole, but show numbers for names. */
void dict_add_process(struct spool *spool, const struct rtl_process *p);
void dict_add_stream(struct spool *spool, const struct rtl_stream_info *info);
void dict_add_string(struct spool *spool, uint64_t id, const char *text);
/* metadata is not written with it */
void dict_add_tracepoint(struct spool *spool, const struct rtl_tracepoint *t);
void dict_add_metadata(struct spool *spool, uint64_t uid, const char *key, const char *value,
		       uint32_t kind);
