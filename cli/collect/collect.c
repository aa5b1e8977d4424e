/* SPDX-License-Identifier: MIT */
/* See collect.h. */
#include "collect.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

#include "database.h"
#include "host.h"
#include "launch.h"
#include "library.h"
#include "notes.h"
#include "thread_start.h"

/* Longest sleep: few events of a quiet process are written after so long. Processes that come and
 * rings that fill end it. */
#define SLEEP_MS 100
/* How much the buffers may grow, in percent, while the command goes first; and when it goes first again. */
#define GROWN_MOST   25u
#define GROWN_LITTLE 5u
#define MESSAGE_SIZE 8192

/* What the interceptors for ROCm publish; without them processes tell it themselves. */
static const struct rtl_stream_info *const *find_streams(size_t *count)
{
	char *path = library_beside_rtl(LIBRARY_ROCM);
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	rtl_publisher_streams_fn publisher = handle ? library_publisher(handle) : NULL;

	free(path);
	*count = 0;
	return publisher ? publisher(count) : NULL;
}

static void set_or_unset(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

void collect_set_properties(const char *id, const char *mode)
{
	set_or_unset("RTL_SESSION", id);
	set_or_unset("RTL_MODE", mode);
}

/* Subscribers read our environment as they would read the program's. */
static void set_properties(const struct launch *launch)
{
	const char *there = getenv("RTL_SUBSCRIBERS");

	if (there && *there)
		cli_error("RTL_SUBSCRIBERS is ignored: `rtl trace` runs the subscribers of "
			  "--subscribers");
	unsetenv("RTL_SUBSCRIBERS");
	unsetenv("RTL_COLLECTOR");
	unsetenv("RTL_ENDED");
	collect_set_properties(launch->id, session_mode(&launch->session));
}

/* Says why a collector could not be created. */
static int refuse(int error, const char *message)
{
	const char *log = getenv("RTL_LOG");

	/* what is wrong with a subscriber has been said where the log goes */
	if (error != RTL_EPLUGIN || (log && *log))
		cli_error("%s", message);
	return CLI_FAILED;
}

static int take_notes(const struct launch *launch, const struct rtl_collector_options *options)
{
	const struct collect *collect = &launch->collect;
	const struct session *session = &launch->session;
	const struct notes notes = {
		.session = (char *)(uintptr_t)launch->id,
		.mode = (char *)(uintptr_t)session_mode(session),
		.subscribers = session->list,
		.database = session->database,
		.command = launch->command[0],
		.recording = (char *)(uintptr_t)rtl_collector_recording(collect->collector),
	};
	/* of what cannot be recovered, only for `rtl status`, and not of a flight recorder */
	const bool writes = options->subscribers && *options->subscribers;
	const struct notes shown = {.database = writes ? session->database : NULL};
	const bool attached = options->kind == RTL_ATTACH;
	int error = notes_write(collect->folder, attached ? &shown : &notes);

	return error && !attached
		       ? cli_failed("cannot write to %s: %s; name another folder with --spool",
				    collect->folder, strerror(error))
		       : CLI_OK;
}

static void tell_progress(void *user, uint64_t left_bytes)
{
	progress_tell(user, left_bytes);
}

int collect_start(struct launch *launch, struct rtl_collector_options options)
{
	char message[MESSAGE_SIZE] = "", *base = NULL;
	struct collect *collect = &launch->collect;
	const struct selection *selection = collect->selection;
	const char *spool = launch->spool ? launch->spool : getenv("RTL_SPOOL");
	int status, error;

	set_properties(launch);
	if (spool && *spool && !(base = session_absolute_path(spool)))
		return cli_failed("working directory: %s", strerror(errno));
	options.struct_size = sizeof(options);
	if (options.kind != RTL_ATTACH)
		options.folder = base;
	options.paused = launch->paused;
	options.progress = tell_progress;
	options.progress_user = &collect->progress;
	if (!options.own)
		options.streams = find_streams(&options.stream_count);
	if (!options.own && options.subscribers)
		options.own = &run_ledger_watch;
	if (selection) {
		options.delay_ns = selection->delay_ns;
		options.duration_ns = selection->duration_ns;
		options.repeat = selection->repeat;
		options.last_ns = options.limit_bytes ? selection->last_ns : 0;
	}
	error = rtl_collector_create(&options, &collect->collector, message, sizeof(message));
	free(base);
	if (error)
		return refuse(error, message);
	collect->folder = rtl_collector_folder(collect->collector);
	session_set(&launch->session,
		    options.own == &collect_nothing ? "RTL_CONTROL" : "RTL_COLLECTOR",
		    collect->folder);
	status = take_notes(launch, &options);
	if (status)
		collect_finish(collect);
	return status;
}

const struct rtl_host *collect_host;
const struct rtl_stream_info **collect_streams;
size_t collect_stream_count;

int collect_create(const struct rtl_host *host, const struct rtl_setting *settings, size_t count,
		   void **instance)
{
	collect_host = host;
	collect_stream_count = 0;
	*instance = NULL;
	return 0;
}

int collect_note_stream(void *instance, const struct rtl_stream_info *stream)
{
	*CLI_ADD(collect_streams, collect_stream_count) = stream;
	return 0;
}

const struct rtl_subscriber collect_nothing = COLLECT_OWN("nothing", NULL, NULL, NULL);

/* Whether this thread has lately had more than a tenth of a processor. */
static bool is_busy(struct collect *collect)
{
	const uint64_t now = host_clock_ns(CLOCK_MONOTONIC);
	const uint64_t used = host_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t passed = now - collect->looked_ns, busy = used - collect->used_ns;

	if (passed < SLEEP_MS * 1000000u)
		return false;
	collect->looked_ns = now;
	collect->used_ns = used;
	return busy > passed / 10;
}

/* Polls so that the command goes first, as long as there is room for what waits. That a thread is nice cannot be taken
 * back without privileges: the main thread is not. */
static void *poll_nicely(void *user)
{
	struct collect *collect = user;

	setpriority(PRIO_PROCESS, 0, 19); /* this thread's */
	pthread_setname_np(pthread_self(), "rtl-nice");
	crash_explain_thread(true);
	do
		collect->met = rtl_collector_poll(collect->collector, SLEEP_MS);
	while (!__atomic_load_n(&collect->nice_ends, __ATOMIC_RELAXED) &&
	       rtl_collector_grown(collect->collector) <= GROWN_MOST);
	crash_explain_thread(false);
	return NULL;
}

void collect_poll(void *user)
{
	struct collect *collect = user;
	struct timespec end;
	uint64_t end_ns;

	if (collect->nice_runs) {
		end_ns = host_clock_ns(CLOCK_REALTIME) + SLEEP_MS * 1000000u;
		end = (struct timespec){(time_t)(end_ns / 1000000000), (long)(end_ns % 1000000000)};
		/* not pthread_clockjoin_np, of which sanitizers do not know that it joins */
		collect->nice_runs = pthread_timedjoin_np(collect->nice, NULL, &end) != 0;
		return;
	}
	collect->met = rtl_collector_poll(collect->collector, SLEEP_MS);
	if (!is_busy(collect) || rtl_collector_grown(collect->collector) > GROWN_LITTLE)
		return;
	__atomic_store_n(&collect->nice_ends, false, __ATOMIC_RELAXED);
	collect->nice_runs = thread_start(&collect->nice, poll_nicely, collect);
}

void collect_wake(void *user)
{
	struct collect *collect = user;

	__atomic_store_n(&collect->nice_ends, true, __ATOMIC_RELAXED);
	rtl_collector_wake(collect->collector);
}

bool collect_is_stoppable(void *user)
{
	struct collect *collect = user;
	const bool shown = progress_is_shown(&collect->progress);

	progress_clear(&collect->progress);
	return shown;
}

/* Whether the collector failed at something; prints why. */
static bool say_failure(const struct rtl_collector *collector)
{
	const char *failure = rtl_collector_failure(collector);

	if (failure)
		cli_error("%s", failure);
	return failure;
}

void collect_finish(struct collect *collect)
{
	struct rtl_folder is = {.struct_size = sizeof(is)};

	if (collect->nice_runs) {
		collect_wake(collect);
		pthread_join(collect->nice, NULL);
		collect->nice_runs = false;
	}
	progress_init(&collect->progress, "writing what is left", collect->quiet);
	/* takes those in that have come since the last look */
	collect->met = rtl_collector_poll(collect->collector, 0);
	if (!rtl_folder_look(collect->folder, &is)) {
		collect->refused = is.refused;
		collect->paused = is.paused;
	}
	rtl_collector_finish(collect->collector, &collect->left);
	run_ledger_take(&collect->ledger);
	collect->kept_ms = rtl_collector_kept_ms(collect->collector);
	if (rtl_collector_recording(collect->collector))
		collect->recording = strdup(rtl_collector_recording(collect->collector));
	progress_clear(&collect->progress);
	collect->failed = say_failure(collect->collector);
	collect->kept = collect->failed ? strdup(collect->folder) : NULL;
	rtl_collector_destroy(collect->collector);
	collect->collector = NULL;
	collect->folder = NULL;
}

/* Subscribers without a file print; a bar would stand in that. */
static void show_progress(struct rtl_collector_options *options, struct progress *progress,
			  bool quiet)
{
	const char *list = options->subscribers;

	progress_init(progress, "reading",
		      quiet || (!options->own && list && !strstr(list, "output=")));
	if (options->kind == RTL_REPLAY)
		progress->stops = "Ctrl-C stops";
	options->progress = tell_progress;
	options->progress_user = progress;
}

static int deliver(struct rtl_collector_options options, uint32_t *left, bool death_said,
		   bool quiet)
{
	struct rtl_collector *collector;
	struct progress progress;
	char message[MESSAGE_SIZE] = "", *words;
	uint32_t running;
	int error;

	options.struct_size = sizeof(options);
	unsetenv("RTL_SUBSCRIBERS");
	unsetenv("RTL_COLLECTOR");
	words = cli_format(options.kind == RTL_REPLAY
				   ? "the output is not complete; what is in %s is unchanged"
				   : "not all was recovered; `rtl recover` may continue with "
				     "%s, --subscribers LIST chooses others",
			   options.folder);
	crash_explain(words);
	show_progress(&options, &progress, quiet);
	error = rtl_collector_create(&options, &collector, message, sizeof(message));
	if (!error)
		rtl_collector_finish(collector, &running);
	progress_clear(&progress);
	crash_explain(NULL);
	free(words);
	if (error)
		return refuse(error, message);
	error = say_failure(collector);
	if (rtl_collector_interruption(collector) && !death_said)
		cli_error("%s", rtl_collector_interruption(collector));
	rtl_collector_destroy(collector);
	if (left)
		*left = running;
	return error ? CLI_FAILED : CLI_OK;
}

int collect_deliver(uint32_t kind, const char *folder, const char *subscribers, uint32_t *left,
		    bool death_said, bool quiet)
{
	const bool record = kind == RTL_RECORD_RECOVER;

	return deliver((struct rtl_collector_options){.kind = kind,
						      .subscribers = record ? NULL : subscribers,
						      .output = record ? subscribers : NULL,
						      .folder = folder},
		       left, death_said, quiet);
}

int collect_feed(char *const *traces, size_t count, const char *input, const char *subscribers,
		 const struct rtl_subscriber *own)
{
	return deliver((struct rtl_collector_options){.kind = RTL_REPLAY,
						      .subscribers = subscribers,
						      .folder = traces[0],
						      .input = input,
						      .more = (const char *const *)traces + 1,
						      .more_count = count - 1,
						      .own = own},
		       NULL, false, false);
}

int collect_inspect(const char *path, bool is_folder, const struct rtl_subscriber *own)
{
	const struct rtl_collector_options options = {
		.struct_size = sizeof(options),
		.kind = is_folder ? RTL_INSPECT : RTL_REPLAY,
		.subscribers = "",
		.folder = path,
		.own = own,
	};
	struct rtl_collector *collector;
	char message[MESSAGE_SIZE] = "";
	uint32_t left;
	int error = rtl_collector_create(&options, &collector, message, sizeof(message));

	if (error)
		return refuse(error, message);
	if (is_folder)
		rtl_collector_finish(collector, &left);
	else
		rtl_collector_poll(collector, 0);
	rtl_collector_destroy(collector);
	return CLI_OK;
}

int collect_check_output(const char *path)
{
	struct database *database = path ? database_open(path, false) : NULL;
	char *writer = database ? database_fact(database, "writer") : NULL;
	bool good = !path || (database && !writer);

	if (writer)
		cli_error("%s is not complete: it could not be written to the end", path);
	free(writer);
	database_close(database);
	return good ? CLI_OK : CLI_FAILED;
}
