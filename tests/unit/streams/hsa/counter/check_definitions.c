/* SPDX-License-Identifier: MIT */
/* check_definitions FILE GFX...: reads a file of definitions for each GPU and compiles every metric; a line for each
 * that cannot be had. Exit status 1 if a GPU has nothing, or the file cannot be read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../streams/hsa/counter/metrics.h"
#include "definitions.h"

static int check(const char *file, const char *gfx)
{
	size_t counters = 0, metrics = 0, failed = 0;
	char message[512];
	char *list = definitions_list(*file ? file : NULL, message, sizeof(message));
	const struct counter_options options = {.list = list};
	struct counter_set *set =
		list ? counter_set_load(gfx, &options, message, sizeof(message)) : NULL;

	free(list);

	if (!set) {
		printf("%s\n", message);
		return 1;
	}
	for (size_t i = 0; i < counter_set_count(set); i++) {
		struct metric *metric =
			metric_compile(set, counter_set_at(set, i)->name, message, sizeof(message));
		if (!metric) {
			printf("%s\n", message);
			failed++;
		} else if (metric_is_counter(metric)) {
			counters++;
		} else {
			metrics++;
		}
		metric_destroy(metric);
	}
	printf("%s: %s: %zu counters, %zu metrics, %zu not\n", counter_set_source(set), gfx,
	       counters, metrics, failed);
	counter_set_destroy(set);
	return 0;
}

int main(int argc, char **argv)
{
	int status = 0;

	if (argc < 3)
		return fprintf(stderr, "usage: check_definitions FILE GFX...\n"), 2;
	for (int i = 2; i < argc; i++)
		status |= check(argv[1], argv[i]);
	return status;
}
