/* SPDX-License-Identifier: MIT */
/* rtl completion: what a shell needs to complete the words of rtl, from the tables by which arguments are read. */
#include <string.h>

#include "cli.h"

struct request {
	struct cli_operands shells;
};

/* What an option's value, or an operand, is by the word that help shows for it. */
static const char *kind_of(const char *word)
{
	static const char *const folders[] = {"DIR", "FOLDER"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (strstr(word, folders[i]))
			return "folder";
	return strstr(word, "COMMAND") ? "command" : "file";
}

/* ---- bash ---- */

static void print_bash_command(const struct cli_command *command)
{
	printf("  %s)\n    options='--help", command->name);
	for (size_t i = 0; i < command->option_count; i++)
		printf(" --%s", command->options[i].name);
	printf("'\n    with_value='");
	for (size_t i = 0; i < command->option_count; i++) {
		const struct cli_option *option = &command->options[i];

		if (option->value)
			printf(" --%s ", option->name);
		if (option->value && option->letter)
			printf(" -%c ", option->letter);
	}
	printf("'\n    runs=%d ;;\n", command->runs == CLI_RUNS_OPERANDS);
}

static void print_bash(void)
{
	printf("# Completion of rtl for bash, made by `rtl completion bash`.\n"
	       "_rtl()\n{\n"
	       "  local word=${COMP_WORDS[COMP_CWORD]} options= with_value= runs=0 i\n"
	       "  COMPREPLY=()\n"
	       "  if ((COMP_CWORD == 1)); then\n"
	       "    COMPREPLY=($(compgen -W '--help --version");
	for (size_t i = 0; cli_commands[i]; i++)
		printf(" %s", cli_commands[i]->name);
	printf("' -- \"$word\"))\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; cli_commands[i]; i++)
		print_bash_command(cli_commands[i]);
	printf("  esac\n"
	       "  for ((i = 2; i < COMP_CWORD; i++)); do\n"
	       "    case ${COMP_WORDS[i]} in\n"
	       "    --) ((i++)) && break ;;\n"
	       "    -*) [[ $with_value == *\" ${COMP_WORDS[i]} \"* ]] && ((i++)) ;;\n"
	       "    *) break ;;\n"
	       "    esac\n"
	       "  done\n"
	       "  if ((i < COMP_CWORD && runs)); then # of the command that is run\n"
	       "    declare -F _command_offset >/dev/null && _command_offset \"$i\" && return\n"
	       "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
	       "  elif ((i > COMP_CWORD)) || [[ $word != -* ]]; then\n"
	       "    if ((runs && i == COMP_CWORD)); then\n"
	       "      COMPREPLY=($(compgen -c -- \"$word\"))\n"
	       "    else\n"
	       "      COMPREPLY=($(compgen -f -- \"$word\"))\n"
	       "    fi\n"
	       "  else\n"
	       "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
	       "  fi\n"
	       "}\n"
	       "complete -o filenames -F _rtl rtl\n");
}

/* ---- zsh ---- */

/* The first line of a text, as zsh takes it in a description: within single quotes. */
static void print_zsh_text(const char *text)
{
	for (; *text && *text != '\n'; text++) {
		if (*text == '\'')
			printf("'\\''");
		else if (strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static const char *zsh_action(const char *word)
{
	const char *kind = kind_of(word);

	return !strcmp(kind, "folder")    ? "_files -/"
	       : !strcmp(kind, "command") ? "_command_names"
					  : "_files";
}

static void print_zsh_option(const struct cli_option *option)
{
	const char *repeats = option->take ? "*" : "";

	for (int letter = 0; letter <= (option->letter != 0); letter++) {
		printf(" \\\n      '%s", repeats);
		if (letter)
			printf("-%c%s[", option->letter, option->value ? "+" : "");
		else
			printf("--%s%s[", option->name, option->value ? "=" : "");
		print_zsh_text(option->help);
		printf("]");
		if (option->value) {
			printf(":");
			print_zsh_text(option->value);
			printf(":%s", zsh_action(option->value));
		}
		printf("'");
	}
}

static void print_zsh_command(const struct cli_command *command)
{
	printf("  %s)\n    _arguments -s '--help[print the options]'", command->name);
	for (size_t i = 0; i < command->option_count; i++)
		print_zsh_option(&command->options[i]);
	if (command->runs == CLI_RUNS_OPERANDS)
		printf(" \\\n      '(-)1:command:_command_names -e' '*::argument:_normal'");
	else
		printf(" \\\n      '*:file:_files'");
	printf(" ;;\n");
}

static void print_zsh(void)
{
	printf("#compdef rtl\n# Completion of rtl for zsh, made by `rtl completion zsh`.\n"
	       "local -a commands=(\n");
	for (size_t i = 0; cli_commands[i]; i++) {
		printf("  '%s:", cli_commands[i]->name);
		print_zsh_text(cli_commands[i]->purpose);
		printf("'\n");
	}
	printf(")\nif ((CURRENT == 2)); then\n"
	       "  _describe -t commands 'command of rtl' commands\n"
	       "  return\nfi\n"
	       "local command=$words[2]\n"
	       "shift words\n((CURRENT--))\n"
	       "case $command in\n");
	for (size_t i = 0; cli_commands[i]; i++)
		print_zsh_command(cli_commands[i]);
	printf("esac\n");
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct request request = {0};
	int status = cli_read(command, argc, argv, &request);

	if (status >= 0)
		return status;
	if (!request.shells.count)
		return cli_usage("completion: say for which shell: bash or zsh");
	if (!strcmp(request.shells.list[0], "bash"))
		print_bash();
	else if (!strcmp(request.shells.list[0], "zsh"))
		print_zsh();
	else
		return cli_usage("completion: unknown shell '%s'; there are bash and zsh",
				 request.shells.list[0]);
	return cli_finish_output();
}

const struct cli_command cmd_completion = {
	.name = "completion",
	.operands = "SHELL",
	.purpose = "Prints what bash or zsh needs to complete rtl's words",
	.details = "An installed rtl has it where these shells look.",
	CLI_OPERANDS(struct request, shells, 1, "one shell at a time"),
	.run = run,
};
