/* SPDX-License-Identifier: MIT */
/* Scenarios of a process's life: start, forks, the end. */
#include "test_bus_child.h"

#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static struct rtl_stream *stream;

static void wait_well(pid_t pid)
{
	int status;

	CHECK(pid > 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Lines of the probe's output that contain the text; for the process, or (0) any. */
static int output_lines(pid_t pid, const char *part)
{
	FILE *file = fopen(getenv("BUS_OUT"), "re");
	char line[1200];
	int n = 0;

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		n += (!pid || atoi(line) == pid) && strstr(line, part);
	fclose(file);
	return n;
}

/* ---- before main, after main */

static bool scenario_is(const char *name)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	char text[4096] = "";
	size_t n, i;

	CHECK(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	i = strlen(text) + 1;
	return i < n && !strcmp(text + i, name);
}

static bool around_main;

__attribute__((constructor)) static void publish_before_main(void)
{
	around_main = scenario_is("before_and_after_main");
	if (!around_main)
		return;
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
}

__attribute__((destructor)) static void publish_after_main(void)
{
	if (around_main)
		CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 3, 0));
}

static void publish_at_exit(void)
{
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 2, 0));
}

SCENARIO(before_and_after_main)
{
	CHECK(!atexit(publish_at_exit));
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 1, 0));
}

static int finish_order[8], finish_count;

static void at_finish(void *user)
{
	finish_order[finish_count++] = (int)(intptr_t)user;
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, (uint64_t)finish_count, 0));
	if ((intptr_t)user == 3) /* one that is registered now is next */
		CHECK(!rtl_at_finish(at_finish, (void *)4));
}

static int check_finish_order(struct probe *p)
{
	CHECK(finish_count == 4 && finish_order[0] == 3 && finish_order[1] == 4);
	CHECK(finish_order[2] == 2 && finish_order[3] == 1);
	CHECK(p->buffered_count == 5);
	CHECK(rtl_at_finish(at_finish, (void *)5) == RTL_EBUSY);
	return 0;
}

SCENARIO(at_finish)
{
	USE_HOOKS(.finish = check_finish_order);
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	CHECK(!rtl_at_finish(at_finish, (void *)1));
	CHECK(!rtl_at_finish(at_finish, (void *)2));
	CHECK(!rtl_at_finish(at_finish, (void *)3));
}

/* ---- the end */

static uint32_t publishing;

static void *publish_on(void *user)
{
	uint32_t me = (uint32_t)(uintptr_t)user;

	for (uint64_t i = 0;; i++) {
		publish_item(stream, RTL_TASK_BEGIN, me, i, 20);
		flag_set(&publishing, 1);
	}
	return NULL;
}

static const struct rtl_stream_info *told;

static int remember(struct probe *p, const struct rtl_stream_info *info)
{
	if (!strcmp(info->name, "t.main"))
		told = info;
	return 0;
}

static bool finished;

static int check_ledger_is_final(struct probe *p)
{
	struct rtl_ledger first = {.struct_size = sizeof(first)}, ledger = first;

	CHECK(!p->host->ledger(p->host, NULL, told, &first));
	CHECK(first.published == first.delivered + first.discarded + first.abandoned);
	CHECK(first.delivered == p->buffered_count);
	for (int i = 0; i < 100; i++) {
		sched_yield();
		CHECK(!p->host->ledger(p->host, NULL, told, &ledger));
		CHECK(!memcmp(&first, &ledger, sizeof(ledger)));
	}
	__atomic_store_n(&finished, true, __ATOMIC_SEQ_CST);
	return 0;
}

/* An inline callback after finish would find a destroyed instance. */
static void not_after_finish(struct probe *p, const struct rtl_event *event)
{
	CHECK(!__atomic_load_n(&finished, __ATOMIC_SEQ_CST));
}

/* Threads publish without end: the process ends, the ledger is final and adds up. */
SCENARIO(exit_while_publishing)
{
	USE_HOOKS(.stream = remember, .finish = check_ledger_is_final, .inlined = not_after_finish);
	stream = register_stream("t.main");
	start_thread(publish_on, (void *)0);
	start_thread(publish_on, (void *)1);
	flag_wait(&publishing, 1);
}

static void publish_again(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	publish_item(stream, RTL_TASK_END, 0, 0, 0);
}

/* A subscriber that answers each batch with an event: there is always more to deliver. */
SCENARIO(subscriber_publishes)
{
	USE_HOOKS(.buffered = publish_again);
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	flush_all();
	flush_all();
}

static void *exit_here(void *user)
{
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 1, 0, 0));
	exit((int)(intptr_t)user);
}

SCENARIO(exit_from_thread)
{
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	start_thread(exit_here, NULL);
	for (;;)
		pause();
}

static void *publish_one(void *user)
{
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 1, 0, 0));
	return NULL;
}

/* The second thread gets the ring of the first, whose memory was given back meanwhile. */
SCENARIO(ring_taken_again)
{
	stream = register_stream("t.main");
	for (int i = 0; i < 2; i++) {
		join_thread(start_thread(publish_one, NULL));
		flush_all();
		sleep(2);
	}
	CHECK(ledger_of(stream).delivered == 2);
}

static void *end_last(void *user)
{
	flag_wait(&publishing, 1);
	while (thread_state((uint32_t)getpid()) != 'Z')
		sched_yield();
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 1, 0, 0));
	return NULL;
}

SCENARIO(main_ends_first)
{
	NOT_UNDER_TSAN("a thread of its own");
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	start_thread(end_last, NULL);
	flag_set(&publishing, 1);
	pthread_exit(NULL);
}

static void exit_in_inline(struct probe *p, const struct rtl_event *event)
{
	exit(0);
}

SCENARIO(exit_in_inline_callback)
{
	USE_HOOKS(.inlined = exit_in_inline);
	stream = register_stream("t.main");
	publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0);
	CHECK(false);
}

static void exit_in_buffered(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	exit(0);
}

SCENARIO(exit_in_buffered_callback)
{
	USE_HOOKS(.buffered = exit_in_buffered);
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	for (;;)
		pause();
}

SCENARIO(quick_end)
{
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	_exit(0);
}

#define CHILDREN 5

/* Children that end without their exit handlers, and say so before: nothing is left of them. What a
 * child of vfork says is not about its parent, nor about what was never started. */
SCENARIO(quick_ends_told)
{
	pid_t pid;

	NOT_UNDER_TSAN("threads in children");
	rtl_process_ends();
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	flush_all(); /* ASan's malloc stays locked in a child if another thread was in it */
	for (int i = 0; i < CHILDREN; i++) {
		pid = fork();
		if (!pid) {
			CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
			CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 1, 0));
			rtl_process_ends();
			CHECK(!rtl_enabled(stream, RTL_TASK_BEGIN));
			_exit(0);
		}
		wait_well(pid);
		CHECK(output_lines(pid, " finish 2 0") == 1);
	}
	pid = vfork();
	if (!pid) {
		rtl_process_ends();
		_exit(0);
	}
	wait_well(pid);
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 1, 0));
	flush_all();
	CHECK(ledger_of(stream).delivered == 2);
}

static void stand_still(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	for (;;)
		pause();
}

SCENARIO(stuck_subscriber)
{
	USE_HOOKS(.buffered = stand_still);
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
}

/* ---- forks */

static uint32_t tid_seen, pid_seen, parent_seen;

static void see_who(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	count_arrived(p, events, count);
	tid_seen = events[count - 1]->tid;
	pid_seen = (uint32_t)events[count - 1]->process->pid;
	parent_seen = (uint32_t)events[count - 1]->process->parent_pid;
}

static void publish_in_child(pid_t parent)
{
	struct rtl_ledger ledger = ledger_of(stream);

	CHECK(ledger.published == 0 && ledger.delivered == 0);
	memset(&arrived, 0, sizeof(arrived));
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 1, 0));
	flush_all();
	CHECK(arrived.total == 2);
	CHECK(tid_seen == (uint32_t)gettid() && pid_seen == (uint32_t)getpid());
	CHECK(parent_seen == (uint32_t)parent && rtl_thread_id() == (uint32_t)gettid());
	CHECK(ledger_of(stream).delivered == 2);
}

/* A child has an own bus, and instances of its own; a grandchild too. */
SCENARIO(fork_publish)
{
	pid_t self = getpid(), pid;

	NOT_UNDER_TSAN("threads in children");
	USE_HOOKS(.buffered = see_who);
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	CHECK(rtl_thread_id() == (uint32_t)gettid());
	flush_all();
	pid = fork();
	if (!pid) {
		publish_in_child(self);
		self = getpid();
		pid = fork();
		if (!pid) {
			publish_in_child(self);
			exit(0);
		}
		wait_well(pid);
		exit(0);
	}
	wait_well(pid);
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 1, 0));
	flush_all();
	CHECK(arrived.total == 2 && ledger_of(stream).delivered == 2);
	CHECK(output_lines(0, " create") == 3 && output_lines(0, " finish 2 0") == 2);
	CHECK(output_lines(pid, " finish 2 0") == 1 && output_lines(self, " finish") == 0);
}

/* Things that a child may do before it publishes: they do not reach into its parent's spool. */
SCENARIO(fork_register)
{
	const struct rtl_tracepoint_desc desc = {
		.struct_size = sizeof(desc), .kind = "function", .name = "in the child"};
	uint64_t id, uid;
	pid_t pid;

	NOT_UNDER_TSAN("threads in children");
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	CHECK(!rtl_string_intern("of the parent", &id));
	flush_all();
	pid = fork();
	if (!pid) {
		CHECK(ledger_of(stream).published == 0);
		CHECK(!rtl_flush(1000));
		CHECK(!rtl_string_intern("in the child", &id));
		CHECK(!strcmp(rtl_string_text(id), "in the child"));
		CHECK(!rtl_tracepoint_register(&desc, &uid));
		CHECK(!rtl_tracepoint_set(uid, "key", "value"));
		rtl_log(RTL_LEVEL_DEBUG, "test", "not shown");
		rtl_stream_count_missed(stream, "a cause", 3);
		CHECK(ledger_of(stream).missed == 3);
		stream = register_stream("t.child");
		CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
		exit(0);
	}
	wait_well(pid);
	CHECK(!rtl_string_intern("of the parent, later", &id));
	CHECK(ledger_of(stream).missed == 0);
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 1, 0));
	flush_all();
	CHECK(output_lines(pid, " finish 1 0") == 1);
	CHECK(output_lines(getpid(), " stream t.child") == 0);
}

/* The parent's threads publish, and its subscriber is at work, while it forks. */
SCENARIO(fork_of_threads)
{
	pid_t pid;

	NOT_UNDER_TSAN("threads in children");
	stream = register_stream("t.main");
	start_thread(publish_on, (void *)1);
	flag_wait(&publishing, 1);
	for (int i = 0; i < 20; i++) {
		pid = fork();
		if (!pid) {
			CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
			flush_all();
			CHECK(ledger_of(stream).delivered == 1);
			exit(0);
		}
		wait_well(pid);
		CHECK(output_lines(pid, " finish 1 ") == 1);
	}
}

static pthread_mutex_t plugins_lock = PTHREAD_MUTEX_INITIALIZER;
static bool forks_before_fork;

/* As a signal handler could that interrupts a fork when rtl is ready for it. */
static void fork_before_fork(void)
{
	pid_t pid;

	if (!forks_before_fork)
		return;
	forks_before_fork = false;
	pid = fork();
	if (!pid) {
		alarm(20);
		CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
		rtl_process_ends();
		_exit(0);
	}
	wait_well(pid);
	CHECK(output_lines(pid, " finish 1 0") == 1);
}

/* What was registered before rtl started comes after rtl before a fork. */
SCENARIO(fork_in_fork)
{
	pid_t pid;

	NOT_UNDER_TSAN("threads in children");
	if (UNDER_ASAN)
		_exit(SKIPPED); /* its malloc keeps a lock over a fork beside a thread that allocates */
	CHECK(!pthread_atfork(fork_before_fork, NULL, NULL));
	stream = register_stream("t.main");
	forks_before_fork = true;
	pid = fork();
	if (!pid) {
		alarm(20);
		CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
		exit(0);
	}
	wait_well(pid);
	CHECK(output_lines(pid, " finish 1 0") == 1);
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	flush_all();
	CHECK(ledger_of(stream).delivered == 1);
}

static uint32_t in_batch, forking;

/* As a library of the subscriber's (SQLite, ...) would: with a lock that all instances share. */
static void hold_lock(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	CHECK(!pthread_mutex_lock(&plugins_lock));
	flag_set(&in_batch, 1);
	while (!flag_get(&forking) || thread_state((uint32_t)getpid()) != 'S')
		sched_yield(); /* until the fork waits for us, or for its child */
	CHECK(!pthread_mutex_unlock(&plugins_lock));
}

static int take_lock(struct probe *p)
{
	CHECK(!pthread_mutex_lock(&plugins_lock));
	CHECK(!pthread_mutex_unlock(&plugins_lock));
	return 0;
}

SCENARIO(fork_while_subscriber_works)
{
	static const struct probe_hooks child = {.create = take_lock};
	pid_t pid;

	NOT_UNDER_TSAN("threads in children");
	USE_HOOKS(.create = take_lock, .buffered = hold_lock);
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	flag_wait(&in_batch, 1);
	flag_set(&forking, 1);
	pid = fork();
	if (!pid) {
		probe_hooks = &child;
		CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
		flush_all();
		exit(0);
	}
	wait_well(pid);
}

static pid_t forked = -1;

static void fork_inline(struct probe *p, const struct rtl_event *event)
{
	if (forked < 0)
		forked = fork();
}

/* In the child the callback returns, and what goes on there is the child's. */
SCENARIO(fork_in_inline_callback)
{
	NOT_UNDER_TSAN("threads in children");
	USE_HOOKS(.inlined = fork_inline);
	stream = register_stream("t.main");
	publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0);
	if (!forked) {
		CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 1, 0));
		flush_all();
		exit(0);
	}
	wait_well(forked);
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 1, 0));
	flush_all();
	CHECK(ledger_of(stream).delivered == 2);
}

static void fork_buffered(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	if (forked >= 0)
		return;
	forked = fork();
	if (!forked) {
		CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 1, 0));
		CHECK(!rtl_flush(10000));
		exit(0);
	}
	wait_well(forked);
}

SCENARIO(fork_in_buffered_callback)
{
	NOT_UNDER_TSAN("threads in children");
	USE_HOOKS(.buffered = fork_buffered);
	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	flush_all();
	CHECK(forked > 0 && output_lines(forked, " finish 1 0") == 1);
}

SCENARIO(fork_silent_child)
{
	pid_t pid;

	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	pid = fork();
	if (!pid)
		exit(0);
	wait_well(pid);
	CHECK(output_lines(pid, "") == 0);
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 1, 0));
	flush_all();
	CHECK(ledger_of(stream).delivered == 2);
}

static char self_path[] = "/proc/self/exe";

SCENARIO(one_event)
{
	stream = register_stream("t.main");
	publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0);
}

static void start_another(int how)
{
	char *argv[] = {self_path, (char *)(uintptr_t) "one_event", NULL};
	pid_t pid = -1;

	if (how == 0)
		pid = fork();
	else if (how == 1)
		pid = vfork();
	else
		CHECK(!posix_spawn(&pid, self_path, NULL, NULL, argv, environ));
	if (!pid) {
		execv(self_path, argv);
		_exit(1);
	}
	wait_well(pid);
	CHECK(output_lines(pid, " finish 1 0") == 1);
}

SCENARIO(other_programs)
{
	pid_t pid;

	stream = register_stream("t.main");
	for (int how = 0; how < 3; how++) {
		start_another(how);
		CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, (uint64_t)how, 0));
	}
	pid = vfork();
	if (!pid)
		_exit(0);
	wait_well(pid);
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 3, 0));
	flush_all();
	CHECK(ledger_of(stream).delivered == 4);
}

/* exec in place of the program: what it had published and not delivered stays in its spool. */
SCENARIO(exec_self)
{
	char *argv[] = {self_path, (char *)(uintptr_t) "one_event", NULL};

	stream = register_stream("t.main");
	CHECK(publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	execv(self_path, argv);
	CHECK(false);
}
