/* SPDX-License-Identifier: MIT */
/* The page of `rtl report`, report_page.html, around the data that is put into it. */
#ifndef RTL_CLI_REPORT_PAGE_H
#define RTL_CLI_REPORT_PAGE_H

/* Where in it the data goes. */
#define REPORT_PAGE_MARK "<!--rtl:data-->"

/* Ends with a 0. */
extern const char report_page[];

#endif
