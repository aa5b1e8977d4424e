/* SPDX-License-Identifier: MIT */
/*
 * HIP's own profiler: see report.h and records.h. The thread `rtl-hip` looks at the records; nothing is
 * registered with HIP, which would tell later and could not be taken back.
 *
 * - Enable. Before HIP is up that would break it. So the program's first call of HIP (reports.h) first
 *   has HIP initialise itself, then enables, and checks the record of a call of ours.
 * - Links. When a call that submits work has returned, its thread looks for the call's record among
 *   the last, and notes in callers.h what it was within, by the record's number.
 * - Memory. HIP gives nothing back. RTL_SOURCE_MEMORY bounds what it may keep (1G); then it is disabled.
 * - The end. Disable waits for all work of the GPU, and so would HIP's own end while it is enabled. So a
 *   handler of exit, which runs before HIP's, has a helper disable it, for RTL_HSA_EXIT_MS. If that
 *   is not enough, the process ends there with its status.
 *
 * Threads: the program's in calls of HIP; rtl-hip; the helper. Locks: one around the first call; one
 * around a look at the records, which a thread that has waited takes, too.
 */
#include "records.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <rtl/events.h>
#include <rtl/rtl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../common/call_context.h"
#include "../../common/fork_lock.h"
#include "../../common/own_thread.h"
#include "../../common/paused.h"
#include "../../common/reports.h"
#include "../../hip/preload.h"
#include "../../hip/real.h"
#include "agents.h"
#include "callers.h"
#include "captures.h"
#include "interceptor.h"
#include "kernel_table.h"
#include "kernels.h"
#include "report.h"
#include "reported.h"
#include "system_clock.h"

/* How many records back the record of a call that has just returned is looked for: its thread may have
 * been without a processor since. */
#define LOOK_BACK 65536u
/* Records whose work is awaited; more are looked through at the end only. */
#define AWAITED_MAX 262144u
/* How long a record waits for what its call notes. */
#define NOTE_NS      2000000000u
#define MEMORY_BYTES (1ull << 30)

static struct {
	enable_fn *enable;
	disable_fn *disable;
	get_records_fn *get_records;
	int (*hip_init)(unsigned flags);
	int (*get_device)(int *device);
	int (*peek_error)(void), (*last_error)(void);
	uintptr_t image_begin, image_end; /* HIP's, where names of functions are */
	bool wanted;                      /* by hsa_init, for the first call */
	bool enabled;                     /* release when it is checked; acquire by who looks */
	bool disabling, disabled;         /* relaxed; release by the helper, acquire */
	bool over;                        /* relaxed: no more is taken */
	bool hashed;                      /* records have no thread ids */
	bool checked_work;                /* the first kernel was as it should be */
	uint64_t start;
	uint64_t memory_bytes;
	pid_t process;
} profiler;

/* In place of a number of pieces: of a record that nobody wants, or that is wanted if it is noted. */
#define NOT_WANTED    UINT32_MAX
#define ONLY_IF_NOTED (UINT32_MAX - 1)

/* Of who looks at the records. */
static struct {
	pthread_mutex_t lock;
	uint64_t next;     /* records below have been looked at */
	uint64_t *awaited; /* numbers of records whose work has not come, in order */
	uint32_t count;
	uint32_t *seen; /* by record: how much of its work was published */
	uint64_t seen_count;
	bool was_wanted;     /* at the look before */
	uint64_t kept_bytes; /* behind the records, by HIP */
} look = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(look, look.lock);

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(first, first_lock);
static bool first_done; /* release, acquire */
static __thread bool inside __attribute__((tls_model("initial-exec")));

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- which HIP ---- */

static void *find_function(const char *name)
{
	void *found = report_find(name);

	return found ? found : dlsym(RTLD_DEFAULT, name);
}

/* NULL: layout D. */
static const char *other_layout(void)
{
	if (find_function("hipClrProfilerEnable"))
		return "HIP's profiler has layout A (hipClrProfiler...), which is not known here";
	if (find_function("hipProfilerResetExt"))
		return find_function("hipProfilerRegisterChunkCallbackExt")
			       ? "HIP's profiler has layout C (hipProfilerResetExt), which is not "
				 "known "
				 "here"
			       : "HIP's profiler has layout B (flat records), which is not known "
				 "here";
	if (!find_function("hipProfilerEnableExt"))
		return REPORT_ABSENT;
	if (!find_function("hipProfilerDisableExt") || !find_function("hipProfilerGetRecordsExt") ||
	    !find_function("hipProfilerRegisterChunkCallbackExt"))
		return "HIP's profiler has an early form of layout D (no chunk callback), which is "
		       "not "
		       "known here";
	return NULL;
}

static const char *find(void)
{
	const char *other = other_layout();

	if (other)
		return other;
	*(void **)&profiler.enable = find_function("hipProfilerEnableExt");
	*(void **)&profiler.disable = find_function("hipProfilerDisableExt");
	*(void **)&profiler.get_records = find_function("hipProfilerGetRecordsExt");
	*(void **)&profiler.hip_init = report_find("hipInit");
	*(void **)&profiler.get_device = report_find("hipGetDevice");
	*(void **)&profiler.peek_error = report_find("hipPeekAtLastError");
	*(void **)&profiler.last_error = report_find("hipGetLastError");
	if (!profiler.hip_init || !profiler.get_device || !profiler.peek_error ||
	    !profiler.last_error)
		return "no HIP is in the process when HSA begins";
	if (!hip_is_preloaded())
		return "HIP's profiler needs librtl_rocm.so in LD_PRELOAD (rtl trace and rtl env "
		       "do so)";
	if (!hip_find_range(&profiler.image_begin, &profiler.image_end))
		return "HIP's image is not found";
	return NULL;
}

/* Faults of releases that have this layout; which one it is HIP tells only when it is up. */
static const char *doubt(void)
{
	return "releases of HIP with a profiler have known faults with graphs (kernels that are "
	       "missing, "
	       "times of others)";
}

/* ---- records ---- */

static bool is_text_of_hip(const char *text)
{
	return (uintptr_t)text - profiler.image_begin < profiler.image_end - profiler.image_begin;
}

struct slabs {
	const struct hip_record *const *slabs;
	size_t count, size, total;
};

static bool get(struct slabs *slabs)
{
	*slabs = (struct slabs){0};
	return !profiler.get_records(&slabs->slabs, &slabs->count, &slabs->size, &slabs->total) &&
	       slabs->slabs && slabs->size;
}

/* NULL: its slab is gone, or not there yet. */
static const struct hip_record *record_at(const struct slabs *slabs, uint64_t number)
{
	const uint64_t slab = number / slabs->size;

	if (slab >= slabs->count)
		return NULL;
	const struct hip_record *first = __atomic_load_n(&slabs->slabs[slab], __ATOMIC_ACQUIRE);

	return first ? &first[number % slabs->size] : NULL;
}

/* Whether it has been cleared and begun. Acquire: what was written before its name. */
static bool is_begun(const struct hip_record *record)
{
	return record && is_text_of_hip(__atomic_load_n(&record->function, __ATOMIC_ACQUIRE)) &&
	       __atomic_load_n(&record->start_ns, __ATOMIC_RELAXED);
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Whether a function may submit work. */
static bool submits(const char *function)
{
	return strstr(function, "Launch") || starts(function, "hipMemcpy") ||
	       starts(function, "hipMemset") || starts(function, "hipStreamW") ||
	       starts(function, "hipEventRecord") || starts(function, "hipExt");
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
	work->kernel = kernels_find_named(from->kernel);
	for (int i = 0; i < 3; i++) {
		work->workgroup[i] = from->block[i];
		work->grid[i] = from->grid[i] * from->block[i];
	}
	if (from->valid == 1) {
		work->group_bytes = from->group_bytes;
		work->private_bytes = from->private_bytes;
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
	profiler.checked_work = true;
	return NULL;
}

/* A helper's: Disable waits for the GPU. */
static void *disable(void *unused)
{
	uint64_t end;

	(void)unused;
	inside = true; /* what HIP calls is no first call of the program's */
	(void)profiler.disable(&end);
	/* Pairs with the acquire in disable_within. */
	__atomic_store_n(&profiler.disabled, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Once. */
static void disable_apart(void)
{
	if (!__atomic_exchange_n(&profiler.disabling, true, __ATOMIC_RELAXED))
		(void)own_thread_start(disable, NULL);
}

/* Whether it came to its end in that time. */
static bool disable_within(uint32_t ms)
{
	const uint64_t until_ns = monotonic_ns() + ms * 1000000ull;
	bool done;

	disable_apart();
	while (!(done = __atomic_load_n(&profiler.disabled, __ATOMIC_ACQUIRE)) &&
	       monotonic_ns() < until_ns)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	return done;
}

static void give_up(const char *why)
{
	disable_apart();
	__atomic_store_n(&profiler.over, true, __ATOMIC_RELAXED);
	report_refuse(why);
}

/* A piece of a record's work. `first`: the one that the ledger has. */
static void publish(const struct hip_record *record, const struct gpu_work *from, bool first,
		    const struct caller *caller, enum callers_found found)
{
	const bool has_times = from->begin_ns && from->end_ns >= from->begin_ns;
	struct reported work = {
		.op = (enum reported_op)work_op(from->flags),
		.begun_as = REPORTED_DISPATCH,
		.node = work_node(from->flags),
		.begin_ns = has_times ? system_clock_of_hip(from->begin_ns) : 0,
		.end_ns = has_times ? system_clock_of_hip(from->end_ns) : 0,
		.tid = profiler.hashed ? 0 : (uint32_t)record->thread,
	};

	if (work.op >= REPORTED_OPS ||
	    (work.op == REPORTED_BARRIER && interceptor.config.mode != CONFIG_FULL))
		return;
	if (found == CALLERS_FOUND) {
		work.tid = caller->submitter.tid;
		work.in_scope = caller->submitter.in_scope;
		work.scope = caller->submitter.scope;
		work.ends = first && caller->facts.counted && work.op != REPORTED_BARRIER;
	}
	if (work.op == REPORTED_DISPATCH) {
		fill_dispatch(from, &work);
		if (found == CALLERS_FOUND && first && !work.grid[0]) {
			memcpy(work.grid, caller->facts.grid, sizeof(work.grid));
			memcpy(work.workgroup, caller->facts.workgroup, sizeof(work.workgroup));
		}
	} else if (work.op == REPORTED_COPY) {
		work.copy = copy_of(work_copy_kind(from->flags), &work.is_rect);
		work.bytes = from->bytes ? from->bytes : record->size;
		work.dst = from->dst ? from->dst : record->memory[0];
		work.src = work.copy == REPORTED_FILL ? 0
			   : from->src                ? from->src
						      : record->memory[1];
		work.has_addresses = work.src && work.dst;
	}
	if (rtl_enabled(work.op == REPORTED_COPY ? interceptor.copies : interceptor.stream,
			work.op == REPORTED_COPY ? RTL_TRANSFER_END : RTL_TASK_END) &&
	    !reported_leave_out(work.op))
		reported_publish(&work);
}

/* ---- looking ---- */

/* Whether it is what the function is called for. A barrier may come first. */
static bool is_awaited(const char *function, const struct gpu_work *work)
{
	if (strstr(function, "Launch"))
		return work_op(work->flags) == REPORTED_DISPATCH;
	return work_op(work->flags) == REPORTED_COPY ||
	       !(starts(function, "hipMemcpy") || starts(function, "hipMemset"));
}

/* Whether its call may be about to note whose it is. */
static bool is_young(const struct hip_record *record)
{
	return reports.call_ended && !profiler.hashed &&
	       monotonic_ns() - record->start_ns < NOTE_NS;
}

/* Publishes what has come of a record since; whether no more is awaited of it before the end. */
static bool look_at(const struct hip_record *record, uint64_t number, bool last)
{
	const struct gpu_work *work = &record->work;
	uint32_t *seen = &look.seen[number], count = 0, barriers = 0;
	enum callers_found found;
	struct caller caller;
	bool ends, done = false;
	const char *wrong;

	/* Acquire: pairs with HIP's release, the work is complete. */
	if (!(__atomic_load_n(&record->flags, __ATOMIC_ACQUIRE) & RECORD_HAS_WORK))
		return false;
	if (!profiler.checked_work && (wrong = check_work(work))) {
		give_up(wrong);
		return true;
	}
	if (*seen == NOT_WANTED)
		return true;
	found = callers_end(number + 1, 0, &caller, &ends);
	if (found == CALLERS_NONE && !last && is_young(record))
		return false;
	if (*seen == ONLY_IF_NOTED)
		*seen = found == CALLERS_NONE ? NOT_WANTED : 0;
	if (*seen == NOT_WANTED)
		return true;
	for (; work; work = __atomic_load_n(&work->next, __ATOMIC_ACQUIRE)) {
		done |= is_awaited(record->function, work);
		barriers += work_op(work->flags) == REPORTED_BARRIER;
		if (count++ < *seen)
			continue;
		publish(record, work, count == barriers + 1, &caller, found);
		look.kept_bytes += work_op(work->flags) ? 0 : work->args_bytes;
		look.kept_bytes += count > 1 ? sizeof(*work) : 0;
		*seen = count;
	}
	return done && !strstr(record->function, "Graph");
}

/* Those that were awaited before. */
static void look_again(const struct slabs *slabs)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < look.count; i++) {
		const uint64_t number = look.awaited[i];
		const struct hip_record *record = record_at(slabs, number);

		if (record && !look_at(record, number, false))
			look.awaited[kept++] = number;
	}
	look.count = kept;
}

/* Whether work that is submitted now is to be recorded. */
static bool is_wanted(void)
{
	return interceptor_on() && !is_paused() &&
	       (rtl_enabled(interceptor.stream, RTL_TASK_END) ||
		rtl_enabled(interceptor.copies, RTL_TRANSFER_END));
}

/* Those that have come since. One that has not begun yet ends the look: the next is for it. */
static void look_further(const struct slabs *slabs)
{
	const bool wanted = is_wanted(), was_wanted = look.was_wanted;

	look.was_wanted = wanted;
	for (; look.next < slabs->total && look.next < look.seen_count; look.next++) {
		const struct hip_record *record = record_at(slabs, look.next);

		if (!is_begun(record)) {
			if (slabs->total - look.next < slabs->size)
				return;
			continue;
		}
		/* Recording begins or ends between two looks: then whoever calls knows. */
		if (!wanted || !was_wanted)
			look.seen[look.next] = wanted || was_wanted ? ONLY_IF_NOTED : NOT_WANTED;
		if (!look_at(record, look.next, false) && submits(record->function) &&
		    look.count < AWAITED_MAX)
			look.awaited[look.count++] = look.next;
		if (__atomic_load_n(&profiler.over, __ATOMIC_RELAXED))
			return;
	}
}

/* All of them: what came late, or to calls that are not for work. */
static void look_at_all(const struct slabs *slabs)
{
	for (uint64_t number = profiler.start; number < slabs->total && number < look.seen_count;
	     number++) {
		const struct hip_record *record = record_at(slabs, number);

		if (is_begun(record))
			(void)look_at(record, number, true);
		if (__atomic_load_n(&profiler.over, __ATOMIC_RELAXED))
			return;
	}
}

/* HIP has kept as much as it may. */
static void stop_for_memory(uint64_t bytes)
{
	__atomic_store_n(&profiler.over, true, __ATOMIC_RELAXED);
	rtl_log(RTL_LEVEL_WARNING, "hsa",
		"source: HIP's profiler keeps %" PRIu64
		" MiB in the process and is stopped: GPU work is not "
		"traced from here on; RTL_SOURCE_MEMORY allows more",
		bytes >> 20);
	rtl_stream_count_missed(interceptor.stream, "HIP's profiler has used up its memory", 1);
	disable_apart();
}

static void look_once(bool last)
{
	struct slabs slabs;
	uint64_t bytes;

	if (!get(&slabs))
		return;
	if (last) {
		look_at_all(&slabs);
		return;
	}
	look_again(&slabs);
	if (!__atomic_load_n(&profiler.over, __ATOMIC_RELAXED))
		look_further(&slabs);
	bytes = slabs.total * sizeof(struct hip_record) + look.kept_bytes;
	if (bytes > profiler.memory_bytes && !__atomic_load_n(&profiler.over, __ATOMIC_RELAXED))
		stop_for_memory(bytes);
}

/* By rtl-hip. */
static void poll(void)
{
	/* Acquire: pairs with the release in enable. */
	if (!__atomic_load_n(&profiler.enabled, __ATOMIC_ACQUIRE) ||
	    __atomic_load_n(&profiler.over, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&look.lock);
	look_once(false);
	pthread_mutex_unlock(&look.lock);
}

/* ---- calls ---- */

/* The record of the call that this thread has just made; false: it is not found. */
static bool find_own(const char *function, uint64_t *number)
{
	static __thread uint64_t before __attribute__((tls_model("initial-exec")));
	struct slabs slabs;
	uint64_t least;

	if (!get(&slabs))
		return false;
	least = slabs.total > LOOK_BACK ? slabs.total - LOOK_BACK : 0;
	if (least < before)
		least = before;
	if (least < profiler.start)
		least = profiler.start;
	for (*number = slabs.total; *number > least;) {
		const struct hip_record *record = record_at(&slabs, --*number);

		if (is_begun(record) && record->thread == rtl_thread_id() &&
		    !strcmp(record->function, function)) {
			before = *number + 1;
			return true;
		}
	}
	return false;
}

/* What surely makes the GPU work: a launch. Of copies nobody knows before. */
static bool is_launch(const char *function)
{
	return strstr(function, "Launch") && !strstr(function, "HostFunc");
}

/* Launches of modules, of which the record has no grid. */
static void read_sizes(const char *function, const uint64_t *slots, struct caller_facts *facts)
{
	const bool in_blocks = starts(function, "hipModuleLaunch");

	if (!in_blocks && !strstr(function, "ModuleLaunch"))
		return;
	for (int i = 0; i < 3; i++) {
		facts->workgroup[i] = (uint32_t)slots[4 + i];
		facts->grid[i] = (uint32_t)(slots[1 + i] * (in_blocks ? slots[4 + i] : 1));
	}
}

/* What the thread's call is within, for its record. */
static void note_call(const char *function, const uint64_t *slots)
{
	struct caller_facts facts = {.counted = is_launch(function)};
	uint64_t number;

	read_sizes(function, slots, &facts);

	if (!find_own(function, &number))
		return;
	callers_note(number + 1, &facts);
	if (facts.counted)
		reported_begin(REPORTED_DISPATCH, 1);
	if (facts.counted || starts(function, "hipMem"))
		thread_context.work++;
}

static void call_ended(const char *function, const uint64_t *slots, bool succeeded)
{
	if (!__atomic_load_n(&profiler.enabled, __ATOMIC_ACQUIRE) || !succeeded)
		return;
	if (__atomic_load_n(&profiler.over, __ATOMIC_RELAXED)) {
		if (is_launch(function) && !captures_have(thread_context.hip_stream) &&
		    reported_wanted(REPORTED_DISPATCH))
			rtl_stream_count_missed(interceptor.stream,
						"after the end of HIP's profiler", 1);
		return;
	}
	if (starts(function, "hipStreamBeginCapture"))
		captures_note(slots[0], true);
	else if (starts(function, "hipStreamEndCapture"))
		captures_note(slots[0], false);
	if (submits(function) && !profiler.hashed && !captures_have(thread_context.hip_stream) &&
	    reported_wanted(REPORTED_DISPATCH))
		note_call(function, slots);
	/* What has been waited for is recorded before the wait returns. */
	if (report_has_waited(function)) {
		poll();
		reported_help();
	}
}

/* ---- start and end ---- */

/* The process ends: before HIP does, whose end would wait without end. */
static void at_exit(int status, void *user)
{
	bool done;

	(void)user;
	if (getpid() != profiler.process || !__atomic_load_n(&profiler.enabled, __ATOMIC_ACQUIRE))
		return;
	done = disable_within(interceptor.config.exit_timeout_ms);
	pthread_mutex_lock(&look.lock);
	if (!__atomic_load_n(&profiler.over, __ATOMIC_RELAXED))
		look_once(true);
	__atomic_store_n(&profiler.over, true, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&look.lock);
	if (done)
		return;
	rtl_log(RTL_LEVEL_WARNING, "hsa",
		"source: HIP's profiler does not end, as work of the GPU does not: the process "
		"ends without "
		"HIP's own end");
	reported_stop(interceptor.config.exit_timeout_ms);
	reported_abandon("not finished at exit");
	fflush(NULL);
	_exit(status);
}

/* NULL, or what is wrong with the record of a call that was made for this. */
static const char *check_call(void)
{
	const uint64_t before_ns = monotonic_ns();
	int device;

	(void)profiler.get_device(&device);
	const uint64_t after_ns = monotonic_ns();
	struct slabs slabs;

	if (!get(&slabs))
		return "HIP's profiler hands out no records";
	for (uint64_t number = profiler.start; number < slabs.total; number++) {
		const struct hip_record *record = record_at(&slabs, number);

		if (!is_begun(record) || strcmp(record->function, "hipGetDevice") != 0 ||
		    record->start_ns < before_ns || record->start_ns > after_ns)
			continue;
		for (size_t i = 0; i < sizeof(record->zero) / sizeof(*record->zero); i++)
			if (record->zero[i])
				return "HIP's profiler has records of an unknown layout";
		profiler.hashed = record->thread != rtl_thread_id();
		return profiler.peek_error() ? "HIP's profiler changes the program's last error"
					     : NULL;
	}
	return "HIP's profiler has records of an unknown layout";
}

static const char *enable(void)
{
	static char text[96];
	uint64_t start = UINT64_MAX;
	const char *wrong;
	int error;

	error = profiler.enable(&start, 0);
	if (error) {
		snprintf(text, sizeof(text), "HIP refuses to enable its profiler (error %d)",
			 error);
		return text;
	}
	profiler.process = getpid();
	profiler.start = look.next = start;
	wrong = start == UINT64_MAX ? "HIP's profiler does not tell where its records begin"
				    : check_call();
	if (!wrong && on_exit(at_exit, NULL))
		wrong = "there is no memory";
	if (wrong) {
		(void)disable_within(interceptor.config.exit_timeout_ms);
		(void)profiler.last_error(); /* which may be of our making */
		return wrong;
	}
	agents_init();
	/* Acquire by who looks. */
	__atomic_store_n(&profiler.enabled, true, __ATOMIC_RELEASE);
	return NULL;
}

static void first_call(void)
{
	const char *wrong;

	if (find() || profiler.hip_init(0) || !profiler.wanted)
		return;
	wrong = enable();
	if (wrong)
		report_refuse(wrong);
}

static void before_first_call(void)
{
	/* Acquire: pairs with the release below. */
	if (inside || __atomic_load_n(&first_done, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&first_lock);
	inside = true;
	if (!__atomic_load_n(&first_done, __ATOMIC_RELAXED))
		first_call();
	inside = false;
	__atomic_store_n(&first_done, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&first_lock);
}

/* Before there is a first call: whether to wait for it. */
__attribute__((constructor)) static void prepare(void)
{
	const char *source = getenv("RTL_SOURCE");

	if (source && (!strcmp(source, "runtime") || !strcmp(source, "auto")))
		reports.before_first_call = before_first_call;
}

static uint64_t read_memory(void)
{
	static const char units[] = "BKMG";
	const char *text = getenv("RTL_SOURCE_MEMORY"), *unit;
	uint64_t bytes;
	char *end;

	if (!text || !*text)
		return MEMORY_BYTES;
	bytes = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : units;
	if (*text >= '0' && *text <= '9' && unit && (!*end || !end[1]))
		return bytes << 10 * (unit - units);
	rtl_log(RTL_LEVEL_ERROR, "hsa",
		"RTL_SOURCE_MEMORY=%s: must be a size, such as 512M; using 1G", text);
	return MEMORY_BYTES;
}

static bool start(void)
{
	void *seen;

	if (look.seen) /* the runtime begins again */
		return true;
	profiler.memory_bytes = read_memory();
	look.seen_count = profiler.memory_bytes / sizeof(struct hip_record) + 1;
	seen = mmap(NULL, look.seen_count * sizeof(*look.seen), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	look.awaited = calloc(AWAITED_MAX, sizeof(*look.awaited));
	if (seen == MAP_FAILED || !look.awaited)
		return false;
	look.seen = seen;
	if (hip_mode_has_calls())
		reports.call_ended = call_ended;
	reported_poll_by(poll);
	profiler.wanted = true;
	return true;
}

/* Where the process ends by exit, at_exit has been here. */
static void stop(uint32_t timeout_ms)
{
	(void)timeout_ms;
	if (!__atomic_load_n(&profiler.enabled, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&look.lock);
	if (!__atomic_load_n(&profiler.over, __ATOMIC_RELAXED))
		look_once(true);
	pthread_mutex_unlock(&look.lock);
	reported_abandon("calls whose GPU work HIP did not report");
}

static void forked(void)
{
	__atomic_store_n(&profiler.over, true, __ATOMIC_RELAXED);
	reports.call_ended = NULL;
}

const struct report_way report_profiler = {.name = "through its own profiler",
					   .find = find,
					   .doubt = doubt,
					   .start = start,
					   .stop = stop,
					   .forked = forked};
