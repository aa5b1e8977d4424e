/* SPDX-License-Identifier: MIT */
/* Files that become part of the command. */
#pragma once

/** Defines `const char symbol[]`, the content of a file and a zero behind it. At file scope. */
#define EMBED(symbol, path)                                                                        \
	extern const char symbol[];                                                                \
	__asm__(".section .rodata\n"                                                               \
		".globl " #symbol "\n.hidden " #symbol "\n"                                        \
		".type " #symbol ", @object\n" #symbol ":\n"                                       \
		".incbin \"" path "\"\n"                                                           \
		".byte 0\n"                                                                        \
		".size " #symbol ", . - " #symbol "\n"                                             \
		".previous\n")
