/* SPDX-License-Identifier: MIT */
/*
 * mangled.h: a mangled name as a tree, between the parser and the printer.
 *
 * What a name repeats is one node with many parents. So a tree is about as large as its name,
 * and only its text may be far larger: the printer counts.
 *
 * One thread for each parser and each printer.
 */
#ifndef RTL_DEMANGLE_MANGLED_H
#define RTL_DEMANGLE_MANGLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How deep names may be nested: the program's stack is small. */
#define DEPTH_MAX 256

enum node_kind {
	NODE_NAME,           /* text */
	NODE_NESTED,         /* left::right */
	NODE_TEMPLATE,       /* left<right> */
	NODE_LIST,           /* left, and the rest in right */
	NODE_PACK,           /* of arguments: left is a list */
	NODE_PACK_USED,      /* a parameter that stands for the pack left */
	NODE_EXPANSION,      /* left... */
	NODE_FORWARD,        /* a parameter that is known later: left, once it is */
	NODE_QUALIFIED,      /* left with the qualifiers in number */
	NODE_VENDOR,         /* left with the vendor's qualifier right */
	NODE_SUFFIXED,       /* left and a text behind it */
	NODE_POINTER,        /* to left */
	NODE_REFERENCE,      /* to left; number 1: && */
	NODE_MEMBER_POINTER, /* to a member of left, of the type right */
	NODE_ARRAY,          /* of left; right is its size or NULL */
	NODE_VECTOR,         /* of left; right is its size */
	NODE_FUNCTION,       /* returns left or NULL, of the list right; qualifiers in number */
	NODE_ENCODING,       /* the function left of the type right */
	NODE_LOCAL,          /* right in the function left */
	NODE_SPECIAL,        /* text, of left */
	NODE_CONSTRUCTOR,    /* of the class left */
	NODE_DESTRUCTOR,
	NODE_OPERATOR,   /* text */
	NODE_CONVERSION, /* to the type left */
	NODE_LAMBDA,     /* of the list left, with its number */
	NODE_UNNAMED,
	NODE_TAGGED, /* left[abi:right] */
	NODE_CLONE,  /* left, cloned as text says */
	/* Expressions. */
	NODE_LITERAL,  /* text, of the type left; number 1: negative */
	NODE_PREFIX,   /* operator text, of left */
	NODE_POSTFIX,  /* left, operator text */
	NODE_BINARY,   /* left, operator text, right */
	NODE_MEMBER,   /* left, text (. or ->), right */
	NODE_INDEX,    /* left[right] */
	NODE_CHOICE,   /* left ? right->left : right->right */
	NODE_CALL,     /* left(right) */
	NODE_CAST,     /* (left)right */
	NODE_CAST_AS,  /* text<left>(right) */
	NODE_WRAPPED,  /* text (left) */
	NODE_BRACES,   /* left{right} */
	NODE_LENGTH,   /* of the pack left */
	NODE_PARAMETER /* {parm#number} */
};

enum {
	QUALIFIER_CONST = 1,
	QUALIFIER_VOLATILE = 2,
	QUALIFIER_RESTRICT = 4,
	QUALIFIER_REF = 8,
	QUALIFIER_REF_REF = 16,
	QUALIFIER_NOEXCEPT = 32,
};

struct node {
	enum node_kind kind;
	uint32_t length; /* of the text */
	int64_t number;
	const char *text; /* in the mangled name, or a constant */
	struct node *left, *right;
};

struct node_chunk;

struct parser {
	const char *at, *end;
	struct node_chunk *chunks;
	size_t used; /* nodes of the first chunk */
	size_t node_count;
	struct node **substitutions;
	size_t substitution_count, substitution_room;
	struct node *parameters; /* a list: what T_, T0_ ... are */
	struct node *forwards;   /* parameters that are to become known, linked by right */
	struct node *class_name; /* the last name, for constructors */
	unsigned depth;
	unsigned lambdas;        /* whose parameters are being read */
	bool names_parameters;   /* template arguments of names become `parameters` */
	bool may_forward;        /* parameters may be named before they are known */
	bool failed;             /* out of memory, or too large */
	uint32_t qualifiers;     /* of the member function that was named last */
	bool is_cast_or_creator; /* the name that was read last returns nothing */
};

/* Each returns NULL where the name is not as it should be. parse.c */

struct node *parser_node(struct parser *p, enum node_kind kind, struct node *left,
			 struct node *right);
struct node *parser_text(struct parser *p, enum node_kind kind, const char *text, size_t length);
struct node *parser_word(struct parser *p, const char *text);
bool parser_substitute(struct parser *p, struct node *node);
void parser_fini(struct parser *p);

/* The character that comes next, and the one after it; 0 at the end. */
static inline char peek(const struct parser *p)
{
	return p->at < p->end ? *p->at : '\0';
}

static inline char peek_next(const struct parser *p)
{
	return p->end - p->at > 1 ? p->at[1] : '\0';
}

static inline bool take(struct parser *p, char c)
{
	if (p->at == p->end || *p->at != c)
		return false;
	p->at++;
	return true;
}

static inline bool take_two(struct parser *p, const char *two)
{
	if (p->end - p->at < 2 || p->at[0] != two[0] || p->at[1] != two[1])
		return false;
	p->at += 2;
	return true;
}

/* A list under way. */
struct list {
	struct node *first;
	struct node **end;
};

bool list_add(struct parser *p, struct list *list, struct node *item);
/* Digits; -1: none, or too large a number. */
int64_t parse_number(struct parser *p);
/* [<number>] _ : 0 for none, else number + 1; -1: it is none. */
int64_t parse_sequence(struct parser *p);

/* parse_name.c */
struct node *parse_encoding(struct parser *p);
struct node *parse_name(struct parser *p);
struct node *parse_source_name(struct parser *p);
struct node *parse_unqualified(struct parser *p);
struct node *parse_substitution(struct parser *p);
struct node *parse_parameter(struct parser *p);
/* I ... E; `list` may come out NULL: there are none. */
bool parse_arguments(struct parser *p, struct node **list);
struct node *parse_template(struct parser *p, struct node *name);
const char *parse_operator(struct parser *p);

/* parse_type.c */
struct node *parse_type(struct parser *p);
/* Types until E, a dot or the end. */
bool parse_types(struct parser *p, struct node **list);
uint32_t parse_qualifiers(struct parser *p);

/* parse_expression.c */
struct node *parse_expression(struct parser *p);
struct node *parse_literal(struct parser *p);
struct node *parse_decltype(struct parser *p);

/* print.c */
struct printer {
	char *text;
	size_t used, room;
	size_t steps;
	unsigned depth;
	bool failed;
	int64_t pack_index; /* of the expansion that is being printed; -1: none is */
};

void print_node(struct printer *o, const struct node *node);
void print_list(struct printer *o, const struct node *list);
void print_text(struct printer *o, const char *text, size_t length);
void print_word(struct printer *o, const char *text);
void print_number(struct printer *o, int64_t number);
/* print_expression.c. False: it is no expression. */
bool print_expression(struct printer *o, const struct node *node);

#endif
