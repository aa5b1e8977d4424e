/* SPDX-License-Identifier: MIT */
/* Makes the seed corpus from spools of a process that publishes events. Usage: seeds FOLDER */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rtl/collector.h>

#include "dict.h"
#include "image.h"
#include "real_spool.h"
#include "scratch.h"
#include "spool.h"

static const char *folder;

static void write_seed(const char *target, const char *name, const void *data, size_t size)
{
	char path[1024];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, target);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/%s/%s", folder, target, name);
	file = fopen(path, "wb");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file)) {
		perror(path);
		exit(1);
	}
}

/* The dictionary of a spool, for its reader: steps of 256 bytes and all at once. */
static void write_dict(int dir_fd, const char *name)
{
	static uint8_t data[65536];
	int fd = openat(dir_fd, "control", O_RDONLY | O_CLOEXEC);
	uint64_t length = 0;

	if (fd < 0 || pread(fd, &length, 8, offsetof(struct spool_control, dict_length)) != 8)
		exit(1);
	close(fd);
	fd = openat(dir_fd, "dict", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || length > sizeof(data) - 8 || read(fd, data + 8, length) != (ssize_t)length)
		exit(1);
	close(fd);
	data[0] = 3;
	write_seed("catalog", name, data, length + 8);
}

/* Programs and machines are nobody's business: their names become letters. */
static void forget_names(int dir_fd)
{
	int fd = openat(dir_fd, "dict", O_RDWR | O_CLOEXEC);
	struct dict_process process;
	char text[4096];
	off_t at = sizeof(process);

	if (fd < 0 || pread(fd, &process, sizeof(process), 0) != sizeof(process) ||
	    process.entry.kind != DICT_PROCESS)
		exit(1);
	memset(text, 'p', sizeof(text));
	for (size_t i = 0; i < 4; i++) {
		if (process.lengths[i] > sizeof(text) ||
		    pwrite(fd, text, process.lengths[i], at) != (ssize_t)process.lengths[i])
			exit(1);
		at += process.lengths[i] + 1;
	}
	close(fd);
}

static void write_spool(const char *path, const char *name)
{
	int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint8_t *data = NULL;
	size_t size = 0;

	if (dir_fd < 0)
		exit(1);
	forget_names(dir_fd);
	if (!strcmp(name, "small"))
		write_dict(dir_fd, name);
	image_pack(dir_fd, &data, &size);
	write_seed("spool", name, data, size);
	free(data);
	close(dir_fd);
}

/* The same as a recording. */
static void record(const char *path, const char *name)
{
	char output[512], message[256];
	const struct rtl_collector_options options = {.struct_size = sizeof(options),
						      .kind = RTL_RECORD_RECOVER,
						      .folder = path,
						      .output = output};
	struct rtl_collector *collector;
	uint32_t left;

	snprintf(output, sizeof(output), "%s/recorded", scratch);
	if (rtl_collector_create(&options, &collector, message, sizeof(message))) {
		fprintf(stderr, "%s\n", message);
		exit(1);
	}
	rtl_collector_finish(collector, &left);
	rtl_collector_destroy(collector);
	snprintf(output, sizeof(output), "%s/recorded/%s", scratch, strrchr(path, '/') + 1);
	write_spool(output, name);
}

static void make(const struct real_spool *what, const char *name, bool recorded)
{
	char path[512];

	if (real_spool_make(what, scratch, READ_ALL_SUB, path, sizeof(path))) {
		fprintf(stderr, "%s cannot be made\n", name);
		exit(1);
	}
	if (recorded)
		record(path, name);
	else
		write_spool(path, name);
}

static void write_texts(void)
{
	static const char wants[] = "\0\0\x10\x40"
				    "rtl.hsa 10 11 12\nt.real 10\nother\n";
	static const char spec[] = "libsqlite_sub.so?output=a%20b.db&links=no:./x.so?a=1&b=";
	static const char plugin[] = "output=&twice=1";
	static const char settings[] = "4M\n1G\ndiscard\n500";

	write_seed("session", "wants", wants, sizeof(wants) - 1);
	write_seed("spec", "list", spec, sizeof(spec) - 1);
	write_seed("spec", "settings", plugin, sizeof(plugin) - 1);
	write_seed("settings", "all", settings, sizeof(settings) - 1);
}

int main(int argc, char **argv)
{
	static const struct real_spool small = {
		.events = 6, .threads = 2, .filler = 5, .ring_bytes = "64K"};
	static const struct real_spool one = {.events = 1, .threads = 1, .ring_bytes = "64K"};
	static const struct real_spool empty = {.ring_bytes = "64K"};
	static const struct real_spool large = {
		.events = 3, .threads = 1, .filler = 700, .ring_bytes = "64K"};
	uint8_t bytes[512];

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", *argv);
		return 2;
	}
	folder = argv[1];
	scratch_init();
	mkdir(folder, 0777);
	make(&small, "small", false);
	make(&one, "one", false);
	make(&empty, "empty", false);
	make(&large, "large", false);
	make(&small, "recorded", true);
	write_texts();
	for (size_t i = 0; i < sizeof(bytes);
	     i++) /* texts of some letters, some types and fields */
		bytes[i] = (uint8_t)(i * 7 % 64);
	write_seed("describe", "some", bytes, sizeof(bytes));
	return 0;
}
