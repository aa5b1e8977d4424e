/* SPDX-License-Identifier: MIT */
/* See sink.h: which calls captured or added the nodes of graphs. */
#include <fnmatch.h>

#include "model.h"
#include "sink.h"

#define ORIGINS_MOST   (1u << 17)
#define THREADS_STREAM 2u /* hipStreamPerThread */

enum { KERNELS, COPIES, FILLS, CLASSES };

/* The calls that made the nodes of a graph, by what these are. */
struct origin_list {
	struct origins_of {
		uint32_t count;
		struct summary_origin *each; /* of a list in order */
		struct summary_origin all;   /* what they have in common */
	} of[CLASSES];
	bool is_open;  /* its capture has not ended */
	bool in_order; /* one thread captured one stream */
	bool is_partial;
};

static const struct summary_group *const unknown_range;

enum graph_call graph_call_of(const char *name)
{
	static const struct {
		const char *pattern;
		enum graph_call is;
	} calls[] = {
		{"hipGraphLaunch*", GRAPH_LAUNCH},
		{"hipGraphInstantiate*", GRAPH_INSTANTIATE},
		{"hipGraphExecDestroy", GRAPH_EXEC_DESTROY},
		{"hipGraphExecUpdate", GRAPH_UPDATE},
		{"hipGraphClone", GRAPH_CLONE},
		{"hipGraphCreate", GRAPH_CREATE},
		{"hipGraphDestroy", GRAPH_DESTROY},
		{"hip*GraphAddMem[cs][pe][yt]Node*", GRAPH_ADD},
		{"hipGraphAddKernelNode", GRAPH_ADD},
		{"hipGraphAddChildGraphNode", GRAPH_ADD_GRAPH},
		{"hipGraphAddNode", GRAPH_ADD_OTHER},
		{"hipStreamBeginCapture", GRAPH_BEGIN_CAPTURE},
		{"hipStreamBeginCapture_spt", GRAPH_BEGIN_CAPTURE},
		{"hipStreamEndCapture*", GRAPH_END_CAPTURE},
		{"hipEventRecord*", GRAPH_RECORD},
		{"hipStreamWaitEvent*", GRAPH_WAIT},
		{"hipStreamUpdateCaptureDependencies*", GRAPH_FORK},
		{"hip*Launch*Kernel*", GRAPH_WORK},
		{"hipMem[cs][pe][yt]*", GRAPH_WORK},
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!fnmatch(calls[i].pattern, name, 0))
			return calls[i].is;
	return GRAPH_OTHER;
}

static uint64_t key_of(const struct rtl_event *event, uint64_t object)
{
	return hash_pair(event->process->number, object);
}

/* NULL: the capture has ended, or there was none. */
static struct origin_list *capture_at(const struct map *map, uint64_t key)
{
	struct origin_list *list = map_pointer(map, key);

	return list && list->is_open ? list : NULL;
}

/* ---- lists */

/* So many more nodes have this in common. */
static void share(struct origins_of *of, uint32_t count, const struct summary_origin *is)
{
	struct summary_origin *all = &of->all;

	*all = of->count ? *all : *is;
	all->function = all->function == is->function ? all->function : NULL;
	all->tid = all->tid == is->tid ? all->tid : 0;
	all->range = all->range == is->range ? all->range : &unknown_range;
	of->count += count;
}

/* Appends the call of an event, which makes a node. False: out of memory, as below. */
static bool append(struct origins *origins, struct origin_list *list, const struct rtl_event *event,
		   const char *name)
{
	const struct rtl_hip_call *call = event->payload;
	const uint64_t key = key_of(event, call->parent);
	const struct summary_group *function = summary_group(
		summary_section(origins->summary, RTL_STREAM_HIP_CALL, "function", "HIP calls"),
		name);
	const struct summary_group **range =
		call->parent ? map_pointer(&origins->ranges, key) : NULL;
	struct origins_of *of = &list->of[strstr(name, "Kernel")   ? KERNELS
					  : strstr(name, "Memcpy") ? COPIES
								   : FILLS];
	const uint32_t n = of->count;
	struct summary_origin *larger;

	list->is_partial |= ++origins->count > ORIGINS_MOST;
	if (list->is_partial || !function)
		return list->is_partial;
	if (call->parent && !range &&
	    (!(range = summary_alloc(origins->summary, sizeof(*range))) ||
	     !map_set(&origins->ranges, key, (uintptr_t)range)))
		return false;
	const struct summary_origin is = {function->name, event->tid, range};

	share(of, 1, &is);
	list->in_order &= of->all.tid == is.tid;
	if (list->in_order && !(n & (n - 1))) {
		larger = summary_alloc(origins->summary, (n ? 2 * n : 1) * sizeof(*larger));
		if (!larger)
			return false;
		if (n)
			memcpy(larger, of->each, n * sizeof(*larger));
		of->each = larger;
	}
	if (list->in_order)
		of->each[n] = is;
	return true;
}

/* Of a graph or executable: a copy of that one, as it is now. */
static bool set_list(struct origins *origins, uint64_t key, const struct origin_list *from)
{
	struct origin_list *list = NULL;

	(void)map_take(&origins->lists, key);
	if (!from || ++origins->count > ORIGINS_MOST)
		return true;
	list = summary_alloc(origins->summary, sizeof(*list));
	if (list)
		*list = *from;
	return list && map_set(&origins->lists, key, (uintptr_t)list);
}

bool origins_take(struct origins *origins, enum graph_call is, const struct rtl_event *event,
		  const char *name, const struct rtl_value values[3])
{
	const struct rtl_hip_call *call = event->payload;
	const uint64_t first = key_of(event, values[0].number);
	const uint64_t second = key_of(event, values[1].number);
	const bool own = call->hip_stream == THREADS_STREAM;
	const uint64_t stream = key_of(event, call->hip_stream) + (own ? event->tid : 0);
	struct origin_list *list, *child, *captured = capture_at(&origins->streams, stream);

	if (captured && (is == GRAPH_BEGIN_CAPTURE || is == GRAPH_END_CAPTURE)) {
		captured->is_open = false;
		origins->captures--;
	}
	switch (is) {
	case GRAPH_BEGIN_CAPTURE:
		if (++origins->count > ORIGINS_MOST)
			return true;
		list = summary_alloc(origins->summary, sizeof(*list));
		if (!list)
			return false;
		list->is_open = list->in_order = true;
		origins->captures++;
		return map_set(&origins->streams, stream, (uintptr_t)list);
	case GRAPH_END_CAPTURE:
		return call->flags & RTL_HIP_CALL_FAILED || set_list(origins, second, captured);
	case GRAPH_WORK:
		return !captured || !(call->flags & RTL_HIP_CALL_STREAM) ||
		       append(origins, captured, event, name);
	case GRAPH_FORK:
		if (captured)
			captured->in_order = false;
		return true;
	case GRAPH_RECORD:
		(void)map_take(&origins->events, first);
		return !captured || map_set(&origins->events, first, (uintptr_t)captured);
	case GRAPH_WAIT:
		list = capture_at(&origins->events, second);
		if (!list || list == captured)
			return true;
		list->in_order = false;
		return map_set(&origins->streams, stream, (uintptr_t)list);
	case GRAPH_INSTANTIATE:
	case GRAPH_UPDATE:
	case GRAPH_CLONE:
		return set_list(origins, first, map_pointer(&origins->lists, second));
	case GRAPH_ADD:
	case GRAPH_ADD_GRAPH:
	case GRAPH_ADD_OTHER:
		list = map_pointer(&origins->lists, second);
		if (!list)
			return true;
		list->in_order = false;
		if (is == GRAPH_ADD)
			return append(origins, list, event, name);
		child = is == GRAPH_ADD_GRAPH
				? map_pointer(&origins->lists, key_of(event, values[2].number))
				: NULL;
		list->is_partial |= !child || child->is_partial;
		for (int i = 0; child && i < CLASSES; i++)
			if (child->of[i].count)
				share(&list->of[i], child->of[i].count, &child->of[i].all);
		return true;
	default: /* there may be another one at its address */
		return set_list(origins, first,
				is == GRAPH_CREATE ? &(struct origin_list){0} : NULL);
	}
}

void origins_name_range(struct origins *origins, const struct rtl_event *event,
			const struct summary_group *name)
{
	const uint64_t key = key_of(event, event->instance);
	const struct summary_group **range = map_pointer(&origins->ranges, key);

	if (range)
		*range = name;
}

/* ---- nodes */

static unsigned class_of(const struct summary_group *what)
{
	if (strcmp(what->section->kind, "transfer") != 0 &&
	    strncmp(what->name, "__amd_rocclr_", 13) != 0)
		return KERNELS;
	return strcasestr(what->name, "fill") ? FILLS : COPIES;
}

const struct origin_list *origins_of(const struct origins *origins, const struct rtl_event *event,
				     uint64_t executable)
{
	return map_pointer(&origins->lists, key_of(event, executable));
}

void origins_tell(const struct origin_list *list, const struct summary_view *nodes)
{
	uint32_t counts[CLASSES] = {0}, at[CLASSES] = {0};

	for (size_t i = 0; list && !list->is_partial && i < nodes->count; i++)
		counts[class_of(nodes->groups[i]->node_of)]++;
	for (size_t i = 0; list && i < nodes->count; i++) {
		const unsigned class = class_of(nodes->groups[i]->node_of);

		if (counts[class] && counts[class] == list->of[class].count)
			nodes->groups[i]->origin = list->in_order
							   ? &list->of[class].each[at[class]++]
							   : &list->of[class].all;
	}
}

void origins_fini(struct origins *origins)
{
	map_fini(&origins->lists);
	map_fini(&origins->streams);
	map_fini(&origins->events);
	map_fini(&origins->ranges);
}
