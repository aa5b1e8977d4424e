/* SPDX-License-Identifier: MIT */
/* names.c: see names.h. */
#include "names.h"

#include "tables.h"
#include "writer.h"

#include <stdlib.h>
#include <string.h>

#define IN_STRINGS  1u
#define IN_USTRINGS 2u

struct name {
	uint64_t hash;
	int64_t id;
	uint32_t length;
	uint32_t where; /* IN_ bits */
	char text[];
};

static uint64_t hash_text(const char *text, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325u ^ length, word;

	for (; length >= sizeof(word); text += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	for (; length; length--) /* FNV-1a */
		hash = (hash ^ (unsigned char)*text++) * 0x100000001b3u;
	return hash;
}

static struct name **find_slot(struct name **table, size_t capacity, uint64_t hash,
			       const char *text, size_t length)
{
	size_t i = map_hash(hash) & (capacity - 1);

	while (table[i] && (table[i]->hash != hash || table[i]->length != length ||
			    memcmp(table[i]->text, text, length) != 0))
		i = (i + 1) & (capacity - 1);
	return &table[i];
}

static bool grow(struct names *names)
{
	size_t capacity = names->capacity ? names->capacity * 2 : 256;
	struct name **table = calloc(capacity, sizeof(struct name *));

	if (!table)
		return false;
	for (size_t i = 0; i < names->capacity; i++) {
		struct name *name = names->table[i];

		if (name)
			*find_slot(table, capacity, name->hash, name->text, name->length) = name;
	}
	free(names->table);
	names->table = table;
	names->capacity = capacity;
	return true;
}

static struct name *new_name(struct names *names, const char *text, size_t length, uint64_t hash)
{
	struct name *name = malloc(sizeof(*name) + length + 1);

	if (!name)
		return NULL;
	*name = (struct name){.hash = hash, .id = names->next_id++, .length = (uint32_t)length};
	memcpy(name->text, text, length);
	name->text[length] = '\0';
	names->count++;
	return name;
}

/* The name of a text as it is, made if it is new; NULL: out of memory. */
static struct name *intern(struct names *names, const char *text, size_t length)
{
	uint64_t hash = hash_text(text, length);
	struct name **slot;

	if (names->count * 2 >= names->capacity && !grow(names))
		return NULL;
	slot = find_slot(names->table, names->capacity, hash, text, length);
	if (!*slot)
		*slot = new_name(names, text, length, hash);
	return *slot;
}

static void add_row(struct rows *rows, const struct name *name)
{
	/* rocpd_ustring has the same columns */
	table_add_rocpd_string(rows, &(struct row_rocpd_string){
					     .id = name->id,
					     .string = name->text,
					     .string_length = name->length,
				     });
}

static int64_t out_of_memory(struct names *names)
{
	writer_error(names->strings.writer, SQLITE_NOMEM, "name");
	return NAMES_EMPTY;
}

static int64_t add_name(struct names *names, const char *text, size_t length, uint32_t where)
{
	const char *plain;
	struct name *name;

	arena_reset(&names->arena);
	plain = text_plain(&names->arena, text, length, &length);
	name = plain ? intern(names, plain, length) : NULL;
	if (!name)
		return out_of_memory(names);
	if (!(name->where & where)) {
		add_row(where == IN_STRINGS ? &names->strings : &names->ustrings, name);
		name->where |= where;
	}
	return name->id;
}

static bool load_name(struct names *names, int64_t id, const char *text, uint32_t where)
{
	struct name *name;

	if (!text)
		return true;
	name = intern(names, text, strlen(text));
	if (!name)
		return false;
	if (!name->where)
		name->id = id;
	name->where |= where;
	if (names->next_id <= id)
		names->next_id = id + 1;
	return true;
}

/* The texts that the table has, where an output is continued. */
static void load_names(struct names *names, struct writer *w, const char *table, uint32_t where)
{
	sqlite3_stmt *question = writer_ask(w, "SELECT id, string FROM %s", table);

	while (writer_next(w, question))
		if (!load_name(names, sqlite3_column_int64(question, 0),
			       (const char *)sqlite3_column_text(question, 1), where))
			writer_error(w, SQLITE_NOMEM, "name");
}

bool names_init(struct names *names, struct writer *writer)
{
	*names = (struct names){.next_id = NAMES_EMPTY};
	if (!rows_init(&names->strings, writer, "INSERT", &table_rocpd_string) ||
	    !rows_init(&names->ustrings, writer, "INSERT", &table_rocpd_ustring))
		return false;
	load_names(names, writer, "rocpd_string", IN_STRINGS);
	load_names(names, writer, "rocpd_ustring", IN_USTRINGS);
	names_string(names, "");
	names_ustring(names, "");
	names->kernel_execution = names_string(names, "KernelExecution");
	names->kernel_dispatch = names_string(names, "KernelDispatch");
	names->hsa = names_string(names, "hsa");
	names->hip = names_string(names, "hip");
	names->roctx = names_string(names, "roctx");
	names->user_marker = names_string(names, "UserMarker");
	names->launch = names_string(names, "launch");
	names->rtl = names_string(names, "rtl");
	names->process = names_string(names, "Process");
	names->process_end = names_string(names, "ProcessEnd");
	return !writer->failed;
}

int64_t names_string(struct names *names, const char *text)
{
	return add_name(names, text ? text : "", text ? strlen(text) : 0, IN_STRINGS);
}

int64_t names_ustring(struct names *names, const char *text)
{
	return add_name(names, text ? text : "", text ? strlen(text) : 0, IN_USTRINGS);
}

int64_t names_argument(struct names *names, const char *text, size_t length)
{
	const char *plain;
	struct name *known;
	struct cell *cell;

	if (names->count < NAMES_KEPT)
		return add_name(names, text, length, IN_USTRINGS);
	arena_reset(&names->arena);
	plain = text_plain(&names->arena, text, length, &length);
	if (!plain)
		return out_of_memory(names);
	known = *find_slot(names->table, names->capacity, hash_text(plain, length), plain, length);
	if (known && known->where & IN_USTRINGS)
		return known->id;
	cell = table_add_rocpd_ustring(&names->ustrings,
				       &(struct row_rocpd_ustring){.id = names->next_id});
	cell_text_n(&names->ustrings, &cell[1], plain, length); /* it does not stay */
	return names->next_id++;
}

void names_fini(struct names *names)
{
	for (size_t i = 0; i < names->capacity; i++)
		free(names->table[i]);
	free(names->table);
	arena_fini(&names->arena);
	*names = (struct names){0};
}
