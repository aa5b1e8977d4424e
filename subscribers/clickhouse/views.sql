-- SPDX-License-Identifier: MIT
-- What people ask: views over the tables of rtl's own streams (streams/events, docs/streams.md).

CREATE VIEW IF NOT EXISTS rtl_dispatch AS SELECT run, day, rank, host, pid, time_ns,
  if(tracepoint = '', kernel_name, tracepoint) AS kernel, begin_ns, end_ns,
  if(begin_ns = 0, 0, toInt64(begin_ns - if(call_ns = 0, submit_ns, call_ns))) AS wait_ns, gpu, gpu_uuid, queue,
  submit_tid AS tid, flags, grid_x, grid_y, grid_z, workgroup_x, workgroup_y, workgroup_z,
  group_segment_bytes AS lds_bytes, private_segment_bytes AS scratch_bytes, hip_stream AS stream, range, uid,
  correlation, spool, ring, position
  FROM rtl_e_rtl_hsa_task_end;

CREATE VIEW IF NOT EXISTS rtl_copy AS SELECT run, day, rank, host, pid, time_ns,
  transform(direction, [0, 1, 2, 3, 4, 5], ['FillBuffer', 'CopyHostToDevice', 'CopyDeviceToHost',
    'CopyDeviceToDevice', 'CopyPeerToPeer', 'CopyHostToHost'], 'Copy') AS direction, begin_ns, end_ns,
  if(begin_ns = 0, 0, toInt64(begin_ns - if(call_ns = 0, submit_ns, call_ns))) AS wait_ns, bytes, gpu, gpu_uuid,
  src_gpu, dst_gpu, kind, engine, submit_tid AS tid, flags, parts, status, hip_stream AS stream, range, correlation,
  spool, ring, position
  FROM rtl_e_rtl_hsa_copy_transfer_end;

-- Each SELECT of a union names its columns alike: servers before 19 leave out those that nobody asks for by name.
CREATE VIEW IF NOT EXISTS rtl_mem AS SELECT run, day, rank, host, pid, time_ns, toUInt8(0) AS is_release, begin_ns,
  end_ns, function, segment, status, address, bytes, in_use_bytes, pool, node, kind, flags, allocated_ns, tid,
  correlation, spool, ring, position
  FROM rtl_e_rtl_hsa_mem_mem_alloc_end
UNION ALL SELECT run, day, rank, host, pid, time_ns, toUInt8(1) AS is_release, begin_ns, end_ns, function, segment,
  status, address, bytes, in_use_bytes, pool, node, kind, flags, allocated_ns, tid, correlation, spool, ring, position
  FROM rtl_e_rtl_hsa_mem_mem_release_end;

-- Of a call that had not returned when its process ended, end_ns is that end. `args` is there with the setting args.
CREATE VIEW IF NOT EXISTS rtl_call AS SELECT run, day, rank, host, pid, time_ns, 'hip' AS api, function, begin_ns,
  end_ns, toUInt8(0) AS unfinished, status, result, tid, work, hip_stream AS stream, parent, instance, correlation,
  '' AS args, spool, ring, position
  FROM rtl_e_rtl_hip_call_function_end
UNION ALL SELECT run, day, rank, host, pid, time_ns, 'hip' AS api, function, begin_ns, time_ns AS end_ns,
  toUInt8(1) AS unfinished, status, result, tid_2 AS tid, work, hip_stream AS stream, parent, instance, correlation,
  '' AS args, spool, ring, position
  FROM rtl_e_rtl_hip_call_function_unfinished
UNION ALL SELECT run, day, rank, host, pid, time_ns, 'hip' AS api, function, begin_ns, end_ns,
  toUInt8(0) AS unfinished, status, result, tid, work, hip_stream AS stream, parent, instance, correlation, args,
  spool, ring, position
  FROM rtl_e_rtl_hip_call_debug_function_with_args_end
UNION ALL SELECT run, day, rank, host, pid, time_ns, 'hip' AS api, function, begin_ns, time_ns AS end_ns,
  toUInt8(1) AS unfinished, status, result, tid_2 AS tid, work, hip_stream AS stream, parent, instance, correlation,
  args, spool, ring, position
  FROM rtl_e_rtl_hip_call_debug_function_with_args_unfinished
UNION ALL SELECT run, day, rank, host, pid, time_ns, 'hsa' AS api, function, begin_ns, end_ns,
  toUInt8(0) AS unfinished, status, result, tid, toUInt32(0) AS work, toUInt64(0) AS stream, toUInt64(0) AS parent,
  instance, correlation, '' AS args, spool, ring, position
  FROM rtl_e_rtl_hsa_call_function_end
UNION ALL SELECT run, day, rank, host, pid, time_ns, 'hsa' AS api, function, begin_ns, end_ns,
  toUInt8(0) AS unfinished, status, result, tid, toUInt32(0) AS work, toUInt64(0) AS stream, toUInt64(0) AS parent,
  instance, correlation, args, spool, ring, position
  FROM rtl_e_rtl_hsa_call_debug_function_with_args_end;

-- A mark is a range without a length.
CREATE VIEW IF NOT EXISTS rtl_range AS SELECT run, day, rank, host, pid, time_ns, name, begin_ns, end_ns,
  if(bitAnd(flags, 2) = 0, 'pushed', 'started') AS kind, begin_tid AS tid, level, parent, id, instance, spool, ring,
  position
  FROM rtl_e_rtl_roctx_region_end
UNION ALL SELECT run, day, rank, host, pid, time_ns, name, begin_ns, time_ns AS end_ns, 'unfinished' AS kind,
  begin_tid AS tid, level, parent, id, instance, spool, ring, position
  FROM rtl_e_rtl_roctx_region_unfinished
UNION ALL SELECT run, day, rank, host, pid, time_ns, name, time_ns AS begin_ns, time_ns AS end_ns, 'mark' AS kind,
  tid, toInt32(-1) AS level, parent, toUInt64(0) AS id, instance, spool, ring, position
  FROM rtl_e_rtl_roctx_mark;
