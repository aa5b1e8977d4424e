/* SPDX-License-Identifier: MIT */
/* Recordings of many segments: each event of a real one in a segment of its own. They are read with few mappings; and
 * subscribers that have stored different parts of one get the rest each, whatever segments have been rotated out
 * meanwhile. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "probe.h"
#include "test_spool_kit.h"
#include "unit.h"

#define EVENTS    1200u
#define RINGS_MAX 16u
/* The folder's name, that of a spool, and any file's. */
#define PATH_ROOM (sizeof(recorded) + 16 + 256)
/* More than a test program with libraries has, fewer than segments. */
#define MAPPINGS_MAX 600u

static char recorded[512];

/* ---- what the two subscribers see, by the first letter of their names */

struct seen {
	uint32_t times[EVENTS + 1]; /* by the event's instance */
	uint32_t total, other;
	uint64_t stored[RINGS_MAX];
	bool has_stored;
	bool in_store[EVENTS + 1]; /* what had been delivered by then */
	uint32_t flushes;
	struct rtl_ledger ledger;
	const struct rtl_stream_info *stream;
};

static struct seen *seen; /* two; shared with hosts that die */
static bool resuming, slow;
static uint32_t most_mappings;

static int index_of(const struct probe *p)
{
	return *p->name == 'b';
}

static void count_mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	uint32_t lines = 0;
	int c;

	assert_non_null(file);
	while ((c = getc(file)) != EOF)
		lines += c == '\n';
	fclose(file);
	if (lines > most_mappings)
		most_mappings = lines;
}

static int on_stream(struct probe *p, const struct rtl_stream_info *stream)
{
	if (!strcmp(stream->name, "t.real"))
		seen[index_of(p)].stream = stream;
	return 0;
}

static int on_begin(struct probe *p, const struct rtl_process *process)
{
	for (uint32_t i = 0; resuming && i < RINGS_MAX; i++)
		if (seen[index_of(p)].stored[i])
			assert_int_equal(
				p->host->resume(p->host, process, i, seen[index_of(p)].stored[i]),
				0);
	return 0;
}

static void on_events(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	int who = index_of(p);

	for (size_t i = 0; i < count; i++) {
		seen[who].total++;
		if (events[i]->instance && events[i]->instance <= EVENTS)
			seen[who].times[events[i]->instance]++;
		else
			seen[who].other++;
	}
	count_mappings();
	if (slow)
		usleep(60000); /* a pass is not longer: a flush follows */
}

static void store(void *user, const struct rtl_process *process, uint32_t ring, uint64_t position)
{
	struct probe *p = user;

	assert_true(ring < RINGS_MAX);
	seen[index_of(p)].stored[ring] = position;
}

/* a stores what its first flush says, b what its second does as well. */
static int on_flush(struct probe *p)
{
	int who = index_of(p);

	if (resuming || seen[who].has_stored)
		return 0;
	p->host->positions(p->host, store, p);
	seen[who].has_stored = seen[who].flushes++ == (uint32_t)who;
	if (!seen[who].has_stored)
		return 0;
	for (uint32_t i = 1; i <= EVENTS; i++)
		seen[who].in_store[i] = seen[who].times[i] != 0;
	if (slow && seen[0].has_stored && seen[1].has_stored)
		_exit(0); /* dies, with what it has delivered since its first flush in the rings */
	return 0;
}

static int on_finish(struct probe *p)
{
	struct rtl_ledger *ledger = &seen[index_of(p)].ledger;

	ledger->struct_size = sizeof(*ledger);
	return p->host->ledger(p->host, NULL, seen[index_of(p)].stream, ledger);
}

static const struct probe_hooks hooks = {.stream = on_stream,
					 .process_begin = on_begin,
					 .buffered = on_events,
					 .flush = on_flush,
					 .finish = on_finish};
const struct probe_hooks *probe_hooks = &hooks;

/* ---- recordings */

static void path_of(const char *file, char *path, size_t size)
{
	snprintf(path, size, "%s/rtl-spool-1/%s", recorded, file);
}

static void write_segment(struct ring_header header, const void *record, uint64_t at, uint64_t size,
			  uint32_t number)
{
	static uint8_t page[RING_HEADER_SIZE];
	char name[32], path[PATH_ROOM];
	FILE *file;

	header.origin += at;
	header.capacity = header.head = header.ready = size;
	memcpy(page, &header, sizeof(header));
	snprintf(name, sizeof(name), SPOOL_SEGMENT_NAME, number);
	path_of(name, path, sizeof(path));
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(page, sizeof(page), 1, file), 1);
	assert_int_equal(fwrite(record, size, 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

/* Makes a segment of each record; returns how many. */
static uint32_t split(const char *name, uint32_t number)
{
	struct ring_header header;
	size_t size, at = 0, step;
	char path[PATH_ROOM];
	uint8_t *data = kit_read(recorded, name, &size);

	memcpy(&header, data, sizeof(header));
	path_of(name, path, sizeof(path));
	assert_int_equal(unlink(path), 0);
	for (; at < header.head; at += step) {
		const struct rtl_record *record = (const void *)(data + RING_HEADER_SIZE + at);

		step = ring_step(record->size);
		write_segment(header, record, at, step, number++);
		if (number % 3 == 0) /* and sometimes twice: one without anything new */
			write_segment(header, record, at, step, number++);
	}
	free(data);
	return number;
}

/* Calls fn with the name of each segment. */
static uint32_t each_segment(uint32_t (*fn)(const char *name, uint32_t n), uint32_t n)
{
	struct dirent **entries;
	unsigned number;
	char path[PATH_ROOM];
	int i, count;

	path_of("", path, sizeof(path));
	count = scandir(path, &entries, NULL, alphasort);
	assert_true(count > 0);
	for (i = 0; i < count; i++) {
		if (sscanf(entries[i]->d_name, SPOOL_SEGMENT_SCAN, &number) == 1)
			n = fn(entries[i]->d_name, n);
		free(entries[i]);
	}
	free(entries);
	return n;
}

static int setup(void **state)
{
	struct outcome outcome;
	const char *folder;
	uint32_t end;

	if (kit_setup(state))
		return -1;
	folder = kit_copy(kit_real, "spool");
	kit_run(folder, RTL_RECORD_RECOVER, &outcome);
	assert_int_equal(outcome.status, 0);
	snprintf(recorded, sizeof(recorded), "%s/recorded", kit_base);
	end = each_segment(split, 100000);
	assert_true(end - 100000 >= EVENTS);
	kit_patch(recorded, "control", offsetof(struct spool_control, segment_count), &end,
		  sizeof(end));
	if (!seen)
		seen = mmap(NULL, 2 * sizeof(*seen), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(seen, MAP_FAILED);
	memset(seen, 0, 2 * sizeof(*seen));
	resuming = slow = false;
	return 0;
}

static struct rtl_collector *create(enum rtl_collector_kind kind)
{
	const struct rtl_collector_options options = {.struct_size = sizeof(options),
						      .kind = kind,
						      .subscribers = PROBE_SUB "?name=a:" PROBE_SUB
									       "?name=b",
						      .folder = recorded};
	struct rtl_collector *collector;
	char message[256] = "";

	if (rtl_collector_create(&options, &collector, message, sizeof(message)))
		fail_msg("%s", message);
	return collector;
}

static void deliver(enum rtl_collector_kind kind)
{
	struct rtl_collector *collector = create(kind);
	uint32_t left;

	rtl_collector_finish(collector, &left);
	rtl_collector_destroy(collector);
}

static void check_all_once(int who)
{
	assert_int_equal(seen[who].total, EVENTS);
	for (uint32_t i = 1; i <= EVENTS; i++)
		assert_int_equal(seen[who].times[i], 1);
	assert_int_equal(seen[who].ledger.published, EVENTS);
	assert_int_equal(seen[who].ledger.delivered, EVENTS);
	assert_int_equal(seen[who].ledger.abandoned, 0);
}

TEST(test_segments__one_for_each_event__few_mapped_at_a_time)
{
	most_mappings = 0;
	deliver(RTL_REPLAY);
	check_all_once(0);
	check_all_once(1);
	assert_in_range(most_mappings, 10, MAPPINGS_MAX);
}

/* Delivers in pieces until both have stored something, each another part; then dies. */
static void deliver_in_part(enum rtl_collector_kind kind)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		slow = true;
		deliver(kind);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(seen[0].has_stored && seen[1].has_stored);
}

static void check_rest(int who)
{
	for (uint32_t i = 1; i <= EVENTS; i++)
		assert_int_equal(seen[who].times[i], seen[who].in_store[i] ? 0 : 1);
	assert_true(seen[who].total > 0 && seen[who].total < EVENTS);
}

static void resume(enum rtl_collector_kind kind)
{
	for (int who = 0; who < 2; who++) {
		memset(seen[who].times, 0, sizeof(seen[who].times));
		seen[who].total = 0;
	}
	resuming = true;
	deliver(kind);
}

TEST(test_segments__two_have_stored_different_parts__each_gets_its_rest)
{
	deliver_in_part(RTL_REPLAY);
	resume(RTL_REPLAY);
	check_rest(0);
	check_rest(1);
	assert_true(seen[0].total > seen[1].total);
	assert_int_equal(seen[0].ledger.delivered, EVENTS);
	assert_int_equal(seen[0].ledger.published, EVENTS);
	assert_int_equal(seen[0].ledger.abandoned, 0);
}

/* The first is a subscriber without a memory: it gets all that there is. */
TEST(test_segments__one_has_stored_nothing__gets_all)
{
	deliver_in_part(RTL_REPLAY);
	memset(seen[0].stored, 0, sizeof(seen[0].stored));
	resume(RTL_REPLAY);
	assert_int_equal(seen[0].total, EVENTS);
	check_rest(1);
}

static uint32_t remove_stored(const char *name, uint32_t n)
{
	struct ring_header header;
	char path[PATH_ROOM];
	size_t size;
	uint8_t *data = kit_read(recorded, name, &size);

	memcpy(&header, data, sizeof(header));
	free(data);
	if (n >= 100 || header.origin + header.capacity > seen[0].stored[header.index])
		return n;
	path_of(name, path, sizeof(path));
	assert_int_equal(unlink(path), 0);
	return n + 1;
}

TEST(test_segments__oldest_rotated_out_meanwhile__rest_delivered)
{
	deliver_in_part(RTL_REPLAY);
	assert_int_equal(each_segment(remove_stored, 0), 100);
	resume(RTL_REPLAY);
	check_rest(0);
	check_rest(1);
}

/* What a host has released is not there for the next one, in segments either. */
TEST(test_segments__recovery_dies__next_one_goes_on)
{
	deliver_in_part(RTL_RECOVER);
	memset(seen[0].stored, 0, sizeof(seen[0].stored));
	memset(seen[1].stored, 0, sizeof(seen[1].stored));
	deliver(RTL_RECOVER); /* without positions: what was not released comes again */
	for (uint32_t i = 1; i <= EVENTS; i++)
		assert_in_range(seen[1].times[i], 1, 2);
	assert_true(seen[1].total < EVENTS + EVENTS / 2);
	assert_int_equal(seen[1].ledger.published, EVENTS);
	assert_int_equal(seen[1].ledger.delivered, EVENTS);
}

RUN_TESTS(setup, kit_teardown, NULL, NULL)
