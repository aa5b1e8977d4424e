/* SPDX-License-Identifier: MIT */
/* Looks at the records of HIP's profiler, and publishes what has come: see README.md.
 *
 * Threads: rtl-hip, a thread that has waited, and whoever ends: one at a time (profiler.c). */
#include <rtl/events.h>
#include <stdlib.h>

#include "../../common/reserve.h"
#include "../../common/shared.h"
#include "agents.h"
#include "interceptor.h"
#include "kernel_table.h"
#include "kernels.h"
#include "profiler.h"
#include "reported.h"
#include "system_clock.h"

/* Records whose work is awaited; more are looked through at the end only. */
#define AWAITED_MAX 262144u
/* How long a record whose call has returned waits for a note; of time in which we look. */
#define NOTE_NS 2000000000u
/* The same where the program may have wanted nothing recorded: then there is none, of many records. */
#define PAUSED_NOTE_NS 100000000u
/* The most that time goes on between two looks: where we have no processor, the thread may have none either. */
#define STEP_NS 5000000u

/* In place of a number of pieces: of a record that nobody wants, or that is wanted if it is noted. */
#define NOT_WANTED    UINT32_MAX
#define ONLY_IF_NOTED (UINT32_MAX - 1)

/* What is known of whether calls were to be recorded. */
struct wanted {
	bool now;
	uint32_t changes; /* paused_changes() */
};

struct awaited {
	uint64_t number;
	uint64_t since_ns; /* when its call was first seen to have returned, without a note; or 0 */
};

static struct {
	uint64_t next;           /* records below have been looked at */
	struct awaited *awaited; /* records whose work has not come, in order */
	uint32_t count;
	uint32_t *seen; /* by record: how much of its work was published */
	uint64_t seen_count;
	uint64_t time_ns, clock_ns; /* of looking; when that was set */
	struct wanted known; /* before the records below `next` were counted, and looked at */
	bool noted;          /* calls are */
	bool last;
	bool full;           /* no more can wait to be published: the next look goes on */
	bool checked_work;   /* the first kernel was as it should be */
	uint64_t kept_bytes; /* behind the records, by HIP */
} look;

struct notes notes;

bool look_init(uint64_t records)
{
	look.awaited = calloc(AWAITED_MAX, sizeof(*look.awaited));
	look.seen = memory_reserve(records * sizeof(*look.seen));
	notes.of = memory_reserve(records * sizeof(*notes.of));
	notes.count = look.seen_count = records;
	return look.seen && look.awaited && notes.of;
}

/* ---- what a record says ---- */

static enum reported_copy copy_of(unsigned kind, bool *is_rect)
{
	*is_rect = kind == 2 || kind == 5 || kind == 8;
	if (kind == 12)
		return REPORTED_FILL;
	if (kind >= 1 && kind <= 3)
		return REPORTED_WRITE;
	return kind >= 4 && kind <= 6 ? REPORTED_READ : REPORTED_INNER;
}

static void fill_dispatch(const struct gpu_work *from, struct reported *work)
{
	work->dispatch.kernel = kernels_find_named(from->kernel);
	for (int i = 0; i < 3; i++) {
		work->dispatch.workgroup[i] = (uint16_t)from->block[i];
		work->dispatch.grid[i] = from->grid[i] * from->block[i];
	}
	if (from->valid == 1) {
		work->dispatch.group_bytes = from->group_bytes;
		work->dispatch.private_bytes = from->private_bytes;
	}
}

/* The first kernel shows whether the layout is what it seems: NULL, or what is wrong. */
static const char *check_work(const struct gpu_work *from)
{
	if (work_op(from->flags) >= REPORTED_OPS)
		return "a record of HIP's profiler tells of work of an unknown kind";
	if (!agents_find_node(work_node(from->flags)))
		return "a record of HIP's profiler tells of a GPU that there is not";
	if (work_op(from->flags) != REPORTED_DISPATCH)
		return NULL;
	if (!from->begin_ns || from->end_ns < from->begin_ns)
		return "a record of HIP's profiler has a kernel that ends before it begins";
	if (from->kernel && !kernels_has_name(from->kernel))
		return "a record of HIP's profiler names a kernel that the program does not have";
	look.checked_work = true;
	return NULL;
}

/* Whether the ledger has it: then it ends. */
static bool ends(struct note *note, enum reported_op op)
{
	if (!note || op == REPORTED_BARRIER || !note->begun[op])
		return false;
	note->begun[op]--;
	return true;
}

/* Whether the user's selection leaves it out; asked when the call was made, if it has noted that. */
static bool is_left_out(const struct note *note, enum reported_op op)
{
	if (!note || (!note->left_out && op == REPORTED_BARRIER))
		return reported_leave_out(op, 1);
	return op == REPORTED_BARRIER || note->left_out & 1u << op;
}

static void fill_copy(const struct hip_record *record, const struct gpu_work *from,
		      struct reported *work)
{
	work->how = copy_of(work_copy_kind(from->flags), &work->is_rect);
	work->copy.bytes = from->bytes ? from->bytes : record->size;
	work->copy.dst = from->dst ? from->dst : record->memory[0];
	if (work->how != REPORTED_FILL)
		work->copy.src = from->src ? from->src : record->memory[1];
	work->has_addresses = work->copy.src && work->copy.dst;
}

/* A piece of a record's work. `first`: the one that the call's sizes are of. */
static void publish(const struct hip_record *record, const struct gpu_work *from, bool first,
		    struct note *note)
{
	const bool has_times = from->begin_ns && from->end_ns >= from->begin_ns;
	struct reported work = {
		.op = (enum reported_op)work_op(from->flags),
		.node = work_node(from->flags),
		.submitter.tid = profiler.hashed ? 0 : (uint32_t)record->thread,
	};

	if (has_times)
		work.times = (struct work_times){system_clock_of_hip(from->begin_ns),
						 system_clock_of_hip(from->end_ns)};
	if (work.op >= REPORTED_OPS ||
	    (work.op == REPORTED_BARRIER && interceptor.config.mode != CONFIG_FULL))
		return;
	if (note)
		work.submitter = note->submitter;
	work.ends = ends(note, work.op);
	if (work.op == REPORTED_DISPATCH) {
		fill_dispatch(from, &work);
		for (int i = 0; note && first && !from->grid[0] && i < 3; i++) {
			work.dispatch.grid[i] = note->grid[i];
			work.dispatch.workgroup[i] = note->workgroup[i];
		}
	} else if (work.op == REPORTED_COPY) {
		fill_copy(record, from, &work);
	}
	if (rtl_enabled(work.op == REPORTED_COPY ? interceptor.copies : interceptor.stream,
			work.op == REPORTED_COPY ? RTL_TRANSFER_END : RTL_TASK_END) &&
	    !is_left_out(note, work.op))
		reported_publish(&work);
	else
		reported_forget(work.op, work.ends,
				work.submitter.in_scope ? work.submitter.scope.hip_stream : 0);
}

/* ---- looking ---- */

/* Whether it is what the function is called for. A barrier may come first. */
static bool is_awaited(const char *function, const struct gpu_work *work)
{
	if (strstr(function, "Launch"))
		return work_op(work->flags) == REPORTED_DISPATCH;
	return work_op(work->flags) == REPORTED_COPY ||
	       !(strstr(function, "hipMemcpy") || strstr(function, "hipMemset"));
}

/* Whether all that it was called for has come. Of a graph whose nodes are not known that shows at the end only. */
static bool is_done(const char *function, const struct note *note, bool came)
{
	if (!strstr(function, "Graph"))
		return came;
	return note && note->is_known && !note->begun[REPORTED_DISPATCH] &&
	       !note->begun[REPORTED_COPY];
}

/* Whether its call may be about to note whose it is. */
static bool may_be_noted(const struct hip_record *record, uint32_t seen, uint64_t *since_ns)
{
	if (look.last || !look.noted || profiler.hashed || !launches_may(record->function))
		return false;
	if (!profiler.endless && !__atomic_load_n(&record->end_ns, __ATOMIC_RELAXED))
		return true;
	if (!*since_ns)
		*since_ns = look.time_ns;
	return look.time_ns - *since_ns < (seen == ONLY_IF_NOTED ? PAUSED_NOTE_NS : NOTE_NS);
}

/* Publishes what has come of a record since; whether no more is awaited of it before the end. */
static bool look_at(const struct hip_record *record, uint64_t number, uint64_t *since_ns)
{
	const struct gpu_work *work = &record->work;
	uint32_t *seen = &look.seen[number], count = 0, barriers = 0;
	struct note *note;
	bool came = false;
	const char *wrong;

	/* Acquire: pairs with HIP's release, the work is complete. */
	if (!(__atomic_load_n(&record->flags, __ATOMIC_ACQUIRE) & RECORD_HAS_WORK))
		return false;
	if (!look.checked_work && (wrong = check_work(work))) {
		profiler_give_up(wrong);
		return true;
	}
	if (*seen == NOT_WANTED)
		return true;
	note = notes_find(number);
	if (!note && may_be_noted(record, *seen, since_ns))
		return false;
	if (*seen == ONLY_IF_NOTED)
		*seen = note ? 0 : NOT_WANTED;
	if (*seen == NOT_WANTED)
		return true;
	for (; work; work = __atomic_load_n(&work->next, __ATOMIC_ACQUIRE)) {
		came |= is_awaited(record->function, work);
		barriers += work_op(work->flags) == REPORTED_BARRIER;
		if (count++ < *seen)
			continue;
		if (!reported_has_room(look.last)) {
			look.full = true;
			return false;
		}
		publish(record, work, count == barriers + 1, note);
		look.kept_bytes += work_op(work->flags) ? 0 : work->args_bytes;
		look.kept_bytes += count > 1 ? sizeof(*work) : 0;
		*seen = count;
	}
	return is_done(record->function, note, came);
}

/* Those that were awaited before. */
static void look_again(const struct slabs *slabs)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < look.count; i++) {
		struct awaited one = look.awaited[i];
		const struct hip_record *record = record_at(slabs, one.number);

		if (record && (look.full || !look_at(record, one.number, &one.since_ns)))
			look.awaited[kept++] = one;
	}
	look.count = kept;
}

/* Whether work that is submitted now is to be recorded. */
static struct wanted is_wanted(void)
{
	return (struct wanted){
		.now = interceptor_on() && !is_paused() &&
		       (rtl_enabled(interceptor.stream, RTL_TASK_END) ||
			rtl_enabled(interceptor.copies, RTL_TRANSFER_END)),
		.changes = paused_changes(),
	};
}

/* Those that have come since. One that has not begun yet ends the look: the next is for it. `before`: they were
 * counted. */
static void look_further(const struct slabs *slabs, struct wanted before)
{
	const struct wanted after = is_wanted();
	const bool changed = after.now != look.known.now || after.changes != look.known.changes;

	for (; look.next < slabs->total && look.next < look.seen_count; look.next++) {
		const struct hip_record *record = record_at(slabs, look.next);
		struct awaited one = {.number = look.next};

		if (!record_is_begun(record)) {
			if (slabs->total - look.next < slabs->size)
				return;
			continue;
		}
		/* Recording begins or ends between two looks, maybe both: then whoever calls knows. */
		if ((changed || !after.now) && !look.seen[look.next])
			look.seen[look.next] = changed ? ONLY_IF_NOTED : NOT_WANTED;
		if (!look_at(record, look.next, &one.since_ns) && !look.full &&
		    launches_may(record->function) && look.count < AWAITED_MAX)
			look.awaited[look.count++] = one;
		/* What has changed holds for the others, too. */
		if (look.full || profiler_is_over())
			return;
	}
	look.known = before;
}

/* All of them: what came late, or to calls that are not for work. */
static void look_at_all(const struct slabs *slabs)
{
	uint64_t unused;

	for (uint64_t number = profiler.start; number < slabs->total && number < look.seen_count;
	     number++) {
		const struct hip_record *record = record_at(slabs, number);

		if (record_is_begun(record))
			(void)look_at(record, number, &unused);
		if (profiler_is_over())
			return;
	}
}

static void tick(void)
{
	const uint64_t now_ns = rtl_clock_ns(), passed_ns = now_ns - look.clock_ns;

	look.time_ns += passed_ns < STEP_NS ? passed_ns : STEP_NS;
	look.time_ns += !look.time_ns;
	look.clock_ns = now_ns;
}

void look_at_records(bool noted, bool last)
{
	const struct wanted before = is_wanted();
	struct slabs slabs;
	uint64_t bytes;

	if (!profiler_get(&slabs))
		return;
	tick();
	look.noted = noted;
	look.last = last;
	look.full = false;
	if (look.next < profiler.start)
		look.next = profiler.start;
	if (last) {
		look_further(&slabs, before);
		look_at_all(&slabs);
		return;
	}
	look_again(&slabs);
	if (!look.full && !profiler_is_over())
		look_further(&slabs, before);
	bytes = slabs.total * sizeof(struct hip_record) + look.kept_bytes;
	if (bytes > profiler.memory_bytes && !profiler_is_over())
		profiler_stop_for_memory(bytes);
}
