/* SPDX-License-Identifier: MIT */
/* Definitions in rocprofiler v1's format (metrics.xml), which looks like XML: values may stand without quotes and end
 * at white space then, and "#" begins a comment or an #include. No reader of XML takes it.
 *
 * The element around metrics is their scope, and `base` inherits. A GPU's is that of its name, else of its family; with
 * it come the scopes that it has as bases, and `global`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reading.h"

enum {
	FILES_MOST = 16,
	ITEMS_MOST = 65536,
	PATH_BYTES = 4096,
};

#define SPACE " \t\r\n"

/* A file. */
struct reader {
	struct reading *reading;
	const char *path;
	char *start, *at;
	const char *scope, *base; /* the innermost element; NULL: it has ended */
	unsigned depth;
	bool closed; /* the tag, by "/>" */
};

enum { NAME, BLOCK, EVENT, EXPRESSION, DESCRIPTION, BASE, VALUES };

static bool read_text(struct reading *reading, const char *path);

/* Counts lines only when something is wrong; a 0 may stand where a line ended. */
static bool fail(struct reader *r, const char *what)
{
	size_t line = 1;

	for (const char *c = r->start; c < r->at; c++)
		line += *c == '\n';
	return reading_fail(r->reading, "%s: near line %zu: %s", r->path, line, what);
}

static bool add_item(struct reader *r, const reading_item item)
{
	return r->reading->items++ < ITEMS_MOST ? reading_add(r->reading, item)
						: fail(r, "too many definitions");
}

static bool add_metric(struct reader *r, char *const *values)
{
	const char *what = values[values[BLOCK] ? EVENT : EXPRESSION];

	if (!values[NAME] || !*values[NAME])
		return fail(r, "a metric without a name");
	if (!values[BLOCK] && !what)
		return fail(r, "a metric with neither a block nor an expression");
	if (values[BLOCK] && (!what || !reading_is_number(what)))
		return fail(r, "a metric's event is not a number");
	return add_item(r, (reading_item){[ITEM_SCOPE] = r->scope ? r->scope : "",
					  [ITEM_NAME] = values[NAME],
					  [ITEM_BLOCK] = values[BLOCK],
					  [ITEM_WHAT] = what,
					  [ITEM_DESCRIPTION] = values[DESCRIPTION]});
}

/* A scope inherits where its element ends: what its base has by then, and it has not itself. */
static bool end_scope(struct reader *r)
{
	const reading_item item = {[ITEM_SCOPE] = r->scope, [ITEM_BASE] = r->base};

	r->scope = r->base = NULL;
	return !item[ITEM_BASE] || add_item(r, item);
}

/* ---- text ---- */

/* Takes the text up to one of some characters; replaces that one by 0 and returns it. */
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
	for (size_t i = 0; i < VALUES; i++)
		if (!strcmp(name, names[i]))
			values[i] = value;
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
	return r->reading->files < FILES_MOST ? read_text(r->reading, path)
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

static bool read_text(struct reading *reading, const char *path)
{
	char *text = reading_text(reading, path);
	struct reader r = {.reading = reading, .path = path, .start = text, .at = text};
	bool done = text != NULL;

	reading->files += done;
	while (done && *(r.at += strspn(r.at, SPACE)))
		done = read_next(&r);
	if (done && r.depth)
		done = fail(&r, "the file ends within an element");
	free(text);
	return done;
}

bool reading_xml(struct reading *reading, const char *path)
{
	reading->file++;
	reading->files = reading->items = 0;
	return read_text(reading, path);
}
