/* SPDX-License-Identifier: MIT */
/* See summary.h: devices, and what they are called. */
#include "model.h"

struct summary_device *summary_device(struct summary *summary, uint32_t number)
{
	struct summary_device **link = &summary->devices;
	struct summary_device *device;

	while (*link && (*link)->number < number)
		link = &(*link)->next;
	if (*link && (*link)->number == number)
		return *link;
	device = summary_alloc(summary, sizeof(*device));
	if (!device)
		return NULL;
	gpu_time_init(&device->time, &summary->host);
	device->number = number;
	device->next = *link;
	*link = device;
	return device;
}

/* ---- gaps ---- */

static int compare_gaps(const void *a, const void *b)
{
	const struct summary_gap *x = a, *y = b;
	const uint64_t of_x = x->is->end - x->is->begin, of_y = y->is->end - y->is->begin;

	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	if (x->device != y->device)
		return x->device->number < y->device->number ? -1 : 1;
	return (x->is->begin > y->is->begin) - (x->is->begin < y->is->begin);
}

/* Events of that stream that are not there, though the time was recorded. */
static uint64_t missing_of(const struct summary *summary, const char *name, bool lost)
{
	const struct summary_stream *stream = summary->streams;

	while (stream && strcmp(stream->name, name) != 0)
		stream = stream->next;
	return !stream ? 0 : lost ? summary_stream_lost(stream) : stream->filtered;
}

static uint64_t work_missing(const struct summary *summary, bool lost)
{
	return missing_of(summary, RTL_STREAM_HSA, lost) +
	       missing_of(summary, RTL_STREAM_HSA_COPY, lost);
}

/* Of what was idle within ranges, and of critical paths, too, nothing is known. */
static bool close_groups(struct summary *summary, enum idle_cause missing, bool calls_missing)
{
	bool good = true;

	for (struct summary_section *s = summary->sections; s; s = s->next)
		for (size_t i = 0; i < s->groups.capacity; i++) {
			struct summary_group *group = section_group_at(s, i);

			struct summary_part *p = group ? group->parts : NULL;

			if (p && !p->next) { /* it is that of the range */
				group->path = p->path;
				p->path = (struct idle_rows){0};
			}
			for (; p; p = p->next) {
				good &= idle_rows_merge(&group->path, &p->path);
				idle_rows_close(&p->path, missing, calls_missing);
			}
			if (group)
				idle_rows_close(&group->path, missing, calls_missing);
			if (!group || missing == IDLE_CAUSES)
				continue;
			group->idle_ns[IDLE_NOT_KNOWN] += group->idle_ns[IDLE_NOT_SUBMITTED] +
							  group->idle_ns[IDLE_NOT_STARTED];
			group->idle_ns[IDLE_NOT_SUBMITTED] = group->idle_ns[IDLE_NOT_STARTED] = 0;
		}
	return good;
}

int summary_explain(struct summary *summary)
{
	const enum idle_cause missing = work_missing(summary, false)  ? IDLE_FILTERED
					: work_missing(summary, true) ? IDLE_LOST
								      : IDLE_CAUSES;
	const bool calls_missing = missing_of(summary, RTL_STREAM_HIP_CALL, true) ||
				   missing_of(summary, RTL_STREAM_HIP_CALL, false);
	size_t devices = 0;
	bool good = true;

	for (struct summary_device *d = summary->devices; d; d = d->next, devices++)
		(void)gpu_time_settle(&d->time); /* out of memory: below */
	host_time_close(&summary->host);
	path_take_steps(&summary->host, true);
	for (const struct summary_device *d = summary->devices; d; d = d->next)
		good &= !d->time.out_of_memory;
	good &= close_groups(summary, missing, calls_missing);
	free(summary->gaps);
	summary->gap_count = 0;
	summary->gaps = calloc(devices * GAPS_KEPT + 1, sizeof(*summary->gaps));
	if (!summary->gaps || !good)
		return RTL_ENOMEM;
	for (struct summary_device *d = summary->devices; d; d = d->next) {
		gpu_time_close(&d->time, missing, calls_missing);
		for (size_t i = 0; i < d->time.gaps.kept; i++)
			summary->gaps[summary->gap_count++] =
				(struct summary_gap){d, &d->time.gaps.longest[i]};
	}
	qsort(summary->gaps, summary->gap_count, sizeof(*summary->gaps), compare_gaps);
	return 0;
}

/* ---- names ---- */

static const char *const keys[DEVICE_TEXTS] = {"name", "product", "bus_id", "uuid"};

const char *summary_device_key(unsigned which)
{
	return keys[which];
}

static struct summary_device_name *find_name(const struct summary *summary, uint32_t number)
{
	struct summary_device_name *name = summary->device_names;

	while (name && name->number != number)
		name = name->next;
	return name;
}

/* If a number means several devices, on several machines, what differs between them is left out. */
static int set_text(struct summary *summary, char **text, const char *value)
{
	if (*text && strcmp(*text, value) != 0)
		**text = 0;
	else if (!*text)
		*text = summary_copy(summary, value);
	return *text ? 0 : RTL_ENOMEM;
}

int summary_device_describe(struct summary *summary, uint32_t number, const char *key,
			    const char *value)
{
	struct summary_device_name *name = find_name(summary, number);
	unsigned i = 0;

	while (i < DEVICE_TEXTS && strcmp(key, keys[i]) != 0)
		i++;
	/* "GPU-XX" is the runtime's word for a UUID that it does not know. */
	if (i == DEVICE_TEXTS || !*value || !strcmp(value, "GPU-XX"))
		return 0;
	if (!name) {
		name = summary_alloc(summary, sizeof(*name));
		if (!name)
			return RTL_ENOMEM;
		*name = (struct summary_device_name){summary->device_names, number, {NULL}};
		summary->device_names = name;
	}
	return set_text(summary, &name->texts[i], value);
}

const char *summary_device_text(const struct summary *summary, uint32_t number, unsigned which)
{
	const struct summary_device_name *name = find_name(summary, number);

	return name && name->texts[which] && *name->texts[which] ? name->texts[which] : NULL;
}
