/* SPDX-License-Identifier: MIT */
/* run.c: the part of sub.h about runs and processes. A run is a job: all of its ranks, whichever rtl stores them. What
 * an earlier host has stored of a process is found again by its spool. */
#include <inttypes.h>

#include "array.h"
#include "output_name.h"
#include "sub.h"

#define STEP_NS 100000000u

/* ---- the run ---- */

/* As the process knows it, or else its host. */
static const char *name_of_run(const struct sub *sub, const struct rtl_process *info)
{
	const size_t size = offsetof(struct rtl_process, run) + sizeof(info->run);
	const char *session = sub->host->property(sub->host, "session");

	if (info->struct_size >= size && info->run && *info->run)
		return info->run;
	return session && *session ? session : "run";
}

static int choose_run(struct sub *sub, const struct rtl_process *info)
{
	const struct output_names names = output_names_of(info);
	int result = 0;

	if (*sub->texts[RUN])
		result = output_expand(sub->texts[RUN], &names, &sub->run);
	else
		sub->run = strdup(name_of_run(sub, info));
	sub->day = (uint16_t)(host_clock_ns(CLOCK_REALTIME) / 1000000000u / 86400u);
	if (result == RTL_EINVAL)
		host_say(sub->host, RTL_LEVEL_ERROR,
			 "run=%s: what stands behind a percent sign is not set, or has no meaning",
			 sub->texts[RUN]);
	return result ? result : sub->run ? 0 : RTL_ENOMEM;
}

/* ---- what is stored ---- */

enum http_result run_await_server(struct sub *sub)
{
	const uint64_t end = clock_now_ns() + sub->wait_ns;
	const struct timespec step = {0, STEP_NS};
	enum http_result result = store_prepare(&sub->store);

	while (result != HTTP_DONE && result != HTTP_REFUSED && clock_now_ns() < end) {
		nanosleep(&step, NULL);
		result = store_prepare(&sub->store);
	}
	if (result != HTTP_DONE)
		host_say(sub->host, RTL_LEVEL_ERROR, "%s", sub->store.http.message);
	return result;
}

/* INSERTs of the rtl that died may still be under way. */
static enum http_result await_inserts(struct sub *sub)
{
	const char *session = sub->host->property(sub->host, "session");
	const uint64_t end = clock_now_ns() + sub->wait_ns;
	const struct timespec step = {0, STEP_NS};
	enum http_result result;
	char pattern[64];

	snprintf(pattern, sizeof(pattern), "rtl-%.30s-%%", session ? session : "");
	while ((result = store_is_quiet(&sub->store, pattern)) == HTTP_BUSY && clock_now_ns() < end)
		nanosleep(&step, NULL);
	return result;
}

/* The run that it was stored in; one that the user names is another one. */
static enum http_result find_process(struct sub *sub, struct process *process, bool *found)
{
	FILE *out = store_begin(&sub->store);
	enum http_result result;
	uint16_t day;
	char *end;

	*found = false;
	if (!out)
		return HTTP_REFUSED;
	fprintf(out, "SELECT toUInt16(day), boot_ns, run FROM rtl_process WHERE spool = %" PRIu64,
		process->info->spool_id);
	if (sub->run) {
		fputs(" AND run = ", out);
		store_put_text(out, sub->run);
	}
	fputs(" ORDER BY version DESC LIMIT 1 FORMAT TabSeparatedRaw", out);
	result = store_send(&sub->store);
	if (result != HTTP_DONE || !sub->store.http.answer_size)
		return result;
	day = (uint16_t)strtoul(sub->store.http.answer, &end, 10);
	if (*end == '\t')
		process->boot_ns = strtoll(end + 1, &end, 10);
	if (*end == '\t' && !sub->run) { /* up to the line's end */
		sub->run = strndup(end + 1, strlen(end + 1) - (end[1] != '\0'));
		sub->day = day;
	}
	*found = sub->run != NULL; /* not in an answer of another kind */
	return result;
}

static bool add_mark(struct process *process, const char *table, size_t length, uint32_t ring,
		     uint64_t position)
{
	char *name = strndup(table, length);
	struct mark *mark = name ? ARRAY_ADD(process->marks, process->mark_count) : NULL;

	if (mark)
		*mark = (struct mark){name, ring, position};
	else
		free(name);
	return mark != NULL;
}

/* Asks for all tables of events at once. */
static enum http_result ask_for_marks(struct sub *sub, const struct process *process,
				      const char *tables)
{
	FILE *out = store_begin(&sub->store);
	size_t length;

	if (!out)
		return HTTP_REFUSED;
	for (const char *at = tables; *at; at += length + (at[length] == '\n')) {
		length = strcspn(at, "\n");
		fprintf(out, "%sSELECT '%.*s', ring, max(position) FROM `%.*s` WHERE run = ",
			at == tables ? "" : " UNION ALL ", (int)length, at, (int)length, at);
		store_put_text(out, sub->run);
		fprintf(out, " AND spool = %" PRIu64 " GROUP BY ring", process->info->spool_id);
	}
	return store_send(&sub->store);
}

static enum http_result find_marks(struct sub *sub, struct process *process)
{
	struct store *store = &sub->store;
	enum http_result result = store_ask(
		store, "SELECT name FROM system.tables WHERE database = currentDatabase() AND "
		       "name LIKE 'rtl\\_e\\_%%' FORMAT TabSeparatedRaw");
	char *end;

	if (result != HTTP_DONE)
		return result;
	result = ask_for_marks(sub, process, http_answer(&store->http));
	if (result != HTTP_DONE || !store->http.answer_size)
		return result;
	for (const char *at = store->http.answer; *at; at = *end ? end + 1 : end) {
		const size_t length = strcspn(at, "\t\n");
		const uint32_t ring = (uint32_t)strtoul(at + length, &end, 10);
		const uint64_t position = strtoull(end, &end, 10);

		if (!add_mark(process, at, length, ring, position))
			return HTTP_REFUSED;
	}
	return result;
}

bool run_has_stored(const struct process *process, const char *table, const struct rtl_event *event)
{
	for (size_t i = 0; i < process->mark_count; i++)
		if (process->marks[i].ring == event->ring &&
		    !strcmp(process->marks[i].table, table))
			return event->position <= process->marks[i].position;
	return false;
}

/* Of a process of the past. */
static int find_stored(struct sub *sub, struct process *process)
{
	enum http_result result = run_await_server(sub);
	bool found;

	if (result != HTTP_DONE)
		return RTL_EIO; /* said */
	if (sub->recovers)
		result = await_inserts(sub);
	if (result == HTTP_DONE)
		result = find_process(sub, process, &found);
	if (result == HTTP_DONE && found)
		result = find_marks(sub, process);
	if (result == HTTP_DONE)
		return 0;
	return host_fail(sub->host, RTL_EIO, "what is stored already cannot be told: %s",
			 *sub->store.http.message ? sub->store.http.message : "out of memory");
}

/* ---- processes ---- */

/* Begins a row with what all have in common; NULL: no memory. */
static struct json *begin_fact(struct sub *sub, enum store_fact fact, const struct process *process)
{
	struct json *json = store_fact(&sub->store, fact);

	if (json)
		json_print(json, "run:%s rank:%d host:%s spool:%lu", sub->run, process->info->rank,
			   name_text(&sub->names, process->host), process->info->spool_id);
	return json;
}

static const char *text_of(const char *text)
{
	return text ? text : "";
}

static void add_process(struct sub *sub, struct process *process)
{
	const struct rtl_host *host = sub->host;
	const struct rtl_process *info = process->info;
	const time_t began = (time_t)process->day * 86400;
	struct rtl_calibration calibration = {.struct_size = sizeof(calibration)};
	struct rtl_waits waits = {.struct_size = sizeof(waits)};
	struct json *json = begin_fact(sub, STORE_PROCESS, process);
	char day[16];
	struct tm utc;

	if (!json)
		return;
	host->calibration(host, info, &calibration);
	host->waits(host, info, &waits);
	strftime(day, sizeof(day), "%F", gmtime_r(&began, &utc));
	json_print(
		json,
		"day:%s pid:%d parent_pid:%d program:%s command:%s start_ns:%lu boot_ns:%ld"
		" error_ns:%lu waits:%lu wait_ns:%lu state:%s rtl:%s mode:%s ended:%s pauses:%s}",
		day, info->pid, info->parent_pid, text_of(info->program), text_of(info->command),
		info->start_ns, process->boot_ns, calibration.error_ns, waits.count, waits.total_ns,
		process->ended ? "ended" : "running", text_of(host->property(host, "version")),
		text_of(host->property(host, "mode")), text_of(host->property(host, "ended")),
		text_of(host->property(host, "pauses")));
}

int run_begin(struct sub *sub, struct process *process)
{
	int result = 0;

	if (*sub->texts[RUN] && !sub->run)
		result = choose_run(sub, process->info);
	if (!sub->replays)
		process->boot_ns =
			(int64_t)(host_clock_ns(CLOCK_REALTIME) - host_clock_ns(CLOCK_BOOTTIME));
	if (result == 0 && (sub->recovers || sub->replays))
		result = find_stored(sub, process);
	if (result == 0 && !sub->run)
		result = choose_run(sub, process->info);
	if (result)
		return result;
	process->run = lookup_name(sub, sub->run);
	process->day = sub->day;
	add_process(sub, process);
	return 0;
}

void run_gpu(struct sub *sub, struct process *process, uint32_t node,
	     const struct rtl_tracepoint *tp)
{
	const char *uuid = rtl_tracepoint_value(tp, "uuid");
	const uint64_t name = (uint64_t)lookup_name(sub, uuid) + 1;
	struct json *json;

	if (map_get(&process->gpus, node) == name)
		return; /* it is told again */
	sub->lost_memory |= !map_set(&process->gpus, node, name);
	json = begin_fact(sub, STORE_GPU, process);
	if (json)
		json_print(json, "gpu:%u uuid:%s name:%s product:%s bus_id:%s}", node,
			   text_of(uuid), text_of(tp->name),
			   text_of(rtl_tracepoint_value(tp, "product")),
			   text_of(rtl_tracepoint_value(tp, "bus_id")));
}

/* ---- the ledger ---- */

struct losses {
	struct sub *sub;
	struct process *process;
	enum store_fact fact;
	const char *stream;
};

static void add_loss(void *user, const char *cause, uint64_t count)
{
	const struct losses *losses = user;
	struct json *json = begin_fact(losses->sub, losses->fact, losses->process);

	if (json)
		json_print(json, "stream:%s cause:%s count:%lu}", text_of(losses->stream),
			   text_of(cause), count);
}

static void add_ledger(struct sub *sub, struct process *process, const struct stream *stream)
{
	const struct rtl_host *host = sub->host;
	struct rtl_ledger l = {.struct_size = sizeof(l)};
	struct losses losses = {sub, process, STORE_LOSS, stream->info->name};
	struct json *json;

	if (host->ledger(host, process->info, stream->info, &l) != 0 ||
	    !(l.published || l.delivered || l.discarded || l.abandoned || l.missed))
		return;
	json = begin_fact(sub, STORE_LEDGER, process);
	if (!json)
		return;
	json_print(json,
		   "stream:%s published:%lu delivered:%lu discarded:%lu abandoned:%lu left_out:%lu"
		   " missed:%lu}",
		   text_of(stream->info->name), l.published, l.delivered, l.discarded, l.abandoned,
		   l.left_out, l.missed);
	host->losses(host, process->info, stream->info, add_loss, &losses);
	if (stream->skipped)
		add_loss(&losses, "clickhouse: not as described", stream->skipped);
	losses.fact = STORE_LEFT_OUT;
	host->left_out(host, process->info, stream->info, add_loss, &losses);
}

void run_finish(struct sub *sub)
{
	for (struct process *p = sub->processes; p && sub->run; p = p->next)
		add_process(sub, p);
}

void run_end(struct sub *sub, struct process *process)
{
	for (const struct stream *s = sub->streams; s; s = s->next)
		add_ledger(sub, process, s);
	process->ended = true;
	add_process(sub, process);
}
