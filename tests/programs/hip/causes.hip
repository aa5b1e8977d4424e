/* SPDX-License-Identifier: MIT */
/* causes [THREADS] [ROUNDS]: makes a GPU work in many ways, each piece of work recognizable:
 *kernels by their grid, copies by their size. For each call that does it says which, in order:
 *
 *	thread TID work FUNCTION NTH RANGE : kernel GRID-X|copy BYTES|runtime|none ...
 *
 * NTH: how often this thread has called that function before; RANGE: the innermost range of roctx
 * around it, "-" without roctx in the process; "runtime": one or more kernels of the runtime.
 * "{" before the list: its order is the runtime's. Behind "within" stands the call around it. */
#define PROGRAM "causes"
#include "../check.h"
#include <atomic>
#include <dlfcn.h>
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>
#include <map>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <vector>

static constexpr unsigned block = 64;
static constexpr size_t copy_bytes = 1 << 20; /* enough for an engine to be asked */
static constexpr size_t room = copy_bytes + (1 << 20);

template <typename T> __global__ void work(T *data)
{
	if (data)
		data[threadIdx.x] = 1;
}

/* ---- what is said */

static int (*range_push)(const char *);
static int (*range_pop)();
static std::atomic<unsigned> last_number{0};
static thread_local std::map<std::string, int> calls;
static thread_local std::vector<std::string> ranges;
static thread_local std::string within;
static std::vector<std::string> lines[64]; /* of each thread */
static thread_local unsigned self;

static unsigned number()
{
	return ++last_number;
}

static std::string kernel(unsigned number)
{
	return " kernel " + std::to_string(number * block);
}

static std::string copy(size_t bytes)
{
	return " copy " + std::to_string(bytes);
}

/* The function has been called, and has done that. */
static void did(const char *function, const std::string &what)
{
	lines[self].push_back("thread " + std::to_string(syscall(SYS_gettid)) + " work " +
			      function + " " + std::to_string(calls[function]++) + " " +
			      (ranges.empty() ? "-" : ranges.back()) + within + " :" + what);
}

struct range {
	explicit range(const std::string &name)
	{
		if (!range_push)
			return;
		range_push(name.c_str());
		ranges.push_back(name);
	}
	~range()
	{
		if (!range_push)
			return;
		range_pop();
		ranges.pop_back();
	}
};

/* ---- what is done */

struct buffers {
	unsigned char *host, *gpu, *gpu2;
	hipStream_t stream;
};

static void launches(const buffers &b)
{
	float *none = nullptr;
	void *arguments[] = {&none};
	unsigned n = number();

	work<float><<<n, block, 0, b.stream>>>(nullptr);
	did("hipLaunchKernel", kernel(n));
	n = number();
	CHECK_HIP(hipExtLaunchKernel((const void *)work<float>, dim3(n), dim3(block), arguments, 0,
				     b.stream, nullptr, nullptr, 0));
	did("hipExtLaunchKernel", kernel(n));
	{
		const range inner("inner " + std::to_string(n));

		n = number();
		work<int><<<n, block, 0, b.stream>>>(nullptr);
		did("hipLaunchKernel", kernel(n));
	}
	/* refused: no work */
	(void)hipLaunchKernel(nullptr, dim3(1), dim3(block), arguments, 0, b.stream);
	did("hipLaunchKernel", " none");
	(void)hipGetLastError();
}

static void copies(const buffers &b)
{
	size_t bytes = copy_bytes + number();

	CHECK_HIP(hipMemcpyAsync(b.gpu, b.host, bytes, hipMemcpyHostToDevice, b.stream));
	did("hipMemcpyAsync", copy(bytes));
	bytes = copy_bytes + number();
	CHECK_HIP(hipMemcpyAsync(b.host, b.gpu, bytes, hipMemcpyDeviceToHost, b.stream));
	did("hipMemcpyAsync", copy(bytes));
	CHECK_HIP(hipStreamSynchronize(b.stream));
	did("hipStreamSynchronize", " none");
	bytes = copy_bytes + number();
	CHECK_HIP(hipMemcpyWithStream(b.gpu, b.host, bytes, hipMemcpyHostToDevice, b.stream));
	did("hipMemcpyWithStream", copy(bytes));
	CHECK_HIP(hipMemsetAsync(b.gpu, 1, copy_bytes, b.stream));
	did("hipMemsetAsync", " runtime");
	CHECK_HIP(hipMemcpyAsync(b.gpu2, b.gpu, copy_bytes, hipMemcpyDeviceToDevice, b.stream));
	did("hipMemcpyAsync", " runtime");
}

/* One after the other: order is the program's. */
static void captured_graph(const buffers &b)
{
	const size_t bytes = copy_bytes + number();
	hipGraphExec_t executable;
	hipGraph_t graph;
#if HIP_VERSION_MAJOR >= 6 /* copies that are nodes are done by kernels */
	std::string what = " runtime";
#else
	std::string what = copy(bytes);
#endif

	CHECK_HIP(hipStreamBeginCapture(b.stream, hipStreamCaptureModeThreadLocal));
	CHECK_HIP(hipMemcpyAsync(b.gpu, b.host, bytes, hipMemcpyHostToDevice, b.stream));
	did("hipMemcpyAsync", " none");
	for (int i = 0; i < 5; i++) {
		const unsigned n = number();

		work<float><<<n, block, 0, b.stream>>>(nullptr);
		did("hipLaunchKernel", " none");
		what += kernel(n);
	}
	CHECK_HIP(hipStreamEndCapture(b.stream, &graph));
	CHECK_HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
	for (int i = 0; i < 3; i++) {
		CHECK_HIP(hipGraphLaunch(executable, b.stream));
		did("hipGraphLaunch", what);
		CHECK_HIP(hipStreamSynchronize(b.stream));
	}
	CHECK_HIP(hipGraphExecDestroy(executable));
	CHECK_HIP(hipGraphDestroy(graph));
}

/* A root, four branches, an end. */
static void built_graph(const buffers &b)
{
	hipKernelNodeParams parameters = {};
	hipGraphExec_t executable;
	float *none = nullptr;
	void *arguments[] = {&none};
	hipGraphNode_t nodes[6];
	hipGraph_t graph;
	std::string what = " {";

	CHECK_HIP(hipGraphCreate(&graph, 0));
	parameters.func = (void *)work<int>;
	parameters.blockDim = dim3(block);
	parameters.kernelParams = arguments;
	for (int i = 0; i < 6; i++) {
		const unsigned n = number();

		parameters.gridDim = dim3(n);
		what += kernel(n);
		CHECK_HIP(hipGraphAddKernelNode(&nodes[i], graph, i == 5 ? nodes + 1 : nodes,
						i == 0   ? 0
						: i == 5 ? 4
							 : 1,
						&parameters));
	}
	CHECK_HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
	for (int i = 0; i < 2; i++) {
		CHECK_HIP(hipGraphLaunch(executable, b.stream));
		did("hipGraphLaunch", what);
	}
	CHECK_HIP(hipStreamSynchronize(b.stream));
	CHECK_HIP(hipGraphExecDestroy(executable));
	CHECK_HIP(hipGraphDestroy(graph));
}

/* The architecture without its features: gfx906 */
static std::string gpu_name()
{
	hipDeviceProp_t properties;

	CHECK_HIP(hipGetDeviceProperties(&properties, 0));
	std::string name = properties.gcnArchName;
	return name.substr(0, name.find(':'));
}

static void modules(const buffers &b, const std::string &folder)
{
	unsigned *none = nullptr, zero = 0, n;
	void *arguments[] = {&none, &zero, &zero};
	hipFunction_t function;
	hipModule_t module;

	CHECK_HIP(hipModuleLoad(&module, (folder + "module_add." + gpu_name() + ".co").c_str()));
	CHECK_HIP(hipModuleGetFunction(&function, module, "_Z10module_addPjjj"));
	n = number();
	CHECK_HIP(hipModuleLaunchKernel(function, n, 1, 1, block, 1, 1, 0, b.stream, arguments,
					nullptr));
	did("hipModuleLaunchKernel", kernel(n));
	n = number();
	CHECK_HIP(hipExtModuleLaunchKernel(function, n * block, 1, 1, block, 1, 1, 0, b.stream,
					   arguments, nullptr, nullptr, nullptr, 0));
	did("hipExtModuleLaunchKernel", kernel(n));
	CHECK_HIP(hipStreamSynchronize(b.stream));
	CHECK_HIP(hipModuleUnload(module));
}

#if HIP_VERSION_MAJOR >= 6
/* HIP calls the program from within a call of the program's. */
static void call_back(void *)
{
	const std::string around = within;
	unsigned n = number();

	within = " within hipUserObjectRelease";
	work<int><<<n, block>>>(nullptr);
	did("hipLaunchKernel", kernel(n));
	within = around;
}

static void nested()
{
	hipUserObject_t object;
	static int anything;

	CHECK_HIP(hipUserObjectCreate(&object, &anything, call_back, 1,
				      hipUserObjectNoDestructorSync));
	CHECK_HIP(hipUserObjectRelease(object, 1));
	CHECK_HIP(hipDeviceSynchronize());
}
#endif

/* Deeper than scopes are kept. */
static void deep(const buffers &b, int levels)
{
	const range here("level " + std::to_string(levels));
	const unsigned n = number();

	if (levels) {
		deep(b, levels - 1);
		return;
	}
	work<float><<<n, block, 0, b.stream>>>(nullptr);
	did("hipLaunchKernel", kernel(n));
	copies(b);
}

/* More pops than pushes, and a range that stays open when the thread ends. */
static void unbalanced(const buffers &b)
{
	const unsigned n = number(), m = number();

	range_pop();
	range_pop();
	work<float><<<n, block, 0, b.stream>>>(nullptr);
	did("hipLaunchKernel", kernel(n));
	range_push("left open"); /* until the process ends */
	ranges.push_back("left open");
	work<float><<<m, block, 0, b.stream>>>(nullptr);
	did("hipLaunchKernel", kernel(m));
}

#if HIP_VERSION_MAJOR < 6 /* 7.2.4 crashes, with us or without */
/* HIP refuses what names a stream that is gone. */
static void freed_stream(hipStream_t stream)
{
	(void)hipStreamQuery(stream);
	did("hipStreamQuery", " none");
	(void)hipStreamSynchronize(stream);
	(void)hipGetLastError();
}
#endif

static void run(unsigned index, long rounds)
{
	buffers b;

	self = index;
	CHECK_HIP(hipStreamCreate(&b.stream));
	CHECK_HIP(hipHostMalloc((void **)&b.host, room, 0));
	CHECK_HIP(hipMalloc((void **)&b.gpu, room));
	CHECK_HIP(hipMalloc((void **)&b.gpu2, room));
	{
		const range outer("thread " + std::to_string(index));

		for (long i = 0; i < rounds; i++) {
			launches(b);
			if (i % 4 == 0)
				copies(b);
		}
		deep(b, 1000);
	}
	if (range_push) {
		unbalanced(b);
	}
	CHECK_HIP(hipStreamSynchronize(b.stream));
	CHECK_HIP(hipFree(b.gpu2));
	CHECK_HIP(hipFree(b.gpu));
	CHECK_HIP(hipHostFree(b.host));
	CHECK_HIP(hipStreamDestroy(b.stream));
}

/* HIP 5.2.3 waits for itself in graphs that its threads submit. */
static bool graphs_work()
{
	const char *direct = getenv("AMD_DIRECT_DISPATCH");

	return HIP_VERSION_MAJOR >= 6 || !direct || *direct != '0';
}

/* By one thread: HIP 7.2.4 crashes now and then when others use it meanwhile. */
static void alone(const std::string &folder)
{
	buffers b;

	self = 0;
	CHECK_HIP(hipStreamCreate(&b.stream));
	CHECK_HIP(hipHostMalloc((void **)&b.host, room, 0));
	CHECK_HIP(hipMalloc((void **)&b.gpu, room));
	if (graphs_work()) {
		captured_graph(b);
		built_graph(b);
	}
	modules(b, folder);
#if HIP_VERSION_MAJOR >= 6
	nested();
#endif
	CHECK_HIP(hipDeviceSynchronize());
	CHECK_HIP(hipStreamDestroy(b.stream));
#if HIP_VERSION_MAJOR < 6
	freed_stream(b.stream);
#endif
}

int main(int argc, char **argv)
{
	const unsigned threads = number_arg(argc, argv, 1, 4);
	const long rounds = number_arg(argc, argv, 2, 20);
	const std::string program = argv[0];
	std::vector<std::thread> all;

	*(void **)&range_push = dlsym(RTLD_DEFAULT, "roctxRangePushA");
	*(void **)&range_pop = dlsym(RTLD_DEFAULT, "roctxRangePop");
	if (threads >= 64)
		fail("at most 63 threads");
	CHECK_HIP(hipInit(0));
	for (unsigned i = 1; i <= threads; i++)
		all.emplace_back(run, i, rounds);
	for (std::thread &thread : all)
		thread.join();
	alone(program.substr(0, program.rfind('/') + 1));
	if (getenv("CAUSES_SAY"))
		for (const auto &of_thread : lines)
			for (const std::string &line : of_thread)
				puts(line.c_str());
	return finish("threads=%u rounds=%ld", threads, rounds);
}
