/* SPDX-License-Identifier: MIT */
/* A plugin of XPTI, in C++, as people have them. Calls the framework from its constructor, too. */
#include <atomic>
#include <string>

#include "cpp_classes.h"

static std::atomic<int> inits{0}, finishes{0}, heard{0}, items{0};
static std::string streams;

static void callback(uint16_t, xpti_event *, xpti_event *object, uint64_t, const void *)
{
	heard++;
	if (!object)
		return;
	for (auto &item : cpp::map_of(object))
		if (xptiLookupString(item.first) && xptiLookupObject(item.second).data)
			items++;
}

namespace
{
struct Early {
	Early()
	{
		/* upstream's framework hangs here */
		cpp::string_id("from a constructor");
		xptiRegisterStream("early");
		xptiTraceEnabled();
		xptiRegisterCallback(xptiRegisterStream("early"), 10, callback);
	}
} early;
} // namespace

extern "C" {
XPTI_API void xptiTraceInit(uint32_t, uint32_t, const char *, const char *stream);
XPTI_API void xptiTraceFinish(const char *stream);
XPTI_API bool xptiQuerySubscriberStreamDetailLevel(const char *stream, uint8_t *level);
XPTI_API int plugin_count(int which);
XPTI_API const char *plugin_streams(void);
}

void xptiTraceInit(uint32_t, uint32_t, const char *, const char *stream)
{
	uint8_t number = xptiRegisterStream(stream);

	inits++;
	streams += std::string(stream) + " ";
	for (uint16_t type : {2, 4, 6, 10, 11, 16, 22, 23, 28, 29})
		xptiRegisterCallback(number, type, callback);
}

void xptiTraceFinish(const char *)
{
	finishes++;
}

bool xptiQuerySubscriberStreamDetailLevel(const char *stream, uint8_t *level)
{
	*level = XPTI_DETAIL_VERBOSE;
	return std::string(stream) == "verbose";
}

int plugin_count(int which)
{
	return which == 0 ? inits : which == 1 ? finishes : which == 2 ? heard : items;
}

const char *plugin_streams(void)
{
	return streams.c_str();
}
