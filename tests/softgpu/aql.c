/* SPDX-License-Identifier: MIT */
#include "aql.h"

#include <string.h>

#include "clock.h"
#include "config.h"
#include "fault.h"
#include "hsa_signal.h"
#include "log.h"
#include "perf.h"
#include "pm4.h"
#include "space.h"

#define PACKET_BYTES           64u
#define BATCH                  256u  /* packets of a queue before the next queue has its turn */
#define SPIN_OUT_MAX_NS        1000u /* the end of shorter kernels is waited for on the spot */
#define VENDOR_FORMAT_PM4      1u
#define VENDOR_FORMAT_EXTENDED 3u /* HSA_AMD_PACKET_TYPE_EXT_KERNEL_DISPATCH */

/* What became of a packet. */
enum verdict {
	TAKEN,   /* on to the next */
	BLOCKED, /* its time has not come */
	STOPPED, /* a fault: this queue is done */
};

static bool profiled(const struct sg_queue *queue)
{
	return queue->amd->queue_properties & AMD_QUEUE_PROPERTIES_ENABLE_PROFILING;
}

static uint64_t groups(uint32_t grid, uint32_t workgroup)
{
	return workgroup ? ((uint64_t)grid + workgroup - 1) / workgroup : 1;
}

static uint64_t duration_ns(const hsa_kernel_dispatch_packet_t *p)
{
	if (!sg_config.ns_per_workgroup)
		return sg_config.kernel_ns;
	return sg_config.kernel_ns + sg_config.ns_per_workgroup *
					     groups(p->grid_size_x, p->workgroup_size_x) *
					     groups(p->grid_size_y, p->workgroup_size_y) *
					     groups(p->grid_size_z, p->workgroup_size_z);
}

/* Gives the slot back to the producer. */
static void retire(struct sg_queue *queue, uint64_t index, uint16_t *header)
{
	__atomic_store_n(header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELAXED);
	atomic_store_explicit(queue->read_index, index + 1, memory_order_release);
}

static void log_dispatch(struct sg_log *log, const struct sg_queue *queue,
			 const struct sg_flight *f)
{
	const hsa_kernel_dispatch_packet_t *p = &f->packet;
	struct sg_log_row row = {"dispatch",
				 queue->gpu,
				 queue->id,
				 f->index,
				 f->start_ticks,
				 f->end_ticks,
				 p->completion_signal.handle};
	struct sg_line line = sg_log_begin(log, &row, strlen(f->kernel->name));

	sg_line_xyz(&line, " grid=", p->grid_size_x, p->grid_size_y, p->grid_size_z);
	sg_line_xyz(&line, " wg=", p->workgroup_size_x, p->workgroup_size_y, p->workgroup_size_z);
	sg_line_u64(&line, " private=", p->private_segment_size);
	sg_line_u64(&line, " group=", p->group_segment_size);
	sg_line_u64(&line, " profiled=", profiled(queue));
	sg_line_hex(&line, " object=", p->kernel_object);
	sg_line_text(&line, " name=", f->kernel->name);
	sg_log_end(log, &line);
}

/* The order matters: times and log are there when the signal says so. */
static void land(struct sg_engine *engine, struct sg_queue *queue, const struct sg_flight *f)
{
	hsa_signal_t signal = f->packet.completion_signal;

	if (engine->log.on)
		log_dispatch(&engine->log, queue, f);
	sg_perf_dispatch(&engine->log, queue, f, true);
	if (profiled(queue))
		sg_signal_set_times(signal, f->start_ticks, sg_fault_end(f));
	sg_signal_complete(signal);
}

/* Lands what has ended. */
static bool land_all(struct sg_engine *engine, struct sg_queue *queue, uint64_t *wake_ns)
{
	struct sg_flight *flights = queue->aql.flights;
	unsigned int kept = 0, count = queue->aql.count;
	uint64_t now_ns = count ? sg_now_ns() : 0;

	for (unsigned int i = 0; i < count; i++) {
		if (flights[i].end_ns <= now_ns) {
			land(engine, queue, &flights[i]);
			continue;
		}
		if (flights[i].end_ns < *wake_ns)
			*wake_ns = flights[i].end_ns;
		if (kept != i)
			flights[kept] = flights[i];
		kept++;
	}
	queue->aql.count = kept;
	return kept < count;
}

static void run_on_host(const struct sg_kernel *kernel, const hsa_kernel_dispatch_packet_t *packet)
{
	if (kernel->run && sg_config.run_kernels)
		kernel->run(sg_host((uintptr_t)packet->kernarg_address), packet, sg_host);
}

static void set_end(struct sg_flight *f, uint64_t at_least_ns)
{
	f->end_ticks = sg_clock_ticks(at_least_ns);
	if (f->end_ticks <= f->start_ticks)
		f->end_ticks = f->start_ticks + 1;
	f->end_ns = sg_clock_ns(f->end_ticks);
}

static enum verdict dispatch(struct sg_engine *engine, struct sg_queue *queue, uint64_t index,
			     hsa_kernel_dispatch_packet_t *packet, uint64_t *wake_ns)
{
	struct sg_flight *f = &queue->aql.flights[queue->aql.count];
	uint64_t start_ns, ns;

	if (queue->aql.count == SG_MAX_INFLIGHT)
		return BLOCKED;
	f->kernel = sg_kernel_find(&engine->kernels, packet->kernel_object);
	if (sg_fault_strike(engine, queue, index, packet, f->kernel))
		return STOPPED;
	f->index = index;
	f->packet = *packet;
	retire(queue, index, &packet->header);
	start_ns = sg_now_ns();
	f->start_ticks = sg_clock_ticks(start_ns);
	ns = duration_ns(&f->packet);
	set_end(f, start_ns + ns);
	if (f->kernel->run) {
		run_on_host(f->kernel, &f->packet);
		if (sg_now_ns() > f->end_ns)
			set_end(f, sg_now_ns());
	}
	sg_perf_dispatch(&engine->log, queue, f, false);
	if (ns == 0 && f->end_ns - start_ns <= SPIN_OUT_MAX_NS) {
		while (sg_now_ns() < f->end_ns)
			;
		land(engine, queue, f);
		return TAKEN;
	}
	queue->aql.count++;
	if (f->end_ns < *wake_ns)
		*wake_ns = f->end_ns;
	return TAKEN;
}

/* Completes a packet that takes no time. Its fields are gone once it is retired. */
static void complete(struct sg_engine *engine, struct sg_queue *queue, uint64_t index,
		     uint16_t *header, const char *kind, const char *detail, uint64_t value)
{
	const hsa_barrier_and_packet_t *any = (const void *)header;
	hsa_signal_t signal = any->completion_signal; /* at the same place in all packets */
	uint64_t now = sg_clock_ticks(sg_now_ns());

	if (engine->log.on) {
		struct sg_log_row row = {kind, queue->gpu, queue->id,    index,
					 now,  now,        signal.handle};
		struct sg_line line = sg_log_begin(&engine->log, &row, 0);

		sg_line_u64(&line, detail, value);
		sg_log_end(&engine->log, &line);
	}
	retire(queue, index, header);
	if (profiled(queue))
		sg_signal_set_times(signal, now, now);
	sg_signal_complete(signal);
}

static enum verdict barrier(struct sg_engine *engine, struct sg_queue *queue, uint64_t index,
			    hsa_barrier_and_packet_t *packet, bool is_and)
{
	unsigned int dependencies = 0, done = 0;

	for (int i = 0; i < 5; i++)
		if (packet->dep_signal[i].handle) {
			dependencies++;
			done += sg_signal_value(packet->dep_signal[i]) == 0;
		}
	if (is_and ? done < dependencies : dependencies && !done)
		return BLOCKED;
	complete(engine, queue, index, &packet->header, is_and ? "barrier_and" : "barrier_or",
		 " deps=", dependencies);
	return TAKEN;
}

static enum verdict vendor(struct sg_engine *engine, struct sg_queue *queue, uint64_t index,
			   hsa_amd_barrier_value_packet_t *packet)
{
	if (packet->header.AmdFormat == HSA_AMD_PACKET_TYPE_BARRIER_VALUE &&
	    !sg_signal_condition_met(packet->cond, sg_signal_value(packet->signal) & packet->mask,
				     packet->value))
		return BLOCKED;
	if (packet->header.AmdFormat == VENDOR_FORMAT_PM4) {
		/* CS_PARTIAL_FLUSH: these packets come without the barrier bit, too. */
		if (queue->aql.count)
			return BLOCKED;
		if (sg_fault_strike_commands(queue))
			return STOPPED;
		sg_kernels_invalidate(); /* ROCr: instruction caches are stale */
		sg_pm4_run(queue, packet);
	}
	complete(engine, queue, index, &packet->header.header, "vendor",
		 " format=", packet->header.AmdFormat);
	return TAKEN;
}

/* hsa_amd_ext_kernel_dispatch_packet_t (gfx1250), the part that differs from a dispatch. */
struct extended {
	uint16_t header;
	uint8_t format, setup;
	uint16_t workgroup[3], reserved;
	uint32_t clusters_x;
	uint16_t clusters_y, clusters_z;
	uint8_t cluster[3], hint;
};

/* A dispatch by clusters of workgroups becomes one by work-items, in its place. */
static enum verdict extended(struct sg_engine *engine, struct sg_queue *queue, uint64_t index,
			     void *slot, uint64_t *wake_ns)
{
	hsa_kernel_dispatch_packet_t *packet = slot;
	const hsa_signal_t dependency = {packet->reserved2};
	struct extended e;

	if (dependency.handle && sg_signal_value(dependency) != 0)
		return BLOCKED;
	memcpy(&e, slot, sizeof(e));
	packet->setup = e.setup;
	packet->grid_size_x = e.clusters_x * e.cluster[0] * e.workgroup[0];
	packet->grid_size_y = (uint32_t)e.clusters_y * e.cluster[1] * e.workgroup[1];
	packet->grid_size_z = (uint32_t)e.clusters_z * e.cluster[2] * e.workgroup[2];
	packet->header = (uint16_t)((e.header & ~0xffu) | HSA_PACKET_TYPE_KERNEL_DISPATCH);
	return dispatch(engine, queue, index, packet, wake_ns);
}

static enum verdict process(struct sg_engine *engine, struct sg_queue *queue, uint64_t index,
			    uint64_t *wake_ns)
{
	char *slot = queue->ring + index * PACKET_BYTES % queue->ring_bytes;
	uint16_t header = __atomic_load_n((uint16_t *)slot, __ATOMIC_ACQUIRE);
	unsigned int type = header & 0xff;

	if (type == HSA_PACKET_TYPE_INVALID)
		return BLOCKED;
	if ((header >> HSA_PACKET_HEADER_BARRIER & 1) && queue->aql.count)
		return BLOCKED;
	switch (type) {
	case HSA_PACKET_TYPE_KERNEL_DISPATCH:
		return dispatch(engine, queue, index, (void *)slot, wake_ns);
	case HSA_PACKET_TYPE_BARRIER_AND:
	case HSA_PACKET_TYPE_BARRIER_OR:
		return barrier(engine, queue, index, (void *)slot,
			       type == HSA_PACKET_TYPE_BARRIER_AND);
	case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
		if ((uint8_t)slot[2] == VENDOR_FORMAT_EXTENDED)
			return extended(engine, queue, index, slot, wake_ns);
		return vendor(engine, queue, index, (void *)slot);
	default:
		complete(engine, queue, index, (void *)slot, "agent", " type=", type);
		return TAKEN;
	}
}

/* The headers tell how far the queue may be read. Not its write index: the producer would lose that line of the
 * cache, on which it also keeps what it reads at each packet, whenever this thread looks for work; and no GPU
 * looks there before the doorbell is rung. */
bool sg_aql_step(struct sg_engine *engine, struct sg_queue *queue, uint64_t *wake_ns)
{
	bool moved = land_all(engine, queue, wake_ns);
	uint64_t index = atomic_load_explicit(queue->read_index, memory_order_relaxed);

	for (unsigned int n = 0; n < BATCH; n++, index++) {
		if (atomic_load_explicit(&queue->paused, memory_order_relaxed) ||
		    process(engine, queue, index, wake_ns) != TAKEN)
			break;
		moved = true;
	}
	return moved;
}
