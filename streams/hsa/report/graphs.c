/* SPDX-License-Identifier: MIT */
#include "profiler.h"

#include <map.h>

#include "../../common/threads.h"
#include "report.h"

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

/* What an executable launches: kernels below, copies above, plus 1. In a child of a fork nobody asks. */
static struct map works; /* the lock's */
STATIC_LOCK(works_lock);

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

/* Work 0: it is not known. */
static void set(uint64_t executable, uint64_t work)
{
	HOLD_LOCK(&works_lock);
	if (!executable)
		return;
	if (work)
		(void)map_set(&works, executable, work);
	else
		(void)map_take(&works, executable);
}

void graphs_note(uint64_t executable, uint64_t graph)
{
	struct count count = {0};
	const bool good = find_functions() && count_graph((void *)(uintptr_t)graph, 0, &count) &&
			  count.kernels < UINT32_MAX - 1 && count.copies < UINT32_MAX - 1;

	set(executable, good ? (count.copies << 32 | count.kernels) + 1 : 0);
}

void graphs_forget(uint64_t executable)
{
	set(executable, 0);
}

bool graphs_find(uint64_t executable, uint32_t *kernels, uint32_t *copies)
{
	HOLD_LOCK(&works_lock);
	const uint64_t work = map_get(&works, executable);

	*kernels = (uint32_t)(work - 1);
	*copies = (uint32_t)((work - 1) >> 32);
	return work;
}
