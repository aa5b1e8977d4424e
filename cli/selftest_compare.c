/* SPDX-License-Identifier: MIT */
/* rtl selftest: what traces have, against what the program said. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "database.h"
#include "selftest.h"

/* A hipEvent is told in ms as a float, and both clocks have ticks: so far a kernel may seem longer than what is
 * around it. */
#define TICKS_NS 2000.0
#define ROUNDING 0.005
/* So much longer what is around a kernel may be, in the median: events are packets of their own. */
#define AROUND_NS    5000.0
#define AROUND_SHARE 0.2

/* ---- numbers ---- */

static int compare_numbers(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double selftest_median(double *values, size_t count)
{
	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), compare_numbers);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* ---- rows of a trace ---- */

struct recorded {
	struct selftest_count *list;
	size_t count, room;
	bool failed;
};

/* name, how many */
static void add_recorded(void *user, const char *const *row)
{
	struct recorded *r = user;
	struct selftest_count *list;

	if (r->count == r->room) {
		list = reallocarray(r->list, r->room + 32, sizeof(*list));
		if (!list) {
			r->failed = true;
			return;
		}
		r->list = list;
		r->room += 32;
	}
	snprintf(r->list[r->count].name, sizeof(r->list->name), "%s", row[0] ? row[0] : "?");
	r->list[r->count++].count = row[1] ? strtoull(row[1], NULL, 10) : 0;
}

static uint64_t count_of(const struct selftest_count *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].name, name))
			return list[i].count;
	return 0;
}

/* One finding for all that agrees, and one for each name that does not. */
static void compare_counts(struct selftest *test, const struct selftest_run *run,
			   struct database *database, const char *check, const char *what,
			   const struct selftest_count *said, size_t said_count, const char *sql)
{
	struct recorded recorded = {0};
	uint64_t all = 0;
	bool agrees = true;

	if (database_query(database, sql, add_recorded, &recorded))
		recorded.failed = true;
	for (size_t i = 0; i < said_count; i++) {
		uint64_t found = count_of(recorded.list, recorded.count, said[i].name);

		all += said[i].count;
		if (found == said[i].count)
			continue;
		agrees = false;
		selftest_find(test, SELFTEST_DIFFERS, run->workload, check,
			      "%s of %s: %" PRIu64 ", recorded: %" PRIu64, what, said[i].name,
			      said[i].count, found);
	}
	for (size_t i = 0; i < recorded.count; i++) {
		if (count_of(said, said_count, recorded.list[i].name))
			continue;
		agrees = false;
		selftest_find(test, SELFTEST_DIFFERS, run->workload, check,
			      "%s of %s: none, recorded: %" PRIu64, what, recorded.list[i].name,
			      recorded.list[i].count);
	}
	if (recorded.failed)
		selftest_find(test, SELFTEST_DIFFERS, run->workload, check,
			      "the trace cannot be read");
	else if (agrees && said_count)
		selftest_find(test, SELFTEST_AGREES, run->workload, check,
			      "%s: %" PRIu64 " of %" PRIu64 " recorded", what, all, all);
	free(recorded.list);
}

/* ---- times ---- */

struct spans {
	double ns[SELFTEST_TIMES_MOST];
	size_t count;
};

static void add_span(void *user, const char *const *row)
{
	struct spans *spans = user;

	if (spans->count < SELFTEST_TIMES_MOST)
		spans->ns[spans->count++] = row[0] ? strtod(row[0], NULL) : -1;
}

static size_t times_of(const struct selftest_run *run, enum selftest_time_kind kind, double *into)
{
	size_t count = 0;

	for (size_t i = 0; i < run->time_count; i++)
		if (run->times[i].kind == kind)
			into[count++] = run->times[i].event_ns;
	return count;
}

/* Each time of the GPU's lies within its events; `close`: and the events are not much longer. */
static void compare_times(struct selftest *test, const struct selftest_run *run,
			  struct database *database, enum selftest_time_kind kind,
			  const char *check, const char *what, const char *sql, bool close)
{
	double events[SELFTEST_TIMES_MOST], empty[SELFTEST_TIMES_MOST];
	double longer[SELFTEST_TIMES_MOST];
	size_t count = times_of(run, kind, events), too_long = 0;
	const double nothing = selftest_median(empty, times_of(run, SELFTEST_EMPTY, empty));
	struct spans spans = {.count = 0};

	if (!count)
		return;
	if (database_query(database, sql, add_span, &spans) || spans.count != count) {
		selftest_find(test, SELFTEST_DIFFERS, run->workload, check,
			      "%s: %zu timed by hipEvents, %zu recorded", what, count, spans.count);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		longer[i] = events[i] - spans.ns[i];
		too_long += spans.ns[i] <= 0 || spans.ns[i] > events[i] * (1 + ROUNDING) + TICKS_NS;
	}
	const double between = selftest_median(longer, count); /* sorts it */
	const double event = selftest_median(events, count);
	const double span = selftest_median(spans.ns, count);
	const bool apart = close && between > AROUND_NS + 4 * nothing + AROUND_SHARE * event;

	selftest_find(test, too_long || apart ? SELFTEST_DIFFERS : SELFTEST_AGREES, run->workload,
		      check,
		      "%s: %zu, rtl %.2f us, hipEvent %.2f us (medians); hipEvents are longer by "
		      "%.2f us (%.2f to %.2f)%s",
		      what, count, span / 1e3, event / 1e3, between / 1e3, longer[0] / 1e3,
		      longer[count - 1] / 1e3,
		      too_long ? ": some of rtl's are longer than what is around them"
		      : apart  ? ": rtl's are too short"
			       : "");
}

#define KERNEL_TIMES(name)                                                                         \
	"SELECT duration_ns FROM rtl_dispatches WHERE kernel = '" name "' ORDER BY begin_ns"
#define COPIES(direction)                                                                          \
	"SELECT bytes, count(*) FROM rtl_copies WHERE direction = '" direction                     \
	"' AND bytes >= 1048576 GROUP BY bytes"
#define COPY_TIMES(direction)                                                                      \
	"SELECT duration_ns FROM rtl_copies WHERE direction = '" direction                         \
	"' AND bytes >= 1048576 ORDER BY bytes"

static void compare_copies(struct selftest *test, const struct selftest_run *run,
			   struct database *database, enum selftest_time_kind kind,
			   const char *check, const char *what, const char *counts,
			   const char *times)
{
	struct selftest_count said[SELFTEST_NAMES_MOST];
	size_t count = 0;

	for (size_t i = 0; i < run->time_count && count < SELFTEST_NAMES_MOST; i++) {
		if (run->times[i].kind != kind)
			continue;
		snprintf(said[count].name, sizeof(said->name), "%" PRIu64, run->times[i].index);
		said[count++].count = 1;
	}
	if (!count)
		return;
	compare_counts(test, run, database, check, what, said, count, counts);
	compare_times(test, run, database, kind, check, what, times, false);
}

/* ---- a whole run ---- */

static void say_end(char *text, size_t size, int status)
{
	if (status == -1)
		snprintf(text, size, "it could not be started");
	else if (WIFSIGNALED(status))
		snprintf(text, size, "signal %d", WTERMSIG(status));
	else
		snprintf(text, size, "status %d", WEXITSTATUS(status));
}

/* Whether it did what it does alone. */
static bool behaves(struct selftest *test, const struct selftest_run *alone,
		    const struct selftest_run *run)
{
	char was[64], is[64];

	say_end(was, sizeof(was), alone->status);
	say_end(is, sizeof(is), run->status);
	if (alone->status != run->status || !run->ended) {
		selftest_find(test, SELFTEST_DIFFERS, run->workload, "end",
			      "alone the program ends with %s, traced with %s%s%s", was, is,
			      *run->why ? ": " : "", run->why);
		return false;
	}
	if (strcmp(alone->results, run->results) != 0)
		selftest_find(test, SELFTEST_DIFFERS, run->workload, "results",
			      "results alone: %s, traced: %s", alone->results, run->results);
	else if (!strcmp(run->results, "right"))
		selftest_find(test, SELFTEST_AGREES, run->workload, "results",
			      "results: right, alone and traced");
	else if (!strcmp(run->results, "wrong"))
		selftest_find(test, SELFTEST_DIFFERS, run->workload, "results",
			      "results are wrong, alone as well: not rtl's doing");
	else if (!strcmp(run->results, "none"))
		selftest_find(test, test->emulated ? SELFTEST_NOTE : SELFTEST_DIFFERS,
			      run->workload, "results",
			      "kernels have written nothing, alone as well%s",
			      test->emulated ? ": this GPU is emulated" : "");
	return true;
}

void selftest_compare(struct selftest *test, const struct selftest_run *alone,
		      const struct selftest_run *run)
{
	const bool calls = run->mode && !strcmp(run->mode, "hip");
	struct database *database;
	int64_t lost;

	if (!behaves(test, alone, run))
		return;
	database = database_open(run->trace, true);
	if (!database) {
		selftest_find(test, SELFTEST_DIFFERS, run->workload, "trace",
			      "there is no trace%s%s", *run->why ? ": " : "", run->why);
		return;
	}
	lost = database_lost(database);
	if (lost)
		selftest_find(test, SELFTEST_DIFFERS, run->workload, "lost",
			      "%" PRId64 " events lost, as the trace says", lost);
	if (calls)
		compare_counts(test, run, database, "calls", "calls of HIP", run->calls,
			       run->call_count,
			       "SELECT function, count(*) FROM rtl_calls WHERE domain = 'hip' "
			       "GROUP BY function");
	compare_counts(test, run, database, "dispatches", "dispatches", run->kernels,
		       run->kernel_count,
		       "SELECT kernel, count(*) FROM rtl_dispatches WHERE kernel LIKE "
		       "'rtl_selftest%' GROUP BY kernel");
	compare_times(test, run, database, SELFTEST_AROUND, "times", "kernels between hipEvents",
		      KERNEL_TIMES("rtl_selftest_around"), true);
	compare_times(test, run, database, SELFTEST_WITHIN, "times",
		      "kernels with hipEvents of their own", KERNEL_TIMES("rtl_selftest_within"),
		      true);
	compare_copies(test, run, database, SELFTEST_COPY_TO, "copies_to_gpu", "copies to the GPU",
		       COPIES("host to device"), COPY_TIMES("host to device"));
	compare_copies(test, run, database, SELFTEST_COPY_FROM, "copies_from_gpu",
		       "copies from the GPU", COPIES("device to host"),
		       COPY_TIMES("device to host"));
	database_close(database);
}

/* ---- counters ---- */

struct counted {
	struct selftest *test;
	const struct selftest_run *run;
	uint64_t wanted, dispatches; /* waves of each dispatch; how many there were */
	bool waves;
};

/* counter, dispatches, least, mean, greatest */
static void take_counter(void *user, const char *const *row)
{
	struct counted *counted = user;
	const uint64_t count = row[1] ? strtoull(row[1], NULL, 10) : 0;
	const double least = row[2] ? strtod(row[2], NULL) : -1;
	const double most = row[4] ? strtod(row[4], NULL) : -1;
	const bool waves = row[0] && !strcmp(row[0], "SQ_WAVES");
	const bool right = !waves || (count == counted->dispatches && most == least &&
				      least == (double)counted->wanted);

	counted->waves |= waves;
	if (waves)
		selftest_find(counted->test, right ? SELFTEST_AGREES : SELFTEST_DIFFERS,
			      counted->run->workload, "counters",
			      "SQ_WAVES: %" PRIu64 " in each of %" PRIu64
			      " dispatches; counted: %.0f to %.0f, in %" PRIu64,
			      counted->wanted, counted->dispatches, least, most, count);
	else
		selftest_find(counted->test, SELFTEST_AGREES, counted->run->workload, "counters",
			      "%s: %s to %s, mean %s, in %" PRIu64 " dispatches (not judged)",
			      row[0] ? row[0] : "?", row[2] ? row[2] : "?", row[4] ? row[4] : "?",
			      row[3] ? row[3] : "?", count);
}

void selftest_compare_counters(struct selftest *test, const struct selftest_run *run)
{
	struct counted counted = {.test = test, .run = run};
	struct database *database = database_open(run->trace, true);

	if (!run->ended || !database || !test->wavefront) {
		selftest_find(test, SELFTEST_IMPOSSIBLE, run->workload, "counters",
			      "nothing was counted%s%s", *run->why ? ": " : "", run->why);
		if (database)
			database_close(database);
		return;
	}
	counted.wanted = (uint64_t)run->waves_groups *
			 ((run->waves_lanes + test->wavefront - 1) / test->wavefront);
	counted.dispatches = run->kernel_count ? run->kernels[0].count : 0;
	if (database_query(database,
			   "SELECT counter, count(value), min(value), printf('%.1f', avg(value)), "
			   "max(value) FROM rtl_counters WHERE kernel LIKE 'rtl_selftest%' GROUP "
			   "BY counter",
			   take_counter, &counted) ||
	    !counted.waves)
		selftest_find(test, SELFTEST_IMPOSSIBLE, run->workload, "counters",
			      "SQ_WAVES was not counted%s%s", *run->why ? ": " : "", run->why);
	database_close(database);
}
