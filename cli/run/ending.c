/* SPDX-License-Identifier: MIT */
#include "ending.h"

#include <inttypes.h>

#include "database.h"
#include "launch.h"

/* ---- what is known ---- */

/* Of what tells of kernels and GPUs all counts as operations, so less is said, unless there is a trace. */
void ending_init(struct ending *ending, const struct launch *launch,
		 const struct run_ledger *ledger, struct database *database)
{
	static const struct run_ledger nothing;

	*ending = (struct ending){.launch = launch, .ledger = ledger ? ledger : &nothing};
	if (!ledger)
		return;
	ending->has_trace = true;
	ending->of_subscribers = !database;
	ending->operations =
		database ? database_number(database, "SELECT EXISTS (SELECT 1 FROM rocpd_op)",
					   NULL) > 0
			 : ledger->gpu_delivered > 0;
	ending->something = (database && ending->operations) || ledger->delivered > 0;
	ending->not_selected =
		ending->something || ledger->gpu_left_out ? ledger->gpu_left_out : ledger->left_out;
}

/* ---- the words ---- */

#define NOT_SEEN                                                                                   \
	"it used no GPU, its runtime ignores HSA_TOOLS_LIB, it was started without the "           \
	"variables that rtl sets"

/* The first that applies is said. */
static void say_why(FILE *out, const struct ending *e)
{
	const struct launch *launch = e->launch;
	const struct collect *collect = &launch->collect;
	const bool used_gpu = e->ledger->gpu_published > 0;
	const char *streams = getenv("RTL_STREAMS"),
		   *selection = selection_words(&launch->selection);

	if (collect->refused && !used_gpu && !e->something)
		fprintf(out,
			"%u process%s of the command could not make a spool for %s events, and "
			"printed why",
			collect->refused, collect->refused > 1 ? "es" : "",
			collect->refused > 1 ? "their" : "its");
	else if (e->ledger->gpu_lost || e->ledger->gpu_unfinished)
		run_ledger_say_gpu(e->ledger, out);
	else if ((collect->met || !launch->collected) && (launch->paused || collect->paused))
		fprintf(out, "recording was paused when the command %s%s%s",
			launch->paused ? "began" : "",
			launch->paused && collect->paused ? " and when it " : "",
			collect->paused ? "ended; `rtl start` lets it go on" : "");
	else if (streams && *streams && !used_gpu)
		fprintf(out,
			"RTL_STREAMS=%s leaves out all that the command published, or it published "
			"nothing",
			streams);
	else if (e->not_selected && *selection)
		fprintf(out, "%" PRIu64 " events were left out by %s", e->not_selected, selection);
	else if (launch->session.no_rocm && !e->of_subscribers)
		fputs(collect->met ? "the command has streams of its own, but published nothing on "
				     "them"
				   : "the command published nothing itself",
		      out);
	else if (!launch->collected && !e->has_trace)
		fputs("no process of the command wrote a trace: " NOT_SEEN ", or it could not "
		      "write one, and printed why",
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
	return !e->operations && (e->ledger->gpu_published || !e->something);
}

void ending_say_missing(const struct ending *ending)
{
	const struct collect *collect = &ending->launch->collect;
	const uint32_t n = collect->refused;

	if (n && collect->met &&
	    (ending->something || ending->ledger->gpu_published || !ending->has_trace))
		cli_error("%u process%s of the command could not make a spool for %s events: what "
			  "%s did was not recorded",
			  n, n > 1 ? "es" : "", n > 1 ? "their" : "its", n > 1 ? "they" : "it");
	if (collect->paused && !ending_is_empty(ending))
		cli_error("recording was stopped when the command ended: the trace lacks what came "
			  "later");
}

void ending_say(const struct ending *ending)
{
	const char *what =
		ending->has_trace ? "no GPU operation was recorded" : "nothing was recorded";
	char *words = NULL;
	size_t size;
	FILE *out = cli_need(open_memstream(&words, &size));

	say_why(out, ending);
	if (ending->launch->session.xpti && !ending->something)
		fputs("; no XPTI event came: the command has no SYCL runtime that reports any, or "
		      "a DT_RPATH to another libxptifw.so, which replaces rtl's",
		      out);
	cli_need(fclose(out) ? NULL : words);
	cli_error("%s: %s", what, words);
	free(words);
}
