/* SPDX-License-Identifier: MIT */
/* See report_events.h. */
#include "report_events.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "database.h"
#include "map.h"

/* Keys of tracks and names: what kind of number is in the rest. */
#define OF_GPU      (1ull << 63)
#define OF_USTRING  (1ull << 63)
#define OF_OP       (1ull << 62)
#define NO_CALL     UINT32_MAX
#define PACKED_MOST 48 /* bytes of an event: five numbers */

struct event {
	int64_t begin_ns, end_ns;
	int64_t call_ns;
	uint32_t name;
	uint32_t call_track; /* NO_CALL: none */
};

struct track {
	struct event *events;
	size_t count, room;
	bool is_ordered;
};

struct call {
	int64_t begin_ns;
	uint32_t track;
};

struct reading {
	struct report_events *out;
	struct database *database;
	struct track *tracks; /* as many as out has */
	size_t track_room, name_room;
	struct call *calls;
	size_t call_count, call_room;
	struct map track_of, name_of; /* by key: index + 1 */
	struct map call_of, cause_of; /* by id of the call, of the operation: index + 1 */
	int64_t shortest_ns;
	uint64_t seen;
};

static int out_of_memory(void)
{
	cli_error("out of memory");
	return -1;
}

/* Room for one more; the array may move. */
static void *grown(void *array, size_t count, size_t *room, size_t size)
{
	const size_t wanted = *room ? *room * 2 : 64;
	void *larger;

	if (count < *room)
		return array;
	larger = reallocarray(array, wanted, size);
	if (larger)
		*room = wanted;
	return larger;
}

/* The index of the track of a key; -1: out of memory. */
static int64_t find_track(struct reading *reading, uint64_t key, const struct report_track *track)
{
	struct report_events *out = reading->out;
	const uint64_t found = map_get(&reading->track_of, key);
	const size_t before = reading->track_room;
	size_t room = before;
	struct track *tracks;
	struct report_track *outs;

	if (found)
		return (int64_t)found - 1;
	tracks = grown(reading->tracks, out->track_count, &room, sizeof(*tracks));
	if (!tracks)
		return -1;
	reading->tracks = tracks;
	room = before;
	outs = grown(out->tracks, out->track_count, &room, sizeof(*outs));
	if (!outs)
		return -1;
	out->tracks = outs;
	reading->track_room = room;
	if (!map_set(&reading->track_of, key, out->track_count + 1))
		return -1;
	tracks[out->track_count] = (struct track){.is_ordered = true};
	outs[out->track_count] = *track;
	return (int64_t)out->track_count++;
}

static int add_event(struct reading *reading, int64_t index, const struct event *event)
{
	struct track *track = &reading->tracks[index];
	struct event *events =
		grown(track->events, track->count, &track->room, sizeof(*track->events));

	if (!events)
		return out_of_memory();
	track->events = events;
	if (track->count && events[track->count - 1].begin_ns > event->begin_ns)
		track->is_ordered = false;
	events[track->count++] = *event;
	return 0;
}

/* ---- names ---- */

/* The index of the name of a key; its text comes later. -1: out of memory. */
static int64_t find_name(struct reading *reading, uint64_t key)
{
	struct report_events *out = reading->out;
	const uint64_t found = map_get(&reading->name_of, key);
	struct report_name *names;

	if (found)
		return (int64_t)found - 1;
	names = grown(out->names, out->name_count, &reading->name_room, sizeof(*names));
	if (!names)
		return -1;
	out->names = names;
	if (!map_set(&reading->name_of, key, out->name_count + 1))
		return -1;
	names[out->name_count] = (struct report_name){NULL, "call"};
	return (int64_t)out->name_count++;
}

/* Rows: number, text, and of a call its domain. */
static void name(struct reading *reading, uint64_t flag, const char *const *row, const char *kind)
{
	const uint64_t found =
		map_get(&reading->name_of, flag | strtoull(row[0] ? row[0] : "0", NULL, 10));
	struct report_name *name = found ? &reading->out->names[found - 1] : NULL;

	if (!name || name->text || !row[1])
		return;
	name->text = strdup(row[1]);
	name->kind = kind;
}

static void name_call(void *user, const char *const *row)
{
	const char *kind = row[2] && !strcmp(row[2], "hip")   ? "hip"
			   : row[2] && !strcmp(row[2], "hsa") ? "hsa"
							      : "call";

	name(user, 0, row, kind);
}

static void name_range(void *user, const char *const *row)
{
	name(user, OF_USTRING, row, "roctx");
}

static void name_op(void *user, const char *const *row)
{
	name(user, OF_OP, row, row[2] && !strcmp(row[2], "KernelExecution") ? "kernel" : "copy");
}

static int read_names(struct reading *reading)
{
	if (database_query(
		    reading->database,
		    "SELECT n.id, n.string, d.string FROM (SELECT DISTINCT apiName_id AS id,"
		    " domain_id AS domain FROM rocpd_api) AS x JOIN rocpd_string AS n USING (id)"
		    " JOIN rocpd_string AS d ON d.id = x.domain",
		    name_call, reading) ||
	    database_query(reading->database,
			   "SELECT id, string FROM rocpd_ustring WHERE id IN (SELECT args_id FROM"
			   " rocpd_api WHERE apiName_id IN"
			   " (SELECT id FROM rocpd_string WHERE string = 'UserMarker'))",
			   name_range, reading) ||
	    database_query(
		    reading->database,
		    "SELECT n.id, n.string, t.string FROM (SELECT DISTINCT iif(description_id ="
		    " (SELECT id FROM rocpd_string WHERE string = ''), opType_id,"
		    " description_id) AS id, opType_id AS type FROM rocpd_op) AS x"
		    " JOIN rocpd_string AS n USING (id) JOIN rocpd_string AS t ON t.id = x.type",
		    name_op, reading))
		return -1;
	return 0;
}

/* ---- rows ---- */

static bool is_left_out(struct reading *reading, int64_t begin_ns, int64_t end_ns)
{
	struct report_events *out = reading->out;

	if (!reading->seen || (uint64_t)begin_ns < out->base_ns)
		out->base_ns = (uint64_t)begin_ns;
	if (!reading->seen++ || (uint64_t)end_ns > out->end_ns)
		out->end_ns = (uint64_t)end_ns;
	if (end_ns - begin_ns >= reading->shortest_ns)
		return false;
	out->left_out++;
	return true;
}

/* Remembers a call for what it has caused. */
static int note_call(struct reading *reading, uint64_t id, const struct call *call)
{
	struct call *calls = grown(reading->calls, reading->call_count, &reading->call_room,
				   sizeof(*reading->calls));

	if (!calls)
		return out_of_memory();
	reading->calls = calls;
	calls[reading->call_count++] = *call;
	return map_set(&reading->call_of, id, reading->call_count) ? 0 : out_of_memory();
}

/* id, pid, tid, start, end, key of the name */
static int read_call(void *user, const int64_t *row)
{
	struct reading *reading = user;
	const int64_t track =
		find_track(reading, (uint64_t)row[1] << 32 | (uint32_t)row[2],
			   &(struct report_track){.gpu = -1, .queue = row[2], .pid = row[1]});
	const int64_t name_index = find_name(reading, (uint64_t)row[5]);

	if (track < 0 || name_index < 0)
		return out_of_memory();
	if (note_call(reading, (uint64_t)row[0], &(struct call){row[3], (uint32_t)track}))
		return -1;
	if (is_left_out(reading, row[3], row[4]))
		return 0;
	return add_event(reading, track,
			 &(struct event){row[3], row[4], 0, (uint32_t)name_index, NO_CALL});
}

/* op_id, api_id */
static int read_link(void *user, const int64_t *row)
{
	struct reading *reading = user;
	const uint64_t call = map_get(&reading->call_of, (uint64_t)row[1]);

	return !call || map_set(&reading->cause_of, (uint64_t)row[0], call) ? 0 : out_of_memory();
}

/* id, gpuId, queueId, start, end, key of the name */
static int read_op(void *user, const int64_t *row)
{
	struct reading *reading = user;
	const int64_t track =
		find_track(reading, OF_GPU | (uint64_t)row[1] << 32 | (uint32_t)row[2],
			   &(struct report_track){.gpu = row[1], .queue = row[2]});
	const int64_t name_index = find_name(reading, (uint64_t)row[5] | OF_OP);
	const uint64_t cause = map_get(&reading->cause_of, (uint64_t)row[0]);
	struct event event = {row[3], row[4], 0, (uint32_t)name_index, NO_CALL};

	if (track < 0 || name_index < 0)
		return out_of_memory();
	if (is_left_out(reading, row[3], row[4]))
		return 0;
	if (cause) {
		event.call_ns = reading->calls[cause - 1].begin_ns;
		event.call_track = reading->calls[cause - 1].track;
	}
	return add_event(reading, track, &event);
}

/* Which events are left out, where there are more than `most`. */
static int read_shortest(void *user, const int64_t *row)
{
	struct reading *reading = user;

	reading->shortest_ns = row[0];
	return 0;
}

static int choose_shortest(struct reading *reading, uint64_t most)
{
	char sql[480];

	snprintf(sql, sizeof(sql),
		 "SELECT d + 1 FROM (SELECT \"end\" - start AS d FROM rocpd_api UNION ALL"
		 " SELECT \"end\" - start FROM rocpd_op) WHERE"
		 " (SELECT count(*) FROM rocpd_api) + (SELECT count(*) FROM rocpd_op) > %llu"
		 " ORDER BY d DESC LIMIT 1 OFFSET %llu",
		 (unsigned long long)most, (unsigned long long)most);
	return database_query_numbers(reading->database, sql, 1, read_shortest, reading);
}

static int read_all(struct reading *reading, uint64_t most)
{
	struct database *database = reading->database;

	if (choose_shortest(reading, most))
		return -1;
	reading->out->shortest_ns = (uint64_t)reading->shortest_ns;
	/* rtl's own rows only mark the extent of processes. */
	if (database_query_numbers(
		    database,
		    "SELECT id, pid, tid, start, \"end\", iif(apiName_id = (SELECT id FROM"
		    " rocpd_string WHERE string = 'UserMarker'), args_id | (1 << 63), apiName_id)"
		    " FROM rocpd_api WHERE domain_id IS NOT"
		    " (SELECT id FROM rocpd_string WHERE string = 'rtl')",
		    6, read_call, reading) ||
	    database_query_numbers(database, "SELECT op_id, api_id FROM rocpd_api_ops", 2,
				   read_link, reading) ||
	    database_query_numbers(
		    database,
		    "SELECT id, gpuId, queueId, start, \"end\", iif(description_id = (SELECT id "
		    "FROM"
		    " rocpd_string WHERE string = ''), opType_id, description_id) FROM rocpd_op",
		    6, read_op, reading))
		return -1;
	return read_names(reading);
}

/* ---- packing ---- */

/* By their begin; what is around the other first. */
static int compare_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

static void put(struct report_events *out, uint64_t number)
{
	while (number >= 128) {
		out->packed[out->packed_size++] = (unsigned char)(number | 128);
		number >>= 7;
	}
	out->packed[out->packed_size++] = (unsigned char)number;
}

static void put_event(struct report_events *out, const struct event *event, int64_t before_ns,
		      bool is_gpu)
{
	const int64_t since_ns = event->begin_ns - event->call_ns;

	put(out, (uint64_t)(event->begin_ns - before_ns));
	put(out, event->end_ns > event->begin_ns ? (uint64_t)(event->end_ns - event->begin_ns) : 0);
	put(out, event->name);
	if (!is_gpu)
		return;
	put(out, event->call_track != NO_CALL);
	if (event->call_track == NO_CALL)
		return;
	put(out, since_ns < 0 ? (uint64_t)-since_ns * 2 - 1 : (uint64_t)since_ns * 2);
	put(out, event->call_track);
}

static int pack(struct reading *reading)
{
	struct report_events *out = reading->out;
	size_t room = 0;

	for (size_t i = 0; i < out->track_count; i++) {
		struct track *track = &reading->tracks[i];
		int64_t before_ns = (int64_t)out->base_ns;

		if (!track->is_ordered)
			qsort(track->events, track->count, sizeof(*track->events), compare_events);
		out->tracks[i].count = track->count;
		for (size_t j = 0; j < track->count; j++) {
			if (out->packed_size + PACKED_MOST > room) {
				unsigned char *larger =
					realloc(out->packed, room = (room + PACKED_MOST) * 2);

				if (!larger)
					return out_of_memory();
				out->packed = larger;
			}
			put_event(out, &track->events[j], before_ns, out->tracks[i].gpu >= 0);
			before_ns = track->events[j].begin_ns;
		}
	}
	return 0;
}

int report_events_read(struct report_events *events, struct database *database, uint64_t most)
{
	struct reading reading = {.out = events, .database = database};
	int rc;

	*events = (struct report_events){0};
	rc = read_all(&reading, most) || pack(&reading) ? -1 : 0;
	for (size_t i = 0; i < events->track_count; i++)
		free(reading.tracks[i].events);
	free(reading.tracks);
	free(reading.calls);
	map_fini(&reading.track_of);
	map_fini(&reading.name_of);
	map_fini(&reading.call_of);
	map_fini(&reading.cause_of);
	return rc;
}

void report_events_fini(struct report_events *events)
{
	for (size_t i = 0; i < events->name_count; i++)
		free(events->names[i].text);
	free(events->names);
	free(events->tracks);
	free(events->packed);
}
