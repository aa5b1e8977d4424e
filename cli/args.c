/* SPDX-License-Identifier: MIT */
/* See cli.h: arguments, help, complaints. */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "cli.h"

#define HELP_COLUMN 24

/* ---- complaints ---- */

/* The text with control characters as escapes: one line, whatever was in it. To be freed. */
static char *escape(const char *text)
{
	static const char names[] = "abtnvfr"; /* of 7 to 13 */
	char *escaped = malloc(4 * strlen(text) + 1), *to = escaped;

	for (; escaped && *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c >= 7 && c <= 13)
			to += sprintf(to, "\\%c", names[c - 7]);
		else if (c < 0x20 || c == 0x7f)
			to += sprintf(to, "\\x%02x", c);
		else
			*to++ = (char)c;
	}
	if (escaped)
		*to = '\0';
	return escaped;
}

static void complain(const char *format, va_list args)
{
	char *text = NULL, *escaped = NULL;

	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	escaped = text ? escape(text) : NULL;
	fflush(stdout);
	fprintf(stderr, "rtl: %s\n", escaped ? escaped : text ? text : "out of memory");
	free(escaped);
	free(text);
}

void cli_line(const char *format, ...)
{
	char *text = NULL, *escaped = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	escaped = text ? escape(text) : NULL;
	puts(escaped ? escaped : "(out of memory)");
	free(escaped);
	free(text);
}

void cli_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
}

int cli_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	return CLI_USAGE;
}

int cli_failed(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	return CLI_FAILED;
}

int cli_finish_output(void)
{
	bool good = !ferror(stdout);

	if (!fflush(stdout) && good)
		return CLI_OK;
	child_end_if_unread();
	return cli_failed("cannot write to stdout: %s", strerror(errno));
}

char *cli_quote(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "/._-+=:,@%";
	char *word, *at;

	if (*text && !text[strspn(text, plain)])
		return strdup(text);
	at = word = malloc(4 * strlen(text) + 3);
	if (!word)
		return NULL;
	*at++ = '\'';
	for (; *text; text++)
		at = *text == '\'' ? stpcpy(at, "'\\''") : (*at = *text, at + 1);
	strcpy(at, "'");
	return word;
}

bool cli_number(const char *text, unsigned *number)
{
	char *end;

	errno = 0;
	unsigned long value = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value > UINT32_MAX)
		return false;
	*number = (unsigned)value;
	return true;
}

/* ---- help ---- */

/* A text of several lines, each but the first indented. */
static void print_indented(const char *text, int column)
{
	for (; *text; text++) {
		putchar(*text);
		if (*text == '\n')
			printf("%*s", column, "");
	}
	putchar('\n');
}

static void print_option(const struct cli_option *option)
{
	char letter[8] = "    ";
	int width;

	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c, ", option->letter);
	width = printf("  %s--%s%s%s", letter, option->name, option->value ? " " : "",
		       option->value ? option->value : "");
	if (width >= HELP_COLUMN - 1) {
		putchar('\n');
		width = 0;
	}
	printf("%*s", HELP_COLUMN - width, "");
	print_indented(option->help, HELP_COLUMN);
}

static void print_help(const struct cli_command *command)
{
	static const struct cli_option help = {'h', "help", NULL, "print this"};

	printf("usage: rtl %s [OPTION]...%s%s\n\n%s.\n", command->name,
	       *command->operands ? " " : "", command->operands, command->purpose);
	if (command->details)
		printf("\n%s\n", command->details);
	printf("\nOptions:\n");
	for (size_t i = 0; i < command->option_count; i++)
		print_option(&command->options[i]);
	print_option(&help);
}

/* ---- arguments ---- */

static int refuse(const struct cli_args *args, const char *what, const char *text, int length)
{
	cli_error("%s: %s '%.*s'; `rtl %s --help` lists the options", args->command->name, what,
		  length, text, args->command->name);
	return CLI_BAD;
}

static int give_help(const struct cli_args *args)
{
	print_help(args->command);
	return cli_finish_output() == CLI_OK ? CLI_HELP : CLI_BAD;
}

/* Takes the value of an option from the next argument. */
static int take_value(struct cli_args *args, int index)
{
	if (args->next >= args->argc) {
		const struct cli_option *option = &args->command->options[index];
		cli_error("%s: --%s needs a value: --%s %s", args->command->name, option->name,
			  option->name, option->value);
		return CLI_BAD;
	}
	args->value = args->argv[args->next++];
	return index;
}

/* --name, --name=value, --name value */
static int next_long(struct cli_args *args, const char *text)
{
	size_t length = strcspn(text, "=");

	if (!strcmp(text, "help"))
		return give_help(args);
	for (size_t i = 0; i < args->command->option_count; i++) {
		const struct cli_option *option = &args->command->options[i];
		if (strlen(option->name) != length || strncmp(option->name, text, length) != 0)
			continue;
		if (!text[length])
			return option->value ? take_value(args, (int)i) : (int)i;
		if (!option->value)
			return refuse(args, "no value can be given to", text - 2, (int)length + 2);
		args->value = text + length + 1;
		return (int)i;
	}
	return refuse(args, "unknown option", text - 2, (int)length + 2);
}

/* -x, -xvalue, -x value, -xy */
static int next_letter(struct cli_args *args)
{
	const char letter[] = {'-', *args->rest++, '\0'};

	if (letter[1] == 'h')
		return give_help(args);
	for (size_t i = 0; i < args->command->option_count; i++) {
		const struct cli_option *option = &args->command->options[i];
		if (option->letter != letter[1])
			continue;
		if (!option->value)
			return (int)i;
		args->value = args->rest;
		args->rest = NULL;
		return *args->value ? (int)i : take_value(args, (int)i);
	}
	return refuse(args, "unknown option", letter, 2);
}

int cli_next(struct cli_args *args)
{
	if (args->rest && *args->rest)
		return next_letter(args);
	if (args->next >= args->argc)
		return CLI_END;
	const char *text = args->argv[args->next++];
	if (!args->only_operands && !strcmp(text, "--")) {
		args->only_operands = true;
		return cli_next(args);
	}
	if (args->only_operands || text[0] != '-' || !text[1]) {
		args->value = text;
		return CLI_OPERAND;
	}
	if (text[1] == '-')
		return next_long(args, text + 2);
	args->rest = text + 1;
	return next_letter(args);
}
