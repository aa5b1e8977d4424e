// SPDX-License-Identifier: MIT
// A program in C++ (11 and later) with a stream of its own: each block that it packs begins and ends.
//     c++ -std=c++11 own_stream.cpp -o own_stream_cpp $(pkg-config --cflags --libs rtl)
//     rtl trace -o run.db ./own_stream_cpp 5
//     sqlite3 run.db 'SELECT block, packed_bytes FROM rtl_e_example_packer_task_end'
#include <rtl/describe.h>
#include <rtl/rtl.h>
#include <rtl/scope.hpp>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace
{

// What the events carry. Their members are described below, one by one.
struct block_begin {
	uint64_t block;
};
struct block_end {
	uint64_t block;
	uint64_t packed_bytes; // 0: it failed
};

const rtl_field begin_fields[] = {
	RTL_FIELD(block_begin, block, RTL_KIND_UINT, "count", "number of the block, from 0"),
};
const rtl_field end_fields[] = {
	RTL_FIELD(block_end, block, RTL_KIND_UINT, "count", "number of the block, from 0"),
	RTL_FIELD(block_end, packed_bytes, RTL_KIND_UINT, "bytes", "what is left of it; 0: it failed"),
};
const rtl_type_info types[] = {
	RTL_TYPE_INFO(RTL_TASK_BEGIN, "task_begin", block_begin, begin_fields, "packing begins"),
	RTL_TYPE_INFO(RTL_TASK_END, "task_end", block_end, end_fields, "packing has ended"),
};
const rtl_stream_info info = RTL_STREAM_INFO("example.packer", 1, 0, types, "blocks that are packed");

// The stream. If it cannot be registered, the program runs on, untraced.
rtl_stream *packer()
{
	static rtl_stream *stream = [] {
		rtl_stream *registered = &rtl_stream_none;
		rtl_stream_register(&info, &registered);
		return registered;
	}();
	return stream;
}

// Begin and end of a block, also if an exception passes.
class packing
{
      public:
	explicit packing(uint64_t block)
	    : end_{block, 0}, begin_{block},
	      span_(packer(), RTL_TASK_BEGIN, RTL_TASK_END, 0, &begin_, sizeof(begin_))
	{
	}
	~packing()
	{
		span_.end(&end_, sizeof(end_));
	}
	void packed(uint64_t bytes)
	{
		end_.packed_bytes = bytes;
	}

      private:
	block_end end_;
	block_begin begin_;
	rtl::span span_;
};

uint64_t pack(uint64_t block)
{
	packing event(block);
	if (block % 4 == 3)
		throw std::runtime_error("cannot be packed");
	uint64_t bytes = 1000 / (block + 1);
	event.packed(bytes);
	return bytes;
}

} // namespace

int main(int argc, char **argv)
{
	uint64_t blocks = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10, bytes = 0, failed = 0;
	RTL_REGION("pack all"); // on the stream rtl.default, up to the end of this function

	for (uint64_t block = 0; block < blocks; block++) {
		try {
			bytes += pack(block);
		} catch (const std::exception &) {
			failed++;
		}
	}
	std::printf("%llu bytes, %llu failed\n", (unsigned long long)bytes, (unsigned long long)failed);
	return 0;
}
