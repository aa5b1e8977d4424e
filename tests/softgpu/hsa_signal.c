/* SPDX-License-Identifier: MIT */
#include "hsa_signal.h"

#include <hsa/amd_hsa_signal.h>

#include "port.h"
#include "space.h"

int64_t sg_signal_value(hsa_signal_t signal)
{
	amd_signal_t *s = sg_host(signal.handle);

	return signal.handle ? __atomic_load_n(&s->value, __ATOMIC_ACQUIRE) : 0;
}

bool sg_signal_condition_met(uint32_t condition, int64_t value, int64_t reference)
{
	switch (condition) {
	case HSA_SIGNAL_CONDITION_EQ:
		return value == reference;
	case HSA_SIGNAL_CONDITION_NE:
		return value != reference;
	case HSA_SIGNAL_CONDITION_LT:
		return value < reference;
	default:
		return value >= reference;
	}
}

void sg_signal_set_times(hsa_signal_t signal, uint64_t start_ticks, uint64_t end_ticks)
{
	amd_signal_t *s = sg_host(signal.handle);

	if (!signal.handle)
		return;
	s->start_ts = start_ticks;
	s->end_ts = end_ticks;
}

void sg_signal_complete(hsa_signal_t signal)
{
	amd_signal_t *s = sg_host(signal.handle);
	uint64_t mailbox;
	uint32_t event_id;

	if (!signal.handle)
		return;
	mailbox = s->event_mailbox_ptr;
	event_id = s->event_id;
	__atomic_sub_fetch(&s->value, 1, __ATOMIC_ACQ_REL);
	if (!mailbox)
		return;
	__atomic_store_n((uint64_t *)sg_host(mailbox), event_id, __ATOMIC_RELEASE);
	sg_port.set_event(event_id);
}
