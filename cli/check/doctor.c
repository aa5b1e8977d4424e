/* SPDX-License-Identifier: MIT */
/* What was found: see doctor.h. */
#include "doctor.h"

#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "embed.h"

/* RTL_CLI "/check/doctor.sh" is its path, by the build. */
EMBED(doctor_sh, RTL_CLI "/check/doctor.sh");

static const char *const levels[] = {"ok", "warning", "fault"};

#define FIELD_END  '\037'
#define RECORD_END '\036'

void doctor_fini(struct doctor *doctor)
{
	for (size_t i = 0; i < doctor->process_count; i++)
		free(doctor->processes[i].program);
	free(doctor->processes);
	close(doctor->facts);
}

void doctor_section(struct doctor *doctor, const char *section)
{
	snprintf(doctor->section, sizeof(doctor->section), "%s", section);
}

void doctor_add(struct doctor *doctor, enum doctor_level level, const char *check,
		const char *remedy, char *text)
{
	json_print(&doctor->view.json, "{section:%s check:%s level:%s text:%s remedy:%s}",
		   doctor->section, check, levels[level], text, remedy);
	doctor->counts[level]++;
	free(text);
}

void doctor_fault_line(struct doctor *doctor, const char *check, const char *line,
		       const char *remedy)
{
	const char *semicolon = strstr(line, "; ");
	int length = semicolon ? (int)(semicolon - line) : (int)strlen(line);

	doctor_fault(doctor, check, semicolon ? semicolon + 2 : remedy, "%.*s", length, line);
}

void doctor_add_fact(const struct doctor *doctor, const char *name, char *text)
{
	char *quoted = cli_quote(text);

	dprintf(doctor->facts, "%s=%s\n", name, quoted);
	free(quoted);
	free(text);
}

/* LEVEL, CHECK, TEXT and REMEDY, or a section. */
static void take(struct doctor *doctor, char *record)
{
	const char separators[] = {FIELD_END, RECORD_END, '\0'};
	char *level = strsep(&record, separators), *check = strsep(&record, separators);
	char *text = strsep(&record, separators), *remedy = strsep(&record, separators);

	if (!remedy)
		doctor_section(doctor, level);
	for (size_t i = 0; remedy && i < DOCTOR_LEVELS; i++)
		if (!strcmp(levels[i], level))
			doctor_add(doctor, (enum doctor_level)i, check, *remedy ? remedy : NULL,
				   cli_format("%s", text));
}

void doctor_script(struct doctor *doctor, const char *part)
{
	char *text = NULL, *record = NULL;
	size_t size = 0;
	FILE *out = NULL;

	if (asprintf(&text, "part=%s facts=/proc/$PPID/fd/%d\n%s", part, doctor->facts, doctor_sh) >
	    0)
		out = popen(text, "re");
	while (out && getdelim(&record, &size, RECORD_END, out) > 0)
		take(doctor, record);
	if (!out || pclose(out))
		doctor_fault(doctor, "doctor", "see what /bin/sh says on standard error",
			     "some checks could not be made");
	free(record);
	free(text);
}
