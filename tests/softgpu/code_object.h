/* SPDX-License-Identifier: MIT
 *
 * Code objects: the name of a kernel from the address of its descriptor. The loader copies
 * a code object's segments, ELF header and dynamic symbols included, to one allocation.
 *
 * Threads: engine threads, while the code object is loaded. No locks.
 */
#pragma once

#include <stdint.h>

/* The (mangled) name without its ".kd", from malloc; NULL when there is none to be found. */
char *sg_code_object_kernel_name(uint64_t kernel_object);
