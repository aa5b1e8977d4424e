/* SPDX-License-Identifier: MIT */
/* Queues: see queue.h. */
#include "queue.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../common/fork_lock.h"
#include "dispatch.h"
#include "harvest.h"
#include "publish.h"
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

/* This thread is in a function of the runtime, or of a tool before us, that makes a queue of
 * ours: what is called from there is not another queue. */
static __thread bool creating __attribute__((tls_model("initial-exec")));

static void list_add(struct queue *queue)
{
	pthread_mutex_lock(&list.lock);
	if (!queue->unseen)
		queue->number = ++list.created;
	queue->next_listed = list.first;
	list.first = queue;
	pthread_mutex_unlock(&list.lock);
}

static struct queue *list_remove(const hsa_queue_t *hsa)
{
	struct queue *queue = NULL;

	pthread_mutex_lock(&list.lock);
	for (struct queue **link = &list.first; *link; link = &(*link)->next_listed) {
		if ((*link)->hsa == hsa) {
			queue = *link;
			*link = queue->next_listed;
			break;
		}
	}
	pthread_mutex_unlock(&list.lock);
	return queue;
}

static bool list_has(const hsa_queue_t *hsa)
{
	bool found = false;

	pthread_mutex_lock(&list.lock);
	for (const struct queue *queue = list.first; queue && !found; queue = queue->next_listed)
		found = queue->hsa == hsa;
	pthread_mutex_unlock(&list.lock);
	return found;
}

void queue_release_pending(struct queue *queue)
{
	struct rtl_pending *pending = queue->pending;

	queue->pending = rtl_stream_pending(NULL, NULL); /* that nobody reads */
	rtl_pending_release(pending);
}

void queue_forget_all(void)
{
	pthread_mutex_lock(&list.lock);
	for (struct queue *queue = list.first; queue; queue = queue->next_listed) {
		slots_forget(&queue->pool);
		room_leave(queue);
		queue_release_pending(queue);
	}
	list.first = NULL;
	pthread_mutex_unlock(&list.lock);
}

static void describe(struct queue *queue)
{
	const struct agent *agent = agents_find(queue->agent);
	char name[24];
	struct rtl_tracepoint_desc desc = {
		.struct_size = sizeof(desc), .kind = "queue", .name = name, .hash = queue->node};

	snprintf(name, sizeof(name), "queue %u", queue->number);
	if (rtl_tracepoint_register(&desc, &queue->uid))
		return;
	interceptor_set_number(queue->uid, "gpu", queue->node);
	if (agent)
		interceptor_set_number(queue->uid, "gpu_index", agent->index);
	interceptor_set_number(queue->uid, "packets", queue->packets);
}

/* The part of creation that can fail before the runtime's queue exists. */
static struct queue *prepare(hsa_agent_t handle, uint32_t size, hsa_queue_type32_t type)
{
	struct queue *queue = aligned_alloc(64, (sizeof(*queue) + 63) / 64 * 64);
	const struct agent *agent;

	if (!queue)
		return NULL;
	memset(queue, 0, sizeof(*queue));
	queue->pending = rtl_stream_pending(interceptor.stream, QUEUE_PENDING_CAUSE);
	room_init(queue);
	if (slots_init(&queue->pool, size * 2 < SLOTS_LEAST ? SLOTS_LEAST : size * 2,
		       SLOTS_AT_FIRST) ||
	    harvest_start()) {
		queue_free(queue);
		return NULL;
	}
	agents_init();
	agent = agents_find(handle);
	queue->agent = handle;
	queue->packets = size;
	queue->type = type;
	queue->cooperators = 1; /* of those that are not, nobody asks */
	queue->node = agent ? agent->node : 0;
	queue->agent_uid = agent ? agent->uid : 0;
	return queue;
}

void queue_count_unseen(const char *why)
{
	atomic_store_explicit(&interceptor.blind, true, memory_order_relaxed);
	rtl_log(RTL_LEVEL_WARNING, "hsa",
		"a queue could not be intercepted (%s): its dispatches are not traced", why);
	rtl_stream_count_missed(interceptor.stream, "queue not intercepted", 1);
}

static void attach(struct queue *queue)
{
	queue->packets = queue->hsa->size;
	queue->submitters = submitters_add(queue->hsa);
	list_add(queue);
	describe(queue);
	if (interceptor.hsa.set_profiler_enabled(queue->hsa, 1))
		rtl_log(RTL_LEVEL_WARNING, "hsa", "queue %u: no GPU times, profiling is refused",
			queue->number);
	publish_queue(RTL_QUEUE_CREATE, queue);
	harvest_add(queue);
}

/* The queue exists, and stays as it is for us; it is known, so that it is counted once. */
static void attach_unseen(struct queue *queue, const char *why)
{
	queue_count_unseen(why);
	queue->unseen = true;
	list_add(queue);
}

/* The runtime's part of it. Our interceptor is the queue's first, so the last that sees a packet:
 * it sees them as they go to the GPU, with the signals that other tools have put into them. */
static hsa_status_t create_queue(struct queue *queue, hsa_agent_t agent, uint32_t size,
				 hsa_queue_type32_t type, queue_error_callback callback, void *data,
				 uint32_t private_bytes, uint32_t group_bytes)
{
	hsa_status_t status;

	creating = true;
	status = interceptor.hsa.intercept_create(agent, size, type, callback, data, private_bytes,
						  group_bytes, &queue->hsa);
	creating = false;
	if (status)
		return status;
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

bool queue_is_being_made(void)
{
	return creating;
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
		publish_queue(RTL_QUEUE_CREATE, queue);
	return queue;
}

hsa_status_t queue_make(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			queue_error_callback callback, void *data, uint32_t private_bytes,
			uint32_t group_bytes, hsa_queue_t **out)
{
	struct queue *queue = NULL;
	hsa_status_t status;

	if (type == HSA_QUEUE_TYPE_COOPERATIVE)
		queue = share_cooperative(agent);
	if (queue) {
		*out = queue->hsa;
		return HSA_STATUS_SUCCESS;
	}
	queue = prepare(agent, size, type);
	if (!queue)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	status = create_queue(queue, agent, size, type, callback, data, segment_hint(private_bytes),
			      segment_hint(group_bytes));
	if (status)
		queue_free(queue);
	else
		*out = queue->hsa;
	return status;
}

/* Whether it is cooperative; then one less has it, and it stays. */
static bool release_cooperative(const hsa_queue_t *hsa)
{
	struct queue *queue;
	bool last = false;

	pthread_mutex_lock(&list.lock);
	for (queue = list.first; queue && queue->hsa != hsa; queue = queue->next_listed)
		;
	if (queue && (queue->unseen || queue->type != HSA_QUEUE_TYPE_COOPERATIVE))
		queue = NULL;
	if (queue)
		last = queue->cooperators && --queue->cooperators == 0;
	pthread_mutex_unlock(&list.lock);
	if (last) {
		harvest_drain(queue, DESTROY_WAIT_MS);
		publish_queue(RTL_QUEUE_DESTROY, queue);
	}
	return queue;
}

hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			  queue_error_callback callback, void *data, uint32_t private_bytes,
			  uint32_t group_bytes, hsa_queue_t **out)
{
	hsa_status_t status;

	if (!interceptor_on() || creating || !out)
		return interceptor.hsa.queue_create(agent, size, type, callback, data,
						    private_bytes, group_bytes, out);
	status = queue_make(agent, size, type, callback, data, private_bytes, group_bytes, out);
	if (!status)
		return status;
	/* What is wrong with it, if anything is, the runtime tells in its own words. */
	status = interceptor.hsa.queue_create(agent, size, type, callback, data, private_bytes,
					      group_bytes, out);
	if (!status)
		queue_count_unseen("the runtime refuses");
	return status;
}

hsa_status_t queue_intercept_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				    queue_error_callback callback, void *data,
				    uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **out)
{
	const bool wanted = interceptor_on() && !creating && out;
	struct queue *queue = wanted ? prepare(agent, size, type) : NULL;
	hsa_status_t status;

	if (!queue) {
		status = interceptor.hsa.intercept_create(agent, size, type, callback, data,
							  private_bytes, group_bytes, out);
		if (wanted && !status)
			queue_count_unseen("no memory");
		return status;
	}
	status = create_queue(queue, agent, size, type, callback, data, private_bytes, group_bytes);
	if (status)
		queue_free(queue);
	else
		*out = queue->hsa;
	return status;
}

void queue_found_unseen(hsa_queue_t *hsa, const char *why)
{
	struct queue *queue;

	if (list_has(hsa))
		return;
	queue = aligned_alloc(64, (sizeof(*queue) + 63) / 64 * 64);
	if (!queue) {
		queue_count_unseen("no memory");
		return;
	}
	memset(queue, 0, sizeof(*queue));
	queue->hsa = hsa;
	attach_unseen(queue, why);
}

hsa_status_t queue_intercept_register(hsa_queue_t *hsa, packet_interceptor function, void *data)
{
	const hsa_status_t status = interceptor.hsa.intercept_register(hsa, function, data);

	/* A queue that we do not know was made by a function that its tool had taken from the table
	 * before us. It is too late for us: the agent is not known, without which there are no
	 * times. */
	if (!status && interceptor_on() && !creating)
		queue_found_unseen(hsa, "another tool has made it without our seeing it");
	return status;
}

/* Remembers what is asked for; returns what the queue gets. Without profiling the GPU writes no
 * times. With it, what asked for none has some in its signals, which does not hurt. */
static int keep_profiling(const hsa_queue_t *hsa, int enable)
{
	bool first = false;
	uint32_t number = 0;

	pthread_mutex_lock(&list.lock);
	for (struct queue *queue = list.first; queue; queue = queue->next_listed) {
		if (queue->hsa != hsa || queue->unseen)
			continue;
		first = !enable && !queue->profiling_refused;
		queue->profiling_refused = !enable;
		number = queue->number;
		enable = 1;
		break;
	}
	pthread_mutex_unlock(&list.lock);
	if (first)
		rtl_log(RTL_LEVEL_INFO, "hsa", "queue %u: profiling stays enabled, it is traced",
			number);
	return enable;
}

hsa_status_t queue_set_profiler_enabled(hsa_queue_t *hsa, int enable)
{
	return interceptor.hsa.set_profiler_enabled(
		hsa, interceptor_on() ? keep_profiling(hsa, enable) : enable);
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
		queue_free(queue);
		return status;
	}
	harvest_drain(queue, DESTROY_WAIT_MS);
	publish_queue(RTL_QUEUE_DESTROY, queue);
	submitters_remove(hsa);
	status = interceptor.hsa.queue_destroy(hsa);
	room_leave(queue);
	/* Pairs with the acquire in the harvester: nothing is submitted any more. */
	atomic_store_explicit(&queue->dead, true, memory_order_release);
	harvest_wake();
	return status;
}

void queue_free(struct queue *queue)
{
	if (queue->batch)
		munmap(queue->batch, (size_t)queue->packets * 64);
	submitters_free(queue->submitters, queue->packets);
	room_fini(queue);
	slots_fini(&queue->pool);
	rtl_pending_release(queue->pending);
	free(queue);
}
