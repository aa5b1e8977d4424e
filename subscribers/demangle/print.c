/* SPDX-License-Identifier: MIT */
/*
 * print.c: names and types as text: see mangled.h. What stands on both sides of a name (functions,
 * arrays) is printed in two parts.
 */
#include "mangled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"

/* Nodes that are looked at for one name: there are names that go on for ever and print nothing. */
#define STEPS_MAX 200000

/* Expansions within expansions that give nothing, and what a C++ compiler allows, differ widely. */
#define PRINT_DEPTH_MAX (2 * DEPTH_MAX)

/* ---- text */

void print_text(struct printer *o, const char *text, size_t length)
{
	if (o->failed || length > DEMANGLED_MAX - o->used) {
		o->failed = true;
		return;
	}
	if (o->used + length >= o->room) {
		size_t room = 2 * (o->used + length) + 256;
		char *grown = realloc(o->text, room);

		if (!grown) {
			o->failed = true;
			return;
		}
		o->text = grown;
		o->room = room;
	}
	memcpy(o->text + o->used, text, length);
	o->used += length;
	o->text[o->used] = '\0';
}

void print_word(struct printer *o, const char *text)
{
	print_text(o, text, strlen(text));
}

void print_number(struct printer *o, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)number);
	print_word(o, text);
}

static char last(const struct printer *o)
{
	return o->used ? o->text[o->used - 1] : '\0';
}

static void print_left(struct printer *o, const struct node *node);
static void print_right(struct printer *o, const struct node *node);

/* ---- packs */

/* What a parameter stands for, in the expansion that is being printed; NULL: nothing. */
static const struct node *resolve(struct printer *o, const struct node *node)
{
	unsigned guard = 0;

	while (node && guard++ < PRINT_DEPTH_MAX) {
		const struct node *list;

		if (node->kind == NODE_FORWARD) {
			node = node->left;
			continue;
		}
		if (node->kind != NODE_PACK_USED || o->pack_index < 0)
			return node;
		list = node->left->left;
		for (int64_t i = 0; list && i < o->pack_index; i++)
			list = list->right;
		o->steps += (size_t)o->pack_index;
		node = list ? list->left : NULL;
	}
	return NULL;
}

/* The first pack that an expansion repeats its pattern for; NULL: none. */
static const struct node *find_pack(struct printer *o, const struct node *node)
{
	const struct node *found;

	if (!node || o->failed || ++o->steps > STEPS_MAX || o->depth >= PRINT_DEPTH_MAX) {
		o->failed |= o->steps > STEPS_MAX || o->depth >= PRINT_DEPTH_MAX;
		return NULL;
	}
	switch (node->kind) {
	case NODE_PACK_USED:
		return node->left;
	case NODE_PACK:
	case NODE_EXPANSION:
	case NODE_LAMBDA:
		return NULL;
	default:
		o->depth++;
		found = find_pack(o, node->left);
		if (!found)
			found = find_pack(o, node->right);
		o->depth--;
		return found;
	}
}

static int64_t length_of(const struct node *pack)
{
	int64_t length = 0;

	for (const struct node *list = pack->left; list; list = list->right)
		length++;
	return length;
}

static void print_expansion(struct printer *o, const struct node *node)
{
	const struct node *pack = find_pack(o, node->left);
	const int64_t index = o->pack_index;

	if (!pack) {
		print_node(o, node->left);
		print_word(o, "...");
		return;
	}
	for (int64_t i = 0, length = length_of(pack); i < length && !o->failed; i++) {
		if (i)
			print_word(o, ", ");
		o->pack_index = i;
		print_node(o, node->left);
	}
	o->pack_index = index;
}

/* An item that is nothing (an empty pack) has no comma. */
void print_list(struct printer *o, const struct node *list)
{
	const size_t begin = o->used;

	for (; list && !o->failed; list = list->right) {
		const size_t before = o->used;

		if (o->used != begin)
			print_word(o, ", ");
		const size_t comma = o->used;

		print_node(o, list->left);
		if (o->used == comma && comma != before) {
			o->used = before;
			o->text[before] = '\0';
		}
	}
}

/* ---- names */

static void print_template(struct printer *o, const struct node *node)
{
	print_node(o, node->left);
	if (last(o) == '<')
		print_word(o, " ");
	print_word(o, "<");
	print_list(o, node->right);
	print_word(o, last(o) == '>' ? " >" : ">");
}

/* The name of a class without its arguments and what it is in. */
static const struct node *class_name_of(const struct node *node)
{
	while (node->kind == NODE_TEMPLATE || node->kind == NODE_TAGGED)
		node = node->left;
	return node;
}

static void print_operator(struct printer *o, const struct node *node)
{
	print_word(o, "operator");
	if (node->text[0] >= 'a' && node->text[0] <= 'z')
		print_word(o, " ");
	print_text(o, node->text, node->length);
}

/* {what(list)#number} */
static void print_numbered(struct printer *o, const char *what, const struct node *node)
{
	print_word(o, "{");
	print_word(o, what);
	if (node->kind == NODE_LAMBDA) {
		print_word(o, "(");
		print_list(o, node->left);
		print_word(o, ")");
	}
	print_word(o, "#");
	print_number(o, node->number);
	print_word(o, "}");
}

static void print_special(struct printer *o, const struct node *node)
{
	if (node->left) {
		print_text(o, node->text, node->length);
		print_node(o, node->left);
	} else {
		print_numbered(o, "default arg", node);
	}
}

static void print_clone(struct printer *o, const struct node *node)
{
	print_node(o, node->left);
	print_word(o, " [clone ");
	print_text(o, node->text, node->length);
	print_word(o, "]");
}

static void print_two(struct printer *o, const struct node *left, const char *between,
		      const struct node *right, const char *after)
{
	print_node(o, left);
	print_word(o, between);
	print_node(o, right);
	print_word(o, after);
}

/* False: it is no name. */
static bool print_name(struct printer *o, const struct node *node)
{
	switch (node->kind) {
	case NODE_NAME:
		print_text(o, node->text, node->length);
		return true;
	case NODE_NESTED:
	case NODE_LOCAL:
		print_two(o, node->left, "::", node->right, "");
		return true;
	case NODE_TEMPLATE:
		print_template(o, node);
		return true;
	case NODE_TAGGED:
		print_two(o, node->left, "[abi:", node->right, "]");
		return true;
	case NODE_CONSTRUCTOR:
		print_node(o, class_name_of(node->left));
		return true;
	case NODE_DESTRUCTOR:
		print_word(o, "~");
		print_node(o, class_name_of(node->left));
		return true;
	case NODE_OPERATOR:
		print_operator(o, node);
		return true;
	case NODE_CONVERSION:
		print_word(o, "operator ");
		print_node(o, node->left);
		return true;
	case NODE_LAMBDA:
		print_numbered(o, "lambda", node);
		return true;
	case NODE_UNNAMED:
		print_numbered(o, "unnamed type", node);
		return true;
	case NODE_SPECIAL:
		print_special(o, node);
		return true;
	case NODE_CLONE:
		print_clone(o, node);
		return true;
	default:
		return false;
	}
}

/* ---- types */

static void print_qualifiers(struct printer *o, int64_t qualifiers)
{
	static const struct {
		int64_t bit;
		const char *text;
	} words[] = {
		{QUALIFIER_CONST, " const"},       {QUALIFIER_VOLATILE, " volatile"},
		{QUALIFIER_RESTRICT, " restrict"}, {QUALIFIER_REF, " &"},
		{QUALIFIER_REF_REF, " &&"},        {QUALIFIER_NOEXCEPT, " noexcept"},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (qualifiers & words[i].bit)
			print_word(o, words[i].text);
}

/* The type that follows when qualifiers are left aside. */
static enum node_kind shape_of(struct printer *o, const struct node *node)
{
	unsigned guard = 0;

	node = resolve(o, node);
	while (node && (node->kind == NODE_QUALIFIED || node->kind == NODE_VENDOR) &&
	       guard++ < PRINT_DEPTH_MAX)
		node = resolve(o, node->left);
	return node ? node->kind : NODE_NAME;
}

/* & to && is &, && to & is &, as far as template parameters make such. */
static const struct node *collapse(struct printer *o, const struct node *node, int64_t *is_rvalue)
{
	const struct node *to = resolve(o, node->left);
	unsigned guard = 0;

	*is_rvalue = node->number;
	while (to && to->kind == NODE_REFERENCE && guard++ < PRINT_DEPTH_MAX) {
		*is_rvalue &= to->number;
		to = resolve(o, to->left);
	}
	return to;
}

/* What points, before the star. */
static void print_pointed(struct printer *o, const struct node *to)
{
	const enum node_kind shape = shape_of(o, to);

	if (!to)
		return;
	print_left(o, to);
	if (shape == NODE_ARRAY)
		print_word(o, " ");
	if (shape == NODE_ARRAY || shape == NODE_FUNCTION)
		print_word(o, "(");
}

static void close_pointed(struct printer *o, const struct node *to)
{
	const enum node_kind shape = shape_of(o, to);

	if (!to)
		return;
	if (shape == NODE_ARRAY || shape == NODE_FUNCTION)
		print_word(o, ")");
	print_right(o, to);
}

static void print_member_pointer(struct printer *o, const struct node *node)
{
	const enum node_kind shape = shape_of(o, node->right);

	print_left(o, node->right);
	print_word(o, shape == NODE_ARRAY ? " (" : shape == NODE_FUNCTION ? "(" : " ");
	print_node(o, node->left);
	print_word(o, "::*");
}

static bool has_right(struct printer *o, const struct node *node)
{
	unsigned guard = 0;

	while (node && guard++ < PRINT_DEPTH_MAX) {
		switch (node->kind) {
		case NODE_ARRAY:
		case NODE_FUNCTION:
			return true;
		case NODE_QUALIFIED:
		case NODE_VENDOR:
		case NODE_POINTER:
		case NODE_REFERENCE:
			node = resolve(o, node->left);
			break;
		case NODE_MEMBER_POINTER:
			node = resolve(o, node->right);
			break;
		case NODE_FORWARD:
		case NODE_PACK_USED: {
			const struct node *to = resolve(o, node);

			if (to == node)
				return false;
			node = to;
			break;
		}
		default:
			return false;
		}
	}
	return false;
}

static void print_returned(struct printer *o, const struct node *returned)
{
	if (!returned)
		return;
	print_left(o, returned);
	if (!has_right(o, returned))
		print_word(o, " ");
}

static void print_signature(struct printer *o, const struct node *function)
{
	print_word(o, "(");
	print_list(o, function->right);
	print_word(o, ")");
	if (function->left)
		print_right(o, function->left);
	print_qualifiers(o, function->number);
}

/* A parameter may stand for a type that has them already. */
static void print_qualified(struct printer *o, const struct node *node)
{
	const struct node *of = resolve(o, node->left);

	print_left(o, of);
	print_qualifiers(o, of && of->kind == NODE_QUALIFIED ? node->number & ~of->number
							     : node->number);
}

/* A list of what the pack holds. */
static void print_pack(struct printer *o, const struct node *node)
{
	print_list(o, node->kind == NODE_PACK ? node->left : node->left->left);
}

static void print_left_of(struct printer *o, const struct node *node)
{
	int64_t is_rvalue;

	switch (node->kind) {
	case NODE_QUALIFIED:
		print_qualified(o, node);
		break;
	case NODE_VENDOR:
		print_left(o, node->left);
		print_word(o, " ");
		print_node(o, node->right);
		break;
	case NODE_POINTER:
		print_pointed(o, resolve(o, node->left));
		print_word(o, "*");
		break;
	case NODE_REFERENCE:
		print_pointed(o, collapse(o, node, &is_rvalue));
		print_word(o, is_rvalue ? "&&" : "&");
		break;
	case NODE_MEMBER_POINTER:
		print_member_pointer(o, node);
		break;
	case NODE_ARRAY:
		print_left(o, node->left);
		break;
	case NODE_FUNCTION:
		print_returned(o, node->left);
		break;
	case NODE_ENCODING:
		print_returned(o, node->right->left);
		print_node(o, node->left);
		print_signature(o, node->right);
		break;
	case NODE_VECTOR:
		print_two(o, node->left, " __vector(", node->right, ")");
		break;
	case NODE_SUFFIXED:
		print_node(o, node->left);
		print_text(o, node->text ? node->text : "", node->length);
		if (!node->text)
			print_number(o, node->number);
		break;
	case NODE_PACK:
	case NODE_PACK_USED:
		print_pack(o, node);
		break;
	case NODE_EXPANSION:
		print_expansion(o, node);
		break;
	case NODE_LIST:
		print_list(o, node);
		break;
	default:
		if (!print_name(o, node) && !print_expression(o, node))
			o->failed = true;
	}
}

static void print_right_of(struct printer *o, const struct node *node)
{
	int64_t is_rvalue;

	switch (node->kind) {
	case NODE_QUALIFIED:
	case NODE_VENDOR:
		print_right(o, node->left);
		break;
	case NODE_POINTER:
		close_pointed(o, resolve(o, node->left));
		break;
	case NODE_REFERENCE:
		close_pointed(o, collapse(o, node, &is_rvalue));
		break;
	case NODE_MEMBER_POINTER:
		close_pointed(o, node->right);
		break;
	case NODE_ARRAY:
		print_word(o, last(o) == ']' ? "[" : " [");
		if (node->right)
			print_node(o, node->right);
		print_word(o, "]");
		print_right(o, node->left);
		break;
	case NODE_FUNCTION:
		print_signature(o, node);
		break;
	default:
		break;
	}
}

static bool enter(struct printer *o)
{
	if (o->failed || ++o->steps > STEPS_MAX || o->depth >= PRINT_DEPTH_MAX) {
		o->failed = true;
		return false;
	}
	o->depth++;
	return true;
}

static void print_left(struct printer *o, const struct node *node)
{
	node = resolve(o, node);
	if (!node || !enter(o))
		return;
	print_left_of(o, node);
	o->depth--;
}

static void print_right(struct printer *o, const struct node *node)
{
	node = resolve(o, node);
	if (!node || !enter(o))
		return;
	print_right_of(o, node);
	o->depth--;
}

void print_node(struct printer *o, const struct node *node)
{
	print_left(o, node);
	print_right(o, node);
}
