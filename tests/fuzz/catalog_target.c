/* SPDX-License-Identifier: MIT */
/* The dictionary's reader: the input is a dictionary that grows, in steps that its first bytes
 * say; then everything that was read is looked up. */

#include "catalog.h"
#include "dict.h"
#include "fuzz.h"
#include "touch.h"

static void look_up(struct catalog *catalog, const uint8_t *dict, size_t size)
{
	struct rtl_tracepoint tracepoint;
	struct rtl_metadata *metadata = NULL;
	uint32_t room = 0, i;
	uint64_t id;

	for (size_t at = 0; at + 16 <= size; at += 8) {
		memcpy(&id, dict + at, 8);
		if (catalog_string(catalog, id))
			touch_text(catalog_string(catalog, id));
		if (!catalog_tracepoint(catalog, id, &tracepoint, &metadata, &room))
			continue;
		touch_text(tracepoint.kind);
		touch_text(tracepoint.name);
		touch_text(tracepoint.source);
		touch_text(tracepoint.module);
		for (i = 0; i < tracepoint.metadata_count; i++) {
			touch_text(tracepoint.metadata[i].key);
			touch_text(tracepoint.metadata[i].value);
		}
	}
	free(metadata);
}

/* The first end of an entry that lies `step` bytes behind `from`; all, where none does. */
static size_t next_length(const uint8_t *dict, size_t from, size_t step, size_t size)
{
	struct dict_entry entry;
	size_t at = from;

	while (at - from < step) {
		if (size - at < sizeof(entry))
			return size;
		memcpy(&entry, dict + at, sizeof(entry));
		if (entry.size < sizeof(entry) || entry.size % 8 || entry.size > size - at)
			return size;
		at += entry.size;
	}
	return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	size_t step = input_number(&in, 1) + 1, skip = 7, length, i;
	struct catalog catalog = {0};
	uint8_t *dict;

	skip = in.left < skip ? in.left : skip;
	in.at += skip;
	in.left -= skip;
	dict = malloc(in.left + 1); /* aligned, as a mapping, and no longer than the input */
	if (!dict)
		abort();
	memcpy(dict, in.at, in.left);
	for (length = 0; length < in.left;) {
		length = next_length(dict, length, step * 8, in.left);
		catalog_read(&catalog, dict, length);
	}
	if (catalog.process.program) {
		touch_text(catalog.process.command);
		touch_text(catalog.process.run);
	}
	for (i = 0; i < catalog.stream_count; i++)
		touch_stream(catalog.streams[i]);
	look_up(&catalog, dict, in.left);
	catalog_fini(&catalog);
	free(dict);
	return 0;
}

#ifdef RTL_LIBFUZZER
/* Entries keep their sizes sound now and then: else nothing behind the first is ever read. */
static void mend(uint8_t *dict, size_t size)
{
	struct dict_entry entry;

	for (size_t at = 0; at + sizeof(entry) <= size; at += entry.size) {
		memcpy(&entry, dict + at, sizeof(entry));
		if (entry.size < 8 || entry.size % 8 || entry.size > size - at)
			entry.size = (uint32_t)((size - at) & ~(size_t)7);
		if (entry.kind > DICT_METADATA + 1)
			entry.kind = entry.kind % 5 + 1;
		memcpy(dict + at, &entry, sizeof(entry));
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	size = LLVMFuzzerMutate(data, size, max_size);
	if (size > 8 && seed % 4)
		mend(data + 8, size - 8);
	return size;
}
#endif
