/* SPDX-License-Identifier: MIT */
#include "code_objects.h"

#include <hsa/hsa_ven_amd_loader.h>
#include <inttypes.h>
#include <pthread.h>
#include <rtl/events.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "../../common/fork_lock.h"
#include "agents.h"
#include "interceptor.h"
#include "publish.h"

#define BUCKETS 256
#define URI_MAX 4096

struct loaded {
	hsa_loaded_code_object_t handle;
	hsa_agent_t agent;
	struct code_object content;
	struct rtl_hsa_metadata payload; /* address and size on the GPU: 0 before it is frozen */
	uint64_t uid, agent_uid;
	struct loaded *next;
};

/* An executable that something was loaded into. Several threads may load into one, under the lock;
 * after that it is frozen and destroyed by one at a time, as HSA demands. */
struct executable {
	uint64_t handle;
	struct loaded *first;
	struct executable *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(lock, lock);
static struct executable *buckets[BUCKETS]; /* the lock's */

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

static bool have_loader(void)
{
	pthread_once(&once, find_loader);
	return loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects &&
	       loader.hsa_ven_amd_loader_loaded_code_object_get_info;
}

static bool get(hsa_loaded_code_object_t handle, int what, void *value)
{
	return !loader.hsa_ven_amd_loader_loaded_code_object_get_info(
		handle, (hsa_ven_amd_loader_loaded_code_object_info_t)what, value);
}

/* Where the executable is in its bucket, or the bucket's end. */
static struct executable **place(hsa_executable_t executable)
{
	struct executable **link = &buckets[(executable.handle * 0x9e3779b97f4a7c15u) >> 56];

	while (*link && (*link)->handle != executable.handle)
		link = &(*link)->next;
	return link;
}

/* ---- content */

/* Its URI, to be freed; or NULL. */
static char *read_uri(hsa_loaded_code_object_t handle)
{
	uint32_t length = 0;
	char *uri;

	if (!get(handle, INFO(URI_LENGTH), &length) || !length || length > URI_MAX)
		return NULL;
	uri = calloc(1, (size_t)length + 1);
	if (uri && !get(handle, INFO(URI), uri)) {
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

	if (!get(loaded->handle, INFO(CODE_OBJECT_STORAGE_TYPE), &storage))
		return;
	if (storage == HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY &&
	    get(loaded->handle, INFO(CODE_OBJECT_STORAGE_MEMORY_BASE), &base) &&
	    get(loaded->handle, INFO(CODE_OBJECT_STORAGE_MEMORY_SIZE), &size) && base && size)
		code_object_read(&loaded->content, (const void *)base, size);
	else if (storage == HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE &&
		 get(loaded->handle, INFO(CODE_OBJECT_STORAGE_FILE), &fd))
		read_file(loaded, fd);
}

/* ---- the list */

static bool is_known(hsa_executable_t executable, hsa_loaded_code_object_t handle)
{
	bool known = false;

	pthread_mutex_lock(&lock);
	const struct executable *e = *place(executable);

	for (const struct loaded *l = e ? e->first : NULL; l && !known; l = l->next)
		known = l->handle.handle == handle.handle;
	pthread_mutex_unlock(&lock);
	return known;
}

static bool add(hsa_executable_t executable, struct loaded *loaded)
{
	pthread_mutex_lock(&lock);
	struct executable **link = place(executable);

	if (!*link) {
		*link = calloc(1, sizeof(**link));
		if (*link)
			(*link)->handle = executable.handle;
	}
	if (*link) {
		loaded->next = (*link)->first;
		(*link)->first = loaded;
	}
	const bool added = *link != NULL;

	pthread_mutex_unlock(&lock);
	return added;
}

void code_objects_loaded(hsa_executable_t executable, hsa_agent_t agent,
			 hsa_loaded_code_object_t handle)
{
	struct loaded *loaded;

	if (!have_loader() || is_known(executable, handle))
		return;
	loaded = calloc(1, sizeof(*loaded));
	if (!loaded)
		return;
	loaded->handle = handle;
	loaded->agent = agent;
	read_content(loaded);
	if (!add(executable, loaded)) {
		code_object_fini(&loaded->content);
		free(loaded);
	}
}

static hsa_status_t remember(hsa_executable_t executable, hsa_loaded_code_object_t handle,
			     void *last)
{
	(void)executable;
	*(hsa_loaded_code_object_t *)last = handle;
	return HSA_STATUS_SUCCESS;
}

void code_objects_loaded_last(hsa_executable_t executable, hsa_agent_t agent)
{
	hsa_loaded_code_object_t last = {0};

	if (have_loader())
		(void)loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(
			executable, remember, &last);
	if (last.handle)
		code_objects_loaded(executable, agent, last);
}

static struct loaded *first_of(hsa_executable_t executable)
{
	pthread_mutex_lock(&lock);
	const struct executable *e = *place(executable);

	pthread_mutex_unlock(&lock);
	return e ? e->first : NULL;
}

/* ---- what is known of it */

static void describe(struct loaded *loaded)
{
	char name[40];
	struct rtl_tracepoint_desc desc = {.struct_size = sizeof(desc),
					   .kind = "code_object",
					   .name = name,
					   .hash = loaded->content.hash};

	/* Not its URI: of what is in memory that is another one in each run. */
	snprintf(name, sizeof(name), "code object %016" PRIx64, loaded->content.hash);
	loaded->payload.name = interceptor_string(name);
	if (!rtl_tracepoint_register(&desc, &loaded->uid) && *loaded->content.target)
		(void)rtl_tracepoint_set(loaded->uid, "target", loaded->content.target);
}

static void freeze(struct loaded *loaded)
{
	const struct agent *agent;

	(void)get(loaded->handle, INFO(LOAD_BASE), &loaded->payload.address);
	(void)get(loaded->handle, INFO(LOAD_SIZE), &loaded->payload.bytes);
	agent = agents_find(loaded->agent);
	if (agent) {
		loaded->payload.gpu = agent->node;
		loaded->agent_uid = agent->uid;
	}
	describe(loaded);
	publish_metadata(loaded->uid, loaded->agent_uid, &loaded->payload);
}

void code_objects_frozen(hsa_executable_t executable)
{
	for (struct loaded *l = first_of(executable); l; l = l->next)
		freeze(l);
}

void code_objects_described(hsa_executable_t executable)
{
	for (struct loaded *l = first_of(executable); l; l = l->next)
		code_object_fini(&l->content);
}

const struct code_object *code_objects_find(hsa_executable_t executable, hsa_agent_t agent,
					    uint64_t address)
{
	for (const struct loaded *l = first_of(executable); l; l = l->next) {
		if (l->agent.handle == agent.handle && address >= l->payload.address &&
		    address - l->payload.address < l->payload.bytes)
			return &l->content;
	}
	return NULL;
}

/* ---- the end */

static void free_executable(struct executable *executable)
{
	for (struct loaded *l = executable->first, *next; l; l = next) {
		next = l->next;
		code_object_fini(&l->content);
		free(l);
	}
	free(executable);
}

void code_objects_destroyed(hsa_executable_t executable)
{
	pthread_mutex_lock(&lock);
	struct executable **link = place(executable), *gone = *link;

	if (gone)
		*link = gone->next;
	pthread_mutex_unlock(&lock);
	if (!gone)
		return;
	for (struct loaded *l = gone->first; l; l = l->next) {
		l->payload.flags |= RTL_HSA_METADATA_GONE;
		if (l->uid) /* else it was never frozen */
			publish_metadata(l->uid, l->agent_uid, &l->payload);
	}
	free_executable(gone);
}
