/* SPDX-License-Identifier: MIT */
/*
 * roctx: what a program calls in the place of libroctx64 and librocprofiler-sdk-roctx when this
 * library is preloaded. Each function passes on to the library's, if it is there, and returns what
 * that returns; without one it does what the library does when no tool listens.
 *
 * A pushed range is a scope (rtl/scope.h) of its thread: calls of HIP and work on the GPU below it
 * name it as what is around them.
 *
 * Threads: any. The first call finds the functions and registers the stream; then no lock but that
 * of the table of started ranges.
 * Source of the functions' meaning: rocprofiler-sdk-roctx/roctx.h, roctracer/roctx.h.
 */
#include <pthread.h>
#include <rtl/events.h>
#include <rtl/rtl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../common/next.h"
#include "../common/shared.h"
#include "../common/text.h"
#include "../common/threads.h"
#include "array.h"
#include "events/events.h"

#define EXPORT __attribute__((visibility("default")))

/* The functions of its libraries that are ours here. */
#define ROCTX_FUNCTIONS(F)                                                                         \
	F(void, roctxMarkA, (const char *message))                                                 \
	F(int, roctxRangePushA, (const char *message))                                             \
	F(int, roctxRangePop, (void))                                                              \
	F(uint64_t, roctxRangeStartA, (const char *message))                                       \
	F(void, roctxRangeStop, (uint64_t id))                                                     \
	F(int, roctxGetThreadId, (uint64_t * tid))                                                 \
	F(int, roctxProfilerPause, (uint64_t tid))                                                 \
	F(int, roctxProfilerResume, (uint64_t tid))                                                \
	F(int, roctxNameOsThread, (const char *name))                                              \
	F(int, roctxNameHsaAgent, (const char *name, const void *agent))                           \
	F(int, roctxNameHipDevice, (const char *name, int device))                                 \
	F(int, roctxNameHipStream, (const char *name, const void *stream))                         \
	F(uint32_t, roctx_version_major, (void))                                                   \
	F(uint32_t, roctx_version_minor, (void))

#define DECLARE(result, name, parameters) EXPORT result name parameters;
ROCTX_FUNCTIONS(DECLARE)

/* The library's functions; NULL where there is none. */
#define MEMBER(result, name, parameters) result(*name) parameters;
static struct {
	ROCTX_FUNCTIONS(MEMBER)
} next;

static struct rtl_stream *stream = &rtl_stream_none;
static uint64_t range_uid; /* the tracepoint of all ranges: their names are in the events */
static uint64_t last_id;   /* of started ranges without a library; relaxed, only unique */

#define RANGE_NAME_BYTES 1024u /* of a name: what is longer is cut */

struct name {
	const char *text; /* not terminated; "" for NULL */
	uint32_t length;
	bool cut;
};

struct range {
	uint64_t begin_ticks;
	uint64_t instance;
	uint64_t parent; /* instance of what is around it */
	uint64_t parent_uid;
	uint64_t correlation;
	uint64_t id;    /* of a started range */
	uint64_t inner; /* thread_context.inner (common/shared.h) as it was */
	uint32_t scope; /* of a pushed range: to be closed */
	uint32_t begin_tid;
	int32_t level;    /* -1: started */
	uint32_t open;    /* of rtl_open_reserve */
	bool selects;     /* it is one of those that the user wants recorded: common/shared.h */
	bool left_out;    /* by the user's selection: it is only counted */
	bool silent;      /* kept for the selection alone */
	struct name name; /* of a popped range valid until the next push */
};

/* One that is open, with its name. */
struct kept {
	struct range range;
	char name[RANGE_NAME_BYTES];
};

/* ---- ranges that are open, with their names: a stack for each thread of those that were pushed, and a table for the
 * process of those that were started. A stack is freed with its thread. */

struct stack {
	int32_t level;
	uint32_t count, made; /* ARRAY_REFILL */
	struct kept *ranges;
};

static __thread struct stack *self __attribute__((tls_model("initial-exec")));
static pthread_key_t exit_key;

static void free_stack(void *stack_)
{
	struct stack *stack = stack_;

	for (uint32_t i = 0; i < stack->count; i++) /* nobody will end them */
		if (stack->ranges[i].range.selects)
			outside_range_closes();
	free(stack->ranges);
	free(stack);
	if (self == stack)
		self = NULL;
}

static void make_key(void)
{
	(void)pthread_key_create(&exit_key, free_stack);
}

static struct stack *my_stack(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (self)
		return self;
	pthread_once(&once, make_key);
	self = calloc(1, sizeof(*self));
	if (self)
		(void)pthread_setspecific(exit_key, self);
	return self;
}

static void keep_range(struct kept *kept, const struct range *range)
{
	kept->range = *range;
	memcpy(kept->name, range->name.text, range->name.length);
}

/* How many ranges this thread has pushed and not popped, recorded or not. */
static int32_t ranges_level(void)
{
	return self ? self->level : 0;
}

/* One level in. range: to be kept, with its name; NULL: not recorded. False: no memory. */
static bool ranges_push(const struct range *range)
{
	struct stack *stack = my_stack();
	struct kept *kept;

	if (!stack)
		return false;
	stack->level++;
	if (!range)
		return true;
	kept = ARRAY_REFILL(stack->ranges, stack->count, stack->made);
	if (!kept)
		return false;
	keep_range(kept, range);
	kept->range.level = stack->level - 1;
	return true;
}

/* One level out. Returns true if that range is recorded: then *range is it. */
static bool ranges_pop(struct range *range)
{
	struct stack *stack = self;

	if (!stack || !stack->level)
		return false;
	stack->level--;
	if (!stack->count || stack->ranges[stack->count - 1].range.level != stack->level)
		return false;
	*range = stack->ranges[--stack->count].range;
	range->name.text = stack->ranges[stack->count].name;
	return true;
}

struct started {
	struct started *next;
	struct kept kept; /* its memory ends with the name */
};

#define BUCKETS 256u

static struct {
	pthread_mutex_t lock;
	struct started *buckets[BUCKETS];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(table, table.lock);

static struct started **bucket_of(uint64_t id)
{
	return &table.buckets[id * 0x9e3779b97f4a7c15u >> 56];
}

/* Under the lock. */
static struct started *take_out(uint64_t id)
{
	for (struct started **place = bucket_of(id); *place; place = &(*place)->next) {
		struct started *found = *place;

		if (found->kept.range.id != id)
			continue;
		*place = found->next;
		return found;
	}
	return NULL;
}

/* Keeps a started range under its id, in the place of one with the same. False: no memory. */
static bool ranges_start(const struct range *range)
{
	struct started *started = malloc(offsetof(struct started, kept.name) + range->name.length);

	if (!started)
		return false;
	keep_range(&started->kept, range);
	HOLD_LOCK(&table.lock);
	free(take_out(range->id));
	started->next = *bucket_of(range->id);
	/* release: complete in a child that is forked now, too */
	__atomic_store_n(bucket_of(range->id), started, __ATOMIC_RELEASE);
	return true;
}

/* Takes it out; to be freed. NULL: there is none. */
static struct started *ranges_stop(uint64_t id)
{
	HOLD_LOCK(&table.lock);
	struct started *found = take_out(id);

	if (found)
		found->kept.range.name.text = found->kept.name;
	return found;
}

/* ---- start */

static void start(void)
{
	static const char *const libraries[] = {"libroctx64.so", "librocprofiler-sdk-roctx.so",
						NULL};
	const struct rtl_tracepoint_desc desc = {
		.struct_size = sizeof(desc), .kind = "range", .name = "roctx"};

#define FIND(result, name, parameters) *(void **)&next.name = next_function(#name, libraries);
	ROCTX_FUNCTIONS(FIND)
	if (rtl_stream_register(&roctx_stream_info, &stream))
		rtl_log(RTL_LEVEL_ERROR, "roctx", "no room for the stream %s", RTL_STREAM_ROCTX);
	else
		(void)rtl_tracepoint_register(&desc, &range_uid);
}

/* Before anything else in each function. */
static void begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static __thread bool starting __attribute__((tls_model("initial-exec")));

	if (__builtin_expect(starting, 0)) /* a subscriber that is being loaded uses roctx */
		return;
	starting = true;
	pthread_once(&once, start);
	starting = false;
}

/* ---- events */

static struct name name_of(const char *text)
{
	struct name name = {.text = text ? text : ""};
	const size_t length = strnlen(name.text, RANGE_NAME_BYTES + 1);

	name.cut = length > RANGE_NAME_BYTES;
	name.length = name.cut ? RANGE_NAME_BYTES : (uint32_t)length;
	return name;
}

static bool wants_ranges(void)
{
	return ((int)rtl_enabled(stream, RTL_REGION_BEGIN) |
		(int)rtl_enabled(stream, RTL_REGION_END) |
		(int)(stream != &rtl_stream_none && work_wanted())) &&
	       !is_paused();
}

/* What is around, and a number of its own. */
static void open_range(struct range *range, const char *message)
{
	struct rtl_scope around = {.struct_size = sizeof(around)};
	const struct name name = name_of(message);

	*range = (struct range){
		.instance = rtl_unique_id(),
		.begin_tid = rtl_thread_id(),
		.name = name,
		.level = -1,
		.begin_ticks = rtl_ticks(),
		.inner = thread_context.inner,
		.selects = outside_range_opens(name.text, name.length),
		.silent = !wants_ranges(),
	};
	range->left_out = is_outside();
	if (rtl_scope_current(&around))
		return;
	range->parent = thread_context.inner ? thread_context.inner : around.instance;
	range->parent_uid = around.uid;
	range->correlation =
		thread_context.correlation ? thread_context.correlation : around.correlation;
}

/* name_length: how much of the name there is room for. */
static struct rtl_roctx_range *fill(struct rtl_record *record, const struct range *range,
				    uint64_t end_ns, uint32_t name_length)
{
	struct rtl_roctx_range *payload = rtl_record_payload(record);

	record->uid = range_uid;
	record->parent_uid = range->parent_uid;
	record->instance = range->instance;
	record->correlation = range->correlation;
	payload->begin_ns = rtl_ticks_to_ns(range->begin_ticks);
	payload->end_ns = end_ns;
	payload->parent = range->parent;
	payload->id = range->id;
	payload->begin_tid = range->begin_tid;
	payload->level = range->level;
	payload->flags = (range->name.cut || name_length < range->name.length ? RTL_ROCTX_CUT : 0) |
			 (range->level < 0 ? RTL_ROCTX_STARTED : 0);
	payload->reserved = 0;
	payload->name = (struct rtl_text){sizeof(*payload), name_length};
	memcpy(payload + 1, range->name.text, name_length);
	return payload;
}

static uint32_t size_of(uint32_t name_length)
{
	return (uint32_t)sizeof(struct rtl_roctx_range) + name_length;
}

/* Whether it is one event less, as the user's selection leaves it out; `begin`: of the range's two. */
static bool leaves_out(const struct range *range, bool begin)
{
	const uint16_t type = begin ? RTL_REGION_BEGIN : RTL_REGION_END;

	if (range->left_out && rtl_enabled(stream, type))
		rtl_stream_count_left_out(stream, RTL_LEFT_OUT_RANGE, 1);
	return range->left_out || range->silent;
}

static void publish_begin(const struct range *range)
{
	if (leaves_out(range, true))
		return;
	struct rtl_record *record =
		rtl_reserve(stream, RTL_REGION_BEGIN, size_of(range->name.length));

	if (!record)
		return;
	(void)fill(record, range, 0, range->name.length);
	rtl_commit(record);
}

/* What is an event if the process ends before the range does. */
static void keep(struct range *range)
{
	const uint32_t most = RTL_OPEN_PAYLOAD_MAX - size_of(0);
	const uint32_t length = range->name.length < most ? range->name.length : most;
	struct rtl_record *record;

	if (range->left_out || range->silent)
		return;
	record = rtl_open_reserve(stream, RTL_REGION_UNFINISHED, size_of(length), &range->open);
	if (!record)
		return;
	fill(record, range, 0, length)->flags |= RTL_ROCTX_UNFINISHED;
	rtl_open_commit(record);
}

static void publish_end(const struct range *range)
{
	if (leaves_out(range, false))
		return;
	const uint64_t end_ns = rtl_ticks_to_ns(rtl_ticks());
	struct rtl_record *record =
		rtl_enabled(stream, RTL_REGION_END)
			? rtl_reserve(stream, RTL_REGION_END, size_of(range->name.length))
			: NULL;

	if (!record) {
		rtl_open_close(stream, range->open, range->instance);
		return;
	}
	(void)fill(record, range, end_ns, range->name.length);
	rtl_commit_end(record, stream, range->open, range->instance);
}

/* What happens behind it is left out again, if it was its name that was asked for. */
static void end_range(const struct range *range)
{
	publish_end(range);
	if (range->selects)
		outside_range_closes();
}

/* There is no memory to keep it. */
static void lose(const struct range *range)
{
	rtl_open_close(stream, range->open, range->instance);
	rtl_stream_count_missed(stream, "no memory for a range", 1);
	if (range->selects)
		outside_range_closes();
}

/* The program had paused recording since. */
static void publish_pause(uint64_t begin_ticks)
{
	const struct range range = {.begin_ticks = begin_ticks,
				    .instance = rtl_unique_id(),
				    .begin_tid = rtl_thread_id(),
				    .name = name_of("recording paused"),
				    .level = -1};
	struct rtl_record *record = rtl_reserve(stream, RTL_REGION_END, size_of(range.name.length));

	if (!record)
		return;
	fill(record, &range, rtl_ticks_to_ns(rtl_ticks()), range.name.length)->flags =
		RTL_ROCTX_PAUSED;
	rtl_commit(record);
}

static void publish_mark(const struct name *name)
{
	struct rtl_scope around = {.struct_size = sizeof(around)};
	struct rtl_roctx_mark *payload;
	struct rtl_record *record;

	if (!rtl_enabled(stream, RTL_SIGNAL) || is_paused())
		return;
	if (is_outside()) {
		rtl_stream_count_left_out(stream, RTL_LEFT_OUT_RANGE, 1);
		return;
	}
	if (rtl_scope_current(&around))
		around.instance = 0;
	record =
		rtl_reserve_in_scope(stream, RTL_SIGNAL, (uint32_t)sizeof(*payload) + name->length);
	if (!record)
		return;
	payload = rtl_record_payload(record);
	record->uid = range_uid;
	payload->parent = around.instance;
	payload->flags = name->cut ? RTL_ROCTX_CUT : 0;
	payload->reserved = 0;
	payload->name = (struct rtl_text){sizeof(*payload), name->length};
	memcpy(payload + 1, name->text, name->length);
	rtl_commit(record);
}

static void publish_name(enum rtl_roctx_kind kind, uint64_t object, const char *text)
{
	const struct name name = name_of(text);
	struct rtl_roctx_name *payload;
	struct rtl_record *record;

	if (!rtl_enabled(stream, RTL_METADATA))
		return;
	record = rtl_reserve(stream, RTL_METADATA, (uint32_t)sizeof(*payload) + name.length);
	if (!record)
		return;
	payload = rtl_record_payload(record);
	payload->object = object;
	payload->kind = kind;
	payload->flags = name.cut ? RTL_ROCTX_CUT : 0;
	payload->name = (struct rtl_text){sizeof(*payload), name.length};
	memcpy(payload + 1, name.text, name.length);
	rtl_commit(record);
}

/* ---- the functions */

void roctxMarkA(const char *message)
{
	begin();
	const struct name name = name_of(message);

	publish_mark(&name);
	if (next.roctxMarkA)
		next.roctxMarkA(message);
}

int roctxRangePushA(const char *message)
{
	int level;

	begin();
	level = ranges_level();
	if (wants_ranges() || outside_ranges_count()) {
		struct range range;

		open_range(&range, message);
		range.level = level;
		range.scope = rtl_scope_push(range_uid, range.instance, 0);
		keep(&range);
		if (ranges_push(&range)) {
			thread_context.range = range.instance;
			if (range.scope > RTL_SCOPE_DEPTH_MAX)
				thread_context.inner = range.instance;
			publish_begin(&range);
		} else {
			lose(&range);
			rtl_scope_pop(range.scope);
		}
	} else {
		(void)ranges_push(NULL);
	}
	return next.roctxRangePushA ? next.roctxRangePushA(message) : level;
}

int roctxRangePop(void)
{
	struct range range;
	int level;

	begin();
	level = ranges_level() - 1;
	if (ranges_pop(&range)) {
		thread_context.range =
			self->count ? self->ranges[self->count - 1].range.instance : 0;
		thread_context.inner = range.inner;
		rtl_scope_pop(range.scope);
		end_range(&range);
	}
	return next.roctxRangePop ? next.roctxRangePop() : level;
}

uint64_t roctxRangeStartA(const char *message)
{
	uint64_t id;

	begin();
	id = next.roctxRangeStartA ? next.roctxRangeStartA(message)
				   : __atomic_fetch_add(&last_id, 1, __ATOMIC_RELAXED) + 1;
	if (wants_ranges() || outside_ranges_count()) {
		struct range range;

		open_range(&range, message);
		range.id = id;
		keep(&range);
		if (ranges_start(&range))
			publish_begin(&range);
		else
			lose(&range);
	}
	return id;
}

void roctxRangeStop(uint64_t id)
{
	struct started *started;

	begin();
	started = ranges_stop(id);
	if (started)
		end_range(&started->kept.range);
	free(started);
	if (next.roctxRangeStop)
		next.roctxRangeStop(id);
}

int roctxGetThreadId(uint64_t *tid)
{
	begin();
	if (next.roctxGetThreadId)
		return next.roctxGetThreadId(tid);
	*tid = rtl_thread_id();
	return 0;
}

static uint64_t pause_ticks; /* when the program paused recording; 0: it has not; relaxed */

/* Of all threads, whichever tid names: as AMD's tools do. */
int roctxProfilerPause(uint64_t tid)
{
	begin();
	if (!is_paused())
		__atomic_store_n(&pause_ticks, rtl_ticks(), __ATOMIC_RELAXED);
	set_paused(true);
	rtl_log(RTL_LEVEL_INFO, "roctx", "the program pauses recording");
	return next.roctxProfilerPause ? next.roctxProfilerPause(tid) : 0;
}

int roctxProfilerResume(uint64_t tid)
{
	begin();
	set_paused(false);
	const uint64_t ticks = __atomic_exchange_n(&pause_ticks, 0, __ATOMIC_RELAXED);
	if (ticks)
		publish_pause(ticks);
	rtl_log(RTL_LEVEL_INFO, "roctx", "the program resumes recording");
	return next.roctxProfilerResume ? next.roctxProfilerResume(tid) : 0;
}

/* An agent is a struct with its handle in it. */
static uint64_t handle_of(const void *agent)
{
	uint64_t handle = 0;

	if (rtl_enabled(stream, RTL_METADATA))
		(void)text_read_bytes(&handle, (uint64_t)(uintptr_t)agent, sizeof(handle));
	return handle;
}

#define NAME(function, kind, object, parameters, ...)                                              \
	int function parameters                                                                    \
	{                                                                                          \
		begin();                                                                           \
		publish_name(kind, object, name);                                                  \
		return next.function ? next.function(__VA_ARGS__) : 0;                             \
	}
NAME(roctxNameOsThread, RTL_ROCTX_THREAD, rtl_thread_id(), (const char *name), name)
NAME(roctxNameHsaAgent, RTL_ROCTX_AGENT, handle_of(agent), (const char *name, const void *agent),
     name, agent)
NAME(roctxNameHipDevice, RTL_ROCTX_DEVICE, (uint64_t)(int64_t)device,
     (const char *name, int device), name, device)
NAME(roctxNameHipStream, RTL_ROCTX_STREAM, (uint64_t)(uintptr_t)hip_stream,
     (const char *name, const void *hip_stream), name, hip_stream)

#define VERSION(part, number)                                                                      \
	uint32_t roctx_version_##part(void)                                                        \
	{                                                                                          \
		begin();                                                                           \
		return next.roctx_version_##part ? next.roctx_version_##part() : (number);         \
	}
VERSION(major, 4)
VERSION(minor, 1)

/* ---- by name */

void *roctx_ours(const char *name, const void *found)
{
	begin();
#define OURS(result, name, parameters) {#name, (void *)(name), (void *)next.name},
	const struct {
		const char *name;
		void *ours;
		void *theirs;
	} functions[] = {ROCTX_FUNCTIONS(OURS)};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!strcmp(name, functions[i].name))
			return functions[i].theirs == found ? functions[i].ours : NULL;
	return NULL;
}
