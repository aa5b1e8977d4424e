/* SPDX-License-Identifier: MIT */
/* See model.h: names in a column, such that different ones look different. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "model.h"

#define COLUMNS_LEAST 40u
#define COLUMNS_WIDE  1000000u /* nobody has to see all of it at once */

unsigned summary_line_width(FILE *file, unsigned asked)
{
	const char *set = getenv("COLUMNS");
	const unsigned long columns = set ? strtoul(set, NULL, 10) : 0;
	struct winsize size;
	int fd = fileno(file);

	if (asked)
		return asked;
	if (columns >= COLUMNS_LEAST && columns < COLUMNS_WIDE)
		return (unsigned)columns;
	if (fd >= 0 && isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return COLUMNS_WIDE;
}

struct named {
	const char *name;
	size_t at;
};

static int compare_named(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static size_t shared_bytes(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

int summary_names_shared(const char *const *names, size_t count, size_t *shared)
{
	struct named *sorted = calloc(count + 1, sizeof(*sorted));

	if (!sorted)
		return RTL_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		sorted[i] = (struct named){names[i], i};
		shared[i] = 0;
	}
	/* Which is most like a name stands beside it. */
	qsort(sorted, count, sizeof(*sorted), compare_named);
	for (size_t i = 1; i < count; i++) {
		const size_t n = shared_bytes(sorted[i - 1].name, sorted[i].name);

		if (n > shared[sorted[i - 1].at])
			shared[sorted[i - 1].at] = n;
		shared[sorted[i].at] = n;
	}
	free(sorted);
	return 0;
}

static bool continues_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Prints bytes; what would upset a terminal becomes '?'. */
void summary_print_bytes(FILE *file, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		fputc((unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i], file);
}

/* Bytes from..to of a name, less what of its first and last character is cut off. */
static void print_part(FILE *file, const char *name, size_t from, size_t to)
{
	while (from < to && continues_character(name[from]))
		from++;
	while (to > from && continues_character(name[to]))
		to--;
	summary_print_bytes(file, name + from, to - from);
}

void summary_print_name(FILE *file, const char *name, size_t width, size_t shared)
{
	const size_t length = strlen(name);
	size_t tail = (width - 3) / 2, head = width - 3 - tail;

	if (length <= width) {
		summary_print_bytes(file, name, length);
		return;
	}
	/* Neither part tells it apart: make three, the middle one with the difference. */
	if (shared >= head && shared < length - tail) {
		const size_t middle = width - 2 * (width / 4) - 6;
		const size_t from = shared - middle / 4;

		head = tail = width / 4;
		if (from > head && from + middle < length - tail) {
			print_part(file, name, 0, head);
			fputs("...", file);
			print_part(file, name, from, from + middle);
			fputs("...", file);
			print_part(file, name, length - tail, length);
			return;
		}
		tail = width - 3 - head;
	}
	print_part(file, name, 0, head);
	fputs("...", file);
	print_part(file, name, length - tail, length);
}
