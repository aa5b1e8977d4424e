/* SPDX-License-Identifier: MIT */
#include "report.h"

#include "histogram.h"

#include "cli.h"

#define NO_CALL     UINT32_MAX
#define PACKED_MOST 48 /* bytes of an event: five numbers */

struct report_event {
	uint64_t begin_ns, end_ns, call_ns;
	uint32_t name;
	uint32_t call_track; /* NO_CALL: none */
};

static struct report *report_of(struct timeline *timeline)
{
	return (struct report *)((char *)timeline - offsetof(struct report, sink.timeline));
}

/* The number plus one that a key has, or the next one gets. */
static uint64_t number_of(struct map *map, uint64_t key, size_t next)
{
	const uint64_t known = map_get(map, key);

	if (!known)
		cli_need(map_set(map, key, next + 1) ? map : NULL);
	return known ? known : next + 1;
}

/* ---- tracks, names ---- */

/* Queues of several processes have numbers of their own. */
static uint32_t free_number(const struct report *report, int64_t gpu, uint32_t number)
{
	uint32_t next = 0;
	bool is_free = true;

	for (size_t i = 0; i < report->track_count; i++)
		if (report->tracks[i].gpu == gpu) {
			is_free &= report->tracks[i].number != number;
			if (report->tracks[i].number >= next)
				next = report->tracks[i].number + 1;
		}
	return is_free ? number : next;
}

/* The index of a track plus one. */
static uint64_t find_track(struct report *report, const struct timeline_track *of)
{
	const bool is_thread = of->kind == TIMELINE_THREAD || of->kind == TIMELINE_STARTED;
	const uint64_t node = of->process->number;
	const bool is_copies = of->kind == TIMELINE_COPIES;
	/* those of another tool's are told apart by their numbers alone */
	const uint64_t queue = report->sink.work.has_gpu_0 ? (uint32_t)of->number : of->number;
	const uint64_t key = is_thread ? hash_number(of->process->key) + of->number
				       : hash_number(node) + (is_copies ? 0 : queue + 1);
	const uint64_t found = number_of(&report->track_of, hash_number(key), report->track_count);
	struct report_track track = {.gpu = is_thread ? -1 : (int64_t)node,
				     .number = (uint32_t)of->number,
				     .pid = (uint32_t)node};

	if (found <= report->track_count)
		return found;
	if (!is_thread)
		track.number = is_copies ? 0 : free_number(report, track.gpu, track.number);
	*CLI_ADD(report->tracks, report->track_count) = track;
	return found;
}

/* The index of a name plus one. */
static uint64_t find_name(struct report *report, const struct timeline_slice *slice)
{
	const struct name *text = slice->name ? slice->name
					      : cli_need(names_of(&report->sink.timeline.names,
								  slice->text, slice->text_length));
	const uint64_t found =
		number_of(&report->name_of, (uint64_t)text->number << 32 | slice->category->number,
			  report->name_count);

	if (found <= report->name_count)
		return found;
	*CLI_ADD(report->names, report->name_count) = (struct report_name){text, slice->category};
	return found;
}

/* ---- events ---- */

static uint64_t duration_of(const struct report_event *event)
{
	return event->end_ns - event->begin_ns;
}

/* How many events each track may keep, so that all have at most `most`: what small tracks leave is for the others. */
static size_t share_of(const struct report *report)
{
	size_t share = 0, before, rest, tracks;

	do {
		before = share;
		rest = report->most;
		tracks = 0;
		for (size_t i = 0; i < report->track_count; i++)
			if (report->tracks[i].count <= before)
				rest -= report->tracks[i].count;
			else
				tracks++;
		share = tracks ? rest / tracks : before;
	} while (share > before && tracks);
	return share;
}

/* Leaves out the shorter events of a track; of those about as long as the shortest that stay, some, evenly. */
static void thin(struct report_track *track, size_t share)
{
	struct histogram durations = {0};
	size_t kept = 0, longer = 0, alike = 0, seen = 0, room;
	uint64_t about, near, ns;

	for (size_t i = 0; i < track->count; i++)
		histogram_add(&durations, duration_of(&track->events[i]));
	about = histogram_quantile(&durations, 1 - (double)share / (double)track->count);
	near = about / 64; /* those of its bucket are nearer */
	histogram_fini(&durations);
	for (size_t i = 0; i < track->count; i++) {
		ns = duration_of(&track->events[i]);
		longer += ns > about + near;
		alike += ns <= about + near && ns + near >= about;
	}
	room = share > longer ? share - longer : 0;
	for (size_t i = 0; i < track->count; i++) {
		ns = duration_of(&track->events[i]);
		if (ns <= about + near) {
			if (ns + near < about)
				continue;
			seen++;
			if (seen * room / alike == (seen - 1) * room / alike)
				continue;
		}
		track->events[kept++] = track->events[i];
	}
	track->left_out += track->count - kept;
	track->count = kept;
	track->shortest_ns = about - near;
}

/* So that there are at most `most`; each track keeps its longest. */
static void leave_out(struct report *report)
{
	const size_t share = share_of(report);

	report->count = 0;
	for (size_t i = 0; i < report->track_count; i++) {
		if (report->tracks[i].count > share)
			thin(&report->tracks[i], share);
		report->count += report->tracks[i].count;
	}
}

/* What a stream of rtl's notes by the way; those of the program's own are shown. */
static bool is_aside(const struct report *report, const struct timeline_slice *slice)
{
	const char *stream = slice->category->text;

	return slice->is_mark && slice->category != report->sink.work.categories[WORK_MARKER] &&
	       !strncmp(stream, "rtl.", 4) && strcmp(stream, RTL_STREAM_DEFAULT) != 0;
}

static void slice(struct timeline *timeline, const struct timeline_track *of,
		  const struct timeline_lane *lane, const struct timeline_slice *slice)
{
	struct report *report = report_of(timeline);
	const struct work *work = &report->sink.work;
	const uint64_t end_ns = slice->end_ns > slice->begin_ns ? slice->end_ns : slice->begin_ns;
	struct report_event event = {slice->begin_ns, end_ns, slice->called_ns, 0, NO_CALL};
	struct report_track *track;
	uint64_t number, name;

	if (of->kind == TIMELINE_HOST || of->kind == TIMELINE_GPU_OTHER ||
	    slice->category == work->categories[WORK_MEMORY] || is_aside(report, slice))
		return;
	if (slice->caller)
		event.call_track = (uint32_t)find_track(report, slice->caller) - 1;
	number = find_track(report, of);
	name = find_name(report, slice);
	report->base_ns = event.begin_ns < report->base_ns ? event.begin_ns : report->base_ns;
	report->end_ns = end_ns > report->end_ns ? end_ns : report->end_ns;
	track = &report->tracks[number - 1];
	if (end_ns - event.begin_ns < track->shortest_ns) {
		track->left_out++;
		return;
	}
	event.name = (uint32_t)name - 1;
	*CLI_ADD(track->events, track->count) = event;
	if (++report->count > report->most + report->most / 4)
		leave_out(report);
}

/* ---- packing ---- */

/* By their begin; what is around the other first. */
static int compare_events(const void *a, const void *b)
{
	const struct report_event *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

/* As those of most tracks are. */
static bool is_sorted(const struct report_track *track)
{
	size_t i = 1;

	while (i < track->count && compare_events(&track->events[i - 1], &track->events[i]) <= 0)
		i++;
	return i >= track->count;
}

static void put(struct report *report, uint64_t number)
{
	char *at = (char *)report->packed + report->packed_size;

	report->packed_size += (size_t)(put_varint(at, number) - at);
}

static void pack_event(struct report *report, const struct report_event *event, uint64_t before_ns,
		       bool is_gpu)
{
	const int64_t since_ns = (int64_t)(event->begin_ns - event->call_ns);

	put(report, event->begin_ns - before_ns);
	put(report, event->end_ns - event->begin_ns);
	put(report, event->name);
	if (!is_gpu)
		return;
	put(report, event->call_track != NO_CALL);
	if (event->call_track == NO_CALL)
		return;
	put(report, since_ns < 0 ? (uint64_t)-since_ns * 2 - 1 : (uint64_t)since_ns * 2);
	put(report, event->call_track);
}

static char *tail(struct timeline *timeline, size_t *length)
{
	struct report *report = report_of(timeline);

	if (report->count > report->most)
		leave_out(report);
	report->packed = cli_need(malloc(report->count * PACKED_MOST + 1));
	if (timeline_error(timeline))
		return NULL;
	report->base_ns = report->end_ns ? report->base_ns : 0;
	for (size_t i = 0; i < report->track_count; i++) {
		struct report_track *track = &report->tracks[i];
		uint64_t before_ns = report->base_ns;

		if (!is_sorted(track))
			qsort(track->events, track->count, sizeof(*track->events), compare_events);
		for (size_t j = 0; j < track->count; j++) {
			pack_event(report, &track->events[j], before_ns, track->gpu >= 0);
			before_ns = track->events[j].begin_ns;
		}
	}
	return report->end(report, length);
}

const struct timeline_writer report_writer = {
	.tells_callers = true,
	.slice = slice,
	.tail = tail,
};

bool report_init(struct report *report, bool is_foreign)
{
	static const char *const categories[WORK_CATEGORIES] = {
		[WORK_KERNEL] = "kernel",  [WORK_COPY] = "copy",     [WORK_FILL] = "copy",
		[WORK_HOST_COPY] = "copy", [WORK_HIP] = "hip",       [WORK_HSA] = "hsa",
		[WORK_MARKER] = "roctx",   [WORK_MEMORY] = "memory",
	};
	struct work *work = &report->sink.work;

	work->has_gpu_0 = is_foreign;
	report->base_ns = UINT64_MAX;
	for (size_t i = 0; i < WORK_CATEGORIES; i++)
		work->categories[i] = timeline_intern(work->timeline, categories[i]);
	for (uint32_t i = 0; i < 6; i++)
		work->directions[i] =
			timeline_intern(work->timeline, rtl_hsa_copy_direction_text(i));
	return !work->timeline->out_of_memory;
}

void report_fini(struct report *report)
{
	for (size_t i = 0; i < report->track_count; i++)
		free(report->tracks[i].events);
	free(report->tracks);
	free(report->names);
	free(report->packed);
	map_fini(&report->track_of);
	map_fini(&report->name_of);
	event_sink_fini(&report->sink);
	if (report->sink.timeline.file.buffer)
		timeline_fini(&report->sink.timeline, true);
	free(report);
}
