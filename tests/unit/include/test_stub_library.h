/* SPDX-License-Identifier: MIT */
/* What the two libraries with a stub offer to test_stub_child: test_stub_library.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct stub_library {
	const char *stream;
	int (*register_stream)(void); /* the result of rtl_stream_register */
	bool (*available)(void);      /* of rtl_stub_available */
	bool (*second_found)(void);   /* what another file of the library sees of it */
	int (*publish)(int count);    /* that many signals; how many were committed */
	void (*mark)(void);           /* each kind of mark and region of rtl.default: 8 events */
	bool (*others_work)(void);    /* all that needs librtl, called once; it has to be there */
	bool (*others_absent)(void);  /* the same, and it must not be */
	void (*disabled)(uint64_t count); /* so many times a test for an event that nobody wants */
};

#ifdef __cplusplus
extern "C" {
#endif

const struct stub_library *stub_library_c(void);
const struct stub_library *stub_library_cpp(void);
/* Each library's own: test_stub_second.c. */
bool stub_second_found(void) __attribute__((visibility("hidden")));

#ifdef __cplusplus
}
#endif
