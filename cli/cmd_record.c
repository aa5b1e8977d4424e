/* SPDX-License-Identifier: MIT */
/* rtl record: the cheapest way to trace: keeps what a command publishes as it is, for `rtl replay`.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"
#include "launch.h"
#include "session.h"

enum { OPTION_OUTPUT, OPTION_LIMIT, OPTION_MODE, OPTION_SPOOL, OPTION_PAUSED, OPTION_QUIET };

static const struct cli_option options[] = {
	{'o', "output", "FOLDER", "where to write the recording\n(default: rtl-COMMAND-PID.rec)"},
	{'l', "limit", "SIZE",
	 "how large it may get, e.g. 500M or 20G; when it is, the\n"
	 "oldest events go"},
	{'m', "mode", "MODE", "what is collected: " SESSION_MODES},
	{0, "spool", "FOLDER", "where processes write meanwhile (default: memory)"},
	{0, "paused", NULL, "begin paused; `rtl start` has it record"},
	{'q', "quiet", NULL, "no word unless something is wrong"},
};

struct record {
	struct session session;
	struct collect collect;
	char id[64];
	char **command;
	const char *output, *spool;
	uint64_t limit_bytes;
	bool paused, quiet;
};

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

/* The recording's folder, absolute; to be freed. NULL after a line. */
static char *choose_output(const struct record *record)
{
	const char *slash = strrchr(record->command[0], '/');
	char *name = NULL, *path;
	struct stat st;

	if (!record->output &&
	    asprintf(&name, "rtl-%s-%d.rec", slash ? slash + 1 : record->command[0], getpid()) < 0)
		name = NULL;
	path = session_absolute_path(record->output ? record->output : name ? name : "rtl.rec");
	free(name);
	if (!path) {
		cli_error("record: out of memory");
	} else if (!stat(path, &st)) {
		cli_error("record: %s exists; a recording is made anew: choose another folder "
			  "with -o, or remove it",
			  path);
		free(path);
		path = NULL;
	}
	return path;
}

static void report(const struct record *record, const char *output)
{
	const struct collect *collect = &record->collect;

	if (!collect->met) {
		rmdir(output);
		cli_error("nothing was recorded: no process of the command published anything; "
			  "did it use a GPU?");
	} else if (!record->quiet) {
		cli_error("recording: %s; `rtl replay %s` makes a database of it", output, output);
	}
	if (collect->left)
		cli_error("%u of the command's processes still run; what they do from now on is "
			  "not recorded",
			  collect->left);
}

static int record_command(struct record *record, const char *output)
{
	struct session *session = &record->session;
	int status = session_prepare_mode(session), error;

	if (!status)
		status = session_prepare_runtime(session);
	if (!status)
		status = session_set(session, "RTL_SESSION", record->id);
	if (status)
		return status;
	error = launch_find(record->command[0]);
	if (error)
		return launch_refuse(record->command[0], error);
	status = collect_record(&record->collect, session, record->id, record->command[0],
				record->spool, record->paused, output, record->limit_bytes);
	if (status)
		return status;
	error = launch_collected(&record->collect, session, record->command, "recording", &status);
	if (error) {
		rmdir(output);
		return launch_refuse(record->command[0], error);
	}
	report(record, output);
	child_end_like(status);
}

/* Reads the options; a negative value: go on. */
static int read_arguments(struct record *record, struct cli_args *args)
{
	int option;

	while ((option = cli_next(args)) != CLI_END) {
		switch (option) {
		case CLI_HELP:
			return CLI_OK;
		case CLI_BAD:
			return CLI_USAGE;
		case CLI_OPERAND:
			record->command = &args->argv[args->next - 1];
			if (!*record->command[0])
				return cli_usage("record: the name of the command is empty");
			return -1;
		case OPTION_OUTPUT:
			record->output = args->value;
			break;
		case OPTION_LIMIT:
			record->limit_bytes = parse_size(args->value);
			if (!record->limit_bytes)
				return cli_usage("record: --limit takes a size such as 500M, not "
						 "'%s'",
						 args->value);
			break;
		case OPTION_MODE:
			record->session.mode = args->value;
			break;
		case OPTION_SPOOL:
			record->spool = args->value;
			break;
		case OPTION_PAUSED:
			record->paused = true;
			break;
		case OPTION_QUIET:
			record->quiet = true;
			break;
		}
	}
	return cli_usage("record: give a command to run: rtl record [OPTION]... COMMAND...");
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct cli_args args = CLI_ARGS(command, argc, argv);
	struct record record = {0};
	char *output;
	int status = read_arguments(&record, &args);

	if (status >= 0)
		return status;
	launch_make_id(record.id, sizeof(record.id));
	output = choose_output(&record);
	status = output ? record_command(&record, output) : CLI_FAILED;
	session_fini(&record.session);
	free(output);
	return status;
}

const struct cli_command cmd_record = {
	.name = "record",
	.operands = "[--] COMMAND [ARGUMENT]...",
	.purpose = "Runs a command and keeps what it publishes, for rtl replay",
	.details = "The command's exit status is passed on, and signals reach it.\n"
		   "Status 126, 127: it cannot be run, there is none; 1, 2: it was not started.",
	.options = options,
	.option_count = sizeof(options) / sizeof(*options),
	.run = run,
};
