/* SPDX-License-Identifier: MIT */
#include "notes.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <rtl/collector.h>

#include "output_place.h"

static const struct {
	const char *key;
	size_t offset;
} members[] = {
	{"session", offsetof(struct notes, session)},
	{"mode", offsetof(struct notes, mode)},
	{"subscribers", offsetof(struct notes, subscribers)},
	{"database", offsetof(struct notes, database)},
	{"command", offsetof(struct notes, command)},
	{"recording", offsetof(struct notes, recording)},
};

#define MEMBERS (sizeof(members) / sizeof(*members))

static char **member(const struct notes *notes, size_t i)
{
	return (char **)((char *)(uintptr_t)notes + members[i].offset);
}

int notes_write(const char *folder, const struct notes *notes)
{
	char path[PATH_MAX];
	FILE *file;
	int error;

	snprintf(path, sizeof(path), "%s/" RTL_COLLECTOR_NOTES, folder);
	file = fopen(path, "we");
	if (!file)
		return errno;
	for (size_t i = 0; i < MEMBERS; i++)
		if (*member(notes, i))
			fprintf(file, "%s %s%c", members[i].key, *member(notes, i), 0);
	error = ferror(file) ? EIO : 0;
	return fclose(file) ? errno : error;
}

static void take_line(struct notes *notes, const char *line)
{
	for (size_t i = 0; i < MEMBERS; i++) {
		size_t length = strlen(members[i].key);
		if (strncmp(line, members[i].key, length) != 0 || line[length] != ' ')
			continue;
		free(*member(notes, i));
		*member(notes, i) = strdup(line + length + 1);
	}
}

int notes_read(const char *folder, struct notes *notes)
{
	char path[PATH_MAX], *line = NULL;
	struct stat st;
	size_t room = 0;
	FILE *file;

	*notes = (struct notes){.owner = geteuid()};
	snprintf(path, sizeof(path), "%s/" RTL_COLLECTOR_NOTES, folder);
	file = output_read(path, &st); /* somebody else may have made the folder */
	if (!file)
		return errno == ENOENT || errno == ENOTDIR ? 0 : errno;
	notes->owner = st.st_uid;
	while (getdelim(&line, &room, '\0', file) > 0)
		take_line(notes, line);
	free(line);
	fclose(file);
	return 0;
}

void notes_fini(struct notes *notes)
{
	for (size_t i = 0; i < MEMBERS; i++)
		free(*member(notes, i));
	*notes = (struct notes){0};
}
