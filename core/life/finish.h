/* SPDX-License-Identifier: MIT */
/* The end of the process, as far as it is one in order. */
#ifndef RTL_CORE_FINISH_H
#define RTL_CORE_FINISH_H

/* Calls what rtl_at_finish has been given; afterwards the bus counts as finished. */
void finish_call(void);

#endif
