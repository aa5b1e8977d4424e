/* SPDX-License-Identifier: MIT */
#include "ranges.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../common/fork_lock.h"
#include "../common/outside.h"

/* ---- pushed */

struct stack {
	int32_t level;
	uint32_t count, capacity;
	struct range *ranges; /* names of them are offsets into `names` */
	char *names;          /* one behind the other, as the ranges */
	size_t names_used, names_size;
};

static __thread struct stack *self __attribute__((tls_model("initial-exec")));
static pthread_key_t exit_key;

static void free_stack(void *stack_)
{
	struct stack *stack = stack_;

	for (uint32_t i = 0; i < stack->count; i++) /* nobody will end them */
		if (stack->ranges[i].selects)
			outside_range_closes();
	free(stack->ranges);
	free(stack->names);
	free(stack);
	if (self == stack)
		self = NULL;
}

static void make_key(void)
{
	(void)pthread_key_create(&exit_key, free_stack);
}

static struct stack *my_stack(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (self)
		return self;
	pthread_once(&once, make_key);
	self = calloc(1, sizeof(*self));
	if (self)
		(void)pthread_setspecific(exit_key, self);
	return self;
}

static bool make_room(struct stack *stack, size_t name_length)
{
	if (stack->count == stack->capacity) {
		const uint32_t capacity = stack->capacity ? 2 * stack->capacity : 16;
		struct range *ranges =
			reallocarray(stack->ranges, capacity, sizeof(*stack->ranges));

		if (!ranges)
			return false;
		stack->ranges = ranges;
		stack->capacity = capacity;
	}
	if (name_length > stack->names_size - stack->names_used) {
		const size_t size = 2 * stack->names_size + RANGE_NAME_BYTES;
		char *names = realloc(stack->names, size);

		if (!names)
			return false;
		stack->names = names;
		stack->names_size = size;
	}
	return true;
}

int32_t ranges_level(void)
{
	return self ? self->level : 0;
}

const struct range *ranges_top(void)
{
	return self && self->count ? &self->ranges[self->count - 1] : NULL;
}

bool ranges_push(const struct range *range)
{
	struct stack *stack = my_stack();
	struct range *kept;

	if (!stack)
		return false;
	stack->level++;
	if (!range)
		return true;
	if (!make_room(stack, range->name_length))
		return false;
	kept = &stack->ranges[stack->count++];
	*kept = *range;
	kept->level = stack->level - 1;
	if (range->name_length)
		memcpy(stack->names + stack->names_used, range->name, range->name_length);
	stack->names_used += range->name_length;
	return true;
}

bool ranges_pop(struct range *range)
{
	struct stack *stack = self;

	if (!stack || !stack->level)
		return false;
	stack->level--;
	if (!stack->count || stack->ranges[stack->count - 1].level != stack->level)
		return false;
	*range = stack->ranges[--stack->count];
	stack->names_used -= range->name_length;
	range->name = stack->names + stack->names_used;
	return true;
}

/* ---- started */

struct started {
	struct started *next;
	struct range range;
	char name[];
};

#define BUCKETS 256u

static struct {
	pthread_mutex_t lock;
	struct started *buckets[BUCKETS];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(table, table.lock);

static struct started **bucket_of(uint64_t id)
{
	return &table.buckets[id * 0x9e3779b97f4a7c15u >> 56];
}

/* Under the lock. */
static struct started *take_out(uint64_t id)
{
	for (struct started **place = bucket_of(id); *place; place = &(*place)->next) {
		struct started *found = *place;

		if (found->range.id != id)
			continue;
		*place = found->next;
		return found;
	}
	return NULL;
}

bool ranges_start(const struct range *range)
{
	struct started *started = malloc(sizeof(*started) + range->name_length);
	struct started *old;

	if (!started)
		return false;
	started->range = *range;
	if (range->name_length)
		memcpy(started->name, range->name, range->name_length);
	pthread_mutex_lock(&table.lock);
	old = take_out(range->id);
	started->next = *bucket_of(range->id);
	/* release: complete in a child that is forked now, too */
	__atomic_store_n(bucket_of(range->id), started, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&table.lock);
	free(old);
	return true;
}

bool ranges_stop(uint64_t id, struct range *range, char name[RANGE_NAME_BYTES])
{
	struct started *found;

	pthread_mutex_lock(&table.lock);
	found = take_out(id);
	pthread_mutex_unlock(&table.lock);
	if (!found)
		return false;
	*range = found->range;
	memcpy(name, found->name, range->name_length);
	range->name = name;
	free(found);
	return true;
}
