/* SPDX-License-Identifier: MIT */
/* See sink.h: collectives of RCCL. Bandwidths are those of rccl-tests (its doc/PERFORMANCE.md). */
#include <strings.h>

#include "model.h"
#include "sink.h"

#define LAUNCHES_MOST 16384u     /* whose kernel or whose operations may still come */
#define MEETINGS_MOST (1u << 19) /* collectives of which ranks may still come */
#define RANKS_MOST    65536

struct operation {
	struct operation *next;
	struct summary_group *row;
	struct rtl_rccl is;
	uint64_t time;
	bool receives;
};

struct collective_launch {
	struct collective_launch *next;        /* a newer one */
	uint64_t key, begin, gpu_ns, bytes[2]; /* received apart: that is at the same time */
	struct operation *operations;
};

/* A collective, until all of its ranks have come to it. */
struct meeting {
	uint64_t first, last;
	int32_t come, last_rank;
};

/* What moves on each link for each byte of the operation's size. */
static double bus_factor(const char *operation, int32_t ranks)
{
	static const struct {
		const char *name;
		double factor;
	} of[] = {{"AllReduce", 2}, {"AllGather", 1}, {"ReduceScatter", 1}, {"AllToAll", 1}};

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		if (ranks > 0 && !strncasecmp(operation, of[i].name, strlen(of[i].name)))
			return of[i].factor * (ranks - 1) / ranks;
	return 1;
}

static struct summary_group *row_of(struct collectives *collectives, const struct rtl_event *event)
{
	const struct rtl_host *host = collectives->host;
	const struct rtl_rccl *is = event->payload;
	const char *operation = host->string(host, event->process, is->operation);
	struct summary_section *section = summary_section(collectives->summary, RTL_STREAM_RCCL,
							  "collective", SUMMARY_COLLECTIVES);
	struct summary_group *row;
	char name[320];

	operation = operation ? operation : "(unknown)";
	snprintf(name, sizeof(name), "%.250s, %" PRId32 " ranks, communicator %" PRIx64, operation,
		 is->ranks, is->communicator);
	row = section ? summary_group(section, name) : NULL;
	if (!row)
		return NULL;
	section->has_bytes = true;
	row->bus = bus_factor(operation, is->ranks);
	if (!row->skew && is->ranks > 1 && is->ranks < RANKS_MOST && !strcmp(row->name, name)) {
		row->skew = summary_alloc(collectives->summary,
					  sizeof(*row->skew) +
						  (size_t)is->ranks * sizeof(*row->skew->late));
		if (!row->skew)
			return NULL;
		row->skew->ranks = is->ranks;
	}
	return row;
}

/* ---- ranks that wait for each other */

/* A rank has come to a collective. False: out of memory. */
static bool arrive(struct collectives *collectives, const struct operation *op, uint64_t time)
{
	const uint64_t key = hash_pair((uintptr_t)op->row, op->is.sequence);
	struct meeting *meeting = map_pointer(&collectives->meetings, key);
	struct summary_skew *skew = op->row->skew;

	if (!skew || op->is.peer >= 0 || op->is.rank < 0 || op->is.rank >= skew->ranks)
		return true;
	if (!meeting) {
		if (collectives->meetings.hash.count >= MEETINGS_MOST)
			map_free(&collectives->meetings); /* ranks are not in the trace */
		meeting = map_make(&collectives->meetings, key, sizeof(*meeting));
		if (!meeting)
			return false;
		meeting->first = time;
	}
	meeting->first = time < meeting->first ? time : meeting->first;
	if (time >= meeting->last) {
		meeting->last = time;
		meeting->last_rank = op->is.rank;
	}
	if (++meeting->come < skew->ranks)
		return true;
	const uint64_t ns = meeting->last - meeting->first;

	skew->count++;
	skew->ns += ns;
	skew->max_ns = ns > skew->max_ns ? ns : skew->max_ns;
	skew->late[meeting->last_rank].count++;
	skew->late[meeting->last_rank].ns += ns;
	map_take(&collectives->meetings, key);
	free(meeting);
	return true;
}

/* ---- operations and their kernel */

/* The kernel's time is shared out by bytes. */
static void settle(struct collectives *collectives, struct collective_launch *launch)
{
	for (struct operation *next, *op = launch->operations; op; op = next) {
		struct summary_group *row = op->row;
		const uint64_t bytes = op->is.bytes, all = launch->bytes[op->receives];
		const double share = all ? (double)bytes / (double)all : 1;

		next = op->next;
		row->bytes += bytes;
		if (launch->gpu_ns) {
			row->timed_bytes += bytes;
			summary_group_add(row, (uint64_t)((double)launch->gpu_ns * share));
		} else {
			row->untimed++;
		}
		if (!arrive(collectives, op, launch->gpu_ns ? launch->begin : op->time))
			collectives->host->fail(collectives->host, "out of memory");
		free(op);
	}
}

static void settle_first(struct collectives *collectives)
{
	struct collective_launch *launch = collectives->first;

	settle(collectives, launch);
	collectives->first = launch->next;
	map_take(&collectives->launches, launch->key);
	free(launch);
}

void collectives_settle(struct collectives *collectives)
{
	while (collectives->first)
		settle_first(collectives);
	map_fini(&collectives->launches);
	map_free(&collectives->meetings);
}

/* NULL: out of memory. */
static struct collective_launch *launch_of(struct collectives *collectives,
					   const struct rtl_event *event)
{
	const uint64_t key = hash_pair(event->process->number, event->correlation);
	struct collective_launch *launch = map_pointer(&collectives->launches, key);

	if (launch)
		return launch;
	if (collectives->launches.hash.count >= LAUNCHES_MOST)
		settle_first(collectives);
	launch = map_make(&collectives->launches, key, sizeof(*launch));
	if (!launch)
		return NULL;
	launch->key = key;
	*(collectives->first ? &collectives->last->next : &collectives->first) = launch;
	return collectives->last = launch;
}

/* False: out of memory. */
static bool take_operation(struct collectives *collectives, const struct rtl_event *event)
{
	struct collective_launch none = {0}, *launch = &none;
	struct operation *op = calloc(1, sizeof(*op));

	if (op && event->correlation)
		launch = launch_of(collectives, event);
	if (!op || !launch || !(op->row = row_of(collectives, event))) {
		free(op);
		return false;
	}
	op->is = *(const struct rtl_rccl *)event->payload;
	op->time = event->time_ns;
	op->receives = !strncmp(op->row->name, "Recv,", 5);
	op->next = launch->operations;
	launch->operations = op;
	launch->bytes[op->receives] += op->is.bytes;
	settle(collectives, &none);
	return true;
}

static void take_operations(void *user, const struct rtl_event *const *events, size_t count)
{
	struct collectives *collectives = user;

	for (size_t i = 0; i < count; i++)
		if (!take_operation(collectives, events[i]))
			return (void)collectives->host->fail(collectives->host, "out of memory");
}

const struct wanted collectives_types[] = {
	{RTL_SIGNAL, sizeof(struct rtl_rccl), take_operations, false}};

bool collectives_add_kernel(struct collectives *collectives, const struct rtl_event *event,
			    struct summary_group *kernel, uint64_t begin, uint64_t end)
{
	struct collective_launch *launch;

	if (!collectives->is_on || !event->correlation)
		return true;
	if (!kernel->is_collective)
		kernel->is_collective = strstr(kernel->name, "nccl") ? 1 : -1;
	if (kernel->is_collective < 0)
		return true;
	launch = launch_of(collectives, event);
	if (!launch)
		return false;
	if (!launch->gpu_ns || begin < launch->begin)
		launch->begin = begin;
	launch->gpu_ns += end > begin ? end - begin : 0;
	return true;
}
