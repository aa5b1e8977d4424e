/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "log.h"
#include "spool_writer.h"

/* Sweeps per retention period. */
#define SWEEPS     8u
#define ENDED_MOST 256u

/* With a bound, a recording has at least so many segments when the oldest goes. */
#define BOUND_PARTS 8u

const char *recorder_failure(const struct recorder *recorder)
{
	return *recorder->failure ? recorder->failure : NULL;
}

static bool failed(struct recorder *recorder)
{
	if (!*recorder->failure)
		snprintf(recorder->failure, sizeof(recorder->failure),
			 "cannot write to %.150s (%s): recording has ended", recorder->output,
			 strerror(errno));
	return false;
}

/* The recording's folder; one that is there already must be ours. -1 with errno. */
static int make_folder(const char *path, mode_t mode)
{
	const bool is_new = !mkdir(path, mode);
	struct stat st;
	int fd;

	if (!is_new && errno != EEXIST)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || is_new || (!fstat(fd, &st) && st.st_uid == geteuid()))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

int recorder_create(const char *output, uint64_t limit_bytes, uint64_t last_ns,
		    struct recorder **out)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));

	if (!recorder || !(recorder->output = strdup(output))) {
		free(recorder);
		return RTL_ENOMEM;
	}
	recorder->limit_bytes = limit_bytes;
	recorder->last_ns = last_ns;
	recorder->newest = &recorder->oldest;
	/* what is kept in between is as private as the spools */
	recorder->dir_fd = make_folder(output, last_ns ? 0700 : 0777);
	if (recorder->dir_fd >= 0) {
		*out = recorder;
		return 0;
	}
	free(recorder->output);
	free(recorder);
	return errno == ENOSPC ? RTL_ENOSPC : RTL_EIO;
}

void recorder_destroy(struct recorder *recorder)
{
	struct segment *segment;

	if (!recorder)
		return;
	while ((segment = recorder->oldest)) {
		recorder->oldest = segment->next;
		free(segment);
	}
	close(recorder->dir_fd);
	free(recorder->output);
	free(recorder);
}

/* ---- files */

const char *recorder_folder_name(const struct source *source)
{
	return basename(source->path);
}

int recorder_open_folder(const struct recorder *recorder, const struct source *source)
{
	const char *name = recorder_folder_name(source);

	if (mkdirat(recorder->dir_fd, name, 0777) && errno != EEXIST)
		return -1;
	return openat(recorder->dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

bool recorder_write_file(int dir_fd, const char *name, const struct part *parts, size_t n)
{
	int fd = openat(dir_fd, ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), err;
	bool ok = fd >= 0;

	for (size_t i = 0; ok && i < n; i++)
		ok = write_all(fd, parts[i].data, parts[i].size);
	ok = ok && !renameat(dir_fd, ".new", dir_fd, name);
	err = errno;
	fd_close(fd);
	if (!ok)
		unlinkat(dir_fd, ".new", 0);
	errno = err;
	return ok;
}

bool recorder_write_ring(int dir_fd, uint32_t number, const struct ring_header *header,
			 const void *records, uint64_t bytes)
{
	static const uint64_t nothing;
	union {
		struct ring_header header;
		uint8_t page[RING_HEADER_SIZE];
	} head = {.header = *header};
	const struct part parts[] = {{&head, sizeof(head)},
				     {bytes ? records : &nothing, bytes ? bytes : sizeof(nothing)}};
	char name[32];

	head.header.magic = RING_MAGIC;
	head.header.header_size = RING_HEADER_SIZE;
	head.header.capacity = head.header.ready = parts[1].size;
	head.header.state = RING_CLOSED;
	head.header.head = bytes;
	head.header.tail = 0;
	snprintf(name, sizeof(name), bytes ? SPOOL_SEGMENT_NAME : "ring-%u", number);
	return recorder_write_file(dir_fd, name, parts, 2);
}

/* ---- segments */

/* Goes on after what an earlier recorder of the process has saved. */
static void find_segments(int dir_fd, struct source *source)
{
	struct spool_files files = {.dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0)};

	spool_files_find_segments(&files);
	source->segments = files.segments_end;
	for (uint32_t i = 0; i < files.segment_count; i++) {
		const struct spool_segment *s = &files.segments[i];

		if (s->ring < source->reader.count &&
		    s->origin + s->length > source->reader.list[s->ring].position)
			source->reader.list[s->ring].position = s->origin + s->length;
	}
	spool_files_close(&files);
}

/* When the record was published that has been gone over last. */
static uint64_t time_of(const struct source *source, const struct reader_ring *at)
{
	return clock_line_ns(&source->reader.clock, at->ticks);
}

static void add_segment(struct recorder *recorder, struct source *source, uint32_t number,
			const struct reader_ring *r, uint64_t end)
{
	struct segment *segment =
		calloc(1, sizeof(*segment) + source->stream_count * sizeof(*segment->counts));
	/* there may be many small ones in a flight recorder */
	const uint64_t bytes = end - r->position + (recorder->last_ns ? RING_HEADER_SIZE : 0);
	struct reader_ring at = *r;

	recorder->bytes += bytes;
	for (at.head = end; recorder->limit_bytes && reader_walk(&at);) {
		if (at.taken >= source->stream_count)
			continue;
		if (segment)
			segment->counts[at.taken]++;
		source->saved[at.taken]++;
	}
	if (!segment)
		return; /* it stays, bound or not */
	segment->source = source;
	segment->number = number;
	segment->stream_count = source->stream_count;
	segment->bytes = bytes;
	segment->newest_ns = recorder->last_ns ? time_of(source, &at) : 0;
	if (segment->newest_ns > recorder->newest_ns)
		recorder->newest_ns = segment->newest_ns;
	source->kept++;
	*recorder->newest = segment;
	recorder->newest = &segment->next;
}

/* Touches memory of a file that may be truncated: write(2) would fail there; guard.c makes it zeros for us. */
static void touch(const uint8_t *data, uint64_t size)
{
	for (uint64_t at = 0; at < size; at += 4096)
		(void)*(const volatile uint8_t *)(data + at);
	if (size)
		(void)*(const volatile uint8_t *)(data + size - 1);
}

/* How far a ring can be saved: up to its head, or to where its file ends. */
static uint64_t find_end(const struct reader_ring *r)
{
	uint64_t offset = reader_offset(r), bytes = r->head - r->position;
	uint64_t usable = r->usable < r->capacity ? r->usable & ~7ull : r->capacity;
	uint64_t first = bytes < r->capacity - offset ? bytes : r->capacity - offset;
	uint64_t there = usable > offset ? usable - offset : 0;

	if (first > there)
		return r->position + there;
	return bytes - first > usable ? r->position + first + usable : r->head;
}

/* What goes into one segment: one piece of memory without the ring's filler, of perhaps megabytes on a full disk. */
struct piece {
	uint64_t end;  /* of its records, from the ring's position on */
	uint64_t next; /* where the next one begins */
};

/* A piece's records are of a part of the time that a flight recorder keeps: they go together. */
static bool is_long(const struct recorder *recorder, const struct source *source,
		    const struct reader_ring *at, uint64_t *first_ns)
{
	const uint64_t ns = recorder->last_ns ? time_of(source, at) : 0;

	if (!*first_ns)
		*first_ns = ns;
	return ns > *first_ns && ns - *first_ns > recorder->last_ns / SWEEPS;
}

static struct piece find_piece(const struct recorder *recorder, const struct source *source,
			       const struct reader_ring *r, uint64_t end)
{
	const uint64_t to_end = r->capacity - reader_offset(r);
	const uint64_t most =
		recorder->limit_bytes ? recorder->limit_bytes / BOUND_PARTS : UINT64_MAX;
	struct piece piece = {.end = r->position, .next = end};
	struct reader_ring at = *r;
	uint64_t first_ns = 0;

	if (end - r->position >= to_end)
		piece.next = r->position + to_end;
	else if (end - r->position <= most && !recorder->last_ns)
		return (struct piece){end, end}; /* fillers are at the ring's end only */
	at.head = piece.next;
	while (reader_walk(&at)) {
		if ((at.position - r->position > most ||
		     is_long(recorder, source, &at, &first_ns)) &&
		    piece.end > r->position) {
			piece.next = piece.end;
			return piece;
		}
		piece.end = at.position;
	}
	/* what is damaged is saved as it is; readers of the recording find out */
	if (at.skipped != r->skipped)
		piece.end = piece.next;
	return piece;
}

static void add_to(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED); /* read when all is over */
}

/* Counts dropped events in the process's control page, or in its file in the recording. */
static void count_dropped(const struct recorder *recorder, const struct segment *segment,
			  int dir_fd)
{
	struct spool_control *control = segment->source->control, *file = MAP_FAILED;
	int fd = -1;

	if (!control) {
		fd = openat(dir_fd, "control", O_RDWR | O_CLOEXEC);
		if (fd >= 0)
			file = mmap(NULL, sizeof(*file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		control = file;
	}
	for (uint32_t i = 0; control != MAP_FAILED && i < segment->stream_count; i++)
		add_to(recorder->last_ns ? &control->streams[i].left_out[SPOOL_LEFT_OUT_OLDER]
					 : &control->streams[i].rotated,
		       segment->counts[i]);
	if (file != MAP_FAILED)
		munmap(file, sizeof(*file));
	fd_close(fd);
}

/* Drops the oldest segment, or (last_ns) what in it does not describe; false: it is the only one, or its
 * folder cannot be had. */
static bool drop_oldest(struct recorder *recorder)
{
	struct segment *segment = recorder->oldest;
	char name[32];
	int fd;

	if (!segment || !segment->next)
		return false;
	fd = recorder_open_folder(recorder, segment->source);
	if (fd < 0)
		return false;
	snprintf(name, sizeof(name), SPOOL_SEGMENT_NAME, segment->number);
	if (!recorder->last_ns || !recorder_keep_describing(recorder, segment, fd, name))
		unlinkat(fd, name, 0);
	count_dropped(recorder, segment, fd);
	close(fd);
	recorder->bytes -= segment->bytes;
	recorder->dropped_ns = segment->newest_ns;
	segment->source->kept--;
	recorder->oldest = segment->next;
	free(segment);
	return true;
}

/* Whether nothing in it is asked for any more. An idle or ended program keeps what it has done last. */
static bool is_old(const struct recorder *recorder, const struct segment *segment)
{
	return recorder->last_ns && segment &&
	       recorder->newest_ns - segment->newest_ns > recorder->last_ns;
}

/* Drops the oldest until the recording is within its bound. */
static void rotate(struct recorder *recorder)
{
	while (((recorder->limit_bytes && recorder->bytes > recorder->limit_bytes) ||
		is_old(recorder, recorder->oldest)) &&
	       drop_oldest(recorder))
		;
}

/* Writes a piece of the process's ring `index`, from its position on, to a segment of its own. */
static bool save_piece(struct recorder *recorder, struct source *source, int dir_fd, uint32_t index,
		       uint64_t end)
{
	struct reader_ring *r = &source->reader.list[index];
	const uint64_t bytes = end - r->position;
	const uint8_t *data = ring_data(r->ring) + reader_offset(r);
	/* what the file says of its index may be wrong */
	const struct ring_header header = {
		.index = index, .tid = r->ring->tid, .origin = r->position};

	touch(data, bytes);
	while (!recorder_write_ring(dir_fd, source->segments, &header, data, bytes))
		if (errno != ENOSPC || !recorder->last_ns || !drop_oldest(recorder))
			return failed(recorder);
	add_segment(recorder, source, source->segments, r, end);
	source->segments++;
	return true;
}

/* Saves what the process's ring `index` holds before `end`; returns whether it could. */
static bool save(struct recorder *recorder, struct source *source, int dir_fd, uint32_t index,
		 uint64_t end)
{
	struct reader_ring *r = &source->reader.list[index];

	while (r->position < end) {
		const struct piece piece = find_piece(recorder, source, r, end);

		if (piece.end > r->position &&
		    !save_piece(recorder, source, dir_fd, index, piece.end))
			return false;
		r->position = piece.next;
	}
	return true;
}

/* Nothing can be recorded any more: threads that wait for room are let go. */
static void throw_away(struct source *source)
{
	source_begin(source);
	for (uint32_t i = 0; i < source->reader.count; i++) {
		struct reader_ring *r = &source->reader.list[i];

		if (!r->ring || !__atomic_load_n(&r->ring->waiting, __ATOMIC_RELAXED))
			continue;
		while (reader_walk(r))
			if (r->taken < source->stream_count)
				add_to(&source->control->streams[r->taken].rotated, 1);
	}
	source_release(source);
}

/* ---- passes */

static bool is_due(const struct reader_ring *r)
{
	/* relaxed: hints, looked at again in the next pass */
	return r->head - r->position >= r->capacity / 2 ||
	       __atomic_load_n(&r->ring->waiting, __ATOMIC_RELAXED);
}

static bool save_source(struct recorder *recorder, struct source *source, bool all)
{
	bool something = false;
	int dir_fd = -1;
	uint64_t end;

	source_begin(source);
	for (uint32_t i = 0; i < source->reader.count && !recorder_failure(recorder); i++) {
		struct reader_ring *r = &source->reader.list[i];

		if (!r->ring ||
		    (dir_fd < 0 && (dir_fd = recorder_open_folder(recorder, source)) < 0))
			continue;
		if (!source->continued) {
			source->continued = true;
			find_segments(dir_fd, source);
		}
		/* damaged rings too are saved as they are; readers of the recording find out */
		if (r->head - r->position > r->capacity || r->head == r->position ||
		    (!all && !is_due(r)))
			continue;
		end = find_end(r);
		if (end > r->position)
			something |= save(recorder, source, dir_fd, i, end);
		if (end < r->head && r->position == end) {
			r->skipped += r->head - end;
			r->position = r->head;
		}
	}
	fd_close(dir_fd);
	source_prepare(source);
	source_release(source);
	return something;
}

static void remove_folder(const struct recorder *recorder, const struct source *source)
{
	char *path;

	if (asprintf(&path, "%s/%s", recorder->output, recorder_folder_name(source)) < 0)
		return;
	spool_remove_folder(path);
	free(path);
}

/* The ledgers of only the newest ended processes of which nothing is kept stay: there may come any number. */
static void forget_ended(struct recorder *recorder, struct host *host)
{
	uint32_t ended = 0;

	for (uint32_t i = host->source_count; i--;) {
		struct source *source = host->sources[i];

		if (!source->closed || source->kept || source->forgotten || ++ended <= ENDED_MOST)
			continue;
		source->forgotten = true;
		recorder->describing -= source->describing;
		remove_folder(recorder, source);
		if (!recorder->forgotten++)
			log_line(RTL_LEVEL_WARNING, "spool",
				 "the ledger keeps only the last %u ended processes of which no "
				 "events are kept",
				 ENDED_MOST);
	}
}

/* A flight recorder saves all now and then, or what is old would stay in rings that are not full. */
static bool is_time(struct recorder *recorder)
{
	const uint64_t now = clock_ns();

	if (!recorder->last_ns || now - recorder->swept_ns < recorder->last_ns / SWEEPS)
		return false;
	recorder->swept_ns = now;
	return true;
}

bool recorder_pass(struct recorder *recorder, struct host *host, bool all)
{
	bool something = false;

	all |= is_time(recorder);
	for (uint32_t i = 0; i < host->source_count; i++) {
		struct source *source = host->sources[i];

		if (source->closed)
			continue;
		host_look_at(host, source);
		if (recorder_failure(recorder))
			throw_away(source);
		else
			something |= save_source(recorder, source, all);
	}
	if (recorder_failure(recorder))
		host_stop_publishing(host);
	rotate(recorder);
	if (recorder->last_ns)
		forget_ended(recorder, host);
	return something;
}

/* ---- the end of a process */

/* A ring's counts, without records, and without those of `before`. */
static bool export_ring(int dir_fd, const struct ring_header *ring, uint32_t index,
			const uint64_t *published, const uint64_t *before)
{
	struct ring_header copy = *ring;

	for (uint32_t i = 0; i < RING_OPEN_MAX; i++) /* its head says no more what has ended */
		copy.open[i].until = !published && ring_open_is_kept(&ring->open[i], ring->head)
					     ? RING_OPEN_KEPT
					     : 0;
	if (published)
		memcpy(copy.published, published, sizeof(copy.published));
	for (uint32_t i = 0; i < SPOOL_STREAMS_MAX && !published; i++)
		copy.published[i] -= before[i];
	copy.index = index; /* what the file says may be wrong */
	return recorder_write_ring(dir_fd, index, &copy, NULL, 0);
}

static void finish_control(struct spool_control *copy, const struct source *source, bool lives)
{
	copy->finished = 1;
	for (uint32_t i = 0; i < SPOOL_STREAMS_MAX; i++)
		copy->streams[i].delivered = copy->streams[i].delivered_next = 0;
	if (!lives)
		return;
	copy->ring_count = source->files.ring_count; /* a thread may have made one since */
	copy->releasing = 0;
	memset(copy->pending, 0, sizeof(copy->pending)); /* it will still come */
	for (uint32_t i = 0; i < SPOOL_STREAMS_MAX; i++)
		copy->streams[i].open_unkept = 0;
}

bool recorder_export(struct source *source, int dir_fd, uint32_t segments,
		     const uint64_t *published)
{
	static const uint64_t nothing[SPOOL_STREAMS_MAX];
	const uint64_t dict_bytes = spool_files_read_dict(&source->files);
	const struct part dict = {source->files.dict, dict_bytes};
	struct spool_control *copy = malloc(sizeof(*copy));
	const struct part control = {copy, sizeof(*copy)};
	const uint64_t *before = source->before; /* in the first ring: only sums are asked for */
	const bool lives = published;
	bool ok = copy && recorder_write_file(dir_fd, "dict", &dict, 1);

	for (uint32_t i = 0; ok && i < source->files.ring_count; i++) {
		if (!source->files.rings[i])
			continue;
		ok = export_ring(dir_fd, source->files.rings[i], i, published, before);
		published = lives ? nothing : NULL; /* the first has those of all */
		before = nothing;
	}
	if (ok) {
		*copy = *source->control;
		copy->segment_count = segments;
		finish_control(copy, source, lives);
		ok = recorder_write_file(dir_fd, "control", &control, 1);
	}
	free(copy);
	return ok;
}

void recorder_end_gone(struct recorder *recorder, struct host *host, bool all)
{
	for (uint32_t i = 0; i < host->source_count; i++) {
		struct source *source = host->sources[i];
		bool stays; /* it is left, after its last pass */
		int dir_fd;

		if (source->closed || (!all && !source_is_gone(source)))
			continue;
		stays = host->attached && !source->gone;
		while (!stays && save_source(recorder, source, true))
			;
		while (!stays && source_is_gone(source) && source_seal(source, false))
			save_source(recorder, source, true);
		if (recorder_failure(recorder))
			continue;
		dir_fd = recorder_open_folder(recorder, source);
		if (dir_fd >= 0 &&
		    recorder_export(source, dir_fd, source->segments, stays ? source->saved : NULL))
			source_close(source, !stays);
		else
			failed(recorder);
		fd_close(dir_fd);
	}
}

uint32_t recorder_kept_ms(const struct recorder *recorder)
{
	const uint64_t kept =
		recorder->dropped_ns ? recorder->newest_ns - recorder->dropped_ns : UINT64_MAX;

	if (kept >= recorder->last_ns)
		return 0;
	return kept < 1000000 ? 1 : (uint32_t)(kept / 1000000);
}
