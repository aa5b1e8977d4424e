/* SPDX-License-Identifier: MIT */
/* hip_static: a program that is linked statically, against nothing of HIP: no library can be preloaded. */
#include <stdio.h>

int main(void)
{
	printf("hip_static: ok\n");
	return 3;
}
