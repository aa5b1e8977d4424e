/* SPDX-License-Identifier: MIT */
/* Metadata of rtl.hsa: see metadata.h. */
#include "metadata.h"

#include <rtl/events.h>

#include "interceptor.h"

void metadata_publish(uint64_t uid, uint64_t parent_uid, const struct rtl_hsa_metadata *payload)
{
	struct rtl_record *record;

	if (!rtl_enabled(interceptor.stream, RTL_METADATA))
		return;
	record = rtl_reserve(interceptor.stream, RTL_METADATA, sizeof(struct rtl_hsa_metadata));
	if (!record)
		return;
	record->uid = uid;
	record->parent_uid = parent_uid;
	*(struct rtl_hsa_metadata *)rtl_record_payload(record) = *payload;
	rtl_commit(record);
}
