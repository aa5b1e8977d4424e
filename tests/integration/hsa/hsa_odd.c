/* SPDX-License-Identifier: MIT */
/*
 * hsa_odd [CASE...]: what a program may do with queues and signals and few do, to be traced: all cases, or those named.
 * Each must do what it does without a tracer. Prints "time 0 N START END" for dispatches whose times it reads itself,
 * and "hsa_odd: ok". The kernels have no names (kernel object 0).
 */
#define PROGRAM "hsa_odd"
#include <sched.h>
#include <stdatomic.h>

#include "hsa_program.h"

#include "../../programs/hang_guard.h"

#define SMALL       64
#define PATIENCE_NS 60000000000u
#define KERNEL_NS   2000 /* of the software GPU */

static const hsa_signal_t none;
static hsa_agent_t gpu;
static long printed;

static void wait_zero(hsa_signal_t signal)
{
	const uint64_t deadline = monotonic_ns() + PATIENCE_NS;

	while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, 1000000,
					 HSA_WAIT_STATE_BLOCKED) >= 1)
		CHECK(monotonic_ns() < deadline);
}

static hsa_queue_t *profiled_queue(uint32_t packets)
{
	hsa_queue_t *queue = create_queue(gpu, packets, HSA_QUEUE_TYPE_MULTI);

	CHECK(!hsa_amd_profiling_set_profiler_enabled(queue, 1));
	return queue;
}

static void put_barrier(hsa_queue_t *queue, uint64_t index, uint16_t type, hsa_signal_t dependency,
			hsa_signal_t signal)
{
	const hsa_barrier_and_packet_t packet = {
		.header = type, .dep_signal = {dependency}, .completion_signal = signal};

	put_packet(queue, index, &packet);
}

static void barrier(hsa_queue_t *queue, hsa_signal_t dependency, hsa_signal_t signal)
{
	const uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);

	put_barrier(queue, index, HSA_PACKET_TYPE_BARRIER_AND, dependency, signal);
	ring(queue, index);
}

static void drain(hsa_queue_t *queue)
{
	hsa_signal_t done = create_signal(1);

	barrier(queue, none, done);
	wait_zero(done);
	CHECK(!hsa_signal_destroy(done));
}

static void print_time(hsa_signal_t signal)
{
	hsa_amd_profiling_dispatch_time_t time;

	CHECK(!hsa_amd_profiling_get_dispatch_time(gpu, signal, &time));
	CHECK(time.start && time.end >= time.start);
	printf("time 0 %ld %lu %lu\n", printed++, time.start, time.end);
}

/* How many of 50 rounds of a dispatch and of more barriers than the queue has packets take 100 ms,
 * as long as a tracer might wait for room. */
static int held_up(hsa_queue_t *queue, hsa_signal_t done)
{
	int count = 0;

	for (int round = 0; round < 50; round++) {
		const uint64_t begin = monotonic_ns();

		dispatch(queue, 64, none);
		for (int i = 0; i < SMALL + 8; i++) {
			hsa_signal_store_relaxed(done, 1);
			barrier(queue, none, done);
			wait_zero(done);
		}
		count += monotonic_ns() - begin >= 100000000u;
	}
	return count;
}

/* Nothing is held up again and again, unless it is the machine that does not get on. */
static void barriers(void)
{
	hsa_queue_t *queue = profiled_queue(SMALL);
	hsa_signal_t done = create_signal(0);
	int tries = 1;

	while (held_up(queue, done) >= 25)
		CHECK(++tries <= 10);
	CHECK(!hsa_signal_destroy(done));
	CHECK(!hsa_queue_destroy(queue));
}

/* Batches of every length, which wrap around the end of the ring, with every kind of signal. */
static void batches(void)
{
	hsa_queue_t *queue = profiled_queue(SMALL);
	hsa_signal_t one = create_signal(0), many = create_signal(0);

	for (uint32_t round = 0; round < 500; round++) {
		const uint64_t length = 2 + round % (SMALL - 1);
		const uint64_t index = hsa_queue_add_write_index_relaxed(queue, length);
		long shared = 0;

		hsa_signal_store_relaxed(one, 1);
		for (uint64_t i = 0; i + 1 < length; i++)
			shared += i % 3 == 1;
		hsa_signal_store_relaxed(many, shared);
		for (uint64_t i = 0; i + 1 < length; i++) {
			if (i % 5 == 4 && i % 3 != 1)
				put_barrier(queue, index + i, HSA_PACKET_TYPE_BARRIER_OR, none,
					    none);
			else
				put_dispatch(queue, index + i, 64 * (uint32_t)(i + 1),
					     i % 3 == 1 ? many : none);
		}
		put_dispatch(queue, index + length - 1, 64, one);
		ring(queue, index + length - 1);
		wait_zero(one);
		wait_zero(many);
		CHECK(hsa_signal_load_relaxed(many) == 0 && hsa_signal_load_relaxed(one) == 0);
		print_time(one);
	}
	CHECK(!hsa_signal_destroy(one));
	CHECK(!hsa_signal_destroy(many));
	CHECK(!hsa_queue_destroy(queue));
}

static void in_threads(int count, void *(*function)(void *))
{
	pthread_t threads[16];

	for (int i = 0; i < count; i++)
		CHECK(!pthread_create(&threads[i], NULL, function, NULL));
	for (int i = 0; i < count; i++)
		CHECK(!pthread_join(threads[i], NULL));
}

/* A handler of a signal submits the next dispatch, with the same signal. */
static struct {
	hsa_queue_t *queue;
	hsa_signal_t signal, last;
	atomic_int left;
} chain;

static bool next_in_chain(hsa_signal_value_t value, void *data)
{
	print_time(chain.signal);
	if (--chain.left == 0) {
		hsa_signal_store_screlease(chain.last, 0);
		return false;
	}
	hsa_signal_store_screlease(chain.signal, 1);
	dispatch(chain.queue, 64, chain.signal);
	return true;
}

static void handlers(void)
{
	chain.queue = profiled_queue(SMALL);
	chain.signal = create_signal(1);
	chain.last = create_signal(1);
	chain.left = 1000;
	CHECK(!hsa_amd_signal_async_handler(chain.signal, HSA_SIGNAL_CONDITION_LT, 1, next_in_chain,
					    NULL));
	dispatch(chain.queue, 64, chain.signal);
	wait_zero(chain.last);
	CHECK(!hsa_signal_destroy(chain.signal));
	CHECK(!hsa_signal_destroy(chain.last));
	CHECK(!hsa_queue_destroy(chain.queue));
}

/* Queues come and go, with work and without, while others work. */
static void *come_and_go(void *data)
{
	for (int round = 0; round < 60; round++) {
		hsa_queue_t *queue = profiled_queue(SMALL << round % 4);
		hsa_signal_t done = create_signal(40);

		for (int i = 0; i < 40 && round % 5; i++)
			dispatch(queue, 64, i % 2 ? done : none);
		if (round % 3) {
			drain(queue);
			CHECK(!(round % 5) || hsa_signal_load_scacquire(done) == 20);
		}
		CHECK(!hsa_queue_destroy(queue));
		CHECK(!hsa_signal_destroy(done));
	}
	return NULL;
}

static void churn(void)
{
	in_threads(4, come_and_go);
}

/* A signal of several dispatches is loaded, waited for with every condition, and set anew under way. */
static void values(void)
{
	hsa_queue_t *queue = profiled_queue(SMALL);
	hsa_signal_t signal = create_signal(0);

	for (int round = 0; round < 300; round++) {
		hsa_signal_store_relaxed(signal, 5);
		for (int i = 0; i < 3; i++)
			dispatch(queue, 64, signal);
		while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 2, UINT64_MAX,
						 HSA_WAIT_STATE_ACTIVE) != 2)
			;
		hsa_signal_add_screlease(signal, 10);
		dispatch(queue, 64, signal);
		while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 11, UINT64_MAX,
						 HSA_WAIT_STATE_BLOCKED) != 11)
			;
		print_time(signal);
		/* Below 0, and from 0. */
		hsa_signal_store_relaxed(signal, 0);
		dispatch(queue, 64, signal);
		while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_NE, 0, UINT64_MAX,
						 HSA_WAIT_STATE_BLOCKED) == 0)
			;
		CHECK(hsa_signal_load_scacquire(signal) == -1);
		print_time(signal);
	}
	CHECK(!hsa_signal_destroy(signal));
	CHECK(!hsa_queue_destroy(queue));
}

/* Signals that other processes could share, and those that no interrupt comes of. */
static void kinds(void)
{
	const uint64_t attributes[] = {HSA_AMD_SIGNAL_AMD_GPU_ONLY, HSA_AMD_SIGNAL_IPC};
	hsa_queue_t *queue = profiled_queue(SMALL);

	for (int kind = 0; kind < 2; kind++) {
		hsa_signal_t signal;

		CHECK(!hsa_amd_signal_create(1, 0, NULL, attributes[kind], &signal));
		for (int i = 0; i < 100; i++) {
			hsa_signal_store_screlease(signal, 1 + i % 3);
			for (int j = 0; j < 1 + i % 3; j++)
				dispatch(queue, 64, signal);
			wait_zero(signal);
			CHECK(hsa_signal_load_scacquire(signal) == 0);
			print_time(signal);
		}
		CHECK(!hsa_signal_destroy(signal));
	}
	CHECK(!hsa_queue_destroy(queue));
}

/* Many threads write to a queue that is small, and each waits for what is its own. */
static hsa_queue_t *shared_queue;

static void *use_shared(void *data)
{
	hsa_signal_t signal = create_signal(0);

	for (int i = 0; i < 500; i++) {
		hsa_signal_store_relaxed(signal, 1);
		dispatch(shared_queue, 64, i % 2 ? none : signal);
		if (i % 2 == 0)
			wait_zero(signal);
	}
	CHECK(!hsa_signal_destroy(signal));
	return NULL;
}

static void crowd(void)
{
	shared_queue = profiled_queue(SMALL);
	in_threads(4, use_shared);
	drain(shared_queue);
	CHECK(!hsa_queue_destroy(shared_queue));
}

/* Threads that take places for batches ahead of their time, in turns: the grid is the thread's. */
static void *use_ahead(void *data)
{
	const uint32_t work_items = 64 * (1 + atomic_fetch_add((atomic_uint *)data, 1));
	const uint64_t batch = 24;

	for (int i = 0; i < 60; i++) {
		const uint64_t index = hsa_queue_add_write_index_relaxed(shared_queue, batch);

		sched_yield();
		for (uint64_t j = 0; j < batch; j++) {
			put_dispatch(shared_queue, index + j, work_items, none);
			ring(shared_queue, index + j);
		}
	}
	return NULL;
}

static void ahead(void)
{
	atomic_uint threads = 0;
	pthread_t thread[8];

	shared_queue = profiled_queue(SMALL);
	for (int i = 0; i < 8; i++)
		CHECK(!pthread_create(&thread[i], NULL, use_ahead, &threads));
	for (int i = 0; i < 8; i++)
		CHECK(!pthread_join(thread[i], NULL));
	drain(shared_queue);
	CHECK(!hsa_queue_destroy(shared_queue));
}

/* More than the queue holds while the first waits for a signal of the program's. */
static void full(void)
{
	for (int round = 0; round < 20; round++) {
		hsa_queue_t *queue = profiled_queue(SMALL);
		hsa_signal_t start = create_signal(1), done = create_signal(SMALL / 2);
		const uint64_t index = hsa_queue_add_write_index_relaxed(queue, SMALL);
		const uint64_t begin = monotonic_ns();

		put_barrier(queue, index, HSA_PACKET_TYPE_BARRIER_AND, start, none);
		for (uint64_t i = 1; i < SMALL; i++)
			put_dispatch(queue, index + i, 64, i % 2 ? done : none);
		for (uint64_t i = 0; i < SMALL; i += round % 7 + 1)
			ring(queue, index + i);
		ring(queue, index + SMALL - 1);
		CHECK(hsa_signal_load_relaxed(done) == SMALL / 2);
		hsa_signal_store_screlease(start, 0);
		wait_zero(done);
		/* A tracer that waits for room until then gives up some day. */
		CHECK(monotonic_ns() - begin < 20000000000u);
		CHECK(!hsa_signal_destroy(start));
		CHECK(!hsa_signal_destroy(done));
		CHECK(!hsa_queue_destroy(queue));
	}
}

/* More than the queue holds, one by one, until another thread gives the signal that it waits for:
 * what does not fit the runtime passes on itself, later, where it takes more than the queue holds.
 */
static atomic_int submitted;

static void *give_later(void *data)
{
	const hsa_signal_t *start = data;
	const uint64_t deadline = monotonic_ns() + 2000000000u;

	while (submitted < SMALL + 8 && monotonic_ns() < deadline)
		usleep(1000);
	hsa_signal_store_screlease(*start, 0);
	return NULL;
}

static void overflow(void)
{
	for (int round = 0; round < 5; round++) {
		hsa_queue_t *queue = profiled_queue(SMALL);
		hsa_signal_t start = create_signal(1);
		pthread_t thread;

		submitted = 0;
		CHECK(!pthread_create(&thread, NULL, give_later, &start));
		barrier(queue, start, none);
		for (int i = 0; i < SMALL + SMALL / 2; i++, submitted++)
			dispatch(queue, 64, none);
		drain(queue);
		CHECK(!pthread_join(thread, NULL));
		CHECK(!hsa_signal_destroy(start));
		CHECK(!hsa_queue_destroy(queue));
	}
}

/* A packet, then two dispatches; the first has 128 work-items where it has to wait for a gate, the other 64. */
static void pass_gate(hsa_queue_t *queue, const hsa_signal_t *gates, hsa_signal_t done,
		      const void *packet, bool waits, bool at_once)
{
	const uint64_t index = hsa_queue_add_write_index_relaxed(queue, 3);

	hsa_signal_store_relaxed(done, 1);
	for (uint64_t i = 0; i < 3; i++) {
		if (i)
			put_dispatch(queue, index + i, waits && i == 1 ? 128 : 64,
				     i == 1 ? done : none);
		else
			put_packet(queue, index, packet);
		if (!at_once || i == 2)
			ring(queue, index + i);
	}
	hsa_signal_store_screlease(gates[0], 0);
	hsa_signal_store_screlease(gates[1], 0);
	wait_zero(done);
}

/* Packets that wait for signals, and those that need not: see --waited in hsa_compare.py. */
static void behind(void)
{
	static const uint16_t types[] = {HSA_PACKET_TYPE_BARRIER_OR, HSA_PACKET_TYPE_BARRIER_AND};
	static const hsa_signal_value_t compared[] = {0, 1, 1, 0}; /* as conditions are numbered */
	hsa_queue_t *queue = profiled_queue(SMALL);
	const hsa_signal_t gates[] = {create_signal(0), create_signal(0)}, done = create_signal(0);

	for (int way = 0; way < 16; way++) {
		const int first = way & 1, second = way >> 1 & 1, is_and = way >> 2 & 1;
		const hsa_barrier_and_packet_t barrier = {.header = types[is_and],
							  .dep_signal = {gates[0], gates[1]}};

		hsa_signal_store_relaxed(gates[0], first);
		hsa_signal_store_relaxed(gates[1], second);
		pass_gate(queue, gates, done, &barrier, is_and ? first || second : first && second,
			  way & 8);
	}
	for (int way = 0; way < 16; way++) {
		const int condition = way & 3, waits = way >> 2 & 1;
		const hsa_amd_barrier_value_packet_t barrier = {
			.header = {.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE},
			.signal = gates[0],
			.value = compared[condition],
			.mask = -1,
			.cond = (unsigned)condition};

		hsa_signal_store_relaxed(gates[0],
					 condition == HSA_SIGNAL_CONDITION_GTE ? -waits : waits);
		pass_gate(queue, gates, done, &barrier, waits, way & 8);
	}
	CHECK(!hsa_queue_destroy(queue));
}

/* ---- waits: each ends with the value that it waits for, or when its time is over ---- */

struct change {
	hsa_signal_t signal;
	hsa_signal_value_t to;
	int after_us; /* below 0: before the wait */
};

static void *change_later(void *data)
{
	const struct change *change = data;

	if (change->after_us > 0)
		usleep((useconds_t)change->after_us);
	hsa_signal_store_screlease(change->signal, change->to);
	return NULL;
}

static void wait_for_change(__typeof__(hsa_signal_wait_relaxed) *wait,
			    hsa_signal_condition_t condition, hsa_signal_value_t compared,
			    hsa_signal_value_t to, int after_us)
{
	struct change change = {create_signal(5), to, after_us};
	pthread_t thread;

	if (after_us < 0)
		change_later(&change);
	else
		CHECK(!pthread_create(&thread, NULL, change_later, &change));
	CHECK(wait(change.signal, condition, compared, PATIENCE_NS, HSA_WAIT_STATE_BLOCKED) == to);
	if (after_us >= 0)
		CHECK(!pthread_join(thread, NULL));
	CHECK(!hsa_signal_destroy(change.signal));
}

static void wait_in_vain(__typeof__(hsa_signal_wait_relaxed) *wait,
			 hsa_signal_condition_t condition, hsa_signal_value_t compared,
			 uint64_t timeout_ns)
{
	const hsa_signal_t signal = create_signal(5);
	const uint64_t begin = monotonic_ns();

	CHECK(wait(signal, condition, compared, timeout_ns, HSA_WAIT_STATE_BLOCKED) == 5);
	CHECK(monotonic_ns() - begin >= timeout_ns);
	CHECK(!hsa_signal_destroy(signal));
}

static void waits(void)
{
	static const struct {
		hsa_signal_condition_t condition;
		hsa_signal_value_t compared, to;
	} changes[] = {
		{HSA_SIGNAL_CONDITION_EQ, 3, 3},
		{HSA_SIGNAL_CONDITION_NE, 5, -1},
		{HSA_SIGNAL_CONDITION_LT, 5, 4},
		{HSA_SIGNAL_CONDITION_GTE, 6, 7},
	};
	static const int times_us[] = {-1, 0, 3000};
	static const uint64_t timeouts_ns[] = {0, 5000, 1000000};
	__typeof__(hsa_signal_wait_relaxed) *const functions[] = {hsa_signal_wait_relaxed,
								  hsa_signal_wait_scacquire};

	for (int f = 0; f < 2; f++) {
		for (int c = 0; c < 4; c++) {
			for (int t = 0; t < 3; t++) {
				wait_for_change(functions[f], changes[c].condition,
						changes[c].compared, changes[c].to, times_us[t]);
				wait_in_vain(functions[f], changes[c].condition,
					     changes[c].compared, timeouts_ns[t]);
			}
		}
	}
}

/* Three threads go on until the process has ended. The last case: main leaves. */
static void *go_on(void *data)
{
	hsa_queue_t *queue = profiled_queue(1024);
	hsa_signal_t done = create_signal(0);

	for (atomic_int *rounds = data;; ++*rounds) {
		for (int i = 0; i < 63; i++)
			dispatch(queue, 64, none);
		hsa_signal_store_relaxed(done, 1);
		dispatch(queue, 64, done);
		wait_zero(done);
	}
	return NULL;
}

static void leave(void)
{
	static atomic_int rounds[3];
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		CHECK(!pthread_create(&thread, NULL, go_on, &rounds[i]));
	for (int i = 0; i < 3; i++) {
		while (rounds[i] < 20)
			usleep(1000);
	}
	printf("hsa_odd: ok\n");
	exit(0);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"barriers", barriers}, {"batches", batches},   {"handlers", handlers}, {"churn", churn},
	{"values", values},     {"kinds", kinds},       {"crowd", crowd},       {"ahead", ahead},
	{"full", full},         {"overflow", overflow}, {"waits", waits},       {"behind", behind},
	{"leave", leave},
};

int main(int argc, char **argv)
{
	CHECK(!hsa_init());
	gpu = first_gpu();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool wanted = argc == 1 && cases[i].run != leave;

		for (int j = 1; j < argc; j++)
			wanted |= !strcmp(argv[j], cases[i].name);
		if (wanted)
			cases[i].run();
	}
	CHECK(!hsa_shut_down());
	printf("hsa_odd: ok\n");
	return 0;
}
