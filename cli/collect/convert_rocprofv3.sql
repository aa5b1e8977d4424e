-- SPDX-License-Identifier: MIT
-- An element of rocprofv3's JSON, of ROCm 7.1: what is there for process :process. The rows of a statement are parts of the text,
-- with commas between them. rtl_json(text) is a text as JSON has it between quotes. Joins are in the order that is fast. What
-- may be much is sorted (LIMIT keeps that apart) before text is made of it.

SELECT printf('{"metadata":{"node":{"id":0,"hash":0,"machine_id":"","system_name":"Linux","hostname":"%s","release":"","version":"",'
    || '"hardware_name":"","domain_name":""},"pid":%d,"ppid":%d,"init_time":%d,"fini_time":%d,"command":["%s"],"config":{}',
    rtl_json(host_name), pid, parent_pid, start_ns, end_ns, rtl_json(command))
  FROM c_process WHERE process = :process;
SELECT printf(',"rtl":{%s}', group_concat(printf('"%s":"%s"', rtl_json(fact), rtl_json(value)))) FROM c_fact;

VALUES ('},"agents":[');
SELECT printf('{"size":0,"id":{"handle":%d},"type":%d,"cu_count":%d,"wave_front_size":%d,"max_engine_clk_fcompute":%d,'
    || '"local_mem_size":%d,"name":"%s","vendor_name":"%s","product_name":"%s","model_name":"","node_id":%d,"logical_node_id":%d,'
    || '"logical_node_type_id":%d,"uuid":"%s","bus_id":"%s"}', id, 1 + is_gpu, compute_units, wavefront_size, clock_mhz, memory_bytes,
    rtl_json(name), CASE WHEN is_gpu THEN 'AMD' ELSE 'CPU' END, rtl_json(product), id, row_number() OVER (ORDER BY id) - 1, place,
    rtl_json(uuid), rtl_json(bus_id))
  FROM c_agent WHERE process = :process ORDER BY id;
VALUES ('],"counters":[');
SELECT printf('{"size":0,"agent_id":{"handle":%d},"id":{"handle":%d},"is_constant":0,"is_derived":%d,"name":"%s","description":"%s",'
    || '"block":"%s","expression":"","dimension_ids":[]}', gpu, id, derived, rtl_json(name), rtl_json(description), rtl_json(block))
  FROM c_pmc WHERE process = :process ORDER BY id;

-- Kinds have their places in this list; names of calls get numbers in the order in which they are in the trace's table of texts.
CREATE TEMP TABLE IF NOT EXISTS c_operation AS
  SELECT CASE WHEN is_hip THEN 'HIP_RUNTIME_API_EXT' ELSE 'HSA_CORE_API' END AS kind,
    row_number() OVER (PARTITION BY is_hip ORDER BY name_id) - 1 AS number, name_id, name
  FROM (SELECT DISTINCT is_hip, name_id, name FROM c_call)
  UNION ALL VALUES ('MEMORY_COPY', 0, NULL, 'MEMORY_COPY_NONE'), ('MEMORY_COPY', 1, NULL, rtl_direction(5)),
    ('MEMORY_COPY', 2, NULL, rtl_direction(1)), ('MEMORY_COPY', 3, NULL, rtl_direction(2)),
    ('MEMORY_COPY', 4, NULL, rtl_direction(3)), ('KERNEL_DISPATCH', 0, NULL, 'KERNEL_DISPATCH_NONE'),
    ('KERNEL_DISPATCH', 1, NULL, 'KERNEL_DISPATCH_ENQUEUE'), ('KERNEL_DISPATCH', 2, NULL, 'KERNEL_DISPATCH_COMPLETE'),
    ('MEMORY_ALLOCATION', 0, NULL, 'MEMORY_ALLOCATION_NONE'), ('MEMORY_ALLOCATION', 1, NULL, 'MEMORY_ALLOCATION_ALLOCATE'),
    ('MEMORY_ALLOCATION', 2, NULL, 'MEMORY_ALLOCATION_VMEM_ALLOCATE'), ('MEMORY_ALLOCATION', 3, NULL, 'MEMORY_ALLOCATION_FREE'),
    ('MEMORY_ALLOCATION', 4, NULL, 'MEMORY_ALLOCATION_VMEM_FREE'), ('MARKER_CORE_RANGE_API', 0, NULL, 'roctxMarkA'),
    ('MARKER_CORE_RANGE_API', 1, NULL, 'roctxThreadRangeA'), ('MARKER_CORE_RANGE_API', 2, NULL, 'roctxProcessRangeA'),
    ('MARKER_CORE_RANGE_API', 3, NULL, 'roctxGetThreadId');
CREATE UNIQUE INDEX IF NOT EXISTS temp.c_operation_of ON c_operation (kind, name_id);
VALUES ('],"strings":{"callback_records":[],"buffer_records":[');
SELECT printf('{"kind":"%s","operations":[%s]}', column1, (SELECT group_concat('"' || rtl_json(name) || '"') FROM (SELECT name
    FROM c_operation WHERE kind = column1 ORDER BY number)))
  FROM (VALUES ('NONE'), ('HSA_CORE_API'), ('HSA_AMD_EXT_API'), ('HSA_IMAGE_EXT_API'), ('HSA_FINALIZE_EXT_API'),
    ('HIP_RUNTIME_API'), ('HIP_COMPILER_API'), ('MARKER_CORE_API'), ('MARKER_CONTROL_API'), ('MARKER_NAME_API'), ('MEMORY_COPY'),
    ('KERNEL_DISPATCH'), ('SCRATCH_MEMORY'), ('CORRELATION_ID_RETIREMENT'), ('RCCL_API'), ('OMPT'), ('MEMORY_ALLOCATION'),
    ('RUNTIME_INITIALIZATION'), ('ROCDECODE_API'), ('ROCJPEG_API'), ('HIP_STREAM'), ('HIP_RUNTIME_API_EXT'),
    ('HIP_COMPILER_API_EXT'), ('ROCDECODE_API_EXT'), ('KFD_EVENT_PAGE_MIGRATE'), ('KFD_EVENT_PAGE_FAULT'), ('KFD_EVENT_QUEUE'),
    ('KFD_EVENT_UNMAP_FROM_GPU'), ('KFD_EVENT_DROPPED_EVENTS'), ('KFD_PAGE_MIGRATE'), ('KFD_PAGE_FAULT'), ('KFD_QUEUE'),
    ('MARKER_CORE_RANGE_API'));
-- Numbers of ranges and marks are beyond those of calls.
VALUES ('],"marker_api":[');
SELECT printf('{"key":%d,"value":"%s"}', 4503599627370496 + id, rtl_json(name)) FROM c_marker WHERE process = :process ORDER BY id;
VALUES ('],"correlation_id":{"external":[]},"counters":{"dimension_ids":[]},"pc_sample_instructions":[],"pc_sample_comments":[],'
  || '"att_filenames":[],"code_object_snapshot_filenames":[]},');

VALUES ('"code_objects":[');
SELECT printf('{"size":0,"code_object_id":%d,"agent_id":{"handle":0},"uri":"%s","load_base":0,"load_size":0,"load_delta":0,'
    || '"storage_type":0}', min(id), rtl_json(code))
  FROM c_kernel WHERE process = :process GROUP BY code ORDER BY min(id);
VALUES ('],"kernel_symbols":[');
SELECT printf('{"size":0,"kernel_id":%d,"code_object_id":%d,"kernel_name":"%s","kernel_object":%d,"kernarg_segment_size":%d,'
    || '"kernarg_segment_alignment":0,"group_segment_size":%d,"private_segment_size":%d,"sgpr_count":%d,"arch_vgpr_count":%d,'
    || '"accum_vgpr_count":%d,"kernel_code_entry_byte_offset":0,"kernel_address":{"handle":0},"formatted_kernel_name":"%s",'
    || '"demangled_kernel_name":"%s","truncated_kernel_name":"%s"}', id,
    (SELECT min(id) FROM c_kernel AS o WHERE o.process = k.process AND o.code IS k.code), rtl_json(symbol), object, kernarg_bytes,
    lds_bytes, scratch_bytes, sgprs, vgprs, agprs, rtl_json(name), rtl_json(name), rtl_json(name))
  FROM c_kernel AS k WHERE process = :process ORDER BY id;
VALUES ('],"host_functions":[],"summary":[],');

-- A metric without a value is null.
VALUES ('"callback_records":{"counter_collection":[');
SELECT printf('{"thread_id":%d,"dispatch_data":{"size":0,"correlation_id":{"internal":%d,"external":0},"start_timestamp":%d,'
    || '"end_timestamp":%d,"dispatch_info":{"size":0,"agent_id":{"handle":%d},"queue_id":{"handle":%d},"kernel_id":%d,'
    || '"dispatch_id":%d,"private_segment_size":%d,"group_segment_size":%d,"workgroup_size":{"x":%d,"y":%d,"z":%d},'
    || '"grid_size":{"x":%d,"y":%d,"z":%d}}},"arch_vgpr_count":%d,"sgpr_count":%d,"lds_block_size_v":%d,"records":%s}', d.tid,
    d.correlation, d.begin_ns, d.end_ns, d.gpu, d.queue, k.id, d.id, d.scratch_bytes, d.lds_bytes, d.workgroup_x, d.workgroup_y,
    d.workgroup_z, d.grid_x, d.grid_y, d.grid_z, k.vgprs, k.sgprs, d.lds_bytes,
    json_group_array(json_object('counter_id', json_object('handle', p.id), 'value', c.value)))
  FROM c_counter AS c CROSS JOIN c_pmc AS p ON p.process = c.process AND p.gpu = c.gpu AND p.name_id = c.name_id
  CROSS JOIN c_dispatch AS d ON d.id = c.op_id
  CROSS JOIN c_kernel AS k ON k.process = d.process AND k.uid = d.uid AND k.name_id = d.name_id
  WHERE c.process = :process GROUP BY c.op_id;

VALUES (']},"buffer_records":{"kernel_dispatch":[');
SELECT printf('{"size":0,"kind":11,"operation":2,"thread_id":%d,"correlation_id":{"internal":%d,"external":0,"ancestor":0},'
    || '"start_timestamp":%d,"end_timestamp":%d,"dispatch_info":{"size":0,"agent_id":{"handle":%d},"queue_id":{"handle":%d},'
    || '"kernel_id":%d,"dispatch_id":%d,"private_segment_size":%d,"group_segment_size":%d,"workgroup_size":{"x":%d,"y":%d,"z":%d},'
    || '"grid_size":{"x":%d,"y":%d,"z":%d}},"stream_id":{"handle":%d}}', d.tid, d.correlation, d.begin_ns, d.end_ns, d.gpu, d.queue,
    d.kernel, d.id, d.scratch_bytes, d.lds_bytes, d.workgroup_x, d.workgroup_y, d.workgroup_z, d.grid_x, d.grid_y, d.grid_z, d.number)
  FROM (SELECT d.id, d.tid, d.correlation, d.begin_ns, d.end_ns, d.gpu, d.queue, d.scratch_bytes, d.lds_bytes, d.workgroup_x,
    d.workgroup_y, d.workgroup_z, d.grid_x, d.grid_y, d.grid_z, k.id AS kernel, s.number
    FROM c_dispatch AS d CROSS JOIN c_kernel AS k ON k.process = d.process AND k.uid = d.uid AND k.name_id = d.name_id
    CROSS JOIN c_stream AS s ON s.process = d.process AND s.stream = d.stream WHERE d.process = :process
    ORDER BY d.id LIMIT -1) AS d;
VALUES ('],"hip_api":[');
SELECT printf('{"size":0,"kind":21,"operation":%d,"thread_id":%d,"correlation_id":{"internal":%d,"external":0,"ancestor":0},'
    || '"start_timestamp":%d,"end_timestamp":%d}', c.number, c.tid, c.correlation, c.begin_ns, c.end_ns)
  FROM (SELECT o.number, c.tid, c.instance, c.correlation, c.begin_ns, c.end_ns
    FROM c_call AS c CROSS JOIN c_operation AS o ON o.kind = 'HIP_RUNTIME_API_EXT' AND o.name_id = c.name_id
    WHERE c.is_hip AND c.process = :process ORDER BY c.id LIMIT -1) AS c;
VALUES ('],"hsa_api":[');
SELECT printf('{"size":0,"kind":1,"operation":%d,"thread_id":%d,"correlation_id":{"internal":%d,"external":0,"ancestor":%d},'
    || '"start_timestamp":%d,"end_timestamp":%d}', c.number, c.tid, c.instance, c.correlation, c.begin_ns, c.end_ns)
  FROM (SELECT o.number, c.tid, c.instance, c.correlation, c.begin_ns, c.end_ns
    FROM c_call AS c CROSS JOIN c_operation AS o ON o.kind = 'HSA_CORE_API' AND o.name_id = c.name_id
    WHERE NOT c.is_hip AND c.process = :process ORDER BY c.id LIMIT -1) AS c;
VALUES ('],"marker_api":[');
SELECT printf('{"size":0,"kind":32,"operation":%d,"thread_id":%d,"correlation_id":{"internal":%d,"external":0,"ancestor":0},'
    || '"start_timestamp":%d,"end_timestamp":%d}', CASE WHEN NOT is_range THEN 0 WHEN started THEN 2 ELSE 1 END, tid,
    4503599627370496 + id, begin_ns, end_ns)
  FROM c_marker WHERE process = :process ORDER BY id;
-- What fills memory is no copy to rocprofv3.
VALUES ('],"rccl_api":[],"memory_copy":[');
SELECT printf('{"size":0,"kind":10,"operation":%d,"thread_id":%d,"correlation_id":{"internal":%d,"external":0,"ancestor":0},'
    || '"start_timestamp":%d,"end_timestamp":%d,"dst_agent_id":{"handle":%d},"src_agent_id":{"handle":%d},"bytes":%d,'
    || '"dst_address":"0x%x","src_address":"0x%x","stream_id":{"handle":%d}}',
    CASE c.direction WHEN 5 THEN 1 WHEN 1 THEN 2 WHEN 2 THEN 3 ELSE 4 END, c.tid, c.correlation, c.begin_ns, c.end_ns,
    CASE WHEN c.dst_gpu THEN c.dst_gpu ELSE h.agent END, CASE WHEN c.src_gpu THEN c.src_gpu ELSE h.agent END, c.bytes, c.dst, c.src,
    s.number)
  FROM c_copy AS c CROSS JOIN c_stream AS s ON s.process = c.process AND s.stream = c.stream
  CROSS JOIN c_host AS h ON h.process = c.process WHERE c.kind <> 4 AND c.process = :process ORDER BY c.id;
VALUES ('],"memory_allocation":[');
SELECT printf('{"size":0,"kind":16,"operation":%d,"thread_id":%d,"correlation_id":{"internal":%d,"external":0,"ancestor":0},'
    || '"start_timestamp":%d,"end_timestamp":%d,"agent_id":{"handle":%d},"address":"0x%x","allocation_size":%d}',
    1 + 2 * is_release + is_virtual, tid, correlation, begin_ns, end_ns, node, address, bytes)
  FROM c_mem WHERE process = :process ORDER BY id;
VALUES ('],"scratch_memory":[],"rocdecode_api":[],"rocjpeg_api":[],"pc_sample_host_trap":[],"pc_sample_stochastic":[]}}');
