/* SPDX-License-Identifier: MIT */
/* harm_fork [hsa]: two threads fork, again and again, while others are in everything that a interceptor or the bus has
 * a lock around: ranges of roctx, registrations, events, lookups of functions, and with "hsa" queues, signals and
 * dispatches. Each child uses all but HSA, and ends in one of three ways; one that does not end within some time is
 * killed by an alarm. Prints "harm_fork: ok". */
#define _GNU_SOURCE
#define PROGRAM "harm_fork"
#include "hsa_program.h"

#include "../harm/harm_stream.h"
#include <errno.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "../../programs/hang_guard.h"

#define CHILDREN 12 /* of each thread that forks */

/* Whoever has them: see roctx_calls.c. */
#pragma weak roctxMarkA
#pragma weak roctxRangePushA
#pragma weak roctxRangePop
#pragma weak roctxRangeStartA
#pragma weak roctxRangeStop
void roctxMarkA(const char *message);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);

static atomic_bool over;
static atomic_uint numbers;
static hsa_agent_t gpu;

static struct rtl_stream *register_stream(const char *name)
{
	const struct rtl_stream_info info = RTL_STREAM_INFO(name, 1, 0, harm_types, "of a test");
	struct rtl_stream *stream = &rtl_stream_none;

	CHECK(!rtl_stream_register(&info, &stream));
	return stream;
}

static void use_roctx(void)
{
	if (!roctxMarkA)
		return;
	roctxMarkA("mark");
	(void)roctxRangePushA("pushed");
	roctxRangeStop(roctxRangeStartA("started"));
	(void)roctxRangePop();
}

static void use_registries(void)
{
	const uint32_t number = numbers++ % 4096; /* new ones at first, then known ones */
	struct rtl_tracepoint_desc desc = {
		.struct_size = sizeof(desc), .kind = "function", .name = "harm", .hash = number};
	char text[32];
	uint64_t id;

	snprintf(text, sizeof(text), "text %u", number);
	CHECK(!rtl_string_intern(text, &id));
	CHECK(!rtl_tracepoint_register(&desc, &id));
	CHECK(!rtl_tracepoint_set(id, "key", text));
}

static void use_loader(void)
{
	void *library = dlopen("libm.so.6", RTLD_LAZY);

	CHECK(library && dlsym(library, "cos"));
	(void)dlsym(library, "hipMalloc");
	(void)dlsym(RTLD_DEFAULT, "roctxMarkA");
	CHECK(!dlclose(library));
}

static void use_hsa(void)
{
	hsa_queue_t *queue = create_queue(gpu, 64, HSA_QUEUE_TYPE_MULTI);
	hsa_signal_t done = create_signal(1);

	dispatch(queue, 64, done);
	wait_done(done);
	CHECK(!hsa_signal_destroy(done));
	CHECK(!hsa_queue_destroy(queue));
}

static void *work(void *data)
{
	void (*const use)(void) = *(void (**)(void))data;

	while (!over)
		use();
	return NULL;
}

static struct rtl_stream *main_stream;

static void use_stream(void)
{
	for (int i = 0; i < 100; i++)
		harm_publish(main_stream);
}

static void use_streams(void)
{
	char name[32];

	snprintf(name, sizeof(name), "harm.%u", numbers++ % 40);
	harm_publish(register_stream(name));
}

static void run_child(int number)
{
	alarm(60);
	use_roctx();
	use_registries();
	use_stream();
	use_streams();
	use_loader();
	free(malloc(100000));
	if (number % 3 == 0)
		_exit(0);
	if (number % 3 == 1)
		exit(0);
	execl("/bin/true", "true", NULL);
	_exit(1);
}

static void *keep_forking(void *data)
{
	for (int i = 0; i < CHILDREN; i++) {
		const pid_t child = fork();
		int status;

		if (child < 0)
			fail("fork: %s", strerror(errno));
		if (!child)
			run_child(i);
		CHECK(waitpid(child, &status, 0) == child);
		if (status)
			fail("child %d ended with status 0x%x", i, (unsigned)status);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	void (*uses[])(void) = {use_roctx,   use_registries, use_stream,
				use_streams, use_loader,     use_hsa};
	const size_t count = argc > 1 && !strcmp(argv[1], "hsa") ? 6 : 5;
	pthread_t workers[6], forkers[2];

	if (count == 6) {
		CHECK(!hsa_init());
		gpu = first_gpu();
	}
	main_stream = register_stream("harm.main");
	for (size_t i = 0; i < count; i++)
		CHECK(!pthread_create(&workers[i], NULL, work, &uses[i]));
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&forkers[i], NULL, keep_forking, NULL));
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_join(forkers[i], NULL));
	over = true;
	for (size_t i = 0; i < count; i++)
		CHECK(!pthread_join(workers[i], NULL));
	printf("harm_fork: ok\n");
	return 0;
}
