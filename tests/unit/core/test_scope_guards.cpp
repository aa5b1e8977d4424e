// SPDX-License-Identifier: MIT
// Publishes with the guards of scope.hpp, and with the macros of region.h in C++: what came of it is
// looked at by scenarios of test_scope_events.c. Built as C++11.
#include <stdexcept>

#include <rtl/scope.hpp>

extern "C" {
bool guards_publish(struct rtl_stream *stream);
void guards_publish_default(void);
}

namespace
{

void throws(struct rtl_stream *stream)
{
	uint64_t number = 3;
	rtl::span span(stream, RTL_REGION_BEGIN, RTL_REGION_END, 77, &number, sizeof(number), 5);
	RTL_REGION_OF(stream, "macro");

	if (span && span.instance())
		throw std::runtime_error("thrown");
}

template <typename T> void in_template(T value)
{
	rtl::region region("template", value);
	region.end(value);
	region.end();
}

} // namespace

/* Whether it has thrown. */
bool guards_publish(struct rtl_stream *stream)
{
	static struct rtl_site site = RTL_SITE("object");
	bool thrown = false;

	try {
		throws(stream);
	} catch (const std::runtime_error &) {
		thrown = true;
	}
	rtl::span span(stream, site);
	return thrown;
}

void guards_publish_default(void)
{
	in_template(5);
	in_template(2.5f);
	RTL_REGION("macro");
	RTL_MARK("mark");
	rtl::region region("plain");
}
