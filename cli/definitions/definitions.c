/* SPDX-License-Identifier: MIT */
/* Finds definitions of counters and makes lists of them: see definitions.h. */
#include "definitions.h"

#include <errno.h>
#include <metrics.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reading.h"

enum { PATH_BYTES = 4096 };

bool reading_fail(struct reading *reading, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reading->message, reading->message_size, format, args);
	va_end(args);
	return false;
}

char *reading_text(struct reading *reading, const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t length;

	if (!file) {
		reading_fail(reading, "cannot open %s: %s", path, strerror(errno));
		return NULL;
	}
	length = getdelim(&text, &room, '\0', file);
	if (ferror(file) || !text || (length > 0 && !text[length - 1])) {
		reading_fail(reading, "cannot read %s: %s", path,
			     ferror(file) ? strerror(errno) : "it is no text");
		free(text);
		text = NULL;
	} else if (length < 0) {
		*text = '\0';
	}
	fclose(file);
	return text;
}

bool reading_is_number(const char *text)
{
	const size_t length = strspn(text, "0123456789");

	return length && length < 10 && !text[length];
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

/* What a list has between its own characters. */
static void clean(char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == ';' || text[i] == '|')
			text[i] = ',';
		else if (text[i] == '\n' || text[i] == '\r' || text[i] == '\t')
			text[i] = ' ';
	}
}

char *reading_line(const char *name, const char *block, const char *event_or_expression,
		   const char *unit, const char *description)
{
	const char *fields[] = {name, block ? block : "", event_or_expression, unit,
				description ? description : ""};
	char *line = NULL;
	size_t size, begin = 0;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return NULL;
	if (!unit || !*unit)
		fields[3] = unit_of(fields[4]);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		fprintf(out, "%s%s", i ? "|" : "", fields[i]);
		if (fflush(out))
			break;
		clean(line + begin + (i > 0), size - begin - (i > 0));
		begin = size;
	}
	return fclose(out) ? free(line), NULL : line;
}

/* ---- where they are ---- */

static bool is_xml(const char *text)
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

/* goes_on: with the definitions of the file before. */
static bool read_file(struct reading *reading, const char *path, bool goes_on)
{
	char *text = reading_text(reading, path), *name = strdup(path);
	bool done = false;

	if (text && name && counter_list_is(text)) {
		done = fputs(text, reading->list) >= 0;
	} else if (text && name) {
		clean(name, strlen(name));
		if (!goes_on)
			fprintf(reading->list, "source|%s%s\n", name, is_xml(text) ? "|sums" : "");
		done = is_xml(text) ? reading_xml(reading, path)
				    : reading_yaml(reading, text, path);
	}
	free(name);
	free(text);
	return done;
}

/* In a folder, the first that is there. */
static bool read_folder(struct reading *reading, const char *folder)
{
	static const char *const names[] = {
		"counter_defs.yaml",
		"config.yaml",
		"derived_counters.xml",
		"metrics.xml",
	};
	char path[PATH_BYTES];
	size_t i = 0;

	for (; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		if (!access(path, R_OK))
			break;
	}
	if (i == sizeof(names) / sizeof(*names))
		return true;
	if (!read_file(reading, path, false))
		return false;
	/* rocprofiler-sdk's derived ones of ROCm 6 do not include the others. */
	snprintf(path, sizeof(path), "%s/basic_counters.xml", folder);
	if (strcmp(names[i], "derived_counters.xml") != 0 || access(path, R_OK))
		return true;
	return read_file(reading, path, true);
}

static bool read_installed(struct reading *reading)
{
	static const char *const places[] = {
		"share/rocprofiler-sdk",
		"lib/rocprofiler",
		"libexec/rocprofiler/counters",
	};
	const char *roots[] = {getenv("ROCM_PATH"), "/opt/rocm", "/usr"};
	const char *named = getenv("ROCPROFILER_METRICS_PATH");
	char folder[PATH_BYTES];

	if (named && *named && !read_folder(reading, named))
		return false;
	for (size_t r = 0; r < sizeof(roots) / sizeof(*roots); r++) {
		for (size_t p = 0; p < sizeof(places) / sizeof(*places); p++) {
			if (!roots[r] || !*roots[r])
				continue;
			snprintf(folder, sizeof(folder), "%s/%s", roots[r], places[p]);
			if (!read_folder(reading, folder))
				return false;
		}
	}
	return fputs(counter_own_table, reading->list) >= 0;
}

static bool read_all(struct reading *reading, const char *file)
{
	static const char *const variables[] = {"RTL_COUNTERS_DEFINITIONS", "ROCP_METRICS"};

	for (size_t i = 0; !file && i < sizeof(variables) / sizeof(*variables); i++) {
		file = getenv(variables[i]);
		file = file && *file ? file : NULL;
	}
	if (!file)
		return read_installed(reading);
	if (counter_list_is(file)) /* handed over by another rtl */
		return fputs(file, reading->list) >= 0;
	return read_file(reading, file, false);
}

char *definitions_list(const char *file, char *message, size_t size)
{
	struct reading reading = {.message = message, .message_size = size};
	char *list = NULL;
	size_t length;
	bool done;

	snprintf(message, size, "out of memory");
	reading.list = open_memstream(&list, &length);
	if (!reading.list)
		return NULL;
	fprintf(reading.list, COUNTER_LIST_HEAD "\n");
	done = read_all(&reading, file);
	if (!fclose(reading.list) && done)
		return list;
	free(list);
	return NULL;
}
