/* SPDX-License-Identifier: MIT */
/** @file source.h
 * For authors of sources: plugins that read a trace and give its events to subscribers.
 *
 * A source is a shared object that exports one symbol, `rtl_source`; it may export `rtl_subscriber`,
 * too. It needs no library of rtl to link to: all that it calls comes in a table (struct
 * rtl_source_host). `rtl replay FILE` opens the first source that says it can read FILE, and hands
 * what it reads to the subscribers: they do not know that the events are not live.
 *
 * Life of an instance, all calls from one thread:
 *
 *     open -> read, read, ... -> close
 *
 * Within `open` and `read` the source tells of processes, of their streams, of what became of their events (ledger),
 * and gives the events, in the order in which they are to be delivered.
 * `string` and `tracepoint` answer the subscribers' questions. They may be called at any time from
 * `open` to `close`, from other threads too, but never two at once, and never during `open` or `read`
 * unless the source is in host->events. */
#ifndef RTL_SOURCE_H
#define RTL_SOURCE_H

#include <rtl/subscriber.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the sources' ABI: high half must match, low half may be older in the plugin. */
#define RTL_SOURCE_ABI_VERSION 0x00010000u

/** What a host offers to a source. Valid until `close` has returned; call it from `open` and `read`. */
struct rtl_source_host {
	uint32_t struct_size;
	uint32_t abi_version;

	/** Tells of a process; subscribers hear of it at once. What it points to is copied.
	 * @param process  `number` is ignored: the host gives it one. Texts may be NULL.
	 * @return to be used as rtl_event.process; NULL: out of memory. Valid until `close` */
	const struct rtl_process *(*process)(const struct rtl_source_host *host,
					     const struct rtl_process *process);
	/** Tells of a stream of a process, before any of its events. The description is copied.
	 * @return to be used as rtl_event.stream; NULL: the description is not well-formed, there are
	 *         too many streams, or no memory. Valid until `close` */
	const struct rtl_stream_info *(*stream)(const struct rtl_source_host *host,
						const struct rtl_process *process,
						const struct rtl_stream_info *info);
	/** Delivers events; subscribers have seen them when it returns. In each struct_size, type, stream,
	 * process, tid, payload_size, time_ns and payload (aligned to 8) are to be set; type_info may be
	 * NULL, ring and position are ignored. One that is not as its stream describes it counts as
	 * abandoned. What other events repeat (rtl_type_info.repeated_by) is given, too, if there is
	 * no other way for subscribers to learn of it: RTL_IN_DEBUG.
	 * @param events  count of them, in order
	 * @return 0; RTL_ECANCELED: nobody takes events any more, `read` should return */
	int (*events)(const struct rtl_source_host *host, const struct rtl_event *events,
		      size_t count);
	/** Says what became of a stream's events when they were recorded: best before the events. */
	void (*ledger)(const struct rtl_source_host *host, const struct rtl_process *process,
		       const struct rtl_stream_info *stream, const struct rtl_ledger *ledger);
	/** Says how many of a stream's events were missed or discarded, and why. */
	void (*loss)(const struct rtl_source_host *host, const struct rtl_process *process,
		     const struct rtl_stream_info *stream, const char *cause, uint64_t count);
	/** Says how many the user's selection left out, and why. */
	void (*left_out)(const struct rtl_source_host *host, const struct rtl_process *process,
			 const struct rtl_stream_info *stream, const char *cause, uint64_t count);
	/** Says how the process waited for room. */
	void (*waits)(const struct rtl_source_host *host, const struct rtl_process *process,
		      const struct rtl_waits *waits);
	/** Says how well the times of a process's events are known. */
	void (*calibration)(const struct rtl_source_host *host, const struct rtl_process *process,
			    const struct rtl_calibration *calibration);
	/** Says a property of the run: "session", "mode", "interrupted" (see rtl_host.property). */
	void (*property)(const struct rtl_source_host *host, const char *key, const char *value);
	/** A process has no more events. The end of the source ends those that are left. */
	void (*process_end)(const struct rtl_source_host *host, const struct rtl_process *process);
	/** A line for the user, under the source's name. level: enum rtl_level */
	void (*report)(const struct rtl_source_host *host, int level, const char *text);
};

/** The descriptor: the one symbol of a source. */
struct rtl_source {
	uint32_t abi_version; /**< RTL_SOURCE_ABI_VERSION; read before anything else */
	uint32_t struct_size;
	const char *name; /**< short, e.g. "csv" */
	const char *version;
	const char *description;

	/** Whether it reads that file or folder; called before `open`, without an instance. It should look at little,
	 * and print nothing. */
	bool (*reads)(const char *path);
	/** Opens it.
	 * @param[out] instance  given back in all other calls
	 * @return 0, or a negative rtl_error after host->report has said what, where, what to do */
	int (*open)(const struct rtl_source_host *host, const char *path, void **instance);
	/** Reads on: some thousands of events at a time, so that subscribers get to their flush.
	 * @return 1: there is more; 0: that was all; a negative rtl_error after host->report: what
	 *         follows cannot be read */
	int (*read)(void *instance);
	/** How many bytes of the input are still to be read, for showing progress; may be NULL. */
	uint64_t (*left)(void *instance);
	/** Text of an RTL_KIND_STRING field's value; NULL: it is not known. Valid until `close`. */
	const char *(*string)(void *instance, const struct rtl_process *process, uint64_t id);
	/** A tracepoint. NULL: there are none.
	 * @param[in,out] out  struct_size set by the caller. Texts are valid until `close`; none is
	 *                     NULL. The array of metadata is valid until the next call
	 * @return whether it is known */
	bool (*tracepoint)(void *instance, const struct rtl_process *process, uint64_t uid,
			   struct rtl_tracepoint *out);
	void (*close)(void *instance);
};

/** Name of the exported symbol, for dlsym. */
#define RTL_SOURCE_SYMBOL "rtl_source"

/** Declares and exports a source's descriptor: `RTL_EXPORT_SOURCE = { .abi_version = RTL_SOURCE_ABI_VERSION, ... };` */
#ifdef __cplusplus
#	define RTL_EXPORT_SOURCE                                                                  \
		extern "C" __attribute__((visibility("default"))) const struct rtl_source rtl_source
#else
#	define RTL_EXPORT_SOURCE                                                                  \
		__attribute__((visibility("default"))) const struct rtl_source rtl_source
#endif

#ifdef __cplusplus
}
#endif
#endif
