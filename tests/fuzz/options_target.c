/* SPDX-License-Identifier: MIT */
/* Arguments of commands, by their tables: lines of the input are words behind the command that the first
 * byte chooses. The commands are not run. And the same text as a pattern of an output's name, as a
 * pattern of kernels, a time, a size. */
#include <stdlib.h>
#include <string.h>

#include "cli_run.h"
#include "fuzz.h"
#include "output_name.h"
#include "pattern.h"
#include "scratch.h"
#include "selection.h"

#define WORDS_MOST 32

/* Larger than what any command reads into. */
static union {
	char bytes[1 << 16];
	max_align_t align;
} into;

/* What options take stays: commands end with their process. */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
	return "detect_leaks=0";
}

static void try_words(const struct cli_command *command, char *text)
{
	struct cli_command alone = *command;
	char *words[WORDS_MOST + 2] = {(char *)(uintptr_t)command->name}, *rest = text;
	int count = 1, status;

	while (count <= WORDS_MOST && rest)
		words[count++] = strsep(&rest, "\n");
	memset(&into, 0, sizeof(into));
	status = cli_read(&alone, count, words, &into);
	if (status != -1 && status != CLI_OK && status != CLI_FAILED && status != CLI_USAGE)
		abort();
}

static void try_text(const char *text)
{
	struct output_names_room room;
	const struct output_names names = output_names_here(&room);
	char why[128] = "", *name;
	uint64_t ns;
	regex_t regex;

	if (!output_expand(text, &names, &name))
		free(name);
	name = output_glob(text, &names);
	free(name);
	(void)output_needs_process(text);
	(void)selection_seconds(text, &ns);
	if (pattern_compile(&regex, text, why, sizeof(why)))
		regfree(&regex);
	else if (!*why)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct cli_command *const commands[] = {
		&cmd_trace, &cmd_record,  &cmd_summary, &cmd_report, &cmd_diff,   &cmd_merge,
		&cmd_info,  &cmd_convert, &cmd_start,   &cmd_replay, &cmd_recover};
	static bool ready;
	char *text;

	if (!ready) {
		scratch_init();
		cli_run_init();
		ready = true;
	}
	if (!size)
		return 0;
	text = strndup((const char *)data + 1, size - 1);
	if (!text)
		abort();
	try_text(text);
	try_words(commands[*data % (sizeof(commands) / sizeof(*commands))], text);
	free(text);
	return 0;
}
