/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <map.h>

#include "../../common/threads.h"
#include "agents.h"
#include "calls.h"
#include "events/events.h"
#include "interceptor.h"

/* ---- the memory pools and regions of all agents: found by the first call, constant afterwards. One lock. */

#define MEMORY_POOLS_MAX 512

struct memory_pool {
	uint64_t handle;
	uint64_t agent_uid; /* tracepoint; 0: none */
	uint64_t segment;   /* string, e.g. "global coarse-grained" */
	uint32_t node;      /* KFD node id of the agent */
	uint32_t agent;     /* number of the agent, from 0, less than MEMORY_POOLS_MAX */
	bool on_gpu;
};

static struct memory_pool pools[MEMORY_POOLS_MAX];
static int pool_count; /* release after the pools are complete, acquire */
STATIC_LOCK(pools_lock);
static int pools_made; /* the pools_lock's */

/* Flags have the same values for pools and regions, but for the last. */
static const char *segment_name(uint32_t segment, uint32_t flags)
{
	if (segment == HSA_AMD_SEGMENT_GROUP)
		return "group";
	if (segment == HSA_AMD_SEGMENT_PRIVATE)
		return "private";
	if (segment == HSA_AMD_SEGMENT_READONLY)
		return "read-only";
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
		return "global fine-grained, kernel arguments";
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
		return "global fine-grained";
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
		return "global coarse-grained";
	return flags & 8 ? "global fine-grained, extended scope" : "global";
}

/* `of`: what all pools of an agent have in common. */
static void add_to_pools(uint64_t handle, const struct memory_pool *of, uint32_t segment,
			 uint32_t flags)
{
	for (int i = 0; i < pools_made; i++)
		if (pools[i].handle == handle)
			return;
	if (pools_made == MEMORY_POOLS_MAX)
		return;
	pools[pools_made] = *of;
	pools[pools_made].handle = handle;
	pools[pools_made++].segment = interceptor_string(segment_name(segment, flags));
}

#define ADD_BY(name, type, get_info, info, global)                                                 \
	static hsa_status_t name(type pool, void *data)                                            \
	{                                                                                          \
		uint32_t segment = 0, flags = 0;                                                   \
                                                                                                   \
		(void)interceptor.hsa.get_info(pool, info##_SEGMENT, &segment);                    \
		if (segment == global)                                                             \
			(void)interceptor.hsa.get_info(pool, info##_GLOBAL_FLAGS, &flags);         \
		add_to_pools(pool.handle, data, segment, flags);                                   \
		return HSA_STATUS_SUCCESS;                                                         \
	}
ADD_BY(add_pool, hsa_amd_memory_pool_t, memory_pool_get_info, HSA_AMD_MEMORY_POOL_INFO,
       HSA_AMD_SEGMENT_GLOBAL)
ADD_BY(add_region, hsa_region_t, region_get_info, HSA_REGION_INFO, HSA_REGION_SEGMENT_GLOBAL)

static uint64_t agent_tracepoint(hsa_agent_t agent, uint32_t node)
{
	const struct agent *gpu = agents_find(agent);
	char name[65] = "";

	if (gpu)
		return gpu->uid;
	(void)interceptor.hsa.agent_get_info(agent, HSA_AGENT_INFO_NAME, name);
	return *name ? interceptor_tracepoint("agent", name, NULL, node) : 0;
}

static hsa_status_t add_agent(hsa_agent_t agent, void *data)
{
	/* Agents without pools have no number of their own, and need none. */
	struct memory_pool of = {.agent = pools_made ? pools[pools_made - 1].agent + 1 : 0};
	hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;

	(void)interceptor.hsa.agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	(void)interceptor.hsa.agent_get_info(
		agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &of.node);
	of.on_gpu = type == HSA_DEVICE_TYPE_GPU;
	of.agent_uid = agent_tracepoint(agent, of.node);
	(void)interceptor.hsa.iterate_memory_pools(agent, add_pool, &of);
	if (interceptor.hsa.iterate_regions && interceptor.hsa.region_get_info)
		(void)interceptor.hsa.iterate_regions(agent, add_region, &of);
	return HSA_STATUS_SUCCESS;
}

/* Its number, or -1 if it is not known. Not from OnLoad: the runtime must be up. */
static int memory_pools_find(uint64_t handle)
{
	if (!__atomic_load_n(&pool_count, __ATOMIC_ACQUIRE)) {
		agents_init();
		HOLD_LOCK(&pools_lock);
		if (!pools_made)
			(void)interceptor.hsa.iterate_agents(add_agent, NULL);
		/* Pairs with the acquire above and below. */
		__atomic_store_n(&pool_count, pools_made, __ATOMIC_RELEASE);
	}
	for (int i = __atomic_load_n(&pool_count, __ATOMIC_ACQUIRE); i--;)
		if (pools[i].handle == handle)
			return i;
	return -1;
}

/* ---- the stream, and what is in use */

/* Places of memory: pools by number, then kinds without a pool. Totals are by agent, or by kind. */
#define PLACE_KINDS MEMORY_POOLS_MAX
#define PLACES      (PLACE_KINDS + 8)

static struct {
	struct rtl_stream *stream;
	pthread_mutex_t lock;
	struct hash table;       /* the lock's: of struct memory_entry, by key */
	uint64_t in_use[PLACES]; /* the lock's: bytes */
} memory = {.stream = &rtl_stream_none, .lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(memory, memory.lock);

/* ---- what is allocated, so that a release knows what it gives back; under the lock */

/* Entries at most, 96 MiB. */
#define ENTRIES_MOST (1u << 20)

static bool is_used(const void *entry)
{
	return ((const struct memory_entry *)entry)->key;
}

/* As in maps, the key comes first. */
_Static_assert(offsetof(struct memory_entry, key) == offsetof(struct map_entry, key), "map_hash");
static const struct hash_kind kind_of_table = {
	.bytes = sizeof(struct memory_entry),
	.initial = 256,
	.is_used = is_used,
	.hash = map_hash,
	.is_same = map_is_same,
};

/* Valid until the table changes; NULL: there is none. */
static struct memory_entry *find(uint64_t key)
{
	return hash_find(&memory.table, &kind_of_table, hash_number(key), &key);
}

/* Adds an entry, or replaces the one with its key. False: there is no room for it. */
static bool put(const struct memory_entry *entry)
{
	struct memory_entry *place = find(entry->key);

	if (!place && memory.table.count < ENTRIES_MOST)
		place = hash_add(&memory.table, &kind_of_table, hash_number(entry->key),
				 &entry->key);
	if (place)
		*place = *entry;
	return place;
}

/* ---- events */

/* Addresses of different kinds are different things. */
static uint64_t key_of(uint32_t kind, uint64_t address)
{
	const uint32_t space = kind == RTL_HSA_MEM_REGION ? RTL_HSA_MEM_POOL : kind;

	return address ^ (uint64_t)space << 60;
}

/* The lock's: bytes in use of what is in that place. */
static uint64_t *total(uint32_t place)
{
	return &memory.in_use[place < PLACE_KINDS ? pools[place].agent : place];
}

static void publish(const struct memory_operation *op, bool end)
{
	const uint16_t type = op->begin_type + end;
	struct rtl_record *record;
	struct rtl_hsa_mem *payload;
	uint64_t agent = 0;

	if (!rtl_enabled(memory.stream, type))
		return;
	record = rtl_reserve_in_scope(memory.stream, type, sizeof(*payload));
	if (!record)
		return;
	if (op->entry.place < PLACE_KINDS)
		agent = pools[op->entry.place].agent_uid;
	record->uid = call_function_ids[op->number].uid;
	record->parent_uid = agent ? agent : record->parent_uid;
	record->instance = op->instance;
	payload = rtl_record_payload(record);
	*payload = op->mem;
	if (end) {
		payload->begin_ns = rtl_ticks_to_ns(op->begin_ticks);
		payload->end_ns = rtl_ticks_to_ns(record->ticks);
	}
	rtl_commit(record);
}

/* What is known of the place that it is in. */
static void fill_place(struct memory_operation *op)
{
	const struct memory_pool *pool;

	op->mem.pool = op->entry.pool;
	if (op->entry.place >= PLACE_KINDS)
		return;
	pool = &pools[op->entry.place];
	op->mem.segment = pool->segment;
	op->mem.node = pool->node;
	op->mem.flags |= pool->on_gpu ? RTL_HSA_MEM_ON_GPU : 0;
}

static void begin(struct memory_operation *op)
{
	op->mem.function = call_function_ids[op->number].name;
	op->instance = rtl_unique_id();
	publish(op, false);
	op->begin_ticks = rtl_ticks();
}

static void allocate(struct memory_operation *op, uint64_t pool, uint64_t bytes)
{
	const int place = pool ? memory_pools_find(pool) : -1;

	op->begin_type = RTL_MEM_ALLOC_BEGIN;
	op->mem.bytes = bytes;
	op->entry = (struct memory_entry){
		.bytes = bytes,
		.pool = pool,
		.place = place >= 0 ? (uint32_t)place : PLACE_KINDS + op->mem.kind,
		.holders = 1,
	};
	fill_place(op);
	begin(op);
}

/* The lock's. Returns what to count as missed, or NULL. */
static const char *add(const struct memory_entry *entry, uint32_t kind)
{
	struct memory_entry *old = find(entry->key);
	const char *missed = NULL;

	if (old && kind == RTL_HSA_MEM_LOCKED) { /* once more */
		old->holders++;
		return NULL;
	}
	if (old) {
		*total(old->place) -= old->bytes;
		missed = "release of memory that was allocated again";
	}
	if (!put(entry))
		return "allocation without room to remember its size";
	*total(entry->place) += entry->bytes;
	return missed;
}

static void count_in(struct memory_operation *op, uint64_t address)
{
	const char *missed;

	op->mem.address = address;
	op->entry.key = key_of(op->mem.kind, address);
	op->entry.allocated_ns = rtl_ticks_to_ns(op->begin_ticks);
	pthread_mutex_lock(&memory.lock);
	missed = add(&op->entry, op->mem.kind);
	op->mem.in_use_bytes = *total(op->entry.place);
	pthread_mutex_unlock(&memory.lock);
	if (missed)
		rtl_stream_count_missed(memory.stream, missed, 1);
}

/* Before it is released: right after that another thread may get the same address. */
static void release(struct memory_operation *op, uint64_t address)
{
	const uint32_t kind = op->mem.kind;
	struct memory_entry *entry;

	op->begin_type = RTL_MEM_RELEASE_BEGIN;
	op->entry.place = PLACE_KINDS + kind;
	pthread_mutex_lock(&memory.lock);
	entry = find(key_of(kind, address));
	if (entry) {
		op->remembered = true;
		op->entry = *entry;
		if (--entry->holders == 0) {
			*total(entry->place) -= entry->bytes;
			hash_take_out(&memory.table, &kind_of_table, entry);
		}
	}
	op->mem.in_use_bytes = *total(op->entry.place);
	pthread_mutex_unlock(&memory.lock);
	op->mem.address = address;
	op->mem.bytes = op->entry.bytes;
	op->mem.allocated_ns = op->entry.allocated_ns;
	op->mem.flags = op->remembered ? 0 : RTL_HSA_MEM_UNKNOWN;
	fill_place(op);
	begin(op);
}

/* It takes one more release to release what has that key. `released`: it was, and that has failed. */
static void hold(struct memory_operation *op, uint64_t key, bool released)
{
	HOLD_LOCK(&memory.lock);
	struct memory_entry *entry = find(key);

	if (entry)
		entry->holders++;
	else if (released && put(&op->entry))
		*total(op->entry.place) += op->entry.bytes;
	op->mem.in_use_bytes = *total(op->entry.place);
}

/* ---- calls */

/* Not in the child of a fork, nor at the end: the table may be locked for ever there. */
static inline bool is_followed(void)
{
	return memory.stream != &rtl_stream_none && interceptor_on();
}

void memory_begin(struct memory_operation *op, const struct memory_function *function,
		  uint32_t number, const uint64_t *values)
{
	*op = (struct memory_operation){
		.function = function, .number = number, .mem.kind = function->kind};
	if (!is_followed())
		return;
	if (function->does == MEMORY_ALLOCATES || function->does == MEMORY_LOCKS)
		allocate(op, function->pool == MEMORY_NO_POOL ? 0 : values[function->pool],
			 values[function->bytes]);
	else if (function->does == MEMORY_RELEASES && values[function->address])
		release(op, values[function->address]);
}

void memory_end(struct memory_operation *op, const uint64_t *values, uint32_t status)
{
	uint64_t address = values[op->function->address];

	if ((op->function->does == MEMORY_ALLOCATES || op->function->does == MEMORY_RETAINS) &&
	    !status && address)
		memcpy(&address, (const void *)(uintptr_t)address, sizeof(address));
	if (op->function->does == MEMORY_RETAINS && !status && is_followed())
		hold(op, key_of(op->mem.kind, address), false);
	if (!op->begin_ticks)
		return;
	if (op->function->does != MEMORY_RELEASES && !status && values[op->function->address])
		count_in(op, address);
	else if (op->function->does == MEMORY_RELEASES && status && op->remembered)
		hold(op, op->entry.key, true);
	else if (op->function->does == MEMORY_RELEASES && !status && !op->remembered)
		rtl_stream_count_missed(memory.stream, "allocation of memory that was released", 1);
	op->mem.status = calls_status_string((int)status);
	op->mem.flags |= status ? RTL_HSA_MEM_FAILED : 0;
	publish(op, true);
}

/* ---- beginning and end */

bool memory_is_registered(void)
{
	return memory.stream != &rtl_stream_none;
}

void memory_register(void)
{
	if (memory_is_registered() ||
	    (interceptor.config.mode != CONFIG_FULL && !rtl_stream_asked(RTL_STREAM_HSA_MEM)))
		return;
	if (rtl_stream_register(&memory_stream_info, &memory.stream)) {
		rtl_log(RTL_LEVEL_ERROR, "hsa", "no room for the stream of memory");
		return;
	}
	calls_name_all();
}
