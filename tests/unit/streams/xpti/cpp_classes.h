/* SPDX-License-Identifier: MIT */
/* What collectors of C++ see of a framework: its classes, and the map of an event's metadata. */
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

extern "C" {
#include "xpti/xpti.h"
}

namespace cpp
{

struct Payload {
	virtual ~Payload() = default;
	virtual const char *name() = 0;
	virtual const char *source_file() = 0;
	virtual uint32_t line_no() = 0;
	virtual uint32_t column_no() = 0;
	virtual uint64_t payload_flags() = 0;
	virtual uint32_t name_string_id() = 0;
	virtual uint32_t file_string_id() = 0;
	virtual uint64_t uid64() = 0;
	virtual bool is_valid() = 0;
	virtual xpti_payload *payload_ref() = 0;
};

struct Metadata {
	virtual ~Metadata() = default;
	virtual int32_t first_item(char **key, int32_t &value) = 0;
	virtual int32_t next_item(char **key, int32_t &value) = 0;
	virtual int32_t add_item(const char *key, int32_t value) = 0;
	virtual size_t count() = 0;
};

struct Event {
	virtual ~Event() = default;
	virtual Payload *payload() = 0;
	virtual Metadata *metadata() = 0;
	virtual uint64_t uid64() = 0;
	virtual uint64_t instance() = 0;
	virtual uint16_t event_type() = 0;
	virtual uint16_t activity_type() = 0;
	virtual uint64_t source_uid64() = 0;
	virtual uint64_t target_uid64() = 0;
	virtual uint64_t event_flags() = 0;
	virtual void set_activity_type(uint16_t type) = 0;
	virtual void set_event_type(uint16_t type) = 0;
	virtual xpti_payload *payload_ref() = 0;
	virtual xpti_event *event_ref() = 0;
};

struct Tracepoint {
	virtual ~Tracepoint() = default;
	virtual Payload *payload() = 0;
	virtual Metadata *metadata() = 0;
	virtual Event *event() = 0;
	virtual uint64_t uid64() = 0;
	virtual uint64_t instance() = 0;
	virtual xpti_event *event_ref() = 0;
	virtual xpti_payload *payload_ref() = 0;
};

using Map = std::unordered_map<uint32_t, int32_t>;

static_assert(sizeof(Map) == sizeof(xpti_map), "libstdc++'s map");

template <typename Class> Class *as(xpti_interface *object)
{
	return reinterpret_cast<Class *>(object);
}

inline Map &map_of(xpti_event *event)
{
	return *reinterpret_cast<Map *>(xptiQueryMetadata(event));
}

inline uint32_t string_id(const std::string &text)
{
	char *table;

	return xptiRegisterString(text.c_str(), &table);
}

} // namespace cpp
