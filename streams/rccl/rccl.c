/* SPDX-License-Identifier: MIT */
/*
 * librtl_rccl.so, the profiler plugin of RCCL and NCCL (NCCL_PROFILER_PLUGIN): collectives, sends and receives become
 * events of rtl.rccl. RCCL takes one plugin, so this one passes everything on to the user's (RTL_RCCL_PLUGIN, or what
 * RCCL would have loaded), whose handles and contexts stay its own.
 *
 * RCCL looks the versions of the interface up from the newest one it knows, and takes one for the whole process. Those
 * that the user's plugin lacks are not found here either, so that it gets what it was made for: the symbols are
 * functions of which dlsym gives what a resolver returns.
 *
 * Threads: any, those of RCCL. No locks. Whatever happens here, RCCL is told that it went well.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <rtl/events/rccl.h>
#include <rtl/rtl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../common/text.h"
#include "events/events.h"
#include "interface.h"

#define EXPORT        __attribute__((visibility("default")))
#define COUNT_OF(a)   (sizeof(a) / sizeof(*(a)))
#define USERS_DEFAULT "librccl-profiler.so"

/* A rank of a communicator: RCCL's context. */
struct comm {
	int version;
	const struct profiler *next; /* the user's plugin; NULL: none, or it did not want this */
	void *context;               /* its own */
	uint64_t hash;
	int32_t ranks, rank; /* 0 to version 3: events tell the rank */
};

static struct rtl_stream *stream = &rtl_stream_none;
/* librtl_rocm's: the thread's last call that launched something. */
static uint64_t (*last_work)(void);
/* The user's plugin by version, and the one that RCCL uses: set before any event. */
static const struct profiler *users[PROFILER_VERSIONS + 1], *next;
static bool has_user;

/* The handle of a group where nobody has one: up to version 4 RCCL tells of no operations in a group that has none. */
static char no_group[1];

/* ---- names */

/* RCCL 7.1.0 has wild pointers among them. */
static uint64_t name_at(uint64_t address)
{
	struct text text;
	uint64_t id = 0;
	bool good;

	text_read(&text, address);
	good = text.length > 0;
	for (uint32_t i = 0; i < text.length; i++)
		good &= text.bytes[i] > ' ' && text.bytes[i] <= '~';
	text.bytes[text.length] = '\0';
	if (address)
		(void)rtl_string_intern(good ? text.bytes : "(unknown)", &id);
	return id;
}

/* ---- events */

/* The bits of an element are in its type's name: ncclFloat8e4m3. */
static uint64_t bytes_of(const struct rtl_rccl *op)
{
	static const char *const of_all[] = {"AllGather", "ReduceScatter", "AllToAll"};
	const char *type = rtl_string_text(op->datatype), *name = rtl_string_text(op->operation);
	uint64_t bytes =
		type ? op->count * (strtoul(type + strcspn(type, "0123456789"), NULL, 10) / 8) : 0;

	for (size_t i = 0; name && i < COUNT_OF(of_all); i++)
		if (op->ranks > 0 && !strncasecmp(name, of_all[i], strlen(of_all[i])))
			bytes *= (uint64_t)op->ranks;
	return bytes;
}

/* The next member of a descriptor. */
static uint64_t take(const char **at, uint32_t size)
{
	const uintptr_t address = ((uintptr_t)*at + size - 1) & ~(uintptr_t)(size - 1);

	*at = (const char *)address + size;
	return value_load(address, size, false);
}

static void read_collective(const char **at, int version, struct rtl_rccl *op)
{
	op->sequence = take(at, 8);
	op->operation = name_at(take(at, 8));
	take(at, 8);
	take(at, 8);
	op->count = take(at, 8);
	op->root = (int32_t)take(at, 4);
	op->datatype = name_at(take(at, 8));
	if (version < 3)
		take(at, 8);
	op->channels = (uint32_t)take(at, 1);
	take(at, 1);
	op->algorithm = name_at(take(at, 8));
	op->protocol = name_at(take(at, 8));
}

static void read_p2p(const char **at, int version, struct rtl_rccl *op)
{
	op->operation = name_at(take(at, 8));
	take(at, 8);
	op->datatype = name_at(take(at, 8));
	op->count = take(at, 8);
	op->peer = (int32_t)take(at, 4);
	if (version > 3)
		op->channels = (uint32_t)take(at, 1);
}

static void publish(uint16_t type, const void *payload, uint32_t size, uint64_t correlation)
{
	struct rtl_record *record = rtl_reserve_in_scope(stream, type, size);

	if (!record)
		return;
	memcpy(rtl_record_payload(record), payload, size);
	record->correlation = correlation;
	rtl_commit(record);
}

static void publish_operation(const struct comm *comm, const struct profile_head *head,
			      bool is_collective)
{
	const char *at = (const char *)&head->rank + sizeof(head->rank);
	struct rtl_rccl op = {.communicator = comm->hash,
			      .ranks = comm->ranks,
			      .rank = comm->version < 4 ? head->rank : comm->rank,
			      .root = -1,
			      .peer = -1};

	if (!rtl_enabled(stream, RTL_SIGNAL))
		return;
	if (comm->version < 4) {
		take(&at, 8);
		op.communicator = take(&at, 8);
	}
	(is_collective ? read_collective : read_p2p)(&at, comm->version, &op);
	op.bytes = bytes_of(&op);
	publish(RTL_SIGNAL, &op, sizeof(op), last_work ? last_work() : 0);
}

static int start(void *context, void **handle, void *descriptor)
{
	const struct comm *comm = context;
	struct profile_head *head = descriptor;
	int status = 0;

	*handle = NULL;
	if (!comm)
		return 0;
	const uint64_t type = comm->version < 5 ? head->type : head->type_5;

	if (head->parent == no_group)
		head->parent = NULL;
	if (comm->next)
		status = comm->next->start(comm->context, handle, descriptor);
	if (type == PROFILE_COLL || type == PROFILE_P2P)
		publish_operation(comm, head, type == PROFILE_COLL);
	if (type == PROFILE_GROUP && !*handle && comm->version < 5)
		*handle = no_group;
	return status;
}

static int stop(void *handle)
{
	return next && handle && handle != no_group ? next->stop(handle) : 0;
}

static int state(void *handle, int state, void *arguments)
{
	return next && handle && handle != no_group ? next->state(handle, state, arguments) : 0;
}

/* ---- communicators */

static void start_stream(void)
{
	*(void **)&last_work = dlsym(RTLD_DEFAULT, "rtl_rocm_last_work");
	if (rtl_stream_register(&rccl_stream_info, &stream))
		rtl_log(RTL_LEVEL_ERROR, "rccl", "no room for the stream %s", RTL_STREAM_RCCL);
}

/* Of the user's plugin. */
static int init_next(struct comm *comm, int *mask, const char *name, int nodes, void *log)
{
	void *const init = (void *)comm->next->init;

	if (comm->version < 4)
		return ((profiler_init_2 *)init)(&comm->context, mask);
	if (comm->version == 4)
		return ((profiler_init_4 *)init)(&comm->context, mask, name, comm->hash, nodes,
						 comm->ranks, comm->rank, log);
	return ((profiler_init_5 *)init)(&comm->context, comm->hash, mask, name, nodes, comm->ranks,
					 comm->rank, log);
}

static int init(int version, void **context, int *mask, const char *name, uint64_t hash, int nodes,
		int ranks, int rank, void *log)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct comm *comm = calloc(1, sizeof(*comm));
	uint64_t name_id = 0;

	*context = comm;
	pthread_once(&once, start_stream);
	if (!comm)
		return 0;
	*comm = (struct comm){version, users[version], NULL, hash, ranks, rank};
	__atomic_store_n(&next, comm->next, __ATOMIC_RELAXED); /* the same each time */
	if (comm->next && init_next(comm, mask, name, nodes, log)) {
		rtl_log(RTL_LEVEL_WARNING, "rccl",
			"the profiler plugin %s fails for a communicator", comm->next->name);
		comm->next = NULL;
	}
	*mask = (comm->next ? *mask : 0) | PROFILE_COLL | PROFILE_P2P;
	if (name)
		(void)rtl_string_intern(name, &name_id);
	if (version > 3 && rtl_enabled(stream, RTL_METADATA))
		publish(RTL_METADATA,
			&(struct rtl_rccl_communicator){hash, name_id, ranks, rank, nodes, 0},
			sizeof(struct rtl_rccl_communicator), 0);
	return 0;
}

static int finalize(void *context)
{
	struct comm *comm = context;
	const int status = comm && comm->next ? comm->next->finalize(comm->context) : 0;

	free(comm);
	return status;
}

/* ---- what RCCL finds */

/* As RCCL does: a file, or a part of a library's name. */
static void find_users(void)
{
	const char *name = getenv("RTL_RCCL_PLUGIN");
	const bool asked = name && *name;
	char longer[256], symbol[] = "ncclProfiler_v0";
	void *library;

	if (asked && !strcasecmp(name, "none"))
		return;
	library = dlopen(asked ? name : USERS_DEFAULT, RTLD_NOW | RTLD_LOCAL);
	if (!library && asked && !strchr(name, '/')) {
		snprintf(longer, sizeof(longer), "librccl-profiler-%s.so", name);
		library = dlopen(longer, RTLD_NOW | RTLD_LOCAL);
	}
	for (int i = 2; library && i <= PROFILER_VERSIONS; i++) {
		symbol[sizeof(symbol) - 2] = (char)('0' + i);
		users[i] = dlsym(library, symbol);
		has_user |= users[i] != NULL;
	}
	if (asked && !has_user)
		rtl_log(RTL_LEVEL_WARNING, "rccl",
			"the profiler plugin %s is not used: no such library, or none of version 2 "
			"to 5",
			name);
	(void)dlerror(); /* RCCL's is about its own search */
}

static bool is_there(int version)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_users);
	return !has_user || users[version];
}

/* A version's symbol. The parameters are those of its init, and what it passes on. */
#define VERSION(n, parameters, ...)                                                                \
	static int init_##n parameters                                                             \
	{                                                                                          \
		return __VA_ARGS__;                                                                \
	}                                                                                          \
	static const struct profiler profiler_##n = {                                              \
		"rtl", (void (*)(void))init_##n, start, stop, state, finalize};                    \
	static __attribute__((used)) void (*resolve_##n(void))(void)                               \
	{                                                                                          \
		return (void (*)(void))(uintptr_t)(is_there(n) ? &profiler_##n : NULL);            \
	}                                                                                          \
	EXPORT void ncclProfiler_v##n(void) __attribute__((ifunc("resolve_" #n)));

VERSION(2, (void **context, int *mask), init(2, context, mask, NULL, 0, 0, 0, 0, NULL))
VERSION(3, (void **context, int *mask), init(3, context, mask, NULL, 0, 0, 0, 0, NULL))
VERSION(4,
	(void **context, int *mask, const char *name, uint64_t hash, int nodes, int ranks, int rank,
	 void *log),
	init(4, context, mask, name, hash, nodes, ranks, rank, log))
VERSION(5,
	(void **context, uint64_t hash, int *mask, const char *name, int nodes, int ranks, int rank,
	 void *log),
	init(5, context, mask, name, hash, nodes, ranks, rank, log))

/* For `rtl list-streams`. */
EXPORT const struct rtl_stream_info *const *rtl_publisher_streams(size_t *count);

const struct rtl_stream_info *const *rtl_publisher_streams(size_t *count)
{
	static const struct rtl_stream_info *const streams[] = {&rccl_stream_info};

	*count = COUNT_OF(streams);
	return streams;
}
