/* SPDX-License-Identifier: MIT */
/*
 * Unit tests of file.h: what is in a file whose writer was killed after any number of pages. The
 * system's pwrite is stood in for by one that writes a page at a time, as the kernel does, and ends
 * the process when it may not write more.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "file.h"

#define HEAD  "[0"
#define TAIL  "\n]\n"
#define ITEMS 4000u

static long pages_left = -1; /* negative: no limit */
static bool refuses_aio;

ssize_t pwrite(int fd, const void *from, size_t length, off_t offset)
{
	size_t done = 0;

	while (done < length) {
		const size_t page = 4096 - (size_t)(offset + (off_t)done) % 4096;
		const size_t n = length - done < page ? length - done : page;

		if (pages_left >= 0 && pages_left-- == 0)
			_exit(9);
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
	uint64_t offset, used;
} * progress;

static char path[64];
static bool long_items; /* some are longer than a page: a write that is cut off may cut them */

/* io_setup(2) fails in this process, as in a sandbox. */
static void refuse_aio(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

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
			file_set_tail(file, TAIL, strlen(TAIL));
			file_commit(file);
			file_place(file, &progress->offset, &progress->used);
			progress->committed = i;
		}
	}
}

static void open_new(struct file *file, enum file_kind kind)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_true(file_open(file, kind, fd));
	memcpy(file_room(file, 16), HEAD, strlen(HEAD));
	file_take(file, strlen(HEAD));
	file_set_tail(file, TAIL, strlen(TAIL));
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

static void write_in_child(enum file_kind kind, long pages)
{
	pid_t pid;
	int status;

	memset(progress, 0, sizeof(*progress));
	pid = fork();
	if (pid == 0) {
		struct file file;

		open_new(&file, kind);
		file_place(&file, &progress->offset, &progress->used);
		if (refuses_aio)
			refuse_aio();
		pages_left = pages;
		write_items(&file, 1, ITEMS);
		file_finish(&file, TAIL, strlen(TAIL));
		_exit(file.error ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 9);
}

/* The file has no tail until the first write has come to its end. */
static bool has_no_tail_yet(void)
{
	size_t length;
	char *text = slurp(&length);
	const bool without = !strchr(text, ']');

	free(text);
	return without;
}

static void test_text__writer_ends_after_any_page__file_is_whole(void **state)
{
	bool begun = false;

	(void)state;
	long_items = false;
	for (long pages = 0; pages < 260; pages += pages < 80 ? 1 : 9) {
		write_in_child(FILE_TEXT, pages);
		if (!begun && has_no_tail_yet())
			continue;
		begun = true;
		assert_true(check_whole() >= progress->committed);
	}
	assert_true(begun);
}

/* As where io_submit is refused: then the tail moves by two writes. */
static void test_text__no_io_submit__the_same_file(void **state)
{
	char *text, *other;
	size_t length, other_length;

	(void)state;
	long_items = true;
	write_in_child(FILE_TEXT, -1);
	text = slurp(&length);
	refuses_aio = true;
	write_in_child(FILE_TEXT, -1);
	refuses_aio = false;
	other = slurp(&other_length);
	assert_int_equal(length, other_length);
	assert_memory_equal(text, other, length);
	assert_int_equal(check_whole(), ITEMS - 1);
	free(text);
	free(other);
}

static void resume(enum file_kind kind)
{
	struct file file;
	const int fd = open(path, O_RDWR);

	assert_true(file_open(&file, kind, fd));
	assert_true(file_resume(&file, progress->offset, progress->used));
	file_set_tail(&file, TAIL, strlen(TAIL));
	file_commit(&file);
	assert_int_equal(check_whole(), progress->committed);
	write_items(&file, progress->committed + 1, ITEMS);
	file_finish(&file, TAIL, strlen(TAIL));
	assert_int_equal(file.error, 0);
	file_close(&file);
	assert_int_equal(check_whole(), ITEMS - 1);
}

static void test_text__writer_ends_after_any_page__somebody_goes_on(void **state)
{
	(void)state;
	long_items = true;
	for (long pages = 0; pages < 300; pages += 13) {
		write_in_child(FILE_TEXT, pages);
		resume(FILE_TEXT);
	}
}

static void go_on_in_child(long pages)
{
	const pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct file file;

		assert_true(file_open(&file, FILE_TEXT, open(path, O_RDWR)));
		pages_left = pages;
		assert_true(file_resume(&file, progress->offset, progress->used));
		file_set_tail(&file, TAIL, strlen(TAIL));
		/* all in one commit, for which the room must grow */
		for (uint32_t i = progress->committed + 1; i < ITEMS; i++)
			add_item(&file, i);
		file_commit(&file);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
}

static void test_text__who_goes_on_ends_after_any_page__file_is_whole(void **state)
{
	(void)state;
	long_items = false;
	for (long pages = 1; pages < 160; pages += pages < 40 ? 1 : 7) {
		write_in_child(FILE_TEXT, 60);
		go_on_in_child(pages);
		assert_true(check_whole() >= progress->committed);
	}
}

static void test_gzip__commits__each_is_whole(void **state)
{
	struct file file;

	(void)state;
	open_new(&file, FILE_GZIP);
	for (uint32_t i = 1; i < ITEMS; i += 100) {
		write_items(&file, i, i + 100);
		file_commit(&file);
		assert_int_equal(check_whole(), i + 99);
	}
	file_finish(&file, TAIL, strlen(TAIL));
	file_close(&file);
}

static void test_gzip__writer_ends_after_any_page__somebody_goes_on(void **state)
{
	(void)state;
	for (long pages = 0; pages < 60; pages += 3) {
		write_in_child(FILE_GZIP, pages);
		resume(FILE_GZIP);
	}
}

static void test_any__no_file__is_an_error(void **state)
{
	struct file file;

	(void)state;
	assert_true(file_open(&file, FILE_TEXT, open("/dev/null", O_RDONLY)));
	assert_false(file_resume(&file, 4096, 10));
	file_close(&file);
}

static int setup(void **state)
{
	(void)state;
	strcpy(path, "/tmp/test_timeline_file.XXXXXX");
	close(mkstemp(path));
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	return progress == MAP_FAILED;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text__writer_ends_after_any_page__file_is_whole),
		cmocka_unit_test(test_text__writer_ends_after_any_page__somebody_goes_on),
		cmocka_unit_test(test_text__who_goes_on_ends_after_any_page__file_is_whole),
		cmocka_unit_test(test_text__no_io_submit__the_same_file),
		cmocka_unit_test(test_gzip__commits__each_is_whole),
		cmocka_unit_test(test_gzip__writer_ends_after_any_page__somebody_goes_on),
		cmocka_unit_test(test_any__no_file__is_an_error),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
