/* SPDX-License-Identifier: MIT */
/* Reads MessagePack: see msgpack.h. */
#include "msgpack.h"

#include <string.h>

enum kind { NONE, NUMBER, TEXT, ARRAY, MAP, OTHER };

/* One object's head: what it is, its number, length or count, and how many bytes follow. */
struct head {
	enum kind kind;
	uint32_t size;  /* of the head, bytes */
	uint64_t value; /* number; bytes of text and others; objects of an array, pairs of a map */
};

struct msgpack msgpack_at(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	return (struct msgpack){at, at + size};
}

static size_t left(const struct msgpack *reader)
{
	return reader->at ? (size_t)(reader->end - reader->at) : 0;
}

/* Types of one byte with a big-endian number behind: what they are, and how many bytes it has. */
static const struct {
	unsigned char first;
	unsigned char kind;
	unsigned char bytes;
	unsigned char more; /* of others: bytes beside the length */
} wide[] = {
	{0xc4, OTHER, 1, 0},  {0xc5, OTHER, 2, 0},  {0xc6, OTHER, 4, 0}, /* bin */
	{0xc7, OTHER, 1, 1},  {0xc8, OTHER, 2, 1},  {0xc9, OTHER, 4, 1}, /* ext */
	{0xcc, NUMBER, 1, 0}, {0xcd, NUMBER, 2, 0}, {0xce, NUMBER, 4, 0}, {0xcf, NUMBER, 8, 0},
	{0xd9, TEXT, 1, 0},   {0xda, TEXT, 2, 0},   {0xdb, TEXT, 4, 0},   {0xdc, ARRAY, 2, 0},
	{0xdd, ARRAY, 4, 0},  {0xde, MAP, 2, 0},    {0xdf, MAP, 4, 0},
};

/* Bytes that follow the first of types of a fixed size: nil, false, true, floats, signed numbers,
 * fixext. -1: another type. */
static int fixed_size(unsigned char first)
{
	static const signed char sizes[] = {
		/* c0 */ 0, -1, 0, 0, -1, -1, -1, -1, -1, -1, 4, 8, -1, -1, -1, -1,
		/* d0 */ 1, 2,  4, 8, 2,  3,  5,  9,  17,
	};

	if (first >= 0xe0)
		return 0; /* a small negative number */
	return first >= 0xc0 && first < 0xc0 + sizeof(sizes) ? sizes[first - 0xc0] : -1;
}

static struct head wide_head(const struct msgpack *reader)
{
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
		struct head head = {wide[i].kind, 1u + wide[i].bytes, 0};

		if (wide[i].first != reader->at[0])
			continue;
		if (head.size > left(reader))
			break;
		for (uint32_t b = 1; b < head.size; b++)
			head.value = head.value << 8 | reader->at[b];
		head.value += wide[i].more;
		return head;
	}
	return (struct head){NONE, 0, 0};
}

/* The head of the next object; NONE if there is none that is whole. */
static struct head next(const struct msgpack *reader)
{
	struct head head = {NONE, 1, 0};

	if (!left(reader))
		return head;
	const unsigned char first = reader->at[0];

	if (first < 0x80)
		head = (struct head){NUMBER, 1, first};
	else if (first < 0x90)
		head = (struct head){MAP, 1, first & 0x0f};
	else if (first < 0xa0)
		head = (struct head){ARRAY, 1, first & 0x0f};
	else if (first < 0xc0)
		head = (struct head){TEXT, 1, first & 0x1f};
	else if (fixed_size(first) >= 0)
		head = (struct head){OTHER, 1, (uint64_t)fixed_size(first)};
	else
		head = wide_head(reader);
	/* An object in a map or an array has a byte at least. */
	if (head.kind != NONE && head.kind != NUMBER && head.value > left(reader) - head.size)
		head.kind = NONE;
	return head;
}

/* Takes the head of the next object if it is of that kind; stops where there is none. */
static bool take(struct msgpack *reader, enum kind kind, uint64_t *value)
{
	const struct head head = next(reader);

	if (head.kind == NONE)
		msgpack_stop(reader);
	if (head.kind == NONE || head.kind != kind)
		return false;
	reader->at += head.size;
	*value = head.value;
	return true;
}

bool msgpack_map(struct msgpack *reader, uint32_t *pairs)
{
	uint64_t value;

	if (!take(reader, MAP, &value))
		return false;
	*pairs = (uint32_t)value;
	return true;
}

bool msgpack_array(struct msgpack *reader, uint32_t *count)
{
	uint64_t value;

	if (!take(reader, ARRAY, &value))
		return false;
	*count = (uint32_t)value;
	return true;
}

bool msgpack_text(struct msgpack *reader, struct msgpack_text *text)
{
	uint64_t value;

	if (!take(reader, TEXT, &value))
		return false;
	*text = (struct msgpack_text){(const char *)reader->at, (uint32_t)value};
	reader->at += value;
	return true;
}

bool msgpack_number(struct msgpack *reader, uint64_t *number)
{
	return take(reader, NUMBER, number);
}

void msgpack_skip(struct msgpack *reader)
{
	/* Objects still to come, no more than bytes: each step takes one at least. */
	for (uint64_t open = 1; open; open--) {
		const struct head head = next(reader);

		if (head.kind == NONE) {
			msgpack_stop(reader);
			return;
		}
		reader->at += head.size;
		if (head.kind == MAP)
			open += 2 * head.value;
		else if (head.kind == ARRAY)
			open += head.value;
		else if (head.kind != NUMBER)
			reader->at += head.value;
	}
}

bool msgpack_is(const struct msgpack_text *text, const char *constant)
{
	const size_t length = strlen(constant);

	return text->length == length && !memcmp(text->bytes, constant, length);
}
