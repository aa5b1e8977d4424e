/* SPDX-License-Identifier: MIT */
/* reading.h: what readers of the formats share. Threads: definitions.h. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct reading {
	FILE *list; /* that is written */
	char *message;
	size_t message_size;
};

/* Writes the line; false. */
bool reading_fail(struct reading *reading, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A whole file, to be freed. NULL after a line. */
char *reading_text(struct reading *reading, const char *path);

/* A definition as a list has it, behind its GPUs, to be freed. NULL: out of memory. */
char *reading_line(const char *name, const char *block, const char *event_or_expression,
		   const char *unit, const char *description);

/* Whether an event is a number. */
bool reading_is_number(const char *text);

/* Write the definitions. False after a line. */
bool reading_xml(struct reading *reading, const char *path);
bool reading_yaml(struct reading *reading, const char *text, const char *path);
