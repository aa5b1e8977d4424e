/* SPDX-License-Identifier: MIT */
/*
 * record.h: numbers as they stand in SQLite's files: sqlite.org/fileformat.html#record_format
 *
 * Any thread.
 */
#ifndef RTL_SQLITE_RECORD_H
#define RTL_SQLITE_RECORD_H

#include <stdint.h>
#include <string.h>

#define RECORD_SLACK 8u /* behind a number that is written as a whole word */

static inline void put_u16(unsigned char *at, uint32_t value)
{
	at[0] = (unsigned char)(value >> 8);
	at[1] = (unsigned char)value;
}

static inline void put_u32(unsigned char *at, uint32_t value)
{
	put_u16(at, value >> 16);
	put_u16(at + 2, value);
}

static inline uint32_t get_u16(const unsigned char *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static inline uint32_t get_u32(const unsigned char *at)
{
	return get_u16(at) << 16 | get_u16(at + 2);
}

/* Seven bits a byte, the highest first; a ninth byte has eight. */
static inline unsigned char *put_varint(unsigned char *at, uint64_t value)
{
	unsigned length;

	if (value < 0x80) {
		*at = (unsigned char)value;
		return at + 1;
	}
	if (value >> 56) {
		at[8] = (unsigned char)value;
		value >>= 8;
		for (int i = 7; i >= 0; i--, value >>= 7)
			at[i] = (unsigned char)(value | 0x80);
		return at + 9;
	}
	length = (70 - (unsigned)__builtin_clzll(value)) / 7;
	at[length - 1] = (unsigned char)(value & 0x7f);
	for (unsigned i = length - 1; i-- > 0;)
		at[i] = (unsigned char)((value >>= 7) | 0x80);
	return at + length;
}

/* Bytes of a number, by the serial type. */
static const unsigned char number_bytes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};

/* Serial types of numbers by how many bits they have without the sign. */
static const unsigned char types_by_bits[64] = {
	[2 ... 7] = 1,   [8 ... 15] = 2,  [16 ... 23] = 3,
	[24 ... 31] = 4, [32 ... 47] = 5, [48 ... 63] = 6,
};

/* The serial type of an integer. */
static inline unsigned record_int_type(int64_t value)
{
	const uint64_t size = (uint64_t)(value ^ value >> 63);
	const unsigned bits = size ? 64 - (unsigned)__builtin_clzll(size) : 0;

	return bits > 1 ? types_by_bits[bits] : value < 0 ? 1 : 8 + (unsigned)value;
}

/* The lowest `size` bytes, 0 to 8. Writes RECORD_SLACK bytes. */
static inline unsigned char *put_bits(unsigned char *at, uint64_t bits, unsigned size)
{
	/* of none, what is written is written over */
	bits = __builtin_bswap64(bits << ((64 - 8 * size) & 63));
	memcpy(at, &bits, sizeof(bits));
	return at + size;
}

#endif
