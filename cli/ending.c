/* SPDX-License-Identifier: MIT */
/* See ending.h. */
#include "ending.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rtl/events.h>

#include "cli.h"
#include "database.h"
#include "launch.h"

/* ---- what is known ---- */

#define STREAMS "('" RTL_STREAM_HSA "', '" RTL_STREAM_HSA_COPY "')"

struct losses {
	struct ending *ending;
	FILE *causes;
};

/* cause, how many */
static void add_loss(void *user, const char *const *row)
{
	struct losses *losses = user;

	if (!row[0] || !row[1])
		return;
	fprintf(losses->causes, "%s%s: %s", ftell(losses->causes) ? ", " : "", row[0], row[1]);
	if (!strcmp(row[0], RTL_CAUSE_UNDER_WAY))
		losses->ending->cut_off += strtoull(row[1], NULL, 10);
}

/* how many in all, how many lost */
static void add_ledger(void *user, const char *const *row)
{
	struct ending *ending = user;

	ending->used_gpu = row[0] && strtoull(row[0], NULL, 10) > 0;
	ending->lost = row[1] ? strtoull(row[1], NULL, 10) : 0;
}

/* how many */
static void add_left_out(void *user, const char *const *row)
{
	struct ending *ending = user;

	ending->not_selected = row[0] ? strtoull(row[0], NULL, 10) : 0;
}

static void look_into(struct ending *ending, struct database *database)
{
	struct losses losses = {.ending = ending};
	const int64_t operations = database_operations(database);
	size_t size;

	ending->has_trace = true;
	ending->operations = operations > 0 ? (uint64_t)operations : 0;
	ending->something = operations > 0 || database_events(database) > 0;
	database_query(database,
		       "SELECT sum(published + missed), sum(discarded + abandoned + missed) "
		       "FROM rtl_ledger WHERE stream IN " STREAMS,
		       add_ledger, ending);
	database_query(database, "SELECT sum(count) FROM rtl_left_out WHERE stream IN " STREAMS,
		       add_left_out, ending);
	losses.causes = open_memstream(&ending->causes, &size);
	if (!losses.causes)
		return;
	database_query(database,
		       "SELECT cause, sum(count) FROM rtl_loss WHERE stream IN " STREAMS
		       " GROUP BY cause ORDER BY 2 DESC, 1",
		       add_loss, &losses);
	if (fclose(losses.causes))
		ending->causes = NULL;
}

void ending_init(struct ending *ending, const struct launch *launch, struct database *database)
{
	const char *patterns = getenv("RTL_STREAMS");

	*ending = (struct ending){
		.collected = launch->collected,
		.met = launch->collect.met,
		.refused = launch->collect.refused,
		.paused_first = launch->paused,
		.paused_last = launch->collect.paused,
		.no_rocm = launch->session.no_rocm,
		.left_out = patterns && *patterns ? patterns : NULL,
		.selection = selection_words(&launch->selection),
	};
	if (database)
		look_into(ending, database);
}

void ending_fini(struct ending *ending)
{
	free(ending->causes);
	ending->causes = NULL;
}

/* ---- the words ---- */

static bool is_refused(const struct ending *e)
{
	return e->refused && !e->used_gpu && !e->something;
}

static void say_refused(FILE *out, const struct ending *e)
{
	fprintf(out,
		"%u process%s of the command could not make a spool for %s events, and said why",
		e->refused, e->refused > 1 ? "es" : "", e->refused > 1 ? "their" : "its");
}

static bool is_cut_off(const struct ending *e)
{
	return e->lost && e->cut_off == e->lost;
}

static void say_cut_off(FILE *out, const struct ending *e)
{
	fprintf(out,
		"%" PRIu64 " submitted, 0 recorded, %" PRIu64 " lost because the process ended "
		"before they did",
		e->cut_off, e->cut_off);
}

static bool is_lost(const struct ending *e)
{
	return e->lost;
}

static void say_lost(FILE *out, const struct ending *e)
{
	fprintf(out, "%" PRIu64 " lost", e->lost);
	if (e->causes && *e->causes)
		fprintf(out, " (%s)", e->causes);
}

static bool is_paused(const struct ending *e)
{
	return (e->met || !e->collected) && (e->paused_first || e->paused_last);
}

static void say_paused(FILE *out, const struct ending *e)
{
	fprintf(out, "recording was paused when the command %s%s%s%s",
		e->paused_first ? "began" : "",
		e->paused_first && e->paused_last ? " and when it " : "",
		e->paused_last ? "ended" : "", e->paused_last ? "; `rtl start` lets it go on" : "");
}

static bool is_left_out(const struct ending *e)
{
	return e->left_out && !e->used_gpu;
}

static void say_left_out(FILE *out, const struct ending *e)
{
	fprintf(out,
		"RTL_STREAMS=%s leaves out all that the command published, or it published nothing",
		e->left_out);
}

static bool is_not_selected(const struct ending *e)
{
	return e->not_selected && *e->selection;
}

static void say_not_selected(FILE *out, const struct ending *e)
{
	fprintf(out, "%" PRIu64 " events were left out by %s", e->not_selected, e->selection);
}

static bool is_without_rocm(const struct ending *e)
{
	return e->no_rocm;
}

static void say_without_rocm(FILE *out, const struct ending *e)
{
	fputs(e->met ? "the command has streams of its own, but published nothing on them"
		     : "the command published nothing itself",
	      out);
}

static bool is_in_process(const struct ending *e)
{
	return !e->collected && !e->has_trace;
}

#define NOT_SEEN                                                                                   \
	"it used no GPU, its runtime does not honour HSA_TOOLS_LIB, it was started without the "   \
	"variables that rtl sets"

static void say_in_process(FILE *out, const struct ending *e)
{
	(void)e;
	fputs("no process of the command wrote a trace: " NOT_SEEN ", or it could not write one, "
	      "which it has said then",
	      out);
}

static bool is_unmet(const struct ending *e)
{
	return !e->has_trace;
}

static void say_unmet(FILE *out, const struct ending *e)
{
	(void)e;
	fputs("no process of the command published anything: " NOT_SEEN ", or it ended before that",
	      out);
}

static bool is_idle(const struct ending *e)
{
	(void)e;
	return true;
}

static void say_idle(FILE *out, const struct ending *e)
{
	fprintf(out, "the command submitted no kernel and no copy that rtl sees%s",
		e->something ? "" : ", and published nothing itself");
}

/* The first that applies is said. */
static const struct {
	bool (*applies)(const struct ending *e);
	void (*say)(FILE *out, const struct ending *e);
} rules[] = {
	{is_refused, say_refused},
	{is_cut_off, say_cut_off},
	{is_lost, say_lost},
	{is_paused, say_paused},
	{is_left_out, say_left_out},
	{is_not_selected, say_not_selected},
	{is_without_rocm, say_without_rocm},
	{is_in_process, say_in_process},
	{is_unmet, say_unmet},
	{is_idle, say_idle},
};

void ending_say_missing(const struct ending *ending)
{
	const uint32_t n = ending->refused;

	if (n && ending->met && (ending->something || ending->used_gpu || !ending->has_trace))
		cli_error("%u process%s of the command could not make a spool for %s events: what "
			  "%s did was not recorded",
			  n, n > 1 ? "es" : "", n > 1 ? "their" : "its", n > 1 ? "they" : "it");
}

void ending_say(const struct ending *ending)
{
	const char *what =
		ending->has_trace ? "no GPU operation was recorded" : "nothing was recorded";
	char *words = NULL;
	size_t size, i = 0;
	FILE *out = open_memstream(&words, &size);

	if (out) {
		while (!rules[i].applies(ending))
			i++;
		rules[i].say(out, ending);
		if (fclose(out))
			words = NULL;
	}
	cli_error("%s%s%s", what, words ? ": " : "", words ? words : "");
	free(words);
}
