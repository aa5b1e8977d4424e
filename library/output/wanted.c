/* SPDX-License-Identifier: MIT */
#include "wanted.h"

#include <rtl/events.h>

const char *wanted_kind_name(uint16_t kind)
{
	static const char *const names[] = {
		[RTL_KIND_UINT] = "uint",       [RTL_KIND_INT] = "int",
		[RTL_KIND_FLOAT] = "float",     [RTL_KIND_BOOL] = "bool",
		[RTL_KIND_ADDRESS] = "address", [RTL_KIND_TIME] = "time",
		[RTL_KIND_STRING] = "string",   [RTL_KIND_UID] = "uid",
		[RTL_KIND_TEXT] = "text",       [RTL_KIND_BYTES] = "bytes",
		[RTL_KIND_ARGS] = "args",       [RTL_KIND_VALUES] = "values",
	};

	return kind < sizeof(names) / sizeof(names[0]) && names[kind] ? names[kind] : "unknown";
}

const struct wanted_stream *wanted_find(const struct wanted_stream *streams, size_t count,
					const char *name)
{
	for (size_t i = 0; name && i < count; i++)
		if (strcmp(streams[i].name, name) == 0)
			return &streams[i];
	return NULL;
}

static bool has(const struct rtl_stream_info *info, const struct wanted *wanted)
{
	const struct rtl_type_info *type = rtl_stream_find_type(info, wanted->type);

	return type && type->payload_size >= wanted->size;
}

static bool fits(const struct rtl_stream_info *info, const struct wanted_stream *stream)
{
	for (size_t i = 0; i < stream->count; i++)
		if (!stream->types[i].optional && !has(info, &stream->types[i]))
			return false;
	return info->version_major == stream->version;
}

int wanted_subscribe(const struct rtl_host *host, const struct rtl_stream_info *info,
		     const struct wanted_stream *stream, void *user,
		     struct rtl_subscription **taken)
{
	int result = 0;

	if (!fits(info, stream))
		return RTL_ENOTSUP;
	for (size_t i = 0; i < stream->count && result == 0; i++)
		if (has(info, &stream->types[i]))
			result = host->subscribe(host, info, stream->types[i].type, RTL_BUFFERED,
						 stream->types[i].take, user,
						 taken ? &taken[i] : NULL);
	return result;
}

static const struct wanted_stream call_streams[] = {
	[0] = {.name = RTL_STREAM_HSA_CALL, .version = RTL_STREAM_HSA_CALL_VERSION},
	[WANTED_HIP] = {.name = RTL_STREAM_HIP_CALL, .version = RTL_STREAM_HIP_CALL_VERSION},
	[WANTED_DEBUG] = {.name = RTL_STREAM_HSA_CALL_DEBUG,
			  .version = RTL_STREAM_HSA_CALL_DEBUG_VERSION},
	[WANTED_HIP | WANTED_DEBUG] = {.name = RTL_STREAM_HIP_CALL_DEBUG,
				       .version = RTL_STREAM_HIP_CALL_DEBUG_VERSION},
};

int wanted_call_stream(const char *name)
{
	const struct wanted_stream *found = wanted_find(WANTED(call_streams), name);

	return found ? (int)(found - call_streams) : -1;
}

static void give_up_plain(const struct rtl_host *host, struct wanted_calls *calls)
{
	for (int i = 0; i < 2; i++) {
		if (calls->plain[i])
			host->unsubscribe(host, calls->plain[i]);
		calls->plain[i] = NULL;
	}
}

int wanted_subscribe_calls(const struct rtl_host *host, const struct rtl_stream_info *info,
			   int stream, bool args, rtl_events_fn take, void *user,
			   struct wanted_calls *calls)
{
	const bool debug = stream & WANTED_DEBUG;
	const size_t size =
		stream & WANTED_HIP ? sizeof(struct rtl_hip_call) : sizeof(struct rtl_hsa_call);
	const struct wanted types[] = {
		{debug ? RTL_FUNCTION_WITH_ARGS_END : RTL_FUNCTION_END, size, take, false},
		{debug ? RTL_FUNCTION_WITH_ARGS_UNFINISHED : RTL_FUNCTION_UNFINISHED, size, take,
		 true},
	};
	struct wanted_stream wanted = call_streams[stream];
	int result;

	wanted.types = types;
	wanted.count = 2;
	if (!fits(info, &wanted))
		return RTL_ENOTSUP;
	if (debug ? !args : calls->have_args)
		return 0;
	result = wanted_subscribe(host, info, &wanted, user, debug ? NULL : calls->plain);
	if (debug && result == 0) {
		calls->have_args = true;
		give_up_plain(host, calls);
	}
	return result;
}
