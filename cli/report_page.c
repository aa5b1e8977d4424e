/* SPDX-License-Identifier: MIT */
/* See report_page.h. RTL_REPORT_PAGE is the file's path, by the build. */
#include "report_page.h"

__asm__(".section .rodata\n"
	".globl report_page\n"
	".type report_page, @object\n"
	"report_page:\n"
	".incbin \"" RTL_REPORT_PAGE "\"\n"
	".byte 0\n"
	".size report_page, . - report_page\n"
	".previous\n");
