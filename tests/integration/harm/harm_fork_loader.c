/* SPDX-License-Identifier: MIT */
/* harm_fork_loader: the first mark of roctx, where that is preloaded, or else a new tracepoint of rtl looks at the
 * libraries that are loaded, on one thread, while another one forks; the child does the same. Prints "harm_fork_loader:
 * ok". */
#define PROGRAM "harm_fork_loader"
#include "../../programs/check.h"

#include <link.h>
#include <rtl/rtl.h>
#include <stdatomic.h>
#include <sys/wait.h>

#define CHILD_S 30
/* Longer than a fork takes. */
#define LOOK_MS 300

typedef int (*look_fn)(struct dl_phdr_info *info, size_t size, void *user);

#pragma weak roctxMarkA
void roctxMarkA(const char *message);

static atomic_bool looks, forks;
static __thread bool stops;

static int stop_there(struct dl_phdr_info *info, size_t size, void *user)
{
	looks = true;
	while (!forks)
		;
	nanosleep(&(struct timespec){0, LOOK_MS * 1000000L}, NULL);
	return 1;
}

/* With the C library's lock. */
int dl_iterate_phdr(look_fn look, void *user)
{
	int (*real)(look_fn, void *) =
		(int (*)(look_fn, void *))dlsym(RTLD_NEXT, "dl_iterate_phdr");

	if (stops) {
		stops = false;
		real(stop_there, NULL);
	}
	return real(look, user);
}

static void mark(void)
{
	static const char here;
	const struct rtl_tracepoint_desc desc = {
		.struct_size = sizeof(desc), .kind = "function", .name = "harm", .code = &here};
	uint64_t id;

	if (roctxMarkA)
		roctxMarkA("mark");
	else
		CHECK(!rtl_tracepoint_register(&desc, &id));
}

static void *mark_first(void *data)
{
	stops = true;
	mark();
	return data;
}

static void about_to_fork(void)
{
	forks = true;
}

int main(void)
{
	pthread_t thread;
	int status;
	pid_t child;

	CHECK(!pthread_atfork(about_to_fork, NULL, NULL));
	CHECK(!pthread_create(&thread, NULL, mark_first, NULL));
	while (!looks)
		;
	child = fork();
	if (!child) {
		alarm(CHILD_S);
		mark();
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
	CHECK(!pthread_join(thread, NULL));
	printf("harm_fork_loader: ok\n");
	return 0;
}
