/* SPDX-License-Identifier: MIT */
/* parse_type.c: types: see mangled.h. */
#include "mangled.h"

#include <string.h>

static const char *const builtins[26] = {
	"signed char",
	"bool",
	"char",
	"double",
	"long double",
	"float",
	"__float128",
	"unsigned char",
	"int",
	"unsigned int",
	NULL,
	"long",
	"unsigned long",
	"__int128",
	"unsigned __int128",
	NULL,
	NULL,
	NULL,
	"short",
	"unsigned short",
	NULL,
	"void",
	"wchar_t",
	"long long",
	"unsigned long long",
	"...",
};

/* Those of two letters. */
static const struct {
	char code[3];
	const char *text;
} more_builtins[] = {
	{"Da", "auto"},       {"Dc", "decltype(auto)"},    {"Dd", "decimal64"},
	{"De", "decimal128"}, {"Df", "decimal32"},         {"Dh", "half"},
	{"Di", "char32_t"},   {"Dn", "decltype(nullptr)"}, {"Ds", "char16_t"},
	{"Du", "char8_t"},
};

uint32_t parse_qualifiers(struct parser *p)
{
	uint32_t qualifiers = 0;

	for (;;) {
		if (take(p, 'r'))
			qualifiers |= QUALIFIER_RESTRICT;
		else if (take(p, 'V'))
			qualifiers |= QUALIFIER_VOLATILE;
		else if (take(p, 'K'))
			qualifiers |= QUALIFIER_CONST;
		else
			return qualifiers;
	}
}

static bool ends_types(const struct parser *p)
{
	const char c = peek(p);

	return !c || c == 'E' || c == '.' ||
	       ((c == 'R' || c == 'O') && peek_next(p) == 'E'); /* a function's own */
}

bool parse_types(struct parser *p, struct node **list)
{
	struct list types = {.end = &types.first};

	*list = NULL;
	if (peek(p) == 'v' && p->at++) /* alone: no parameters */
		return ends_types(p);
	while (!ends_types(p))
		if (!list_add(p, &types, parse_type(p)))
			return false;
	*list = types.first;
	return types.first;
}

/* F ... E */
static struct node *parse_function(struct parser *p, uint32_t qualifiers)
{
	struct node *returned, *params, *function;

	if (take_two(p, "Do"))
		qualifiers |= QUALIFIER_NOEXCEPT;
	if (!take(p, 'F'))
		return NULL;
	(void)take(p, 'Y'); /* extern "C" */
	returned = parse_type(p);
	if (!returned || !parse_types(p, &params))
		return NULL;
	if (take(p, 'R'))
		qualifiers |= QUALIFIER_REF;
	else if (take(p, 'O'))
		qualifiers |= QUALIFIER_REF_REF;
	function = take(p, 'E') ? parser_node(p, NODE_FUNCTION, returned, params) : NULL;
	if (function)
		function->number = qualifiers;
	return function;
}

static bool begins_function(const struct parser *p)
{
	return peek(p) == 'F' ||
	       (p->end - p->at > 2 && p->at[0] == 'D' && p->at[1] == 'o' && p->at[2] == 'F');
}

/* A number, or an expression, before '_'. */
static struct node *parse_size(struct parser *p)
{
	const char *begin = p->at;

	if (peek(p) >= '0' && peek(p) <= '9') {
		if (parse_number(p) < 0)
			return NULL;
		return parser_text(p, NODE_NAME, begin, (size_t)(p->at - begin));
	}
	return parse_expression(p);
}

static struct node *parse_array(struct parser *p)
{
	struct node *size = NULL, *type;

	p->at++;
	if (peek(p) != '_' && !(size = parse_size(p)))
		return NULL;
	type = take(p, '_') ? parse_type(p) : NULL;
	return type ? parser_node(p, NODE_ARRAY, type, size) : NULL;
}

static struct node *parse_vector(struct parser *p)
{
	struct node *size, *type;

	p->at += 2;
	(void)take(p, '_'); /* before an expression */
	size = parse_size(p);
	type = size && take(p, '_') ? parse_type(p) : NULL;
	return type ? parser_node(p, NODE_VECTOR, type, size) : NULL;
}

static struct node *parse_member_pointer(struct parser *p)
{
	struct node *class_type, *member;

	p->at++;
	class_type = parse_type(p);
	member = class_type ? parse_type(p) : NULL;
	return member ? parser_node(p, NODE_MEMBER_POINTER, class_type, member) : NULL;
}

static struct node *parse_float(struct parser *p)
{
	const char *digits = p->at + 2;
	struct node *node;

	p->at += 2;
	if (parse_number(p) < 0)
		return NULL;
	if (take(p, 'b'))
		return p->at - digits == 3 ? parser_word(p, "std::bfloat16_t") : NULL;
	node = parser_text(p, NODE_SUFFIXED, digits, (size_t)(p->at - digits));
	if (node)
		node->left = parser_word(p, "_Float");
	if (take(p, 'x') && node && node->length == 2)
		node = parser_word(p, !memcmp(digits, "32", 2) ? "_Float32x" : "_Float64x");
	else if (!take(p, '_'))
		return NULL;
	return node;
}

/* *is_new: it counts as a substitution. */
static struct node *parse_d(struct parser *p, bool *is_new)
{
	switch (peek_next(p)) {
	case 't':
	case 'T':
		return parse_decltype(p);
	case 'p': {
		struct node *type;

		p->at += 2;
		type = parse_type(p);
		return type ? parser_node(p, NODE_EXPANSION, type, NULL) : NULL;
	}
	case 'v':
		return parse_vector(p);
	case 'o':
		return parse_function(p, 0);
	case 'F':
		*is_new = false;
		return parse_float(p);
	}
	*is_new = false;
	for (size_t i = 0; i < sizeof(more_builtins) / sizeof(more_builtins[0]); i++)
		if (take_two(p, more_builtins[i].code))
			return parser_word(p, more_builtins[i].text);
	return NULL;
}

static struct node *parse_substituted(struct parser *p, bool *is_new)
{
	struct node *type;

	if (peek_next(p) == 't')
		return parse_name(p);
	type = parse_substitution(p);
	*is_new = peek(p) == 'I';
	return type && *is_new ? parse_template(p, type) : type;
}

static struct node *parse_parameter_type(struct parser *p)
{
	struct node *type = parse_parameter(p);

	if (!type || peek(p) != 'I' || p->may_forward)
		return type;
	return parser_substitute(p, type) ? parse_template(p, type) : NULL;
}

static struct node *parse_vendor(struct parser *p)
{
	struct node *name, *type;

	p->at++;
	name = parse_source_name(p);
	if (name && peek(p) == 'I')
		name = parse_template(p, name);
	type = name ? parse_type(p) : NULL;
	return type ? parser_node(p, NODE_VENDOR, type, name) : NULL;
}

static struct node *parse_to(struct parser *p, enum node_kind kind, int64_t number)
{
	struct node *type, *node;

	p->at++;
	type = parse_type(p);
	node = type ? parser_node(p, kind, type, NULL) : NULL;
	if (node)
		node->number = number;
	return node;
}

static struct node *parse_suffixed(struct parser *p, const char *suffix)
{
	struct node *node = parse_to(p, NODE_SUFFIXED, 0);

	if (node) {
		node->text = suffix;
		node->length = (uint32_t)strlen(suffix);
	}
	return node;
}

static struct node *parse_qualified(struct parser *p)
{
	uint32_t qualifiers = parse_qualifiers(p);
	struct node *type, *node;

	if (begins_function(p))
		return parse_function(p, qualifiers);
	type = parse_type(p);
	node = type ? parser_node(p, NODE_QUALIFIED, type, NULL) : NULL;
	if (node)
		node->number = qualifiers;
	return node;
}

static struct node *parse_any(struct parser *p, bool *is_new)
{
	const char c = peek(p);

	switch (c) {
	case 'r':
	case 'V':
	case 'K':
		return parse_qualified(p);
	case 'P':
		return parse_to(p, NODE_POINTER, 0);
	case 'R':
		return parse_to(p, NODE_REFERENCE, 0);
	case 'O':
		return parse_to(p, NODE_REFERENCE, 1);
	case 'C':
		return parse_suffixed(p, " _Complex");
	case 'G':
		return parse_suffixed(p, " _Imaginary");
	case 'F':
		return parse_function(p, 0);
	case 'A':
		return parse_array(p);
	case 'M':
		return parse_member_pointer(p);
	case 'T':
		return parse_parameter_type(p);
	case 'S':
		return parse_substituted(p, is_new);
	case 'U':
		return parse_vendor(p);
	case 'D':
		return parse_d(p, is_new);
	case 'u':
		p->at++;
		return parse_source_name(p);
	default:
		if (c >= 'a' && c <= 'z' && builtins[c - 'a']) {
			p->at++;
			*is_new = false;
			return parser_word(p, builtins[c - 'a']);
		}
		return (c >= '0' && c <= '9') || c == 'N' || c == 'Z' ? parse_name(p) : NULL;
	}
}

struct node *parse_type(struct parser *p)
{
	const bool names = p->names_parameters;
	bool is_new = true;
	struct node *type = NULL;

	if (p->depth >= DEPTH_MAX)
		return NULL;
	p->depth++;
	p->names_parameters = false;
	type = parse_any(p, &is_new);
	p->names_parameters = names;
	p->depth--;
	if (type && is_new && !parser_substitute(p, type))
		return NULL;
	return type;
}
