/* SPDX-License-Identifier: MIT */
/* The command `rtl`: finds the verb. Each verb is in its cmd_<verb>.c. */
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <rtl/types.h>

#include "child.h"
#include "cli.h"

/* Each group has a title in the help; what has none is not listed there. */
static const struct {
	const char *title;
	const struct cli_command *commands[8];
} groups[] = {
	{"Record", {&cmd_trace, &cmd_record, &cmd_recover, &cmd_env}},
	{"Look", {&cmd_summary, &cmd_report, &cmd_diff, &cmd_info}},
	{"Convert and share", {&cmd_convert, &cmd_merge, &cmd_replay}},
	{"Live",
	 {&cmd_status, &cmd_top, &cmd_ps, &cmd_attach, &cmd_start, &cmd_stop, &cmd_snapshot}},
	{"Check this machine", {&cmd_doctor, &cmd_selftest, &cmd_list_streams, &cmd_list_counters}},
	{"Plugins", {&cmd_list_subscribers, &cmd_new_subscriber, &cmd_check_subscriber}},
	{NULL, {&cmd_completion}},
};

#define GROUPS (sizeof(groups) / sizeof(*groups))

static int print_help(void)
{
	printf("usage: rtl COMMAND [ARGUMENT]...\n\nTraces ROCm programs.\n");
	for (size_t i = 0; i < GROUPS && groups[i].title; i++) {
		printf("\n%s:\n", groups[i].title);
		for (size_t k = 0; groups[i].commands[k]; k++)
			printf("  %-18s%s\n", groups[i].commands[k]->name,
			       groups[i].commands[k]->purpose);
	}
	printf("\nOptions:\n"
	       "  -h, --help        print this\n"
	       "  -V, --version     print the version\n"
	       "\nSee `rtl COMMAND --help` and the manual page rtl-COMMAND(1).\n"
	       "`rtl list streams` is `rtl list-streams`, `rtl plugin new` is `rtl "
	       "new-subscriber`.\n");
	return cli_finish_output();
}

/* Finds a command; `second` is the word behind `name`, or NULL. *words: how many of the two name it. */
static const struct cli_command *find(const char *name, const char *second, int *words)
{
	const bool lists = !strcmp(name, "list"), plugin = !strcmp(name, "plugin");
	char whole[64] = "";

	*words = lists || plugin ? 2 : 1;
	if (lists || plugin)
		snprintf(whole, sizeof(whole), lists ? "list-%.32s" : "%.32s-subscriber",
			 second ? second : "");
	for (size_t i = 0; i < GROUPS; i++)
		for (size_t k = 0; groups[i].commands[k]; k++)
			if (!strcmp(*whole ? whole : name, groups[i].commands[k]->name))
				return groups[i].commands[k];
	return NULL;
}

static int refuse(const char *word)
{
	struct cli_nearest nearest = cli_nearest_to(word, strlen(word));
	const char *what = *word == '-' ? "option" : "command";

	if (!strcmp(word, "list"))
		return cli_usage("list: give streams, counters or subscribers");
	if (!strcmp(word, "plugin"))
		return cli_usage("plugin: give new or check");
	for (size_t i = 0; i < GROUPS; i++)
		for (size_t k = 0; groups[i].commands[k]; k++)
			cli_nearest_look(&nearest, groups[i].commands[k]->name);
	if (*nearest.name)
		return cli_usage("unknown %s '%s'; did you mean `rtl %s`?", what, word,
				 nearest.name);
	return cli_usage("unknown %s '%s'; `rtl --help` lists the commands", what, word);
}

/* rtl help [COMMAND] */
static int help(int argc, char **argv)
{
	char option[] = "--help";
	char *list[] = {argc > 2 ? argv[2] : NULL, option, NULL};
	const struct cli_command *command;
	int words;

	if (argc < 3)
		return print_help();
	command = find(argv[2], argv[3], &words);
	return command ? cli_start(command, 2, list) : refuse(argv[2]);
}

int main(int argc, char **argv)
{
	const struct cli_command *command;
	int fd, words;

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
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("rtl %s\n", rtl_version());
		return cli_finish_output();
	}
	if (!strcmp(argv[1], "help"))
		return help(argc, argv);
	command = find(argv[1], argv[2], &words);
	if (!command && words == 2 && argv[2] && !strcmp(argv[2], "--help"))
		return print_help();
	if (!command)
		return refuse(argv[1]);
	return cli_start(command, argc - words, argv + words);
}
