/* SPDX-License-Identifier: MIT */
/* print_expression.c: values and expressions as text: see mangled.h. */
#include "mangled.h"

#include <string.h>

/* The suffix of literals of that type; NULL: it has none, they are casts. */
static const char *suffix_of(const struct node *type)
{
	static const struct {
		const char *type, *suffix;
	} suffixes[] = {
		{"int", ""},         {"unsigned int", "u"},
		{"long", "l"},       {"unsigned long", "ul"},
		{"long long", "ll"}, {"unsigned long long", "ull"},
	};

	for (size_t i = 0; type->kind == NODE_NAME && i < sizeof(suffixes) / sizeof(suffixes[0]);
	     i++)
		if (type->length == strlen(suffixes[i].type) &&
		    !memcmp(type->text, suffixes[i].type, type->length))
			return suffixes[i].suffix;
	return NULL;
}

static bool is_name(const struct node *type, const char *name)
{
	return type->kind == NODE_NAME && type->length == strlen(name) &&
	       !memcmp(type->text, name, type->length);
}

static void print_literal(struct printer *o, const struct node *node)
{
	const struct node *type = node->left;
	const char *suffix = suffix_of(type);
	const bool is_float = is_name(type, "float") || is_name(type, "double") ||
			      is_name(type, "long double") || is_name(type, "__float128");

	if (is_name(type, "bool") && node->length == 1 && !node->number &&
	    (node->text[0] == '0' || node->text[0] == '1')) {
		print_word(o, node->text[0] == '1' ? "true" : "false");
		return;
	}
	if (!suffix) {
		print_word(o, "(");
		print_node(o, type);
		print_word(o, ")");
	}
	if (node->number)
		print_word(o, "-");
	if (is_float)
		print_word(o, "[");
	print_text(o, node->text, node->length);
	print_word(o, is_float ? "]" : suffix ? suffix : "");
}

/* A part of an expression: in parentheses unless it is a name. */
static void print_part(struct printer *o, const struct node *node)
{
	const bool bare = node->kind == NODE_NAME || node->kind == NODE_NESTED ||
			  node->kind == NODE_PARAMETER || node->kind == NODE_BRACES;

	if (!bare)
		print_word(o, "(");
	print_node(o, node);
	if (!bare)
		print_word(o, ")");
}

static void print_prefix(struct printer *o, const struct node *node)
{
	const struct node *of = node->left;

	print_text(o, node->text, node->length);
	/* Of a function whose address is taken, without its parameters. */
	if (node->length == 1 && node->text[0] == '&' && of->kind == NODE_ENCODING &&
	    of->left->kind == NODE_NESTED)
		of = of->left;
	print_part(o, of);
}

static void print_binary(struct printer *o, const struct node *node)
{
	/* Else it would end the arguments that it stands in. */
	const bool is_greater = node->length == 1 && node->text[0] == '>';

	if (is_greater)
		print_word(o, "(");
	print_part(o, node->left);
	print_text(o, node->text, node->length);
	print_part(o, node->right);
	if (is_greater)
		print_word(o, ")");
}

static void print_choice(struct printer *o, const struct node *node)
{
	print_part(o, node->left);
	print_word(o, "?");
	print_part(o, node->right->left);
	print_word(o, " : ");
	print_part(o, node->right->right);
}

static void print_cast(struct printer *o, const struct node *node)
{
	print_word(o, "(");
	print_node(o, node->left);
	print_word(o, ")");
	print_part(o, node->right);
}

static void print_cast_as(struct printer *o, const struct node *node)
{
	print_text(o, node->text, node->length);
	print_word(o, "<");
	print_node(o, node->left);
	print_word(o, ">");
	print_part(o, node->right);
}

static void print_call(struct printer *o, const struct node *node)
{
	const struct node *function = node->left;

	if (function->kind == NODE_ENCODING)
		function = function->left;
	print_part(o, function);
	print_word(o, "(");
	print_list(o, node->right);
	print_word(o, ")");
}

static void print_braces(struct printer *o, const struct node *node)
{
	if (node->left)
		print_node(o, node->left);
	print_word(o, "{");
	print_list(o, node->right);
	print_word(o, "}");
}

static void print_length(struct printer *o, const struct node *node)
{
	const struct node *pack = node->left;
	int64_t length = 0;

	if (pack->kind == NODE_FORWARD && pack->left)
		pack = pack->left;
	if (pack->kind != NODE_PACK_USED) {
		print_word(o, "sizeof...");
		print_part(o, pack);
		return;
	}
	for (const struct node *list = pack->left->left; list; list = list->right)
		length++;
	print_number(o, length);
}

bool print_expression(struct printer *o, const struct node *node)
{
	switch (node->kind) {
	case NODE_LITERAL:
		print_literal(o, node);
		return true;
	case NODE_PREFIX:
		print_prefix(o, node);
		return true;
	case NODE_POSTFIX:
		print_part(o, node->left);
		print_text(o, node->text, node->length);
		return true;
	case NODE_BINARY:
		print_binary(o, node);
		return true;
	case NODE_MEMBER:
		print_part(o, node->left);
		print_text(o, node->text, node->length);
		print_part(o, node->right);
		return true;
	case NODE_INDEX:
		print_part(o, node->left);
		print_word(o, "[");
		print_node(o, node->right);
		print_word(o, "]");
		return true;
	case NODE_CHOICE:
		print_choice(o, node);
		return true;
	case NODE_CALL:
		print_call(o, node);
		return true;
	case NODE_CAST:
		print_cast(o, node);
		return true;
	case NODE_CAST_AS:
		print_cast_as(o, node);
		return true;
	case NODE_WRAPPED:
		print_text(o, node->text, node->length);
		print_word(o, "(");
		print_node(o, node->left);
		print_word(o, ")");
		return true;
	case NODE_BRACES:
		print_braces(o, node);
		return true;
	case NODE_LENGTH:
		print_length(o, node);
		return true;
	case NODE_PARAMETER:
		print_word(o, "{parm#");
		print_number(o, node->number);
		print_word(o, "}");
		return true;
	default:
		return false;
	}
}
