/* SPDX-License-Identifier: MIT */
/* See cli.h: arguments, help, complaints. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"

#define HELP_COLUMN 24
/* Of a complaint, in bytes: more than two paths. Beyond, what is in between is left out. */
#define LINE_MOST 10240
#define LINE_END  1536

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

/* To be freed; NULL: out of memory. */
static char *format_line(const char *format, va_list args)
{
	char *text = NULL, *escaped;

	if (vasprintf(&text, format, args) < 0)
		return NULL;
	escaped = escape(text);
	free(text);
	return escaped;
}

void *cli_need(void *memory)
{
	if (!memory)
		_exit(cli_failed("out of memory"));
	return memory;
}

char *cli_format(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return cli_need(text);
}

void cli_line(const char *format, ...)
{
	va_list args;
	char *line;

	va_start(args, format);
	line = format_line(format, args);
	va_end(args);
	puts(line ? line : "(out of memory)");
	free(line);
}

int cli_say(int status, const char *format, ...)
{
	const char *shown;
	va_list args;
	size_t length;
	char *line;

	va_start(args, format);
	line = format_line(format, args);
	va_end(args);
	fflush(stdout);
	shown = line ? line : "out of memory";
	length = strlen(shown);
	if (length > LINE_MOST) /* what to do stands at the end */
		fprintf(stderr, "rtl: %.*s ... %s\n", LINE_MOST - LINE_END, shown,
			shown + length - LINE_END);
	else
		fprintf(stderr, "rtl: %s\n", shown);
	free(line);
	return status;
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
		return cli_need(strdup(text));
	at = word = cli_need(malloc(4 * strlen(text) + 3));
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

/* ---- what was meant ---- */

/* Capital or small. */
static bool is_same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* How many letters are to be changed, added, taken away or exchanged with their neighbours. */
static size_t distance(const char *a, size_t a_length, const char *b)
{
	size_t rows[3][CLI_NEAREST_MOST + 1], b_length = strlen(b);
	size_t *before = rows[0], *last = rows[1], *now = rows[2];

	if (a_length > CLI_NEAREST_MOST || b_length > CLI_NEAREST_MOST)
		return SIZE_MAX;
	for (size_t j = 0; j <= b_length; j++)
		last[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t *next = before;

		now[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t least = last[j - 1] + !is_same_letter(a[i - 1], b[j - 1]);

			if (last[j] + 1 < least)
				least = last[j] + 1;
			if (now[j - 1] + 1 < least)
				least = now[j - 1] + 1;
			if (i > 1 && j > 1 && is_same_letter(a[i - 1], b[j - 2]) &&
			    is_same_letter(a[i - 2], b[j - 1]) && before[j - 2] + 1 < least)
				least = before[j - 2] + 1;
			now[j] = least;
		}
		before = last;
		last = now;
		now = next;
	}
	return last[b_length];
}

struct cli_nearest cli_nearest_to(const char *word, size_t length)
{
	return (struct cli_nearest){
		.word = word, .length = length, .distance = length < 3 ? 0 : length / 3};
}

void cli_nearest_look(struct cli_nearest *nearest, const char *name)
{
	size_t far = distance(nearest->word, nearest->length, name);

	if (strlen(name) > CLI_NEAREST_MOST)
		return;
	/* cut short: as good as right */
	if (nearest->length >= 3 && !strncasecmp(name, nearest->word, nearest->length))
		far = 0;
	if (far > nearest->distance || (far == nearest->distance && *nearest->name))
		return;
	snprintf(nearest->name, sizeof(nearest->name), "%s", name);
	nearest->distance = far;
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
	static const struct cli_option help = CLI_FLAG('h', "help", 0, "print this");

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

/* Arguments that are being read. What takes some of them returns as cli_read. */
struct args {
	const struct cli_command *command;
	char *into;
	struct cli_operands *operands; /* in it */
	int argc;
	char **argv;
	int next;           /* index of the next argument */
	const char *rest;   /* of a group of letters, `-qo` */
	bool only_operands; /* `--` was seen */
	uint64_t given;     /* a bit for each option that takes one value */
};

static int refuse(const struct args *args, const char *what, const char *text, int length)
{
	return cli_usage("%s: %s '%.*s'; `rtl %s --help` lists the options", args->command->name,
			 what, length, text, args->command->name);
}

static int give_help(const struct args *args)
{
	print_help(args->command);
	return cli_finish_output() == CLI_OK ? CLI_OK : CLI_USAGE;
}

static int refuse_unknown(const struct args *args, const char *text, size_t length)
{
	struct cli_nearest nearest = cli_nearest_to(text, length);

	for (size_t i = 0; i < args->command->option_count; i++)
		cli_nearest_look(&nearest, args->command->options[i].name);
	if (!*nearest.name)
		return refuse(args, "unknown option", text - 2, (int)length + 2);
	return cli_usage("%s: unknown option '--%.*s'; did you mean --%s?", args->command->name,
			 (int)length, text, nearest.name);
}

static int take_option(struct args *args, size_t index, const char *value)
{
	const struct cli_option *option = &args->command->options[index];
	const uint64_t bit = UINT64_C(1) << index;
	void *at = args->into + option->at;

	if (option->take)
		return option->take(at, value) ? CLI_USAGE : -1;
	if (option->value && args->given & bit)
		return cli_usage("%s: --%s is given twice; give it once, as --%s %s",
				 args->command->name, option->name, option->name, option->value);
	args->given |= bit;
	if (!option->value)
		*(bool *)at = true;
	else if (!option->number)
		*(const char **)at = value;
	else if (!cli_number(value, at))
		return cli_usage("%s: --%s %s: give %s", args->command->name, option->name, value,
				 option->number);
	return -1;
}

/* Its value, if it has one, is the next argument. */
static int take_with_next(struct args *args, size_t index)
{
	const struct cli_option *option = &args->command->options[index];

	if (!option->value)
		return take_option(args, index, NULL);
	if (args->next >= args->argc || !strcmp(args->argv[args->next], "--"))
		return cli_usage("%s: --%s needs a value: --%s %s", args->command->name,
				 option->name, option->name, option->value);
	return take_option(args, index, args->argv[args->next++]);
}

/* --name, --name=value, --name value */
static int next_long(struct args *args, const char *text)
{
	size_t length = strcspn(text, "=");

	if (!strcmp(text, "help"))
		return give_help(args);
	for (size_t i = 0; i < args->command->option_count; i++) {
		const struct cli_option *option = &args->command->options[i];
		if (strlen(option->name) != length || strncmp(option->name, text, length) != 0)
			continue;
		if (!text[length])
			return take_with_next(args, i);
		return option->value ? take_option(args, i, text + length + 1)
				     : refuse(args, "no value can be given to", text - 2,
					      (int)length + 2);
	}
	return refuse_unknown(args, text, length);
}

/* -x, -xvalue, -x value, -xy */
static int next_letter(struct args *args)
{
	const char letter[] = {'-', *args->rest++, '\0'};

	if (letter[1] == 'h')
		return give_help(args);
	for (size_t i = 0; i < args->command->option_count; i++) {
		const struct cli_option *option = &args->command->options[i];
		const char *value = args->rest;

		if (option->letter != letter[1])
			continue;
		if (!option->value || !*value)
			return take_with_next(args, i);
		args->rest = NULL;
		return take_option(args, i, value);
	}
	return refuse(args, "unknown option", letter, 2);
}

/* Operands move to the front of argv: what has been read is not needed any more. */
static int take_operand(struct args *args)
{
	const struct cli_command *command = args->command;
	struct cli_operands *operands = args->operands;
	char **operand = &args->argv[args->next - 1];

	if (command->runs == CLI_RUNS_OPERANDS ||
	    (command->runs == CLI_RUNS_REST && args->only_operands)) {
		operands->command = operand;
		args->next = args->argc;
		return **operand ? -1
				 : cli_usage("%s: the name of the command is empty", command->name);
	}
	if (!command->operands_most)
		return cli_usage("%s: unexpected argument '%s'%s", command->name, *operand,
				 command->excess ? command->excess : ": it takes no operands");
	if (operands->count == command->operands_most)
		return cli_usage("%s: %s; '%s' is one more", command->name, command->excess,
				 *operand);
	operands->list[operands->count++] = *operand;
	return -1;
}

static int next_argument(struct args *args)
{
	if (args->rest && *args->rest)
		return next_letter(args);
	const char *text = args->argv[args->next++];
	if (!args->only_operands && !strcmp(text, "--")) {
		args->only_operands = true;
		return -1;
	}
	if (args->only_operands || text[0] != '-' || !text[1])
		return take_operand(args);
	if (text[1] == '-')
		return next_long(args, text + 2);
	args->rest = text + 1;
	return next_letter(args);
}

int cli_read(const struct cli_command *command, int argc, char **argv, void *into)
{
	struct cli_operands *operands = (void *)((char *)into + command->operands_at);
	struct args args = {command, into, operands, argc, argv, .next = 1};
	int status = -1;

	if (command->operands_most)
		operands->list = argv;
	while (status < 0 && (args.next < argc || (args.rest && *args.rest)))
		status = next_argument(&args);
	if (status < 0 && command->missing && !operands->count && !operands->command)
		status = cli_usage("%s: %s", command->name, command->missing);
	return status;
}

int cli_start(const struct cli_command *command, int argc, char **argv)
{
	void *request = cli_need(calloc(1, command->request_size));
	int status;

	if (command->request)
		memcpy(request, command->request, command->request_size);
	status = cli_read(command, argc, argv, request);
	if (status < 0)
		status = command->run(request);
	free(request);
	return status;
}
