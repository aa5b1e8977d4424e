/* SPDX-License-Identifier: MIT */
/* The subscriber of the bus's tests: see probe.h. */
#include "probe.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct probe_hooks none;
static const struct probe_hooks *const *found; /* the program's; NULL: it has none */

static const struct probe_hooks *hooks(void)
{
	return found && *found ? *found : &none;
}

__attribute__((format(printf, 2, 3))) static void say(struct probe *p, const char *format, ...)
{
	char line[1024];
	va_list args;
	int n, m;

	if (p->fd < 0)
		return;
	n = snprintf(line, sizeof(line), "%d %s ", (int)getpid(), p->name);
	va_start(args, format);
	m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, format, args);
	va_end(args);
	n += m < (int)sizeof(line) - n - 1 ? m : (int)sizeof(line) - n - 2;
	line[n++] = '\n';
	while (write(p->fd, line, (size_t)n) < 0)
		;
}

static bool fails(const struct probe *p, const char *function)
{
	return p->fail_at && !strcmp(p->fail_at, function);
}

static const char *setting(const struct rtl_setting *settings, size_t count, const char *key,
			   const char *fallback)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(rtl_setting_at(settings, i)->key, key) &&
		    rtl_setting_at(settings, i)->given)
			return rtl_setting_at(settings, i)->value;
	return fallback;
}

static int create(const struct rtl_host *host, const struct rtl_setting *settings, size_t count,
		  void **instance)
{
	struct probe *p = calloc(1, sizeof(*p));
	const char *delivery = setting(settings, count, "delivery", "buffered");
	const char *output = setting(settings, count, "output", NULL);

	if (!p)
		return RTL_ENOMEM;
	found = dlsym(RTLD_DEFAULT, "probe_hooks");
	p->host = host;
	p->name = setting(settings, count, "name", "probe");
	p->prefix = setting(settings, count, "streams", "t.");
	p->fail_at = setting(settings, count, "fail_at", NULL);
	p->buffered = !strcmp(delivery, "buffered") || !strcmp(delivery, "both");
	p->inlined = !strcmp(delivery, "inline") || !strcmp(delivery, "both");
	p->detail = atoi(setting(settings, count, "detail", "0"));
	p->type = (uint16_t)atoi(setting(settings, count, "type", "65535"));
	p->slow_us = (unsigned)atoi(setting(settings, count, "slow_us", "0"));
	p->fd = output ? open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
	say(p, "create");
	if (fails(p, "create") || (hooks()->create && hooks()->create(p) < 0)) {
		host->report(host, RTL_LEVEL_ERROR, "told to fail");
		if (p->fd >= 0)
			close(p->fd);
		free(p);
		return RTL_EPLUGIN;
	}
	*instance = p;
	return 0;
}

static int process_begin(void *instance, const struct rtl_process *process)
{
	struct probe *p = instance;

	say(p, "process_begin %u %d %d", process->number, process->pid, process->parent_pid);
	if (hooks()->process_begin && hooks()->process_begin(p, process) < 0)
		return RTL_EPLUGIN;
	return fails(p, "process_begin") ? RTL_EPLUGIN : 0;
}

static void say_event(struct probe *p, const char *how, const struct rtl_event *e)
{
	uint64_t first = 0;

	if (e->payload_size >= 8)
		memcpy(&first, e->payload, 8);
	say(p, "%s %s %u %u %u %llu", how, e->stream->name, e->type, e->tid, e->payload_size,
	    (unsigned long long)first);
}

static void on_buffered(void *user, const struct rtl_event *const *events, size_t count)
{
	struct probe *p = user;

	__atomic_fetch_add(&p->buffered_count, count, __ATOMIC_RELAXED);
	for (size_t i = 0; p->detail && i < count; i++)
		say_event(p, "event", events[i]);
	if (hooks()->buffered)
		hooks()->buffered(p, events, count);
	if (p->slow_us)
		usleep(p->slow_us);
	if (fails(p, "batch"))
		p->host->fail(p->host, "told to fail");
}

static void on_inline(void *user, const struct rtl_event *const *events, size_t count)
{
	struct probe *p = user;

	__atomic_fetch_add(&p->inline_count, count, __ATOMIC_RELAXED);
	if (p->detail)
		say_event(p, "inline", events[0]);
	if (hooks()->inlined)
		hooks()->inlined(p, events[0]);
}

static int stream(void *instance, const struct rtl_stream_info *info)
{
	struct probe *p = instance;
	int err = 0, own = 0;

	say(p, "stream %s %u %u", info->name, info->number, info->type_count);
	if (fails(p, "stream"))
		return RTL_EPLUGIN;
	if (hooks()->stream)
		own = hooks()->stream(p, info);
	if (own < 0)
		return own;
	if (own || strncmp(info->name, p->prefix, strlen(p->prefix)) || !info->type_count)
		return 0;
	if (p->buffered)
		err = p->host->subscribe(p->host, info, p->type, RTL_BUFFERED, on_buffered, p,
					 NULL);
	if (!err && p->inlined)
		err = p->host->subscribe(p->host, info, p->type, RTL_INLINE, on_inline, p, NULL);
	return err == RTL_ENOENT ? 0 : err;
}

static int flush(void *instance)
{
	struct probe *p = instance;

	if (hooks()->flush && hooks()->flush(p) < 0)
		return RTL_EPLUGIN;
	return fails(p, "flush") ? RTL_EPLUGIN : 0;
}

static int process_end(void *instance, const struct rtl_process *process)
{
	struct probe *p = instance;

	say(p, "process_end %d", process->pid);
	if (hooks()->process_end && hooks()->process_end(p, process) < 0)
		return RTL_EPLUGIN;
	return fails(p, "process_end") ? RTL_EPLUGIN : 0;
}

static int finish(void *instance)
{
	struct probe *p = instance;

	say(p, "finish %llu %llu", (unsigned long long)p->buffered_count,
	    (unsigned long long)p->inline_count);
	if (hooks()->finish && hooks()->finish(p) < 0)
		return RTL_EPLUGIN;
	return fails(p, "finish") ? RTL_EPLUGIN : 0;
}

static void destroy(void *instance)
{
	struct probe *p = instance;

	if (hooks()->destroy)
		hooks()->destroy(p);
	say(p, "destroy");
	if (p->fd >= 0)
		close(p->fd);
	free(p);
}

#define KEY(name)                                                                                  \
	{                                                                                          \
		.struct_size = sizeof(struct rtl_setting_info), .key = name, .fallback = "",       \
		.description = "see probe.h"                                                       \
	}

static const struct rtl_setting_info settings[] = {
	KEY("name"),   KEY("output"), KEY("delivery"), KEY("streams"),
	KEY("detail"), KEY("type"),   KEY("slow_us"),  KEY("fail_at"),
};

RTL_EXPORT_SUBSCRIBER = {
	.abi_version = RTL_ABI_VERSION,
	.struct_size = sizeof(struct rtl_subscriber),
	.name = "probe",
	.version = "1",
	.description = "for tests of the bus",
	.settings = settings,
	.setting_count = sizeof(settings) / sizeof(*settings),
	.create = create,
	.stream = stream,
	.process_begin = process_begin,
	.process_end = process_end,
	.flush = flush,
	.finish = finish,
	.destroy = destroy,
};
