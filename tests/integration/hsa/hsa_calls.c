/* SPDX-License-Identifier: MIT */
/*
 * Calls every function of the HSA runtime that it can, and writes a log of its own: name,
 * arguments, what came back, in the words of rtl.hsa.call.debug (hsa_calls_log.py makes that part,
 * HSA_CALLS_LOG is what it made). hsa_calls_compare.py compares the two. Functions that a GPU of
 * software or the runtime cannot serve are called so that they refuse.
 *
 *     hsa_calls CODE-OBJECTS      (a path without ".gfx906.co" at its end)
 */
#include <errno.h>
#include <fcntl.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_image.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define FUNCTIONS_MAX 512
#define TEXT_BYTES    256 /* as much of a text as the trace holds */

static unsigned char called[FUNCTIONS_MAX];

/* ---- the log: a line for each call, written when it has returned */

static __thread char line[8192];
static __thread size_t used;
static __thread uint64_t line_before_ns;
static __thread int arguments;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	used += (size_t)vsnprintf(line + used, sizeof(line) - used, format, list);
	va_end(list);
}

static uint64_t log_begin(unsigned number)
{
	__atomic_store_n(&called[number], 1, __ATOMIC_RELAXED);
	return now_ns();
}

static void log_line(const char *function, uint64_t before_ns)
{
	used = 0;
	arguments = 0;
	line_before_ns = before_ns;
	put("call %ld %" PRIu64 " %" PRIu64 " %s(", syscall(SYS_gettid), before_ns, now_ns(),
	    function);
}

static void log_argument(const char *name, int written)
{
	put("%s%s%s=", arguments++ ? ", " : "", written ? "*" : "", name);
}

static void log_uint(const char *name, int written, uint64_t value)
{
	log_argument(name, written);
	put("%" PRIu64, value);
}

static void log_int(const char *name, int written, int64_t value)
{
	log_argument(name, written);
	put("%" PRId64, value);
}

static void log_bool(const char *name, int written, bool value)
{
	log_argument(name, written);
	put("%s", value ? "true" : "false");
}

static void log_address(const char *name, int written, uint64_t value)
{
	log_argument(name, written);
	put("0x%" PRIx64, value);
}

static void log_name(const char *name, int written, const char *enumerator, int value)
{
	log_argument(name, written);
	if (enumerator)
		put("%s", enumerator);
	else
		put("%d", value);
}

static void log_text(const char *name, int written, const char *text)
{
	log_argument(name, written);
	if ((uintptr_t)text < 4096)
		put("0x%" PRIxPTR, (uintptr_t)text);
	else
		put("'%.*s'%s", TEXT_BYTES, text, strlen(text) > TEXT_BYTES ? "..." : "");
}

static void log_end(void)
{
	put("\n");
	fwrite(line, 1, used, stdout);
}

static void log_status(const char *name, int value)
{
	put(") %s %d", name ? name : "", value);
	log_end();
}

static void log_result(int64_t value)
{
	put(")  %" PRId64, value);
	log_end();
}

static void log_nothing(void)
{
	put(")  0");
	log_end();
}

#include HSA_CALLS_LOG

#include "../../programs/hang_guard.h"

#define CALL(function) logged_##function

static void need(hsa_status_t status, const char *what)
{
	if (status == HSA_STATUS_SUCCESS)
		return;
	fflush(stdout);
	fprintf(stderr, "hsa_calls: %s: %d\n", what, status);
	exit(1);
}

/* ---- what the calls are about */

static hsa_agent_t cpu, gpu;
static hsa_amd_memory_pool_t gpu_pool, cpu_pool;
static hsa_region_t region;
static hsa_isa_t isa;
static hsa_wavefront_t wavefront;
static hsa_cache_t cache;
static hsa_executable_symbol_t symbol;
static uint64_t answer[64]; /* for what attributes are */
static char gpu_name[64];

static hsa_status_t take_agent(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	need(CALL(hsa_agent_get_info)(agent, HSA_AGENT_INFO_DEVICE, &type), "agent");
	if (type == HSA_DEVICE_TYPE_GPU && !gpu.handle)
		gpu = agent;
	else if (type == HSA_DEVICE_TYPE_CPU && !cpu.handle)
		cpu = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *data)
{
	hsa_amd_segment_t segment;

	need(CALL(hsa_amd_memory_pool_get_info)(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment),
	     "pool");
	if (segment == HSA_AMD_SEGMENT_GLOBAL && !*(uint64_t *)data)
		*(uint64_t *)data = pool.handle;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_region(hsa_region_t found, void *data)
{
	need(CALL(hsa_region_get_info)(found, HSA_REGION_INFO_SEGMENT, answer), "region");
	if (!region.handle)
		region = found;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_isa(hsa_isa_t found, void *data)
{
	isa = found;
	return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t take_wavefront(hsa_wavefront_t found, void *data)
{
	wavefront = found;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_cache(hsa_cache_t found, void *data)
{
	cache = found;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_symbol(hsa_executable_t executable, hsa_agent_t agent,
				hsa_executable_symbol_t found, void *data)
{
	symbol = found;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_program_symbol(hsa_executable_t executable, hsa_executable_symbol_t found,
					void *data)
{
	return HSA_STATUS_SUCCESS;
}

static void machine(void)
{
	bool yes;
	uint16_t minor, mask;
	hsa_isa_t named;
	const char *text;

	need(CALL(hsa_init)(), "hsa_init");
	CALL(hsa_system_get_info)(HSA_SYSTEM_INFO_TIMESTAMP, answer);
	CALL(hsa_system_get_info)((hsa_system_info_t)12345, answer);
	CALL(hsa_system_extension_supported)(HSA_EXTENSION_IMAGES, 1, 0, &yes);
	CALL(hsa_system_major_extension_supported)(HSA_EXTENSION_IMAGES, 1, &minor, &yes);
	CALL(hsa_system_get_extension_table)(HSA_EXTENSION_FINALIZER, 1, 0, answer);
	CALL(hsa_system_get_major_extension_table)(HSA_EXTENSION_FINALIZER, 1, 8, answer);
	CALL(hsa_extension_get_name)(HSA_EXTENSION_IMAGES, &text);
	CALL(hsa_status_string)(HSA_STATUS_ERROR_INVALID_QUEUE, &text);
	CALL(hsa_status_string)((hsa_status_t)99999, &text);
	need(CALL(hsa_iterate_agents)((void *)take_agent, NULL), "agents");
	need(CALL(hsa_agent_get_info)(gpu, HSA_AGENT_INFO_NAME, gpu_name), "name");
	CALL(hsa_agent_get_info)(gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, answer);
	CALL(hsa_agent_get_exception_policies)(gpu, HSA_PROFILE_BASE, &mask);
	CALL(hsa_agent_extension_supported)(HSA_EXTENSION_IMAGES, gpu, 1, 0, &yes);
	CALL(hsa_agent_major_extension_supported)(HSA_EXTENSION_IMAGES, gpu, 1, &minor, &yes);
	CALL(hsa_agent_iterate_caches)(cpu, (void *)take_cache, NULL);
	CALL(hsa_cache_get_info)(cache, HSA_CACHE_INFO_LEVEL, answer);
	CALL(hsa_agent_iterate_isas)(gpu, (void *)take_isa, NULL);
	CALL(hsa_isa_get_info_alt)(isa, HSA_ISA_INFO_NAME, answer);
	CALL(hsa_isa_get_info)(isa, HSA_ISA_INFO_NAME_LENGTH, 0, answer);
	CALL(hsa_isa_from_name)("amdgcn-amd-amdhsa--gfx906", &named);
	CALL(hsa_isa_from_name)("no such machine", &named);
	CALL(hsa_isa_from_name)(NULL, &named);
	CALL(hsa_isa_compatible)(isa, isa, &yes);
	CALL(hsa_isa_get_exception_policies)(isa, HSA_PROFILE_BASE, &mask);
	hsa_round_method_t method;
	CALL(hsa_isa_get_round_method)(isa, HSA_FP_TYPE_32, HSA_FLUSH_MODE_FTZ, &method);
	CALL(hsa_isa_iterate_wavefronts)(isa, (void *)take_wavefront, NULL);
	CALL(hsa_wavefront_get_info)(wavefront, HSA_WAVEFRONT_INFO_SIZE, answer);
}

static void memory(void)
{
	hsa_agent_t gpus[1] = {gpu};
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};
	uint32_t count = 0;
	hsa_agent_t *accessible = NULL;
	void *host = aligned_alloc(4096, 65536), *locked, *here, *there;
	bool yes;

	CALL(hsa_amd_agent_iterate_memory_pools)(cpu, (void *)take_pool, &cpu_pool);
	CALL(hsa_amd_agent_iterate_memory_pools)(gpu, (void *)take_pool, &gpu_pool);
	CALL(hsa_agent_iterate_regions)(cpu, (void *)take_region, NULL);
	CALL(hsa_amd_agent_memory_pool_get_info)
	(gpu, cpu_pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, answer);
	need(CALL(hsa_memory_allocate)(region, 8192, &here), "hsa_memory_allocate");
	need(CALL(hsa_amd_memory_pool_allocate)(gpu_pool, 1 << 20, 0, &there), "pool_allocate");
	CALL(hsa_amd_memory_pool_allocate)(gpu_pool, 0, 0, NULL);
	CALL(hsa_amd_agents_allow_access)(1, gpus, NULL, here);
	CALL(hsa_amd_pointer_info)(there, &info, (void *)malloc, &count, &accessible);
	free(accessible);
	CALL(hsa_amd_pointer_info_set_userdata)(there, host);
	CALL(hsa_amd_register_deallocation_callback)(there, NULL, NULL);
	CALL(hsa_amd_deregister_deallocation_callback)(there, NULL);
	CALL(hsa_amd_memory_fill)(here, 0x01020304, 16);
	CALL(hsa_memory_copy)(host, here, 64);
	CALL(hsa_memory_assign_agent)(here, gpu, HSA_ACCESS_PERMISSION_RW);
	CALL(hsa_memory_register)(host, 65536);
	CALL(hsa_memory_deregister)(host, 65536);
	if (!CALL(hsa_amd_memory_lock)(host, 65536, gpus, 1, &locked))
		CALL(hsa_amd_memory_unlock)(host);
	if (!CALL(hsa_amd_memory_lock_to_pool)(host, 65536, gpus, 1, cpu_pool, 0, &locked))
		CALL(hsa_amd_memory_unlock)(host);
	CALL(hsa_amd_memory_pool_can_migrate)(gpu_pool, cpu_pool, &yes);
	CALL(hsa_amd_memory_migrate)(there, cpu_pool, 0);
	CALL(hsa_amd_interop_map_buffer)(1, gpus, -1, 0, NULL, NULL, NULL, NULL);
	CALL(hsa_amd_interop_unmap_buffer)(NULL);
	CALL(hsa_amd_ipc_memory_create)(NULL, 0, NULL);
	CALL(hsa_amd_ipc_memory_attach)(NULL, 0, 0, NULL, NULL);
	CALL(hsa_amd_ipc_memory_detach)(NULL);
	CALL(hsa_amd_svm_attributes_set)(NULL, 0, NULL, 0);
	CALL(hsa_amd_svm_attributes_get)(NULL, 0, NULL, 0);
	hsa_amd_coherency_type_t coherency;
	if (!CALL(hsa_amd_coherency_get_type)(gpu, &coherency))
		CALL(hsa_amd_coherency_set_type)(gpu, coherency);
	CALL(hsa_memory_free)(here);
	CALL(hsa_amd_memory_pool_free)(there);
	CALL(hsa_memory_free)(NULL);
	free(host);
}

#define EACH_ORDER(operation)                                                                      \
	CALL(hsa_signal_##operation##_relaxed)(signal, 1);                                         \
	CALL(hsa_signal_##operation##_scacquire)(signal, 2);                                       \
	CALL(hsa_signal_##operation##_screlease)(signal, 3);                                       \
	CALL(hsa_signal_##operation##_scacq_screl)(signal, 4)

static void *signals(void *unused)
{
	hsa_signal_t signal, second, found;
	hsa_signal_group_t group;
	hsa_signal_value_t value;
	hsa_signal_condition_t conditions[2] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ};
	hsa_signal_value_t values[2] = {5, 5};

	need(CALL(hsa_signal_create)(-7, 1, &gpu, &signal), "signal");
	need(CALL(hsa_amd_signal_create)(1, 0, NULL, 0, &second), "signal");
	CALL(hsa_signal_create)(0, 0, NULL, NULL);
	CALL(hsa_signal_load_relaxed)(signal);
	CALL(hsa_signal_load_scacquire)(signal);
	CALL(hsa_signal_store_relaxed)(signal, INT64_MIN);
	CALL(hsa_signal_store_screlease)(signal, INT64_MAX);
	CALL(hsa_signal_silent_store_relaxed)(signal, 3);
	CALL(hsa_signal_silent_store_screlease)(signal, 4);
	EACH_ORDER(and);
	EACH_ORDER(or);
	EACH_ORDER(xor);
	EACH_ORDER(add);
	EACH_ORDER(subtract);
	EACH_ORDER(exchange);
	CALL(hsa_signal_cas_relaxed)(signal, 4, 5);
	CALL(hsa_signal_cas_scacquire)(signal, 4, 5);
	CALL(hsa_signal_cas_screlease)(signal, 4, 5);
	CALL(hsa_signal_cas_scacq_screl)(signal, 5, 5);
	CALL(hsa_signal_wait_relaxed)
	(signal, HSA_SIGNAL_CONDITION_EQ, 5, 1000, HSA_WAIT_STATE_ACTIVE);
	CALL(hsa_signal_wait_scacquire)
	(signal, HSA_SIGNAL_CONDITION_GTE, 5, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
	hsa_signal_t both[2] = {signal, second};
	CALL(hsa_amd_signal_wait_any)
	(2, both, conditions, values, 1000, HSA_WAIT_STATE_ACTIVE, &value);
	if (!CALL(hsa_signal_group_create)(2, both, 1, &gpu, &group)) {
		CALL(hsa_signal_group_wait_any_relaxed)
		(group, conditions, values, HSA_WAIT_STATE_ACTIVE, &found, &value);
		CALL(hsa_signal_group_wait_any_scacquire)
		(group, conditions, values, HSA_WAIT_STATE_ACTIVE, &found, &value);
		CALL(hsa_signal_group_destroy)(group);
	}
	for (int i = 0; i < 200; i++)
		CALL(hsa_signal_add_relaxed)(second, i);
	CALL(hsa_signal_destroy)(second);
	CALL(hsa_signal_destroy)(signal);
	return NULL;
}

static bool handled(hsa_signal_value_t value, void *data)
{
	__atomic_store_n((int *)data, 1, __ATOMIC_RELEASE);
	return false;
}

static void handle(void *data)
{
	__atomic_store_n((int *)data, 1, __ATOMIC_RELEASE);
}

static void wait_for(int *flag)
{
	while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
		usleep(100);
}

static void more_signals(void)
{
	volatile hsa_signal_value_t *place;
	hsa_signal_t signal;
	int done = 0, ran = 0;

	need(CALL(hsa_signal_create)(1, 0, NULL, &signal), "signal");
	CALL(hsa_amd_signal_value_pointer)(signal, &place);
	need(CALL(hsa_amd_signal_async_handler)(signal, HSA_SIGNAL_CONDITION_EQ, 0, (void *)handled,
						&done),
	     "async_handler");
	CALL(hsa_signal_store_screlease)(signal, 0);
	wait_for(&done);
	if (!CALL(hsa_amd_async_function)((void *)handle, &ran))
		wait_for(&ran);
	CALL(hsa_amd_ipc_signal_create)(signal, NULL);
	CALL(hsa_amd_ipc_signal_attach)(NULL, NULL);
	CALL(hsa_signal_destroy)(signal);
}

static void queues(void)
{
	uint32_t mask[4] = {0};
	hsa_queue_t *queue, *soft = NULL;
	hsa_signal_t doorbell;
	uint64_t ticks;
	hsa_amd_profiling_dispatch_time_t dispatch_time;
	hsa_amd_profiling_async_copy_time_t copy_time;

	need(CALL(hsa_queue_create)(gpu, 256, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
				    UINT32_MAX, &queue),
	     "queue");
	CALL(hsa_queue_create)(gpu, 255, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &soft);
	CALL(hsa_queue_load_read_index_scacquire)(queue);
	CALL(hsa_queue_load_read_index_relaxed)(queue);
	CALL(hsa_queue_load_write_index_scacquire)(queue);
	CALL(hsa_queue_load_write_index_relaxed)(queue);
	CALL(hsa_queue_store_write_index_relaxed)(queue, 0);
	CALL(hsa_queue_store_write_index_screlease)(queue, 0);
	CALL(hsa_queue_cas_write_index_scacq_screl)(queue, 5, 6);
	CALL(hsa_queue_cas_write_index_scacquire)(queue, 5, 6);
	CALL(hsa_queue_cas_write_index_relaxed)(queue, 5, 6);
	CALL(hsa_queue_cas_write_index_screlease)(queue, 5, 6);
	CALL(hsa_queue_add_write_index_scacq_screl)(queue, 0);
	CALL(hsa_queue_add_write_index_scacquire)(queue, 0);
	CALL(hsa_queue_add_write_index_relaxed)(queue, 0);
	CALL(hsa_queue_add_write_index_screlease)(queue, 0);
	CALL(hsa_amd_profiling_set_profiler_enabled)(queue, 1);
	CALL(hsa_amd_queue_cu_set_mask)(queue, 0, NULL);
	CALL(hsa_amd_queue_cu_get_mask)(queue, 32, mask);
	CALL(hsa_amd_queue_set_priority)(queue, HSA_AMD_QUEUE_PRIORITY_NORMAL);
	CALL(hsa_queue_inactivate)(queue);
	need(CALL(hsa_queue_destroy)(queue), "queue_destroy");

	need(CALL(hsa_signal_create)(0, 0, NULL, &doorbell), "doorbell");
	if (!CALL(hsa_soft_queue_create)(region, 256, HSA_QUEUE_TYPE_MULTI,
					 HSA_QUEUE_FEATURE_AGENT_DISPATCH, doorbell, &soft)) {
		CALL(hsa_queue_store_read_index_relaxed)(soft, 0);
		CALL(hsa_queue_store_read_index_screlease)(soft, 0);
		CALL(hsa_queue_destroy)(soft);
	}
	CALL(hsa_amd_profiling_get_dispatch_time)(gpu, doorbell, &dispatch_time);
	CALL(hsa_amd_profiling_async_copy_enable)(true);
	CALL(hsa_amd_profiling_get_async_copy_time)(doorbell, &copy_time);
	CALL(hsa_amd_profiling_convert_tick_to_system_domain)(gpu, 1000000, &ticks);
	CALL(hsa_signal_destroy)(doorbell);
}

static void copies(void)
{
	hsa_agent_t gpus[1] = {gpu};
	void *here, *there;
	hsa_signal_t done;

	need(CALL(hsa_amd_memory_pool_allocate)(cpu_pool, 65536, 0, &here), "allocate");
	need(CALL(hsa_amd_memory_pool_allocate)(gpu_pool, 65536, 0, &there), "allocate");
	need(CALL(hsa_amd_agents_allow_access)(1, gpus, NULL, here), "access");
	need(CALL(hsa_signal_create)(1, 0, NULL, &done), "signal");
	need(CALL(hsa_amd_memory_async_copy)(there, gpu, here, cpu, 65536, 0, NULL, done), "copy");
	CALL(hsa_signal_wait_scacquire)
	(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
	CALL(hsa_amd_memory_async_copy_rect)
	(NULL, NULL, NULL, NULL, NULL, gpu, hsaHostToDevice, 0, NULL, done);
	CALL(hsa_signal_destroy)(done);
	CALL(hsa_amd_memory_pool_free)(here);
	CALL(hsa_amd_memory_pool_free)(there);
}

static hsa_executable_t load(const char *code_objects)
{
	hsa_code_object_reader_t from_file, from_memory;
	hsa_loaded_code_object_t loaded;
	hsa_executable_t executable;
	char path[4096];
	struct stat st;
	void *bytes;
	int file;

	snprintf(path, sizeof(path), "%s.%s.co", code_objects, gpu_name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || fstat(file, &st)) {
		fprintf(stderr, "hsa_calls: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	need(CALL(hsa_code_object_reader_create_from_file)(file, &from_file), "reader");
	need(CALL(hsa_code_object_reader_create_from_memory)(bytes, (size_t)st.st_size,
							     &from_memory),
	     "reader");
	need(CALL(hsa_executable_create_alt)(
		     HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable),
	     "executable");
	CALL(hsa_executable_load_program_code_object)(executable, from_memory, NULL, &loaded);
	need(CALL(hsa_executable_load_agent_code_object)(executable, gpu, from_file, NULL, &loaded),
	     "load");
	CALL(hsa_code_object_reader_destroy)(from_file);
	CALL(hsa_code_object_reader_destroy)(from_memory);
	close(file);
	munmap(bytes, (size_t)st.st_size);
	return executable;
}

static void code(const char *code_objects)
{
	char *long_name = malloc(1001);
	hsa_executable_t old, executable = load(code_objects);
	hsa_executable_symbol_t none;
	uint32_t result;
	int variable;

	CALL(hsa_executable_global_variable_define)(executable, "a_variable", &variable);
	CALL(hsa_executable_agent_global_variable_define)(executable, gpu, "another", &variable);
	CALL(hsa_executable_readonly_variable_define)(executable, gpu, "a_third", &variable);
	need(CALL(hsa_executable_freeze)(executable, ""), "freeze");
	/* The runtime does not read what it does not need; nor must the tracer crash. */
	CALL(hsa_executable_freeze)(executable, (const char *)16);
	CALL(hsa_executable_get_info)(executable, HSA_EXECUTABLE_INFO_STATE, answer);
	CALL(hsa_executable_validate)(executable, &result);
	CALL(hsa_executable_validate_alt)(executable, "", &result);
	need(CALL(hsa_executable_iterate_agent_symbols)(executable, gpu, (void *)take_symbol, NULL),
	     "symbols");
	CALL(hsa_executable_iterate_symbols)(executable, (void *)take_program_symbol, NULL);
	CALL(hsa_executable_iterate_program_symbols)(executable, (void *)take_program_symbol, NULL);
	CALL(hsa_executable_symbol_get_info)
	(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, answer);
	memset(long_name, 'n', 1000);
	long_name[1000] = 0;
	CALL(hsa_executable_get_symbol_by_name)(executable, long_name, &gpu, &none);
	CALL(hsa_executable_get_symbol)(executable, NULL, "it isn't there", gpu, -1, &none);
	CALL(hsa_executable_destroy)(executable);
	free(long_name);

	/* Of code objects as they were before 2017, only that they refuse. */
	if (!CALL(hsa_executable_create)(HSA_PROFILE_FULL, HSA_EXECUTABLE_STATE_UNFROZEN, "",
					 &old)) {
		CALL(hsa_executable_load_code_object)(old, gpu, (hsa_code_object_t){0}, "");
		CALL(hsa_executable_destroy)(old);
	}
	CALL(hsa_code_object_deserialize)(NULL, 0, NULL, NULL);
	CALL(hsa_code_object_destroy)((hsa_code_object_t){0});
	CALL(hsa_code_object_get_info)((hsa_code_object_t){0}, HSA_CODE_OBJECT_INFO_VERSION, NULL);
	CALL(hsa_code_object_get_symbol)((hsa_code_object_t){0}, NULL, NULL);
	CALL(hsa_code_object_get_symbol_from_name)((hsa_code_object_t){0}, NULL, NULL, NULL);
	CALL(hsa_code_object_iterate_symbols)((hsa_code_object_t){0}, NULL, NULL);
	CALL(hsa_code_object_serialize)
	((hsa_code_object_t){0}, NULL, (hsa_callback_data_t){0}, NULL, NULL, NULL);
	CALL(hsa_code_symbol_get_info)((hsa_code_symbol_t){0}, HSA_CODE_SYMBOL_INFO_TYPE, NULL);
}

static void images(void)
{
	hsa_agent_t none = {0};
	hsa_ext_image_t image = {0};
	hsa_ext_sampler_t sampler = {0};

	CALL(hsa_ext_image_get_capability)(none, HSA_EXT_IMAGE_GEOMETRY_2D, NULL, NULL);
	CALL(hsa_ext_image_data_get_info)(none, NULL, HSA_ACCESS_PERMISSION_RO, NULL);
	CALL(hsa_ext_image_create)(none, NULL, NULL, HSA_ACCESS_PERMISSION_RO, NULL);
	CALL(hsa_ext_image_import)(none, NULL, 0, 0, image, NULL);
	CALL(hsa_ext_image_export)(none, image, NULL, 0, 0, NULL);
	CALL(hsa_ext_image_copy)(none, image, NULL, image, NULL, NULL);
	CALL(hsa_ext_image_clear)(none, image, NULL, NULL);
	CALL(hsa_ext_image_destroy)(none, image);
	CALL(hsa_ext_sampler_create)(none, NULL, NULL);
	CALL(hsa_ext_sampler_destroy)(none, sampler);
	CALL(hsa_ext_image_get_capability_with_layout)
	(none, HSA_EXT_IMAGE_GEOMETRY_2D, NULL, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, NULL);
	CALL(hsa_ext_image_data_get_info_with_layout)
	(none, NULL, HSA_ACCESS_PERMISSION_RO, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 0, 0, NULL);
	CALL(hsa_ext_image_create_with_layout)
	(none, NULL, NULL, HSA_ACCESS_PERMISSION_RO, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 0, 0, NULL);
	CALL(hsa_amd_image_create)(none, NULL, NULL, NULL, HSA_ACCESS_PERMISSION_RO, NULL);
}

#if HSA_CALLS_ROCM7
static void newer(void)
{
	hsa_agent_t none = {0};
	hsa_amd_vmem_alloc_handle_t handle = {0}, again;
	hsa_amd_memory_access_desc_t access = {HSA_ACCESS_PERMISSION_RW, gpu};
	hsa_access_permission_t permission;
	hsa_amd_memory_pool_t pool;
	hsa_amd_memory_type_t type;
	uint8_t flags[8] = {0};
	uint32_t number = 0;
	hsa_signal_t signal;
	hsa_signal_condition_t condition = HSA_SIGNAL_CONDITION_EQ;
	hsa_signal_value_t value = 0, got;
	void *address = NULL, *other = NULL;
	hsa_queue_t *queue;
	int dmabuf = -1;
	uint64_t offset;

	CALL(hsa_amd_memory_async_copy_on_engine)
	(NULL, none, NULL, none, 0, 0, NULL, (hsa_signal_t){0}, HSA_AMD_SDMA_ENGINE_0, false);
	CALL(hsa_amd_memory_copy_engine_status)(cpu, gpu, &number);
	CALL(hsa_amd_memory_get_preferred_copy_engine)(cpu, gpu, &number);
	CALL(hsa_amd_spm_acquire)(none);
	CALL(hsa_amd_spm_release)(none);
	CALL(hsa_amd_spm_set_dest_buffer)(none, 0, NULL, NULL, NULL, NULL);
	if (!CALL(hsa_amd_portable_export_dmabuf)(NULL, 0, &dmabuf, &offset))
		CALL(hsa_amd_portable_close_dmabuf)(dmabuf);
	CALL(hsa_amd_portable_export_dmabuf_v2)(NULL, 0, &dmabuf, &offset, 0);
	CALL(hsa_amd_portable_close_dmabuf)(-1);
	if (!CALL(hsa_amd_vmem_address_reserve)(&address, 1 << 21, 0, 0) &&
	    !CALL(hsa_amd_vmem_handle_create)(gpu_pool, 1 << 21, MEMORY_TYPE_NONE, 0, &handle)) {
		CALL(hsa_amd_vmem_get_alloc_properties_from_handle)(handle, &pool, &type);
		if (!CALL(hsa_amd_vmem_map)(address, 1 << 21, 0, handle, 0)) {
			CALL(hsa_amd_vmem_set_access)(address, 1 << 21, &access, 1);
			CALL(hsa_amd_vmem_get_access)(address, &permission, gpu);
			if (!CALL(hsa_amd_vmem_retain_alloc_handle)(&again, address))
				CALL(hsa_amd_vmem_handle_release)(again);
			CALL(hsa_amd_vmem_unmap)(address, 1 << 21);
		}
		CALL(hsa_amd_vmem_handle_release)(handle);
	}
	if (address)
		CALL(hsa_amd_vmem_address_free)(address, 1 << 21);
	if (!CALL(hsa_amd_vmem_address_reserve_align)(&other, 1 << 21, 0, 1 << 21, 0))
		CALL(hsa_amd_vmem_address_free)(other, 1 << 21);
	/* What has not been called above refuses. */
	handle.handle = 0;
	pool.handle = (uintptr_t)answer;
	CALL(hsa_amd_vmem_handle_create)(pool, 1 << 21, MEMORY_TYPE_NONE, 0, &handle);
	CALL(hsa_amd_vmem_address_free)(NULL, 0);
	CALL(hsa_amd_vmem_handle_release)(handle);
	CALL(hsa_amd_vmem_map)(NULL, 0, 0, handle, 0);
	CALL(hsa_amd_vmem_unmap)(NULL, 0);
	CALL(hsa_amd_vmem_set_access)(NULL, 0, &access, 1);
	CALL(hsa_amd_vmem_get_access)(NULL, &permission, gpu);
	CALL(hsa_amd_vmem_export_shareable_handle)(&dmabuf, handle, 0);
	CALL(hsa_amd_vmem_import_shareable_handle)(-1, &again);
	CALL(hsa_amd_vmem_retain_alloc_handle)(&again, NULL);
	CALL(hsa_amd_vmem_get_alloc_properties_from_handle)(handle, &pool, &type);
	CALL(hsa_amd_agent_set_async_scratch_limit)(gpu, 0);
	need(CALL(hsa_queue_create)(gpu, 256, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, 0, 0, &queue),
	     "queue");
	CALL(hsa_amd_queue_get_info)(queue, HSA_AMD_QUEUE_INFO_AGENT, answer);
	CALL(hsa_queue_destroy)(queue);
	CALL(hsa_amd_enable_logging)(flags, NULL);
	need(CALL(hsa_signal_create)(0, 0, NULL, &signal), "signal");
	CALL(hsa_amd_signal_wait_all)
	(1, &signal, &condition, &value, 1000, HSA_WAIT_STATE_ACTIVE, &got);
	CALL(hsa_signal_destroy)(signal);
	CALL(hsa_amd_ais_file_write)
	((hsa_amd_ais_file_handle_t){.handle = NULL}, NULL, 0, 0, NULL, NULL);
	CALL(hsa_amd_ais_file_read)
	((hsa_amd_ais_file_handle_t){.handle = NULL}, NULL, 0, 0, NULL, NULL);
	CALL(hsa_ext_sampler_create_v2)(none, NULL, NULL);
}
#endif

static hsa_status_t ignore_event(const hsa_amd_event_t *event, void *data)
{
	return HSA_STATUS_SUCCESS;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 1 << 16);
	need(hsa_init(), "hsa_init"); /* loads the tool: what it sees begins after it */
	machine();
	CALL(hsa_amd_register_system_event_handler)((void *)ignore_event, NULL);
	memory();
	pthread_create(&thread, NULL, signals, NULL);
	signals(NULL);
	pthread_join(thread, NULL);
	more_signals();
	queues();
	copies();
	code(argv[1]);
	images();
#if HSA_CALLS_ROCM7
	newer();
#endif
	CALL(hsa_shut_down)();
	for (size_t i = 0; i < sizeof(logged_names) / sizeof(*logged_names); i++)
		printf("%s %s\n", called[i] ? "called" : "not-called", logged_names[i]);
	CALL(hsa_shut_down)();
	printf("hsa_calls: ok\n");
	return 0;
}
