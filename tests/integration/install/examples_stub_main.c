/* SPDX-License-Identifier: MIT */
/* A program that uses docs/examples/stub_library.c: see examples.py. */
#include <stdint.h>
#include <stdio.h>

double matrix_multiply(uint64_t rows, uint64_t columns);

int main(void)
{
	printf("%g\n", matrix_multiply(2, 3));
	return 0;
}
