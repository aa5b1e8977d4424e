/* SPDX-License-Identifier: MIT */
/* hip_next_main: dlsym(RTLD_NEXT) means what is behind the library that calls it, also when it goes
 * through a preloaded dlsym. Linked to two libraries of hip_next.c, 1 before 2. */
#include <stdio.h>

int hip_next_number(void);
int hip_next_ask_1(void);
int hip_next_ask_2(void);

int main(void)
{
	const int first = hip_next_number(), one = hip_next_ask_1(), two = hip_next_ask_2();

	printf("first %d, behind the first %d, behind the second %d\n", first, one, two);
	return first != 1 || one != 2 || two != 0;
}
