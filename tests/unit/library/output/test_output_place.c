/* SPDX-License-Identifier: MIT */
/* Unit tests of output_open, alone and in libstats_sub.so: this program's open() stands before the C library's. */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "fake_host.h"
#include "output_place.h"
#include "unit.h"

#define SOMEBODY 65534

struct place {
	char folder[64], path[128], other[128]; /* other: what somebody wants to have written */
};

/* What happens once, right before a file of that name is opened. */
static struct {
	const struct place *place;
	void (*fn)(const struct place *place);
} before_open;

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (before_open.fn && strcmp(path, before_open.place->path) == 0) {
		before_open.fn(before_open.place);
		before_open.fn = NULL;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	strcpy(place->folder, "/tmp/rtl-test-place-XXXXXX");
	if (!mkdtemp(place->folder) || chmod(place->folder, 01777))
		return -1;
	snprintf(place->path, sizeof(place->path), "%s/out", place->folder);
	snprintf(place->other, sizeof(place->other), "%s/other", place->folder);
	before_open.fn = NULL;
	before_open.place = place;
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;

	unlink(place->path);
	unlink(place->other);
	rmdir(place->folder);
	free(place);
	return 0;
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static off_t size_of_file(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? -1 : st.st_size;
}

/* Only root can make files of others. */
static void put_link(const struct place *place)
{
	assert_int_equal(symlink(place->other, place->path), 0);
	assert_int_equal(lchown(place->path, SOMEBODY, SOMEBODY), 0);
}

static void need_root(void)
{
	if (geteuid() != 0)
		skip();
}

TEST_OF(test_open__nothing_there__is_made, const struct place *place)
{
	uid_t owner;
	int fd = output_open(place->path, O_WRONLY, &owner);

	assert_int_equal(fd, -1);
	assert_int_equal(errno, ENOENT);
	fd = output_open(place->path, O_WRONLY | O_CREAT, &owner);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "text", 4), 4);
	close(fd);
	fd = output_open(place->path, O_WRONLY | O_CREAT | O_EXCL, &owner);
	assert_int_equal(fd, -1);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(size_of_file(place->path), 4);
	fd = output_open(place->path, O_WRONLY | O_CREAT | O_TRUNC, &owner);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	assert_int_equal(size_of_file(place->path), 0);
}

TEST_OF(test_open__a_link_of_ones_own__is_followed, const struct place *place)
{
	uid_t owner;
	int fd;

	assert_int_equal(symlink(place->other, place->path), 0);
	fd = output_open(place->path, O_WRONLY | O_CREAT, &owner);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(size_of_file(place->other), 0);
}

TEST_OF(test_open__a_link_of_somebody_else__is_not_followed, const struct place *place)
{
	uid_t owner = 0;

	need_root();
	put_link(place);
	assert_int_equal(output_open(place->path, O_WRONLY | O_CREAT, &owner), OUTPUT_NOT_OURS);
	assert_int_equal(owner, SOMEBODY);
	assert_int_equal(size_of_file(place->other), -1);
}

TEST_OF(test_open__a_link_comes_after_the_look__is_not_followed, const struct place *place)
{
	uid_t owner = 0;

	need_root();
	before_open.fn = put_link;
	assert_int_equal(output_open(place->path, O_WRONLY | O_CREAT, &owner), OUTPUT_NOT_OURS);
	assert_null(before_open.fn);
	assert_int_equal(owner, SOMEBODY);
	assert_int_equal(size_of_file(place->other), -1);
}

/* As somebody can where the folder has no sticky bit. */
static void put_in_its_place(const struct place *place)
{
	assert_int_equal(unlink(place->path), 0);
	assert_int_equal(link(place->other, place->path), 0);
}

TEST_OF(test_open__another_file_comes_in_its_place__stays_as_it_is, const struct place *place)
{
	uid_t owner;

	write_file(place->path, "old");
	write_file(place->other, "precious");
	before_open.fn = put_in_its_place;
	assert_int_equal(output_open(place->path, O_WRONLY | O_CREAT | O_TRUNC, &owner),
			 OUTPUT_NOT_OURS);
	assert_null(before_open.fn);
	assert_int_equal(size_of_file(place->other), strlen("precious"));
}

TEST_OF(test_open__stdin_is_closed__does_not_take_its_number, const struct place *place)
{
	const int kept = dup(STDIN_FILENO);
	uid_t owner;
	int fd;

	close(STDIN_FILENO);
	fd = output_open(place->path, O_CREAT | O_WRONLY, &owner);
	assert_true(fd > STDERR_FILENO);
	close(fd);
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
	close(kept);
}

TEST_OF(test_stats__a_link_comes_after_the_look__is_not_followed, const struct place *place)
{
	struct fake_host *host = fake_host_create();
	char settings[160];

	need_root();
	snprintf(settings, sizeof(settings), "output=%s", place->path);
	before_open.fn = put_link;
	assert_true(fake_host_load(host, STATS_SUB, settings) < 0);
	assert_null(before_open.fn);
	assert_true(fake_host_reported(host, "user 65534 may have put it there"));
	assert_int_equal(size_of_file(place->other), -1);
	fake_host_destroy(host);
}

RUN_TESTS(setup, teardown, NULL, NULL)
