/* SPDX-License-Identifier: MIT */
/* What the tests of upstream's API expect of a framework, function by function. */
#include <pthread.h>

#include "unit.h"
#include "xpti/xpti.h"

static struct xpti_payload payload(const char *name, const char *file, uint32_t line,
				   uint32_t column)
{
	return (struct xpti_payload){
		.name = name,
		.file = file,
		.line = line,
		.column = column,
		.flags = (name && *name ? XPTI_PAYLOAD_NAME : 0) |
			 (file && *file ? XPTI_PAYLOAD_FILE : 0) | XPTI_PAYLOAD_LINE |
			 XPTI_PAYLOAD_COLUMN,
	};
}

static int reset(void **state)
{
	xptiReset();
	xptiForceSetTraceEnabled(false);
	return 0;
}

TEST(test_initialize__no_name__invalid)
{
	assert_int_equal(xptiInitialize(NULL, 1, 0, "1"), XPTI_INVALIDARG);
	assert_int_equal(xptiInitialize("s", 1, 0, NULL), XPTI_INVALIDARG);
	assert_int_equal(xptiInitialize("s", 1, 0, "1"), XPTI_SUCCESS);
	xptiFinalize("s");
	xptiFinalize(NULL);
	xptiFrameworkFinalize();
	xptiFrameworkFinalize();
	xptiFrameworkInitialize();
}

TEST(test_strings__are_interned)
{
	char *table = NULL, *again = NULL;
	char text[] = "another";
	uint32_t id;

	assert_int_equal(xptiRegisterString(NULL, NULL), XPTI_INVALID_STRING);
	assert_int_equal(xptiRegisterString(NULL, &table), XPTI_INVALID_STRING);
	assert_int_equal(xptiRegisterString("", &table), XPTI_INVALID_STRING);
	assert_int_equal(xptiRegisterString("foo", NULL), XPTI_INVALID_STRING);
	assert_null(table);
	assert_null(xptiLookupString(0xffffffffu));
	assert_null(xptiLookupString(0));
	id = xptiRegisterString("foo", &table);
	assert_int_equal(id, 1);
	assert_string_equal(table, "foo");
	assert_int_equal(xptiRegisterString("foo", &again), id);
	assert_ptr_equal(table, again);
	assert_ptr_equal(xptiLookupString(id), table);
	assert_int_equal(xptiRegisterString(text, &table), 2);
	memcpy(text, "changed", sizeof(text)); /* at the same address */
	assert_int_equal(xptiRegisterString(text, &again), 3);
	assert_string_equal(table, "another");
	assert_string_equal(again, "changed");
}

TEST(test_strings__many__each_found)
{
	uint32_t ids[20000];
	char text[32], *table;

	for (int i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "string %d", i);
		ids[i] = xptiRegisterString(text, &table);
		assert_int_equal(ids[i], ids[0] + i);
	}
	for (int i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "string %d", i);
		assert_string_equal(xptiLookupString(ids[i]), text);
	}
}

TEST(test_objects__by_bytes__first_type_stays)
{
	uint64_t number = 42;
	struct xpti_object object;
	int32_t id;

	assert_int_equal(xptiRegisterObject(NULL, 8, XPTI_OBJECT_UNSIGNED), XPTI_INVALID_OBJECT);
	id = xptiRegisterObject((const char *)&number, sizeof(number), XPTI_OBJECT_UNSIGNED);
	assert_int_equal(id, 0);
	assert_int_equal(
		xptiRegisterObject((const char *)&number, sizeof(number), XPTI_OBJECT_SIGNED), id);
	assert_int_equal(xptiRegisterObject("foo", 3, XPTI_OBJECT_STRING), id + 1);
	object = xptiLookupObject(id);
	assert_int_equal(object.size, 8);
	assert_int_equal(object.type, XPTI_OBJECT_UNSIGNED);
	assert_memory_equal(object.data, &number, 8);
	object = xptiLookupObject(-1);
	assert_int_equal(object.size, 0);
	object = xptiLookupObject(1000);
	assert_null(object.data);
}

TEST(test_unique_id__differs)
{
	uint64_t a = xptiGetUniqueId(), b = xptiGetUniqueId();

	assert_int_not_equal(a, b);
}

TEST(test_payload__registered__found_by_id)
{
	struct xpti_payload none = {0}, p = payload("foo", "foo.cpp", 10, 0);
	struct xpti_payload same = payload("foo", "foo.cpp", 10, 0);
	const struct xpti_payload *found;
	uint64_t id;

	assert_int_equal(xptiRegisterPayload(&none), 0);
	assert_int_equal(xptiRegisterPayload(NULL), 0);
	id = xptiRegisterPayload(&p);
	assert_int_not_equal(id, 0);
	assert_int_equal(p.internal, id);
	assert_int_equal(xptiRegisterPayload(&same), id);
	assert_null(xptiQueryPayloadByUID(0));
	assert_null(xptiQueryPayloadByUID(10000));
	found = xptiQueryPayloadByUID(id);
	assert_non_null(found);
	assert_int_equal(found->uid.p1, p.uid.p1);
	assert_int_equal(found->uid.p2, p.uid.p2);
	assert_string_equal(found->name, "foo");
	assert_string_equal(found->file, "foo.cpp");
	assert_int_equal(found->line, 10);
	assert_null(xptiLookupPayload(0));
	assert_null(xptiLookupPayload(10000));
	assert_non_null(xptiLookupPayload(id));
}

TEST(test_find_event__by_a_payloads_id__one_that_stays)
{
	struct xpti_payload p = payload("foo", "foo.cpp", 10, 0);
	uint64_t id = xptiRegisterPayload(&p);
	struct xpti_event *event = (struct xpti_event *)(uintptr_t)xptiFindEvent(id);

	assert_non_null(event);
	assert_int_equal(event->unique_id, id);
	assert_string_equal(event->payload->name, "foo");
	assert_non_null(xptiLookupEvent(id));
	assert_int_equal(xptiAddMetadata(event, "key", 1), XPTI_SUCCESS);
	xptiReleaseEvent(event);
	assert_ptr_equal(xptiFindEvent(id), event);
}

TEST(test_stream__registered__one_id)
{
	uint8_t id;

	assert_int_equal(xptiRegisterStream(NULL), XPTI_INVALID_STREAM);
	assert_int_equal(xptiRegisterStream(""), XPTI_INVALID_STREAM);
	id = xptiRegisterStream("foo");
	assert_int_not_equal(id, XPTI_INVALID_STREAM);
	assert_int_not_equal(id, 0);
	assert_int_not_equal(id, xptiGetDefaultStreamID());
	assert_int_equal(xptiRegisterStream("xpti.framework"), xptiGetDefaultStreamID());
	assert_int_equal(xptiRegisterStream("foo"), id);
	assert_int_not_equal(xptiRegisterStream("bar"), id);
	assert_int_equal(xptiUnregisterStream(NULL), XPTI_INVALIDARG);
	assert_int_equal(xptiUnregisterStream("NoSuchStream"), XPTI_NOTFOUND);
	assert_int_equal(xptiUnregisterStream("foo"), XPTI_NOTFOUND);
}

TEST(test_event__each_visit__another_instance)
{
	struct xpti_payload p = payload("visited", "foo.cpp", 10, 0), none = {0};
	struct xpti_event *first, *second;
	uint64_t instance = 0;

	assert_null(xptiMakeEvent(NULL, &none, 0, 1, NULL));
	assert_null(xptiMakeEvent("foo", &none, 0, 1, &instance));
	assert_null(xptiMakeEvent("foo", &p, 0, 1, NULL));
	first = xptiMakeEvent("foo", &p, 7, XPTI_ACTIVITY_ACTIVE, &instance);
	assert_non_null(first);
	assert_int_equal(instance, 1);
	assert_int_equal(p.internal, 0); /* the caller's is as it was */
	assert_int_equal(first->event_type, 7);
	assert_int_equal(first->activity_type, 1);
	assert_int_equal(first->instance_id, 1);
	assert_int_equal(first->data_id, 1);
	assert_int_equal(first->flags, XPTI_EVENT_UID | XPTI_EVENT_EVENT | XPTI_EVENT_ACTIVITY |
					       XPTI_EVENT_PAYLOAD);
	second = xptiMakeEvent("foo", &p, 7, XPTI_ACTIVITY_ACTIVE, &instance);
	assert_int_equal(instance, 2);
	assert_ptr_not_equal(first, second);
	assert_ptr_not_equal(first->payload, second->payload);
	assert_int_not_equal(first->unique_id, second->unique_id);
	xptiReleaseEvent(second);
	xptiReleaseEvent(second);
	assert_null(xptiFindEvent(second->unique_id));
	assert_ptr_equal(xptiFindEvent(first->unique_id), first);
	xptiMakeEvent("foo", &p, 7, XPTI_ACTIVITY_ACTIVE, &instance);
	assert_int_equal(instance, 3); /* goes on behind the release */
}

#define THREADS 4
#define PLACES  3000

/* The payload of each place, which all have to agree on. */
static void *visit_places(void *ids)
{
	static char not_found[] = "not found by its id", too_often[] = "visited too often";

	for (uint32_t i = 0; i < PLACES; i++) {
		struct xpti_payload p = payload("at once", "threads.cpp", i, 1);
		uint64_t instance;
		struct xpti_event *event;

		((uint64_t *)ids)[i] = xptiRegisterPayload(&p);
		if (xptiQueryPayloadByUID(p.internal) == NULL)
			return not_found;
		event = xptiMakeEvent("x", &p, 2, 1, &instance);
		if (!event || instance < 1 || instance > THREADS)
			return too_often;
	}
	return NULL;
}

TEST(test_payload__registered_by_several_threads_at_once__one_id)
{
	static uint64_t ids[THREADS][PLACES];
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, visit_places, ids[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		void *wrong;

		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		if (wrong)
			fail_msg("%s", (const char *)wrong);
	}
	for (int i = 0; i < PLACES; i++) {
		const struct xpti_payload *found = xptiQueryPayloadByUID(ids[0][i]);

		for (int k = 1; k < THREADS; k++)
			assert_int_equal(ids[k][i], ids[0][i]);
		assert_non_null(found);
		assert_int_equal(found->line, i);
	}
}

TEST(test_event__released__id_is_not_used_again)
{
	struct xpti_payload p = payload("foo", "foo.cpp", 10, 0);
	uint64_t instance, id;
	struct xpti_event *event = xptiMakeEvent("foo", &p, 0, 1, &instance);

	id = event->unique_id;
	xptiReleaseEvent(event);
	event = xptiMakeEvent("foo", &p, 0, 1, &instance);
	assert_int_not_equal(event->unique_id, id);
	assert_null(xptiFindEvent(id));
	assert_null(xptiLookupEvent(id));
	assert_null(xptiQueryPayloadByUID(id));
}

TEST(test_event__not_ours__is_not_followed)
{
	struct xpti_event other = {.unique_id = 1};

	assert_null(xptiFindEvent(0));
	assert_null(xptiFindEvent(1000000));
	assert_null(xptiFindEvent(UINT64_MAX));
	assert_null(xptiQueryPayload(NULL));
	assert_null(xptiQueryPayload((struct xpti_event *)1));
	assert_null(xptiQueryPayload(&other));
	assert_null(xptiQueryMetadata((struct xpti_event *)256));
	xptiReleaseEvent(NULL);
	xptiReleaseEvent((struct xpti_event *)4096);
	xptiReleaseEvent(&other);
}

TEST(test_query_payload__event__its_own)
{
	struct xpti_payload p = payload("foo", "foo.cpp", 10, 3);
	uint64_t instance;
	struct xpti_event *event = xptiMakeEvent("foo", &p, 0, 1, &instance);
	const struct xpti_payload *found = xptiQueryPayload(event);

	assert_ptr_equal(found, event->payload);
	assert_string_equal(found->name, p.name);
	assert_string_equal(found->file, p.file);
	assert_int_equal(found->line, p.line);
	assert_int_equal(found->column, p.column);
	assert_ptr_equal(xptiQueryPayloadByUID(event->unique_id), found);
}

/* ---- callbacks */

static int calls, other_calls;
static const void *last_user;

static void callback(uint16_t type, struct xpti_event *parent, struct xpti_event *object,
		     uint64_t instance, const void *user)
{
	calls++;
	last_user = user;
}

static void other_callback(uint16_t type, struct xpti_event *parent, struct xpti_event *object,
			   uint64_t instance, const void *user)
{
	other_calls++;
}

TEST(test_callback__registered_twice__duplicate)
{
	uint8_t id = xptiRegisterStream("foo");

	assert_int_equal(xptiRegisterCallback(id, 1, NULL), XPTI_INVALIDARG);
	assert_int_equal(xptiRegisterCallback(id, 1, callback), XPTI_SUCCESS);
	assert_int_equal(xptiRegisterCallback(id, 1, callback), XPTI_DUPLICATE);
	assert_int_equal(xptiUnregisterCallback(id, 1, NULL), XPTI_INVALIDARG);
	assert_int_equal(xptiUnregisterCallback(id, 2, callback), XPTI_NOTFOUND);
	assert_int_equal(xptiUnregisterCallback(id, 1, other_callback), XPTI_NOTFOUND);
	assert_int_equal(xptiUnregisterCallback(id, 1, callback), XPTI_SUCCESS);
	assert_int_equal(xptiUnregisterCallback(id, 1, callback), XPTI_DUPLICATE);
	assert_int_equal(xptiRegisterCallback(id, 1, callback), XPTI_UNDELETE);
	assert_int_equal(xptiUnregisterStream("foo"), XPTI_SUCCESS);
	assert_int_equal(xptiUnregisterCallback(id, 1, callback), XPTI_DUPLICATE);
}

TEST(test_callback__one_of_two_is_gone__the_type_stays_on)
{
	uint8_t id = xptiRegisterStream("foo");

	xptiForceSetTraceEnabled(true);
	xptiRegisterCallback(id, 10, callback);
	xptiRegisterCallback(id, 10, other_callback);
	xptiUnregisterCallback(id, 10, callback);
	assert_true(xptiCheckTraceEnabled(id, 10));
	calls = other_calls = 0;
	xptiNotifySubscribers(id, 10, NULL, (struct xpti_event *)1, 0, NULL);
	assert_int_equal(calls, 0);
	assert_int_equal(other_calls, 1);
}

TEST(test_finalize__callbacks_are_off)
{
	uint8_t id = xptiRegisterStream("foo");

	xptiForceSetTraceEnabled(true);
	xptiRegisterCallback(id, 10, callback);
	xptiFinalize("foo");
	assert_false(xptiCheckTraceEnabled(id, 10));
	calls = 0;
	xptiNotifySubscribers(id, 10, NULL, (struct xpti_event *)1, 0, NULL);
	assert_int_equal(calls, 0);
	assert_int_equal(xptiRegisterCallback(id, 10, callback), XPTI_UNDELETE);
}

TEST(test_check__by_stream_and_type)
{
	uint8_t id = xptiRegisterStream("foo");
	uint16_t mine = xptiRegisterUserDefinedTracePoint("tool", 10);

	assert_false(xptiTraceEnabled());
	assert_false(xptiCheckTraceEnabled(0, 0));
	assert_false(xptiCheckTraceEnabled(35, 1));
	xptiRegisterCallback(id, 10, callback);
	assert_false(xptiCheckTraceEnabled(id, 10)); /* off */
	xptiForceSetTraceEnabled(true);
	assert_true(xptiTraceEnabled());
	assert_true(xptiCheckTraceEnabled(id, 10));
	assert_true(xptiCheckTraceEnabled(id, 0));
	assert_false(xptiCheckTraceEnabled(id, 11));
	assert_false(xptiCheckTraceEnabled(id, mine));
	assert_false(xptiCheckTraceEnabled((uint16_t)(id + 1), 0));
	xptiRegisterCallback(id, mine, callback);
	assert_true(xptiCheckTraceEnabled(id, mine));
	assert_false(xptiCheckTraceEnabled(id, (uint16_t)(mine + 0x100)));
	xptiUnregisterCallback(id, 10, callback);
	xptiUnregisterCallback(id, mine, callback);
	assert_false(xptiCheckTraceEnabled(id, 0));
}

TEST(test_check__a_stream_that_comes_while_tracing_is_on__is_seen)
{
	uint8_t id;

	xptiForceSetTraceEnabled(true);
	id = xptiRegisterStream("late");
	assert_false(xptiCheckTraceEnabled(id, 10));
	xptiRegisterCallback(id, 10, callback);
	assert_true(xptiCheckTraceEnabled(id, 10));
	xptiForceSetTraceEnabled(false);
	assert_false(xptiCheckTraceEnabled(id, 10));
	xptiForceSetTraceEnabled(true);
	assert_true(xptiCheckTraceEnabled(id, 10));
	xptiReset();
	assert_false(xptiCheckTraceEnabled(id, 10));
}

TEST(test_notify__what_is_refused)
{
	static const uint16_t without[] = {24, 25, 28, 29, 32, 33, 34, 35, 36, 37, 38, 39, 40, 126};
	uint8_t id = xptiRegisterStream("foo");
	struct xpti_event *any = (struct xpti_event *)1;

	assert_int_equal(xptiNotifySubscribers(id, 10, NULL, any, 0, NULL), XPTI_FALSE);
	xptiForceSetTraceEnabled(true);
	assert_int_equal(xptiNotifySubscribers(id, 10, NULL, NULL, 0, "user"), XPTI_INVALIDARG);
	assert_int_equal(xptiNotifySubscribers(id, 24, NULL, NULL, 0, NULL), XPTI_INVALIDARG);
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
		assert_int_equal(xptiNotifySubscribers(id, without[i], NULL, NULL, 0, "user"),
				 XPTI_SUCCESS);
	assert_int_equal(xptiNotifySubscribers(id, 26, NULL, NULL, 0, "user"), XPTI_INVALIDARG);
	assert_int_equal(xptiNotifySubscribers(200, 10, NULL, any, 0, NULL), XPTI_SUCCESS);
	/* nobody hears it; neither object nor parent is followed */
	assert_int_equal(xptiNotifySubscribers(id, 10, any, any, 0, NULL), XPTI_SUCCESS);
	xptiRegisterCallback(id, 10, callback);
	calls = 0;
	assert_int_equal(xptiNotifySubscribers(id, 10, any, any, 0, "user"), XPTI_SUCCESS);
	assert_int_equal(calls, 1);
	assert_string_equal(last_user, "user");
}

TEST(test_user_types__tools_have_numbers)
{
	uint16_t type = xptiRegisterUserDefinedTracePoint("a", 3);

	assert_int_equal(type & 0xff, 0x83);
	assert_int_equal(xptiRegisterUserDefinedTracePoint("a", 3), type);
	assert_int_equal(xptiRegisterUserDefinedTracePoint("a", 4), type + 1);
	assert_int_not_equal(xptiRegisterUserDefinedTracePoint("b", 3) >> 8, type >> 8);
	assert_int_equal(xptiRegisterUserDefinedEventType("a", 3) & 0xff, 0x83);
	assert_int_equal(xptiRegisterUserDefinedTracePoint(NULL, 3), UINT16_MAX);
}

TEST(test_reset__callbacks_are_new_again)
{
	uint8_t id = xptiRegisterStream("foo");

	assert_int_equal(xptiRegisterCallback(id, 0x183, callback), XPTI_SUCCESS);
	xptiReset();
	assert_int_equal(xptiRegisterCallback(id, 0x183, callback), XPTI_SUCCESS);
	assert_int_equal(xptiRegisterStream("foo"), id);
}

/* ---- metadata, defaults, stash, scope */

TEST(test_metadata__added__overwritten)
{
	struct xpti_payload p = payload("foo", "foo.cpp", 10, 0);
	uint64_t instance;
	struct xpti_event *event = xptiMakeEvent("foo", &p, 0, 1, &instance);
	int32_t bar = xptiRegisterObject("bar", 3, XPTI_OBJECT_STRING),
		baz = xptiRegisterObject("baz", 3, XPTI_OBJECT_STRING);
	struct xpti_map *map = xptiQueryMetadata(event);
	char key[16];

	assert_int_equal(xptiAddMetadata(NULL, NULL, bar), XPTI_INVALIDARG);
	assert_int_equal(xptiAddMetadata(NULL, "key", bar), XPTI_INVALIDARG);
	assert_int_equal(xptiAddMetadata(event, NULL, bar), XPTI_INVALIDARG);
	assert_int_equal(xptiAddMetadata(event, "key", bar), XPTI_SUCCESS);
	assert_int_equal(xptiAddMetadata(event, "key", baz), XPTI_DUPLICATE);
	assert_int_equal(map->count, 1);
	assert_int_equal(map->first->value, baz);
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "key%d", i);
		assert_int_equal(xptiAddMetadata(event, key, bar), XPTI_SUCCESS);
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "key%d", i);
		assert_int_equal(xptiAddMetadata(event, key, baz), XPTI_DUPLICATE);
	}
	assert_int_equal(map->count, 1001);
	xptiReleaseEvent(event);
	assert_null(xptiQueryMetadata(event));
}

TEST(test_defaults__none_is_refused)
{
	assert_int_not_equal(xptiGetDefaultEventType(), 0);
	assert_int_equal(xptiSetDefaultEventType(0), XPTI_INVALIDARG);
	assert_int_equal(xptiSetDefaultEventType(42), XPTI_SUCCESS);
	assert_int_equal(xptiGetDefaultEventType(), 42);
	assert_int_not_equal(xptiGetDefaultTraceType(), 0);
	assert_int_equal(xptiSetDefaultTraceType(0), XPTI_INVALIDARG);
	assert_int_equal(xptiSetDefaultTraceType(42), XPTI_SUCCESS);
	assert_int_equal(xptiGetDefaultTraceType(), 42);
	assert_int_not_equal(xptiGetDefaultStreamID(), 0);
	assert_int_equal(xptiSetDefaultStreamID((uint8_t)-1), XPTI_INVALIDARG);
	assert_int_equal(xptiSetDefaultStreamID(42), XPTI_SUCCESS);
	assert_int_equal(xptiGetDefaultStreamID(), 42);
}

TEST(test_stash__stays_until_the_next)
{
	char *key = NULL;
	uint64_t value = 0;

	assert_int_equal(xptiGetStashedTuple(&key, &value), XPTI_NOTFOUND);
	assert_int_equal(xptiStashTuple(NULL, 1), XPTI_FAIL);
	assert_int_equal(xptiStashTuple("queue_id", 7), XPTI_SUCCESS);
	assert_int_equal(xptiGetStashedTuple(NULL, &value), XPTI_INVALIDARG);
	assert_int_equal(xptiGetStashedTuple(&key, NULL), XPTI_INVALIDARG);
	xptiUnstashTuple(); /* SYCL does, and then notifies */
	assert_int_equal(xptiGetStashedTuple(&key, &value), XPTI_SUCCESS);
	assert_string_equal(key, "queue_id");
	assert_int_equal(value, 7);
}

TEST(test_scope__set__read__unset)
{
	struct xpti_interface *tp = xptiRegisterTracepointScope("f", "f.cpp", 1, 2, NULL);

	assert_null(xptiGetTracepointScopeData());
	assert_int_equal(xptiSetTracepointScopeData(NULL), XPTI_INVALIDARG);
	assert_int_equal(xptiSetTracepointScopeData(tp), XPTI_SUCCESS);
	assert_ptr_equal(xptiGetTracepointScopeData(), tp);
	assert_int_not_equal(xptiGetUniversalId(), 0);
	xptiSetUniversalId(5);
	assert_int_equal(xptiGetUniversalId(), 5);
	xptiUnsetTracepointScopeData();
	assert_null(xptiGetTracepointScopeData());
	assert_int_equal(xptiGetUniversalId(), 0);
	assert_false(xptiCheckTracepointScopeNotification());
	xptiEnableTracepointScopeNotification(true);
	assert_true(xptiCheckTracepointScopeNotification());
	xptiEnableTracepointScopeNotification(false);
	xptiSetTracepointScopeData(tp);
	xptiDeleteTracepoint(tp);
	assert_null(xptiGetTracepointScopeData());
}

TEST(test_streams__254__the_next_is_refused)
{
	char name[32];
	int last = 0;

	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "stream %d", i);
		uint8_t id = xptiRegisterStream(name);

		if (id == XPTI_INVALID_STREAM)
			break;
		last = id;
	}
	assert_int_equal(last, 254);
	assert_int_equal(xptiRegisterStream("one more"), XPTI_INVALID_STREAM);
	snprintf(name, sizeof(name), "stream %d", 3);
	assert_int_not_equal(xptiRegisterStream(name), XPTI_INVALID_STREAM);
}

RUN_TESTS(NULL, reset, NULL, NULL)
