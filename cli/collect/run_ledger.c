/* SPDX-License-Identifier: MIT */
#include "run_ledger.h"

#include <inttypes.h>

#include <rtl/events.h>

#include "cli.h"
#include "collect.h"
#include "database.h"

/* Causes of what a mode does not record: the user has chosen that. */
#define MODE "mode "

static struct run_ledger watched;

static bool is_of_gpu(const char *stream)
{
	return !strcmp(stream, RTL_STREAM_HSA) || !strcmp(stream, RTL_STREAM_HSA_COPY);
}

/* What is known of a stream; takes the causes. `published` and `lost` with what was missed. */
struct stream {
	const char *name;
	uint64_t published, delivered, left_out, lost, lost_by_mode, unfinished;
	char *causes;
	FILE *file; /* of the causes, while they are collected */
};

static void add_stream(struct run_ledger *ledger, const struct stream *s)
{
	const uint64_t others = s->lost_by_mode + s->unfinished;
	const uint64_t lost = s->lost > others ? s->lost - others : 0;

	ledger->delivered += s->delivered;
	ledger->left_out += s->left_out;
	if (is_of_gpu(s->name)) {
		ledger->gpu_published += s->published;
		ledger->gpu_delivered += s->delivered;
		ledger->gpu_left_out += s->left_out;
		ledger->gpu_lost += s->lost > s->unfinished ? s->lost - s->unfinished : 0;
		ledger->gpu_unfinished += s->unfinished;
	}
	if (!lost && !s->unfinished) {
		free(s->causes);
		return;
	}
	*CLI_ADD(ledger->losses, ledger->loss_count) = (struct run_loss){
		cli_need(strdup(s->name)), s->causes, s->published, lost, s->unfinished};
}

/* ---- from the host ---- */

static void add_cause(void *user, const char *cause, uint64_t count)
{
	struct stream *s = user;

	if (!strncmp(cause, MODE, sizeof(MODE) - 1))
		s->lost_by_mode += count;
	else if (!strcmp(cause, RTL_CAUSE_UNDER_WAY))
		s->unfinished += count;
	else
		fprintf(s->file, "%s%s: %" PRIu64, ftell(s->file) ? ", " : "", cause, count);
}

static void ask_host(struct run_ledger *ledger, const struct rtl_stream_info *info)
{
	struct rtl_ledger l = {.struct_size = sizeof(l)};
	struct stream stream = {.name = info->name};
	size_t size;

	if (!strcmp(info->name, "rtl.diagnostics") ||
	    collect_host->ledger(collect_host, NULL, info, &l))
		return;
	stream.file = cli_need(open_memstream(&stream.causes, &size));
	collect_host->losses(collect_host, NULL, info, add_cause, &stream);
	cli_need(fclose(stream.file) ? NULL : stream.causes);
	stream.published = l.published + l.missed;
	stream.delivered = l.delivered;
	stream.left_out = l.left_out;
	stream.lost = l.discarded + l.abandoned + l.missed;
	add_stream(ledger, &stream);
}

int run_ledger_finish(void *instance)
{
	run_ledger_fini(&watched);
	for (size_t i = 0; i < collect_stream_count; i++)
		ask_host(&watched, collect_streams[i]);
	watched.known = true;
	return 0;
}

const struct rtl_subscriber run_ledger_watch =
	COLLECT_OWN("ledger", collect_note_stream, NULL, run_ledger_finish);

void run_ledger_take(struct run_ledger *ledger)
{
	*ledger = watched;
	watched = (struct run_ledger){0};
}

/* ---- from a trace ---- */

static uint64_t number(const char *text)
{
	return text ? strtoull(text, NULL, 10) : 0;
}

static void take_row(void *ledger, const char *const *row)
{
	const struct stream stream = {
		.name = cli_text(row[0]),
		.published = number(row[1]),
		.delivered = number(row[2]),
		.lost = number(row[3]),
		.left_out = number(row[4]),
		.lost_by_mode = number(row[5]),
		.unfinished = number(row[6]),
		.causes = cli_need(strdup(cli_text(row[7]))),
	};

	add_stream(ledger, &stream);
}

void run_ledger_read(struct run_ledger *ledger, struct database *database)
{
	*ledger = (struct run_ledger){.known = true};
	database_query(
		database,
		"SELECT stream, sum(published + missed), sum(delivered), sum(discarded +"
		" abandoned + missed), (SELECT sum(count) FROM rtl_left_out AS o WHERE"
		" o.stream = l.stream), (SELECT sum(count) FROM rtl_loss AS m WHERE m.stream ="
		" l.stream AND m.cause GLOB '" MODE "*'), (SELECT sum(count) FROM rtl_loss AS u"
		" WHERE u.stream = l.stream AND u.cause = '" RTL_CAUSE_UNDER_WAY "'), (SELECT"
		" group_concat(cause || ': ' || n, ', ') FROM (SELECT cause, sum(count) AS n"
		" FROM rtl_loss AS c WHERE c.stream = l.stream AND c.cause NOT GLOB '" MODE
		"*' AND c.cause <> '" RTL_CAUSE_UNDER_WAY "' GROUP BY cause ORDER BY 2 DESC, 1))"
		" FROM rtl_ledger AS l WHERE stream <> 'rtl.diagnostics' GROUP BY stream",
		take_row, ledger);
}

/* ---- */

void run_ledger_say_gpu(const struct run_ledger *ledger, FILE *out)
{
	const char *before = " (";

	if (ledger->gpu_lost)
		fprintf(out, "%" PRIu64 " lost", ledger->gpu_lost);
	for (size_t i = 0; i < ledger->loss_count; i++) {
		const struct run_loss *loss = &ledger->losses[i];

		if (!is_of_gpu(loss->stream) || !*loss->causes)
			continue;
		fprintf(out, "%s%s", before, loss->causes);
		before = ", ";
	}
	if (*before == ',')
		fputc(')', out);
	if (ledger->gpu_unfinished)
		fprintf(out, "%s%" PRIu64 " had not ended when the process did",
			ledger->gpu_lost ? ", " : "", ledger->gpu_unfinished);
}

void run_ledger_say(const struct run_ledger *ledger, bool other_streams)
{
	for (size_t i = 0; i < ledger->loss_count; i++) {
		const struct run_loss *loss = &ledger->losses[i];
		const char *causes = loss->causes;

		if (other_streams && is_of_gpu(loss->stream))
			continue;
		if (loss->lost)
			cli_error("%s: %" PRIu64 " of %" PRIu64 " events LOST%s%s%s", loss->stream,
				  loss->lost, loss->published, *causes ? " (" : "", causes,
				  *causes ? ")" : "");
		if (loss->unfinished)
			cli_error("%s: %" PRIu64 " of %" PRIu64
				  " had not ended when the process did",
				  loss->stream, loss->unfinished, loss->published);
	}
}

void run_ledger_fini(struct run_ledger *ledger)
{
	for (size_t i = 0; i < ledger->loss_count; i++) {
		free(ledger->losses[i].stream);
		free(ledger->losses[i].causes);
	}
	free(ledger->losses);
	*ledger = (struct run_ledger){0};
}
