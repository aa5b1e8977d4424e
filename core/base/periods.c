/* SPDX-License-Identifier: MIT */
#include "periods.h"

bool periods_are_in(const struct periods *periods, uint64_t start_ns, uint64_t now_ns,
		    uint64_t *change_ns)
{
	const uint64_t whole = periods->delay_ns + periods->duration_ns;
	const uint64_t since = now_ns > start_ns ? now_ns - start_ns : 0;
	uint64_t begin, number;
	bool in;

	*change_ns = UINT64_MAX;
	if (!periods->duration_ns) {
		if (since < periods->delay_ns)
			*change_ns = start_ns + periods->delay_ns;
		return since >= periods->delay_ns;
	}
	number = since / whole;
	if (periods->repeat && number >= periods->repeat)
		return false;
	begin = number * whole;
	in = since - begin >= periods->delay_ns;
	*change_ns = start_ns + begin + (in ? whole : periods->delay_ns);
	return in;
}
