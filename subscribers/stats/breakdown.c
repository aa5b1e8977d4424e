/* SPDX-License-Identifier: MIT */
/* See breakdown.h. */
#include "breakdown.h"

#include <fnmatch.h>

#include "model.h"

#define WITHIN_MOST 65536u
#define RANGES_MOST 65536u
#define DEPTH_MOST  4096u
#define OTHER_KEYS  UINT64_MAX
#define CALLS_MOST  (1u << 17) /* whose work may still come */
#define CALLS_ALIKE 8u         /* in hash */

static const char *const by_names[SUMMARY_BYS] = {NULL,      "range", "stream", "thread",
						  "process", "gpu",   "graph",  "group"};

/* ---- groups of kernels ---- */

struct summary_pattern {
	struct summary_pattern *next;
	char pattern[256], group[64];
};

#define COPIES      "copies and fills"
#define ELEMENTWISE "elementwise"

/* The first in whose name such a part is. */
static const struct {
	const char *group, *parts[16];
} built_in[] = {
	{"collectives", {"nccl", "rccl", "allreduce", "all_reduce", "allgather", "all_gather"}},
	{"attention", {"attn", "attention", "fmha", "flash"}},
	{"GEMM", {"Cijk_", "gemm", "gemv", "matmul", "mul_mat"}},
	{"softmax", {"softmax", "soft_max"}},
	{ELEMENTWISE, {"distribution"}}, /* a normal one is no norm */
	{"norm", {"norm"}},
	{COPIES, {"copy", "cpy", "fill", "memset"}},
	{ELEMENTWISE,
	 {"elementwise", "vectorized", "unary", "binary", "bcast", "add", "mul", "scale", "cast",
	  "convert", "relu", "gelu", "silu", "activation", "rope"}},
};

static const char *group_name(const struct summary *summary, const struct summary_group *what)
{
	for (const struct summary_pattern *is = summary->patterns; is; is = is->next)
		if (strpbrk(is->pattern, "*?[") ? !fnmatch(is->pattern, what->name, FNM_CASEFOLD)
						: strcasestr(what->name, is->pattern) != NULL)
			return is->group;
	if (!strcmp(what->section->kind, "transfer"))
		return COPIES;
	for (size_t i = 0; i < sizeof(built_in) / sizeof(*built_in); i++)
		for (const char *const *part = built_in[i].parts; *part; part++)
			if (strcasestr(what->name, *part))
				return built_in[i].group;
	return "other";
}

static int read_groups(struct summary *summary, const char *path, char error[SUMMARY_ERROR])
{
	struct summary_pattern **end = &summary->patterns, *is = NULL;
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int words = 2;

	snprintf(error, SUMMARY_ERROR, "cannot read %s: %m", path);
	if (!file)
		return RTL_EIO;
	for (unsigned number = 1; words != 1 && getline(&line, &size, file) > 0; number++) {
		is = is ? is : summary_alloc(summary, sizeof(*is));
		words = is ? sscanf(line, " %255s %63[^\r\n]", is->pattern, is->group) : 1;
		snprintf(error, SUMMARY_ERROR,
			 is ? "%s, line %u: expected PATTERN GROUP, such as \"*attn* attention\""
			    : "out of memory",
			 path, number);
		if (words < 1 || *is->pattern == '#')
			words = 0;
		if (words == 2) {
			*end = is;
			end = &is->next;
			is = NULL;
		}
	}
	free(line);
	fclose(file);
	return words == 1 ? RTL_EINVAL : 0;
}

int summary_set_by(struct summary *summary, const char *by, const char *groups,
		   char error[SUMMARY_ERROR])
{
	enum summary_by is = SUMMARY_BY_RANGE;

	while (by && is < SUMMARY_BYS && strcmp(by, by_names[is]) != 0)
		is++;
	if (is == SUMMARY_BYS) {
		snprintf(error, SUMMARY_ERROR,
			 "--by %s: give range, stream, thread, process, gpu, graph or group", by);
		return RTL_EINVAL;
	}
	summary->by = by ? is : SUMMARY_BY_NONE;
	if (groups && summary->by != SUMMARY_BY_GROUP) {
		snprintf(error, SUMMARY_ERROR, "a file of groups is for a breakdown by group");
		return RTL_EINVAL;
	}
	groups = groups ? groups : getenv("RTL_GROUPS");
	return summary->by == SUMMARY_BY_GROUP && groups && *groups
		       ? read_groups(summary, groups, error)
		       : 0;
}

const char *summary_by_name(const struct summary *summary)
{
	return by_names[summary->by];
}

/* ---- keys and their rows ---- */

/* Adds to a row. */
void summary_group_add_piece(struct summary_group *group, const struct summary_piece *piece)
{
	group->bytes += piece->bytes;
	group->failed += piece->failed;
	if (!piece->timed) {
		group->untimed++;
		return;
	}
	group->timed_bytes += piece->bytes;
	summary_group_add(group, piece->ns);
}

static uint64_t pair_of(const void *one, uint64_t other)
{
	return hash_pair((uintptr_t)one, other);
}

static struct summary_section *key_of(struct breakdown *b, struct summary_section *section,
				      uint64_t id, const char *name)
{
	struct summary_section *key = map_pointer(&b->keys, pair_of(section, id));

	if (key)
		return key;
	key = summary_alloc(section->summary, sizeof(*key));
	if (!key || !(key->title = summary_copy(section->summary, name)) ||
	    !map_set(&b->keys, pair_of(section, id), (uintptr_t)key))
		return NULL;
	key->summary = section->summary;
	key->kind = section->kind;
	key->next = section->keys;
	section->keys = key;
	section->key_count++;
	return key;
}

/* The row of what under that key; where there are too many, that of others. NULL: out of memory. */
static struct summary_group *row_of(struct breakdown *b, const struct summary_group *what,
				    uint64_t id, const char *name)
{
	struct summary_section *const section = what->section;
	const bool full = section->key_rows >= SUMMARY_GROUPS_MAX;
	const uint64_t pair = pair_of(what, id);
	struct summary_group *row = map_pointer(&b->rows, pair);
	struct summary_section *key;

	if (row)
		return row;
	key = full ? key_of(b, section, OTHER_KEYS, SUMMARY_OTHERS) : key_of(b, section, id, name);
	row = key ? summary_group(key, full ? SUMMARY_OTHERS : what->name) : NULL;
	if (!row || !map_set(&b->rows, pair, (uintptr_t)row))
		return NULL;
	key->has_bytes = section->has_bytes;
	section->key_rows += !full;
	return row;
}

/* ---- ranges ---- */

/* One of a process's, until what was submitted in it has come; then later work in it still may. */
struct range {
	uint64_t parent;                /* the one around it */
	struct summary_group *name;     /* NULL: it has not ended */
	struct summary_within *waiting; /* until then */
};

/* What was in something, which is a range or the row of its name. NULL: there is no room. */
static struct summary_within *within_of(struct breakdown *b, const void *owner,
					struct summary_within **list, struct summary_group *what)
{
	const uint64_t pair = pair_of(owner, (uintptr_t)what);
	struct summary_within *is = map_pointer(&b->within, pair);

	if (is || b->within.hash.count >= WITHIN_MOST)
		return is;
	is = map_make(&b->within, pair, sizeof(*is));
	if (!is)
		return NULL;
	is->what = what;
	is->next = *list;
	return *list = is;
}

/* Work in a range is in those around it, too: in those that have not ended, when they will. */
static void add_within(struct breakdown *b, uint32_t process, uint64_t instance,
		       struct summary_group *what, uint64_t ns);

/* Its name is known, or (NULL) will not be. False: out of memory. */
static bool settle(struct breakdown *b, uint32_t process, uint64_t instance, struct range *range)
{
	struct summary_within *next, *is = range->waiting;
	bool good = true;

	range->waiting = NULL;
	for (; is; is = next) {
		struct summary_group *row = is->row;

		next = is->next;
		(void)map_take(&b->within, pair_of(range, (uintptr_t)is->what));
		if (range->name && is->ns)
			add_within(b, process, instance, is->what, is->ns);
		if (row) {
			struct summary_group *to =
				range->name ? row_of(b, is->what, (uintptr_t)range->name,
						     range->name->name)
					    : row_of(b, is->what, 1, "(unknown range)");

			good &= to && summary_group_merge(to, row);
		}
		summary_group_destroy(row);
		free(is);
	}
	return good;
}

static bool forget_ranges(struct breakdown *b, struct map *ranges)
{
	bool good = true;

	for (size_t i = 0; i < ranges->hash.capacity; i++) {
		struct range *range = (void *)(uintptr_t)map_at(ranges, i)->value;

		if (range && !range->name)
			good &= settle(b, 0, 0, range);
	}
	map_free(ranges);
	return good;
}

/* Those that nobody has asked for while very many others came are forgotten. NULL: out of memory. */
static struct range *range_of(struct breakdown *b, uint32_t process, uint64_t instance)
{
	const uint64_t pair = hash_pair(instance, process);
	struct range *range = map_pointer(&b->ranges, pair);

	if (range)
		return range;
	if (b->ranges.hash.count >= RANGES_MOST) {
		if (!forget_ranges(b, &b->older_ranges))
			return NULL;
		b->older_ranges = b->ranges;
		b->ranges = (struct map){0};
	}
	range = (void *)(uintptr_t)map_take(&b->older_ranges, pair);
	if (!range || map_set(&b->ranges, pair, (uintptr_t)range))
		return range ? range : map_make(&b->ranges, pair, sizeof(*range));
	free(range);
	return NULL;
}

static void add_within(struct breakdown *b, uint32_t process, uint64_t instance,
		       struct summary_group *what, uint64_t ns)
{
	for (unsigned depth = 0; instance && depth < DEPTH_MOST; depth++) {
		struct range *range = range_of(b, process, instance);
		struct summary_group *name = range ? range->name : NULL;
		struct summary_within *is =
			!range ? NULL
			       : within_of(b, name ? (void *)name : range,
					   name ? &name->within : &range->waiting, what);

		if (is)
			is->ns += ns;
		if (!name)
			return;
		instance = range->parent;
	}
}

bool breakdown_name_range(struct breakdown *b, const struct rtl_event *event, uint64_t parent,
			  struct summary_group *name)
{
	struct range *range = range_of(b, event->process->number, event->instance);

	if (!range)
		return false;
	range->name = name;
	range->parent = parent;
	return settle(b, event->process->number, event->instance, range);
}

static bool add_to_range(struct breakdown *b, const struct breakdown_place *place,
			 struct summary_group *what, const struct summary_piece *piece)
{
	struct range *range =
		place->range ? range_of(b, place->event->process->number, place->range) : NULL;
	struct summary_within *is;
	struct summary_group *row;

	if (!place->range || (range && range->name)) {
		row = range ? row_of(b, what, (uintptr_t)range->name, range->name->name)
			    : row_of(b, what, 0, "(no range)");
	} else {
		is = range ? within_of(b, range, &range->waiting, what) : NULL;
		if (is && !is->row)
			is->row = summary_group_create(what->section, what->name);
		row = is ? is->row : row_of(b, what, 1, "(unknown range)");
	}
	if (row)
		summary_group_add_piece(row, piece);
	return row != NULL;
}

/* ---- other keys ---- */

/* Streams of a process, from 1 on as they come; its null stream is 0. */
static uint64_t stream_number(struct breakdown *b, const void *process, uint64_t stream)
{
	const uint64_t pair = pair_of(process, stream), count = pair_of(process, 0);
	uint64_t number = stream ? map_get(&b->streams, pair) : 0;

	if (stream && !number) {
		number = map_get(&b->streams, count) + 1;
		(void)(map_set(&b->streams, pair, number) && map_set(&b->streams, count, number));
	}
	return number;
}

bool breakdown_set_name(struct breakdown *b, const struct summary_process *process, uint32_t kind,
			uint64_t object, const char *name)
{
	const char *copy = summary_copy(b->summary, name);

	return copy &&
	       map_set(&b->names, pair_of(process, hash_number(object) + kind), (uintptr_t)copy);
}

static uint64_t key_id(struct breakdown *b, const struct breakdown_place *place)
{
	switch (b->summary->by) {
	case SUMMARY_BY_STREAM:
		return place->has_stream ? pair_of(place->process,
						   stream_number(b, place->process, place->stream))
					 : 0;
	case SUMMARY_BY_THREAD:
		return pair_of(place->process, place->tid);
	case SUMMARY_BY_PROCESS:
		return pair_of(place->process, 0);
	case SUMMARY_BY_GPU:
		return place->gpu + UINT64_C(1);
	default: /* of groups the name tells */
		return place->graph;
	}
}

static void name_key(struct breakdown *b, const struct breakdown_place *place,
		     const struct summary_group *what, char name[SUMMARY_KEY])
{
	const struct summary_process *process = place->process, *first = b->summary->processes;
	uint64_t named = hash_number(place->tid) + RTL_ROCTX_THREAD;
	const char *text;

	*name = '\0';
	switch (b->summary->by) {
	case SUMMARY_BY_STREAM:
		if (!place->has_stream)
			return (void)strcpy(name, "(no stream known)");
		snprintf(name, SUMMARY_KEY, "stream %" PRIu64,
			 stream_number(b, process, place->stream));
		named = hash_number(place->stream) + RTL_ROCTX_STREAM;
		break;
	case SUMMARY_BY_THREAD:
		snprintf(name, SUMMARY_KEY, "thread %" PRIu32, place->tid);
		break;
	case SUMMARY_BY_PROCESS:
		if (process->rank >= 0)
			snprintf(name, SUMMARY_KEY, "rank %" PRId32 ": ", process->rank);
		snprintf(name + strlen(name), SUMMARY_KEY - strlen(name), "%.64s (%" PRId32 ")",
			 process->program ? process->program : "process", process->pid);
		return;
	case SUMMARY_BY_GPU:
		if (place->gpu == UINT32_MAX)
			return (void)strcpy(name, "(no GPU known)");
		text = summary_device_text(b->summary, place->gpu, DEVICE_NAME);
		snprintf(name, SUMMARY_KEY, text ? "GPU %" PRIu32 " (%s)" : "GPU %" PRIu32,
			 place->gpu, text);
		return;
	case SUMMARY_BY_GROUP:
		return (void)snprintf(name, SUMMARY_KEY, "%s", group_name(b->summary, what));
	default:
		return (void)snprintf(name, SUMMARY_KEY,
				      place->graph ? "graph %" PRIu64 : "(no graph)", place->graph);
	}
	text = map_pointer(&b->names, pair_of(process, named));
	if (text)
		snprintf(name + strlen(name), SUMMARY_KEY - strlen(name), " (%.64s)", text);
	if (process != first)
		snprintf(name + strlen(name), SUMMARY_KEY - strlen(name), ", process %" PRId32,
			 process->pid);
}

/* ---- calls and their work ---- */

/* A call, until very many others of like hash have come. */
struct breakdown_call {
	uint64_t key;               /* 0: there is none */
	struct summary_group *what; /* NULL: it has not come, or is counted */
	struct summary_piece piece;
	uint32_t to;
};

static bool count_call(struct breakdown *b, struct breakdown_call *call)
{
	const struct breakdown_place place = {.gpu = call->to - 1, .graph = call->to, .keys = ~0u};
	struct summary_group *what = call->what;

	call->what = NULL;
	return !what || breakdown_add(b, &place, what, &call->piece);
}

bool breakdown_link(struct breakdown *b, uint64_t key, uint32_t to, struct summary_group *what,
		    const struct summary_piece *piece)
{
	struct breakdown_call *call;
	size_t at = 0;

	if (!b->calls && !(b->calls = summary_alloc(b->summary, CALLS_MOST * sizeof(*call))))
		return false;
	call = b->calls + key % (CALLS_MOST / CALLS_ALIKE) * CALLS_ALIKE;
	while (at < CALLS_ALIKE - 1 && call[at].key && call[at].key != key)
		at++;
	if (call[at].key != key) {
		if (!count_call(b, &call[at])) /* the oldest */
			return false;
		memmove(call + 1, call, at * sizeof(*call));
		*call = (struct breakdown_call){.key = key};
		at = 0;
	}
	call += at;
	if (what)
		*call = (struct breakdown_call){key, what, *piece, call->to};
	call->to = call->to ? call->to : to;
	return !call->to || count_call(b, call);
}

bool breakdown_add(struct breakdown *b, const struct breakdown_place *place,
		   struct summary_group *what, const struct summary_piece *piece)
{
	const struct rtl_event *event = place->event;
	const bool has_gpu = place->gpu != UINT32_MAX, is_call = place->waits && !has_gpu;
	char name[SUMMARY_KEY];
	struct summary_group *row;
	uint64_t id;

	if (place->is_kernel && place->range && piece->ns)
		add_within(b, event->process->number, place->range, what, piece->ns);
	if (!(place->keys >> b->summary->by & 1))
		return true;
	if (b->summary->by == SUMMARY_BY_RANGE)
		return add_to_range(b, place, what, piece);
	if ((is_call || (event && has_gpu && b->summary->by == SUMMARY_BY_GPU)) &&
	    !breakdown_link(b, hash_pair(event->process->number, event->correlation),
			    place->gpu + 1, is_call ? what : NULL, piece))
		return false;
	if (place->waits)
		return true; /* it comes once more */
	id = key_id(b, place);
	row = map_pointer(&b->rows, pair_of(what, id));
	if (!row) {
		const bool is_group = b->summary->by == SUMMARY_BY_GROUP;

		name_key(b, place, what, name);
		row = row_of(b, what, is_group ? hash_text(name, strlen(name)) : id, name);
		if (row && is_group && !map_set(&b->rows, pair_of(what, id), (uintptr_t)row))
			return false;
	}
	if (row)
		summary_group_add_piece(row, piece);
	return row != NULL;
}

bool breakdown_finish(struct breakdown *b)
{
	bool good = forget_ranges(b, &b->older_ranges);

	for (size_t i = 0; b->calls && i < CALLS_MOST; i++)
		good &= count_call(b, &b->calls[i]);
	return forget_ranges(b, &b->ranges) && good;
}

void breakdown_fini(struct breakdown *b)
{
	(void)breakdown_finish(b);
	map_fini(&b->keys);
	map_fini(&b->rows);
	map_fini(&b->streams);
	map_fini(&b->names);
	map_fini(&b->within);
}

/* ---- to be shown ---- */

static bool is_before(const struct summary_within *a, const struct summary_within *b)
{
	return a->ns != b->ns ? a->ns > b->ns : strcmp(a->what->name, b->what->name) < 0;
}

size_t summary_top_within(const struct summary_group *range, uint64_t *total_ns,
			  const struct summary_within *top[SUMMARY_WITHIN_SHOWN])
{
	size_t count = 0, at;

	*total_ns = 0;
	for (const struct summary_within *is = range->within; is; is = is->next) {
		*total_ns += is->ns;
		for (at = count; at && is_before(is, top[at - 1]); at--)
			if (at < SUMMARY_WITHIN_SHOWN)
				top[at] = top[at - 1];
		if (at < SUMMARY_WITHIN_SHOWN)
			top[at] = is;
		count += count < SUMMARY_WITHIN_SHOWN;
	}
	return count;
}

static int compare_keys(const void *a, const void *b)
{
	return summary_compare_groups(&((const struct summary_key *)a)->all,
				      &((const struct summary_key *)b)->all);
}

struct summary_key *summary_keys(const struct summary_section *section, enum summary_sort sort,
				 size_t *count)
{
	struct summary_key *keys = calloc(section->key_count + 1, sizeof(*keys)), *at = keys;

	for (struct summary_section *s = section->keys; keys && s; s = s->next, at++) {
		at->all = summary_group_create(s, s->title);
		if (!at->all || summary_view(s, sort, &at->view))
			break;
		for (size_t i = 0; i < at->view.count; i++)
			(void)summary_group_merge(at->all, at->view.groups[i]);
	}
	*count = keys ? (size_t)(at - keys) : 0;
	qsort(keys, *count, sizeof(*keys), compare_keys);
	return keys;
}

void summary_keys_free(struct summary_key *keys, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		summary_group_destroy(keys[i].all);
		free(keys[i].view.groups);
	}
	free(keys);
}
