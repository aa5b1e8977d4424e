// SPDX-License-Identifier: MIT
/**
 * @file subscriber.hpp
 * Subscribers as classes, for C++ 11 and later. Header only: what subscriber.h says of lives, threads and ownership
 * holds.
 *
 *     class counter : public rtl::subscriber
 *     {
 *           public:
 *             counter(const rtl_host *host, rtl::settings) : subscriber(host) {}
 *             void stream(const rtl_stream_info &info) override { subscribe(info, RTL_TYPE_ANY); }
 *             void event(const rtl_event &event) override { count_++; }
 *             void finish() override { ... }
 *     };
 *
 *     RTL_EXPORT_SUBSCRIBER = rtl::describe<counter>("counter", "1", "counts events");
 *
 * An exception never leaves the subscriber: it ends the instance, and the user is told its text.
 */
#ifndef RTL_SUBSCRIBER_HPP
#define RTL_SUBSCRIBER_HPP

#include <cstddef>
#include <exception>
#include <new>

#include <rtl/subscriber.h>

namespace rtl
{

/** The settings that an instance is made with, by their numbers in the descriptor. */
class settings
{
      public:
	settings(const rtl_setting *list, std::size_t count) : list_(list), count_(count)
	{
	}

	/** Valid while the instance is constructed; n below size(). */
	const rtl_setting &operator[](std::size_t n) const
	{
		return *rtl_setting_at(list_, n);
	}

	std::size_t size() const
	{
		return count_;
	}

      private:
	const rtl_setting *list_;
	std::size_t count_;
};

/**
 * An instance. Every function but the destructor may throw. All come from one thread at a time, but for `event` of a
 * subscription that asked for RTL_INLINE.
 */
class subscriber
{
      public:
	explicit subscriber(const rtl_host *host) : host_(host)
	{
	}

	virtual ~subscriber()
	{
	}

	subscriber(const subscriber &) = delete;
	subscriber &operator=(const subscriber &) = delete;

	/** Of each stream, before its events: subscribe here. */
	virtual void stream(const rtl_stream_info &info) = 0;

	/** An event of what was subscribed to; valid until it returns. */
	virtual void event(const rtl_event &)
	{
	}

	/** Around the events of a process. */
	virtual void process_begin(const rtl_process &)
	{
	}

	virtual void process_end(const rtl_process &)
	{
	}

	/** After batches: write and commit here. */
	virtual void flush()
	{
	}

	/** After the last event: the output is complete when it returns. */
	virtual void finish()
	{
	}

      protected:
	/** Valid until the instance is destroyed. */
	const rtl_host *host() const
	{
		return host_;
	}

	/**
	 * Subscribes to a type of a stream, or to RTL_TYPE_ANY. From `stream`.
	 * @return as rtl_host.subscribe
	 */
	int subscribe(const rtl_stream_info &info, uint16_t type,
		      rtl_delivery delivery = RTL_BUFFERED)
	{
		return host_->subscribe(host_, &info, type, delivery, deliver, this, nullptr);
	}

	/** A line for the user, under the subscriber's name. */
	void report(rtl_level level, const char *text) const
	{
		host_->report(host_, level, text);
	}

      private:
	/** Calls what may throw; 0, or RTL_EPLUGIN once the host knows why. */
	template <typename F> static int guarded(const rtl_host *host, F function) noexcept
	{
		try {
			function();
			return 0;
		} catch (const std::exception &e) {
			host->fail(host, e.what());
		} catch (...) {
			host->fail(host, "an exception that is no std::exception");
		}
		return RTL_EPLUGIN;
	}

	static void deliver(void *user, const rtl_event *const *events, std::size_t count)
	{
		subscriber *self = static_cast<subscriber *>(user);

		guarded(self->host_, [&] {
			for (std::size_t i = 0; i < count; i++)
				self->event(*events[i]);
		});
	}

	/** The functions of the descriptor. */
	template <typename T> struct calls {
		static int create(const rtl_host *host, const rtl_setting *list, std::size_t count,
				  void **instance)
		{
			return guarded(host, [&] {
				subscriber *made = new T(host, rtl::settings(list, count));

				*instance = made;
			});
		}

		static int stream(void *instance, const rtl_stream_info *info)
		{
			subscriber *self = static_cast<subscriber *>(instance);

			return guarded(self->host_, [&] { self->stream(*info); });
		}

		static int process_begin(void *instance, const rtl_process *process)
		{
			subscriber *self = static_cast<subscriber *>(instance);

			return guarded(self->host_, [&] { self->process_begin(*process); });
		}

		static int process_end(void *instance, const rtl_process *process)
		{
			subscriber *self = static_cast<subscriber *>(instance);

			return guarded(self->host_, [&] { self->process_end(*process); });
		}

		static int flush(void *instance)
		{
			subscriber *self = static_cast<subscriber *>(instance);

			return guarded(self->host_, [&] { self->flush(); });
		}

		static int finish(void *instance)
		{
			subscriber *self = static_cast<subscriber *>(instance);

			return guarded(self->host_, [&] { self->finish(); });
		}

		static void destroy(void *instance)
		{
			delete static_cast<subscriber *>(instance);
		}
	};

	template <typename T>
	friend ::rtl_subscriber describe(const char *, const char *, const char *,
					 const rtl_setting_info *, std::size_t);

	const rtl_host *host_;
};

/**
 * The descriptor of a class that derives from rtl::subscriber and can be constructed from a host and its settings.
 * Texts and settings are not copied: constants.
 */
template <typename T>
::rtl_subscriber describe(const char *name, const char *version, const char *description,
			  const rtl_setting_info *settings, std::size_t setting_count)
{
	::rtl_subscriber made = ::rtl_subscriber();

	made.abi_version = RTL_ABI_VERSION;
	made.struct_size = sizeof(made);
	made.name = name;
	made.version = version;
	made.description = description;
	made.settings = settings;
	made.setting_count = static_cast<uint32_t>(setting_count);
	made.create = subscriber::calls<T>::create;
	made.stream = subscriber::calls<T>::stream;
	made.process_begin = subscriber::calls<T>::process_begin;
	made.process_end = subscriber::calls<T>::process_end;
	made.flush = subscriber::calls<T>::flush;
	made.finish = subscriber::calls<T>::finish;
	made.destroy = subscriber::calls<T>::destroy;
	return made;
}

/** Without settings. */
template <typename T>
::rtl_subscriber describe(const char *name, const char *version, const char *description)
{
	return describe<T>(name, version, description, nullptr, 0);
}

/** With an array of settings. */
template <typename T, std::size_t N>
::rtl_subscriber describe(const char *name, const char *version, const char *description,
			  const rtl_setting_info (&settings)[N])
{
	return describe<T>(name, version, description, settings, N);
}

} // namespace rtl

#endif
