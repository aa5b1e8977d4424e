/* SPDX-License-Identifier: MIT */
/* Programs that never release an event; and memory that cannot be had, at each allocation. The
 * framework's files are compiled into this test, with these functions for malloc and its kin. */

#include "unit.h"
#include "xpti/xpti.h"

static long left = -1; /* allocations until one fails; negative: none does */

void *limits_malloc(size_t size);
void *limits_calloc(size_t count, size_t size);
void *limits_aligned_alloc(size_t alignment, size_t size);
char *limits_strdup(const char *text);

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

void *limits_malloc(size_t size)
{
	return fails() ? NULL : malloc(size);
}

void *limits_calloc(size_t count, size_t size)
{
	return fails() ? NULL : calloc(count, size);
}

void *limits_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : aligned_alloc(alignment, size);
}

char *limits_strdup(const char *text)
{
	return fails() ? NULL : strdup(text);
}

static struct xpti_event *make(const char *name, uint32_t line)
{
	struct xpti_payload p = {.name = name,
				 .file = "f.cpp",
				 .line = line,
				 .flags =
					 XPTI_PAYLOAD_NAME | XPTI_PAYLOAD_FILE | XPTI_PAYLOAD_LINE};
	uint64_t instance;

	return xptiMakeEvent(name, &p, 1, 1, &instance);
}

static void callback(uint16_t type, struct xpti_event *parent, struct xpti_event *object,
		     uint64_t instance, const void *user)
{
}

/* Whatever cannot be had: what a function returns is what it says, and nothing crashes. */
static int scenario(int round)
{
	char name[64];
	struct xpti_event *event;
	struct xpti_interface *tp;
	int32_t result;
	uint8_t stream;
	int done = 0;

	snprintf(name, sizeof(name), "stream %d", round % 200);
	stream = xptiRegisterStream(name);
	done += stream != XPTI_INVALID_STREAM;
	snprintf(name, sizeof(name), "name %d", round);
	result = xptiRegisterCallback(stream, (uint16_t)(round % 100), callback);
	done += result == XPTI_SUCCESS || result == XPTI_UNDELETE;
	event = make(name, (uint32_t)round);
	if (event) {
		done++;
		done += xptiAddMetadata(event, name, 1) == XPTI_SUCCESS;
		assert_ptr_equal(xptiFindEvent(event->unique_id), event);
		assert_string_equal(event->payload->name, name);
		xptiNotifySubscribers(stream, 10, NULL, event, 1, NULL);
		if (round % 2)
			xptiReleaseEvent(event);
	}
	done += xptiRegisterObject(name, strlen(name), XPTI_OBJECT_STRING) != XPTI_INVALID_OBJECT;
	tp = xptiCreateTracepoint(name, name, 1, 1, NULL);
	done += xptiSetTracepointScopeData(tp) == XPTI_SUCCESS;
	xptiUnsetTracepointScopeData();
	xptiDeleteTracepoint(tp);
	xptiUnregisterCallback(stream, (uint16_t)(round % 100), callback);
	snprintf(name, sizeof(name), "tool %d", round % 200);
	done += xptiRegisterUserDefinedTracePoint(name, 1) != UINT16_MAX;
	return done;
}

TEST(test_allocation__each_fails_once__goes_on)
{
	int round, failed = 0;

	xptiForceSetTraceEnabled(true);
	for (round = 0; round < 400; round++) {
		left = round % 25;
		failed += scenario(round) < 7;
		left = -1;
	}
	assert_true(failed > 50); /* it was felt */
	for (; round < 410; round++)
		assert_true(scenario(round) >= 7);
}

/* libsycl makes one for each wait and each buffer, and deletes none. */
TEST(test_tracepoints__more_than_a_million__each_stays)
{
	struct xpti_event *first = make("first", 2);
	uint64_t first_id = first->unique_id;

	for (int i = 0; i < 1010000; i++)
		assert_non_null(xptiCreateTracepoint("wait", "f.cpp", 3, 1, NULL));
	for (int i = 0; i < 1000; i++)
		assert_ptr_not_equal(make("leaked", 4), first);
	assert_ptr_equal(xptiFindEvent(first_id), first);
	assert_string_equal(xptiQueryPayload(first)->name, "first");
}

RUN_TESTS(NULL, NULL, NULL, NULL)
