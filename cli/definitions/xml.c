/* SPDX-License-Identifier: MIT */
/*
 * Definitions in rocprofiler v1's format (metrics.xml), which looks like XML: values may stand without
 * quotes and end at white space then, and "#" begins a comment or an #include. No reader of XML takes it.
 *
 * The element around metrics is their scope, and `base` inherits. A GPU's is that of its name, else of its family;
 * with it come the scopes that it has as bases, and `global`.
 */
#include <stdlib.h>
#include <string.h>

#include "reading.h"

enum {
	FILES_MOST = 16,
	BASES_MOST = 4096, /* times that scopes inherit, for a GPU */
	ITEMS_MOST = 65536,
	PATH_BYTES = 4096,
};

#define SPACE " \t\r\n"

struct item { /* of a scope: a definition, or a base */
	const char *scope, *base;
	const char *name;
	char *line;       /* the definition, without its GPUs */
	char *gpus;       /* that have it */
	const char *last; /* of these */
};

struct xml {
	struct reading *reading;
	char *files[FILES_MOST]; /* texts */
	size_t file_count;
	struct item *items;
	size_t count;
	size_t inherited;
};

/* A file. */
struct reader {
	struct xml *xml;
	const char *path;
	char *start, *at;
	const char *scope, *base; /* the innermost element; NULL: it has ended */
	unsigned depth;
	bool closed; /* the tag, by "/>" */
};

enum { NAME, BLOCK, EVENT, EXPRESSION, DESCRIPTION, BASE, VALUES };

static bool read_text(struct xml *xml, const char *path);

/* Counts lines only when something is wrong; a 0 may stand where a line ended. */
static bool fail(struct reader *r, const char *what)
{
	size_t line = 1;

	for (const char *c = r->start; c < r->at; c++)
		line += *c == '\n';
	return reading_fail(r->xml->reading, "%s: near line %zu: %s", r->path, line, what);
}

static bool add_item(struct reader *r, const struct item *item)
{
	struct xml *xml = r->xml;
	struct item *items = NULL;

	if (xml->count < ITEMS_MOST)
		items = reallocarray(xml->items, xml->count + 1, sizeof(*items));
	if (!items)
		return fail(r, "too many definitions");
	xml->items = items;
	items[xml->count++] = *item;
	return true;
}

static bool add_metric(struct reader *r, char *const *values)
{
	const char *what = values[values[BLOCK] ? EVENT : EXPRESSION];
	struct item item = {.scope = r->scope ? r->scope : "", .name = values[NAME]};

	if (!item.name || !*item.name)
		return fail(r, "a metric without a name");
	if (!values[BLOCK] && !what)
		return fail(r, "a metric with neither a block nor an expression");
	if (values[BLOCK] && (!what || !reading_is_number(what)))
		return fail(r, "a metric's event is no number");
	item.line = reading_line(item.name, values[BLOCK], what, NULL, values[DESCRIPTION]);
	return item.line && add_item(r, &item);
}

/* A scope inherits where its element ends: what its base has by then, and it has not itself. */
static bool end_scope(struct reader *r)
{
	const struct item item = {.scope = r->scope, .base = r->base};

	r->scope = r->base = NULL;
	return !item.base || add_item(r, &item);
}

/* ---- text ---- */

/* Takes what is before one of some characters. Returns which it was, and puts a 0 there. */
static char take(struct reader *r, char **text, const char *ends)
{
	char end;

	*text = r->at += strspn(r->at, SPACE);
	r->at += strcspn(r->at, ends);
	end = *r->at;
	if (end)
		*r->at++ = '\0';
	return end;
}

/* Of a tag: what ended it, or 0. Names and values have a 0 behind them. */
static char read_value(struct reader *r, char **values)
{
	static const char *const names[] = {"name", "block", "event", "expr", "descr", "base"};
	char *name, *value, end = take(r, &name, "=>");

	name[strcspn(name, SPACE)] = '\0';
	if (end == '>' && !strcmp(name, "/"))
		r->closed = true;
	else if (end == '>' && *name)
		return '\0';
	if (end != '=')
		return end;
	r->at += strspn(r->at, SPACE);
	if (*r->at == '"' || *r->at == '\'') {
		const char quote[] = {*r->at++, '\0'};

		end = take(r, &value, quote);
	} else {
		end = take(r, &value, SPACE ">");
		if (end == '>' && *value && r->at[-2] == '/') {
			r->closed = true;
			r->at[-2] = '\0';
		}
	}
	for (size_t i = 0; i < VALUES; i++) {
		if (!strcmp(name, names[i]))
			values[i] = value;
	}
	return end;
}

static bool read_tag(struct reader *r)
{
	char *name, *values[VALUES] = {NULL}, end = take(r, &name, SPACE ">");

	r->closed = false;
	while (end && end != '>')
		end = read_value(r, values);
	if (!end)
		return fail(r, "a tag has no end, or a name without a value");
	if (!strcmp(name, "metric"))
		return add_metric(r, values);
	if (!strcmp(name, "/metric"))
		return true;
	if (*name == '/')
		return r->depth-- ? end_scope(r) : fail(r, "a tag is closed that was not opened");
	r->scope = name;
	r->base = values[BASE];
	r->depth++;
	if (!r->closed)
		return true;
	r->depth--;
	return end_scope(r);
}

/* #include "FILE", beside this file; any other line that begins with # is a comment. */
static bool read_hash(struct reader *r)
{
	const char *slash = strrchr(r->path, '/');
	const int folder = slash ? (int)(slash - r->path) + 1 : 0;
	char name[PATH_BYTES], path[2 * PATH_BYTES], *line;

	take(r, &line, "\n");
	if (sscanf(line, "#include%*[ \t]\"%4095[^\"]\"", name) != 1)
		return true;
	snprintf(path, sizeof(path), "%.*s%s", *name == '/' ? 0 : folder, r->path, name);
	return r->xml->file_count < FILES_MOST ? read_text(r->xml, path)
					       : fail(r, "files include each other");
}

static bool read_next(struct reader *r)
{
	char *end;

	if (*r->at == '#')
		return read_hash(r);
	if (*r->at != '<')
		return fail(r, "text outside of tags");
	if (strncmp(r->at, "<!--", 4) != 0 && r->at[1] != '?') {
		r->at++;
		return read_tag(r);
	}
	end = strstr(r->at, r->at[1] == '?' ? "?>" : "-->");
	if (!end)
		return fail(r, "a comment has no end");
	r->at = strchr(end, '>') + 1;
	return true;
}

static bool read_text(struct xml *xml, const char *path)
{
	struct reader r = {.xml = xml, .path = path};

	r.start = r.at = reading_text(xml->reading, path);
	if (!r.start)
		return false;
	xml->files[xml->file_count++] = r.start;
	for (r.at += strspn(r.at, SPACE); *r.at; r.at += strspn(r.at, SPACE)) {
		if (!read_next(&r))
			return false;
	}
	return !r.depth || fail(&r, "the file ends within an element");
}

/* ---- scopes ---- */

static bool has(const struct xml *xml, const char *gpu, const char *name)
{
	for (size_t i = 0; i < xml->count; i++) {
		if (xml->items[i].last == gpu && !strcmp(xml->items[i].name, name))
			return true;
	}
	return false;
}

static bool give(struct item *item, const char *gpu)
{
	char *gpus;

	if (asprintf(&gpus, "%s%s%s", item->gpus ? item->gpus : "", item->gpus ? "/" : "", gpu) < 0)
		return false;
	free(item->gpus);
	item->gpus = gpus;
	item->last = gpu;
	return true;
}

/* Gives a GPU what a scope has before that item; of definitions of one name the first counts. */
static bool give_scope(struct xml *xml, const char *gpu, const char *name, size_t end)
{
	if (xml->inherited++ == BASES_MOST)
		return reading_fail(xml->reading, "scopes inherit from each other too often");
	for (size_t i = 0; i < end; i++) {
		struct item *item = &xml->items[i];

		if (strcmp(item->scope, name) != 0)
			continue;
		if (item->base ? !give_scope(xml, gpu, item->base, i)
			       : !has(xml, gpu, item->name) && !give(item, gpu))
			return false;
	}
	return true;
}

/* What is global refers to counters: of no use to a GPU that has none. */
static bool give_all(struct xml *xml)
{
	for (size_t i = 0; i < xml->count; i++) {
		const char *scope = xml->items[i].scope;
		size_t before = 0;

		while (strcmp(xml->items[before].scope, scope) != 0)
			before++;
		if (before < i || strncmp(scope, "gfx", 3) != 0)
			continue;
		xml->inherited = 0;
		if (!give_scope(xml, scope, scope, xml->count) ||
		    !give_scope(xml, scope, "global", xml->count))
			return false;
	}
	return true;
}

bool reading_xml(struct reading *reading, const char *path)
{
	struct xml xml = {.reading = reading};
	const bool done = read_text(&xml, path) && give_all(&xml);

	for (size_t i = 0; i < xml.count; i++) {
		const struct item *item = &xml.items[i];

		if (done && item->gpus)
			fprintf(reading->list, "%s|%s\n", item->gpus, item->line);
		free(item->line);
		free(item->gpus);
	}
	while (xml.file_count)
		free(xml.files[--xml.file_count]);
	free(xml.items);
	return done;
}
