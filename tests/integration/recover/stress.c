/* SPDX-License-Identifier: MIT */
/*
 * stress.c: kills publishers, collectors and recoveries at random moments; every event that a
 * publisher had counted must be in the database, once.
 *
 *     recover_stress [-n RUNS] [-s SEED] [-c abc]
 *
 * RUNS (15, or RTL_TEST_LONG times as many) of each case: a, the publisher is killed under a
 * collector; b, the collector is killed, and the publisher killed or ended; c, a publisher that
 * drains itself is killed. b and c end with a recovery, which is killed sometimes, and then
 * another. Runs have 1 and 4 threads in turn.
 *
 * Half of the hosts that are killed have a second subscriber, which kills them in one of their
 * first flushes, before or after the database has committed; if it does not come to that, and
 * else, they are killed from outside after a random time.
 *
 * Only processes that it has started are killed. All files are in a folder of its own, which is
 * kept, with the seed, when something is wrong.
 */
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 120000
#define NAME_MAX_   3000

struct run {
	char folder[256]; /* of all runs */
	char output[320], spool[320], counts_file[320];
	char sqlite[NAME_MAX_];          /* the subscriber */
	char subscribers[2 * NAME_MAX_]; /* the list for the next host */
	char collected[PATH_MAX];        /* the collector's folder */
	struct recover_counts *counts;
	uint32_t threads;
	uint64_t events;
	unsigned kills;
};

static uint64_t random_state;

/* xorshift64*, the same everywhere for the same seed. */
static uint64_t random_below(uint64_t n)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545f4914f6cdd1du >> 11) % n;
}

static void nap_us(uint64_t us)
{
	struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};

	nanosleep(&t, NULL);
}

/* ---- processes */

/* Starts a program with an output pipe (NULL: none) and up to two variables, "NAME=VALUE". Ends the run
 * if that cannot be done: there is no process that could be killed. */
static pid_t start(const char *const argv[], const char *const env[2], int *out)
{
	int pipe_fds[2] = {-1, -1};
	pid_t child = -1;

	if (!out || !pipe2(pipe_fds, O_CLOEXEC))
		child = fork();
	if (child < 0) {
		fprintf(stderr, "%s does not start: %s\n", argv[0], strerror(errno));
		exit(1);
	}
	if (child == 0) {
		if (out)
			dup2(pipe_fds[1], STDOUT_FILENO);
		for (int i = 0; i < 2; i++)
			if (env[i])
				putenv((char *)(uintptr_t)env[i]);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	if (out) {
		close(pipe_fds[1]);
		*out = pipe_fds[0];
	}
	return child;
}

/* Its status; -1: it did not end in time, and was killed. */
static int wait_for(pid_t child)
{
	int status;

	for (int i = 0; i < PATIENCE_MS; i++) {
		if (waitpid(child, &status, WNOHANG) == child)
			return status;
		nap_us(1000);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return -1;
}

static void slay(struct run *run, pid_t child)
{
	int status;

	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	run->kills += WIFSIGNALED(status);
}

/* also_well: a further exit status */
static bool ends_as(pid_t child, const char *what, int also_well)
{
	int status = wait_for(child);

	if (status == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == also_well))
		return true;
	fprintf(stderr, "  %s: status %d\n", what, status);
	return false;
}

static bool ends_well(pid_t child, const char *what)
{
	return ends_as(child, what, 0);
}

static pid_t start_publisher(struct run *run, const char *name, const char *value)
{
	char threads[16], variable[PATH_MAX + 2 * NAME_MAX_], spool[512];
	const char *const argv[] = {RECOVER_PUBLISH, run->counts_file, threads, NULL};
	const char *const env[2] = {variable, spool};

	snprintf(threads, sizeof(threads), "%u", run->threads);
	snprintf(variable, sizeof(variable), "%s=%s", name, value);
	snprintf(spool, sizeof(spool), "RTL_SPOOL=%s", run->spool);
	return start(argv, env, NULL);
}

static pid_t start_host(struct run *run, const char *what, const char *folder, int *out)
{
	const char *const argv[] = {RECOVER_HOST, what, folder, run->subscribers, NULL};
	const char *const env[2] = {NULL, NULL};

	return start(argv, env, out);
}

/* The next host is to live, or to be killed. */
static void choose_subscribers(struct run *run, bool doomed)
{
	unsigned at = 1 + (unsigned)random_below(6);
	uint64_t choice = doomed ? random_below(4) : 0;

	if (choice == 1)
		snprintf(run->subscribers, sizeof(run->subscribers), "%s?at=%u:%s", RECOVER_KILLER,
			 at, run->sqlite);
	else if (choice == 2)
		snprintf(run->subscribers, sizeof(run->subscribers), "%s:%s?at=%u", run->sqlite,
			 RECOVER_KILLER, at);
	else
		snprintf(run->subscribers, sizeof(run->subscribers), "%s", run->sqlite);
}

static pid_t start_collector(struct run *run)
{
	int out = -1;
	pid_t child = start_host(run, "collect", run->spool, &out);
	ssize_t n = read(out, run->collected, sizeof(run->collected) - 1);

	close(out);
	run->collected[n > 0 ? n : 0] = '\0';
	run->collected[strcspn(run->collected, "\n")] = '\0';
	return child;
}

/* Sometimes while they start, mostly when they run. */
static void wait_for_the_moment(struct run *run)
{
	if (random_below(8))
		for (int i = 0; i < 2000 && !__atomic_load_n(&run->counts->ready, __ATOMIC_RELAXED);
		     i++)
			nap_us(500);
	nap_us(random_below(90000));
}

/* ---- files */

static void make_paths(struct run *run)
{
	snprintf(run->output, sizeof(run->output), "%s/out.db", run->folder);
	snprintf(run->spool, sizeof(run->spool), "%s/spool", run->folder);
	snprintf(run->counts_file, sizeof(run->counts_file), "%s/counts", run->folder);
	snprintf(run->sqlite, sizeof(run->sqlite), "%s?output=%s", SQLITE_SUB_FILE, run->output);
}

static void remove_tree(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char name[PATH_MAX];

	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (unlink(name) && errno != ENOENT)
			remove_tree(name);
	}
	if (dir)
		closedir(dir);
	rmdir(path);
}

static bool begin_run(struct run *run, uint32_t threads)
{
	int fd;

	remove_tree(run->folder);
	if (mkdir(run->folder, 0700) || mkdir(run->spool, 0700))
		return false;
	fd = open(run->counts_file, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*run->counts)))
		return false;
	run->counts = mmap(NULL, sizeof(*run->counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	run->threads = threads;
	return run->counts != MAP_FAILED;
}

/* Spools that are left in a folder. */
static int count_spools(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char name[PATH_MAX];
	struct stat st;
	int n = 0;

	while (dir && (entry = readdir(dir))) {
		snprintf(name, sizeof(name), "%s/%s/control", path, entry->d_name);
		n += !stat(name, &st);
	}
	if (dir)
		closedir(dir);
	return n;
}

static bool nothing_counted(const struct run *run)
{
	for (uint32_t i = 0; i < RECOVER_THREADS; i++)
		if (run->counts->published[RECOVER_NOTES][i] ||
		    run->counts->published[RECOVER_DISPATCHES][i])
			return false;
	return true;
}

/* ---- cases */

static bool recover(struct run *run, const char *folder)
{
	uint64_t attempts = random_below(3);

	if (access(run->output, F_OK))
		return nothing_counted(run); /* killed before there was an output */
	while (attempts-- > 0) {
		pid_t host;

		choose_subscribers(run, true);
		host = start_host(run, "recover", folder, NULL);
		nap_us(random_below(60000));
		slay(run, host);
	}
	choose_subscribers(run, false);
	/* the folder goes when all of it is stored: one that was killed may have come so far */
	if (!access(folder, F_OK) &&
	    !ends_well(start_host(run, "recover", folder, NULL), "recovery"))
		return false;
	if (count_spools(folder)) {
		fprintf(stderr, "  spools are left in %s\n", folder);
		return false;
	}
	return check_database(run->output, run->counts, &run->events);
}

static bool publisher_killed(struct run *run)
{
	pid_t host, publisher;

	choose_subscribers(run, false);
	host = start_collector(run);
	publisher = start_publisher(run, "RTL_COLLECTOR", run->collected);
	wait_for_the_moment(run);
	slay(run, publisher);
	if (random_below(2))
		nap_us(random_below(200000));
	kill(host, SIGTERM);
	/* 3: it was killed while it made its spool, and is taken for one that has just begun */
	return ends_as(host, "collector", 3) &&
	       check_database(run->output, run->counts, &run->events);
}

static bool collector_killed(struct run *run)
{
	pid_t host, publisher;
	bool well = true;

	choose_subscribers(run, true);
	host = start_collector(run);
	publisher = start_publisher(run, "RTL_COLLECTOR", run->collected);
	wait_for_the_moment(run);
	slay(run, host);
	nap_us(random_below(3000));
	if (random_below(2)) {
		slay(run, publisher);
	} else {
		__atomic_store_n(&run->counts->stop, 1, __ATOMIC_RELAXED);
		well = ends_well(publisher, "publisher");
	}
	return well & recover(run, run->collected);
}

static bool self_drained_killed(struct run *run)
{
	pid_t publisher;

	choose_subscribers(run, true);
	publisher = start_publisher(run, "RTL_SUBSCRIBERS", run->subscribers);
	wait_for_the_moment(run);
	slay(run, publisher);
	return recover(run, run->spool);
}

static const struct {
	char letter;
	const char *name;
	bool (*run)(struct run *run);
} cases[] = {
	{'a', "publisher killed", publisher_killed},
	{'b', "collector killed", collector_killed},
	{'c', "self-drained, killed", self_drained_killed},
};

static bool run_case(struct run *run, size_t which, int runs)
{
	uint64_t events = run->events;
	unsigned kills = run->kills;

	for (int i = 0; i < runs; i++) {
		uint64_t state = random_state;
		bool good = begin_run(run, i % 2 ? RECOVER_THREADS : 1) && cases[which].run(run);

		if (!good) {
			fprintf(stderr,
				"case %c, run %d (%u threads) failed; -s 0x%" PRIx64
				" -c %c -n 1 begins there; files in %s\n",
				cases[which].letter, i + 1, run->threads, state,
				cases[which].letter, run->folder);
			return false;
		}
		munmap(run->counts, sizeof(*run->counts));
	}
	printf("%c: %s: %d runs, %u kills, %" PRIu64 " events, each once\n", cases[which].letter,
	       cases[which].name, runs, run->kills - kills, run->events - events);
	fflush(stdout);
	return true;
}

int main(int argc, char **argv)
{
	const char *base = getenv("TMPDIR"), *more = getenv("RTL_TEST_LONG"), *which = "abc";
	uint64_t seed = (uint64_t)time(NULL) * 2654435761u + (uint64_t)getpid();
	struct run run = {0};
	int runs = more ? 15 * atoi(more) : 15, option;

	while ((option = getopt(argc, argv, "n:s:c:")) != -1) {
		if (option == 'n')
			runs = atoi(optarg);
		else if (option == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (option == 'c')
			which = optarg;
		else
			return 2;
	}
	random_state = seed ? seed : 1;
	printf("seed 0x%" PRIx64 "\n", random_state);
	fflush(stdout);
	snprintf(run.folder, sizeof(run.folder), "%.200s/recover.XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(run.folder))
		return 2;
	make_paths(&run);
	/* small rings: threads wait for the consumer, and positions go round */
	setenv("RTL_BUFFER_SIZE", "131072", 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strchr(which, cases[i].letter) && !run_case(&run, i, runs))
			return 1;
	remove_tree(run.folder);
	return 0;
}
