/* SPDX-License-Identifier: MIT */
#include "fault.h"

#include <string.h>

#include "clock.h"
#include "config.h"
#include "engine.h"
#include "log.h"
#include "port.h"
#include "space.h"

#define QUEUE_ERROR_ILLEGAL 0x40000000 /* what ROCr's queue error handler knows it by */

static const char *kind_name(enum sg_fault_kind kind)
{
	return kind == SG_FAULT_VM    ? "vm"
	       : kind == SG_FAULT_ILL ? "ill"
	       : kind == SG_FAULT_HW  ? "hw"
				      : "hang";
}

static void log_fault(struct sg_log *log, const struct sg_queue *queue, uint64_t index,
		      const hsa_kernel_dispatch_packet_t *packet, const char *name)
{
	uint64_t now = sg_clock_ticks(sg_now_ns());
	struct sg_log_row row = {
		"fault", queue->gpu, queue->id, index, now, now, packet->completion_signal.handle};
	struct sg_line line = sg_log_begin(log, &row, strlen(name));

	sg_line_text(&line, " fault=", kind_name(sg_config.fault_kind));
	sg_line_hex(&line, " object=", packet->kernel_object);
	sg_line_hex(&line, " address=", sg_config.fault_address);
	sg_line_text(&line, " name=", name);
	sg_log_end(log, &line);
}

/* What the trap handler does: the queue's inactive signal gets the code of the error. */
static void queue_error(const struct sg_queue *queue, int64_t code)
{
	amd_signal_t *s = sg_host(queue->amd->queue_inactive_signal.handle);

	if (!queue->amd->queue_inactive_signal.handle)
		return;
	__atomic_store_n(&s->value, code, __ATOMIC_RELEASE);
	if (s->event_mailbox_ptr)
		sg_port.set_event(s->event_id);
}

static bool stops(enum sg_fault_kind kind)
{
	return kind == SG_FAULT_VM || kind == SG_FAULT_ILL || kind == SG_FAULT_HW ||
	       kind == SG_FAULT_HANG;
}

/* Whether it is the one that is to fail. */
static bool is_it(void)
{
	static _Atomic uint64_t count;

	return !sg_config.fault_nth || atomic_fetch_add(&count, 1) + 1 == sg_config.fault_nth;
}

bool sg_fault_strike(struct sg_engine *engine, struct sg_queue *queue, uint64_t index,
		     const hsa_kernel_dispatch_packet_t *packet, const struct sg_kernel *kernel)
{
	enum sg_fault_kind kind = sg_config.fault_kind;

	if (!stops(kind) || !strstr(kernel->name, sg_config.fault_kernel) || !is_it())
		return false;
	if (engine->log.on)
		log_fault(&engine->log, queue, index, packet, kernel->name);
	atomic_store(&queue->paused, true);
	if (kind == SG_FAULT_VM)
		sg_port.memory_fault(queue->gpu, sg_config.fault_address);
	else if (kind == SG_FAULT_HW)
		sg_port.hw_exception(queue->gpu);
	else if (kind == SG_FAULT_ILL)
		queue_error(queue, QUEUE_ERROR_ILLEGAL);
	return true;
}

bool sg_fault_strike_commands(struct sg_queue *queue)
{
	if (sg_config.fault_kind != SG_FAULT_COMMANDS || !is_it())
		return false;
	atomic_store(&queue->paused, true);
	return true;
}

uint64_t sg_fault_end(const struct sg_flight *flight)
{
	const uint64_t ticks = flight->end_ticks - flight->start_ticks;

	if (sg_config.fault_kind != SG_FAULT_LONG && sg_config.fault_kind != SG_FAULT_SHORT)
		return flight->end_ticks;
	if (!strstr(flight->kernel->name, sg_config.fault_kernel))
		return flight->end_ticks;
	return flight->start_ticks +
	       (sg_config.fault_kind == SG_FAULT_LONG ? 2 * ticks : ticks / 2);
}
