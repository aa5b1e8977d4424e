/* SPDX-License-Identifier: MIT */
/* See report_page.h. RTL_REPORT_PAGE is the file's path, by the build. */
#include "report_page.h"

#include "embed.h"

EMBED(report_page, RTL_REPORT_PAGE);
