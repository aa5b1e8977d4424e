/* SPDX-License-Identifier: MIT */
/*
 * harm_callbacks: callbacks of hsa_iterate_agents that do not come back, by longjmp and by an
 * exception, and a signal's handler on a stack of 16 KiB that submits, makes signals, and calls
 * roctx if somebody has it. Prints "harm_callbacks: ok".
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <hsa/hsa.h>
#include <stdexcept>

#include "../../programs/hang_guard.h"

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("harm_callbacks: FAILED: line %d: %s\n", __LINE__, #condition);     \
			fflush(stdout);                                                            \
			_Exit(1);                                                                  \
		}                                                                                  \
	} while (0)
#define ROUNDS       1000
#define HANDLER_SIZE 16384

static hsa_agent_t gpu;
static hsa_queue_t *queue;
static jmp_buf place;
static void (*mark)(const char *);
static int (*push)(const char *);
static int (*pop)();
static volatile int handled;

static hsa_status_t find_gpu(hsa_agent_t agent, void *)
{
	hsa_device_type_t type;

	CHECK(!hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_GPU)
		gpu = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t jump(hsa_agent_t, void *)
{
	longjmp(place, 1);
}

static hsa_status_t raise_exception(hsa_agent_t, void *)
{
	throw std::runtime_error("of the test");
}

static void dispatch()
{
	const uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
	auto *packet = static_cast<hsa_kernel_dispatch_packet_t *>(queue->base_address) +
		       index % queue->size;

	while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
		;
	memset(reinterpret_cast<char *>(packet) + 4, 0, sizeof(*packet) - 4);
	packet->grid_size_x = packet->workgroup_size_x = 64;
	packet->grid_size_y = packet->workgroup_size_y = 1;
	packet->grid_size_z = packet->workgroup_size_z = 1;
	__atomic_store_n(reinterpret_cast<uint32_t *>(packet),
			 HSA_PACKET_TYPE_KERNEL_DISPATCH | 1u << HSA_PACKET_HEADER_BARRIER |
				 1u << 16,
			 __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, static_cast<hsa_signal_value_t>(index));
}

static void handler(int)
{
	hsa_signal_t made;

	if (mark) {
		mark("in a handler");
		(void)push("range");
		(void)pop();
	}
	dispatch();
	CHECK(!hsa_signal_create(1, 0, nullptr, &made));
	CHECK(!hsa_signal_destroy(made));
	handled = handled + 1;
}

static void jump_out()
{
	static volatile int jumped;

	for (volatile int i = 0; i < ROUNDS; i = i + 1) {
		if (setjmp(place))
			jumped = jumped + 1;
		else
			(void)hsa_iterate_agents(jump, nullptr);
	}
	CHECK(jumped == ROUNDS);
}

static void throw_out()
{
	int caught = 0;

	for (int i = 0; i < ROUNDS; i++) {
		try {
			(void)hsa_iterate_agents(raise_exception, nullptr);
		} catch (const std::runtime_error &) {
			caught++;
		}
	}
	CHECK(caught == ROUNDS);
}

static void handle()
{
	static char memory[HANDLER_SIZE];
	stack_t stack = {};
	struct sigaction action = {};

	stack.ss_sp = memory;
	stack.ss_size = sizeof(memory);
	CHECK(!sigaltstack(&stack, nullptr));
	action.sa_handler = handler;
	action.sa_flags = SA_ONSTACK;
	CHECK(!sigaction(SIGUSR1, &action, nullptr));
	for (int i = 0; i < ROUNDS; i++)
		CHECK(!raise(SIGUSR1));
	CHECK(handled == ROUNDS);
}

int main()
{
	*reinterpret_cast<void **>(&mark) = dlsym(RTLD_DEFAULT, "roctxMarkA");
	*reinterpret_cast<void **>(&push) = dlsym(RTLD_DEFAULT, "roctxRangePushA");
	*reinterpret_cast<void **>(&pop) = dlsym(RTLD_DEFAULT, "roctxRangePop");
	CHECK(!hsa_init());
	CHECK(!hsa_iterate_agents(find_gpu, nullptr) && gpu.handle);
	CHECK(!hsa_queue_create(gpu, 256, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX,
				UINT32_MAX, &queue));
	handle();
	jump_out();
	throw_out();
	dispatch();
	CHECK(!hsa_queue_destroy(queue));
	CHECK(!hsa_shut_down());
	printf("harm_callbacks: ok\n");
	return 0;
}
