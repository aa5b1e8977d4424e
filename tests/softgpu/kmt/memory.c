/* SPDX-License-Identifier: MIT
 *
 * Memory: allocations, registrations and mappings. All of it is host memory; VRAM that
 * another process may be handed (hipIpc*) is in a memfd.
 *
 * Threads: any; under the lock of the regions.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../region.h"
#include "kmt.h"

#define HUGE_BYTES (2u << 20)

struct memory {
	struct sg_region region; /* first: see region.h */
	HsaMemFlags flags;
	uint32_t node, type;
	uint32_t registrations;
	uint32_t mapped_count;
	uint32_t mapped[SG_MAX_GPUS + 1];
	int fd; /* of what can be shared, or -1 */
	void *user;
};

static uint64_t vram_used[SG_MAX_GPUS + 1];

void kmt_memory_reset(void)
{
	sg_regions_reset();
	memset(vram_used, 0, sizeof(vram_used));
}

void *kmt_pages_map(size_t size, size_t align, int fd)
{
	char *p = mmap(NULL, size + align, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *aligned;

	if (p == MAP_FAILED)
		return NULL;
	aligned = (char *)(((uintptr_t)p + align - 1) & ~(uintptr_t)(align - 1));
	if (fd >= 0 && mmap(aligned, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
			       MAP_FAILED) {
		munmap(p, size + align);
		return NULL;
	}
	if (aligned > p)
		munmap(p, (size_t)(aligned - p));
	munmap(aligned + size, align - (size_t)(aligned - p));
	madvise(aligned, size, MADV_DONTFORK);
	return aligned;
}

/* The functions down to memory_remove() are called under the lock. */
static struct memory *memory_at(const void *p)
{
	return (struct memory *)sg_region_find((uintptr_t)p);
}

static struct memory *memory_starting_at(const void *p, uint32_t type)
{
	struct memory *m = memory_at(p);

	return m && m->region.base == (uintptr_t)p && m->type == type ? m : NULL;
}

static struct memory *memory_insert(void *base, size_t size, HsaMemFlags flags, uint32_t node,
				    uint32_t type)
{
	struct memory *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->region = (struct sg_region){(uintptr_t)base, size};
	m->flags = flags;
	m->node = node;
	m->type = type;
	m->registrations = 1;
	m->fd = -1;
	if (!sg_region_insert(&m->region)) {
		free(m);
		return NULL;
	}
	return m;
}

static void memory_remove(struct memory *m)
{
	sg_region_remove(&m->region);
	if (m->fd >= 0)
		close(m->fd);
	free(m);
}

/* ROCr's blocks of VRAM are this large; what is smaller is never shared. */
static int shareable_file(uint32_t node, size_t size)
{
	int fd = node && size >= HUGE_BYTES ? memfd_create("softgpu", MFD_CLOEXEC) : -1;

	if (fd >= 0 && ftruncate(fd, (off_t)size)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtAllocMemory(HSAuint32 node, HSAuint64 size, HsaMemFlags flags,
					   void **out)
{
	struct memory *m = NULL;
	void *p;
	int fd;

	size = (size + KMT_PAGE_BYTES - 1) & ~(HSAuint64)(KMT_PAGE_BYTES - 1);
	if (!size || node > sg_config.gpu_count)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (flags.ui32.Scratch) /* address space only */
		node = 0;
	fd = shareable_file(node, size);
	p = kmt_pages_map(size, size >= HUGE_BYTES ? HUGE_BYTES : KMT_PAGE_BYTES, fd);
	sg_regions_lock();
	if (p && (!node || vram_used[node] + size <= sg_config.vram_bytes))
		m = memory_insert(p, size, flags, node, HSA_POINTER_ALLOCATED);
	if (m) {
		m->fd = fd;
		vram_used[node] += size;
	}
	sg_regions_unlock();
	if (!m) {
		if (p)
			munmap(p, size);
		if (fd >= 0)
			close(fd);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	KMT_TRACE("alloc node %u %llu flags %x -> %p", node, (unsigned long long)size, flags.Value,
		  p);
	*out = p;
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtFreeMemory(void *p, HSAuint64 size)
{
	struct memory *m;

	sg_regions_lock();
	m = memory_starting_at(p, HSA_POINTER_ALLOCATED);
	if (m) {
		size = m->region.size_bytes;
		vram_used[m->node] -= size;
		memory_remove(m);
	}
	sg_regions_unlock();
	if (!m) {
		KMT_TRACE("free of unknown %p", p);
		return HSAKMT_STATUS_ERROR;
	}
	munmap(p, size);
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtRegisterMemoryWithFlags(void *p, HSAuint64 size, HsaMemFlags flags)
{
	HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;
	struct memory *m;

	sg_regions_lock();
	m = memory_at(p);
	if (m && (m->type == HSA_POINTER_ALLOCATED ||
		  (m->type == HSA_POINTER_REGISTERED_USER && m->region.base == (uintptr_t)p &&
		   m->region.size_bytes == size)))
		m->registrations++;
	else if (!memory_insert(p, size, flags, 0, HSA_POINTER_REGISTERED_USER))
		status = HSAKMT_STATUS_NO_MEMORY;
	sg_regions_unlock();
	return status;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtRegisterMemory(void *p, HSAuint64 size)
{
	HsaMemFlags flags = {.Value = 0};

	flags.ui32.CoarseGrain = 1;
	return hsaKmtRegisterMemoryWithFlags(p, size, flags);
}

KMT_EXPORT HSAKMT_STATUS hsaKmtRegisterMemoryToNodes(void *p, HSAuint64 size,
						     HSAuint64 count __attribute__((unused)),
						     HSAuint32 *nodes __attribute__((unused)))
{
	return hsaKmtRegisterMemory(p, size);
}

KMT_EXPORT HSAKMT_STATUS hsaKmtDeregisterMemory(void *p)
{
	HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;
	struct memory *m;

	sg_regions_lock();
	m = memory_at(p);
	if (!m) {
		status = HSAKMT_STATUS_MEMORY_NOT_REGISTERED;
	} else if (m->registrations > 1) {
		m->registrations--;
	} else if (m->type == HSA_POINTER_REGISTERED_SHARED) {
		munmap((void *)m->region.base, m->region.size_bytes);
		memory_remove(m);
	} else if (m->type == HSA_POINTER_REGISTERED_USER) {
		memory_remove(m);
	}
	sg_regions_unlock();
	return status;
}

static void note_mapped(struct memory *m, uint32_t node)
{
	for (uint32_t i = 0; i < m->mapped_count; i++)
		if (m->mapped[i] == node)
			return;
	if (m->mapped_count < sizeof(m->mapped) / sizeof(*m->mapped))
		m->mapped[m->mapped_count++] = node;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtMapMemoryToGPUNodes(void *p, HSAuint64 size __attribute__((unused)),
						   HSAuint64 *alternate,
						   HsaMemMapFlags flags __attribute__((unused)),
						   HSAuint64 count, HSAuint32 *nodes)
{
	struct memory *m;

	if (alternate)
		*alternate = (uintptr_t)p;
	sg_regions_lock();
	m = memory_at(p);
	for (uint32_t i = 0; m && i < count; i++)
		note_mapped(m, nodes[i]);
	sg_regions_unlock();
	return m ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_ERROR;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtMapMemoryToGPU(void *p, HSAuint64 size, HSAuint64 *alternate)
{
	HsaMemMapFlags flags = {.Value = 0};
	HSAuint32 nodes[SG_MAX_GPUS];

	for (uint32_t i = 0; i < sg_config.gpu_count; i++)
		nodes[i] = i + 1;
	return hsaKmtMapMemoryToGPUNodes(p, size, alternate, flags, sg_config.gpu_count, nodes);
}

KMT_EXPORT HSAKMT_STATUS hsaKmtUnmapMemoryToGPU(void *p)
{
	struct memory *m;

	sg_regions_lock();
	m = memory_at(p);
	if (m && m->region.base == (uintptr_t)p)
		m->mapped_count = 0;
	sg_regions_unlock();
	return HSAKMT_STATUS_SUCCESS;
}

/* What a shared memory handle holds, as ROCr passes it on. ROCr keeps the offset of a
 * fragment in the low bits of word 6, which blocks of 2 MiB leave free. */
#define SHARE_MAGIC 0x73677075u

enum share_word { SHARE_IS_MAGIC, SHARE_PID, SHARE_FD, SHARE_NODE, SHARE_PAGES = 6 };

KMT_EXPORT HSAKMT_STATUS hsaKmtShareMemory(void *p, HSAuint64 size __attribute__((unused)),
					   HsaSharedMemoryHandle *handle)
{
	uint32_t *words = *handle;
	struct memory *m;

	memset(words, 0, sizeof(*handle));
	sg_regions_lock();
	m = memory_at(p);
	if (m && m->fd >= 0) {
		words[SHARE_IS_MAGIC] = SHARE_MAGIC;
		words[SHARE_PID] = (uint32_t)getpid();
		words[SHARE_FD] = (uint32_t)m->fd;
		words[SHARE_NODE] = m->node;
		words[SHARE_PAGES] = (uint32_t)(m->region.size_bytes / KMT_PAGE_BYTES);
	}
	sg_regions_unlock();
	return words[SHARE_IS_MAGIC] ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_NOT_SUPPORTED;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtRegisterSharedHandle(const HsaSharedMemoryHandle *handle, void **out,
						    HSAuint64 *size)
{
	HsaMemFlags flags = {.Value = 0};
	const uint32_t *words = *handle;
	size_t bytes = (size_t)words[SHARE_PAGES] * KMT_PAGE_BYTES;
	struct memory *m = NULL;
	char path[64];
	void *p;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/fd/%u", words[SHARE_PID], words[SHARE_FD]);
	fd = words[SHARE_IS_MAGIC] == SHARE_MAGIC ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0)
		return HSAKMT_STATUS_INVALID_HANDLE;
	flags.ui32.CoarseGrain = 1;
	p = kmt_pages_map(bytes, HUGE_BYTES, fd);
	sg_regions_lock();
	if (p)
		m = memory_insert(p, bytes, flags, words[SHARE_NODE],
				  HSA_POINTER_REGISTERED_SHARED);
	if (m)
		m->fd = fd;
	sg_regions_unlock();
	if (!m) {
		if (p)
			munmap(p, bytes);
		close(fd);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	*out = p;
	*size = bytes;
	return HSAKMT_STATUS_SUCCESS;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtRegisterSharedHandleToNodes(const HsaSharedMemoryHandle *handle,
							   void **out, HSAuint64 *size,
							   HSAuint64 count __attribute__((unused)),
							   HSAuint32 *nodes __attribute__((unused)))
{
	return hsaKmtRegisterSharedHandle(handle, out, size);
}

KMT_EXPORT HSAKMT_STATUS hsaKmtQueryPointerInfo(const void *p, HsaPointerInfo *info)
{
	struct memory *m;

	memset(info, 0, sizeof(*info));
	sg_regions_lock();
	m = memory_at(p);
	if (m) {
		info->Type = m->type;
		info->Node = m->node;
		info->MemFlags = m->flags;
		info->CPUAddress = (void *)m->region.base;
		info->GPUAddress = m->region.base;
		info->SizeInBytes = m->region.size_bytes;
		info->NMappedNodes = m->mapped_count;
		info->MappedNodes = m->mapped; /* ROCr reads it under its own lock */
		info->UserData = m->user;
	}
	sg_regions_unlock();
	return m ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_ERROR;
}

KMT_EXPORT HSAKMT_STATUS hsaKmtSetMemoryUserData(const void *p, void *user)
{
	struct memory *m;

	sg_regions_lock();
	m = memory_at(p);
	if (m)
		m->user = user;
	sg_regions_unlock();
	return m ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_ERROR;
}
