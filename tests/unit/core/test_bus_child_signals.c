/* SPDX-License-Identifier: MIT */
/* Scenarios of signal handlers that publish. A handler can come at any instruction: here it does come at each, by the
 * processor's single-step flag (SIGTRAP after every instruction); on other machines, or with real signals, a fast timer
 * stands in. */
#include "test_bus_child.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

static struct rtl_stream *stream;

#if defined(__x86_64__) && !UNDER_TSAN
#	define CAN_STEP  1
#	define STEP_ON() __asm__ volatile("pushfq; orq $0x100,(%%rsp); popfq" ::: "memory", "cc")
#	define STEP_OFF()                                                                         \
		__asm__ volatile("pushfq; andq $~0x100,(%%rsp); popfq" ::: "memory", "cc")
#else
#	define CAN_STEP   0
#	define STEP_ON()  (void)0
#	define STEP_OFF() (void)0
#endif

/* What runs at the n-th instruction, and how many there were. */
static void (*interruption)(void);
static uint64_t step, step_at;

static void on_step(int signo, siginfo_t *info, void *context)
{
	ucontext_t *cpu = context;

	if (step++ < step_at)
		return;
	interruption();
#if CAN_STEP
	cpu->uc_mcontext.gregs[REG_EFL] &= ~0x100; /* a trap costs 25 us: no more of them */
#else
	(void)cpu;
#endif
}

/* Calls fn with interruption() at the n-th of its instructions; false: it has fewer. */
static bool interrupted_at(uint64_t n, void (*fn)(void))
{
	step = 0;
	step_at = n;
	STEP_ON();
	fn();
	STEP_OFF();
	return step > n;
}

static void start_stepping(void (*what)(void))
{
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

	interruption = what;
	CHECK(!sigaction(SIGTRAP, &action, NULL));
}

static void *run_stepped(void *user)
{
	void (*const *fn)(void) = user;

	interrupted_at(step_at, *fn);
	return NULL;
}

/* ---- publishing */

/* From the handler: thread 1; from what it interrupts: thread 0. Sequence numbers with gaps are fine, as the handler
 * discards what it cannot record; but nothing is lost without being counted. */
static uint64_t next[2], got[2], seen[2];
static uint32_t too_large;

static void publish_as(int who)
{
	uint64_t sequence = next[who]++;

	got[who] += publish_item(stream, RTL_TASK_BEGIN, (uint32_t)who, sequence,
				 (uint32_t)(sequence % 4));
}

static void publish_main(void)
{
	publish_as(0);
}

static void publish_handler(void)
{
	publish_as(1);
}

static void publish_large(void)
{
	got[1] += publish_item(stream, RTL_TASK_BEGIN, 1, next[1]++, 8000);
}

static void check_counts(void)
{
	struct rtl_ledger ledger;

	flush_all();
	ledger = ledger_of(stream);
	CHECK(arrived.total == got[0] + got[1]);
	CHECK(ledger.delivered == got[0] + got[1]);
	CHECK(ledger.published == next[0] + next[1]);
	CHECK(ledger.discarded == ledger.published - ledger.delivered);
}

/* Publishing is interrupted at every instruction of the fast path and of the slow ones, which
 * come in between as pieces of the ring end. */
static void interrupt_publishing(void (*handler)(void))
{
	if (!CAN_STEP)
		_exit(SKIPPED);
	USE_HOOKS(.buffered = count_arrived);
	stream = register_stream("t.main");
	publish_main();
	start_stepping(handler);
	for (uint64_t round = 0; round < 12 && next[1] < 400; round++)
		/* each instruction of rtl_reserve; later most is in copies and the like */
		for (uint64_t n = 0; interrupted_at(n, publish_main);
		     n += n < 400 ? 1 + n / 150 : n / 8)
			;
	CHECK(next[1] > 300);     /* else nothing was interrupted */
	CHECK(got[0] == next[0]); /* the interrupted one loses nothing */
	check_counts();
}

SCENARIO(step_publish)
{
	interrupt_publishing(publish_handler);
}

/* The handler's records take much room: the piece that the interrupted call has seen may end. */
SCENARIO(step_publish_large)
{
	interrupt_publishing(publish_large);
}

/* Each is as it was published, whatever the handler's left behind. */
static void see_inline(struct probe *p, const struct rtl_event *event)
{
	CHECK(event_item(event)->thread < 2 && item_is_whole(event));
	seen[event_item(event)->thread]++;
}

static void publish_too_large(void)
{
	next[0]++;
	CHECK(!rtl_reserve(stream, RTL_TASK_BEGIN, too_large));
}

/* For inline callbacks alone, where the place of the last event is used again. */
SCENARIO(step_inline)
{
	static const uint32_t sizes[] = {RTL_PAYLOAD_MAX + 1, 1u << 17, 1u << 30, UINT32_MAX - 200,
					 UINT32_MAX};

	if (!CAN_STEP)
		_exit(SKIPPED);
	USE_HOOKS(.inlined = see_inline);
	stream = register_stream("t.main");
	publish_main();
	start_stepping(publish_handler);
	for (uint64_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (uint64_t n = 0; interrupted_at(n, publish_main); n += n < 200 ? 1 : n / 8)
			;
		too_large = sizes[i];
		for (uint64_t n = 0; interrupted_at(n, publish_too_large); n += n < 200 ? 1 : n / 8)
			publish_main(); /* so that the next one's place is ready */
	}
	CHECK(next[1] > 300); /* else nothing was interrupted */
	CHECK(seen[0] == got[0] && seen[1] == got[1] && got[0] && got[1]);
	CHECK(ledger_of(stream).discarded == next[0] + next[1] - got[0] - got[1]);
}

/* A thread's first event: it gets its writer and its ring, which takes system calls. */
SCENARIO(step_first_event)
{
	void (*fn)(void) = publish_main;
	uint64_t n = 0;

	if (!CAN_STEP)
		_exit(SKIPPED);
	USE_HOOKS(.buffered = count_arrived);
	stream = register_stream("t.main");
	start_stepping(publish_handler);
	do {
		step_at = n;
		step = 0;
		join_thread(start_thread(run_stepped, &fn));
		n += 1 + n / 30; /* closer in the beginning: later most is in copies and the like */
	} while (step > step_at);
	CHECK(n > 300 && got[0] == next[0]);
	check_counts();
}

/* A handler whose first event comes while malloc is at work: rtl must not need malloc then. */
static void use_malloc(void)
{
	void *volatile p = malloc(100000), *volatile q = malloc(24);

	free(p);
	free(q);
}

SCENARIO(step_malloc)
{
	void (*fn)(void) = use_malloc;
	uint64_t n = 0;

	if (!CAN_STEP || UNDER_ASAN) /* its malloc and its mmap share locks */
		_exit(SKIPPED);
	USE_HOOKS(.buffered = count_arrived);
	stream = register_stream("t.main");
	start_stepping(publish_handler);
	do {
		step_at = n;
		step = 0;
		n += 1 + n / 60;
		join_thread(start_thread(run_stepped, &fn));
	} while (step > step_at);
	CHECK(n > 100 && got[1] == next[1]); /* nothing of rtl was interrupted */
	check_counts();
}

/* ---- numbers */

static uint64_t ids[3];

static void take_id(void)
{
	ids[0] = rtl_unique_id();
}

static void take_id_in_handler(void)
{
	ids[1] = rtl_unique_id();
	ids[2] = rtl_unique_id();
}

static void *take_first_ids(void *user)
{
	uint64_t *all = user;
	void (*fn)(void) = take_id;

	run_stepped(&fn); /* the first ones of the thread: it takes a block */
	memcpy(all, ids, sizeof(ids));
	all[3] = rtl_unique_id();
	return NULL;
}

SCENARIO(step_unique_id)
{
	static uint64_t all[4 * 1000];
	uint64_t n = 0, i, k;

	if (!CAN_STEP)
		_exit(SKIPPED);
	start_stepping(take_id_in_handler);
	do {
		memset(ids, 0, sizeof(ids));
		step_at = n;
		step = 0;
		join_thread(start_thread(take_first_ids, all + 4 * n));
		n++;
	} while (step > step_at && n < 1000);
	CHECK(n > 5 && n < 1000);
	for (i = 0; i < 4 * n; i++)
		for (k = 0; k < i; k++)
			CHECK(all[i] != all[k] || !all[i]);
}

/* ---- forks in handlers */

static pid_t child;

static void fork_and_end(void)
{
	child = fork();
	if (!child)
		_exit(0);
}

/* A handler may fork wherever it has interrupted rtl, for a child that does not come back. */
SCENARIO(step_fork)
{
	uint64_t n;
	int status;

	if (!CAN_STEP || UNDER_ASAN) /* hundreds of forks */
		_exit(SKIPPED);
	USE_HOOKS(.buffered = count_arrived);
	stream = register_stream("t.main");
	start_stepping(fork_and_end);
	for (n = 0;; n += 1 + n / 100) {
		child = -1;
		if (!interrupted_at(n, publish_main))
			break;
		CHECK(waitpid(child, &status, 0) == child);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	CHECK(n > 20);
	check_counts();
}

/* ---- real signals */

static uint32_t ticks;
static uint64_t others; /* events of the threads' handlers */

static void on_tick(int signo)
{
	int err = errno;

	__atomic_fetch_add(&ticks, 1, __ATOMIC_RELAXED);
	if (gettid() == getpid()) {
		publish_handler();
	} else { /* a thread that is about to end, perhaps several times */
		__atomic_fetch_add(&others, 1, __ATOMIC_RELAXED);
		publish_item(stream, RTL_TASK_END, 0, 0, 0);
	}
	errno = err;
}

/* ThreadSanitizer's runtime crashes in a handler on a thread that it has not begun, or has ended. */
static void alarms_in_threads(bool allowed)
{
	sigset_t set;

	if (!UNDER_TSAN)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(allowed ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL);
}

static void *publish_and_end(void *user)
{
	alarms_in_threads(true);
	publish_item(stream, RTL_TASK_END, 0, 0, 0);
	alarms_in_threads(false);
	return user;
}

static void begin_and_end_thread(void)
{
	pthread_t thread;

	alarms_in_threads(false);
	thread = start_thread(publish_and_end, NULL);
	alarms_in_threads(true);
	join_thread(thread);
}

/* A timer's signals at any time, in any thread, also while threads begin and end. */
SCENARIO(timer_storm)
{
	const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	struct rtl_ledger ledger;

	USE_HOOKS(.buffered = count_arrived);
	stream = register_stream("t.main");
	publish_main();
	CHECK(!sigaction(SIGALRM, &action, NULL));
	CHECK(!setitimer(ITIMER_REAL, &often, NULL));
	for (uint64_t i = 0; i < 300000; i++) {
		publish_main();
		if (i % 3000 == 0)
			begin_and_end_thread();
	}
	while (__atomic_load_n(&ticks, __ATOMIC_RELAXED) < 100)
		publish_main();
	CHECK(!setitimer(ITIMER_REAL, &never, NULL));
	flush_all();
	ledger = ledger_of(stream);
	CHECK(got[0] == next[0]);
	CHECK(ledger.published == next[0] + next[1] + 100 + others);
	CHECK(ledger.published == ledger.delivered + ledger.discarded);
	CHECK(arrived.total == got[0] + got[1]);
}

/* ---- a signal that ends the process */

static uint32_t finishing, main_tid;

static int wait_until_main_waits(struct probe *p)
{
	flag_set(&finishing, 1);
	while (thread_state(main_tid) != 'S')
		sched_yield();
	return 0;
}

static void *raise_here(void *user)
{
	raise(SIGTERM);
	return user;
}

/* SIGTERM comes in one thread and the bus begins to end: then another one exits. */
SCENARIO(exit_while_terminated)
{
	USE_HOOKS(.finish = wait_until_main_waits);
	main_tid = (uint32_t)gettid();
	stream = register_stream("t.main");
	publish_main();
	start_thread(raise_here, NULL);
	flag_wait(&finishing, 1);
}

/* ---- writes of rtl's that fail */

static struct rlimit no_growth(void)
{
	struct rlimit before, none;

	CHECK(!getrlimit(RLIMIT_FSIZE, &before));
	none = before;
	none.rlim_cur = 0;
	CHECK(!setrlimit(RLIMIT_FSIZE, &none));
	return before;
}

static bool is_pending(int signo)
{
	sigset_t pending;

	CHECK(!sigpending(&pending));
	return sigismember(&pending, signo) == 1;
}

static void block(int signo)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signo);
	CHECK(!pthread_sigmask(SIG_BLOCK, &set, NULL));
}

/* Standard error is a pipe that nobody reads any more. */
SCENARIO(lines_unread)
{
	int ends[2];

	stream = register_stream("t.main");
	CHECK(!pipe(ends) && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO && !close(ends[0]));
	rtl_log(RTL_LEVEL_WARNING, "test", "a line that nobody reads");
	block(SIGPIPE);
	rtl_log(RTL_LEVEL_WARNING, "test", "another one");
	CHECK(!is_pending(SIGPIPE));
	raise(SIGPIPE); /* the program's own stays */
	rtl_log(RTL_LEVEL_WARNING, "test", "another one");
	CHECK(is_pending(SIGPIPE));
}

/* Standard error is a file that may not grow; no spool can be made, and the line that says so
 * cannot be written either. */
SCENARIO(files_may_not_grow)
{
	struct rlimit before = no_growth();

	stream = register_stream("t.main");
	CHECK(!publish_item(stream, RTL_TASK_BEGIN, 0, 0, 0));
	rtl_log(RTL_LEVEL_WARNING, "test", "a line that has no room");
	block(SIGXFSZ);
	rtl_log(RTL_LEVEL_WARNING, "test", "another one");
	CHECK(!is_pending(SIGXFSZ));
	CHECK(!setrlimit(RLIMIT_FSIZE, &before));
}

static void write_too_much(struct probe *p)
{
	struct rlimit before = no_growth();

	CHECK(write(p->fd, "x", 1) < 0 && errno == EFBIG);
	CHECK(!setrlimit(RLIMIT_FSIZE, &before));
}

static int write_in_create(struct probe *p)
{
	write_too_much(p);
	return 0;
}

static int write_in_stream(struct probe *p, const struct rtl_stream_info *info)
{
	write_too_much(p);
	return 0;
}

/* Subscribers write on the program's threads, too: where they are created, and told of a stream. */
SCENARIO(subscriber_may_not_write)
{
	USE_HOOKS(.create = write_in_create, .stream = write_in_stream);
	register_stream("t.main");
	register_stream("t.other");
}
