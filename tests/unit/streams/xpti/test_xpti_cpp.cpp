/* SPDX-License-Identifier: MIT */
/* The framework as C++ uses it: every function, the map, the classes, exceptions, threads, a plugin.
 * Made to be run under sanitizers as well. */
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cpp_classes.h"

extern "C" {
#include "unit.h"
}

static int (*plugin_count)(int);
static const char *(*plugin_streams)();

static int load_plugin(void **)
{
	setenv("XPTI_SUBSCRIBERS", XPTI_PLUGIN ",/nowhere/no_such_plugin.so", 1);
	xptiFrameworkInitialize();

	void *library = dlopen(XPTI_PLUGIN, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return 1;
	plugin_count = reinterpret_cast<int (*)(int)>(dlsym(library, "plugin_count"));
	plugin_streams = reinterpret_cast<const char *(*)()>(dlsym(library, "plugin_streams"));
	return 0;
}

static xpti_payload payload(const char *name, uint32_t line)
{
	xpti_payload p{};

	p.name = name;
	p.file = "main.cpp";
	p.line = line;
	p.flags = XPTI_PAYLOAD_NAME | XPTI_PAYLOAD_FILE | XPTI_PAYLOAD_LINE;
	return p;
}

static xpti_event *make(const char *name, uint32_t line)
{
	xpti_payload p = payload(name, line);
	uint64_t instance;

	return xptiMakeEvent(name, &p, 1, XPTI_ACTIVITY_ACTIVE, &instance);
}

static int32_t object(const std::string &text)
{
	return xptiRegisterObject(text.data(), text.size(), XPTI_OBJECT_STRING);
}

/* ---- the plugin */

TEST(test_plugin__is_told_of_streams_and_events)
{
	int before = plugin_count(0);

	assert_true(xptiTraceEnabled());
	assert_int_equal(xptiInitialize("cpp", 1, 2, "v"), XPTI_SUCCESS);
	/* the first of all is the framework's own */
	assert_string_equal(plugin_streams(), "xpti.framework cpp ");
	assert_int_equal(plugin_count(0), before + 2);
	xptiInitialize("verbose", 1, 2, "v");
	assert_int_equal(plugin_count(0), before + 3);

	uint8_t number = xptiRegisterStream("cpp");
	assert_true(xptiCheckTraceEnabled(number, RTL_NODE_CREATE));
	assert_false(xptiCheckTraceEnabled(number, 42));

	xpti_event *node = make("node", 1);
	xptiAddMetadata(node, "kernel_name", object("k"));
	xptiAddMetadata(node, "device", object("GPU"));
	int heard = plugin_count(2), items = plugin_count(3);
	assert_int_equal(xptiNotifySubscribers(number, 4, nullptr, node, 1, nullptr), XPTI_SUCCESS);
	assert_int_equal(plugin_count(2), heard + 1);
	assert_int_equal(plugin_count(3), items + 2);
	xptiNotifySubscribers(number, 42, nullptr, node, 1, nullptr);
	assert_int_equal(plugin_count(2), heard + 1);

	/* what it registered from its constructor */
	xptiNotifySubscribers(xptiRegisterStream("early"), 10, nullptr, node, 1, nullptr);
	assert_int_equal(plugin_count(2), heard + 2);

	xptiForceSetTraceEnabled(false);
	assert_int_equal(xptiNotifySubscribers(number, 4, nullptr, node, 1, nullptr), XPTI_FALSE);
	xptiForceSetTraceEnabled(true);

	int finishes = plugin_count(1);
	xptiFinalize("verbose");
	assert_int_equal(plugin_count(1), finishes + 1);
	xptiReleaseEvent(node);
}

TEST(test_detail__largest_that_a_plugin_wants)
{
	assert_int_equal(xptiGetEffectiveStreamDetailLevel(xptiRegisterStream("verbose")),
			 XPTI_DETAIL_VERBOSE);
	assert_int_equal(xptiGetEffectiveStreamDetailLevel(xptiRegisterStream("cpp")),
			 XPTI_DETAIL_NORMAL);
	assert_int_equal(xptiGetEffectiveStreamDetailLevel(250), XPTI_DETAIL_NONE);
}

/* ---- the map */

TEST(test_map__cpp_reads_what_the_framework_adds)
{
	xpti_event *event = make("map", 2);
	cpp::Map &map = cpp::map_of(event);
	std::set<std::string> keys, seen;

	assert_true(map.empty());
	for (int i = 0; i < 500; i++) {
		std::string key = "key" + std::to_string(i);

		keys.insert(key);
		assert_int_equal(xptiAddMetadata(event, key.c_str(), object(key)), XPTI_SUCCESS);
	}
	assert_int_equal(map.size(), 500);
	for (auto &item : map) {
		xpti_object value = xptiLookupObject(item.second);

		seen.insert(xptiLookupString(item.first));
		assert_string_equal(std::string(value.data, value.size).c_str(),
				    xptiLookupString(item.first));
	}
	assert_true(keys == seen);
	for (auto &key : keys) {
		uint32_t id = cpp::string_id(key);

		assert_int_equal(map.count(id), 1);
		assert_int_equal(map[id], object(key));
	}
	xptiReleaseEvent(event);
}

TEST(test_map__cpp_adds_and_erases__framework_goes_on)
{
	xpti_event *event = make("map", 3);
	cpp::Map &map = cpp::map_of(event);

	xptiAddMetadata(event, "first", object("1"));
	for (uint32_t i = 0; i < 300; i++)
		map[1000000 + i] = (int32_t)i; /* grows in C++ */
	for (uint32_t i = 0; i < 300; i += 2)
		map.erase(1000000 + i);
	for (int i = 0; i < 300; i++) /* and goes on growing here */
		assert_int_equal(xptiAddMetadata(event, ("more" + std::to_string(i)).c_str(), i),
				 XPTI_SUCCESS);
	assert_int_equal(map.size(), 1 + 150 + 300);
	for (uint32_t i = 1; i < 300; i += 2)
		assert_int_equal(map.at(1000000 + i), i);
	assert_int_equal(map[cpp::string_id("first")], object("1"));
	map.rehash(4096);
	assert_int_equal(xptiAddMetadata(event, "first", object("2")), XPTI_DUPLICATE);
	assert_int_equal(map[cpp::string_id("first")], object("2"));

	cpp::Map copy = map;
	assert_int_equal(copy.size(), map.size());
	map.clear();
	assert_int_equal(xptiAddMetadata(event, "again", object("2")), XPTI_SUCCESS);
	xptiReleaseEvent(event); /* gives the memory back that C++ has taken */
}

/* ---- the classes */

TEST(test_tracepoint__created__found_until_deleted)
{
	auto *a = cpp::as<cpp::Tracepoint>(xptiCreateTracepoint("f", "f.cpp", 1, 2, nullptr));
	auto *second = xptiCreateTracepoint("f", "f.cpp", 1, 2, nullptr);
	auto *none =
		cpp::as<cpp::Tracepoint>(xptiCreateTracepoint(nullptr, nullptr, 0, 0, nullptr));
	auto *no_file = cpp::as<cpp::Tracepoint>(xptiCreateTracepoint("f", nullptr, 0, 0, nullptr));
	uint64_t id = a->uid64(), other = cpp::as<cpp::Tracepoint>(second)->uid64();

	assert_string_equal(none->payload_ref()->name, "unknown");
	assert_string_equal(none->payload_ref()->file, "unknown-file");
	assert_null(no_file->payload_ref()->file);
	assert_int_not_equal(id, other);
	assert_ptr_equal(cpp::as<cpp::Payload>(xptiLookupPayload(id))->payload_ref(),
			 a->payload_ref());
	assert_int_equal(xptiDeleteTracepoint(nullptr), XPTI_INVALIDARG);
	assert_int_equal(xptiDeleteTracepoint(second), XPTI_SUCCESS);
	assert_null(xptiLookupEvent(other));
	assert_null(xptiLookupPayload(other));
	assert_non_null(xptiLookupEvent(id));
}

TEST(test_classes__of_a_tracepoint)
{
	int code;
	auto *tp = cpp::as<cpp::Tracepoint>(xptiCreateTracepoint("f", "f.cpp", 7, 3, &code));
	auto *p = cpp::as<cpp::Payload>(xptiLookupPayload(tp->uid64()));
	auto *e = cpp::as<cpp::Event>(xptiLookupEvent(tp->uid64()));
	char *key;
	int32_t value;

	assert_string_equal(tp->payload()->name(), "f");
	assert_string_equal(p->source_file(), "f.cpp");
	assert_int_equal(p->line_no(), 7);
	assert_int_equal(p->column_no(), 3);
	assert_int_equal(p->payload_flags() & 3, 3);
	assert_true(p->is_valid());
	assert_string_equal(xptiLookupString(p->name_string_id()), "f");
	assert_string_equal(xptiLookupString(p->file_string_id()), "f.cpp");
	assert_int_equal(p->uid64(), tp->uid64());
	assert_ptr_equal(p->payload_ref(), tp->payload_ref());
	assert_ptr_equal(e->event_ref(), tp->event_ref());
	assert_ptr_equal(e, tp->event());
	assert_ptr_equal(e->payload(), p);
	assert_ptr_equal(e->payload_ref(), p->payload_ref());
	assert_int_equal(e->instance(), tp->instance());
	e->set_event_type(9);
	e->set_activity_type(2);
	assert_int_equal(e->event_type(), 9);
	assert_int_equal(e->activity_type(), 2);
	tp->event_ref()->source_id = 5;
	tp->event_ref()->target_id = 6;
	assert_int_equal(e->source_uid64(), 5);
	assert_int_equal(e->target_uid64(), 6);
	assert_int_equal(e->event_flags() & XPTI_EVENT_UID, XPTI_EVENT_UID);

	cpp::Metadata *m = tp->metadata();
	assert_ptr_equal(m, e->metadata());
	assert_int_equal(m->count(), 0);
	assert_int_equal(m->first_item(&key, value), XPTI_FALSE);
	assert_int_equal(m->add_item("a", object("1")), XPTI_SUCCESS);
	assert_int_equal(m->add_item("b", object("2")), XPTI_SUCCESS);
	assert_int_equal(m->count(), 2);
	assert_int_equal(m->first_item(&key, value), XPTI_SUCCESS);
	std::string first = key;
	assert_int_equal(m->next_item(&key, value), XPTI_SUCCESS);
	assert_true(first != key && (first == "a" || first == "b"));
	assert_int_equal(m->next_item(&key, value), XPTI_FALSE);

	assert_int_equal(xptiSetTracepointScopeData(reinterpret_cast<xpti_interface *>(tp)),
			 XPTI_SUCCESS);
	assert_ptr_equal(xptiGetTracepointScopeData(), tp);
	xptiUnsetTracepointScopeData();
	assert_int_equal(xptiDeleteTracepoint(reinterpret_cast<xpti_interface *>(tp)),
			 XPTI_SUCCESS);

	xpti_payload mine = payload("registered", 4);
	auto *registered = cpp::as<cpp::Payload>(xptiLookupPayload(xptiRegisterPayload(&mine)));
	assert_string_equal(registered->name(), "registered");
	assert_ptr_equal(registered->payload_ref(), xptiQueryPayloadByUID(mine.internal));
}

/* ---- exceptions and threads */

static uint8_t stream;

static void thrower(uint16_t, xpti_event *, xpti_event *, uint64_t, const void *)
{
	throw std::runtime_error("from a callback");
}

TEST(test_exception__passes_and_leaves_all_as_it_was)
{
	bool caught = false;

	stream = xptiRegisterStream("throws");
	xptiRegisterCallback(stream, 10, thrower);
	for (int i = 0; i < 3; i++) {
		try {
			xptiNotifySubscribers(stream, 10, nullptr, make("t", 5), 1, nullptr);
		} catch (const std::runtime_error &) {
			caught = true;
		}
		assert_true(caught);
	}
	assert_int_equal(xptiUnregisterCallback(stream, 10, thrower), XPTI_SUCCESS);
	assert_int_equal(xptiNotifySubscribers(stream, 10, nullptr, make("t", 5), 1, nullptr),
			 XPTI_SUCCESS);
}

static void unregisters_itself(uint16_t type, xpti_event *, xpti_event *, uint64_t, const void *)
{
	xptiUnregisterCallback(stream, type, unregisters_itself);
}

TEST(test_unregister__from_inside__is_off)
{
	stream = xptiRegisterStream("inside");
	xptiRegisterCallback(stream, 10, unregisters_itself);
	xptiNotifySubscribers(stream, 10, nullptr, make("i", 7), 1, nullptr);
	assert_false(xptiCheckTraceEnabled(stream, 10));
}

static std::atomic<uint64_t> counted{0};

static void counter(uint16_t, xpti_event *, xpti_event *, uint64_t, const void *)
{
	counted++;
}

/* All functions at once, and ids stay unique. */
TEST(test_threads__everything_at_once)
{
	constexpr int threads = 4, rounds = 1500;
	std::vector<std::vector<uint64_t>> ids(threads);
	std::vector<std::thread> all;
	static xpti_event *shared;

	stream = xptiRegisterStream("threads");
	shared = make("shared", 8);
	xptiRegisterCallback(stream, 10, counter);
	for (int t = 0; t < threads; t++)
		all.emplace_back([t, &ids] {
			for (int i = 0; i < rounds; i++) {
				xpti_event *event = make("thread", 9 + (uint32_t)(i % 50));
				std::string key = "k" + std::to_string(i % 100);

				ids[(size_t)t].push_back(event->unique_id);
				xptiAddMetadata(event, key.c_str(), object(key));
				xptiAddMetadata(shared, key.c_str(), object(key));
				xptiNotifySubscribers(stream, 10, shared, event, 1, nullptr);
				if (i % 16 == 0) {
					xptiRegisterCallback(stream, 11, counter);
					xptiUnregisterCallback(stream, 11, counter);
				}
				xptiStashTuple("key", (uint64_t)i);
				xptiFindEvent(event->unique_id);
				if (i % 3)
					xptiReleaseEvent(event);
				auto *scope = xptiRegisterTracepointScope("f", "g", 1, 2, nullptr);
				xptiSetTracepointScopeData(scope);
				xptiUnsetTracepointScopeData();
				xptiDeleteTracepoint(scope);
			}
		});
	for (auto &thread : all)
		thread.join();
	std::set<uint64_t> unique;
	for (auto &list : ids)
		unique.insert(list.begin(), list.end());
	assert_int_equal(unique.size(), threads * rounds);
	assert_int_equal(counted, threads * rounds);
	assert_int_equal(cpp::map_of(shared).size(), 100);
	xptiUnregisterCallback(stream, 10, counter);
}

RUN_TESTS(NULL, NULL, load_plugin, NULL)
