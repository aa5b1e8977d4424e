/* SPDX-License-Identifier: MIT */
/** @file subscriber.h
 * For authors of subscribers: plugins that receive events.
 *
 * A subscriber is a shared object that exports one symbol, `rtl_subscriber`. It needs no library
 * of rtl to link to: all that it calls comes in a table (struct rtl_host). The same binary runs
 * in the traced process, in a collector outside of it, and over a recording.
 *
 * Life of an instance, all calls from one thread at a time:
 *
 *     create -> (stream | process_begin | events ... flush | process_end)* -> finish -> destroy
 *
 * - `stream` tells of each stream, before any of its events; subscribe to its types there.
 * - buffered callbacks get events in batches. If publishing A had ended before publishing B
 *   began, A is delivered before B, whatever threads they came from.
 * - `flush` follows batches, at least every 100 ms while events come: a good moment to commit.
 * - `finish` comes once, after the last event. Outputs are complete when it returns. If a host gives
 *   up, `destroy` comes without it: what was flushed stays, the rest is for another host.
 *
 * Callbacks that asked for RTL_INLINE run on the publishing thread instead, possibly several at
 * once, and only in the traced process. If the program publishes from a signal handler, they run in
 * it: such a callback calls only what is async-signal-safe, unless it knows better.
 *
 * A function that returns a negative value, or host->fail, ends the instance: it gets no more events and, after a line
 * that says why, is finished and destroyed with the others. */
#ifndef RTL_SUBSCRIBER_H
#define RTL_SUBSCRIBER_H

#include <string.h>

#include <rtl/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the plugin ABI: high half must match, low half may be older in the plugin. */
#define RTL_ABI_VERSION 0x00020000u

/** A process that events come from. */
struct rtl_process {
	uint32_t struct_size;
	uint32_t number; /**< small, unique within the host: tells reused pids apart */
	int32_t pid;
	int32_t parent_pid;
	uint64_t start_ns;   /**< when the bus started there, clock of time_ns */
	const char *program; /**< path of the executable */
	const char *command; /**< command line, arguments separated by blanks */
	const char *host_name;
	uint64_t spool_id; /**< random: the same run of the same process in every host; never 0 */
	int32_t rank; /**< that a launcher (Open MPI, PMI, Slurm, torchrun) gave it; -1: none */
	uint32_t reserved;
	/** What the processes of its run have in common, wherever and whenever they are looked at: the job's id by its
	 * launcher (Slurm, PBS, LSF, PMIx...), else the session of its `rtl trace` or `rtl record`. "": not known. */
	const char *run;
};

/** How well the times of a process's events are known. */
struct rtl_calibration {
	uint32_t struct_size;
	uint32_t pairs;     /**< readings of both clocks so far */
	uint64_t error_ns;  /**< largest uncertainty of such a reading */
	double ns_per_tick; /**< 1 where the process's clock counts ns itself */
	uint64_t first_ns;  /**< time_ns of the first and the last reading */
	uint64_t last_ns;
};

/** How threads of a process have waited for room in their buffers. */
struct rtl_waits {
	uint32_t struct_size;
	uint32_t reserved;
	uint64_t count;    /**< how often one began to */
	uint64_t total_ns; /**< how long they have, all threads together */
};

/** An event, as subscribers see it. Valid during the callback only, and unchanged that long.
 *
 * Wherever it comes from, even from a damaged spool: stream, type_info and process are set, and the payload holds all
 * fields that type_info describes. Each RTL_KIND_TEXT, RTL_KIND_ARGS (with its texts) and RTL_KIND_VALUES lies in it;
 * <rtl/args.h> looks where the texts of the last lie. An event that is not so is never delivered, and counts as
 * abandoned. The values themselves are the publisher's: a text may hold any bytes, an RTL_KIND_BOOL any value, ids may
 * name nothing, times may be nonsense. */
struct rtl_event {
	uint32_t struct_size;
	uint16_t type; /**< enum rtl_type */
	uint16_t reserved;
	const struct rtl_stream_info *stream; /**< the pointer identifies the stream in a host */
	const struct rtl_type_info *type_info;
	const struct rtl_process *process;
	uint32_t tid;          /**< kernel's id of the publishing thread */
	uint32_t payload_size; /**< bytes, as published; at least type_info->payload_size */
	uint64_t time_ns;      /**< HSA system clock (CLOCK_BOOTTIME), ns */
	uint64_t uid;          /**< universal ids and numbers as in struct rtl_record */
	uint64_t parent_uid;
	uint64_t instance;
	uint64_t correlation;
	const void *payload; /**< aligned to 8 */
	/** Where it stands in its process's buffers: the pair is the same whenever and wherever the event is delivered
	 * again, and within a ring positions grow. 0 and 0 of an inline callback. */
	uint64_t position;
	uint32_t ring;
	uint32_t reserved2;
};

/** One key and value of a tracepoint: see rtl_tracepoint_metadata. */
struct rtl_metadata {
	uint32_t struct_size;
	uint32_t kind; /**< enum rtl_kind of what `value` is the text of; 0: a text */
	const char *key;
	const char *value;
};

/** A tracepoint, as subscribers see it; valid until the instance is destroyed, except metadata,
 *  which is valid until the next call into the host. */
struct rtl_tracepoint {
	uint32_t struct_size;
	uint32_t line;
	uint32_t column;
	uint32_t metadata_count;
	uint64_t uid;
	const char *kind; /**< never NULL, as the other texts: "" if not known */
	const char *name;
	const char *source;
	const char *module; /**< file that holds the call site */
	uint64_t module_offset;
	uint64_t hash;
	const struct rtl_metadata *metadata; /**< metadata_count of them */
};

/** The n-th key and value of a tracepoint, from 0 (see the rule in types.h). */
static inline const struct rtl_metadata *rtl_tracepoint_metadata(const struct rtl_tracepoint *t,
								 uint32_t n)
{
	return (const struct rtl_metadata *)((const char *)t->metadata +
					     (size_t)n * t->metadata->struct_size);
}

/** The value of a key of a tracepoint; NULL: it has none, or t is NULL. */
static inline const char *rtl_tracepoint_value(const struct rtl_tracepoint *t, const char *key)
{
	for (uint32_t i = 0; t && i < t->metadata_count; i++)
		if (!strcmp(rtl_tracepoint_metadata(t, i)->key, key))
			return rtl_tracepoint_metadata(t, i)->value;
	return NULL;
}

/** A value and its name. An exception to the rule of types.h: it never grows. */
struct rtl_enumerator {
	int64_t value;
	const char *name;
};

/** One of the values of RTL_KIND_VALUES: see RTL_VALUES_KEY. */
struct rtl_value_info {
	uint32_t struct_size;
	uint16_t kind;     /**< enum rtl_kind, of what was passed */
	uint16_t size;     /**< bytes, as the following */
	uint16_t out_kind; /**< of what the call leaves where it points to; 0: not followed */
	uint16_t out_size;
	uint32_t offset; /**< from the beginning of the values */
	const char *name;
	/** The names of integers, by value, ascending; of what the call leaves, where it does. */
	const struct rtl_enumerator *enumerators;
	uint32_t enumerator_count;
	uint32_t reserved; /**< 0 */
};

/** The values of a tracepoint's events. */
struct rtl_values_info {
	uint32_t struct_size;
	uint32_t count;                      /**< at most 32 */
	uint32_t has_states;                 /**< 1: they begin with enum rtl_value_state */
	uint32_t reserved;                   /**< 0 */
	const struct rtl_value_info *values; /**< see rtl_values_info_one */
};

/** How events are delivered. */
enum rtl_delivery {
	RTL_BUFFERED = 0, /**< from the host's thread, in batches */
	RTL_INLINE = 1,   /**< on the publishing thread, before rtl_commit returns; count is 1 */
};

/** Receives events. `events` is an array of `count` pointers. Inline callbacks must be quick, must not wait for another
 * publishing thread, and may publish (to other streams) themselves. */
typedef void (*rtl_events_fn)(void *user, const struct rtl_event *const *events, size_t count);

struct rtl_host;         /* the functions a host offers, below */
struct rtl_subscription; /* opaque */

/** What the values of a setting are. */
enum rtl_setting_type {
	RTL_SETTING_TEXT = 0,   /**< any text, of `least` to `most` bytes */
	RTL_SETTING_NUMBER = 1, /**< a whole number from `least` to `most`, in decimal */
	RTL_SETTING_SWITCH = 2, /**< yes or no: 1 or 0 as a number */
	RTL_SETTING_CHOICE = 3, /**< one of `choices`: as a number its place there, from 0 */
};

/** A setting that a subscriber understands. The host reads the values by this description, and refuses others with one
 * line: a plugin is never created with a bad one. `rtl list-subscribers` shows it. RTL_TEXT_SETTING and its like,
 * below, are initialisers. */
struct rtl_setting_info {
	uint32_t struct_size;
	uint32_t type;           /**< enum rtl_setting_type */
	const char *key;         /**< [a-z0-9_]+ */
	const char *fallback;    /**< value if not given, as text; NULL: there is none */
	const char *description; /**< one line; what values it takes need not stand there */
	uint64_t least;          /**< see the type */
	uint64_t most;           /**< 0: no limit */
	const char *choices;     /**< "text|json"; NULL for other types */
};

/** For the initialisers below. */
#define RTL_SETTING_(type, key, fallback, least, most, choices, description)                       \
	{                                                                                          \
		(uint32_t)sizeof(struct rtl_setting_info), (type), (key), (fallback),              \
			(description), (least), (most), (choices)                                  \
	}
/** A text of `least` to `most` bytes; 1, 0: any but the empty one. */
#define RTL_TEXT_SETTING(key, fallback, least, most, description)                                  \
	RTL_SETTING_(RTL_SETTING_TEXT, key, fallback, least, most, NULL, description)
/** A number; the fallback is a text: RTL_NUMBER_SETTING("depth", "3", 1, 64, "levels shown"). */
#define RTL_NUMBER_SETTING(key, fallback, least, most, description)                                \
	RTL_SETTING_(RTL_SETTING_NUMBER, key, fallback, least, most, NULL, description)
/** Yes or no. */
#define RTL_SWITCH_SETTING(key, fallback, description)                                             \
	RTL_SETTING_(RTL_SETTING_SWITCH, key, fallback, 0, 0, NULL, description)
/** One of several words: RTL_CHOICE_SETTING("format", "text", "text|json", "what is written"). */
#define RTL_CHOICE_SETTING(key, fallback, choices, description)                                    \
	RTL_SETTING_(RTL_SETTING_CHOICE, key, fallback, 0, 0, choices, description)

/** A setting as an instance gets it: see rtl_setting_at. Valid during create. */
struct rtl_setting {
	uint32_t struct_size;
	uint32_t type; /**< as in its description */
	const char *key;
	const char *value; /**< as text; the fallback if not given, which may be NULL */
	uint64_t number;   /**< the value of all types but texts; 0 if there is none */
	uint32_t given;    /**< 1: by the user, 0: it is the fallback */
	uint32_t reserved; /**< 0 */
};

/** The n-th of the settings that create gets, from 0 (see the rule in types.h). */
static inline const struct rtl_setting *rtl_setting_at(const struct rtl_setting *settings, size_t n)
{
	return (const struct rtl_setting *)((const char *)settings + n * settings->struct_size);
}

/** What a host offers to one instance. Passed to create; valid until destroy has returned. Each function says which
 * threads may call it:
 *
 * [instance]  the one that is in a call of the instance: create, stream, ..., a buffered callback
 * [inline]    also one that is in an inline callback of the instance
 * [any]       any thread, the instance's own ones too */
struct rtl_host {
	uint32_t struct_size;
	uint32_t abi_version;

	/** [inline] Subscribes to events.
	 * @param stream  as given to the `stream` function
	 * @param type    or RTL_TYPE_ANY; a type that the stream does not describe is RTL_ENOENT
	 * @param[out] out  NULL if it is never to be undone
	 * @return 0; RTL_ENOENT; RTL_EINVAL; RTL_ENOTSUP: inline, but this is not the traced
	 *         process; RTL_EPLUGIN: the instance has failed, or is finished; RTL_ENOMEM */
	int (*subscribe)(const struct rtl_host *host, const struct rtl_stream_info *stream,
			 uint16_t type, enum rtl_delivery delivery, rtl_events_fn fn, void *user,
			 struct rtl_subscription **out);
	/** [inline] Undoes a subscription, and waits until no callback of it runs any more. Called from inside that
	 * callback, it does not wait for itself. From inside an inline callback it does not wait for other inline ones.
	 * Nor does it wait for a buffered one while somebody waits for the callback that it is called from: two that
	 * undo each other both end. The object is gone afterwards. */
	void (*unsubscribe)(const struct rtl_host *host, struct rtl_subscription *subscription);

	/** [any] Text of an interned string of that process; NULL if not known. Valid until destroy. */
	const char *(*string)(const struct rtl_host *host, const struct rtl_process *process,
			      uint64_t id);
	/** [any] A tracepoint of that process; NULL if not known. */
	const struct rtl_tracepoint *(*tracepoint)(const struct rtl_host *host,
						   const struct rtl_process *process, uint64_t uid);
	/** [any] The ledger of a stream, of one process or (NULL) of all; final from `finish`.
	 * @param[in,out] ledger  struct_size set by the caller */
	int (*ledger)(const struct rtl_host *host, const struct rtl_process *process,
		      const struct rtl_stream_info *stream, struct rtl_ledger *ledger);
	/** [instance] Calls fn for each cause of missed or discarded events of a stream with its count. */
	void (*losses)(const struct rtl_host *host, const struct rtl_process *process,
		       const struct rtl_stream_info *stream,
		       void (*fn)(void *user, const char *cause, uint64_t count), void *user);
	/** [any] A line for the user, under the subscriber's name. level: enum rtl_level */
	void (*report)(const struct rtl_host *host, int level, const char *text);
	/** [any] The instance cannot go on: see above. */
	void (*fail)(const struct rtl_host *host, const char *reason);
	/** [any] The process of that number; NULL before its process_begin. The first, or main, one of the run has
	 * number 1. */
	const struct rtl_process *(*process)(const struct rtl_host *host, uint32_t number);
	/** [any] Value of a property of the run; NULL if not known. Keys: "session" (text that is
	 * the same in all processes of one `rtl trace`), "mode", "where" ("process", "collector",
	 *  "replay", "recover": continue the output of the host that died), "version",
	 *  "interrupted" (in `finish`, a line: when the collector of these events died; NULL: it
	 *  did not), "lacking" (in `finish`, a line: what of a recording could not be read, and is in no
	 *  ledger; NULL: nothing), "paused" (in `finish`, a line: recording was stopped when it ended;
	 *  NULL: it was not), "ended" (in `finish`, of a command that rtl ran: "with status N",
	 *  "by signal N (NAME)"; NULL: not known), "pauses" ("BEGIN-END " for each time that nothing was recorded, in ns; more
	 *  follow). Valid until destroy, "interrupted" and "pauses" until they are asked for again. */
	const char *(*property)(const struct rtl_host *host, const char *key);

	/** [instance] For a subscriber that stores each event exactly once, even if its host crashes: calls fn for each
	 * ring of each process from which events have been delivered since the last flush. From `flush` only. What is
	 * delivered up to there counts as stored when `flush` returns 0. If this host dies before, another host may
	 * deliver it again. Store the positions in the same transaction as the rows to tell the two cases apart. */
	void (*positions)(const struct rtl_host *host,
			  void (*fn)(void *user, const struct rtl_process *process, uint32_t ring,
				     uint64_t position),
			  void *user);
	/** [instance] From `process_begin`: this instance has stored the process's events in that ring before
	 * `position` already, in an earlier host; it does not get them again. Other instances get what they have not
	 * stored.
	 * @return 0; RTL_ENOMEM; RTL_EINVAL: no ring has that number; RTL_EBUSY: too late */
	int (*resume)(const struct rtl_host *host, const struct rtl_process *process, uint32_t ring,
		      uint64_t position);
	/** [any] How well the times of that process are known.
	 * @param[in,out] calibration  struct_size set by the caller
	 * @return 0; RTL_EINVAL */
	int (*calibration)(const struct rtl_host *host, const struct rtl_process *process,
			   struct rtl_calibration *calibration);
	/** [any] What RTL_KIND_VALUES are in events of a tracepoint (rtl_event.uid) of that process; NULL: it has none,
	 * or their description (RTL_VALUES_KEY) is invalid. Valid until destroy. <rtl/args.h> goes through them. */
	const struct rtl_values_info *(*values)(const struct rtl_host *host,
						const struct rtl_process *process, uint64_t uid);
	/** [any] How that process has waited for its events to be taken; final from `process_end`.
	 * @param[in,out] waits  struct_size set by the caller
	 * @return 0; RTL_EINVAL */
	int (*waits)(const struct rtl_host *host, const struct rtl_process *process,
		     struct rtl_waits *waits);
	/** [instance] From `flush`, before it returns 0: what was delivered is not stored yet. The host keeps it where
	 * it would outlive the host, as far as the program's buffers go, calls `flush` again, and counts nothing as
	 * stored before one that keeps nothing. For outputs that are better written in larger pieces, or that are out
	 * of reach for a while. A `finish` that returns 0 has stored all; after one that fails the rest is left for
	 * `rtl recover`.
	 * @param anyway  false: only if threads have room; it is asked for less often then
	 * @return 0; RTL_EBUSY: threads are short of room, or the end has come: store it now */
	int (*keep)(const struct rtl_host *host, bool anyway);
	/** [instance] As `losses`, for what the user's selection left out of a stream. */
	void (*left_out)(const struct rtl_host *host, const struct rtl_process *process,
			 const struct rtl_stream_info *stream,
			 void (*fn)(void *user, const char *cause, uint64_t count), void *user);
	/** [instance] Calls fn for each call, range and the like that another process has begun and not ended just now,
	 * as the event (..._UNFINISHED) that it would become if the process died. The event is valid during the
	 * call. */
	void (*unfinished)(const struct rtl_host *host, const struct rtl_process *process,
			   void (*fn)(void *user, const struct rtl_event *event), void *user);
};

/** The descriptor: the one symbol of a plugin. Functions other than create may be NULL. */
struct rtl_subscriber {
	uint32_t abi_version; /**< RTL_ABI_VERSION; read before anything else */
	uint32_t struct_size;
	const char *name; /**< short, e.g. "sqlite" */
	const char *version;
	const char *description;
	const struct rtl_setting_info *settings; /**< setting_count of them; NULL if none */
	uint32_t setting_count;
	uint32_t reserved;

	/** Makes an instance.
	 * @param settings  all that the descriptor lists, in its order, whether the user has given
	 *                  them or not; unknown ones and bad values have been refused before
	 * @param count     of the settings: setting_count
	 * @param[out] instance  given back in all other calls
	 * @return 0, or a negative rtl_error after host->report has said why */
	int (*create)(const struct rtl_host *host, const struct rtl_setting *settings, size_t count,
		      void **instance);
	int (*stream)(void *instance, const struct rtl_stream_info *stream);
	int (*process_begin)(void *instance, const struct rtl_process *process);
	int (*process_end)(void *instance, const struct rtl_process *process);
	int (*flush)(void *instance);
	int (*finish)(void *instance);
	void (*destroy)(void *instance);
};

/** The n-th setting that a subscriber lists, from 0 (see the rule in types.h). */
static inline const struct rtl_setting_info *rtl_subscriber_setting(const struct rtl_subscriber *s,
								    uint32_t n)
{
	return (const struct rtl_setting_info *)((const char *)s->settings +
						 (size_t)n * s->settings->struct_size);
}

/** Name of the exported symbol, for dlsym. */
#define RTL_SUBSCRIBER_SYMBOL "rtl_subscriber"

/** Declares and exports a plugin's descriptor: `RTL_EXPORT_SUBSCRIBER = { .abi_version = RTL_ABI_VERSION, ... };` */
#ifdef __cplusplus
#	define RTL_EXPORT_SUBSCRIBER                                                              \
		extern "C" __attribute__((visibility("default")))                                  \
		const struct rtl_subscriber rtl_subscriber
#else
#	define RTL_EXPORT_SUBSCRIBER                                                              \
		__attribute__((visibility("default"))) const struct rtl_subscriber rtl_subscriber
#endif

#ifdef __cplusplus
}
#endif
#endif
