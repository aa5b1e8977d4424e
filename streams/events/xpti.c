/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from xpti.toml. Not to be edited. */
#include <rtl/describe.h>
#include <rtl/events/xpti.h>

#include "events.h"

/* The layout is part of what subscribers are compiled with: nothing lies between members. */
_Static_assert(sizeof(struct rtl_xpti) == 48, "rtl_xpti");
_Static_assert(sizeof(struct rtl_xpti_object) == 64, "rtl_xpti_object");
_Static_assert(sizeof(struct rtl_xpti_edge) == 72, "rtl_xpti_edge");
_Static_assert(sizeof(struct rtl_xpti_call) == 72, "rtl_xpti_call");
_Static_assert(sizeof(struct rtl_xpti_memory) == 80, "rtl_xpti_memory");
_Static_assert(sizeof(struct rtl_xpti_buffer) == 120, "rtl_xpti_buffer");
_Static_assert(sizeof(struct rtl_xpti_association) == 64, "rtl_xpti_association");
_Static_assert(sizeof(struct rtl_xpti_accessor) == 88, "rtl_xpti_accessor");

#define RTL_XPTI_FIELDS \
	RTL_FIELD_OF(0, struct rtl_xpti, begin_ns, RTL_KIND_TIME, "ns", "of an end: when it began; 0: not known, or no end"), \
	RTL_FIELD_OF(0, struct rtl_xpti, object, RTL_KIND_UINT, "", "id of the object, in this process: a node, a graph, an edge, a place; 0: none"), \
	RTL_FIELD_OF(0, struct rtl_xpti, parent, RTL_KIND_UINT, "", "id of what it belongs to, mostly a graph; 0: none"), \
	RTL_FIELD_OF(0, struct rtl_xpti, user, RTL_KIND_ADDRESS, "", "the publisher's user data"), \
	RTL_FIELD_OF(0, struct rtl_xpti, type, RTL_KIND_UINT, "", "XPTI's number of the type"), \
	RTL_FIELD_OF(0, struct rtl_xpti, flags, RTL_KIND_UINT, "", "bits: 1 cut, 2 no object"), \
	RTL_FIELD_OF(0, struct rtl_xpti, text, RTL_KIND_TEXT, "", "what the user data say, where they are known to be a text")

static const struct rtl_field rtl_xpti_fields[] = {
	RTL_XPTI_FIELDS,
};

static const struct rtl_field rtl_xpti_object_fields[] = {
	RTL_XPTI_FIELDS,
	RTL_FIELD_OF(0, struct rtl_xpti_object, event_type, RTL_KIND_UINT, "", "XPTI's event type: 1 graph, 2 algorithm, 3 barrier, 4 scheduler, 5 async, 6 lock, 7 and 8 offload read and write"),
	RTL_FIELD_OF(0, struct rtl_xpti_object, activity, RTL_KIND_UINT, "", "XPTI's activity type: 1 active, 2 overhead, 4 background, 8 sleep"),
	RTL_FIELD_OF(0, struct rtl_xpti_object, metadata, RTL_KIND_ARGS, "", "its metadata then"),
};

static const struct rtl_field rtl_xpti_edge_fields[] = {
	RTL_XPTI_FIELDS,
	RTL_FIELD_OF(0, struct rtl_xpti_edge, source, RTL_KIND_UINT, "", "id of the node that comes first"),
	RTL_FIELD_OF(0, struct rtl_xpti_edge, target, RTL_KIND_UINT, "", "id of the one that depends on it"),
	RTL_FIELD_OF(0, struct rtl_xpti_edge, metadata, RTL_KIND_ARGS, "", "its metadata"),
};

static const struct rtl_field rtl_xpti_call_fields[] = {
	RTL_XPTI_FIELDS,
	RTL_FIELD_OF(0, struct rtl_xpti_call, args, RTL_KIND_ADDRESS, "", "where pointers to the arguments are"),
	RTL_FIELD_OF(0, struct rtl_xpti_call, function, RTL_KIND_UINT, "", "the API's number of the function"),
	RTL_FIELD_OF(0, struct rtl_xpti_call, result, RTL_KIND_INT, "", "what it returned; 0 in a begin"),
	RTL_FIELD_OF(0, struct rtl_xpti_call, arguments, RTL_KIND_TEXT, "", "the arguments and their values, at the end, where the publisher can print them: on ur.call.debug"),
};

static const struct rtl_field rtl_xpti_memory_fields[] = {
	RTL_XPTI_FIELDS,
	RTL_FIELD_OF(0, struct rtl_xpti_memory, memory, RTL_KIND_ADDRESS, "", "the memory object that it is for; 0: none"),
	RTL_FIELD_OF(0, struct rtl_xpti_memory, pointer, RTL_KIND_ADDRESS, "", "where the memory is"),
	RTL_FIELD_OF(0, struct rtl_xpti_memory, bytes, RTL_KIND_UINT, "bytes", "how much was asked for"),
	RTL_FIELD_OF(0, struct rtl_xpti_memory, guard, RTL_KIND_UINT, "bytes", "bytes of guard zones"),
};

static const struct rtl_field rtl_xpti_buffer_fields[] = {
	RTL_XPTI_FIELDS,
	RTL_FIELD_OF(0, struct rtl_xpti_buffer, handle, RTL_KIND_ADDRESS, "", "of the buffer or image"),
	RTL_FIELD_OF(0, struct rtl_xpti_buffer, host, RTL_KIND_ADDRESS, "", "the program's memory that it was made from; 0: none"),
	RTL_FIELD_OF(0, struct rtl_xpti_buffer, element_size, RTL_KIND_UINT, "bytes", "of a buffer's element"),
	RTL_FIELD_OF(0, struct rtl_xpti_buffer, dimensions, RTL_KIND_UINT, "", "1 to 3"),
	RTL_FIELD_OF(0, struct rtl_xpti_buffer, range_x, RTL_KIND_UINT, "", "elements in x"),
	RTL_FIELD_OF(0, struct rtl_xpti_buffer, range_y, RTL_KIND_UINT, "", "elements in y"),
	RTL_FIELD_OF(0, struct rtl_xpti_buffer, range_z, RTL_KIND_UINT, "", "elements in z"),
	RTL_FIELD_OF(0, struct rtl_xpti_buffer, format, RTL_KIND_INT, "", "of an image; -1: none"),
	RTL_FIELD_OF(0, struct rtl_xpti_buffer, addressing, RTL_KIND_INT, "", "of a sampled image; -1: none"),
	RTL_FIELD_OF(0, struct rtl_xpti_buffer, coordinates, RTL_KIND_INT, "", "of a sampled image; -1: none"),
	RTL_FIELD_OF(0, struct rtl_xpti_buffer, filtering, RTL_KIND_INT, "", "of a sampled image; -1: none"),
	RTL_FIELD_OF(0, struct rtl_xpti_buffer, element, RTL_KIND_TEXT, "", "a buffer's type of element"),
};

static const struct rtl_field rtl_xpti_association_fields[] = {
	RTL_XPTI_FIELDS,
	RTL_FIELD_OF(0, struct rtl_xpti_association, handle, RTL_KIND_ADDRESS, "", "of the buffer or image"),
	RTL_FIELD_OF(0, struct rtl_xpti_association, memory, RTL_KIND_ADDRESS, "", "handle of the memory; 0: none"),
};

static const struct rtl_field rtl_xpti_accessor_fields[] = {
	RTL_XPTI_FIELDS,
	RTL_FIELD_OF(0, struct rtl_xpti_accessor, handle, RTL_KIND_ADDRESS, "", "of the buffer or image"),
	RTL_FIELD_OF(0, struct rtl_xpti_accessor, accessor, RTL_KIND_ADDRESS, "", "of the accessor"),
	RTL_FIELD_OF(0, struct rtl_xpti_accessor, target, RTL_KIND_INT, "", "SYCL's access target; -1: none"),
	RTL_FIELD_OF(0, struct rtl_xpti_accessor, mode, RTL_KIND_INT, "", "SYCL's access mode; -1: none"),
	RTL_FIELD_OF(0, struct rtl_xpti_accessor, element_size, RTL_KIND_UINT, "bytes", "of an image's element"),
	RTL_FIELD_OF(0, struct rtl_xpti_accessor, element, RTL_KIND_TEXT, "", "an image's type of element"),
};

static const struct rtl_type_info xpti_sycl_types[] = {
	RTL_TYPE_INFO(RTL_GRAPH_CREATE, "graph_create", struct rtl_xpti_object, rtl_xpti_object_fields, "a graph of command groups began: that of a queue or context"),
	RTL_TYPE_INFO(RTL_NODE_CREATE, "node_create", struct rtl_xpti_object, rtl_xpti_object_fields, "a command group, or a memory operation, was entered in the graph"),
	RTL_TYPE_INFO(RTL_EDGE_CREATE, "edge_create", struct rtl_xpti_edge, rtl_xpti_edge_fields, "a node depends on another one"),
	RTL_TYPE_INFO(RTL_REGION_BEGIN, "region_begin", struct rtl_xpti, rtl_xpti_fields, "a region began"),
	RTL_TYPE_INFO(RTL_REGION_END, "region_end", struct rtl_xpti, rtl_xpti_fields, "a region has ended"),
	RTL_TYPE_INFO(RTL_TASK_BEGIN, "task_begin", struct rtl_xpti, rtl_xpti_fields, "the runtime began to hand a node to the device"),
	RTL_TYPE_INFO(RTL_TASK_END, "task_end", struct rtl_xpti, rtl_xpti_fields, "it has handed it over"),
	RTL_TYPE_INFO(RTL_BARRIER_BEGIN, "barrier_begin", struct rtl_xpti, rtl_xpti_fields, "a thread began to wait at a barrier; text: why"),
	RTL_TYPE_INFO(RTL_BARRIER_END, "barrier_end", struct rtl_xpti, rtl_xpti_fields, "it goes on"),
	RTL_TYPE_INFO(RTL_LOCK_BEGIN, "lock_begin", struct rtl_xpti, rtl_xpti_fields, "a thread began to wait for a lock"),
	RTL_TYPE_INFO(RTL_LOCK_END, "lock_end", struct rtl_xpti, rtl_xpti_fields, "it has the lock"),
	RTL_TYPE_INFO(RTL_SIGNAL, "signal", struct rtl_xpti, rtl_xpti_fields, "a node got the backend's event that tells of its end; user: its handle"),
	RTL_TYPE_INFO(RTL_TRANSFER_BEGIN, "transfer_begin", struct rtl_xpti, rtl_xpti_fields, "a transfer began"),
	RTL_TYPE_INFO(RTL_TRANSFER_END, "transfer_end", struct rtl_xpti, rtl_xpti_fields, "a transfer has ended"),
	RTL_TYPE_INFO(RTL_WAIT_BEGIN, "wait_begin", struct rtl_xpti, rtl_xpti_fields, "a thread began to wait for a queue or an event; text: for which"),
	RTL_TYPE_INFO(RTL_WAIT_END, "wait_end", struct rtl_xpti, rtl_xpti_fields, "it goes on"),
	RTL_TYPE_INFO(RTL_QUEUE_CREATE, "queue_create", struct rtl_xpti_object, rtl_xpti_object_fields, "a queue was made"),
	RTL_TYPE_INFO(RTL_QUEUE_DESTROY, "queue_destroy", struct rtl_xpti_object, rtl_xpti_object_fields, "a queue is gone"),
	RTL_TYPE_INFO(RTL_DIAGNOSTICS, "diagnostics", struct rtl_xpti, rtl_xpti_fields, "a message of the runtime"),
	RTL_TYPE_INFO(RTL_METADATA, "metadata", struct rtl_xpti_object, rtl_xpti_object_fields, "something became known of an object after its creation; without an object: the version of the stream's publisher, as text"),
	RTL_TYPE_INFO(RTL_OTHER, "other", struct rtl_xpti, rtl_xpti_fields, "an event of a type that is not known here"),
	RTL_TYPE_INFO(RTL_STREAM_END, "stream_end", struct rtl_xpti, rtl_xpti_fields, "the publisher has finalized the stream"),
};

const struct rtl_stream_info xpti_sycl_info =
	RTL_STREAM_INFO(RTL_STREAM_SYCL, RTL_STREAM_SYCL_VERSION, RTL_STREAM_SYCL_VERSION_MINOR, xpti_sycl_types, "Command groups of a SYCL program: their graph, their run, waits (XPTI)");

static const struct rtl_type_info xpti_calls_types[] = {
	RTL_TYPE_INFO(RTL_FUNCTION_BEGIN, "function_begin", struct rtl_xpti, rtl_xpti_fields, "a function was called; text: its name"),
	RTL_TYPE_INFO(RTL_FUNCTION_END, "function_end", struct rtl_xpti, rtl_xpti_fields, "it has returned"),
	RTL_TYPE_INFO(RTL_FUNCTION_WITH_ARGS_BEGIN, "function_with_args_begin", struct rtl_xpti_call, rtl_xpti_call_fields, "a function was called; text: its name"),
	RTL_TYPE_INFO(RTL_FUNCTION_WITH_ARGS_END, "function_with_args_end", struct rtl_xpti_call, rtl_xpti_call_fields, "it has returned"),
	RTL_TYPE_INFO(RTL_METADATA, "metadata", struct rtl_xpti_object, rtl_xpti_object_fields, "as of the stream sycl"),
	RTL_TYPE_INFO(RTL_OTHER, "other", struct rtl_xpti, rtl_xpti_fields, "an event of a type that is not known here"),
	RTL_TYPE_INFO(RTL_STREAM_END, "stream_end", struct rtl_xpti, rtl_xpti_fields, "the publisher has finalized the stream"),
};

const struct rtl_stream_info xpti_calls_info =
	RTL_STREAM_INFO(RTL_STREAM_UR_CALL, RTL_STREAM_UR_CALL_VERSION, RTL_STREAM_UR_CALL_VERSION_MINOR, xpti_calls_types, "Calls of Unified Runtime (XPTI)");

static const struct rtl_type_info xpti_buffer_types[] = {
	RTL_TYPE_INFO(RTL_OFFLOAD_ALLOC_CONSTRUCT, "construct", struct rtl_xpti_buffer, rtl_xpti_buffer_fields, "a buffer or image was constructed, at the place of the object"),
	RTL_TYPE_INFO(RTL_OFFLOAD_ALLOC_DESTRUCT, "destruct", struct rtl_xpti_association, rtl_xpti_association_fields, "it was destroyed"),
	RTL_TYPE_INFO(RTL_OFFLOAD_ALLOC_ASSOCIATE, "associate", struct rtl_xpti_association, rtl_xpti_association_fields, "it got memory on a device"),
	RTL_TYPE_INFO(RTL_OFFLOAD_ALLOC_RELEASE, "release", struct rtl_xpti_association, rtl_xpti_association_fields, "that memory was released"),
	RTL_TYPE_INFO(RTL_OFFLOAD_ALLOC_ACCESSOR, "accessor", struct rtl_xpti_accessor, rtl_xpti_accessor_fields, "an accessor was made"),
	RTL_TYPE_INFO(RTL_METADATA, "metadata", struct rtl_xpti_object, rtl_xpti_object_fields, "as of the stream sycl"),
	RTL_TYPE_INFO(RTL_OTHER, "other", struct rtl_xpti, rtl_xpti_fields, "an event of a type that is not known here"),
	RTL_TYPE_INFO(RTL_STREAM_END, "stream_end", struct rtl_xpti, rtl_xpti_fields, "the publisher has finalized the stream"),
};

const struct rtl_stream_info xpti_buffer_info =
	RTL_STREAM_INFO(RTL_STREAM_SYCL_BUFFER, RTL_STREAM_SYCL_BUFFER_VERSION, RTL_STREAM_SYCL_BUFFER_VERSION_MINOR, xpti_buffer_types, "Buffers of a SYCL program (XPTI)");

static const struct rtl_type_info xpti_memory_types[] = {
	RTL_TYPE_INFO(RTL_MEM_ALLOC_BEGIN, "mem_alloc_begin", struct rtl_xpti_memory, rtl_xpti_memory_fields, "an allocation began"),
	RTL_TYPE_INFO(RTL_MEM_ALLOC_END, "mem_alloc_end", struct rtl_xpti_memory, rtl_xpti_memory_fields, "it has ended; pointer: what came of it"),
	RTL_TYPE_INFO(RTL_MEM_RELEASE_BEGIN, "mem_release_begin", struct rtl_xpti_memory, rtl_xpti_memory_fields, "a release began"),
	RTL_TYPE_INFO(RTL_MEM_RELEASE_END, "mem_release_end", struct rtl_xpti_memory, rtl_xpti_memory_fields, "it has ended"),
	RTL_TYPE_INFO(RTL_METADATA, "metadata", struct rtl_xpti_object, rtl_xpti_object_fields, "as of the stream sycl"),
	RTL_TYPE_INFO(RTL_OTHER, "other", struct rtl_xpti, rtl_xpti_fields, "an event of a type that is not known here"),
	RTL_TYPE_INFO(RTL_STREAM_END, "stream_end", struct rtl_xpti, rtl_xpti_fields, "the publisher has finalized the stream"),
};

const struct rtl_stream_info xpti_memory_info =
	RTL_STREAM_INFO(RTL_STREAM_SYCL_MEM_ALLOC, RTL_STREAM_SYCL_MEM_ALLOC_VERSION, RTL_STREAM_SYCL_MEM_ALLOC_VERSION_MINOR, xpti_memory_types, "Memory that a SYCL program allocates and releases on devices (XPTI)");

static const struct rtl_type_info xpti_other_types[] = {
	RTL_TYPE_INFO(RTL_METADATA, "metadata", struct rtl_xpti_object, rtl_xpti_object_fields, "as of the stream sycl"),
	RTL_TYPE_INFO(RTL_OTHER, "other", struct rtl_xpti, rtl_xpti_fields, "an event; type: XPTI's number of its type"),
	RTL_TYPE_INFO(RTL_STREAM_END, "stream_end", struct rtl_xpti, rtl_xpti_fields, "the publisher has finalized the stream"),
};

const struct rtl_stream_info xpti_other_info =
	RTL_STREAM_INFO(RTL_STREAM_XPTI, RTL_STREAM_XPTI_VERSION, RTL_STREAM_XPTI_VERSION_MINOR, xpti_other_types, "A stream of XPTI of which rtl knows no more than its name");
