/* SPDX-License-Identifier: MIT */
/*
 * call_args.h: the arguments of calls as texts in rocpd_ustring. A text is made once for each set
 * of values, as far as those are kept that came last. One thread.
 */
#ifndef RTL_SQLITE_CALL_ARGS_H
#define RTL_SQLITE_CALL_ARGS_H

#include <rtl/subscriber.h>
#include <stddef.h>
#include <stdint.h>

struct sub;
struct process;
struct call_args_kept;

/* All zero is an empty one. */
struct call_args {
	struct call_args_kept *kept; /* NULL: nothing */
};

/* The id of the text of an event's arguments. */
int64_t call_args_id(struct sub *sub, struct process *process, const struct rtl_event *event);
void call_args_fini(struct call_args *args);

#endif
