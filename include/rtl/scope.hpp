// SPDX-License-Identifier: MIT
/**
 * @file scope.hpp
 * Spans and regions for C++ (11 and later): guards whose lifetime is that of an object. Header only;
 * works with stub.h too if that is included first. The macros of region.h work in C++ as well.
 */
#ifndef RTL_SCOPE_HPP
#define RTL_SCOPE_HPP

#include <type_traits>

#include <rtl/region.h>

namespace rtl
{

/** Something that begins with the object and ends with it, on a stream of yours. */
class span
{
      public:
	/**
	 * @param uid          what begins
	 * @param correlation  0 = that of the scope around it
	 */
	span(struct rtl_stream *stream, uint16_t begin_type, uint16_t end_type, uint64_t uid,
	     const void *payload = nullptr, uint32_t payload_size = 0, uint64_t correlation = 0)
	{
		if (rtl_span_prepare(&span_, stream, begin_type, end_type, uid)) {
			span_.correlation = correlation;
			rtl_span_begin(&span_, payload, payload_size);
		}
	}

	/** A region of a call site: see RTL_SITE. */
	span(struct rtl_stream *stream, struct rtl_site &site)
	{
		rtl_site_begin(&span_, stream, &site);
	}

	~span()
	{
		end();
	}

	span(const span &) = delete;
	span &operator=(const span &) = delete;

	/** Ends it before its time, with a payload; later ends do nothing. */
	void end(const void *payload = nullptr, uint32_t payload_size = 0)
	{
		rtl_span_end(&span_, payload, payload_size);
	}

	/** Whether anybody wants it. */
	explicit operator bool() const
	{
		return span_.stream != nullptr;
	}

	/** Pairs its events; 0 if nobody wants it. */
	uint64_t instance() const
	{
		return span_.stream ? span_.instance : 0;
	}

      private:
	struct rtl_span span_;
};

/** A region of the stream "rtl.default". */
class region
{
      public:
	explicit region(const char *name)
	{
		rtl_region_begin(&span_, name);
	}

	/** With a number, integer or floating. */
	template <typename T> region(const char *name, T value)
	{
		begin(name, value, std::is_floating_point<T>());
	}

	~region()
	{
		rtl_region_end(&span_);
	}

	region(const region &) = delete;
	region &operator=(const region &) = delete;

	/** Ends it before its time. */
	void end()
	{
		rtl_region_end(&span_);
	}

	/** Ends it before its time, with a number. */
	template <typename T> void end(T value)
	{
		finish(value, std::is_floating_point<T>());
	}

      private:
	template <typename T> void begin(const char *name, T value, std::true_type)
	{
		rtl_region_begin_f64(&span_, name, static_cast<double>(value));
	}

	template <typename T> void begin(const char *name, T value, std::false_type)
	{
		rtl_region_begin_u64(&span_, name, static_cast<uint64_t>(value));
	}

	template <typename T> void finish(T value, std::true_type)
	{
		rtl_region_end_f64(&span_, static_cast<double>(value));
	}

	template <typename T> void finish(T value, std::false_type)
	{
		rtl_region_end_u64(&span_, static_cast<uint64_t>(value));
	}

	struct rtl_span span_;
};

} // namespace rtl

#endif
