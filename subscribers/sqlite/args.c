/* SPDX-License-Identifier: MIT */
/* args.c: rtl_args: the arguments of calls and the like, each set once: as a text, and as the bytes from which a replay
 * makes the event again. In these, strings are named by their ids in rtl_string. */
#include "sub.h"

#include <rtl/args.h>

bool args_init(struct sub *sub)
{
	struct writer *w = &sub->writer;

	sub->args_known.next_id = writer_ask_int(w, "SELECT max(id) FROM rtl_args") + 1;
	return rows_init(&sub->args, w, "INSERT OR FAIL", "rtl_args", 4);
}

/* As RPD's tools expect arguments: "stream=0x7f2a | graph=0x51". What the call has written is named as
 * the thing itself, not as the pointer to it: pGraph is graph. */
static size_t rpd_text(struct sub *sub, const struct rtl_event *event,
		       const struct rtl_field *field, char *text, size_t size)
{
	struct rtl_args args = rtl_args_begin(sub->host, event, field);
	struct rtl_args_line line = {text, size, 0};
	struct rtl_value value;

	while (rtl_args_next(&args, &value)) {
		const char *name = value.name;

		if (line.length)
			rtl_args_put(&line, " | ", 3);
		if (value.flags & RTL_ARG_OUT && name[0] == 'p' && name[1] >= 'A' &&
		    name[1] <= 'Z') {
			const char small = (char)(name[1] - 'A' + 'a');

			rtl_args_put(&line, &small, 1);
			name += 2;
		}
		rtl_args_put(&line, name, strlen(name));
		rtl_args_put(&line, "=", 1);
		rtl_args_put_value(&line, sub->host, event, &value);
	}
	return line.length;
}

static void put_string(struct sub *sub, struct process *process, char *at)
{
	uint64_t string, id;

	memcpy(&string, at, sizeof(string));
	id = string ? (uint64_t)string_of_host(sub, process, string) : 0;
	memcpy(at, &id, sizeof(id));
}

/* The names of an array of struct rtl_arg, and values that are strings. */
static void put_names(struct sub *sub, struct process *process, char *args, uint32_t size)
{
	for (uint32_t i = 0; i + sizeof(struct rtl_arg) <= size;
	     i += (uint32_t)sizeof(struct rtl_arg)) {
		struct rtl_arg arg;

		memcpy(&arg, args + i, sizeof(arg));
		put_string(sub, process, args + i + offsetof(struct rtl_arg, name));
		if (arg.kind == RTL_KIND_STRING)
			put_string(sub, process, args + i + offsetof(struct rtl_arg, value));
	}
}

static void put_values(struct sub *sub, struct process *process, char *values, uint32_t size,
		       uint64_t uid)
{
	const struct rtl_host *host = sub->host;
	const struct rtl_values_info *info = host->values(host, process->info, uid);

	for (uint32_t i = 0; info && i < info->count; i++) {
		const struct rtl_value_info *value = rtl_values_info_one(info, i);

		if (value->kind == RTL_KIND_STRING && value->offset + 8u <= size)
			put_string(sub, process, values + value->offset);
	}
}

static void put_quoted(sqlite3_str *json, const char *text, size_t length)
{
	sqlite3_str_appendchar(json, 1, '"');
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == '"' || text[i] == '\\')
			sqlite3_str_appendf(json, "\\u%04x", (unsigned char)text[i]);
		else
			sqlite3_str_append(json, &text[i], 1);
	sqlite3_str_appendchar(json, 1, '"');
}

/* {"name": ["kind", value], ...}, of what has names of its own. To be freed by sqlite3_free. */
static char *make_json(struct sub *sub, const struct rtl_event *event,
		       const struct rtl_field *field)
{
	struct rtl_args args = rtl_args_begin(sub->host, event, field);
	sqlite3_str *json = sqlite3_str_new(NULL);
	struct rtl_value value;
	const char *text;

	while (rtl_args_next(&args, &value)) {
		if (!value.kind)
			continue;
		sqlite3_str_appendall(json, sqlite3_str_length(json) ? ",\n" : "{");
		put_quoted(json, value.name, strlen(value.name));
		sqlite3_str_appendf(json, ":[\"%s\",",
				    wanted_kind_name(value.kind == RTL_KIND_STRING ? RTL_KIND_TEXT
										   : value.kind));
		text = value.kind == RTL_KIND_STRING
			       ? sub->host->string(sub->host, event->process, value.number)
			       : NULL;
		if (value.kind == RTL_KIND_TEXT)
			put_quoted(json, value.text, value.length);
		else if (value.kind == RTL_KIND_STRING)
			put_quoted(json, text ? text : "", text ? strlen(text) : 0);
		else if (value.kind == RTL_KIND_FLOAT)
			sqlite3_str_appendf(json, "%!.17g", value.real);
		else if (value.kind == RTL_KIND_INT)
			sqlite3_str_appendf(json, "%lld", (long long)value.integer);
		else /* as the columns of tables have it */
			sqlite3_str_appendf(json, "%lld", (long long)value.number);
		sqlite3_str_appendall(json, "]");
	}
	if (sqlite3_str_length(json))
		sqlite3_str_appendall(json, "}");
	return sqlite3_str_finish(json);
}

/* What is kept with them begins where they do, or behind the fixed part: there their texts are. */
static uint32_t begin_of(const struct rtl_event *event, struct rtl_text place)
{
	const uint32_t fixed = event->type_info->payload_size;

	return place.offset < fixed ? place.offset : fixed;
}

static void write_args(struct sub *sub, struct process *process, int64_t id,
		       const struct rtl_event *event, const struct rtl_field *field,
		       struct rtl_text place)
{
	const uint32_t from = begin_of(event, place), size = event->payload_size - from;
	char text[RTL_PAYLOAD_MAX], bytes[sizeof(place) + RTL_PAYLOAD_MAX];
	char *json = field->kind == RTL_KIND_ARGS ? make_json(sub, event, field) : NULL;
	struct cell *cells;
	size_t length;

	length = sub->settings.rpd_args
			 ? rpd_text(sub, event, field, text, sizeof(text))
			 : rtl_args_text(sub->host, event, field, text, sizeof(text));
	memcpy(bytes, &place, sizeof(place));
	memcpy(bytes + sizeof(place), (const char *)event->payload + from, size);
	if (field->kind == RTL_KIND_ARGS)
		put_names(sub, process, bytes + sizeof(place) + place.offset - from, place.length);
	else
		put_values(sub, process, bytes + sizeof(place) + place.offset - from, place.length,
			   event->uid);
	cells = rows_add(&sub->args);
	cell_int(&cells[0], id);
	cell_plain(&sub->args, &cells[1], text, length < sizeof(text) ? length : sizeof(text) - 1);
	cell_blob(&sub->args, &cells[2], bytes, sizeof(place) + size);
	cell_text(&sub->args, &cells[3], json);
	sqlite3_free(json);
}

int64_t args_id(struct sub *sub, struct process *process, const struct rtl_event *event,
		const struct rtl_field *field)
{
	const uint64_t whose[] = {process->number, event->uid};
	char key[sizeof(whose) + sizeof(struct rtl_text) + RTL_PAYLOAD_MAX];
	struct rtl_text place;
	uint32_t from, size;
	bool is_new;
	int64_t id;

	memcpy(&place, (const char *)event->payload + field->offset, sizeof(place));
	if (!place.length || event->payload_size > RTL_PAYLOAD_MAX ||
	    (uint64_t)place.offset + place.length > event->payload_size)
		return 0;
	from = begin_of(event, place);
	size = event->payload_size - from;
	memcpy(key, whose, sizeof(whose));
	memcpy(key + sizeof(whose), &place, sizeof(place));
	memcpy(key + sizeof(whose) + sizeof(place), (const char *)event->payload + from, size);
	id = dictionary_find(&sub->args_known, key, sizeof(whose) + sizeof(place) + size, &is_new);
	if (!id)
		writer_error(&sub->writer, SQLITE_NOMEM, "arguments");
	else if (is_new)
		write_args(sub, process, id, event, field, place);
	return id;
}
