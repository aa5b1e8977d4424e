/* SPDX-License-Identifier: MIT */
#include "output_name.h"

#include "host.h"

#include <stdlib.h>
#include <unistd.h>

bool output_ends_in(const char *path, const char *suffix)
{
	const size_t length = strlen(path), n = strlen(suffix);

	return length > n && path[length - n - 1] != '/' && !strcmp(path + length - n, suffix);
}

bool output_needs_process(const char *pattern)
{
	for (const char *p = pattern; (p = strchr(p, '%')) && p[1]; p += 2)
		if (p[1] == 'p' || p[1] == 'e')
			return true;
	return false;
}

struct output_names output_names_here(struct output_names_room *room)
{
	ssize_t n = readlink("/proc/self/exe", room->program, sizeof(room->program) - 1);

	room->program[n > 0 ? n : 0] = '\0';
	memset(room->host_name, 0, sizeof(room->host_name));
	gethostname(room->host_name, sizeof(room->host_name) - 1);
	return (struct output_names){
		.pid = getpid(), .program = room->program, .host_name = room->host_name};
}

struct output_names output_names_of(const struct rtl_process *process)
{
	return (struct output_names){
		.pid = process->pid, .program = process->program, .host_name = process->host_name};
}

bool output_names_known(const struct rtl_host *host, const char *pattern,
			struct output_names_room *room, struct output_names *names)
{
	const struct rtl_process *first = host->process(host, 1);

	if (!first && output_needs_process(pattern) && !host_is(host, "process"))
		return false;
	*names = first ? output_names_of(first) : output_names_here(room);
	return true;
}

static const char *base_name(const char *path)
{
	path = path ? basename(path) : "";
	return *path ? path : "unknown";
}

/* As the launchers tell it; without one it is the only process. */
static const char *rank(void)
{
	static const char *const variables[] = {
		"OMPI_COMM_WORLD_RANK", "PMIX_RANK",    "PMI_RANK",
		"MV2_COMM_WORLD_RANK",  "SLURM_PROCID", "RANK",
	};

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return value;
	}
	return "0";
}

/* The value of a variable of which {NAME} may stand there, and where that ends. */
static const char *variable(const char **at)
{
	const char *end = **at == '{' ? strchr(*at, '}') : NULL, *value;
	char *name = end ? strndup(*at + 1, (size_t)(end - *at) - 1) : NULL;

	value = name ? getenv(name) : NULL;
	free(name);
	*at = end ? end + 1 : *at - 1;
	return value;
}

/* What stands for what is behind a percent sign, and where that ends; NULL: a variable that is not set, or, where
 * it does not move on, nothing that is known. */
static const char *meaning(const char **at, const struct output_names *names, char pid[16])
{
	switch (*(*at)++) {
	case 'p':
		snprintf(pid, 16, "%d", names->pid);
		return pid;
	case 'e':
		return base_name(names->program);
	case 'h':
		return base_name(names->host_name);
	case 'r':
		return rank();
	case 'q':
		return variable(at);
	case '%':
		return "%";
	default:
		(*at)--;
		return NULL;
	}
}

/* What comes of a pattern: a path; a pattern of glob(3), in which what differs from process to process is one; or a
 * pattern in which only that is left, and what is not known stands for itself. */
enum made { PATH, GLOB, PATTERN };

static void write_text(FILE *out, const char *text, enum made made, bool is_part)
{
	for (; *text; text++) {
		if (made == GLOB && strchr("*?[\\", *text))
			fputc('\\', out);
		if (made == PATTERN && *text == '%')
			fputc('%', out);
		fputc(is_part && *text == '/' ? '_' : *text, out);
	}
}

static int expand(const char *pattern, const struct output_names *names, enum made made,
		  char **path)
{
	const char *part = "", *sign = pattern;
	char *text = NULL, pid[16], one[2] = "";
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return RTL_ENOMEM;
	for (const char *p = pattern; *p && part;) {
		sign = p;
		one[0] = *p++;
		if (*one != '%') {
			write_text(out, one, made, false);
		} else if (made != PATH && (*p == 'p' || *p == 'e')) {
			if (made == PATTERN)
				fprintf(out, "%%%c", *p);
			else
				fputs(*p == 'p' ? "[0-9]*" : "*", out);
			p++;
		} else {
			part = meaning(&p, names, pid);
			if (!part && made == PATTERN && p == sign + 1)
				part = one;
			write_text(out, part ? part : "", made, true);
		}
	}
	if (fclose(out) || (!part && made != GLOB)) {
		free(text);
		if (!part && made == PATTERN)
			*path = strndup(sign, strcspn(sign, "}") + 1);
		return part ? RTL_ENOMEM : RTL_EINVAL;
	}
	*path = text;
	return 0;
}

char *output_glob(const char *pattern, const struct output_names *names)
{
	char *glob = NULL;

	(void)expand(pattern, names, GLOB, &glob);
	return glob;
}

int output_expand(const char *pattern, const struct output_names *names, char **path)
{
	return expand(pattern, names, PATH, path);
}

int output_pattern(const char *name, const struct output_names *names, char **pattern)
{
	return expand(name, names, PATTERN, pattern);
}
