/* SPDX-License-Identifier: MIT */
/* See summary.h: what each process and each rank has done. */
#include "model.h"

struct summary_process *summary_process(struct summary *summary, uint64_t key)
{
	struct summary_process **link = &summary->processes;

	while (*link && (*link)->key != key)
		link = &(*link)->next;
	if (!*link && (*link = summary_alloc(summary, sizeof(**link))))
		**link = (struct summary_process){.key = key, .rank = -1};
	return *link;
}

int summary_process_describe(struct summary *summary, struct summary_process *process, int32_t pid,
			     int32_t rank, const char *host_name, const char *program)
{
	process->pid = pid;
	process->rank = rank;
	if (host_name && !process->host_name)
		process->host_name = summary_copy(summary, host_name);
	if (program && !process->program)
		process->program = summary_copy(summary, basename(program));
	return (host_name && !process->host_name) || (program && !process->program) ? RTL_ENOMEM
										    : 0;
}

static bool is_of_use(const struct summary_process *process)
{
	for (unsigned i = 0; i < SUMMARY_DEEDS; i++)
		if (process->deeds[i].count)
			return true;
	return false;
}

static int compare(const void *a, const void *b)
{
	const struct summary_process *x = a, *y = b;
	const char *const hosts[] = {x->host_name ? x->host_name : "",
				     y->host_name ? y->host_name : ""};

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (strcmp(hosts[0], hosts[1]) != 0)
		return strcmp(hosts[0], hosts[1]);
	return (x->pid > y->pid) - (x->pid < y->pid);
}

int summary_list_processes(const struct summary *summary, struct summary_process **list,
			   size_t *count)
{
	size_t n = 0;

	for (const struct summary_process *p = summary->processes; p; p = p->next)
		n++;
	*count = 0;
	*list = calloc(n + 1, sizeof(**list));
	if (!*list)
		return RTL_ENOMEM;
	for (const struct summary_process *p = summary->processes; p; p = p->next)
		if (is_of_use(p))
			(*list)[(*count)++] = *p;
	qsort(*list, *count, sizeof(**list), compare);
	return 0;
}

static int compare_parts(const void *a, const void *b)
{
	const struct summary_part *x = *(struct summary_part *const *)a;
	const struct summary_part *y = *(struct summary_part *const *)b;
	const double of_x = (double)x->total_ns / (double)x->count;
	const double of_y = (double)y->total_ns / (double)y->count;

	return of_x != of_y ? (of_x > of_y ? -1 : 1) : compare(x->process, y->process);
}

const struct summary_part **summary_parts(const struct summary_group *range, size_t *count)
{
	const struct summary_part **list;
	size_t n = 0;

	for (const struct summary_part *p = range->parts; p; p = p->next)
		n += p->process != NULL;
	*count = n;
	list = n > 1 ? calloc(n, sizeof(struct summary_part *)) : NULL;
	for (const struct summary_part *p = list ? range->parts : NULL; p; p = p->next)
		if (p->process)
			list[--n] = p;
	if (list)
		qsort(list, *count, sizeof(struct summary_part *), compare_parts);
	return list;
}

size_t summary_join_ranks(struct summary_process *list, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		struct summary_process *to = n ? &list[n - 1] : NULL;

		if (list[i].rank < 0)
			continue;
		if (!to || to->rank != list[i].rank) {
			list[n] = list[i];
			list[n++].processes = 1;
			continue;
		}
		to->processes++;
		for (unsigned k = 0; k < SUMMARY_DEEDS; k++) {
			to->deeds[k].count += list[i].deeds[k].count;
			to->deeds[k].total_ns += list[i].deeds[k].total_ns;
		}
	}
	return n;
}
