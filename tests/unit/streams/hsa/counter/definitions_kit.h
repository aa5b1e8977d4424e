/* SPDX-License-Identifier: MIT */
/* Definitions of counters for tests, read as `rtl` and a program read them. */
#pragma once

#include <sys/mman.h>

#include "../../streams/hsa/counter/metrics.h"
#include "definitions.h"
#include "unit.h"

static char message[512];

static void write_all(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static struct counter_set *load_file(const char *path, const char *gfx,
				     struct counter_options *options)
{
	char *list = definitions_list(path, message, sizeof(message));
	struct counter_set *set = NULL;

	options->list = list;
	if (list)
		set = counter_set_load(gfx, options, message, sizeof(message));
	free(list);
	return set;
}

static struct counter_set *try_load(const char *text, const char *gfx,
				    const struct counter_options *rest)
{
	struct counter_options options = rest ? *rest : (struct counter_options){0};
	struct counter_set *set;
	char path[64];
	int fd = memfd_create("definitions", MFD_CLOEXEC);

	write_all(fd, text);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	set = load_file(path, gfx, &options);
	close(fd);
	return set;
}

static struct counter_set *load(const char *text, const char *gfx)
{
	struct counter_set *set = try_load(text, gfx, NULL);

	if (!set)
		print_message("%s\n", message);
	assert_non_null(set);
	return set;
}

static const char sdk7[] = "rocprofiler-sdk:\n"
			   "  counters-schema-version: 1\n"
			   "  counters:\n"
			   "  - name: HITS # a comment\n"
			   "    description: 'What hits.\n"
			   "      It''s fast'\n"
			   "    properties: []\n"
			   "    definitions:\n"
			   "    - architectures:\n"
			   "      - gfx906\n"
			   "      block: TCC\n"
			   "      event: 20\n"
			   "    - architectures: [gfx90a, 'gfx942']\n"
			   "      block: TCC\n"
			   "      event: 17\n"
			   "  - name: MISSES\n"
			   "    description: >-\n"
			   "      What\n"
			   "      misses\n"
			   "\n"
			   "    definitions:\n"
			   "      - architectures:\n"
			   "          - gfx906\n"
			   "          - gfx90a\n"
			   "        block: TCC\n"
			   "        event: 22\n"
			   "  - name: Rate\n"
			   "    description: The percentage of requests\n"
			   "      that hit\n"
			   "    definitions:\n"
			   "    - architectures:\n"
			   "      - gfx906\n"
			   "      expression:\n"
			   "        100*reduce(HITS,sum)/\n"
			   "        (reduce(HITS,sum)+reduce(MISSES,sum))\n";

/* Whatever is set up on this machine. */
static int forget_environment(void **state)
{
	unsetenv("RTL_COUNTERS_DEFINITIONS");
	unsetenv("ROCP_METRICS");
	unsetenv("ROCPROFILER_METRICS_PATH");
	return 0;
}
