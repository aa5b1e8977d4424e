/* SPDX-License-Identifier: MIT
 *
 * Each GPU has a file, which is its render node, too: what is allocated of a GPU's or of the system's
 * memory is a part of it, which the thunk maps. A part is never used twice; its pages are given back.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../region.h"
#include "../space.h"
#include "kfd.h"

#define FILE_BYTES (UINT64_C(1) << 46)
#define HUGE_BYTES (UINT64_C(2) << 20)

struct memory {
	struct sg_region region; /* first: see region.h */
	uint32_t gpu, flags;
	uint64_t offset;      /* in the GPU's file; 0: not there */
	uint64_t vram_bytes;  /* what it takes of the GPU's memory */
	char *hidden;         /* where the host has it, if the program cannot reach it */
	bool moved;           /* as sg_space_move() has been told */
};

static struct gpu_memory {
	int fd; /* 0: not made yet */
	uint64_t end;
	uint64_t vram_used;
} gpus[SG_MAX_GPUS];

void kfd_memory_reset(void)
{
	for (uint32_t i = 0; i < SG_MAX_GPUS; i++)
		if (gpus[i].fd)
			close(gpus[i].fd);
	memset(gpus, 0, sizeof(gpus));
	sg_regions_reset();
	sg_space_reset();
}

int kfd_memory_file(uint32_t gpu)
{
	struct gpu_memory *g = &gpus[gpu];

	if (g->fd)
		return g->fd;
	g->fd = kfd_make_file("softgpu-memory", FILE_BYTES);
	if (g->fd < 0)
		g->fd = 0;
	g->end = HUGE_BYTES; /* an offset of 0 means none */
	return g->fd ? g->fd : -1;
}

static bool insert(struct memory *m)
{
	bool done;

	sg_regions_lock();
	done = sg_region_insert(&m->region);
	sg_regions_unlock();
	return done;
}

/* Memory that the program may not reach is mapped once more, for the GPU. */
static bool map_hidden(struct memory *m)
{
	char *p = mmap(NULL, m->region.size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		       kfd_memory_file(m->gpu), (off_t)m->offset);

	if (p == MAP_FAILED)
		return false;
	madvise(p, m->region.size_bytes, MADV_DONTFORK);
	m->hidden = p;
	m->moved = true;
	return sg_space_move(m->region.base, (uintptr_t)p, m->region.size_bytes);
}

static bool take_part(struct memory *m)
{
	struct gpu_memory *g = &gpus[m->gpu];

	if (kfd_memory_file(m->gpu) < 0)
		return false;
	m->offset = g->end;
	g->end += (m->region.size_bytes + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
	if (m->flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM) {
		m->vram_bytes = m->region.size_bytes;
		g->vram_used += m->vram_bytes;
		if (!(m->flags & KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC) && m->region.base)
			return map_hidden(m);
	}
	return true;
}

static void release(struct memory *m)
{
	struct gpu_memory *g = &gpus[m->gpu];

	g->vram_used -= m->vram_bytes;
	if (m->moved)
		sg_space_move(m->region.base, m->region.base, m->region.size_bytes);
	if (m->hidden)
		munmap(m->hidden, m->region.size_bytes);
	if (m->offset)
		fallocate(g->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)m->offset,
			  (off_t)m->region.size_bytes);
	free(m);
}

int kfd_memory_available(uint32_t gpu_id, uint64_t *bytes)
{
	if (kfd_gpu(gpu_id) >= sg_config.gpu_count)
		return EINVAL;
	*bytes = sg_config.vram_bytes - gpus[kfd_gpu(gpu_id)].vram_used;
	return 0;
}

int kfd_memory_alloc(struct kfd_ioctl_alloc_memory_of_gpu_args *args)
{
	const bool is_user = args->flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR;
	struct memory *m;
	bool done = true;

	if (args->flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM &&
	    args->size > sg_config.vram_bytes - gpus[kfd_gpu(args->gpu_id)].vram_used)
		return ENOMEM;
	m = calloc(1, sizeof(*m));
	if (!m)
		return ENOMEM;
	m->region = (struct sg_region){args->va_addr, args->size};
	m->gpu = kfd_gpu(args->gpu_id);
	m->flags = args->flags;
	if (!is_user) {
		done = take_part(m);
	} else if (args->mmap_offset != args->va_addr) {
		m->moved = true;
		done = sg_space_move(args->va_addr, args->mmap_offset, args->size);
	}
	if (!done || !insert(m)) {
		release(m);
		return ENOMEM;
	}
	if (!is_user)
		args->mmap_offset = m->offset;
	args->handle = (uintptr_t)m;
	KFD_TRACE("alloc node %u %llu flags %x -> %#llx", m->vram_bytes ? m->gpu + 1 : 0,
		  args->size, args->flags, args->va_addr);
	return 0;
}

int kfd_memory_free(uint64_t handle)
{
	struct memory *m = (struct memory *)(uintptr_t)handle;

	if (handle == KFD_OWN_PAGES)
		return 0;
	sg_regions_lock();
	sg_region_remove(&m->region);
	sg_regions_unlock();
	release(m);
	return 0;
}

/* What a shared memory handle holds, for another process: whose file, and which part of it. */
enum share_word { SHARE_PID, SHARE_FD, SHARE_OFFSET, SHARE_PAGES };

int kfd_memory_export(struct kfd_ipc_export *args)
{
	const struct memory *m = (struct memory *)(uintptr_t)args->handle;

	if (args->handle == KFD_OWN_PAGES || !m->offset)
		return EINVAL;
	args->share_handle[SHARE_PID] = (uint32_t)getpid();
	args->share_handle[SHARE_FD] = (uint32_t)gpus[m->gpu].fd;
	args->share_handle[SHARE_OFFSET] = (uint32_t)(m->offset / HUGE_BYTES);
	args->share_handle[SHARE_PAGES] = (uint32_t)(m->region.size_bytes / KFD_PAGE_BYTES);
	return 0;
}

/* The thunk would map it from this process's file: it is mapped here, and no offset is told. */
int kfd_memory_import(struct kfd_ipc_import *args)
{
	const uint32_t *words = args->share_handle;
	struct memory *m = calloc(1, sizeof(*m));
	char path[64];
	void *p;
	int fd;

	if (!m)
		return ENOMEM;
	snprintf(path, sizeof(path), "/proc/%u/fd/%u", words[SHARE_PID], words[SHARE_FD]);
	m->region = (struct sg_region){args->va_addr, (size_t)words[SHARE_PAGES] * KFD_PAGE_BYTES};
	m->gpu = kfd_gpu(args->gpu_id);
	fd = open(path, O_RDWR | O_CLOEXEC);
	p = fd < 0 ? MAP_FAILED
		   : mmap((void *)m->region.base, m->region.size_bytes, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_FIXED, fd, (off_t)(words[SHARE_OFFSET] * HUGE_BYTES));
	if (fd >= 0)
		close(fd);
	if (p == MAP_FAILED || !insert(m)) {
		free(m);
		return EINVAL;
	}
	madvise(p, m->region.size_bytes, MADV_DONTFORK);
	args->handle = (uintptr_t)m;
	args->mmap_offset = 0;
	args->flags = KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC |
		      KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE;
	return 0;
}
