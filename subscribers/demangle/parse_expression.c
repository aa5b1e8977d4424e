/* SPDX-License-Identifier: MIT */
/* parse_expression.c: values and expressions among template arguments: see mangled.h. */
#include "mangled.h"

#include <string.h>

/* L <type> <value> E, or L_Z <encoding> E. */
struct node *parse_literal(struct parser *p)
{
	struct node *node, *type, *parameters = p->parameters;
	const char *begin;
	bool negative;

	if (!take(p, 'L'))
		return NULL;
	if (take_two(p, "_Z")) {
		node = p->depth < DEPTH_MAX ? parse_encoding(p) : NULL;
		p->parameters = parameters;
		return node && take(p, 'E') ? node : NULL;
	}
	type = parse_type(p);
	if (!type)
		return NULL;
	negative = take(p, 'n');
	for (begin = p->at; peek(p) && peek(p) != 'E'; p->at++)
		;
	node = parser_text(p, NODE_LITERAL, begin, (size_t)(p->at - begin));
	if (!node || !take(p, 'E'))
		return NULL;
	node->left = type;
	node->number = negative;
	return node;
}

/* Dt or DT, an expression, E. */
struct node *parse_decltype(struct parser *p)
{
	struct node *of, *node;

	p->at += 2;
	of = parse_expression(p);
	if (!of || !take(p, 'E'))
		return NULL;
	node = parser_text(p, NODE_WRAPPED, "decltype ", 9);
	if (node)
		node->left = of;
	return node;
}

static struct node *with_text(struct parser *p, enum node_kind kind, const char *text,
			      struct node *left, struct node *right)
{
	struct node *node = parser_text(p, kind, text, strlen(text));

	if (node) {
		node->left = left;
		node->right = right;
	}
	return node;
}

/* Expressions up to E. */
static bool parse_list(struct parser *p, struct node **out)
{
	struct list list = {.end = &list.first};

	while (!take(p, 'E'))
		if (!list_add(p, &list, parse_expression(p)))
			return false;
	*out = list.first;
	return true;
}

/* A name that is not known yet, with its template arguments. */
static struct node *parse_simple(struct parser *p)
{
	struct node *name;

	(void)take_two(p, "on");
	name = parse_unqualified(p);
	return name && peek(p) == 'I' ? parse_template(p, name) : name;
}

/* More of a scope, up to E. */
static struct node *parse_levels(struct parser *p, struct node *scope)
{
	while (scope && !take(p, 'E')) {
		struct node *name = parse_simple(p);

		scope = name ? parser_node(p, NODE_NESTED, scope, name) : NULL;
	}
	return scope;
}

/* <name>... E, as compilers write today. NULL, and nothing is read: it is a type. */
static struct node *try_levels(struct parser *p)
{
	const char *begin = p->at;
	const size_t substitutions = p->substitution_count;
	struct node *scope = NULL;

	if (peek(p) >= '0' && peek(p) <= '9')
		scope = parse_levels(p, parse_simple(p));
	if (!scope) {
		p->at = begin;
		p->substitution_count = substitutions;
	}
	return scope;
}

/* sr <type> <name>, sr <name>... E <name>, or srN <type> <name>... E <name> */
static struct node *parse_scoped(struct parser *p)
{
	const bool many = take(p, 'N');
	struct node *scope = many ? NULL : try_levels(p), *name;

	if (!scope)
		scope = parse_type(p);
	if (many)
		scope = parse_levels(p, scope);
	name = scope ? parse_simple(p) : NULL;
	return name ? parser_node(p, NODE_NESTED, scope, name) : NULL;
}

/* fp [qualifiers] [number] _ , fL <level> p ... , fpT */
static struct node *parse_function_parameter(struct parser *p)
{
	struct node *node;
	int64_t number;

	if (take(p, 'T'))
		return parser_word(p, "this");
	(void)parse_qualifiers(p);
	number = parse_sequence(p);
	node = number < 0 ? NULL : parser_node(p, NODE_PARAMETER, NULL, NULL);
	if (node)
		node->number = number + 1;
	return node;
}

static struct node *parse_call(struct parser *p)
{
	struct node *function = parse_expression(p), *arguments;

	if (!function || !parse_list(p, &arguments))
		return NULL;
	return parser_node(p, NODE_CALL, function, arguments);
}

/* cv <type> <expression>, or cv <type> _ <expression>... E */
static struct node *parse_cast(struct parser *p)
{
	struct node *type = parse_type(p), *of;

	if (!type)
		return NULL;
	if (take(p, '_'))
		return parse_list(p, &of) ? parser_node(p, NODE_CALL, type, of) : NULL;
	of = parse_expression(p);
	return of ? parser_node(p, NODE_CAST, type, of) : NULL;
}

static struct node *parse_cast_as(struct parser *p, const char *text)
{
	struct node *type = parse_type(p), *of = type ? parse_expression(p) : NULL;

	return of ? with_text(p, NODE_CAST_AS, text, type, of) : NULL;
}

static struct node *parse_choice(struct parser *p)
{
	struct node *of = parse_expression(p);
	struct node *yes = of ? parse_expression(p) : NULL;
	struct node *no = yes ? parse_expression(p) : NULL;

	return no ? parser_node(p, NODE_CHOICE, of, parser_node(p, NODE_LIST, yes, no)) : NULL;
}

static struct node *parse_braces(struct parser *p, bool has_type)
{
	struct node *type = NULL, *list;

	if (has_type && !(type = parse_type(p)))
		return NULL;
	return parse_list(p, &list) ? parser_node(p, NODE_BRACES, type, list) : NULL;
}

static struct node *parse_wrapped(struct parser *p, const char *text, bool is_type)
{
	struct node *of = is_type ? parse_type(p) : parse_expression(p);

	return of ? with_text(p, NODE_WRAPPED, text, of, NULL) : NULL;
}

static struct node *parse_member(struct parser *p, const char *text)
{
	struct node *of = parse_expression(p), *name = NULL;

	if (of)
		name = take_two(p, "sr") ? parse_scoped(p) : parse_simple(p);
	return name ? with_text(p, NODE_MEMBER, text, of, name) : NULL;
}

static struct node *parse_pack_length(struct parser *p)
{
	struct node *of = peek(p) == 'T' ? parse_parameter(p) : parse_expression(p);

	return of ? parser_node(p, NODE_LENGTH, of, NULL) : NULL;
}

static struct node *parse_expansion(struct parser *p)
{
	struct node *of = parse_expression(p);

	return of ? parser_node(p, NODE_EXPANSION, of, NULL) : NULL;
}

static struct node *parse_index(struct parser *p)
{
	struct node *of = parse_expression(p), *at = of ? parse_expression(p) : NULL;

	return at ? parser_node(p, NODE_INDEX, of, at) : NULL;
}

/* What has a form of its own; *matched says whether it does. */
static struct node *parse_special_form(struct parser *p, bool *matched)
{
	static const struct {
		char code[3];
		const char *text;
	} casts[] = {{"dc", "dynamic_cast"},
		     {"sc", "static_cast"},
		     {"cc", "const_cast"},
		     {"rc", "reinterpret_cast"}};

	*matched = true;
	for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]); i++)
		if (take_two(p, casts[i].code))
			return parse_cast_as(p, casts[i].text);
	if (take_two(p, "cv"))
		return parse_cast(p);
	if (take_two(p, "cl"))
		return parse_call(p);
	if (take_two(p, "ix"))
		return parse_index(p);
	if (take_two(p, "qu"))
		return parse_choice(p);
	if (take_two(p, "dt"))
		return parse_member(p, ".");
	if (take_two(p, "pt"))
		return parse_member(p, "->");
	if (take_two(p, "sr"))
		return parse_scoped(p);
	if (take_two(p, "fp"))
		return parse_function_parameter(p);
	if (take_two(p, "sZ"))
		return parse_pack_length(p);
	if (take_two(p, "sp"))
		return parse_expansion(p);
	if (take_two(p, "il"))
		return parse_braces(p, false);
	if (take_two(p, "tl"))
		return parse_braces(p, true);
	if (take_two(p, "st"))
		return parse_wrapped(p, "sizeof ", true);
	if (take_two(p, "sz"))
		return parse_wrapped(p, "sizeof ", false);
	if (take_two(p, "at"))
		return parse_wrapped(p, "alignof ", true);
	if (take_two(p, "az"))
		return parse_wrapped(p, "alignof ", false);
	if (take_two(p, "nx"))
		return parse_wrapped(p, "noexcept ", false);
	*matched = false;
	return NULL;
}

static bool is_prefix(const char *code)
{
	static const char prefixes[][3] = {"ps", "ng", "ad", "de", "co", "nt"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!memcmp(prefixes[i], code, 2))
			return true;
	return false;
}

static struct node *parse_operation(struct parser *p)
{
	const char *code = p->at, *text = parse_operator(p);
	struct node *left, *right;

	if (!text)
		return NULL;
	if (!memcmp(code, "pp", 2) || !memcmp(code, "mm", 2)) {
		const bool is_before = take(p, '_');

		left = parse_expression(p);
		return left ? with_text(p, is_before ? NODE_PREFIX : NODE_POSTFIX, text, left, NULL)
			    : NULL;
	}
	left = parse_expression(p);
	if (!left || is_prefix(code))
		return left ? with_text(p, NODE_PREFIX, text, left, NULL) : NULL;
	right = parse_expression(p);
	return right ? with_text(p, NODE_BINARY, text, left, right) : NULL;
}

static struct node *parse_one(struct parser *p)
{
	struct node *node;
	bool matched;

	if (peek(p) == 'L')
		return parse_literal(p);
	if (peek(p) == 'T')
		return parse_parameter(p);
	if ((peek(p) >= '0' && peek(p) <= '9') || (peek(p) == 'o' && peek_next(p) == 'n'))
		return parse_simple(p);
	node = parse_special_form(p, &matched);
	return matched ? node : parse_operation(p);
}

struct node *parse_expression(struct parser *p)
{
	const bool names = p->names_parameters;
	struct node *node;

	if (p->depth >= DEPTH_MAX)
		return NULL;
	p->depth++;
	p->names_parameters = false;
	node = parse_one(p);
	p->names_parameters = names;
	p->depth--;
	return node;
}
