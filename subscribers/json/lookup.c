/* SPDX-License-Identifier: MIT */
/* lookup.c: the part of sub.h that asks the host for names, each once. */
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "sub.h"

uint64_t lookup_spool(const struct rtl_process *info)
{
	const uint64_t spool = process_spool(info);

	return spool ? spool : hash_number(info->number) ^ (uint32_t)info->pid;
}

struct work_process *lookup_process_slowly(struct sub *sub, const struct rtl_process *info)
{
	sub->last_process = work_process(&sub->work, lookup_spool(info), info->pid, info->program,
					 info->host_name);
	sub->last_info = info;
	return sub->last_process;
}

static struct timeline_name *intern(struct sub *sub, const char *text)
{
	return timeline_intern(&sub->timeline, text && *text ? text : "(unnamed)");
}

static void keep(struct sub *sub, struct map *map, uint64_t key, void *value)
{
	if (!value || !map_set(map, key, (uintptr_t)value))
		sub->timeline.out_of_memory = true;
}

struct timeline_name *lookup_string(struct sub *sub, const struct rtl_process *info, uint64_t id)
{
	const uint64_t key = id ^ hash_number(info->number);
	struct timeline_name *name;
	const char *text;

	if (!id)
		return NULL;
	name = (struct timeline_name *)(uintptr_t)map_get(&sub->strings, key);
	if (name)
		return name;
	text = sub->host->string(sub->host, info, id);
	if (!text)
		return NULL;
	name = timeline_intern(&sub->timeline, text);
	keep(sub, &sub->strings, key, name);
	return name;
}

static bool number_of(const struct rtl_tracepoint *tracepoint, const char *key, uint32_t *number)
{
	const char *value = rtl_tracepoint_value(tracepoint, key);

	*number = value ? (uint32_t)strtoul(value, NULL, 10) : 0;
	return value != NULL;
}

static void describe_kernel(struct sub *sub, const struct rtl_process *info, uint64_t uid,
			    uint64_t string, struct work_kernel *kernel)
{
	const struct rtl_host *host = sub->host;
	const struct rtl_tracepoint *tp = uid ? host->tracepoint(host, info, uid) : NULL;
	const char *readable = rtl_tracepoint_value(tp, "demangled");
	const char *name = tp && *tp->name ? tp->name : NULL;
	char *demangled;

	kernel->has_registers = number_of(tp, "vgprs", &kernel->vgprs);
	number_of(tp, "agprs", &kernel->agprs);
	number_of(tp, "sgprs", &kernel->sgprs);
	if (readable && *readable) {
		kernel->name = intern(sub, readable);
		return;
	}
	if (!name && string)
		name = host->string(host, info, string);
	demangled = name ? demangle(name) : NULL;
	kernel->name = intern(sub, demangled ? demangled : name ? name : "(unknown kernel)");
	free(demangled);
}

const struct work_kernel *lookup_kernel(struct sub *sub, const struct rtl_process *info,
					uint64_t uid, uint64_t string)
{
	const uint64_t key = uid ? uid : string ^ hash_number(info->number);
	struct work_kernel *kernel = (struct work_kernel *)(uintptr_t)map_get(&sub->kernels, key);

	if (__builtin_expect(kernel != NULL, 1))
		return kernel;
	kernel = calloc(1, sizeof(*kernel));
	keep(sub, &sub->kernels, key, kernel);
	if (kernel)
		describe_kernel(sub, info, uid, string, kernel);
	return kernel && kernel->name ? kernel : NULL;
}

void lookup_kernel_again(struct sub *sub, const struct rtl_process *info, uint64_t uid)
{
	struct work_kernel *kernel = (struct work_kernel *)(uintptr_t)map_get(&sub->kernels, uid);

	if (kernel)
		describe_kernel(sub, info, uid, 0, kernel);
}

const struct function *lookup_function(struct sub *sub, const struct rtl_process *info,
				       uint64_t uid, uint64_t string)
{
	const uint64_t key = uid ? uid : string ^ hash_number(info->number);
	struct function *function = (struct function *)(uintptr_t)map_get(&sub->functions, key);
	const struct rtl_tracepoint *tp;
	const char *text;

	if (__builtin_expect(function != NULL, 1))
		return function;
	function = calloc(1, sizeof(*function));
	keep(sub, &sub->functions, key, function);
	if (!function)
		return NULL;
	tp = uid ? sub->host->tracepoint(sub->host, info, uid) : NULL;
	text = string ? sub->host->string(sub->host, info, string) : NULL;
	function->name = intern(sub, text ? text : tp ? tp->name : NULL);
	return function->name ? function : NULL;
}

static void free_values(struct map *map)
{
	for (size_t i = 0; i < map->hash.capacity; i++)
		free((void *)(uintptr_t)map_at(map, i)->value);
	map_fini(map);
}

void lookup_fini(struct sub *sub)
{
	map_fini(&sub->strings);
	free_values(&sub->kernels);
	free_values(&sub->functions);
}
