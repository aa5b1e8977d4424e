/* SPDX-License-Identifier: MIT
 *
 * Device: opening and closing, the clocks, and what has no meaning without hardware.
 *
 * Threads: any; the lock guards the count of opens. A child made by fork that opens the
 * device gets GPUs of its own; it inherits none.
 */
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "../clock.h"
#include "../port.h"
#include "kmt.h"

struct sg_port sg_port = {
	.rocm_major = 5, .set_event = kmt_event_set, .memory_fault = kmt_memory_fault};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int open_count;
static pid_t owner;

void kmt_trace(const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "softgpu: %s\n", text);
}

bool kmt_is_open(void)
{
	return open_count && owner == getpid();
}

static void forget_parent(void)
{
	kmt_memory_reset();
	kmt_events_reset();
	kmt_queues_reset();
	open_count = 0;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtOpenKFD(void)
{
	HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;

	pthread_mutex_lock(&lock);
	if (open_count && owner != getpid())
		forget_parent();
	if (open_count++) {
		status = HSAKMT_STATUS_KERNEL_ALREADY_OPENED;
	} else {
		sg_config_load();
		owner = getpid();
		if (!kmt_queues_init())
			status = HSAKMT_STATUS_NO_MEMORY;
	}
	pthread_mutex_unlock(&lock);
	KMT_TRACE("open -> %d", status);
	return status;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtCloseKFD(void)
{
	if (!kmt_is_open())
		return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
	pthread_mutex_lock(&lock);
	if (--open_count == 0)
		kmt_queues_fini();
	pthread_mutex_unlock(&lock);
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo *version)
{
	version->KernelInterfaceMajorVersion = 1;
	version->KernelInterfaceMinorVersion = 11;
	return HSAKMT_STATUS_SUCCESS;
}

/* ROCr derives its translation of GPU times from pairs of these. For a GPU the system clock
 * is the first ns of the tick, so that the translation is exact. */
KMT_EXPORT HSAKMT_STATUS hsaKmtGetClockCounters(HSAuint32 node, HsaClockCounters *counters)
{
	uint64_t ns = sg_now_ns(), ticks = node ? sg_clock_ticks(ns) : 0;

	counters->GPUClockCounter = ticks;
	counters->CPUClockCounter = sg_clock_read(CLOCK_MONOTONIC_RAW);
	counters->SystemClockCounter = node ? sg_clock_ns(ticks) : ns;
	counters->SystemClockFrequencyHz = SG_NS_PER_S;
	return HSAKMT_STATUS_SUCCESS;
}

/* ---- nothing to do without hardware */

#define UNUSED __attribute__((unused))

KMT_EXPORT HSAKMT_STATUS hsaKmtSetMemoryPolicy(HSAuint32 node UNUSED, HSAuint32 policy UNUSED,
					       HSAuint32 alternate UNUSED, void *base UNUSED,
					       HSAuint64 size UNUSED)
{
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtSetTrapHandler(HSAuint32 node UNUSED, void *handler UNUSED,
					      HSAuint64 handler_bytes UNUSED, void *buffer UNUSED,
					      HSAuint64 buffer_bytes UNUSED)
{
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtGetXNACKMode(HSAint32 *enable)
{
	*enable = 0;
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtSetXNACKMode(HSAint32 enable)
{
	return enable > 0 ? HSAKMT_STATUS_NOT_SUPPORTED : HSAKMT_STATUS_SUCCESS;
}

/* ---- not there, as with a driver that lacks the debugger's and SVM's parts */

KMT_EXPORT HSAKMT_STATUS hsaKmtRuntimeEnable(void *debug UNUSED, bool setup UNUSED)
{
	return HSAKMT_STATUS_NOT_SUPPORTED;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtRuntimeDisable(void)
{
	return HSAKMT_STATUS_NOT_SUPPORTED;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtGetKernelDebugTrapVersionInfo(HSAuint32 *major UNUSED,
							     HSAuint32 *minor UNUSED)
{
	return HSAKMT_STATUS_NOT_SUPPORTED;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtSVMSetAttr(void *start UNUSED, HSAuint64 size UNUSED,
					  unsigned int count UNUSED, HSA_SVM_ATTRIBUTE *list UNUSED)
{
	return HSAKMT_STATUS_NOT_SUPPORTED;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtSVMGetAttr(void *start UNUSED, HSAuint64 size UNUSED,
					  unsigned int count UNUSED, HSA_SVM_ATTRIBUTE *list UNUSED)
{
	return HSAKMT_STATUS_NOT_SUPPORTED;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtRegisterGraphicsHandleToNodes(HSAuint64 handle UNUSED,
							     HsaGraphicsResourceInfo *info UNUSED,
							     HSAuint64 count UNUSED,
							     HSAuint32 *nodes UNUSED)
{
	return HSAKMT_STATUS_NOT_SUPPORTED;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtGetQueueInfo(HSA_QUEUEID id UNUSED, HsaQueueInfo *info UNUSED)
{
	return HSAKMT_STATUS_NOT_SUPPORTED;
}
