/* SPDX-License-Identifier: MIT */
/** @file args.h
 * For subscribers: reading named values such as the arguments of a call, which fields of RTL_KIND_ARGS and
 * RTL_KIND_VALUES hold.
 *
 *     char text[1024];
 *     rtl_args_text(host, event, field, text, sizeof(text));   // "queue=0x7f2a, value=1"
 *
 *     struct rtl_args args = rtl_args_begin(host, event, field);
 *     struct rtl_value value;
 *     while (rtl_args_next(&args, &value))
 *             if (value.kind == RTL_KIND_UINT)
 *                     printf("%s is %" PRIu64, value.name, value.number);
 *
 * Inline functions only, without state. Callable wherever the event is valid. */
#ifndef RTL_ARGS_H
#define RTL_ARGS_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rtl/subscriber.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One value. Not part of the ABI: made by the functions below, and valid as long as the event. */
struct rtl_value {
	const char *name;       /**< never NULL */
	const char *enumerator; /**< name of the number; NULL: it has none */
	uint16_t kind;          /**< enum rtl_kind; 0: it cannot be read */
	uint16_t flags;         /**< enum rtl_arg_flags */
	uint32_t length;        /**< of a text, bytes */
	uint64_t number;        /**< RTL_KIND_UINT, BOOL, ADDRESS, TIME, STRING, UID */
	int64_t integer;        /**< RTL_KIND_INT */
	double real;            /**< RTL_KIND_FLOAT */
	const char *text;       /**< RTL_KIND_TEXT: not terminated */
};

/** A walk over the values of an event's field. */
struct rtl_args {
	const struct rtl_host *host;
	const struct rtl_event *event;
	const struct rtl_values_info *info; /**< NULL: an array of struct rtl_arg */
	const unsigned char *values;
	uint32_t length; /**< bytes */
	uint32_t next;
	uint32_t count;
	uint64_t states;
};

/** The first field that holds such values; NULL: the type has none. */
static inline const struct rtl_field *rtl_args_field(const struct rtl_type_info *type)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct rtl_field *field = rtl_type_field(type, i);

		if (field->kind == RTL_KIND_ARGS || field->kind == RTL_KIND_VALUES)
			return field;
	}
	return NULL;
}

/** One of a description's values; number: less than info->count. */
static inline const struct rtl_value_info *rtl_values_info_one(const struct rtl_values_info *info,
							       uint32_t number)
{
	return (const struct rtl_value_info *)(const void *)((const char *)info->values +
							     (size_t)number *
								     info->values->struct_size);
}

/* Those that their tracepoint describes. */
static inline void rtl_args_describe(struct rtl_args *args)
{
	const struct rtl_host *host = args->host;
	const struct rtl_event *event = args->event;

	if (host->struct_size < offsetof(struct rtl_host, values) + sizeof(host->values))
		return;
	args->info = host->values(host, event->process, event->uid);
	if (!args->info || (args->info->has_states && args->length < sizeof(args->states)))
		return;
	if (args->info->has_states)
		memcpy(&args->states, args->values, sizeof(args->states));
	args->count = args->info->count;
}

/** Begins a walk over them; a field of another kind, or outside of the payload, has none. */
static inline struct rtl_args rtl_args_begin(const struct rtl_host *host,
					     const struct rtl_event *event,
					     const struct rtl_field *field)
{
	struct rtl_args args;
	struct rtl_text place;

	memset(&args, 0, sizeof(args));
	args.host = host;
	args.event = event;
	if (field->kind != RTL_KIND_ARGS && field->kind != RTL_KIND_VALUES)
		return args;
	memcpy(&place, (const char *)event->payload + field->offset, sizeof(place));
	if ((uint64_t)place.offset + place.length > event->payload_size)
		return args;
	args.values = (const unsigned char *)event->payload + place.offset;
	args.length = place.length;
	if (field->kind == RTL_KIND_ARGS)
		args.count = place.length / (uint32_t)sizeof(struct rtl_arg);
	else if (place.length)
		rtl_args_describe(&args);
	return args;
}

/* The name of a number; NULL: it has none. */
static inline const char *rtl_args_enumerator(const struct rtl_value_info *info, int64_t value)
{
	uint32_t low = 0, high = info->enumerator_count;

	/* Most count from 0. */
	if (value >= 0 && value < (int64_t)high && info->enumerators[value].value == value)
		return info->enumerators[value].name;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (info->enumerators[middle].value == value)
			return info->enumerators[middle].name;
		if (info->enumerators[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Reads a number of 1 to 8 bytes. */
static inline void rtl_args_number(struct rtl_value *value, const unsigned char *from,
				   uint32_t size)
{
	const uint32_t unused = 64 - 8 * size;
	float narrow;

	value->number = 0;
	memcpy(&value->number, from, size); /* little-endian */
	if (value->kind == RTL_KIND_INT) {
		value->integer = (int64_t)(value->number << unused) >> unused;
	} else if (value->kind == RTL_KIND_FLOAT && size == sizeof(narrow)) {
		memcpy(&narrow, from, sizeof(narrow));
		value->real = (double)narrow;
	} else if (value->kind == RTL_KIND_FLOAT) {
		memcpy(&value->real, from, sizeof(value->real));
	}
}

/* Reads where a text is. */
static inline void rtl_args_place(const struct rtl_event *event, struct rtl_value *value,
				  const unsigned char *from)
{
	struct rtl_text place;

	memcpy(&place, from, sizeof(place));
	value->length = place.length;
	value->text = (const char *)event->payload + place.offset;
	if ((uint64_t)place.offset + place.length > event->payload_size)
		value->kind = 0;
}

/* The next of an array. */
static inline void rtl_args_read(const struct rtl_args *args, uint32_t i, struct rtl_value *value)
{
	struct rtl_arg arg;

	memcpy(&arg, args->values + (size_t)i * sizeof(arg), sizeof(arg));
	value->name = args->host->string(args->host, args->event->process, arg.name);
	value->name = value->name ? value->name : "";
	value->kind = arg.kind;
	value->flags = arg.flags;
	if (arg.kind == RTL_KIND_TEXT)
		rtl_args_place(args->event, value, (const unsigned char *)&arg.value);
	else
		rtl_args_number(value, (const unsigned char *)&arg.value, sizeof(arg.value));
}

/* The next of those that are described. False: it is not there. */
static inline bool rtl_args_read_value(const struct rtl_args *args, uint32_t i,
				       struct rtl_value *value)
{
	const struct rtl_value_info *info = rtl_values_info_one(args->info, i);
	const unsigned char *from = args->values + info->offset;
	const uint32_t state = (uint32_t)(args->states >> 2 * i) & 3;
	uint32_t size = info->size;

	if ((uint64_t)info->offset + size > args->length)
		return false;
	value->name = info->name;
	value->kind = info->kind;
	value->flags = 0;
	if (state && info->out_kind) {
		value->kind = info->out_kind;
		value->flags = RTL_ARG_OUT;
		size = info->out_size;
	}
	if (value->kind == RTL_KIND_TEXT && state) {
		value->flags |= state == RTL_VALUE_BEGINNING ? RTL_ARG_CUT : 0;
		rtl_args_place(args->event, value, from);
		return true;
	}
	if (value->kind == RTL_KIND_TEXT)
		value->kind = RTL_KIND_ADDRESS;
	rtl_args_number(value, from, size);
	if (info->enumerator_count && value->kind == RTL_KIND_INT)
		value->enumerator = rtl_args_enumerator(info, value->integer);
	else if (info->enumerator_count && value->kind == RTL_KIND_UINT)
		value->enumerator = rtl_args_enumerator(info, (int64_t)value->number);
	return true;
}

/** The next value. False: there is none left. */
static inline bool rtl_args_next(struct rtl_args *args, struct rtl_value *value)
{
	if (args->next >= args->count)
		return false;
	value->enumerator = NULL;
	value->length = 0;
	if (!args->info)
		rtl_args_read(args, args->next, value);
	else if (!rtl_args_read_value(args, args->next, value))
		return false;
	args->next++;
	return true;
}

/* ---- as text */

/* A line that is written: `length` goes on where there is no room. */
struct rtl_args_line {
	char *out;
	size_t size, length;
};

static inline void rtl_args_put(struct rtl_args_line *line, const char *text, size_t length)
{
	const size_t room = line->length < line->size ? line->size - line->length : 0;

	if (room)
		memcpy(line->out + line->length, text, length < room ? length : room);
	line->length += length;
}

static inline __attribute__((always_inline)) void rtl_args_put_number(struct rtl_args_line *line,
								      uint64_t value, unsigned base)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = "0123456789abcdef"[value % base];
	while (value /= base);
	rtl_args_put(line, digits + at, sizeof(digits) - at);
}

static inline void rtl_args_put_value(struct rtl_args_line *line, const struct rtl_host *host,
				      const struct rtl_event *event, const struct rtl_value *value)
{
	const char *string = value->enumerator;
	char real[32];

	if (string) {
		rtl_args_put(line, string, strlen(string));
		return;
	}
	switch (value->kind) {
	case RTL_KIND_INT:
		if (value->integer < 0)
			rtl_args_put(line, "-", 1);
		rtl_args_put_number(line,
				    value->integer < 0 ? 0 - (uint64_t)value->integer
						       : (uint64_t)value->integer,
				    10);
		break;
	case RTL_KIND_UINT:
	case RTL_KIND_TIME:
		rtl_args_put_number(line, value->number, 10);
		break;
	case RTL_KIND_FLOAT:
		rtl_args_put(line, real,
			     (size_t)snprintf(real, sizeof(real), "%.17g", value->real));
		break;
	case RTL_KIND_BOOL:
		string = value->number ? "true" : "false";
		rtl_args_put(line, string, strlen(string));
		break;
	case RTL_KIND_ADDRESS:
	case RTL_KIND_UID:
		rtl_args_put(line, "0x", 2);
		rtl_args_put_number(line, value->number, 16);
		break;
	case RTL_KIND_STRING:
		string = host->string(host, event->process, value->number);
		rtl_args_put(line, string ? string : "", string ? strlen(string) : 0);
		break;
	case RTL_KIND_TEXT:
		rtl_args_put(line, "'", 1);
		rtl_args_put(line, value->text, value->length);
		rtl_args_put(line, "'...", value->flags & RTL_ARG_CUT ? 4 : 1);
		break;
	default:
		rtl_args_put(line, "?", 1);
		break;
	}
}

static inline size_t rtl_args_end(const struct rtl_args_line *line)
{
	if (line->size)
		line->out[line->length < line->size ? line->length : line->size - 1] = '\0';
	return line->length;
}

/** One value as text: "12", "0x7f2a", "true", "HSA_WAIT_STATE_BLOCKED", "'a text'" ("..." follows a cut one).
 * @param[out] out  always terminated, unless size is 0
 * @return the length that it would have with room enough, as snprintf */
static inline size_t rtl_value_text(const struct rtl_host *host, const struct rtl_event *event,
				    const struct rtl_value *value, char *out, size_t size)
{
	struct rtl_args_line line = {out, size, 0};

	rtl_args_put_value(&line, host, event, value);
	return rtl_args_end(&line);
}

/** All values of a field as one line: "size=4096, *ptr=0x7f2a"; the star stands before what the
 *  call has written. As rtl_value_text. */
static inline size_t rtl_args_text(const struct rtl_host *host, const struct rtl_event *event,
				   const struct rtl_field *field, char *out, size_t size)
{
	struct rtl_args args = rtl_args_begin(host, event, field);
	struct rtl_args_line line = {out, size, 0};
	struct rtl_value value;

	while (rtl_args_next(&args, &value)) {
		if (line.length)
			rtl_args_put(&line, ", ", 2);
		if (value.flags & RTL_ARG_OUT)
			rtl_args_put(&line, "*", 1);
		rtl_args_put(&line, value.name, strlen(value.name));
		rtl_args_put(&line, "=", 1);
		rtl_args_put_value(&line, host, event, &value);
	}
	return rtl_args_end(&line);
}

#ifdef __cplusplus
}
#endif
#endif
