/* SPDX-License-Identifier: MIT */
/*
 * Definitions in the formats of rocprofiler-sdk (counter_defs.yaml), and rtl's own table: a small part
 * of YAML, which is block mappings and sequences, scalars of all kinds, and sequences in brackets. No
 * anchors, tags or several documents.
 *
 * Of ROCm 7:    rocprofiler-sdk: {counters: [{name, description, definitions: [{architectures: [...],
 *               block, event | expression}]}]}
 * Of ROCm 6.2:  NAME: {description, architectures: {gfx906/gfx908: {block, event | expression}}}
 * rtl's own has `unit` as well.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definitions.h"

enum {
	DEPTH_MOST = 24, /* nodes within each other */
	NODES_MOST = 1 << 20,
};

enum kind { SCALAR, SEQUENCE, MAPPING };

struct node {
	enum kind kind;
	uint32_t line;
	char *key;            /* in a mapping */
	char *text;           /* of a scalar */
	uint32_t child, next; /* places in `nodes`; 0: none */
};

struct reader {
	struct counter_set *set;
	const char *path;
	struct node *nodes; /* the first is none */
	uint32_t count, room;
	char *at;    /* the current line's first byte that is not yet read */
	char *begin; /* the current line */
	uint32_t line;
	int depth;
};

static bool fail(struct reader *r, const char *what)
{
	return definitions_fail(r->set, "%s: line %u: %s", r->path, r->line, what);
}

static uint32_t new_node(struct reader *r, enum kind kind)
{
	if (r->count == r->room) {
		uint32_t room = r->room ? 2 * r->room : 1024;
		struct node *nodes = NULL;
		if (room <= NODES_MOST)
			nodes = reallocarray(r->nodes, room, sizeof(*nodes));
		if (!nodes)
			return fail(r, "too much for a file of definitions"), 0;
		r->nodes = nodes;
		r->room = room;
		if (!r->count)
			r->nodes[r->count++] = (struct node){0};
	}
	r->nodes[r->count] = (struct node){.kind = kind, .line = r->line};
	return r->count++;
}

/* ---- lines ---- */

static size_t indent(const struct reader *r)
{
	return (size_t)(r->at - r->begin);
}

static char *line_end(char *from)
{
	return from + strcspn(from, "\n");
}

/* The text's next line; false: there is none. */
static bool next_line(struct reader *r)
{
	char *end = line_end(r->at); /* texts before it may end with a 0 by now */

	if (!*end) {
		r->begin = r->at = end;
		return false;
	}
	r->begin = r->at = end + 1;
	r->line++;
	return true;
}

/* Goes to the first line from here with something in it. At the text's end `at` is at its 0. */
static void find_content(struct reader *r)
{
	for (;;) {
		while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
			r->at++;
		if (*r->at && *r->at != '\n' && *r->at != '#' &&
		    (r->at != r->begin || strncmp(r->at, "---", 3) != 0))
			return;
		if (!next_line(r))
			return;
	}
}

/* The line is done: what follows is comment or nothing. */
static bool finish_line(struct reader *r)
{
	while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
		r->at++;
	if (*r->at && *r->at != '\n' && *r->at != '#')
		return fail(r, "something behind a value");
	next_line(r);
	find_content(r);
	return true;
}

/* ---- scalars; their text is written where it stood ---- */

static void cut_blanks(const char *from, char **end)
{
	while (*end > from && ((*end)[-1] == ' ' || (*end)[-1] == '\t' || (*end)[-1] == '\r'))
		(*end)--;
}

/* A plain scalar, and lines that are further in than `in`, joined by blanks. */
static char *plain(struct reader *r, size_t in)
{
	char *text = r->at, *to = text;

	for (;;) {
		char *end = line_end(r->at), *comment = r->at;
		size_t length;
		while (comment < end && !(*comment == '#' && comment > r->at &&
					  (comment[-1] == ' ' || comment[-1] == '\t')))
			comment++;
		end = comment;
		cut_blanks(r->at, &end);
		length = (size_t)(end - r->at);
		memmove(to, r->at, length);
		to += length;
		/* What is moved never reaches the next line's beginning: next_line needs this one's end. */
		if (!next_line(r))
			break;
		find_content(r);
		if (!*r->at || indent(r) <= in)
			break;
		*to++ = ' ';
	}
	*to = '\0';
	return text;
}

static char unescape(char c)
{
	return c == 'n' || c == 't' ? ' ' : c;
}

/* A quoted scalar; line ends in it are blanks. */
static char *quoted(struct reader *r)
{
	char quote = *r->at++, *text = r->at, *to = text;

	for (;;) {
		char c = *r->at;
		if (!c)
			return fail(r, "a quote has no end"), NULL;
		if (c == quote && !(quote == '\'' && r->at[1] == quote))
			break;
		if (c == '\n') {
			cut_blanks(text, &to);
			next_line(r);
			while (*r->at == ' ' || *r->at == '\t')
				r->at++;
			c = ' ';
		} else if (quote == '"' && c == '\\' && r->at[1] && r->at[1] != '\n') {
			c = unescape(r->at[1]);
			r->at += 2;
		} else {
			r->at += c == quote ? 2 : 1;
		}
		*to++ = c;
	}
	r->at++;
	*to = '\0';
	return text;
}

/* A block scalar, | or >: its lines, joined by blanks. */
static char *block_scalar(struct reader *r, size_t in)
{
	char *text = r->at, *to = text;

	while (next_line(r)) {
		char *end = line_end(r->at);
		while (*r->at == ' ')
			r->at++;
		if (r->at != end && indent(r) <= in)
			break;
		if (to != text)
			*to++ = ' ';
		cut_blanks(r->at, &end);
		memmove(to, r->at, (size_t)(end - r->at));
		to += end - r->at;
	}
	find_content(r);
	cut_blanks(text, &to);
	*to = '\0';
	return text;
}

/* ---- nodes ---- */

static uint32_t read_node(struct reader *r, size_t in);

/* A sequence in brackets: of scalars. */
static uint32_t brackets(struct reader *r)
{
	uint32_t sequence = new_node(r, SEQUENCE), last = 0;
	char *end = NULL;

	r->at++;
	while (sequence) {
		find_content(r);
		if (*r->at == ']' || *r->at == ',') {
			char c = *r->at++;
			if (end)
				*end = '\0';
			end = NULL;
			if (c == ']')
				return sequence;
			continue;
		}
		if (!*r->at || end)
			return fail(r, "a bracket has no end"), 0;
		uint32_t item = new_node(r, SCALAR);
		if (!item)
			return 0;
		if (*r->at == '\'' || *r->at == '"') {
			r->nodes[item].text = quoted(r);
			if (!r->nodes[item].text)
				return 0;
		} else {
			r->nodes[item].text = r->at;
			end = r->at += strcspn(r->at, ",] \t\r\n");
		}
		if (last)
			r->nodes[last].next = item;
		else
			r->nodes[sequence].child = item;
		last = item;
	}
	return 0;
}

static uint32_t scalar(struct reader *r, size_t in)
{
	uint32_t node = new_node(r, SCALAR);
	char *text;
	bool is_quoted = *r->at == '\'' || *r->at == '"';

	if (!node)
		return 0;
	if (is_quoted)
		text = quoted(r);
	else if (*r->at == '|' || *r->at == '>')
		text = block_scalar(r, in);
	else
		text = plain(r, in);
	r->nodes[node].text = text;
	if (!text || (is_quoted && !finish_line(r)))
		return 0;
	return node;
}

/* Where a line's key ends, which is a colon with a blank behind it; NULL: it has none. */
static char *key_end(const struct reader *r)
{
	for (char *c = r->at; *c && *c != '\n'; c++) {
		if ((*c == '"' || *c == '\'') && c == r->at)
			return NULL;
		if (*c == '#' && c > r->at && c[-1] == ' ')
			return NULL;
		if (*c == ':' && (!c[1] || c[1] == ' ' || c[1] == '\n' || c[1] == '\r'))
			return c;
	}
	return NULL;
}

static bool is_item(const struct reader *r)
{
	return r->at[0] == '-' && (r->at[1] == ' ' || r->at[1] == '\n' || r->at[1] == '\r');
}

/* The value behind a key or a dash, whose own column is `in`. */
static uint32_t value(struct reader *r, size_t in, bool may_be_item)
{
	uint32_t line = r->line;

	find_content(r);
	if (*r->at == '[' && r->line == line) {
		uint32_t sequence = brackets(r);
		return sequence && finish_line(r) ? sequence : 0;
	}
	if (r->line == line && *r->at)
		return scalar(r, in);
	if (*r->at && (indent(r) > in || (may_be_item && indent(r) == in && is_item(r))))
		return read_node(r, indent(r));
	return new_node(r, SCALAR); /* nothing: a scalar without text */
}

static uint32_t read_items(struct reader *r, size_t in)
{
	uint32_t sequence = new_node(r, SEQUENCE), last = 0;

	while (sequence && *r->at && indent(r) == in && is_item(r)) {
		uint32_t line = r->line, item;
		*r->at++ = ' '; /* what follows may be a mapping that begins on this line */
		find_content(r);
		if (!*r->at || (r->line != line && indent(r) <= in))
			item = new_node(r, SCALAR);
		else
			item = read_node(r, indent(r));
		if (!item)
			return 0;
		if (last)
			r->nodes[last].next = item;
		else
			r->nodes[sequence].child = item;
		last = item;
	}
	return sequence;
}

static uint32_t read_pairs(struct reader *r, size_t in)
{
	uint32_t mapping = new_node(r, MAPPING), last = 0;

	while (mapping && *r->at && indent(r) == in) {
		char *key = r->at, *end = key_end(r);
		uint32_t pair;
		if (!end || is_item(r))
			return fail(r, "a line without 'KEY: VALUE'"), 0;
		r->at = end + 1;
		pair = value(r, in, true);
		if (!pair)
			return 0;
		*end = '\0';
		r->nodes[pair].key = key;
		if (last)
			r->nodes[last].next = pair;
		else
			r->nodes[mapping].child = pair;
		last = pair;
	}
	return mapping;
}

/* What begins here, at column `in`. */
static uint32_t read_node(struct reader *r, size_t in)
{
	uint32_t node;

	if (r->depth == DEPTH_MOST)
		return fail(r, "values are nested too deep"), 0;
	r->depth++;
	if (is_item(r))
		node = read_items(r, in);
	else if (*r->at == '[')
		node = value(r, in, false);
	else if (key_end(r))
		node = read_pairs(r, in);
	else
		node = scalar(r, in ? in - 1 : 0);
	r->depth--;
	if (node && *r->at && indent(r) > in)
		return fail(r, "a line is further in than those before it"), 0;
	return node;
}

/* ---- definitions ---- */

static const struct node *child_of(const struct reader *r, const struct node *node, const char *key)
{
	if (!node || node->kind != MAPPING)
		return NULL;
	for (uint32_t i = node->child; i; i = r->nodes[i].next) {
		if (!strcmp(r->nodes[i].key, key))
			return &r->nodes[i];
	}
	return NULL;
}

static const char *text_of(const struct reader *r, const struct node *node, const char *key)
{
	const struct node *child = child_of(r, node, key);

	return child && child->kind == SCALAR ? child->text : NULL;
}

static bool add(struct reader *r, const char *name, const struct node *counter,
		const struct node *definition)
{
	const char *event = text_of(r, definition, "event");
	const char *description = text_of(r, counter, "description"),
		   *unit = text_of(r, counter, "unit");
	struct counter_def def = {
		.name = name,
		.block = text_of(r, definition, "block"),
		.expression = text_of(r, definition, "expression"),
		.description = description ? description : "",
		.unit = unit ? unit : "",
	};

	r->line = definition->line;
	if (!def.block && !def.expression)
		return fail(r, "a definition with neither a block nor an expression");
	if (def.block)
		def.expression = NULL;
	if (def.block && (!event || !definitions_number(event, &def.event)))
		return fail(r, "a definition's event is no number");
	return definitions_add(r->set, &def);
}

/* Whether a text has the name: the whole of it, or between slashes. */
static bool names(const char *text, const char *gfx)
{
	size_t length = strlen(gfx);

	while (text) {
		if (!strncmp(text, gfx, length) && (!text[length] || text[length] == '/'))
			return true;
		text = strchr(text, '/');
		text = text ? text + 1 : NULL;
	}
	return false;
}

static bool is_for(const struct reader *r, const struct node *definition, const char *gfx)
{
	const struct node *list = child_of(r, definition, "architectures");

	for (uint32_t i = list && list->kind == SEQUENCE ? list->child : 0; i;
	     i = r->nodes[i].next) {
		if (r->nodes[i].kind == SCALAR && names(r->nodes[i].text, gfx))
			return true;
	}
	return false;
}

/* The format of ROCm 7. */
static bool add_counters(struct reader *r, const struct node *counters, const char *gfx)
{
	for (uint32_t i = counters->child; i; i = r->nodes[i].next) {
		const struct node *counter = &r->nodes[i];
		const struct node *list = child_of(r, counter, "definitions");
		const char *name = text_of(r, counter, "name");
		if (!name || !*name || !list || list->kind != SEQUENCE) {
			r->line = counter->line;
			return fail(r, "a counter without name and definitions");
		}
		for (uint32_t d = list->child; d; d = r->nodes[d].next) {
			if (is_for(r, &r->nodes[d], gfx) && !add(r, name, counter, &r->nodes[d]))
				return false;
		}
	}
	return true;
}

/* The format of ROCm 6.2, and rtl's own. */
static bool add_names(struct reader *r, const struct node *root, const char *gfx)
{
	for (uint32_t i = root->child; i; i = r->nodes[i].next) {
		const struct node *counter = &r->nodes[i];
		const struct node *list = child_of(r, counter, "architectures");
		if (!list || list->kind != MAPPING) {
			r->line = counter->line;
			return fail(r, "a counter without architectures");
		}
		for (uint32_t d = list->child; d; d = r->nodes[d].next) {
			if (names(r->nodes[d].key, gfx) &&
			    !add(r, counter->key, counter, &r->nodes[d]))
				return false;
		}
	}
	return true;
}

static bool add_all(struct reader *r, const struct node *root, const char *gfx)
{
	const struct node *sdk = child_of(r, root, "rocprofiler-sdk");
	const struct node *counters = child_of(r, sdk, "counters");

	if (!sdk)
		return add_names(r, root, gfx);
	if (!counters || counters->kind != SEQUENCE)
		return fail(r, "rocprofiler-sdk without counters");
	return add_counters(r, counters, gfx);
}

bool definitions_read_yaml(struct counter_set *set, char *text, const char *path)
{
	struct reader r = {.set = set, .path = path, .at = text, .begin = text, .line = 1};
	size_t before = set->count;
	uint32_t root;
	bool done = false;

	find_content(&r);
	root = *r.at ? read_node(&r, indent(&r)) : new_node(&r, MAPPING);
	if (root && *r.at)
		fail(&r, "a line is further out than the first");
	else if (root && r.nodes[root].kind != MAPPING)
		fail(&r, "no definitions");
	else if (root)
		done = add_all(&r, &r.nodes[root], set->gfx);
	if (done && set->count == before)
		done = add_all(&r, &r.nodes[root], set->family);
	free(r.nodes);
	return done;
}
