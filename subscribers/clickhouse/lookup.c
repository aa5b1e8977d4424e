/* SPDX-License-Identifier: MIT */
/* lookup.c: the part of sub.h that asks the host for names, each once. */
#include "demangle.h"
#include "sub.h"

static void keep(struct sub *sub, struct map *map, uint64_t key, uint32_t name)
{
	sub->lost_memory |= !map_set(map, key, (uint64_t)name + 1);
}

uint32_t lookup_name(struct sub *sub, const char *text)
{
	const struct name *name;

	if (!text || !*text)
		return 0;
	name = names_of(&sub->names, text, strlen(text));
	sub->lost_memory |= !name;
	return name ? name->number : 0;
}

struct process *lookup_process_slowly(struct sub *sub, const struct rtl_process *info)
{
	struct process *p = sub->processes;

	while (p && p->info != info)
		p = p->next;
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p) {
			sub->lost_memory = true;
			return NULL;
		}
		p->info = info;
		p->host = lookup_name(sub, info->host_name);
		p->next = sub->processes;
		sub->processes = p;
	}
	sub->newest = p;
	sub->newest_info = info;
	return p;
}

uint32_t lookup_string(struct sub *sub, struct process *process, uint64_t id)
{
	const uint64_t found = id ? map_get(&process->strings, id) : 1;
	const char *text;
	uint32_t name;

	if (__builtin_expect(found != 0, 1))
		return (uint32_t)found - 1;
	text = sub->host->string(sub->host, process->info, id);
	if (!text) /* it may come */
		return 0;
	name = lookup_name(sub, text);
	keep(sub, &process->strings, id, name);
	return name;
}

static uint32_t name_tracepoint(struct sub *sub, const struct rtl_tracepoint *tp)
{
	const char *text = host_tracepoint_name(tp);
	char *demangled = text && !strcmp(tp->kind, "kernel") ? demangle(text) : NULL;
	const uint32_t name = lookup_name(sub, demangled ? demangled : text);

	free(demangled);
	return name;
}

uint32_t lookup_tracepoint(struct sub *sub, const struct rtl_event *event)
{
	const uint64_t found = event->uid ? map_get(&sub->tracepoints, event->uid) : 1;
	const struct rtl_tracepoint *tp;
	uint32_t name;

	if (__builtin_expect(found && event->type != RTL_METADATA, 1))
		return (uint32_t)found - 1;
	tp = event->uid ? sub->host->tracepoint(sub->host, event->process, event->uid) : NULL;
	if (!tp)
		return 0;
	name = name_tracepoint(sub, tp);
	keep(sub, &sub->tracepoints, event->uid, name);
	return name;
}

void lookup_fini(struct sub *sub)
{
	for (struct process *p = sub->processes; p; p = p->next) {
		map_fini(&p->strings);
		map_fini(&p->gpus);
		for (size_t i = 0; i < p->mark_count; i++)
			free(p->marks[i].table);
		free(p->marks);
	}
	list_free(sub->processes);
	map_fini(&sub->tracepoints);
}
