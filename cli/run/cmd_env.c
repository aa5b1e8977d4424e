/* SPDX-License-Identifier: MIT */
/* rtl env: prints what a shell must export so that programs started from it can be traced. */

#include "cli.h"
#include "session.h"

struct request {
	struct session session;
	const char *shell;
	bool attachable;
};

static const struct cli_option options[] = {
	CLI_TAKES('o', "output", "FILE", offsetof(struct request, session.outputs), outputs_add,
		  "file of the first subscriber that writes one;\n"
		  "without --subscribers: of libsqlite_sub.so"),
	CLI_VALUE('m', "mode", "MODE", offsetof(struct request, session.mode),
		  "what to record: " SESSION_MODES),
	CLI_VALUE('s', "subscribers", "LIST", offsetof(struct request, session.subscribers),
		  "also set RTL_SUBSCRIBERS to these; colon-separated\n"
		  "NAME or NAME?key=value&key=value"),
	CLI_VALUE(0, "shell", "SHELL", offsetof(struct request, shell),
		  "for sh (default; bash, zsh, dash), csh or fish"),
	CLI_FLAG(0, "attachable", offsetof(struct request, attachable),
		 "programs record nothing until `rtl attach` asks for it"),
	SESSION_SOURCE_OPTION(offsetof(struct request, session)),
	SESSION_COUNTER_OPTIONS(offsetof(struct request, session)),
	CLI_FLAG(0, "xpti", offsetof(struct request, session.xpti),
		 "also record what SYCL runtimes report by XPTI (mode full\ndoes)"),
};

static const struct shell {
	const char *names;                    /* a blank around each */
	const char *before, *between, *after; /* around name and value */
	const char *escaped;                  /* characters that get a backslash */
} shells[] = {
	{" sh bash zsh dash ksh ", "export ", "=", ";\n", ""},
	{" csh tcsh ", "setenv ", " ", ";\n", "!\n"},
	{" fish ", "set -gx ", " ", ";\n", "'\\"},
};

static const struct shell *find_shell(const char *name)
{
	char word[16];

	snprintf(word, sizeof(word), " %.12s ", name);
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
		if (*name && !strchr(name, ' ') && strstr(shells[i].names, word))
			return &shells[i];
	return NULL;
}

/* A value in single quotes, in which nothing but what is treated here has a meaning. */
static void print_quoted(const struct shell *shell, const char *value)
{
	putchar('\'');
	for (; *value; value++) {
		if (strchr(shell->escaped, *value))
			printf("\\%c", *value);
		else if (*value == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*value);
	}
	putchar('\'');
}

static int print(const struct session *session, const struct shell *shell)
{
	for (size_t i = 0; i < session->variable_count; i++) {
		printf("%s%s%s", shell->before, session->variables[i].name, shell->between);
		print_quoted(shell, session->variables[i].value);
		fputs(shell->after, stdout);
	}
	return cli_finish_output();
}

static int prepare_and_print(struct session *session, const struct shell *shell)
{
	int status = session_prepare_mode(session);

	if (!status)
		status = session_prepare_counters(session);
	if (!status)
		status = session_prepare_programs(session, NULL);
	if (!status && (session->subscribers || session->outputs.count))
		status = session_prepare_subscribers(session);
	if (!status && session->list)
		session_set(session, "RTL_SUBSCRIBERS", session->list);
	if (!status && session->no_rocm)
		cli_error("work on the GPU will not be traced: %s", session->no_rocm);
	return status ? status : print(session, shell);
}

static int run(void *user)
{
	struct request *request = user;
	const struct shell *shell = request->shell ? find_shell(request->shell) : &shells[0];
	int status;

	if (!shell)
		return cli_usage("env: unknown shell '%s'; give sh, csh or fish", request->shell);
	if (request->attachable && (request->session.subscribers || request->session.outputs.count))
		return cli_usage("env: --attachable takes no -o or -s; give these to `rtl attach`");
	if (request->attachable)
		session_set(&request->session, "RTL_ATTACHABLE", "1");
	status = prepare_and_print(&request->session, shell);
	session_fini(&request->session);
	return status;
}

const struct cli_command cmd_env = {
	.name = "env",
	.operands = "",
	.purpose = "Prints the variables to export where rtl cannot start the program",
	.details = "Use it as: eval \"$(rtl env)\"\n"
		   "Then: RTL_SUBSCRIBERS=libsqlite_sub.so:libstats_sub.so ./app",
	CLI_OPTIONS(options),
	.excess = "; use `rtl trace` to run a command",
	.request_size = sizeof(struct request),
	.request = &(const struct request){.session = {.default_mode = RTL_TRACE_MODE,
						       .for_shell = true}},
	.run = run,
};
