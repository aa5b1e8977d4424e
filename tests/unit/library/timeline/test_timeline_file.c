/* SPDX-License-Identifier: MIT */
/* Unit tests of file.h: what is in a file whose writer was killed after any number of pages. The system's pwrite is
 * stood in for by one that writes a page at a time, as the kernel does, and ends the process, or finds the disk full,
 * when it may not write more. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <zlib.h>

#include "file.h"
#include "unit.h"

#define HEAD  "[0"
#define TAIL  "\n]\n"
#define ITEMS 4000u

static long pages_left = -1; /* negative: no limit */
static bool disk_full;       /* else the process ends */

ssize_t pwrite(int fd, const void *from, size_t length, off_t offset)
{
	size_t done = 0;

	while (done < length) {
		const size_t page = 4096 - (size_t)(offset + (off_t)done) % 4096;
		const size_t n = length - done < page ? length - done : page;

		if (pages_left >= 0 && pages_left-- == 0) {
			if (!disk_full)
				_exit(9);
			pages_left = 0;
			errno = ENOSPC;
			return done ? (ssize_t)done : -1;
		}
		if (syscall(SYS_pwrite64, fd, (const char *)from + done, n, offset + (off_t)done) !=
		    (long)n)
			abort();
		done += n;
	}
	return (ssize_t)length;
}

/* Shared with the process that writes. */
static struct progress {
	uint32_t committed;
	uint64_t offset;
} * progress;

static char path[64];
static bool long_items; /* some are longer than a page: a write that is cut off may cut them */

/* ",\n" and the number, and blanks of which no two neighbours have as many. */
static void add_item(struct file *file, uint32_t i)
{
	char *to = file_room(file, 8192);
	const size_t pad = long_items && i % 997 == 0 ? 5000 : i * 7919 % 200;

	assert_non_null(to);
	file_take(file, (size_t)sprintf(to, ",\n{\"n\":%u,\"p\":\"%0*d\"}", i, (int)pad + 1, 0));
}

static void write_items(struct file *file, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		add_item(file, i);
		if (i % 61 == 0 || i % 1500 == 0) {
			file_commit(file);
			progress->offset = file->offset;
			progress->committed = i;
		}
	}
}

static void open_new(struct file *file, bool compressed)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_true(file_open(file, compressed, fd));
	memcpy(file_room(file, 16), HEAD, strlen(HEAD));
	file_take(file, strlen(HEAD));
	file_commit(file);
}

static char *slurp(size_t *length)
{
	const size_t most = (size_t)8 << 20;
	char *text = malloc(most + 1);
	gzFile f = gzopen(path, "r"); /* what is not compressed it reads as it is */
	int n = gzread(f, text, (unsigned)most);

	*length = n < 0 ? 0 : (size_t)n;
	text[*length] = '\0';
	gzclose(f);
	return text;
}

/* Checks that it is whole; returns the last item's number. */
static uint32_t check_whole(void)
{
	size_t length;
	char *text = slurp(&length), *at = text;
	unsigned last = 0, n;

	assert_int_equal(strncmp(at, HEAD, strlen(HEAD)), 0);
	at += strlen(HEAD);
	for (;;) {
		at += strspn(at, " \n");
		if (*at != ',')
			break;
		assert_int_equal(sscanf(at, ",\n{\"n\":%u,", &n), 1);
		assert_int_equal(n, last + 1);
		last = n;
		at = strchr(at, '}');
		assert_non_null(at);
		at++;
	}
	assert_int_equal(*at, ']');
	at++;
	at += strspn(at, " \n");
	assert_int_equal(at - text, length);
	free(text);
	return last;
}

static void write_in_child(bool compressed, long pages)
{
	pid_t pid;
	int status;

	memset(progress, 0, sizeof(*progress));
	pid = fork();
	if (pid == 0) {
		struct file file;

		open_new(&file, compressed);
		progress->offset = file.offset;
		pages_left = pages;
		write_items(&file, 1, ITEMS);
		file_finish(&file, TAIL, strlen(TAIL));
		_exit(file.error ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 9);
}

static void go_on(bool compressed)
{
	struct file file;

	assert_true(file_open(&file, compressed, open(path, O_RDWR)));
	assert_true(file_resume(&file, progress->offset));
	write_items(&file, progress->committed + 1, ITEMS);
	file_finish(&file, TAIL, strlen(TAIL));
	assert_int_equal(file.error, 0);
	file_close(&file);
	assert_int_equal(check_whole(), ITEMS - 1);
}

TEST(test_text__writer_ends_after_any_page__somebody_goes_on)
{
	long_items = true;
	for (long pages = 0; pages < 300; pages += 13) {
		write_in_child(false, pages);
		go_on(false);
	}
}

TEST(test_gzip__writer_ends_after_any_page__somebody_goes_on)
{
	for (long pages = 0; pages < 60; pages += 3) {
		write_in_child(true, pages);
		go_on(true);
	}
}

/* What lies behind the last whole write makes room for the tail. */
TEST(test_any__full_disk__an_error_and_closed)
{
	struct file file;

	disk_full = true;
	for (int compressed = 0; compressed < 2; compressed++)
		for (long pages = 1; pages < 4; pages++) {
			open_new(&file, compressed);
			pages_left = pages;
			for (uint32_t i = 1; i < ITEMS; i++)
				if (file_room(&file, 8192))
					add_item(&file, i);
			file_commit(&file);
			pages_left = -1;
			file_finish(&file, TAIL, strlen(TAIL));
			assert_int_equal(file.error, ENOSPC);
			file_close(&file);
			check_whole();
		}
	disk_full = false;
}

TEST(test_any__no_file__is_an_error)
{
	struct file file;

	assert_true(file_open(&file, false, open("/dev/null", O_RDONLY)));
	assert_false(file_resume(&file, 4096));
	file_close(&file);
}

static int setup(void **state)
{
	strcpy(path, "/tmp/test_timeline_file.XXXXXX");
	close(mkstemp(path));
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	return progress == MAP_FAILED;
}

static int teardown(void **state)
{
	unlink(path);
	return 0;
}

RUN_TESTS(NULL, NULL, setup, teardown)
