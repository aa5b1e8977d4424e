// SPDX-License-Identifier: MIT
// The structs that HIP passes by value, and the stream's handle, as the wrappers have them: against
// the installed headers, and those of the fetched ROCm 7.
#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdio>
#include <type_traits>

#include "../../streams/hip/types.h"

#define SAME(ours, theirs)                                                                         \
	static_assert(sizeof(ours) == sizeof(theirs) && alignof(ours) == alignof(theirs), #theirs)
#define AT(ours, our_member, theirs, member)                                                       \
	static_assert(offsetof(ours, our_member) == offsetof(theirs, member), #theirs "." #member)

SAME(hip_dim3, dim3);
AT(hip_dim3, z, dim3, z);
SAME(hip_extent, hipExtent);
AT(hip_extent, depth, hipExtent, depth);
SAME(hip_pitched_ptr, hipPitchedPtr);
AT(hip_pitched_ptr, ptr, hipPitchedPtr, ptr);
AT(hip_pitched_ptr, pitch, hipPitchedPtr, pitch);
AT(hip_pitched_ptr, xsize, hipPitchedPtr, xsize);
AT(hip_pitched_ptr, ysize, hipPitchedPtr, ysize);
static_assert(sizeof(hip_ipc_handle) == sizeof(hipIpcMemHandle_t), "hipIpcMemHandle_t");
static_assert(sizeof(hip_ipc_handle) == sizeof(hipIpcEventHandle_t), "hipIpcEventHandle_t");
SAME(hip_channel_format_desc, hipChannelFormatDesc);
AT(hip_channel_format_desc, f, hipChannelFormatDesc, f);
SAME(hip_mem_location, hipMemLocation);
static_assert(std::is_pointer<hipStream_t>::value && std::is_pointer<hipDeviceptr_t>::value,
	      "handles are pointers");
static_assert(sizeof(hipError_t) == 4 && sizeof(hipMemcpyKind) == 4, "enums are 32 bits");
static_assert(hipErrorNotReady == 600, "hipErrorNotReady");
// Passed in registers or in memory alike: neither has a constructor that copies.
static_assert(std::is_trivially_copyable<dim3>::value, "dim3");

int main()
{
	std::puts("ok");
}
