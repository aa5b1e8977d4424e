/* SPDX-License-Identifier: MIT */
/* The list of what was found: see doctor.h. */
#include "doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void doctor_fini(struct doctor *doctor)
{
	for (size_t i = 0; i < doctor->count; i++) {
		free(doctor->findings[i].text);
		free(doctor->findings[i].remedy);
	}
	free(doctor->findings);
	for (size_t i = 0; i < doctor->process_count; i++)
		free(doctor->processes[i].program);
	free(doctor->processes);
	for (size_t i = 0; i < doctor->child_count; i++)
		free(doctor->children[i]);
	free(doctor->losses);
}

void doctor_section(struct doctor *doctor, const char *section)
{
	doctor->section = section;
}

void doctor_add(struct doctor *doctor, enum doctor_level level, const char *check,
		const char *remedy, const char *format, ...)
{
	struct doctor_finding *findings =
		reallocarray(doctor->findings, doctor->count + 1, sizeof(*findings));
	struct doctor_finding finding = {
		.level = level, .section = doctor->section, .check = check};
	va_list list;

	if (findings)
		doctor->findings = findings;
	va_start(list, format);
	if (vasprintf(&finding.text, format, list) < 0)
		finding.text = NULL;
	va_end(list);
	if (remedy)
		finding.remedy = strdup(remedy);
	if (findings && finding.text && (!remedy || finding.remedy)) {
		findings[doctor->count++] = finding;
		return;
	}
	doctor->failed = true;
	free(finding.text);
	free(finding.remedy);
}

void doctor_fault_line(struct doctor *doctor, const char *check, const char *line,
		       const char *remedy)
{
	const char *semicolon = strstr(line, "; ");
	int length = semicolon ? (int)(semicolon - line) : (int)strlen(line);

	doctor_fault(doctor, check, semicolon ? semicolon + 2 : remedy, "%.*s", length, line);
}
