/* SPDX-License-Identifier: MIT */
/* What `rtl trace` says when its command has ended. One thread. */
#ifndef RTL_CLI_TRACE_REPORT_H
#define RTL_CLI_TRACE_REPORT_H

#include "launch.h"

/** The subscribers were in this process. `status` as waitpid gives it. */
void trace_report_collected(struct launch *launch, int status);
/** They were in the command's processes. */
void trace_report_in_process(struct launch *launch, int status);
/** Takes away a trace in which there is nothing: the collector makes it before the command runs. */
void trace_remove_empty(struct launch *launch);

#endif
