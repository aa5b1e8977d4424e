/* SPDX-License-Identifier: MIT */
/* A library with a stub, for test_stub_child. Built twice: as C11, and (test_stub_library_cpp.cpp) as C++11 with
 * scope.hpp. STUB_LIBRARY is the name of its function, STUB_STREAM its stream. */
#include <rtl/stub.h>

#ifdef __cplusplus
#	include <rtl/scope.hpp>
#endif

#include "test_stub_library.h"

static struct rtl_stream *stream = &rtl_stream_none;

static int register_stream(void)
{
	static const struct rtl_type_info types[] = {
		{sizeof(struct rtl_type_info), RTL_SIGNAL, 0, 0, 0, "signal", "", NULL},
		{sizeof(struct rtl_type_info), RTL_REGION_BEGIN, 0, 0, 0, "region_begin", "", NULL},
		{sizeof(struct rtl_type_info), RTL_REGION_END, 0, 0, 0, "region_end", "", NULL},
	};
	static const struct rtl_stream_info info = {
		sizeof(struct rtl_stream_info), 1, 0, STUB_STREAM, "of the tests", types, 3, 0};

	struct rtl_stream *found = &rtl_stream_none;
	int err = rtl_stream_register(&info, &found);

	/* several threads do this, and each finds the same; release, for who comes from another */
	if (!err)
		__atomic_store_n(&stream, found, __ATOMIC_RELEASE);
	return err;
}

static int publish(int count)
{
	struct rtl_record *record;
	int i, committed = 0;

	for (i = 0; i < count; i++) {
		if (!rtl_enabled(stream, RTL_SIGNAL))
			continue;
		record = rtl_reserve_in_scope(stream, RTL_SIGNAL, 0);
		if (!record)
			continue;
		record->instance = rtl_unique_id();
		rtl_commit(record);
		committed++;
	}
	return committed;
}

static void mark(void)
{
	struct rtl_span span;
	RTL_REGION("region");

	RTL_MARK_U64("site", 1);
	rtl_mark_f64("text", 1.5);
	rtl_region_begin(&span, "begun");
	rtl_region_end(&span);
#ifdef __cplusplus
	rtl::region region("object", 1);
#else
	rtl_region_begin_u64(&span, "begun", 1);
	rtl_region_end(&span);
#endif
}

static bool others_work(void)
{
	struct rtl_tracepoint_desc desc;
	struct rtl_ledger ledger;
	struct rtl_scope scope;
	struct rtl_pending *pending;
	uint64_t uid = 0, id = 0, value = 0;
	uint32_t depth;
	uint8_t vendor = 0;

	memset(&desc, 0, sizeof(desc));
	desc.struct_size = sizeof(desc);
	desc.name = "thing";
	memset(&ledger, 0, sizeof(ledger));
	ledger.struct_size = sizeof(ledger);
	memset(&scope, 0, sizeof(scope));
	scope.struct_size = sizeof(scope);
	if (rtl_tracepoint_register(&desc, &uid) || !uid || rtl_tracepoint_set(uid, "k", "v") ||
	    rtl_string_intern("text", &id) || !rtl_string_text(id) ||
	    strcmp(rtl_string_text(id), "text") || rtl_vendor_register("tests", &vendor))
		return false;
	depth = rtl_scope_push(uid, 2, 3);
	if (!depth || rtl_scope_current(&scope) || scope.uid != uid)
		return false;
	rtl_scope_pop(depth);
	if (rtl_stash_set(7, 8) || rtl_stash_get(7, &value) || value != 8 || rtl_stash_remove(7))
		return false;
	rtl_stream_count_missed(&rtl_stream_none, "nothing", 1); /* librtl's is another one */
	rtl_stream_count_missed(stream, "a cause", 1);
	pending = rtl_stream_pending(stream, "under way");
	rtl_pending_begin(pending, 1);
	rtl_pending_release(pending);
	rtl_log(RTL_LEVEL_DEBUG, "stub", "%d", 1);
	return !rtl_stream_ledger(stream, &ledger) && ledger.missed == 1 &&
	       rtl_stream_ledger(&rtl_stream_none, &ledger) == RTL_EINVAL &&
	       !rtl_stream_describe(&rtl_stream_none) && rtl_stream_describe(stream) &&
	       rtl_stream_find(STUB_STREAM) == stream && rtl_default_stream() && rtl_clock_ns() &&
	       rtl_thread_id() && !rtl_flush(10000) && rtl_version()[0] == '0' &&
	       !strcmp(rtl_error_name(RTL_EIO), "RTL_EIO") && rtl_error_text(RTL_EIO)[0];
}

static bool others_absent(void)
{
	uint64_t value = 77;
	struct rtl_span span;

	rtl_stream_count_missed(stream, "nobody", 1);
	rtl_log(RTL_LEVEL_ERROR, "stub", "nobody");
	rtl_pending_begin(rtl_stream_pending(stream, "nobody"), 1);
	rtl_pending_release(rtl_stream_pending(stream, "nobody"));
	rtl_scope_pop(1);
	rtl_commit(NULL);
	rtl_process_ends();
	return !rtl_span_prepare(&span, stream, RTL_REGION_BEGIN, RTL_REGION_END, 1) &&
	       !rtl_reserve(stream, RTL_SIGNAL, 0) && !rtl_try_reserve(stream, RTL_SIGNAL, 0) &&
	       rtl_room(stream, RTL_SIGNAL, 0) == RTL_ENOTSUP && !rtl_room_prepare() &&
	       rtl_tracepoint_register(NULL, &value) == RTL_ENOTSUP &&
	       rtl_string_intern("text", &value) == RTL_ENOTSUP && !rtl_string_text(1) &&
	       !rtl_scope_push(1, 2, 3) && rtl_stash_get(7, &value) == RTL_ENOENT && value == 77 &&
	       rtl_stash_set(7, 8) == RTL_ENOTSUP && !rtl_unique_id() && !rtl_clock_ns() &&
	       !rtl_thread_id() && !rtl_flush(1) && !rtl_stream_find(STUB_STREAM) &&
	       !rtl_stream_describe(stream) && rtl_default_stream() == &rtl_stream_none &&
	       rtl_at_finish(NULL, NULL) == RTL_ENOTSUP && !rtl_version()[0];
}

static void disabled(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		if (rtl_enabled(__atomic_load_n(&stream, __ATOMIC_RELAXED), RTL_SIGNAL))
			publish(1);
}

/* With STUB_CONSTRUCTOR the library is used while the program is being loaded. */
__attribute__((constructor)) static void at_load(void)
{
	if (!getenv("STUB_CONSTRUCTOR"))
		return;
	if (register_stream() || publish(10) != 10)
		fprintf(stderr, "%s: nothing published from the constructor\n", STUB_STREAM);
}

const struct stub_library *STUB_LIBRARY(void)
{
	static const struct stub_library library = {
		STUB_STREAM, register_stream, rtl_stub_available, stub_second_found, publish,
		mark,        others_work,     others_absent,      disabled,
	};

	return &library;
}
