/* SPDX-License-Identifier: MIT */
/* rtl record: the cheapest way to trace: keeps what a command publishes as it is, for `rtl replay`. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ending.h"
#include "launch.h"

struct record {
	struct launch launch; /* first: see LAUNCH_OPTIONS */
	bool all;
};

static const struct cli_option options[] = {
	LAUNCH_OPTIONS("FOLDER", "where to write the recording\n"
				 "(default: rtl-COMMAND-PID.rec)"),
	CLI_VALUE('l', "limit", "SIZE", LAUNCH_SELECT(limit),
		  "largest size, e.g. 500M or 20G; beyond it the oldest\n"
		  "events are dropped"),
	CLI_FLAG(0, "all", offsetof(struct record, all),
		 "also keep what other events repeat: begins, and calls\n"
		 "without their arguments"),
};

/* The absolute path of the recording, to be freed; NULL after an error message. */
static char *choose_output(const struct launch *launch)
{
	const struct outputs *outputs = &launch->session.outputs;
	char *name = launch_default_output(launch, ".rec");
	char *path = session_absolute_path(outputs->count ? outputs->names[0] : name);
	struct stat st;

	free(name);
	if (!path) {
		cli_error("working directory: %s", strerror(errno));
	} else if (!lstat(path, &st)) {
		cli_error("record: %s exists; choose another folder with -o, or remove it", path);
		free(path);
		path = NULL;
	}
	return path;
}

static void report(const struct launch *launch, const char *output, int status)
{
	struct ending ending;

	ending_init(&ending, launch, NULL, NULL);
	if (launch->collect.kept) {
		cli_error("the recording %s is not complete; `rtl recover %s` completes it once "
			  "the error above is fixed",
			  output, launch->collect.kept);
	} else if (!launch->collect.met) {
		rmdir(output);
		ending_say(&ending);
	} else if (!launch->quiet) {
		launch_report_ended(launch, status);
		if (launch->collect.paused)
			cli_error("recording was paused when the command %sended",
				  launch->paused ? "began and when it " : "");
		cli_error("recording: %s; `rtl replay %s` makes a database of it", output, output);
	}
	ending_say_missing(&ending);
	if (!launch->collect.met || !launch->quiet)
		launch_report_no_rocm(launch);
	launch_report_left(launch);
}

static int record_command(struct record *record, const char *output)
{
	struct launch *launch = &record->launch;
	struct rtl_collector_options how = {
		.kind = RTL_RECORD, .output = output, .keep_repeated = record->all};
	int status = launch_prepare(launch, false, true), error;

	if (status)
		return status;
	how.limit_bytes = launch->selection.limit_bytes;
	error = launch_run(launch, how, "recording", &status);
	if (error && launch->collected)
		rmdir(output);
	if (error)
		return error;
	report(launch, output, status);
	child_end_like(status);
}

static int run(void *request)
{
	struct record *record = request;
	struct launch *launch = &record->launch;
	char *output;
	int status = launch_begin(launch, "record");

	if (!status && launch->session.outputs.count > 1)
		status = cli_usage("record: give -o once; a recording is one folder");
	if (status)
		return status;
	output = choose_output(launch);
	status = output ? record_command(record, output) : CLI_FAILED;
	launch_fini(launch);
	free(output);
	return status;
}

const struct cli_command cmd_record = {
	.purpose = "Runs a command and keeps its raw events, at the least cost",
	CLI_OPTIONS(options),
	LAUNCH_COMMAND(struct record, "record"),
	.run = run,
};
