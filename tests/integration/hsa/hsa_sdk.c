/* SPDX-License-Identifier: MIT */
/*
 * hsa_sdk: stands where librocprofiler-sdk and a tool for it would, to be preloaded: has the two
 * functions by which librocprofiler-register knows them. Writes a line to the file HSA_SDK_MARK for
 * each set of tables that it is handed. Threads: in hsa_init. No locks.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority, void *id);
EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **tables, uint64_t count);

void *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority, void *id)
{
	return NULL;
}

int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
			      uint64_t count)
{
	const char *path = getenv("HSA_SDK_MARK");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (file) {
		fprintf(file, "%s %d\n", name, tables && tables[0] ? (int)count : -1);
		fclose(file);
	}
	return 0;
}
