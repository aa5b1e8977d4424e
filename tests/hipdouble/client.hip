/* SPDX-License-Identifier: MIT */
/*
 * client work FILE [THREADS] [LAUNCHES] [GRAPHS]: calls and work on so many threads with the profiler
 * on; then all records as text, for compare.py.
 * client chunks, count, early, fork, null, rubbish, unknown: what hip_double.h tells of each.
 */
#define PROGRAM "client"
#include "../programs/check.h"
#include "hip_double.h"

#include <atomic>
#include <dlfcn.h>
#include <errno.h>
#include <hip/hip_runtime.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" __global__ void client_kernel(unsigned *data)
{
	data[blockIdx.x] += 1;
}

template <typename T> __global__ void client_add(T *data, T value)
{
	data[blockIdx.x] += value;
}

static int (*enable)(uint64_t *, uint64_t);
static int (*disable)(uint64_t *);
static int (*get_records)(const hip_record *const **, size_t *, size_t *, size_t *);
static int (*add_callback)(hip_chunk_callback *, void *);

template <typename F> static void find(F **function, const char *name)
{
	*function = reinterpret_cast<F *>(dlsym(RTLD_DEFAULT, name));
	if (!*function)
		fail("%s is not there", name);
}

struct records {
	const hip_record *const *chunks;
	size_t count, size, total;

	const hip_record *operator[](size_t slot) const
	{
		return chunks[slot / size] ? &chunks[slot / size][slot % size] : nullptr;
	}
};

static records get()
{
	records all = {};

	if (get_records(&all.chunks, &all.count, &all.size, &all.total))
		fail("no records");
	return all;
}

static uint64_t begin()
{
	uint64_t start = ~0ull;
	int device;

	CHECK_HIP(hipInit(0));
	if (enable(&start, 0) || start == ~0ull)
		fail("not enabled");
	CHECK_HIP(hipGetDevice(&device));
	const hip_record *record = get()[start];
	if (strcmp(record->api_name, "hipGetDevice") ||
	    record->thread_id != (uint64_t)syscall(SYS_gettid) || !record->start_ns ||
	    record->end_ns < record->start_ns || (record->flags & HIP_RECORD_HAS_GPU))
		fail("the record of hipGetDevice: %s, thread %lu, %lu to %lu", record->api_name,
		     record->thread_id, record->start_ns, record->end_ns);
	for (uint32_t zero : record->zero)
		if (zero)
			fail("bytes that should be 0 are not");
	return start;
}

static void end(uint64_t *total)
{
	if (disable(total))
		fail("not disabled");
}

static hipGraphExec_t make_graph(hipStream_t stream, unsigned *data, unsigned blocks)
{
	hipGraphExec_t executable;
	hipGraph_t graph;

	CHECK_HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
	client_kernel<<<blocks, 64, 0, stream>>>(data);
	client_add<unsigned><<<blocks, 64, 0, stream>>>(data, 1);
	client_kernel<<<blocks, 64, 0, stream>>>(data);
	CHECK_HIP(hipStreamEndCapture(stream, &graph));
	CHECK_HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
	CHECK_HIP(hipGraphDestroy(graph));
	return executable;
}

static void work(unsigned thread, long launches, long graphs)
{
	const size_t size = 65536;
	const unsigned blocks = thread + 1;
	hipStream_t stream;
	unsigned *data, *host;

	CHECK_HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	CHECK_HIP(hipMalloc(&data, size));
	CHECK_HIP(hipHostMalloc(&host, size, 0));
	CHECK_HIP(hipMemcpyAsync(data, host, size, hipMemcpyHostToDevice, stream));
	for (long i = 0; i < launches; i++)
		client_kernel<<<blocks, 64, 0, stream>>>(data);
	CHECK_HIP(hipMemsetAsync(data, 0, size, stream));
	CHECK_HIP(hipMemcpyAsync(host, data, size, hipMemcpyDeviceToHost, stream));
	if (graphs) {
		hipGraphExec_t graph = make_graph(stream, data, blocks);

		for (long i = 0; i < graphs; i++)
			CHECK_HIP(hipGraphLaunch(graph, stream));
		CHECK_HIP(hipStreamSynchronize(stream));
		CHECK_HIP(hipGraphExecDestroy(graph));
	}
	CHECK_HIP(hipStreamSynchronize(stream));
	CHECK_HIP(hipFree(data));
	CHECK_HIP(hipHostFree(host));
	CHECK_HIP(hipStreamDestroy(stream));
}

static void write_op(FILE *file, size_t slot, const hip_gpu_op *op)
{
	const bool dispatch = (op->flags & 7) == HIP_OP_DISPATCH;

	fprintf(file,
		"op slot=%zu op=%lu copy=%u node=%u queue=%u begin=%lu end=%lu bytes=%lu grid=%u "
		"block=%u args=%u vgprs=%u name=%s\n",
		slot, op->flags & 7, HIP_OP_COPY_KIND(op->flags), HIP_OP_DEVICE(op->flags),
		HIP_OP_QUEUE(op->flags), op->begin_ns, op->end_ns, dispatch ? 0 : op->bytes,
		dispatch ? op->grid[0] : 0, dispatch ? op->block[0] : 0,
		dispatch ? op->args_size : 0, op->v02[2], dispatch ? op->kernel_name : "-");
}

static void write_records(const char *path, uint64_t first, uint64_t total)
{
	FILE *file = fopen(path, "w");
	records all = get();

	if (!file || all.total < total)
		fail("%s: %lu records of %lu", path, all.total, total);
	for (size_t slot = first; slot < total; slot++) {
		const hip_record *r = all[slot];
		uint32_t ops = 0;

		fprintf(file, "record slot=%zu tid=%lu start=%lu end=%lu stream=%lx bytes=%lu %s\n",
			slot, r->thread_id, r->start_ns, r->end_ns, r->stream, r->size,
			r->api_name);
		if (!(r->flags & HIP_RECORD_HAS_GPU))
			continue;
		for (const hip_gpu_op *op = &r->gpu; op; op = op->next, ops++)
			write_op(file, slot, op);
		if (ops != r->gpu.count)
			fail("record %zu has %u pieces of work, not %u", slot, ops, r->gpu.count);
	}
	fclose(file);
}

static void work_and_write(int argc, char **argv)
{
	const long threads = number_arg(argc, argv, 3, 1), launches = number_arg(argc, argv, 4, 10);
	const long graphs = number_arg(argc, argv, 5, 0);
	std::vector<std::thread> all;
	uint64_t total, first = begin();

	if (argc < 3)
		fail("no FILE");
	for (long i = 0; i < threads; i++)
		all.emplace_back(work, i, launches, graphs);
	for (std::thread &thread : all)
		thread.join();
	end(&total);
	write_records(argv[2], first, total);
}

static constexpr int last_slab_status = 42;
static std::atomic<unsigned> chunks_seen;

/* The slab that the end gives, others being forgotten: the process ends in it. */
static void see_last(uint32_t count, uint32_t number)
{
	records all = get();

	if (number != all.total / all.size || count != all.total % all.size)
		fail("slab %u of %u records is the last one", number, count);
	_exit(last_slab_status);
}

static void see_chunk(const hip_record *chunk, uint32_t count, uint32_t number, void *arg)
{
	records all = get();

	if (count != all.size)
		see_last(count, number);
	if (number != chunks_seen || arg != &chunks_seen || chunk->chunk_id / all.size > number + 1)
		fail("slab %u comes after %u others", number, chunks_seen.load());
	if (all.total < (number + 4ul) * count)
		fail("slab %u comes early", number);
	chunks_seen++;
}

static void test_count()
{
	uint64_t first, second, total;
	int device;

	first = begin();
	if (enable(&second, 0) || second != first + 1)
		fail("the second begin: %lu", second);
	end(&total);
	CHECK_HIP(hipGetDevice(&device));
	end(&second);
	CHECK_HIP(hipGetDevice(&device));
	if (second != total + 1 || get().total != second)
		fail("it ended at %lu, and then at %lu", total, second);
}

static int child_status(void (*run)())
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		run();
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		fail("no child: %s", strerror(errno));
	return status;
}

static void run_chunks()
{
	begin();
	if (add_callback(see_chunk, &chunks_seen))
		fail("no callback");
	work(0, 1000, 0);
	records all = get();
	const size_t slabs = all.total / all.size;
	/* The last work is in the last slab or, as calls without work follow, in the one before. */
	for (int i = 0; i < 10000 && chunks_seen + 5 < slabs; i++)
		usleep(1000);
	if (slabs < 6 || chunks_seen + 5 < slabs || chunks_seen > slabs - 3)
		fail("%u slabs of %zu", chunks_seen.load(), slabs);
	usleep(1000); /* the pointer goes after the callback */
	if (all.chunks[0] || !all.chunks[slabs - 1])
		fail("a slab that was given out is there, or one is missing");
}

static void test_chunks()
{
	int status = child_status(run_chunks);

	if (!WIFEXITED(status) || WEXITSTATUS(status) != last_slab_status)
		fail("the end gave no slab: %x", status);
}

static void break_early()
{
	int count;
	uint64_t start;

	if (!enable(&start, 0))
		(void)!hipGetDeviceCount(&count);
}

static void nothing()
{
}

static void see_nothing(const hip_record *, uint32_t, uint32_t, void *)
{
}

static void test_fork()
{
	begin();
	if (child_status(nothing) != 0)
		fail("a child without a callback");
	if (add_callback(see_nothing, nullptr))
		fail("no callback");
	int status = child_status(nothing);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
		fail("a child with a callback: %x", status);
}

static void test_rubbish()
{
	uint64_t total, first = begin();

	end(&total);
	const hip_record *record = get()[total];
	if (!record || !record->api_name || !record->end_ns || !record->zero[0])
		fail("the record after the last one is not rubbish");
	if (get()[first]->zero[0])
		fail("a record was not cleared");
}

static void test_unknown()
{
	uint64_t start = 0;
	int device;

	CHECK_HIP(hipInit(0));
	if (enable(&start, 0))
		fail("not enabled");
	CHECK_HIP(hipGetDevice(&device));
	if (get()[start]->api_name == nullptr || (uintptr_t)get()[start]->api_name != 1)
		fail("the name is where it was");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	find(&enable, "hipProfilerEnableExt");
	find(&disable, "hipProfilerDisableExt");
	find(&get_records, "hipProfilerGetRecordsExt");
	find(&add_callback, "hipProfilerRegisterChunkCallbackExt");
	if (!strcmp(what, "work"))
		work_and_write(argc, argv);
	else if (!strcmp(what, "chunks"))
		test_chunks();
	else if (!strcmp(what, "count"))
		test_count();
	else if (!strcmp(what, "early")) {
		int status = child_status(break_early);

		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
			fail("enabled before HIP was: %x", status);
	} else if (!strcmp(what, "fork"))
		test_fork();
	else if (!strcmp(what, "null")) {
		if (add_callback(nullptr, nullptr) != hipErrorInvalidValue)
			fail("no callback was taken");
	} else if (!strcmp(what, "rubbish"))
		test_rubbish();
	else if (!strcmp(what, "unknown"))
		test_unknown();
	else
		fail("usage: client work|chunks|count|early|fork|null|rubbish|unknown");
	return finish("%s", what);
}
