/* SPDX-License-Identifier: MIT */
/* See gpu_time.h. */
#include "gpu_time.h"

#include "array.h"
#include "model.h"

#define ROWS_MOST 4096u

/* ---- gaps */

static uint64_t length_of(const struct gap *gap)
{
	return gap->end - gap->begin;
}

/* Whether it is among the longest. */
static bool is_long(const struct gaps *gaps, const struct gap *gap)
{
	return gaps->kept < GAPS_KEPT || length_of(gap) > length_of(&gaps->longest[GAPS_KEPT - 1]);
}

static void keep_gap(struct gaps *gaps, const struct gap *gap)
{
	struct gap *list = gaps->longest;
	size_t at = gaps->kept;

	gaps->count++;
	if (!is_long(gaps, gap))
		return;
	while (at && length_of(&list[at - 1]) < length_of(gap))
		at--;
	if (gaps->kept < GAPS_KEPT)
		gaps->kept++;
	memmove(&list[at + 1], &list[at], (gaps->kept - at - 1) * sizeof(*list));
	list[at] = *gap;
}

/* Something was done from begin to end after all. */
static void cut_gaps(struct gaps *gaps, uint64_t begin, uint64_t end)
{
	struct gaps old = *gaps;

	gaps->kept = 0;
	gaps->count -= old.kept;
	for (size_t i = 0; i < old.kept; i++) {
		const struct gap *gap = &old.longest[i];

		if (gap->end <= begin || gap->begin >= end) {
			keep_gap(gaps, gap);
			continue;
		}
		if (gap->end > end)
			keep_gap(gaps, &(struct gap){.begin = end, .end = gap->end});
		if (gap->begin < begin)
			keep_gap(gaps, &(struct gap){.begin = gap->begin, .end = begin});
	}
}

/* ---- rows */

uint32_t idle_rows_add(struct idle_rows *rows, enum idle_cause cause,
		       const struct host_thread *thread, const struct summary_group *what,
		       uint64_t ns)
{
	const uint64_t key = hash_pair((uintptr_t)thread, (uintptr_t)what) + cause;
	uint32_t number = (uint32_t)map_get(&rows->of, key);
	struct idle_row *row;

	if (!number && rows->count >= ROWS_MOST && (thread || what))
		return idle_rows_add(rows, cause, NULL, NULL, ns);
	if (!number) {
		if (!array_has_room(&rows->list, rows->count, sizeof(*row)) ||
		    !map_set(&rows->of, key, rows->count + 1))
			return 0;
		number = ++rows->count;
		rows->list[number - 1] =
			(struct idle_row){.cause = cause, .thread = thread, .what = what};
	}
	row = &rows->list[number - 1];
	row->count++;
	row->total_ns += ns;
	row->longest_ns = ns > row->longest_ns ? ns : row->longest_ns;
	return number;
}

bool idle_rows_merge(struct idle_rows *to, const struct idle_rows *from)
{
	for (const struct idle_row *row = from->list; row < from->list + from->count; row++) {
		const uint32_t number =
			idle_rows_add(to, row->cause, row->thread, row->what, row->longest_ns);

		if (!number)
			return false;
		to->list[number - 1].total_ns += row->total_ns - row->longest_ns;
		to->list[number - 1].count += row->count - 1;
	}
	return true;
}

void idle_rows_fini(struct idle_rows *rows)
{
	free(rows->list);
	map_fini(&rows->of);
}

/* The row, from 1; 0: none. */
static uint32_t add_to_row(struct gpu_time *gpu, enum idle_cause cause,
			   const struct host_thread *thread, const struct summary_group *what,
			   uint64_t ns)
{
	const uint32_t row =
		ns ? idle_rows_add(gpu->onto ? gpu->onto : &gpu->rows, cause, thread, what, ns) : 0;

	gpu->out_of_memory |= ns && !row;
	return row;
}

static void begin_gap(struct gpu_time *gpu, uint64_t begin, uint64_t end)
{
	gpu->gap.begin = begin;
	gpu->gap.end = end;
	if (is_long(&gpu->gaps, &gpu->gap)) /* else nobody asks for its parts */
		memset(gpu->gap.parts, 0, sizeof(gpu->gap.parts));
}

/* Adds to the parts of the gap that is being explained. */
static void add_part(struct gpu_time *gpu, const struct gap_part *part)
{
	struct gap *gap = &gpu->gap;
	size_t at = 0;

	if (!is_long(&gpu->gaps, gap))
		return;
	while (at < GAP_PARTS - 1 && gap->parts[at].ns &&
	       (gap->parts[at].row != part->row || gap->parts[at].thread != part->thread))
		at++;
	if (gap->parts[at].row == part->row && gap->parts[at].thread == part->thread)
		gap->parts[at].ns += part->ns;
	else if (part->ns > gap->parts[at].ns)
		gap->parts[at] = *part;
	for (; at && gap->parts[at - 1].ns < gap->parts[at].ns; at--) {
		const struct gap_part shorter = gap->parts[at - 1];

		gap->parts[at - 1] = gap->parts[at];
		gap->parts[at] = shorter;
	}
}

/* Since the newest mark it was busy and, for reasons of a group, idle for so long. */
static void set_mark(struct gpu_time *gpu, uint64_t time, uint64_t busy_ns, enum idle_group group,
		     uint64_t idle_ns)
{
	struct gpu_mark *next;
	size_t kept = 0;

	if (gpu->mark_count == GPU_MARKS) {
		for (size_t i = 0; i < GPU_MARKS / 2; i += 2)
			gpu->marks[kept++] = gpu->marks[i];
		memmove(gpu->marks + kept, gpu->marks + GPU_MARKS / 2,
			GPU_MARKS / 2 * sizeof(*gpu->marks));
		gpu->mark_count = kept + GPU_MARKS / 2;
	}
	next = &gpu->marks[gpu->mark_count++];
	next->time = time;
	next->busy_ns = next[-1].busy_ns + busy_ns;
	for (unsigned i = 0; i < IDLE_GROUPS; i++)
		next->idle_ns[i] = next[-1].idle_ns[i] + (i == group ? idle_ns : 0);
}

static void mark_idle(struct gpu_time *gpu, enum idle_cause cause, uint64_t ns)
{
	gpu->idle_ns += ns;
	set_mark(gpu, gpu->marks[gpu->mark_count - 1].time + ns, 0, idle_group_of(cause), ns);
}

static void add(struct gpu_time *gpu, enum idle_cause cause, const struct host_thread *thread,
		const struct summary_group *what, uint64_t ns)
{
	const uint32_t row = add_to_row(gpu, cause, gpu->onto ? NULL : thread, what, ns);

	if (!row || gpu->onto)
		return;
	mark_idle(gpu, cause, ns);
	add_part(gpu, &(struct gap_part){.row = row, .thread = thread, .ns = ns});
}

void gpu_time_name_range(struct gpu_time *gpu, const struct host_thread *thread, uint64_t begin,
			 uint64_t ns, const struct summary_group *name)
{
	const uint32_t row = add_to_row(gpu, IDLE_OUTSIDE, thread, name, ns);

	for (size_t i = 0; i < gpu->gaps.kept; i++)
		for (size_t k = 0; k < GAP_PARTS; k++) {
			struct gap_part *part = &gpu->gaps.longest[i].parts[k];

			if (part->ns && !part->row && part->thread == thread &&
			    part->begin >= begin)
				part->row = row;
		}
}

/* ---- steps */

static uint64_t between(uint64_t from, uint64_t to, uint64_t part, uint64_t whole)
{
	return from + (uint64_t)((unsigned __int128)(to - from) * part / whole);
}

/* How long it had been busy and idle at that time. */
static struct gpu_mark mark_at(const struct gpu_time *gpu, uint64_t time)
{
	struct gpu_mark before = {.time = gpu->first}, mark;
	const size_t at =
		first_later(&gpu->marks->time, gpu->mark_count, sizeof(*gpu->marks), time);

	if (at)
		before = gpu->marks[at - 1];
	if (at == gpu->mark_count || time <= before.time)
		return before;
	mark = gpu->marks[at];
	const uint64_t part = time - before.time, whole = mark.time - before.time;

	mark.busy_ns = between(before.busy_ns, mark.busy_ns, part, whole);
	for (int i = 0; i < IDLE_GROUPS; i++)
		mark.idle_ns[i] = between(before.idle_ns[i], mark.idle_ns[i], part, whole);
	return mark;
}

void gpu_time_take_steps(struct gpu_time *gpu, bool all)
{
	const struct host_time *host = gpu->host;

	for (; gpu->steps_done < host->step_count; gpu->steps_done++) {
		const struct step *step = &host->steps[gpu->steps_done];
		struct gpu_mark begin, end;

		if (step->end > gpu->told && !all)
			return;
		begin = mark_at(gpu, step->begin);
		end = mark_at(gpu, step->end);
		step->of->range->busy_ns += end.busy_ns - begin.busy_ns;
		for (int i = 0; i < IDLE_GROUPS; i++)
			step->of->range->idle_ns[i] += end.idle_ns[i] - begin.idle_ns[i];
	}
}

/* ---- why it was idle */

/* No range that has ended is around it: another one may be. */
static void explain_open(struct gpu_time *gpu, struct host_thread *thread, uint64_t begin,
			 uint64_t end, uint64_t ns)
{
	if (gpu->onto)
		return add(gpu, IDLE_OUTSIDE, NULL, NULL, ns);
	if (!ns)
		return;
	mark_idle(gpu, IDLE_OUTSIDE, ns);
	add_part(gpu, &(struct gap_part){.thread = thread, .begin = begin, .ns = ns});
	if (!host_time_add_open(thread, gpu, begin, end, ns))
		gpu->out_of_memory = true;
}

/* A thread was outside of HIP from begin to end, for so long of it. */
static void explain_outside(struct gpu_time *gpu, struct host_thread *thread, uint64_t begin,
			    uint64_t end, uint64_t ns)
{
	const struct lane *lane = &thread->ranges;
	const uint64_t whole = end - begin;
	const struct summary_group *last = NULL;
	uint64_t left = ns;

	for (size_t i = lane_find(lane, begin); i < lane->count && begin < end; i++) {
		const struct span *span = &lane->spans[i];
		const uint64_t from = span->begin > begin ? span->begin : begin;
		const uint64_t to = span->end < end ? span->end : end;
		uint64_t before, in;

		if (from >= end)
			break;
		before = between(0, ns, from - begin, whole);
		in = between(0, ns, to - from, whole);
		if (begin < from)
			explain_open(gpu, thread, begin, from, before);
		else
			in += before;
		add(gpu, IDLE_OUTSIDE, thread, span->what, in);
		left -= before + in;
		begin = to;
		last = span->what;
	}
	if (begin < end)
		explain_open(gpu, thread, begin, end, left);
	else
		add(gpu, IDLE_OUTSIDE, thread, last, left);
}

/* Nothing was submitted: what did the thread do that then submitted work? */
static void explain_host(struct gpu_time *gpu, struct host_thread *thread, uint64_t begin,
			 uint64_t end)
{
	const struct lane *lane = &thread->calls;

	if (!thread->process->deeds[SUMMARY_HIP_CALLS].count || begin < lane->forgotten) {
		add(gpu, IDLE_UNSEEN, NULL, NULL, end - begin);
		return;
	}
	for (size_t i = lane_find(lane, begin); i < lane->count && begin < end; i++) {
		const struct span *span = &lane->spans[i];
		const uint64_t from = span->begin > begin ? span->begin : begin;
		const uint64_t to = span->end < end ? span->end : end;
		const bool waits = span->what && strstr(span->what->name, "Synchronize");
		uint64_t in;

		if (from >= end)
			break;
		if (begin < from)
			explain_outside(gpu, thread, begin, from, from - begin);
		in = between(0, span->in_ns, to - from, span->end - span->begin);
		add(gpu, waits && !gpu->onto ? IDLE_WAIT : IDLE_CALL, NULL, span->what, in);
		if (in < to - from)
			explain_outside(gpu, thread, from, to, to - from - in);
		begin = to;
	}
	if (begin < end)
		explain_outside(gpu, thread, begin, end, end - begin);
}

/* Why it did not begin at once, when it had been submitted. */
static enum idle_cause why_late(const struct gpu_time *gpu, const struct gpu_work *work)
{
	const struct gpu_work *before = &gpu->before;
	const struct lane *calls = &work->thread->calls;
	bool is_other;
	size_t at;

	if (work->correlation && work->correlation == before->correlation &&
	    work->thread == before->thread) {
		at = lane_find(calls, work->submit);
		if (at < calls->count && calls->spans[at].begin <= work->submit &&
		    calls->spans[at].what &&
		    !strncmp(calls->spans[at].what->name, "hipGraphLaunch", 14))
			return IDLE_GRAPH;
	}
	if (!work->waits || work->submit > before->end)
		return IDLE_LATENCY;
	if (before->is_copy)
		return IDLE_COPY;
	/* a copy by SDMA has a stream alone */
	is_other = before->queue && work->queue ? before->queue != work->queue
						: before->stream != work->stream;
	return is_other ? IDLE_QUEUE : IDLE_LATENCY;
}

/* Nothing was under way, and recording was on, from begin to end; `next` began there or later, and `first` was
 * submitted before all that began later. */
static void explain(struct gpu_time *gpu, uint64_t begin, uint64_t end, const struct gpu_work *next,
		    const struct gpu_work *first)
{
	uint64_t submit = first->submit;

	if (!submit || !next->submit) {
		add(gpu, IDLE_UNKNOWN, NULL, NULL, end - begin);
		return;
	}
	submit = submit < begin ? begin : submit > end ? end : submit;
	if (begin < submit)
		explain_host(gpu, first->thread, begin, submit);
	if (next->submit > submit && submit < end) {
		const uint64_t until = next->submit < end ? next->submit : end;

		add(gpu, first->waits ? IDLE_EVENT : IDLE_LATENCY, NULL, NULL, until - submit);
		submit = until;
	}
	add(gpu, why_late(gpu, next), NULL, NULL, end - submit);
}

/* The same, and it may have been off: before and behind that, too, the GPU may have done what is not recorded. */
static void tell_idle(struct gpu_time *gpu, uint64_t at, uint64_t end, const struct gpu_work *next,
		      const struct gpu_work *first)
{
	const struct pause *pauses = gpu->host->pauses, *p;
	const size_t count = gpu->host->pause_count;

	p = pauses + (count ? first_later(&pauses->begin, count, sizeof(*p), end - 1) : 0);
	while (p > pauses && (--p)->until > at)
		if (p->end > at && (!p->process || p->process == next->thread->process))
			return add(gpu, IDLE_PAUSED, NULL, NULL, end - at);
	explain(gpu, at, end, next, first);
}

static void tell_gap(struct gpu_time *gpu, const struct gpu_work *next,
		     const struct gpu_work *first)
{
	begin_gap(gpu, gpu->told, next->begin);
	tell_idle(gpu, gpu->told, next->begin, next, first);
	keep_gap(&gpu->gaps, &gpu->gap);
}

void gpu_time_tell_path(struct gpu_time *gpu, struct idle_rows *rows, uint64_t begin, uint64_t end,
			const struct gpu_work *work, const struct gpu_work *before)
{
	const struct gpu_work kept = gpu->before;

	gpu->before = before ? *before : (struct gpu_work){0};
	gpu->onto = rows;
	tell_idle(gpu, begin, end, work, work);
	gpu->onto = NULL;
	gpu->before = kept;
}

/* ---- chunks of what was told */

/* Makes room for chunks: each two become one. */
static void halve_chunks(struct gpu_time *gpu)
{
	for (size_t i = 0; i < GPU_CHUNKS / 2; i++) {
		const struct gpu_chunk *pair = &gpu->chunks[2 * i];

		gpu->chunks[i] = (struct gpu_chunk){pair[1].end, pair[0].idle_ns + pair[1].idle_ns};
	}
	gpu->chunk_count = GPU_CHUNKS / 2;
	gpu->chunk_works *= 2;
}

static void add_to_chunk(struct gpu_time *gpu, uint64_t idle_ns)
{
	if (!gpu->chunk_left) {
		if (gpu->chunk_count == GPU_CHUNKS)
			halve_chunks(gpu);
		gpu->chunks[gpu->chunk_count++] = (struct gpu_chunk){0};
		gpu->chunk_left = gpu->chunk_works;
	}
	gpu->chunk_left--;
	gpu->chunks[gpu->chunk_count - 1].idle_ns += idle_ns;
	gpu->chunks[gpu->chunk_count - 1].end = gpu->told;
}

/* From begin to end it was busy, which was told already: that is taken from what was idle. */
static void tell_late(struct gpu_time *gpu, uint64_t begin, uint64_t end)
{
	/* there is a chunk that ends later, if only the last */
	size_t i =
		first_later(&gpu->chunks->end, gpu->chunk_count - 1, sizeof(*gpu->chunks), begin);

	cut_gaps(&gpu->gaps, begin, end);
	for (; begin < end; i++) {
		struct gpu_chunk *chunk = &gpu->chunks[i];
		const uint64_t from = i ? gpu->chunks[i - 1].end : gpu->first;
		const uint64_t to = end < chunk->end ? end : chunk->end;
		const uint64_t covered = to - begin, length = chunk->end - from;
		const uint64_t busy = length - chunk->idle_ns;
		const uint64_t most = covered < chunk->idle_ns ? covered : chunk->idle_ns;
		const uint64_t least = covered == length ? most
				       : covered > busy  ? covered - busy
							 : 0;

		chunk->idle_ns -= least;
		gpu->busy_ns += least;
		gpu->late_ns += least;
		gpu->uncertain_ns += most - least;
		begin = to;
	}
}

/* It began before the first that was told: what lies between was idle, and nobody can say why. */
static void tell_earlier(struct gpu_time *gpu, uint64_t begin, uint64_t end)
{
	const uint64_t idle = gpu->first > end ? gpu->first - end : 0;

	begin_gap(gpu, end, gpu->first);
	add(gpu, IDLE_UNKNOWN, NULL, NULL, idle);
	gpu->mark_count -= idle != 0; /* steps know nothing of it */
	if (idle)
		keep_gap(&gpu->gaps, &gpu->gap);
	gpu->chunks[0].idle_ns += idle;
	gpu->busy_ns += gpu->first - begin - idle;
	gpu->first = begin;
}

/* ---- work */

void gpu_time_init(struct gpu_time *gpu, struct host_time *host)
{
	gpu->chunk_works = 64;
	gpu->first = UINT64_MAX;
	gpu->host = host;
	gpu->next = host->gpus;
	host->gpus = gpu;
}

void gpu_time_fini(struct gpu_time *gpu)
{
	map_fini(&gpu->path.newest);
	idle_rows_fini(&gpu->rows);
}

uint64_t gpu_time_told(const struct gpu_time *gpu)
{
	return gpu->chunk_count ? gpu->told : gpu->first;
}

static int compare(const void *a, const void *b)
{
	const struct gpu_work *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Takes the pending work, which is in order, into the window: from the end, as mostly all of it is newer. */
static void merge(struct gpu_time *gpu)
{
	struct gpu_work *window = gpu->window, *pending = gpu->pending;
	size_t i = gpu->window_count, j = gpu->pending_count;

	gpu->window_count += j;
	for (size_t at = gpu->window_count; j; at--) {
		const bool take = i && window[i - 1].begin > pending[j - 1].begin;

		window[at - 1] = take ? window[--i] : pending[--j];
	}
	gpu->pending_count = 0;
}

/* Adds what of [begin, end) lies behind `until`, which moves. */
static uint64_t add_union(uint64_t *until, uint64_t begin, uint64_t end)
{
	const uint64_t from = begin > *until ? begin : *until;

	if (end <= from)
		return 0;
	*until = end;
	return end - from;
}

/* What of it lies in time that was told already. */
static void tell_begun(struct gpu_time *gpu, const struct gpu_work *work)
{
	const uint64_t end = work->end < gpu->told ? work->end : gpu->told;

	if (work->begin < gpu->first)
		tell_earlier(gpu, work->begin, work->end);
	if (work->begin < end)
		tell_late(gpu, work->begin, end);
}

static void tell(struct gpu_time *gpu, const struct gpu_work *work)
{
	uint64_t idle = 0;

	if (!gpu->told) {
		gpu->told = gpu->busy_since = work->begin;
		gpu->marks[gpu->mark_count++].time = work->begin;
	} else if (work->begin > gpu->told) {
		tell_gap(gpu, work, &gpu->window[work->first]);
		idle = work->begin - gpu->told;
		gpu->busy_since = work->begin;
	}
	if (work->is_copy)
		gpu->copies_ns += add_union(&gpu->copies_until, work->begin, work->end);
	else
		gpu->kernels_ns += add_union(&gpu->kernels_until, work->begin, work->end);
	gpu->told += idle;
	if (work->end >= gpu->told)
		gpu->before = *work;
	const uint64_t busy = add_union(&gpu->told, work->begin, work->end);

	gpu->busy_ns += busy;
	set_mark(gpu, gpu->told, busy, 0, 0);
	add_to_chunk(gpu, idle);
	path_add(gpu, work);
}

/* Tells so many of the window, those that began first. */
static void tell_first(struct gpu_time *gpu, size_t count)
{
	struct gpu_work *window = gpu->window;

	for (size_t i = gpu->window_count, first = i - 1; i--; window[i].first = (uint32_t)first)
		if (window[i].submit &&
		    (!window[first].submit || window[i].submit <= window[first].submit))
			first = i;
	for (size_t i = 0; i < count; i++)
		tell(gpu, &window[i]);
	gpu_time_take_steps(gpu, false);
	path_take_steps(gpu->host, false);
	gpu->window_count -= count;
	memmove(window, window + count, gpu->window_count * sizeof(*window));
}

static void take_pending(struct gpu_time *gpu)
{
	size_t kept = 0, sorted = 1;

	while (sorted < gpu->pending_count &&
	       gpu->pending[sorted].begin >= gpu->pending[sorted - 1].begin)
		sorted++;
	if (sorted < gpu->pending_count)
		qsort(gpu->pending, gpu->pending_count, sizeof(*gpu->pending), compare);
	for (size_t i = 0; i < gpu->pending_count; i++) {
		struct gpu_work work = gpu->pending[i];

		if (gpu->chunk_count && work.begin < gpu->busy_since) {
			tell_begun(gpu, &work);
			work.begin = gpu->busy_since;
		}
		if (work.begin < work.end)
			gpu->pending[kept++] = work;
	}
	gpu->pending_count = kept;
	merge(gpu);
}

bool gpu_time_add(struct gpu_time *gpu, const struct gpu_work *work)
{
	if (work->begin >= work->end)
		return true;
	if (work->begin < gpu->first && !gpu->chunk_count)
		gpu->first = work->begin;
	if (work->end > gpu->last)
		gpu->last = work->end;
	gpu->pending[gpu->pending_count++] = *work;
	if (gpu->pending_count == GPU_PENDING) {
		take_pending(gpu);
		if (gpu->window_count > GPU_WINDOW)
			tell_first(gpu, gpu->window_count - GPU_WINDOW / 2);
	}
	return !gpu->out_of_memory;
}

bool gpu_time_settle(struct gpu_time *gpu)
{
	take_pending(gpu);
	if (gpu->window_count)
		tell_first(gpu, gpu->window_count);
	path_end(gpu, UINT64_MAX);
	gpu_time_take_steps(gpu, true);
	return !gpu->out_of_memory;
}

/* Takes what was busy after all from what was idle, of each row as much as of all. */
static void take_late(struct gpu_time *gpu)
{
	uint64_t sum = 0, idle = gpu->idle_ns - gpu->late_ns;

	for (uint32_t i = 0; i < gpu->rows.count; i++) {
		struct idle_row *row = &gpu->rows.list[i];

		row->total_ns = between(0, row->total_ns, idle, gpu->idle_ns);
		sum += row->total_ns;
	}
	/* what was lost by rounding down */
	gpu->rows.list[0].total_ns += idle - sum;
	gpu->idle_ns = idle;
	gpu->late_ns = 0;
}

uint64_t gpu_time_unknown(const struct gpu_time *gpu, bool only_paused)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < gpu->rows.count; i++) {
		const struct idle_row *row = &gpu->rows.list[i];

		if (row->cause == IDLE_PAUSED || (row->cause > IDLE_PAUSED && !only_paused))
			sum += row->total_ns;
	}
	return sum;
}

void gpu_time_close(struct gpu_time *gpu, enum idle_cause missing, bool calls_missing)
{
	if (gpu->late_ns)
		take_late(gpu);
	if (missing != IDLE_CAUSES)
		gpu->gaps = (struct gaps){0};
	idle_rows_close(&gpu->rows, missing, calls_missing);
}

void idle_rows_close(struct idle_rows *rows, enum idle_cause missing, bool calls_missing)
{
	for (uint32_t i = 0; i < rows->count; i++) {
		struct idle_row *row = &rows->list[i];
		const bool is_unseen = calls_missing && row->cause == IDLE_OUTSIDE;

		if (row->cause == IDLE_PAUSED || (missing == IDLE_CAUSES && !is_unseen))
			continue;
		row->cause = missing != IDLE_CAUSES ? missing : IDLE_UNSEEN;
		row->thread = NULL;
		row->what = NULL;
	}
}
