/* SPDX-License-Identifier: MIT */
/*
 * Definitions in rocprofiler v1's format (metrics.xml), which looks like XML: values may stand without
 * quotes and end at white space then, "#" begins a comment or an #include, and `base` inherits.
 *
 * An element around metrics is their scope. A GPU's is that of its name, else of its family; with it
 * come the scopes that it has as bases, and `global`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definitions.h"

enum {
	OPEN_MOST = 16,    /* elements within each other */
	INCLUDES_MOST = 8, /* files within each other */
	BASES_MOST = 4096, /* times that scopes inherit, all together */
};

struct item { /* of a scope: a definition, or a base */
	const char *scope;
	const char *base; /* NULL: a definition */
	struct counter_def def;
};

struct xml {
	struct counter_set *set;
	struct item *items;
	size_t count, room;
	size_t inherited; /* times */
};

struct reader {
	struct xml *xml;
	const char *path;
	char *start, *at;
	char *open[OPEN_MOST], *bases[OPEN_MOST];
	int depth;
	int includes;
};

static bool read_text(struct xml *xml, char *text, const char *path, int includes);

/* Counts lines only when something is wrong; texts that were taken have a 0 behind them, which may
 * stand where a line ended. */
static bool fail(struct reader *r, const char *what)
{
	size_t line = 1;

	for (const char *c = r->start; c < r->at; c++)
		line += *c == '\n';
	return definitions_fail(r->xml->set, "%s: near line %zu: %s", r->path, line, what);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-' || c == '.' || c == ':';
}

static bool add_item(struct reader *r, const struct item *item)
{
	struct xml *xml = r->xml;

	if (xml->count == DEFINITIONS_MOST)
		return fail(r, "too many definitions");
	if (xml->count == xml->room) {
		size_t room = xml->room ? 2 * xml->room : 256;
		struct item *items = reallocarray(xml->items, room, sizeof(*items));
		if (!items)
			return fail(r, "out of memory");
		xml->items = items;
		xml->room = room;
	}
	xml->items[xml->count++] = *item;
	return true;
}

/* #include "FILE", beside this file; any other line that begins with # is a comment. */
static bool read_hash(struct reader *r)
{
	char *line = r->at, *end = strchr(line, '\n'), *name, *quote;
	char path[DEFINITIONS_PATH_BYTES];
	const char *slash = strrchr(r->path, '/');
	int folder = slash ? (int)(slash - r->path) + 1 : 0;
	char *text;

	r->at = end ? end + 1 : line + strlen(line);
	if (strncmp(line, "#include", 8) != 0 || !is_space(line[8]))
		return true;
	if (end)
		*end = '\0';
	name = strchr(line, '"');
	quote = name ? strchr(++name, '"') : NULL;
	if (!quote)
		return fail(r, "an #include without a quoted file name");
	*quote = '\0';
	if (r->includes == INCLUDES_MOST)
		return fail(r, "files include each other");
	if (snprintf(path, sizeof(path), "%.*s%s", *name == '/' ? 0 : folder, r->path, name) >=
	    (int)sizeof(path))
		return fail(r, "the path of an #include is too long");
	text = definitions_file(r->xml->set, path);
	return text && read_text(r->xml, text, path, r->includes + 1);
}

static char *take_name(struct reader *r)
{
	char *name = r->at;

	while (is_name(*r->at))
		r->at++;
	return r->at > name ? name : NULL;
}

static void skip_space(struct reader *r)
{
	while (is_space(*r->at))
		r->at++;
}

/* How an opening tag goes on. */
enum tag { TAG_BROKEN, TAG_VALUE, TAG_OPENED, TAG_CLOSED };

static enum tag end_tag(struct reader *r)
{
	if (*r->at == '>') {
		r->at++;
		return TAG_OPENED;
	}
	if (r->at[0] == '/' && r->at[1] == '>') {
		r->at += 2;
		return TAG_CLOSED;
	}
	fail(r, *r->at ? "a tag has something that is no NAME=VALUE" : "a tag has no end");
	return TAG_BROKEN;
}

/* One NAME=VALUE, or the end of the tag. What ended a value without quotes may be the tag's end: it
 * is overwritten, and returned with the value. */
static enum tag read_value(struct reader *r, char **name, char **value, enum tag *after)
{
	char *end;

	skip_space(r);
	*after = TAG_VALUE;
	*name = take_name(r);
	if (!*name)
		return end_tag(r);
	end = r->at;
	skip_space(r);
	if (*r->at != '=')
		return fail(r, "a name without a value"), TAG_BROKEN;
	r->at++;
	skip_space(r);
	*end = '\0';
	*value = r->at;
	if (*r->at == '"' || *r->at == '\'') {
		char *quote = strchr(r->at + 1, *r->at);
		if (!quote)
			return fail(r, "a quote has no end"), TAG_BROKEN;
		*value = r->at + 1;
		*quote = '\0';
		r->at = quote + 1;
		return TAG_VALUE;
	}
	while (*r->at && !is_space(*r->at) && *r->at != '>')
		r->at++;
	if (r->at == *value)
		return fail(r, "a name without a value"), TAG_BROKEN;
	if (!*r->at)
		return fail(r, "a tag has no end"), TAG_BROKEN;
	if (*r->at == '>') {
		*after = TAG_OPENED;
		if (r->at[-1] == '/') {
			r->at[-1] = '\0';
			*after = TAG_CLOSED;
		}
	}
	*r->at++ = '\0';
	return TAG_VALUE;
}

struct tag_values {
	char *name, *block, *event, *expression, *description, *base;
};

static void keep_value(struct tag_values *values, const char *name, char *value)
{
	static const struct {
		const char *name;
		size_t at;
	} known[] = {
		{"name", offsetof(struct tag_values, name)},
		{"block", offsetof(struct tag_values, block)},
		{"event", offsetof(struct tag_values, event)},
		{"expr", offsetof(struct tag_values, expression)},
		{"descr", offsetof(struct tag_values, description)},
		{"base", offsetof(struct tag_values, base)},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!strcmp(name, known[i].name))
			memcpy((char *)values + known[i].at, &value, sizeof(value));
	}
}

static bool add_metric(struct reader *r, const struct tag_values *values)
{
	struct item item = {0};

	item.scope = r->depth > 1 ? r->open[r->depth - 2] : "";
	item.def.name = values->name;
	item.def.block = values->block;
	item.def.expression = values->block ? NULL : values->expression;
	item.def.description = values->description ? values->description : "";
	if (!values->name || !*values->name)
		return fail(r, "a metric without a name");
	if (!values->block && !values->expression)
		return fail(r, "a metric with neither a block nor an expression");
	if (values->block &&
	    (!values->event || !definitions_number(values->event, &item.def.event)))
		return fail(r, "a metric's event is no number");
	return add_item(r, &item);
}

/* A scope inherits where its element ends: what its base has by then, and it has not itself. */
static bool end_element(struct reader *r)
{
	struct item item;

	r->depth--;
	item = (struct item){.scope = r->open[r->depth], .base = r->bases[r->depth]};
	return !item.base || add_item(r, &item);
}

static bool read_open(struct reader *r)
{
	struct tag_values values = {0};
	char *element = take_name(r), *end = r->at, *name, *value;
	enum tag tag, after;

	if (!element)
		return fail(r, "a '<' without a name");
	if (r->depth == OPEN_MOST)
		return fail(r, "elements are nested too deep");
	r->open[r->depth++] = element;
	for (;;) {
		tag = read_value(r, &name, &value, &after);
		if (tag != TAG_VALUE)
			break;
		keep_value(&values, name, value);
		if (after != TAG_VALUE) {
			tag = after;
			break;
		}
	}
	if (tag == TAG_BROKEN)
		return false;
	*end = '\0';
	r->bases[r->depth - 1] = NULL;
	if (!strcmp(element, "metric")) {
		if (!add_metric(r, &values))
			return false;
	} else {
		r->bases[r->depth - 1] = values.base;
	}
	return tag != TAG_CLOSED || end_element(r);
}

static bool read_close(struct reader *r)
{
	char *name = take_name(r), *end = r->at;

	skip_space(r);
	if (!name || *r->at != '>')
		return fail(r, "a closing tag has no end");
	r->at++;
	*end = '\0';
	if (!r->depth || strcmp(r->open[r->depth - 1], name) != 0)
		return fail(r, "a tag is closed that was not opened");
	return end_element(r);
}

/* Comments and declarations of XML proper. */
static bool skip_to(struct reader *r, const char *end)
{
	char *found = strstr(r->at, end);

	if (!found)
		return fail(r, "a comment has no end");
	r->at = found + strlen(end);
	return true;
}

static bool read_next(struct reader *r)
{
	if (*r->at == '#')
		return read_hash(r);
	if (*r->at != '<')
		return fail(r, "text outside of tags");
	r->at++;
	if (!strncmp(r->at, "!--", 3))
		return skip_to(r, "-->");
	if (*r->at == '?')
		return skip_to(r, "?>");
	if (*r->at == '/') {
		r->at++;
		return read_close(r);
	}
	return read_open(r);
}

static bool read_text(struct xml *xml, char *text, const char *path, int includes)
{
	struct reader r = {.xml = xml, .path = path, .start = text, .at = text};

	r.includes = includes;
	for (skip_space(&r); *r.at; skip_space(&r)) {
		if (!read_next(&r))
			return false;
	}
	return !r.depth || fail(&r, "the file ends within an element");
}

static bool has_scope(const struct xml *xml, const char *name)
{
	for (size_t i = 0; i < xml->count; i++) {
		if (!strcmp(xml->items[i].scope, name))
			return true;
	}
	return false;
}

/* What a scope has before that item; of definitions of one name the first counts. */
static bool add_scope(struct xml *xml, const char *name, size_t end)
{
	if (xml->inherited++ == BASES_MOST)
		return definitions_fail(xml->set, "scopes inherit from each other too often");
	for (size_t i = 0; i < end; i++) {
		const struct item *item = &xml->items[i];
		if (strcmp(item->scope, name) != 0)
			continue;
		if (item->base ? !add_scope(xml, item->base, i)
			       : !definitions_add(xml->set, &item->def))
			return false;
	}
	return true;
}

bool definitions_read_xml(struct counter_set *set, char *text, const char *path)
{
	struct xml xml = {.set = set};
	const char *scope = set->gfx;
	bool done = read_text(&xml, text, path, 0);

	if (done && !has_scope(&xml, scope))
		scope = set->family;
	/* What is global refers to counters: of no use to a GPU that has none. */
	if (done && has_scope(&xml, scope))
		done = add_scope(&xml, scope, xml.count) && add_scope(&xml, "global", xml.count);
	free(xml.items);
	set->sums = set->count != 0;
	return done;
}
