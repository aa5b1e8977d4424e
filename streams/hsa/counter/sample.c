/* SPDX-License-Identifier: MIT */
#include "sample.h"

#include "harvest.h"
#include "interceptor.h"
#include "kernel_table.h"
#include "parts.h"
#include "source.h"
#include "turn.h"

#define SAMPLES_LEAST 64u
#define SAMPLES_MOST  8192u
/* The least ring in which there is room for the packets of a dispatch beside others. */
#define PACKETS_LEAST 32u
/* How often the ledger is published. */
#define LEDGER_NS 1000000000u

struct counter_queue {
	struct source source; /* its slots are of struct counter_sample */
	struct counter_gpu *gpu;
	struct work_queue id;
	struct turns_line line;
	const struct source *packets; /* its dispatches, as they are recorded */
	uint32_t passed_at; /* passes of the harvester when something went by; as line.passed */
	bool gave_up;       /* the submitting thread's: it has waited for a sample in vain */
	bool refused;       /* its ring is too small */
};
_Static_assert(offsetof(struct counter_queue, source) == 0, "publish_counted");

/* Of its slots, below; what `counted` needs is known once the settings are. */
static struct slot_kind counted;
static const struct slot_kind silent;

static void add_to(uint64_t *number, uint64_t n)
{
	__atomic_fetch_add(number, n, __ATOMIC_RELAXED);
}

/* ---- which pass ---- */

/* The pass for a dispatch of that kernel; NULL: it is not asked for. */
static const struct counter_pass *choose(const struct counter_gpu *gpu, const struct kernel *kernel)
{
	struct kernel_counting *counting = kernel_counting(kernel);
	uint8_t asked = __atomic_load_n(&counting->asked, __ATOMIC_RELAXED);

	/* Whoever finds out finds the same. */
	if (!asked) {
		asked = counter_settings_fit(rtl_string_text(kernel->name)) ? KERNEL_COUNTED
									    : KERNEL_NOT_COUNTED;
		__atomic_store_n(&counting->asked, asked, __ATOMIC_RELAXED);
	}
	if (asked != KERNEL_COUNTED)
		return NULL;
	return &gpu->passes[__atomic_fetch_add(&counting->next_pass, 1, __ATOMIC_RELAXED) %
			    gpu->pass_count];
}

/* ---- the submitting thread ---- */

bool counter_queue_counts(const struct counter_queue *queue, bool wanted)
{
	const struct counter_gpu *gpu = queue->gpu;

	if (__atomic_load_n(&gpu->released, __ATOMIC_RELAXED) || !gpu->pass_count || queue->refused)
		return false;
	return (wanted && counter_is_wanted()) ||
	       __atomic_load_n(&gpu->under_way, __ATOMIC_RELAXED) != 0;
}

/* It has slots, so that its end will be seen. */
static void let_by(struct counter_queue *queue)
{
	if (queue->refused)
		return;
	__atomic_store_n(&queue->passed_at, harvest_passes(), __ATOMIC_RELAXED);
	turns_pass_by(&queue->line);
}

bool sample_line_is_idle(const struct turns_line *line)
{
	const struct counter_queue *queue =
		(const void *)((const char *)line - offsetof(struct counter_queue, line));
	const uint32_t at = __atomic_load_n(&queue->passed_at, __ATOMIC_RELAXED);

	/* One pass may have been half done, and the dispatches are submitted a little later. */
	return harvest_passes() - at > 3 &&
	       !__atomic_load_n(&queue->packets->unfinished, __ATOMIC_RELAXED);
}

void counter_queue_pass_by(struct counter_queue *queue, uint64_t dispatches, bool wanted)
{
	struct counter_gpu *gpu = queue->gpu;

	if (!dispatches)
		return;
	add_to(&gpu->passed_by, 1);
	if (!wanted || !counter_is_wanted())
		return;
	let_by(queue);
	add_to(&gpu->ledger.dispatches, dispatches);
	add_to(&gpu->ledger.refused, dispatches);
}

/* As many samples as the GPU's ring can have under way are there: what lacks has ended, and waits to be published. */
static struct counter_sample *wait_for_slot(struct counter_queue *queue)
{
	const uint64_t deadline = rtl_clock_ns() + interceptor.config.wait_ms * 1000000ull;
	struct counter_sample *sample = NULL;

	if (queue->gave_up || handler_thread_is_this())
		return NULL;
	while (!sample && rtl_clock_ns() < deadline && interceptor_on()) {
		harvest_wait_pass();
		sample = (struct counter_sample *)slot_take(&queue->source.pool);
	}
	queue->gave_up = !sample;
	return sample;
}

static bool arm(uint64_t *signal)
{
	if (!*signal)
		*signal = slot_signal_make();
	if (*signal)
		slot_signal_rearm(*signal);
	return *signal;
}

static struct counter_sample *take(struct counter_queue *queue)
{
	struct counter_sample *sample = (struct counter_sample *)slot_take(&queue->source.pool);

	if (!sample)
		sample = wait_for_slot(queue);
	if (!sample)
		return NULL;
	queue->gave_up = false;
	if (arm(&sample->ready) && arm(&sample->grant))
		return sample;
	slot_untake(&queue->source.pool);
	return NULL;
}

struct counter_sample *counter_take(struct counter_queue *queue, const struct kernel *kernel,
				    bool wanted, bool recorded)
{
	struct counter_gpu *gpu = queue->gpu;
	const struct counter_pass *pass;
	struct counter_sample *sample;

	wanted = wanted && counter_is_wanted();
	pass = wanted && recorded ? choose(gpu, kernel) : NULL;
	sample = take(queue);
	if (wanted) {
		add_to(&gpu->ledger.dispatches, 1);
		if (!pass)
			add_to(&gpu->ledger.not_asked, 1);
		else if (!sample)
			add_to(&gpu->ledger.given_up, 1);
	}
	if (!sample) {
		add_to(&gpu->passed_by, 1);
		if (wanted)
			let_by(queue);
		return NULL;
	}
	add_to(&gpu->under_way, 1);
	sample->slot.kind = pass ? &counted : &silent;
	sample->slot.behind_barrier = true;
	sample->slot.in_scope = false;
	sample->queue = queue;
	sample->pass = pass;
	sample->kernel = kernel;
	sample->spoilt = false;
	__atomic_store_n(&sample->seen, false, __ATOMIC_RELAXED);
	return sample;
}

unsigned counter_put_before(const struct counter_sample *sample, void *packets)
{
	struct library_packet *at = packets;

	at[0] = library_barrier(0, sample->ready, 0);
	at[1] = library_barrier(sample->grant, 0, 0);
	if (!sample->pass)
		return 2;
	at[2] = sample->pass->count->start;
	return 3;
}

unsigned counter_put_after(const struct counter_sample *sample, void *packets)
{
	struct library_packet *at = packets;

	if (!sample->pass) {
		at[0] = library_barrier(0, sample->slot.signal, 0);
		return 1;
	}
	at[0] = sample->pass->count->read;
	at[1] = sample->pass->count->stop;
	at[1].signal = sample->slot.signal;
	return 2;
}

void counter_submit(struct counter_sample *sample, uint64_t packet_id, uint64_t correlation)
{
	struct counter_queue *queue = sample->queue;

	sample->instance = publish_instance(&queue->id, packet_id);
	sample->correlation = correlation;
	if (sample->pass)
		rtl_pending_begin(queue->source.pending, 1);
	turns_add(&queue->line, sample);
	slot_submit(&queue->source.pool, &sample->slot);
}

/* ---- the thread that gives turns ---- */

void sample_give_up(struct counter_sample *sample)
{
	__atomic_fetch_sub(&sample->queue->gpu->under_way, 1, __ATOMIC_RELAXED);
	/* Pairs with the acquire in finished. */
	__atomic_store_n(&sample->seen, true, __ATOMIC_RELEASE);
}

void sample_keep(struct counter_sample *sample)
{
	slot_signal_acquire();
	if (sample->pass && !sample->spoilt)
		memcpy(sample->output, sample->pass->count->output, sample->pass->count->bytes);
	sample_give_up(sample);
}

/* ---- who makes a pass ---- */

static bool finished(struct slot *slot)
{
	const struct counter_sample *sample = (const struct counter_sample *)slot;

	/* Pairs with the release in sample_give_up. */
	return __atomic_load_n(&sample->seen, __ATOMIC_ACQUIRE) && slot_own_finished(slot);
}

static void abandon(struct slot *slot, bool looked_at)
{
	add_to(&((const struct counter_sample *)slot)->queue->gpu->ledger.given_up, 1);
}

/* Who makes a pass, or nobody does any more. */
static void publish_ledger(struct counter_gpu *gpu)
{
	const struct publish_ids ids = {.uid = gpu->agent_uid};
#define READ(member) .member = __atomic_load_n(&gpu->ledger.member, __ATOMIC_RELAXED)
	const struct rtl_hsa_counter_ledger payload = {.gpu = gpu->node,
						       .passes = gpu->pass_count,
						       READ(dispatches),
						       READ(counted),
						       READ(not_asked),
						       READ(given_up),
						       READ(refused)};
#undef READ

	gpu->told_ns = rtl_clock_ns();
	if (payload.dispatches)
		publish_payload(counter_streams.values, RTL_DIAGNOSTICS, &ids, &payload,
				sizeof(payload));
}

/* Once it is out, it touches nothing of the runtime's, and nothing of the queue. */
static void publish_counted(struct source *source, struct slot *slot)
{
	const struct counter_sample *sample = (const struct counter_sample *)slot;
	const struct counter_queue *queue = (const struct counter_queue *)source;
	const struct publish_ids dispatch = {.parent_uid = queue->id.uid,
					     .instance = sample->instance,
					     .correlation = sample->correlation};
	const struct counter_pass *pass = sample->pass;
	const uint64_t kernel = sample->kernel->uid;
	struct counter_gpu *gpu = queue->gpu;

	if (sample->spoilt || !values_read(pass, sample->output)) {
		add_to(&gpu->ledger.given_up, 1);
		return;
	}
	add_to(&gpu->ledger.counted, 1);
	turn_out();
	values_publish(gpu, pass, RTL_SIGNAL, &dispatch, kernel, 0, 0);
	if (rtl_clock_ns() - gpu->told_ns > LEDGER_NS)
		publish_ledger(gpu);
	turn_in();
}

static void publish_nothing(struct source *source, struct slot *slot)
{
}

static struct slot_kind counted = {
	.signal = SLOT_OWN,
	.stream = &counter_streams.values,
	.end_type = RTL_SIGNAL,
	.finished = finished,
	.publish = publish_counted,
	.abandon = abandon,
};
static const struct slot_kind silent = {
	.signal = SLOT_OWN,
	.finished = finished,
	.publish = publish_nothing,
};

/* ---- queues ---- */

static void free_queue(struct source *source)
{
	const struct slot_pool *pool = &source->pool;

	for (uint32_t i = 0; i < pool->count; i++) {
		const struct counter_sample *sample =
			(const void *)(pool->slots + (size_t)i * pool->slot_bytes);

		slot_signal_destroy(sample->ready);
		slot_signal_destroy(sample->grant);
	}
	source_free(source);
}

static const struct source_kind kind = {.stream = &counter_streams.values, .free = free_queue};

static bool prepare(struct counter_queue *queue, uint32_t packets)
{
	const uint32_t bytes = (uint32_t)sizeof(struct counter_sample) + queue->gpu->output_bytes;
	uint32_t room = packets / 2;

	room = room < SAMPLES_LEAST ? SAMPLES_LEAST : room > SAMPLES_MOST ? SAMPLES_MOST : room;
	return !slots_init(&queue->source.pool, (bytes + 63) / 64 * 64, room, SAMPLES_LEAST,
			   false) &&
	       turns_join(&queue->line, queue->gpu);
}

struct counter_queue *counter_queue_add(hsa_agent_t agent, const struct work_queue *id,
					hsa_queue_t *hsa, const struct source *recorded)
{
	struct counter_gpu *gpu = counter_settings.count ? plan_get(agent) : NULL;
	const uint32_t packets = hsa->size;
	struct counter_queue *queue;

	if (gpu && counter_settings.sample_ns)
		sampler_add_queue(gpu, hsa);
	if (!gpu || counter_settings.sample_ns)
		return NULL;
	queue = source_create(sizeof(*queue), &kind);
	if (!queue)
		return NULL;
	queue->gpu = gpu;
	queue->packets = recorded;
	queue->id = *id;
	if (packets < PACKETS_LEAST || !gpu->pass_count || !prepare(queue, packets)) {
		queue->refused = true;
		if (gpu->pass_count)
			rtl_log(RTL_LEVEL_WARNING, "counters",
				"queue %u: its dispatches are not counted: %s", id->number,
				packets < PACKETS_LEAST ? "its ring is too small" : "no memory");
		return queue;
	}
	harvest_add(&queue->source);
	return queue;
}

bool counter_queue_is_drained(const struct counter_queue *queue)
{
	return !__atomic_load_n(&queue->source.unfinished, __ATOMIC_RELAXED);
}

void counter_queue_leave(struct counter_queue *queue)
{
	if (queue && !queue->refused)
		turns_leave(&queue->line);
}

void counter_queue_remove(struct counter_queue *queue)
{
	if (!queue)
		return;
	if (queue->refused) {
		free_queue(&queue->source);
		return;
	}
	turns_gone(&queue->line);
	/* Pairs with the acquire in the harvester: nothing is submitted any more. */
	__atomic_store_n(&queue->source.dead, true, __ATOMIC_RELEASE);
	harvest_wake();
}

/* ---- the room's part in the runtime's beginning and end */

static void register_streams(void)
{
	size_t bytes;

	if (!counter_settings_read() && interceptor.config.strict)
		_exit(2);
	if (!counter_settings.count)
		return;
	counter_streams_register();
	/* Room for all values of a dispatch, as far as one event may be large. */
	bytes = counter_settings.count *
		(sizeof(struct rtl_record) + sizeof(struct rtl_hsa_counter));
	counted.payload_bytes = bytes < RTL_PAYLOAD_MAX / 2 ? (uint32_t)bytes : RTL_PAYLOAD_MAX / 2;
}

/* After the harvester's: what it has not published is given up by now. */
static void stop(uint32_t timeout_ms)
{
	sampler_stop(timeout_ms);
	turns_release_all();
	for (struct counter_gpu *gpu = plan_first(); gpu; gpu = gpu->next)
		publish_ledger(gpu);
}

const struct hsa_part counter_part = {
	.register_streams = register_streams,
	.stop = stop,
	.runtime_ends = turns_forget,
};
