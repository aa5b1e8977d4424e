/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include "find.h"
#include "names.h"

#include <stdlib.h>
#include <string.h>

static void set_grid(struct hip_record *record, dim3 grid, dim3 block)
{
	const uint32_t sizes[2][3] = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}};

	memcpy(record->gpu.grid, sizes[0], sizeof(sizes[0]));
	memcpy(record->gpu.block, sizes[1], sizeof(sizes[1]));
}

/* One argument of 8 bytes: how many there are is HIP's secret. They cost the memory they would. */
static void set_args(struct hip_record *record)
{
	const uint32_t size = 8;
	char *args = calloc(1, sizeof(size) + size);

	if (!args)
		abort();
	memcpy(args, &size, sizeof(size));
	record->gpu.args = args;
	record->gpu.args_size = sizeof(size) + size;
}

#define CALL(name) case HIP_API_ID_##name
#define ARGS(name) (&data->args.name)
#define SIZE(call, size_)                                                                          \
	CALL(call) : record->size = (size_);                                                       \
	break
#define COPY(call)                                                                                 \
	CALL(call) : record->memory1 = (uintptr_t)ARGS(call)->dst;                                 \
	record->memory2 = (uintptr_t)ARGS(call)->src;                                              \
	record->size = ARGS(call)->sizeBytes;                                                      \
	break
#define LAUNCH(call, grid, block)                                                                  \
	CALL(call) : set_grid(record, ARGS(call)->grid, ARGS(call)->block);                        \
	set_args(record);                                                                          \
	break

/* What rtl reads. */
void calls_fill(struct hip_record *record, uint32_t id, const hip_api_data_t *data)
{
	switch (id) {
		LAUNCH(hipLaunchKernel, numBlocks, dimBlocks);
		LAUNCH(hipExtLaunchKernel, numBlocks, dimBlocks);
		LAUNCH(hipLaunchCooperativeKernel, gridDim, blockDimX);
		COPY(hipMemcpy);
		COPY(hipMemcpyDtoD);
		COPY(hipMemcpyDtoH);
		COPY(hipMemcpyHtoD);
		COPY(hipMemcpyAsync);
		COPY(hipMemcpyDtoDAsync);
		COPY(hipMemcpyDtoHAsync);
		COPY(hipMemcpyHtoDAsync);
		COPY(hipMemcpyWithStream);
		SIZE(hipMemset, ARGS(hipMemset)->sizeBytes);
		SIZE(hipMemsetAsync, ARGS(hipMemsetAsync)->sizeBytes);
		SIZE(hipMemcpy2DAsync,
		     ARGS(hipMemcpy2DAsync)->width * ARGS(hipMemcpy2DAsync)->height);
		SIZE(hipMalloc, ARGS(hipMalloc)->size);
	default:
		break;
	}
}

static void see_function(hipFunction_t function)
{
	const char *(*name)(hipFunction_t);

	*(void **)&name = hip_find("hipKernelNameRef");
	if (name && function)
		names_saw(name(function));
}

static void see_pointer(const void *pointer)
{
	static _Thread_local const void *last;
	const char *(*name)(const void *, hipStream_t);

	if (pointer == last || !pointer)
		return;
	*(void **)&name = hip_find("hipKernelNameRefByPtr");
	if (name)
		names_saw(name(pointer, NULL));
	last = pointer;
}

void calls_see_names(uint32_t id, const hip_api_data_t *data)
{
	switch (id) {
		CALL(hipLaunchKernel) : see_pointer(ARGS(hipLaunchKernel)->function_address);
		break;
		CALL(hipExtLaunchKernel) : see_pointer(ARGS(hipExtLaunchKernel)->function_address);
		break;
		CALL(hipLaunchCooperativeKernel) : see_pointer(ARGS(hipLaunchCooperativeKernel)->f);
		break;
		CALL(hipModuleLaunchKernel) : see_function(ARGS(hipModuleLaunchKernel)->f);
		break;
		CALL(hipGraphAddKernelNode)
		    : see_pointer(ARGS(hipGraphAddKernelNode)->pNodeParams__val.func);
		break;
	default:
		break;
	}
}
