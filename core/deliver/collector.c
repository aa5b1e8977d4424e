/* SPDX-License-Identifier: MIT */
/* <rtl/collector.h>: a host for the processes of a folder. */
#include <rtl/collector.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "files.h"
#include "folder.h"
#include "futex.h"
#include "guard.h"
#include "hash.h"
#include "host.h"
#include "log.h"
#include "plugin_impl.h"
#include "recorder.h"
#include "spool_writer.h"

/* How often it is asked whether processes live. */
#define PROBE_NS 100000000u

/* So many spools are opened before those that have ended are let go of. */
#define AT_ONCE 64u
/* Passes over what is left at the end: a process may go on and on. */
#define LAST_PASSES 1000
/* Longest sleep where nobody can ring. */
#define CUT_OFF_MS 10u
/* Before the last passes of one that was attached, whose process goes on. */
#define LEAVE_NS 50000000

/* A spool that has been seen. */
struct spool_state {
	bool bad;     /* could not be opened: tried again until the end */
	bool refused; /* nor at the end: its files stay */
};

struct rtl_collector {
	uint32_t kind;
	struct host *host;
	struct recorder *recorder; /* RTL_RECORD* only */
	char *recording;           /* its folder */
	char *folder;
	struct session_page *page; /* if the folder is ours */
	int lock_fd;
	struct table spools; /* struct spool_state by the hash of their paths */
	uint32_t opened;     /* since those that have ended were let go of */
	uint64_t probed_ns;
	struct periods periods;
	uint64_t start_ns; /* theirs */
	uint32_t woken;    /* the next sleep is to end at once */
	bool finishing;    /* what cannot be opened now never will be */
	bool unread;       /* after finish: some spool could not be read */
	bool vanished;     /* the folder; it has been said */
	bool cut_off;      /* the page; likewise */
	void (*progress)(void *user, uint64_t left_bytes);
	void *progress_user;
	bool attached;       /* the page is ours for now */
	bool is_fed;         /* the folder is a file, or what else a source plugin reads */
	uint32_t snapshots;  /* that others have asked for */
	uint32_t latecomers; /* after finish: processes that were not met */
};

/* ---- the folder */

/* A sign of life, for those who find us dead. */
static void note_seen(struct rtl_collector *c)
{
	struct timespec day;

	if (!c->page)
		return;
	clock_gettime(CLOCK_REALTIME, &day);
	__atomic_store_n(&c->page->seen_realtime_ns,
			 (uint64_t)day.tv_sec * 1000000000u + (uint64_t)day.tv_nsec,
			 __ATOMIC_RELAXED);
	/* relaxed: read when we are dead */
	__atomic_store_n(&c->page->seen_ns, clock_ns(), __ATOMIC_RELAXED);
}

static int use_page(struct rtl_collector *c, bool paused)
{
	/* or a child would hold the lock after our death */
	madvise(c->page, sizeof(*c->page), MADV_DONTFORK);
	if (!guard_add(c->page, sizeof(*c->page))) {
		errno = ENOMEM; /* destroy unmaps it */
		return -1;
	}
	c->page->pid = getpid();
	c->page->paused = paused;
	note_seen(c);
	return 0;
}

static int make_page(struct rtl_collector *c, bool paused)
{
	c->lock_fd = session_make_page(c->folder, &c->page);
	if (c->lock_fd < 0 || use_page(c, paused))
		return -1;
	/* from here on it counts as alive, and the page is for others to write to as well */
	return flock(c->lock_fd, LOCK_EX | LOCK_NB);
}

/* The folder of an attachable process. Others hold the lock for a moment, to look at who is there. */
static int take_page(struct rtl_collector *c, const struct rtl_collector_options *o,
		     const struct message *message)
{
	const struct timespec nap = {.tv_nsec = 10000000};
	int err, tries = 50;
	struct stat st;

	c->folder = strdup(o->folder ? o->folder : "");
	c->lock_fd = c->folder ? session_open_page(c->folder) : -1;
	if (c->lock_fd < 0 || fstat(c->lock_fd, &st))
		return message_fail(message, RTL_ENOENT, "%s: %s", o->folder, strerror(errno));
	if (st.st_uid != geteuid())
		return message_fail(message, RTL_EIO, "%s belongs to user %u", c->folder,
				    (unsigned)st.st_uid);
	err = session_map(c->folder, &c->page);
	if (err)
		return message_fail(message, err, "%s: %s", c->folder, rtl_error_text(err));
	while (flock(c->lock_fd, LOCK_EX | LOCK_NB))
		if (!tries-- || nanosleep(&nap, NULL))
			return message_fail(message, RTL_EBUSY,
					    "process %d is already attached to it", c->page->pid);
	c->attached = true;
	return use_page(c, false) ? message_fail(message, RTL_ENOMEM, "out of memory") : 0;
}

/* The process sleeps again: of streams that it registers from now on nothing is wanted. */
static void leave_page(struct rtl_collector *c)
{
	if (c->attached)
		__atomic_store_n(&c->page->paused, 1, __ATOMIC_RELAXED);
}

static int make_folder(struct rtl_collector *c, const struct rtl_collector_options *o,
		       const struct message *message)
{
	const char *base = o->folder, *made;
	int err;

	if (!base || !*base)
		base = spool_default_folder();
	if (asprintf(&c->folder, "%s/" RTL_COLLECTOR_PREFIX "%d-XXXXXX", base, (int)getpid()) < 0) {
		c->folder = NULL;
		return message_fail(message, RTL_ENOMEM, "out of memory");
	}
	made = mkdtemp(c->folder);
	if (made && !make_page(c, o->paused))
		return 0;
	err = errno;
	if (!made)
		*c->folder = '\0'; /* nothing is there to be removed */
	return message_fail(
		message, err == ENOSPC ? RTL_ENOSPC : RTL_EIO,
		made ? "cannot write to %s: %s; name another folder with RTL_SPOOL"
		     : "cannot make a folder for the spools in %s: %s; name another one "
		       "with RTL_SPOOL",
		base, strerror(err));
}

static int take_folder(struct rtl_collector *c, const char *folder, const char *input,
		       const struct message *message)
{
	struct stat st;
	DIR *dir;

	if (!folder || stat(folder, &st))
		return message_fail(message, RTL_ENOENT, "%s: %s", folder ? folder : "(no folder)",
				    folder ? strerror(errno) : "name one");
	c->is_fed = c->kind == RTL_REPLAY && (input || !S_ISDIR(st.st_mode));
	if (!c->is_fed && !S_ISDIR(st.st_mode))
		return message_fail(message, RTL_EFORMAT,
				    "%s is not a folder: give the folder of a recording", folder);
	c->folder = strdup(folder);
	if (!c->folder)
		return message_fail(message, RTL_ENOMEM, "out of memory");
	if (c->is_fed)
		return 0;
	dir = opendir(folder);
	if (!dir)
		return message_fail(message, RTL_EIO, "%s cannot be read: %s", folder,
				    strerror(errno));
	closedir(dir);
	return 0;
}

/* Somebody has cut the page off; what is missing of it reads as zeros here (guard.h). */
static bool is_cut_off(struct rtl_collector *c)
{
	if (!c->page || !guard_was_hit(c->page))
		return false;
	if (!c->cut_off)
		log_line(RTL_LEVEL_ERROR, "spool",
			 "%s/" SESSION_FILE " was cut off: recording goes on, but `rtl start` and "
			 "`rtl stop` no longer reach it",
			 c->folder);
	c->cut_off = true;
	return true;
}

/* Does what the page says about pausing. */
static void follow_pause(struct rtl_collector *c)
{
	const bool paused = c->page && __atomic_load_n(&c->page->paused, __ATOMIC_RELAXED);

	if (!is_cut_off(c))
		host_set_paused(c->host, paused);
}

/* Whether the folder is of our own making. */
static bool owns_folder(const struct rtl_collector *c)
{
	return c->kind == RTL_COLLECT || c->kind == RTL_RECORD || c->kind == RTL_ATTACH;
}

/* Has the processes record, or not, as the periods say; returns when that changes next. */
static uint64_t follow_periods(struct rtl_collector *c)
{
	uint64_t change_ns;

	if (!owns_folder(c))
		return UINT64_MAX;
	change_ns = host_follow_periods(c->host, &c->periods, c->start_ns);
	/* relaxed: processes that begin read it; those that are there are told */
	__atomic_store_n(&c->page->outside, c->host->outside, __ATOMIC_RELAXED);
	return change_ns;
}

/* A sleep of so many ms ends soon behind that time. */
static uint32_t until(uint64_t change_ns, uint32_t timeout_ms)
{
	const uint64_t now = clock_ns();
	const uint64_t left_ms = change_ns > now ? (change_ns - now) / 1000000 + 1 : 1;

	return left_ms < timeout_ms ? (uint32_t)left_ms : timeout_ms;
}

static bool is_record(const struct rtl_collector_options *o)
{
	return o->kind == RTL_RECORD || o->kind == RTL_RECORD_RECOVER ||
	       (o->kind == RTL_ATTACH && o->last_ns);
}

/* Whether nothing in the folder is to change. */
static bool only_reads(const struct rtl_collector *c)
{
	return c->kind == RTL_REPLAY || c->kind == RTL_INSPECT;
}

static bool recovers(const struct rtl_collector *c)
{
	return c->kind == RTL_RECOVER || c->kind == RTL_RECORD_RECOVER;
}

/* What is to be recovered, or looked at before, is so because its collector died: when that was. */
static void note_death(struct rtl_collector *c)
{
	bool dead = recovers(c) || (c->kind == RTL_INSPECT && !session_folder_is_alive(c->folder));
	struct session_page *page;

	if (!dead || session_map(c->folder, &page))
		return;
	if (!__atomic_load_n(&page->ended, __ATOMIC_ACQUIRE)) {
		c->host->died_ns = __atomic_load_n(&page->seen_ns, __ATOMIC_RELAXED);
		c->host->died_realtime_ns =
			__atomic_load_n(&page->seen_realtime_ns, __ATOMIC_RELAXED);
	}
	munmap(page, sizeof(*page));
}

/* A recovery must be the only one that delivers what is there. */
static int claim_folder(struct rtl_collector *c, const struct message *message)
{
	struct rtl_folder found = {.struct_size = sizeof(found)};

	if (owns_folder(c) || only_reads(c))
		return 0;
	if (!rtl_folder_look(c->folder, &found) && found.in_use)
		return message_fail(message, RTL_EBUSY,
				    "%s: process %d still works on it and will complete its output",
				    c->folder, found.pid);
	c->lock_fd = open(c->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->lock_fd < 0 || !flock(c->lock_fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
		return 0; /* without a lock where there are none */
	return message_fail(message, RTL_EBUSY, "%s: another process is recovering it", c->folder);
}

/* Processes find out of their folder what is wanted of the streams that are expected. */
static void offer_streams(struct rtl_collector *c, const struct rtl_collector_options *o)
{
	for (size_t i = 0; i < o->stream_count; i++)
		host_offer_stream(c->host, o->streams[i]);
	if (c->page) /* ends with a NUL */
		host_write_wants(c->host, c->page->wants, sizeof(c->page->wants) - 1);
}

static int start_recorder(struct rtl_collector *c, const struct rtl_collector_options *o,
			  const struct message *message)
{
	int err = RTL_ENOMEM;

	if (o->output)
		c->recording = strdup(o->output);
	else if (asprintf(&c->recording, "%s-last", c->folder) < 0)
		c->recording = NULL;
	if (c->recording)
		err = recorder_create(c->recording, o->limit_bytes, o->last_ns, &c->recorder);
	if (err)
		return message_fail(message, err, "cannot write a recording to %s: %s",
				    c->recording ? c->recording : "memory", strerror(errno));
	c->host = host_create_recording(o->keep_repeated);
	if (!c->host)
		return message_fail(message, RTL_ENOMEM, "out of memory");
	c->host->attached = c->attached;
	offer_streams(c, o);
	return 0;
}

static int start_subscribers(struct rtl_collector *c, const struct rtl_collector_options *o,
			     const struct message *message)
{
	static const char *const where[] = {
		[RTL_COLLECT] = "collector", [RTL_REPLAY] = "replay",    [RTL_RECOVER] = "recover",
		[RTL_INSPECT] = "inspect",   [RTL_ATTACH] = "collector",
	};
	uint32_t failed = 0;

	c->host = host_create(o->own, o->subscribers, where[c->kind], &failed);
	if (!c->host || failed)
		return message_fail(message, RTL_EPLUGIN, "a subscriber could not be started");
	c->host->counting = c->kind == RTL_INSPECT;
	c->host->attached = c->attached;
	offer_streams(c, o);
	return 0;
}

static bool makes_sense(const struct rtl_collector_options *o)
{
	if (is_record(o))
		return (o->output || (o->kind != RTL_RECORD_RECOVER && o->last_ns)) &&
		       (!o->last_ns || o->limit_bytes) && !o->subscribers && !o->own;
	return o->kind <= RTL_ATTACH && o->subscribers;
}

int rtl_collector_create(const struct rtl_collector_options *options, struct rtl_collector **out,
			 char *message, size_t size)
{
	const struct message line = {message, size};
	struct rtl_collector_options o = {0};
	struct rtl_collector *c;
	int err;

	if (options) /* one of an older program is shorter */
		memcpy(&o, options,
		       options->struct_size < sizeof(o) ? options->struct_size : sizeof(o));
	if (!options || !out || !makes_sense(&o))
		return message_fail(&line, RTL_EINVAL, "a collector needs options");
	c = calloc(1, sizeof(*c));
	if (!c)
		return message_fail(&line, RTL_ENOMEM, "out of memory");
	c->kind = o.kind;
	c->progress = o.progress;
	c->progress_user = o.progress_user;
	c->periods = (struct periods){o.delay_ns, o.duration_ns, o.repeat};
	c->start_ns = clock_ns();
	c->lock_fd = -1;
	guard_start();
	log_init();
	err = c->kind == RTL_ATTACH ? take_page(c, &o, &line)
	      : owns_folder(c)      ? make_folder(c, &o, &line)
				    : take_folder(c, o.folder, o.input, &line);
	if (!err)
		err = claim_folder(c, &line);
	if (!err)
		err = is_record(&o) ? start_recorder(c, &o, &line)
				    : start_subscribers(c, &o, &line);
	if (!err && c->is_fed)
		err = host_add_feed(c->host, o.input, c->folder, message, size);
	for (size_t i = 0; !err && c->is_fed && i < o.more_count; i++)
		err = host_add_feed(c->host, o.input, o.more[i], message, size);
	if (err)
		goto fail;
	note_death(c);
	follow_pause(c);
	(void)follow_periods(c);
	*out = c;
	return 0;
fail:
	if (c->host)
		host_finish(c->host);
	leave_page(c);
	if (owns_folder(c) && c->kind != RTL_ATTACH && c->folder)
		spool_remove_folder(c->folder);
	rtl_collector_destroy(c);
	return err;
}

const char *rtl_collector_failure(const struct rtl_collector *c)
{
	const bool keeps = c->host->finished && host_keeps(c->host);

	if ((only_reads(c) || c->attached) &&
	    (keeps || (c->host->finished && host_has_failed(c->host))))
		return "a subscriber has not stored everything: the output is not complete";
	if (c->unread && c->kind == RTL_REPLAY)
		return "not all that was recorded could be read: the output is not complete";
	if (keeps)
		return "a subscriber has failed: what it has not stored is kept for another "
		       "recovery";
	return c->recorder ? recorder_failure(c->recorder) : NULL;
}

const char *rtl_collector_interruption(const struct rtl_collector *c)
{
	return c->host->finished ? host_interruption(c->host) : NULL;
}

const char *rtl_collector_recording(const struct rtl_collector *c)
{
	return c->recording;
}

const char *rtl_collector_folder(const struct rtl_collector *c)
{
	return c->folder;
}

/* ---- processes */

static uint64_t key_of(const char *path)
{
	return hash_finish(hash_bytes(0, path, strlen(path)));
}

static struct spool_state *find_or_add_spool(struct rtl_collector *c, const char *path)
{
	struct spool_state *spool = table_find(&c->spools, key_of(path));

	if (spool || !(spool = calloc(1, sizeof(*spool))))
		return spool;
	spool->bad = true;
	if (!table_insert(&c->spools, key_of(path), spool))
		return spool;
	free(spool);
	return NULL;
}

/* No link to one. */
static bool is_folder(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

/* Opens a spool that has not been opened yet. */
static void meet(struct rtl_collector *c, const char *path, int flags)
{
	struct spool_state *spool = find_or_add_spool(c, path);
	const char *why = "";
	int err;

	if (!spool || !spool->bad)
		return;
	if (!folder_has(path, "control", flags)) {
		if (c->finishing && c->kind == RTL_REPLAY && is_folder(path) &&
		    !folder_holds_no_events(path)) {
			c->unread = true;
			log_line(RTL_LEVEL_ERROR, "spool",
				 "%s has no control page: what was recorded there cannot be read",
				 path);
		}
		return;
	}
	err = host_add_spool(c->host, path,
			     c->attached      ? SPOOL_ATTACH
			     : owns_folder(c) ? SPOOL_COLLECT
			     : only_reads(c)  ? SPOOL_READ
					      : SPOOL_RECOVER,
			     &why);
	spool->bad = err != 0;
	c->opened += !err;
	spool->refused = err && c->finishing;
	c->unread |= spool->refused;
	if (spool->refused)
		log_line(RTL_LEVEL_ERROR, "spool", "%s cannot be read (%s): %s", path,
			 rtl_error_text(err), *why ? why : "its events stay there");
}

static void end_gone(struct rtl_collector *c, bool all, bool all_of_host)
{
	if (c->recorder)
		recorder_end_gone(c->recorder, c->host, all);
	else
		host_end_gone(c->host, all_of_host, !only_reads(c));
}

static void probe(struct rtl_collector *c)
{
	uint64_t now = clock_ns();

	if (now - c->probed_ns < PROBE_NS)
		return;
	c->probed_ns = now;
	end_gone(c, false, false);
}

/* Takes what the processes have published; `all`: to the last record. */
static bool drain(struct rtl_collector *c, bool all)
{
	bool something;

	if (c->recorder)
		return recorder_pass(c->recorder, c->host, all);
	something = host_pass(c->host);
	host_flush(c->host, all && !something);
	return something;
}

/* Lets go of ended processes: a folder may hold more spools than we may have files. */
static void let_go(struct rtl_collector *c)
{
	c->opened = 0;
	c->host->last = true;
	drain(c, false);
	end_gone(c, false, true);
	c->host->last = false;
}

static void meet_in_folder(void *user, const char *path)
{
	struct rtl_collector *c = user;

	meet(c, path, O_NOFOLLOW);
	if (c->opened >= AT_ONCE)
		let_go(c);
}

static void scan(struct rtl_collector *c)
{
	if (c->is_fed)
		return;
	if (!owns_folder(c) && folder_has(c->folder, "control", 0)) {
		meet(c, c->folder, 0);
	} else if (folder_each_spool(c->folder, meet_in_folder, c) == ENOENT && !c->vanished) {
		c->vanished = true; /* somebody has removed it: what is mapped goes on */
		log_line(RTL_LEVEL_ERROR, "spool",
			 "%s was removed: threads and processes that begin from now on are not "
			 "recorded",
			 c->folder);
	}
}

static void serve_snapshots(struct rtl_collector *c)
{
	if (c->page && !is_cut_off(c))
		snapshot_serve(c->page, &c->snapshots, c->folder, c->recorder, c->host);
}

uint32_t rtl_collector_kept_ms(const struct rtl_collector *c)
{
	return c->recorder ? recorder_kept_ms(c->recorder) : 0;
}

uint32_t rtl_collector_poll(struct rtl_collector *c, uint32_t timeout_ms)
{
	uint64_t change_ns;
	bool something;

	follow_pause(c);
	change_ns = follow_periods(c);
	if (is_cut_off(c) && timeout_ms > CUT_OFF_MS)
		timeout_ms = CUT_OFF_MS;
	scan(c);
	note_seen(c); /* after the begin of whom it has found */
	serve_snapshots(c);
	something = drain(c, false);
	probe(c);
	host_tidy(c->host, false);
	if (!something && c->page && timeout_ms) {
		/* seq_cst: pairs with bus_ring_bell and rtl_collector_wake */
		__atomic_store_n(&c->page->asleep, 1, __ATOMIC_SEQ_CST);
		scan(c);
		if (!drain(c, false) && !__atomic_exchange_n(&c->woken, 0, __ATOMIC_SEQ_CST))
			futex_wait(&c->page->asleep, 1, until(change_ns, timeout_ms));
		__atomic_store_n(&c->page->asleep, 0, __ATOMIC_RELAXED);
	}
	return c->host->source_count;
}

uint32_t rtl_collector_grown(const struct rtl_collector *c)
{
	return c->host->grown;
}

void rtl_collector_wake(struct rtl_collector *c)
{
	/* seq_cst: either the poll sees it before it sleeps, or we see that it sleeps */
	__atomic_store_n(&c->woken, 1, __ATOMIC_SEQ_CST);
	if (c->page)
		session_ring(c->page);
}

/* What is left of a spool whose removal was cut off; a dead collector's folder gets no new ones. */
static void remove_leftover(void *unused, const char *path)
{
	if (!folder_has(path, "control", O_NOFOLLOW))
		spool_remove_folder(path);
}

/* The spool of a process that has begun since the last look: it is not recorded. */
static void remove_latecomer(void *user, const char *path)
{
	struct rtl_collector *c = user;
	const struct spool_state *spool = table_find(&c->spools, key_of(path));

	/* what is left of one that was opened, or could not be, is left on purpose */
	if (spool && (!spool->bad || spool->refused))
		return;
	c->latecomers++;
	spool_remove_folder(path);
}

/* `all`: nothing waits any more. */
static void tell_progress(struct rtl_collector *c, bool all)
{
	if (c->progress)
		c->progress(c->progress_user, all ? 0 : host_backlog(c->host));
}

void rtl_collector_finish(struct rtl_collector *c, uint32_t *left)
{
	int passes = LAST_PASSES;

	note_seen(c);
	c->host->last = true;
	c->finishing = true;
	scan(c);
	*left = host_living_count(c->host); /* all that from here on do what is not recorded */
	leave_page(c);
	host_stop_publishing(c->host);
	if (c->attached) /* a thread in the middle of an event, perhaps off its processor, ends it */
		nanosleep(&(struct timespec){.tv_nsec = LEAVE_NS}, NULL);
	serve_snapshots(c);
	tell_progress(c, false);
	while (host_note_published(c->host), passes && drain(c, true)) {
		note_seen(c);
		tell_progress(c, false);
		passes -= c->recorder || !c->host->interrupted;
	}
	if (c->attached) {
		host_stop_publishing(c->host); /* also on streams that were met since */
		host_tidy(c->host, true);
	}
	c->unread |= c->host->lacks | host_feeds_failed(c->host);
	c->host->lacks = c->unread;
	if (recovers(c))
		host_cut_off(c->host);
	end_gone(c, true, true);
	tell_progress(c, true);
	host_finish(c->host);
	if (!only_reads(c) && !c->attached && !rtl_collector_failure(c))
		host_remove_left(c->host);
	if (recovers(c) && folder_has(c->folder, SESSION_FILE, 0))
		folder_each_spool(c->folder, remove_leftover, NULL);
	if (c->page)
		snapshot_remove_unread(c->snapshots, c->folder);
	if (c->attached) {
		if (!*left)
			spool_remove_folder(c->folder);
	} else if (owns_folder(c) ? !rtl_collector_failure(c)
				  : !only_reads(c) && folder_is_done(c->folder, false)) {
		/* a process that makes a spool from now on finds that, and removes it */
		session_end(c->folder);
		folder_each_spool(c->folder, remove_latecomer, c);
		spool_remove_folder(c->folder);
	}
	*left += c->latecomers;
}

int rtl_collector_set_paused(const char *folder, bool paused, char *message, size_t size)
{
	const struct message line = {message, size};
	struct session_page *page;
	int err = session_map(folder, &page);

	if (err)
		return message_fail(&line, err, "%s is not the folder of a running rtl: %s", folder,
				    rtl_error_text(err));
	if (session_folder_is_alive(folder)) {
		__atomic_store_n(&page->paused, paused, __ATOMIC_RELAXED);
		session_ring(page);
	} else {
		err = message_fail(
			&line, RTL_ENOTSUP,
			"the collector of %s is dead; `rtl recover %s` completes its output",
			folder, folder);
	}
	munmap(page, sizeof(*page));
	return err;
}

static void free_spool(void *unused, void *spool)
{
	free(spool);
}

void rtl_collector_destroy(struct rtl_collector *c)
{
	if (!c)
		return;
	table_each(&c->spools, free_spool, NULL);
	table_fini(&c->spools);
	if (c->host)
		host_destroy(c->host);
	recorder_destroy(c->recorder);
	if (c->page) {
		guard_remove(c->page);
		munmap(c->page, sizeof(*c->page));
	}
	fd_close(c->lock_fd);
	guard_stop();
	free(c->recording);
	free(c->folder);
	free(c);
}
