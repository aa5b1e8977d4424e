/* SPDX-License-Identifier: MIT */
/* plugin.c: the descriptor, the settings, and the calls of the host.
 *
 * Rows are sent when the oldest has waited for `interval`, when there are many, or when threads are short of room.
 * Until then the host keeps what was delivered (rtl_host.keep), so that it survives the host; and so it does while the
 * server is away. */
#include <errno.h>

#include "sub.h"

#define SECOND_NS 1000000000u
/* So many rows are sent without waiting. */
#define ROWS_DUE BLOCK_ROWS
/* A program waits no longer, at its end or where the server does not answer; an rtl does. */
#define IN_PROCESS_WAIT_S 3u

static const struct rtl_setting_info setting_infos[] = {
	[SERVER] = RTL_TEXT_SETTING("server", "localhost", 1, 255, "name or address of the server"),
	[PORT] = RTL_NUMBER_SETTING("port", NULL, 1, 65535,
				    "of its HTTP interface (default: 8123, with tls 8443)"),
	[TLS] = RTL_SWITCH_SETTING("tls", "no", "HTTPS"),
	[CA] = RTL_TEXT_SETTING("ca", NULL, 1, 0,
				"file with the certificate of the server's authority; without it "
				"the system's"),
	[DATABASE] =
		RTL_TEXT_SETTING("database", "default", 1, 0, "that has the tables, or gets them"),
	[USER] = RTL_TEXT_SETTING("user", "default", 1, 0, "of the server"),
	[PASSWORD] = RTL_TEXT_SETTING("password", NULL, 0, 0,
				      "the user's; better in RTL_CLICKHOUSE_PASSWORD"),
	[RUN] = RTL_TEXT_SETTING("run", "", 0, 0,
				 "what the ranks of a job have in common, with %q{NAME} and %h "
				 "(default: the job's id, as its launcher tells it)"),
	[INTERVAL] =
		RTL_NUMBER_SETTING("interval", "5", 0, 3600, "seconds that rows wait for others"),
	[WAIT] = RTL_NUMBER_SETTING("wait", "60", 0, 86400,
				    "seconds to wait at the end for an unavailable server"),
	[TIMEOUT] = RTL_NUMBER_SETTING("timeout", "10", 1, 3600,
				       "seconds without an answer after which it is unavailable"),
	[ARGS] = RTL_SWITCH_SETTING("args", "no", "calls with their arguments"),
};

/* ---- what waits ---- */

static bool keeps(const struct sub *sub, bool anyway)
{
	return sub->host->keep(sub->host, anyway) == 0;
}

static int fail(struct sub *sub, const char *message)
{
	if (!sub->failed)
		host_say(sub->host, RTL_LEVEL_ERROR, "%s; %llu rows are not stored", message,
			 (unsigned long long)sub->store.rows);
	sub->failed = true;
	return RTL_EIO;
}

static void say_back(struct sub *sub)
{
	if (sub->said_away)
		host_say(sub->host, RTL_LEVEL_WARNING,
			 "the server is back: what was kept is stored");
	sub->said_away = false;
}

static void say_away(struct sub *sub)
{
	if (!sub->said_away)
		host_say(sub->host, RTL_LEVEL_WARNING,
			 "%s: events are kept in the program's buffers, as far as these go, and it "
			 "is tried again",
			 sub->store.http.message);
	sub->said_away = true;
}

/* Sends all waiting rows. 0; 1: not now; or an error, after a message. */
static int commit(struct sub *sub)
{
	enum http_result result;

	if (sub->lost_memory)
		return fail(sub, "out of memory");
	if (clock_now_ns() < sub->store.retry_ns)
		return 1;
	result = store_commit(&sub->store);
	if (result == HTTP_REFUSED)
		return fail(sub, sub->store.http.message);
	if (result != HTTP_DONE) {
		say_away(sub);
		return 1;
	}
	say_back(sub);
	return 0;
}

/* ---- life ---- */

static void plugin_destroy(void *instance)
{
	struct sub *sub = instance;

	store_fini(&sub->store);
	events_fini(sub);
	list_free(sub->streams);
	lookup_fini(sub);
	names_fini(&sub->names);
	if (sub->texts[PASSWORD])
		explicit_bzero(sub->texts[PASSWORD], strlen(sub->texts[PASSWORD]));
	for (int i = 0; i < SETTINGS; i++)
		free(sub->texts[i]);
	free(sub->run);
	free(sub);
}

static bool take_settings(struct sub *sub, const struct rtl_setting *settings)
{
	const char *secret = getenv("RTL_CLICKHOUSE_PASSWORD");
	bool done = true;

	sub->interval_ns = rtl_setting_at(settings, INTERVAL)->number * SECOND_NS;
	sub->wait_ns = rtl_setting_at(settings, WAIT)->number * SECOND_NS;
	sub->timeout_s = (uint32_t)rtl_setting_at(settings, TIMEOUT)->number;
	sub->args = rtl_setting_at(settings, ARGS)->number;
	for (size_t i = 0; i < SETTINGS; i++) {
		const char *value = rtl_setting_at(settings, i)->value;

		if (i == PASSWORD && !value)
			value = secret ? secret : "";
		done &= !value || (sub->texts[i] = strdup(value));
	}
	return done;
}

static void meet_host(struct sub *sub)
{
	sub->recovers = host_is(sub->host, "recover");
	sub->replays = host_is(sub->host, "replay");
	sub->in_process = host_is(sub->host, "process");
	if (sub->in_process && sub->wait_ns > IN_PROCESS_WAIT_S * (uint64_t)SECOND_NS)
		sub->wait_ns = IN_PROCESS_WAIT_S * (uint64_t)SECOND_NS;
	if (sub->in_process && sub->timeout_s > IN_PROCESS_WAIT_S)
		sub->timeout_s = IN_PROCESS_WAIT_S;
}

static int begin(struct sub *sub, const struct rtl_setting *settings)
{
	const bool tls = rtl_setting_at(settings, TLS)->number;
	const uint64_t port = rtl_setting_at(settings, PORT)->number;
	const char *session = sub->host->property(sub->host, "session");
	struct http_server server;

	if (!take_settings(sub, settings))
		return RTL_ENOMEM;
	meet_host(sub);
	server = (struct http_server){
		.host = sub->texts[SERVER],
		.port = (uint16_t)(port  ? port
				   : tls ? 8443
					 : 8123),
		.tls = tls,
		.ca = sub->texts[CA],
		.database = sub->texts[DATABASE],
		.user = sub->texts[USER],
		.password = sub->texts[PASSWORD],
		.timeout_s = sub->timeout_s,
	};
	return store_init(&sub->store, &server, &sub->names, session ? session : "none") ||
			       !events_init(sub)
		       ? RTL_ENOMEM
		       : 0;
}

/* A server that refuses us is an error at once; one that is away may come back. */
static int look_for_server(struct sub *sub)
{
	enum http_result result;

	if (sub->recovers || sub->replays)
		return run_await_server(sub) == HTTP_DONE ? 0 : RTL_EIO;
	result = store_prepare(&sub->store);
	if (result == HTTP_REFUSED)
		return host_fail(sub->host, RTL_EINVAL, "%s", sub->store.http.message);
	if (result != HTTP_DONE)
		say_away(sub);
	return 0;
}

static int plugin_create(const struct rtl_host *host, const struct rtl_setting *settings,
			 size_t count, void **instance)
{
	struct sub *sub;
	int result;

	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return RTL_ENOTSUP;
	sub = calloc(1, sizeof(*sub));
	if (!sub)
		return RTL_ENOMEM;
	sub->host = host;
	sub->last_stream = &sub->streams;
	result = begin(sub, settings);
	if (result == 0)
		result = look_for_server(sub);
	if (result != 0) {
		plugin_destroy(sub);
		return result;
	}
	*instance = sub;
	return 0;
}

static int plugin_stream(void *instance, const struct rtl_stream_info *info)
{
	struct sub *sub = instance;
	struct stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return RTL_ENOMEM;
	stream->sub = sub;
	stream->info = info;
	*sub->last_stream = stream;
	sub->last_stream = &stream->next;
	return events_subscribe(stream);
}

static int plugin_process_begin(void *instance, const struct rtl_process *info)
{
	struct sub *sub = instance;
	struct process *process = lookup_process(sub, info);

	return process ? run_begin(sub, process) : RTL_ENOMEM;
}

static int plugin_process_end(void *instance, const struct rtl_process *info)
{
	struct sub *sub = instance;
	struct process *process = lookup_process(sub, info);

	if (!process)
		return RTL_ENOMEM;
	if (sub->run) /* else it has not begun */
		run_end(sub, process);
	return 0;
}

static int plugin_flush(void *instance)
{
	struct sub *sub = instance;
	int result;

	if (sub->failed)
		return RTL_EIO;
	if (sub->unprepared)
		return fail(sub, sub->store.http.message);
	if (!sub->store.rows ||
	    (sub->store.rows < ROWS_DUE &&
	     clock_now_ns() - sub->store.waiting_ns < sub->interval_ns && keeps(sub, false)))
		return 0;
	result = commit(sub);
	if (result > 0)
		return keeps(sub, true) ? 0 : fail(sub, sub->store.http.message);
	return result;
}

/* Whether the end has waited for `wait` and nothing could be stored. */
static bool has_waited(const struct sub *sub, uint64_t begin_ns)
{
	const uint64_t away_ns = sub->store.away_ns;

	return clock_now_ns() - (away_ns > begin_ns ? away_ns : begin_ns) >= sub->wait_ns;
}

/* The last rows; waits for a server that is away. */
static int plugin_finish(void *instance)
{
	const struct timespec step = {0, SECOND_NS / 20};
	struct sub *sub = instance;
	const uint64_t begin_ns = clock_now_ns();
	int result;

	if (sub->failed)
		return RTL_EIO;
	run_finish(sub);
	while ((result = sub->store.rows ? commit(sub) : 0) > 0 && !has_waited(sub, begin_ns))
		nanosleep(&step, NULL);
	if (result > 0)
		return fail(sub, sub->store.http.message);
	if (result == 0 && sub->run)
		host_say(sub->host, RTL_LEVEL_INFO, "%s: %llu rows of the run '%s'",
			 sub->store.http.url, (unsigned long long)sub->store.stored, sub->run);
	return result;
}

HOST_SUBSCRIBER("clickhouse", "rows for a ClickHouse server: the runs of a fleet, side by side",
		setting_infos);
