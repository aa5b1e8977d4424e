/* SPDX-License-Identifier: MIT */
/* Interned strings and tracepoints: maps from a 64-bit hash of the content to an entry that never changes. Two
 * contents with one hash are compared, and the later one gets the next hash of its chain (hash_finish): ids are
 * always unique. Threads: looking up takes no lock (table.h); registering takes bus.lock. */
#include "parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bus.h"
#include "catalog.h"
#include "dict.h"
#include "hash.h"

struct string {
	uint64_t id;
	uint32_t length;
	char text[];
};

struct metadata {
	struct metadata *next;
	const char *value; /* interned: stays valid when it is replaced */
	uint32_t kind;     /* enum rtl_kind; 0: a text */
	char key[];
};

struct tracepoint {
	struct rtl_tracepoint info; /* without metadata */
	uint64_t build_id;
	const void *code;          /* here, in this process */
	struct metadata *metadata; /* under bus.lock */
	void *user;                /* a publisher's; release, acquire */
	struct tracepoint *twin;   /* next with the same key in by_content */
};

static struct table strings;    /* by id */
static struct table uids;       /* tracepoints by uid */
static struct table by_content; /* tracepoints by the hash of what they were registered with */

/* Hints: what was found last for texts at that address; contents are compared. Release, acquire. */
#define RECENT 512u
static struct string *recent_strings[RECENT];
static struct tracepoint *recent_tracepoints[RECENT];

static size_t recent_index(const void *text, const void *code, uint32_t line)
{
	uint64_t key = (uintptr_t)text ^ (uintptr_t)code << 7 ^ (uint64_t)line << 32;

	return (size_t)(key * 0x9e3779b97f4a7c15u >> 55);
}

static uint64_t hash_text(uint64_t state, const char *text)
{
	return hash_bytes(state, text ? text : "", text ? strlen(text) : 0);
}

/* ---- strings */

/* The entry with that text, or NULL and in *id the first id of its chain that is free. */
static struct string *find_string(const char *text, size_t length, uint64_t *id)
{
	struct string *s;

	*id = hash_finish(hash_bytes(0, text, length));
	while ((s = table_find(&strings, *id))) {
		if (s->length == length && !memcmp(s->text, text, length))
			return s;
		*id = hash_finish(*id);
	}
	return NULL;
}

static int add_string(const char *text, size_t length, uint64_t *id)
{
	struct string *s;
	int err = 0;

	bus_lock();
	if (!find_string(text, length, id)) {
		s = malloc(sizeof(*s) + length + 1);
		err = s ? 0 : RTL_ENOMEM;
		if (s) {
			s->id = *id;
			s->length = (uint32_t)length;
			memcpy(s->text, text, length + 1);
			dict_add_string(&bus.spool, *id, s->text); /* before others find it */
			err = table_insert(&strings, *id, s);      /* else it is lost: rarely */
		}
	}
	bus_unlock();
	return err;
}

static __attribute__((noinline)) int intern_by_content(const char *text, uint64_t *id)
{
	size_t length = strlen(text);
	struct string *s;
	uint64_t found;
	int err;

	if (length >= UINT32_MAX)
		return RTL_EINVAL;
	s = find_string(text, length, &found);
	if (s) {
		__atomic_store_n(&recent_strings[recent_index(text, NULL, 0)], s, __ATOMIC_RELEASE);
	} else {
		err = add_string(text, length, &found);
		if (err)
			return err;
	}
	*id = found;
	return 0;
}

int rtl_string_intern(const char *text, uint64_t *id)
{
	const struct string *s;

	if (!text || !id)
		return RTL_EINVAL;
	s = __atomic_load_n(&recent_strings[recent_index(text, NULL, 0)], __ATOMIC_ACQUIRE);
	if (!s || strcmp(s->text, text) != 0)
		return intern_by_content(text, id);
	*id = s->id;
	return 0;
}

const char *rtl_string_text(uint64_t id)
{
	const struct string *s = id ? table_find(&strings, id) : NULL;

	return s ? s->text : NULL;
}

/* ---- tracepoints */

static uint64_t hash_place(uint64_t state, const struct rtl_tracepoint_desc *d)
{
	state = hash_text(hash_text(hash_text(state, d->name), d->kind), d->source);
	return hash_u64(state, (uint64_t)d->line << 32 | d->column);
}

static uint64_t content_hash(const struct rtl_tracepoint_desc *d)
{
	return hash_finish(hash_u64(hash_u64(hash_place(1, d), (uintptr_t)d->code), d->hash));
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a, b ? b : "");
}

static bool same_place(const struct tracepoint *t, const struct rtl_tracepoint_desc *d)
{
	return t->info.hash == d->hash && t->info.line == d->line && t->info.column == d->column &&
	       same_text(t->info.name, d->name) && same_text(t->info.kind, d->kind) &&
	       same_text(t->info.source, d->source);
}

static bool same_module(const struct tracepoint *t, const struct module *m)
{
	return t->build_id == m->build_id && t->info.module_offset == m->offset;
}

static struct tracepoint *find_content(const struct rtl_tracepoint_desc *d, uint64_t hash)
{
	struct tracepoint *t;

	/* acquire by table_find, and the twins behind: release in add_tracepoint */
	for (t = table_find(&by_content, hash); t; t = __atomic_load_n(&t->twin, __ATOMIC_ACQUIRE))
		if (t->code == d->code && same_place(t, d))
			return t;
	return NULL;
}

/* The uid of a description: that of its equal, or the first free one of its chain. */
static uint64_t choose_uid(const struct rtl_tracepoint_desc *d, const struct module *m)
{
	uint64_t uid = hash_u64(hash_u64(hash_place(2, d), m->build_id), m->offset);
	struct tracepoint *t;

	uid = hash_finish(hash_u64(uid, d->hash));
	while ((t = table_find(&uids, uid))) {
		if (same_place(t, d) && same_module(t, m))
			break;
		uid = hash_finish(uid);
	}
	return uid;
}

static struct tracepoint *make_tracepoint(const struct rtl_tracepoint_desc *d,
					  const struct module *m, uint64_t uid)
{
	const char *texts[] = {d->kind, d->name, d->source, m->path};
	struct tracepoint *t = malloc(sizeof(*t) + texts_put(NULL, texts, 4));

	if (!t)
		return NULL;
	texts_put((char *)(t + 1), texts, 4);
	*t = (struct tracepoint){
		.info =
			{
				.struct_size = sizeof(t->info),
				.line = d->line,
				.column = d->column,
				.uid = uid,
				.kind = texts[0],
				.name = texts[1],
				.source = texts[2],
				.module = texts[3],
				.module_offset = m->offset,
				.hash = d->hash,
			},
		.build_id = m->build_id,
		.code = d->code,
	};
	return t;
}

/* Makes it known by its uid, if that is new. */
static int add_uid(struct tracepoint *t)
{
	if (table_find(&uids, t->info.uid))
		return 0;
	dict_add_tracepoint(&bus.spool, &t->info); /* before others find it */
	return table_insert(&uids, t->info.uid, t);
}

static int add_tracepoint(const struct rtl_tracepoint_desc *d, uint64_t hash, uint64_t *uid)
{
	struct module module = loaded_module(d->code); /* takes the loader's lock: before ours */
	struct tracepoint *t, *first;
	int err = 0;

	bus_lock();
	t = find_content(d, hash);
	if (!t) {
		t = make_tracepoint(d, &module, choose_uid(d, &module));
		err = t ? add_uid(t) : RTL_ENOMEM;
		first = table_find(&by_content, hash);
		if (!err && first) {
			t->twin = first->twin;
			/* release: with the acquire in find_content */
			__atomic_store_n(&first->twin, t, __ATOMIC_RELEASE);
		} else if (!err) {
			err = table_insert(&by_content, hash, t);
		}
	}
	if (!err)
		*uid = t->info.uid;
	bus_unlock();
	return err; /* an entry that only one table could take stays: it is right as far as it goes
		     */
}

static __attribute__((noinline)) int register_by_content(const struct rtl_tracepoint_desc *desc,
							 struct tracepoint **recent, uint64_t *uid)
{
	uint64_t hash = content_hash(desc);
	struct tracepoint *t = find_content(desc, hash);

	if (!t)
		return add_tracepoint(desc, hash, uid);
	__atomic_store_n(recent, t, __ATOMIC_RELEASE);
	*uid = t->info.uid;
	return 0;
}

int rtl_tracepoint_register(const struct rtl_tracepoint_desc *desc, uint64_t *uid)
{
	struct tracepoint **recent, *t;

	if (!desc || desc->struct_size < sizeof(*desc) || !desc->name || !*desc->name || !uid)
		return RTL_EINVAL;
	recent = &recent_tracepoints[recent_index(desc->name, desc->code, desc->line)];
	t = __atomic_load_n(recent, __ATOMIC_ACQUIRE);
	if (!t || t->code != desc->code || !same_place(t, desc))
		return register_by_content(desc, recent, uid);
	*uid = t->info.uid;
	return 0;
}

int rtl_tracepoint_find(uint64_t uid, struct rtl_tracepoint_desc *desc)
{
	const struct tracepoint *t = uid ? table_find(&uids, uid) : NULL;

	if (!desc || desc->struct_size < sizeof(*desc))
		return RTL_EINVAL;
	if (!t)
		return RTL_ENOENT;
	*desc = (struct rtl_tracepoint_desc){
		.struct_size = sizeof(*desc),
		.line = t->info.line,
		.column = t->info.column,
		.kind = t->info.kind,
		.name = t->info.name,
		.source = t->info.source,
		.code = t->code,
		.hash = t->info.hash,
	};
	return 0;
}

int rtl_tracepoint_set_user(uint64_t uid, void *user)
{
	struct tracepoint *t = uid ? table_find(&uids, uid) : NULL;

	if (!t)
		return RTL_ENOENT;
	/* release: with the acquire in rtl_tracepoint_user */
	__atomic_store_n(&t->user, user, __ATOMIC_RELEASE);
	return 0;
}

void *rtl_tracepoint_user(uint64_t uid)
{
	const struct tracepoint *t = uid ? table_find(&uids, uid) : NULL;

	return t ? __atomic_load_n(&t->user, __ATOMIC_ACQUIRE) : NULL;
}

/* ---- metadata */

/* The value is interned. *changed: whether it was not there like that. */
static int set_locked(struct tracepoint *t, const char *key, const char *value, uint32_t kind,
		      bool *changed)
{
	struct metadata *m;

	*changed = true;
	for (m = t->metadata; m; m = m->next)
		if (!strcmp(m->key, key)) {
			*changed = m->value != value || m->kind != kind;
			m->value = value;
			m->kind = kind;
			return 0;
		}
	m = malloc(sizeof(*m) + strlen(key) + 1);
	if (!m)
		return RTL_ENOMEM;
	strcpy(m->key, key);
	m->value = value;
	m->kind = kind;
	m->next = t->metadata;
	t->metadata = m;
	return 0;
}

static int set(uint64_t uid, const char *key, const char *value, uint32_t kind)
{
	struct tracepoint *t = uid ? table_find(&uids, uid) : NULL;
	bool changed;
	uint64_t id;
	int err;

	if (!key || !*key || !value)
		return RTL_EINVAL;
	if (!t)
		return RTL_ENOENT;
	err = rtl_string_intern(value, &id);
	if (err)
		return err;
	bus_lock();
	err = set_locked(t, key, rtl_string_text(id), kind, &changed);
	/* What is said again and again does not make the spool grow. */
	if (!err && changed)
		dict_add_metadata(&bus.spool, uid, key, value, kind);
	bus_unlock();
	return err;
}

int rtl_tracepoint_set(uint64_t uid, const char *key, const char *value)
{
	return set(uid, key, value, 0);
}

int rtl_tracepoint_set_value(uint64_t uid, const char *key, uint16_t kind, uint64_t bits)
{
	char text[64];
	double real;

	switch (kind) {
	case RTL_KIND_UINT:
	case RTL_KIND_TIME:
		snprintf(text, sizeof(text), "%" PRIu64, bits);
		break;
	case RTL_KIND_INT:
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)bits);
		break;
	case RTL_KIND_FLOAT:
		memcpy(&real, &bits, sizeof(real));
		snprintf(text, sizeof(text), "%.17g", real);
		break;
	case RTL_KIND_BOOL:
		snprintf(text, sizeof(text), "%s", bits ? "true" : "false");
		break;
	case RTL_KIND_ADDRESS:
	case RTL_KIND_UID:
		snprintf(text, sizeof(text), "0x%" PRIx64, bits);
		break;
	default:
		return RTL_EINVAL;
	}
	return set(uid, key, text, kind);
}

bool ids_tracepoint(uint64_t uid, struct rtl_tracepoint *out, struct rtl_metadata **metadata,
		    uint32_t *room)
{
	const struct tracepoint *t = uid ? table_find(&uids, uid) : NULL;
	const struct metadata *m;
	bool complete = true;
	uint32_t n = 0;

	if (!t)
		return false;
	bus_lock();
	for (m = t->metadata; m && complete; m = m->next)
		complete = catalog_put_metadata(metadata, room, n++, m->key, m->value, m->kind);
	bus_unlock();
	if (!complete)
		return false;
	*out = t->info;
	out->metadata = *metadata;
	out->metadata_count = n;
	return true;
}

/* ---- a new spool */

static void refill_string(void *user, void *entry)
{
	const struct string *s = entry;

	dict_add_string(&bus.spool, s->id, s->text);
}

static void refill_tracepoint(void *user, void *entry)
{
	const struct tracepoint *t = entry;
	const struct metadata *m;

	dict_add_tracepoint(&bus.spool, &t->info);
	for (m = t->metadata; m; m = m->next)
		dict_add_metadata(&bus.spool, t->info.uid, m->key, m->value, m->kind);
}

void ids_refill(void)
{
	table_each(&strings, refill_string, NULL);
	table_each(&uids, refill_tracepoint, NULL);
}
