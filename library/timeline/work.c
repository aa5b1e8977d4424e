/* SPDX-License-Identifier: MIT */
/* See work.h: processes, threads, GPUs; dispatches and copies. */
#include "work.h"

#include <fnmatch.h>
#include <stdio.h>

#include "put.h"

/* GPUs stand behind all processes. */
#define SORT_GPUS 100000

#define KEY(key, text) text,
static const char *const key_texts[WORK_KEYS] = {WORK_EACH_KEY(KEY)};

/* As TraceLens knows them, and as PyTorch's profiler names them. */
static const char *const category_texts[WORK_CATEGORIES][2] = {
	[WORK_KERNEL] = {"kernel_dispatch", "kernel"}, [WORK_COPY] = {"memory_copy", "gpu_memcpy"},
	[WORK_FILL] = {"memory_copy", "gpu_memset"},   [WORK_HOST_COPY] = {"memory_copy", "cpu_op"},
	[WORK_HIP] = {"hip_api", "cuda_runtime"},      [WORK_HSA] = {"hsa_api", "cpu_op"},
	[WORK_MARKER] = {"roctx", "user_annotation"},  [WORK_MEMORY] = {"memory", "cpu_op"},
};

/* What a copy is called, also by PyTorch's profiler, and the track that it is on. */
static const char *const direction_texts[6][3] = {
	[RTL_HSA_COPY_NONE] = {"MEMORY_FILL", "Memset (Device)", "fills"},
	[RTL_HSA_COPY_HOST_TO_DEVICE] = {"MEMORY_COPY_HOST_TO_DEVICE",
					 "Memcpy HtoD (Host -> Device)", "copies, host to device"},
	[RTL_HSA_COPY_DEVICE_TO_HOST] = {"MEMORY_COPY_DEVICE_TO_HOST",
					 "Memcpy DtoH (Device -> Host)", "copies, device to host"},
	[RTL_HSA_COPY_DEVICE_TO_DEVICE] = {"MEMORY_COPY_DEVICE_TO_DEVICE",
					   "Memcpy DtoD (Device -> Device)",
					   "copies, within the device"},
	[RTL_HSA_COPY_PEER] = {"MEMORY_COPY_DEVICE_TO_DEVICE", "Memcpy PtoP (Device -> Device)",
			       "copies, to another device"},
	[RTL_HSA_COPY_HOST_TO_HOST] = {"MEMORY_COPY_HOST_TO_HOST", "Memcpy HtoH (Host -> Host)",
				       "copies, host to host"},
};

static const char *const kind_texts[5] = {
	"other",
	[RTL_HSA_COPY_LINEAR] = "linear",
	[RTL_HSA_COPY_RECT] = "rect",
	[RTL_HSA_COPY_BATCH] = "batch",
	[RTL_HSA_COPY_FILL] = "fill",
};

const char *work_direction_name(uint32_t direction)
{
	return direction_texts[direction < 6 ? direction : 0][0];
}

bool work_init(struct work *work, struct timeline *timeline, bool counters)
{
	memset(work, 0, sizeof(*work));
	work->timeline = timeline;
	work->counters = counters;
	work->last_process = &work->processes;
	for (int i = 0; i < WORK_KEYS; i++)
		work->keys[i] = timeline_intern(timeline, key_texts[i]);
	for (int i = 0; i < WORK_CATEGORIES; i++)
		work->categories[i] = timeline_intern(timeline, category_texts[i][0]);
	for (int i = 0; i < 6; i++)
		work->directions[i] = timeline_intern(timeline, work_direction_name((uint32_t)i));
	for (int i = 0; i < 5; i++)
		work->kinds[i] = timeline_intern(timeline, kind_texts[i]);
	return !timeline->out_of_memory;
}

bool work_use_kineto_names(struct work *work)
{
	static const struct {
		enum work_key key;
		const char *name;
	} keys[] = {{WORK_CORR_ID, "correlation"},
		    {WORK_STREAM_ID, "stream"},
		    {WORK_STREAM, "stream_handle"},
		    {WORK_COPY_BYTES, "bytes"}};

	work->is_kineto = true;
	for (size_t i = 0; i < WORK_CATEGORIES; i++)
		work->categories[i] = timeline_intern(work->timeline, category_texts[i][1]);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		work->keys[keys[i].key] = timeline_intern(work->timeline, keys[i].name);
	for (size_t i = 0; i < 6; i++)
		work->directions[i] = timeline_intern(work->timeline, direction_texts[i][1]);
	return !work->timeline->out_of_memory;
}

bool work_fits(struct work_selection *s, const uint32_t *gpu, const char *name, uint64_t begin_ns,
	       uint64_t end_ns)
{
	const bool fits = (!s->to_ns || begin_ns < s->to_ns) && end_ns >= s->from_ns &&
			  (!gpu || !s->has_gpu || *gpu == s->gpu) &&
			  (!s->name || (name && fnmatch(s->name, name, 0) == 0));

	s->count += fits;
	return fits;
}

bool work_selects(struct work *work, const uint32_t *gpu, const struct timeline_slice *slice)
{
	char *text = NULL;
	bool fits;

	if (!work->selection)
		return true;
	if (!slice->name && !(text = strndup(slice->text, slice->text_length)))
		work->timeline->out_of_memory = true;
	fits = work_fits(work->selection, gpu,
			 text          ? text
			 : slice->name ? slice->name->text
				       : NULL,
			 slice->begin_ns, slice->end_ns);
	free(text);
	return fits;
}

void work_fini(struct work *work)
{
	for (struct work_process *p = work->processes; p; p = p->next)
		map_fini(&p->streams);
	list_free(work->processes);
	list_free(work->gpus);
}

/* ---- processes, threads, GPUs ---- */

struct work_process *work_process(struct work *work, uint64_t key, int32_t pid, const char *program,
				  const char *host_name)
{
	struct work_process *process = work->processes;
	const char *name = program ? basename(program) : "";

	while (process && process->key != key)
		process = process->next;
	if (process)
		return process;
	process = timeline_alloc(work->timeline, sizeof(*process));
	if (!process)
		return NULL;
	process->key = key;
	process->pid = pid;
	process->host = hash_text(host_name ? host_name : "", host_name ? strlen(host_name) : 0);
	if (!work->processes)
		work->first_host = process->host;
	process->number = ++work->process_count;
	process->process = timeline_process(work->timeline, key, false, (uint32_t)pid,
					    *name ? name : "unknown", (int)process->number);
	if (!process->process) {
		free(process);
		return NULL;
	}
	*work->last_process = process;
	work->last_process = &process->next;
	return process;
}

struct timeline_track *work_thread(struct work *work, struct work_process *process, uint32_t tid)
{
	struct timeline_track *track = timeline_find(process->process, TIMELINE_THREAD, tid);
	char name[48];

	if (track)
		return track;
	snprintf(name, sizeof(name), "%sthread %u", tid == (uint32_t)process->pid ? "main " : "",
		 tid);
	return timeline_add(work->timeline, process->process, TIMELINE_THREAD, tid, name);
}

void work_name_thread(struct work *work, struct work_process *process, uint32_t tid,
		      const char *name)
{
	struct timeline_track *track = work_thread(work, process, tid);
	char *text;

	if (!track || asprintf(&text, "%s, thread %u", name, tid) < 0)
		return;
	timeline_rename(work->timeline, track, text);
	free(text);
}

struct name *work_agent(struct work *work, uint32_t node)
{
	char text[24];

	snprintf(text, sizeof(text), "Agent %u", node);
	return timeline_intern(work->timeline, text);
}

struct work_gpu *work_gpu(struct work *work, struct work_process *process, uint32_t node,
			  const char *name)
{
	struct work_gpu *gpu = process->last_gpu;
	char text[512];

	if (__builtin_expect(gpu && gpu->node == node && !name, 1))
		return gpu;
	for (gpu = work->gpus; gpu; gpu = gpu->next)
		if (gpu->node == node && gpu->host == process->host)
			break;
	process->last_gpu = gpu ? gpu : process->last_gpu;
	if (gpu && !name)
		return gpu;
	snprintf(text, sizeof(text), "GPU %u%s%.400s%s%s", node, name && *name ? " (" : "",
		 name ? name : "", name && *name ? ")" : "",
		 process->host != work->first_host ? " of another host" : "");
	if (!gpu) {
		gpu = timeline_alloc(work->timeline, sizeof(*gpu));
		if (!gpu)
			return NULL;
		gpu->node = node;
		gpu->agent = work_agent(work, node);
		gpu->host = process->host;
		gpu->next = work->gpus;
		work->gpus = gpu;
		process->last_gpu = gpu;
	}
	gpu->process = timeline_process(work->timeline, hash_number(process->host) + node, true,
					node, text, SORT_GPUS + (int)(node % SORT_GPUS));
	return gpu->process ? gpu : NULL;
}

struct timeline_track *work_gpu_track(struct work *work, struct work_process *process,
				      struct work_gpu *gpu, enum timeline_kind kind,
				      uint32_t number, const char *what)
{
	const uint64_t key = (uint64_t)process->number << 32 | number;
	struct timeline_track *track = timeline_find(gpu->process, kind, key);
	char name[256];

	if (__builtin_expect(track != NULL, 1))
		return track;
	if (kind == TIMELINE_QUEUE)
		snprintf(name, sizeof(name), "queue %u of process %d", number, process->pid);
	else if (kind == TIMELINE_GPU_OTHER)
		snprintf(name, sizeof(name), "%.128s, queue %u of process %d", what, number,
			 process->pid);
	else
		snprintf(name, sizeof(name), "%s, process %d", what, process->pid);
	return timeline_add(work->timeline, gpu->process, kind, key, name);
}

/* ---- what GPUs do ---- */

/* Which of the operations of a call this is, where the writer asks. */
static uint32_t flow_part(struct work *work, uint64_t id)
{
	struct work_flow *flow = &work->flows[id & (WORK_FLOWS - 1)];

	if (!work->timeline->writer->counts_flows)
		return 0;
	if (flow->id != id)
		*flow = (struct work_flow){.id = id};
	return flow->parts++;
}

void work_slice(struct work *work, struct timeline_track *track, struct timeline_slice *slice)
{
	if (slice->end_ns < slice->begin_ns)
		slice->end_ns = slice->begin_ns;
	slice->values = work->values;
	slice->value_count = work->value_count;
	if (track)
		timeline_slice(work->timeline, track, slice);
}

/* Who called; where that is not known, a slice stands for the call, from the submission on. */
static void set_caller(struct work *work, struct work_process *process,
		       struct timeline_slice *slice, const char *submission, uint64_t call_ns,
		       uint64_t submit_ns, uint64_t end_ns, uint32_t tid)
{
	struct timeline_track *thread = work_thread(work, process, tid);
	const struct timeline_slice stands = {.name = timeline_intern(work->timeline, submission),
					      .category = work->categories[WORK_HSA],
					      .begin_ns = submit_ns,
					      .end_ns = end_ns};

	slice->called_ns = call_ns ? call_ns : submit_ns;
	slice->caller = slice->called_ns ? thread : NULL;
	if (!call_ns && submit_ns && thread && stands.name)
		timeline_slice(work->timeline, thread, &stands);
}

static void set_flow(struct work *work, const struct work_process *process,
		     struct timeline_slice *slice, uint64_t correlation, uint64_t call_ns)
{
	if (!correlation || !call_ns)
		return;
	slice->flow = TIMELINE_FLOW_IN;
	slice->flow_id = work_flow_id(process, correlation);
	slice->flow_part = flow_part(work, slice->flow_id);
	/* clocks are known to some 100 ns: no work begins before its call */
	if (slice->begin_ns < call_ns && call_ns <= slice->end_ns)
		slice->begin_ns = call_ns;
}

void work_add_times(struct work *work, const struct timeline_slice *slice)
{
	work_add(work, WORK_BEGIN_NS, TIMELINE_TIME, slice->begin_ns);
	work_add(work, WORK_END_NS, TIMELINE_TIME, slice->end_ns);
	work_add(work, WORK_DELTA_NS, TIMELINE_TIME,
		 slice->end_ns > slice->begin_ns ? slice->end_ns - slice->begin_ns : 0);
}

/* Streams as small numbers, as readers expect them: 0 is the null stream, which to readers of
 * Kineto's names would be none. */
static void add_stream(struct work *work, struct work_process *process, uint64_t stream)
{
	uint64_t number = stream ? map_get(&process->streams, stream) : 1;

	if (!number) {
		number = ++process->next_stream + 1;
		work->timeline->out_of_memory |= !map_set(&process->streams, stream, number);
	}
	work_add(work, WORK_STREAM_ID, TIMELINE_UINT, number - !work->is_kineto);
	if (stream)
		work_add(work, WORK_STREAM, TIMELINE_HEX, stream);
}

/* "64x1x1" */
static void add_extent(struct work *work, enum work_key key, char *text, uint32_t x, uint32_t y,
		       uint32_t z)
{
	struct timeline_value *value = work_value(work, work->keys[key], TIMELINE_TEXT);
	char *to = put_uint(text, x);

	*to++ = 'x';
	to = put_uint(to, y);
	*to++ = 'x';
	to = put_uint(to, z);
	value->text = text;
	value->length = (uint32_t)(to - text);
}

/* The texts must live until the slice is written. */
static void add_sizes(struct work *work, const struct rtl_hsa_dispatch *d, char texts[2][40])
{
	work_add(work, WORK_GRID_SIZE, TIMELINE_UINT, (uint64_t)d->grid_x * d->grid_y * d->grid_z);
	work_add(work, WORK_WORKGROUP_SIZE, TIMELINE_UINT,
		 (uint64_t)d->workgroup_x * d->workgroup_y * d->workgroup_z);
	add_extent(work, WORK_GRID, texts[0], d->grid_x, d->grid_y, d->grid_z);
	add_extent(work, WORK_WORKGROUP, texts[1], d->workgroup_x, d->workgroup_y, d->workgroup_z);
}

void work_dispatch(struct work *work, struct work_process *process,
		   const struct rtl_hsa_dispatch *d, const struct work_kernel *kernel,
		   uint64_t correlation)
{
	const bool timed = !(d->flags & RTL_HSA_DISPATCH_NO_TIME) && d->end_ns;
	struct timeline_slice slice = {.name = kernel->name,
				       .category = work->categories[WORK_KERNEL],
				       .begin_ns = timed ? d->begin_ns : d->submit_ns,
				       .end_ns = timed ? d->end_ns : d->submit_ns};
	struct work_gpu *gpu;
	char texts[2][40];

	if (!work_selects(work, &d->gpu, &slice) || !(gpu = work_gpu(work, process, d->gpu, NULL)))
		return;
	work_begin_values(work);
	work_add(work, WORK_CORR_ID, TIMELINE_UINT, correlation);
	work_add_times(work, &slice);
	if (!timed) /* it lasts nothing, where it was submitted */
		work_add(work, WORK_NO_TIME, TIMELINE_BOOL, 1);
	if (d->flags & RTL_HSA_DISPATCH_UNFINISHED)
		work_add(work, WORK_UNFINISHED, TIMELINE_BOOL, 1);
	work_value(work, work->keys[WORK_AGENT], TIMELINE_NAME)->name = gpu->agent;
	work_add(work, WORK_QUEUE, TIMELINE_UINT, d->queue);
	add_stream(work, process, d->hip_stream);
	add_sizes(work, d, texts);
	if (kernel->has_registers) {
		work_add(work, WORK_VGPRS, TIMELINE_UINT, kernel->vgprs);
		work_add(work, WORK_AGPRS, TIMELINE_UINT, kernel->agprs);
		work_add(work, WORK_SGPRS, TIMELINE_UINT, kernel->sgprs);
	}
	work_add(work, WORK_LDS, TIMELINE_UINT, d->group_segment_bytes);
	work_add(work, WORK_SCRATCH, TIMELINE_UINT, d->private_segment_bytes);
	work_add(work, WORK_SUBMIT_NS, TIMELINE_UINT, d->submit_ns);
	work_add(work, WORK_TID, TIMELINE_UINT, d->submit_tid);
	work_add(work, WORK_PACKET, TIMELINE_UINT, d->packet_id);
	if (d->range)
		work_add(work, WORK_RANGE, TIMELINE_UINT, d->range);
	/* The call has not counted what another thread passed on: it begins no arrow for that. */
	if (work->timeline->writer->tells_callers)
		set_caller(work, process, &slice, "KernelDispatch", d->call_ns, d->submit_ns,
			   d->submit_ns, d->submit_tid);
	else if (!(d->flags & RTL_HSA_DISPATCH_CARRIED))
		set_flow(work, process, &slice, correlation, d->call_ns);
	work_slice(work, work_gpu_track(work, process, gpu, TIMELINE_QUEUE, d->queue, NULL),
		   &slice);
}

static bool is_by_host(const struct work *work, const struct rtl_hsa_copy *c)
{
	return (!c->gpu && !work->has_gpu_0) || c->flags & RTL_HSA_COPY_FAILED;
}

/* One that no GPU does is on a track of the process. */
static struct timeline_track *copy_track(struct work *work, struct work_process *process,
					 const struct rtl_hsa_copy *c, uint32_t direction)
{
	const char *what = direction_texts[direction][2];
	struct timeline_track *track;
	struct work_gpu *gpu;

	if (!is_by_host(work, c)) {
		gpu = work_gpu(work, process, c->gpu, NULL);
		return gpu ? work_gpu_track(work, process, gpu, TIMELINE_COPIES, direction, what)
			   : NULL;
	}
	track = timeline_find(process->process, TIMELINE_HOST, direction);
	return track ? track
		     : timeline_add(work->timeline, process->process, TIMELINE_HOST, direction,
				    what);
}

void work_copy(struct work *work, struct work_process *process, const struct rtl_hsa_copy *c,
	       uint64_t correlation)
{
	const bool timed = !(c->flags & (RTL_HSA_COPY_NO_TIME | RTL_HSA_COPY_FAILED)) &&
			   c->begin_ns && c->end_ns;
	const uint32_t direction = c->direction < 6 ? c->direction : 0;
	const bool by_host = is_by_host(work, c);
	struct timeline_slice slice = {
		.name = work->directions[direction],
		.category = work->categories[by_host      ? WORK_HOST_COPY
					     : !direction ? WORK_FILL
							  : WORK_COPY],
		.begin_ns = timed ? c->begin_ns : c->submit_ns,
		.end_ns = timed ? c->end_ns : c->submit_ns,
	};

	if (!work_selects(work, &c->gpu, &slice))
		return;
	work_begin_values(work);
	if (!work->is_kineto || !by_host)
		work_add(work, WORK_CORR_ID, TIMELINE_UINT, correlation);
	work_add_times(work, &slice);
	if (!timed) /* it lasts nothing, where it was submitted */
		work_add(work, WORK_NO_TIME, TIMELINE_BOOL, 1);
	if (c->flags & RTL_HSA_COPY_UNFINISHED)
		work_add(work, WORK_UNFINISHED, TIMELINE_BOOL, 1);
	work_add(work, WORK_COPY_BYTES, TIMELINE_UINT, c->bytes);
	if (work->is_kineto && !by_host && timed && c->end_ns > c->begin_ns)
		work_value(work, work->keys[WORK_BANDWIDTH], TIMELINE_REAL)->real =
			(double)c->bytes / (double)(c->end_ns - c->begin_ns);
	work_add(work, WORK_SRC_AGENT, TIMELINE_UINT, c->src_gpu);
	work_add(work, WORK_DST_AGENT, TIMELINE_UINT, c->dst_gpu);
	work_add(work, WORK_SRC, TIMELINE_HEX, c->src);
	work_add(work, WORK_DST, TIMELINE_HEX, c->dst);
	work_value(work, work->keys[WORK_KIND], TIMELINE_NAME)->name =
		work->kinds[c->kind < 5 ? c->kind : 0];
	if (!work->is_kineto || !by_host)
		add_stream(work, process, c->hip_stream);
	work_add(work, WORK_SUBMIT_NS, TIMELINE_UINT, c->submit_ns);
	work_add(work, WORK_TID, TIMELINE_UINT, c->submit_tid);
	if (c->flags & RTL_HSA_COPY_FAILED)
		work_add(work, WORK_STATUS, TIMELINE_UINT, c->status);
	if (c->range)
		work_add(work, WORK_RANGE, TIMELINE_UINT, c->range);
	if (!work->timeline->writer->tells_callers) {
		if (!(c->flags & RTL_HSA_COPY_CARRIED)) /* as above */
			set_flow(work, process, &slice, correlation, c->call_ns);
	} else if (!by_host)
		set_caller(work, process, &slice,
			   c->kind == RTL_HSA_COPY_FILL ? "MemoryFill" : "MemoryCopy", c->call_ns,
			   c->submit_ns,
			   c->flags & RTL_HSA_COPY_CALL_TIME ? slice.end_ns : c->submit_ns,
			   c->submit_tid);
	work_slice(work, copy_track(work, process, c, direction), &slice);
}
