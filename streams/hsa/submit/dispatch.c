/* SPDX-License-Identifier: MIT */
/*
 * The interceptor: see queue.h.
 *
 * When no slot is left, there are two cases. Either the slots' dispatches have not finished: then this one is
 * passed on and counted as missed, as waiting could deadlock where kernels depend on each other across queues. Or
 * the harvester has not published them yet, for want of a processor or because of a slow subscriber. Then this
 * thread waits until a slot is free, until the harvester has gone through all queues twice and found none (the first
 * case), or until the time is over. The wait depends on no GPU. The runtime's handler thread never waits.
 */
#include <rtl/events.h>
#include <string.h>

#include "../../common/reserve.h"
#include "../../common/shared.h"
#include "aql.h"
#include "copies.h"
#include "counter.h"
#include "harvest.h"
#include "interceptor.h"
#include "kernels.h"
#include "queue.h"
#include "room.h"
#include "signal_watch.h"
#include "submitters.h"

/* Each packet goes through all of these; batches have copies of their own. */
#define ALWAYS __attribute__((always_inline))

/* What somebody wants to see. */
enum wants {
	WANT_DISPATCHES = 1,
	WANT_BARRIERS = 2,
	WANT_CHOSEN = 4, /* dispatches of some kernels: kernels.h */
	WANT_COPIES = 8, /* those that copy, and no others */
};

/* Whether it happens while the user's selection leaves out all; *why: enum rtl_left_out. */
static inline bool leaves_out_all(uint32_t *why)
{
	*why = is_outside() ? RTL_LEFT_OUT_RANGE : RTL_LEFT_OUT_PERIOD;
	return *why == RTL_LEFT_OUT_RANGE || rtl_only_counted(interceptor.stream, RTL_TASK_END);
}

static inline unsigned wants(void)
{
	unsigned wants = 0;
	uint32_t why;

	if (!interceptor_on() || is_paused() || __builtin_expect(leaves_out_all(&why), 0))
		return 0;
	if (rtl_enabled(interceptor.stream, RTL_TASK_END) ||
	    rtl_enabled(interceptor.stream, RTL_TASK_BEGIN))
		wants |= __builtin_expect(kernel_choice_on, 0) ? WANT_CHOSEN : WANT_DISPATCHES;
	else if (copies_traced())
		wants |= WANT_COPIES;
	if (__builtin_expect(interceptor.config.mode == CONFIG_FULL, 0) &&
	    (rtl_enabled(interceptor.stream, RTL_BARRIER_END) ||
	     rtl_enabled(interceptor.stream, RTL_BARRIER_BEGIN)))
		wants |= WANT_BARRIERS;
	return wants;
}

/* So many things of that kind have been left out: all that they would have published. */
static void count_left_out(uint16_t begin, uint16_t end, uint32_t why, uint64_t count)
{
	const unsigned events = (unsigned)rtl_enabled(interceptor.stream, begin) +
				(unsigned)rtl_enabled(interceptor.stream, end);

	if (count && events)
		rtl_stream_count_left_out(interceptor.stream, why, events * count);
}

/* The kind, or AQL_OTHER of a kernel that is not wanted: its packet goes as it is. */
static __attribute__((cold, noinline)) enum aql_kind choose(const union aql_packet *packet,
							    unsigned wants, enum aql_kind kind)
{
	/* an extended packet has it at the same place */
	const struct kernel *kernel = kernel_table_find(packet->dispatch.kernel_object);

	if (wants & WANT_COPIES)
		return kernel->copies ? kind : AQL_OTHER;
	if (!kernel_is_left_out(kernel))
		return kind;
	count_left_out(RTL_TASK_BEGIN, RTL_TASK_END, RTL_LEFT_OUT_KERNEL, 1);
	return AQL_OTHER;
}

static inline enum aql_kind dispatch_kind(const union aql_packet *packet, unsigned wants,
					  enum aql_kind kind)
{
	if (__builtin_expect(wants & WANT_DISPATCHES, 1))
		return kind;
	return wants & (WANT_CHOSEN | WANT_COPIES) ? choose(packet, wants, kind) : AQL_OTHER;
}

/* What the packet is, if that is wanted; else AQL_OTHER. Once for each packet: it counts. */
static inline enum aql_kind kind_of(const union aql_packet *packet, unsigned wants)
{
	if (__builtin_expect((packet->any.header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH, 1))
		return dispatch_kind(packet, wants, AQL_DISPATCH);
	if (aql_is_format(packet, AQL_FORMAT_EXTENDED))
		return dispatch_kind(packet, wants, AQL_EXTENDED);
	return (wants & WANT_BARRIERS) && aql_is_barrier(packet) ? AQL_BARRIER : AQL_OTHER;
}

static struct slot *take_from(void *queue)
{
	return slot_take(&((struct queue *)queue)->source.pool);
}

static __attribute__((cold, noinline)) struct packet_slot *wait_for_slot(struct queue *queue)
{
	struct slot *slot;

	if (queue->gave_up || handler_thread_is_this())
		return NULL;
	slot = harvest_wait_for_slot(take_from, queue);
	queue->gave_up = !slot;
	return packet_slot_of(slot);
}

static __attribute__((cold, noinline)) struct packet_slot *missed(const union aql_packet *packet,
								  const char *cause)
{
	rtl_stream_count_missed(interceptor.stream, cause, 1);
	signal_watch_reused(packet->any.signal);
	return NULL;
}

/* A slot for the packet, and its signal in the packet; NULL if the packet is to be passed on
 * as it is. */
static inline ALWAYS struct packet_slot *take(struct queue *queue, union aql_packet *packet,
					      const struct slot_kinds *kinds)
{
	struct packet_slot *slot;

	if (packet->any.signal && interceptor.config.mode == CONFIG_LITE) {
		/* This thread's to write: no read-modify-write. */
		const uint64_t lite = __atomic_load_n(&queue->lite, __ATOMIC_RELAXED);

		__atomic_store_n(&queue->lite, lite + 1, __ATOMIC_RELAXED);
		rtl_pending_begin(queue->source.pending, 1);
		return NULL;
	}
	slot = packet_slot_of(slot_take(&queue->source.pool));
	if (__builtin_expect(!slot, 0)) {
		slot = wait_for_slot(queue);
		if (!slot)
			return missed(packet, "too many dispatches under way");
	}
	if (__builtin_expect(queue->gave_up, 0))
		queue->gave_up = false;
	if (packet->any.signal) {
		slot->packet.flags = RTL_HSA_DISPATCH_APP_SIGNAL;
		(void)signal_watch_enter(&slot->slot, kinds, packet->any.signal);
		return slot;
	}
	slot->slot.kind = &kinds->own;
	slot->packet.flags = 0;
	packet->any.signal = slot->slot.signal;
	return slot;
}

/* From the note of who took the packet's place; false: none. *own: the call that wrote the packet passes it on. */
static inline ALWAYS bool fill_noted(const struct queue *queue, struct packet_slot *slot,
				     uint64_t index, bool *own)
{
	uint32_t tid;
	bool in_scope;

	if (!queue->submitters || !submitters_find(queue->submitters, queue->packets, index,
						   &slot->scope, &tid, &in_scope))
		return false;
	/* Outside of a scope there is no call either. */
	*own = tid == submitter_tid &&
	       (in_scope ? slot->scope.call_ticks : 0) == thread_context.call_ticks;
	slot->packet.submit_tid = tid;
	slot->slot.in_scope = in_scope;
	return true;
}

/* A packet without a note: who passes it on has taken its place, unless that was before anybody wanted work. */
static bool fill_unnoted(struct queue *queue, struct packet_slot *slot, uint64_t index)
{
	uint64_t read;

	if (queue->slept && queue->submitters) {
		queue->unnoted = pending_count(queue->hsa, &read);
		queue->unnoted += read;
		queue->slept = false;
	}
	slot->packet.submit_tid = rtl_thread_id();
	return index >= queue->unnoted && submitter_scope(&slot->scope);
}

/* What the submitter of the packet at that index works for, which nobody knows later. is_work: it is no barrier. */
static inline ALWAYS void fill_scope(struct queue *queue, struct packet_slot *slot, uint64_t index,
				     bool is_work)
{
	bool own = true;

	if (!fill_noted(queue, slot, index, &own))
		slot->slot.in_scope = fill_unnoted(queue, slot, index);
	if (__builtin_expect(!own, 0))
		slot->packet.flags |= RTL_HSA_DISPATCH_CARRIED;
	/* Not another thread's nor an earlier call's packet, which had waited behind another. */
	if (is_work && own && slot->slot.in_scope)
		thread_context.work++;
}

/* Where that address is. What the runtime does not know has been mapped into the GPU. */
static uint16_t node_of(const struct queue *queue, uint64_t address)
{
	bool known;
	const uint16_t node = agents_node_of(address, &known);

	return known ? node : (uint16_t)queue->id.node;
}

/* HIP's kernel copies or fills memory: whether it is known what. Where counters are collected it stays a dispatch, which
 * has them. */
static __attribute__((cold, noinline)) bool
see_copy(const struct queue *queue, struct packet_slot *slot, const union aql_packet *packet)
{
	struct copy_facts *facts = &slot->copy.facts;

	slot->copy.is_known =
		!queue->counters && copies_traced() &&
		copy_kernel_read(slot->dispatch.kernel->copies,
				 slot->dispatch.kernel->argument_bytes, &packet->dispatch, facts);
	if (!slot->copy.is_known)
		return false;
	slot->copy.src_node = 0;
	slot->copy.dst_node = (uint16_t)queue->id.node;
	slot->copy.direction = RTL_HSA_COPY_NONE;
	if (facts->kind == RTL_HSA_COPY_FILL)
		return true;
	slot->copy.src_node = node_of(queue, facts->src);
	slot->copy.dst_node = node_of(queue, facts->dst);
	slot->copy.direction = copy_direction(slot->copy.src_node, slot->copy.dst_node);
	return true;
}

struct extended_packet {
	uint16_t header;
	uint8_t format;
	uint8_t setup;
	uint16_t workgroup[3];
	uint16_t reserved0;
	uint32_t cluster_count_x;
	uint16_t cluster_count_y, cluster_count_z;
	uint8_t cluster_size[3]; /* workgroups */
	uint8_t hint;
	/* From here on as in a dispatch. */
	uint32_t private_segment_size;
	uint32_t group_segment_size;
	uint64_t kernel_object;
};
_Static_assert(offsetof(struct extended_packet, kernel_object) ==
		       offsetof(hsa_kernel_dispatch_packet_t, kernel_object),
	       "hsa_amd_ext_kernel_dispatch_packet_t");

/* As aql_fill_dispatch, of one by clusters, with its grid in work-items as that of others. */
__attribute__((cold, noinline)) static void fill_extended(struct dispatch *dispatch,
							  const union aql_packet *packet)
{
	const struct extended_packet *extended = (const void *)packet;

	aql_fill_dispatch(dispatch, &packet->dispatch);
	dispatch->flags |= RTL_HSA_DISPATCH_EXTENDED;
	dispatch->grid[0] =
		extended->cluster_count_x * extended->cluster_size[0] * extended->workgroup[0];
	dispatch->grid[1] = (uint32_t)extended->cluster_count_y * extended->cluster_size[1] *
			    extended->workgroup[1];
	dispatch->grid[2] = (uint32_t)extended->cluster_count_z * extended->cluster_size[2] *
			    extended->workgroup[2];
}

__attribute__((cold, noinline)) static void fill_barrier(struct barrier *barrier,
							 const union aql_packet *packet)
{
	const hsa_barrier_and_packet_t *theirs = (const void *)packet;

	barrier->kind = (packet->any.header & 0xff) == HSA_PACKET_TYPE_BARRIER_AND
				? RTL_HSA_BARRIER_AND
				: RTL_HSA_BARRIER_OR;
	barrier->dependencies = 0;
	for (int i = 0; i < 5; i++)
		barrier->dependencies += theirs->dep_signal[i].handle != 0;
}

/* Makes one packet ready. Submit its slot, if it has one, before the packet is written: who sees its end finds it. */
static inline ALWAYS struct packet_slot *process(struct queue *queue, union aql_packet *packet,
						 enum aql_kind kind, uint64_t id, uint64_t index,
						 uint64_t now_ticks)
{
	struct packet_slot *slot =
		take(queue, packet,
		     __builtin_expect(kind == AQL_BARRIER, 0) ? &barrier_kinds : &dispatch_kinds);
	bool is_copy = false;

	if (!slot)
		return NULL;
	rtl_pending_begin(queue->source.pending, 1);
	slot->packet.submit_ticks = now_ticks;
	slot->packet.packet_id = id;
	slot->slot.behind_barrier = aql_has_barrier_bit(packet) || queue->barrier_seen;
	queue->barrier_seen = false;
	fill_scope(queue, slot, index, kind != AQL_BARRIER);
	if (__builtin_expect(handler_thread_id() == slot->packet.submit_tid, 0))
		slot->packet.flags |= RTL_HSA_DISPATCH_PASSED_ON;
	if (__builtin_expect(queue->waits, 0) && kind != AQL_BARRIER) {
		slot->packet.flags |= RTL_HSA_DISPATCH_WAITED;
		queue->waits = false;
	}
	if (__builtin_expect(kind == AQL_DISPATCH, 1)) {
		aql_fill_dispatch(&slot->dispatch, &packet->dispatch);
		if (__builtin_expect(slot->dispatch.kernel->copies, 0))
			is_copy = see_copy(queue, slot, packet);
	} else if (kind == AQL_EXTENDED)
		fill_extended(&slot->dispatch, packet);
	else
		fill_barrier(&slot->barrier, packet);
	room_expect(queue, slot, id);
	if (rtl_enabled(interceptor.stream,
			kind == AQL_BARRIER ? RTL_BARRIER_BEGIN : RTL_TASK_BEGIN) ||
	    __builtin_expect(is_copy, 0))
		packets_publish_begin(queue, slot);
	/* Release: a reader of the spool finds the facts above. */
	__atomic_store_n(&slot->slot.under_way, kind != AQL_BARRIER, __ATOMIC_RELEASE);
	return slot;
}

/* It goes as it is. What waited was this, if it is a dispatch, and not the next one. */
static inline void pass_on(struct queue *queue, const union aql_packet *packet)
{
	queue->barrier_seen |= aql_has_barrier_bit(packet);
	if (aql_is_dispatch(packet))
		queue->waits = false;
	signal_watch_reused(packet->any.signal);
}

/* The same as process, of a packet that may be none of an event. */
static inline ALWAYS struct packet_slot *make_ready(struct queue *queue, union aql_packet *packet,
						    enum aql_kind kind, uint64_t id, uint64_t index,
						    uint64_t now_ticks)
{
	struct packet_slot *slot = NULL;

	if (__builtin_expect(kind != AQL_OTHER, 1))
		slot = process(queue, packet, kind, id, index, now_ticks);
	if (!slot)
		pass_on(queue, packet);
	return slot;
}

/* Behind that packet, if nothing tells how far the GPU has got: a probe. */
static inline unsigned put_probe(struct queue *queue, union aql_packet *to, uint64_t id)
{
	return __builtin_expect(room_lacks_probe(queue, id), 0)
		       ? room_put_probe(queue, (void *)to, id)
		       : 0;
}

/* The same of one that is rare. */
static __attribute__((noinline)) struct packet_slot *
make_other_ready(struct queue *queue, union aql_packet *packet, enum aql_kind kind, uint64_t id,
		 uint64_t index, uint64_t now_ticks)
{
	return make_ready(queue, packet, kind, id, index, now_ticks);
}

static void *batch_buffer(struct queue *queue)
{
	if (!queue->batch)
		queue->batch = memory_reserve((size_t)queue->packets * sizeof(union aql_packet));
	return queue->batch;
}

/* Packet number i of those that we are given. Some runtimes of 7.x point into the queue's ring, at all packets between
 * two rings of the doorbell, and leave it to the tool to go on at its beginning. */
static inline const union aql_packet *given(const struct queue *queue, const void *packets,
					    uint64_t index, uint64_t i)
{
	const union aql_packet *ring = queue->hsa->base_address, *first = packets;
	const uint64_t mask = queue->packets - 1;

	return first == ring + (index & mask) ? ring + ((index + i) & mask) : first + i;
}

/* It is the harvester's from here on. Whether there is one. */
static inline bool submit(struct queue *queue, struct packet_slot *slot)
{
	if (slot)
		slot_submit(&queue->source.pool, &slot->slot);
	return slot;
}

/* How many of them are dispatches that are wanted, or, if asked, how many are barriers. */
static __attribute__((cold, noinline)) uint64_t count_kind(const struct queue *queue,
							   const void *packets, uint64_t count,
							   uint64_t index, unsigned wants)
{
	uint64_t found = 0;

	for (uint64_t i = 0; i < count; i++)
		found += kind_of(given(queue, packets, index, i), wants) != AQL_OTHER;
	return found;
}

/* The dispatches among them are missed. */
static void count_missed(const struct queue *queue, const void *packets, uint64_t count,
			 uint64_t index, const char *cause)
{
	const uint64_t dispatches = count_kind(queue, packets, count, index,
					       kernel_choice_on ? WANT_CHOSEN : WANT_DISPATCHES);

	if (dispatches)
		rtl_stream_count_missed(interceptor.stream, cause, dispatches);
}

/* In pieces for which there is room; where that is not known, the rest in one, as the runtime
 * can hold back only one write. */
static __attribute__((noinline)) void intercept_batch(struct queue *queue, const void *packets,
						      uint64_t count, uint64_t index, uint64_t id,
						      unsigned wants, packet_writer write)
{
	if (count > queue->packets || !batch_buffer(queue)) {
		if (wants)
			count_missed(queue, packets, count, index, "batch of packets too large");
		for (uint64_t i = 0; i < count; i++)
			signal_watch_reused(given(queue, packets, index, i)->any.signal);
		write(packets, count);
		return;
	}
	union aql_packet *copy = queue->batch;

	for (uint64_t done = 0, piece; done < count; done += piece) {
		const uint64_t now_ticks = rtl_ticks();
		bool has_slots = false;
		unsigned n = 0;

		piece = count - done < queue->packets / 2 ? count - done : queue->packets / 2;
		if (!room_for(queue, id + piece - 1))
			piece = count - done;
		for (uint64_t i = done; i < done + piece; i++) {
			copy[n] = *given(queue, packets, index, i);
			if (aql_has_signals(&copy[n]))
				room_see_barrier(queue, &copy[n], id + n);
			has_slots |=
				submit(queue, make_ready(queue, &copy[n], kind_of(&copy[n], wants),
							 id + n, index + i, now_ticks));
			n++;
			if (n + (done + piece - i) <= queue->packets) /* the others fit, too */
				n += put_probe(queue, &copy[n], id + n);
		}
		id += n;
		queue->next_id = id;
		write(copy, n);
		if (has_slots)
			harvest_notify(now_ticks);
	}
}

static __attribute__((cold, noinline)) void count_outside(const struct queue *queue,
							  const void *packets, uint64_t count,
							  uint64_t index, uint32_t why)
{
	count_left_out(RTL_TASK_BEGIN, RTL_TASK_END, why,
		       count_kind(queue, packets, count, index, WANT_DISPATCHES));
	if (interceptor.config.mode == CONFIG_FULL)
		count_left_out(RTL_BARRIER_BEGIN, RTL_BARRIER_END, why,
			       count_kind(queue, packets, count, index, WANT_BARRIERS));
}

/* ---- hardware counters: see counter.h ---- */

/* Packets at a time: some runtimes of 7.x stage no more than 256, of all that are given at once. */
#define COUNTED_AT_ONCE 240

/* A dispatch with its packets around it, where it is counted; returns how many packets that is. */
static unsigned put_counted(struct queue *queue, union aql_packet *to, enum aql_kind kind,
			    uint64_t id, uint64_t index, uint64_t now_ticks, bool wanted)
{
	struct counter_sample *sample = NULL;
	struct packet_slot *slot;
	unsigned before = 0, after = 0;

	if ((to->any.header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH)
		sample =
			counter_take(queue->counters, kernel_table_find(to->dispatch.kernel_object),
				     wanted, kind == AQL_DISPATCH);
	else if (kind == AQL_EXTENDED)
		counter_queue_pass_by(queue->counters, 1, wanted);
	if (sample) {
		const union aql_packet dispatch = *to;

		before = counter_put_before(sample, to);
		to[before] = dispatch;
		to[before].any.header |= 1 << HSA_PACKET_HEADER_BARRIER;
	}
	slot = make_ready(queue, &to[before], kind, id + before, index, now_ticks);
	if (sample) {
		if (slot)
			slot->packet.flags |= RTL_HSA_DISPATCH_SERIALISED;
		after = counter_put_after(sample, &to[before + 1]);
		counter_submit(sample, id + before,
			       slot && slot->slot.in_scope ? slot->scope.correlation : 0);
	}
	(void)submit(queue, slot);
	return before + 1 + after;
}

/* The dispatches among them go as they are. */
static void pass_by(struct queue *queue, const void *packets, uint64_t count, uint64_t index,
		    bool wanted)
{
	counter_queue_pass_by(queue->counters,
			      count_kind(queue, packets, count, index, WANT_DISPATCHES), wanted);
}

/* As intercept_batch, with what surrounds dispatches that are counted. */
static __attribute__((cold, noinline)) void intercept_counted(struct queue *queue,
							      const void *packets, uint64_t count,
							      uint64_t index, unsigned wants,
							      packet_writer write)
{
	const uint64_t ring = queue->packets / 2;
	const uint64_t most = (ring < COUNTED_AT_ONCE ? ring : COUNTED_AT_ONCE) / COUNTER_PACKETS;
	const bool wanted = wants & (WANT_DISPATCHES | WANT_CHOSEN);
	union aql_packet *copy = queue->batch;
	uint64_t id = queue->next_id;

	for (uint64_t done = 0, piece; done < count; done += piece) {
		const uint64_t now_ticks = rtl_ticks();
		unsigned n = 0;

		piece = count - done < most ? count - done : most;
		if (!room_for(queue, id + piece * COUNTER_PACKETS - 1)) {
			/* The rest in one, as it is. */
			const void *rest = given(queue, packets, index, done);

			pass_by(queue, rest, count - done, index + done, wanted);
			queue->next_id = id + count - done;
			intercept_batch(queue, rest, count - done, index + done, id, wants, write);
			return;
		}
		for (uint64_t i = 0; i < piece; i++) {
			const union aql_packet *packet = given(queue, packets, index, done + i);
			const enum aql_kind kind = kind_of(packet, wants);

			copy[n] = *packet;
			if (aql_has_signals(packet))
				room_see_barrier(queue, packet, id + n);
			n += put_counted(queue, &copy[n], kind, id + n, index + done + i, now_ticks,
					 wanted);
			n += put_probe(queue, &copy[n], id + n);
		}
		id += n;
		queue->next_id = id;
		write(copy, n);
	}
}

/* Whether the packets were submitted, as dispatches that are counted. */
static __attribute__((cold, noinline)) bool count_dispatches(struct queue *queue,
							     const void *packets, uint64_t count,
							     uint64_t index, unsigned wants,
							     packet_writer write)
{
	const bool wanted = wants & (WANT_DISPATCHES | WANT_CHOSEN);

	if (counter_queue_counts(queue->counters, wanted) && batch_buffer(queue)) {
		intercept_counted(queue, packets, count, index, wants, write);
		return true;
	}
	pass_by(queue, packets, count, index, wanted);
	return false;
}

/* Work that threads submit after the end of the recording is missed, if somebody had listened. */
static void count_late(const struct queue *queue, const void *packets, uint64_t count,
		       uint64_t index)
{
	const int state = __atomic_load_n(&interceptor.state, __ATOMIC_RELAXED);
	uint32_t why;

	if (leaves_out_all(&why) && !is_paused()) {
		count_outside(queue, packets, count, index, why);
		return;
	}
	if (state != INTERCEPTOR_ENDED)
		return;
	harvest_hurry();
	if (__atomic_load_n(&interceptor.listened, __ATOMIC_RELAXED) ||
	    rtl_enabled(interceptor.stream, RTL_TASK_END))
		count_missed(queue, packets, count, index, "submitted after the end");
}

static __attribute__((noinline)) void intercept(const void *packets, uint64_t count, uint64_t index,
						void *data, packet_writer write)
{
	struct queue *queue = data;
	const uint64_t id = queue->next_id;
	const unsigned wanted = wants();
	enum aql_kind kind;
	union aql_packet copy[2];
	struct packet_slot *slot;
	uint64_t now_ticks;
	unsigned n;

	if (!wanted) {
		queue->slept |= !work_wanted();
		count_late(queue, packets, count, index);
	}
	if (__builtin_expect(queue->counters != NULL, 0) &&
	    count_dispatches(queue, packets, count, index, wanted, write))
		return;
	queue->next_id = id + count;
	if (count != 1) {
		intercept_batch(queue, packets, count, index, id, wanted, write);
		return;
	}
	(void)room_for(queue, id);
	kind = kind_of(packets, wanted);
	if (kind != AQL_DISPATCH && aql_has_signals(packets))
		room_see_barrier(queue, packets, id);
	if (kind == AQL_OTHER && !__builtin_expect(room_lacks_probe(queue, id), 0)) {
		pass_on(queue, packets);
		write(packets, 1);
		return;
	}
	memcpy(copy, packets, sizeof(*copy));
	if (copy->any.signal)
		signal_watch_prefetch(copy->any.signal);
	now_ticks = kind == AQL_OTHER ? 0 : rtl_ticks();
	if (__builtin_expect(kind == AQL_DISPATCH, 1)) /* a constant from here on */
		slot = make_ready(queue, copy, AQL_DISPATCH, id, index, now_ticks);
	else
		slot = make_other_ready(queue, copy, kind, id, index, now_ticks);
	n = 1 + put_probe(queue, &copy[1], id + 1);
	queue->next_id = id + n;
	(void)submit(queue, slot);
	write(copy, n);
	if (slot)
		harvest_notify(now_ticks);
}

/* A dispatch about which nothing is to be done, as nobody wants work. */
static inline ALWAYS bool goes_by(const struct queue *queue, const union aql_packet *packet)
{
	const uint64_t id = queue->next_id;

	return !work_wanted() && interceptor_on() && !queue->counters &&
	       (packet->any.header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH &&
	       !packet->any.signal && !room_may_lack(queue, id) && !room_lacks_probe(queue, id);
}

void dispatch_intercept(const void *packets, uint64_t count, uint64_t index, void *data,
			packet_writer write)
{
	struct queue *queue = data;

	if (count != 1 || !goes_by(queue, packets)) {
		intercept(packets, count, index, data, write);
		return;
	}
	queue->next_id++;
	queue->slept = true;
	queue->no_room_known = queue->waits = false; /* as pass_on, of what is known of it */
	queue->barrier_seen |= aql_has_barrier_bit(packets);
	write(packets, 1);
}
