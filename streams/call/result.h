/* SPDX-License-Identifier: MIT */
/* Of a result, by its kind (table.py), the number that is recorded. */
#ifndef STREAMS_CALL_RESULT_H
#define STREAMS_CALL_RESULT_H

#include <stdint.h>

#define CALL_RESULT_e(result) (int64_t)(result)
#define CALL_RESULT_i(result) (int64_t)(result)
#define CALL_RESULT_a(result) (int64_t)(uintptr_t)(result)
#define CALL_RESULT_s(result) ((void)(result), 0)

#endif
