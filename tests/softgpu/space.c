/* SPDX-License-Identifier: MIT */
#include "space.h"

#include <string.h>
#include <sys/mman.h>

#define TABLE_BYTES (SG_TABLE_PAGES * sizeof(int64_t))

_Atomic int64_t *_Atomic sg_space[SG_TABLES];

static _Atomic int64_t *table_of(uint64_t address)
{
	_Atomic int64_t *_Atomic *table = &sg_space[address >> SG_TABLE_SHIFT & (SG_TABLES - 1)];
	void *made;

	if (*table)
		return *table;
	made = mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (made == MAP_FAILED)
		return NULL;
	*table = made;
	return made;
}

bool sg_space_move(uint64_t address, uint64_t host, size_t bytes)
{
	const uint64_t end = address + bytes;
	const int64_t offset = (int64_t)(host - address);

	for (; address < end; address += 1u << SG_PAGE_SHIFT) {
		_Atomic int64_t *table = table_of(address);

		if (!table)
			return false;
		table[address >> SG_PAGE_SHIFT & (SG_TABLE_PAGES - 1)] = offset;
	}
	return true;
}

void sg_space_reset(void)
{
	for (unsigned int i = 0; i < SG_TABLES; i++)
		if (sg_space[i])
			memset((void *)sg_space[i], 0, TABLE_BYTES);
}
