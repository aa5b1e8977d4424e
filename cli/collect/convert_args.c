/* SPDX-License-Identifier: MIT */
/* See convert_args.h. */
#include "convert_args.h"

#include <string.h>

/* What a function declares. */
struct parameters {
	struct parameter {
		struct convert_text type, name;
	} list[CONVERT_ARGS_MOST];
	size_t count;
};

/* "const hsa_queue_t *queue": its name is what stands last. */
static struct parameter read_parameter(const char *text, size_t length)
{
	size_t at = length;

	while (at && text[at - 1] != ' ' && text[at - 1] != '*' && text[at - 1] != '&')
		at--;
	struct parameter parameter = {{text, at}, {text + at, length - at}};

	while (parameter.type.length && text[parameter.type.length - 1] == ' ')
		parameter.type.length--;
	return parameter;
}

static void read_parameters(const char *declared, struct parameters *parameters)
{
	parameters->count = 0;
	while (*declared && parameters->count < CONVERT_ARGS_MOST) {
		const char *end = strstr(declared, ", ");
		const size_t length = end ? (size_t)(end - declared) : strlen(declared);

		parameters->list[parameters->count++] = read_parameter(declared, length);
		declared += length + (end ? 2 : 0);
	}
}

/* The parameter, from that one on, whose "name=" stands there; the count: none. */
static size_t find_parameter(const struct parameters *parameters, size_t from, const char *at)
{
	at += strspn(at, "*");
	for (size_t i = from; i < parameters->count; i++) {
		const struct convert_text *name = &parameters->list[i].name;

		if (strncmp(at, name->text, name->length) == 0 && at[name->length] == '=')
			return i;
	}
	return parameters->count;
}

/* Where the value that begins there ends: before the next parameter, as a text may hold commas. */
static const char *find_end(const struct parameters *parameters, size_t from, const char *value)
{
	const char *end = value;

	while ((end = strstr(end, ", "))) {
		if (find_parameter(parameters, from, end + 2) < parameters->count)
			return end;
		end += 2;
	}
	return value + strlen(value);
}

size_t convert_args(const char *declared, const char *line,
		    struct convert_arg args[CONVERT_ARGS_MOST])
{
	struct parameters parameters;
	size_t count = 0, next = 0;

	read_parameters(declared, &parameters);
	while (*line && count < CONVERT_ARGS_MOST) {
		struct convert_arg *arg = &args[count++];
		const size_t place = find_parameter(&parameters, next, line);
		const char *equals = strchr(line, '='), *end;

		*arg = (struct convert_arg){.position = next};
		if (place == parameters.count || !equals) {
			arg->value = (struct convert_text){line, strlen(line)};
			return count;
		}
		next = place + 1;
		end = find_end(&parameters, next, equals + 1);
		arg->position = place;
		arg->type = parameters.list[place].type;
		arg->name = (struct convert_text){line, (size_t)(equals - line)};
		arg->value = (struct convert_text){equals + 1, (size_t)(end - equals - 1)};
		arg->pointed = (unsigned)strspn(line, "*");
		line = *end ? end + 2 : end;
	}
	return count;
}
