/* SPDX-License-Identifier: MIT */
/* What calls of the program submit, as notes and in the ledger. HIP's records may lack work that was submitted. So how
 * much there is to come is known from the calls: a launch of a graph is what the graph's nodes are.
 *
 * Threads: the program's, when a call of HIP has returned. No lock, but for graphs. */

#include <rtl/events.h>

#include "../../common/shared.h"
#include "interceptor.h"
#include "profiler.h"
#include "report.h"
#include "reported.h"

#define FUNCTIONS_MAX 1024u

#define UNKNOWN_GRAPH "unknown: work of graphs whose nodes are not known"

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

bool launches_may(const char *function)
{
	return strstr(function, "Launch") || starts(function, "hipMemcpy") ||
	       starts(function, "hipMemset") || starts(function, "hipStreamW") ||
	       starts(function, "hipEventRecord") || starts(function, "hipExt");
}

unsigned launches_kind(uint32_t id, const char *function)
{
	static uint8_t kinds[FUNCTIONS_MAX]; /* relaxed: the same whoever finds out */
	unsigned kind = id < FUNCTIONS_MAX ? __atomic_load_n(&kinds[id], __ATOMIC_RELAXED) : 0;

	if (__builtin_expect(kind != 0, 1))
		return kind;
	kind = CALL_IS_KNOWN | (launches_may(function) ? CALL_SUBMITS : 0) |
	       (starts(function, "hipGraph") || strstr(function, "Capture") ? CALL_IS_FOLLOWED
									    : 0) |
	       CALL_WAITS * report_has_waited(function);
	if (id < FUNCTIONS_MAX)
		__atomic_store_n(&kinds[id], (uint8_t)kind, __ATOMIC_RELAXED);
	return kind;
}

/* ---- the call's record ---- */

/* The record of the call that this thread has just made; false: there is none. It lies behind what was there when
 * the thread last looked, however much other threads have called since. */
static bool find_own(const char *function, uint64_t *number)
{
	static __thread uint64_t before __attribute__((tls_model("initial-exec")));
	uint64_t least = before;
	struct slabs slabs;

	if (!profiler_get(&slabs))
		return false;
	before = slabs.total;
	if (least < profiler.start)
		least = profiler.start;
	for (*number = slabs.total; *number > least;) {
		const struct hip_record *record = record_at(&slabs, --*number);

		if (record_is_begun(record) && record->thread == rtl_thread_id() &&
		    !strcmp(record->function, function))
			return true;
	}
	return false;
}

/* ---- how much ---- */

/* Calls that copy or fill: which arguments, from 0, are the bytes, rows, and the hipMemcpyKind, which is 0 from host
 * to host; 0: none. */
static const struct copy_call {
	const char *name; /* also with Async, WithStream, _spt */
	uint8_t size, rows, kind;
} copy_calls[] = {
	{"hipMemcpy", 2, 0, 3},     {"hipMemcpyHtoD", 2, 0, 0}, {"hipMemcpyDtoH", 2, 0, 0},
	{"hipMemcpyDtoD", 2, 0, 0}, {"hipMemcpyPeer", 4, 0, 0}, {"hipMemcpy2D", 4, 5, 6},
	{"hipMemset", 2, 0, 0},     {"hipMemsetD8", 2, 0, 0},   {"hipMemsetD16", 2, 0, 0},
	{"hipMemsetD32", 2, 0, 0},  {"hipMemset2D", 3, 4, 0},
};

/* Whether there is anything to copy for the GPU. Of calls with structs and arrays nobody knows: yes. */
static bool copies_something(const char *function, const uint64_t *slots)
{
	static const char *const ways[] = {"", "Async", "WithStream", "_spt", "Async_spt"};

	for (size_t i = 0; i < sizeof(copy_calls) / sizeof(*copy_calls); i++) {
		const struct copy_call *call = &copy_calls[i];
		const size_t length = strlen(call->name);

		for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++)
			if (starts(function, call->name) && !strcmp(function + length, ways[k]))
				return slots[call->size] && (!call->rows || slots[call->rows]) &&
				       (!call->kind || slots[call->kind]);
	}
	return true;
}

/* How much work the call has submitted; false: that is not known. */
static bool count(const char *function, const uint64_t *slots, uint32_t counts[NOTE_KINDS])
{
	if (starts(function, "hipGraphLaunch"))
		return graphs_find(slots[0], &counts[REPORTED_DISPATCH], &counts[REPORTED_COPY]);
	if (starts(function, "hipMem"))
		counts[REPORTED_COPY] = copies_something(function, slots);
	else if (strstr(function, "LaunchCooperativeKernelMultiDevice"))
		counts[REPORTED_DISPATCH] = (uint32_t)slots[1];
	else if (strstr(function, "Launch") && !strstr(function, "HostFunc"))
		counts[REPORTED_DISPATCH] = 1;
	return true;
}

/* ---- notes ---- */

/* Launches of modules, of which the record has no grid. */
static void read_sizes(const char *function, const uint64_t *slots, struct note *note)
{
	const bool in_blocks = starts(function, "hipModuleLaunch");

	if (!in_blocks && !strstr(function, "ModuleLaunch"))
		return;
	for (int i = 0; i < 3; i++) {
		note->workgroup[i] = (uint16_t)slots[4 + i];
		note->grid[i] = (uint32_t)(slots[1 + i] * (in_blocks ? slots[4 + i] : 1));
	}
}

/* It has begun, unless nobody wants that, or the user's selection leaves it out. */
static void begin(enum reported_op op, uint32_t count, struct note *note)
{
	if (!count || !reported_is_wanted(op))
		return;
	thread_context.work += count;
	if (reported_leave_out(op, count)) {
		note->left_out |= (uint8_t)(1u << op);
		return;
	}
	note->begun[op] = count;
	reported_begin(op, count);
}

/* What the thread's call is within, for its record. */
static void note_call(const char *function, const uint64_t *slots)
{
	uint32_t counts[NOTE_KINDS] = {0};
	struct note note = {.is_known = true};
	uint64_t number;

	if (!find_own(function, &number))
		return;
	note.is_known = count(function, slots, counts);
	if (!note.is_known) {
		rtl_stream_count_missed(interceptor.stream, UNKNOWN_GRAPH, 1);
		thread_context.work++;
	}
	read_sizes(function, slots, &note);
	submitter_fill(&note.submitter);
	for (int op = 0; op < NOTE_KINDS; op++)
		begin(op, note.is_known ? counts[op] : 0, &note);
	if (notes_add(number, &note))
		return;
	for (int op = 0; op < NOTE_KINDS; op++)
		reported_forget(op, note.begun[op], thread_context.hip_stream);
}

/* Captures of streams into graphs that have begun and not ended. Relaxed: the program orders what it does to a
 * stream. */
static uint32_t captures;

/* Whether what goes to the stream of the thread's call is no work yet. HIP is asked only while there is a capture. */
static bool is_captured(void)
{
	int (*ask)(void *stream, int *status);
	int status = 0;

	if (!__atomic_load_n(&captures, __ATOMIC_RELAXED) || !thread_context.hip_stream)
		return false;
	*(void **)&ask = report_find("hipStreamIsCapturing");
	return ask && !ask((void *)(uintptr_t)thread_context.hip_stream, &status) && status;
}

/* What becomes of streams and graphs, as some of these functions tell. */
static void follow(const char *function, const uint64_t *slots)
{
	if (starts(function, "hipStreamBeginCapture"))
		__atomic_fetch_add(&captures, 1, __ATOMIC_RELAXED);
	else if (starts(function, "hipStreamEndCapture"))
		__atomic_fetch_sub(&captures, 1, __ATOMIC_RELAXED);
	else if (starts(function, "hipGraphInstantiate") && slots[0])
		graphs_note(*(const uint64_t *)(uintptr_t)slots[0], slots[1]);
	else if (starts(function, "hipGraphExecDestroy") ||
		 starts(function, "hipGraphNodeSetEnabled"))
		graphs_forget(slots[0]);
}

void launches_note(unsigned kind, const char *function, const uint64_t *slots)
{
	uint32_t counts[NOTE_KINDS] = {0};

	if (kind & CALL_IS_FOLLOWED)
		follow(function, slots);
	if (!(kind & CALL_SUBMITS) || is_captured())
		return;
	if (profiler_is_over()) {
		(void)count(function, slots, counts);
		if (counts[REPORTED_DISPATCH] && reported_is_wanted(REPORTED_DISPATCH))
			rtl_stream_count_missed(interceptor.stream,
						"after the end of HIP's profiler",
						counts[REPORTED_DISPATCH]);
		return;
	}
	if (!reported_is_wanted(REPORTED_DISPATCH) && !reported_is_wanted(REPORTED_COPY))
		return;
	if (!profiler.hashed)
		note_call(function, slots);
	reported_hold_back();
}
