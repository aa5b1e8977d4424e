/* SPDX-License-Identifier: MIT */
/* The stream "rtl.diagnostics": rtl's own warnings and errors as events. */
#ifndef RTL_CORE_DIAGNOSTICS_H
#define RTL_CORE_DIAGNOSTICS_H

/* Registers the stream, once there is a host. */
void diagnostics_start(void);

#endif
