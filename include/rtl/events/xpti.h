/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from xpti.toml. Not to be edited. */
/**
 * @file xpti.h
 *
 * The streams of XPTI, as librtl_xpti.so publishes them.
 */
#ifndef RTL_EVENTS_XPTI_H
#define RTL_EVENTS_XPTI_H

#include <rtl/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Also "sycl.debug", with more in their metadata. */
#define RTL_STREAM_SYCL "sycl"
#define RTL_STREAM_SYCL_VERSION 1
#define RTL_STREAM_SYCL_VERSION_MINOR 0

/**
 * Also "ur.call.debug", and of older runtimes "sycl.pi", "sycl.pi.debug",
 * "sycl.experimental.level_zero.call", "sycl.experimental.level_zero.debug",
 * "sycl.experimental.cuda.call" and "sycl.experimental.cuda.debug".
 */
#define RTL_STREAM_UR_CALL "ur.call"
#define RTL_STREAM_UR_CALL_VERSION 1
#define RTL_STREAM_UR_CALL_VERSION_MINOR 1

/** Also "sycl.experimental.image". */
#define RTL_STREAM_SYCL_BUFFER "sycl.experimental.buffer"
#define RTL_STREAM_SYCL_BUFFER_VERSION 1
#define RTL_STREAM_SYCL_BUFFER_VERSION_MINOR 0

#define RTL_STREAM_SYCL_MEM_ALLOC "sycl.experimental.mem_alloc"
#define RTL_STREAM_SYCL_MEM_ALLOC_VERSION 1
#define RTL_STREAM_SYCL_MEM_ALLOC_VERSION_MINOR 0

/** Any other stream has these types. */
#define RTL_STREAM_XPTI "xpti.framework"
#define RTL_STREAM_XPTI_VERSION 1
#define RTL_STREAM_XPTI_VERSION_MINOR 0

/** Kind of the tracepoints of XPTI's payloads: name, file, line and column as there. */
#define RTL_XPTI_KIND "xpti"

/** Bits of rtl_xpti.flags. */
enum rtl_xpti_flags {
	/** A text was longer, or there was more metadata: this is the beginning. */
	RTL_XPTI_CUT = 1,
	/**
	 * The object or its parent is none that lives, as far as the framework knows; its id is 0
	 * then.
	 */
	RTL_XPTI_NO_OBJECT = 2,
};

/**
 * An event of XPTI. Of the event: uid = the tracepoint of the object's payload (kind "xpti": name,
 * file, line, column; an address in brackets at the name's end is left out), parent_uid = that of
 * the parent's, instance = the publisher's, which pairs begin and end. correlation = that of the
 * scope around it.
 *
 * An end tells when its begin was on the same thread, as far as that is kept.
 */
struct rtl_xpti {
	uint64_t begin_ns; /**< of an end: when it began; 0: not known, or no end */
	/** id of the object, in this process: a node, a graph, an edge, a place; 0: none */
	uint64_t object;
	uint64_t parent; /**< id of what it belongs to, mostly a graph; 0: none */
	uint64_t user; /**< the publisher's user data */
	uint32_t type; /**< XPTI's number of the type */
	uint32_t flags; /**< bits: enum rtl_xpti_flags */
	struct rtl_text text; /**< what the user data say, where they are known to be a text */
};

/** Something with metadata. What is bytes in XPTI is shown in hexadecimal. */
struct rtl_xpti_object {
	struct rtl_xpti event;
	/**
	 * XPTI's event type: 1 graph, 2 algorithm, 3 barrier, 4 scheduler, 5 async, 6 lock, 7 and 8
	 * offload read and write
	 */
	uint32_t event_type;
	uint32_t activity; /**< XPTI's activity type: 1 active, 2 overhead, 4 background, 8 sleep */
	struct rtl_text metadata; /**< its metadata then */
};

/** A dependency. */
struct rtl_xpti_edge {
	struct rtl_xpti event;
	uint64_t source; /**< id of the node that comes first */
	uint64_t target; /**< id of the one that depends on it */
	struct rtl_text metadata; /**< its metadata */
};

/** A call with arguments. */
struct rtl_xpti_call {
	struct rtl_xpti event;
	uint64_t args; /**< where pointers to the arguments are */
	uint32_t function; /**< the API's number of the function */
	int32_t result; /**< what it returned; 0 in a begin */
	/**
	 * the arguments and their values, at the end, where the publisher can print them: on
	 * ur.call.debug
	 */
	struct rtl_text arguments;
};

/** An allocation or release of memory. */
struct rtl_xpti_memory {
	struct rtl_xpti event;
	uint64_t memory; /**< the memory object that it is for; 0: none */
	uint64_t pointer; /**< where the memory is */
	uint64_t bytes; /**< how much was asked for */
	uint64_t guard; /**< bytes of guard zones */
};

/** A buffer or image. */
struct rtl_xpti_buffer {
	struct rtl_xpti event;
	uint64_t handle; /**< of the buffer or image */
	uint64_t host; /**< the program's memory that it was made from; 0: none */
	uint32_t element_size; /**< of a buffer's element */
	uint32_t dimensions; /**< 1 to 3 */
	uint64_t range_x; /**< elements in x */
	uint64_t range_y; /**< elements in y */
	uint64_t range_z; /**< elements in z */
	int32_t format; /**< of an image; -1: none */
	int32_t addressing; /**< of a sampled image; -1: none */
	int32_t coordinates; /**< of a sampled image; -1: none */
	int32_t filtering; /**< of a sampled image; -1: none */
	struct rtl_text element; /**< a buffer's type of element */
};

/** A buffer or image and its memory on a device. */
struct rtl_xpti_association {
	struct rtl_xpti event;
	uint64_t handle; /**< of the buffer or image */
	uint64_t memory; /**< handle of the memory; 0: none */
};

/** An accessor of a buffer or image. */
struct rtl_xpti_accessor {
	struct rtl_xpti event;
	uint64_t handle; /**< of the buffer or image */
	uint64_t accessor; /**< of the accessor */
	int32_t target; /**< SYCL's access target; -1: none */
	int32_t mode; /**< SYCL's access mode; -1: none */
	uint32_t element_size; /**< of an image's element */
	uint32_t reserved;
	struct rtl_text element; /**< an image's type of element */
};

#ifdef __cplusplus
}
#endif

#endif
