/* SPDX-License-Identifier: MIT */
#include "queue.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../common/shared.h"
#include "../../common/threads.h"
#include "counter.h"
#include "faults.h"
#include "harvest.h"
#include "kernel_table.h"
#include "room.h"
#include "submitters.h"

/* Slots that a queue begins with; the harvester makes more at once. */
#define SLOTS_AT_FIRST 128
/* Least capacity: what is finished needs its slot until the harvester has come by. */
#define SLOTS_LEAST 8192
/* Longest wait for what is under way when a queue is destroyed. */
#define DESTROY_WAIT_MS 200

static struct {
	pthread_mutex_t lock;
	struct queue *first;
	uint32_t created;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(list, list.lock);

__thread bool queue_is_being_made __attribute__((tls_model("initial-exec")));

static void list_add(struct queue *queue)
{
	HOLD_LOCK(&list.lock);
	if (!queue->unseen)
		queue->id.number = ++list.created;
	queue->next_listed = list.first;
	list.first = queue;
}

/* Under the lock: where the queue is in the list, or the list's end. */
static struct queue **list_place(const hsa_queue_t *hsa)
{
	struct queue **link = &list.first;

	while (*link && (*link)->hsa != hsa)
		link = &(*link)->next_listed;
	return link;
}

static struct queue *list_remove(const hsa_queue_t *hsa)
{
	HOLD_LOCK(&list.lock);
	struct queue **link = list_place(hsa), *queue = *link;

	if (queue)
		*link = queue->next_listed;
	return queue;
}

static const struct queue *list_find(const hsa_queue_t *hsa)
{
	HOLD_LOCK(&list.lock);
	return *list_place(hsa);
}

/* The caller uses the queue: it is not destroyed meanwhile. */
bool queue_is_intercepted(const hsa_queue_t *hsa, uint32_t packets)
{
	const struct queue *queue = list_find(hsa);

	return queue && !queue->unseen && queue->packets > packets;
}

static void free_queue(struct source *source);

/* What mode lite has passed on since the last time: counting each by itself would cost the
 * submitting thread more than the rest. */
static void count_lite(struct source *source)
{
	struct queue *queue = queue_of(source);
	const uint64_t lite = __atomic_load_n(&queue->lite, __ATOMIC_RELAXED);

	if (lite == queue->lite_counted)
		return;
	rtl_stream_count_missed(interceptor.stream, "mode lite: dispatch has a completion signal",
				lite - queue->lite_counted);
	rtl_pending_end(source->pending, lite - queue->lite_counted);
	queue->lite_counted = lite;
}

static const struct source_kind queue_kind = {
	.stream = &interceptor.stream, .settle = count_lite, .free = free_queue};

static void publish(uint16_t type, const struct queue *queue)
{
	const struct publish_ids ids = {.uid = queue->id.uid,
					.parent_uid = queue->id.agent_uid,
					.instance = queue->id.number};
	const struct rtl_hsa_queue payload = {
		.address = (uint64_t)(uintptr_t)queue->hsa,
		.gpu = queue->id.node,
		.queue = queue->id.number,
		.packets = queue->packets,
		.type = queue->type,
	};

	publish_payload(interceptor.stream, type, &ids, &payload, sizeof(payload));
}

static void describe(struct queue *queue)
{
	const struct agent *agent = agents_find(queue->agent);
	struct work_queue *id = &queue->id;
	char name[24];
	struct rtl_tracepoint_desc desc = {
		.struct_size = sizeof(desc), .kind = "queue", .name = name, .hash = id->node};

	snprintf(name, sizeof(name), "queue %u", id->number);
	if (rtl_tracepoint_register(&desc, &id->uid))
		return;
	interceptor_set_number(id->uid, "gpu", id->node);
	if (agent)
		interceptor_set_number(id->uid, "gpu_index", agent->index);
	interceptor_set_number(id->uid, "packets", queue->packets);
}

#define RECORD_FACT(from_, to_, ...) SLOT_RECORD_FACT(struct packet_slot, from_, to_, __VA_ARGS__)
#define FACT(from_, to_, ...)                                                                      \
	SLOT_FACT(struct packet_slot, from_, struct rtl_hsa_dispatch, to_, __VA_ARGS__)

/* As publish_dispatch has them. */
static const struct rtl_slot_fact facts[] = {
	RECORD_FACT(dispatch.kernel, uid, .how = RTL_SLOT_VIA, .at = offsetof(struct kernel, uid)),
	RECORD_FACT(packet.packet_id, instance),
	FACT(dispatch.kernel, kernel_name, .how = RTL_SLOT_VIA,
	     .at = offsetof(struct kernel, name)),
	FACT(packet.submit_ticks, submit_ns, .how = RTL_SLOT_TICKS),
	FACT(packet.packet_id, packet_id),
	FACT(dispatch.kernel_object, kernel_object),
	FACT(packet.submit_tid, submit_tid),
	FACT(packet.flags, flags),
	FACT(dispatch.grid[0], grid_x),
	FACT(dispatch.grid[1], grid_y),
	FACT(dispatch.grid[2], grid_z),
	FACT(dispatch.workgroup[0], workgroup_x),
	FACT(dispatch.workgroup[1], workgroup_y),
	FACT(dispatch.workgroup[2], workgroup_z),
	FACT(dispatch.group_bytes, group_segment_bytes),
	FACT(dispatch.private_bytes, private_segment_bytes),
	SLOT_SCOPE_FACTS(struct packet_slot, slot.in_scope, scope, struct rtl_hsa_dispatch),
};

/* What whoever reads the spool makes of the queue's slots. */
static void describe_slots(const struct queue *queue)
{
	struct {
		struct rtl_record record;
		struct rtl_hsa_dispatch payload;
	} event = {.record = {.size = sizeof(event),
			      .type = RTL_TASK_UNFINISHED,
			      .parent_uid = queue->id.uid,
			      .instance = publish_instance(&queue->id, 0)},
		   .payload = {.gpu = queue->id.node,
			       .queue = queue->id.number,
			       .flags = RTL_HSA_DISPATCH_UNFINISHED}};

	slots_describe(&queue->source.pool, interceptor.stream, facts,
		       sizeof(facts) / sizeof(*facts), &event.record);
}

/* The part of creation that can fail before the runtime's queue exists. */
static struct queue *prepare(hsa_agent_t handle, uint32_t size, hsa_queue_type32_t type)
{
	struct queue *queue = source_create(sizeof(*queue), &queue_kind);
	const struct agent *agent;

	if (!queue)
		return NULL;
	room_init(queue);
	if (slots_init(&queue->source.pool, sizeof(struct packet_slot),
		       size * 2 < SLOTS_LEAST ? SLOTS_LEAST : size * 2, SLOTS_AT_FIRST, false) ||
	    harvest_start()) {
		free_queue(&queue->source);
		return NULL;
	}
	agents_init();
	agent = agents_find(handle);
	queue->agent = handle;
	queue->packets = size;
	queue->type = type;
	queue->cooperators = 1; /* of those that are not, nobody asks */
	queue->id.node = agent ? agent->node : 0;
	queue->id.agent_uid = agent ? agent->uid : 0;
	return queue;
}

void queue_count_unseen(const char *why)
{
	rtl_log(RTL_LEVEL_WARNING, "hsa",
		"a queue could not be intercepted (%s): its dispatches are not traced", why);
	rtl_stream_count_missed(interceptor.stream, "queue not intercepted", 1);
}

static void attach(struct queue *queue)
{
	queue->packets = queue->hsa->size;
	queue->submitters = submitters_add(queue->hsa);
	queue->slept = !work_wanted();
	list_add(queue);
	describe(queue);
	describe_slots(queue);
	if (interceptor.hsa.set_profiler_enabled(queue->hsa, 1))
		rtl_log(RTL_LEVEL_WARNING, "hsa", "queue %u: no GPU times, profiling is refused",
			queue->id.number);
	publish(RTL_QUEUE_CREATE, queue);
	harvest_add(&queue->source);
	queue->counters = counter_queue_add(queue->agent, &queue->id, queue->hsa, &queue->source);
}

/* The queue exists, and stays as it is for us; it is known, so that it is counted once. */
static void attach_unseen(struct queue *queue, const char *why)
{
	queue_count_unseen(why);
	queue->unseen = true;
	list_add(queue);
}

/* The runtime's own thread. */
static void take_error(hsa_status_t status, hsa_queue_t *hsa, void *data)
{
	const struct queue *queue = data;

	faults_publish_queue(&queue->id, status);
	queue->on_error(status, hsa, queue->on_error_data);
}

/* Makes an intercepted queue. Our interceptor is the queue's first, so the last that sees a packet: it sees them as
 * they go to the GPU, with the signals that other tools have put into them. */
static hsa_status_t make(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			 queue_error_callback callback, void *data, uint32_t private_bytes,
			 uint32_t group_bytes, hsa_queue_t **out)
{
	struct queue *queue = prepare(agent, size, type);
	hsa_status_t status;

	if (!queue)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	queue->on_error = callback;
	queue->on_error_data = data;
	queue_is_being_made = true;
	/* without a callback the runtime has one of its own, which says something */
	status = interceptor.hsa.intercept_create(agent, size, type, callback ? take_error : NULL,
						  queue, private_bytes, group_bytes, &queue->hsa);
	queue_is_being_made = false;
	if (status) {
		free_queue(&queue->source);
		return status;
	}
	*out = queue->hsa;
	/* No packet can be there before the queue is returned. */
	if (interceptor.hsa.intercept_register(queue->hsa, dispatch_intercept, queue))
		attach_unseen(queue, "the runtime takes no interceptor");
	else
		attach(queue);
	return HSA_STATUS_SUCCESS;
}

/* The segment sizes are hints, of which the interception takes 0 only for "not known". */
static uint32_t segment_hint(uint32_t bytes)
{
	return bytes == UINT32_MAX ? 0 : bytes;
}

/* One more has the GPU's cooperative queue, if there is one. */
static struct queue *share_cooperative(hsa_agent_t agent)
{
	struct queue *queue;
	bool anew = false;

	pthread_mutex_lock(&list.lock);
	for (queue = list.first; queue; queue = queue->next_listed) {
		if (!queue->unseen && queue->type == HSA_QUEUE_TYPE_COOPERATIVE &&
		    queue->agent.handle == agent.handle)
			break;
	}
	if (queue)
		anew = queue->cooperators++ == 0;
	pthread_mutex_unlock(&list.lock);
	if (anew)
		publish(RTL_QUEUE_CREATE, queue);
	return queue;
}

hsa_status_t queue_make(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			queue_error_callback callback, void *data, uint32_t private_bytes,
			uint32_t group_bytes, hsa_queue_t **out)
{
	struct queue *queue = type == HSA_QUEUE_TYPE_COOPERATIVE ? share_cooperative(agent) : NULL;

	if (!queue)
		return make(agent, size, type, callback, data, segment_hint(private_bytes),
			    segment_hint(group_bytes), out);
	*out = queue->hsa;
	return HSA_STATUS_SUCCESS;
}

/* Whether all has ended that had been submitted when the queue's next packet was that, and what is
 * read of counters behind the last dispatch has been, too. */
static bool is_drained(const struct queue *queue, uint64_t next_id)
{
	if (queue->counters && !counter_queue_is_drained(queue->counters))
		return false;
	return !__atomic_load_n(&queue->source.unfinished, __ATOMIC_RELAXED) ||
	       (queue->next_id != next_id &&
		__atomic_load_n(&queue->taken, __ATOMIC_RELAXED) >= next_id);
}

/* Waits until nothing of the queue is under way; not for long. */
static void drain(struct queue *queue)
{
	const uint64_t deadline = rtl_clock_ns() + DESTROY_WAIT_MS * 1000000ull;
	const uint64_t next_id = queue->next_id;
	const uint32_t passes = harvest_passes();
	const bool looked = harvest_help();

	/* Where this thread cannot look, one pass may have been half done: the second one has seen
	 * all that was submitted. */
	while (((!looked && harvest_passes() - passes < 2) || !is_drained(queue, next_id)) &&
	       rtl_clock_ns() < deadline && interceptor_on())
		harvest_wait_pass();
}

/* Whether it is cooperative; then one less has it, and it stays. */
static bool release_cooperative(const hsa_queue_t *hsa)
{
	struct queue *queue;
	bool last = false;

	pthread_mutex_lock(&list.lock);
	queue = *list_place(hsa);
	if (queue && (queue->unseen || queue->type != HSA_QUEUE_TYPE_COOPERATIVE))
		queue = NULL;
	if (queue)
		last = queue->cooperators && --queue->cooperators == 0;
	pthread_mutex_unlock(&list.lock);
	if (last) {
		drain(queue);
		publish(RTL_QUEUE_DESTROY, queue);
	}
	return queue;
}

static hsa_status_t create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			   queue_error_callback callback, void *data, uint32_t private_bytes,
			   uint32_t group_bytes, hsa_queue_t **out)
{
	const bool wanted = interceptor_on() && !queue_is_being_made && out;
	hsa_status_t status;

	if (wanted &&
	    !queue_make(agent, size, type, callback, data, private_bytes, group_bytes, out))
		return HSA_STATUS_SUCCESS;
	/* What is wrong with it, if anything is, the runtime tells in its own words. */
	status = interceptor.hsa.queue_create(agent, size, type, callback, data, private_bytes,
					      group_bytes, out);
	if (wanted && !status)
		queue_count_unseen("the runtime refuses");
	return status;
}

static hsa_status_t intercept_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				     queue_error_callback callback, void *data,
				     uint32_t private_bytes, uint32_t group_bytes,
				     hsa_queue_t **out)
{
	const bool wanted = interceptor_on() && !queue_is_being_made && out;
	hsa_status_t status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;

	if (wanted)
		status = make(agent, size, type, callback, data, private_bytes, group_bytes, out);
	if (status != HSA_STATUS_ERROR_OUT_OF_RESOURCES)
		return status;
	status = interceptor.hsa.intercept_create(agent, size, type, callback, data, private_bytes,
						  group_bytes, out);
	if (wanted && !status)
		queue_count_unseen("no memory");
	return status;
}

void queue_found_unseen(hsa_queue_t *hsa, const char *why)
{
	struct queue *queue;

	if (list_find(hsa))
		return;
	queue = source_create(sizeof(*queue), &queue_kind);
	if (!queue) {
		queue_count_unseen("no memory");
		return;
	}
	queue->hsa = hsa;
	attach_unseen(queue, why);
}

static hsa_status_t intercept_register(hsa_queue_t *hsa, packet_interceptor function, void *data)
{
	const hsa_status_t status = interceptor.hsa.intercept_register(hsa, function, data);

	/* A queue that we do not know was made by a function that its tool had taken from the table
	 * before us. It is too late for us: the agent is not known, without which there are no
	 * times. */
	if (!status && interceptor_on() && !queue_is_being_made)
		queue_found_unseen(hsa, "another tool has made it without our seeing it");
	return status;
}

/* A queue of ours keeps it: without, the GPU writes no times. Times in signals do not hurt who has asked for none. */
static hsa_status_t set_profiler_enabled(hsa_queue_t *hsa, int enable)
{
	const bool keep = interceptor_on() && queue_is_intercepted(hsa, 0);

	return interceptor.hsa.set_profiler_enabled(hsa, keep ? 1 : enable);
}

hsa_status_t queue_destroy(hsa_queue_t *hsa)
{
	struct queue *queue;
	hsa_status_t status;

	/* Also at the end of the process, when no more is recorded. */
	if (release_cooperative(hsa))
		return HSA_STATUS_SUCCESS;
	queue = interceptor_on() ? list_remove(hsa) : NULL;

	if (!queue)
		return interceptor.hsa.queue_destroy(hsa);
	if (queue->unseen) {
		status = interceptor.hsa.queue_destroy(hsa);
		free_queue(&queue->source);
		return status;
	}
	drain(queue);
	publish(RTL_QUEUE_DESTROY, queue);
	submitters_remove(hsa);
	counter_queue_leave(queue->counters);
	status = interceptor.hsa.queue_destroy(hsa);
	counter_queue_remove(queue->counters);
	/* Pairs with the acquire in the harvester: nothing is submitted any more. */
	__atomic_store_n(&queue->source.dead, true, __ATOMIC_RELEASE);
	harvest_wake();
	return status;
}

static void free_queue(struct source *source)
{
	struct queue *queue = queue_of(source);

	if (queue->batch)
		munmap(queue->batch, (size_t)queue->packets * 64);
	submitters_free(queue->submitters, queue->packets);
	room_fini(queue);
	source_free(source);
}

void queue_hook(struct root_table *root)
{
	table_hook(root, ENTRY_hsa_queue_create, (void *)create, NULL);
	table_hook(root, ENTRY_hsa_queue_destroy, (void *)queue_destroy, NULL);
	table_hook(root, ENTRY_hsa_amd_queue_create, (void *)queue_create_described, NULL);
	table_hook(root, ENTRY_hsa_amd_counted_queue_acquire, (void *)queue_acquire_counted, NULL);
	table_hook(root, ENTRY_hsa_amd_queue_intercept_create, (void *)intercept_create, NULL);
	table_hook(root, ENTRY_hsa_amd_queue_intercept_register, (void *)intercept_register, NULL);
	table_hook(root, ENTRY_hsa_amd_profiling_set_profiler_enabled, (void *)set_profiler_enabled,
		   NULL);
}
