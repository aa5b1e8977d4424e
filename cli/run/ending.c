/* SPDX-License-Identifier: MIT */
/* See ending.h. */
#include "ending.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "database.h"
#include "launch.h"

/* ---- what is known ---- */

/* Of what tells of kernels and GPUs all counts as operations, so less is said, unless there is a trace. */
static void look_into(struct ending *ending, const struct run_ledger *ledger,
		      struct database *database)
{
	const int64_t operations = database ? database_operations(database) : 0;

	ending->has_trace = true;
	ending->of_subscribers = !database;
	ending->operations = !database        ? ledger->gpu_delivered
			     : operations > 0 ? (uint64_t)operations
					      : 0;
	ending->something = operations > 0 || ledger->delivered > 0;
	ending->used_gpu = ledger->gpu_published > 0;
	ending->lost = ledger->gpu_lost;
	ending->cut_off = ledger->gpu_cut_off;
	ending->causes = run_ledger_gpu_causes(ledger);
	ending->not_selected =
		ending->something || ledger->gpu_left_out ? ledger->gpu_left_out : ledger->left_out;
}

void ending_init(struct ending *ending, const struct launch *launch,
		 const struct run_ledger *ledger, struct database *database)
{
	const char *patterns = getenv("RTL_STREAMS");

	*ending = (struct ending){
		.collected = launch->collected,
		.met = launch->collect.met,
		.refused = launch->collect.refused,
		.paused_first = launch->paused,
		.paused_last = launch->collect.paused,
		.no_rocm = launch->session.no_rocm,
		.xpti = launch->session.xpti,
		.left_out = patterns && *patterns ? patterns : NULL,
		.selection = selection_words(&launch->selection),
	};
	if (ledger)
		look_into(ending, ledger, database);
}

void ending_fini(struct ending *ending)
{
	free(ending->causes);
	ending->causes = NULL;
}

/* ---- the words ---- */

#define NOT_SEEN                                                                                   \
	"it used no GPU, its runtime does not honour HSA_TOOLS_LIB, it was started without the "   \
	"variables that rtl sets"

/* The first that applies is said. */
static void say_why(FILE *out, const struct ending *e)
{
	if (e->refused && !e->used_gpu && !e->something)
		fprintf(out,
			"%u process%s of the command could not make a spool for %s events, and "
			"said why",
			e->refused, e->refused > 1 ? "es" : "", e->refused > 1 ? "their" : "its");
	else if (e->lost && e->cut_off == e->lost)
		fprintf(out,
			"%" PRIu64 " submitted, 0 recorded, %" PRIu64 " lost because the process "
			"ended before they did",
			e->cut_off, e->cut_off);
	else if (e->lost)
		fprintf(out,
			e->causes && *e->causes ? "%" PRIu64 " lost (%s)" : "%" PRIu64 " lost%s",
			e->lost, e->causes ? e->causes : "");
	else if ((e->met || !e->collected) && (e->paused_first || e->paused_last))
		fprintf(out, "recording was paused when the command %s%s%s",
			e->paused_first ? "began" : "",
			e->paused_first && e->paused_last ? " and when it " : "",
			e->paused_last ? "ended; `rtl start` lets it go on" : "");
	else if (e->left_out && !e->used_gpu)
		fprintf(out,
			"RTL_STREAMS=%s leaves out all that the command published, or it published "
			"nothing",
			e->left_out);
	else if (e->not_selected && *e->selection)
		fprintf(out, "%" PRIu64 " events were left out by %s", e->not_selected,
			e->selection);
	else if (e->no_rocm && !e->of_subscribers)
		fputs(e->met ? "the command has streams of its own, but published nothing on them"
			     : "the command published nothing itself",
		      out);
	else if (!e->collected && !e->has_trace)
		fputs("no process of the command wrote a trace: " NOT_SEEN ", or it could not "
		      "write one, which it has said then",
		      out);
	else if (!e->has_trace)
		fputs("no process of the command published anything: " NOT_SEEN ", or it ended "
		      "before that",
		      out);
	else
		fprintf(out, "the command submitted no kernel and no copy that rtl sees%s",
			e->something || e->of_subscribers ? "" : ", and published nothing itself");
}

bool ending_is_empty(const struct ending *e)
{
	return !e->operations && (e->used_gpu || !e->something);
}

void ending_say_missing(const struct ending *ending)
{
	const uint32_t n = ending->refused;

	if (n && ending->met && (ending->something || ending->used_gpu || !ending->has_trace))
		cli_error("%u process%s of the command could not make a spool for %s events: what "
			  "%s did was not recorded",
			  n, n > 1 ? "es" : "", n > 1 ? "their" : "its", n > 1 ? "they" : "it");
	if (ending->paused_last && !ending_is_empty(ending))
		cli_error("recording was stopped when the command ended: the trace lacks what came "
			  "then");
}

void ending_say(const struct ending *ending)
{
	const char *what =
		ending->has_trace ? "no GPU operation was recorded" : "nothing was recorded";
	char *words = NULL;
	size_t size;
	FILE *out = open_memstream(&words, &size);

	if (out) {
		say_why(out, ending);
		if (ending->xpti && !ending->something)
			fputs("; nothing came by XPTI: the command has no SYCL runtime that tells, "
			      "or a "
			      "DT_RPATH to another libxptifw.so, which is used in place of rtl's",
			      out);
		if (fclose(out))
			words = NULL;
	}
	cli_error("%s%s%s", what, words ? ": " : "", words ? words : "");
	free(words);
}
