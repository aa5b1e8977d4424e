/* SPDX-License-Identifier: MIT */
/* See arguments.h. */
#include "arguments.h"

#include <pthread.h>
#include <rtl/tracepoint.h>
#include <stdlib.h>
#include <string.h>

#include "../common/fork_lock.h"
#include "../common/value.h"
#include "enumerations.h"

struct hip_known_argument {
	uint64_t name; /* string */
	const struct hip_enumeration *enumeration;
};

static struct hip_known_argument *known[HIP_FUNCTIONS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of who makes one */
FORK_LOCK(known, lock);

__attribute__((cold, noinline)) static const struct hip_known_argument *make_known(enum hip_id id)
{
	const struct hip_function *function = &hip_functions[id];
	struct hip_known_argument *made;

	pthread_mutex_lock(&lock);
	made = known[id];
	if (made)
		goto out;
	made = calloc(function->argument_count + 1u, sizeof(*made));
	for (uint32_t i = 0; made && i < function->argument_count; i++) {
		const struct hip_argument *argument = &function->arguments[i];

		(void)rtl_string_intern(argument->name, &made[i].name);
		if (argument->enumeration)
			made[i].enumeration = hip_enumeration_find(argument->enumeration);
	}
	/* release: with the acquire in hip_arguments_read */
	__atomic_store_n(&known[id], made, __ATOMIC_RELEASE);
out:
	pthread_mutex_unlock(&lock);
	return made;
}

static uint32_t read_texts(struct hip_arguments *arguments)
{
	uint32_t count = 0, bytes = 0;

	for (uint32_t i = 0; i < arguments->count && count < HIP_TEXTS; i++) {
		if (arguments->function->arguments[i].kind != RTL_KIND_TEXT)
			continue;
		text_read(&arguments->texts[count], arguments->slots[i]);
		bytes += arguments->texts[count].length;
		count++;
	}
	return bytes;
}

uint32_t hip_arguments_read(struct hip_arguments *arguments, enum hip_id id, const uint64_t *slots,
			    bool succeeded)
{
	const struct hip_function *function = &hip_functions[id];
	const struct hip_known_argument *there = __atomic_load_n(&known[id], __ATOMIC_ACQUIRE);

	arguments->function = function;
	arguments->known = there ? there : make_known(id);
	arguments->slots = slots;
	arguments->succeeded = succeeded;
	arguments->text_bytes = 0;
	arguments->count = arguments->known ? function->argument_count : 0;
	if (arguments->count && function->has_texts)
		arguments->text_bytes = read_texts(arguments);
	return arguments->count * (uint32_t)sizeof(struct rtl_arg) + arguments->text_bytes;
}

uint32_t hip_arguments_fit(struct hip_arguments *arguments, uint32_t room)
{
	uint32_t bytes;

	if (arguments->count > room / (uint32_t)sizeof(struct rtl_arg))
		arguments->count = room / (uint32_t)sizeof(struct rtl_arg);
	bytes = arguments->count * (uint32_t)sizeof(struct rtl_arg);
	if (bytes + arguments->text_bytes <= room)
		return bytes + arguments->text_bytes;
	arguments->text_bytes = 0;
	for (uint32_t i = 0; i < HIP_TEXTS; i++)
		arguments->texts[i].there = false;
	return bytes;
}

static inline void set_name(struct rtl_arg *arg, const struct hip_enumeration *enumeration)
{
	const uint64_t name = hip_enumeration_name(enumeration, arg->value.integer);

	if (name) {
		arg->value.number = name;
		arg->kind = RTL_KIND_STRING;
	}
}

/* What the function has left where the argument points to. */
static void set_output(struct rtl_arg *arg, const struct hip_argument *argument,
		       const struct hip_enumeration *enumeration)
{
	const uint64_t value = value_load(arg->value.number, argument->output_size,
					  argument->output_kind == RTL_KIND_INT);
	float real;

	arg->value.number = value;
	arg->kind = argument->output_kind;
	arg->flags = RTL_ARG_OUT;
	if (arg->kind == RTL_KIND_FLOAT && argument->output_size == sizeof(real)) {
		memcpy(&real, &value, sizeof(real));
		arg->value.real = real;
	}
	if (enumeration)
		set_name(arg, enumeration);
}

static void set_text(struct rtl_arg *arg, const struct text *text, void *payload, uint32_t *end)
{
	if (!text->there) {
		arg->kind = RTL_KIND_ADDRESS;
		return;
	}
	memcpy((char *)payload + *end, text->bytes, text->length);
	arg->value.text = (struct rtl_text){*end, text->length};
	arg->flags = text->cut ? RTL_ARG_CUT : 0;
	*end += text->length;
}

void hip_arguments_fill(const struct hip_arguments *arguments, void *payload, uint32_t offset,
			struct rtl_text *place)
{
	const struct hip_function *function = arguments->function;
	const uint32_t count = arguments->count;
	struct rtl_arg *args = (struct rtl_arg *)((char *)payload + offset);
	uint32_t end = offset + count * (uint32_t)sizeof(*args), texts = 0;

	*place = (struct rtl_text){offset, count * (uint32_t)sizeof(*args)};
	for (uint32_t i = 0; i < count; i++) {
		const struct hip_argument *argument = &function->arguments[i];
		const struct hip_enumeration *enumeration = arguments->known[i].enumeration;
		struct rtl_arg *arg = &args[i];

		arg->name = arguments->known[i].name;
		arg->value.number = arguments->slots[i];
		arg->kind = argument->kind;
		arg->flags = 0;
		arg->reserved = 0;
		if (argument->kind == RTL_KIND_TEXT) {
			if (texts < HIP_TEXTS)
				set_text(arg, &arguments->texts[texts++], payload, &end);
			else
				arg->kind = RTL_KIND_ADDRESS;
		} else if (argument->output_size) {
			if (arguments->succeeded && arguments->slots[i])
				set_output(arg, argument, enumeration);
		} else if (enumeration) {
			set_name(arg, enumeration);
		}
	}
}
