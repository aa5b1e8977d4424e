/* SPDX-License-Identifier: MIT */
/* Publishes three events of a stream of its own. */
#include <rtl/rtl.h>
#include <stdio.h>

struct payload {
	uint64_t step;
	double seconds;
};

static const struct rtl_field fields[] = {
	{sizeof(struct rtl_field), RTL_KIND_UINT, 0, offsetof(struct payload, step), 8, "step",
	 "count", "number of the step"},
	{sizeof(struct rtl_field), RTL_KIND_FLOAT, 0, offsetof(struct payload, seconds), 8,
	 "seconds", "s", "what it took"},
};
static const struct rtl_type_info types[] = {{sizeof(struct rtl_type_info), RTL_TASK_END, 2,
					      sizeof(struct payload), 0, "task_end",
					      "a step has ended", fields}};
static const struct rtl_stream_info stream_info = {
	sizeof(stream_info), 1, 0, "consumer.steps", "steps of a consumer", types, 1, 0};

int main(void)
{
	struct rtl_stream *stream = &rtl_stream_none;
	int i, published = 0;

	if (rtl_stream_register(&stream_info, &stream))
		return 1;
	for (i = 0; i < 3 && rtl_enabled(stream, RTL_TASK_END); i++) {
		struct rtl_record *record =
			rtl_reserve(stream, RTL_TASK_END, sizeof(struct payload));
		struct payload *payload;

		if (!record)
			continue;
		payload = rtl_record_payload(record);
		payload->step = (uint64_t)i;
		payload->seconds = 0.5 * i;
		rtl_commit(record);
		published++;
	}
	printf("published %d\n", published);
	return 0;
}
