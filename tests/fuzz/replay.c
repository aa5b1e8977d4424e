/* SPDX-License-Identifier: MIT */
/* A main for targets without libFuzzer: runs each file, and each file of each folder, that it is
 * given, and every beginning of the small ones. Usage: TARGET PATH... */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

/* Inputs are tried as a whole, and cut off in so many places. */
#ifndef CUTS
#	define CUTS 16u
#endif
/* One input takes no longer, seconds. */
#define HANG_S 120

static unsigned inputs;

/* In memory of just that size: what reads behind it is found. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		exit(1);
	memcpy(copy, data, size);
	alarm(HANG_S);
	LLVMFuzzerTestOneInput(copy, size);
	alarm(0);
	free(copy);
	inputs++;
}

static int run_file(const char *path, size_t size)
{
	uint8_t *data = malloc(size + 1);
	FILE *file = fopen(path, "rb");

	if (!data || !file || fread(data, 1, size, file) != size) {
		fprintf(stderr, "%s cannot be read\n", path);
		return 1;
	}
	fclose(file);
	run(data, size);
	for (size_t cut = 0; cut < CUTS && size; cut++)
		run(data, size * cut / CUTS);
	free(data);
	return 0;
}

static int run_path(const char *path)
{
	char inner[4096];
	struct dirent *entry;
	struct stat st;
	int err = 0;
	DIR *dir;

	if (stat(path, &st)) {
		perror(path);
		return 1;
	}
	if (!S_ISDIR(st.st_mode))
		return run_file(path, (size_t)st.st_size);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (*entry->d_name != '.') {
			snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
			err |= run_path(inner);
		}
	if (dir)
		closedir(dir);
	return err;
}

int main(int argc, char **argv)
{
	int i, err = 0;

	for (i = 1; i < argc; i++)
		err |= run_path(argv[i]);
	printf("%u inputs\n", inputs);
	return err || !inputs;
}
