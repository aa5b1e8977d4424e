/* SPDX-License-Identifier: MIT */
/*
 * streams/hsa/calls.table against the headers of a ROCm: each function's prototype and place, that
 * none is missing, the handles, and the values of the enumerators. The compiler checks them; the
 * program then finds the places by the size of the table, as the interceptor does, and looks at
 * the places in the tables of other releases.
 */
#ifndef AMD_INTERNAL_BUILD
#	define AMD_INTERNAL_BUILD
#endif
#include <hsa/hsa_api_trace.h>

#include <stdio.h>
#include <string.h>
#include <type_traits>
#include <vector>

extern "C" {
#include "../../streams/hsa/calls.h"
#include "../../streams/hsa/runtime/table.h"

/* What the wrappers call: none is called here. */
struct call_streams call_streams;

struct call call_begin(uint32_t, const struct call_pack *)
{
	return {};
}

void call_end(const struct call *, uint32_t, const struct call_pack *, uint64_t)
{
}

void memory_begin(void *, const void *, uint32_t, const uint64_t *)
{
}

void memory_end(void *, const uint64_t *, uint32_t)
{
}
}

struct any_function {
};

template <class T, class Expected> struct same : std::is_same<T, Expected> {
};
template <class T>
struct same<T, any_function>
    : std::integral_constant<bool, std::is_pointer<T>::value &&
					   std::is_function<std::remove_pointer_t<T>>::value> {
};

template <bool fits, class Parameters, class Expected> struct all : std::false_type {
};
template <class... Parameters> struct list {
};
template <class... Parameters, class... Expected>
struct all<true, list<Parameters...>, list<Expected...>>
    : std::conjunction<same<Parameters, Expected>...> {
};

template <class Pointer, class Result, class... Expected> struct prototype : std::false_type {
};
template <class Result, class... Parameters, class... Expected>
struct prototype<Result (*)(Parameters...), Result, Expected...>
    : all<sizeof...(Parameters) == sizeof...(Expected), list<Parameters...>, list<Expected...>> {
};

#define COUNT(table, count)                                                                        \
	static_assert(sizeof(table) == sizeof(ApiTableVersion) + (count) * sizeof(void *), #table);
#define SLOT(table, function, slot, since)                                                         \
	static_assert(offsetof(table, function##_fn) ==                                            \
			      sizeof(ApiTableVersion) + (slot) * sizeof(void *),                   \
		      #function);
#define TYPES(table, function, ...)                                                                \
	static_assert(prototype<decltype(table::function##_fn), __VA_ARGS__>::value, #function);
#define HANDLE(type)                                                                               \
	static_assert(std::is_class<type>::value && sizeof(type) == 8 &&                           \
			      std::is_trivially_copyable<type>::value,                             \
		      #type);
#define ENUM(type)                                                                                 \
	static_assert((std::is_enum<type>::value || std::is_same<type, uint32_t>::value) &&        \
			      sizeof(type) == 4,                                                   \
		      #type);
#define VALUE(number, name) static_assert((long long)(name) == (number), #name);
#include HSA_CALL_CHECKS

#undef COUNT
#undef SLOT
#undef TYPES
#undef HANDLE
#undef ENUM
#undef VALUE
#define COUNT(table, count)
#define SLOT(table, function, slot, since)                                                         \
	{#table, #function, offsetof(table, function##_fn), sizeof(table)},
#define TYPES(table, function, ...)
#define HANDLE(type)
#define ENUM(type)
#define VALUE(number, name)
static const struct place {
	const char *table, *function;
	size_t offset, table_size;
} places[] = {
#include HSA_CALL_CHECKS
};

static int failures;

static void expect(bool condition, const char *what, const char *name)
{
	if (condition)
		return;
	printf("FAILED: %s: %s\n", what, name);
	failures++;
}

static table_function number_of(const char *function)
{
	for (uint32_t i = 0; i < TABLE_FUNCTIONS; i++)
		if (!strcmp(call_functions[i].name, function))
			return static_cast<table_function>(i);
	return TABLE_FUNCTIONS;
}

/* A table of that many entries. */
struct fake {
	explicit fake(size_t entries) : memory(2 + entries)
	{
		table = reinterpret_cast<function_table *>(memory.data());
		table->version.size = static_cast<uint32_t>(16 + entries * sizeof(void *));
	}

	size_t slot_of(const char *function)
	{
		void **entry = table_place(table, number_of(function));

		return entry ? static_cast<size_t>(entry - table->entries) : SIZE_MAX;
	}

	std::vector<void *> memory;
	function_table *table;
};

static void check_installed()
{
	for (const place &place : places) {
		fake table((place.table_size - 16) / sizeof(void *));

		expect(table.slot_of(place.function) == (place.offset - 16) / sizeof(void *),
		       "found at another place", place.function);
	}
}

/* As the headers of those releases have them. */
static void check_others()
{
	static const struct {
		size_t entries;
		const char *function;
		size_t slot;
	} known[] = {
		{48, "hsa_amd_memory_async_copy", 15},
		{48, "hsa_amd_memory_async_copy_on_engine", SIZE_MAX},
		{48, "hsa_amd_queue_intercept_create", 35},
		{48, "hsa_amd_svm_prefetch_async", 46},
		{48, "hsa_amd_spm_acquire", SIZE_MAX},
		{48, "hsa_amd_queue_cu_get_mask", 47},
		{48, "hsa_amd_portable_export_dmabuf", SIZE_MAX},
		{51, "hsa_amd_memory_copy_engine_status", SIZE_MAX},
		{51, "hsa_amd_queue_intercept_create", 35},
		{51, "hsa_amd_spm_set_dest_buffer", 49},
		{51, "hsa_amd_queue_cu_get_mask", 50},
		{51, "hsa_amd_portable_export_dmabuf", SIZE_MAX},
		{55, "hsa_amd_memory_async_copy_on_engine", 16},
		{55, "hsa_amd_queue_intercept_create", 37},
		{55, "hsa_amd_queue_cu_get_mask", 52},
		{55, "hsa_amd_portable_close_dmabuf", 54},
		{55, "hsa_amd_vmem_address_reserve", SIZE_MAX},
		{67, "hsa_amd_vmem_get_alloc_properties_from_handle", 66},
		{68, "hsa_amd_agent_set_async_scratch_limit", 67},
		{70, "hsa_amd_vmem_address_reserve_align", 69},
		{74, "hsa_amd_portable_export_dmabuf_v2", 73},
		{76, "hsa_amd_ais_file_read", 75},
		{92, "hsa_amd_ais_file_read", 75},
	};

	for (const auto &k : known)
		expect(fake(k.entries).slot_of(k.function) == k.slot,
		       "not where that release has it", k.function);
	for (uint32_t i = 0; i < TABLE_FUNCTIONS; i++) {
		fake none(0);

		expect(!table_place(none.table, static_cast<table_function>(i)),
		       "found in an empty table", call_functions[i].name);
	}
}

int main()
{
	check_installed();
	check_others();
	printf("%s, %zu functions\n", failures ? "failed" : "ok",
	       sizeof(places) / sizeof(places[0]));
	return failures != 0;
}
