/* SPDX-License-Identifier: MIT */
/* Where `rtl list-streams` finds descriptions of streams. One thread. */
#ifndef RTL_CLI_STREAM_SOURCES_H
#define RTL_CLI_STREAM_SOURCES_H

#include <stdbool.h>

#include <rtl/types.h>

/** Is told of each stream; the description is valid during the call only. */
struct stream_sink {
	void (*add)(void *user, const struct rtl_stream_info *stream, const char *from);
	void *user;
};

/* All return CLI_OK, or an exit status after a line. */

/** What rtl's own libraries publish. Says so if the interceptors for ROCm are not installed. */
int streams_of_rtl(const struct stream_sink *sink);
/** A file or folder that the user has named: a library that describes its streams, a trace, a
 *  recording, or another folder with spools. */
int streams_of_path(const char *path, const struct stream_sink *sink);
/**
 * Those that a command registers, and the processes that it starts. It runs with its standard
 * output where its standard error goes; nothing is recorded.
 * @param[out] ended  how it ended, as waitpid gives it, if CLI_OK is returned
 */
int streams_of_command(char **command, const struct stream_sink *sink, int *ended);

#endif
