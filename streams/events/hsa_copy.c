/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from hsa_copy.toml. Not to be edited. */
#include <rtl/describe.h>
#include <rtl/events/hsa_copy.h>

#include "events.h"

/* The layout is part of what subscribers are compiled with: nothing lies between members. */
_Static_assert(sizeof(struct rtl_hsa_copy) == 152, "rtl_hsa_copy");

static const struct rtl_field rtl_hsa_copy_fields[] = {
	RTL_FIELD_OF(0, struct rtl_hsa_copy, begin_ns, RTL_KIND_TIME, "ns", "GPU begin, HSA system clock; 0 in transfer_begin, or not known"),
	RTL_FIELD_OF(0, struct rtl_hsa_copy, end_ns, RTL_KIND_TIME, "ns", "GPU end; 0 in transfer_begin, or not known"),
	RTL_FIELD_OF(0, struct rtl_hsa_copy, submit_ns, RTL_KIND_TIME, "ns", "when the function was called"),
	RTL_FIELD_OF(0, struct rtl_hsa_copy, bytes, RTL_KIND_UINT, "bytes", "all that is written"),
	RTL_FIELD_OF(0, struct rtl_hsa_copy, src, RTL_KIND_ADDRESS, "", "address of the first byte; of a fill its 32-bit value"),
	RTL_FIELD_OF(0, struct rtl_hsa_copy, dst, RTL_KIND_ADDRESS, "", "address of the first byte"),
	RTL_FIELD_OF(0, struct rtl_hsa_copy, signal, RTL_KIND_ADDRESS, "", "completion signal of the application; 0: none"),
	RTL_FIELD_OF(1, struct rtl_hsa_copy, gpu, RTL_KIND_UINT, "", "KFD node id of the GPU that does it; 0: none"),
	RTL_FIELD_OF(1, struct rtl_hsa_copy, src_gpu, RTL_KIND_UINT, "", "KFD node id of the source's GPU; 0: host memory"),
	RTL_FIELD_OF(1, struct rtl_hsa_copy, dst_gpu, RTL_KIND_UINT, "", "KFD node id of the destination's GPU; 0: host memory"),
	RTL_FIELD_OF(1, struct rtl_hsa_copy, direction, RTL_KIND_UINT, "", "from where to where: 0 none, 1 host to device, 2 device to host, 3 device to device, 4 peer, 5 host to host"),
	RTL_FIELD_OF(1, struct rtl_hsa_copy, kind, RTL_KIND_UINT, "", "which function was called: 1 linear, 2 rect, 3 batch, 4 fill"),
	RTL_FIELD_OF(1, struct rtl_hsa_copy, engine, RTL_KIND_UINT, "", "hsa_amd_sdma_engine_id_t as asked for; 0: the runtime's choice"),
	RTL_FIELD_OF(1, struct rtl_hsa_copy, submit_tid, RTL_KIND_UINT, "", "thread that submitted"),
	RTL_FIELD_OF(1, struct rtl_hsa_copy, flags, RTL_KIND_UINT, "", "bits: 1 app signal, 2 no time, 4 sdma, 8 blit, 16 failed, 32 call time, 64 reported"),
	RTL_FIELD_OF(1, struct rtl_hsa_copy, extent_x, RTL_KIND_UINT, "bytes", "of a rect copy: a row; else 0"),
	RTL_FIELD_OF(1, struct rtl_hsa_copy, extent_y, RTL_KIND_UINT, "rows", "of a rect copy: rows"),
	RTL_FIELD_OF(1, struct rtl_hsa_copy, extent_z, RTL_KIND_UINT, "slices", "of a rect copy: slices"),
	RTL_FIELD_OF(1, struct rtl_hsa_copy, parts, RTL_KIND_UINT, "", "copies in it: of a batch, more than 1 may share a signal"),
	RTL_FIELD_OF(1, struct rtl_hsa_copy, status, RTL_KIND_UINT, "", "hsa_status_t of a refused one; else 0"),
	RTL_FIELD_OF(1, struct rtl_hsa_copy, scope, RTL_KIND_UID, "", "tracepoint of the innermost scope of the submitting thread (rtl/scope.h); 0: none"),
	RTL_FIELD_OF(0, struct rtl_hsa_copy, scope_instance, RTL_KIND_UINT, "", "instance of that scope"),
	RTL_FIELD_OF(0, struct rtl_hsa_copy, call_ns, RTL_KIND_TIME, "ns", "when the call of HIP that submitted it began; 0: none that is known"),
	RTL_FIELD_OF(1, struct rtl_hsa_copy, hip_stream, RTL_KIND_ADDRESS, "", "the hipStream_t among that call's arguments; 0: the null stream, or none"),
	RTL_FIELD_OF(0, struct rtl_hsa_copy, range, RTL_KIND_UINT, "", "instance of the innermost range of roctx there; 0: none that is known"),
};

static const struct rtl_type_info copy_stream_types[] = {
	RTL_TYPE_INFO_REPEATED(RTL_TRANSFER_BEGIN, RTL_TRANSFER_END, "transfer_begin", struct rtl_hsa_copy, rtl_hsa_copy_fields, "a copy was submitted"),
	RTL_TYPE_INFO(RTL_TRANSFER_END, "transfer_end", struct rtl_hsa_copy, rtl_hsa_copy_fields, "a copy has finished; repeats what transfer_begin said"),
};

const struct rtl_stream_info copy_stream_info =
	RTL_STREAM_INFO(RTL_STREAM_HSA_COPY, RTL_STREAM_HSA_COPY_VERSION, RTL_STREAM_HSA_COPY_VERSION_MINOR, copy_stream_types, "Copies and fills of memory by the HSA runtime");
