/* SPDX-License-Identifier: MIT */
/* look.c: see timeline.h. A timeline is known by its first bytes, which have the session in them. */
#include "timeline.h"

#include <stdio.h>
#include <zlib.h>

#include "output_writer.h"

/* The first bytes of what is in it. */
static size_t read_begin(const char *path, enum timeline_format format, char *begin, size_t size)
{
	unsigned char packed[1024];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	z_stream inflater = {0};
	ssize_t n = fd >= 0 ? read(fd, packed, sizeof(packed)) : -1;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	if (format != TIMELINE_JSON_GZ) {
		size = (size_t)n < size ? (size_t)n : size;
		memcpy(begin, packed, size);
		return size;
	}
	if (inflateInit2(&inflater, 15 + 16) != Z_OK)
		return 0;
	inflater.next_in = packed;
	inflater.avail_in = (unsigned)n;
	inflater.next_out = (unsigned char *)begin;
	inflater.avail_out = (unsigned)size;
	inflate(&inflater, Z_SYNC_FLUSH);
	size -= inflater.avail_out;
	inflateEnd(&inflater);
	return size;
}

/* Whether it is a timeline, and which session's. */
static bool is_timeline(const char *path, enum timeline_format format, const char *session,
			bool *same)
{
	char begin[512], mark[TIMELINE_MARK_SIZE];
	const size_t length = read_begin(path, format, begin, sizeof(begin));
	size_t n = timeline_mark(format, NULL, mark);

	if (length < n || memcmp(begin, mark, n) != 0)
		return false;
	n = timeline_mark(format, session && *session ? session : "?", mark);
	*same = session && *session && length >= n && memcmp(begin, mark, n) == 0;
	return true;
}

enum look timeline_look(const char *path, enum timeline_format format, const char *session,
			struct state *state)
{
	struct stat st;
	bool same = false;

	if (lstat(path, &st) != 0)
		return errno == ENOENT || errno == ENAMETOOLONG ? LOOK_NOTHING : LOOK_FOREIGN;
	if (!S_ISREG(st.st_mode))
		return LOOK_FOREIGN;
	if (state && state_read(state)) {
		if (output_writer_lives(state->writer))
			return session && *session && strcmp(session, state->session) == 0
				       ? LOOK_SESSION
				       : LOOK_LIVE;
		return st.st_size == 0 || is_timeline(path, format, session, &same)
			       ? LOOK_UNFINISHED
			       : LOOK_FOREIGN;
	}
	if (st.st_size == 0)
		return LOOK_OLD;
	if (!is_timeline(path, format, session, &same))
		return LOOK_FOREIGN;
	return same ? LOOK_SESSION : LOOK_OLD;
}
