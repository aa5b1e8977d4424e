/* SPDX-License-Identifier: MIT */
/* For database_summarize: what calls of HIP caused, and ranges of roctx. */
#ifndef RTL_CLI_SUMMARIZE_CAUSES_H
#define RTL_CLI_SUMMARIZE_CAUSES_H

struct database;
struct summary;

/* How long GPUs took to begin what calls had launched, ranges, and how much work is linked to no
 * call; nothing of what the database does not have. 0, or not 0: said. */
int summarize_causes(struct database *database, struct summary *summary);

#endif
