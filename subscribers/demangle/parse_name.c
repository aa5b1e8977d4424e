/* SPDX-License-Identifier: MIT */
/* parse_name.c: names, what makes them, and the parser's own things: see mangled.h. */
#include "mangled.h"

#include <stdlib.h>
#include <string.h>

/* ---- nodes */

#define NODES_AT_ONCE 128
/* For one name: what reads a part of it twice must end. */
#define NODES_MAX 200000

struct node_chunk {
	struct node_chunk *next;
	struct node nodes[NODES_AT_ONCE];
};

static struct node *new_node(struct parser *p)
{
	if (++p->node_count > NODES_MAX) {
		p->failed = true;
		return NULL;
	}
	if (!p->chunks || p->used == NODES_AT_ONCE) {
		struct node_chunk *chunk = malloc(sizeof(*chunk));

		if (!chunk) {
			p->failed = true;
			return NULL;
		}
		chunk->next = p->chunks;
		p->chunks = chunk;
		p->used = 0;
	}
	return &p->chunks->nodes[p->used++];
}

struct node *parser_node(struct parser *p, enum node_kind kind, struct node *left,
			 struct node *right)
{
	struct node *node = new_node(p);

	if (node)
		*node = (struct node){.kind = kind, .left = left, .right = right};
	return node;
}

struct node *parser_text(struct parser *p, enum node_kind kind, const char *text, size_t length)
{
	struct node *node = parser_node(p, kind, NULL, NULL);

	if (node) {
		node->text = text;
		node->length = (uint32_t)length;
	}
	return node;
}

struct node *parser_word(struct parser *p, const char *text)
{
	return parser_text(p, NODE_NAME, text, strlen(text));
}

bool parser_substitute(struct parser *p, struct node *node)
{
	if (!node)
		return false;
	if (p->substitution_count == p->substitution_room) {
		size_t room = p->substitution_room ? 2 * p->substitution_room : 32;
		struct node **grown = realloc(p->substitutions, room * sizeof(struct node *));

		if (!grown) {
			p->failed = true;
			return false;
		}
		p->substitutions = grown;
		p->substitution_room = room;
	}
	p->substitutions[p->substitution_count++] = node;
	return true;
}

void parser_fini(struct parser *p)
{
	for (struct node_chunk *chunk = p->chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(p->substitutions);
}

bool list_add(struct parser *p, struct list *list, struct node *item)
{
	struct node *link = item ? parser_node(p, NODE_LIST, item, NULL) : NULL;

	if (!link)
		return false;
	*list->end = link;
	list->end = &link->right;
	return true;
}

/* ---- numbers */

int64_t parse_number(struct parser *p)
{
	const char *begin = p->at;
	int64_t number = 0;

	while (peek(p) >= '0' && peek(p) <= '9') {
		number = number * 10 + (*p->at++ - '0');
		if (number > INT32_MAX)
			return -1;
	}
	return p->at == begin ? -1 : number;
}

/* The same to the base of 36, as the numbers of substitutions are. */
static int64_t parse_base_36(struct parser *p)
{
	const char *begin = p->at;
	int64_t number = 0;

	for (;; p->at++) {
		char c = peek(p);

		if (c >= '0' && c <= '9')
			number = number * 36 + (c - '0');
		else if (c >= 'A' && c <= 'Z')
			number = number * 36 + (c - 'A' + 10);
		else
			return p->at == begin ? -1 : number;
		if (number > INT32_MAX)
			return -1;
	}
}

int64_t parse_sequence(struct parser *p)
{
	int64_t number;

	if (take(p, '_'))
		return 0;
	number = parse_number(p);
	return number >= 0 && take(p, '_') ? number + 1 : -1;
}

/* _ <digit> or __ <number> _ : which of several locals of one name; not shown. */
static bool skip_discriminator(struct parser *p)
{
	if (!take(p, '_'))
		return true;
	if (take(p, '_'))
		return parse_number(p) >= 0 && take(p, '_');
	return parse_number(p) >= 0;
}

/* ---- parts of names */

struct node *parse_source_name(struct parser *p)
{
	int64_t length = parse_number(p);
	const char *text = p->at;

	if (length <= 0 || length > p->end - p->at)
		return NULL;
	p->at += length;
	if (length >= 10 && !memcmp(text, "_GLOBAL_", 8) && strchr("._$", text[8]) &&
	    text[9] == 'N')
		return parser_word(p, "(anonymous namespace)");
	return parser_text(p, NODE_NAME, text, (size_t)length);
}

/* As functions are named; with a space before words. */
static const char operators[][2][12] = {
	{"aN", "&="},       {"aS", "="},  {"aa", "&&"},     {"ad", "&"},   {"an", "&"},
	{"aw", "co_await"}, {"cl", "()"}, {"cm", ","},      {"co", "~"},   {"dV", "/="},
	{"da", "delete[]"}, {"de", "*"},  {"dl", "delete"}, {"dv", "/"},   {"eO", "^="},
	{"eo", "^"},        {"eq", "=="}, {"ge", ">="},     {"gt", ">"},   {"ix", "[]"},
	{"lS", "<<="},      {"le", "<="}, {"ls", "<<"},     {"lt", "<"},   {"mI", "-="},
	{"mL", "*="},       {"mi", "-"},  {"ml", "*"},      {"mm", "--"},  {"na", "new[]"},
	{"ne", "!="},       {"ng", "-"},  {"nt", "!"},      {"nw", "new"}, {"oR", "|="},
	{"oo", "||"},       {"or", "|"},  {"pL", "+="},     {"pl", "+"},   {"pm", "->*"},
	{"pp", "++"},       {"ps", "+"},  {"pt", "->"},     {"qu", "?"},   {"rM", "%="},
	{"rS", ">>="},      {"rm", "%"},  {"rs", ">>"},     {"ss", "<=>"},
};

const char *parse_operator(struct parser *p)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (take_two(p, operators[i][0]))
			return operators[i][1];
	return NULL;
}

static struct node *parse_conversion(struct parser *p)
{
	const bool names = p->names_parameters, may = p->may_forward;
	struct node *type;

	/* The type may name the parameters of the template that the operator is. */
	p->names_parameters = false;
	p->may_forward = true;
	type = parse_type(p);
	p->names_parameters = names;
	p->may_forward = may;
	p->is_cast_or_creator = true;
	return type ? parser_node(p, NODE_CONVERSION, type, NULL) : NULL;
}

static struct node *parse_operator_name(struct parser *p)
{
	const char *text;
	struct node *name;

	if (take_two(p, "cv"))
		return parse_conversion(p);
	if (take_two(p, "li")) {
		name = parse_source_name(p);
		return name ? parser_node(p, NODE_NESTED, parser_word(p, "operator\"\" "), name)
			    : NULL;
	}
	text = parse_operator(p);
	return text ? parser_text(p, NODE_OPERATOR, text, strlen(text)) : NULL;
}

static struct node *parse_creator(struct parser *p)
{
	const char which = peek(p), kind = peek_next(p);
	struct node *class_name = p->class_name;

	if (!class_name)
		return NULL;
	if (which == 'C' ? kind < '1' || kind > '5' : kind < '0' || kind > '5')
		return NULL;
	p->at += 2;
	p->is_cast_or_creator = true;
	return parser_node(p, which == 'C' ? NODE_CONSTRUCTOR : NODE_DESTRUCTOR, class_name, NULL);
}

static struct node *parse_lambda(struct parser *p)
{
	struct node *params = NULL, *node;
	int64_t number;
	bool fine;

	p->lambdas++;
	fine = parse_types(p, &params);
	p->lambdas--;
	if (!fine || !take(p, 'E') || (number = parse_sequence(p)) < 0)
		return NULL;
	node = parser_node(p, NODE_LAMBDA, params, NULL);
	if (node)
		node->number = number + 1;
	return node;
}

static struct node *parse_unnamed(struct parser *p)
{
	int64_t number = parse_sequence(p);
	struct node *node = number < 0 ? NULL : parser_node(p, NODE_UNNAMED, NULL, NULL);

	if (node)
		node->number = number + 1;
	return node;
}

static struct node *parse_tags(struct parser *p, struct node *name)
{
	while (name && take(p, 'B')) {
		struct node *tag = parse_source_name(p);

		name = tag ? parser_node(p, NODE_TAGGED, name, tag) : NULL;
	}
	return name;
}

struct node *parse_unqualified(struct parser *p)
{
	const char c = peek(p);
	struct node *name = NULL;

	p->is_cast_or_creator = false;
	if (c >= '0' && c <= '9') {
		name = p->class_name = parse_source_name(p);
	} else if (c == 'L') {
		p->at++;
		name = p->class_name = parse_source_name(p);
		if (name && !skip_discriminator(p))
			return NULL;
	} else if (c == 'C' || (c == 'D' && peek_next(p) >= '0' && peek_next(p) <= '9')) {
		name = parse_creator(p);
	} else if (take_two(p, "Ul")) {
		name = p->class_name = parse_lambda(p);
	} else if (take_two(p, "Ut")) {
		name = p->class_name = parse_unnamed(p);
	} else if (c >= 'a' && c <= 'z') {
		name = parse_operator_name(p);
	}
	return parse_tags(p, name);
}

/* ---- substitutions and parameters */

static const struct abbreviation {
	char code;
	const char *text, *whole, *class_name;
} abbreviations[] = {
	{'t', "std", "std", ""},
	{'a', "std::allocator", "std::allocator", "allocator"},
	{'b', "std::basic_string", "std::basic_string", "basic_string"},
	{'s', "std::string",
	 "std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "basic_string"},
	{'i', "std::istream", "std::basic_istream<char, std::char_traits<char> >", "basic_istream"},
	{'o', "std::ostream", "std::basic_ostream<char, std::char_traits<char> >", "basic_ostream"},
	{'d', "std::iostream", "std::basic_iostream<char, std::char_traits<char> >",
	 "basic_iostream"},
};

static struct node *parse_abbreviation(struct parser *p)
{
	for (size_t i = 0; i < sizeof(abbreviations) / sizeof(abbreviations[0]); i++) {
		const struct abbreviation *a = &abbreviations[i];

		if (!take(p, a->code))
			continue;
		p->class_name = parser_word(p, a->class_name);
		/* A constructor is named after what the abbreviation stands for. */
		return parse_tags(
			p, parser_word(p, peek(p) == 'C' || peek(p) == 'D' ? a->whole : a->text));
	}
	return NULL;
}

/* S..., also St. */
struct node *parse_substitution(struct parser *p)
{
	int64_t number;

	if (!take(p, 'S'))
		return NULL;
	if (peek(p) >= 'a' && peek(p) <= 'z')
		return parse_abbreviation(p);
	if (take(p, '_')) {
		number = 0;
	} else {
		number = parse_base_36(p) + 1;
		if (number < 1 || !take(p, '_'))
			return NULL;
	}
	return (uint64_t)number < p->substitution_count ? p->substitutions[number] : NULL;
}

static struct node *make_auto(struct parser *p, int64_t number)
{
	struct node *node = parser_node(p, NODE_SUFFIXED, parser_word(p, "auto:"), NULL);

	if (node)
		node->number = number + 1;
	return node;
}

static struct node *make_forward(struct parser *p, int64_t number)
{
	struct node *node = parser_node(p, NODE_FORWARD, NULL, p->forwards);

	if (node) {
		node->number = number;
		p->forwards = node;
	}
	return node;
}

static struct node *stand_for(struct parser *p, struct node *argument)
{
	return argument->kind == NODE_PACK ? parser_node(p, NODE_PACK_USED, argument, NULL)
					   : argument;
}

static struct node *find_parameter(const struct parser *p, int64_t number)
{
	struct node *list = p->parameters;

	while (list && number--)
		list = list->right;
	return list ? list->left : NULL;
}

/* T_, T0_, ... */
struct node *parse_parameter(struct parser *p)
{
	int64_t number;
	struct node *argument;

	if (!take(p, 'T') || (number = parse_sequence(p)) < 0)
		return NULL;
	if (p->lambdas)
		return make_auto(p, number);
	if (p->may_forward)
		return make_forward(p, number);
	argument = find_parameter(p, number);
	return argument ? stand_for(p, argument) : NULL;
}

/* Once the parameters are known. */
static bool settle_forwards(struct parser *p)
{
	for (struct node *node = p->forwards, *next; node; node = next) {
		struct node *argument = find_parameter(p, node->number);

		next = node->right;
		if (!argument)
			return false;
		node->right = NULL;
		node->left = stand_for(p, argument);
		if (!node->left)
			return false;
	}
	p->forwards = NULL;
	return true;
}

/* ---- template arguments */

static struct node *parse_argument(struct parser *p);

static struct node *parse_pack(struct parser *p)
{
	struct list list = {.end = &list.first};

	while (!take(p, 'E'))
		if (!list_add(p, &list, parse_argument(p)))
			return NULL;
	return parser_node(p, NODE_PACK, list.first, NULL);
}

static struct node *parse_argument(struct parser *p)
{
	struct node *node;

	switch (peek(p)) {
	case 'X':
		p->at++;
		node = parse_expression(p);
		return node && take(p, 'E') ? node : NULL;
	case 'L':
		return parse_literal(p);
	case 'I':
	case 'J':
		p->at++;
		return parse_pack(p);
	default:
		return parse_type(p);
	}
}

bool parse_arguments(struct parser *p, struct node **arguments)
{
	const bool names = p->names_parameters;
	struct node *class_name = p->class_name;
	struct list list = {.end = &list.first};
	bool fine = take(p, 'I') && p->depth < DEPTH_MAX;

	p->depth++;
	p->names_parameters = false;
	while (fine && !take(p, 'E')) {
		fine = list_add(p, &list, parse_argument(p));
		/* an argument may name those before it */
		if (fine && names)
			p->parameters = list.first;
	}
	if (fine && names)
		p->parameters = list.first;
	p->names_parameters = names;
	p->class_name = class_name;
	p->depth--;
	*arguments = list.first;
	return fine;
}

struct node *parse_template(struct parser *p, struct node *name)
{
	const bool returns_nothing = p->is_cast_or_creator;
	struct node *arguments;

	if (!name || !parse_arguments(p, &arguments))
		return NULL;
	p->is_cast_or_creator = returns_nothing;
	return parser_node(p, NODE_TEMPLATE, name, arguments);
}

/* ---- names */

static struct node *join(struct parser *p, struct node *left, struct node *right)
{
	if (!right)
		return NULL;
	return left ? parser_node(p, NODE_NESTED, left, right) : right;
}

/* The next part of a nested name. */
static struct node *parse_part(struct parser *p, struct node *before)
{
	switch (peek(p)) {
	case 'S':
		if (peek_next(p) == 't' && !before) {
			p->at += 2;
			return join(p, parser_word(p, "std"), parse_unqualified(p));
		}
		return before ? NULL : parse_substitution(p);
	case 'I':
		return parse_template(p, before);
	case 'T':
		return before ? NULL : parse_parameter(p);
	case 'D':
		if (peek_next(p) == 't' || peek_next(p) == 'T')
			return before ? NULL : parse_decltype(p);
		return join(p, before, parse_unqualified(p));
	default:
		return join(p, before, parse_unqualified(p));
	}
}

/* N ... E */
static struct node *parse_nested(struct parser *p)
{
	uint32_t qualifiers;
	struct node *name = NULL;

	if (!take(p, 'N'))
		return NULL;
	qualifiers = parse_qualifiers(p);
	if (take(p, 'R'))
		qualifiers |= QUALIFIER_REF;
	else if (take(p, 'O'))
		qualifiers |= QUALIFIER_REF_REF;
	while (!take(p, 'E')) {
		const bool known = peek(p) == 'S' && peek_next(p) != 't';

		if (name && take(p, 'M'))
			continue; /* what follows belongs to a member's initializer */
		name = parse_part(p, name);
		if (!name)
			return NULL;
		if (!known && peek(p) != 'E' && !parser_substitute(p, name))
			return NULL;
	}
	p->qualifiers = qualifiers;
	return name;
}

/* The function around. Its return type is left out, as the whole name is not that of the function. */
static struct node *parse_around(struct parser *p)
{
	struct node *function = parse_encoding(p);

	if (function && function->kind == NODE_ENCODING)
		function->right->left = NULL;
	return function;
}

/* Z ... */
static struct node *parse_local(struct parser *p)
{
	struct node *function, *name;
	int64_t argument = -1;

	if (!take(p, 'Z'))
		return NULL;
	function = parse_around(p);
	if (!function || !take(p, 'E'))
		return NULL;
	p->qualifiers = 0;
	if (take(p, 's')) {
		name = parser_word(p, "string literal");
		return skip_discriminator(p) ? parser_node(p, NODE_LOCAL, function, name) : NULL;
	}
	if (take(p, 'd') && (argument = parse_sequence(p)) < 0)
		return NULL;
	name = parse_name(p);
	if (!name || !skip_discriminator(p))
		return NULL;
	if (argument >= 0) {
		struct node *around = parser_node(p, NODE_SPECIAL, NULL, NULL);

		if (!around)
			return NULL;
		around->number = argument + 1; /* {default arg#N} */
		name = parser_node(p, NODE_NESTED, around, name);
	}
	return parser_node(p, NODE_LOCAL, function, name);
}

static struct node *parse_plain_name(struct parser *p)
{
	struct node *name;

	p->qualifiers = 0;
	if (peek(p) == 'S' && peek_next(p) != 't') {
		name = parse_substitution(p);
		return peek(p) == 'I' ? parse_template(p, name) : name;
	}
	if (take_two(p, "St"))
		name = join(p, parser_word(p, "std"), parse_unqualified(p));
	else
		name = parse_unqualified(p);
	if (!name || peek(p) != 'I')
		return name;
	return parser_substitute(p, name) ? parse_template(p, name) : NULL;
}

struct node *parse_name(struct parser *p)
{
	struct node *name = NULL;

	if (p->depth >= DEPTH_MAX)
		return NULL;
	p->depth++;
	p->is_cast_or_creator = false;
	if (peek(p) == 'N')
		name = parse_nested(p);
	else if (peek(p) == 'Z')
		name = parse_local(p);
	else
		name = parse_plain_name(p);
	p->depth--;
	return name;
}

/* ---- encodings */

static struct node *parse_special(struct parser *p)
{
	static const char specials[][2][24] = {
		{"TV", "vtable for "},         {"TT", "VTT for "},
		{"TI", "typeinfo for "},       {"TS", "typeinfo name for "},
		{"GV", "guard variable for "},
	};

	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
		struct node *of, *node;

		if (!take_two(p, specials[i][0]))
			continue;
		of = specials[i][0][0] == 'T' ? parse_type(p) : parse_name(p);
		node = of ? parser_word(p, specials[i][1]) : NULL;
		if (!node)
			return NULL;
		node->kind = NODE_SPECIAL;
		node->left = of;
		return node;
	}
	return NULL;
}

/* Whether the type of a function of that name begins with what it returns. */
static bool has_return_type(const struct parser *p, const struct node *name)
{
	while (name->kind == NODE_LOCAL)
		name = name->right;
	return name->kind == NODE_TEMPLATE && !p->is_cast_or_creator;
}

static struct node *parse_signature(struct parser *p, struct node *name)
{
	const uint32_t qualifiers = p->qualifiers;
	struct node *returned = NULL, *params, *function;

	if (has_return_type(p, name) && !(returned = parse_type(p)))
		return NULL;
	if (!parse_types(p, &params))
		return NULL;
	function = parser_node(p, NODE_FUNCTION, returned, params);
	if (!function)
		return NULL;
	function->number = qualifiers;
	return parser_node(p, NODE_ENCODING, name, function);
}

struct node *parse_encoding(struct parser *p)
{
	const bool names = p->names_parameters;
	struct node *name;

	if (peek(p) == 'T' || peek(p) == 'G')
		return parse_special(p);
	p->names_parameters = true;
	name = parse_name(p);
	p->names_parameters = false;
	if (name && !settle_forwards(p))
		name = NULL;
	if (name && peek(p) && peek(p) != 'E' && peek(p) != '.')
		name = parse_signature(p, name);
	p->names_parameters = names;
	return name;
}
