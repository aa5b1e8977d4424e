/* SPDX-License-Identifier: MIT */
/* The command `rtl`: finds the verb. Each verb is in its cmd_<verb>.c. */
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#include <rtl/types.h>

#include "child.h"
#include "cli.h"

/* One a line. */
/* clang-format off */
const struct cli_command *const cli_commands[] = {
	&cmd_trace,
	&cmd_record,
	&cmd_summary,
	&cmd_report,
	&cmd_diff,
	&cmd_merge,
	&cmd_convert,
	&cmd_info,
	&cmd_start,
	&cmd_stop,
	&cmd_snapshot,
	&cmd_replay,
	&cmd_recover,
	&cmd_env,
	&cmd_doctor, &cmd_selftest,
	&cmd_list_counters,
	&cmd_list_streams,
	&cmd_list_subscribers,
	&cmd_new_subscriber,
	&cmd_check_subscriber,
	&cmd_completion,
	NULL,
};
/* clang-format on */

static int print_help(void)
{
	printf("usage: rtl COMMAND [ARGUMENT]...\n\n"
	       "Traces ROCm programs.\n\nCommands:\n");
	for (size_t i = 0; cli_commands[i]; i++)
		printf("  %-18s%s\n", cli_commands[i]->name, cli_commands[i]->purpose);
	printf("\nOptions:\n"
	       "  -h, --help        print this\n"
	       "  -V, --version     print the version\n"
	       "\n`rtl COMMAND --help` tells more, and so does rtl-COMMAND(1).\n");
	return cli_finish_output();
}

static int print_version(void)
{
	printf("rtl %s\n", rtl_version());
	return cli_finish_output();
}

static const struct cli_command *find(const char *name)
{
	for (size_t i = 0; cli_commands[i]; i++)
		if (!strcmp(name, cli_commands[i]->name))
			return cli_commands[i];
	return NULL;
}

static int refuse(const char *word)
{
	struct cli_nearest nearest = cli_nearest_to(word, strlen(word));
	const char *what = *word == '-' ? "option" : "command";

	for (size_t i = 0; cli_commands[i]; i++)
		cli_nearest_look(&nearest, cli_commands[i]->name);
	if (*nearest.name)
		return cli_usage("unknown %s '%s'; did you mean `rtl %s`?", what, word,
				 nearest.name);
	return cli_usage("unknown %s '%s'; `rtl --help` lists what there is", what, word);
}

/* rtl help [COMMAND] */
static int help(int argc, char **argv)
{
	char option[] = "--help";
	char *list[] = {argc > 2 ? argv[2] : NULL, option, NULL};
	const struct cli_command *command = argc > 2 ? find(argv[2]) : NULL;

	if (argc < 3)
		return print_help();
	return command ? command->run(command, 2, list) : refuse(argv[2]);
}

int main(int argc, char **argv)
{
	const struct cli_command *command;
	int fd;

	/* none of our files becomes stdout; what we trace still finds closed what was */
	while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0 && fd <= STDERR_FILENO)
		;
	if (fd >= 0)
		close(fd);
	child_init();
	/* counting memory takes a lock at each allocation; SQLite is the command's own here */
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	if (argc < 2)
		return cli_usage("no command given; `rtl --help` lists them");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print_help();
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return print_version();
	if (!strcmp(argv[1], "help"))
		return help(argc, argv);
	command = find(argv[1]);
	if (!command)
		return refuse(argv[1]);
	return command->run(command, argc - 1, argv + 1);
}
