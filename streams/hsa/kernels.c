/* SPDX-License-Identifier: MIT */
/* Kernels of executables: see kernels.h. */
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

#include "agents.h"
#include "collector.h"
#include "demangle.h"
#include "kernel_table.h"
#include "publish.h"

static bool get(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what, void *value)
{
	return !collector.hsa.symbol_get_info(symbol, what, value);
}

/* The symbol's name without ".kd", to be freed; or NULL. */
static char *symbol_name(hsa_executable_symbol_t symbol)
{
	uint32_t length = 0;
	char *name;

	if (!get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length) || !length)
		return NULL;
	name = calloc(1, (size_t)length + 1);
	if (!name || !get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name)) {
		free(name);
		return NULL;
	}
	length = (uint32_t)strlen(name);
	if (length > 3 && !strcmp(name + length - 3, ".kd"))
		name[length - 3] = 0;
	return name;
}

static void set_number(uint64_t uid, hsa_executable_symbol_t symbol,
		       hsa_executable_symbol_info_t what, const char *key)
{
	uint32_t number = 0;

	if (get(symbol, what, &number))
		collector_set_number(uid, key, number);
}

static void set_demangled(uint64_t uid, const char *name)
{
	char *text = demangle(name);

	if (text)
		(void)rtl_tracepoint_set(uid, "demangled", text);
	free(text);
}

static void describe(uint64_t uid, hsa_executable_symbol_t symbol, const char *name)
{
	set_number(uid, symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
		   "group_segment_bytes");
	set_number(uid, symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
		   "private_segment_bytes");
	set_number(uid, symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
		   "kernarg_segment_bytes");
	set_demangled(uid, name);
}

static void add_kernel(hsa_executable_t executable, const struct agent *agent,
		       hsa_executable_symbol_t symbol)
{
	struct rtl_tracepoint_desc desc = {.struct_size = sizeof(desc), .kind = "kernel"};
	uint64_t object = 0, uid = 0;
	char *name = symbol_name(symbol);

	if (!name || !get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object) || !object)
		goto out;
	desc.name = name;
	if (rtl_tracepoint_register(&desc, &uid))
		goto out;
	const uint64_t name_id = collector_string(name);

	describe(uid, symbol, name);
	if (kernel_table_add(object, executable.handle, uid, name_id))
		rtl_log(RTL_LEVEL_WARNING, "hsa", "no memory for the kernel %s", name);
	publish_metadata(uid, agent->uid, object, name_id, agent->node);
out:
	free(name);
}

struct context {
	const struct agent *agent;
};

static hsa_status_t add_symbol(hsa_executable_t executable, hsa_agent_t handle,
			       hsa_executable_symbol_t symbol, void *data)
{
	const struct context *context = data;
	hsa_symbol_kind_t kind;

	(void)handle;
	if (get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind) && kind == HSA_SYMBOL_KIND_KERNEL)
		add_kernel(executable, context->agent, symbol);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t kernels_executable_freeze(hsa_executable_t executable, const char *options)
{
	const hsa_status_t status = collector.hsa.executable_freeze(executable, options);
	uint32_t count;

	if (status || !collector_on())
		return status;
	agents_init();
	const struct agent *agents = agents_list(&count);

	for (uint32_t i = 0; i < count; i++) {
		struct context context = {.agent = &agents[i]};

		(void)collector.hsa.iterate_agent_symbols(executable, agents[i].handle, add_symbol,
							  &context);
	}
	return status;
}

hsa_status_t kernels_executable_destroy(hsa_executable_t executable)
{
	/* Before: right after it another thread may get the same addresses. */
	if (collector_on())
		kernel_table_remove(executable.handle);
	return collector.hsa.executable_destroy(executable);
}
