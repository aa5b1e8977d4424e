/* SPDX-License-Identifier: MIT */
#include "arguments.h"

#include <rtl/tracepoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what they are */

static const char *kind_name(uint8_t kind, uint8_t size)
{
	static const char *const unsigneds[] = {[1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64"};
	static const char *const signeds[] = {[1] = "i8", [2] = "i16", [4] = "i32", [8] = "i64"};

	switch (kind) {
	case RTL_KIND_UINT:
		return unsigneds[size];
	case RTL_KIND_INT:
		return signeds[size];
	case RTL_KIND_FLOAT:
		return size == 4 ? "f32" : "f64";
	case RTL_KIND_BOOL:
		return "bool";
	case RTL_KIND_TEXT:
		return "text";
	default:
		return "address";
	}
}

/* "ptr:address>address size:u64" */
static void put_values(FILE *to, const struct call_signature *signature)
{
	for (uint32_t i = 0; i < signature->count; i++) {
		const struct call_argument *a = &signature->arguments[i];

		fprintf(to, "%s%s:%s", i ? " " : "", a->name, kind_name(a->kind, a->size));
		if (a->out_kind)
			fprintf(to, ">%s", kind_name(a->out_kind, a->out_size));
		if (a->values)
			fprintf(to, "{%s}", a->values);
	}
}

/* "void **ptr, size_t size" */
static void put_prototypes(FILE *to, const struct call_signature *signature,
			   const char *const *types)
{
	for (uint32_t i = 0; i < signature->count; i++)
		fprintf(to, "%s%s%s%s", i ? ", " : "", types[i],
			types[i][strlen(types[i]) - 1] == '*' ? "" : " ",
			signature->arguments[i].name);
}

/* Without memory there is no text, or not all of it: then it is not said. */
static void set_text(uint64_t uid, const char *key, FILE *file, char *const *text)
{
	const bool is_whole = !ferror(file);

	if (!fclose(file) && is_whole)
		(void)rtl_tracepoint_set(uid, key, *text);
	free(*text);
}

void call_describe(const struct call_signature *signature, const char *const *types, uint64_t uid)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (file && signature->count) {
		put_values(file, signature);
		set_text(uid, RTL_VALUES_KEY, file, &text);
		file = open_memstream(&text, &size);
	}
	if (!file)
		return;
	put_prototypes(file, signature, types);
	set_text(uid, "arguments", file, &text);
}

static inline uint32_t place_of(uint32_t at, uint8_t size)
{
	return (at + size - 1u) & ~(size - 1u);
}

uint32_t call_value_bytes(const struct call_signature *signature, uint32_t count)
{
	uint32_t at = CALL_STATES_BYTES(signature->has_states);

	for (uint32_t i = 0; i < count; i++)
		at = place_of(at, signature->arguments[i].size) + signature->arguments[i].size;
	return count ? at : 0;
}

/* ---- one call */

void call_values_unpack(const struct call_signature *signature, const unsigned char *packed,
			uint64_t *slots)
{
	uint32_t at = CALL_STATES_BYTES(signature->has_states);

	for (uint32_t i = 0; i < signature->count; i++) {
		const struct call_argument *argument = &signature->arguments[i];

		at = place_of(at, argument->size);
		slots[i] = value_load((uintptr_t)packed + at, argument->size,
				      argument->kind == RTL_KIND_INT);
		at += argument->size;
	}
}

static bool is_text(const struct call_argument *argument)
{
	return argument->kind == RTL_KIND_TEXT || argument->out_kind == RTL_KIND_TEXT;
}

/* An address among the values, as it was passed. */
static inline uint64_t address_at(const unsigned char *packed, uint32_t at)
{
	uint64_t address;

	memcpy(&address, packed + at, sizeof(address));
	return address;
}

/* Of arguments in the order in which they stand there. */
uint32_t call_values_read_texts(struct call_values *values)
{
	uint32_t at = CALL_STATES_BYTES(true), count = 0, bytes = 0;

	for (uint32_t i = 0; i < values->count && count < CALL_TEXTS; i++) {
		const struct call_argument *argument = &values->signature->arguments[i];
		uint64_t address;

		at = place_of(at, argument->size);
		if (is_text(argument)) {
			address = address_at(values->packed, at);
			if (argument->out_kind)
				address = values->succeeded && address
						  ? value_load(address, 8, false)
						  : 0;
			text_read(&values->texts[count], address);
			bytes += values->texts[count++].length;
		}
		at += argument->size;
	}
	return bytes;
}

uint32_t call_values_fit(struct call_values *values, uint32_t room)
{
	if (values->bytes + values->text_bytes <= room)
		return values->bytes + values->text_bytes;
	for (uint32_t i = 0; i < CALL_TEXTS; i++)
		values->texts[i].there = false;
	values->text_bytes = 0;
	while (values->bytes > room)
		values->bytes = call_value_bytes(values->signature, --values->count);
	return values->bytes;
}

/* A text behind the values, in the place of its address. Returns its state. */
static uint64_t put_text(void *at, const struct text *text, void *payload, uint32_t *end)
{
	const struct rtl_text place = {*end, text->length};

	if (!text->there)
		return RTL_VALUE_AS_PASSED;
	memcpy((char *)payload + *end, text->bytes, text->length);
	*end += text->length;
	memcpy(at, &place, sizeof(place));
	return text->cut ? RTL_VALUE_BEGINNING : RTL_VALUE_FOLLOWED;
}

/* What the call has left, in the place of its address. Returns its state. */
static inline uint64_t put_followed(const struct call_argument *argument, uint64_t address,
				    void *to)
{
	uint64_t written;

	if (!address)
		return RTL_VALUE_AS_PASSED;
	written = value_load(address, argument->out_size, false);
	memcpy(to, &written, sizeof(written));
	return RTL_VALUE_FOLLOWED;
}

/* The values stand in `to` as they were passed, and no texts are among them. */
void call_values_follow(const struct call_signature *signature, const unsigned char *packed,
			unsigned char *to)
{
	const struct call_argument *argument = signature->arguments;
	const struct call_argument *end = argument + signature->count;
	uint32_t at = CALL_STATES_BYTES(true), shift = 0;
	uint64_t states = 0;

	for (; argument < end; argument++, shift += 2) {
		at = place_of(at, argument->size);
		if (argument->out_kind)
			states |= put_followed(argument, address_at(packed, at), to + at) << shift;
		at += argument->size;
	}
	memcpy(to, &states, sizeof(states));
}

/* The same with texts, which go behind the values. */
static void follow_all(const struct call_values *values, void *payload, uint32_t offset)
{
	const struct call_argument *argument = values->signature->arguments;
	uint32_t at = CALL_STATES_BYTES(true), texts = 0, end = offset + values->bytes;
	char *to = (char *)payload + offset;
	uint64_t states = 0;

	for (uint32_t i = 0; i < values->count; i++, argument++) {
		at = place_of(at, argument->size);
		if (is_text(argument)) {
			if (texts < CALL_TEXTS)
				states |= put_text(to + at, &values->texts[texts++], payload, &end)
					  << 2 * i;
		} else if (argument->out_kind && values->succeeded) {
			states |= put_followed(argument, address_at(values->packed, at), to + at)
				  << 2 * i;
		}
		at += argument->size;
	}
	if (values->count)
		memcpy(to, &states, sizeof(states));
}

void call_values_fill(const struct call_values *values, void *payload, uint32_t offset,
		      struct rtl_text *place)
{
	call_values_put(values->signature, values->packed, values->bytes,
			values->succeeded && !values->signature->has_texts, payload, offset, place);
	if (values->signature->has_texts)
		follow_all(values, payload, offset);
}
