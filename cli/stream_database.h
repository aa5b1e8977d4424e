/* SPDX-License-Identifier: MIT */
/* The descriptions of streams in a trace. One thread. */
#ifndef RTL_CLI_STREAM_DATABASE_H
#define RTL_CLI_STREAM_DATABASE_H

#include "stream_sources.h"

/** As those of stream_sources.h: what rtl_stream, rtl_type and rtl_field tell. */
int streams_of_database(const char *path, const struct stream_sink *sink);

#endif
