/* SPDX-License-Identifier: MIT */
/* See summary.h: counting. */
#include "demangle.h"
#include "model.h"

struct memory {
	struct memory *next;
	max_align_t bytes[];
};

struct summary *summary_create(void)
{
	return calloc(1, sizeof(struct summary));
}

void *summary_alloc(struct summary *summary, size_t size)
{
	struct memory *memory = calloc(1, sizeof(*memory) + size);

	if (!memory)
		return NULL;
	memory->next = summary->memory;
	summary->memory = memory;
	return memory->bytes;
}

char *summary_copy(struct summary *summary, const char *text)
{
	char *copy = summary_alloc(summary, strlen(text) + 1);

	return copy ? strcpy(copy, text) : NULL;
}

/* ---- sections and groups ---- */

static uint64_t hash_of(const void *entry)
{
	const struct summary_group *group = *(struct summary_group *const *)entry;

	return hash_text(group->name, strlen(group->name));
}

static bool is_same(const void *entry, const void *name)
{
	return !strcmp((*(struct summary_group *const *)entry)->name, name);
}

static const struct hash_kind group_kind = {
	.bytes = sizeof(struct summary_group *),
	.initial = 64,
	.is_used = hash_has_pointer,
	.hash = hash_of,
	.is_same = is_same,
};

struct summary_group *section_group_at(const struct summary_section *section, size_t n)
{
	return *(struct summary_group **)hash_at(&section->groups, &group_kind, n);
}

void summary_group_destroy(struct summary_group *group)
{
	if (!group)
		return;
	for (size_t i = 0; group->graph && i < group->graph->nodes.count; i++)
		summary_group_destroy(group->graph->groups[i]);
	list_free(group->within);
	for (struct summary_part *next, *is = group->parts; is; is = next) {
		next = is->next;
		idle_rows_fini(&is->path);
		free(is);
	}
	free(group->graph);
	idle_rows_fini(&group->path);
	histogram_fini(&group->histogram);
	free(group);
}

struct summary_group *summary_group_create(struct summary_section *section, const char *name)
{
	struct summary_group *group = calloc(1, sizeof(*group) + strlen(name) + 1);

	if (!group)
		return NULL;
	group->section = section;
	group->min_ns = UINT64_MAX;
	strcpy(group->name, name);
	return group;
}

/* Where a section stands among the others, whichever has come first; those that are not named here come last. */
static unsigned place_of(const char *stream, const char *kind)
{
	static const struct {
		const char *stream, *kind;
	} places[] = {
		{RTL_STREAM_HSA, "task"},          {"rocpd", "operation"},
		{RTL_STREAM_HSA_COPY, "transfer"}, {RTL_STREAM_HIP_CALL, "function"},
		{RTL_STREAM_HSA_CALL, "function"}, {RTL_STREAM_HSA, "launch"},
		{RTL_STREAM_HIP_CALL, "graph"},    {RTL_STREAM_ROCTX, "region"},
	};
	unsigned place = 0;

	while (place < sizeof(places) / sizeof(*places) &&
	       (strcmp(places[place].stream, stream) != 0 || strcmp(places[place].kind, kind) != 0))
		place++;
	return place;
}

struct summary_section *summary_section(struct summary *summary, const char *stream,
					const char *kind, const char *title)
{
	struct summary_section **link = &summary->sections, *section;
	const unsigned place = place_of(stream, kind);

	for (section = *link; section; section = section->next)
		if (!strcmp(section->stream, stream) && !strcmp(section->kind, kind))
			return section;
	section = summary_alloc(summary, sizeof(*section));
	if (!section || !(section->stream = summary_copy(summary, stream)) ||
	    !(section->kind = summary_copy(summary, kind)) ||
	    !(section->title = summary_copy(summary, title)))
		return NULL;
	section->summary = summary;
	while (*link && place_of((*link)->stream, (*link)->kind) <= place)
		link = &(*link)->next;
	section->next = *link;
	*link = section;
	return section;
}

struct summary_group *summary_group(struct summary_section *section, const char *name)
{
	struct summary_group **place, *group;
	char *readable = demangle(name);

	if (readable) {
		group = summary_group(section, readable);
		free(readable);
		return group;
	}
	const uint64_t hash = hash_text(name, strlen(name));
	place = hash_find(&section->groups, &group_kind, hash, name);
	if (place)
		return *place;
	if (section->groups.count >= SUMMARY_GROUPS_MAX && strcmp(name, SUMMARY_OTHERS) != 0)
		return summary_group(section, SUMMARY_OTHERS);
	group = summary_group_create(section, name);
	place = group ? hash_add(&section->groups, &group_kind, hash, name) : NULL;
	if (place)
		return *place = group;
	summary_group_destroy(group);
	return NULL;
}

void summary_group_add(struct summary_group *group, uint64_t duration_ns)
{
	group->count++;
	group->total_ns += duration_ns;
	group->min_ns = duration_ns < group->min_ns ? duration_ns : group->min_ns;
	group->max_ns = duration_ns > group->max_ns ? duration_ns : group->max_ns;
	histogram_add(&group->histogram, duration_ns);
}

bool summary_group_merge(struct summary_group *to, const struct summary_group *from)
{
	to->failed += from->failed;
	to->untimed += from->untimed;
	to->count += from->count;
	to->total_ns += from->total_ns;
	to->min_ns = from->min_ns < to->min_ns ? from->min_ns : to->min_ns;
	to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
	to->bytes += from->bytes;
	to->timed_bytes += from->timed_bytes;
	to->bus = from->bus;
	return histogram_merge(&to->histogram, &from->histogram);
}

int summary_merge_sections(struct summary *to, const struct summary *from, bool only_names)
{
	for (const struct summary_section *s = from->sections; s; s = s->next) {
		struct summary_section *section = summary_section(to, s->stream, s->kind, s->title);

		for (size_t i = 0; section && i < s->groups.capacity; i++) {
			const struct summary_group *group = section_group_at(s, i);
			struct summary_group *all =
				group ? summary_group(section, group->name) : NULL;

			if (group && (!all || (!only_names && !summary_group_merge(all, group))))
				return RTL_ENOMEM;
		}
		if (!section)
			return RTL_ENOMEM;
	}
	return 0;
}

double summary_group_rate(const struct summary_group *group)
{
	return group->total_ns ? (double)group->timed_bytes / (double)group->total_ns : 0;
}

int summary_section_add_open(struct summary_section *section, const char *name, uint32_t tid,
			     uint64_t duration_ns)
{
	struct summary_open *open = section->open;
	uint32_t at = 0, end = 0;
	char *copy;

	section->open_count++;
	/* the longest stands for those of its name and thread, such as kernels behind it in a queue */
	while (end < SUMMARY_OPEN_SHOWN - 1 && open[end].name &&
	       (open[end].tid != tid || strcmp(open[end].name, name) != 0))
		end++;
	while (at <= end && open[at].name && open[at].duration_ns >= duration_ns)
		at++;
	if (at > end)
		return 0;
	copy = summary_copy(section->summary, name);
	if (!copy)
		return RTL_ENOMEM;
	memmove(&open[at + 1], &open[at], (end - at) * sizeof(*open));
	open[at] = (struct summary_open){copy, duration_ns, tid};
	return 0;
}

uint64_t summary_group_quantile(const struct summary_group *group, double share)
{
	uint64_t value = histogram_quantile(&group->histogram, share);

	value = value > group->max_ns ? group->max_ns : value;
	return value < group->min_ns ? group->min_ns : value;
}

/* Longest total first, then most often, then by name: the same order in every run. */
int summary_compare_groups(const void *a, const void *b)
{
	const struct summary_group *x = *(struct summary_group *const *)a;
	const struct summary_group *y = *(struct summary_group *const *)b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* What a sort goes by; ties by summary_compare_groups. */
static double sort_value(const struct summary_group *group, enum summary_sort sort)
{
	if (sort == SUMMARY_BY_COUNT)
		return (double)(group->count + group->untimed);
	if (!group->count)
		return -1;
	if (sort == SUMMARY_BY_MEAN)
		return (double)group->total_ns / (double)group->count;
	return (double)(sort == SUMMARY_BY_MIN   ? group->min_ns
			: sort == SUMMARY_BY_MAX ? group->max_ns
			: sort == SUMMARY_BY_P50 ? summary_group_quantile(group, 0.5)
			: sort == SUMMARY_BY_P99 ? summary_group_quantile(group, 0.99)
						 : group->total_ns);
}

static int compare_by(const void *a, const void *b, void *user)
{
	const enum summary_sort sort = *(const enum summary_sort *)user;
	const struct summary_group *x = *(struct summary_group *const *)a;
	const struct summary_group *y = *(struct summary_group *const *)b;
	const double of_x = sort_value(x, sort), of_y = sort_value(y, sort);

	if (sort == SUMMARY_BY_NAME)
		return strcmp(x->name, y->name);
	return of_x != of_y && sort != SUMMARY_BY_TOTAL ? (of_x > of_y ? -1 : 1)
							: summary_compare_groups(a, b);
}

int summary_view(const struct summary_section *section, enum summary_sort sort,
		 struct summary_view *view)
{
	*view = (struct summary_view){0};
	view->groups = calloc(section->groups.count + 1, sizeof(struct summary_group *));
	if (!view->groups)
		return RTL_ENOMEM;
	for (size_t i = 0; i < section->groups.capacity; i++) {
		struct summary_group *group = section_group_at(section, i);

		if (!group || !(group->count + group->untimed))
			continue;
		view->groups[view->count++] = group;
		view->total_ns += group->total_ns;
		view->untimed += group->untimed;
		view->operations += group->count + group->untimed;
	}
	qsort_r(view->groups, view->count, sizeof(struct summary_group *), compare_by, &sort);
	return 0;
}

/* ---- the ledger ---- */

static struct summary_stream *find_stream(struct summary *summary, const char *name)
{
	struct summary_stream **link = &summary->streams;

	while (*link && strcmp((*link)->name, name) != 0)
		link = &(*link)->next;
	if (!*link && (*link = summary_alloc(summary, sizeof(**link) + strlen(name) + 1)))
		strcpy((*link)->name, name);
	return *link;
}

void summary_set_unfinished(struct summary *summary)
{
	summary->unfinished = true;
}

void summary_fault_memory(struct summary *summary, size_t number, const char *text)
{
	if (text && number < SUMMARY_FAULTS_KEPT && number < summary->fault_count)
		summary->faults[number].memory = summary_copy(summary, text);
}

void summary_set_ranks(void *user, const char *const *row)
{
	struct summary *summary = user;

	summary->ranks = row[0] ? summary_copy(summary, row[0]) : NULL;
	summary->ranks_json = summary_copy(summary, row[1]);
}

int summary_add_ledger(struct summary *summary, const char *name, const struct rtl_ledger *ledger)
{
	struct summary_stream *stream = find_stream(summary, name);

	if (!stream)
		return RTL_ENOMEM;
	stream->ledger.published += ledger->published;
	stream->ledger.delivered += ledger->delivered;
	stream->ledger.discarded += ledger->discarded;
	stream->ledger.abandoned += ledger->abandoned;
	stream->ledger.missed += ledger->missed;
	stream->ledger.left_out += ledger->left_out;
	return 0;
}

int summary_add_loss(struct summary *summary, const char *name, const char *cause, uint64_t count)
{
	struct summary_stream *stream = find_stream(summary, name);
	struct summary_loss **link;

	if (!stream)
		return RTL_ENOMEM;
	if (!strcmp(cause, RTL_CAUSE_UNDER_WAY))
		stream->unfinished += count;
	for (link = &stream->losses; *link && strcmp((*link)->cause, cause) != 0;)
		link = &(*link)->next;
	if (!*link && (*link = summary_alloc(summary, sizeof(**link) + strlen(cause) + 1)))
		strcpy((*link)->cause, cause);
	if (*link)
		(*link)->count += count;
	return *link ? 0 : RTL_ENOMEM;
}

int summary_add_filtered(struct summary *summary, const char *name, uint64_t count)
{
	struct summary_stream *stream = find_stream(summary, name);

	if (stream)
		stream->filtered += count;
	return stream ? 0 : RTL_ENOMEM;
}

uint64_t summary_stream_lost(const struct summary_stream *stream)
{
	return stream->ledger.discarded + stream->ledger.abandoned + stream->ledger.missed;
}

static void destroy_groups(struct summary_section *sections)
{
	for (struct summary_section *s = sections; s; s = s->next) {
		for (size_t i = 0; i < s->groups.capacity; i++)
			summary_group_destroy(section_group_at(s, i));
		hash_fini(&s->groups);
		destroy_groups(s->keys);
	}
}

void summary_destroy(struct summary *summary)
{
	if (!summary)
		return;
	destroy_groups(summary->sections);
	for (struct summary_device *d = summary->devices; d; d = d->next)
		gpu_time_fini(&d->time);
	free(summary->gaps);
	host_time_fini(&summary->host);
	list_free(summary->memory);
	free(summary);
}
