/* SPDX-License-Identifier: MIT */
/** @file collector.h
 * For commands: hosting subscribers outside of the traced program, as `rtl trace`, `rtl replay` and `rtl recover` do.
 *
 * A collector owns a folder. Processes that find it in RTL_COLLECTOR put their spools there; the collector drains them
 * while they run, whatever happens to them. One thread at a time calls functions of a collector. */
#ifndef RTL_COLLECTOR_H
#define RTL_COLLECTOR_H

#include <rtl/subscriber.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rtl_collector;

/** What a collector is for. */
enum rtl_collector_kind {
	/** Makes a folder of its own, and drains processes that are started with its name. */
	RTL_COLLECT = 0,
	/** Reads the spools in a folder and changes nothing there. */
	RTL_REPLAY = 1,
	/** Delivers and removes what a dead collector, or a process that drained itself, had not delivered. */
	RTL_RECOVER = 2,
	/** As RTL_COLLECT, but writes what it drains to a recording, without subscribers. */
	RTL_RECORD = 3,
	/** Completes the recording of a dead recorder from its folder. */
	RTL_RECORD_RECOVER = 4,
	/** Only for ledgers: meets the processes, which may run, and delivers and changes nothing. What is still
	 *  undelivered counts as abandoned. */
	RTL_INSPECT = 5,
	/** Drains a process that sleeps with RTL_ATTACHABLE, from now until finish, when it sleeps again: `folder` is
	 *  that of the process. What happened before is not counted. */
	RTL_ATTACH = 6,
};

/** Bytes of a thread's first buffer, unless RTL_BUFFER_SIZE says otherwise. */
#define RTL_BUFFER_SIZE_DEFAULT (4u << 20)
/** What the buffers of a process may take on the smallest machine, unless RTL_BUFFER_TOTAL says otherwise. */
#define RTL_BUFFER_TOTAL_LEAST (256u << 20)

/** A file of that name in a collector's folder is its user's, and goes with the folder. */
#define RTL_COLLECTOR_NOTES "notes"
/** A file of that name in a folder that a killed process has left: the user has been told of it. */
#define RTL_COLLECTOR_TOLD "told"
/** Names of collectors' folders, and of folders of processes that can be attached to, begin so. */
#define RTL_COLLECTOR_PREFIX "rtl-"
#define RTL_SLEEPER_PREFIX   "rtlasleep-"

struct rtl_collector_options {
	uint32_t struct_size;
	uint32_t kind;           /**< enum rtl_collector_kind */
	const char *subscribers; /**< colon-separated, as RTL_SUBSCRIBERS; RTL_RECORD*: NULL */
	/** RTL_COLLECT and RTL_RECORD: where to make it; NULL: where there is room, memory first. Others: a
	 *  collector's folder, or one spool. */
	const char *folder;
	/** Streams that processes will register: what nobody subscribes to is not recorded from the first event on. */
	const struct rtl_stream_info *const *streams;
	size_t stream_count;
	uint32_t paused; /**< 1: begins paused, see rtl_collector_set_paused */
	/** RTL_RECORD: 1: also what other events repeat (rtl_type_info.repeated_by). */
	uint32_t keep_repeated;
	/** The command's own subscriber, without settings, besides the list, which may be empty then. NULL: none. */
	const struct rtl_subscriber *own;
	/** RTL_RECORD*: folder of the recording, made if it is not there. NULL, with last_ns: one beside the
	 *  collector's folder, which is the caller's to remove (rtl_collector_snapshot_remove). */
	const char *output;
	uint64_t limit_bytes; /**< RTL_RECORD: the oldest events go when it gets larger; 0: none */
	/** Called while rtl_collector_finish delivers what is left, with the bytes that still wait, and at last with 0
	 *  when only the outputs are to be completed. May be NULL. */
	void (*progress)(void *user, uint64_t left_bytes);
	void *progress_user;
	/** RTL_COLLECT, RTL_RECORD: the periods that are recorded; the rest counts as left out. Each begins with
	 *  `delay_ns` outside; after `duration_ns` inside the next one begins. duration_ns 0: one, without end. */
	uint64_t delay_ns, duration_ns;
	uint32_t repeat; /**< how many periods; 0: without end */
	uint32_t reserved;
	/** RTL_RECORD and RTL_ATTACH with a limit: a flight recorder. Older events may go, as left out, but not what
	 *  describes others. 0: none. */
	uint64_t last_ns;
	/** RTL_REPLAY: the source plugin that reads `folder`, which may be a file then. NULL: a folder is a recording,
	 *  a file is for the first source that reads it. */
	const char *input;
	/** RTL_REPLAY: further files of the same run that sources read. */
	const char *const *more;
	size_t more_count;
};

/** Makes a collector and loads its subscribers.
 * @param[out] message  on failure one line: what, where, what to do
 * @return 0; RTL_EPLUGIN: a subscriber could not be had (said in the log); RTL_ENOENT, RTL_EFORMAT:
 *         the folder; RTL_EBUSY: what is to be recovered is still at work, or being recovered, or
 *         somebody else is attached;
 *         RTL_EIO, RTL_ENOSPC, RTL_ENOMEM */
RTL_API int rtl_collector_create(const struct rtl_collector_options *options,
				 struct rtl_collector **out, char *message, size_t size);

/** The folder: the value of RTL_COLLECTOR for the processes; valid until destroy. */
RTL_API const char *rtl_collector_folder(const struct rtl_collector *collector);

/** RTL_RECORD*: the folder of the recording; else NULL. Valid until destroy. */
RTL_API const char *rtl_collector_recording(const struct rtl_collector *collector);

/** Looks for new processes and delivers what there is; else sleeps until something comes or the time is over.
 * @return how many processes have been met so far */
RTL_API uint32_t rtl_collector_poll(struct rtl_collector *collector, uint32_t timeout_ms);

/** How much of what the processes' buffers may grow by holds what was not delivered, in percent, as of a tenth of a
 * second ago; 100: they cannot grow. On the thread that polls. */
RTL_API uint32_t rtl_collector_grown(const struct rtl_collector *collector);

/** Ends a poll that sleeps, or else the sleep of the next one. Any thread, and signal handlers. */
RTL_API void rtl_collector_wake(struct rtl_collector *collector);

/** Delivers all that has been published up to now, tells processes that still run to stop publishing, and finishes the
 * subscribers. What was delivered is removed from the folder, unless this is a replay.
 * @param[out] left  how many processes still ran when that was told, or began meanwhile */
RTL_API void rtl_collector_finish(struct rtl_collector *collector, uint32_t *left);

/** Why a recorder records no more (a full disk, ...), or, after finish, why a recovery has not stored all and keeps
 * what is left, or why the output of a replay is not complete; as one line. NULL: all is well. Valid until destroy. */
RTL_API const char *rtl_collector_failure(const struct rtl_collector *collector);

/** After finish: when the collector of what was recovered or replayed had died, and that processes still ran when it
 * was recovered, as one line. NULL: nothing was cut off. Valid until destroy. */
RTL_API const char *rtl_collector_interruption(const struct rtl_collector *collector);

/** Pauses what the collector of a folder records, or has it go on: from another process than the collector, e.g. `rtl
 * stop`. The traced processes are told within some ms. What happens meanwhile is not published and not counted.
 * @param[out] message  on failure one line: what, where, what to do
 * @return 0; RTL_ENOENT: no collector's folder; RTL_EABI: of another version; RTL_EIO;
 *         RTL_ENOTSUP: its collector is dead */
RTL_API int rtl_collector_set_paused(const char *folder, bool paused, char *message, size_t size);

/** Has the flight recorder of a folder (last_ns) make a recording of what it keeps just now: from another process, e.g.
 * `rtl snapshot`. The recorder goes on. Waits until that is done.
 * @param[out] path  the recording's folder, in which nothing changes any more; to be removed by
 *                   rtl_collector_snapshot_remove
 * @param[out] kept_ms  how far it reaches back, where that is not as far as was asked for; else 0
 * @param[out] message  on failure one line: what, where, what to do
 * @return 0; errors as rtl_collector_set_paused's; RTL_ENOTSUP: it is no flight recorder, too;
 *         RTL_EBUSY: it does not answer */
RTL_API int rtl_collector_snapshot(const char *folder, char *path, size_t path_size,
				   uint32_t *kept_ms, char *message, size_t size);
RTL_API void rtl_collector_snapshot_remove(const char *path);

/** Of a flight recorder: how far back it can reach now, in ms, if less than was asked for; else 0. */
RTL_API uint32_t rtl_collector_kept_ms(const struct rtl_collector *collector);

/** Frees it; NULL is fine. Without finish, the folder stays for `rtl recover`, and subscribers do not `finish`. */
RTL_API void rtl_collector_destroy(struct rtl_collector *collector);

/** What a folder is. */
enum rtl_folder_kind {
	RTL_FOLDER_OTHER = 0,     /**< none of rtl's */
	RTL_FOLDER_COLLECTOR = 1, /**< a collector's: spools are in it */
	RTL_FOLDER_SPOOL = 2,     /**< a process's */
	/** What is left of either if its maker was killed before the first event, or while removing it. */
	RTL_FOLDER_DEBRIS = 3,
};

struct rtl_folder {
	uint32_t struct_size;
	uint32_t kind;   /**< enum rtl_folder_kind */
	uint32_t in_use; /**< 1: the collector, or the process, lives */
	int32_t pid;     /**< of the collector, or the process */
	/** Of a process, if struct_size has room: its program's name without folders, cut to fit; "": not known. */
	char program[64];
	/** Of a collector, if struct_size has room: 1: it is paused; how many processes could make no spool. */
	uint32_t paused, refused;
};

/** Looks at a folder; changes nothing there.
 * @param[in,out] folder  struct_size set by the caller
 * @return 0, also if it is none of rtl's; RTL_EINVAL; RTL_ENOENT: there is no such folder;
 *         RTL_EFORMAT: of another version, or damaged; RTL_EIO; RTL_ENOMEM */
RTL_API int rtl_folder_look(const char *path, struct rtl_folder *folder);

#ifdef __cplusplus
}
#endif
#endif
