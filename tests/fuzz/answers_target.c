/* SPDX-License-Identifier: MIT */
/* Answers of a ClickHouse server, or of what is in its place: tables are prepared, a run is looked up with
 * what is stored of it, and a row is stored. The questions are static: their file is part of this one. */
#include "run.c"

#include "fake_curl.h"

#include <time.h>

static const struct column_info columns[] = {
	{.name = "begin_ns", .type = "UInt64", .doc = "when"},
	{.name = "name", .type = "String", .doc = "it's"},
};

static struct table_info table = {
	.name = "rtl_test", .columns = columns, .count = sizeof(columns) / sizeof(*columns)};

/* Nobody waits. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
	return 0;
}

static void fini_process(struct process *process)
{
	for (size_t i = 0; i < process->mark_count; i++)
		free(process->marks[i].table);
	free(process->marks);
}

static void ask(struct sub *sub)
{
	static const struct rtl_event event = {.ring = 1, .position = 8};
	static const struct rtl_process info = {.spool_id = 77};
	struct process process = {.info = &info};
	bool found = false;

	(void)store_prepare(&sub->store);
	(void)store_is_quiet(&sub->store, "rtl-%");
	if (find_process(sub, &process, &found) == HTTP_DONE && found)
		(void)find_marks(sub, &process);
	(void)run_has_stored(&process, "rtl_dispatch", &event);
	if (strlen(sub->store.http.message) >= sizeof(sub->store.http.message))
		abort();
	fini_process(&process);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct http_server server = {.host = "host",
					   .port = 8123,
					   .database = "default",
					   .user = "default",
					   .password = ""};
	struct sub sub = {0};

	fake_curl_begin(data, size);
	if (store_init(&sub.store, &server, &sub.names, "session") ||
	    !store_add(&sub.store, &table, "rtl_test_1"))
		abort();
	ask(&sub);
	ask(&sub);
	store_fini(&sub.store);
	names_fini(&sub.names);
	free(sub.run);
	return 0;
}
