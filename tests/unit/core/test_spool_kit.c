/* SPDX-License-Identifier: MIT */
#include "test_spool_kit.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../fuzz/real_spool.h"

/* A replay that takes longer hangs, seconds. */
#define HANG_S 500

char kit_base[256], kit_real[512];

int kit_setup(void **state)
{
	const struct real_spool what = {
		.events = 400, .threads = 3, .filler = 20, .ring_bytes = "96K"};
	const char *tmp = getenv("TMPDIR");

	snprintf(kit_base, sizeof(kit_base), "%s/rtl-test-XXXXXX", tmp && *tmp ? tmp : P_tmpdir);
	if (!mkdtemp(kit_base))
		return -1;
	return real_spool_make(&what, kit_base, READ_ALL_SUB, kit_real, sizeof(kit_real));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

int kit_teardown(void **state)
{
	kit_remove(kit_base);
	return 0;
}

void kit_remove(const char *folder)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *kit_file(const char *folder, const char *file)
{
	static char path[1024];

	snprintf(path, sizeof(path), "%s/rtl-spool-1/%s", folder, file);
	return path;
}

static void copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0600);
	struct stat st;

	assert_true(in >= 0 && out >= 0 && !fstat(in, &st));
	assert_int_equal(copy_file_range(in, NULL, out, NULL, (size_t)st.st_size, 0), st.st_size);
	close(in);
	close(out);
}

const char *kit_copy(const char *from, const char *name)
{
	static char folder[512];
	char source[1024], target[1024];
	struct dirent *entry;
	DIR *dir = opendir(from);

	assert_non_null(dir);
	snprintf(folder, sizeof(folder), "%s/%s", kit_base, name);
	mkdir(folder, 0700);
	snprintf(target, sizeof(target), "%s/rtl-spool-1", folder);
	assert_int_equal(mkdir(target, 0700), 0);
	while ((entry = readdir(dir)))
		if (*entry->d_name != '.') {
			snprintf(source, sizeof(source), "%s/%s", from, entry->d_name);
			snprintf(target, sizeof(target), "%s/rtl-spool-1/%s", folder,
				 entry->d_name);
			copy_file(source, target);
		}
	closedir(dir);
	return folder;
}

void kit_patch(const char *folder, const char *file, size_t offset, const void *data, size_t size)
{
	int fd = open(kit_file(folder, file), O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, size, (off_t)offset), (ssize_t)size);
	close(fd);
}

void kit_truncate(const char *folder, const char *file, size_t size)
{
	assert_int_equal(truncate(kit_file(folder, file), (off_t)size), 0);
}

size_t kit_size(const char *folder, const char *file)
{
	struct stat st;

	assert_int_equal(stat(kit_file(folder, file), &st), 0);
	return (size_t)st.st_size;
}

uint8_t *kit_read(const char *folder, const char *file, size_t *size)
{
	int fd = open(kit_file(folder, file), O_RDONLY);
	uint8_t *data;

	*size = kit_size(folder, file);
	data = malloc(*size + 1);
	assert_true(fd >= 0 && data);
	assert_int_equal(read(fd, data, *size), (ssize_t)*size);
	close(fd);
	return data;
}

/* ---- running */

void kit_child(void)
{
	static const int signals[] = {SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGSYS, SIGABRT};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_DFL);
	alarm(HANG_S);
}

static void collect(const char *folder, enum rtl_collector_kind kind)
{
	char subscriber[1024], message[512];
	char output[512];
	const bool record = kind == RTL_RECORD_RECOVER;
	const struct rtl_collector_options options = {.struct_size = sizeof(options),
						      .kind = kind,
						      .subscribers = record ? NULL : subscriber,
						      .output = record ? output : NULL,
						      .folder = folder};
	struct rtl_collector *collector;
	uint32_t left;
	int fd;

	snprintf(subscriber, sizeof(subscriber), "%s/err", kit_base);
	fd = open(subscriber, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(fd, STDERR_FILENO);
	close(fd);
	snprintf(subscriber, sizeof(subscriber), "%s?output=%s/out&twice=1", READ_ALL_SUB,
		 kit_base);
	snprintf(output, sizeof(output), "%s/recorded", kit_base);
	kit_child();
	if (rtl_collector_create(&options, &collector, message, sizeof(message))) {
		fprintf(stderr, "%s\n", message);
		_exit(3);
	}
	rtl_collector_poll(collector, 0);
	rtl_collector_finish(collector, &left);
	rtl_collector_destroy(collector);
	_exit(left ? 4 : 0);
}

static void read_out(struct outcome *outcome)
{
	unsigned long long n[4];
	char line[1024];
	FILE *file;

	snprintf(line, sizeof(line), "%s/out", kit_base);
	file = fopen(line, "r");
	while (file && fgets(line, sizeof(line), file)) {
		outcome->events +=
			!strncmp(line, "event " REAL_STREAM " ", 7 + strlen(REAL_STREAM));
		outcome->processes += !strncmp(line, "process ", 8);
		if (sscanf(line, "ledger " REAL_STREAM " %llu %llu %llu %llu", &n[0], &n[1], &n[2],
			   &n[3]) == 4)
			outcome->ledger = (struct rtl_ledger){.published = n[0],
							      .delivered = n[1],
							      .discarded = n[2],
							      .abandoned = n[3]};
	}
	if (file)
		fclose(file);
}

static void read_log(struct outcome *outcome)
{
	char line[1024];
	size_t used = 0;
	FILE *file;

	snprintf(line, sizeof(line), "%s/err", kit_base);
	file = fopen(line, "r");
	while (file && fgets(line, sizeof(line), file)) {
		outcome->lines++;
		outcome->damaged += strstr(line, "damaged") || strstr(line, "cannot be read");
		if (used + strlen(line) < sizeof(outcome->log))
			used += (size_t)sprintf(outcome->log + used, "%s", line);
	}
	if (file)
		fclose(file);
}

void kit_outcome(struct outcome *outcome)
{
	read_out(outcome);
	read_log(outcome);
	if (outcome->status)
		print_message("%s", outcome->log);
}

void kit_run(const char *folder, enum rtl_collector_kind kind, struct outcome *outcome)
{
	char out[512];
	pid_t pid;

	memset(outcome, 0, sizeof(*outcome));
	snprintf(out, sizeof(out), "%s/out", kit_base);
	unlink(out);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		collect(folder, kind);
	assert_int_equal(waitpid(pid, &outcome->status, 0), pid);
	kit_outcome(outcome);
}
