/* SPDX-License-Identifier: MIT */
/* Ends the meaning that a part of tables.h has given to the kinds of arguments; included for each. */
#undef CALL_ADDRESS
#undef CALL_UNSIGNED
#undef CALL_SIGNED
#undef CALL_FLOAT
#undef CALL_BOOL
#undef CALL_HANDLE
#undef CALL_TEXT
#undef CALL_ENUM
#undef CALL_OUTPUT
#undef CALL_OUTPUT_ENUM
