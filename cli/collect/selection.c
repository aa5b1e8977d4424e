/* SPDX-License-Identifier: MIT */
#include "selection.h"

#include <signal.h>

#include "cli.h"
#include "pattern.h"
#include "session.h"

/* Room for a few of the largest events. */
#define LIMIT_LEAST 65536u
/* Of a flight recorder, if none is given. */
#define LIMIT_OF_LAST ((uint64_t)512 << 20)

static void add_line(char **list, const char *line)
{
	char *lines = cli_format("%s%s%s", cli_text(*list), *list ? "\n" : "", line);

	free(*list);
	*list = lines;
}

/* Whether it is a regular expression that the command's processes will understand. */
static int check_pattern(const char *who, const char *pattern)
{
	char why[128];
	regex_t regex;

	if (!*pattern)
		return cli_usage("%s: the regular expression is empty", who);
	if (!pattern_compile(&regex, pattern, why, sizeof(why)))
		return cli_usage("%s: '%s' is not a regular expression: %s", who, pattern, why);
	regfree(&regex);
	return CLI_OK;
}

static int check_range(const char *who, const char *name)
{
	return *name ? CLI_OK : cli_usage("%s: the name of the range is empty", who);
}

static int add(char **list, const char *value, const char *who,
	       int (*check)(const char *who, const char *value))
{
	int status = strchr(value, '\n') ? cli_usage("%s: a line break is not allowed", who)
					 : check(who, value);

	if (!status)
		add_line(list, value);
	return status;
}

int selection_add_pattern(void *list, const char *pattern)
{
	return add(list, pattern, "--kernel, --exclude", check_pattern);
}

int selection_add_range(void *list, const char *name)
{
	return add(list, name, "--range", check_range);
}

/* ---- variables ---- */

static const char *value_of(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value ? value : NULL;
}

/* What was given, or what the variable says, goes to the command. */
static int prepare_list(char **list, struct session *session, const char *variable,
			int (*check)(const char *who, const char *value))
{
	const char *value = *list ? NULL : value_of(variable);
	char *lines = value ? cli_need(strdup(value)) : NULL, *rest = lines, *line;
	int status = CLI_OK;

	while (!status && (line = strsep(&rest, "\n")))
		status = *line ? check(variable, line) : CLI_OK;
	free(lines);
	if (!status && value)
		add_line(list, value);
	if (!status && *list)
		session_set(session, variable, *list);
	return status;
}

bool selection_seconds(const char *text, uint64_t *ns)
{
	uint64_t unit = 1000000000, sum = 0;
	const char *at = text;

	for (; *at >= '0' && *at <= '9'; at++) {
		if (sum >= 1000000000u * unit)
			return false;
		sum = sum * 10 + (uint64_t)(*at - '0') * unit;
	}
	if (*at == '.')
		while (*++at >= '0' && *at <= '9')
			sum += (uint64_t)(*at - '0') * (unit /= 10);
	if (*at || at == text || !strcmp(text, "."))
		return false;
	*ns = sum;
	return true;
}

/* Seconds that were given, or that the variable says. */
static int take_seconds(const char **given, uint64_t *ns, const char *option, const char *variable)
{
	const char *who = *given ? option : variable;

	if (!*given)
		*given = value_of(variable);
	if (*given && !selection_seconds(*given, ns))
		return cli_usage("%s takes a number of seconds such as 10 or 0.5, not '%s'", who,
				 *given);
	return CLI_OK;
}

static int take_repeat(struct selection *selection)
{
	const char *value = value_of("RTL_REPEAT");

	if (selection->repeat == CLI_NOT_GIVEN && value && !cli_number(value, &selection->repeat))
		return cli_usage("RTL_REPEAT takes a number of periods, 0 without end, not '%s'",
				 value);
	if (selection->repeat == CLI_NOT_GIVEN)
		selection->repeat = 1;
	else if (selection->repeat != 1 && !(selection->delay_ns && selection->duration_ns))
		return cli_usage(
			"--repeat %u needs --delay and --duration, which define the periods",
			selection->repeat);
	return CLI_OK;
}

static int prepare_periods(struct selection *selection, struct session *session, bool in_process)
{
	char repeat[16];
	int status = take_seconds(&selection->delay, &selection->delay_ns, "--delay", "RTL_DELAY");

	if (!status)
		status = take_seconds(&selection->duration, &selection->duration_ns, "--duration",
				      "RTL_DURATION");
	if (!status && selection->duration && !selection->duration_ns)
		status = cli_usage("--duration 0: nothing would be recorded");
	if (!status)
		status = take_repeat(selection);
	if (status || !in_process)
		return status;
	snprintf(repeat, sizeof(repeat), "%u", selection->repeat);
	if (selection->delay)
		session_set(session, "RTL_DELAY", selection->delay);
	if (selection->duration)
		session_set(session, "RTL_DURATION", selection->duration);
	session_set(session, "RTL_REPEAT", repeat);
	return CLI_OK;
}

/* A number of bytes, with K, M, G or T behind it; 0: not one. */
static uint64_t parse_size(const char *text)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;
	unsigned long long n = strtoull(text, &end, 10);
	unsigned shift = 0;

	if (end == text || *text == '-')
		return 0;
	if (*end && (unit = strchr(units, *end))) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	return *end || n > UINT64_MAX >> shift ? 0 : (uint64_t)n << shift;
}

static int take_limit(struct selection *selection)
{
	if (!selection->limit)
		return CLI_OK;
	selection->limit_bytes = parse_size(selection->limit);
	if (!selection->limit_bytes)
		return cli_usage("%s: --limit takes a size such as 500M, not '%s'", selection->verb,
				 selection->limit);
	return selection->limit_bytes >= LIMIT_LEAST
		       ? CLI_OK
		       : cli_usage("%s: --limit %s is too small for a recording: give 64K or more",
				   selection->verb, selection->limit);
}

static int take_signal(struct selection *selection)
{
	const char *name = selection->snapshot_signal ? selection->snapshot_signal : "USR2";

	if (!strncmp(name, "SIG", 3))
		name += 3;
	if (!strcmp(name, "USR1"))
		selection->snapshot_signal_number = SIGUSR1;
	else if (!strcmp(name, "USR2"))
		selection->snapshot_signal_number = SIGUSR2;
	else if (strcmp(name, "none") != 0)
		return cli_usage("--snapshot-signal takes USR1, USR2 or none, not '%s'", name);
	return CLI_OK;
}

int selection_prepare_last(struct selection *selection, bool in_process)
{
	int status = take_limit(selection);

	if (status)
		return status;
	if (!selection->last && selection->limit && strcmp(selection->verb, "record") != 0)
		return cli_usage("%s: --limit needs --last: it bounds the flight recorder",
				 selection->verb);
	if (!selection->last)
		return selection->snapshot_signal ? cli_usage("--snapshot-signal needs --last: "
							      "otherwise there is no snapshot")
						  : CLI_OK;
	if (in_process)
		return cli_usage(
			"--last: the flight recorder runs in rtl, not in the command; leave "
			"--in-process out");
	if (!selection_seconds(selection->last, &selection->last_ns) || !selection->last_ns)
		return cli_usage("--last takes a number of seconds such as 30, not '%s'",
				 selection->last);
	if (!selection->limit)
		selection->limit_bytes = LIMIT_OF_LAST;
	return take_signal(selection);
}

/* Ranges are seen by a library that is preloaded. */
static int check_mode(const struct selection *selection, const struct session *session)
{
	const char *mode = session_mode(session);

	if (!selection->ranges || !mode || !strcmp(mode, "hip") || !strcmp(mode, "full"))
		return CLI_OK;
	return cli_usage("--range needs mode hip or full: mode %s does not see roctx ranges", mode);
}

int selection_prepare(struct selection *selection, struct session *session, bool in_process)
{
	int status = prepare_list(&selection->kernels, session, "RTL_KERNEL", check_pattern);

	if (!status)
		status = prepare_list(&selection->excluded, session, "RTL_EXCLUDE", check_pattern);
	if (!status)
		status = prepare_list(&selection->ranges, session, "RTL_RANGE", check_range);
	if (!status)
		status = selection_prepare_last(selection, in_process);
	if (!status)
		status = check_mode(selection, session);
	return status ? status : prepare_periods(selection, session, in_process);
}

const char *selection_words(const struct selection *selection)
{
	static char words[128];

	snprintf(words, sizeof(words), "%s%s%s%s%s%s", selection->kernels ? ", --kernel" : "",
		 selection->excluded ? ", --exclude" : "", selection->delay ? ", --delay" : "",
		 selection->duration ? ", --duration" : "", selection->ranges ? ", --range" : "",
		 selection->last ? ", --last" : "");
	return *words ? words + 2 : words;
}

void selection_fini(struct selection *selection)
{
	free(selection->kernels);
	free(selection->excluded);
	free(selection->ranges);
}
