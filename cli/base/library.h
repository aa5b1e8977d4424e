/* SPDX-License-Identifier: MIT */
/* Where the libraries of this rtl are. One thread. */
#pragma once

#include <rtl/plugin.h>

/** The interceptors, beside librtl. */
#define LIBRARY_ROCM "librtl_rocm.so"

/** The XPTI framework, likewise, and the folder of links to it by upstream's names. */
#define LIBRARY_XPTI       "librtl_xpti.so"
#define LIBRARY_XPTI_LINKS "rtl/xpti"

/** The profiler plugin for RCCL, likewise. */
#define LIBRARY_RCCL "librtl_rccl.so"

/** Path of librtl as it is loaded, without symbolic links; to be freed. */
char *library_rtl(void);
/** Path of a file in librtl's folder, there or not; to be freed. */
char *library_beside_rtl(const char *name);
/** A loaded library's own function that describes its streams, not one of a library that it needs;
 *  NULL: there is none. */
rtl_publisher_streams_fn library_publisher(void *handle);
