/* SPDX-License-Identifier: MIT */
/* demangle.c: see demangle.h. */
#include "demangle.h"

#include "mangled.h"

#include <stdlib.h>
#include <string.h>

/* Longest mangled name, bytes: one that is longer has no readable form anyway. */
#define MANGLED_MAX (4 * DEMANGLED_MAX)

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* .name.1.2, as compilers append. */
static struct node *parse_clone(struct parser *p, struct node *name)
{
	const char *begin = p->at++;
	struct node *clone;

	while (is_word(peek(p)) || is_digit(peek(p)))
		p->at++;
	while (peek(p) == '.' && is_digit(peek_next(p)))
		for (p->at++; is_digit(peek(p)); p->at++)
			;
	clone = parser_text(p, NODE_CLONE, begin, (size_t)(p->at - begin));
	if (clone)
		clone->left = name;
	return clone;
}

static struct node *parse_all(struct parser *p)
{
	struct node *name = parse_encoding(p);

	while (name && peek(p) == '.' && (is_word(peek_next(p)) || is_digit(peek_next(p))))
		name = parse_clone(p, name);
	return name && p->at == p->end && !p->failed ? name : NULL;
}

char *demangle(const char *name)
{
	const size_t length = strnlen(name, MANGLED_MAX + 1);
	struct parser p = {.at = name + 2, .end = name + length};
	struct printer o = {.pack_index = -1};
	struct node *tree;

	if (strncmp(name, "_Z", 2) != 0 || length > MANGLED_MAX)
		return NULL;
	tree = parse_all(&p);
	if (tree)
		print_node(&o, tree);
	parser_fini(&p);
	if (tree && !o.failed && o.used)
		return o.text;
	free(o.text);
	return NULL;
}
