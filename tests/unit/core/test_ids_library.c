/* SPDX-License-Identifier: MIT */
/* Built twice, with another build id each: a library with a call site. */
__attribute__((visibility("default"))) int call_site(void);

int call_site(void)
{
	return WHICH;
}
