/* SPDX-License-Identifier: MIT */
/*
 * What the commands of `rtl` share: how a command describes itself, how its arguments are read,
 * how it complains. The help is printed from the same description that the arguments are read
 * by. One thread.
 */
#ifndef RTL_CLI_H
#define RTL_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Exit statuses; a traced command's own is passed on instead. */
enum cli_status {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	CLI_DIFFERENT = 3,    /**< `rtl diff --fail`: something got slower */
	CLI_CANNOT_RUN = 126, /**< the command to trace is there, but cannot be run */
	CLI_NOT_FOUND = 127,  /**< there is no such command */
};

struct cli_option {
	char letter;       /**< 0: none */
	const char *name;  /**< without the dashes */
	const char *value; /**< what its value is, e.g. "FILE"; NULL: it takes none */
	const char *help;  /**< may have several lines */
};

struct cli_command {
	const char *name;
	const char *operands; /**< for the usage line */
	const char *purpose;  /**< one line */
	const char *details;  /**< some lines, or NULL */
	const struct cli_option *options;
	size_t option_count;
	bool mentions; /**< says first what killed processes have left: `rtl recover` */
	/** argv[0] is the command's name; returns the exit status. */
	int (*run)(const struct cli_command *command, int argc, char **argv);
};

extern const struct cli_command cmd_trace, cmd_summary, cmd_info, cmd_start, cmd_stop, cmd_record,
	cmd_replay, cmd_recover, cmd_report, cmd_diff, cmd_env, cmd_list_streams,
	cmd_list_subscribers;

/** Arguments that are being read. */
struct cli_args {
	const struct cli_command *command;
	int argc;
	char **argv;
	int next;           /**< index of the next argument */
	const char *rest;   /**< of a group of letters, `-qo` */
	bool only_operands; /**< `--` was seen */
	const char *value;  /**< of the option, or the operand itself */
};

/** Answers of cli_next other than the number of an option. */
enum cli_answer {
	CLI_END = -1,     /**< no more arguments */
	CLI_OPERAND = -2, /**< no option: value is it, argv[next - 1] */
	CLI_HELP = -3,    /**< --help was asked for and printed: end with CLI_OK */
	CLI_BAD = -4,     /**< refused, and said so: end with CLI_USAGE */
};

#define CLI_ARGS(command, argc, argv)                                                              \
	{                                                                                          \
		(command), (argc), (argv), 1, NULL, false, NULL                                    \
	}

/** The next option, as index into the command's, or an answer. */
int cli_next(struct cli_args *args);

/** A line to stdout; control characters in what comes from traces and paths are shown as escapes.
 */
void cli_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** "rtl: " and a line to stderr. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** As cli_error; returns CLI_USAGE, or CLI_FAILED. */
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
int cli_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Flushes stdout: CLI_OK, or CLI_FAILED after a line if not all of it could be written. */
int cli_finish_output(void);

/** A text as a word of a command line that the user may copy; to be freed, NULL: out of memory. */
char *cli_quote(const char *text);

/** A number in decimal, at most UINT32_MAX. */
bool cli_number(const char *text, unsigned *number);

#endif
