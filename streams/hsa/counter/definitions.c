/* SPDX-License-Identifier: MIT */
/* Reads lists of definitions of counters: see metrics.h and program.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "program.h"

#define OWN_TABLE "rtl's own table"

__asm__(".section .rodata\n"
	".hidden counter_own_table\n"
	".globl counter_own_table\n"
	".type counter_own_table, @object\n"
	"counter_own_table:\n"
	".incbin \"" RTL_OWN_TABLE "\"\n"
	".byte 0\n"
	".size counter_own_table, . - counter_own_table\n"
	".previous\n");

bool counter_list_is(const char *text)
{
	return !strncmp(text, COUNTER_LIST_HEAD, strlen(COUNTER_LIST_HEAD));
}

static bool __attribute__((format(printf, 2, 3)))
fail(struct counter_set *set, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(set->message, set->message_size, format, args);
	va_end(args);
	return false;
}

/* A decimal number that fills the text. */
static bool read_number(const char *text, uint32_t *number)
{
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	*number = (uint32_t)value;
	return *text >= '0' && *text <= '9' && !*end && value <= UINT32_MAX;
}

static bool add(struct counter_set *set, const struct counter_def *def)
{
	struct counter_def *added;

	if (set->count == DEFINITIONS_MOST)
		return fail(set, "more than %u definitions for %s", DEFINITIONS_MOST, set->gfx);
	added = ARRAY_ADD(set->list, set->count);
	if (!added)
		return fail(set, "out of memory");
	*added = *def;
	return true;
}

/* ---- lists ---- */

bool text_has_name(const char *text, const char *name)
{
	const size_t length = strlen(name);

	while (text && length) {
		if (!strncmp(text, name, length) && (!text[length] || text[length] == '/'))
			return true;
		text = strchr(text, '/');
		text = text ? text + 1 : NULL;
	}
	return false;
}

/* A line behind its GPUs. */
static bool read_definition(struct counter_set *set, char *line)
{
	struct counter_def def = {.name = strsep(&line, "|")};

	def.block = strsep(&line, "|");
	def.expression = strsep(&line, "|");
	def.unit = strsep(&line, "|");
	def.description = strsep(&line, "|");
	if (!def.description)
		return fail(set, "%s: the definition of %s lacks something", set->source, def.name);
	if (!*def.block)
		def.block = NULL;
	else if (read_number(def.expression, &def.event))
		def.expression = NULL;
	else
		return fail(set, "%s: the event of %s is no number", set->source, def.name);
	return add(set, &def);
}

/* The first source that has the GPU, else its family. Writes to the text. */
static bool read_list(struct counter_set *set, char *text)
{
	bool own = false; /* the GPU's */
	char *line;

	while ((line = strsep(&text, "\n;"))) {
		const char *gpus = strsep(&line, "|");

		if (!line)
			continue;
		if (!strcmp(gpus, "source")) {
			if (set->count)
				break;
			snprintf(set->source, sizeof(set->source), "%s", strsep(&line, "|"));
			set->sums = line && !strcmp(line, "sums");
		} else if (text_has_name(gpus, set->gfx)) {
			if (!own)
				set->count = 0;
			own = true;
			if (!read_definition(set, line))
				return false;
		} else if (!own && text_has_name(gpus, set->family) &&
			   !read_definition(set, line)) {
			return false;
		}
	}
	if (set->count)
		return true;
	if (strcmp(set->source, OWN_TABLE) != 0)
		return fail(set, "%s has no counters of %s", set->source, set->gfx);
	return fail(set,
		    "no counters are known for %s: " OWN_TABLE " does not have it, and of ROCm's "
		    "definitions those that rtl finds are read by rtl (RTL_COUNTERS_DEFINITIONS "
		    "names others, rtl-list-counters(1))",
		    set->gfx);
}

/* A file's text, if it is a list. */
static char *list_in(struct counter_set *set, const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;

	if (!file) {
		fail(set, "cannot open %s: %s", path, strerror(errno));
		return NULL;
	}
	if (getdelim(&text, &room, '\0', file) < 0 || !counter_list_is(text)) {
		fail(set, "%s is no list of counters: `rtl list-counters --compile` makes one",
		     path);
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

static bool read_all(struct counter_set *set, const char *list)
{
	const char *named = list ? list : secure_getenv("RTL_COUNTERS_DEFINITIONS");

	if (named && *named && !counter_list_is(named))
		return (set->text = list_in(set, named)) && read_list(set, set->text);
	set->text = strdup(named && *named ? named : counter_own_table);
	return set->text ? read_list(set, set->text) : fail(set, "out of memory");
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

/* Of equal names that one comes first which does so in the text. */
static int compare(const void *a, const void *b)
{
	const struct counter_def *one = a, *other = b;
	const int order = strcmp(one->name, other->name);

	return order ? order : one->name < other->name ? -1 : one->name > other->name;
}

static void sort(struct counter_set *set)
{
	size_t kept = 0;

	qsort(set->list, set->count, sizeof(*set->list), compare);
	for (size_t i = 0; i < set->count; i++)
		if (!kept || strcmp(set->list[i].name, set->list[kept - 1].name) != 0)
			set->list[kept++] = set->list[i];
	set->count = kept;
}

static bool copy_properties(struct counter_set *set, const struct counter_options *options)
{
	if (!options->property_count)
		return true;
	set->properties = calloc(options->property_count, sizeof(*set->properties));
	if (!set->properties)
		return fail(set, "out of memory");
	set->property_count = options->property_count;
	memcpy(set->properties, options->properties,
	       options->property_count * sizeof(*set->properties));
	return true;
}

struct counter_set *counter_set_load(const char *gfx, const struct counter_options *options,
				     char *message, size_t size)
{
	static const struct counter_options none;
	struct counter_set *set = calloc(1, sizeof(*set));

	if (!set) {
		snprintf(message, size, "out of memory");
		return NULL;
	}
	options = options ? options : &none;
	set->message = message;
	set->message_size = size;
	set->v1_expressions = options->v1_expressions;
	set_names(set, gfx);
	if (copy_properties(set, options) && read_all(set, options->list)) {
		sort(set);
		return set;
	}
	counter_set_destroy(set);
	return NULL;
}

void counter_set_destroy(struct counter_set *set)
{
	if (!set)
		return;
	free(set->text);
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
	return set->count;
}

const struct counter_def *counter_set_at(const struct counter_set *set, size_t i)
{
	return i < set->count ? &set->list[i] : NULL;
}

static int compare_name(const void *name, const void *def)
{
	return strcmp(name, ((const struct counter_def *)def)->name);
}

const struct counter_def *counter_find(const struct counter_set *set, const char *name)
{
	return bsearch(name, set->list, set->count, sizeof(*set->list), compare_name);
}
