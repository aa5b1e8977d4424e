/* SPDX-License-Identifier: MIT */
/* Arguments of calls as payloads have them: streams/call/arguments.h and pack.h. */

#include <rtl/tracepoint.h>

#include "../../streams/call/arguments.h"
#include "../../streams/call/pack.h"
#include "unit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define OFFSET       16u /* of the values in a payload */

int rtl_tracepoint_set(uint64_t uid, const char *key, const char *value)
{
	return 0;
}

/* Numbers of all sizes, with gaps between them and behind the last. */
struct numbers {
	uint8_t small;
	uint64_t large;
	int32_t below;
	uint16_t two;
	double real;
	uint32_t last;
};

static const struct call_argument number_arguments[] = {
	{.name = "small", .kind = RTL_KIND_UINT, .size = 1},
	{.name = "large", .kind = RTL_KIND_UINT, .size = 8},
	{.name = "below", .kind = RTL_KIND_INT, .size = 4},
	{.name = "two", .kind = RTL_KIND_UINT, .size = 2},
	{.name = "real", .kind = RTL_KIND_FLOAT, .size = 8},
	{.name = "last", .kind = RTL_KIND_UINT, .size = 4},
};
static const struct call_signature numbers = {.arguments = number_arguments,
					      .count = COUNT(number_arguments)};

/* What a call leaves, and a text. */
static const struct call_argument left_arguments[] = {
	{.name = "number", .kind = RTL_KIND_UINT, .size = 4},
	{.name = "left",
	 .kind = RTL_KIND_ADDRESS,
	 .size = 8,
	 .out_kind = RTL_KIND_INT,
	 .out_size = 4},
	{.name = "text", .kind = RTL_KIND_TEXT, .size = 8},
};
static const struct call_signature left = {
	.arguments = left_arguments, .count = 2, .has_states = 1};
static const struct call_signature texts = {
	.arguments = left_arguments, .count = 3, .has_states = 1, .has_texts = 1};

static void pack_numbers(unsigned char *packed)
{
	struct call_pack pack_;

	memset(packed, 0xee, CALL_PACKED_BYTES);
	call_pack_begin(&pack_, packed, false);
	CALL_UNSIGNED(0x12, "", 1)
	CALL_UNSIGNED(0x1122334455667788, "", 8)
	CALL_ENUM(-5, int)
	CALL_UNSIGNED(0xabcd, "", 2)
	CALL_FLOAT(1.5, "", 4)
	CALL_UNSIGNED(77, "", 4)
	assert_int_equal(call_pack_value(&pack_, 1), 0x1122334455667788);
	assert_int_equal(call_pack_value(&pack_, -1), 0);
}

TEST(test_call_values__packed_by_a_wrapper__are_as_a_struct_has_them)
{
	struct numbers expected;
	unsigned char packed[CALL_PACKED_BYTES];

	memset(&expected, 0, sizeof(expected)); /* gaps are 0 too, and what fills the last word */
	expected.small = 0x12;
	expected.large = 0x1122334455667788;
	expected.below = -5;
	expected.two = 0xabcd;
	expected.real = 1.5;
	expected.last = 77;
	pack_numbers(packed);
	assert_memory_equal(packed, &expected, sizeof(expected));
	assert_int_equal(call_value_bytes(&numbers, numbers.count),
			 offsetof(struct numbers, last) + 4);
}

TEST(test_call_values__unpacked__are_those_that_were_packed)
{
	unsigned char packed[CALL_PACKED_BYTES];
	uint64_t slots[CALL_ARGUMENTS];

	pack_numbers(packed);
	call_values_unpack(&numbers, packed, slots);
	assert_int_equal(slots[0], 0x12);
	assert_int_equal((int64_t)slots[2], -5);
	assert_int_equal(slots[5], 77);
}

TEST(test_call_values__written__take_no_more_than_their_words)
{
	struct rtl_text place;

	for (uint32_t bytes = 0; bytes <= 8 * CALL_ARGUMENTS; bytes++) {
		unsigned char packed[CALL_PACKED_BYTES], payload[OFFSET + CALL_PACKED_BYTES];
		const uint32_t end = OFFSET + ((bytes + 7) & ~7u);

		memset(packed, 0x55, sizeof(packed));
		memset(payload, 0xee, sizeof(payload));
		call_values_put(&numbers, packed, bytes, true, payload, OFFSET, &place);
		assert_int_equal(place.offset, OFFSET);
		assert_int_equal(place.length, bytes);
		assert_memory_equal(payload + OFFSET, packed, bytes);
		for (uint32_t i = end; i < sizeof(payload); i++)
			assert_int_equal(payload[i], 0xee);
		assert_int_equal(payload[OFFSET - 1], 0xee);
	}
}

static void pack_left(unsigned char *packed, int32_t *value, const char *text)
{
	struct call_pack pack_;

	call_pack_begin(&pack_, packed, true);
	CALL_UNSIGNED(7, "", 4)
	CALL_OUTPUT(value, "", INT, 4)
	CALL_TEXT(text, "", 8)
}

TEST(test_call_values__of_a_call_that_succeeded__have_what_it_left)
{
	const uint32_t bytes = call_value_bytes(&left, left.count);
	unsigned char packed[CALL_PACKED_BYTES];
	uint64_t payload[(OFFSET + CALL_PACKED_BYTES) / 8];
	struct rtl_text place;
	int32_t value = -3;

	pack_left(packed, &value, NULL);
	call_values_put(&left, packed, bytes, false, payload, OFFSET, &place);
	assert_int_equal(payload[2], 0); /* as they were passed */
	assert_int_equal(payload[3], 7);
	assert_int_equal(payload[4], (uintptr_t)&value);
	call_values_put(&left, packed, bytes, true, payload, OFFSET, &place);
	assert_int_equal(payload[2], (uint64_t)RTL_VALUE_FOLLOWED << 2);
	assert_int_equal((int32_t)payload[4], -3);
	pack_left(packed, NULL, NULL);
	call_values_put(&left, packed, bytes, true, payload, OFFSET, &place);
	assert_int_equal(payload[2], 0);
	assert_int_equal(payload[4], 0);
}

TEST(test_call_values__with_texts__have_them_behind_the_values_as_far_as_they_fit)
{
	const uint32_t bytes = call_value_bytes(&texts, texts.count);
	unsigned char packed[CALL_PACKED_BYTES];
	uint64_t payload[(OFFSET + CALL_PACKED_BYTES + 64) / 8];
	struct call_values values;
	struct rtl_text place, text;
	int32_t value = 9;

	pack_left(packed, &value, "a text");
	assert_int_equal(call_values_read(&values, &texts, bytes, packed, true), bytes + 6);
	call_values_fill(&values, payload, OFFSET, &place);
	assert_int_equal(payload[2], RTL_VALUE_FOLLOWED << 2 | RTL_VALUE_FOLLOWED << 4);
	memcpy(&text, &payload[5], sizeof(text));
	assert_int_equal(text.length, 6);
	assert_memory_equal((char *)payload + text.offset, "a text", 6);

	/* Empty, of a call that failed. */
	pack_left(packed, &value, "");
	assert_int_equal(call_values_read(&values, &texts, bytes, packed, false), bytes);
	call_values_fill(&values, payload, OFFSET, &place);
	assert_int_equal(payload[2], RTL_VALUE_FOLLOWED << 4);

	/* No room for the text, then none for its address either. */
	pack_left(packed, &value, "a text");
	(void)call_values_read(&values, &texts, bytes, packed, false);
	assert_int_equal(call_values_fit(&values, bytes), bytes);
	call_values_fill(&values, payload, OFFSET, &place);
	assert_int_equal(payload[2], 0);
	payload[5] = 0x1234;
	assert_int_equal(call_values_fit(&values, bytes - 1), bytes - 8);
	call_values_fill(&values, payload, OFFSET, &place);
	assert_int_equal(place.length, bytes - 8);
	assert_int_equal(payload[2], 0);
	assert_int_equal(payload[5], 0x1234);
}

RUN_TESTS(NULL, NULL, NULL, NULL)
