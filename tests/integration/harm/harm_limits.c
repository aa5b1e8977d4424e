/* SPDX-License-Identifier: MIT */
/*
 * harm_limits CASE: before its first events a program does this:
 *	standard closes its stdin, stdout and stderr, and prints all the same
 * or after them one of these:
 *	close   closes all files but the standard ones
 *	files   may open no files any more
 *	size    may make no large files
 *	memory  may map no more memory
 *	root    goes to another root
 *	user    gives up its rights
 * Then threads go on with events, and it writes a file of its own, which must have what it has
 * written. Prints "harm_limits: ok". Exit status 77: it may not do that here.
 */
#define PROGRAM "harm_limits"
#include "../../programs/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "harm_stream.h"

#define EVENTS 20000

static atomic_bool stop;
static struct rtl_stream *stream = &rtl_stream_none;

static void *publish(void *data)
{
	for (int i = 0; i < EVENTS; i++) {
		uint64_t id;
		char text[24];

		harm_publish(stream);
		if (i % 100 == 0) { /* the dictionary grows, too */
			snprintf(text, sizeof(text), "text %d", i);
			(void)rtl_string_intern(text, &id);
		}
	}
	return NULL;
}

static void limit(int what, rlim_t to)
{
	struct rlimit limit;

	CHECK(!getrlimit((__rlimit_resource_t)what, &limit));
	limit.rlim_cur = to;
	CHECK(!setrlimit((__rlimit_resource_t)what, &limit));
}

static rlim_t address_space(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	CHECK(file && fscanf(file, "%lu", &pages) == 1 && !fclose(file));
	return pages * 4096 + (64u << 20); /* the threads' stacks, and some */
}

static void may_not(int failed)
{
	if (failed) {
		printf("harm_limits: SKIPPED: %s\n", strerror(errno));
		exit(EXIT_SKIPPED);
	}
}

static void change(const char *how)
{
	char folder[] = "/tmp/harm-XXXXXX";

	if (!strcmp(how, "close")) {
		closefrom(3);
	} else if (!strcmp(how, "files")) {
		limit(RLIMIT_NOFILE, 4);
	} else if (!strcmp(how, "size")) {
		limit(RLIMIT_FSIZE, 65536);
	} else if (!strcmp(how, "memory")) {
		limit(RLIMIT_AS, address_space());
	} else if (!strcmp(how, "root")) {
		CHECK(mkdtemp(folder) && !chdir(folder) && !rmdir(folder));
		may_not(chroot("."));
	} else if (!strcmp(how, "user")) {
		may_not(setgid(65534) || setuid(65534));
	} else {
		fail("%s?", how);
	}
}

/* As printf and perror do it, also while another thread opens files. */
static void *print(void *data)
{
	const char text[4096] = "printed";

	while (!stop)
		for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
			CHECK(write(fd, text, sizeof(text)) < 0 && errno == EBADF);
	return data;
}

/* Descriptor 3 and others, which may have been rtl's, are the program's now. */
static void use_files(int *files, int count)
{
	for (int i = 0; i < count; i++) {
		files[i] = memfd_create("harm", MFD_CLOEXEC);
		CHECK(files[i] >= 0 && write(files[i], "mine", 4) == 4);
	}
}

static void check_files(const int *files, int count)
{
	struct stat st;
	char text[5] = "";

	for (int i = 0; i < count; i++) {
		CHECK(pread(files[i], text, 4, 0) == 4 && !strcmp(text, "mine"));
		CHECK(!fstat(files[i], &st) && st.st_size == 4);
	}
}

int main(int argc, char **argv)
{
	const bool standard = argc > 1 && !strcmp(argv[1], "standard");
	const bool closes = argc > 1 && !strcmp(argv[1], "close");
	pthread_t threads[8], printer;
	pthread_attr_t attributes;
	int files[8];

	CHECK(!pthread_attr_init(&attributes) && !pthread_attr_setstacksize(&attributes, 1u << 20));
	if (standard) {
		close_range(STDIN_FILENO, STDERR_FILENO, 0);
		CHECK(!pthread_create(&printer, &attributes, print, NULL));
	}
	CHECK(argc == 2 && !rtl_stream_register(&harm_stream_info, &stream));
	publish(NULL);
	/* nobody can help a program that closes a file which is just written to */
	if (closes)
		CHECK(!rtl_flush(60000));
	if (!standard)
		change(argv[1]);
	if (closes)
		use_files(files, 8);
	for (int i = 0; i < 8; i++)
		CHECK(!pthread_create(&threads[i], &attributes, publish, NULL));
	for (int i = 0; i < 8; i++)
		CHECK(!pthread_join(threads[i], NULL));
	if (standard) {
		stop = true;
		CHECK(!pthread_join(printer, NULL));
		use_files(files, 8);
	}
	publish(NULL);
	if (closes || standard)
		check_files(files, 8);
	printf("harm_limits: ok\n");
	return 0;
}
