/* SPDX-License-Identifier: MIT */
/* The profiler's functions, and the callback of HIP that feeds the records. */
#include "hip_double.h"

#include "calls.h"
#include "find.h"
#include "names.h"
#include "settings.h"
#include "settle.h"
#include "slabs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* What HIP calls back for. */
enum { DOMAIN_WORK = 2, DOMAIN_CALL = 3 };

/* Of DOMAIN_CALL. */
struct call {
	hip_api_data_t api;
	uint64_t unused[2];
	void (*enter)(uint32_t id, struct call *call);
	void (*exit)(uint32_t id, struct call *call);
};

/* Of DOMAIN_WORK. */
struct work {
	uint32_t domain, kind, op;
	uint64_t correlation; /* the slot and 1; 0: no call */
	uint64_t begin_ns, end_ns;
	int node;
	uint64_t queue;
	union {
		uint64_t bytes;
		const char *kernel;
	};
};
_Static_assert(offsetof(struct work, correlation) == 16 && offsetof(struct work, bytes) == 56,
	       "as HIP has it");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the count */
static unsigned enabled;
static pid_t enabled_pid;
/* HIP's dispatch table has null pointers. Set before the callback is registered. */
static _Atomic bool broken;
/* The calls of this thread are the double's own. */
static _Thread_local bool suppressed __attribute__((tls_model("initial-exec")));

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t thread_number(void)
{
	uint64_t tid = (uint64_t)syscall(SYS_gettid);

	return settings.hashed_tid ? (tid + 1) * 0x9e3779b97f4a7c15ull : tid;
}

/* The shift of an unknown layout. */
static void shift(struct hip_record *record)
{
	memmove((char *)record + 8, record, 128 - 8);
	*(uint64_t *)(void *)record = 1;
}

/* Waits for all work, and until HIP has told of it. */
static void drain(void)
{
	int (*synchronize)(void);
	const bool before = suppressed;

	*(void **)&synchronize = hip_find("hipDeviceSynchronize");
	suppressed = true;
	synchronize();
	suppressed = before;
	settle_reports();
}

static void enter(uint32_t id, struct call *call)
{
	struct hip_record *record = slabs_record(call->api.correlation_id - 1);

	if (id == HIP_API_ID_hipGraphExecDestroy || id == HIP_API_ID_hipGraphDestroy)
		drain();
	calls_see_names(id, &call->api);
	if (record && !settings.shifted)
		calls_fill(record, id, &call->api);
}

/* What another thread does while this one has no processor. */
static void crowd(struct hip_record *like)
{
	for (uint64_t i = 0; i < settings.crowd; i++) {
		struct hip_record *record = slabs_record(slabs_take_slot());

		record->thread_id = 1;
		record->start_ns = record->end_ns = now_ns();
		/* release: as in begin_call */
		__atomic_store_n(&record->api_name, like->api_name, __ATOMIC_RELEASE);
	}
}

static void leave(uint32_t id, struct call *call)
{
	static _Atomic uint64_t launches; /* relaxed: a count */
	struct hip_record *record = slabs_record(call->api.correlation_id - 1);

	if (!record)
		return;
	if (settings.crowd && id == HIP_API_ID_hipLaunchKernel &&
	    atomic_fetch_add_explicit(&launches, 1, memory_order_relaxed) == 9)
		crowd(record);
	if (settings.last_error) {
		int (*set_device)(int);

		*(void **)&set_device = hip_find("hipSetDevice");
		suppressed = true;
		set_device(-1);
		suppressed = false;
	}
	if (settings.shifted)
		((uint64_t *)(void *)record)[5] = now_ns();
	else if (!settings.no_end)
		record->end_ns = now_ns();
}

static int begin_call(uint32_t id, struct call *call)
{
	const char *(*name)(uint32_t);
	void (*volatile null)(void) = NULL;

	if (atomic_load_explicit(&broken, memory_order_relaxed))
		null();
	if (suppressed)
		return 1;
	*(void **)&name = hip_find("hipApiName");
	uint64_t slot = slabs_take_slot();
	struct hip_record *record = slabs_record(slot);
	record->thread_id = thread_number();
	record->start_ns = now_ns();
	/* release: whoever sees the name sees what came before */
	__atomic_store_n(&record->api_name, name ? name(id) : NULL, __ATOMIC_RELEASE);
	if (settings.shifted)
		shift(record);
	call->api.correlation_id = slot + 1;
	call->enter = enter;
	call->exit = leave;
	return 0;
}

/* The kind of a copy, by HIP's number of the command. */
static uint64_t copy_kind(uint32_t command)
{
	static const uint8_t kinds[][2] = {
		{0xf3, 4}, {0xf4, 1}, {0xf5, 7},  {0xf6, 6},
		{0xf7, 3}, {0xf8, 9}, {0xf9, 11}, {0xfa, 10},
	};

	switch (command) {
	case 0x1201:
		return 5;
	case 0x1202:
		return 2;
	case 0x1203:
		return 8;
	case 0x1207:
		return 12;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (command == 0x1100u + kinds[i][0])
			return kinds[i][1];
	}
	return 0;
}

/* Faults of work that is not as it should be. */
static void spoil(struct hip_gpu_op *op)
{
	if (settings.bad_op)
		op->flags |= 7;
	if (settings.bad_node)
		op->flags |= 0xffffull << 16;
	if (settings.bad_times)
		op->end_ns = op->begin_ns - 1000;
	if (settings.bad_name && !(op->flags & 7))
		op->kernel_name = "_Z11not_a_kernelv";
}

/* Faults of work that is missing. */
static bool is_lost(const struct hip_record *record, const struct work *work, bool graph)
{
	static _Atomic uint64_t counts[HIP_OP_BARRIER + 1]; /* relaxed: counts */
	const uint64_t each = work->op == HIP_OP_DISPATCH ? settings.lost_kernel
			      : work->op == HIP_OP_COPY   ? settings.lost_copy
							  : 0;

	if (graph)
		return settings.lost_graph && record->gpu.count;
	return each &&
	       atomic_fetch_add_explicit(&counts[work->op], 1, memory_order_relaxed) % each ==
		       each - 1;
}

static int report(const struct work *work)
{
	uint64_t slot = work->correlation ? work->correlation - 1 : 0;
	struct hip_gpu_op op = {
		.flags = (work->op & 7) | (uint64_t)(work->node & 0xffff) << 16 |
			 (work->queue & 0xffff) << 32,
		.begin_ns = work->begin_ns,
		.end_ns = work->end_ns,
	};

	const struct hip_record *record = slabs_record(slot);
	const bool graph = record && !strncmp(record->api_name, "hipGraphLaunch", 14);

	if (work->op == HIP_OP_DISPATCH) {
		op.kernel_name = work->kernel ? names_mangled(work->kernel) : NULL;
	} else {
		op.bytes = work->bytes;
		op.flags |= copy_kind(work->kind) << 4;
	}
	if (settings.v02 && work->op == HIP_OP_DISPATCH)
		memcpy(op.v02, (uint32_t[]){1024, 64, 32, 16, 48, 1}, sizeof(op.v02));
	spoil(&op);
	if (is_lost(record, work, graph))
		return 0;
	if (!settings.shifted)
		slabs_add_op(slot, &op);
	return 0;
}

static int traced(uint32_t domain, uint32_t id, void *data)
{
	if (domain == DOMAIN_CALL)
		return begin_call(id, data);
	if (domain != DOMAIN_WORK)
		return 1;
	/* NULL asks whether work is reported, and 1 in newer versions. */
	return (uintptr_t)data <= 1 ? 0 : report(data);
}

static bool register_callback(int (*callback)(uint32_t, uint32_t, void *))
{
	void (*function)(int (*)(uint32_t, uint32_t, void *));

	*(void **)&function = hip_find("hipRegisterTracerCallback");
	if (function)
		function(callback);
	return function;
}

/* HIP begins HSA's runtime when it is initialised. */
static bool hip_initialised(void)
{
	enum { ATTRIBUTE_VERSION_MAJOR, NOT_INITIALISED = 0x100b };
	int (*info)(int, void *);
	uint16_t version = 0;

	*(void **)&info = HSA_FIND("hsa_system_get_info");
	return info && info(ATTRIBUTE_VERSION_MAJOR, &version) != NOT_INITIALISED;
}

static void hang(void)
{
	for (;;)
		pause();
}

/* Before HIP's own end, and after the handlers of whoever has enabled us. */
static void at_exit(void)
{
	if (enabled && getpid() == enabled_pid) {
		if (settings.exit_hangs)
			hang();
		drain();
	}
	slabs_end();
}

__attribute__((constructor)) static void loaded(void)
{
	settings_read();
	atexit(at_exit);
}

EXPORT int hipProfilerEnableExt(uint64_t *start_id, uint64_t state);
EXPORT int hipProfilerDisableExt(uint64_t *end_id);
EXPORT int hipProfilerGetRecordsExt(const struct hip_record *const **chunks, size_t *count,
				    size_t *chunk_size, size_t *total);
EXPORT int hipProfilerRegisterChunkCallbackExt(hip_chunk_callback *callback, void *arg);

int hipProfilerEnableExt(uint64_t *start_id, uint64_t state)
{
	if (settings.enable_fails)
		return 801;
	pthread_mutex_lock(&lock);
	if (!hip_initialised())
		atomic_store_explicit(&broken, true, memory_order_relaxed);
	if (!enabled && !register_callback(traced)) {
		pthread_mutex_unlock(&lock);
		return 3; /* hipErrorNotInitialized */
	}
	enabled++;
	enabled_pid = getpid();
	pthread_mutex_unlock(&lock);
	if (start_id && !settings.no_start)
		*start_id = slabs_total();
	return 0;
}

int hipProfilerDisableExt(uint64_t *end_id)
{
	if (settings.disable_hangs)
		hang();
	drain();
	pthread_mutex_lock(&lock);
	if (enabled && !--enabled)
		register_callback(NULL);
	pthread_mutex_unlock(&lock);
	if (end_id)
		*end_id = slabs_total();
	return 0;
}

int hipProfilerGetRecordsExt(const struct hip_record *const **chunks, size_t *count,
			     size_t *chunk_size, size_t *total)
{
	slabs_get(chunks, count, chunk_size, total);
	return 0;
}

int hipProfilerRegisterChunkCallbackExt(hip_chunk_callback *callback, void *arg)
{
	return slabs_add_client(callback, arg);
}
