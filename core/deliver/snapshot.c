/* SPDX-License-Identifier: MIT */
/* The flight recorder: what stays of old segments, and copies of a recording that goes on.
 *
 * Of a dropped segment the records that describe others stay, under its name and at its place in the ring, in order.
 *
 * A snapshot hard-links the segments' files: they never change, and are dropped or replaced by name. Of a living
 * process, all that it has published is saved first. Its ledger is of that moment: published is what was saved,
 * and what was open then. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>

#include "futex.h"
#include "recorder.h"
#include "spool_writer.h"

/* What describes may take such a part of the bound, besides, and at least so much. */
#define DESCRIBING_PART  8u
#define DESCRIBING_LEAST ((uint64_t)1 << 20)

/* What is open stands in rings of its own, behind the process's, as each ring goes on from there with other events. */
#define RINGS_OF_OPEN (SPOOL_RINGS_MAX / 2)

/* ---- what stays of a segment */

/* Copies the records that describe; returns their bytes. */
static uint64_t pick(const struct segment *segment, const uint8_t *data, uint64_t bytes,
		     uint8_t *into, uint32_t *counts)
{
	uint64_t at = 0, used = 0;

	while (bytes - at >= sizeof(struct rtl_record)) {
		const struct rtl_record *record = (const void *)(data + at);
		const uint64_t step = ring_step(record->size);

		if (record->size < sizeof(*record) || step > bytes - at)
			break;
		if (record->stream < segment->stream_count &&
		    stream_type_describes(segment->source->streams[record->stream], record->type)) {
			memcpy(into + used, record, step);
			used += step;
			counts[record->stream]++;
		}
		at += step;
	}
	return used;
}

static bool has_room(const struct recorder *recorder, uint64_t bytes)
{
	const uint64_t part = recorder->limit_bytes / DESCRIBING_PART;

	return recorder->describing + bytes <= (part > DESCRIBING_LEAST ? part : DESCRIBING_LEAST);
}

static bool keep(struct recorder *recorder, struct segment *segment, struct ring_header *file,
		 uint64_t bytes, int dir_fd)
{
	uint32_t *counts = calloc(segment->stream_count, sizeof(*counts));
	uint8_t *kept = malloc(bytes ? bytes : 1);
	uint64_t used = 0;
	bool done = false;

	if (counts && kept)
		used = pick(segment, ring_data(file), bytes, kept, counts);
	if (used && has_room(recorder, used))
		done = recorder_write_ring(dir_fd, segment->number, file, kept, used);
	if (done) {
		recorder->describing += used;
		segment->source->describing += used;
		for (uint32_t i = 0; i < segment->stream_count; i++)
			segment->counts[i] -= counts[i];
	}
	free(kept);
	free(counts);
	return done;
}

/* A file, mapped to be read; MAP_FAILED: it cannot be, or is shorter than `least`, which is not 0. */
static void *map_file(int dir_fd, const char *name, size_t least, size_t *size)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	void *file = MAP_FAILED;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && (size_t)st.st_size >= least) {
		*size = (size_t)st.st_size;
		file = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	fd_close(fd);
	return file;
}

bool recorder_keep_describing(struct recorder *recorder, struct segment *segment, int dir_fd,
			      const char *name)
{
	size_t size;
	void *file = map_file(dir_fd, name, RING_HEADER_SIZE, &size);
	bool done = false;

	if (file == MAP_FAILED)
		return false;
	done = keep(recorder, segment, file, size - RING_HEADER_SIZE, dir_fd);
	munmap(file, size);
	return done;
}

/* ---- snapshots */

static bool copy_file(int from_fd, int to_fd, const char *name)
{
	size_t size = SIZE_MAX; /* until it is known */
	void *file = map_file(from_fd, name, 0, &size);
	const struct part part = {size ? file : NULL, size};
	const bool good = part.data != MAP_FAILED && recorder_write_file(to_fd, name, &part, 1);

	if (file != MAP_FAILED)
		munmap(file, size);
	return good;
}

/* The control page of a process that has ended counts on. */
static bool share_file(int from_fd, int to_fd, const char *name)
{
	return (strcmp(name, "control") != 0 && !linkat(from_fd, name, to_fd, name, 0)) ||
	       copy_file(from_fd, to_fd, name);
}

static bool share_files(int from_fd, int to_fd)
{
	int fd = openat(from_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool good = dir;

	while (good && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			good = share_file(from_fd, to_fd, entry->d_name);
	if (dir)
		closedir(dir);
	return good;
}

/* Appends what is open on a ring as records of this moment; returns their bytes. */
static uint64_t seal_open(const struct source *source, uint32_t index, uint8_t *into,
			  uint64_t published[SPOOL_STREAMS_MAX])
{
	const struct reader_ring *r = &source->reader.list[index];
	uint64_t used = 0;

	for (uint32_t k = 0; r->ring && k < RING_OPEN_MAX; k++) {
		const struct ring_open copy = *(const volatile struct ring_open *)&r->ring->open[k];
		struct rtl_record *record = (void *)(into + used);

		/* its end may lie behind what was saved; what changed meanwhile is not of this moment */
		if (!ring_open_is_kept(&copy, r->position) ||
		    __atomic_load_n(&r->ring->open[k].until, __ATOMIC_ACQUIRE) != copy.until ||
		    !ring_open_is_sound(&copy, source->stream_count))
			continue;
		memcpy(record, &copy.record, copy.record.size);
		record->ticks = source->reader.until;
		used += ring_step(copy.record.size);
		published[copy.record.stream]++;
	}
	return used;
}

/* What is open on all rings, as a segment each; *number: of the next one. */
static bool write_open(const struct source *source, int dir_fd, uint32_t *number,
		       uint64_t published[SPOOL_STREAMS_MAX])
{
	uint8_t *records = calloc(RING_OPEN_MAX, sizeof(struct ring_open));
	bool good = records;

	for (uint32_t i = 0; good && i < source->reader.count; i++) {
		const struct reader_ring *r = &source->reader.list[i];
		const uint64_t bytes = seal_open(source, i, records, published);
		const struct ring_header header = {.index = i < RINGS_OF_OPEN ? i + RINGS_OF_OPEN
									      : i,
						   .tid = r->ring ? r->ring->tid : 0,
						   .origin = r->position};

		if (bytes)
			good = recorder_write_ring(dir_fd, (*number)++, &header, records, bytes);
	}
	free(records);
	return good;
}

static bool export_living(struct source *source, int to_fd)
{
	uint64_t published[SPOOL_STREAMS_MAX];
	uint32_t segments = source->segments;

	memcpy(published, source->saved, sizeof(published));
	/* the dictionary after all that refers to it */
	return write_open(source, to_fd, &segments, published) &&
	       recorder_export(source, to_fd, segments, published);
}

static bool export_source(struct recorder *recorder, struct source *source, int out_fd)
{
	const char *name = recorder_folder_name(source);
	int from_fd = recorder_open_folder(recorder, source), to_fd = -1;
	bool good = from_fd >= 0 && !mkdirat(out_fd, name, 0777);

	if (good)
		to_fd = openat(out_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	good = good && to_fd >= 0 && share_files(from_fd, to_fd) &&
	       (source->closed || export_living(source, to_fd));
	fd_close(to_fd);
	fd_close(from_fd);
	return good;
}

static bool export_all(struct recorder *recorder, struct host *host, int out_fd)
{
	for (uint32_t i = 0; i < host->source_count; i++)
		if (!host->sources[i]->forgotten &&
		    !export_source(recorder, host->sources[i], out_fd))
			return false;
	return true;
}

static void remove_one(void *unused, const char *path)
{
	spool_remove_folder(path);
}

/* Only what is ours: where the spools are, others may make folders and links as well. */
void rtl_collector_snapshot_remove(const char *folder)
{
	struct stat st;

	if (lstat(folder, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return;
	folder_each_spool(folder, remove_one, NULL);
	spool_remove_folder(folder);
}

/* Makes a recording of what there is now, in a folder that is made, or not at all; what goes on is not
 * disturbed. Only with last_ns. RTL_ENOTSUP, RTL_EIO, RTL_ENOSPC, RTL_ENOMEM. */
static int make(struct recorder *recorder, struct host *host, const char *folder)
{
	int fd = -1, error = ENOMEM;
	char *made = NULL;

	if (!recorder->last_ns)
		return RTL_ENOTSUP;
	(void)recorder_pass(recorder, host, true);
	if (asprintf(&made, "%s.new", folder) < 0)
		return RTL_ENOMEM;
	rtl_collector_snapshot_remove(made);
	error = 0;
	if (mkdir(made, 0700) || (fd = open(made, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
	    !export_all(recorder, host, fd) || rename(made, folder))
		error = errno ? errno : EIO;
	fd_close(fd);
	if (error)
		rtl_collector_snapshot_remove(made);
	free(made);
	errno = error;
	return !error ? 0 : error == ENOSPC ? RTL_ENOSPC : RTL_EIO;
}

/* ---- those that others ask for */

#define ASKED_MOST 1024u

/* The folder of one; to be freed. NULL: out of memory. */
static char *snapshot_path(const char *folder, uint32_t number)
{
	char *path;

	return asprintf(&path, "%s-snapshot-%u", folder, number) < 0 ? NULL : path;
}

void snapshot_serve(struct session_page *page, uint32_t *served, const char *folder,
		    struct recorder *recorder, struct host *host)
{
	/* acquire: with the release of who asks; the rest is ours */
	const uint32_t asked = __atomic_load_n(&page->snapshots_asked, __ATOMIC_ACQUIRE);
	uint32_t made = *served;

	/* more at once nobody asks for: somebody has written there who should not */
	while (made != asked && asked - made <= ASKED_MOST) {
		char *path = snapshot_path(folder, made + 1);
		const int err = !path      ? RTL_ENOMEM
				: recorder ? make(recorder, host, path)
					   : RTL_ENOTSUP;
		const uint32_t kept_ms = recorder ? recorder_kept_ms(recorder) : 0;

		__atomic_store_n(&page->snapshot_error, (uint32_t)-err, __ATOMIC_RELAXED);
		__atomic_store_n(&page->snapshot_kept_ms, kept_ms, __ATOMIC_RELAXED);
		/* release: with the acquire of who waits */
		__atomic_store_n(&page->snapshots_made, *served = ++made, __ATOMIC_RELEASE);
		futex_wake(&page->snapshots_made);
		free(path);
	}
}

/* Whoever reads one holds a lock on it (`hold`). */
void snapshot_remove_unread(uint32_t served, const char *folder)
{
	for (uint32_t i = 1; i <= served; i++) {
		char *path = snapshot_path(folder, i);
		int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

		if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
			rtl_collector_snapshot_remove(path);
		fd_close(fd);
		free(path);
	}
}

/* ---- <rtl/collector.h>: asking the flight recorder of another process for one. Any thread. */

#define WAIT_MS 100u
/* For a collector that does not answer: it is stopped, or a machine is far too busy. */
#define PATIENCE 600u

/* For as long as this process lives: the descriptor stays open. */
static int hold(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return RTL_ENOENT;
	(void)flock(fd, LOCK_SH | LOCK_NB);
	return 0;
}

/* Waits for the snapshot of that number; 0, or what came of it. */
static int await(const char *folder, struct session_page *page, uint32_t number)
{
	uint32_t made, waits = 0;

	/* acquire: with the release of the collector */
	while ((int32_t)((made = __atomic_load_n(&page->snapshots_made, __ATOMIC_ACQUIRE)) -
			 number) < 0) {
		if (!session_folder_is_alive(folder))
			return RTL_ENOENT;
		if (waits++ == PATIENCE)
			return RTL_EBUSY;
		futex_wait(&page->snapshots_made, made, WAIT_MS);
	}
	return -(int)__atomic_load_n(&page->snapshot_error, __ATOMIC_RELAXED);
}

static int ask(const char *folder, struct session_page *page, char *path, size_t path_size,
	       uint32_t *kept_ms)
{
	/* release: with the acquire of the collector */
	const uint32_t number = __atomic_add_fetch(&page->snapshots_asked, 1, __ATOMIC_RELEASE);
	char *name = snapshot_path(folder, number);
	int err = name ? 0 : RTL_ENOMEM;

	session_ring(page);
	if (!err)
		err = await(folder, page, number);
	if (!err)
		err = hold(name);
	if (!err) {
		*kept_ms = __atomic_load_n(&page->snapshot_kept_ms, __ATOMIC_RELAXED);
		snprintf(path, path_size, "%s", name);
	}
	free(name);
	return err;
}

static void explain(int err, const char *folder, char *message, size_t size)
{
	if (err == RTL_ENOTSUP)
		snprintf(message, size,
			 "the rtl of %s was started without --last: it is no flight recorder",
			 folder);
	else if (err == RTL_ENOENT)
		snprintf(message, size, "the rtl of %s has ended; its output has what it kept",
			 folder);
	else if (err == RTL_EBUSY)
		snprintf(message, size, "the rtl of %s does not answer: is it stopped?", folder);
	else
		snprintf(message, size, "%s: the snapshot could not be made: %s", folder,
			 rtl_error_text(err));
}

int rtl_collector_snapshot(const char *folder, char *path, size_t path_size, uint32_t *kept_ms,
			   char *message, size_t size)
{
	struct session_page *page;
	int err = session_map(folder, &page);

	if (err) {
		snprintf(message, size, "%s is not the folder of a running rtl: %s", folder,
			 rtl_error_text(err));
		return err;
	}
	err = session_folder_is_alive(folder) ? ask(folder, page, path, path_size, kept_ms)
					      : RTL_ENOENT;
	if (err)
		explain(err, folder, message, size);
	munmap(page, sizeof(*page));
	return err;
}
