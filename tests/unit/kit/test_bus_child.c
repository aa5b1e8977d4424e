/* SPDX-License-Identifier: MIT */
/* See test_bus_child.h. Usage: test_bus_child SCENARIO, with the environment of the bus. */
#include "test_bus_child.h"

#include <rtl/describe.h>

#include <sched.h>

const struct probe_hooks *probe_hooks;
struct arrived arrived;
static struct scenario *scenarios;

void scenario_add(struct scenario *scenario)
{
	scenario->next = scenarios;
	scenarios = scenario;
}

void check_failed(const char *file, int line, const char *what)
{
	char text[512];
	int n = snprintf(text, sizeof(text), "CHECK failed: %s:%d: %s\n", file, line, what);

	if (write(STDERR_FILENO, text, (size_t)n) < 0)
		_exit(98);
	_exit(99);
}

#define FIELD(member, kind) RTL_FIELD(struct item, member, kind, "", "")

static const struct rtl_field item_fields[] = {
	FIELD(sequence, RTL_KIND_UINT),
	FIELD(thread, RTL_KIND_UINT),
	FIELD(tail, RTL_KIND_UINT),
};

#define TYPE(type_, name_, fields_, count_, size_)                                                 \
	{                                                                                          \
		.struct_size = sizeof(struct rtl_type_info), .type = type_, .field_count = count_, \
		.payload_size = size_, .name = name_, .description = "", .fields = fields_         \
	}

static const struct rtl_type_info types[] = {
	TYPE(RTL_TASK_BEGIN, "task_begin", item_fields, 3, sizeof(struct item)),
	TYPE(RTL_TASK_END, "task_end", item_fields, 3, sizeof(struct item)),
	TYPE(RTL_SIGNAL, "signal", NULL, 0, 0),
};

struct rtl_stream *register_stream(const char *name)
{
	const struct rtl_stream_info info = RTL_STREAM_INFO(name, 1, 0, types, "of the tests");
	struct rtl_stream *stream = &rtl_stream_none;

	CHECK(!rtl_stream_register(&info, &stream));
	CHECK(stream != &rtl_stream_none);
	return stream;
}

static uint8_t pattern_byte(uint64_t sequence, uint32_t i)
{
	return (uint8_t)(sequence * 31 + i * 7 + (i >> 8));
}

static bool fill_item(struct rtl_record *record, uint32_t thread, uint64_t sequence, uint32_t tail)
{
	struct item *item;
	uint8_t *bytes;

	if (!record)
		return false;
	item = rtl_record_payload(record);
	item->sequence = sequence;
	item->thread = thread;
	item->tail = tail;
	bytes = (uint8_t *)(item + 1);
	for (uint32_t i = 0; i < tail; i++)
		bytes[i] = pattern_byte(sequence, i);
	record->instance = sequence;
	rtl_commit(record);
	return true;
}

bool publish_item(struct rtl_stream *stream, uint16_t type, uint32_t thread, uint64_t sequence,
		  uint32_t tail)
{
	return fill_item(rtl_reserve(stream, type, (uint32_t)sizeof(struct item) + tail), thread,
			 sequence, tail);
}

bool item_is_whole(const struct rtl_event *event)
{
	const struct item *item = event->payload;
	const uint8_t *bytes = (const uint8_t *)(item + 1);

	if (event->payload_size < sizeof(*item) || event->instance != item->sequence ||
	    event->payload_size - sizeof(*item) != item->tail)
		return false;
	for (uint32_t i = 0; i < item->tail; i++)
		if (bytes[i] != pattern_byte(item->sequence, i))
			return false;
	return true;
}

struct rtl_ledger ledger_of(const struct rtl_stream *stream)
{
	struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};

	CHECK(!rtl_stream_ledger(stream, &ledger));
	return ledger;
}

void flush_all(void)
{
	CHECK(!rtl_flush(30000));
}

void count_arrived(struct probe *probe, const struct rtl_event *const *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct item *item = event_item(events[i]);

		if (events[i]->type != RTL_TASK_BEGIN)
			continue;
		CHECK(item_is_whole(events[i]));
		CHECK(item->thread < THREADS_MAX);
		CHECK(item->sequence >= arrived.next[item->thread]);
		arrived.gaps += item->sequence - arrived.next[item->thread];
		arrived.next[item->thread] = item->sequence + 1;
		arrived.total++;
	}
}

pthread_t start_thread(void *(*fn)(void *), void *user)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, fn, user));
	return thread;
}

void join_thread(pthread_t thread)
{
	CHECK(!pthread_join(thread, NULL));
}

char thread_state(uint32_t tid)
{
	char path[64], text[512] = "", *end;
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/self/task/%u/stat", tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = 0;
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : 0;
}

void flag_wait(const uint32_t *flag, uint32_t value)
{
	while (flag_get(flag) != value)
		sched_yield();
}

int main(int argc, char **argv)
{
	struct scenario *s;

	if (argc != 2) {
		fprintf(stderr, "usage: %s SCENARIO\n", argv[0]);
		return 2;
	}
	for (s = scenarios; s; s = s->next)
		if (!strcmp(s->name, argv[1])) {
			s->run();
			return 0;
		}
	fprintf(stderr, "%s: no scenario %s\n", argv[0], argv[1]);
	return 2;
}
