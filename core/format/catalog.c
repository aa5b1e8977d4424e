/* SPDX-License-Identifier: MIT */
#include "catalog.h"

#include <stdlib.h>

#include "dict.h"
#include "stream_info.h"

/* A part of the dictionary as it was read: texts stay in it. */
struct dict_piece {
	struct dict_piece *older;
	uint64_t bytes[];
};

struct metadata {
	struct metadata *next;
	struct metadata *older; /* replaced values: somebody may still look at them */
	const char *key, *value;
	uint32_t kind; /* enum rtl_kind */
};

struct tracepoint {
	struct rtl_tracepoint info;
	struct metadata *metadata; /* release by add_metadata, acquire by catalog_tracepoint */
};

/* The rest of an entry. */
struct cursor {
	const uint8_t *at;
	size_t left;
};

static const void *take(struct cursor *c, size_t size)
{
	const void *p = c->at;

	if (size > c->left)
		return NULL;
	c->at += size;
	c->left -= size;
	return p;
}

static const char *take_text(struct cursor *c, uint32_t length)
{
	const char *text = take(c, (size_t)length + 1);

	return text && !text[length] && strlen(text) == length ? text : NULL;
}

static bool take_texts(struct cursor *c, const uint32_t *lengths, const char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(texts[i] = take_text(c, lengths[i])))
			return false;
	return true;
}

/* Skips to the next multiple of 8; entries begin on one. */
static bool skip_padding(struct cursor *c)
{
	return take(c, -(uintptr_t)c->at & 7) != NULL;
}

static int read_process(struct catalog *catalog, struct cursor *c)
{
	const struct dict_process *fixed = take(c, sizeof(*fixed));
	const char *texts[4];

	if (!fixed || !take_texts(c, fixed->lengths, texts, 4) || catalog->process.program)
		return RTL_EFORMAT;
	catalog->process.program = texts[0];
	catalog->process.command = texts[1];
	catalog->process.host_name = texts[2];
	catalog->process.run = texts[3];
	catalog->process.rank = (int32_t)(fixed->rank - 1);
	return 0;
}

static int read_field(struct cursor *c, struct rtl_field *out)
{
	const struct dict_field *fixed = take(c, sizeof(*fixed));
	const char *texts[3];

	if (!fixed || !take_texts(c, fixed->lengths, texts, 3) || !skip_padding(c))
		return RTL_EFORMAT;
	*out = (struct rtl_field){
		.struct_size = sizeof(*out),
		.kind = fixed->kind,
		.group = fixed->group,
		.offset = fixed->offset,
		.size = fixed->size,
		.name = texts[0],
		.unit = texts[1],
		.description = texts[2],
	};
	return 0;
}

/* out->fields is the caller's to free, on failure too. */
static int read_type(struct cursor *c, struct rtl_type_info *out)
{
	const struct dict_type *fixed = take(c, sizeof(*fixed));
	struct rtl_field *fields;
	const char *texts[2];
	int err;

	out->fields = NULL;
	if (!fixed || !take_texts(c, fixed->lengths, texts, 2) || !skip_padding(c) ||
	    fixed->field_count > c->left / sizeof(struct dict_field))
		return RTL_EFORMAT;
	fields = calloc(fixed->field_count + 1u, sizeof(*fields));
	if (!fields)
		return RTL_ENOMEM;
	*out = (struct rtl_type_info){
		.struct_size = sizeof(*out),
		.type = fixed->type,
		.field_count = fixed->field_count,
		.payload_size = fixed->payload_size,
		.repeated_by = fixed->repeated_by,
		.name = texts[0],
		.description = texts[1],
		.fields = fields,
	};
	for (uint16_t i = 0; i < fixed->field_count; i++)
		if ((err = read_field(c, &fields[i])))
			return err;
	return 0;
}

static void free_types(struct rtl_type_info *types, uint32_t n)
{
	for (uint32_t i = 0; types && i < n; i++)
		free((void *)(uintptr_t)types[i].fields);
	free(types);
}

static int read_types(struct cursor *c, struct rtl_stream_info *info)
{
	struct rtl_type_info *types = calloc(info->type_count + 1u, sizeof(*types));
	int err;

	if (!types)
		return RTL_ENOMEM;
	info->types = types;
	for (uint32_t i = 0; i < info->type_count; i++)
		if ((err = read_type(c, &types[i])))
			return err;
	return 0;
}

static int read_stream(struct catalog *catalog, struct cursor *c)
{
	const struct dict_stream *fixed = take(c, sizeof(*fixed));
	struct rtl_stream_info info = {.struct_size = sizeof(info)}, *copy = NULL;
	const char *texts[2];
	int err;

	if (!fixed || !take_texts(c, fixed->lengths, texts, 2) || !skip_padding(c) ||
	    fixed->number != catalog->stream_count || fixed->number >= SPOOL_STREAMS_MAX ||
	    fixed->type_count > c->left / sizeof(struct dict_type))
		return RTL_EFORMAT;
	info.number = fixed->number;
	info.version_major = fixed->version_major;
	info.version_minor = fixed->version_minor;
	info.name = texts[0];
	info.description = texts[1];
	info.type_count = fixed->type_count;
	err = read_types(c, &info);
	if (!err && stream_info_flaw(&info))
		err = RTL_EFORMAT;
	if (!err && !(copy = stream_info_copy(&info)))
		err = RTL_ENOMEM;
	free_types((struct rtl_type_info *)(uintptr_t)info.types, info.type_count);
	if (!err)
		catalog->streams[catalog->stream_count++] = copy;
	return err;
}

static int read_string(struct catalog *catalog, struct cursor *c)
{
	const struct dict_string *fixed = take(c, sizeof(*fixed));
	const char *text = fixed ? take_text(c, fixed->lengths[0]) : NULL;

	if (!text || !fixed->id)
		return RTL_EFORMAT;
	if (table_find(&catalog->strings, fixed->id))
		return 0;
	return table_insert(&catalog->strings, fixed->id, (void *)(uintptr_t)text) ? RTL_ENOMEM : 0;
}

static int read_tracepoint(struct catalog *catalog, struct cursor *c)
{
	const struct dict_tracepoint *fixed = take(c, sizeof(*fixed));
	const char *texts[4];
	struct tracepoint *t;

	if (!fixed || !take_texts(c, fixed->lengths, texts, 4) || !fixed->uid)
		return RTL_EFORMAT;
	if (table_find(&catalog->tracepoints, fixed->uid))
		return 0;
	t = malloc(sizeof(*t));
	if (!t)
		return RTL_ENOMEM;
	t->metadata = NULL;
	t->info = (struct rtl_tracepoint){
		.struct_size = sizeof(t->info),
		.line = fixed->line,
		.column = fixed->column,
		.uid = fixed->uid,
		.kind = texts[0],
		.name = texts[1],
		.source = texts[2],
		.module = texts[3],
		.module_offset = fixed->module_offset,
		.hash = fixed->hash,
	};
	if (table_insert(&catalog->tracepoints, fixed->uid, t)) {
		free(t);
		return RTL_ENOMEM;
	}
	return 0;
}

static int read_metadata(struct catalog *catalog, struct cursor *c)
{
	const struct dict_metadata *fixed = take(c, sizeof(*fixed));
	const char *texts[2];
	struct tracepoint *t;
	struct metadata *m, **at;

	if (!fixed || !take_texts(c, fixed->lengths, texts, 2))
		return RTL_EFORMAT;
	t = fixed->uid ? table_find(&catalog->tracepoints, fixed->uid) : NULL;
	if (!t)
		return RTL_EFORMAT;
	m = malloc(sizeof(*m));
	if (!m)
		return RTL_ENOMEM;
	*m = (struct metadata){.key = texts[0], .value = texts[1], .kind = fixed->kind};
	for (at = &t->metadata; *at && strcmp((*at)->key, m->key) != 0; at = &(*at)->next)
		;
	if (*at) {
		m->older = *at;
		m->next = (*at)->next;
	}
	/* release: with the acquire in catalog_tracepoint */
	__atomic_store_n(at, m, __ATOMIC_RELEASE);
	return 0;
}

static int (*const readers[])(struct catalog *catalog, struct cursor *c) = {
	[DICT_PROCESS] = read_process,   [DICT_STREAM] = read_stream,
	[DICT_STRING] = read_string,     [DICT_TRACEPOINT] = read_tracepoint,
	[DICT_METADATA] = read_metadata,
};

static int read_entry(struct catalog *catalog, const struct dict_entry *entry)
{
	struct cursor c = {(const uint8_t *)entry, entry->size};

	if (entry->kind >= sizeof(readers) / sizeof(*readers) || !readers[entry->kind])
		return 0; /* of a newer version */
	return readers[entry->kind](catalog, &c);
}

static int read_piece(struct catalog *catalog, const uint8_t *at, uint64_t left)
{
	while (left) {
		const struct dict_entry *entry = (const void *)at;
		int err = RTL_EFORMAT;

		if (left >= sizeof(*entry) && entry->size >= sizeof(*entry) &&
		    entry->size <= left && entry->size % 8 == 0)
			err = read_entry(catalog, entry);
		if (err) {
			catalog->damaged = err == RTL_EFORMAT;
			return err;
		}
		catalog->position += entry->size;
		left -= entry->size;
		at += entry->size;
	}
	return 0;
}

int catalog_read(struct catalog *catalog, const uint8_t *dict, uint64_t length)
{
	struct dict_piece *piece;

	if (catalog->damaged)
		return RTL_EFORMAT;
	if (length <= catalog->position)
		return 0;
	length -= catalog->position;
	piece = malloc(sizeof(*piece) + length);
	if (!piece)
		return RTL_ENOMEM;
	memcpy(piece->bytes, dict + catalog->position, length);
	piece->older = catalog->pieces;
	catalog->pieces = piece;
	return read_piece(catalog, (const uint8_t *)piece->bytes, length);
}

const char *catalog_string(const struct catalog *catalog, uint64_t id)
{
	return id ? table_find(&catalog->strings, id) : NULL;
}

bool catalog_put_metadata(struct rtl_metadata **list, uint32_t *room, uint32_t n, const char *key,
			  const char *value, uint32_t kind)
{
	if (!array_grow(list, room, n + 1, sizeof(**list)))
		return false;
	(*list)[n] = (struct rtl_metadata){.struct_size = sizeof(struct rtl_metadata),
					   .kind = kind,
					   .key = key,
					   .value = value};
	return true;
}

bool catalog_tracepoint(const struct catalog *catalog, uint64_t uid, struct rtl_tracepoint *out,
			struct rtl_metadata **metadata, uint32_t *room)
{
	const struct tracepoint *t = uid ? table_find(&catalog->tracepoints, uid) : NULL;
	const struct metadata *m;
	uint32_t n = 0;

	if (!t)
		return false;
	for (m = __atomic_load_n(&t->metadata, __ATOMIC_ACQUIRE); m;
	     m = __atomic_load_n(&m->next, __ATOMIC_ACQUIRE))
		if (!catalog_put_metadata(metadata, room, n++, m->key, m->value, m->kind))
			return false;
	*out = t->info;
	out->metadata = *metadata;
	out->metadata_count = n;
	return true;
}

static void free_tracepoint(void *user, void *entry)
{
	struct tracepoint *t = entry;
	struct metadata *m, *older;

	while ((m = t->metadata)) {
		t->metadata = m->next;
		for (; m; m = older) {
			older = m->older;
			free(m);
		}
	}
	free(t);
}

void catalog_fini(struct catalog *catalog)
{
	struct dict_piece *piece;

	table_each(&catalog->tracepoints, free_tracepoint, NULL);
	table_fini(&catalog->strings);
	table_fini(&catalog->tracepoints);
	for (uint32_t i = 0; i < catalog->stream_count; i++)
		free(catalog->streams[i]);
	while ((piece = catalog->pieces)) {
		catalog->pieces = piece->older;
		free(piece);
	}
	memset(catalog, 0, sizeof(*catalog));
}
