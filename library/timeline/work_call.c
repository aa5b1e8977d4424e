/* SPDX-License-Identifier: MIT */
/* work_call.c: the part of work.h that is about what threads do: calls, ranges and marks, memory,
 * and events of other streams. */
#include <inttypes.h>
#include <stdio.h>

#include "work.h"

static void write_slice(struct work *work, struct timeline_track *track,
			struct timeline_slice *slice)
{
	if (slice->end_ns < slice->begin_ns)
		slice->end_ns = slice->begin_ns;
	slice->values = work->values;
	slice->value_count = work->value_count;
	if (track)
		timeline_slice(work->timeline, track, slice);
}

void work_call(struct work *work, struct work_process *process, const struct work_call *call)
{
	struct timeline_slice slice = {
		.name = call->function,
		.category = work->categories[call->is_hip ? WORK_HIP : WORK_HSA],
		.begin_ns = call->begin_ns,
		.end_ns = call->end_ns,
	};

	if (!work_selects(work, NULL, call->function->text, call->function->length, call->begin_ns,
			  call->end_ns))
		return;
	work_begin_values(work);
	/* readers of Kineto's names link all calls of a correlation to its work */
	if (!work->is_kineto || call->is_hip)
		work_add(work, WORK_CORR_ID, TIMELINE_UINT, call->correlation);
	work_add(work, WORK_BEGIN_NS, TIMELINE_TIME, call->begin_ns);
	work_add(work, WORK_END_NS, TIMELINE_TIME, call->end_ns);
	work_add(work, WORK_DELTA_NS, TIMELINE_TIME,
		 call->end_ns > call->begin_ns ? call->end_ns - call->begin_ns : 0);
	if (call->status)
		work_value(work, work->keys[WORK_STATUS], TIMELINE_NAME)->name = call->status;
	if (call->result)
		work_value(work, work->keys[WORK_RESULT], TIMELINE_INT)->integer = call->result;
	if (call->unfinished)
		work_add(work, WORK_UNFINISHED, TIMELINE_BOOL, 1);
	if (call->arguments_length) {
		struct timeline_value *value =
			work_value(work, work->keys[WORK_ARGUMENTS], TIMELINE_TEXT);

		value->text = call->arguments;
		value->length = call->arguments_length;
	}
	if (call->is_hip && call->correlation && call->work) {
		slice.flow = TIMELINE_FLOW_OUT;
		slice.flow_id = work_flow_id(process, call->correlation);
		slice.flow_part = call->work;
	}
	write_slice(work, work_thread(work, process, call->tid), &slice);
}

/* Ranges that are pushed are within each other; those that are started may end anywhere. */
static struct timeline_track *range_track(struct work *work, struct work_process *process,
					  const struct work_range *range)
{
	struct timeline_track *track;
	char name[64];

	if (!range->started)
		return work_thread(work, process, range->tid);
	track = timeline_find(process->process, TIMELINE_STARTED, range->tid);
	if (track)
		return track;
	snprintf(name, sizeof(name), "ranges that thread %" PRIu32 " started", range->tid);
	return timeline_add(work->timeline, process->process, TIMELINE_STARTED, range->tid, name);
}

void work_range(struct work *work, struct work_process *process, const struct work_range *range)
{
	struct timeline_slice slice = {
		.text = range->name,
		.text_length = range->name_length,
		.category = work->categories[WORK_MARKER],
		.begin_ns = range->begin_ns,
		.end_ns = range->end_ns,
		.is_mark = range->is_mark,
	};

	if (!work_selects(work, NULL, range->name, range->name_length, range->begin_ns,
			  range->end_ns))
		return;
	work_begin_values(work);
	work_add(work, WORK_BEGIN_NS, TIMELINE_TIME, range->begin_ns);
	if (!range->is_mark)
		work_add(work, WORK_END_NS, TIMELINE_TIME, range->end_ns);
	if (range->id)
		work_add(work, WORK_ID, TIMELINE_UINT, range->id);
	if (range->end_tid && range->end_tid != range->tid)
		work_add(work, WORK_END_TID, TIMELINE_UINT, range->end_tid);
	if (range->unfinished)
		work_add(work, WORK_UNFINISHED, TIMELINE_BOOL, 1);
	if (range->cut)
		work_add(work, WORK_CUT, TIMELINE_BOOL, 1);
	write_slice(work, range_track(work, process, range), &slice);
}

static const char *const mem_kinds[] = {
	[0] = "memory",
	[RTL_HSA_MEM_REGION] = "memory",
	[RTL_HSA_MEM_POOL] = "memory",
	[RTL_HSA_MEM_HANDLE] = "virtual memory",
	[RTL_HSA_MEM_ADDRESSES] = "addresses reserved",
	[RTL_HSA_MEM_LOCKED] = "host memory locked",
	[RTL_HSA_MEM_ATTACHED] = "memory of other processes",
};

/* What is in use after it, of the process: on a GPU if the memory is one's. */
static void count_memory(struct work *work, struct work_process *process,
			 const struct rtl_hsa_mem *m)
{
	const uint32_t kind = m->kind < sizeof(mem_kinds) / sizeof(*mem_kinds) ? m->kind : 0;
	const bool on_gpu = m->flags & RTL_HSA_MEM_ON_GPU;
	struct work_gpu *gpu = on_gpu ? work_gpu(work, process, m->node, NULL) : NULL;
	struct timeline_process *owner = on_gpu ? (gpu ? gpu->process : NULL) : process->process;
	/* regions and pools of an agent are counted together */
	const uint32_t counted = kind == RTL_HSA_MEM_REGION ? RTL_HSA_MEM_POOL : kind;
	const uint64_t number =
		(uint64_t)process->number << 32 | (uint64_t)(m->node & 0xffffff) << 8 | counted;
	struct timeline_track *track;
	char name[128];

	if (!owner)
		return;
	track = timeline_find(owner, TIMELINE_COUNTER, number);
	if (!track) {
		snprintf(name, sizeof(name), "%s in use, process %d, node %" PRIu32,
			 mem_kinds[kind], process->pid, m->node);
		track = timeline_add_counter(work->timeline, owner, number, name, "bytes");
	}
	if (track)
		timeline_counter(work->timeline, track, m->end_ns, (double)m->in_use_bytes);
}

void work_memory(struct work *work, struct work_process *process, const struct work_memory *memory)
{
	const struct rtl_hsa_mem *m = memory->mem;
	struct timeline_slice slice = {
		.name = memory->function,
		.category = work->categories[WORK_MEMORY],
		.begin_ns = m->begin_ns,
		.end_ns = m->end_ns,
	};

	if (!work_selects(work, NULL, memory->function->text, memory->function->length, m->begin_ns,
			  m->end_ns))
		return;
	work_begin_values(work);
	work_add(work, WORK_BYTES, TIMELINE_UINT, m->bytes);
	work_add(work, WORK_ADDRESS, TIMELINE_HEX, m->address);
	work_value(work, work->keys[WORK_AGENT], TIMELINE_NAME)->name = work_agent(work, m->node);
	work_add(work, WORK_IN_USE, TIMELINE_UINT, m->in_use_bytes);
	if (memory->status)
		work_value(work, work->keys[WORK_STATUS], TIMELINE_NAME)->name = memory->status;
	write_slice(work, work_thread(work, process, memory->tid), &slice);
	if (work->counters && !(m->flags & (RTL_HSA_MEM_FAILED | RTL_HSA_MEM_UNKNOWN)))
		count_memory(work, process, m);
}

static struct timeline_track *other_track(struct work *work, struct work_process *process,
					  const struct work_other *other)
{
	struct work_gpu *gpu;

	if (!other->on_gpu)
		return work_thread(work, process, other->tid);
	gpu = work_gpu(work, process, other->gpu, NULL);
	return gpu ? work_gpu_track(work, process, gpu, TIMELINE_GPU_OTHER, other->queue,
				    other->category->text)
		   : NULL;
}

void work_other(struct work *work, struct work_process *process, const struct work_other *other)
{
	struct timeline_slice slice = {
		.name = other->name,
		.text = other->text,
		.text_length = other->text_length,
		.category = other->category,
		.begin_ns = other->begin_ns,
		.end_ns = other->end_ns,
		.is_mark = other->is_mark,
	};

	if (!work_selects(work, other->on_gpu ? &other->gpu : NULL,
			  other->name ? other->name->text : other->text,
			  other->name ? other->name->length : other->text_length, other->begin_ns,
			  other->end_ns))
		return;
	write_slice(work, other_track(work, process, other), &slice);
}

bool work_begins(uint16_t type)
{
	static const uint16_t begins[] = {
		RTL_REGION_BEGIN,    RTL_TASK_BEGIN,        RTL_BARRIER_BEGIN,
		RTL_LOCK_BEGIN,      RTL_TRANSFER_BEGIN,    RTL_THREAD_BEGIN,
		RTL_WAIT_BEGIN,      RTL_FUNCTION_BEGIN,    RTL_FUNCTION_WITH_ARGS_BEGIN,
		RTL_MEM_ALLOC_BEGIN, RTL_MEM_RELEASE_BEGIN,
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (begins[i] == type)
			return true;
	return false;
}
