/* SPDX-License-Identifier: MIT */
/* Spools that are cut off or damaged: whoever reads them says so in one line, delivers what stands before the damage,
 * and accounts for the rest. */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "../fuzz/real_spool.h"
#include "test_spool_kit.h"
#include "unit.h"

#define EVENTS 1200u /* in the real spool */
#define EACH   400u  /* in each of its rings */
#define SPOOLS 1000u /* more than a process may have files open */

static const char *fresh(void)
{
	return kit_copy(kit_real, "spool");
}

/* Replays a folder and removes it. */
static struct outcome replay(const char *folder)
{
	struct outcome outcome;

	kit_run(folder, RTL_REPLAY, &outcome);
	kit_remove(folder);
	assert_int_equal(outcome.status, 0);
	return outcome;
}

static void patch_u32(const char *folder, const char *file, size_t offset, uint32_t value)
{
	kit_patch(folder, file, offset, &value, sizeof(value));
}

static void patch_u64(const char *folder, const char *file, size_t offset, uint64_t value)
{
	kit_patch(folder, file, offset, &value, sizeof(value));
}

static void assert_adds_up(const struct outcome *outcome)
{
	assert_int_equal(outcome->ledger.delivered, outcome->events);
	assert_int_equal(outcome->ledger.published, outcome->ledger.delivered +
							    outcome->ledger.discarded +
							    outcome->ledger.abandoned);
}

/* Where the records of a ring begin. Returns how many there are. */
static uint32_t records(const char *folder, const char *file, size_t *offsets)
{
	size_t size, at = RING_HEADER_SIZE;
	uint8_t *data = kit_read(folder, file, &size);
	const struct ring_header *ring = (const void *)data;
	uint32_t n = 0;

	while (at < RING_HEADER_SIZE + ring->head) {
		offsets[n++] = at;
		at += ring_step(((const struct rtl_record *)(const void *)(data + at))->size);
	}
	offsets[n] = at;
	free(data);
	return n;
}

/* ---- as it should be */

TEST(test_replay__sound_spool__everything_delivered_and_nothing_said)
{
	struct outcome outcome = replay(fresh());

	assert_int_equal(outcome.events, EVENTS);
	assert_int_equal(outcome.lines, 0);
	assert_adds_up(&outcome);
}

/* ---- cut off */

/* All multiples of a page, what lies around them, and odd sizes. */
static size_t next_size(size_t size)
{
	size_t page = size & ~(size_t)4095;

	if (size == page)
		return size + 1;
	if (size == page + 1)
		return size + 1233;
	return size < page + 4095 ? page + 4095 : page + 4096;
}

TEST(test_control__cut_off__said_in_one_line)
{
	size_t size, whole = sizeof(struct spool_control);
	struct outcome outcome;

	for (size = 0; size < whole; size = next_size(size)) {
		const char *folder = fresh();

		kit_truncate(folder, "control", size);
		outcome = replay(folder);
		assert_int_equal(outcome.events, 0);
		assert_int_equal(outcome.damaged, 1);
		assert_int_equal(outcome.lines, 1);
	}
}

/* How many events a ring file of that size holds. */
static uint32_t events_before(const size_t *offsets, uint32_t n, size_t size)
{
	uint32_t i = 0;

	while (i < n && offsets[i + 1] <= size)
		i++;
	return i;
}

TEST(test_ring__cut_off__what_is_left_is_delivered)
{
	size_t offsets[EACH + 2], size, whole;
	struct outcome outcome;
	uint32_t n;

	for (size = 0, whole = 1; size < whole; size = next_size(size)) {
		const char *folder = fresh();
		uint32_t left;

		whole = kit_size(folder, "ring-0");
		n = records(folder, "ring-0", offsets);
		assert_int_equal(n, EACH);
		kit_truncate(folder, "ring-0", size);
		outcome = replay(folder);
		left = events_before(offsets, n, size);
		assert_int_equal(outcome.events, EVENTS - EACH + left);
		assert_int_equal(outcome.damaged, left < EACH);
		assert_int_equal(outcome.lines, left < EACH);
		if (size >= RING_HEADER_SIZE) /* the counts are there */
			assert_int_equal(outcome.ledger.published, EVENTS);
		assert_adds_up(&outcome);
	}
}

/* Where the entry of the tests' stream ends in the dictionary, and where the last one does. */
static size_t stream_end(const char *folder, size_t *end)
{
	size_t size, at = 0, found = 0;
	uint8_t *data = kit_read(folder, "dict", &size);

	while (at < size && ((const struct dict_entry *)(const void *)(data + at))->size) {
		const struct dict_stream *s = (const void *)(data + at);

		at += s->entry.size;
		if (s->entry.kind == DICT_STREAM && !strcmp((const char *)(s + 1), "t.real"))
			found = at;
	}
	free(data);
	*end = at;
	return found;
}

TEST(test_dict__cut_off__events_of_streams_before_the_cut_delivered)
{
	size_t size, end = 1, stream;
	struct outcome outcome;

	for (size = 0; size < end; size += 1 + size % 13) {
		const char *folder = fresh();

		stream = stream_end(folder, &end);
		assert_true(stream && end > stream);
		if (size >= end) {
			kit_remove(folder);
			break;
		}
		kit_truncate(folder, "dict", size);
		outcome = replay(folder);
		assert_int_equal(outcome.events, size >= stream ? EVENTS : 0);
		assert_int_equal(outcome.damaged, 1);
		assert_int_equal(outcome.lines, 1);
	}
}

TEST(test_files__missing__said_and_the_rest_delivered)
{
	static const char *const files[] = {"ring-0", "ring-1", "ring-2", "dict", "control"};
	struct outcome outcome;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		const char *folder = fresh();

		unlink(kit_file(folder, files[i]));
		outcome = replay(folder);
		assert_int_equal(outcome.events, i < 3 ? EVENTS - EACH : 0);
		assert_int_equal(outcome.damaged, 1);
		assert_int_equal(outcome.lines, 1);
	}
}

/* ---- wrong */

TEST(test_control__wrong_head__refused_with_the_reason)
{
	static const struct {
		size_t offset;
		uint32_t value;
	} wrong[] = {
		{offsetof(struct spool_control, magic), 0},
		{offsetof(struct spool_control, magic) + 4, 0xffffffff},
		{offsetof(struct spool_control, version), 0},
		{offsetof(struct spool_control, version), SPOOL_VERSION + 1},
		{offsetof(struct spool_control, header_size), 4096},
		{offsetof(struct spool_control, header_size), 0xffffffff},
		{offsetof(struct spool_control, clock_kind), 7},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		const char *folder = fresh();
		struct outcome outcome;

		patch_u32(folder, "control", wrong[i].offset, wrong[i].value);
		outcome = replay(folder);
		assert_int_equal(outcome.events, 0);
		assert_int_equal(outcome.damaged, 1);
		assert_int_equal(outcome.lines, 1);
	}
}

TEST(test_control__counts_beyond_the_files__what_is_there_is_delivered)
{
	static const uint32_t counts[] = {4, 64, SPOOL_RINGS_MAX, SPOOL_RINGS_MAX + 1, 0xffffffff};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		const char *folder = fresh();
		struct outcome outcome;

		patch_u32(folder, "control", offsetof(struct spool_control, ring_count), counts[i]);
		patch_u32(folder, "control", offsetof(struct spool_control, loss_count), counts[i]);
		patch_u32(folder, "control", offsetof(struct spool_control, stream_count),
			  counts[i]);
		outcome = replay(folder);
		assert_int_equal(outcome.events, EVENTS);
		assert_int_equal(outcome.damaged, 1);
		assert_int_equal(outcome.lines, 1);
	}
}

TEST(test_control__dict_length_wrong__said)
{
	static const uint64_t lengths[] = {1, 7, 9, 1ull << 20, 1ull << 40, UINT64_MAX};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		const char *folder = fresh();
		struct outcome outcome;

		patch_u64(folder, "control", offsetof(struct spool_control, dict_length),
			  lengths[i]);
		outcome = replay(folder);
		assert_int_equal(outcome.events, lengths[i] > 4096 ? EVENTS : 0);
		assert_int_equal(outcome.damaged, 1);
		assert_int_equal(outcome.lines, 1);
	}
}

TEST(test_control__clock_nonsense__everything_delivered)
{
	static const uint64_t values[] = {0, 1, 1ull << 63, UINT64_MAX};

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		const char *folder = fresh();

		patch_u64(folder, "control", offsetof(struct spool_control, start_ticks),
			  values[i]);
		patch_u64(folder, "control", offsetof(struct spool_control, start_ns),
			  values[3 - i]);
		assert_int_equal(replay(folder).events, EVENTS);
	}
}

TEST(test_ring__head_nonsense__other_rings_delivered)
{
	static const struct {
		size_t offset;
		uint64_t value;
	} wrong[] = {
		{offsetof(struct ring_header, magic), 0},
		{offsetof(struct ring_header, header_size), 0},
		{offsetof(struct ring_header, capacity), 0},
		{offsetof(struct ring_header, capacity), 12},
		{offsetof(struct ring_header, head), UINT64_MAX},
		{offsetof(struct ring_header, head), UINT64_MAX - 7},
		{offsetof(struct ring_header, head), 1ull << 40},
		{offsetof(struct ring_header, head), 4095},
		{offsetof(struct ring_header, tail), UINT64_MAX},
		{offsetof(struct ring_header, tail), 1ull << 40},
		{offsetof(struct ring_header, tail), 12345},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		const char *folder = fresh();
		struct outcome outcome;

		patch_u64(folder, "ring-1", wrong[i].offset, wrong[i].value);
		outcome = replay(folder);
		assert_int_equal(outcome.events, EVENTS - EACH);
		assert_int_equal(outcome.damaged, 1);
		assert_int_equal(outcome.lines, 1);
		assert_adds_up(&outcome);
	}
}

TEST(test_ring__capacity_beyond_the_file__what_is_there_is_delivered)
{
	static const uint64_t values[] = {1ull << 20, 1ull << 40, (uint64_t)-8};

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		const char *folder = fresh();

		patch_u64(folder, "ring-1", offsetof(struct ring_header, capacity), values[i]);
		assert_int_equal(replay(folder).events, EVENTS);
	}
}

TEST(test_record__wrong_size__everything_before_it_delivered)
{
	static const uint32_t sizes[] = {0, 1, 7, 8, 40, 47, 49, 1u << 20, 0xfffffff8, 0xffffffff};
	size_t offsets[EACH + 2], i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const char *folder = fresh();
		struct outcome outcome;

		records(folder, "ring-2", offsets);
		patch_u32(folder, "ring-2", offsets[100], sizes[i]);
		outcome = replay(folder);
		assert_int_equal(outcome.events, EVENTS - EACH + 100);
		assert_int_equal(outcome.damaged, 1);
		assert_int_equal(outcome.lines, 1);
		assert_int_equal(outcome.ledger.abandoned, EACH - 100);
		assert_adds_up(&outcome);
	}
}

/* A record whose size is sound and whose content is not costs itself alone. */
TEST(test_record__not_as_described__abandoned_alone)
{
	static const struct {
		size_t offset;
		uint32_t value;
	} wrong[] = {
		{4, 0x000a00ff}, /* stream 255 */
		{4, 0xffff0001}, /* type 0xffff */
		{4, 0x000b0001}, /* a type that the stream does not have */
		{sizeof(struct rtl_record) + 24, 0xffffffff}, /* the text's offset */
		{sizeof(struct rtl_record) + 24, 153},
		{sizeof(struct rtl_record) + 28, 0xffffffff}, /* the text's length */
		{sizeof(struct rtl_record) + 64, 0xffffffff}, /* the arguments' offset */
		{sizeof(struct rtl_record) + 64, 73},
		{sizeof(struct rtl_record) + 68, 47}, /* their length */
		{sizeof(struct rtl_record) + 68, 24 * 100},
		{sizeof(struct rtl_record) + 80, 0xffffffff}, /* an argument's text: its offset */
		{sizeof(struct rtl_record) + 84, 200},        /* and its length */
	};
	size_t offsets[EACH + 2], i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		const char *folder = fresh();
		struct outcome outcome;

		records(folder, "ring-2", offsets);
		patch_u32(folder, "ring-2", offsets[100] + wrong[i].offset, wrong[i].value);
		outcome = replay(folder);
		assert_int_equal(outcome.events, EVENTS - 1);
		assert_int_equal(outcome.ledger.abandoned, 1);
		assert_int_equal(outcome.lines, 1);
		assert_adds_up(&outcome);
	}
}

TEST(test_record__shorter_than_described__abandoned_alone)
{
	size_t offsets[EACH + 2];
	const char *folder = fresh();
	struct rtl_record rest = {.stream = RING_FILLER};
	struct outcome outcome;

	records(folder, "ring-2", offsets);
	rest.size = (uint32_t)(offsets[101] - offsets[100]) - 56;
	patch_u32(folder, "ring-2", offsets[100], 56);
	kit_patch(folder, "ring-2", offsets[100] + 56, &rest, sizeof(rest));
	outcome = replay(folder);
	assert_int_equal(outcome.events, EVENTS - 1);
	assert_int_equal(outcome.ledger.abandoned, 1);
	assert_adds_up(&outcome);
}

/* Its time says nothing about those behind it. */
TEST(test_record__ticks_of_the_future__nothing_lost)
{
	size_t offsets[EACH + 2];
	const char *folder = fresh();

	records(folder, "ring-2", offsets);
	patch_u64(folder, "ring-2", offsets[10] + offsetof(struct rtl_record, ticks), UINT64_MAX);
	assert_int_equal(replay(folder).events, EVENTS);
}

/* ---- files that are none */

static void make_directory(const char *path)
{
	assert_int_equal(mkdir(path, 0700), 0);
}

static void make_fifo(const char *path)
{
	assert_int_equal(mkfifo(path, 0600), 0);
}

static void make_link(const char *path)
{
	assert_int_equal(symlink("ring-1", path), 0);
}

static void make_lost_link(const char *path)
{
	assert_int_equal(symlink("/nowhere/at/all", path), 0);
}

static void make_device(const char *path)
{
	assert_int_equal(symlink("/dev/zero", path), 0);
}

TEST(test_files__not_files__said_and_the_rest_delivered)
{
	static void (*const make[])(const char *path) = {make_directory, make_fifo, make_link,
							 make_lost_link, make_device};
	static const char *const files[] = {"ring-0", "dict", "control"};

	for (size_t i = 0; i < sizeof(make) / sizeof(*make); i++)
		for (size_t k = 0; k < 3; k++) {
			const char *folder = fresh();
			struct outcome outcome;

			unlink(kit_file(folder, files[k]));
			make[i](kit_file(folder, files[k]));
			outcome = replay(folder);
			assert_int_equal(outcome.events, k ? 0 : EVENTS - EACH);
			/* a link to nowhere as `control`: as if it were not there */
			if (k != 2 || make[i] != make_lost_link)
				assert_int_equal(outcome.damaged, 1);
		}
}

/* ---- folders */

TEST(test_folder__not_to_be_read__refused_with_the_reason)
{
	char subscriber[1024], message[256] = "";
	struct rtl_collector_options options = {
		.struct_size = sizeof(options), .kind = RTL_REPLAY, .subscribers = subscriber};
	struct rtl_collector *collector;
	const char *folder = fresh();
	bool root = !geteuid();
	int err;

	snprintf(subscriber, sizeof(subscriber), "%s", READ_ALL_SUB);
	options.folder = folder;
	chmod(folder, 0);
	chmod(kit_base, 0755);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	err = rtl_collector_create(&options, &collector, message, sizeof(message));
	if (root)
		assert_int_equal(seteuid(0), 0);
	chmod(folder, 0700);
	kit_remove(folder);
	assert_int_equal(err, RTL_EIO);
	assert_non_null(strstr(message, folder));
}

TEST(test_folder__names_that_are_not_ours__left_alone)
{
	static const char *const names[] = {"rtl-spool-", "rtl-spool-x", "other", "rtl-spool-\n"};
	const char *folder = fresh();
	struct outcome outcome;
	char path[600];

	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	snprintf(path, sizeof(path), "%s/rtl-spool-file", folder);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	snprintf(path, sizeof(path), "%s/rtl-spool-link", folder);
	assert_int_equal(symlink("rtl-spool-1", path), 0);
	outcome = replay(folder);
	assert_int_equal(outcome.events, EVENTS); /* not twice, by the link */
	assert_int_equal(outcome.lines, 0);
}

/* More than a process may have files open. */
TEST(test_folder__thousands_of_spools__all_delivered)
{
	static const struct real_spool small = {.events = 2, .threads = 1, .ring_bytes = "64K"};
	char path[512], name[32], target[700];
	const char *files[] = {"control", "dict", "ring-0"};
	struct outcome outcome;

	assert_int_equal(real_spool_make(&small, kit_base, READ_ALL_SUB, path, sizeof(path)), 0);
	for (uint32_t i = 0; i < SPOOLS; i++) { /* links to the files: nothing of them is changed */
		char source[600];

		snprintf(name, sizeof(name), "many/rtl-spool-%u", i);
		snprintf(target, sizeof(target), "%s/many", kit_base);
		mkdir(target, 0700);
		snprintf(target, sizeof(target), "%s/%s", kit_base, name);
		assert_int_equal(mkdir(target, 0700), 0);
		for (uint32_t k = 0; k < 3; k++) {
			snprintf(source, sizeof(source), "%s/%s", path, files[k]);
			snprintf(target, sizeof(target), "%s/%s/%s", kit_base, name, files[k]);
			assert_int_equal(link(source, target), 0);
		}
	}
	snprintf(target, sizeof(target), "%s/many", kit_base);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){SPOOLS / 2, SPOOLS / 2}), 0);
	kit_run(target, RTL_REPLAY, &outcome);
	assert_int_equal(outcome.status, 0);
	assert_int_equal(outcome.processes, SPOOLS);
	assert_int_equal(outcome.events, 2 * SPOOLS);
	assert_int_equal(outcome.lines, 0);
	kit_remove(target);
}

/* Recovery removes what it has delivered, and keeps what it could not read. */
TEST(test_recover__damaged__files_stay)
{
	size_t offsets[EACH + 2];
	struct outcome outcome;
	const char *folder = fresh();

	records(folder, "ring-2", offsets);
	patch_u32(folder, "ring-2", offsets[100], 0);
	kit_run(folder, RTL_RECOVER, &outcome);
	assert_int_equal(outcome.status, 0);
	assert_int_equal(outcome.events, EVENTS - EACH + 100);
	assert_int_equal(access(kit_file(folder, "ring-2"), F_OK), 0);
	kit_remove(folder);
}

/* A ring that cannot be read to its end does not end the recording. */
TEST(test_record__ring_cut_off__the_rest_recorded)
{
	size_t offsets[EACH + 2];
	struct outcome outcome;
	const char *folder = fresh();
	char recorded[512];

	records(folder, "ring-0", offsets);
	kit_truncate(folder, "ring-0", offsets[100] + 13);
	kit_run(folder, RTL_RECORD_RECOVER, &outcome);
	assert_int_equal(outcome.status, 0);
	assert_int_equal(outcome.damaged, 1);
	kit_remove(folder);
	snprintf(recorded, sizeof(recorded), "%s/recorded", kit_base);
	outcome = replay(recorded);
	assert_int_equal(outcome.events, EVENTS - EACH + 100);
	assert_int_equal(outcome.ledger.published, EVENTS);
	assert_adds_up(&outcome);
}

/* What a file says of its own name is not believed. */
TEST(test_record__ring_says_it_is_another__recorded_as_it_is_called)
{
	struct outcome outcome;
	const char *folder = fresh();
	char recorded[512];

	patch_u32(folder, "ring-1", offsetof(struct ring_header, index), 0);
	patch_u32(folder, "ring-2", offsetof(struct ring_header, index), 4000000000u);
	kit_run(folder, RTL_RECORD_RECOVER, &outcome);
	assert_int_equal(outcome.status, 0);
	kit_remove(folder);
	snprintf(recorded, sizeof(recorded), "%s/recorded", kit_base);
	outcome = replay(recorded);
	assert_int_equal(outcome.events, EVENTS);
	assert_int_equal(outcome.ledger.published, EVENTS);
	assert_int_equal(outcome.damaged, 0);
	assert_adds_up(&outcome);
}

RUN_TESTS(NULL, NULL, kit_setup, kit_teardown)
