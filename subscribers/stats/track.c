/* SPDX-License-Identifier: MIT */
/* See sink.h. */
#include "sink.h"

#include <rtl/publish.h>

#include "host.h"
#include "model.h"

#define NO_FIELD     UINT32_MAX
#define NO_DEVICE    UINT64_MAX
#define IDS_MOST     65536u
#define UNKNOWN_NAME "(unnamed)"

struct track {
	struct track *next;
	struct tracks *tracks;
	struct summary_section *section;
	/* Offsets in the payload of the end event, or NO_FIELD. */
	uint32_t begin_offset, end_offset, gpu_offset, string_offset, bytes_offset, status_offset;
	uint32_t name_offset;        /* of a text that is the name */
	uint32_t begin_text_offset;  /* the same in the begin event, where it has no id */
	uint32_t call_offset;        /* when the call began that caused it */
	uint32_t flags_offset;       /* of a call of HIP */
	uint32_t range_flags_offset; /* of a range of roctx */
	uint32_t tid_offset;         /* in the event of one that had not ended */
	/* Of work of a GPU, which has them all, or NO_FIELD. Of a range, submit_tid: who began it. */
	uint32_t submit_offset, submit_tid_offset, queue_offset, stream_offset, direction_offset;
	uint32_t scope_offset, packet_offset, work_flags_offset;
	uint32_t work_offset;   /* of a call of HIP */
	uint32_t range_offset;  /* of a range, that around it */
	uint32_t keys;          /* what its table can be broken down by */
	enum summary_deed deed; /* SUMMARY_DEEDS: none */
	bool causes;            /* it is work that a call of HIP may have caused */
	bool has_launches;      /* it has latencies */
	bool is_host;           /* it is what threads do: calls of HIP, ranges */
	uint64_t unlinked;      /* that none has */
	/* The newest kernel in each of some queues: those of a graph follow each other. */
	struct {
		const struct rtl_process *process;
		uint64_t queue, correlation, end_ns;
	} newest[64];
	/* A cache of rows, by tracepoint, or by string if there is none. */
	struct map groups;
	/* The newest of each: mostly the next event is about the same. */
	struct {
		uint64_t key;
		struct summary_group *group;
	} last;
	uint64_t last_gpu;
	struct summary_device *last_device;
	struct host_thread *last_thread;
};

/* 0 where there is no such field. */
static uint64_t read_u64(const void *payload, uint32_t offset)
{
	return offset != NO_FIELD ? host_number((const char *)payload + offset, 8) : 0;
}

static uint32_t read_u32(const void *payload, uint32_t offset)
{
	return offset != NO_FIELD ? (uint32_t)host_number((const char *)payload + offset, 4) : 0;
}

static void out_of_memory(struct track *track)
{
	track->tracks->host->fail(track->tracks->host, "out of memory");
}

/* ---- rows by id ---- */

/* The name to show for an event; text is room for one that has to be made up. */
static const char *event_name(const struct track *track, const struct rtl_event *event,
			      uint64_t uid, uint64_t string, char text[32])
{
	const struct rtl_host *host = track->tracks->host;
	const struct rtl_tracepoint *tp = uid ? host->tracepoint(host, event->process, uid) : NULL;
	const char *name = host_tracepoint_name(tp);

	if (name)
		return name;
	name = string ? host->string(host, event->process, string) : NULL;
	if (name && *name)
		return name;
	if (!uid)
		return UNKNOWN_NAME;
	snprintf(text, 32, "(uid %016" PRIx64 ")", uid);
	return text;
}

/* The row of an event. NULL: out of memory. */
static inline struct summary_group *find_group(struct track *track, const struct rtl_event *event,
					       uint64_t uid)
{
	uint64_t string = read_u64(event->payload, track->string_offset);
	uint64_t key = uid ? uid : string;
	struct summary_group *group;
	char text[32];

	if (key && key == track->last.key)
		return track->last.group;
	group = key ? map_pointer(&track->groups, key) : NULL;
	if (!group) {
		group = summary_group(track->section, event_name(track, event, uid, string, text));
		if (track->groups.hash.count >= IDS_MOST)
			map_fini(&track->groups);
		if (group && key) /* without memory the name is looked up */
			(void)map_set(&track->groups, key, (uintptr_t)group);
	}
	if (group) {
		track->last.key = key;
		track->last.group = group;
	}
	return group;
}

/* The text in an event, at that offset, as a name. */
static const char *text_at(const struct rtl_event *event, uint32_t offset,
			   char name[RTL_PAYLOAD_MAX + 1])
{
	struct rtl_text text;

	/* the host has seen to it that it lies in the payload */
	memcpy(&text, (const char *)event->payload + offset, sizeof(text));
	memcpy(name, (const char *)event->payload + text.offset, text.length);
	name[text.length] = '\0';
	return *name ? name : UNKNOWN_NAME;
}

static struct summary_group *find_named(struct track *track, const struct rtl_event *event,
					uint32_t offset)
{
	char name[RTL_PAYLOAD_MAX + 1];

	return summary_group(track->section, text_at(event, offset, name));
}

/* ---- events ---- */

/* Of the event's process, after find_process. NULL: out of memory. */
static struct host_thread *find_thread(struct track *track, uint32_t tid)
{
	struct tracks *tracks = track->tracks;

	if (!track->last_thread || track->last_thread->tid != tid ||
	    track->last_thread->process != tracks->process)
		track->last_thread = host_thread(&tracks->summary->host, tracks->process, tid);
	return track->last_thread;
}

static bool add_to_device(struct track *track, const struct rtl_event *event,
			  struct summary_group *group, uint64_t begin, uint64_t end)
{
	const void *payload = event->payload;
	const uint32_t gpu = read_u32(payload, track->gpu_offset);
	const bool is_copy = track->bytes_offset != NO_FIELD;
	struct gpu_work work = {
		.begin = begin,
		.end = end,
		.submit = read_u64(payload, track->submit_offset),
		.stream = read_u64(payload, track->stream_offset),
		.correlation = event->correlation,
		.what = group,
		.thread = find_thread(track, read_u32(payload, track->submit_tid_offset)),
		.queue = read_u32(payload, track->queue_offset),
		.is_copy = is_copy,
		.waits = read_u32(payload, track->work_flags_offset) &
			 (is_copy ? (unsigned)RTL_HSA_COPY_WAITED
				  : (unsigned)RTL_HSA_DISPATCH_WAITED),
	};

	if (read_u32(payload, track->direction_offset) == RTL_HSA_COPY_HOST_TO_HOST)
		return true;
	if (!work.submit)
		work.submit = read_u64(payload, track->call_offset);
	if (gpu != track->last_gpu) {
		track->last_device = summary_device(track->tracks->summary, gpu);
		track->last_gpu = gpu;
	}
	if (!track->last_device || !work.thread)
		return false;
	track->last_device->kernels += !work.is_copy;
	track->last_device->copies += work.is_copy;
	return gpu_time_add(&track->last_device->time, &work) &&
	       collectives_add_kernel(track->tracks->collectives, event, group, begin, end) &&
	       graphs_add_work(
		       track->tracks->graphs, event, read_u64(payload, track->scope_offset),
		       &(struct graph_work){group, begin, end > begin ? end : begin, work.submit,
					    read_u64(payload, track->bytes_offset), work.queue,
					    read_u64(payload, track->packet_offset), NULL});
}

/* A call of HIP or a range, of that thread. False: out of memory. */
static bool add_to_host(struct track *track, uint32_t tid, uint64_t begin, uint64_t end,
			struct summary_group *group)
{
	struct host_time *host = &track->tracks->summary->host;
	struct host_thread *thread = find_thread(track, tid);

	if (!thread || !group)
		return false;
	return track->flags_offset != NO_FIELD
		       ? host_time_add_call(host, thread, begin, end, group)
		       : host_time_add_range(host, thread, begin, end, group);
}

/* When a kernel could start: when its call began, or the kernel of the same call (of a graph) that is before it in its
 * queue had ended. */
static uint64_t could_start(struct track *track, const struct rtl_event *event, uint64_t call,
			    uint64_t end)
{
	const uint64_t queue = (uint64_t)read_u32(event->payload, track->gpu_offset) << 32 |
			       read_u32(event->payload, track->queue_offset);
	__typeof__(track->newest[0]) *newest = &track->newest[(queue ^ queue >> 32) % 64];
	const bool follows = event->correlation && newest->process == event->process &&
			     newest->queue == queue && newest->correlation == event->correlation;
	const uint64_t start = follows && newest->end_ns > call ? newest->end_ns : call;

	*newest = (__typeof__(*newest)){event->process, queue, event->correlation, end};
	return start;
}

/* Counts it in its row, and in that of the key by which it is broken down. False: out of memory. */
static bool add_piece(struct track *track, const struct breakdown_place *place,
		      struct summary_group *group, const struct summary_piece *piece)
{
	summary_group_add_piece(group, piece);
	return breakdown_add(track->tracks->breakdown, place, group, piece);
}

/* Where an event belongs, after find_process. */
static struct breakdown_place place_of(struct track *track, const struct rtl_event *event)
{
	const void *payload = event->payload;
	const uint64_t stream = read_u64(payload, track->stream_offset);

	return (struct breakdown_place){
		.event = event,
		.process = track->tracks->process,
		.stream = stream,
		.range = track->deed != SUMMARY_DEEDS ? read_u64(payload, track->range_offset) : 0,
		.tid = track->submit_tid_offset != NO_FIELD
			       ? read_u32(payload, track->submit_tid_offset)
			       : event->tid,
		.gpu = track->gpu_offset != NO_FIELD ? read_u32(payload, track->gpu_offset)
						     : UINT32_MAX,
		.keys = track->keys,
		.has_stream = stream || read_u64(payload, track->call_offset) ||
			      read_u32(payload, track->flags_offset) & RTL_HIP_CALL_STREAM,
		.is_kernel = track->deed == SUMMARY_KERNELS,
	};
}

/* How long it was from when it could start to the GPU. False: out of memory. */
static bool add_launch(struct track *track, const struct breakdown_place *place,
		       struct summary_group *kernel, uint64_t begin, uint64_t end)
{
	const struct rtl_event *event = place->event;
	const uint64_t call = read_u64(event->payload, track->call_offset);
	struct breakdown_place here = *place;
	struct summary_section *launches;

	if (!call)
		return true;
	if (!kernel->launches) {
		launches = summary_section(track->tracks->summary, RTL_STREAM_HSA, "launch",
					   SUMMARY_LAUNCHES);
		kernel->launches = launches ? summary_group(launches, kernel->name) : NULL;
	}
	if (!kernel->launches)
		return false;
	const uint64_t start = could_start(track, event, call, end);

	here.is_kernel = false;
	here.keys &= ~(1u << SUMMARY_BY_GRAPH);
	return add_piece(
		track, &here, kernel->launches,
		&(struct summary_piece){.ns = begin > start ? begin - start : 0, .timed = true});
}

/* The process of an event, which is then tracks->process. False: out of memory. */
static bool find_process(struct tracks *tracks, const struct rtl_process *info)
{
	const bool has_rank =
		info->struct_size >= offsetof(struct rtl_process, rank) + sizeof(info->rank);

	if (info == tracks->last_process)
		return true;
	tracks->last_process = NULL;
	tracks->process = summary_process(tracks->summary, info->number);
	if (!tracks->process ||
	    summary_process_describe(tracks->summary, tracks->process, info->pid,
				     has_rank ? info->rank : -1, info->host_name, info->program))
		return false;
	tracks->last_process = info;
	return true;
}

/* The program had paused recording: that is no range. False: out of memory. */
static bool take_pause(struct track *track, const struct rtl_event *event)
{
	struct tracks *tracks = track->tracks;

	return find_process(tracks, event->process) &&
	       host_time_add_pause(&tracks->summary->host,
				   read_u64(event->payload, track->begin_offset),
				   read_u64(event->payload, track->end_offset), tracks->process);
}

/* What was submitted in a range is known by its name now. False: out of memory. */
static bool name_range(struct track *track, const struct rtl_event *event,
		       struct summary_group *group)
{
	if (group)
		origins_name_range(&track->tracks->graphs->origins, event, group);
	return group && breakdown_name_range(track->tracks->breakdown, event,
					     read_u64(event->payload, track->range_offset), group);
}

/* False: out of memory. */
static bool add_timed(struct track *track, const struct rtl_event *event)
{
	const uint64_t begin = read_u64(event->payload, track->begin_offset);
	const uint64_t end = read_u64(event->payload, track->end_offset);
	const struct summary_piece piece = {
		.ns = end > begin ? end - begin : 0,
		.bytes = read_u64(event->payload, track->bytes_offset),
		.timed = begin && end,
		.failed = read_u32(event->payload, track->flags_offset) & RTL_HIP_CALL_FAILED,
	};
	struct summary_group *group;

	if (read_u32(event->payload, track->range_flags_offset) & RTL_ROCTX_PAUSED)
		return take_pause(track, event);
	group = track->name_offset != NO_FIELD ? find_named(track, event, track->name_offset)
					       : find_group(track, event, event->uid);
	if (!group)
		return false;
	if (read_u32(event->payload, track->status_offset)) {
		track->section->refused++;
		return true;
	}
	track->unlinked += track->causes && !event->correlation;
	track->section->has_bytes |= track->bytes_offset != NO_FIELD;
	if (!find_process(track->tracks, event->process))
		return false;
	if (track->deed != SUMMARY_DEEDS) {
		struct summary_deeds *deeds = &track->tracks->process->deeds[track->deed];

		deeds->count++;
		deeds->total_ns += begin ? piece.ns : 0;
	}
	const enum summary_by by = track->tracks->summary->by;
	struct breakdown_place place = place_of(track, event);

	/* another thread's doorbell may take a call's work along, which does not count it then */
	group->submits |= read_u32(event->payload, track->work_offset) != 0;
	if (by == SUMMARY_BY_GPU)
		place.waits = event->correlation && group->submits;
	else if (by == SUMMARY_BY_GRAPH && piece.timed &&
		 read_u32(event->payload, track->direction_offset) != RTL_HSA_COPY_HOST_TO_HOST)
		place.waits =
			graphs_is_launch(track->tracks->graphs, event,
					 track->gpu_offset == NO_FIELD
						 ? event->uid
						 : read_u64(event->payload, track->scope_offset));
	return add_piece(track, &place, group, &piece) &&
	       (!piece.timed ||
		((!track->has_launches || add_launch(track, &place, group, begin, end)) &&
		 (!track->is_host || add_to_host(track, place.tid, begin, end, group)) &&
		 (track->range_flags_offset == NO_FIELD || name_range(track, event, group)) &&
		 (track->gpu_offset == NO_FIELD ||
		  add_to_device(track, event, group, begin, end))));
}

static void take_timed(void *user, const struct rtl_event *const *events, size_t count)
{
	struct track *track = user;

	track->tracks->has_calls |= track->flags_offset != NO_FIELD;
	if (track->gpu_offset != NO_FIELD)
		tracks_take_pauses(track->tracks);
	for (size_t i = 0; i < count; i++)
		if (!add_timed(track, events[i]))
			return out_of_memory(track);
}

/* Those that had not ended when their process did, at the time of that. */
static void take_open(void *user, const struct rtl_event *const *events, size_t count)
{
	struct track *track = user;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_event *event = events[i];
		uint64_t begin = read_u64(event->payload, track->begin_offset);
		const uint32_t tid = track->tid_offset != NO_FIELD
					     ? read_u32(event->payload, track->tid_offset)
					     : event->tid;
		char name[RTL_PAYLOAD_MAX + 1], on_queue[sizeof(name) + 32];
		const char *shown =
			track->name_offset != NO_FIELD
				? text_at(event, track->name_offset, name)
				: event_name(track, event, event->uid,
					     read_u64(event->payload, track->string_offset), name);

		if (track->gpu_offset != NO_FIELD) /* as far as it is known */
			begin = read_u64(event->payload, track->submit_offset);
		if (track->gpu_offset != NO_FIELD && track->queue_offset != NO_FIELD) {
			snprintf(on_queue, sizeof(on_queue), "%s on queue %" PRIu32, shown,
				 read_u32(event->payload, track->queue_offset));
			shown = on_queue;
		}
		if (summary_section_add_open(track->section, shown, tid,
					     event->time_ns > begin ? event->time_ns - begin : 0))
			return out_of_memory(track);
		struct summary_group *group =
			track->is_host ? summary_group(track->section, shown) : NULL;

		if (track->is_host &&
		    (!find_process(track->tracks, event->process) ||
		     !add_to_host(track, tid, begin, event->time_ns, group) ||
		     (track->range_flags_offset != NO_FIELD && !name_range(track, event, group))))
			return out_of_memory(track);
	}
}

/* The name that only the begin has; NULL: the end has what is needed, or nothing is known. */
static struct summary_group *begin_group(struct track *track, const struct rtl_event *event)
{
	struct rtl_text text;

	if (event->uid || track->begin_text_offset == NO_FIELD)
		return NULL;
	memcpy(&text, (const char *)event->payload + track->begin_text_offset, sizeof(text));
	return text.length ? find_named(track, event, track->begin_text_offset) : NULL;
}

static void take_begin(void *user, const struct rtl_event *const *events, size_t count)
{
	struct track *track = user;

	for (size_t i = 0; i < count; i++) {
		struct summary_group *group = begin_group(track, events[i]);
		struct pairing_begin begin = {
			.owner = track,
			.instance = events[i]->instance,
			.time_ns = events[i]->time_ns,
			.process = events[i]->process->number,
			.uid = events[i]->uid,
			.has_group = group,
		};
		if (group)
			begin.group = group;
		track->section->unpaired += !pairing_put(&track->tracks->pairing, &begin);
	}
}

static void take_end(void *user, const struct rtl_event *const *events, size_t count)
{
	struct track *track = user;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_event *event = events[i];
		struct pairing_begin begin = {
			.owner = track,
			.instance = event->instance,
			.process = event->process->number,
		};
		if (!pairing_take(&track->tracks->pairing, &begin)) {
			track->section->unpaired++;
			continue;
		}
		struct summary_group *group =
			begin.has_group
				? begin.group
				: find_group(track, event, begin.uid ? begin.uid : event->uid);
		const struct summary_piece piece = {
			.ns = event->time_ns > begin.time_ns ? event->time_ns - begin.time_ns : 0,
			.timed = true};

		if (!group || !find_process(track->tracks, event->process))
			return out_of_memory(track);
		const struct breakdown_place place = place_of(track, event);

		if (!add_piece(track, &place, group, &piece))
			return out_of_memory(track);
	}
}

/* A GPU that has become known: its tracepoint has its names. */
static void take_metadata(void *user, const struct rtl_event *const *events, size_t count)
{
	struct track *track = user;
	const struct rtl_host *host = track->tracks->host;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_tracepoint *tp =
			host->tracepoint(host, events[i]->process, events[i]->uid);
		uint32_t gpu = read_u32(events[i]->payload, track->gpu_offset);
		int error;

		if (!tp || strcmp(tp->kind, "agent") != 0)
			continue;
		error = summary_device_describe(track->tracks->summary, gpu, "name", tp->name);
		for (uint32_t k = 0; !error && k < tp->metadata_count; k++) {
			const struct rtl_metadata *fact = rtl_tracepoint_metadata(tp, k);
			error = summary_device_describe(track->tracks->summary, gpu, fact->key,
							fact->value);
		}
		if (error)
			return out_of_memory(track);
	}
}

/* ---- tracks ---- */

/* Offset of the first field of that kind and size, and name unless that is NULL. */
static uint32_t find_field(const struct rtl_type_info *type, uint16_t kind, uint32_t size,
			   const char *name)
{
	const struct rtl_field *field = pairing_field(type, kind, size, name);

	return field && (uint64_t)field->offset + size <= type->payload_size ? field->offset
									     : NO_FIELD;
}

static struct track *track_create(struct tracks *tracks, const struct rtl_stream_info *stream,
				  const struct pairing_kind *pair, const struct rtl_type_info *end)
{
	struct track *track = calloc(1, sizeof(*track));
	char title[256];

	if (!track)
		return NULL;
	bool is_kernel = !strcmp(stream->name, RTL_STREAM_HSA) && end->type == RTL_TASK_END;
	bool is_hsa_call = !strcmp(stream->name, RTL_STREAM_HSA_CALL);
	bool is_hip_call = !strcmp(stream->name, RTL_STREAM_HIP_CALL);
	bool is_range = !strcmp(stream->name, RTL_STREAM_ROCTX);
	bool is_copy = !strcmp(stream->name, RTL_STREAM_HSA_COPY) && end->type == RTL_TRANSFER_END;
	snprintf(title, sizeof(title),
		 is_kernel     ? "GPU kernels"
		 : is_copy     ? "GPU copies"
		 : is_hsa_call ? "HSA calls"
		 : is_hip_call ? "HIP calls"
		 : is_range    ? SUMMARY_RANGES
			       : "%s, %s",
		 stream->name, pair->name);
	track->tracks = tracks;
	track->section = summary_section(tracks->summary, stream->name, pair->name, title);
	if (!track->section) {
		free(track);
		return NULL;
	}
	track->begin_offset = find_field(end, RTL_KIND_TIME, 8, "begin_ns");
	track->end_offset = find_field(end, RTL_KIND_TIME, 8, "end_ns");
	track->string_offset = find_field(end, RTL_KIND_STRING, 8, NULL);
	track->gpu_offset = end->type == RTL_TASK_END || is_copy
				    ? find_field(end, RTL_KIND_UINT, 4, "gpu")
				    : NO_FIELD;
	track->bytes_offset = track->status_offset = track->direction_offset = NO_FIELD;
	if (end->type == RTL_TRANSFER_END) {
		track->bytes_offset = find_field(end, RTL_KIND_UINT, 8, "bytes");
		track->status_offset = find_field(end, RTL_KIND_UINT, 4, "status");
		track->direction_offset = find_field(end, RTL_KIND_UINT, 4, "direction");
	}
	track->submit_offset = find_field(end, RTL_KIND_TIME, 8, "submit_ns");
	track->submit_tid_offset =
		find_field(end, RTL_KIND_UINT, 4, is_range ? "begin_tid" : "submit_tid");
	track->queue_offset = find_field(end, RTL_KIND_UINT, 4, "queue");
	track->stream_offset = find_field(end, RTL_KIND_ADDRESS, 8, "hip_stream");
	track->scope_offset = find_field(end, RTL_KIND_UID, 8, "scope");
	track->packet_offset = find_field(end, RTL_KIND_UINT, 8, "packet_id");
	track->work_flags_offset =
		is_kernel || is_copy ? find_field(end, RTL_KIND_UINT, 4, "flags") : NO_FIELD;
	track->range_offset =
		find_field(end, RTL_KIND_UINT, 8, is_hip_call || is_range ? "parent" : "range");
	track->name_offset = is_range ? find_field(end, RTL_KIND_TEXT, 8, "name") : NO_FIELD;
	track->call_offset = find_field(end, RTL_KIND_TIME, 8, "call_ns");
	track->has_launches = is_kernel && track->call_offset != NO_FIELD;
	track->is_host = is_hip_call || is_range;
	track->flags_offset = is_hip_call ? find_field(end, RTL_KIND_UINT, 4, "flags") : NO_FIELD;
	track->work_offset = is_hip_call ? find_field(end, RTL_KIND_UINT, 4, "work") : NO_FIELD;
	track->range_flags_offset =
		is_range ? find_field(end, RTL_KIND_UINT, 4, "flags") : NO_FIELD;
	track->causes = is_kernel || is_copy;
	track->deed = is_kernel     ? SUMMARY_KERNELS
		      : is_copy     ? SUMMARY_COPIES
		      : is_hip_call ? SUMMARY_HIP_CALLS
		      : is_hsa_call ? SUMMARY_OTHER_CALLS
				    : SUMMARY_DEEDS;
	track->keys = 1u << SUMMARY_BY_THREAD | 1u << SUMMARY_BY_PROCESS;
	if (is_kernel || is_copy || is_hip_call)
		track->keys |= 1u << SUMMARY_BY_RANGE | 1u << SUMMARY_BY_STREAM |
			       1u << SUMMARY_BY_GPU | 1u << SUMMARY_BY_GRAPH;
	if (is_kernel || is_copy)
		track->keys |= 1u << SUMMARY_BY_GROUP;
	track->last_gpu = NO_DEVICE;
	track->next = tracks->first;
	tracks->first = track;
	return track;
}

static int add_track(struct tracks *tracks, const struct rtl_stream_info *stream,
		     const struct pairing_kind *pair)
{
	const struct rtl_host *host = tracks->host;
	const struct rtl_type_info *end = rtl_stream_find_type(stream, (uint16_t)(pair->begin + 1));

	if (!end)
		return 0;
	struct track *track = track_create(tracks, stream, pair, end);
	if (!track)
		return RTL_ENOMEM;
	if (track->begin_offset != NO_FIELD && track->end_offset != NO_FIELD) {
		const uint16_t unfinished = (uint16_t)(0x80 | end->type);
		const struct rtl_type_info *open = rtl_stream_find_type(stream, unfinished);
		int error = host->subscribe(host, stream, end->type, RTL_BUFFERED, take_timed,
					    track, NULL);

		/* all kinds that have it have what their ends have */
		if (error || !open || open->payload_size < end->payload_size)
			return error;
		track->tid_offset = track->submit_tid_offset != NO_FIELD
					    ? track->submit_tid_offset
					    : find_field(open, RTL_KIND_UINT, 4, "tid");
		return host->subscribe(host, stream, unfinished, RTL_BUFFERED, take_open, track,
				       NULL);
	}
	const struct rtl_type_info *begin = rtl_stream_find_type(stream, pair->begin);
	if (!begin)
		return 0;
	track->begin_text_offset = find_field(begin, RTL_KIND_TEXT, 8, "text");
	if (track->begin_text_offset == NO_FIELD)
		track->begin_text_offset = find_field(begin, RTL_KIND_TEXT, 8, "name");
	int error =
		host->subscribe(host, stream, pair->begin, RTL_BUFFERED, take_begin, track, NULL);
	if (!error)
		error = host->subscribe(host, stream, end->type, RTL_BUFFERED, take_end, track,
					NULL);
	return error;
}

/* Not a track, as it has no section: what the stream's GPUs are called. */
static int add_devices(struct tracks *tracks, const struct rtl_stream_info *stream)
{
	const struct rtl_host *host = tracks->host;
	const struct rtl_type_info *type = rtl_stream_find_type(stream, RTL_METADATA);
	uint32_t gpu = type ? find_field(type, RTL_KIND_UINT, 4, "gpu") : NO_FIELD;
	struct track *track;

	if (gpu == NO_FIELD)
		return 0;
	track = calloc(1, sizeof(*track));
	if (!track)
		return RTL_ENOMEM;
	track->tracks = tracks;
	track->gpu_offset = gpu;
	track->next = tracks->first;
	tracks->first = track;
	return host->subscribe(host, stream, RTL_METADATA, RTL_BUFFERED, take_metadata, track,
			       NULL);
}

int tracks_add_stream(struct tracks *tracks, const struct rtl_stream_info *stream)
{
	int error = add_devices(tracks, stream);

	/* The calls of rtl.hsa.call and rtl.hip.call once more. */
	if (!strcmp(stream->name, RTL_STREAM_HSA_CALL_DEBUG) ||
	    !strcmp(stream->name, RTL_STREAM_HIP_CALL_DEBUG))
		return 0;
	for (size_t i = 0; !error && i < PAIRING_KINDS; i++)
		error = add_track(tracks, stream, &pairing_kinds[i]);
	return error;
}

/* "BEGIN-END " of each pause, in ns; there come more. */
void tracks_take_pauses(struct tracks *tracks)
{
	const char *text = tracks->host->property(tracks->host, "pauses");

	if (!text || strlen(text) <= tracks->pauses_read)
		return;
	for (text += tracks->pauses_read; *text;) {
		char *end;
		const uint64_t from = strtoull(text, &end, 10);
		const uint64_t to = *end == '-' ? strtoull(end + 1, &end, 10) : 0;

		if (*end != ' ' || from >= to ||
		    !host_time_add_pause(&tracks->summary->host, from, to, NULL))
			return;
		tracks->pauses_read += (size_t)(end + 1 - text);
		text = end + 1;
	}
}

void tracks_finish(struct tracks *tracks)
{
	for (struct track *track = tracks->first; track; track = track->next) {
		if (!track->section)
			continue;
		track->section->unpaired += pairing_waiting(&tracks->pairing, track);
		if (tracks->has_calls)
			track->section->unlinked += track->unlinked;
	}
}

void tracks_fini(struct tracks *tracks)
{
	for (struct track *next, *track = tracks->first; track; track = next) {
		next = track->next;
		map_fini(&track->groups);
		free(track);
	}
	pairing_fini(&tracks->pairing);
	tracks->first = NULL;
}
