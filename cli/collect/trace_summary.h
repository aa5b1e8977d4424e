/* SPDX-License-Identifier: MIT */
/* Sums up what a source reads: the statistics subscriber's counting, over any trace. One thread. */
#ifndef RTL_CLI_TRACE_SUMMARY_H
#define RTL_CLI_TRACE_SUMMARY_H

struct database;
struct summary;

/** Counts the events of a trace. 0, or -1 after a line. */
int trace_summarize(const char *path, struct summary *summary);
/** The same of a database that is open, with what only it knows: whether it is still written, the work of
 *  SYCL's command groups. */
int database_summarize(struct database *database, struct summary *summary);

#endif
