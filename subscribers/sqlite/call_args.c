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

/* As RPD's tools expect arguments: "stream=0x7f2a | graph=0x51". What the call has written is named as
 * the thing itself, not as the pointer to it: pGraph is graph. */
static size_t rpd_text(struct sub *sub, const struct rtl_event *event,
		       const struct rtl_field *field, char *text, size_t size)
{
	struct rtl_args args = rtl_args_begin(sub->host, event, field);
	struct rtl_args_line line = {text, size, 0};
	struct rtl_value value;

	while (rtl_args_next(&args, &value)) {
		const char *name = value.name;

		if (line.length)
			rtl_args_put(&line, " | ", 3);
		if (value.flags & RTL_ARG_OUT && name[0] == 'p' && name[1] >= 'A' &&
		    name[1] <= 'Z') {
			const char small = (char)(name[1] - 'A' + 'a');

			rtl_args_put(&line, &small, 1);
			name += 2;
		}
		rtl_args_put(&line, name, strlen(name));
		rtl_args_put(&line, "=", 1);
		rtl_args_put_value(&line, sub->host, event, &value);
	}
	return line.length;
}

static int64_t make_text(struct sub *sub, const struct rtl_event *event)
{
	const struct rtl_field *field = rtl_args_field(event->type_info);
	char text[RTL_PAYLOAD_MAX];
	size_t length = !field ? 0
			: sub->settings.rpd_args
				? rpd_text(sub, event, field, text, sizeof(text))
				: rtl_args_text(sub->host, event, field, text, sizeof(text));

	if (!length)
		return NAMES_EMPTY;
	if (length >= sizeof(text))
		length = sizeof(text) - 1;
	return names_argument(&sub->names, text, length);
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
		return make_text(sub, event);
	place = &args->kept->places[key.hash % KEPT];
	if (is_kept(place, &key))
		return place->id;
	id = make_text(sub, event);
	keep(place, &key, id);
	return id;
}

void call_args_fini(struct call_args *args)
{
	free(args->kept);
	*args = (struct call_args){0};
}
