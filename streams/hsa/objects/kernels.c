/* SPDX-License-Identifier: MIT */
#include "kernels.h"

#include <hsa/hsa_ven_amd_loader.h>
#include <inttypes.h>
#include <map.h>
#include <rtl/events.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "../../common/threads.h"
#include "agents.h"
#include "code_object.h"
#include "copy_kernels.h"
#include "interceptor.h"
#include "kernel_table.h"
#include "publish.h"

/* ---- code objects ----
 *
 * The code objects that executables have loaded: their hash, where they lie, which is known when the executable is
 * frozen, and what they say of their kernels, by the runtime's loader extension (hsa_ven_amd_loader.h, 1.01).
 *
 * Threads: the application's. One lock, for the list; what is given out stays until the executable is destroyed.
 */

#define URI_MAX 4096

struct loaded {
	hsa_loaded_code_object_t handle;
	hsa_agent_t agent;
	struct code_object content;
	struct rtl_hsa_metadata payload; /* address and size on the GPU: 0 before it is frozen */
	uint64_t uid, agent_uid;
	struct loaded *next;
};

STATIC_LOCK(lock);
/* The lock's: by executable, the first of what was loaded into it. Several threads may load into one; after that
 * it is frozen and destroyed by one at a time, as HSA demands. In a child of a fork nobody asks. */
static struct map executables;

/* The loader's functions; NULL if it has none of that version. */
static hsa_ven_amd_loader_1_01_pfn_t loader;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define INFO(what) HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_##what

static void find_loader(void)
{
	if (!interceptor.hsa.get_major_extension_table ||
	    interceptor.hsa.get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof(loader),
						      &loader)) {
		memset(&loader, 0, sizeof(loader));
		rtl_log(RTL_LEVEL_INFO, "hsa",
			"the runtime does not tell which code objects are "
			"loaded: kernels of one name are one kernel");
	}
}

static bool get_info(hsa_loaded_code_object_t handle, int what, void *value)
{
	return !loader.hsa_ven_amd_loader_loaded_code_object_get_info(
		handle, (hsa_ven_amd_loader_loaded_code_object_info_t)what, value);
}

/* Under the lock. */
static struct loaded *first_of(hsa_executable_t executable)
{
	return map_pointer(&executables, executable.handle);
}

/* ---- content */

/* Its URI, to be freed; or NULL. */
static char *read_uri(hsa_loaded_code_object_t handle)
{
	uint32_t length = 0;
	char *uri;

	if (!get_info(handle, INFO(URI_LENGTH), &length) || !length || length > URI_MAX)
		return NULL;
	uri = calloc(1, (size_t)length + 1);
	if (uri && !get_info(handle, INFO(URI), uri)) {
		free(uri);
		uri = NULL;
	}
	return uri;
}

/* A number of the URI's range; `otherwise` if there is none. */
static uint64_t uri_number(const char *uri, const char *key, uint64_t otherwise)
{
	const char *range = uri ? strpbrk(uri, "#?") : NULL;
	const char *at = range ? strstr(range, key) : NULL;

	return at ? strtoull(at + strlen(key), NULL, 0) : otherwise;
}

/* The part of the file that the URI names. */
static void read_file(struct loaded *loaded, int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0)
		return;
	const uint64_t whole = (uint64_t)st.st_size;
	char *bytes = mmap(NULL, whole, PROT_READ, MAP_PRIVATE, fd, 0);
	char *uri = read_uri(loaded->handle);
	uint64_t offset = uri_number(uri, "offset=", 0);
	uint64_t size = uri_number(uri, "size=", whole);

	free(uri);
	if (bytes == MAP_FAILED)
		return;
	if (offset > whole || size > whole - offset) {
		offset = 0;
		size = whole;
	}
	code_object_read(&loaded->content, bytes + offset, size);
	munmap(bytes, whole);
}

static void read_content(struct loaded *loaded)
{
	uint64_t base = 0, size = 0;
	uint32_t storage = 0;
	int fd = -1;

	if (!get_info(loaded->handle, INFO(CODE_OBJECT_STORAGE_TYPE), &storage))
		return;
	if (storage == HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY &&
	    get_info(loaded->handle, INFO(CODE_OBJECT_STORAGE_MEMORY_BASE), &base) &&
	    get_info(loaded->handle, INFO(CODE_OBJECT_STORAGE_MEMORY_SIZE), &size) && base && size)
		code_object_read(&loaded->content, (const void *)base, size);
	else if (storage == HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE &&
		 get_info(loaded->handle, INFO(CODE_OBJECT_STORAGE_FILE), &fd))
		read_file(loaded, fd);
}

/* ---- the list */

/* False: it is known, or there is no memory. */
static bool add(hsa_executable_t executable, struct loaded *loaded)
{
	HOLD_LOCK(&lock);
	for (const struct loaded *l = first_of(executable); l; l = l->next)
		if (l->handle.handle == loaded->handle.handle)
			return false;
	loaded->next = first_of(executable);
	return map_set(&executables, executable.handle, (uintptr_t)loaded);
}

/* A code object was loaded into the executable, for an agent and with success. For others, which the runtime lists too,
 * asking where they lie ends the process. */
static void code_objects_loaded(hsa_executable_t executable, hsa_agent_t agent,
				hsa_loaded_code_object_t handle)
{
	struct loaded *loaded;

	pthread_once(&once, find_loader);
	if (!loader.hsa_ven_amd_loader_loaded_code_object_get_info ||
	    !(loaded = calloc(1, sizeof(*loaded))))
		return;
	loaded->handle = handle;
	loaded->agent = agent;
	read_content(loaded);
	if (!add(executable, loaded)) {
		code_object_fini(&loaded->content);
		free(loaded);
	}
}

/* The first of what was loaded into it; it stays until the executable is destroyed. */
static struct loaded *loaded_into(hsa_executable_t executable)
{
	HOLD_LOCK(&lock);
	return first_of(executable);
}

/* ---- what is known of it */

static void freeze_object(struct loaded *loaded)
{
	const struct agent *agent;
	char name[40];

	(void)get_info(loaded->handle, INFO(LOAD_BASE), &loaded->payload.address);
	(void)get_info(loaded->handle, INFO(LOAD_SIZE), &loaded->payload.bytes);
	agent = agents_find(loaded->agent);
	if (agent) {
		loaded->payload.gpu = agent->node;
		loaded->agent_uid = agent->uid;
	}
	/* Not its URI: of what is in memory that is another one in each run. */
	snprintf(name, sizeof(name), "code object %016" PRIx64, loaded->content.hash);
	loaded->payload.name = interceptor_string(name);
	loaded->uid = interceptor_tracepoint("code_object", name, NULL, loaded->content.hash);
	if (loaded->uid && *loaded->content.target)
		(void)rtl_tracepoint_set(loaded->uid, "target", loaded->content.target);
	publish_metadata(loaded->uid, loaded->agent_uid, &loaded->payload);
}

/* The code object in which that address of the GPU lies; NULL if it is not known. */
static const struct code_object *code_objects_find(hsa_executable_t executable, hsa_agent_t agent,
						   uint64_t address)
{
	for (const struct loaded *l = loaded_into(executable); l; l = l->next) {
		if (l->agent.handle == agent.handle && address >= l->payload.address &&
		    address - l->payload.address < l->payload.bytes)
			return &l->content;
	}
	return NULL;
}

/* ---- the end */

/* The executable is about to be destroyed. */
static void code_objects_destroyed(hsa_executable_t executable)
{
	struct loaded *gone;

	pthread_mutex_lock(&lock);
	gone = (struct loaded *)(uintptr_t)map_take(&executables, executable.handle);
	pthread_mutex_unlock(&lock);
	for (struct loaded *l = gone, *next; l; l = next) {
		next = l->next;
		l->payload.flags |= RTL_HSA_METADATA_GONE;
		if (l->uid) /* else it was never frozen */
			publish_metadata(l->uid, l->agent_uid, &l->payload);
		code_object_fini(&l->content);
		free(l);
	}
}

/* ---- kernels ---- */

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
	for (int n = 0; kernel && n < CODE_OBJECT_NUMBERS; n++)
		if (kernel->known & 1u << n)
			interceptor_set_number(uid, code_object_keys[n], kernel->numbers[n]);
	if (object && object->hash) {
		snprintf(hash, sizeof(hash), "%016" PRIx64, object->hash);
		(void)rtl_tracepoint_set(uid, "code_object", hash);
	}
}

/* Whether HIP copies and fills memory by it. */
static void note_copies(struct kernel *kernel, hsa_executable_symbol_t symbol, const char *name)
{
	const uint8_t copies = copy_kernel_find(name);
	uint32_t bytes;

	if (!copies || !get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &bytes))
		return;
	kernel->argument_bytes = bytes < UINT8_MAX ? (uint8_t)bytes : UINT8_MAX;
	kernel->copies = copies;
}

/* A kernel that ran before, loaded elsewhere, has been described. The uid, or 0. */
static uint64_t add_named(const struct agent *agent, uint64_t executable,
			  hsa_executable_symbol_t symbol, uint64_t object, const char *name)
{
	const struct code_object *content =
		code_objects_find((hsa_executable_t){executable}, agent->handle, object);
	struct kernel kernel = {
		.uid = interceptor_tracepoint("kernel", name, NULL, content ? content->hash : 0),
		.name = interceptor_string(name),
		.left_out = kernel_choice_on && kernel_choice_leaves_out(name),
	};
	bool first = true;

	if (!kernel.uid)
		return 0;
	if (!kernel.left_out)
		note_copies(&kernel, symbol, name);
	if (kernel_table_add(object, executable, &kernel, &first))
		rtl_log(RTL_LEVEL_WARNING, "hsa", "no memory for the kernel %s", name);
	if (first)
		describe(kernel.uid, symbol, name, content);
	return kernel.uid;
}

STATIC_LOCK(first_lock);

void kernels_run_first(uint64_t object)
{
	hsa_executable_symbol_t symbol;
	const struct agent *agent = NULL;
	hsa_agent_t handle = {0};
	uint64_t uid = 0, executable;
	char *name = NULL;

	pthread_mutex_lock(&first_lock);
	if (kernel_table_waits(object, &executable, &symbol.handle)) {
		if (get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_AGENT, &handle))
			agent = agents_find(handle);
		if (agent && (name = symbol_name(symbol)))
			uid = add_named(agent, executable, symbol, object, name);
		if (!uid)
			(void)kernel_table_wait(object, executable, 0);
	}
	pthread_mutex_unlock(&first_lock);
	/* Without the lock: it may wait for room. */
	if (uid)
		publish_metadata(uid, agent->uid,
				 &(struct rtl_hsa_metadata){.address = object,
							    .name = interceptor_string(name),
							    .gpu = agent->node});
	free(name);
}

/* Where kernels of a name have been loaded, as HIP tells nothing but names (RTL_SOURCE=runtime). Never freed; one for
 * each name and address. Release when one is added, under the lock; acquire. */
struct named_at {
	uint64_t name, object; /* a hash of its name */
	struct named_at *next;
};
#define NAMES 4096
static struct named_at *by_name[NAMES];

/* The first of that name, not before `at`. */
static struct named_at *find_at(struct named_at *at, uint64_t name)
{
	while (at && at->name != name)
		at = at->next;
	return at;
}

static void add_by_name(hsa_executable_symbol_t symbol, uint64_t object)
{
	struct named_at *at = NULL, *made = malloc(sizeof(*made));
	char *name = made ? symbol_name(symbol) : NULL;

	if (name) {
		const uint64_t hash = code_object_hash(name, strlen(name));
		struct named_at **first = &by_name[hash % NAMES];

		HOLD_LOCK(&first_lock);
		*made = (struct named_at){hash, object, *first};
		for (at = find_at(*first, hash); at && at->object != object;)
			at = find_at(at->next, hash);
		if (!at)
			__atomic_store_n(first, made, __ATOMIC_RELEASE);
	}
	if (!name || at)
		free(made);
	free(name);
}

/* Any of that name may run: which, nobody tells. */
static void run_first_named(const char *name)
{
	const uint64_t hash = code_object_hash(name, strlen(name));
	struct named_at *at = __atomic_load_n(&by_name[hash % NAMES], __ATOMIC_ACQUIRE);

	while ((at = find_at(at, hash))) {
		(void)kernel_table_find(at->object);
		at = at->next;
	}
}

static hsa_status_t add_symbol(hsa_executable_t executable, hsa_agent_t agent,
			       hsa_executable_symbol_t symbol, void *unused)
{
	hsa_symbol_kind_t kind;
	uint64_t object = 0;

	if (!get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind) ||
	    kind != HSA_SYMBOL_KIND_KERNEL ||
	    !get(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object) || !object)
		return HSA_STATUS_SUCCESS;
	if (kernel_table_wait(object, executable.handle, symbol.handle))
		rtl_log(RTL_LEVEL_WARNING, "hsa", "no memory for a kernel");
	else if (interceptor.config.source == CONFIG_RUNTIME)
		add_by_name(symbol, object);
	return HSA_STATUS_SUCCESS;
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
	for (struct loaded *l = loaded_into(executable); l; l = l->next)
		freeze_object(l);
	const struct agent *agents = agents_list(&count);

	for (uint32_t i = 0; i < count; i++)
		(void)interceptor.hsa.iterate_agent_symbols(executable, agents[i].handle,
							    add_symbol, NULL);
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
	table_hook(root, ENTRY_hsa_executable_load_agent_code_object, (void *)load_agent, NULL);
	table_hook(root, ENTRY_hsa_executable_freeze, (void *)freeze, NULL);
	table_hook(root, ENTRY_hsa_executable_destroy, (void *)destroy, NULL);
}

/* Of a kernel whose code object is not known. */
static uint64_t register_named(uint64_t name)
{
	return interceptor_tracepoint("kernel", rtl_string_text(name), NULL, 0);
}

const struct kernel *kernels_find_named(const char *symbol)
{
	const struct kernel *kernel = NULL;
	uint64_t name = 0;

	if (symbol && *symbol && !rtl_string_intern(symbol, &name)) {
		run_first_named(symbol);
		kernel = kernel_table_named(name, register_named);
	}
	if (!kernel)
		return kernel_table_find(0);
	if (kernel_choice_on && kernel->by_name && !kernel_is_left_out(kernel) &&
	    kernel_choice_leaves_out(symbol))
		kernel_set(&kernel->left_out, true);
	return kernel;
}

bool kernels_has_name(const char *symbol)
{
	uint64_t name = 0;

	run_first_named(symbol);
	return !rtl_string_intern(symbol, &name) && kernel_table_has_name(name);
}
