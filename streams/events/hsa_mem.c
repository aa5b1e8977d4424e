/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from hsa_mem.toml. Not to be edited. */
#include <rtl/describe.h>
#include <rtl/events/hsa_mem.h>

#include "events.h"

/* The layout is part of what subscribers are compiled with: nothing lies between members. */
_Static_assert(sizeof(struct rtl_hsa_mem) == 96, "rtl_hsa_mem");

static const struct rtl_field rtl_hsa_mem_fields[] = {
	RTL_FIELD_OF(0, struct rtl_hsa_mem, begin_ns, RTL_KIND_TIME, "ns", "when the function was called; 0 in a begin"),
	RTL_FIELD_OF(0, struct rtl_hsa_mem, end_ns, RTL_KIND_TIME, "ns", "when it returned; 0 in a begin"),
	RTL_FIELD_OF(0, struct rtl_hsa_mem, address, RTL_KIND_ADDRESS, "", "of the memory, or its handle; 0 where an allocation begins"),
	RTL_FIELD_OF(0, struct rtl_hsa_mem, bytes, RTL_KIND_UINT, "bytes", "as asked for; of a release as when it was allocated; 0: not known"),
	RTL_FIELD_OF(0, struct rtl_hsa_mem, in_use_bytes, RTL_KIND_UINT, "bytes", "in use after it on that agent; without an agent, of that kind"),
	RTL_FIELD_OF(1, struct rtl_hsa_mem, pool, RTL_KIND_ADDRESS, "", "handle of the pool or region; 0: none, or not known"),
	RTL_FIELD_OF(1, struct rtl_hsa_mem, function, RTL_KIND_STRING, "", "name of the function that was called"),
	RTL_FIELD_OF(1, struct rtl_hsa_mem, segment, RTL_KIND_STRING, "", "what memory the pool has; 0: no pool"),
	RTL_FIELD_OF(1, struct rtl_hsa_mem, status, RTL_KIND_STRING, "", "the hsa_status_t that it returned; 0 in a begin"),
	RTL_FIELD_OF(1, struct rtl_hsa_mem, node, RTL_KIND_UINT, "", "KFD node id of the pool's agent"),
	RTL_FIELD_OF(1, struct rtl_hsa_mem, kind, RTL_KIND_UINT, "", "what was allocated: 1 region, 2 pool, 3 handle, 4 addresses, 5 locked, 6 attached"),
	RTL_FIELD_OF(1, struct rtl_hsa_mem, flags, RTL_KIND_UINT, "", "bits: 1 on gpu, 2 unknown, 4 failed"),
	RTL_FIELD_OF(0, struct rtl_hsa_mem, allocated_ns, RTL_KIND_TIME, "ns", "of a release: when the call that allocated it began; 0: not known; since 1.1"),
};

static const struct rtl_type_info memory_stream_types[] = {
	RTL_TYPE_INFO_REPEATED(RTL_MEM_ALLOC_BEGIN, RTL_MEM_ALLOC_END, "mem_alloc_begin", struct rtl_hsa_mem, rtl_hsa_mem_fields, "memory is about to be allocated"),
	RTL_TYPE_INFO(RTL_MEM_ALLOC_END, "mem_alloc_end", struct rtl_hsa_mem, rtl_hsa_mem_fields, "memory was allocated, or could not be"),
	RTL_TYPE_INFO_REPEATED(RTL_MEM_RELEASE_BEGIN, RTL_MEM_RELEASE_END, "mem_release_begin", struct rtl_hsa_mem, rtl_hsa_mem_fields, "memory is about to be released"),
	RTL_TYPE_INFO(RTL_MEM_RELEASE_END, "mem_release_end", struct rtl_hsa_mem, rtl_hsa_mem_fields, "memory was released, or could not be"),
};

const struct rtl_stream_info memory_stream_info =
	RTL_STREAM_INFO(RTL_STREAM_HSA_MEM, RTL_STREAM_HSA_MEM_VERSION, RTL_STREAM_HSA_MEM_VERSION_MINOR, memory_stream_types, "Memory of the HSA runtime: pools, regions, virtual memory (mode full)");
