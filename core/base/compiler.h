/* SPDX-License-Identifier: MIT */
/* What the compiler is told on hot paths. */
#pragma once

#include <stdint.h>

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Orders our stores for a signal handler on this thread, and costs nothing. */
#define BARRIER() __asm__ volatile("" ::: "memory")

/* For variables that hot paths read: else the compiler supposes that another library has them, and loads their
 * address. */
#define HIDDEN __attribute__((visibility("hidden")))

#ifdef __has_feature
#	if __has_feature(thread_sanitizer)
#		define OWN_WORD_SANITIZED /* clang's way to say so */
#	endif
#elif defined(__SANITIZE_THREAD__)
#	define OWN_WORD_SANITIZED
#endif

/* For words that only one thread (and its signal handlers) writes: adds in one instruction instead of five. */
#if defined(__x86_64__) && !defined(OWN_WORD_SANITIZED)
/* A release, as each store of this processor is. The compiler moves nothing across it. */
#	define OWN_ADD(word, n, suffix)                                                           \
		__asm__ volatile("add" suffix " %1, %0" : "+m"(*(word)) : "i"(n) : "memory", "cc")
#else
#	define OWN_ADD(word, n, suffix)                                                           \
		do {                                                                               \
			__atomic_store_n(word, __atomic_load_n(word, __ATOMIC_RELAXED) + (n),      \
					 __ATOMIC_RELEASE);                                        \
			__atomic_signal_fence(__ATOMIC_SEQ_CST);                                   \
		} while (0)
#endif

static inline void own_count32(uint32_t *word)
{
	OWN_ADD(word, 1, "l");
}

static inline void own_count64(uint64_t *word)
{
	OWN_ADD(word, 1, "q");
}
