/* SPDX-License-Identifier: MIT */
/* The ledger of a process, by stream: what publishers (in rings and control page) and the consumer have counted. */

#include "source.h"

const char *const discard_texts[SPOOL_DISCARD_CAUSES] = {
	[SPOOL_DISCARD_FULL] = "the ring was full",
	[SPOOL_DISCARD_NO_RING] = "no ring for the thread",
	[SPOOL_DISCARD_REENTRANT] = "from a signal handler that interrupted rtl",
	[SPOOL_DISCARD_TOO_LARGE] = "payload too large",
	[SPOOL_DISCARD_DEPTH] = "inline callbacks nested too deep",
	[SPOOL_DISCARD_MALFORMED] = "unlike its stream's description",
	[SPOOL_DISCARD_COLLECTOR_DIED] = "the collector died, and the buffers were full",
	[SPOOL_DISCARD_STALLED] = "the collector or a subscriber was stuck",
};

static const char *const left_out_texts[SPOOL_LEFT_OUT_CAUSES] = {
	[RTL_LEFT_OUT_KERNEL] = "a kernel that was not selected",
	[RTL_LEFT_OUT_PERIOD] = "outside of the periods",
	[RTL_LEFT_OUT_RANGE] = "outside of the ranges",
	[RTL_LEFT_OUT_GETTER] = "a call that only asks or moves a queue's index",
	[SPOOL_LEFT_OUT_OLDER] = "older than what is kept",
};

static uint64_t published(const struct source *source, uint32_t number)
{
	/* of all rings: there may be some that cannot be read */
	const struct source_rings rings = source->ops->rings(source);
	uint64_t sum = -source->before[number];

	for (uint32_t i = 0; i < rings.count; i++)
		if (rings.list[i])
			sum += __atomic_load_n(&rings.list[i]->published[number], __ATOMIC_RELAXED);
	return sum;
}

static void set_zero(uint64_t *counter)
{
	__atomic_store_n(counter, 0, __ATOMIC_RELAXED); /* publishers add */
}

void source_begin_anew(struct source *source)
{
	struct spool_control *control = source->control;

	spool_files_map_rings(&source->files);
	for (uint32_t i = 0; i < source->files.ring_count; i++) {
		struct ring_header *ring = source->files.rings[i];

		/* release: a thread may still wait for room; what it is about to publish counts, or is left there */
		if (ring)
			__atomic_store_n(&ring->tail,
					 __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE),
					 __ATOMIC_RELEASE);
	}
	for (uint32_t i = 0; i < SPOOL_STREAMS_MAX; i++) {
		struct spool_stream *stream = &control->streams[i];

		for (uint32_t k = 0; k < SPOOL_DISCARD_CAUSES; k++)
			set_zero(&stream->discarded[k]);
		for (uint32_t k = 0; k < SPOOL_LEFT_OUT_CAUSES; k++)
			set_zero(&stream->left_out[k]);
		set_zero(&stream->missed_otherwise);
		stream->delivered = stream->delivered_next = stream->rotated = 0;
		source->before[i] = published(source, i);
	}
	for (uint32_t i = 0; i < SPOOL_LOSSES_MAX; i++)
		set_zero(&control->losses[i].count);
	set_zero(&control->waits);
	set_zero(&control->waited_ns);
}

/* How much of that stream is open, or could not be kept. */
static uint64_t count_open(const struct source *source, uint32_t stream)
{
	const struct source_rings rings = source->ops->rings(source);
	uint64_t count =
		__atomic_load_n(&source->control->streams[stream].open_unkept, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < rings.count; i++) {
		const struct ring_header *ring = rings.list[i];
		/* acquire: with the release in rtl_commit */
		const uint64_t head = ring ? __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) : 0;

		for (uint32_t k = 0; ring && k < RING_OPEN_MAX; k++)
			count += ring->open[k].record.stream == stream &&
				 ring_open_is_kept(&ring->open[k], head);
	}
	return count;
}

static void add_up(void *user, const char *cause, uint64_t count)
{
	*(uint64_t *)user += count;
}

/* Whether what its publishers had under way will not come any more. */
static bool is_over(const struct source *source)
{
	/* Relaxed: each by itself, as the members beside them are the consumer's, which may hold another lock. */
	return __atomic_load_n(&source->over, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&source->gone, __ATOMIC_RELAXED) ||
	       (!source->own && !source->files.shared);
}

static uint64_t under_way(const struct spool_pending *entry)
{
	/* acquire: with the releases in rtl/stream.h */
	const uint64_t ended = __atomic_load_n(&entry->pub.ended, __ATOMIC_ACQUIRE);
	const uint64_t begun = __atomic_load_n(&entry->pub.begun, __ATOMIC_ACQUIRE);

	return begun > ended ? begun - ended : 0;
}

static bool is_pending_of(const struct spool_pending *entry, uint32_t number)
{
	/* acquire: with the release in stream.c */
	return __atomic_load_n(&entry->used, __ATOMIC_ACQUIRE) && entry->stream == number;
}

/* Once for each cause, of which there may be many entries. */
static void each_pending(const struct source *source, uint32_t number, cause_fn fn, void *user)
{
	const struct spool_pending *list = source->control->pending;
	bool done[SPOOL_PENDING_MAX] = {false};

	for (uint32_t i = 0; i < SPOOL_PENDING_MAX; i++) {
		char cause[sizeof(list[i].cause) + 1] = "";
		uint64_t count = 0;

		if (done[i] || !is_pending_of(&list[i], number))
			continue;
		for (uint32_t j = i; j < SPOOL_PENDING_MAX; j++) {
			if (!is_pending_of(&list[j], number) ||
			    memcmp(list[j].cause, list[i].cause, sizeof(list[i].cause)) != 0)
				continue;
			count += under_way(&list[j]);
			done[j] = true;
		}
		memcpy(cause, list[i].cause, sizeof(list[i].cause));
		if (count)
			fn(user, cause, count);
	}
}

static void each_missed(const struct source *source, uint32_t number, cause_fn fn, void *user)
{
	const struct spool_control *control = source->control;
	/* acquire: with the release in stream.c: entries below are complete */
	uint32_t n = __atomic_load_n(&control->loss_count, __ATOMIC_ACQUIRE);
	uint64_t otherwise, open;

	for (uint32_t i = 0; i < n && i < SPOOL_LOSSES_MAX; i++) {
		uint64_t count = __atomic_load_n(&control->losses[i].count, __ATOMIC_RELAXED);
		char cause[sizeof(control->losses[i].cause) + 1] = "";

		if (control->losses[i].stream != number || !count)
			continue;
		memcpy(cause, control->losses[i].cause, sizeof(control->losses[i].cause));
		fn(user, cause, count);
	}
	otherwise = __atomic_load_n(&control->streams[number].missed_otherwise, __ATOMIC_RELAXED);
	if (otherwise)
		fn(user, "other causes", otherwise);
	if (!is_over(source))
		return;
	each_pending(source, number, fn, user);
	if ((open = count_open(source, number)))
		fn(user, "open when the process ended, and not recorded", open);
}

static void each_counter(const uint64_t *counters, uint32_t n, const char *const *texts,
			 cause_fn fn, void *user)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t count = __atomic_load_n(&counters[i], __ATOMIC_RELAXED);

		if (count)
			fn(user, texts[i], count);
	}
}

static void each_discarded(const struct source *source, uint32_t number, cause_fn fn, void *user)
{
	each_counter(source->control->streams[number].discarded, SPOOL_DISCARD_CAUSES,
		     discard_texts, fn, user);
}

static void each_left_out(const struct source *source, uint32_t number, cause_fn fn, void *user)
{
	each_counter(source->control->streams[number].left_out, SPOOL_LEFT_OUT_CAUSES,
		     left_out_texts, fn, user);
}

void source_ledger(const struct source *source, uint32_t number, struct rtl_ledger *ledger)
{
	const struct spool_stream *slot;
	uint64_t discarded = 0, missed = 0, left_out = 0, known;

	if (source->ended) {
		*ledger = source->last[number];
		return;
	}
	slot = &source->control->streams[number];
	each_discarded(source, number, add_up, &discarded);
	each_missed(source, number, add_up, &missed);
	each_left_out(source, number, add_up, &left_out);
	ledger->discarded = discarded + slot->rotated;
	ledger->left_out = left_out;
	ledger->missed = missed;
	ledger->delivered = __atomic_load_n(&source->delivered[number], __ATOMIC_RELAXED);
	ledger->abandoned = __atomic_load_n(&source->abandoned[number], __ATOMIC_RELAXED);
	/* read last: what was delivered above had been published before; in a damaged spool the count may be less */
	ledger->published = published(source, number) + discarded + left_out -
			    slot->left_out[SPOOL_LEFT_OUT_OLDER];
	known = ledger->delivered + ledger->discarded + ledger->abandoned + ledger->left_out;
	if (ledger->published < known)
		ledger->published = known;
}

void source_waits(const struct source *source, struct rtl_waits *waits)
{
	*waits = source->waited;
	if (source->closed)
		return;
	waits->count = __atomic_load_n(&source->control->waits, __ATOMIC_RELAXED);
	waits->total_ns = __atomic_load_n(&source->control->waited_ns, __ATOMIC_RELAXED);
}

static void each_kept(const struct source_loss *loss, uint32_t number, cause_fn fn, void *user)
{
	for (; loss; loss = loss->next)
		if (loss->stream == number)
			fn(user, loss->cause, loss->count);
}

void source_losses(const struct source *source, uint32_t number, cause_fn fn, void *user)
{
	each_kept(source->losses, number, fn, user);
	if (source->closed)
		return;
	each_discarded(source, number, fn, user);
	if (source->control->streams[number].rotated)
		fn(user, "no room in the recording", source->control->streams[number].rotated);
	each_missed(source, number, fn, user);
}

void source_left_out(const struct source *source, uint32_t number, cause_fn fn, void *user)
{
	each_kept(source->left_out, number, fn, user);
	if (!source->closed)
		each_left_out(source, number, fn, user);
}
