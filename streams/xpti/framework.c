/* SPDX-License-Identifier: MIT */
/* The framework's life: environment, plugins, tracing on and off, streams that begin and end. SYCL may finalize what it
 * never initialized while others go on: so nothing is ever destroyed. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <rtl/publish.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"
#include "events.h"
#include "thread.h"

uint8_t framework_state = STATE_NOT_YET;

enum { FORCED_NOT, FORCED_OFF, FORCED_ON };

static uint8_t forced;    /* relaxed */
static bool switched_off; /* by XPTI_TRACE_ENABLE */
static bool rtl_asked;    /* somebody records: before the state */
static bool debug_asked;  /* likewise */
static __thread bool starting __attribute__((tls_model("initial-exec")));
static uint32_t announced; /* the stream of the framework itself; relaxed */

static const char own_stream[] = "xpti.framework";

/* Plugins of XPTI: the list of XPTI_SUBSCRIBERS, never unloaded, perhaps loaded by several threads at once. They are
 * called without a lock, on the thread that calls the framework. */

#define PLUGINS 64u

struct plugin {
	void *library; /* of dlopen: the same one is there once */
	xpti_plugin_init init;
	xpti_plugin_finish finish;
	xpti_plugin_detail detail; /* NULL: it has none */
};

static struct plugin plugins[PLUGINS];
static uint32_t count; /* release by add, under the lock; acquire by others */

/* False: there are too many. */
static bool add(const struct plugin *plugin)
{
	uint32_t i;

	HOLD_LOCK(&framework_lock);
	for (i = 0; i < count && plugins[i].library != plugin->library; i++)
		;
	if (i == count && i < PLUGINS) {
		plugins[i] = *plugin;
		/* release: with the acquire of who calls them */
		__atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
	}
	return i < PLUGINS;
}

static void load(const char *name)
{
	void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	struct plugin plugin = {.library = library};

	if (!library) {
		rtl_log(RTL_LEVEL_WARNING, "xpti",
			"XPTI_SUBSCRIBERS: %s is not loaded (%s): give its full path, or set "
			"LD_LIBRARY_PATH",
			name, dlerror());
		return;
	}
	plugin.init = (xpti_plugin_init)dlsym(library, "xptiTraceInit");
	plugin.finish = (xpti_plugin_finish)dlsym(library, "xptiTraceFinish");
	plugin.detail = (xpti_plugin_detail)dlsym(library, "xptiQuerySubscriberStreamDetailLevel");
	if (!plugin.init || !plugin.finish) {
		rtl_log(RTL_LEVEL_WARNING, "xpti",
			"XPTI_SUBSCRIBERS: %s is no plugin of XPTI: it has no %s", name,
			plugin.init ? "xptiTraceFinish" : "xptiTraceInit");
		dlclose(library);
		return;
	}
	if (!add(&plugin))
		rtl_log(RTL_LEVEL_WARNING, "xpti",
			"XPTI_SUBSCRIBERS: %s is one too many: %u are loaded", name, PLUGINS);
}

static void plugins_load(void)
{
	const char *list = secure_getenv("XPTI_SUBSCRIBERS");
	char *copy = list ? strdup(list) : NULL, *rest = copy, *name;

	while (rest && (name = strsep(&rest, ",")))
		if (*name)
			load(name);
	free(copy);
}

static uint32_t plugins_count(void)
{
	return __atomic_load_n(&count, __ATOMIC_ACQUIRE);
}

static void plugins_init(uint32_t major, uint32_t minor, const char *version, const char *stream)
{
	for (uint32_t i = 0, n = plugins_count(); i < n; i++)
		plugins[i].init(major, minor, version, stream);
}

static uint8_t plugins_detail(const char *stream)
{
	uint8_t most = XPTI_DETAIL_NONE;

	for (uint32_t i = 0, n = plugins_count(); i < n; i++) {
		uint8_t level = XPTI_DETAIL_NORMAL;

		if (plugins[i].detail && !plugins[i].detail(stream, &level))
			level = XPTI_DETAIL_NORMAL;
		if (level > most)
			most = level;
	}
	return most;
}

/* A variable's value; "": it is not set. */
static const char *setting(const char *name)
{
	const char *text = secure_getenv(name);

	return text ? text : "";
}

static bool says_on(const char *text)
{
	return !strcmp(text, "1") || !strcmp(text, "true");
}

static void set_state(void)
{
	uint8_t force = __atomic_load_n(&forced, __ATOMIC_RELAXED), state = 0;

	if (force ? force == FORCED_ON : !switched_off && plugins_count())
		state |= STATE_PLUGINS;
	/* a tool that turns itself off does not stop rtl */
	if (rtl_asked && (!switched_off || force == FORCED_ON))
		state |= STATE_RTL;
	__atomic_store_n(&framework_state, state, __ATOMIC_RELAXED);
}

static void read_environment(void)
{
	const char *enable = secure_getenv("XPTI_TRACE_ENABLE");

	switched_off = enable && !says_on(enable);
	rtl_asked = *setting("RTL_COLLECTOR") || *setting("RTL_SUBSCRIBERS") ||
		    *setting("RTL_ATTACHABLE");
	debug_asked = rtl_asked && says_on(setting("RTL_XPTI_DEBUG"));
	bridge_start();
	/* the default stream is the framework's own, whoever comes first: for notifies of scopes */
	xptiRegisterStream(own_stream);
}

/* Each thread that comes before the plugins are there loads them, and so waits for no other but in
 * dlopen: it may be in a constructor, whose dlopen has the lock that the others need. */
__attribute__((noinline, cold)) void framework_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (starting) /* a plugin's constructor */
		return;
	starting = true;
	pthread_once(&once, read_environment);
	if (!switched_off)
		plugins_load();
	set_state();
	starting = false;
	bridge_streams(); /* of plugins' constructors */
}

bool framework_wants_debug(void)
{
	return debug_asked;
}

/* ---- on and off */

bool xptiTraceEnabled(void)
{
	return (framework_now() & (STATE_PLUGINS | STATE_RTL)) != 0;
}

void xptiForceSetTraceEnabled(bool on)
{
	framework_now();
	__atomic_store_n(&forced, on ? FORCED_ON : FORCED_OFF, __ATOMIC_RELAXED);
	set_state();
	bridge_streams();
}

/* ---- life */

void xptiFrameworkInitialize(void)
{
	framework_now();
}

/* Others may use it still: nothing is destroyed. */
void xptiFrameworkFinalize(void)
{
}

int32_t xptiInitialize(const char *stream, uint32_t major, uint32_t minor, const char *version)
{
	uint8_t number;

	if (!stream || !version)
		return XPTI_INVALIDARG;
	framework_now();
	if (!__atomic_exchange_n(&announced, 1, __ATOMIC_RELAXED))
		plugins_init(1, 0, "1.0.0", own_stream);
	number = xptiRegisterStream(stream);
	if (number != XPTI_INVALID_STREAM)
		bridge_begin(&streams[number], major, minor, version);
	plugins_init(major, minor, version, stream);
	return XPTI_SUCCESS;
}

void xptiFinalize(const char *stream)
{
	xptiUnregisterStream(stream);
}

int32_t xptiUnregisterStream(const char *stream)
{
	uint8_t number;

	if (!stream)
		return XPTI_INVALIDARG;
	framework_now();
	for (uint32_t i = 0, n = plugins_count(); i < n; i++)
		plugins[i].finish(stream);
	number = stream_find(stream);
	if (!number)
		return XPTI_NOTFOUND;
	bridge_end(&streams[number]);
	HOLD_LOCK(&framework_lock);
	return callbacks_end(&streams[number], false) ? XPTI_SUCCESS : XPTI_NOTFOUND;
}

/* For tests. What is registered stays, and its ids; callbacks are forgotten. */
void xptiReset(void)
{
	framework_now();
	HOLD_LOCK(&framework_lock);
	for (uint32_t i = 0; i < STREAMS; i++)
		(void)callbacks_end(&streams[i], true);
}

/* ---- detail */

uint8_t xptiGetEffectiveStreamDetailLevel(uint8_t stream)
{
	uint8_t state = framework_now(), plugin = XPTI_DETAIL_NONE, own = XPTI_DETAIL_NONE;
	const char *name = __atomic_load_n(&streams[stream].name, __ATOMIC_ACQUIRE);

	if (!name)
		return XPTI_DETAIL_NONE;
	if (state & STATE_PLUGINS)
		plugin = plugins_detail(name);
	if ((state & STATE_RTL) && bridge_wants(&streams[stream], 0))
		own = debug_asked ? XPTI_DETAIL_VERBOSE : XPTI_DETAIL_NORMAL;
	return plugin > own ? plugin : own;
}

/* ---- defaults, and types of tools */

/* What a default is at first, and what it cannot be. */
#define DEFAULT(type, name, first, refused)                                                        \
	static type default_##name = first;                                                        \
	type xptiGetDefault##name(void)                                                            \
	{                                                                                          \
		return __atomic_load_n(&default_##name, __ATOMIC_RELAXED);                         \
	}                                                                                          \
	int32_t xptiSetDefault##name(type value)                                                   \
	{                                                                                          \
		if (refused)                                                                       \
			return XPTI_INVALIDARG;                                                    \
		__atomic_store_n(&default_##name, value, __ATOMIC_RELAXED);                        \
		return XPTI_SUCCESS;                                                               \
	}
DEFAULT(uint8_t, StreamID, 1, value >= 128)
DEFAULT(uint16_t, EventType, 2, !value)
DEFAULT(uint16_t, TraceType, 24, !value)

#define TOOLS 254u

/* tool << 8 | 0x80 | value; all ones: no name, or too many of them. */
uint16_t xptiRegisterUserDefinedTracePoint(const char *tool, uint8_t value)
{
	static char *tools[TOOLS + 1];
	uint32_t i;

	if (!tool || !*tool)
		return UINT16_MAX;
	HOLD_LOCK(&framework_lock);
	for (i = 1; i <= TOOLS && tools[i] && strcmp(tools[i], tool) != 0; i++)
		;
	if (i <= TOOLS && !tools[i])
		tools[i] = strdup(tool);
	return i <= TOOLS && tools[i] ? (uint16_t)(i << 8 | 0x80 | (value & 0x7f)) : UINT16_MAX;
}

__typeof__(xptiRegisterUserDefinedTracePoint) xptiRegisterUserDefinedEventType
	__attribute__((alias("xptiRegisterUserDefinedTracePoint")));

/* ---- threads */

__thread struct thread *thread_own __attribute__((tls_model("initial-exec")));

pthread_mutex_t framework_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;

static void lock(void)
{
	pthread_mutex_lock(&framework_lock);
}

static void unlock(void)
{
	pthread_mutex_unlock(&framework_lock);
}

static void thread_ends(void *thread)
{
	thread_own = NULL;
	free(thread);
}

/* Before anybody can call us, and take a lock. */
__attribute__((constructor)) static void begin(void)
{
	pthread_key_create(&key, thread_ends);
	pthread_atfork(lock, unlock, unlock);
}

__attribute__((noinline, cold)) struct thread *thread_make(void)
{
	int err = errno;
	struct thread *thread = calloc(1, sizeof *thread);

	if (thread && pthread_setspecific(key, thread)) {
		free(thread);
		thread = NULL;
	}
	thread_own = thread;
	errno = err;
	return thread;
}
