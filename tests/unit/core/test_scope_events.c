/* SPDX-License-Identifier: MIT */
/* Scenarios of what is published with spans, regions and marks. Run by test_scope.c. */
#include "test_bus_child.h"

#include <rtl/describe.h>
#include <rtl/rtl.h>

#define SEEN_MAX 64

/* Events as they arrived. */
static struct seen {
	struct rtl_event event;
	char payload[2048];
	char name[64], function[64], source[256]; /* of its tracepoint */
	uint32_t line;
} seen[SEEN_MAX];
static uint32_t seen_count;

static void see(struct probe *p, const struct rtl_event *const *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct rtl_event *e = events[i];
		const struct rtl_tracepoint *t;
		struct seen *s = &seen[seen_count++];

		CHECK(seen_count <= SEEN_MAX && e->payload_size <= sizeof(s->payload));
		s->event = *e;
		memcpy(s->payload, e->payload, e->payload_size);
		t = p->host->tracepoint(p->host, e->process, e->uid);
		snprintf(s->name, sizeof(s->name), "%s", t ? t->name : "");
		snprintf(s->function, sizeof(s->function), "%s",
			 t && t->metadata_count == 1 && !strcmp(t->metadata[0].key, "function")
				 ? t->metadata[0].value
				 : "");
		snprintf(s->source, sizeof(s->source), "%s", t ? t->source : "");
		s->line = t ? t->line : 0;
	}
}

static const struct probe_hooks see_events = {.buffered = see};

/* Flushes; that many have to have arrived. */
static void see_all(uint32_t count)
{
	flush_all();
	CHECK(seen_count == count);
}

/* Regions have 8 bytes of payload, functions none at their begin and 8 bytes at their end. */
static struct rtl_stream *register_scope_stream(void)
{
	static const struct rtl_field fields[] = {{
		.struct_size = sizeof(*fields),
		.kind = RTL_KIND_UINT,
		.size = 8,
		.name = "number",
		.unit = "",
		.description = "",
	}};
#define TYPE(number, text, n)                                                                      \
	{                                                                                          \
		.struct_size = sizeof(struct rtl_type_info), .type = number, .field_count = n,     \
		.payload_size = 8 * n, .name = text, .description = "", .fields = fields           \
	}
	static const struct rtl_type_info types[] = {
		TYPE(RTL_REGION_BEGIN, "region_begin", 1),
		TYPE(RTL_REGION_END, "region_end", 1),
		TYPE(RTL_FUNCTION_BEGIN, "function_begin", 0),
		TYPE(RTL_FUNCTION_END, "function_end", 1),
		TYPE(RTL_SIGNAL, "signal", 0),
	};
	static const struct rtl_stream_info info =
		RTL_STREAM_INFO("t.scope", 1, 0, types, "of the tests");
	struct rtl_stream *stream = &rtl_stream_none;

	CHECK(!rtl_stream_register(&info, &stream));
	return stream;
}

static uint64_t number_of(const struct seen *s)
{
	uint64_t number;

	memcpy(&number, s->payload, sizeof(number));
	return number;
}

static void publish_signal(struct rtl_stream *stream)
{
	struct rtl_record *record = rtl_reserve_in_scope(stream, RTL_SIGNAL, 0);

	CHECK(record);
	rtl_commit(record);
}

SCENARIO(reserve_in_scope)
{
	struct rtl_stream *stream;
	uint32_t depth;

	probe_hooks = &see_events;
	stream = register_scope_stream();
	publish_signal(stream);
	depth = rtl_scope_push(11, 12, 13);
	publish_signal(stream);
	rtl_scope_pop(depth);
	publish_signal(stream);
	see_all(3);
	CHECK(seen[0].event.parent_uid == 0 && seen[0].event.correlation == 0);
	CHECK(seen[1].event.parent_uid == 11 && seen[1].event.correlation == 13);
	CHECK(seen[1].event.instance == 0 && seen[1].event.uid == 0);
	CHECK(seen[2].event.parent_uid == 0 && seen[2].event.correlation == 0);
}

/* ---- spans */

SCENARIO(span_pair)
{
	struct rtl_stream *stream;
	struct rtl_span outer, inner;
	uint64_t number = 42;

	probe_hooks = &see_events;
	stream = register_scope_stream();
	CHECK(rtl_span_prepare(&outer, stream, RTL_FUNCTION_BEGIN, RTL_FUNCTION_END, 100));
	outer.correlation = 7;
	rtl_span_begin(&outer, NULL, 0);
	CHECK(rtl_span_prepare(&inner, stream, RTL_REGION_BEGIN, RTL_REGION_END, 200));
	rtl_span_begin(&inner, &number, sizeof(number));
	publish_signal(stream);
	number = 43;
	rtl_span_end(&inner, &number, sizeof(number));
	rtl_span_end(&inner, &number, sizeof(number)); /* does nothing */
	rtl_span_end(&outer, NULL, 0);
	publish_signal(stream);
	see_all(6);
	CHECK(seen[0].event.type == RTL_FUNCTION_BEGIN && seen[4].event.type == RTL_FUNCTION_END);
	CHECK(seen[0].event.uid == 100 && seen[4].event.uid == 100);
	CHECK(seen[0].event.instance && seen[0].event.instance == seen[4].event.instance);
	CHECK(seen[0].event.correlation == 7 && seen[4].event.correlation == 7);
	CHECK(seen[0].event.parent_uid == 0 && seen[4].event.parent_uid == 0);
	CHECK(seen[4].event.payload_size == 8 && number_of(&seen[4]) == 0);
	CHECK(seen[1].event.type == RTL_REGION_BEGIN && seen[3].event.type == RTL_REGION_END);
	CHECK(seen[1].event.uid == 200 && seen[1].event.parent_uid == 100);
	CHECK(seen[3].event.parent_uid == 100 && seen[1].event.correlation == 7);
	CHECK(seen[1].event.instance == seen[3].event.instance);
	CHECK(seen[1].event.instance != seen[0].event.instance);
	CHECK(number_of(&seen[1]) == 42 && number_of(&seen[3]) == 43);
	CHECK(seen[2].event.parent_uid == 200 && seen[2].event.correlation == 7);
	CHECK(seen[5].event.parent_uid == 0);
}

static void *end_span(void *span)
{
	rtl_span_end(span, NULL, 0);
	return NULL;
}

SCENARIO(span_detached)
{
	struct rtl_scope scope = {.struct_size = sizeof(scope)};
	struct rtl_span first, second;
	struct rtl_stream *stream;

	probe_hooks = &see_events;
	stream = register_scope_stream();
	rtl_scope_push(5, 6, 7);
	CHECK(rtl_span_prepare(&first, stream, RTL_REGION_BEGIN, RTL_REGION_END, 1));
	first.flags = RTL_SPAN_DETACHED;
	rtl_span_begin(&first, NULL, 0);
	CHECK(!rtl_scope_current(&scope) && scope.uid == 5);
	CHECK(rtl_span_prepare(&second, stream, RTL_REGION_BEGIN, RTL_REGION_END, 2));
	second.flags = RTL_SPAN_DETACHED;
	rtl_span_begin(&second, NULL, 0);
	rtl_span_end(&first, NULL, 0);
	join_thread(start_thread(end_span, &second));
	CHECK(!rtl_scope_current(&scope) && scope.uid == 5);
	see_all(4);
	CHECK(seen[0].event.instance == seen[2].event.instance);
	CHECK(seen[1].event.instance == seen[3].event.instance);
	CHECK(seen[3].event.parent_uid == 5 && seen[3].event.correlation == 7);
	CHECK(seen[3].event.tid != seen[1].event.tid);
}

/* With the probe's setting type=25: ends only. Or without a subscriber: nothing. */
SCENARIO(span_half_wanted)
{
	struct rtl_stream *stream;
	struct rtl_span span;

	probe_hooks = &see_events;
	stream = register_scope_stream();
	CHECK(rtl_span_prepare(&span, stream, RTL_FUNCTION_BEGIN, RTL_FUNCTION_END, 1));
	rtl_span_begin(&span, NULL, 0);
	rtl_span_end(&span, NULL, 0);
	see_all(1);
	CHECK(seen[0].event.type == RTL_FUNCTION_END && seen[0].event.instance);
}

SCENARIO(span_not_wanted)
{
	struct rtl_scope scope = {.struct_size = sizeof(scope)};
	struct rtl_stream *stream = register_scope_stream();
	struct rtl_span span, old = {.struct_size = 16, .stream = stream};

	CHECK(!rtl_span_prepare(&span, stream, RTL_FUNCTION_BEGIN, RTL_FUNCTION_END, 1));
	CHECK(!span.stream);
	rtl_span_end(&span, NULL, 0);
	CHECK(!rtl_span_prepare(&span, &rtl_stream_none, RTL_REGION_BEGIN, RTL_REGION_END, 1));
	rtl_span_begin(&span, NULL, 0); /* nevertheless */
	rtl_span_begin(&old, NULL, 0);  /* of no version that there was */
	{
		RTL_REGION_OF(stream, "nobody");
		RTL_REGION("nobody");
		RTL_MARK("nobody");
		rtl_mark("nobody");
		CHECK(rtl_scope_current(&scope) == RTL_ENOENT);
	}
	CHECK(rtl_stream_find(RTL_STREAM_DEFAULT));
	CHECK(!rtl_default_enabled(RTL_SIGNAL) && !rtl_default_enabled(RTL_REGION_BEGIN));
}

/* ---- regions of call sites */

static int leaves_early(struct rtl_stream *stream, int way)
{
	RTL_REGION_OF(stream, "early");

	if (way)
		return way;
	publish_signal(stream);
	return 0;
}

SCENARIO(region_sites)
{
	struct rtl_stream *stream;
	int i, line;

	probe_hooks = &see_events;
	stream = register_scope_stream();
	for (i = 0; i < 3; i++) {
		if (i == 1)
			continue;
		line = __LINE__ + 1;
		RTL_REGION_OF(stream, NULL);
		CHECK(leaves_early(stream, i) == i);
	}
	see_all(9);
	/* begin, early begin, signal, early end, end; then without the signal */
	CHECK(seen[0].event.type == RTL_REGION_BEGIN && seen[4].event.type == RTL_REGION_END);
	CHECK(seen[0].event.instance == seen[4].event.instance);
	CHECK(!strcmp(seen[0].name, "run_region_sites"));
	CHECK(!strcmp(seen[0].function, "run_region_sites"));
	CHECK(strstr(seen[0].source, "test_scope_events.c") && seen[0].line == (uint32_t)line);
	CHECK(!strcmp(seen[1].name, "early") && !strcmp(seen[1].function, "leaves_early"));
	CHECK(seen[1].event.parent_uid == seen[0].event.uid && seen[0].event.uid);
	CHECK(seen[2].event.parent_uid == seen[1].event.uid && seen[1].event.uid);
	CHECK(seen[1].event.uid != seen[0].event.uid);
	CHECK(seen[5].event.uid == seen[0].event.uid && seen[6].event.uid == seen[1].event.uid);
	CHECK(seen[5].event.instance != seen[0].event.instance);
	CHECK(seen[7].event.type == RTL_REGION_END && seen[7].event.uid == seen[1].event.uid);
	CHECK(seen[8].event.type == RTL_REGION_END && seen[8].event.uid == seen[0].event.uid);
}

/* Prints the universal id of a call site: the test runs it twice. */
SCENARIO(region_site_id)
{
	static struct rtl_site site = RTL_SITE("stable"), other = RTL_SITE("stable");
	uint64_t uid;

	register_scope_stream();
	uid = rtl_site_register(&site);
	CHECK(uid && rtl_site_register(&site) == uid);
	CHECK(rtl_site_register(&other) != uid); /* the same texts at another place */
	fprintf(stderr, "uid %016llx\n", (unsigned long long)uid);
	site.struct_size = 8;
	CHECK(!rtl_site_register(&site) && !rtl_site_register(NULL));
}

static void *register_sites(void *user)
{
	static struct rtl_site sites[100];
	uint64_t *uids = user;

	for (int i = 0; i < 100; i++) {
		static const struct rtl_site initial = RTL_SITE("many");

		if (!uids)
			sites[i] = initial;
		else
			uids[i] = rtl_site_register(&sites[i]);
	}
	return NULL;
}

SCENARIO(region_sites_threads)
{
	static uint64_t uids[4][100];
	pthread_t threads[4];

	register_sites(NULL);
	for (int i = 0; i < 4; i++)
		threads[i] = start_thread(register_sites, uids[i]);
	for (int i = 0; i < 4; i++)
		join_thread(threads[i]);
	for (int i = 0; i < 4; i++)
		CHECK(!memcmp(uids[i], uids[0], sizeof(uids[0])));
	for (int i = 1; i < 100; i++)
		CHECK(uids[0][i] && uids[0][i] != uids[0][i - 1]);
}

/* ---- rtl.default */

static struct rtl_default_payload default_of(uint32_t n)
{
	struct rtl_default_payload payload;

	CHECK(seen[n].event.payload_size >= sizeof(payload));
	memcpy(&payload, seen[n].payload, sizeof(payload));
	CHECK(payload.text.offset + payload.text.length <= seen[n].event.payload_size);
	return payload;
}

static bool has_text(uint32_t n, const char *text)
{
	struct rtl_default_payload payload = default_of(n);

	return payload.text.length == strlen(text) &&
	       !memcmp(seen[n].payload + payload.text.offset, text, strlen(text));
}

static bool has_name(uint32_t n, const char *name)
{
	const char *text = rtl_string_text(default_of(n).name);

	return text && !strcmp(text, name);
}

SCENARIO(default_marks)
{
	uint32_t depth;

	probe_hooks = &see_events;
	CHECK(!rtl_stream_find(RTL_STREAM_DEFAULT)); /* nobody has asked for it */
	rtl_mark("hello");
	CHECK(rtl_stream_find(RTL_STREAM_DEFAULT) == rtl_default_stream());
	depth = rtl_scope_push(1, 2, 3);
	rtl_mark_u64("integer", UINT64_MAX);
	rtl_scope_pop(depth);
	rtl_mark_f64("number", -0.5);
	RTL_MARK("of a site");
	RTL_MARK_U64("with integer", 5);
	RTL_MARK_F64("with number", 2.5);
	rtl_mark("");
	rtl_mark(NULL);
	see_all(8);
	CHECK(seen[0].event.type == RTL_SIGNAL && !strcmp(seen[0].event.type_info->name, "mark"));
	CHECK(!strcmp(seen[0].event.stream->name, "rtl.default"));
	CHECK(has_text(0, "hello") && !default_of(0).name && !seen[0].event.uid);
	CHECK(default_of(0).kind == 0);
	CHECK(has_text(1, "integer") && default_of(1).kind == RTL_KIND_UINT);
	CHECK(default_of(1).integer == UINT64_MAX && seen[1].event.parent_uid == 1);
	CHECK(seen[1].event.correlation == 3);
	CHECK(default_of(2).kind == RTL_KIND_FLOAT && default_of(2).number == -0.5);
	CHECK(has_name(3, "of a site") && !strcmp(seen[3].name, "of a site") && has_text(3, ""));
	CHECK(default_of(3).kind == 0 && seen[3].event.uid);
	CHECK(has_name(4, "with integer") && default_of(4).integer == 5);
	CHECK(has_name(5, "with number") && default_of(5).number == 2.5);
	CHECK(has_text(6, "") && has_text(7, ""));
}

SCENARIO(default_long_text)
{
	static char text[100000];

	probe_hooks = &see_events;
	memset(text, 'x', sizeof(text) - 1);
	rtl_mark(text);
	see_all(1);
	CHECK(default_of(0).text.length == 1024 && seen[0].payload[1063] == 'x');
}

static void in_region(void)
{
	RTL_REGION("site");
	rtl_mark("inside");
}

SCENARIO(default_regions)
{
	struct rtl_span span, inner;

	probe_hooks = &see_events;
	rtl_region_begin(&span, "text");
	rtl_region_begin_u64(&inner, "inner", 5);
	rtl_region_end_f64(&inner, 1.5);
	rtl_region_end(&inner);
	in_region();
	rtl_region_end_u64(&span, 9);
	rtl_region_begin_f64(&span, "number", 0.25);
	rtl_region_end(&span);
	see_all(9);
	CHECK(seen[0].event.type == RTL_REGION_BEGIN && has_text(0, "text"));
	CHECK(seen[6].event.type == RTL_REGION_END && default_of(6).integer == 9);
	CHECK(seen[0].event.instance && seen[0].event.instance == seen[6].event.instance);
	CHECK(has_text(6, "")); /* its begin has it */
	CHECK(has_text(1, "inner") && default_of(1).integer == 5 && default_of(2).number == 1.5);
	CHECK(seen[1].event.instance == seen[2].event.instance);
	CHECK(seen[3].event.type == RTL_REGION_BEGIN && seen[5].event.type == RTL_REGION_END);
	CHECK(has_name(3, "site") && has_name(5, "site") && seen[3].event.uid);
	CHECK(!strcmp(seen[3].function, "in_region"));
	CHECK(seen[4].event.parent_uid == seen[3].event.uid);
	CHECK(default_of(7).number == 0.25 && default_of(7).kind == RTL_KIND_FLOAT);
}

static void *mark_once(void *user)
{
	rtl_mark(user);
	return NULL;
}

static void mark_by_all(void)
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		threads[i] = start_thread(mark_once, (void *)(uintptr_t) "m");
	for (int i = 0; i < 8; i++)
		join_thread(threads[i]);
}

/* A mark that comes while another thread registers the stream may come before its subscribers. */
SCENARIO(default_registered_by_all)
{
	probe_hooks = &see_events;
	mark_by_all();
	flush_all();
	CHECK(seen_count >= 1 && seen_count <= 8);
	seen_count = 0;
	mark_by_all();
	see_all(8);
}

/* ---- C++: test_scope_guards.cpp */

bool guards_publish(struct rtl_stream *stream);
void guards_publish_default(void);

SCENARIO(guards_in_cpp)
{
	struct rtl_scope scope = {.struct_size = sizeof(scope)};
	struct rtl_stream *stream;

	probe_hooks = &see_events;
	stream = register_scope_stream();
	CHECK(guards_publish(stream));
	CHECK(rtl_scope_current(&scope) == RTL_ENOENT);
	see_all(6);
	CHECK(seen[0].event.uid == 77 && seen[0].event.correlation == 5);
	CHECK(number_of(&seen[0]) == 3);
	CHECK(!strcmp(seen[1].name, "macro") && !strcmp(seen[1].function, "throws"));
	CHECK(seen[1].event.parent_uid == 77);
	CHECK(seen[2].event.type == RTL_REGION_END && seen[2].event.uid == seen[1].event.uid);
	CHECK(seen[3].event.type == RTL_REGION_END && seen[3].event.uid == 77);
	CHECK(seen[3].event.instance == seen[0].event.instance && number_of(&seen[3]) == 0);
	CHECK(!strcmp(seen[4].name, "object") && !strcmp(seen[5].name, "object"));
	CHECK(seen[5].event.instance == seen[4].event.instance);
}

SCENARIO(guards_in_cpp_default)
{
	probe_hooks = &see_events;
	guards_publish_default();
	see_all(9);
	for (uint32_t i = 0; i < 4; i++) {
		CHECK(default_of(i).kind == (i < 2 ? RTL_KIND_UINT : RTL_KIND_FLOAT));
		CHECK(i < 2 ? default_of(i).integer == 5 : default_of(i).number == 2.5);
	}
	CHECK(has_name(4, "macro") && has_name(5, "mark") && has_text(6, "plain"));
	CHECK(seen[5].event.parent_uid == seen[4].event.uid && seen[4].event.uid);
	CHECK(seen[6].event.type == RTL_REGION_BEGIN && seen[7].event.type == RTL_REGION_END);
	CHECK(seen[6].event.instance == seen[7].event.instance);
	CHECK(seen[8].event.instance == seen[4].event.instance);
}
