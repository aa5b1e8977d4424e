/* SPDX-License-Identifier: MIT */
/* See model.h: tables. Numbers stand in columns as wide as they need; names come last and get the rest of the line,
 * those that do not fit lose their middle, such that different ones look different. */
#include <ctype.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "model.h"

#define NAME_WANTED   36u /* a name gets that much before some numbers are shown, */
#define NAME_COLUMNS  20u /* and that much even where the line then is too long */
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

/* A row's name. */
struct label {
	const char *given, *name; /* as it is shown */
	char *own;                /* the same, to be freed, or NULL */
	size_t row, shared;
};

static int compare_labels(const void *a, const void *b)
{
	const struct label *x = a, *y = b;
	const int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->given, y->given);
}

static int compare_rows(const void *a, const void *b)
{
	return ((const struct label *)a)->row < ((const struct label *)b)->row ? -1 : 1;
}

/* How many bytes at its begin each name shares with that which is most like it, of those that were given another
 * one. There is an empty label behind the last. */
static void find_shared(struct label *labels, size_t count)
{
	qsort(labels, count, sizeof(*labels), compare_labels);
	/* Which is most like a name stands beside it and its equals. */
	for (size_t i = 0, next, before = 0; i < count;) {
		const char *name = labels[i].name, *like;
		size_t n = 0;

		for (next = i + 1; next < count && !strcmp(labels[next].given, labels[i].given);)
			next++;
		like = labels[next].name;
		while (like && name[n] && name[n] == like[n])
			n++;
		for (; i < next; i++)
			labels[i].shared = n > before ? n : before;
		before = n;
	}
	qsort(labels, count, sizeof(*labels), compare_rows);
}

/* ---- shorter names */

/* Where the bracket that closes at `end` opens; NULL: nowhere. */
static const char *open_of(const char *name, const char *end)
{
	unsigned depth = 0;

	for (const char *at = end; at >= name; at--) {
		if (*at == ')' || *at == '>' || *at == '}')
			depth++;
		if ((*at == '(' || *at == '<' || *at == '{') && !--depth)
			return at;
	}
	return NULL;
}

/* Namespaces, before each name in a name. */
static void drop_namespaces(char *name)
{
	static const char anonymous[] = "(anonymous namespace)";
	char *to = name;

	for (const char *at = name; (*to = *at);) {
		if (!strncmp(at, anonymous, strlen(anonymous))) {
			at += strlen(anonymous);
		} else if (strncmp(at, "::", 2) || (to > name && strchr(">)}", to[-1]))) {
			to++, at++;
		} else {
			while (to > name && (isalnum((unsigned char)to[-1]) || to[-1] == '_'))
				to--;
			at += 2;
		}
	}
}

/* A function's name without its result and its parameters, and one of Tensile's without what follows the problem and
 * the tile (Cijk_Alik_Bljk_HB_MT16x16x16); to be freed. NULL: it has none, or out of memory. */
static char *without_types(const char *name)
{
	const char *end = name + strlen(name), *at;
	const char *tile = strncmp(name, "Cijk_", 5) ? NULL : strstr(name, "_MT");

	if (tile)
		return strndup(name, (size_t)(tile - name) + 3 + strspn(tile + 3, "0123456789x"));
	if (end - name > 6 && !strcmp(end - 6, " const"))
		end -= 6;
	if (end == name || end[-1] != ')')
		return NULL;
	end = open_of(name, end - 1);
	if (!end || end == name)
		return NULL;
	for (at = end; at > name && *at != ' ';) {
		at = at[-1] == '>' || at[-1] == ')' || at[-1] == '}' ? open_of(name, at - 1)
								     : at - 1;
		if (!at)
			return NULL;
	}
	at += *at == ' ';
	return at < end ? strndup(at, (size_t)(end - at)) : NULL;
}

static bool continues_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

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

/* In at most `width` bytes, 20 or more; what comes after those that it shares is among them. */
static void print_name(FILE *file, const char *name, size_t width, size_t shared)
{
	const size_t length = strlen(name);
	size_t tail = (width - 3) / 2, head = width - 3 - tail;

	while (shared && continues_character(name[shared]))
		shared--;

	if (length <= width)
		return summary_print_bytes(file, name, length);
	/* Neither part tells it apart: make three, the middle one with the difference. */
	if (shared >= head && shared < length - tail) {
		const size_t middle = width - 2 * (width / 4) - 6;
		const size_t from = shared - middle / 4;

		head = tail = width / 4;
		if (from > head && from + middle < length - tail) {
			print_part(file, name, 0, head);
			fputs("...", file);
			print_part(file, name, from, from + middle);
			head = 0;
		} else {
			tail = width - 3 - head;
		}
	}
	print_part(file, name, 0, head);
	fputs("...", file);
	print_part(file, name, length - tail, length);
}

char *summary_cut_name(const char *name, unsigned columns, unsigned others)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	print_name(file, name, columns > others + NAME_COLUMNS ? columns - others : NAME_COLUMNS,
		   0);
	fclose(file);
	return text;
}

/* ---- tables ---- */

void summary_set(char cell[SUMMARY_CELL], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(cell, SUMMARY_CELL, format, arguments);
	va_end(arguments);
}

void summary_set_share(char cell[SUMMARY_CELL], uint64_t part, uint64_t whole)
{
	summary_set(cell, "%.1f%%", whole ? 100.0 * (double)part / (double)whole : 0.0);
}

/* How wide columns are; 0: not shown. Returns their sum, with the gaps. */
static size_t choose_widths(size_t widths[SUMMARY_CELLS], const struct summary_row *rows,
			    size_t count, const struct summary_table *table)
{
	const size_t gap = table->is_close ? 1 : 2;
	size_t used = 2 - gap, longest = 0; /* names stand 2 behind the last */

	for (size_t cell = 0; cell < SUMMARY_CELLS; cell++) {
		widths[cell] = 0;
		for (size_t i = 1; i < count; i++)
			if (strlen(rows[i].cells[cell]) > widths[cell])
				widths[cell] = strlen(rows[i].cells[cell]);
		if (widths[cell] && strlen(rows[0].cells[cell]) > widths[cell])
			widths[cell] = strlen(rows[0].cells[cell]);
		used += widths[cell] ? widths[cell] + gap : 0;
	}
	for (size_t i = 1; i < count; i++)
		if (rows[i].name && strlen(rows[i].name) > longest)
			longest = strlen(rows[i].name);
	longest = longest > NAME_WANTED ? NAME_WANTED : longest;
	for (size_t i = 0; i < table->dispensable_count && used + longest > table->columns; i++) {
		size_t *width = &widths[table->dispensable[i]];

		used -= *width ? *width + gap : 0;
		*width = 0;
	}
	return used;
}

static void print_row(FILE *file, const struct summary_row *row, const size_t widths[SUMMARY_CELLS],
		      const struct summary_table *table)
{
	const char *before = "";

	for (size_t cell = 0; cell < SUMMARY_CELLS; cell++) {
		const bool is_left = table->left >> cell & 1;
		const int width = is_left && !row->name ? 0 : (int)widths[cell];

		if (!widths[cell])
			continue;
		fprintf(file, "%s%*s", before, is_left ? -width : width, row->cells[cell]);
		before = table->is_close ? " " : "  ";
	}
}

/* Names that do not fit lose their types, and then namespaces, unless those told them apart. To be freed. */
static struct label *make_labels(const struct summary_row *rows, size_t count, size_t width)
{
	struct label *labels = calloc(count + 1, sizeof(*labels));

	if (!labels)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const char *given = rows[i].name ? rows[i].name : "";
		char *own = i && strlen(given) > width ? without_types(given) : NULL;

		if (own && strlen(own) > width)
			drop_namespaces(own);
		labels[i] = (struct label){given, own ? own : given, own, i, 0};
	}
	find_shared(labels, count);
	for (size_t i = 0; i < count; i++)
		if (labels[i].own && labels[i].shared == strlen(labels[i].own))
			labels[i].name = labels[i].given;
	find_shared(labels, count);
	return labels;
}

void summary_print_table(FILE *file, const struct summary_row *rows, size_t count,
			 const struct summary_table *table)
{
	size_t widths[SUMMARY_CELLS];
	const size_t used = choose_widths(widths, rows, count, table);
	const size_t width =
		table->columns > used + NAME_COLUMNS ? table->columns - used : NAME_COLUMNS;
	struct label *labels = make_labels(rows, count, width);

	for (size_t i = 0; labels && i < count; i++) {
		print_row(file, &rows[i], widths, table);
		if (*labels[i].name) {
			fputs("  ", file);
			print_name(file, labels[i].name, width, labels[i].shared);
		}
		fputc('\n', file);
		free(labels[i].own);
	}
	free(labels);
}
