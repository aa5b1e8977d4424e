/* SPDX-License-Identifier: MIT */
/* lookup.c: the part of sub.h that asks the host for names, each once. */
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "sub.h"

static void keep(struct sub *sub, struct map *map, uint64_t key, uint32_t name)
{
	if (!map_set(map, key, (uint64_t)name + 1))
		sub->lost_memory = true;
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
		p->columns = (struct process_columns){
			.host = names_of(&sub->names, info->host_name),
			.rank = info->rank,
			.pid = (uint32_t)info->pid,
			.spool = info->spool_id,
		};
		*sub->last_process = p;
		sub->last_process = &p->next;
	}
	sub->newest = p;
	sub->newest_info = info;
	return p;
}

uint32_t lookup_string_slowly(struct sub *sub, struct process *process, uint64_t id)
{
	const char *text = sub->host->string(sub->host, process->info, id);
	uint32_t name;

	if (!text) /* it may come */
		return 0;
	name = names_of(&sub->names, text);
	keep(sub, &process->strings, id, name);
	return name;
}

static uint32_t name_kernel(struct sub *sub, const struct process *process, uint64_t uid,
			    uint64_t string)
{
	const struct rtl_host *host = sub->host;
	const struct rtl_tracepoint *tp = uid ? host->tracepoint(host, process->info, uid) : NULL;
	const char *readable = rtl_tracepoint_value(tp, "demangled");
	const char *mangled = tp && *tp->name ? tp->name : NULL;
	char *demangled;
	uint32_t name;

	if (readable && *readable)
		return names_of(&sub->names, readable);
	if (!mangled && string)
		mangled = host->string(host, process->info, string);
	demangled = mangled ? demangle(mangled) : NULL;
	name = names_of(&sub->names, demangled ? demangled
				     : mangled ? mangled
					       : "(unknown kernel)");
	free(demangled);
	return name;
}

uint32_t lookup_kernel(struct sub *sub, struct process *process, uint64_t uid, uint64_t string)
{
	const uint64_t key = uid ? uid : string ^ process->columns.spool;
	const uint64_t found = map_get(&sub->kernels, key);
	uint32_t name;

	if (__builtin_expect(found != 0, 1))
		return (uint32_t)found - 1;
	name = name_kernel(sub, process, uid, string);
	keep(sub, &sub->kernels, key, name);
	return name;
}

void lookup_kernel_again(struct sub *sub, struct process *process, uint64_t uid)
{
	if (map_get(&sub->kernels, uid))
		keep(sub, &sub->kernels, uid, name_kernel(sub, process, uid, 0));
}

void lookup_fini(struct sub *sub)
{
	for (struct process *p = sub->processes, *next; p; p = next) {
		next = p->next;
		map_fini(&p->strings);
		map_fini(&p->gpus);
		for (size_t i = 0; i < p->mark_count; i++)
			free(p->marks[i].table);
		free(p->marks);
		free(p);
	}
	map_fini(&sub->kernels);
}
