/* SPDX-License-Identifier: MIT */
/* The checker and the copier of stream descriptions, with descriptions that the input makes up:
 * structs of other sizes than ours, members that are missing, names that are none. */

#include "fuzz.h"
#include "parts.h"
#include "touch.h"

#define TYPES_MOST  6u
#define FIELDS_MOST 12u

/* As a newer version of the ABI may have them. */
struct wide_field {
	struct rtl_field is;
	uint64_t more;
};
struct wide_type {
	struct rtl_type_info is;
	uint64_t more;
};

static char texts[16][140];

static void make_texts(struct input *in)
{
	size_t i, k, n;

	for (i = 0; i < 16; i++) {
		n = input_number(in, 1) % sizeof(texts[i]);
		for (k = 0; k < n; k++) /* mostly letters that are allowed */
			texts[i][k] = (char)("ab_c0.-dZ"[input_number(in, 1) % 9]);
		texts[i][n] = 0;
	}
}

static const char *text(struct input *in)
{
	uint32_t n = input_number(in, 1);

	return n % 23 == 22 ? NULL : texts[n % 16];
}

static void make_field(struct input *in, struct wide_field *field)
{
	uint32_t bits = input_number(in, 1);

	field->is = (struct rtl_field){
		.struct_size = bits & 1 ? sizeof(*field) : sizeof(field->is),
		.kind = (uint16_t)(input_number(in, 1) % 12),
		.offset = input_number(in, bits & 2 ? 4 : 1),
		.size = bits & 4 ? input_number(in, bits & 8 ? 4 : 1) : 8,
		.name = text(in),
		.unit = text(in),
		.description = text(in),
	};
}

static void make_type(struct input *in, struct wide_type *type, struct wide_field *fields)
{
	uint32_t bits = input_number(in, 1), i;

	type->is = (struct rtl_type_info){
		.struct_size = sizeof(*type),
		.type = (uint16_t)input_number(in, 2),
		.field_count = (uint16_t)(input_number(in, 1) % FIELDS_MOST),
		.payload_size = input_number(in, bits & 2 ? 4 : 1),
		.name = text(in),
		.description = text(in),
		.fields = bits & 4 && bits & 8 && bits & 16 ? NULL : &fields->is,
	};
	for (i = 0; i < type->is.field_count; i++)
		make_field(in, &fields[i]);
	/* an array is walked in the steps of its first element */
	for (i = 0; i < type->is.field_count && bits & 32; i++)
		fields[i].is.struct_size = sizeof(*fields);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct wide_field fields[TYPES_MOST][FIELDS_MOST];
	static struct wide_type types[TYPES_MOST];
	struct input in = {data, size};
	struct rtl_stream_info info = {.struct_size = sizeof(info)}, *copy;
	uint32_t bits, i;

	memset(fields, 0, sizeof(fields));
	bits = input_number(&in, 1);
	info.version_major = (uint16_t)input_number(&in, 1);
	info.type_count = bits % TYPES_MOST;
	info.types = bits & 64 && bits & 128 ? NULL : &types[0].is;
	make_texts(&in);
	info.name = text(&in);
	info.description = text(&in);
	for (i = 0; i < TYPES_MOST; i++)
		make_type(&in, &types[i], fields[i]);
	for (i = 0; i < TYPES_MOST; i++) /* fields are walked in the steps of their first */
		if (fields[i][0].is.struct_size != sizeof **fields && types[i].is.field_count > 1)
			types[i].is.field_count = 1;
	if (stream_info_flaw(&info))
		return 0;
	copy = stream_info_copy(&info);
	if (!copy || stream_info_flaw(copy) || !stream_same_layout(&info, copy))
		abort();
	touch_stream(copy);
	free(copy);
	return 0;
}
