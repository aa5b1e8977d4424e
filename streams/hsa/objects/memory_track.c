/* SPDX-License-Identifier: MIT */
/* Calls that allocate and release memory: see memory_track.h. */
#include "memory_track.h"

#include <pthread.h>
#include <rtl/rtl.h>
#include <string.h>

#include "../../common/fork_lock.h"
#include "../../events/events.h"
#include "calls.h"
#include "interceptor.h"
#include "memory.h"
#include "memory_pools.h"

/* Places of memory: pools, by number, then kinds that belong to no pool. Totals are by agent, and
 * by kind where there is none. */
#define PLACE_KINDS MEMORY_POOLS_MAX
#define PLACES      (PLACE_KINDS + 8)

const char *const memory_function_names[MEMORY_FUNCTIONS] = {
	"hsa_memory_allocate",
	"hsa_memory_free",
	"hsa_amd_memory_pool_allocate",
	"hsa_amd_memory_pool_free",
	"hsa_amd_vmem_handle_create",
	"hsa_amd_vmem_handle_release",
	"hsa_amd_vmem_retain_alloc_handle",
	"hsa_amd_vmem_address_reserve",
	"hsa_amd_vmem_address_reserve_align",
	"hsa_amd_vmem_address_free",
	"hsa_amd_memory_lock",
	"hsa_amd_memory_lock_to_pool",
	"hsa_amd_memory_unlock",
	"hsa_amd_ipc_memory_attach",
	"hsa_amd_ipc_memory_detach",
};

static struct {
	struct rtl_stream *stream;
	const struct call_function_ids *ids[MEMORY_FUNCTIONS];
	pthread_mutex_t lock;
	struct memory_table table; /* the lock's */
	uint64_t in_use[PLACES];   /* the lock's: bytes */
} memory = {.stream = &rtl_stream_none, .lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(memory, memory.lock);

/* Addresses of different kinds are different things. */
static uint64_t key_of(uint32_t kind, uint64_t address)
{
	const uint32_t space = kind == RTL_HSA_MEM_REGION ? RTL_HSA_MEM_POOL : kind;

	return address ^ (uint64_t)space << 60;
}

/* The lock's: bytes in use of what is in that place. */
static uint64_t *total(uint32_t place)
{
	return &memory.in_use[place < PLACE_KINDS ? memory_pools_get((int)place)->agent : place];
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
		agent = memory_pools_get((int)op->entry.place)->agent_uid;
	record->uid = memory.ids[op->function]->uid;
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
	pool = memory_pools_get((int)op->entry.place);
	op->mem.segment = pool->segment;
	op->mem.node = pool->node;
	op->mem.flags |= pool->on_gpu ? RTL_HSA_MEM_ON_GPU : 0;
}

static void begin(struct memory_operation *op)
{
	op->mem.function = memory.ids[op->function]->name;
	op->instance = rtl_unique_id();
	publish(op, false);
	op->begin_ticks = rtl_ticks();
}

static void finish(struct memory_operation *op, hsa_status_t status)
{
	op->mem.status = calls_status_string(status);
	op->mem.flags |= status ? RTL_HSA_MEM_FAILED : 0;
	publish(op, true);
}

/* Not in the child of a fork, nor at the end: the table may be locked for ever there. */
static inline bool is_followed(void)
{
	return __builtin_expect(interceptor_on(), 1);
}

struct memory_operation memory_allocation(enum memory_function function, uint32_t kind,
					  uint64_t pool, uint64_t bytes)
{
	struct memory_operation op = {.function = function, .begin_type = RTL_MEM_ALLOC_BEGIN};
	int place;

	if (!is_followed())
		return op;
	place = pool ? memory_pools_find(pool) : -1;
	op.mem.kind = kind;
	op.mem.bytes = bytes;
	op.entry = (struct memory_entry){
		.bytes = bytes,
		.pool = pool,
		.place = place >= 0 ? (uint32_t)place : PLACE_KINDS + kind,
		.holders = 1,
	};
	fill_place(&op);
	begin(&op);
	return op;
}

/* The lock's. Returns what to count as missed, or NULL. */
static const char *add(const struct memory_entry *entry, uint32_t kind)
{
	struct memory_entry *old = memory_table_find(&memory.table, entry->key);
	const char *missed = NULL;

	if (old && kind == RTL_HSA_MEM_LOCKED) { /* once more */
		old->holders++;
		return NULL;
	}
	if (old) {
		*total(old->place) -= old->bytes;
		missed = "release of memory that was allocated again";
	}
	if (!memory_table_add(&memory.table, entry))
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

hsa_status_t memory_allocated(struct memory_operation *op, hsa_status_t status, const void *address)
{
	if (!op->begin_ticks)
		return status;
	if (!status && address) {
		uint64_t value;

		memcpy(&value, address, sizeof(value));
		count_in(op, value);
	}
	finish(op, status);
	return status;
}

struct memory_operation memory_release(enum memory_function function, uint32_t kind,
				       uint64_t address)
{
	struct memory_operation op = {.function = function, .begin_type = RTL_MEM_RELEASE_BEGIN};
	struct memory_entry *entry;

	if (!address || !is_followed())
		return op;
	op.entry.place = PLACE_KINDS + kind;
	pthread_mutex_lock(&memory.lock);
	entry = memory_table_find(&memory.table, key_of(kind, address));
	if (entry) {
		op.remembered = true;
		op.entry = *entry;
		if (--entry->holders == 0) {
			*total(entry->place) -= entry->bytes;
			memory_table_remove(&memory.table, entry);
		}
	}
	op.mem.in_use_bytes = *total(op.entry.place);
	pthread_mutex_unlock(&memory.lock);
	op.mem.kind = kind;
	op.mem.address = address;
	op.mem.bytes = op.entry.bytes;
	op.mem.allocated_ns = op.entry.allocated_ns;
	op.mem.flags = op.remembered ? 0 : RTL_HSA_MEM_UNKNOWN;
	fill_place(&op);
	begin(&op);
	return op;
}

/* It has not been released after all. */
static void take_back(struct memory_operation *op)
{
	struct memory_entry *entry;

	pthread_mutex_lock(&memory.lock);
	entry = memory_table_find(&memory.table, op->entry.key);
	if (entry)
		entry->holders++;
	else if (memory_table_add(&memory.table, &op->entry))
		*total(op->entry.place) += op->entry.bytes;
	op->mem.in_use_bytes = *total(op->entry.place);
	pthread_mutex_unlock(&memory.lock);
}

hsa_status_t memory_released(struct memory_operation *op, hsa_status_t status)
{
	if (!op->begin_ticks)
		return status;
	if (status && op->remembered)
		take_back(op);
	if (!status && !op->remembered)
		rtl_stream_count_missed(memory.stream, "allocation of memory that was released", 1);
	finish(op, status);
	return status;
}

void memory_retained(uint32_t kind, uint64_t address)
{
	struct memory_entry *entry;

	if (!is_followed())
		return;
	pthread_mutex_lock(&memory.lock);
	entry = memory_table_find(&memory.table, key_of(kind, address));
	if (entry)
		entry->holders++;
	pthread_mutex_unlock(&memory.lock);
}

bool memory_track_init(void)
{
	if (rtl_stream_register(&memory_stream_info, &memory.stream))
		return false;
	calls_name_all();
	for (int i = 0; i < MEMORY_FUNCTIONS; i++)
		memory.ids[i] = &call_function_ids[calls_number(memory_function_names[i])];
	return true;
}

bool memory_track_ready(void)
{
	return memory.stream != &rtl_stream_none;
}

void memory_track_forget(void)
{
	pthread_mutex_lock(&memory.lock);
	memory_table_fini(&memory.table);
	memset(memory.in_use, 0, sizeof(memory.in_use));
	pthread_mutex_unlock(&memory.lock);
	memory_pools_forget();
}
