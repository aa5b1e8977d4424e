/* SPDX-License-Identifier: MIT */
/**
 * @file args.h
 * For subscribers: reading fields of RTL_KIND_ARGS, named values such as the arguments of a call.
 *
 *     char text[1024];
 *     rtl_args_text(host, event, field, text, sizeof text);   // "queue=0x7f2a, value=1"
 *
 *     for (uint32_t i = 0; i < rtl_args_count(event, field); i++) {
 *             struct rtl_arg arg = rtl_args_get(event, field, i);
 *             const char *name = host->string(host, event->process, arg.name);
 *             ...
 *     }
 *
 * Inline functions only, without state. Callable wherever the event is valid.
 */
#ifndef RTL_ARGS_H
#define RTL_ARGS_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rtl/subscriber.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How many named values the field holds; 0 too if it lies outside of the payload. */
static inline uint32_t rtl_args_count(const struct rtl_event *event, const struct rtl_field *field)
{
	struct rtl_text place;

	memcpy(&place, (const char *)event->payload + field->offset, sizeof place);
	if ((uint64_t)place.offset + place.length > event->payload_size)
		return 0;
	return place.length / (uint32_t)sizeof(struct rtl_arg);
}

/** The value of that number, from 0; less than rtl_args_count. */
static inline struct rtl_arg rtl_args_get(const struct rtl_event *event,
					  const struct rtl_field *field, uint32_t number)
{
	struct rtl_text place;
	struct rtl_arg arg;

	memcpy(&place, (const char *)event->payload + field->offset, sizeof place);
	memcpy(&arg,
	       (const char *)event->payload + place.offset +
		       (size_t)number * sizeof(struct rtl_arg),
	       sizeof arg);
	return arg;
}

/** One value as text, as snprintf does it: "12", "0x7f2a", "true", "HSA_WAIT_STATE_BLOCKED",
 *  "'a text'" with "..." behind it if it was longer. */
static inline int rtl_arg_text(const struct rtl_host *host, const struct rtl_event *event,
			       const struct rtl_arg *arg, char *out, size_t size)
{
	const char *string;

	switch (arg->kind) {
	case RTL_KIND_UINT:
	case RTL_KIND_TIME:
		return snprintf(out, size, "%" PRIu64, arg->value.number);
	case RTL_KIND_INT:
		return snprintf(out, size, "%" PRId64, arg->value.integer);
	case RTL_KIND_FLOAT:
		return snprintf(out, size, "%.17g", arg->value.real);
	case RTL_KIND_BOOL:
		return snprintf(out, size, "%s", arg->value.number ? "true" : "false");
	case RTL_KIND_ADDRESS:
	case RTL_KIND_UID:
		return snprintf(out, size, "0x%" PRIx64, arg->value.number);
	case RTL_KIND_STRING:
		string = host->string(host, event->process, arg->value.number);
		return snprintf(out, size, "%s", string ? string : "");
	case RTL_KIND_TEXT:
		if ((uint64_t)arg->value.text.offset + arg->value.text.length > event->payload_size)
			return snprintf(out, size, "?");
		return snprintf(out, size, "'%.*s'%s", (int)arg->value.text.length,
				(const char *)event->payload + arg->value.text.offset,
				arg->flags & RTL_ARG_CUT ? "..." : "");
	default:
		return snprintf(out, size, "?");
	}
}

/**
 * All values of a field as one line: "size=4096, *ptr=0x7f2a"; the star stands before what the
 * call has written.
 * @param[out] out  always terminated, unless size is 0
 * @return the length that it would have with room enough, as snprintf
 */
static inline size_t rtl_args_text(const struct rtl_host *host, const struct rtl_event *event,
				   const struct rtl_field *field, char *out, size_t size)
{
	const uint32_t count = rtl_args_count(event, field);
	size_t length = 0;

	if (size)
		out[0] = '\0';
	for (uint32_t i = 0; i < count; i++) {
		const struct rtl_arg arg = rtl_args_get(event, field, i);
		const char *name = host->string(host, event->process, arg.name);
		size_t at = length < size ? length : size;
		int n = snprintf(out + at, size - at, "%s%s%s=", i ? ", " : "",
				 arg.flags & RTL_ARG_OUT ? "*" : "", name ? name : "");

		length += n > 0 ? (size_t)n : 0;
		at = length < size ? length : size;
		n = rtl_arg_text(host, event, &arg, out + at, size - at);
		length += n > 0 ? (size_t)n : 0;
	}
	return length;
}

#ifdef __cplusplus
}
#endif
#endif
