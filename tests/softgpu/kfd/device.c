/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../clock.h"
#include "../port.h"
#include "kfd.h"

#define VERSION_MINOR 11u

/* Commands that linux/kfd_ioctl.h does not have. */
#define IPC_IMPORT 0x80u
#define IPC_EXPORT 0x81u

struct sg_port sg_port = {.set_event = kfd_event_set,
			  .memory_fault = kfd_memory_fault,
			  .hw_exception = kfd_hw_exception};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic pid_t owner; /* whose configuration and queues these are; 0: nobody's */
static int device_fd = -1;

void kfd_trace(const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "softgpu: %s\n", text);
}

int kfd_make_file(const char *name, uint64_t bytes)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd >= 0 && ftruncate(fd, (off_t)bytes)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void forget_parent(void)
{
	pthread_mutex_init(&lock, NULL);
	kfd_memory_reset();
	kfd_events_reset();
	kfd_queues_reset();
	if (device_fd >= 0)
		close(device_fd);
	device_fd = -1;
}

void kfd_load(void)
{
	const pid_t pid = getpid();

	if (owner == pid)
		return;
	if (owner) /* this thread is the only one */
		forget_parent();
	pthread_mutex_lock(&lock);
	if (owner != pid)
		sg_config_load();
	owner = pid;
	pthread_mutex_unlock(&lock);
}

/* Under the lock. The file has a page of registers for each GPU, then their doorbells. */
static int make_device(void)
{
	if (device_fd >= 0)
		return 0;
	device_fd = kfd_make_file("softgpu", kfd_doorbell_offset(SG_MAX_GPUS));
	for (uint32_t i = 0; device_fd >= 0 && i < sg_config.gpu_count; i++) {
		void *doorbells = mmap(NULL, KFD_DOORBELL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
				       device_fd, (off_t)kfd_doorbell_offset(i));

		if (doorbells == MAP_FAILED) {
			close(device_fd);
			device_fd = -1;
			break;
		}
		madvise(doorbells, KFD_DOORBELL_BYTES, MADV_DONTFORK);
		kfd_queues_init(i, doorbells);
	}
	return device_fd < 0 ? -1 : 0;
}

static int duplicate(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

int kfd_open_device(void)
{
	int fd = -1;

	kfd_load();
	pthread_mutex_lock(&lock);
	if (make_device() == 0)
		fd = duplicate(device_fd);
	pthread_mutex_unlock(&lock);
	KFD_TRACE("open -> %d", fd);
	return fd;
}

int kfd_open_render(unsigned int minor)
{
	int fd;

	kfd_load();
	if (minor - KFD_RENDER_MINOR >= sg_config.gpu_count) {
		errno = ENOENT;
		return -1;
	}
	pthread_mutex_lock(&lock);
	fd = kfd_memory_file(minor - KFD_RENDER_MINOR);
	pthread_mutex_unlock(&lock);
	return fd < 0 ? -1 : duplicate(fd);
}

/* ROCr derives its translation of GPU times from pairs of these. For a GPU the system clock
 * is the first ns of the tick, so that the translation is exact. */
static void read_clocks(struct kfd_ioctl_get_clock_counters_args *args)
{
	uint64_t ns = sg_now_ns(), ticks = args->gpu_id ? sg_clock_ticks(ns) : 0;

	args->gpu_clock_counter = ticks;
	args->cpu_clock_counter = sg_clock_read(CLOCK_MONOTONIC_RAW);
	args->system_clock_counter = args->gpu_id ? sg_clock_ns(ticks) : ns;
	args->system_clock_freq = SG_NS_PER_S;
}

/* Where groups' and private memory would be seen; nothing is there. */
static void describe_apertures(struct kfd_ioctl_get_process_apertures_new_args *args)
{
	struct kfd_process_device_apertures *to =
		(void *)(uintptr_t)args->kfd_process_device_apertures_ptr;

	for (uint32_t i = 0; to && i < args->num_of_nodes && i < sg_config.gpu_count; i++)
		to[i] = (struct kfd_process_device_apertures){
			.lds_base = 0x1000000000000,
			.lds_limit = 0x10000ffffffff,
			.scratch_base = 0x2000000000000,
			.scratch_limit = 0x20000ffffffff,
			.gpuvm_base = 0x1000000,
			.gpuvm_limit = 0x7fffffffffff,
			.gpu_id = KFD_FIRST_GPU_ID + i,
		};
	args->num_of_nodes = sg_config.gpu_count;
}

static void describe_tiles(struct kfd_ioctl_get_tile_config_args *args)
{
	args->num_tile_configs = args->num_macro_tile_configs = 0;
	args->gb_addr_config = KFD_GB_ADDR_CONFIG;
	args->num_banks = 2;
	args->num_ranks = 1;
}

static int allocate(struct kfd_ioctl_alloc_memory_of_gpu_args *args)
{
	const uint32_t gpu = kfd_gpu(args->gpu_id);

	if (gpu >= sg_config.gpu_count)
		return EINVAL;
	args->handle = KFD_OWN_PAGES;
	if (args->flags & KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP)
		args->mmap_offset = gpu * KFD_PAGE_BYTES;
	else if (args->flags & KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL)
		args->mmap_offset = kfd_doorbell_offset(gpu);
	else
		return kfd_memory_alloc(args);
	return 0;
}

/* What needs no lock of ours: it may sleep, or is short. False: it is another one. */
static bool run_unlocked(unsigned int command, void *arg, int *err)
{
	switch (command) {
	case _IOC_NR(AMDKFD_IOC_GET_VERSION):
		*(struct kfd_ioctl_get_version_args *)arg =
			(struct kfd_ioctl_get_version_args){1, VERSION_MINOR};
		return true;
	case _IOC_NR(AMDKFD_IOC_GET_CLOCK_COUNTERS):
		read_clocks(arg);
		return true;
	case _IOC_NR(AMDKFD_IOC_CREATE_EVENT):
		*err = kfd_event_create(arg);
		return true;
	case _IOC_NR(AMDKFD_IOC_DESTROY_EVENT):
		*err = kfd_event_destroy(((struct kfd_ioctl_destroy_event_args *)arg)->event_id);
		return true;
	case _IOC_NR(AMDKFD_IOC_SET_EVENT):
		kfd_event_set(((struct kfd_ioctl_set_event_args *)arg)->event_id);
		return true;
	case _IOC_NR(AMDKFD_IOC_RESET_EVENT):
		*err = kfd_event_reset(((struct kfd_ioctl_reset_event_args *)arg)->event_id);
		return true;
	case _IOC_NR(AMDKFD_IOC_WAIT_EVENTS):
		*err = kfd_events_wait(arg);
		return true;
	default:
		return false;
	}
}

/* 0 or an errno value. What is not there is answered as by a driver that lacks it: the debugger, SVM, dmabuf, SMI. */
static int run_locked(unsigned int command, void *arg)
{
	struct kfd_ioctl_map_memory_to_gpu_args *map = arg;
	struct kfd_ioctl_get_available_memory_args *available = arg;

	switch (command) {
	case _IOC_NR(AMDKFD_IOC_CREATE_QUEUE):
		return kfd_queue_create(arg);
	case _IOC_NR(AMDKFD_IOC_DESTROY_QUEUE):
		return kfd_queue_destroy(((struct kfd_ioctl_destroy_queue_args *)arg)->queue_id);
	case _IOC_NR(AMDKFD_IOC_UPDATE_QUEUE):
		return kfd_queue_update(arg);
	case _IOC_NR(AMDKFD_IOC_GET_PROCESS_APERTURES_NEW):
		describe_apertures(arg);
		return 0;
	case _IOC_NR(AMDKFD_IOC_GET_TILE_CONFIG):
		describe_tiles(arg);
		return 0;
	case _IOC_NR(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU):
		return allocate(arg);
	case _IOC_NR(AMDKFD_IOC_FREE_MEMORY_OF_GPU):
		return kfd_memory_free(((struct kfd_ioctl_free_memory_of_gpu_args *)arg)->handle);
	case _IOC_NR(AMDKFD_IOC_MAP_MEMORY_TO_GPU):
		map->n_success = map->n_devices;
		return kfd_memory_map(map->handle);
	case _IOC_NR(AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU): /* of the same layout */
		map->n_success = map->n_devices;
		return 0;
	case _IOC_NR(AMDKFD_IOC_AVAILABLE_MEMORY):
		return kfd_memory_available(available->gpu_id, (uint64_t *)&available->available);
	case _IOC_NR(AMDKFD_IOC_SET_XNACK_MODE):
		((struct kfd_ioctl_set_xnack_mode_args *)arg)->xnack_enabled = 0;
		return 0;
	case IPC_EXPORT:
		return kfd_memory_export(arg);
	case IPC_IMPORT:
		return kfd_memory_import(arg);
	case _IOC_NR(AMDKFD_IOC_SET_MEMORY_POLICY):
	case _IOC_NR(AMDKFD_IOC_SET_SCRATCH_BACKING_VA):
	case _IOC_NR(AMDKFD_IOC_SET_TRAP_HANDLER):
	case _IOC_NR(AMDKFD_IOC_ACQUIRE_VM):
	case _IOC_NR(AMDKFD_IOC_SET_CU_MASK):
	case _IOC_NR(AMDKFD_IOC_ALLOC_QUEUE_GWS):
		return 0;
	default:
		return EINVAL;
	}
}

int kfd_command(unsigned long request, void *arg)
{
	const unsigned int command = _IOC_NR(request);
	int err = 0;

	if (owner != getpid()) {
		errno = EBADF; /* the parent's */
		return -1;
	}
	if (!run_unlocked(command, arg, &err)) {
		pthread_mutex_lock(&lock);
		err = run_locked(command, arg);
		pthread_mutex_unlock(&lock);
	}
	if (!err)
		return 0;
	KFD_TRACE("command %#x -> %s", command, strerrorname_np(err));
	errno = err;
	return -1;
}
