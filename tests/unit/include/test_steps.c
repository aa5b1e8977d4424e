/* SPDX-License-Identifier: MIT */
/* Arrays of ABI structs are walked by the size that their first element tells: a later rtl's, or a
 * later plugin's, may be larger than the one that this was compiled with. */

#include <rtl/subscriber.h>

#include "unit.h"

#define COUNT 3

/* An array of structs that have grown by a member. */
#define GROWN(name, type)                                                                          \
	struct {                                                                                   \
		struct type is;                                                                    \
		uint64_t more;                                                                     \
	} name[COUNT];                                                                             \
	memset(name, 0, sizeof(name));                                                             \
	for (size_t n_ = 0; n_ < COUNT; n_++)                                                      \
	name[n_].is.struct_size = sizeof(name[n_])

TEST(test_steps__larger_elements__each_is_found)
{
	GROWN(settings, rtl_setting);
	GROWN(infos, rtl_setting_info);
	GROWN(metadata, rtl_metadata);
	GROWN(fields, rtl_field);
	GROWN(types, rtl_type_info);
	const struct rtl_subscriber subscriber = {.settings = &infos[0].is};
	const struct rtl_tracepoint tracepoint = {.metadata = &metadata[0].is,
						  .metadata_count = COUNT};
	const struct rtl_type_info type = {.fields = &fields[0].is};
	const struct rtl_stream_info stream = {.types = &types[0].is};

	for (uint32_t n = 0; n < COUNT; n++) {
		assert_ptr_equal(rtl_setting_at(&settings[0].is, n), &settings[n].is);
		assert_ptr_equal(rtl_subscriber_setting(&subscriber, n), &infos[n].is);
		assert_ptr_equal(rtl_tracepoint_metadata(&tracepoint, n), &metadata[n].is);
		assert_ptr_equal(rtl_type_field(&type, n), &fields[n].is);
		assert_ptr_equal(rtl_stream_type(&stream, n), &types[n].is);
	}
}

TEST(test_tracepoint_value__by_key__null_if_there_is_none)
{
	GROWN(metadata, rtl_metadata);
	const struct rtl_tracepoint tracepoint = {.metadata = &metadata[0].is,
						  .metadata_count = COUNT};
	const struct rtl_tracepoint bare = {0};

	for (size_t n = 0; n < COUNT; n++) {
		metadata[n].is.key = &"a\0b\0c"[2 * n];
		metadata[n].is.value = &"1\0002\0003"[2 * n];
	}
	assert_string_equal(rtl_tracepoint_value(&tracepoint, "c"), "3");
	assert_null(rtl_tracepoint_value(&tracepoint, "d"));
	assert_null(rtl_tracepoint_value(&bare, "a"));
	assert_null(rtl_tracepoint_value(NULL, "a"));
}

TEST(test_stream_find_type__by_number__null_if_there_is_none)
{
	GROWN(types, rtl_type_info);
	const struct rtl_stream_info stream = {.types = &types[0].is, .type_count = COUNT};
	const struct rtl_stream_info bare = {0};

	for (uint16_t n = 0; n < COUNT; n++)
		types[n].is.type = 10 + n;
	assert_ptr_equal(rtl_stream_find_type(&stream, 12), &types[2].is);
	assert_null(rtl_stream_find_type(&stream, 13));
	assert_null(rtl_stream_find_type(&bare, 10));
}

RUN_TESTS(NULL, NULL, NULL, NULL)
