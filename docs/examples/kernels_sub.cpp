// SPDX-License-Identifier: MIT
// A subscriber in C++ (11 and later): the kernels of each process, longest total time first.
//     c++ -std=c++11 -shared -fPIC kernels_sub.cpp -o libkernels_sub.so $(pkg-config --cflags rtl)
//     rtl trace -s ./libkernels_sub.so ./app
#include <rtl/events.h>
#include <rtl/subscriber.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace
{

enum { OUTPUT, TOP };
const rtl_setting_info settings[] = {
	RTL_TEXT_SETTING("output", "kernels.txt", 1, 0, "file to write"),
	RTL_NUMBER_SETTING("top", "10", 1, 1000, "kernels shown"),
};

class kernels : public rtl::subscriber
{
      public:
	kernels(const rtl_host *host, rtl::settings s)
	    : subscriber(host), output_(s[OUTPUT].value), top_(s[TOP].number)
	{
	}

	void stream(const rtl_stream_info &info) override
	{
		if (!std::strcmp(info.name, "rtl.hsa") && info.version_major == 1)
			subscribe(info, RTL_TASK_END);
	}

	void event(const rtl_event &event) override
	{
		const rtl_hsa_dispatch *dispatch = static_cast<const rtl_hsa_dispatch *>(event.payload);
		const rtl_tracepoint *kernel = host()->tracepoint(host(), event.process, event.uid);

		time_[kernel ? kernel->name : "?"] += dispatch->end_ns - dispatch->begin_ns;
	}

	void finish() override
	{
		std::vector<std::pair<std::string, uint64_t>> rows(time_.begin(), time_.end());
		std::FILE *file = std::fopen(output_.c_str(), "w");

		if (!file)
			throw std::runtime_error("cannot write " + output_);
		std::sort(rows.begin(), rows.end(),
			  [](const std::pair<std::string, uint64_t> &a,
			     const std::pair<std::string, uint64_t> &b) { return a.second > b.second; });
		for (std::size_t i = 0; i < rows.size() && i < top_; i++)
			std::fprintf(file, "%12llu ns  %s\n", (unsigned long long)rows[i].second,
				     rows[i].first.c_str());
		std::fclose(file);
	}

      private:
	std::string output_;
	std::size_t top_;
	std::map<std::string, uint64_t> time_;
};

} // namespace

RTL_EXPORT_SUBSCRIBER = rtl::describe<kernels>("kernels", "1", "kernels by their time", settings);
