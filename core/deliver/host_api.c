/* SPDX-License-Identifier: MIT */
/* The functions of struct rtl_host. */
#include <stdio.h>
#include <stdlib.h>

#include "host.h"

static struct instance *instance_of(const struct rtl_host *api)
{
	return (struct instance *)(uintptr_t)api;
}

static void api_report(const struct rtl_host *api, int level, const char *text)
{
	if (level <= RTL_LEVEL_ERROR)
		__atomic_store_n(&instance_of(api)->told, true, __ATOMIC_RELAXED);
	rtl_log(level < RTL_LEVEL_ERROR ? RTL_LEVEL_ERROR : (enum rtl_level)level,
		instance_of(api)->name, "%s", text ? text : "");
}

/* The object stays in the list, without a callback, until it is given up and no batch refers to it. */
static void undo(struct host *host, struct rtl_subscription *s)
{
	if (!s->fn)
		return;
	__atomic_store_n(&s->fn, NULL, __ATOMIC_RELAXED);
	if (s->is_inline)
		host->own->inline_remove(s->stream->number, s);
	wants_tell(host, s->stream);
}

void instance_undo(struct instance *instance, bool buffered_too)
{
	struct rtl_subscription *s;

	for (uint32_t i = 0; i < instance->host->stream_count; i++)
		for (s = instance->host->subscriptions[i]; s; s = s->next)
			if (s->instance == instance && (buffered_too || s->is_inline))
				undo(instance->host, s);
}

/* The instance gets no more events. Without the data lock. */
static void instance_fail(struct instance *instance, const char *reason)
{
	bool first;

	host_data_lock(instance->host);
	first = !instance->failed;
	__atomic_store_n(&instance->failed, true, __ATOMIC_RELAXED);
	if (first)
		instance_undo(instance, true);
	host_data_unlock(instance->host);
	if (first) /* not under the lock: it publishes */
		rtl_log(RTL_LEVEL_ERROR, instance->name, "%s: it gets no more events", reason);
}

void instance_fail_with(struct instance *instance, const char *function, int err)
{
	char reason[128];

	snprintf(reason, sizeof(reason), "its function %s failed (%s)", function,
		 rtl_error_text(err));
	instance_fail(instance, reason);
}

static void api_fail(const struct rtl_host *api, const char *reason)
{
	instance_fail(instance_of(api), reason ? reason : "failed");
}

static bool is_ours(const struct host *host, const struct rtl_stream_info *info)
{
	/* acquire: with the release in intern_stream */
	return info->number < __atomic_load_n(&host->stream_count, __ATOMIC_ACQUIRE) &&
	       host->streams[info->number] == info;
}

static int add_subscription(struct host *host, struct rtl_subscription *s)
{
	struct rtl_subscription **at = &host->subscriptions[s->stream->number];
	int err;

	if (s->instance->failed || host->finished)
		return RTL_EPLUGIN;
	if (s->is_inline && !host->own)
		return RTL_ENOTSUP;
	if (s->is_inline &&
	    (err = host->own->inline_add(s->stream->number, s->type, s->fn, s->user, s)))
		return err;
	s->next = *at;
	/* release: with the acquire in distribute */
	__atomic_store_n(at, s, __ATOMIC_RELEASE);
	wants_tell(host, s->stream);
	return 0;
}

static int api_subscribe(const struct rtl_host *api, const struct rtl_stream_info *info,
			 uint16_t type, enum rtl_delivery delivery, rtl_events_fn fn, void *user,
			 struct rtl_subscription **out)
{
	struct instance *instance = instance_of(api);
	struct rtl_subscription *s;
	int err;

	if (!info || !fn || (delivery != RTL_BUFFERED && delivery != RTL_INLINE))
		return RTL_EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return RTL_ENOMEM;
	*s = (struct rtl_subscription){.instance = instance,
				       .fn = fn,
				       .user = user,
				       .stream = info,
				       .type = type,
				       .is_inline = delivery == RTL_INLINE};
	host_data_lock(instance->host);
	err = is_ours(instance->host, info) &&
			      (type == RTL_TYPE_ANY || rtl_stream_find_type(info, type))
		      ? add_subscription(instance->host, s)
		      : RTL_ENOENT;
	host_data_unlock(instance->host);
	if (err)
		free(s);
	else if (out)
		*out = s;
	return err;
}

static void api_unsubscribe(const struct rtl_host *api, struct rtl_subscription *s)
{
	struct instance *instance = instance_of(api);
	bool is_inline;

	if (!s)
		return;
	host_data_lock(instance->host);
	is_inline = s->is_inline;
	undo(instance->host, s);
	s->given_up = true; /* and may be freed when we let go */
	__atomic_store_n(&instance->host->undone, true, __ATOMIC_RELAXED);
	host_data_unlock(instance->host);
	if (is_inline)
		instance->host->own->inline_wait();
	else if (host_lock_patiently(instance->host, HOST_FOR_EVER))
		host_unlock(instance->host); /* no call was under way but the one that calls us */
}

void host_sweep(struct host *host)
{
	host_data_lock(host);
	__atomic_store_n(&host->undone, false, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < host->stream_count; i++) {
		struct rtl_subscription **at = &host->subscriptions[i], *s;

		while ((s = *at)) {
			if (!s->given_up) {
				at = &s->next;
				continue;
			}
			*at = s->next;
			free(s);
		}
	}
	host_data_unlock(host);
}

static const struct source *source_of(const struct host *host, const struct rtl_process *process)
{
	return process && process->number >= 1 && process->number <= host->source_count
		       ? host->sources[process->number - 1]
		       : NULL;
}

/* The same from any thread. */
static const struct source *find_source(const struct rtl_host *api,
					const struct rtl_process *process)
{
	struct host *host = instance_of(api)->host;
	const struct source *source;

	host_data_lock(host);
	source = source_of(host, process);
	host_data_unlock(host);
	return source;
}

static const char *api_string(const struct rtl_host *api, const struct rtl_process *process,
			      uint64_t id)
{
	const struct source *source = find_source(api, process);

	return source ? source->ops->string(source, id) : NULL;
}

static const struct rtl_tracepoint *api_tracepoint(const struct rtl_host *api,
						   const struct rtl_process *process, uint64_t uid)
{
	struct instance *instance = instance_of(api);
	const struct source *source = find_source(api, process);

	return source ? lookup_tracepoint(&instance->lookup, source, uid) : NULL;
}

static const struct rtl_values_info *api_values(const struct rtl_host *api,
						const struct rtl_process *process, uint64_t uid)
{
	const struct source *source = find_source(api, process);

	return source ? lookup_values(&instance_of(api)->lookup, source, uid) : NULL;
}

static void add_ledger(struct rtl_ledger *sum, const struct source *source,
		       const struct rtl_stream_info *info)
{
	int number = source_number(source, info);
	struct rtl_ledger one = {.struct_size = sizeof(one)};

	if (number < 0)
		return;
	source_ledger(source, (uint32_t)number, &one);
	sum->published += one.published;
	sum->delivered += one.delivered;
	sum->discarded += one.discarded;
	sum->abandoned += one.abandoned;
	sum->missed += one.missed;
	sum->left_out += one.left_out;
}

static int api_ledger(const struct rtl_host *api, const struct rtl_process *process,
		      const struct rtl_stream_info *info, struct rtl_ledger *ledger)
{
	struct host *host = instance_of(api)->host;
	struct rtl_ledger sum = {.struct_size = sizeof(sum)};

	if (!info || !is_ours(host, info) || !ledger || ledger->struct_size < RTL_LEDGER_SIZE_MIN)
		return RTL_EINVAL;
	host_data_lock(host);
	for (uint32_t i = 0; i < host->source_count; i++)
		if (!process || source_of(host, process) == host->sources[i])
			add_ledger(&sum, host->sources[i], info);
	host_data_unlock(host);
	source_give_ledger(&sum, ledger);
	return 0;
}

/* Calls `each` for every process that is meant and has the stream. */
static void each_cause(const struct rtl_host *api, const struct rtl_process *process,
		       const struct rtl_stream_info *info,
		       void (*each)(const struct source *source, uint32_t number, cause_fn fn,
				    void *user),
		       cause_fn fn, void *user)
{
	const struct host *host = instance_of(api)->host;

	if (!info || !is_ours(host, info) || !fn)
		return;
	for (uint32_t i = 0; i < host->source_count; i++) {
		int number = source_number(host->sources[i], info);

		if (number >= 0 && (!process || source_of(host, process) == host->sources[i]))
			each(host->sources[i], (uint32_t)number, fn, user);
	}
}

static void api_losses(const struct rtl_host *api, const struct rtl_process *process,
		       const struct rtl_stream_info *info, cause_fn fn, void *user)
{
	each_cause(api, process, info, source_losses, fn, user);
}

static void api_left_out(const struct rtl_host *api, const struct rtl_process *process,
			 const struct rtl_stream_info *info, cause_fn fn, void *user)
{
	each_cause(api, process, info, source_left_out, fn, user);
}

static const struct rtl_process *api_process(const struct rtl_host *api, uint32_t number)
{
	const struct source *source = find_source(api, &(struct rtl_process){.number = number});

	return source ? source->process : NULL;
}

static const char *api_property(const struct rtl_host *api, const char *key)
{
	struct host *host = instance_of(api)->host;
	const char *mode;

	if (!key)
		return NULL;
	if (!strcmp(key, "where"))
		return host->where;
	if (!strcmp(key, "version"))
		return rtl_version();
	if (host->feeds && strcmp(key, "lacking") != 0)
		return host_feeds_property(host, key);
	if (!strcmp(key, "interrupted"))
		return host_interruption(host);
	if (!strcmp(key, "paused"))
		return host->off ? "recording was stopped when it ended" : NULL;
	if (!strcmp(key, "pauses"))
		return host->pauses;
	if (!strcmp(key, "lacking"))
		return host->lacks ? "not all spools could be read" : NULL;
	if (!strcmp(key, "ended"))
		return strcmp(host->where, "collector") ? NULL : secure_getenv("RTL_ENDED");
	if (!strcmp(key, "session"))
		return secure_getenv("RTL_SESSION");
	if (strcmp(key, "mode") != 0)
		return NULL;
	mode = secure_getenv("RTL_MODE");
	return mode || strcmp(host->where, "process") ? mode : "standard";
}

static void api_positions(const struct rtl_host *api,
			  void (*fn)(void *user, const struct rtl_process *process, uint32_t ring,
				     uint64_t position),
			  void *user)
{
	const struct instance *instance = instance_of(api);
	const struct host *host = instance->host;
	uint64_t position, stored;

	for (uint32_t i = 0; i < host->source_count; i++) {
		const struct source *source = host->sources[i];

		for (uint32_t k = 0; source->begun && !source->closed && k < source->reader.count;
		     k++) {
			position = source->reader.list[k].position;
			if (position == source->reader.list[k].released)
				continue;
			/* it may have stored more than what others have got again so far */
			stored = source->resume ? source_stored(source, instance, k) : 0;
			fn(user, source->process, k, stored > position ? stored : position);
		}
	}
}

static int api_resume(const struct rtl_host *api, const struct rtl_process *process, uint32_t ring,
		      uint64_t position)
{
	struct source *source =
		(struct source *)(uintptr_t)source_of(instance_of(api)->host, process);

	if (!source || source->reader.count)
		return RTL_EBUSY;
	return source_resume_at(source, instance_of(api), ring, position);
}

/* pairs 0: nothing is known. */
static void calibration_of(const struct clock_line *line, struct rtl_calibration *out)
{
	const struct clock_pair *first = &line->pairs[0], *last;
	uint64_t error_ticks = 0;

	*out = (struct rtl_calibration){.pairs = line->count ? line->taken : 0};
	if (!line->count)
		return;
	last = &line->pairs[line->count - 1];
	for (uint32_t i = 0; i < line->count; i++)
		if (line->pairs[i].error_ticks > error_ticks)
			error_ticks = line->pairs[i].error_ticks;
	out->ns_per_tick =
		last->ticks == first->ticks
			? 1.0
			: (double)(last->ns - first->ns) / (double)(last->ticks - first->ticks);
	out->error_ns = (uint64_t)((double)error_ticks * out->ns_per_tick) + 1;
	out->first_ns = first->ns;
	out->last_ns = last->ns;
}

static int api_calibration(const struct rtl_host *api, const struct rtl_process *process,
			   struct rtl_calibration *out)
{
	struct host *host = instance_of(api)->host;
	struct rtl_calibration all;
	const struct source *source;
	uint32_t size;

	/* the rest of the struct has been there from the beginning */
	if (!out || out->struct_size < offsetof(struct rtl_calibration, first_ns))
		return RTL_EINVAL;
	host_data_lock(host);
	source = source_of(host, process);
	if (source && source->feed)
		all = source->calibration;
	else if (source)
		calibration_of(&source->reader.clock, &all);
	host_data_unlock(host);
	if (!source || !all.pairs)
		return RTL_EINVAL;
	size = out->struct_size;
	all.struct_size = size;
	memcpy(out, &all, size < sizeof(all) ? size : sizeof(all));
	return 0;
}

static int api_waits(const struct rtl_host *api, const struct rtl_process *process,
		     struct rtl_waits *out)
{
	struct host *host = instance_of(api)->host;
	struct rtl_waits waits;
	const struct source *source;

	if (!out || out->struct_size < sizeof(*out))
		return RTL_EINVAL;
	host_data_lock(host);
	source = source_of(host, process);
	if (source)
		source_waits(source, &waits);
	host_data_unlock(host);
	if (!source)
		return RTL_EINVAL;
	waits.struct_size = out->struct_size;
	*out = waits;
	return 0;
}

static void api_unfinished(const struct rtl_host *api, const struct rtl_process *process,
			   void (*fn)(void *user, const struct rtl_event *event), void *user)
{
	struct host *host = instance_of(api)->host;
	struct source *source = (struct source *)(uintptr_t)source_of(host, process);

	if (source && !source->closed && fn)
		host_each_open(host, source, fn, user);
}

static int api_keep(const struct rtl_host *api, bool anyway)
{
	struct instance *instance = instance_of(api);

	if (!anyway && instance->host->urgent)
		return RTL_EBUSY;
	instance->keeps = true;
	return 0;
}

const struct rtl_host host_api = {
	.struct_size = sizeof(host_api),
	.abi_version = RTL_ABI_VERSION,
	.subscribe = api_subscribe,
	.unsubscribe = api_unsubscribe,
	.string = api_string,
	.tracepoint = api_tracepoint,
	.ledger = api_ledger,
	.losses = api_losses,
	.report = api_report,
	.fail = api_fail,
	.process = api_process,
	.property = api_property,
	.positions = api_positions,
	.resume = api_resume,
	.calibration = api_calibration,
	.values = api_values,
	.waits = api_waits,
	.keep = api_keep,
	.left_out = api_left_out,
	.unfinished = api_unfinished,
};
