/* SPDX-License-Identifier: MIT */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>

#include <rtl/plugin.h>

#include "files.h"
#include "futex.h"
#include "log.h"

/* Passes over all processes when one has ended: others may go on and on. */
#define LAST_PASSES 1000

/* ---- subscribers */

static void instance_free(struct instance *instance)
{
	rtl_plugin_close(instance->plugin);
	lookup_fini(&instance->lookup);
	free(instance);
}

static void name_instance(struct host *host, struct instance *instance)
{
	const struct instance *other;
	uint32_t twins = 1;

	for (other = host->instances; other; other = other->next)
		twins += !strcmp(other->subscriber->name, instance->subscriber->name);
	snprintf(instance->name, sizeof(instance->name), twins > 1 ? "%.48s#%u" : "%.48s",
		 instance->subscriber->name, twins);
}

/* Makes an instance of a subscriber; frees it if that fails. */
static int add_instance(struct host *host, struct instance *instance, const char *spec)
{
	const struct rtl_setting *settings = NULL;
	struct instance **at;
	size_t count = 0;
	int err;

	instance->api = host_api;
	instance->host = host;
	name_instance(host, instance);
	if (instance->plugin)
		settings = rtl_plugin_settings(instance->plugin, &count);
	err = instance->subscriber->create(&instance->api, settings, count, &instance->self);
	if (err) {
		if (!__atomic_load_n(&instance->told, __ATOMIC_RELAXED)) /* else it has said why */
			log_line(RTL_LEVEL_ERROR, instance->name, "could not start (%s): %s",
				 rtl_error_text(err), spec);
		instance_free(instance);
		return err;
	}
	for (at = &host->instances; *at; at = &(*at)->next)
		;
	*at = instance;
	return 0;
}

/* A subscriber that is loaded, or the host's own. */
static int load(struct host *host, const struct rtl_subscriber *own, const char *spec)
{
	struct instance *instance = calloc(1, sizeof(*instance));
	char message[2 * LOG_TEXT]; /* the log cuts, and shows it */
	int err;

	if (!instance) {
		log_line(RTL_LEVEL_ERROR, "bus", "out of memory: %s is not loaded", spec);
		return RTL_ENOMEM;
	}
	lookup_init(&instance->lookup);
	err = own ? 0 : rtl_plugin_open(spec, &instance->plugin, message, sizeof(message));
	if (err) {
		log_line(RTL_LEVEL_ERROR, "bus", "%s", message);
		instance_free(instance);
		return err;
	}
	instance->subscriber = own ? own : rtl_plugin_subscriber(instance->plugin);
	return add_instance(host, instance, spec);
}

static struct host *new_host(const char *where)
{
	struct host *host = calloc(1, sizeof(*host));

	if (!host)
		return NULL;
	host->lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	pthread_mutex_init(&host->data, NULL);
	host->where = where;
	host->replays = !strcmp(where, "replay");
	return host;
}

struct host *host_create_recording(bool keep_repeated)
{
	struct host *host = new_host("recorder");

	if (host) {
		host->recording = true;
		host->keep_repeated = keep_repeated;
	}
	return host;
}

struct host *host_create(const struct rtl_subscriber *own, const char *list, const char *where,
			 uint32_t *failed)
{
	struct host *host = new_host(where);
	char *copy = strdup(list), *spec, *rest = copy;

	if (!host || !copy) {
		log_line(RTL_LEVEL_ERROR, "bus", "out of memory: no subscriber is loaded");
		free(host);
		free(copy);
		return NULL;
	}
	*failed = own && load(host, own, own->name);
	while ((spec = strsep(&rest, ":")))
		if (*spec && load(host, NULL, spec))
			++*failed;
	free(copy);
	if (host->instances)
		return host;
	host_destroy(host);
	return NULL;
}

void host_destroy(struct host *host)
{
	struct rtl_subscription *s;
	struct instance *instance;

	if (!host)
		return;
	while ((instance = host->instances)) {
		host->instances = instance->next;
		if (!host->finished && instance->subscriber->destroy)
			instance->subscriber->destroy(instance->self);
		instance_free(instance);
	}
	host_close_feeds(host);
	for (uint32_t i = 0; i < host->stream_count; i++)
		while ((s = host->subscriptions[i])) {
			host->subscriptions[i] = s->next;
			free(s);
		}
	for (uint32_t i = 0; i < host->source_count; i++) {
		source_fini(host->sources[i]);
		free(host->sources[i]);
	}
	if (strcmp(host->where, "process") != 0)
		for (uint32_t i = 0; i < host->stream_count; i++)
			free((void *)(uintptr_t)host->streams[i]);
	free(host->sources);
	free(host->copies);
	free(host->pauses);
	pthread_mutex_destroy(&host->lock);
	pthread_mutex_destroy(&host->data);
	free(host);
}

/* ---- processes */

static void tell_process(struct host *host, struct source *source)
{
	source->begun = true;
	INSTANCES_CALL(host, process_begin, source->process);
}

int host_add_source(struct host *host, struct source *source)
{
	int err = RTL_ENOMEM;

	host_data_lock(host);
	if (array_grow(&host->sources, &host->source_room, host->source_count + 1,
		       sizeof(*host->sources))) {
		source->remote.number = host->source_count + 1;
		host->sources[host->source_count++] = source;
		err = 0;
	}
	host_data_unlock(host);
	if (err) {
		source_fini(source);
		free(source);
	} else if (source->begun) {
		tell_process(host, source);
	} else {
		host_look_around(host, HOST_FOR_EVER);
	}
	return err;
}

int host_add_own(struct host *host, const struct host_own *own)
{
	struct source *source = malloc(sizeof(*source));

	if (!source)
		return RTL_ENOMEM;
	source_init_own(source, own->source, own->process, own->control);
	host_data_lock(host);
	host->own = own;
	host_data_unlock(host);
	return host_add_source(host, source);
}

int host_add_spool(struct host *host, const char *path, enum spool_use use, const char **why)
{
	struct source *source = malloc(sizeof(*source));
	int err;

	if (!source)
		return RTL_ENOMEM;
	err = source_init_spool(source, path, use, why);
	if (err) {
		free(source);
		return err;
	}
	if (host->died_ns && !source->died_ns) { /* unless an earlier recovery has noted it */
		source->died_ns = source->control->died_ns = host->died_ns;
		source->died_realtime_ns = source->control->died_realtime_ns =
			host->died_realtime_ns;
	}
	return host_add_source(host, source);
}

/* ---- interruptions */

void host_cut_off(struct host *host)
{
	for (uint32_t i = 0; i < host->source_count; i++)
		if (!host->sources[i]->closed && !source_is_gone(host->sources[i])) {
			host->sources[i]->cut_off = true;
			host->sources[i]->control->cut_off = 1;
		}
}

static void write_death(FILE *out, const struct source *source)
{
	time_t seconds = (time_t)(source->died_realtime_ns / 1000000000u);
	char when[40] = "an unknown time";
	struct tm utc;

	if (gmtime_r(&seconds, &utc))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &utc);
	fprintf(out, "the collector died at %s", when);
	if (source->died_ns > source->start_ns)
		fprintf(out, ", %.3f s after the program began",
			(double)(source->died_ns - source->start_ns) / 1e9);
}

static void add_late(void *user, const char *cause, uint64_t count)
{
	if (!strcmp(cause, discard_texts[SPOOL_DISCARD_COLLECTOR_DIED]))
		*(uint64_t *)user += count;
}

/* How many events of a process came after its collector's death and found no room. */
static uint64_t late_events(const struct source *source)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < source->stream_count; i++)
		source_losses(source, i, add_late, &count);
	return count;
}

const char *host_interruption(struct host *host)
{
	const struct source *first = NULL;
	uint32_t cut_off = 0;
	uint64_t late = 0;
	FILE *out;

	for (uint32_t i = 0; i < host->source_count; i++) {
		const struct source *source = host->sources[i];

		cut_off += source->died_ns && source->cut_off;
		late += source->died_ns ? late_events(source) : 0;
		if (source->died_ns && (!first || source->start_ns < first->start_ns))
			first = source;
	}
	out = first ? fmemopen(host->interruption, sizeof(host->interruption), "w") : NULL;
	if (!out)
		return NULL;
	write_death(out, first);
	if (late)
		fprintf(out, "; %llu later event%s found no room", (unsigned long long)late,
			late > 1 ? "s" : "");
	if (cut_off)
		fprintf(out, "; %u process%s still ran when this was recovered", cut_off,
			cut_off > 1 ? "es" : "");
	fclose(out);
	return host->interruption;
}

/* ---- streams */

/* Adds one to the host's; release: with the acquire in is_ours. */
static void add_stream(struct host *host, uint32_t number, const struct rtl_stream_info *info)
{
	host->streams[number] = info;
	__atomic_store_n(&host->stream_count, number + 1, __ATOMIC_RELEASE);
}

/* The host's stream for one of a process's; NULL: too many, or no memory. Under the data lock. */
static const struct rtl_stream_info *intern_stream(struct host *host, const struct source *source,
						   const struct rtl_stream_info *info)
{
	struct rtl_stream_info *copy;

	if (source->own) { /* the only process: its numbers are the host's */
		add_stream(host, info->number, info);
		return info;
	}
	for (uint32_t i = 0; i < host->stream_count; i++)
		if (!strcmp(host->streams[i]->name, info->name) &&
		    stream_same_layout(host->streams[i], info))
			return host->streams[i];
	if (host->stream_count == SPOOL_STREAMS_MAX || !(copy = stream_info_copy(info)))
		return NULL;
	copy->number = host->stream_count;
	add_stream(host, host->stream_count, copy);
	return copy;
}

void host_offer_stream(struct host *host, const struct rtl_stream_info *info)
{
	static const struct source nobody;
	uint32_t before = host->stream_count;
	const struct rtl_stream_info *ours;

	host_lock(host);
	host_data_lock(host);
	ours = intern_stream(host, &nobody, info);
	host_data_unlock(host);
	if (ours && host->stream_count > before && stream_list_selects(info->name))
		INSTANCES_CALL(host, stream, ours);
	host_unlock(host);
}

/* A process has registered a stream: subscribers are told if it is new to the host, and the process what they want. */
const struct rtl_stream_info *host_meet_stream(struct host *host, struct source *source,
					       const struct rtl_stream_info *theirs)
{
	const struct rtl_stream_info *info,
		*around = host->meets; /* a subscriber may register one */
	uint32_t before = host->stream_count;

	host_data_lock(host);
	info = intern_stream(host, source, theirs);
	if (info)
		source_add_stream(source, info);
	if (host->stream_count > before)
		host->meets = info;
	host_data_unlock(host);
	if (!info)
		return NULL;
	if (host->stream_count > before && stream_list_selects(info->name))
		INSTANCES_CALL(host, stream, info);
	/* it has begun with what the folder said, or with all (host_await_stream) */
	host_data_lock(host);
	host->meets = around;
	wants_tell_one(host, source, info);
	host_data_unlock(host);
	return info;
}

void host_look_at(struct host *host, struct source *source)
{
	if (source->closed)
		return;
	if (source_refresh(source) == RTL_EFORMAT)
		source->damaged = host->lacks = true; /* said at its end; its spool is kept */
	if (!source->process)
		return;
	if (!source->begun)
		tell_process(host, source);
	while (source->stream_count < source->ops->stream_count(source))
		if (!host_meet_stream(host, source,
				      source->ops->stream(source, source->stream_count)))
			break;
}

bool host_look_around(struct host *host, uint32_t timeout_ms)
{
	if (!host_lock_patiently(host, timeout_ms))
		return false;
	for (uint32_t i = 0; !host->finished && i < host->source_count; i++)
		host_look_at(host, host->sources[i]);
	host_unlock(host);
	return true;
}

void host_await_stream(struct host *host, uint32_t number)
{
	struct source *own;

	host_data_lock(host);
	own = host->source_count ? host->sources[0] : NULL;
	if (own && own->stream_count <= number && !host->finished)
		stream_want_all(&own->control->streams[number].pub, own->ops->stream(own, number));
	host_data_unlock(host);
}

/* ---- locks */

/* Longest single wait for the lock. */
#define LOCK_STEP_MS 5u

bool host_lock_patiently(struct host *host, uint32_t timeout_ms)
{
	uint32_t waited = 0;
	struct timespec until;
	bool held = false;

	thread_no_wait++;
	if (!pthread_mutex_trylock(&host->lock))
		return true;
	__atomic_fetch_add(&host->paused, 1, __ATOMIC_RELAXED);
	while (!held && !(host->own && host->own->inline_awaited()) && waited < timeout_ms) {
		until = deadline_in(CLOCK_REALTIME, LOCK_STEP_MS);
		held = !pthread_mutex_timedlock(&host->lock, &until);
		waited += timeout_ms == HOST_FOR_EVER ? 0 : LOCK_STEP_MS;
	}
	__atomic_fetch_sub(&host->paused, 1, __ATOMIC_RELAXED);
	if (!held)
		thread_no_wait--;
	return held;
}

void host_forget(struct host *host)
{
	static struct host *forgotten; /* reachable: it is no leak */

	host->forgotten = forgotten;
	forgotten = host;
}

/* ---- ledger, end */

void host_own_ledger(struct host *host, uint32_t stream, struct rtl_ledger *out)
{
	struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};

	if (host) {
		host_data_lock(host);
		if (host->source_count && stream < host->sources[0]->stream_count)
			source_ledger(host->sources[0], stream, &ledger);
		host_data_unlock(host);
	}
	source_give_ledger(&ledger, out);
}

static void end_process(struct host *host, struct source *source)
{
	struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};
	uint64_t known;

	if (source->ended)
		return;
	host_data_lock(host);
	__atomic_store_n(&source->over, source->own, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < source->stream_count; i++) {
		source_ledger(source, i, &ledger);
		known = ledger.delivered + ledger.discarded + ledger.left_out;
		/* what comes behind the last pass is of no period */
		if (host->attached && !source->gone)
			ledger.published = source->last[i].published > known
						   ? source->last[i].published
						   : known;
		ledger.abandoned = ledger.published - known;
		source->abandoned[i] = ledger.abandoned;
		source->last[i] = ledger;
	}
	source->ended = true;
	host_data_unlock(host);
	if (source->begun)
		INSTANCES_CALL(host, process_end, source->process);
}

void host_end_gone(struct host *host, bool all, bool remove)
{
	host_lock(host);
	for (uint32_t i = 0; i < host->source_count; i++) {
		struct source *source = host->sources[i];

		if (source->closed || !source_is_gone(source))
			continue;
		if (!all && (source->interrupted || reader_is_behind(&source->reader)))
			continue;
		/* what came between the last pass and its end, while others go on */
		host_drain(host, LAST_PASSES);
		if (source_seal(source, true)) {
			do
				host_flush(host, true); /* for room in its rings */
			while (source_seal(source, false) && (host_drain(host, LAST_PASSES), true));
		}
		end_process(host, source);
		host->dirty = true;
		host_flush(host, true);
		if (!host->dirty) /* else a subscriber keeps what it has not stored */
			source_close(source, remove && !host_keeps(host));
	}
	host_unlock(host);
}

void host_remove_left(struct host *host)
{
	for (uint32_t i = 0; i < host->source_count && !host_keeps(host); i++)
		if (!host->sources[i]->closed)
			source_close(host->sources[i], true);
}

void host_note_published(struct host *host)
{
	for (uint32_t i = 0; i < host->source_count && host->attached; i++)
		for (uint32_t k = 0; k < host->sources[i]->stream_count; k++)
			source_ledger(host->sources[i], k, &host->sources[i]->last[k]);
}

uint32_t host_living_count(const struct host *host)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < host->source_count; i++)
		n += !host->sources[i]->closed && !source_is_gone(host->sources[i]);
	return n;
}

void host_finish(struct host *host)
{
	struct instance *instance;

	host_data_lock(host);
	host->finished = true;
	for (instance = host->instances; instance; instance = instance->next)
		instance_undo(instance, false);
	host_data_unlock(host);
	if (host->own)
		host->own->inline_wait(); /* no inline callback runs any more */
	host_lock(host);
	for (uint32_t i = 0; i < host->source_count; i++)
		end_process(host, host->sources[i]);
	for (instance = host->instances; instance; instance = instance->next) {
		if (instance->subscriber->finish &&
		    instance->subscriber->finish(instance->self) < 0) {
			__atomic_store_n(&instance->failed, true, __ATOMIC_RELAXED);
			log_line(RTL_LEVEL_ERROR, instance->name, "could not finish its output");
		} else {
			instance->keeps = false;
		}
		if (instance->subscriber->destroy)
			instance->subscriber->destroy(instance->self);
	}
	host_unlock(host);
}
