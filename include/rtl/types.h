/* SPDX-License-Identifier: MIT */
/** @file types.h
 * Words shared by all of rtl's headers: error codes, trace-point types, kinds of payload fields, and the layout rule of
 * the ABI.
 *
 * The rule: a struct that crosses the ABI begins with `struct_size`, set by whoever fills it to sizeof of the struct as
 * it was compiled; it grows at its end only. The reader of a struct touches a member only if struct_size covers it. An
 * array of such structs is walked in steps of the struct_size of its first element.
 *
 * The exceptions:
 * - Payloads (the structs of rtl/events.h, struct rtl_default_payload, a publisher's own), and what
 *   lies inside of them (struct rtl_text, struct rtl_arg): an event tells its size, and its type
 *   the fields. A new layout of what lies inside is a new kind of field.
 * - struct rtl_record and struct rtl_pending: a publisher writes them at every event. Their layout
 *   is that of librtl.so.0 and does not grow.
 * - struct rtl_subscriber and struct rtl_source: their abi_version comes first, struct_size next.
 * - struct rtl_enumerator and struct rtl_slot_fact: many in an array that is searched. They do not grow.
 * - What inline functions of a header alone fill and read (struct rtl_args and its like): it never
 *   crosses the ABI. */
#ifndef RTL_TYPES_H
#define RTL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of librtl that these headers belong to. */
#define RTL_VERSION_MAJOR 0
#define RTL_VERSION_MINOR 1
#define RTL_VERSION_PATCH 0

/** Marks what librtl exports. */
#define RTL_API __attribute__((visibility("default")))

/** Errors: a function returns 0, or one of these negative values. */
enum rtl_error {
	RTL_OK = 0,
	RTL_EINVAL = -1,   /**< invalid argument or option */
	RTL_ENOMEM = -2,   /**< out of memory */
	RTL_ENOENT = -3,   /**< no such file, stream, string, tracepoint or symbol */
	RTL_EEXIST = -4,   /**< exists already, and differently */
	RTL_EABI = -5,     /**< made for another version of the ABI */
	RTL_EIO = -6,      /**< reading or writing failed */
	RTL_ENOSPC = -7,   /**< no room on the disk */
	RTL_ELIMIT = -8,   /**< a fixed or configured limit is reached */
	RTL_ENOTSUP = -9,  /**< cannot be had here */
	RTL_EFORMAT = -10, /**< a file is not what it should be, or is damaged */
	RTL_EBUSY = -11,   /**< in use; not possible from inside a callback */
	RTL_EPLUGIN = -12, /**< a subscriber's own function failed */
};

/** Name of an error code, e.g. "RTL_EINVAL"; never NULL. Any thread. */
RTL_API const char *rtl_error_name(int error);
/** One line that describes an error code; never NULL. Any thread. */
RTL_API const char *rtl_error_text(int error);
/** Version of the library that runs, e.g. "0.1.0". Any thread. */
RTL_API const char *rtl_version(void);

/** Trace-point types. Numbers are XPTI's (xpti_trace_framework.h, trace_point_type_t) where the meaning is the same. In
 * a begin/end pair the begin is even but for region_end, as there. */
enum rtl_type {
	RTL_GRAPH_CREATE = 2,
	RTL_NODE_CREATE = 4,
	RTL_EDGE_CREATE = 6,
	RTL_REGION_BEGIN = 8,
	RTL_REGION_END = 9,
	RTL_TASK_BEGIN = 10,
	RTL_TASK_END = 11,
	RTL_BARRIER_BEGIN = 12,
	RTL_BARRIER_END = 13,
	RTL_LOCK_BEGIN = 14,
	RTL_LOCK_END = 15,
	RTL_SIGNAL = 16,
	RTL_TRANSFER_BEGIN = 18,
	RTL_TRANSFER_END = 19,
	RTL_THREAD_BEGIN = 20,
	RTL_THREAD_END = 21,
	RTL_WAIT_BEGIN = 22,
	RTL_WAIT_END = 23,
	RTL_FUNCTION_BEGIN = 24,
	RTL_FUNCTION_END = 25,
	RTL_METADATA = 26,
	RTL_FUNCTION_WITH_ARGS_BEGIN = 28,
	RTL_FUNCTION_WITH_ARGS_END = 29,
	RTL_MEM_ALLOC_BEGIN = 32,
	RTL_MEM_ALLOC_END = 33,
	RTL_MEM_RELEASE_BEGIN = 34,
	RTL_MEM_RELEASE_END = 35,
	RTL_OFFLOAD_ALLOC_CONSTRUCT = 36,
	RTL_OFFLOAD_ALLOC_DESTRUCT = 37,
	RTL_OFFLOAD_ALLOC_ASSOCIATE = 38,
	RTL_OFFLOAD_ALLOC_RELEASE = 39,
	RTL_OFFLOAD_ALLOC_ACCESSOR = 40,
	RTL_QUEUE_CREATE = 42,
	RTL_QUEUE_DESTROY = 43,
	RTL_DIAGNOSTICS = 126,
	/* rtl's own, of no vendor: what had begun and not ended when the process ended. */
	RTL_REGION_UNFINISHED = 0x80 | RTL_REGION_END,
	RTL_TASK_UNFINISHED = 0x80 | RTL_TASK_END,
	RTL_TRANSFER_UNFINISHED = 0x80 | RTL_TRANSFER_END,
	RTL_FUNCTION_UNFINISHED = 0x80 | RTL_FUNCTION_END,
	RTL_FUNCTION_WITH_ARGS_UNFINISHED = 0x80 | RTL_FUNCTION_WITH_ARGS_END,
	/** The stream's publisher has ended it: rtl_stream_end. */
	RTL_STREAM_END = 0x80 | 1,
	/** An event of a type that the stream does not describe, as its publisher learns of types late or never. The
	 *  field "type" is that type's number; a field of RTL_KIND_ARGS can have named values. */
	RTL_OTHER = 0x80 | 2,
	/** What something was in an interval of time. */
	RTL_SAMPLE = 0x80 | 3,
	/** In a subscription: every type of the stream. Never the type of an event. */
	RTL_TYPE_ANY = 0xffff,
};

/** The type VALUE (0..127) of the vendor with that number (1..254, see rtl_vendor_register). */
#define RTL_TYPE_USER(vendor, value) ((uint16_t)((vendor) << 8 | 0x80 | ((value)&0x7f)))

/** Kinds of payload fields. A reader skips a field of an unknown kind by its size. */
enum rtl_kind {
	RTL_KIND_UINT = 1,    /**< unsigned integer of 1, 2, 4 or 8 bytes */
	RTL_KIND_INT = 2,     /**< signed integer of 1, 2, 4 or 8 bytes */
	RTL_KIND_FLOAT = 3,   /**< IEEE 754 binary32 or binary64 */
	RTL_KIND_BOOL = 4,    /**< 1 byte, 0 or 1 */
	RTL_KIND_ADDRESS = 5, /**< 8 bytes: an address or handle, shown in hexadecimal */
	RTL_KIND_TIME = 6,    /**< 8 bytes: ns in the clock of rtl_event.time_ns; 0 = none */
	RTL_KIND_STRING = 7, /**< 8 bytes: id of an interned string (rtl_string_intern); 0 = none */
	RTL_KIND_UID = 8,    /**< 8 bytes: universal id of a tracepoint; 0 = none */
	RTL_KIND_TEXT = 9,   /**< struct rtl_text: characters that follow in the payload */
	RTL_KIND_BYTES = 10, /**< bytes without a meaning known to rtl */
	RTL_KIND_ARGS = 11,  /**< struct rtl_text: an array of struct rtl_arg in the payload */
	RTL_KIND_VALUES = 12, /**< struct rtl_text: values in the payload, see RTL_VALUES_KEY */
};

/** A text inside a payload: `length` bytes, not terminated, at `offset` from its beginning. */
struct rtl_text {
	uint32_t offset;
	uint32_t length;
};

/** Bits of rtl_arg.flags. */
enum rtl_arg_flags {
	/** What the call has written where the argument points to. */
	RTL_ARG_OUT = 1,
	/** A text that was longer: this is its beginning. */
	RTL_ARG_CUT = 2,
};

/** A named value: what a payload has no fields for, such as a call's arguments. A field of RTL_KIND_ARGS says where an
 * array of these is: at a multiple of 8, of whole structs. <rtl/args.h> reads them. */
struct rtl_arg {
	uint64_t name; /**< string (rtl_string_intern) */
	union {
		uint64_t number;      /**< RTL_KIND_UINT, BOOL, ADDRESS, TIME, STRING, UID */
		int64_t integer;      /**< RTL_KIND_INT */
		double real;          /**< RTL_KIND_FLOAT */
		struct rtl_text text; /**< RTL_KIND_TEXT: in the same payload */
	} value;
	uint16_t kind;     /**< enum rtl_kind; one that is not known is skipped */
	uint16_t flags;    /**< enum rtl_arg_flags */
	uint32_t reserved; /**< 0 */
};

/** The key of the metadata that describes the values of RTL_KIND_VALUES: what a payload says that has no fields of its
 * own for it, such as the arguments of a call. The tracepoint of the event (its uid) has the description, so that only
 * the values travel:
 *
 *     rtl_tracepoint_set(uid, RTL_VALUES_KEY,
 *                        "ptr:address>address size:u64 kind:i32{0=hipMemcpyHostToHost;1=...}");
 *
 * Arguments are separated by blanks, 32 at most. Each is NAME:KIND; a name has none of " :;>={}". Kinds are u8 to u64,
 * i8 to i64, f32, f64, bool, address, time, string, uid and text. NAME:address>KIND also says what the call leaves at
 * that address. {NUMBER=NAME;...} names the values of an integer, or of what the call leaves.
 *
 * The field, a struct rtl_text, tells where in the payload the values are: at a multiple of 8, laid out as a C struct
 * that has them as members in this order. A text is a struct rtl_text, aligned to
 * 8, whose characters stand anywhere in the payload. If there are texts or >KIND, the struct begins
 * with a uint64_t of enum rtl_value_state: two bits for each argument, from the lowest on. Values at the end may be
 * missing; the length says so.
 *
 * Set it before the first event. <rtl/args.h> reads the values. */
#define RTL_VALUES_KEY "rtl.values"

/** What stands in the place of a text, or of an argument with >KIND. */
enum rtl_value_state {
	RTL_VALUE_AS_PASSED = 0, /**< the address, as it was passed */
	RTL_VALUE_FOLLOWED = 1,  /**< the text, or what the call has left there */
	RTL_VALUE_BEGINNING = 2, /**< the beginning of a text that was longer */
};

/** One field of a payload. */
struct rtl_field {
	uint32_t struct_size;
	uint16_t kind; /**< enum rtl_kind */
	/** Fields of a type with the same number, from 1, repeat together: who stores them may store
	 *  them once, under a number. 0: this one does not. */
	uint16_t group;
	uint32_t offset;         /**< from the beginning of the payload, bytes */
	uint32_t size;           /**< bytes */
	const char *name;        /**< [a-z0-9_]+, unique within the type */
	const char *unit;        /**< "ns", "bytes", "count", ...; "" for none */
	const char *description; /**< one line */
};

/** In rtl_type_info.repeated_by, beside the type. */
#define RTL_IN_DEBUG 0x10000u

/** A trace-point type as one stream uses it: its payload. */
struct rtl_type_info {
	uint32_t struct_size;
	uint16_t type;         /**< enum rtl_type, or RTL_TYPE_USER */
	uint16_t field_count;  /**< at most 256 */
	uint32_t payload_size; /**< bytes of the fixed part; texts may follow it */
	/** The type whose events say again all that these say: a recording keeps them only if it is asked to. With
	 * RTL_IN_DEBUG it is a type of the stream of this name with ".debug" behind it, and its payload begins with
	 * this one's: replays make these of those. 0: there is none. */
	uint32_t repeated_by;
	const char *name; /**< [a-z0-9_]+, unique within the stream, e.g. "task_end" */
	const char *description;
	const struct rtl_field *fields;
};

/** A stream: a named domain of events. */
struct rtl_stream_info {
	uint32_t struct_size;
	uint16_t version_major; /**< another major version: fields moved or changed meaning */
	uint16_t version_minor; /**< fields or types were added at the end */
	const char *name;       /**< dotted, e.g. "rtl.hsa" */
	const char *description;
	const struct rtl_type_info *types;
	uint32_t type_count; /**< at most 256 */
	uint32_t number;     /**< set by rtl: small, unique within the process or host; else 0 */
};

/** Levels of a diagnostic: rtl_log, rtl_host.report. */
enum rtl_level {
	RTL_LEVEL_ERROR = 1,
	RTL_LEVEL_WARNING = 2,
	RTL_LEVEL_INFO = 3,
	RTL_LEVEL_DEBUG = 4,
};

/** What became of a stream's events. published = delivered + discarded + abandoned + left_out (+
 *  those still on their way, while the program runs). */
struct rtl_ledger {
	uint32_t struct_size;
	uint32_t reserved;
	uint64_t published; /**< by publishers, while somebody had asked for them */
	uint64_t delivered; /**< given to the subscribers, or stored in the recording */
	uint64_t discarded; /**< no room in a ring, or no ring to be had */
	uint64_t abandoned; /**< could not be delivered before the end */
	/** Things that happened but never became events, as the stream's publisher counted them
	 *  (rtl_stream_count_missed): not part of published. */
	uint64_t missed;
	/** By what the user selected for recording (rtl_host.left_out tells why). Since version 0.1
	 *  with struct_size above 48. */
	uint64_t left_out;
};

/** Least struct_size of a ledger that is asked for. */
#define RTL_LEDGER_SIZE_MIN 48u

/** The n-th element of an array of ABI structs (see the rule above). */
static inline const struct rtl_field *rtl_type_field(const struct rtl_type_info *t, uint32_t n)
{
	return (const struct rtl_field *)((const char *)t->fields +
					  (size_t)n * t->fields->struct_size);
}

static inline const struct rtl_type_info *rtl_stream_type(const struct rtl_stream_info *s,
							  uint32_t n)
{
	return (const struct rtl_type_info *)((const char *)s->types +
					      (size_t)n * s->types->struct_size);
}

/** A trace-point type as the stream uses it; NULL: it does not. */
static inline const struct rtl_type_info *rtl_stream_find_type(const struct rtl_stream_info *s,
							       uint16_t type)
{
	for (uint32_t i = 0; i < s->type_count; i++)
		if (rtl_stream_type(s, i)->type == type)
			return rtl_stream_type(s, i);
	return NULL;
}

#ifdef __cplusplus
}
#endif
#endif
