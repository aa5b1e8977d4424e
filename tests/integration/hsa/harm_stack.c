/* SPDX-License-Identifier: MIT */
/*
 * harm_stack begin: a thread with 16 KiB, the least that the C library allows, begins the HSA
 * runtime. harm_stack [LIBRARY-OF-HIP]: how much stack calls need, each for the first time on its
 * thread and once more: for each a line "NAME FIRST SECOND" in bytes, then "harm_stack: ok". The
 * stacks are the program's own and painted.
 */
#define _GNU_SOURCE
#define PROGRAM "harm_stack"
#include "hsa_program.h"

#include <sys/mman.h>

#include "../../programs/hang_guard.h"

static size_t stack_bytes = 1u << 20;

static hsa_agent_t gpu;
static hsa_amd_memory_pool_t pool;
static hsa_queue_t *queue;
static hsa_signal_t done;
static int (*hip_malloc)(void **, size_t);
static int (*hip_free)(void *);
static int (*hip_set)(void *, int, size_t);
static int (*hip_wait)(void);
static void (*mark)(const char *);
static int (*push)(const char *);
static int (*pop)(void);

static void nothing(void)
{
}

static void begin(void)
{
	CHECK(!hsa_init());
}

static void use_roctx(void)
{
	mark("mark");
	(void)push("range");
	(void)pop();
}

static void use_signal(void)
{
	hsa_signal_t signal = create_signal(1);

	CHECK(!hsa_signal_destroy(signal));
}

static void use_memory(void)
{
	void *memory;

	CHECK(!hsa_amd_memory_pool_allocate(pool, 4096, 0, &memory));
	CHECK(!hsa_amd_memory_pool_free(memory));
}

static void dispatch_once(void)
{
	hsa_signal_store_relaxed(done, 1);
	dispatch(queue, 64, done);
	wait_done(done);
}

static void make_queue(void)
{
	hsa_queue_t *made = create_queue(gpu, 64, HSA_QUEUE_TYPE_MULTI);

	CHECK(!hsa_queue_destroy(made));
}

static void use_hip(void)
{
	void *memory;

	CHECK(!hip_malloc(&memory, 4096));
	CHECK(!hip_set(memory, 0, 4096));
	CHECK(!hip_wait());
	CHECK(!hip_free(memory));
}

static const struct {
	const char *name;
	void (*use)(void);
} cases[] = {
	{"nothing", nothing},   {"roctx", use_roctx},        {"signal", use_signal},
	{"memory", use_memory}, {"dispatch", dispatch_once}, {"queue", make_queue},
	{"hip", use_hip},
};

static void *run(void *use)
{
	(*(void (**)(void))use)();
	return NULL;
}

static long deepest(void (*use)(void))
{
	unsigned char *stack = mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;
	long untouched = 0;

	CHECK(stack != MAP_FAILED);
	memset(stack, 0xa5, stack_bytes);
	CHECK(!pthread_attr_init(&attributes));
	CHECK(!pthread_attr_setstack(&attributes, stack, stack_bytes));
	CHECK(!pthread_create(&thread, &attributes, run, &use));
	CHECK(!pthread_join(thread, NULL));
	while (untouched < (long)stack_bytes && stack[untouched] == 0xa5)
		untouched++;
	CHECK(!munmap(stack, stack_bytes));
	return (long)stack_bytes - untouched;
}

static void find(void *function, const char *name)
{
	*(void **)function = dlsym(RTLD_DEFAULT, name);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "begin")) {
		stack_bytes = 16384;
		printf("begin %ld\n", deepest(begin));
		CHECK(!hsa_shut_down());
		printf("harm_stack: ok\n");
		return 0;
	}
	find(&mark, "roctxMarkA");
	find(&push, "roctxRangePushA");
	find(&pop, "roctxRangePop");
	printf("init %ld 0\n", deepest(begin));
	gpu = first_gpu();
	(void)hsa_amd_agent_iterate_memory_pools(gpu, find_pool, &pool);
	queue = create_queue(gpu, 64, HSA_QUEUE_TYPE_MULTI);
	done = create_signal(1);
	if (dlopen(argc > 1 ? argv[1] : "libamdhip64.so.5", RTLD_NOW | RTLD_GLOBAL)) {
		find(&hip_malloc, "hipMalloc");
		find(&hip_free, "hipFree");
		find(&hip_set, "hipMemset");
		find(&hip_wait, "hipDeviceSynchronize");
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if ((cases[i].use == use_hip && !hip_malloc) ||
		    (cases[i].use == use_roctx && !mark))
			continue;
		const long first = deepest(cases[i].use), second = deepest(cases[i].use);

		printf("%s %ld %ld\n", cases[i].name, first, second);
	}
	printf("harm_stack: ok\n");
	return 0;
}
