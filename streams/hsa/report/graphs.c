/* SPDX-License-Identifier: MIT */
#include "profiler.h"

#include <pthread.h>
#include <stdlib.h>

#include "../../common/threads.h"
#include "report.h"

/* Executables that are known at a time. */
#define GRAPHS_MAX 8192u
/* Graphs within graphs. */
#define DEPTH_MAX 16

/* Types of nodes, as HIP numbers them. */
enum {
	NODE_KERNEL,
	NODE_COPY,
	NODE_FILL,
	NODE_HOST,
	NODE_GRAPH,
	NODE_COPY_FROM_SYMBOL = 12,
	NODE_COPY_TO_SYMBOL,
	NODE_UNKNOWN, /* from there on */
};

struct count {
	uint64_t kernels, copies;
};

/* Open addressing. The place of an executable that is gone keeps it, until another one needs a place. */
static struct {
	uint64_t executable; /* release with the first work; acquire */
	uint64_t work;       /* kernels below, copies above, plus 1; 0: not known. Relaxed */
} table[GRAPHS_MAX];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER; /* of who adds */
FORK_LOCK(table, table_lock);

static struct {
	int (*nodes)(void *graph, void **nodes, size_t *count);
	int (*type)(void *node, int *type);
	int (*child)(void *node, void **graph);
} hip;

static bool find_functions(void)
{
	*(void **)&hip.nodes = report_find("hipGraphGetNodes");
	*(void **)&hip.type = report_find("hipGraphNodeGetType");
	*(void **)&hip.child = report_find("hipGraphChildGraphNodeGetGraph");
	return hip.nodes && hip.type && hip.child;
}

static bool count_graph(void *graph, int depth, struct count *count);

static bool count_node(void *node, int depth, struct count *count)
{
	void *child = NULL;
	int type = NODE_UNKNOWN;

	if (hip.type(node, &type) || type < 0 || type >= NODE_UNKNOWN)
		return false;
	count->kernels += type == NODE_KERNEL;
	count->copies += type == NODE_COPY || type == NODE_FILL || type >= NODE_COPY_FROM_SYMBOL;
	return type != NODE_GRAPH ||
	       (!hip.child(node, &child) && child && count_graph(child, depth + 1, count));
}

static bool count_graph(void *graph, int depth, struct count *count)
{
	bool good = depth < DEPTH_MAX;
	void **nodes = NULL;
	size_t total = 0;

	if (!good || hip.nodes(graph, NULL, &total))
		return false;
	if (!total)
		return true;
	nodes = calloc(total, sizeof(*nodes));
	good = nodes && !hip.nodes(graph, nodes, &total);
	for (size_t i = 0; good && i < total; i++)
		good = count_node(nodes[i], depth, count);
	free(nodes);
	return good;
}

static uint32_t home_of(uint64_t executable)
{
	return (uint32_t)(executable * 0x9e3779b97f4a7c15u >> 32) % GRAPHS_MAX;
}

/* The executable's place, or one that none ever had; GRAPHS_MAX: neither. */
static uint32_t place_of(uint64_t executable)
{
	uint32_t at = home_of(executable);

	for (uint32_t i = 0; i < GRAPHS_MAX; i++, at = (at + 1) % GRAPHS_MAX) {
		const uint64_t there = __atomic_load_n(&table[at].executable, __ATOMIC_ACQUIRE);

		if (!there || there == executable)
			return at;
	}
	return GRAPHS_MAX;
}

/* Under the lock: a place for one that has none. */
static uint32_t free_place(uint64_t executable)
{
	uint32_t at = home_of(executable);

	for (uint32_t i = 0; i < GRAPHS_MAX; i++, at = (at + 1) % GRAPHS_MAX)
		if (!table[at].work)
			return at;
	return GRAPHS_MAX;
}

static void set(uint64_t executable, uint64_t work)
{
	uint32_t at;

	pthread_mutex_lock(&table_lock);
	at = place_of(executable);
	if (at == GRAPHS_MAX || !table[at].executable)
		at = work ? free_place(executable) : GRAPHS_MAX;
	if (at < GRAPHS_MAX) {
		__atomic_store_n(&table[at].work, work, __ATOMIC_RELAXED);
		/* With the acquire in place_of. */
		__atomic_store_n(&table[at].executable, executable, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&table_lock);
}

void graphs_note(uint64_t executable, uint64_t graph)
{
	struct count count = {0};
	const bool good = find_functions() && count_graph((void *)(uintptr_t)graph, 0, &count) &&
			  count.kernels < UINT32_MAX - 1 && count.copies < UINT32_MAX - 1;

	if (executable)
		set(executable, good ? (count.copies << 32 | count.kernels) + 1 : 0);
}

void graphs_forget(uint64_t executable)
{
	if (executable)
		set(executable, 0);
}

bool graphs_find(uint64_t executable, uint32_t *kernels, uint32_t *copies)
{
	const uint32_t at = executable ? place_of(executable) : GRAPHS_MAX;
	const uint64_t work = at < GRAPHS_MAX && table[at].executable
				      ? __atomic_load_n(&table[at].work, __ATOMIC_RELAXED)
				      : 0;

	*kernels = (uint32_t)(work - 1);
	*copies = (uint32_t)((work - 1) >> 32);
	return work;
}
