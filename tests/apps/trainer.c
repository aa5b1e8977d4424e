/* SPDX-License-Identifier: MIT */
/*
 * trainer STEPS WORKERS: what PyTorch and vLLM do with a GPU. A parent without HIP forks a server, which forks half of
 * the workers; the others it spawns by exec. Each worker loads HIP when it begins (dlopen), has 16 streams, two threads,
 * memory of a pool for each launch, a range of roctx around it, and a graph, captured over four streams and launched in
 * each step. With TRAINER_PROFILER set it takes HIP's callback for tracers, as Kineto's roctracer does, and counts what
 * it is told of. Prints `trainer: ok` if kernels (SOFTGPU_KERNELS) and the callback's reports are all there. What is
 * used of HIP is declared here. ROCM, the release, is defined.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRING_OF(x) #x
#define STRING(x)    STRING_OF(x)
#define CALL_WORDS   192 /* of HIP 7.2's struct of a call, before its two functions */
enum { most_workers = 16, streams = 16, branches = 4, nodes = 6, block = 64, device_to_host = 2 };

extern char **environ;

static struct {
	void *hip, *roctx, *add, *stream[streams], *event[streams];
	unsigned *data; /* block of each stream, then of each branch */
	long steps;
} trainer;
/* Relaxed: numbers by themselves. */
static long told, given, seen;

static void fail(const char *what, const char *why)
{
	printf("trainer: %s: %s\n", what, why);
	fflush(stdout);
	_exit(1);
}

static void *symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found)
		fail(name, "is not there");
	return found;
}

#define HIP(name, types, ...)                                                                      \
	do {                                                                                       \
		if (((int(*) types)symbol(trainer.hip, #name))(__VA_ARGS__))                       \
			fail(#name, "failed");                                                     \
	} while (0)
#define ROCTX(name, types, ...)                                                                    \
	(trainer.roctx ? ((int(*) types)symbol(trainer.roctx, #name))(__VA_ARGS__) : 0)

static bool is_ours(const uint64_t *number)
{
	return *number && *number <= (uint64_t)__atomic_load_n(&given, __ATOMIC_RELAXED);
}

static void see_call(uint32_t id, void *call)
{
	__atomic_fetch_add(&seen, is_ours(call), __ATOMIC_RELAXED);
}

/* roctracer's: of the GPU's work (domain 2), with no data where it is asked whether that is wanted; from ROCm 7 on of
 * calls (domain 3), whose numbers their work must have. */
static int profile(uint32_t domain, uint32_t id, void *data)
{
	uint64_t *words = data;

	if (domain == 3 && ROCM == 7) {
		words[0] = (uint64_t)__atomic_add_fetch(&given, 1, __ATOMIC_RELAXED);
		words[CALL_WORDS] = words[CALL_WORDS + 1] = (uintptr_t)see_call;
		return 0;
	}
	if (domain != 2)
		return 1;
	if ((uintptr_t)data > 1 && (uint32_t)words[1] == 0 && (ROCM != 7 || is_ours(words + 2)))
		__atomic_fetch_add(&told, 1, __ATOMIC_RELAXED);
	return 0;
}

/* To the i-th block. A graph's arguments are kept until it is launched. */
static void launch(int i, void *stream)
{
	static unsigned *data[streams + branches], n = block, value = 1;
	static void *arguments[streams + branches][3];

	data[i] = trainer.data + i * block;
	arguments[i][0] = &data[i];
	arguments[i][1] = &n;
	arguments[i][2] = &value;
	HIP(hipModuleLaunchKernel,
	    (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
	     void **, void **),
	    trainer.add, 1, 1, 1, block, 1, 1, 0, stream, arguments[i], NULL);
}

/* One thread's half of the streams: steps of an operator for each. */
static void *operators(void *first)
{
	void *piece;

	for (long step = 0; step < trainer.steps; step++)
		for (int i = (int)(intptr_t)first; i < streams; i += 2) {
			ROCTX(roctxRangePushA, (const char *), "aten::add_");
			HIP(hipMallocAsync, (void **, size_t, void *), &piece, 4096,
			    trainer.stream[i]);
			launch(i, trainer.stream[i]);
			HIP(hipFreeAsync, (void *, void *), piece, trainer.stream[i]);
			ROCTX(roctxRangePop, (void));
		}
	return NULL;
}

static void *capture(void)
{
	void *graph, *executable, **s = trainer.stream, **e = trainer.event;

	HIP(hipStreamBeginCapture, (void *, int), s[0], 1);
	HIP(hipEventRecord, (void *, void *), e[0], s[0]);
	for (int i = 0; i < branches; i++) {
		if (i)
			HIP(hipStreamWaitEvent, (void *, void *, unsigned), s[i], e[0], 0);
		for (int node = 0; node < nodes; node++)
			launch(streams + i, s[i]);
	}
	for (int i = 1; i < branches; i++) {
		HIP(hipEventRecord, (void *, void *), e[i], s[i]);
		HIP(hipStreamWaitEvent, (void *, void *, unsigned), s[0], e[i], 0);
	}
	HIP(hipStreamEndCapture, (void *, void **), s[0], &graph);
	HIP(hipGraphInstantiate, (void **, void *, void **, char *, size_t), &executable, graph,
	    NULL, NULL, 0);
	HIP(hipGraphDestroy, (void *), graph);
	return executable;
}

static void begin(void)
{
	void *module;

	trainer.hip = dlopen("libamdhip64.so." STRING(ROCM), RTLD_NOW);
	if (!trainer.hip)
		fail("libamdhip64.so." STRING(ROCM), dlerror());
	trainer.roctx = dlopen("libroctx64.so.4", RTLD_NOW);
	if (getenv("TRAINER_PROFILER"))
		((void (*)(int (*)(uint32_t, uint32_t, void *)))symbol(
			trainer.hip, "hipRegisterTracerCallback"))(profile);
	HIP(hipSetDevice, (int), 0);
	HIP(hipModuleLoad, (void **, const char *), &module, getenv("TRAINER_MODULE"));
	HIP(hipModuleGetFunction, (void **, void *, const char *), &trainer.add, module,
	    "_Z10module_addPjjj");
	for (int i = 0; i < streams; i++) {
		HIP(hipStreamCreateWithFlags, (void **, unsigned), &trainer.stream[i], 1);
		HIP(hipEventCreateWithFlags, (void **, unsigned), &trainer.event[i], 2);
	}
	HIP(hipMalloc, (void **, size_t), (void **)&trainer.data,
	    sizeof(unsigned) * block * (streams + branches));
	HIP(hipMemset, (void *, int, size_t), trainer.data, 0,
	    sizeof(unsigned) * block * (streams + branches));
	HIP(hipDeviceSynchronize, (void));
}

/* All that one worker does; what it has launched came to be. */
static void work(void)
{
	const long steps = trainer.steps, all = steps * (streams + branches * nodes);
	unsigned result[block * (streams + branches)];
	pthread_t backward;
	void *graph;

	begin();
	graph = capture();
	pthread_create(&backward, NULL, operators, (void *)1);
	operators((void *)0);
	pthread_join(backward, NULL);
	HIP(hipDeviceSynchronize, (void));
	for (long step = 0; step < steps; step++) {
		ROCTX(roctxRangePushA, (const char *), "step");
		HIP(hipGraphLaunch, (void *, void *), graph, trainer.stream[0]);
		if (step % 16 == 15)
			HIP(hipStreamSynchronize, (void *), trainer.stream[0]);
		ROCTX(roctxRangePop, (void));
	}
	HIP(hipDeviceSynchronize, (void));
	HIP(hipMemcpy, (void *, const void *, size_t, int), result, trainer.data, sizeof(result),
	    device_to_host);
	for (unsigned i = 0; i < streams + branches; i++)
		if (result[i * block] != steps * (i < streams ? 1 : nodes))
			fail("a kernel", "did not run as often as it was launched");
	/* HIP's thread reports, later. */
	for (int i = 0; getenv("TRAINER_PROFILER") && i < 1000; i++)
		if (__atomic_load_n(&told, __ATOMIC_RELAXED) < all)
			usleep(10000);
	if (getenv("TRAINER_PROFILER") && (told != all || seen != 2 * given)) {
		printf("trainer: the callback was told of %ld kernels of %ld, %ld times of %ld "
		       "calls\n",
		       told, all, seen, given);
		fflush(stdout);
		_exit(1);
	}
	HIP(hipGraphExecDestroy, (void *), graph);
	for (int i = 0; i < streams; i++)
		HIP(hipStreamDestroy, (void *), trainer.stream[i]);
}

static void wait_for(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || status)
		fail("a worker", "failed");
}

static void serve(int workers)
{
	pid_t child[most_workers];

	for (int i = 0; i < workers; i++)
		if ((child[i] = fork()) == 0) {
			work();
			exit(0);
		}
	for (int i = 0; i < workers; i++)
		wait_for(child[i]);
}

int main(int argc, char **argv)
{
	const int workers = argc > 2 ? atoi(argv[2]) : 2;
	pid_t server, child[most_workers];

	if (workers > most_workers)
		fail(argv[2], "too many workers");
	trainer.steps = argc > 1 ? atol(argv[1]) : 10;
	if (!workers) {
		work();
		return 0;
	}
	if ((server = fork()) == 0) {
		serve((workers + 1) / 2);
		exit(0);
	}
	for (int i = 0; i < workers / 2; i++)
		if (posix_spawn(&child[i], argv[0], NULL, NULL,
				(char *[]){argv[0], argv[1], (char[]){"0"}, NULL}, environ))
			fail(argv[0], "cannot be spawned");
	wait_for(server);
	for (int i = 0; i < workers / 2; i++)
		wait_for(child[i]);
	printf("trainer: ok\n");
	return 0;
}
