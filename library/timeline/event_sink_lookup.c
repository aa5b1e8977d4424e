/* SPDX-License-Identifier: MIT */
/* event_sink_lookup.c: the part of event_sink.h that asks the host for names, each once. */
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "event_sink.h"

uint64_t event_lookup_spool(const struct rtl_process *info)
{
	const uint64_t spool = info->spool_id;

	return spool ? spool : hash_number(info->number) ^ (uint32_t)info->pid;
}

struct work_process *event_lookup_process_slowly(struct event_sink *sink,
						 const struct rtl_process *info)
{
	sink->last_info = info;
	sink->last_process = NULL;
	if (sink->wants && !sink->wants(sink, info))
		return NULL;
	sink->last_process = work_process(&sink->work, event_lookup_spool(info), info->pid,
					  info->program, info->host_name);
	return sink->last_process;
}

static struct name *intern(struct event_sink *sink, const char *text)
{
	return timeline_intern(&sink->timeline, text && *text ? text : "(unnamed)");
}

static void keep(struct event_sink *sink, struct map *map, uint64_t key, void *value)
{
	if (!value || !map_set(map, key, (uintptr_t)value))
		sink->timeline.out_of_memory = true;
}

struct name *event_lookup_string(struct event_sink *sink, const struct rtl_process *info,
				 uint64_t id)
{
	const uint64_t key = id ^ hash_number(info->number);
	struct name *name;
	const char *text;

	if (!id)
		return NULL;
	name = (struct name *)(uintptr_t)map_get(&sink->strings, key);
	if (name)
		return name;
	text = sink->host->string(sink->host, info, id);
	if (!text)
		return NULL;
	name = timeline_intern(&sink->timeline, text);
	keep(sink, &sink->strings, key, name);
	return name;
}

static bool number_of(const struct rtl_tracepoint *tracepoint, const char *key, uint32_t *number)
{
	const char *value = rtl_tracepoint_value(tracepoint, key);

	*number = value ? (uint32_t)strtoul(value, NULL, 10) : 0;
	return value != NULL;
}

static void describe_kernel(struct event_sink *sink, const struct rtl_process *info, uint64_t uid,
			    uint64_t string, struct work_kernel *kernel)
{
	const struct rtl_host *host = sink->host;
	const struct rtl_tracepoint *tp = uid ? host->tracepoint(host, info, uid) : NULL;
	const char *readable = rtl_tracepoint_value(tp, "demangled");
	const char *name = tp && *tp->name ? tp->name : NULL;
	char *demangled;

	kernel->has_registers = number_of(tp, "vgprs", &kernel->vgprs);
	number_of(tp, "agprs", &kernel->agprs);
	number_of(tp, "sgprs", &kernel->sgprs);
	if (readable && *readable) {
		kernel->name = intern(sink, readable);
		return;
	}
	if (!name && string)
		name = host->string(host, info, string);
	demangled = name ? demangle(name) : NULL;
	kernel->name = intern(sink, demangled ? demangled : name ? name : "(unknown kernel)");
	free(demangled);
}

const struct work_kernel *event_lookup_kernel(struct event_sink *sink,
					      const struct rtl_process *info, uint64_t uid,
					      uint64_t string)
{
	const uint64_t key = uid ? uid : string ^ hash_number(info->number);
	struct work_kernel *kernel = (struct work_kernel *)(uintptr_t)map_get(&sink->kernels, key);

	if (__builtin_expect(kernel != NULL, 1))
		return kernel;
	kernel = calloc(1, sizeof(*kernel));
	keep(sink, &sink->kernels, key, kernel);
	if (kernel)
		describe_kernel(sink, info, uid, string, kernel);
	return kernel && kernel->name ? kernel : NULL;
}

void event_lookup_kernel_again(struct event_sink *sink, const struct rtl_process *info,
			       uint64_t uid)
{
	struct work_kernel *kernel = (struct work_kernel *)(uintptr_t)map_get(&sink->kernels, uid);

	if (kernel)
		describe_kernel(sink, info, uid, 0, kernel);
}

struct name *event_lookup_function(struct event_sink *sink, const struct rtl_process *info,
				   uint64_t uid, uint64_t string)
{
	const uint64_t key = uid ? uid : string ^ hash_number(info->number);
	struct name *name = (struct name *)(uintptr_t)map_get(&sink->functions, key);
	const struct rtl_tracepoint *tp;
	const char *text;

	if (__builtin_expect(name != NULL, 1))
		return name;
	tp = uid ? sink->host->tracepoint(sink->host, info, uid) : NULL;
	text = string ? sink->host->string(sink->host, info, string) : NULL;
	name = intern(sink, text ? text : tp ? tp->name : NULL);
	keep(sink, &sink->functions, key, name);
	return name;
}

void event_lookup_fini(struct event_sink *sink)
{
	map_fini(&sink->strings);
	map_fini(&sink->functions);
	for (size_t i = 0; i < sink->kernels.hash.capacity; i++)
		free((void *)(uintptr_t)map_at(&sink->kernels, i)->value);
	map_fini(&sink->kernels);
}
