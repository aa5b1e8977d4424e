/* SPDX-License-Identifier: MIT */
/* What the commands of `rtl` share: how a command describes itself, how its arguments are read, how it complains. The
 * help is printed from the same description that the arguments are read by. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "array.h"

/** Exit statuses; a traced command's own is passed on instead. */
enum cli_status {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	CLI_DIFFERENT = 3,  /**< `rtl diff --fail`: something got slower; `rtl selftest`: differs */
	CLI_UNFINISHED = 4, /**< a trace is still being written */
	CLI_CANNOT_RUN = 126, /**< the command to trace is there, but cannot be run */
	CLI_NOT_FOUND = 127,  /**< there is no such command */
};

struct cli_option {
	char letter;       /**< 0: none */
	const char *name;  /**< without the dashes */
	const char *value; /**< what its value is, e.g. "FILE"; NULL: it takes none */
	const char *help;  /**< may have several lines */
	/** Where cli_read puts it in the struct that it fills: a bool if there is no value, an
	 *  unsigned if `number` stands, else a const char *. */
	size_t at;
	const char *number; /**< which number its value is: "a number of rows, 0 for all" */
	/** Of one that may come again: takes its value there. CLI_OK, or an exit status after a line. */
	int (*take)(void *at, const char *value);
};

/** Options for a table; into: offsetof the member in the struct that cli_start fills. */
#define CLI_OPTION_(...)                                                                           \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define CLI_FLAG(letter, name, into, help) CLI_OPTION_(letter, name, NULL, help, into, NULL, NULL)
#define CLI_VALUE(letter, name, value, into, help)                                                 \
	CLI_OPTION_(letter, name, value, help, into, NULL, NULL)
#define CLI_NUMBER(letter, name, value, into, which, help)                                         \
	CLI_OPTION_(letter, name, value, help, into, which, NULL)
/** An option whose values a function takes. */
#define CLI_TAKES(letter, name, value, into, take, help)                                           \
	CLI_OPTION_(letter, name, value, help, into, NULL, take)

/** A number that a command begins with to see whether one was given. */
#define CLI_NOT_GIVEN UINT32_MAX

/** What of the operands is a command to run, with its arguments. */
enum cli_runs {
	CLI_RUNS_NOTHING,
	CLI_RUNS_OPERANDS, /**< all of them */
	CLI_RUNS_REST,     /**< what stands behind -- */
};

/** The operands, as cli_read fills them. */
struct cli_operands {
	char **list;
	size_t count;   /**< without the command to run */
	char **command; /**< ends with NULL; NULL: none was given */
};

struct cli_command {
	const char *name;
	const char *operands; /**< for the usage line */
	const char *purpose;  /**< one line */
	const char *details;  /**< some lines, or NULL */
	const struct cli_option *options;
	size_t option_count;
	/** For cli_read: where its struct cli_operands is, in the struct that is filled; how many there
	 *  may be; what is said of one more, such as "one file at a time". */
	size_t operands_at, operands_most;
	const char *excess;
	/** What is said where there is none, such as "give a name for it"; NULL: that is fine. */
	const char *missing;
	enum cli_runs runs;
	/** The struct that cli_start has filled: its size, and what it begins with; NULL: zeros. */
	size_t request_size;
	const void *request;
	/** Gets that struct; returns the exit status. */
	int (*run)(void *request);
};

/** Members of it: a table of options; of the struct that is filled: its type, where its operands go; how many
 *  there may be, and what is said of one more. */
#define CLI_OPTIONS(table) .options = table, .option_count = sizeof(table) / sizeof(*(table))
#define CLI_OPERANDS(type, member, most, more)                                                     \
	.request_size = sizeof(type), .operands_at = offsetof(type, member),                       \
	.operands_most = most, .excess = more

extern const struct cli_command cmd_trace, cmd_summary, cmd_info, cmd_start, cmd_stop, cmd_snapshot,
	cmd_status, cmd_top, cmd_record, cmd_replay, cmd_recover, cmd_report, cmd_diff, cmd_merge,
	cmd_convert, cmd_attach, cmd_ps, cmd_env, cmd_list_counters, cmd_list_streams,
	cmd_list_subscribers, cmd_new_subscriber, cmd_completion, cmd_doctor, cmd_selftest,
	cmd_check_subscriber;

/** Reads a command's arguments into a struct of its own, as its options and operands say.
 * @param into  the struct; what was not given stays as it is
 * @return negative: go on; else the exit status: help was asked for, or something was refused */
int cli_read(const struct cli_command *command, int argc, char **argv, void *into);
/** The same into what the command asks for, and runs it. argv[0] is its name. The exit status. */
int cli_start(const struct cli_command *command, int argc, char **argv);

/** A line to stdout; control characters in what comes from traces and paths are shown as escapes. */
void cli_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** "rtl: " and a line to stderr; returns the status. */
int cli_say(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define cli_error(...)  ((void)cli_say(CLI_FAILED, __VA_ARGS__))
#define cli_usage(...)  cli_say(CLI_USAGE, __VA_ARGS__)
#define cli_failed(...) cli_say(CLI_FAILED, __VA_ARGS__)

#define CLI_NEAREST_MOST 63
/** Finds the name that a misspelt word was meant to be: make one, let it look at each name. */
struct cli_nearest {
	const char *word;
	size_t length;
	char name[CLI_NEAREST_MOST + 1]; /**< the nearest so far; "": none is like it */
	size_t distance;                 /**< of that one, or the greatest allowed */
};
struct cli_nearest cli_nearest_to(const char *word, size_t length);
void cli_nearest_look(struct cli_nearest *nearest, const char *name);

/** Flushes stdout: CLI_OK, or CLI_FAILED after a line if not all of it could be written. */
int cli_finish_output(void);

/** A text; "" for none. */
static inline const char *cli_text(const char *text)
{
	return text ? text : "";
}

/** Of a path, what stands behind the last slash. */
static inline const char *cli_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/** A text as a word of a command line that the user may copy; to be freed. */
char *cli_quote(const char *text);

/** What an allocation has returned, if that is not NULL: without memory rtl ends, after a line. What a program
 *  has recorded stays in its spool. */
void *cli_need(void *memory);
/** The next element of an array (array.h), to be set. */
#define CLI_ADD(list, count) ((__typeof__(list))cli_need(ARRAY_ADD(list, count)))
/** A text, to be freed; as cli_need. */
char *cli_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** A number in decimal, at most UINT32_MAX. */
bool cli_number(const char *text, unsigned *number);
