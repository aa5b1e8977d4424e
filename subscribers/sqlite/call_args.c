/* SPDX-License-Identifier: MIT */
/* call_args.c: see call_args.h. */
#include "call_args.h"

#include <rtl/args.h>
#include <stdlib.h>
#include <string.h>

#include "sub.h"

/* Sets of values that are kept, each in the place that its hash says, and how large they may be. */
#define KEPT       1024u
#define KEPT_BYTES 504u

struct kept {
	int64_t id; /* in rocpd_ustring; 0: nothing is kept here */
	uint64_t hash, function;
	uint32_t process, size;
	unsigned char bytes[KEPT_BYTES];
};

struct call_args_kept {
	struct kept places[KEPT];
};

/* ---- texts */

/* A text on its way; what does not fit is left out. */
struct out {
	char *at;
	char *end; /* room for the NUL is behind it */
};

static void put_bytes(struct out *out, const char *text, size_t length)
{
	const size_t room = (size_t)(out->end - out->at);

	length = length < room ? length : room;
	memcpy(out->at, text, length);
	out->at += length;
}

static void put_text(struct out *out, const char *text)
{
	put_bytes(out, text, strlen(text));
}

static void put_decimal(struct out *out, uint64_t value)
{
	char digits[20];
	unsigned i = sizeof(digits);

	do
		digits[--i] = (char)('0' + value % 10);
	while (value /= 10);
	put_bytes(out, digits + i, sizeof(digits) - i);
}

static void put_hex(struct out *out, uint64_t value)
{
	char digits[TEXT_HEX];

	put_bytes(out, digits, text_hex(digits, value));
}

static void put_integer(struct out *out, int64_t value)
{
	if (value < 0)
		put_bytes(out, "-", 1);
	put_decimal(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* The text of a host's string: the host is asked once. */
static const char *string_text(struct sub *sub, struct process *process, uint64_t string)
{
	const char *text = (const char *)(uintptr_t)map_get(&process->texts, string);

	if (text)
		return text;
	text = sub->host->string(sub->host, process->info, string);
	if (text && !map_set(&process->texts, string, (uintptr_t)text))
		writer_error(&sub->writer, SQLITE_NOMEM, "name of an argument");
	return text ? text : "";
}

/* As rtl_arg_text has it, which does the rare ones. */
static void put_value(struct out *out, struct sub *sub, struct process *process,
		      const struct rtl_event *event, const struct rtl_arg *arg)
{
	int length;

	switch (arg->kind) {
	case RTL_KIND_UINT:
	case RTL_KIND_TIME:
		put_decimal(out, arg->value.number);
		return;
	case RTL_KIND_INT:
		put_integer(out, arg->value.integer);
		return;
	case RTL_KIND_ADDRESS:
	case RTL_KIND_UID:
		put_hex(out, arg->value.number);
		return;
	case RTL_KIND_STRING:
		put_text(out, string_text(sub, process, arg->value.number));
		return;
	default:
		length = rtl_arg_text(sub->host, event, arg, out->at,
				      (size_t)(out->end - out->at) + 1);
		if (length > 0)
			out->at += length < out->end - out->at ? length : out->end - out->at;
	}
}

/* Writes them as rtl_args_text does. */
static void put_args(struct out *out, struct sub *sub, struct process *process,
		     const struct rtl_event *event, const struct rtl_field *field)
{
	const uint32_t count = rtl_args_count(event, field);

	for (uint32_t i = 0; i < count; i++) {
		const struct rtl_arg arg = rtl_args_get(event, field, i);

		if (i)
			put_bytes(out, ", ", 2);
		if (arg.flags & RTL_ARG_OUT)
			put_bytes(out, "*", 1);
		put_text(out, string_text(sub, process, arg.name));
		put_bytes(out, "=", 1);
		put_value(out, sub, process, event, &arg);
	}
}

static const struct rtl_field *args_field(const struct rtl_type_info *type)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct rtl_field *field = rtl_type_field(type, i);

		if (field->kind == RTL_KIND_ARGS)
			return field;
	}
	return NULL;
}

static int64_t make_text(struct sub *sub, struct process *process, const struct rtl_event *event)
{
	const struct rtl_field *field = args_field(event->type_info);
	char text[RTL_PAYLOAD_MAX];
	struct out out = {text, text + sizeof(text) - 1};

	if (field)
		put_args(&out, sub, process, event, field);
	if (out.at == text)
		return NAMES_EMPTY;
	*out.at = '\0';
	return names_argument(&sub->names, text, (size_t)(out.at - text));
}

/* ---- what is kept */

/* What tells a text: whose call it is of which function, which say the names, and the bytes behind
 * the fixed part of the payload: the values, with their texts. */
struct key {
	uint64_t hash, function;
	uint32_t process, size;
	const unsigned char *bytes;
};

static struct key make_key(const struct process *process, const struct rtl_event *event)
{
	const uint32_t fixed = event->type_info->payload_size;
	const struct rtl_hsa_call *call = event->payload; /* HIP's begins with the same */
	struct key key = {
		.function = call->function,
		.process = process->number,
		.size = event->payload_size - fixed,
		.bytes = (const unsigned char *)event->payload + fixed,
	};

	key.hash = hash_bytes(key.function ^ key.process, key.bytes, key.size);
	return key;
}

static bool is_kept(const struct kept *kept, const struct key *key)
{
	return kept->id && kept->hash == key->hash && kept->function == key->function &&
	       kept->process == key->process && kept->size == key->size &&
	       memcmp(kept->bytes, key->bytes, key->size) == 0;
}

static void keep(struct kept *kept, const struct key *key, int64_t id)
{
	kept->hash = key->hash;
	kept->function = key->function;
	kept->process = key->process;
	kept->size = key->size;
	kept->id = id;
	memcpy(kept->bytes, key->bytes, key->size);
}

int64_t call_args_id(struct sub *sub, struct process *process, const struct rtl_event *event)
{
	struct call_args *args = &sub->call_args;
	struct kept *place;
	struct key key;
	int64_t id;

	if (event->payload_size <= event->type_info->payload_size)
		return NAMES_EMPTY; /* no values */
	if (!args->kept)
		args->kept = calloc(1, sizeof(*args->kept));
	key = make_key(process, event);
	if (!args->kept || key.size > KEPT_BYTES)
		return make_text(sub, process, event);
	place = &args->kept->places[key.hash % KEPT];
	if (is_kept(place, &key))
		return place->id;
	id = make_text(sub, process, event);
	keep(place, &key, id);
	return id;
}

void call_args_fini(struct call_args *args)
{
	free(args->kept);
	*args = (struct call_args){0};
}
