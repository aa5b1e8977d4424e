/* SPDX-License-Identifier: MIT */
/* How much a graph launches: nodes are counted when it is instantiated. */
#include "profiler.h"

#include "report.h"
#include "unit.h"

enum { KERNEL, COPY, FILL, HOST, CHILD, EMPTY, BATCH = 14 };

struct node {
	int type;
	struct graph *child;
};

struct graph {
	size_t count;
	struct node nodes[8];
};

static int get_nodes(void *graph, void **nodes, size_t *count)
{
	struct graph *of = graph;

	for (size_t i = 0; nodes && i < of->count; i++)
		nodes[i] = &of->nodes[i];
	*count = of->count;
	return 0;
}

static int get_type(void *node, int *type)
{
	*type = ((struct node *)node)->type;
	return 0;
}

static int get_child(void *node, void **graph)
{
	*graph = ((struct node *)node)->child;
	return 0;
}

void *report_find(const char *symbol)
{
	if (!strcmp(symbol, "hipGraphGetNodes"))
		return (void *)get_nodes;
	if (!strcmp(symbol, "hipGraphNodeGetType"))
		return (void *)get_type;
	return !strcmp(symbol, "hipGraphChildGraphNodeGetGraph") ? (void *)get_child : NULL;
}

static struct graph inner = {.count = 2, .nodes = {{.type = KERNEL}, {.type = COPY}}};
static struct graph outer = {.count = 5,
			     .nodes = {{.type = KERNEL},
				       {.type = FILL},
				       {.type = HOST},
				       {.type = CHILD, .child = &inner},
				       {.type = EMPTY}}};
static uint32_t kernels, copies;

TEST(test_graphs__nodes_and_graphs_within__counted)
{
	assert_false(graphs_find(0x10, &kernels, &copies));
	graphs_note(0x10, (uintptr_t)&outer);
	assert_true(graphs_find(0x10, &kernels, &copies));
	assert_int_equal(kernels, 2);
	assert_int_equal(copies, 2);
	graphs_note(0x10, (uintptr_t)&inner); /* the address came again */
	assert_true(graphs_find(0x10, &kernels, &copies));
	assert_int_equal(kernels, 1);
}

TEST(test_graphs__no_nodes__known)
{
	struct graph none = {0};

	graphs_note(0x20, (uintptr_t)&none);
	assert_true(graphs_find(0x20, &kernels, &copies));
	assert_int_equal(kernels + copies, 0);
}

TEST(test_graphs__what_is_not_known__is_said)
{
	struct graph strange = {.count = 2, .nodes = {{.type = KERNEL}, {.type = BATCH}}};
	struct graph endless = {.count = 1, .nodes = {{.type = CHILD, .child = &endless}}};

	graphs_note(0x30, (uintptr_t)&strange);
	assert_false(graphs_find(0x30, &kernels, &copies));
	graphs_note(0x30, (uintptr_t)&endless);
	assert_false(graphs_find(0x30, &kernels, &copies));
	assert_false(graphs_find(0, &kernels, &copies));
}

TEST(test_graphs__forgotten__not_known)
{
	graphs_note(0x40, (uintptr_t)&inner);
	graphs_forget(0x40);
	assert_false(graphs_find(0x40, &kernels, &copies));
	graphs_forget(0x50);
	assert_false(graphs_find(0x50, &kernels, &copies));
}

TEST(test_graphs__many__known_until_they_are_gone)
{
	for (uint64_t i = 1; i <= 10000; i++)
		graphs_note(i << 16, (uintptr_t)&inner);
	for (uint64_t i = 1; i <= 10000; i += 2)
		graphs_forget(i << 16);
	for (uint64_t i = 1; i <= 10000; i++)
		assert_int_equal(graphs_find(i << 16, &kernels, &copies), !(i % 2));
}

RUN_TESTS(NULL, NULL, NULL, NULL)
