/* SPDX-License-Identifier: MIT */
/* rtl list-streams: what can be subscribed to: of rtl, of a library, in a trace, in a command. */

#include "child.h"
#include "cli.h"
#include "stream_print.h"
#include "stream_sources.h"

struct listing {
	struct stream_print print;
	struct cli_operands operands;
};

static const struct cli_option options[] = {
	CLI_FLAG(0, "json", offsetof(struct listing, print.as_json), "print JSON, for programs"),
};

static void add(void *user, const struct rtl_stream_info *stream, const char *from)
{
	stream_print(user, stream, from);
}

static int list_command(struct listing *listing, const struct stream_sink *sink, int *ended)
{
	size_t before = listing->print.streams;
	int status = streams_of_command(listing->operands.command, sink, ended);

	if (status || listing->print.streams > before)
		return status;
	return cli_failed("%s registered no stream: it does so through librtl or <rtl/stub.h>, or, "
			  "if it uses a GPU, when it initialises the HSA runtime",
			  listing->operands.command[0]);
}

static int list(struct listing *listing, int *ended)
{
	const struct stream_sink sink = {add, &listing->print};
	int status = CLI_OK;

	stream_print_begin(&listing->print);
	if (!listing->operands.count && !listing->operands.command)
		status = streams_of_rtl(&sink);
	for (size_t i = 0; i < listing->operands.count; i++) {
		int error = streams_of_path(listing->operands.list[i], &sink);
		status = error ? error : status;
	}
	if (listing->operands.command) {
		int error = list_command(listing, &sink, ended);
		status = error ? error : status;
	}
	stream_print_end(&listing->print);
	int error = cli_finish_output();
	return status ? status : error;
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct listing listing = {0};
	int ended = 0, status = cli_read(command, argc, argv, &listing);

	if (status < 0)
		status = list(&listing, &ended);
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
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct listing, operands, SIZE_MAX, NULL),
	.runs = CLI_RUNS_REST,
	.run = run,
};
