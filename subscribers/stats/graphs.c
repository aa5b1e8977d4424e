/* SPDX-License-Identifier: MIT */
/* See sink.h: launches of graphs. */
#include "array.h"
#include "model.h"
#include "sink.h"

#define LAUNCHES_MOST 65536u     /* whose work may still come */
#define WORKS_MOST    (1u << 17) /* pieces of it */
#define NODES_MOST    16384u     /* of all graphs */

struct launch {
	struct launch *next; /* a newer one */
	uint64_t key, executable;
	uint64_t graph; /* its number; 0: its call has not come */
	const struct origin_list *origins;
	int32_t pid;
	uint32_t count;
	struct graph_work *works; /* room for a power of two */
};

static enum graph_call function_of(struct graphs *graphs, const struct rtl_event *event,
				   uint64_t uid)
{
	enum graph_call is = (enum graph_call)map_get(&graphs->functions, uid);
	const struct rtl_tracepoint *tp;

	if (is || !uid)
		return uid ? is : GRAPH_OTHER;
	tp = graphs->host->tracepoint(graphs->host, event->process, uid);
	if (!tp || strcmp(tp->kind, "function") != 0)
		return GRAPH_OTHER;
	is = graph_call_of(tp->name);
	(void)map_set(&graphs->functions, uid, is); /* else it is looked up again */
	return is;
}

/* It is of the graph of an executable, which has a number, and so is its call. False: out of memory. */
static bool set_graph(struct graphs *graphs, struct launch *launch, uint32_t process,
		      uint64_t executable)
{
	const uint64_t key = hash_pair(process, executable);

	launch->graph = map_get(&graphs->numbers, key);
	if (!launch->graph && map_set(&graphs->numbers, key, graphs->count + 1))
		launch->graph = ++graphs->count;
	return launch->graph && (graphs->summary->by != SUMMARY_BY_GRAPH ||
				 breakdown_link(graphs->breakdown, launch->key,
						(uint32_t)launch->graph, NULL, NULL));
}

/* ---- what a launch was */

/* As they were submitted; in one queue, and if HIP has reported it, as it began. */
static int compare_works(const void *a, const void *b)
{
	const struct graph_work *x = a, *y = b;

	if (x->submit != y->submit)
		return x->submit < y->submit ? -1 : 1;
	if (x->queue != y->queue)
		return x->queue < y->queue ? -1 : 1;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The row of such launches; SUMMARY_OTHERS, without nodes, if there are too many. NULL: out of memory. */
static struct summary_group *row_create(struct graphs *graphs, const struct launch *launch)
{
	const uint64_t key = hash_pair(launch->graph, 0), variant = map_get(&graphs->rows, key) + 1;
	struct summary_section *section =
		summary_section(graphs->summary, RTL_STREAM_HIP_CALL, "graph", SUMMARY_GRAPHS);
	struct summary_group *row, *node;
	char name[96];

	snprintf(name, sizeof(name), "graph %" PRIu64 ", %" PRIu32 " node%s", launch->graph,
		 launch->count, launch->count == 1 ? "" : "s");
	if (variant > 1)
		snprintf(name + strlen(name), 32, ", variant %" PRIu64, variant);
	if (graphs->nodes + launch->count >= NODES_MOST)
		strcpy(name, SUMMARY_OTHERS);
	row = section ? summary_group(section, name) : NULL;
	if (!row || !strcmp(row->name, SUMMARY_OTHERS))
		return row;
	row->graph = calloc(1, sizeof(*row->graph) + launch->count * sizeof(row));
	if (!row->graph || !map_set(&graphs->rows, key, variant))
		return NULL;
	*row->graph = (struct summary_graph){launch->graph,
					     variant,
					     launch->executable,
					     launch->pid,
					     {.groups = row->graph->groups}};
	graphs->nodes += launch->count + 1;
	for (uint32_t i = 0; i < launch->count; i++) {
		const struct summary_group *what = launch->works[i].what;

		node = summary_group_create(what->section, what->name);
		if (!node)
			return NULL;
		node->node_of = what;
		row->graph->groups[row->graph->nodes.count++] = node;
	}
	origins_tell(launch->origins, &row->graph->nodes);
	return row;
}

/* Behind what is before it in its queue; copies are in all of them. */
static void add_gap(struct summary_group *node, const struct graph_work *works, uint32_t i)
{
	const struct graph_work *work = &works[i], *before = work;

	do
		if (before-- == works)
			return;
	while (before->queue != work->queue && before->queue && work->queue);
	node->gaps++;
	node->gap_ns += work->begin > before->end ? work->begin - before->end : 0;
}

/* Work goes to the first node of its kernel that has had none of this launch. */
static void count_nodes(struct summary_view *nodes, struct launch *launch)
{
	size_t first = 0; /* those before have had some */

	nodes->operations++; /* launches */
	for (uint32_t i = 0; i < launch->count; i++) {
		struct graph_work *work = &launch->works[i];
		size_t at = first;

		while (at < nodes->count && (nodes->groups[at]->node_of != work->what ||
					     nodes->groups[at]->count == nodes->operations))
			at++;
		if (at == nodes->count)
			continue; /* one in 2^64 */
		first += at == first;
		work->node = nodes->groups[at];
		summary_group_add(work->node, work->end - work->begin);
		nodes->groups[at]->bytes += work->bytes;
		nodes->groups[at]->timed_bytes += work->bytes;
		nodes->total_ns += work->end - work->begin;
		add_gap(nodes->groups[at], launch->works, i);
	}
}

static int compare_ends(const void *a, const void *b)
{
	const struct graph_work *x = a, *y = b;

	return (x->end > y->end) - (x->end < y->end);
}

/* From its end back to its begin: before each node what it waited for, that is the one before it in its queue, or, if
 * a barrier may be between these, the one that ended last. False: out of memory. */
static bool add_path(struct summary_group *row, const struct launch *launch, uint64_t begin)
{
	struct graph_work *works = launch->works, *work, *before, *own;
	struct idle_rows *rows = &row->path;
	bool good = true;

	qsort(works, launch->count, sizeof(*works), compare_ends);
	for (work = works + launch->count - 1; work >= works; work = before) {
		uint64_t at = begin, submit;

		for (before = work - 1; before >= works && before->end > work->begin;)
			before--;
		for (own = before; own >= works && own->queue != work->queue;)
			own--;
		if (work->queue && own >= works && own->packet + 1 == work->packet)
			before = own;
		at = before >= works ? before->end : begin;
		submit = work->submit > at ? work->submit : at;
		submit = submit < work->begin ? submit : work->begin;
		if (work->node)
			work->node->path_ns += work->end - work->begin;
		good &= idle_rows_add(rows, PATH_WORK, NULL, work->what, work->end - work->begin) &&
			(submit == at || idle_rows_add(rows, IDLE_CALL, NULL, NULL, submit - at)) &&
			(submit == work->begin ||
			 idle_rows_add(rows, before >= works ? IDLE_GRAPH : IDLE_LATENCY, NULL,
				       NULL, work->begin - submit));
	}
	return good;
}

/* All of its work has come. Launches of one graph with other nodes have another row. False: out of memory. */
static bool settle(struct graphs *graphs, struct launch *launch)
{
	uint64_t kernels = launch->count, begin = UINT64_MAX, end = 0, key;
	struct summary_group *row;
	bool good = true;

	if (launch->count) /* else there is no room for any */
		qsort(launch->works, launch->count, sizeof(*launch->works), compare_works);
	for (struct graph_work *w = launch->works; w < launch->works + launch->count; w++) {
		kernels += hash_number((uintptr_t)w->what);
		begin = w->begin < begin ? w->begin : begin;
		end = w->end > end ? w->end : end;
	}
	/* where calls do not tell, those of one kind are a graph */
	if (!launch->graph)
		good = set_graph(graphs, launch, (uint32_t)launch->pid, kernels);
	const struct breakdown_place place = {.graph = launch->graph,
					      .keys = 1u << SUMMARY_BY_GRAPH};
	key = hash_pair(launch->graph, kernels | 1);
	row = map_pointer(&graphs->rows, key);
	if (!row) {
		row = row_create(graphs, launch);
		good &= row && (!row->graph || map_set(&graphs->rows, key, (uintptr_t)row));
	}
	for (struct graph_work *w = launch->works; good && w < launch->works + launch->count; w++)
		good = breakdown_add(
			graphs->breakdown, &place, w->what,
			&(struct summary_piece){w->end - w->begin, w->bytes, true, false});
	if (good && row->graph)
		count_nodes(&row->graph->nodes, launch);
	if (good && launch->count) {
		summary_group_add(row, end - begin);
		good = add_path(row, launch, begin);
	} else if (good) {
		row->untimed++;
	}
	(void)map_take(&graphs->launches, launch->key);
	graphs->works -= launch->count;
	free(launch->works);
	free(launch);
	return good;
}

bool graphs_settle(struct graphs *graphs, size_t launches, size_t works)
{
	struct launch *launch;
	bool good = true;

	while ((launch = graphs->first) &&
	       (graphs->launches.hash.count > launches || graphs->works > works)) {
		graphs->first = launch->next;
		good &= settle(graphs, launch);
	}
	return good;
}

/* ---- events */

static struct launch *launch_of(struct graphs *graphs, const struct rtl_event *event)
{
	const uint64_t key = hash_pair(event->process->number, event->correlation);
	struct launch *launch = map_pointer(&graphs->launches, key);

	if (launch)
		return launch;
	if ((graphs->launches.hash.count >= LAUNCHES_MOST || graphs->works >= WORKS_MOST) &&
	    !graphs_settle(graphs, LAUNCHES_MOST / 2, WORKS_MOST / 2))
		return NULL;
	launch = map_make(&graphs->launches, key, sizeof(*launch));
	if (!launch)
		return NULL;
	launch->key = key;
	launch->pid = event->process->pid;
	*(graphs->first ? &graphs->last->next : &graphs->first) = launch;
	return graphs->last = launch;
}

bool graphs_is_launch(struct graphs *graphs, const struct rtl_event *event, uint64_t scope)
{
	return event->correlation && function_of(graphs, event, scope) == GRAPH_LAUNCH;
}

bool graphs_add_work(struct graphs *graphs, const struct rtl_event *event, uint64_t scope,
		     const struct graph_work *work)
{
	if (!graphs_is_launch(graphs, event, scope))
		return true;
	struct launch *launch = launch_of(graphs, event);
	struct graph_work *added = launch ? ARRAY_ADD(launch->works, launch->count) : NULL;

	if (!added)
		return false;
	*added = *work;
	graphs->works++;
	return true;
}

/* Ends of calls, with arguments: the first one is which executable was launched. */
static void take_calls(void *user, const struct rtl_event *const *events, size_t count)
{
	struct graphs *graphs = user;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_event *event = events[i];
		const struct rtl_hip_call *call = event->payload;
		const enum graph_call is = function_of(graphs, event, event->uid);

		if (is == GRAPH_OTHER || (is >= GRAPH_CAPTURED && !graphs->origins.captures) ||
		    (call->flags & RTL_HIP_CALL_FAILED && is != GRAPH_END_CAPTURE))
			continue;
		const struct rtl_field *field = rtl_args_field(event->type_info);
		struct rtl_value values[3] = {0};
		struct rtl_args args = {0};

		if (field)
			args = rtl_args_begin(graphs->host, event, field);
		if (!rtl_args_next(&args, &values[0]) || !values[0].number)
			continue;
		if (is == GRAPH_INSTANTIATE || is == GRAPH_EXEC_DESTROY)
			(void)map_take(&graphs->numbers,
				       hash_pair(event->process->number, values[0].number));
		if (is != GRAPH_LAUNCH) {
			const struct rtl_tracepoint *tp =
				graphs->host->tracepoint(graphs->host, event->process, event->uid);

			(void)rtl_args_next(&args, &values[1]);
			while (is == GRAPH_ADD_GRAPH && rtl_args_next(&args, &values[2]))
				;
			if (tp && !origins_take(&graphs->origins, is, event, tp->name, values))
				return (void)graphs->host->fail(graphs->host, "out of memory");
			continue;
		}
		struct launch *launch = launch_of(graphs, event);

		if (!launch || !set_graph(graphs, launch, event->process->number, values[0].number))
			return (void)graphs->host->fail(graphs->host, "out of memory");
		launch->executable = values[0].number;
		launch->origins = origins_of(&graphs->origins, event, values[0].number);
	}
}

int graphs_add_stream(struct graphs *graphs, const struct rtl_stream_info *stream)
{
	const int which = wanted_call_stream(stream->name);
	struct wanted_calls calls = {0};
	int error = 0;

	if (which == (WANTED_HIP | WANTED_DEBUG))
		error = wanted_subscribe_calls(graphs->host, stream, which, true, take_calls,
					       graphs, &calls);
	return error == RTL_ENOTSUP ? 0 : error;
}

void graphs_fini(struct graphs *graphs)
{
	(void)graphs_settle(graphs, 0, 0);
	map_fini(&graphs->launches);
	map_fini(&graphs->functions);
	map_fini(&graphs->numbers);
	map_fini(&graphs->rows);
	origins_fini(&graphs->origins);
}
