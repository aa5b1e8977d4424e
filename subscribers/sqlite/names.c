/* SPDX-License-Identifier: MIT */
/* names.c: see names.h. */
#include "names.h"

#include "tables_rocpd.h"
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

/* A text that is looked for. */
struct text {
	const char *text;
	size_t length;
};

static bool is_used(const void *entry)
{
	return *(struct name *const *)entry != NULL;
}

static uint64_t hash_of(const void *entry)
{
	return (*(struct name *const *)entry)->hash;
}

static bool is_same(const void *entry, const void *key)
{
	const struct name *name = *(struct name *const *)entry;
	const struct text *text = key;

	return name->length == text->length && !memcmp(name->text, text->text, text->length);
}

static const struct hash_kind kind = {
	.bytes = sizeof(struct name *),
	.initial = 256,
	.is_used = is_used,
	.hash = hash_of,
	.is_same = is_same,
};

static struct name *new_name(struct names *names, const char *text, size_t length, uint64_t hash)
{
	struct name *name = malloc(sizeof(*name) + length + 1);

	if (!name)
		return NULL;
	*name = (struct name){.hash = hash, .id = names->next_id++, .length = (uint32_t)length};
	memcpy(name->text, text, length);
	name->text[length] = '\0';
	return name;
}

/* The name of a text as it is, made if it is new; NULL: out of memory. */
static struct name *intern(struct names *names, const char *text, size_t length)
{
	const uint64_t hash = hash_text(text, length);
	const struct text key = {text, length};
	struct name **place = hash_find(&names->known, &kind, hash, &key), *name;

	if (place)
		return *place;
	name = new_name(names, text, length, hash);
	place = name ? hash_add(&names->known, &kind, hash, &key) : NULL;
	if (!place) {
		free(name);
		return NULL;
	}
	return *place = name;
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
	struct name **known;
	struct cell *cell;

	if (names->known.count < NAMES_KEPT)
		return add_name(names, text, length, IN_USTRINGS);
	arena_reset(&names->arena);
	plain = text_plain(&names->arena, text, length, &length);
	if (!plain)
		return out_of_memory(names);
	known = hash_find(&names->known, &kind, hash_text(plain, length),
			  &(struct text){plain, length});
	if (known && (*known)->where & IN_USTRINGS)
		return (*known)->id;
	cell = table_add_rocpd_ustring(&names->ustrings,
				       &(struct row_rocpd_ustring){.id = names->next_id});
	cell_text_n(&names->ustrings, &cell[1], plain, length); /* it does not stay */
	return names->next_id++;
}

void names_fini(struct names *names)
{
	for (size_t i = 0; i < names->known.capacity; i++)
		free(*(struct name **)hash_at(&names->known, &kind, i));
	hash_fini(&names->known);
	arena_fini(&names->arena);
	*names = (struct names){0};
}
