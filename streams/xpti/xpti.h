/* SPDX-License-Identifier: MIT */
/* XPTI's ABI in C, as SYCL's runtimes since August 2024 use it: layouts, numbers, and functions that a framework
 * exports. Trace-point types have the numbers of <rtl/types.h>. References of C++ are pointers here. interfaces.c
 * asserts the layouts, and has the C++ classes behind interfaces. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rtl/types.h>

#define XPTI_API __attribute__((visibility("default")))

enum xpti_result {
	XPTI_SUCCESS = 0,
	XPTI_FALSE = 1,
	XPTI_FAIL = (int)0x80004001,
	XPTI_NOTIMPL = (int)0x80004002,
	XPTI_DUPLICATE = (int)0x80004003,
	XPTI_NOTFOUND = (int)0x80004004,
	XPTI_UNDELETE = (int)0x80004005,
	XPTI_INVALIDARG = (int)0x80004006,
};

#define XPTI_INVALID_STRING 0xffffffffu
#define XPTI_INVALID_OBJECT 0x7fffffff
#define XPTI_INVALID_STREAM 0xffu
#define XPTI_NO_COLUMN      0xffffffffu

enum xpti_activity { XPTI_ACTIVITY_ACTIVE = 1 };

enum xpti_detail { XPTI_DETAIL_NONE, XPTI_DETAIL_BASIC, XPTI_DETAIL_NORMAL, XPTI_DETAIL_VERBOSE };

enum xpti_payload_flags {
	XPTI_PAYLOAD_NAME = 1,
	XPTI_PAYLOAD_FILE = 2,
	XPTI_PAYLOAD_CODE = 4,
	XPTI_PAYLOAD_LINE = 8,
	XPTI_PAYLOAD_COLUMN = 16,
	XPTI_PAYLOAD_STACK = 32,
	XPTI_PAYLOAD_REGISTERED = 1 << 15,
	XPTI_PAYLOAD_HASH = 1 << 17,
};

enum xpti_event_flags {
	XPTI_EVENT_UID = 1,
	XPTI_EVENT_SOURCE = 2,
	XPTI_EVENT_TARGET = 4,
	XPTI_EVENT_EVENT = 8,
	XPTI_EVENT_ACTIVITY = 16,
	XPTI_EVENT_PAYLOAD = 32,
};

struct xpti_uid {
	uint64_t p1; /* string of the file << 32 | line */
	uint64_t p2; /* string of the name */
	uint64_t p3;
};

struct xpti_payload {
	const char *name;
	const char *stack;
	const char *file;
	uint32_t line;
	uint32_t column; /* XPTI_NO_COLUMN: none */
	const void *code;
	uint64_t internal; /* id */
	uint64_t flags;    /* enum xpti_payload_flags */
	struct xpti_uid uid;
};

/* An entry of a map; libstdc++'s node of std::unordered_map<uint32_t, int32_t>. */
struct xpti_map_node {
	struct xpti_map_node *next;
	uint32_t key;
	int32_t value;
};

/* libstdc++'s std::unordered_map<uint32_t, int32_t>. A bucket points to what stands before its
 * first node: a node, or `first`. */
struct xpti_map {
	struct xpti_map_node **buckets;
	size_t bucket_count;
	struct xpti_map_node *first;
	size_t count;
	float max_load;
	size_t next_resize;
	struct xpti_map_node *single; /* the only bucket of a small one */
};

struct xpti_event {
	uint64_t unique_id;
	uint64_t data_id;
	uint64_t instance_id;
	uint16_t event_type;
	uint16_t activity_type;
	uint32_t unused;
	uint64_t source_id;
	uint64_t target_id;
	struct xpti_payload *payload;
	struct xpti_map metadata;
	void *global_user_data;
	uint64_t flags; /* enum xpti_event_flags */
};

enum xpti_object_type {
	XPTI_OBJECT_BINARY,
	XPTI_OBJECT_STRING,
	XPTI_OBJECT_SIGNED,
	XPTI_OBJECT_UNSIGNED,
	XPTI_OBJECT_FLOAT,
	XPTI_OBJECT_BOOL,
};

struct xpti_object {
	size_t size;
	const char *data; /* strings have no end mark */
	uint8_t type;     /* enum xpti_object_type */
};

/* An optional<uint32_t> of C++. */
struct xpti_optional {
	uint32_t value;
	uint8_t engaged;
	uint8_t unused[3];
};

/* What user data point to. */

struct xpti_call {
	uint32_t function;
	const char *name;
	const void *args;
	const void *result;
	const void *user;
};

struct xpti_memory {
	uint64_t object;
	uint64_t pointer;
	uint64_t size;
	uint64_t guard;
	uint64_t reserved;
};

struct xpti_buffer {
	uint64_t user;
	uint64_t host;
	const char *element;
	uint32_t element_size;
	uint32_t dimensions;
	uint64_t range[3];
};

struct xpti_image {
	uint64_t user;
	uint64_t host;
	uint32_t dimensions;
	uint64_t range[3];
	uint32_t format;
	struct xpti_optional addressing, coordinates, filtering;
};

struct xpti_accessor {
	uint64_t object;
	uint64_t accessor;
	uint32_t target;
	uint32_t mode;
};

struct xpti_image_accessor {
	uint64_t object;
	uint64_t accessor;
	struct xpti_optional target, mode;
	const char *element;
	uint64_t element_size;
};

struct xpti_association {
	uint64_t user;
	uint64_t memory;
};

struct xpti_enqueue {
	uint64_t global[3], local[3], offset[3];
	uint64_t args;
};

struct xpti_kernel_arg {
	int32_t kind;
	const void *pointer;
	int32_t size;
	int32_t index;
};

typedef void (*xpti_callback)(uint16_t type, struct xpti_event *parent, struct xpti_event *object,
			      uint64_t instance, const void *user);

/* What a plugin exports. */
typedef void (*xpti_plugin_init)(uint32_t major, uint32_t minor, const char *version,
				 const char *stream);
typedef void (*xpti_plugin_finish)(const char *stream);
typedef bool (*xpti_plugin_detail)(const char *stream, uint8_t *level);

struct xpti_interface; /* an object of C++ of which callers see the table of functions only */

/* ---- the 50 functions */

#pragma GCC visibility push(default)
void xptiFrameworkInitialize(void);
void xptiFrameworkFinalize(void);
int32_t xptiInitialize(const char *stream, uint32_t major, uint32_t minor, const char *version);
void xptiFinalize(const char *stream);
void xptiReset(void);

uint64_t xptiGetUniqueId(void);
uint64_t xptiGetUniversalId(void);
void xptiSetUniversalId(uint64_t id);
int32_t xptiStashTuple(const char *key, uint64_t value);
int32_t xptiGetStashedTuple(char **key, uint64_t *value);
void xptiUnstashTuple(void);

uint32_t xptiRegisterString(const char *text, char **table);
const char *xptiLookupString(uint32_t id);
int32_t xptiRegisterObject(const char *data, size_t size, uint8_t type);
struct xpti_object xptiLookupObject(int32_t id);

uint64_t xptiRegisterPayload(struct xpti_payload *payload);
const struct xpti_payload *xptiQueryPayload(struct xpti_event *event);
const struct xpti_payload *xptiQueryPayloadByUID(uint64_t id);
struct xpti_interface *xptiLookupPayload(uint64_t id);
struct xpti_interface *xptiLookupEvent(uint64_t id);

struct xpti_event *xptiMakeEvent(const char *name, struct xpti_payload *payload, uint16_t event,
				 int32_t activity, uint64_t *instance);
const struct xpti_event *xptiFindEvent(uint64_t id);
void xptiReleaseEvent(struct xpti_event *event);
struct xpti_interface *xptiCreateTracepoint(const char *function, const char *file, uint32_t line,
					    uint32_t column, void *code);
int32_t xptiDeleteTracepoint(struct xpti_interface *tracepoint);
struct xpti_interface *xptiRegisterTracepointScope(const char *function, const char *file,
						   uint32_t line, uint32_t column, void *code);
struct xpti_interface *xptiGetTracepointScopeData(void);
int32_t xptiSetTracepointScopeData(struct xpti_interface *tracepoint);
void xptiUnsetTracepointScopeData(void);
void xptiEnableTracepointScopeNotification(bool on);
bool xptiCheckTracepointScopeNotification(void);

uint8_t xptiGetDefaultStreamID(void);
int32_t xptiSetDefaultStreamID(uint8_t stream);
uint16_t xptiGetDefaultEventType(void);
int32_t xptiSetDefaultEventType(uint16_t type);
uint16_t xptiGetDefaultTraceType(void);
int32_t xptiSetDefaultTraceType(uint16_t type);

uint8_t xptiRegisterStream(const char *name);
int32_t xptiUnregisterStream(const char *name);
uint16_t xptiRegisterUserDefinedTracePoint(const char *tool, uint8_t value);
uint16_t xptiRegisterUserDefinedEventType(const char *tool, uint8_t value);

int32_t xptiRegisterCallback(uint8_t stream, uint16_t type, xpti_callback callback);
int32_t xptiUnregisterCallback(uint8_t stream, uint16_t type, xpti_callback callback);
int32_t xptiNotifySubscribers(uint8_t stream, uint16_t type, struct xpti_event *parent,
			      struct xpti_event *object, uint64_t instance, const void *user);
int32_t xptiAddMetadata(struct xpti_event *event, const char *key, int32_t object);
struct xpti_map *xptiQueryMetadata(struct xpti_event *event);

bool xptiTraceEnabled(void);
bool xptiCheckTraceEnabled(uint16_t stream, uint16_t type);
void xptiForceSetTraceEnabled(bool on);
uint8_t xptiGetEffectiveStreamDetailLevel(uint8_t stream);
#pragma GCC visibility pop
