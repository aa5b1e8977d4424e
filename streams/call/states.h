/* SPDX-License-Identifier: MIT */
/* STATES_ID of each function of the table: whether its arguments have states. For one file of each API, which has
 * defined CALL_TABLE, before pack.h. */
#include "counts.h"

#define CALL_ENUMERATION(...)

enum {
#define CALL_FUNCTION(id, name, symbol, category, ctype, kind, type, notes, parameters, names,     \
		      arguments)                                                                   \
	STATES_##id = CALL_HAS_STATES(arguments),
#define CALL_PROCEDURE CALL_FUNCTION
#include CALL_TABLE
#undef CALL_FUNCTION
#undef CALL_PROCEDURE
};

#include "no_kinds.h"
