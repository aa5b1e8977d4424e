/* SPDX-License-Identifier: MIT */
/* Descriptions of values: the input is one, and the values behind its first NUL. */

#include <rtl/args.h>

#include "fuzz.h"
#include "stream_info.h"
#include "touch.h"

static struct rtl_values_info *info;

static const struct rtl_values_info *say(const struct rtl_host *host,
					 const struct rtl_process *process, uint64_t uid)
{
	return info;
}

static const char *no_string(const struct rtl_host *host, const struct rtl_process *process,
			     uint64_t id)
{
	return NULL;
}

static void read_values(const uint8_t *data, size_t size)
{
	const struct rtl_host host = {
		.struct_size = sizeof(host), .string = no_string, .values = say};
	const struct rtl_field field = {.struct_size = sizeof(field), .kind = RTL_KIND_VALUES};
	const struct rtl_text place = {8, (uint32_t)size};
	struct rtl_event event = {.struct_size = sizeof(event), .payload_size = (uint32_t)size + 8};
	char *payload = malloc(size + 8), text[300];

	if (!payload)
		return;
	memcpy(payload, &place, sizeof(place));
	memcpy(payload + 8, data, size);
	event.payload = payload;
	rtl_args_text(&host, &event, &field, text, sizeof(text));
	touch_text(text);
	free(payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	size_t length;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	length = strlen(text);
	info = values_parse(text);
	if (info)
		read_values(data + length, size - length);
	free(info);
	free(text);
	return 0;
}
