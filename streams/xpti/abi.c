/* SPDX-License-Identifier: MIT */
/* The layouts of xpti.h, as programs and plugins are compiled with them. */
#include "xpti.h"

#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)
#define AT(type, member, offset)                                                                   \
	_Static_assert(offsetof(struct type, member) == (offset), #type " " #member)

SIZE(xpti_uid, 24);

SIZE(xpti_payload, 80);
AT(xpti_payload, stack, 8);
AT(xpti_payload, file, 16);
AT(xpti_payload, line, 24);
AT(xpti_payload, column, 28);
AT(xpti_payload, code, 32);
AT(xpti_payload, internal, 40);
AT(xpti_payload, flags, 48);
AT(xpti_payload, uid, 56);

SIZE(xpti_map_node, 16);
AT(xpti_map_node, key, 8);
AT(xpti_map_node, value, 12);
SIZE(xpti_map, 56);
AT(xpti_map, bucket_count, 8);
AT(xpti_map, first, 16);
AT(xpti_map, count, 24);
AT(xpti_map, max_load, 32);
AT(xpti_map, next_resize, 40);
AT(xpti_map, single, 48);

SIZE(xpti_event, 128);
AT(xpti_event, data_id, 8);
AT(xpti_event, instance_id, 16);
AT(xpti_event, event_type, 24);
AT(xpti_event, activity_type, 26);
AT(xpti_event, source_id, 32);
AT(xpti_event, target_id, 40);
AT(xpti_event, payload, 48);
AT(xpti_event, metadata, 56);
AT(xpti_event, global_user_data, 112);
AT(xpti_event, flags, 120);

SIZE(xpti_object, 24);
AT(xpti_object, data, 8);
AT(xpti_object, type, 16);

SIZE(xpti_call, 40);
AT(xpti_call, name, 8);
AT(xpti_call, args, 16);
AT(xpti_call, result, 24);
SIZE(xpti_memory, 40);
AT(xpti_memory, guard, 24);
SIZE(xpti_buffer, 56);
AT(xpti_buffer, element, 16);
AT(xpti_buffer, element_size, 24);
AT(xpti_buffer, dimensions, 28);
AT(xpti_buffer, range, 32);
SIZE(xpti_image, 80);
AT(xpti_image, dimensions, 16);
AT(xpti_image, range, 24);
AT(xpti_image, format, 48);
AT(xpti_image, addressing, 52);
AT(xpti_image, coordinates, 60);
AT(xpti_image, filtering, 68);
SIZE(xpti_accessor, 24);
AT(xpti_accessor, target, 16);
AT(xpti_accessor, mode, 20);
SIZE(xpti_image_accessor, 48);
AT(xpti_image_accessor, target, 16);
AT(xpti_image_accessor, mode, 24);
AT(xpti_image_accessor, element, 32);
AT(xpti_image_accessor, element_size, 40);
SIZE(xpti_association, 16);
SIZE(xpti_enqueue, 80);
SIZE(xpti_kernel_arg, 24);
AT(xpti_kernel_arg, pointer, 8);
AT(xpti_kernel_arg, size, 16);
