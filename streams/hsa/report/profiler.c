/* SPDX-License-Identifier: MIT */
/* Finds, enables and disables HIP's own profiler: see README.md and profiler.h. Nothing is registered with HIP, which
 * would tell later and could not be taken back; HIP gives no memory back. Disable waits for all work of the GPU, and so
 * would HIP's own end while it is enabled. So a handler of exit, which runs before HIP's, has a helper disable it, for
 * RTL_HSA_EXIT_MS. If that is not enough, the process ends there with its status.
 *
 * Threads: the program's in calls of HIP; rtl-hip; the helper. Locks: one around the first call; one
 * around a look at the records, which a thread that has waited takes, too. */
#include "profiler.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../common/shared.h"
#include "../../common/threads.h"
#include "../../hip/preload.h"
#include "../../hip/real.h"
#include "agents.h"
#include "interceptor.h"
#include "report.h"
#include "reported.h"

#define NO_THREADS "unknown: what had begun, as records have no threads"
/* HIP may have had nothing to do: what is in the host's memory, it may have copied by itself. */
#define COPIES       "copies without a report of HIP's; some need no GPU"
#define MEMORY_BYTES (1ull << 30)

struct profiler_state profiler;

/* What is of no concern to others. */
static struct {
	enable_fn *enable;
	disable_fn *disable;
	int (*init)(unsigned flags);
	int (*get_device)(int *device);
	int (*peek_error)(void), (*last_error)(void);
	bool wanted;              /* by hsa_init, for the first call */
	bool enabled;             /* release when it is checked; acquire by who looks */
	bool disabling, disabled; /* relaxed; release by the helper, acquire */
	pid_t process;
} hip;

STATIC_LOCK(look_lock); /* of a look at the records */
STATIC_LOCK(first_lock);
static bool first_done; /* release, acquire */
static __thread bool inside __attribute__((tls_model("initial-exec")));

/* ---- which HIP ---- */

static void *find_function(const char *name)
{
	void *found = report_find(name);

	return found ? found : dlsym(RTLD_DEFAULT, name);
}

/* NULL: the layout that is known: with all of these, and none of those that came before. */
static const char *other_layout(void)
{
	if (!find_function("hipProfilerEnableExt") && !find_function("hipClrProfilerEnable"))
		return REPORT_ABSENT;
	if (find_function("hipClrProfilerEnable") || find_function("hipProfilerResetExt") ||
	    !find_function("hipProfilerDisableExt") || !find_function("hipProfilerGetRecordsExt") ||
	    !find_function("hipProfilerRegisterChunkCallbackExt"))
		return "HIP's profiler is of a development version, whose layout is not known here";
	return NULL;
}

static const char *find(void)
{
	const char *other = other_layout();

	if (other)
		return other;
	*(void **)&hip.enable = find_function("hipProfilerEnableExt");
	*(void **)&hip.disable = find_function("hipProfilerDisableExt");
	*(void **)&profiler.get_records = find_function("hipProfilerGetRecordsExt");
	*(void **)&hip.init = report_find("hipInit");
	*(void **)&hip.get_device = report_find("hipGetDevice");
	*(void **)&hip.peek_error = report_find("hipPeekAtLastError");
	*(void **)&hip.last_error = report_find("hipGetLastError");
	if (!hip.init || !hip.get_device || !hip.peek_error || !hip.last_error)
		return "no HIP is in the process when HSA begins";
	if (!hip_is_preloaded())
		return "HIP's profiler needs librtl_rocm.so in LD_PRELOAD (rtl trace and rtl env "
		       "do so)";
	if (!hip_find_range(&profiler.image_begin, &profiler.image_end))
		return "HIP's image is not found";
	return NULL;
}

/* A helper's: Disable waits for the GPU. */
static void *disable(void *unused)
{
	uint64_t end;

	inside = true; /* what HIP calls is no first call of the program's */
	(void)hip.disable(&end);
	/* Pairs with the acquire in disable_within. */
	__atomic_store_n(&hip.disabled, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Once. */
static void disable_apart(void)
{
	if (!__atomic_exchange_n(&hip.disabling, true, __ATOMIC_RELAXED))
		(void)own_thread_start(disable, NULL);
}

/* Whether it came to its end in that time. */
static bool disable_within(uint32_t ms)
{
	const uint64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + ms * 1000000ull;
	bool done;

	disable_apart();
	while (!(done = __atomic_load_n(&hip.disabled, __ATOMIC_ACQUIRE)) &&
	       clock_read_ns(CLOCK_MONOTONIC) < until_ns)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	return done;
}

void profiler_give_up(const char *why)
{
	disable_apart();
	__atomic_store_n(&profiler.over, true, __ATOMIC_RELAXED);
	report_refuse(why);
}

void profiler_stop_for_memory(uint64_t bytes)
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

/* By rtl-hip. */
static void poll(void)
{
	/* Acquire: pairs with the release in enable. */
	if (!__atomic_load_n(&hip.enabled, __ATOMIC_ACQUIRE) || profiler_is_over())
		return;
	/* If another thread is at it, that finds the same. */
	if (pthread_mutex_trylock(&look_lock))
		return;
	look_at_records(reports.call_ended != NULL, false);
	pthread_mutex_unlock(&look_lock);
}

/* ---- calls ---- */

static void call_ended(uint32_t id, const char *function, const uint64_t *slots, bool succeeded)
{
	unsigned kind;

	if (!succeeded || !__atomic_load_n(&hip.enabled, __ATOMIC_ACQUIRE))
		return;
	kind = launches_kind(id, function);
	if (kind & (CALL_SUBMITS | CALL_IS_FOLLOWED))
		launches_note(kind, function, slots);
	/* What has been waited for is recorded before the wait returns. */
	if (kind >= CALL_WAITS && !profiler_is_over()) {
		poll();
		report_await(kind / CALL_WAITS);
	}
}

/* ---- start and end ---- */

/* The process ends: before HIP does, whose end would wait without end. */
static void at_exit(int status, void *user)
{
	bool done;

	if (getpid() != hip.process || !__atomic_load_n(&hip.enabled, __ATOMIC_ACQUIRE))
		return;
	done = disable_within(interceptor.config.exit_timeout_ms);
	pthread_mutex_lock(&look_lock);
	if (!profiler_is_over())
		look_at_records(false, true);
	__atomic_store_n(&profiler.over, true, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&look_lock);
	if (done)
		return;
	rtl_log(RTL_LEVEL_WARNING, "hsa",
		"source: HIP's profiler does not end, as work of the GPU does not: the process "
		"ends without HIP's own end");
	reported_stop(interceptor.config.exit_timeout_ms);
	reported_abandon("not finished at exit", "not finished at exit");
	fflush(NULL);
	_exit(status);
}

/* NULL, or what is wrong with the record of a call that was made for this. */
static const char *check_call(void)
{
	const uint64_t before_ns = clock_read_ns(CLOCK_MONOTONIC);
	int device;

	(void)hip.get_device(&device);
	const uint64_t after_ns = clock_read_ns(CLOCK_MONOTONIC);
	struct slabs slabs;

	if (!profiler_get(&slabs))
		return "HIP's profiler hands out no records";
	for (uint64_t number = profiler.start; number < slabs.total; number++) {
		const struct hip_record *record = record_at(&slabs, number);

		if (!record_is_begun(record) || strcmp(record->function, "hipGetDevice") != 0 ||
		    record->start_ns < before_ns || record->start_ns > after_ns)
			continue;
		for (size_t i = 0; i < sizeof(record->zero) / sizeof(*record->zero); i++)
			if (record->zero[i])
				return "HIP's profiler has records of an unknown layout";
		profiler.hashed = record->thread != rtl_thread_id();
		profiler.endless = !record->end_ns;
		if (profiler.hashed)
			rtl_stream_count_missed(interceptor.stream, NO_THREADS, 1);
		return hip.peek_error() ? "HIP's profiler changes the program's last error" : NULL;
	}
	return "HIP's profiler has records of an unknown layout";
}

static const char *enable(void)
{
	static char text[96];
	uint64_t start = UINT64_MAX;
	const char *wrong;
	int error;

	error = hip.enable(&start, 0);
	if (error) {
		snprintf(text, sizeof(text), "HIP refuses to enable its profiler (error %d)",
			 error);
		return text;
	}
	hip.process = getpid();
	profiler.start = start;
	wrong = start == UINT64_MAX ? "HIP's profiler does not tell where its records begin"
				    : check_call();
	if (!wrong && on_exit(at_exit, NULL))
		wrong = "there is no memory";
	if (wrong) {
		(void)disable_within(interceptor.config.exit_timeout_ms);
		(void)hip.last_error(); /* which may be of our making */
		return wrong;
	}
	agents_init();
	/* Acquire by who looks. */
	__atomic_store_n(&hip.enabled, true, __ATOMIC_RELEASE);
	return NULL;
}

static void first_call(void)
{
	const char *wrong;

	if (find() || hip.init(0) || !hip.wanted)
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
	HOLD_LOCK(&first_lock);
	inside = true;
	if (!__atomic_load_n(&first_done, __ATOMIC_RELAXED))
		first_call();
	inside = false;
	__atomic_store_n(&first_done, true, __ATOMIC_RELEASE);
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
	errno = 0;
	bytes = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : units;
	if (*text >= '0' && *text <= '9' && unit && (!*end || !end[1]) && !errno &&
	    bytes <= UINT64_MAX >> 10 * (unit - units))
		return bytes << 10 * (unit - units);
	rtl_log(RTL_LEVEL_ERROR, "hsa",
		"RTL_SOURCE_MEMORY=%s: must be a size, such as 512M; using 1G", text);
	return MEMORY_BYTES;
}

static bool start(void)
{
	uint64_t records;

	profiler.memory_bytes = read_memory();
	records = profiler.memory_bytes / sizeof(struct hip_record) + 1;
	if (!look_init(records))
		return false;
	reports.call_ended = call_ended;
	hip_follow();
	hip.wanted = true;
	return true;
}

/* Where the process ends by exit, at_exit has been here. */
static void stop(uint32_t timeout_ms)
{
	if (!__atomic_load_n(&hip.enabled, __ATOMIC_ACQUIRE))
		return;
	HOLD_LOCK(&look_lock);
	if (!profiler_is_over())
		look_at_records(false, true);
}

static void forked(void)
{
	__atomic_store_n(&profiler.over, true, __ATOMIC_RELAXED);
	reports.call_ended = NULL;
}

const struct report_way report_profiler = {
	.name = "through its own profiler",
	.find = find,
	/* Of releases with this layout; which it is HIP tells only when it is up. */
	.doubt = "releases of HIP with a profiler have known faults with graphs (kernels that are "
		 "missing, times of others)",
	.start = start,
	.poll = poll,
	.stop = stop,
	.lost = "GPU work that HIP did not report",
	.lost_copies = COPIES,
	.forked = forked};
