/* SPDX-License-Identifier: MIT
 *
 * The front end: a preloaded library that plays the kernel driver. ROCr's thunk, linked to it or a
 * library of its own, opens /dev/kfd and render nodes, reads the topology in /sys, calls libdrm, maps
 * memory: all of that is answered here, so that any ROCr runs unmodified.
 *
 * preload.c has the C library's functions that are replaced, device.c what they reach: opening and the
 * commands (ioctl). sysfs.c, memory.c, queue.c, event.c and drm.c have what the name says.
 *
 * Threads: all functions are for any thread. device.c's lock guards opening and those commands that make
 * or destroy something; memory.c has the lock of the regions, event.c one of its own.
 *
 * A child made by fork that opens the device gets GPUs of its own; it inherits none.
 */
#pragma once

#include <linux/kfd_ioctl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "../config.h"

#define KFD_EXPORT __attribute__((visibility("default")))

#define KFD_PAGE_BYTES     4096u
#define KFD_DOORBELLS      1024u /* of a GPU */
#define KFD_DOORBELL_BYTES (KFD_DOORBELLS * 8u)
#define KFD_FIRST_GPU_ID   1001u /* of node 1 */
#define KFD_RENDER_MINOR   128u  /* of node 1 */
#define KFD_OWN_PAGES      1u    /* handle of what is in the device's file */
#define KFD_GB_ADDR_CONFIG 0x2a114042u

/* With SOFTGPU_TRACE=1: a line on stderr. */
#define KFD_TRACE(...)                                                                             \
	do {                                                                                       \
		if (sg_config.trace_calls)                                                         \
			kfd_trace(__VA_ARGS__);                                                    \
	} while (0)

void kfd_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- device.c: descriptors, or -1 and errno */
int kfd_open_device(void);
int kfd_open_render(unsigned int minor);
int kfd_command(unsigned long request, void *arg);

/* Reads the configuration, once in a process. */
void kfd_load(void);

/* A file of the process's own; its pages are made when they are touched. */
int kfd_make_file(const char *name, uint64_t bytes);

/* Index of a GPU, or at least sg_config.gpu_count. */
static inline uint32_t kfd_gpu(uint32_t gpu_id)
{
	return gpu_id - KFD_FIRST_GPU_ID;
}

/* ---- sysfs.c */

/* Whether the path is of the driver's part of /sys; then it is to be opened by these: a descriptor with
 * its contents, or a folder with as many entries as this one has. -1 and NULL: there is none. */
bool kfd_sysfs_has(const char *path);
int kfd_sysfs_open(const char *path);
const char *kfd_sysfs_folder(const char *path);

/* ---- memory.c: 0 or an errno value */
int kfd_memory_alloc(struct kfd_ioctl_alloc_memory_of_gpu_args *args);
int kfd_memory_free(uint64_t handle);
int kfd_memory_available(uint32_t gpu_id, uint64_t *bytes);

/* The render node of a GPU, from which its memory is mapped. */
int kfd_memory_file(uint32_t gpu);

struct kfd_ipc_export {
	__u64 handle;
	__u32 share_handle[4];
	__u32 gpu_id, flags;
};

struct kfd_ipc_import {
	__u64 handle, va_addr, mmap_offset;
	__u32 share_handle[4];
	__u32 gpu_id, flags;
};

int kfd_memory_export(struct kfd_ipc_export *args);
int kfd_memory_import(struct kfd_ipc_import *args);

/* What is imported is seen from here on; all else is already. */
int kfd_memory_map(uint64_t handle);

/* ---- queue.c: 0 or an errno value */

/* Where a GPU's doorbells are in the device's file. The thunk of 5.2 takes the low 32 bits of what it is
 * told for the place within them. */
static inline uint64_t kfd_doorbell_offset(uint32_t gpu)
{
	return (gpu + UINT64_C(1)) << 32;
}

/* Once for each GPU, before its first queue. */
void kfd_queues_init(uint32_t gpu, void *doorbells);
int kfd_queue_create(struct kfd_ioctl_create_queue_args *args);
int kfd_queue_destroy(uint32_t id);
int kfd_queue_update(const struct kfd_ioctl_update_queue_args *args);

/* ---- event.c: 0 or an errno value */
int kfd_event_create(struct kfd_ioctl_create_event_args *args);
int kfd_event_destroy(uint32_t id);
int kfd_event_reset(uint32_t id);
int kfd_events_wait(struct kfd_ioctl_wait_events_args *args);

/* Ports of the engines. */
void kfd_event_set(uint32_t id);
void kfd_memory_fault(uint32_t node, uint64_t address);
void kfd_hw_exception(uint32_t node);

/* In the child after a fork, before anything else: forget the parent's. */
void kfd_memory_reset(void);
void kfd_queues_reset(void);
void kfd_events_reset(void);
