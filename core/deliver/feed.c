/* SPDX-License-Identifier: MIT */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <rtl/plugin.h>
#include <rtl/source.h>

#include "host.h"
#include "plugin_impl.h"

struct property {
	struct property *next;
	char *value;
	char key[];
};

struct feed {
	struct rtl_source_host api; /* first: what the plugin gets is the feed */
	struct feed *next;
	struct host *host;
	void *handle;
	struct rtl_source source; /* a copy: what a shorter one does not have is 0 here */
	void *self;
	pthread_mutex_t lock; /* held while the plugin reads, and while it is asked */
	struct property *properties;
	const struct candidate *opening; /* while it opens: its error is why it cannot be read */
	uint64_t at_ns;                  /* when its newest event was published */
	bool told;                       /* it has reported an error */
	bool is_all;                     /* all is read */
	bool failed;
};

static struct feed *feed_of(const struct rtl_source_host *api)
{
	return (struct feed *)(uintptr_t)api;
}

/* ---- what subscribers ask for */

static const char *string(const struct source *source, uint64_t id)
{
	struct feed *feed = source->feed;
	const char *text;

	if (!feed->source.string)
		return NULL;
	pthread_mutex_lock(&feed->lock);
	text = feed->source.string(feed->self, source->process, id);
	pthread_mutex_unlock(&feed->lock);
	return text;
}

/* The plugin's array is gone with the next call: the caller's has a copy. */
static bool keep_metadata(struct rtl_tracepoint *out, struct rtl_metadata **list, uint32_t *room)
{
	for (uint32_t i = 0; i < out->metadata_count; i++) {
		const struct rtl_metadata *m = rtl_tracepoint_metadata(out, i);

		if (!catalog_put_metadata(list, room, i, m->key, m->value, m->kind))
			return false;
	}
	out->metadata = *list;
	return true;
}

static bool tracepoint(const struct source *source, uint64_t uid, struct rtl_tracepoint *out,
		       struct rtl_metadata **metadata, uint32_t *room)
{
	struct feed *feed = source->feed;
	bool known;

	if (!feed->source.tracepoint)
		return false;
	*out = (struct rtl_tracepoint){.struct_size = sizeof(*out)};
	pthread_mutex_lock(&feed->lock);
	known = feed->source.tracepoint(feed->self, source->process, uid, out) &&
		keep_metadata(out, metadata, room);
	pthread_mutex_unlock(&feed->lock);
	return known;
}

static const struct source_ops feed_ops = {.string = string, .tracepoint = tracepoint};

/* ---- what the plugin tells: it is in `open` or `read`, under the feed's lock, which subscribers need
 * while they are told */

/* The plugin's process of that pointer; NULL: it is none. */
static struct source *source_of(const struct feed *feed, const struct rtl_process *process)
{
	const struct host *host = feed->host;
	const uint32_t number = process ? process->number : 0;

	if (number < 1 || number > host->source_count ||
	    host->sources[number - 1]->process != process ||
	    host->sources[number - 1]->feed != feed)
		return NULL;
	return host->sources[number - 1];
}

static struct source *new_source(struct feed *feed, const struct rtl_process *process)
{
	struct rtl_process p = {.rank = -1};
	struct source *source = calloc(1, sizeof(*source));

	memcpy(&p, process, process->struct_size < sizeof(p) ? process->struct_size : sizeof(p));
	const char *texts[] = {p.program, p.command, p.host_name, p.run};

	if (source)
		source->path = malloc(texts_put(NULL, texts, 4));
	if (!source || !source->path) {
		free(source);
		return NULL;
	}
	texts_put(source->path, texts, 4);
	p.struct_size = sizeof(p);
	p.program = texts[0];
	p.command = texts[1];
	p.host_name = texts[2];
	p.run = texts[3];
	source->ops = &feed_ops;
	source->feed = feed;
	source->remote = p;
	source->process = &source->remote;
	source->begun = source->gone = source->closed = source->ended = true;
	return source;
}

static const struct rtl_process *api_process(const struct rtl_source_host *api,
					     const struct rtl_process *process)
{
	struct feed *feed = feed_of(api);
	struct source *source = new_source(feed, process);

	if (!source)
		return NULL;
	pthread_mutex_unlock(&feed->lock);
	if (host_add_source(feed->host, source))
		source = NULL;
	pthread_mutex_lock(&feed->lock);
	return source ? source->process : NULL;
}

static const struct rtl_stream_info *api_stream(const struct rtl_source_host *api,
						const struct rtl_process *process,
						const struct rtl_stream_info *info)
{
	struct feed *feed = feed_of(api);
	struct source *source = source_of(feed, process);
	const struct rtl_stream_info *ours;

	if (!source || stream_info_flaw(info) || source->stream_count == SPOOL_STREAMS_MAX)
		return NULL;
	pthread_mutex_unlock(&feed->lock);
	ours = host_meet_stream(feed->host, source, info);
	pthread_mutex_lock(&feed->lock);
	return ours;
}

static int api_events(const struct rtl_source_host *api, const struct rtl_event *events,
		      size_t count)
{
	struct feed *feed = feed_of(api);

	feed->at_ns = count ? events[count - 1].time_ns : feed->at_ns;
	pthread_mutex_unlock(&feed->lock);
	host_deliver(feed->host, events, count);
	pthread_mutex_lock(&feed->lock);
	return 0;
}

static void api_ledger(const struct rtl_source_host *api, const struct rtl_process *process,
		       const struct rtl_stream_info *stream, const struct rtl_ledger *ledger)
{
	struct feed *feed = feed_of(api);
	struct source *source = source_of(feed, process);
	const int number = source ? source_number(source, stream) : -1;

	if (number < 0)
		return;
	host_data_lock(feed->host);
	source->last[number] = (struct rtl_ledger){0};
	memcpy(&source->last[number], ledger,
	       ledger->struct_size < sizeof(*ledger) ? ledger->struct_size : sizeof(*ledger));
	source->last[number].struct_size = sizeof(*ledger);
	source->ledger_told[number] = true;
	host_data_unlock(feed->host);
}

static void add_loss(struct feed *feed, const struct rtl_process *process,
		     const struct rtl_stream_info *stream, const char *cause, uint64_t count,
		     bool left_out)
{
	struct source *source = source_of(feed, process);
	const int number = source ? source_number(source, stream) : -1;

	if (number >= 0)
		source_keep_loss(
			&(struct source_keep){left_out ? &source->left_out : &source->losses,
					      (uint32_t)number},
			cause, count);
}

static void api_loss(const struct rtl_source_host *api, const struct rtl_process *process,
		     const struct rtl_stream_info *stream, const char *cause, uint64_t count)
{
	add_loss(feed_of(api), process, stream, cause, count, false);
}

static void api_left_out(const struct rtl_source_host *api, const struct rtl_process *process,
			 const struct rtl_stream_info *stream, const char *cause, uint64_t count)
{
	add_loss(feed_of(api), process, stream, cause, count, true);
}

static void api_waits(const struct rtl_source_host *api, const struct rtl_process *process,
		      const struct rtl_waits *waits)
{
	struct source *source = source_of(feed_of(api), process);

	if (source && waits->struct_size >= sizeof(*waits))
		source->waited = *waits;
}

static void api_calibration(const struct rtl_source_host *api, const struct rtl_process *process,
			    const struct rtl_calibration *calibration)
{
	struct source *source = source_of(feed_of(api), process);

	if (source && calibration->struct_size >= sizeof(*calibration))
		source->calibration = *calibration;
}

static void api_property(const struct rtl_source_host *api, const char *key, const char *value)
{
	struct feed *feed = feed_of(api);
	struct property *property = malloc(sizeof(*property) + strlen(key) + 1);

	if (!property || !(property->value = strdup(value))) {
		free(property);
		return;
	}
	strcpy(property->key, key);
	property->next = feed->properties;
	feed->properties = property;
}

static void end_process(struct feed *feed, struct source *source)
{
	if (source->over)
		return;
	source->over = true;
	INSTANCES_CALL(feed->host, process_end, source->process);
}

static void api_process_end(const struct rtl_source_host *api, const struct rtl_process *process)
{
	struct feed *feed = feed_of(api);
	struct source *source = source_of(feed, process);

	pthread_mutex_unlock(&feed->lock);
	if (source)
		end_process(feed, source);
	pthread_mutex_lock(&feed->lock);
}

static void api_report(const struct rtl_source_host *api, int level, const char *text);

static const struct rtl_source_host source_api = {
	.struct_size = sizeof(source_api),
	.abi_version = RTL_SOURCE_ABI_VERSION,
	.process = api_process,
	.stream = api_stream,
	.events = api_events,
	.ledger = api_ledger,
	.loss = api_loss,
	.left_out = api_left_out,
	.waits = api_waits,
	.calibration = api_calibration,
	.property = api_property,
	.process_end = api_process_end,
	.report = api_report,
};

/* ---- the plugin */

/* A plugin that could read the path. */
struct candidate {
	const char *path; /* to be read */
	void *handle;
	const struct rtl_source *source;
	struct message why; /* what was wrong with the one that was named */
};

static void api_report(const struct rtl_source_host *api, int level, const char *text)
{
	struct feed *feed = feed_of(api);

	if (feed->opening && level <= RTL_LEVEL_ERROR)
		message_fail(&feed->opening->why, 0, "%s", text ? text : "");
	else
		rtl_log(level < RTL_LEVEL_ERROR ? RTL_LEVEL_ERROR : (enum rtl_level)level,
			feed->source.name, "%s", text ? text : "");
	feed->told |= level <= RTL_LEVEL_ERROR;
}

static bool is_sound(const struct rtl_source *source)
{
	return source->abi_version >> 16 == RTL_SOURCE_ABI_VERSION >> 16 &&
	       (source->abi_version & 0xffff) <= (RTL_SOURCE_ABI_VERSION & 0xffff) &&
	       source->struct_size >= offsetof(struct rtl_source, close) + sizeof(source->close) &&
	       source->name && source->reads && source->open && source->read && source->close;
}

static void leave(struct candidate *c)
{
	dlclose(c->handle);
	c->source = NULL;
}

/* Takes the plugin in that file if it is a source; RTL_EABI: it is not. */
static int load(struct candidate *c, const char *file)
{
	int err = 0;

	c->handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!c->handle)
		return message_fail(&c->why, RTL_EABI, "source %s cannot be loaded: %s", file,
				    dlerror());
	c->source = dlsym(c->handle, RTL_SOURCE_SYMBOL);
	if (!c->source)
		err = message_fail(&c->why, RTL_EABI,
				   "%s is no source: it does not export '" RTL_SOURCE_SYMBOL "'",
				   file);
	else if (!is_sound(c->source))
		err = message_fail(
			&c->why, RTL_EABI,
			"source %s is made for version %u.%u of the ABI, rtl has %u.%u; rebuild it",
			file, c->source->abi_version >> 16, c->source->abi_version & 0xffff,
			RTL_SOURCE_ABI_VERSION >> 16, RTL_SOURCE_ABI_VERSION & 0xffff);
	if (err)
		leave(c);
	return err;
}

/* The first that reads the path stays. */
static void try_file(void *user, const char *file)
{
	struct candidate *c = user;

	if (!c->source && !load(c, file) && !c->source->reads(c->path))
		leave(c);
}

static int find_plugin(struct candidate *c, const char *name)
{
	struct candidate any = {.path = c->path};
	char *file;
	int err;

	if (name) {
		err = plugin_find_file(name, &file, c->why.text, c->why.size);
		err = err ? err : load(c, file);
		free(file);
		return err;
	}
	plugin_each_file("_src.so", try_file, &any);
	plugin_each_file("_sub.so", try_file, &any);
	if (!any.source)
		return message_fail(&c->why, RTL_ENOENT,
				    "%s: no plugin reads it; `rtl list-subscribers` lists the "
				    "plugins, --input NAME chooses one",
				    c->path);
	c->handle = any.handle;
	c->source = any.source;
	return 0;
}

static void feed_free(struct feed *feed)
{
	struct property *property;

	if (feed->self)
		feed->source.close(feed->self);
	while ((property = feed->properties)) {
		feed->properties = property->next;
		free(property->value);
		free(property);
	}
	pthread_mutex_destroy(&feed->lock);
	dlclose(feed->handle);
	free(feed);
}

static struct feed *new_feed(struct host *host, const struct candidate *c)
{
	struct feed *feed = calloc(1, sizeof(*feed)), **at = &host->feeds;
	const uint32_t size = c->source->struct_size;

	if (!feed) {
		dlclose(c->handle);
		return NULL;
	}
	feed->api = source_api;
	feed->host = host;
	feed->handle = c->handle;
	memcpy(&feed->source, c->source, size < sizeof(feed->source) ? size : sizeof(feed->source));
	pthread_mutex_init(&feed->lock, NULL);
	while (*at)
		at = &(*at)->next;
	*at = feed;
	return feed;
}

int host_add_feed(struct host *host, const char *plugin, const char *path, char *message,
		  size_t size)
{
	struct candidate c = {.path = path, .why = {message, size}};
	int err = find_plugin(&c, plugin);
	struct feed *feed;

	if (err)
		return err;
	feed = new_feed(host, &c);
	if (!feed)
		return message_fail(&c.why, RTL_ENOMEM, "out of memory");
	host_lock(host);
	pthread_mutex_lock(&feed->lock);
	feed->opening = &c;
	err = feed->source.open(&feed->api, path, &feed->self);
	feed->opening = NULL;
	pthread_mutex_unlock(&feed->lock);
	host_unlock(host);
	if (err && !feed->told)
		message_fail(&c.why, 0, "%s cannot be read by the source %s: %s", path,
			     feed->source.name, rtl_error_text(err));
	feed->failed = feed->is_all =
		err != 0; /* it goes with the host: it may have told of processes */
	return err;
}

/* ---- reading */

static void end_feed(struct feed *feed, int result)
{
	struct host *host = feed->host;

	feed->is_all = true;
	feed->failed = result < 0;
	if (result < 0 && !feed->told)
		rtl_log(RTL_LEVEL_ERROR, feed->source.name, "the rest cannot be read: %s",
			rtl_error_text(result));
	for (uint32_t i = 0; i < host->source_count; i++)
		if (host->sources[i]->feed == feed)
			end_process(feed, host->sources[i]);
}

bool host_read_feeds(struct host *host)
{
	struct feed *first = NULL;
	int result;

	for (struct feed *feed = host->feeds; feed; feed = feed->next)
		if (!feed->is_all && (!first || feed->at_ns < first->at_ns))
			first = feed;
	if (!first)
		return false;
	pthread_mutex_lock(&first->lock);
	result = first->source.read(first->self);
	pthread_mutex_unlock(&first->lock);
	if (result <= 0)
		end_feed(first, result);
	host->dirty = true;
	return true;
}

bool host_feeds_failed(const struct host *host)
{
	const struct feed *feed = host->feeds;

	while (feed && !feed->failed)
		feed = feed->next;
	return feed;
}

uint64_t host_feeds_left(const struct host *host)
{
	uint64_t left = 0;

	for (const struct feed *feed = host->feeds; feed; feed = feed->next)
		if (!feed->is_all && feed->source.left)
			left += feed->source.left(feed->self);
	return left;
}

const char *host_feeds_property(const struct host *host, const char *key)
{
	const struct property *property;

	for (const struct feed *feed = host->feeds; feed; feed = feed->next)
		for (property = feed->properties; property; property = property->next)
			if (!strcmp(property->key, key))
				return property->value;
	return NULL;
}

void host_close_feeds(struct host *host)
{
	struct feed *feed;

	while ((feed = host->feeds)) {
		host->feeds = feed->next;
		feed_free(feed);
	}
}
