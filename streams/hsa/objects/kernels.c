/* SPDX-License-Identifier: MIT */
#include "kernels.h"

#include <inttypes.h>
#include <rtl/events.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents.h"
#include "code_objects.h"
#include "interceptor.h"
#include "kernel_choice.h"
#include "kernel_table.h"
#include "publish.h"

static bool get(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what, void *value)
{
	return !interceptor.hsa.symbol_get_info(symbol, what, value);
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
		interceptor_set_number(uid, key, number);
}

/* What its code object says of it. */
static void describe_registers(uint64_t uid, const struct code_object_kernel *kernel)
{
	for (int n = 0; n < CODE_OBJECT_NUMBERS; n++) {
		if (kernel->known & 1u << n)
			interceptor_set_number(uid, code_object_keys[n], kernel->numbers[n]);
	}
}

static void describe(uint64_t uid, hsa_executable_symbol_t symbol, const char *name,
		     const struct code_object *object)
{
	const struct code_object_kernel *kernel = object ? code_object_find(object, name) : NULL;
	char hash[20];

	set_number(uid, symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
		   "group_segment_bytes");
	set_number(uid, symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
		   "private_segment_bytes");
	set_number(uid, symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
		   "kernarg_segment_bytes");
	if (kernel)
		describe_registers(uid, kernel);
	if (object && object->hash) {
		snprintf(hash, sizeof(hash), "%016" PRIx64, object->hash);
		(void)rtl_tracepoint_set(uid, "code_object", hash);
	}
}

/* A kernel that is loaded again has been described. */
static void add_named(const struct agent *agent, hsa_executable_t executable,
		      hsa_executable_symbol_t symbol, uint64_t object, const char *name)
{
	const struct code_object *content = code_objects_find(executable, agent->handle, object);
	const struct rtl_tracepoint_desc desc = {.struct_size = sizeof(desc),
						 .kind = "kernel",
						 .name = name,
						 .hash = content ? content->hash : 0};
	const uint64_t name_id = interceptor_string(name);
	uint64_t uid = 0;
	bool first = true;

	if (rtl_tracepoint_register(&desc, &uid))
		return;
	if (kernel_table_add(object, executable.handle, uid, name_id, &first))
		rtl_log(RTL_LEVEL_WARNING, "hsa", "no memory for the kernel %s", name);
	else if (kernel_choice_on && kernel_choice_leaves_out(name))
		kernel_table_leave_out(kernel_table_find(object));
	if (first)
		describe(uid, symbol, name, content);
	publish_metadata(
		uid, agent->uid,
		&(struct rtl_hsa_metadata){.address = object, .name = name_id, .gpu = agent->node});
}

static void add_kernel(hsa_executable_t executable, const struct agent *agent,
		       hsa_executable_symbol_t symbol)
{
	char *name = symbol_name(symbol);
	uint64_t object = 0;

	if (name && get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object) && object)
		add_named(agent, executable, symbol, object, name);
	free(name);
}

static hsa_status_t add_symbol(hsa_executable_t executable, hsa_agent_t handle,
			       hsa_executable_symbol_t symbol, void *data)
{
	hsa_symbol_kind_t kind;

	(void)handle;
	if (get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind) && kind == HSA_SYMBOL_KIND_KERNEL)
		add_kernel(executable, data, symbol);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t load(hsa_executable_t executable, hsa_agent_t agent,
			 hsa_code_object_t code_object, const char *options)
{
	const hsa_status_t status =
		interceptor.hsa.load_code_object(executable, agent, code_object, options);

	if (!status && interceptor_on())
		code_objects_loaded_last(executable, agent);
	return status;
}

static hsa_status_t load_agent(hsa_executable_t executable, hsa_agent_t agent,
			       hsa_code_object_reader_t reader, const char *options,
			       hsa_loaded_code_object_t *loaded)
{
	hsa_loaded_code_object_t handle = {0};
	const hsa_status_t status =
		interceptor.hsa.load_agent_code_object(executable, agent, reader, options, &handle);

	if (status)
		return status;
	if (loaded)
		*loaded = handle;
	if (interceptor_on())
		code_objects_loaded(executable, agent, handle);
	return status;
}

static hsa_status_t freeze(hsa_executable_t executable, const char *options)
{
	const hsa_status_t status = interceptor.hsa.executable_freeze(executable, options);
	uint32_t count;

	if (status || !interceptor_on())
		return status;
	agents_init();
	code_objects_frozen(executable);
	const struct agent *agents = agents_list(&count);

	for (uint32_t i = 0; i < count; i++)
		(void)interceptor.hsa.iterate_agent_symbols(executable, agents[i].handle,
							    add_symbol, (void *)&agents[i]);
	code_objects_described(executable);
	return status;
}

static hsa_status_t destroy(hsa_executable_t executable)
{
	/* Before: right after it another thread may get the same addresses. */
	if (interceptor_on()) {
		kernel_table_remove(executable.handle);
		code_objects_destroyed(executable);
	}
	return interceptor.hsa.executable_destroy(executable);
}

void kernels_hook(struct root_table *root)
{
	table_hook(table_core(root->core, CORE_EXECUTABLE_LOAD_CODE_OBJECT), (void *)load, NULL);
	table_hook(table_core(root->core, CORE_EXECUTABLE_LOAD_AGENT_CODE_OBJECT),
		   (void *)load_agent, NULL);
	table_hook(table_core(root->core, CORE_EXECUTABLE_FREEZE), (void *)freeze, NULL);
	table_hook(table_core(root->core, CORE_EXECUTABLE_DESTROY), (void *)destroy, NULL);
}

/* Of a kernel whose code object is not known. */
static uint64_t register_named(uint64_t name)
{
	struct rtl_tracepoint_desc desc = {
		.struct_size = sizeof(desc), .kind = "kernel", .name = rtl_string_text(name)};
	uint64_t uid = 0;

	(void)rtl_tracepoint_register(&desc, &uid);
	return uid;
}

const struct kernel *kernels_find_named(const char *symbol)
{
	const struct kernel *kernel = NULL;
	uint64_t name = 0;

	if (symbol && *symbol && !rtl_string_intern(symbol, &name))
		kernel = kernel_table_named(name, register_named);
	if (!kernel)
		return kernel_table_find(0);
	if (kernel_choice_on && kernel->by_name && !kernel_is_left_out(kernel) &&
	    kernel_choice_leaves_out(symbol))
		kernel_table_leave_out(kernel);
	return kernel;
}

bool kernels_has_name(const char *symbol)
{
	uint64_t name = 0;

	return !rtl_string_intern(symbol, &name) && kernel_table_has_name(name);
}
