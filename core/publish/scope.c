/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <errno.h>
#include <sys/mman.h>

#include "bus.h"

struct entry {
	uint64_t uid;
	uint64_t instance;
	uint64_t correlation;
	uint64_t kept; /* 1: complete. Entries from `depth` on have 0 */
};

struct stashed {
	uint64_t key; /* 0: free */
	uint64_t value;
};

struct thread {
	uint32_t depth;     /* of the stack, those counted only included */
	uint32_t stash_top; /* slots from here on were never used */
	struct entry entries[RTL_SCOPE_DEPTH_MAX];
	struct stashed stash[RTL_STASH_MAX];
};

_Static_assert(sizeof(struct thread) <= 4096, "a page for each thread");

static __thread struct thread *self __attribute__((tls_model("initial-exec")));
static pthread_key_t exit_key;
static bool exit_key_made;

/* Destructors of the thread that come later get another page. */
static void thread_exit(void *page)
{
	if (self == page)
		self = NULL;
	munmap(page, sizeof(struct thread));
}

/* Early, so that it is one of the keys that need no memory. */
__attribute__((constructor(102))) static void make_exit_key(void)
{
	if (!exit_key_made)
		exit_key_made = !pthread_key_create(&exit_key, thread_exit);
}

/* No malloc: this may be a signal handler that has interrupted the program's. */
__attribute__((noinline, cold)) static struct thread *attach(void)
{
	int err = errno; /* the program's */
	void *page = mmap(NULL, sizeof(struct thread), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = err;
	if (page == MAP_FAILED)
		return NULL;
	BARRIER();
	if (self) { /* a handler was here before us */
		munmap(page, sizeof(struct thread));
		return self;
	}
	self = page;
	/* before our constructor, or without room for it, the page outlives the thread */
	if (exit_key_made)
		pthread_setspecific(exit_key, page);
	return self;
}

/* ---- scopes */

/* The depth of the innermost complete entry, as a handler may have interrupted push or pop; 0: none. */
static inline uint32_t innermost(const struct thread *thread)
{
	uint32_t depth = thread ? thread->depth : 0;

	if (UNLIKELY(depth > RTL_SCOPE_DEPTH_MAX))
		depth = RTL_SCOPE_DEPTH_MAX;
	while (depth && UNLIKELY(!thread->entries[depth - 1].kept))
		depth--;
	return depth;
}

/* What a scope takes from the one around it. */
static __attribute__((noinline)) void inherit(const struct thread *thread, uint64_t *uid,
					      uint64_t *correlation)
{
	const uint32_t depth = innermost(thread);

	if (!depth)
		return;
	if (!*uid)
		*uid = thread->entries[depth - 1].uid;
	if (!*correlation)
		*correlation = thread->entries[depth - 1].correlation;
}

static inline uint32_t push(uint64_t uid, uint64_t instance, uint64_t correlation)
{
	struct thread *thread = self;
	struct entry *entry;
	uint32_t depth;

	if (UNLIKELY(!thread) && !(thread = attach()))
		return 0;
	if (!uid || !correlation)
		inherit(thread, &uid, &correlation);
	depth = thread->depth + 1;
	thread->depth = depth; /* from here on the entry is ours, and not complete */
	BARRIER();
	if (UNLIKELY(depth > RTL_SCOPE_DEPTH_MAX))
		return depth;
	entry = &thread->entries[depth - 1];
	entry->uid = uid;
	entry->instance = instance;
	entry->correlation = correlation;
	BARRIER();
	entry->kept = 1;
	return depth;
}

static inline void pop(uint32_t depth)
{
	struct thread *thread = self;

	if (UNLIKELY(!thread || !depth))
		return;
	for (uint32_t top = thread->depth; top >= depth; top--) {
		if (LIKELY(top <= RTL_SCOPE_DEPTH_MAX))
			thread->entries[top - 1].kept = 0;
		BARRIER(); /* not ours any more only when it is not complete any more */
		thread->depth = top - 1;
		BARRIER();
	}
}

uint32_t rtl_scope_push(uint64_t uid, uint64_t instance, uint64_t correlation)
{
	return push(uid, instance, correlation);
}

void rtl_scope_pop(uint32_t depth)
{
	pop(depth);
}

int rtl_scope_current(struct rtl_scope *scope)
{
	const struct thread *thread = self;
	const struct entry *entry;
	uint32_t depth;

	if (UNLIKELY(!scope || scope->struct_size < sizeof(*scope)))
		return RTL_EINVAL;
	depth = innermost(thread);
	if (!depth)
		return RTL_ENOENT;
	entry = &thread->entries[depth - 1];
	scope->depth = depth;
	scope->uid = entry->uid;
	scope->instance = entry->instance;
	scope->correlation = entry->correlation;
	return 0;
}

/* What encloses a record, from the innermost scope; zeros if there is none. */
static void fill_scope(uint64_t *parent_uid, uint64_t *correlation)
{
	*parent_uid = *correlation = 0;
	inherit(self, parent_uid, correlation);
}

struct rtl_record *rtl_reserve_in_scope(struct rtl_stream *stream, uint16_t type,
					uint32_t payload_size)
{
	struct rtl_record *record = rtl_reserve(stream, type, payload_size);

	if (record)
		fill_scope(&record->parent_uid, &record->correlation);
	return record;
}

/* ---- stash */

static struct stashed *find(struct thread *thread, uint64_t key)
{
	for (uint32_t i = 0; thread && i < thread->stash_top; i++)
		if (thread->stash[i].key == key)
			return &thread->stash[i];
	return NULL;
}

/* The key takes a free slot in one step, so that a handler takes another. Until the value is there, a handler reads
 * the slot's last one: so remove clears it. */
static int add(struct thread *thread, uint64_t key, uint64_t value)
{
	for (uint32_t i = 0; i < RTL_STASH_MAX; i++) {
		uint64_t none = 0;

		/* relaxed: only this thread is here, and its handlers */
		if (thread->stash[i].key ||
		    !__atomic_compare_exchange_n(&thread->stash[i].key, &none, key, false,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		BARRIER();
		if (thread->stash_top <= i)
			thread->stash_top = i + 1;
		thread->stash[i].value = value;
		return 0;
	}
	return RTL_ELIMIT;
}

int rtl_stash_set(uint64_t key, uint64_t value)
{
	struct thread *thread = self;
	struct stashed *slot;

	if (!key)
		return RTL_EINVAL;
	if (UNLIKELY(!thread) && !(thread = attach()))
		return RTL_ENOMEM;
	slot = find(thread, key);
	if (!slot)
		return add(thread, key, value);
	slot->value = value;
	return 0;
}

int rtl_stash_get(uint64_t key, uint64_t *value)
{
	const struct stashed *slot;

	if (!key || !value)
		return RTL_EINVAL;
	slot = find(self, key);
	if (!slot)
		return RTL_ENOENT;
	*value = slot->value;
	return 0;
}

int rtl_stash_remove(uint64_t key)
{
	struct stashed *slot;
	int err = RTL_ENOENT;

	if (!key)
		return RTL_ENOENT;
	/* all: a handler may have added the key while we did */
	while ((slot = find(self, key))) {
		slot->value = 0;
		BARRIER();
		slot->key = 0;
		err = 0;
	}
	return err;
}

/* ---- call sites */

__attribute__((noinline, cold)) static uint64_t register_site(struct rtl_site *site)
{
	struct rtl_tracepoint_desc desc = {
		.struct_size = sizeof(desc),
		.line = site->line,
		.kind = "region",
		.name = site->name && *site->name ? site->name : site->function,
		.source = site->file,
		.code = site,
	};
	uint64_t uid, name;

	if (!desc.name || rtl_string_intern(desc.name, &name) ||
	    rtl_tracepoint_register(&desc, &uid))
		return 0;
	if (site->function)
		rtl_tracepoint_set(uid, "function", site->function);
	/* release: with the acquire in rtl_site_register, then the definitions stand before any
	 * record that names them */
	__atomic_store_n(&site->name_string, name, __ATOMIC_RELAXED);
	__atomic_store_n(&site->uid, uid, __ATOMIC_RELEASE);
	return uid;
}

uint64_t rtl_site_register(struct rtl_site *site)
{
	uint64_t uid;

	if (!site || site->struct_size < sizeof(*site))
		return 0;
	uid = __atomic_load_n(&site->uid, __ATOMIC_ACQUIRE);
	return uid ? uid : register_site(site);
}

/* ---- spans */

bool scope_span_is_open(const struct rtl_span *span)
{
	return span && span->struct_size >= sizeof(*span) && span->stream &&
	       span->stream != &rtl_stream_none;
}

void scope_open_span(struct rtl_span *span)
{
	uint64_t correlation;

	fill_scope(&span->parent_uid, &correlation);
	if (!span->correlation)
		span->correlation = correlation;
	span->instance = rtl_unique_id();
	span->scope = 0;
	if (!(span->flags & RTL_SPAN_DETACHED))
		span->scope = push(span->uid, span->instance, span->correlation);
}

void scope_close_span(struct rtl_span *span)
{
	pop(span->scope);
	span->scope = 0;
	span->stream = NULL;
}

struct rtl_record *scope_reserve(const struct rtl_span *span, uint16_t type, uint32_t payload_size)
{
	struct rtl_record *record = rtl_reserve(span->stream, type, payload_size);

	if (!record)
		return NULL;
	record->uid = span->uid;
	record->parent_uid = span->parent_uid;
	record->instance = span->instance;
	record->correlation = span->correlation;
	return record;
}

static void publish(const struct rtl_span *span, uint16_t type, const void *payload, uint32_t size)
{
	const struct rtl_type_info *info;
	struct rtl_record *record;

	if (!rtl_enabled(span->stream, type))
		return;
	if (!payload) { /* what the description says, all 0 */
		info = stream_type_info(span->stream->number, type);
		size = info ? info->payload_size : 0;
	}
	record = scope_reserve(span, type, size);
	if (!record)
		return;
	if (payload)
		memcpy(rtl_record_payload(record), payload, size);
	else
		memset(rtl_record_payload(record), 0, size);
	rtl_commit(record);
}

/* The begin stands before what happens in its scope, the end behind it. */
void rtl_span_begin(struct rtl_span *span, const void *payload, uint32_t payload_size)
{
	if (!scope_span_is_open(span))
		return;
	scope_open_span(span);
	publish(span, span->begin_type, payload, payload_size);
}

void rtl_span_finish(struct rtl_span *span, const void *payload, uint32_t payload_size)
{
	if (!scope_span_is_open(span))
		return;
	publish(span, span->end_type, payload, payload_size);
	scope_close_span(span);
}
