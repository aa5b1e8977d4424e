/* SPDX-License-Identifier: MIT */
/* See gpu_time.h: critical paths, from the end of a range back to its begin. Work waited for what ended before it in
 * its queue, or for other work where it says that it had to wait, or else for the thread that submitted it; and a
 * thread for the work that ended last in a call that waits. */
#include "model.h"

/* ---- work */

static uint64_t key_of(const struct gpu_work *work, uint64_t kind, uint64_t number)
{
	return hash_pair((uintptr_t)work->thread->process + kind, number);
}

/* NULL: none, or it was forgotten. */
static const struct gpu_work *work_at(const struct path *path, uint64_t number)
{
	return number > path->gone ? &path->ended[number - path->gone - 1] : NULL;
}

void path_end(struct gpu_time *gpu, uint64_t time_ns)
{
	struct path *path = &gpu->path;

	while (path->running_count && path->running[path->running_count - 1].end <= time_ns) {
		const struct gpu_work *work = &path->running[--path->running_count];

		if (path->ended_count && path->ended[path->ended_count - 1].end > work->end)
			continue; /* it came too late */
		if (path->ended_count == PATH_ENDED) {
			path->ended_count /= 2;
			path->gone += path->ended_count;
			memcpy(path->ended, path->ended + path->ended_count,
			       path->ended_count * sizeof(*work));
		}
		path->ended[path->ended_count++] = *work;
		const uint64_t number = path->gone + path->ended_count;

		if (!map_set(&path->newest, key_of(work, 0, 0), number) ||
		    !map_set(&path->newest, key_of(work, 1, work->queue), number) ||
		    !map_set(&path->newest, key_of(work, 2, work->stream), number))
			gpu->out_of_memory = true;
	}
}

/* Of work that begins, what it waited for. */
static uint64_t find_before(const struct path *path, const struct gpu_work *work)
{
	const uint64_t last = map_get(&path->newest, key_of(work, 0, 0));
	const uint64_t own = work->queue    ? map_get(&path->newest, key_of(work, 1, work->queue))
			     : work->stream ? map_get(&path->newest, key_of(work, 2, work->stream))
					    : 0;
	const struct gpu_work *all = work_at(path, last), *before = work_at(path, own);
	const bool is_behind = before && before->end > work->submit;

	if (work->waits && all && all->end > work->submit && (!before || all->end > before->end))
		return last;
	return is_behind ? own : 0;
}

void path_add(struct gpu_time *gpu, const struct gpu_work *work)
{
	struct path *path = &gpu->path;
	size_t at;

	path_end(gpu, work->begin);
	if (path->running_count == PATH_RUNNING)
		path_end(gpu, path->running[PATH_RUNNING - 1].end);
	for (at = path->running_count++; at && path->running[at - 1].end < work->end; at--)
		path->running[at] = path->running[at - 1];
	path->running[at] = *work;
	path->running[at].before = find_before(path, work);
	path->begun = work->begin;
}

/* ---- steps */

static bool waits(const struct summary_group *call)
{
	const char *name = call ? call->name : "";

	return strstr(name, "Synchronize") ||
	       ((!strncmp(name, "hipMem", 6) || !strncmp(name, "hipFree", 7)) &&
		!strstr(name, "Async"));
}

/* The work of a process that ended last, after begin and by end; gpu: of that one. NULL: none. */
static const struct gpu_work *last_ended(const struct host_time *host,
					 const struct summary_process *process, uint64_t begin,
					 uint64_t end, struct gpu_time **of)
{
	const struct gpu_work *last = NULL;

	for (struct gpu_time *gpu = host->gpus; gpu; gpu = gpu->next) {
		const struct path *path = &gpu->path;
		size_t i = first_later(&path->ended->end, path->ended_count, sizeof(*last), end);

		while (i && path->ended[i - 1].thread->process != process &&
		       path->ended[i - 1].end > begin)
			i--;
		if (!i || path->ended[i - 1].end <= begin ||
		    (last && path->ended[i - 1].end <= last->end))
			continue;
		last = &path->ended[i - 1];
		*of = gpu;
	}
	return last;
}

/* What a thread waited for last between these. If calls are not recorded, it is taken to have waited for all. */
static const struct gpu_work *last_awaited(const struct host_time *host,
					   const struct host_thread *thread, uint64_t begin,
					   uint64_t end, struct gpu_time **gpu)
{
	const struct lane *calls = &thread->calls;
	const struct gpu_work *work = NULL;

	if (!thread->process->deeds[SUMMARY_HIP_CALLS].count)
		return last_ended(host, thread->process, begin, end, gpu);
	size_t i = lane_find(calls, end - 1);

	for (i += i < calls->count; !work && i && calls->spans[i - 1].end > begin; i--) {
		const struct span *span = &calls->spans[i - 1];

		if (span->begin < end && waits(span->what))
			work = last_ended(host, thread->process,
					  span->begin > begin ? span->begin : begin,
					  span->end < end ? span->end : end, gpu);
	}
	return work;
}

static void add_path(const struct host_time *host, const struct step *step)
{
	struct idle_rows *rows = &step->of->path;
	struct gpu_time *gpu = host->gpus;
	const struct gpu_work *work = NULL, *before;
	struct gpu_work host_did = {.submit = step->end, .thread = step->thread};
	const uint64_t begin = step->begin;
	uint64_t at = step->end, from; /* what lies behind was told */

	while (at > begin) {
		if (!work) { /* a thread was at it */
			work = last_awaited(host, host_did.thread, begin, at, &gpu);
			from = work ? work->end : begin;
			gpu_time_tell_path(gpu, rows, from, at, &host_did, NULL);
			at = from;
			continue;
		}
		from = work->begin > begin ? work->begin : begin;
		gpu->out_of_memory |= !idle_rows_add(rows, PATH_WORK, NULL, work->what, at - from);
		before = work_at(&gpu->path, work->before);
		at = work->before ? (before ? before->end : 0) : work->submit;
		at = at < begin ? begin : at < from ? at : from;
		host_did = *work;
		if (work->before && !before)
			host_did.submit = 0;
		gpu_time_tell_path(gpu, rows, at, from, &host_did, before);
		host_did.submit = at;
		work = before;
	}
}

void path_take_steps(struct host_time *host, bool all)
{
	uint64_t begun = UINT64_MAX;

	for (const struct gpu_time *gpu = host->gpus; gpu; gpu = gpu->next)
		begun = gpu->path.begun < begun ? gpu->path.begun : begun;
	for (; host->paths_done < host->step_count; host->paths_done++) {
		const struct step *step = &host->steps[host->paths_done];

		if (step->end > begun && !all)
			return;
		if (host->gpus)
			add_path(host, step);
	}
}
