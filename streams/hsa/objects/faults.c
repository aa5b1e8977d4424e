/* SPDX-License-Identifier: MIT */
#include "faults.h"

#include <rtl/events.h>
#include <stdio.h>

#include "agents.h"
#include "interceptor.h"
#include "publish.h"

/* hsa_amd_event_t, as far as we know it (hsa_ext_amd.h of ROCm 7): headers of 5.2 have only the first type. */
enum { MEMORY_FAULT, HARDWARE_EXCEPTION, MEMORY_ERROR };

struct system_event {
	uint32_t type;
	hsa_agent_t agent;
	union {
		struct {
			uint64_t address;
			uint32_t reason;
		} memory;
		struct {
			uint32_t type, cause;
		} reset;
	};
};

/* By bit. */
static const char *const reasons[][32] = {
	[MEMORY_FAULT] = {"page not present", "write to a read-only page",
			  "execution of a page without code", "page of the host",
			  "DRAM ECC failure", "address not exact",
			  "SRAM ECC failure", [31] = "GPU hang"},
	[HARDWARE_EXCEPTION] = {"GPU hang", "ECC failure"},
	[MEMORY_ERROR] = {"memory in use"},
};
static const uint8_t kinds[] = {RTL_HSA_FAULT_MEMORY, RTL_HSA_FAULT_HARDWARE,
				RTL_HSA_FAULT_RELEASE};

/* parent_uid: of the GPU or the queue. */
static void publish(struct rtl_hsa_fault *fault, uint64_t parent_uid, const char *reason)
{
	const struct publish_ids ids = {
		.uid = interceptor_tracepoint("fault", rtl_hsa_fault_kind_text(fault->kind), NULL,
					      0),
		.parent_uid = parent_uid};

	fault->reason = interceptor_string(reason);
	publish_payload(interceptor.stream, RTL_DIAGNOSTICS, &ids, fault, sizeof(*fault));
}

static void publish_bits(struct rtl_hsa_fault *fault, hsa_agent_t handle,
			 const char *const names[32])
{
	const struct agent *agent = agents_find(handle);
	char text[256] = "";
	size_t length = 0;

	for (int bit = 0; bit < 32; bit++)
		if (fault->code >> bit & 1 && length < sizeof(text))
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
						   length ? ", " : "",
						   names[bit] ? names[bit] : "unknown reason");
	fault->gpu = agent ? agent->node : 0;
	publish(fault, agent ? agent->uid : 0, length ? text : "unknown reason");
}

/* An error: that it is taken care of others may say. Also while the process ends, and work under way has its time. */
static hsa_status_t on_event(const hsa_amd_event_t *given, void *data)
{
	const struct system_event *event = (const void *)given;
	const bool is_hardware = event->type == HARDWARE_EXCEPTION;
	struct rtl_hsa_fault fault = {0};

	if (event->type > MEMORY_ERROR)
		return HSA_STATUS_ERROR;
	fault.kind = kinds[event->type];
	fault.address = is_hardware ? 0 : event->memory.address;
	fault.code = is_hardware ? event->reset.cause : event->memory.reason;
	publish_bits(&fault, event->agent, reasons[event->type]);
	return HSA_STATUS_ERROR;
}

void faults_publish_queue(const struct work_queue *queue, hsa_status_t status)
{
	struct rtl_hsa_fault fault = {.gpu = queue->node,
				      .queue = queue->number,
				      .kind = RTL_HSA_FAULT_QUEUE,
				      .code = status};
	const char *text = NULL;

	if (!status)
		return;
	if (interceptor.hsa.status_string)
		(void)interceptor.hsa.status_string(status, &text);
	publish(&fault, queue->uid, text ? text : "unknown status");
}

void faults_listen(void)
{
	if (interceptor.hsa.register_event_handler &&
	    interceptor.hsa.register_event_handler(on_event, NULL))
		rtl_log(RTL_LEVEL_INFO, "hsa",
			"faults of GPUs are not recorded: the runtime takes no handler");
}

static hsa_status_t register_handler(hsa_amd_system_event_callback_t callback, void *data)
{
	if (interceptor_on())
		agents_init();
	return interceptor.hsa.register_event_handler(callback, data);
}

void faults_hook(struct root_table *root)
{
	table_hook(root, ENTRY_hsa_amd_register_system_event_handler, (void *)register_handler,
		   NULL);
}
