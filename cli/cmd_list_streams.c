/* SPDX-License-Identifier: MIT */
/* rtl list-streams: what can be subscribed to: of rtl, of a library, in a trace, in a command. */
#include <stdlib.h>

#include "child.h"
#include "cli.h"
#include "stream_print.h"
#include "stream_sources.h"

enum { OPTION_JSON };

static const struct cli_option options[] = {
	{0, "json", NULL, "print JSON, for programs"},
};

struct listing {
	struct stream_print print;
	char **paths;
	size_t path_count;
	char **command; /* NULL: none */
};

static void add(void *user, const struct rtl_stream_info *stream, const char *from)
{
	stream_print(user, stream, from);
}

static int list_command(struct listing *listing, const struct stream_sink *sink, int *ended)
{
	size_t before = listing->print.streams;
	int status = streams_of_command(listing->command, sink, ended);

	if (status || listing->print.streams > before)
		return status;
	return cli_failed("%s registered no stream: it does so through librtl or <rtl/stub.h>, or, "
			  "if it uses a GPU, when it initialises the HSA runtime",
			  listing->command[0]);
}

static int list(struct listing *listing, int *ended)
{
	const struct stream_sink sink = {add, &listing->print};
	int status = CLI_OK;

	stream_print_begin(&listing->print);
	if (!listing->path_count && !listing->command)
		status = streams_of_rtl(&sink);
	for (size_t i = 0; i < listing->path_count; i++) {
		int error = streams_of_path(listing->paths[i], &sink);
		status = error ? error : status;
	}
	if (listing->command) {
		int error = list_command(listing, &sink, ended);
		status = error ? error : status;
	}
	stream_print_end(&listing->print);
	int error = cli_finish_output();
	return status ? status : error;
}

/* Reads the arguments; a negative value: go on. */
static int read_arguments(struct listing *listing, struct cli_args *args)
{
	int option;

	while ((option = cli_next(args)) != CLI_END) {
		if (option == CLI_HELP || option == CLI_BAD)
			return option == CLI_BAD ? CLI_USAGE : CLI_OK;
		if (option == OPTION_JSON) {
			listing->print.as_json = true;
		} else if (args->only_operands) {
			/* What follows belongs to the command. */
			listing->command = &args->argv[args->next - 1];
			return *listing->command[0]
				       ? -1
				       : cli_usage(
						 "list-streams: the name of the command is empty");
		} else {
			listing->paths[listing->path_count++] = args->argv[args->next - 1];
		}
	}
	return -1;
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct cli_args args = CLI_ARGS(command, argc, argv);
	struct listing listing = {.paths = calloc((size_t)argc, sizeof(*listing.paths))};
	int status, ended = 0;

	if (!listing.paths)
		return cli_failed("out of memory");
	status = read_arguments(&listing, &args);
	if (status < 0)
		status = list(&listing, &ended);
	free(listing.paths);
	if (ended)
		child_end_like(ended);
	return status;
}

const struct cli_command cmd_list_streams = {
	.name = "list-streams",
	.operands = "[PATH]... [-- COMMAND...]",
	.purpose = "Shows the streams, their trace-point types and fields",
	.details = "PATH is a library that describes its streams, a trace, or the folder of a\n"
		   "recording. COMMAND is run to see which streams it registers; nothing is\n"
		   "recorded, and its standard output goes to standard error.\n"
		   "Without either: the streams of rtl itself.",
	.options = options,
	.option_count = sizeof(options) / sizeof(*options),
	.mentions = true,
	.run = run,
};
