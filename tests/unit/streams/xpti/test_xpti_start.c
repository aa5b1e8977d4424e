/* SPDX-License-Identifier: MIT */
/* The framework's beginning, which is once in a process: each test runs in a child. */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

#include "unit.h"
#include "xpti/xpti.h"

extern int slow_plugin_loads;

__attribute__((visibility("default"))) int slow_plugin_loads;

static void in_child(const char *plugins, int (*run)(void))
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		setenv("XPTI_SUBSCRIBERS", plugins, 1);
		_exit(run());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void *enabled(void *unused)
{
	return xptiTraceEnabled() ? &slow_plugin_loads : NULL;
}

static int ask_while_it_loads(void)
{
	pthread_t thread;
	void *other;
	bool own;

	if (pthread_create(&thread, NULL, enabled, NULL))
		return 1;
	while (!__atomic_load_n(&slow_plugin_loads, __ATOMIC_ACQUIRE))
		;
	own = xptiTraceEnabled();
	return pthread_join(thread, &other) || !other || !own;
}

TEST(test_plugin__loads_for_long__a_second_thread_waits)
{
	in_child(XPTI_SLOW_PLUGIN, ask_while_it_loads);
}

static int ask_from_a_constructor(void)
{
	void *library = dlopen(XPTI_USER, RTLD_NOW);
	int (*saw)(void);
	void *symbol = library ? dlsym(library, "user_saw") : NULL;

	memcpy(&saw, &symbol, sizeof(saw));
	return !symbol || !saw();
}

TEST(test_constructor__asks_while_another_thread_loads__does_not_hang)
{
	in_child(XPTI_PLUGIN, ask_from_a_constructor);
}

static int count_inits(void)
{
	int (*inits)(void);
	void *symbol;

	xptiInitialize("s", 1, 0, "1"); /* xpti.framework is told of, too */
	symbol = dlsym(dlopen(XPTI_SLOW_PLUGIN, RTLD_NOW | RTLD_NOLOAD), "slow_plugin_inits");
	memcpy(&inits, &symbol, sizeof(inits));
	return !symbol || inits() != 2;
}

TEST(test_plugin__listed_twice__is_told_once)
{
	in_child(XPTI_SLOW_PLUGIN "," XPTI_SLOW_PLUGIN, count_inits);
}

static bool stop;

static void add(struct xpti_event *event, int round)
{
	char key[32];

	snprintf(key, sizeof(key), "key %d", round);
	xptiAddMetadata(event, key, round);
}

static void *add_metadata(void *event)
{
	for (int i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++)
		add(event, i % 1000);
	return NULL;
}

static int fork_while_metadata_are_added(void)
{
	struct xpti_payload p = {.name = "n", .flags = XPTI_PAYLOAD_NAME};
	uint64_t instance;
	struct xpti_event *event = xptiMakeEvent("n", &p, 1, 1, &instance);
	pthread_t thread;
	int status, failed = pthread_create(&thread, NULL, add_metadata, event);

	for (int i = 0; !failed && i < 200; i++) {
		pid_t child = fork();

		if (!child) {
			add(event, 2000 + i);
			_exit(xptiQueryMetadata(event)->count < 1);
		}
		failed = waitpid(child, &status, 0) != child || status;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	return pthread_join(thread, NULL) || failed;
}

TEST(test_fork__while_metadata_are_added__child_adds_its_own)
{
	in_child("", fork_while_metadata_are_added);
}

RUN_TESTS(NULL, NULL, NULL, NULL)
