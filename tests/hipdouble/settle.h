/* SPDX-License-Identifier: MIT */
/* Waits until HIP has reported work that has ended; its runtime's handler thread does so later. */
#pragma once

/* Not on the runtime's handler thread. */
void settle_reports(void);
