/* SPDX-License-Identifier: MIT */
/* See sink.h: which calls captured or added the nodes of graphs. */
#include <fnmatch.h>
#include <rtl/events.h>
#include <string.h>

#include "model.h"
#include "sink.h"

#define ORIGINS_MOST   (1u << 17)
#define THREADS_STREAM 2u /* hipStreamPerThread */

enum { KERNELS, COPIES, FILLS, CLASSES };

/* The calls that made the nodes of a graph, by what these are. */
struct origin_list {
	struct {
		uint32_t count;
		struct summary_origin *each; /* of a list in order */
		struct summary_origin all;   /* what they have in common */
	} of[CLASSES];
	uint64_t stream; /* whose capture it is */
	bool in_order;   /* one thread captured one stream */
	bool is_shared;  /* it does not change any more */
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
		{"hipGraphAddChildGraphNode", GRAPH_ADD_OTHER},
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

static struct origin_list *list_at(const struct map *map, uint64_t key)
{
	return (struct origin_list *)(uintptr_t)map_get(map, key);
}

static uint64_t key_of(const struct rtl_event *event, uint64_t object)
{
	return hash_number(hash_number(event->process->number) + object);
}

static uint64_t stream_key(const struct rtl_event *event)
{
	const struct rtl_hip_call *call = event->payload;

	return key_of(event, call->hip_stream) +
	       (call->hip_stream == THREADS_STREAM ? event->tid : 0);
}

/* ---- lists */

/* False: out of memory, as below. */
static bool append(struct origins *origins, struct origin_list *list, unsigned class,
		   const struct summary_origin *origin)
{
	const uint32_t n = list->of[class].count;
	struct summary_origin *all = &list->of[class].all, *larger;

	list->is_partial |= origins->count >= ORIGINS_MOST;
	if (list->is_partial)
		return true;
	if (!n)
		*all = *origin;
	list->in_order &= all->tid == origin->tid;
	all->function = all->function == origin->function ? all->function : NULL;
	all->tid = all->tid == origin->tid ? all->tid : 0;
	all->range = all->range == origin->range ? all->range : &unknown_range;
	list->of[class].count++;
	if (!list->in_order)
		return true;
	if (!(n & (n - 1))) {
		larger = summary_alloc(origins->summary, (n ? 2 * n : 1) * sizeof(*larger));
		if (!larger)
			return false;
		if (n)
			memcpy(larger, list->of[class].each, n * sizeof(*larger));
		list->of[class].each = larger;
	}
	list->of[class].each[n] = *origin;
	origins->count++;
	return true;
}

/* The call of an event, which makes a node, or several. */
static bool append_call(struct origins *origins, struct origin_list *list,
			const struct rtl_event *event, const char *name)
{
	const struct rtl_hip_call *call = event->payload;
	const uint64_t key = key_of(event, call->parent);
	struct summary_origin is = {.tid = event->tid};
	const struct summary_group **range =
		call->parent ? (void *)(uintptr_t)map_get(&origins->ranges, key) : NULL;

	is.function = (const char *)(uintptr_t)map_get(&origins->names, event->uid);
	if (!is.function && (!(is.function = summary_copy(origins->summary, name)) ||
			     !map_set(&origins->names, event->uid, (uintptr_t)is.function)))
		return false;
	if (call->parent && !range &&
	    (!(range = summary_alloc(origins->summary, sizeof(*range))) ||
	     !map_set(&origins->ranges, key, (uintptr_t)range)))
		return false;
	is.range = range;
	return append(origins, list,
		      strstr(name, "Kernel")   ? KERNELS
		      : strstr(name, "Memcpy") ? COPIES
					       : FILLS,
		      &is);
}

/* A list that may change. NULL: the graph is not known, or out of memory. */
static struct origin_list *own_list(struct origins *origins, uint64_t graph)
{
	struct origin_list *list = list_at(&origins->lists, graph), *copy;

	if (!list || !list->is_shared)
		return list;
	copy = summary_alloc(origins->summary, sizeof(*copy));
	if (!copy || !map_set(&origins->lists, graph, (uintptr_t)copy))
		return NULL;
	*copy = *list;
	copy->is_shared = false;
	return copy;
}

static bool set_list(struct origins *origins, uint64_t key, struct origin_list *list)
{
	(void)map_take(&origins->lists, key);
	return !list || map_set(&origins->lists, key, (uintptr_t)list);
}

/* All streams that take part; of a list that is no captured one, none. */
static void end_capture(struct origins *origins, const struct origin_list *list)
{
	for (size_t i = 0; list && i < origins->streams.hash.capacity; i++) {
		const struct map_entry *entry = map_at(&origins->streams, i);

		if (entry->value == (uintptr_t)list) {
			(void)map_take(&origins->streams, entry->key);
			i = SIZE_MAX; /* others may have moved */
		}
	}
	if (!origins->streams.hash.count)
		map_fini(&origins->events);
}

bool origins_take(struct origins *origins, enum graph_call is, const struct rtl_event *event,
		  const char *name, const struct rtl_value values[2])
{
	const struct rtl_hip_call *call = event->payload;
	const uint64_t first = key_of(event, values[0].number),
		       second = key_of(event, values[1].number), stream = stream_key(event);
	struct origin_list *list, *captured = list_at(&origins->streams, stream);

	switch (is) {
	case GRAPH_BEGIN_CAPTURE:
	case GRAPH_CREATE:
		end_capture(origins, is == GRAPH_CREATE ? NULL : captured);
		list = summary_alloc(origins->summary, sizeof(*list));
		if (!list)
			return false;
		list->in_order = is == GRAPH_BEGIN_CAPTURE;
		list->stream = stream;
		return is == GRAPH_CREATE ? set_list(origins, first, list)
					  : map_set(&origins->streams, stream, (uintptr_t)list);
	case GRAPH_END_CAPTURE:
		end_capture(origins, captured);
		return call->flags & RTL_HIP_CALL_FAILED || set_list(origins, second, captured);
	case GRAPH_WORK:
		return !captured || !(call->flags & RTL_HIP_CALL_STREAM) ||
		       append_call(origins, captured, event, name);
	case GRAPH_FORK:
		if (captured)
			captured->in_order = false;
		return true;
	case GRAPH_RECORD:
		(void)map_take(&origins->events, first);
		return !captured || map_set(&origins->events, first, (uintptr_t)captured);
	case GRAPH_WAIT:
		list = list_at(&origins->events, second);
		if (!list || list == captured)
			return true;
		list->in_order = false;
		return map_set(&origins->streams, stream, (uintptr_t)list);
	case GRAPH_INSTANTIATE:
	case GRAPH_UPDATE:
	case GRAPH_CLONE:
		list = list_at(&origins->lists, second);
		if (list)
			list->is_shared = true;
		return set_list(origins, first, list);
	case GRAPH_ADD:
	case GRAPH_ADD_OTHER:
		list = own_list(origins, second);
		if (!list)
			return true;
		list->in_order = false;
		list->is_partial |= is != GRAPH_ADD;
		return is != GRAPH_ADD || append_call(origins, list, event, name);
	default: /* there may be another one at its address */
		return set_list(origins, first, NULL);
	}
}

void origins_name_range(struct origins *origins, const struct rtl_event *event,
			const struct summary_group *name)
{
	const uint64_t key = key_of(event, event->instance);
	const struct summary_group **range = (void *)(uintptr_t)map_get(&origins->ranges, key);

	if (range)
		*range = name;
}

/* ---- nodes */

static unsigned class_of(const struct summary_group *what)
{
	if (!strcmp(what->section->kind, "transfer"))
		return COPIES;
	if (!strncmp(what->name, "__amd_rocclr_", 13))
		return strstr(what->name, "fill") ? FILLS : COPIES;
	return KERNELS;
}

const struct origin_list *origins_of(const struct origins *origins, const struct rtl_event *event,
				     uint64_t executable)
{
	return list_at(&origins->lists, key_of(event, executable));
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
	map_fini(&origins->names);
}
