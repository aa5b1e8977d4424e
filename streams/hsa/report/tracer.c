/* SPDX-License-Identifier: MIT */
/* HIP's callback for tracers (hipRegisterTracerCallback): see report.h. It is called
 *	with ACTIVITY_CALL where a call of HIP begins, with HIP's struct of the call: the number put there is kept with
 *	each command of the call;
 *	with ACTIVITY_WORK and nothing where a command is made: whether it is to be timed and reported;
 *	with ACTIVITY_WORK and WILL_COME where one has been made that will be reported;
 *	with ACTIVITY_WORK and a struct activity where it has ended, before HIP tells anybody.
 * A launched graph is one command and several activities. HIP says WILL_COME from ROCm 7.2.4 on; the first work that
 * a HIP reports shows whether it does.
 *
 * HIP has one, and the program may have a tracer of its own (roctracer), so hipRegisterTracerCallback is ours: the
 * program's is called from here with what HIP tells. A call that both follow has our number in HIP, and the tracer's
 * in what the tracer sees.
 *
 * The struct of a call differs in size between releases of HIP. It ends with two functions that are called unless NULL,
 * and that HIP does not set: a HIP whose size is not known cannot be used.
 *
 * Threads: the program's and HIP's. No locks. Source: prof_protocol.h and hip_prof_str.h of HIP. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../common/shared.h"
#include "../../common/threads.h"
#include "../../hip/preload.h"
#include "agents.h"
#include "interceptor.h"
#include "kernels.h"
#include "report.h"
#include "reported.h"
#include "system_clock.h"

enum { ACTIVITY_WORK = 2, ACTIVITY_CALL = 3 };
#define WILL_COME ((void *)1)

/* Commands, as OpenCL numbers them. */
enum {
	COMMAND_GRAPH = 0x11f1,
	COMMAND_READ = 0x11f3,
	COMMAND_WRITE = 0x11f4,
	COMMAND_READ_IMAGE = 0x11f6,
	COMMAND_WRITE_IMAGE = 0x11f7,
	COMMAND_READ_RECT = 0x1201,
	COMMAND_WRITE_RECT = 0x1202,
	COMMAND_COPY_RECT = 0x1203,
	COMMAND_FILL = 0x1207,
	COMMAND_FILL_IMAGE = 0x1208,
};

struct activity {
	uint32_t domain, kind, op, reserved;
	uint64_t number;
	uint64_t begin_ns, end_ns;
	int32_t node; /* KFD's */
	uint64_t queue;
	union {
		uint64_t bytes;
		const char *kernel;
	};
};
_Static_assert(offsetof(struct activity, number) == 16 && offsetof(struct activity, kernel) == 56,
	       "as HIP has it");

/* The release of HIP whose struct of a call is known: its bytes up to its own times. */
#define KNOWN_MAJOR 7u
#define KNOWN_MINOR 2u
#define CALL_BYTES  1520
/* A variable that must be 0 where graphs are used. Without it HIP, for any tracer, leaves out some of a graph's
 * kernels, and its thread works with what is gone. */
#define GRAPHS_VARIABLE "DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING"

typedef int callback_fn(uint32_t domain, uint32_t id, void *data);
typedef void phase_fn(uint32_t id, void *call);

/* Behind that. */
struct call_end {
	uint64_t time, data;
	phase_fn *enter, *exit;
};

/* Before it: where arguments are, as a C struct has them. */
#define CALL_ARGUMENTS 16

/* What a call's arguments tell of its work. */
enum layout {
	LAYOUT_NOT_ASKED,
	LAYOUT_NONE,
	LAYOUT_COPY,         /* dst, src, bytes */
	LAYOUT_COPY_PITCHED, /* dst, its pitch or device, src */
	LAYOUT_FILL,         /* dst */
	LAYOUT_LAUNCH,       /* function, blocks, threads in a block */
	LAYOUT_LAUNCH_ITEMS, /* function, threads, threads in a block */
	LAYOUT_NO_WORK,      /* it makes commands, which are never submitted */
	LAYOUT_CRASHES,      /* it begins what HIP must not report */
	LAYOUT_DESTROYS,     /* what HIP's thread may need for what it has not reported */
	LAYOUT_DESTROYS_STREAM,
};

/* Longest wait without anything being reported, before something is destroyed. */
#define SETTLE_NS 200000000u

/* Work of a caller's beside what is in the ledger: barriers that nobody wants. HIP reports those of some calls whatever
 * we say, and looks at their stream then: so it may not be gone before. */
#define UNWANTED REPORTED_OPS
_Static_assert(UNWANTED + 1 == CALLERS_OPS, "of the same kinds");

#define CALLS_MAX 2048

/* Calls within one another that the program's tracer follows, too. */
#define FOLLOWED_MAX 4u

enum state { NEW, CHECKING, READY, REFUSED };

static struct {
	void (*set)(callback_fn *function);
	int (*get_version)(int *version);
	const char *(*name)(uint32_t id);
	/* What was checked. Release by who has checked, acquire by all. */
	int state;
	bool graphs_crash;          /* before READY */
	uint8_t layouts[CALLS_MAX]; /* enum layout, by the call's number in HIP; release, acquire */
	uint8_t waits[CALLS_MAX];   /* enum report_wait; written before its layout */
	/* It has been told that something is wanted; it has said WILL_COME. Relaxed: each is set once. */
	bool asked, announces;
	bool is_set;          /* HIP's callback is ours */
	callback_fn *program; /* the program's, or NULL; relaxed: a function by itself */
} tracer;

/* Of the call that the thread is in. */
static __thread struct {
	uint64_t current;          /* the number that HIP puts into commands now; 0: it has none */
	uint64_t number;           /* to be given to the next call; 0: none was taken */
	bool used;                 /* something was submitted under it */
	bool noted;                /* its entry is filled */
	bool wanted[REPORTED_OPS]; /* what was said last of such work */
	bool no_work;              /* of the call: what it makes is not to be reported */
	bool checking;             /* this thread checks; then: its own call has been seen */
	bool seen;
	struct caller_facts facts;
	unsigned followed_count;
	struct followed {
		uint64_t number;
		phase_fn *ours;
		struct call_end end;
	} followed[FOLLOWED_MAX]; /* what the program's tracer has put into them */
} this_call __attribute__((tls_model("initial-exec")));

/* ---- whose callback HIP has ---- */

static int callback(uint32_t domain, uint32_t id, void *data);
STATIC_LOCK(set_lock);

static void set_callback(bool ours)
{
	HOLD_LOCK(&set_lock);
	tracer.is_set = ours;
	tracer.set(ours ? callback : tracer.program);
}

__attribute__((visibility("default"))) void hipRegisterTracerCallback(callback_fn *function);

void hipRegisterTracerCallback(callback_fn *function)
{
	void (*set)(callback_fn * function);

	*(void **)&set = report_find("hipRegisterTracerCallback");
	HOLD_LOCK(&set_lock);
	__atomic_store_n(&tracer.program, function, __ATOMIC_RELAXED);
	if (set && !tracer.is_set)
		set(function);
}

/* ---- which HIP ---- */

#define NOT_ANNOUNCED                                                                              \
	"this HIP 7.2 does not tell tracers which work it will report (that of ROCm 7.2.4 does)"
#define GRAPHS_CRASH                                                                               \
	"HIP 7.2 may crash when graphs are reported: set " GRAPHS_VARIABLE "=0 (as "               \
	"rtl trace, rtl record and rtl env do)"

static bool is_known(uint32_t major, uint32_t minor)
{
	return major == KNOWN_MAJOR && minor == KNOWN_MINOR;
}

static const char *unknown_release(uint32_t major, uint32_t minor)
{
	static char text[160];
	const bool is_older = major < KNOWN_MAJOR || (major == KNOWN_MAJOR && minor < KNOWN_MINOR);

	snprintf(text, sizeof(text), "HIP %u.%u %s, and has no profiler of its own", major, minor,
		 is_older ? "does not tell tracers which work it will report (from 7.2.4 on it "
			    "does)"
			  : "hands tracers data whose layout is not known here (known: 7.2)");
	return text;
}

static bool version_of_file(uint32_t *major, uint32_t *minor)
{
	char path[PATH_MAX];
	const char *number;
	Dl_info info;

	if (!dladdr((void *)tracer.set, &info) || !info.dli_fname ||
	    !realpath(info.dli_fname, path))
		return false;
	number = strstr(path, ".so.");
	return number && sscanf(number, ".so.%u.%u", major, minor) == 2;
}

static const char *find(void)
{
	uint32_t major = 0, minor = 0;

	if (!report_find("hipInit"))
		return "no HIP is in the process when HSA begins";
	*(void **)&tracer.set = report_find("hipRegisterTracerCallback");
	*(void **)&tracer.get_version = report_find("hipRuntimeGetVersion");
	*(void **)&tracer.name = report_find("hipApiName");
	if (!tracer.set || !tracer.get_version || !tracer.name)
		return "HIP before 5.4 does not report the names of kernels";
	return version_of_file(&major, &minor) && !is_known(major, minor)
		       ? unknown_release(major, minor)
		       : NULL;
}

/* Whether it is one of the names in a text, each of which stands between blanks. */
static bool is_among(const char *names, const char *name)
{
	const size_t length = strlen(name);
	const char *at = names;

	while (length && (at = strstr(at + 1, name)))
		if (at[-1] == ' ' && at[length] == ' ')
			return true;
	return false;
}

static enum layout layout_of(const char *name)
{
	static const struct {
		enum layout layout;
		const char *names;
	} known[] = {
		{LAYOUT_COPY,
		 " hipMemcpy hipMemcpyAsync hipMemcpyWithStream hipMemcpyDtoD hipMemcpyDtoDAsync "
		 "hipMemcpyDtoH hipMemcpyDtoHAsync hipMemcpyHtoD hipMemcpyHtoDAsync "},
		{LAYOUT_COPY_PITCHED,
		 " hipMemcpy2D hipMemcpy2DAsync hipMemcpyPeer hipMemcpyPeerAsync "},
		{LAYOUT_FILL, " hipMemset hipMemsetAsync hipMemsetD8 hipMemsetD8Async hipMemsetD16 "
			      "hipMemsetD16Async hipMemsetD32 hipMemsetD32Async "},
		{LAYOUT_LAUNCH, " hipLaunchKernel hipExtLaunchKernel hipLaunchCooperativeKernel "
				"hipModuleLaunchKernel hipModuleLaunchCooperativeKernel "},
		{LAYOUT_LAUNCH_ITEMS, " hipExtModuleLaunchKernel hipHccModuleLaunchKernel "},
		{LAYOUT_DESTROYS_STREAM, " hipStreamDestroy "},
		{LAYOUT_DESTROYS, " hipGraphExecDestroy hipModuleUnload hipDeviceReset "
				  "hipCtxDestroy hipDevicePrimaryCtxReset "},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (is_among(known[i].names, name))
			return known[i].layout;
	if (tracer.graphs_crash &&
	    (!strncmp(name, "hipGraph", 8) || !strncmp(name, "hipStreamBeginCapture", 21)))
		return LAYOUT_CRASHES;
	return !strncmp(name, "hipGraph", 8) && strncmp(name, "hipGraphLaunch", 14) != 0
		       ? LAYOUT_NO_WORK
		       : LAYOUT_NONE;
}

/* At the function's first call, since other tools see that HIP is asked. */
static __attribute__((cold, noinline)) enum layout learn(uint32_t id)
{
	const char *name = tracer.name(id);
	const enum layout layout = layout_of(name);

	tracer.waits[id] = (uint8_t)report_has_waited(name);
	__atomic_store_n(&tracer.layouts[id], (uint8_t)layout, __ATOMIC_RELEASE);
	return layout;
}

/* HIP's own word, within its first call: it is up. NULL, or what is wrong. */
static const char *check(void)
{
	const char *graphs = getenv(GRAPHS_VARIABLE);
	uint32_t major, minor;
	int version = 0;

	this_call.checking = true;
	this_call.seen = false;
	if (tracer.get_version(&version))
		version = 0;
	this_call.checking = false;
	major = (uint32_t)version / 10000000;
	minor = (uint32_t)version / 100000 % 100;
	if (!is_known(major, minor))
		return unknown_release(major, minor);
	if (!this_call.seen)
		return "HIP does not tell of a call that was made for a check";
	/* HIP was started in a way that does not bear the report of graphs. */
	tracer.graphs_crash = !graphs || strcmp(graphs, "0") != 0;
	agents_init();
	return NULL;
}

/* Whether HIP has been checked, by the first thread that comes. Others are not reported meanwhile. */
static __attribute__((cold, noinline)) bool is_checked(uint32_t id)
{
	int state = NEW;
	const char *wrong;

	if (this_call.checking) {
		this_call.seen = !strcmp(tracer.name(id), "hipRuntimeGetVersion");
		return false;
	}
	if (!__atomic_compare_exchange_n(&tracer.state, &state, CHECKING, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_ACQUIRE))
		return state == READY;
	wrong = check();
	if (wrong) {
		set_callback(false);
		report_refuse(wrong);
	}
	/* Pairs with the acquire in is_ready. */
	__atomic_store_n(&tracer.state, wrong ? REFUSED : READY, __ATOMIC_RELEASE);
	return !wrong;
}

static inline bool is_ready(void)
{
	return __builtin_expect(__atomic_load_n(&tracer.state, __ATOMIC_ACQUIRE) == READY, 1);
}

/* ---- calls ---- */

static void read_sizes(const unsigned char *arguments, bool in_blocks, struct caller_facts *facts)
{
	uint32_t sizes[6];

	memcpy(sizes, arguments + 8, sizeof(sizes));
	for (int i = 0; i < 3; i++) {
		facts->workgroup[i] = (uint16_t)sizes[3 + i];
		facts->grid[i] = in_blocks ? sizes[i] * sizes[3 + i] : sizes[i];
	}
}

/* HIP has filled in the arguments. */
static void on_enter(uint32_t id, void *call)
{
	const unsigned char *arguments = (const unsigned char *)call + CALL_ARGUMENTS;
	const enum layout layout = tracer.layouts[id];
	struct caller_facts *facts = &this_call.facts;

	if (layout == LAYOUT_LAUNCH || layout == LAYOUT_LAUNCH_ITEMS) {
		read_sizes(arguments, layout == LAYOUT_LAUNCH, facts);
		return;
	}
	memcpy(&facts->dst, arguments, sizeof(facts->dst));
	if (layout == LAYOUT_FILL)
		return;
	memcpy(&facts->src, arguments + (layout == LAYOUT_COPY ? 8 : 16), sizeof(facts->src));
	if (layout == LAYOUT_COPY)
		memcpy(&facts->bytes, arguments + 16, sizeof(facts->bytes));
	facts->has_addresses = true;
}

/* HIP forgets the number then, also that of a call around this one. */
static void on_leave(uint32_t id, void *call)
{
	/* The struct has their number since on_enter_followed. */
	if (*(uint64_t *)call < CALLERS_FIRST) {
		phase_fn *const leave = this_call.followed[--this_call.followed_count].end.exit;

		if (leave)
			leave(id, call);
	}
	this_call.current = 0;
	this_call.no_work = false;
	if (id < CALLS_MAX)
		report_await(tracer.waits[id]);
}

/* The same where the program's tracer follows, too. */
static void on_enter_followed(uint32_t id, void *call)
{
	const struct followed *theirs = &this_call.followed[this_call.followed_count - 1];

	if (theirs->ours)
		theirs->ours(id, call);
	memcpy(call, &theirs->number, sizeof(theirs->number));
	if (theirs->end.enter)
		theirs->end.enter(id, call);
}

static __attribute__((cold, noinline)) int give_up(const char *why)
{
	set_callback(false);
	/* Relaxed: who has seen another state goes on with what HIP still tells. */
	__atomic_store_n(&tracer.state, REFUSED, __ATOMIC_RELAXED);
	report_refuse(why);
	return 1;
}

/* Whether calls need no number, as nobody wants their work. */
static inline bool rests(void)
{
	return !reported_is_wanted(REPORTED_DISPATCH) && !reported_is_wanted(REPORTED_COPY) &&
	       !reported_is_wanted(REPORTED_BARRIER);
}

/* 0: HIP is to keep the call's number. Followed: by the program's tracer, whose number and functions are in *call. */
static inline int on_call(uint32_t id, unsigned char *call, bool followed)
{
	struct call_end *end;
	enum layout layout;

	if (!is_ready() && !is_checked(id))
		return !followed;
	layout = id < CALLS_MAX ? __atomic_load_n(&tracer.layouts[id], __ATOMIC_ACQUIRE)
				: LAYOUT_NONE;
	if (__builtin_expect(layout == LAYOUT_NOT_ASKED, 0))
		layout = learn(id);
	if (__builtin_expect(layout >= LAYOUT_CRASHES, 0)) {
		if (layout == LAYOUT_CRASHES)
			return give_up(GRAPHS_CRASH) && !followed; /* such are about to be used */
		/* HIP lets a stream be destroyed while its own thread has still to report what ran there, and
		 * then that thread works with what is gone. */
		reported_settle(layout == LAYOUT_DESTROYS || rests(), SETTLE_NS);
	}
	this_call.no_work = layout == LAYOUT_NO_WORK;
	if (rests() || (followed && this_call.followed_count == FOLLOWED_MAX)) {
		if (followed)
			this_call.current = 0; /* HIP has theirs */
		return !followed;
	}
	if (this_call.used || !this_call.number) {
		this_call.number = callers_take();
		this_call.used = this_call.noted = false;
	}
	this_call.facts = (struct caller_facts){0};
	this_call.current = this_call.number;
	end = (struct call_end *)(void *)(call + CALL_BYTES);
	/* Its arguments tell of work. */
	phase_fn *const enter = layout > LAYOUT_NONE && layout < LAYOUT_NO_WORK ? on_enter : NULL;

	if (followed) {
		memcpy(&this_call.facts.theirs, call, sizeof(this_call.facts.theirs));
		this_call.followed[this_call.followed_count++] =
			(struct followed){this_call.facts.theirs, enter, *end};
	}
	memcpy(call, &this_call.number, sizeof(this_call.number));
	end->enter = followed ? on_enter_followed : enter;
	end->exit = on_leave;
	return 0;
}

/* ---- work ---- */

/* 0: the command that is being made is to be timed and reported. Followed: the program's tracer wants that. */
static inline int on_question(uint32_t op, bool followed)
{
	if (!is_ready() || op >= REPORTED_OPS)
		return !followed;
	this_call.wanted[op] = !this_call.no_work && reported_is_wanted((enum reported_op)op);
	if (this_call.wanted[op]) {
		if (__builtin_expect(!__atomic_load_n(&tracer.asked, __ATOMIC_RELAXED), 0))
			__atomic_store_n(&tracer.asked, true, __ATOMIC_RELAXED);
		reported_hold_back();
	}
	return !followed && !this_call.wanted[op] && (op != REPORTED_BARRIER || this_call.no_work);
}

/* The entry of the call's number is filled. */
static void note(void)
{
	if (!this_call.current || this_call.noted)
		return;
	this_call.facts.stream = thread_context.hip_stream;
	this_call.facts.is_behind = reported_is_behind();
	this_call.facts.has_dispatches =
		reported_is_wanted(REPORTED_DISPATCH) && !reported_leave_out(REPORTED_DISPATCH, 0);
	callers_note(this_call.number, &this_call.facts);
	this_call.noted = true;
}

/* A command has been made that will be reported. */
static inline int on_command(uint32_t op)
{
	if (__builtin_expect(!__atomic_load_n(&tracer.announces, __ATOMIC_RELAXED), 0))
		__atomic_store_n(&tracer.announces, true, __ATOMIC_RELAXED);
	/* HIP times some for events of the program's, whatever we say. */
	if (!is_ready() || op >= REPORTED_OPS)
		return 0;
	this_call.used = true;
	const bool wanted = this_call.wanted[op] && !reported_leave_out((enum reported_op)op, 1);

	note();
	if (!wanted && (op != REPORTED_BARRIER || this_call.no_work))
		return 0;
	callers_begin(this_call.current, wanted ? op : UNWANTED);
	if (!wanted) {
		reported_count_unwanted(
			this_call.current ? thread_context.hip_stream : REPORTED_NO_STREAM, false);
		return 0;
	}
	reported_begin((enum reported_op)op, 1);
	if (op != REPORTED_BARRIER)
		thread_context.work++;
	return 0;
}

static enum reported_copy copy_of(uint32_t kind)
{
	if (kind == COMMAND_READ || kind == COMMAND_READ_RECT || kind == COMMAND_READ_IMAGE)
		return REPORTED_READ;
	if (kind == COMMAND_WRITE || kind == COMMAND_WRITE_RECT || kind == COMMAND_WRITE_IMAGE)
		return REPORTED_WRITE;
	return kind == COMMAND_FILL || kind == COMMAND_FILL_IMAGE ? REPORTED_FILL : REPORTED_INNER;
}

/* What the call that has submitted it tells. */
static void add_caller(const struct activity *activity, const struct caller *caller,
		       struct reported *work)
{
	const struct caller_facts *facts = &caller->facts;

	work->submitter = caller->submitter;
	if (work->op == REPORTED_COPY) {
		work->copy.src = facts->src;
		work->copy.dst = facts->dst;
		work->has_addresses = facts->has_addresses;
		work->copy.bytes = facts->bytes;
	} else if (work->op == REPORTED_DISPATCH && activity->kind != COMMAND_GRAPH) {
		memcpy(work->dispatch.grid, facts->grid, sizeof(facts->grid));
		memcpy(work->dispatch.workgroup, facts->workgroup, sizeof(facts->workgroup));
	}
}

static void end_unwanted(uint64_t number)
{
	struct caller caller;
	bool ends;
	const bool found = callers_end(number, UNWANTED, &caller, &ends) == CALLERS_FOUND;

	if (ends)
		reported_count_unwanted(found ? caller.facts.stream : REPORTED_NO_STREAM, true);
}

/* Its number becomes that of the program's tracer; 0: that is not known. */
static void on_activity(struct activity *activity)
{
	struct reported work = {
		.op = (enum reported_op)activity->op,
		.node = (uint32_t)activity->node,
		.times = {system_clock_of_hip(activity->begin_ns),
			  system_clock_of_hip(activity->end_ns)},
	};
	enum callers_found found;
	struct caller caller;

	if (!is_ready() || activity->op >= REPORTED_OPS)
		return;
	if (__builtin_expect(!__atomic_load_n(&tracer.announces, __ATOMIC_RELAXED), 0) &&
	    __atomic_load_n(&tracer.asked, __ATOMIC_RELAXED)) {
		(void)give_up(NOT_ANNOUNCED);
		return;
	}
	/* HIP 7.2 confuses the end of some copies with that of the barrier before them. */
	if (work.times.end_ns < work.times.begin_ns)
		work.times = (struct work_times){0};
	found = callers_end(activity->number, activity->op, &caller, &work.ends);
	if (!work.ends && work.op == REPORTED_BARRIER)
		end_unwanted(activity->number);
	if (activity->number >= CALLERS_FIRST)
		activity->number = found == CALLERS_FOUND ? caller.facts.theirs : 0;
	/* What was not to be reported, and is timed for an event of the program's; not a graph's further parts. */
	if (!work.ends && (found == CALLERS_NONE || work.op != REPORTED_DISPATCH ||
			   (found == CALLERS_FOUND && !caller.facts.has_dispatches)))
		return;
	if (found == CALLERS_FOUND)
		add_caller(activity, &caller, &work);
	if (work.op == REPORTED_DISPATCH) {
		work.dispatch.kernel = kernels_find_named(activity->kernel);
	} else if (work.op == REPORTED_COPY) {
		work.how = copy_of(activity->kind);
		work.is_rect =
			activity->kind >= COMMAND_READ_RECT && activity->kind <= COMMAND_COPY_RECT;
		/* HIP 7.2 does not tell that of some copies in pinned memory. */
		if (activity->bytes)
			work.copy.bytes = activity->bytes;
		/* HIP tells as its begin that of the barrier before it. */
		if (work.how == REPORTED_READ && found == CALLERS_FOUND && caller.facts.is_behind)
			work.times = (struct work_times){0};
	}
	reported_publish(&work);
}

static int callback(uint32_t domain, uint32_t id, void *data)
{
	callback_fn *const program =
		this_call.checking ? NULL : __atomic_load_n(&tracer.program, __ATOMIC_RELAXED);
	struct activity *ended = domain == ACTIVITY_WORK && data && data != WILL_COME ? data : NULL;
	const uint64_t number = ended ? ended->number : 0;
	bool followed;

	if (ended)
		on_activity(ended);
	followed = program && !program(domain, id, data);
	if (ended)
		ended->number = number; /* HIP reports the next kernel of a graph with it */
	else if (domain == ACTIVITY_WORK)
		return data ? on_command(id) : on_question(id, followed);
	else if (domain == ACTIVITY_CALL && data)
		return on_call(id, data, followed);
	return !followed;
}

/* ---- start and end ---- */

static bool start(void)
{
	/* What was checked holds: it is the same HIP. */
	set_callback(true);
	if (!hip_is_preloaded())
		rtl_log(RTL_LEVEL_WARNING, "hsa",
			"source: runtime: rtl is not preloaded, and the program's profiler may "
			"take HIP's callback away, or get nothing");
	return true;
}

static void stop(uint32_t timeout_ms)
{
	const uint64_t until_ns = rtl_clock_ns() + timeout_ms * 1000000ull;

	while (is_ready() && reported_under_way() && rtl_clock_ns() < until_ns)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	set_callback(false);
	if (__atomic_load_n(&tracer.state, __ATOMIC_RELAXED) == NEW)
		report_refuse("HIP has told of no call");
}

static void forked(void)
{
	set_callback(false);
}

const struct report_way report_tracer = {
	.name = "through its callback for tracers",
	.find = find,
	/* A stream's work may be under way when it is gone: of a thread that ends
					  * (hipStreamPerThread), and where HIP reports nothing for SETTLE_NS. */
	.doubt = "HIP 7.2 may crash where streams are destroyed while it "
		 "has still to report what ran on them",
	.start = start,
	.stop = stop,
	.lost = "not finished at exit",
	.lost_copies = "not finished at exit",
	.forked = forked};
