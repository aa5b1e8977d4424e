/* SPDX-License-Identifier: MIT */
/* Finds and reads definitions of counters: see metrics.h and definitions.h. */
#include "definitions.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OWN_TABLE "rtl's own table"

/* own_table.yaml, with a 0 behind it. */
extern const char own_table[];

__asm__(".section .rodata\n"
	".hidden own_table\n"
	".globl own_table\n"
	".type own_table, @object\n"
	"own_table:\n"
	".incbin \"" RTL_OWN_TABLE "\"\n"
	".byte 0\n"
	".size own_table, . - own_table\n"
	".previous\n");

bool definitions_fail(struct counter_set *set, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (set->message_size)
		vsnprintf(set->message, set->message_size, format, args);
	va_end(args);
	return false;
}

bool definitions_number(const char *text, uint32_t *number)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; text[i] >= '0' && text[i] <= '9' && i < 10; i++)
		value = 10 * value + (uint64_t)(text[i] - '0');
	if (!i || text[i] || value > UINT32_MAX)
		return false;
	*number = (uint32_t)value;
	return true;
}

/* What a description says of its unit, where the file has no word for it. */
static const char *unit_of(const char *description)
{
	static const char *const phrases[][2] = {
		{"Unit: percent", "%"},         {"Unit: cycles", "cycles"},
		{"The percentage ", "%"},       {"Percentage ", "%"},
		{" kilobytes ", "KiB"},         {"Number of cycles ", "cycles"},
		{"number of cycles", "cycles"}, {"Tie High", "cycles"},
	};

	for (size_t i = 0; i < sizeof(phrases) / sizeof(*phrases); i++) {
		if (strstr(description, phrases[i][0]))
			return phrases[i][1];
	}
	return "";
}

bool definitions_add(struct counter_set *set, const struct counter_def *def)
{
	if (set->count == DEFINITIONS_MOST)
		return definitions_fail(set, "more than %u definitions for %s", DEFINITIONS_MOST,
					set->gfx);
	if (set->count == set->room) {
		size_t room = set->room ? 2 * set->room : 256;
		struct counter_def *list = reallocarray(set->list, room, sizeof(*list));
		if (!list)
			return definitions_fail(set, "out of memory");
		set->list = list;
		set->room = room;
	}
	set->list[set->count] = *def;
	if (!def->unit || !*def->unit)
		set->list[set->count].unit = unit_of(def->description);
	set->count++;
	return true;
}

bool definitions_keep(struct counter_set *set, char *text)
{
	char **texts = reallocarray(set->texts, set->text_count + 1, sizeof(*texts));

	if (!texts) {
		free(text);
		return definitions_fail(set, "out of memory");
	}
	texts[set->text_count++] = text;
	set->texts = texts;
	return true;
}

static char *read_file(struct counter_set *set, FILE *file, const char *path)
{
	size_t room = 64 << 10, size = 0;
	char *text = NULL;

	for (;;) {
		char *more = realloc(text, room + 1);
		if (!more) {
			definitions_fail(set, "out of memory");
			break;
		}
		text = more;
		size += fread(text + size, 1, room - size, file);
		if (ferror(file)) {
			definitions_fail(set, "cannot read %s: %s", path, strerror(errno));
			break;
		}
		if (size < room) {
			text[size] = '\0';
			if (strlen(text) == size)
				return text;
			definitions_fail(set, "%s is no text", path);
			break;
		}
		if (room == DEFINITIONS_FILE_BYTES) {
			definitions_fail(set, "%s is larger than definitions are", path);
			break;
		}
		room *= 2;
	}
	free(text);
	return NULL;
}

char *definitions_file(struct counter_set *set, const char *path)
{
	FILE *file = fopen(path, "re");
	char *text;

	if (!file) {
		definitions_fail(set, "cannot open %s: %s", path, strerror(errno));
		return NULL;
	}
	text = read_file(set, file, path);
	fclose(file);
	return text && definitions_keep(set, text) ? text : NULL;
}

bool definitions_are_xml(const char *text)
{
	for (;;) {
		text += strspn(text, " \t\r\n");
		if (*text != '#')
			return *text == '<';
		if (!strncmp(text, "#include \"", 10))
			return true;
		text += strcspn(text, "\n");
	}
}

/* ---- where they are ---- */

static bool read_one(struct counter_set *set, const char *path)
{
	char *text = definitions_file(set, path);

	if (!text)
		return false;
	return definitions_are_xml(text) ? definitions_read_xml(set, text, path)
					 : definitions_read_yaml(set, text, path);
}

static bool is_there(const char *path)
{
	return access(path, R_OK) == 0;
}

/* In a folder, the first that is there. */
static bool find_in(const char *folder, char *path, size_t size)
{
	static const char *const names[] = {
		"counter_defs.yaml",
		"config.yaml",
		"derived_counters.xml",
		"metrics.xml",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (snprintf(path, size, "%s/%s", folder, names[i]) < (int)size && is_there(path))
			return true;
	}
	return false;
}

/* Reads the definitions of one place, if it has any for the GPU. False after a line. */
static bool read_folder(struct counter_set *set, const char *folder)
{
	char *path = set->source;
	size_t length;

	if (!find_in(folder, path, sizeof(set->source)))
		return true;
	if (!read_one(set, path))
		return false;
	/* rocprofiler-sdk's derived ones of ROCm 6 do not include the others. */
	length = strlen(folder);
	if (!strcmp(path + length, "/derived_counters.xml")) {
		char basic[DEFINITIONS_PATH_BYTES + 32];
		snprintf(basic, sizeof(basic), "%s/basic_counters.xml", folder);
		if (is_there(basic))
			return read_one(set, basic);
	}
	return true;
}

static bool read_installed(struct counter_set *set)
{
	static const char *const places[] = {
		"share/rocprofiler-sdk",
		"lib/rocprofiler",
		"libexec/rocprofiler/counters",
	};
	const char *roots[] = {secure_getenv("ROCM_PATH"), "/opt/rocm", "/usr"};
	const char *named = secure_getenv("ROCPROFILER_METRICS_PATH");
	char folder[DEFINITIONS_PATH_BYTES];

	if (named && *named && !read_folder(set, named))
		return false;
	for (size_t r = 0; r < sizeof(roots) / sizeof(*roots); r++) {
		for (size_t p = 0; p < sizeof(places) / sizeof(*places) && !set->count; p++) {
			if (!roots[r] || !*roots[r])
				continue;
			if (snprintf(folder, sizeof(folder), "%s/%s", roots[r], places[p]) >=
			    (int)sizeof(folder))
				continue;
			if (!read_folder(set, folder))
				return false;
		}
	}
	return true;
}

static bool read_own(struct counter_set *set)
{
	char *text = strdup(own_table);

	if (!text)
		return definitions_fail(set, "out of memory");
	snprintf(set->source, sizeof(set->source), "%s", OWN_TABLE);
	return definitions_keep(set, text) && definitions_read_yaml(set, text, OWN_TABLE);
}

static bool read_all(struct counter_set *set, const char *file)
{
	static const char *const variables[] = {"RTL_COUNTERS_DEFINITIONS", "ROCP_METRICS"};

	for (size_t i = 0; !file && i < sizeof(variables) / sizeof(*variables); i++) {
		file = secure_getenv(variables[i]);
		file = file && *file ? file : NULL;
	}
	if (file) {
		snprintf(set->source, sizeof(set->source), "%s", file);
		if (!read_one(set, file))
			return false;
		return set->count ||
		       definitions_fail(set, "%s has no counters of %s", file, set->gfx);
	}
	if (!read_installed(set))
		return false;
	if (!set->count && !read_own(set))
		return false;
	return set->count || definitions_fail(set,
					      "no counters are known for %s: neither is a file of "
					      "definitions installed that "
					      "has it, nor does " OWN_TABLE
					      " (RTL_COUNTERS_DEFINITIONS names a file)",
					      set->gfx);
}

/* ---- the set ---- */

/* A family's events stand for its members where these count the same: of gfx9, Vega alone. */
static void set_names(struct counter_set *set, const char *gfx)
{
	static const char *const vega[] = {"gfx900", "gfx902", "gfx904",
					   "gfx906", "gfx909", "gfx90c"};
	size_t length = strcspn(gfx, ":");
	bool whole = false;

	snprintf(set->gfx, sizeof(set->gfx), "%.*s", (int)length, gfx);
	length = strlen(set->gfx);
	if (length > 5)
		snprintf(set->family, sizeof(set->family), "%.*s", (int)length - 2, set->gfx);
	if (strcmp(set->family, "gfx9") != 0)
		return;
	for (size_t i = 0; i < sizeof(vega) / sizeof(*vega); i++)
		whole |= !strcmp(set->gfx, vega[i]);
	if (!whole)
		set->family[0] = '\0';
}

static int compare(const void *a, const void *b)
{
	const struct counter_def *const *one = a, *const *other = b;
	int order = strcmp((*one)->name, (*other)->name);

	if (order)
		return order;
	return *one < *other ? -1 : *one > *other;
}

static bool sort(struct counter_set *set)
{
	size_t kept = 0;

	set->sorted = calloc(set->count, sizeof(struct counter_def *));
	if (!set->sorted)
		return definitions_fail(set, "out of memory");
	for (size_t i = 0; i < set->count; i++)
		set->sorted[i] = &set->list[i];
	qsort(set->sorted, set->count, sizeof(struct counter_def *), compare);
	for (size_t i = 0; i < set->count; i++) {
		if (!kept || strcmp(set->sorted[i]->name, set->sorted[kept - 1]->name) != 0)
			set->sorted[kept++] = set->sorted[i];
	}
	set->sorted_count = kept;
	return true;
}

static bool copy_properties(struct counter_set *set, const struct counter_options *options)
{
	if (!options->property_count)
		return true;
	set->properties = calloc(options->property_count, sizeof(*set->properties));
	if (!set->properties)
		return definitions_fail(set, "out of memory");
	for (size_t i = 0; i < options->property_count; i++) {
		char *name = strdup(options->properties[i].name);
		if (!name)
			return definitions_fail(set, "out of memory");
		set->properties[i].name = name;
		set->properties[i].value = options->properties[i].value;
		set->property_count++;
		if (!definitions_keep(set, name))
			return false;
	}
	return true;
}

struct counter_set *counter_set_load(const char *gfx, const struct counter_options *options,
				     char *message, size_t size)
{
	static const struct counter_options none;
	struct counter_set *set = calloc(1, sizeof(*set));

	if (!set) {
		if (size)
			snprintf(message, size, "out of memory");
		return NULL;
	}
	options = options ? options : &none;
	set->message = message;
	set->message_size = size;
	set->v1_expressions = options->v1_expressions;
	set_names(set, gfx);
	if (copy_properties(set, options) && read_all(set, options->file) && sort(set)) {
		set->message = NULL;
		set->message_size = 0;
		return set;
	}
	counter_set_destroy(set);
	return NULL;
}

void counter_set_destroy(struct counter_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->text_count; i++)
		free(set->texts[i]);
	free(set->texts);
	free(set->sorted);
	free(set->list);
	free(set->properties);
	free(set);
}

const char *counter_set_source(const struct counter_set *set)
{
	return set->source;
}

size_t counter_set_count(const struct counter_set *set)
{
	return set->sorted_count;
}

const struct counter_def *counter_set_at(const struct counter_set *set, size_t i)
{
	return i < set->sorted_count ? set->sorted[i] : NULL;
}

const struct counter_def *counter_find(const struct counter_set *set, const char *name)
{
	size_t low = 0, high = set->sorted_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, set->sorted[middle]->name);
		if (!order)
			return set->sorted[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}
