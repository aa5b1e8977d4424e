-- SPDX-License-Identifier: MIT
-- What people query: the tables that outputs of rtl have always had, and those of RPD's schema (rocpd_, and names without a prefix),
-- as SELECTs over the events (rtl_e_<stream>_<type>, see store.c).
--
-- Numbers of names are those that tables.sql gives to them. SQLite leaves out a LEFT JOIN whose columns nobody asks for.
-- "LIMIT -1" keeps a SELECT from becoming part of the query around it: it is done once, and gets an index for that query where one helps.
-- No word here is newer than SQLite 3.26.

-- ---- names

-- Readers of RPD's schema paste names into JSON: `plain` is without what cannot stand there.
CREATE VIEW rocpd_string AS SELECT id, ifnull(plain, string) AS string FROM rtl_string;

-- Names by the ids of rocpd_string, and behind them arguments.
CREATE VIEW rocpd_ustring AS SELECT * FROM (SELECT id, string FROM rocpd_string
  UNION ALL SELECT id + 1099511627776, string FROM rtl_args LIMIT -1);

-- ---- calls

-- Calls of HIP and of the HSA runtime. Of one there is a row in one of these tables only.
CREATE VIEW rtl_call_all AS
  SELECT e.id AS id, e.process AS process, p.pid AS pid, e.tid AS tid, e.begin_ns AS begin_ns, ifnull(e.end_ns, 0) AS end_ns,
    e.uid AS uid, e.parent_uid AS parent_uid, e.instance AS instance, e.correlation AS correlation,
    ifnull(e.function_id, 1) AS function_id, ifnull(e.status_id, 1) AS status_id, e.result AS result, e.parent AS parent,
    CASE WHEN e.flags & 2 THEN e.hip_stream END AS stream, CASE WHEN e.device >= 0 THEN e.device END AS device,
    e.flags AS flags, e.work AS work, ifnull(t.category, 1) AS category_id, 5 AS domain_id, e.args_id AS args_id
    FROM rtl_e_rtl_hip_call_debug_function_with_args_end AS e LEFT JOIN rtl_process AS p ON p.process = e.process
    LEFT JOIN rtl_tracepoint AS t ON t.process = e.process AND t.uid = e.uid
  UNION ALL SELECT e.id, e.process, p.pid, e.tid_2, e.begin_ns, max(e.time_ns, e.begin_ns), e.uid, e.parent_uid, e.instance,
    e.correlation, ifnull(e.function_id, 1), ifnull(e.status_id, 1), e.result, e.parent, CASE WHEN e.flags & 2 THEN e.hip_stream END,
    CASE WHEN e.device >= 0 THEN e.device END, e.flags, 0, ifnull(t.category, 1), 5, e.args_id
    FROM rtl_e_rtl_hip_call_debug_function_with_args_unfinished AS e LEFT JOIN rtl_process AS p ON p.process = e.process
    LEFT JOIN rtl_tracepoint AS t ON t.process = e.process AND t.uid = e.uid
  UNION ALL SELECT e.id, e.process, p.pid, e.tid, e.begin_ns, ifnull(e.end_ns, 0), e.uid, e.parent_uid, e.instance,
    e.correlation, ifnull(e.function_id, 1), ifnull(e.status_id, 1), e.result, e.parent, CASE WHEN e.flags & 2 THEN e.hip_stream END,
    CASE WHEN e.device >= 0 THEN e.device END, e.flags, e.work, ifnull(t.category, 1), 5, NULL
    FROM rtl_e_rtl_hip_call_function_end AS e LEFT JOIN rtl_process AS p ON p.process = e.process
    LEFT JOIN rtl_tracepoint AS t ON t.process = e.process AND t.uid = e.uid
  UNION ALL SELECT e.id, e.process, p.pid, e.tid_2, e.begin_ns, max(e.time_ns, e.begin_ns), e.uid, e.parent_uid, e.instance,
    e.correlation, ifnull(e.function_id, 1), ifnull(e.status_id, 1), e.result, e.parent, CASE WHEN e.flags & 2 THEN e.hip_stream END,
    CASE WHEN e.device >= 0 THEN e.device END, e.flags, 0, ifnull(t.category, 1), 5, NULL
    FROM rtl_e_rtl_hip_call_function_unfinished AS e LEFT JOIN rtl_process AS p ON p.process = e.process
    LEFT JOIN rtl_tracepoint AS t ON t.process = e.process AND t.uid = e.uid
  UNION ALL SELECT e.id, e.process, p.pid, e.tid, e.begin_ns, ifnull(e.end_ns, 0), e.uid, e.parent_uid, e.instance,
    e.correlation, ifnull(e.function_id, 1), ifnull(e.status_id, 1), e.result, NULL, NULL, NULL, NULL, NULL, 1, 4, e.args_id
    FROM rtl_e_rtl_hsa_call_debug_function_with_args_end AS e LEFT JOIN rtl_process AS p ON p.process = e.process
  UNION ALL SELECT e.id, e.process, p.pid, e.tid, e.begin_ns, ifnull(e.end_ns, 0), e.uid, e.parent_uid, e.instance,
    e.correlation, ifnull(e.function_id, 1), ifnull(e.status_id, 1), e.result, NULL, NULL, NULL, NULL, NULL, 1, 4, NULL
    FROM rtl_e_rtl_hsa_call_function_end AS e LEFT JOIN rtl_process AS p ON p.process = e.process;

-- From the number that work has of its call to the call of HIP.
CREATE VIEW rtl_call_number AS SELECT * FROM (
  SELECT e.id AS id, e.process AS process, e.correlation AS correlation, e.function_id AS function_id, e.uid AS uid
    FROM rtl_e_rtl_hip_call_debug_function_with_args_end AS e
  UNION ALL SELECT e.id, e.process, e.correlation, e.function_id, e.uid FROM rtl_e_rtl_hip_call_debug_function_with_args_unfinished AS e
  UNION ALL SELECT e.id, e.process, e.correlation, e.function_id, e.uid FROM rtl_e_rtl_hip_call_function_end AS e
  UNION ALL SELECT e.id, e.process, e.correlation, e.function_id, e.uid FROM rtl_e_rtl_hip_call_function_unfinished AS e LIMIT -1);

-- ---- dispatches and copies

CREATE VIEW rtl_dispatch AS SELECT e.id AS op_id, e.process AS process, e.uid AS uid, ifnull(e.submit_ns, 0) AS submit_ns,
  e.packet_id AS packet_id, e.kernel_object AS kernel_object, e.gpu AS gpu, e.queue AS queue, e.submit_tid AS tid, e.flags AS flags,
  e.grid_x AS grid_x, e.grid_y AS grid_y, e.grid_z AS grid_z, e.workgroup_x AS workgroup_x, e.workgroup_y AS workgroup_y,
  e.workgroup_z AS workgroup_z, e.group_segment_bytes AS lds_bytes, e.private_segment_bytes AS scratch_bytes, e.scope AS scope,
  CASE WHEN e.scope THEN e.scope_instance END AS scope_instance, e.call_ns AS call_ns,
  CASE WHEN e.call_ns NOT NULL THEN e.hip_stream END AS stream, nullif(e.range, 0) AS range, e.correlation AS correlation,
  e.instance AS instance
  FROM rtl_e_rtl_hsa_task_end AS e;

CREATE VIEW rtl_copy AS SELECT e.id AS id, CASE WHEN e.gpu AND NOT e.flags & 16 THEN e.id END AS op_id,
  CASE WHEN e.begin_ns AND e.end_ns AND NOT e.flags & 18 THEN e.begin_ns END AS begin_ns,
  CASE WHEN e.begin_ns AND e.end_ns AND NOT e.flags & 18 THEN e.end_ns END AS end_ns,
  e.process AS process, e.uid AS uid, ifnull(e.submit_ns, 0) AS submit_ns, e.bytes AS bytes, e.src AS src, e.dst AS dst,
  e.signal AS signal, e.gpu AS gpu, e.src_gpu AS src_gpu, e.dst_gpu AS dst_gpu, e.direction AS direction, e.kind AS kind,
  e.engine AS engine, e.submit_tid AS tid, e.flags AS flags, e.extent_x AS extent_x, e.extent_y AS extent_y, e.extent_z AS extent_z,
  e.parts AS parts, e.status AS status, e.scope AS scope, CASE WHEN e.scope THEN e.scope_instance END AS scope_instance,
  e.call_ns AS call_ns, CASE WHEN e.call_ns NOT NULL THEN e.hip_stream END AS stream, nullif(e.range, 0) AS range,
  e.correlation AS correlation, e.instance AS instance
  FROM rtl_e_rtl_hsa_copy_transfer_end AS e;

-- What a GPU did, for rocpd_op and what belongs to it.
CREATE VIEW rtl_kernel_op AS SELECT e.id AS id, e.process AS process, e.correlation AS correlation, e.gpu AS gpu, e.queue AS queue,
  e.packet_id AS packet_id, e.instance AS instance, ifnull(e.submit_ns, 0) AS submit_ns, e.submit_tid AS tid,
  ifnull(CASE WHEN e.end_ns IS NULL THEN e.submit_ns ELSE e.begin_ns END, 0) AS begin_ns,
  ifnull(ifnull(e.end_ns, e.submit_ns), 0) AS end_ns,
  coalesce(nullif(t.label, 1), nullif(e.kernel_name_id, 1), 23) AS name_id, t.name AS mangled,
  e.hip_stream AS hip_stream, e.grid_x AS grid_x, e.grid_y AS grid_y, e.grid_z AS grid_z, e.workgroup_x AS workgroup_x,
  e.workgroup_y AS workgroup_y, e.workgroup_z AS workgroup_z, e.group_segment_bytes AS lds_bytes,
  e.private_segment_bytes AS scratch_bytes
  FROM rtl_e_rtl_hsa_task_end AS e LEFT JOIN rtl_tracepoint AS t ON t.process = e.process AND t.uid = e.uid;
CREATE VIEW rtl_copy_op AS SELECT c.id AS id, c.process AS process, c.correlation AS correlation, c.gpu AS gpu, c.instance AS instance,
  c.submit_ns AS submit_ns, c.tid AS tid, ifnull(c.begin_ns, c.submit_ns) AS begin_ns, ifnull(c.end_ns, c.submit_ns) AS end_ns,
  CASE WHEN c.direction BETWEEN 0 AND 5 THEN c.direction + 14 ELSE 20 END AS type_id, c.kind = 4 AS is_fill,
  (c.flags & 32) <> 0 AS sync, c.bytes AS bytes, c.extent_x AS width, c.extent_y AS height,
  CASE c.direction WHEN 1 THEN 1 WHEN 2 THEN 2 WHEN 3 THEN 3 WHEN 4 THEN 3 WHEN 0 THEN 0 WHEN 5 THEN 0 ELSE 4 END AS kind,
  printf('0x%x', c.dst) AS dst, printf('0x%x', c.src) AS src, c.dst_gpu AS dst_gpu, c.src_gpu AS src_gpu,
  CASE WHEN c.stream THEN printf('0x%x', c.stream) ELSE '' END AS stream
  FROM rtl_copy AS c WHERE c.gpu AND NOT c.flags & 16;

-- Numbers of queues that tell those of several processes apart: a queue keeps its own if no process before has it.
CREATE VIEW rtl_queue_id AS
  WITH known AS (SELECT process, queue FROM rtl_e_rtl_hsa_queue_create UNION SELECT process, queue FROM rtl_e_rtl_hsa_queue_destroy
      UNION SELECT process, queue FROM rtl_e_rtl_hsa_task_end),
    ranked AS (SELECT process, queue, queue BETWEEN 1 AND 999 AND row_number() OVER (PARTITION BY queue ORDER BY process) = 1 AS keeps
      FROM known)
  SELECT process, queue, CASE WHEN keeps THEN queue ELSE row_number() OVER (PARTITION BY keeps ORDER BY process, queue)
    + ifnull((SELECT max(queue) FROM known WHERE queue BETWEEN 1 AND 999), 0) END AS queueId FROM ranked;

CREATE VIEW rtl_queue AS SELECT q.queueId AS queueId, q.process AS process, q.queue AS queue,
  coalesce(d.gpu, c.gpu, (SELECT e.gpu FROM rtl_e_rtl_hsa_task_end AS e WHERE e.process = q.process AND e.queue = q.queue LIMIT 1)) AS gpu,
  coalesce(d.uid, c.uid, 0) AS uid, coalesce(d.address, c.address, 0) AS address, coalesce(d.packets, c.packets, 0) AS packets,
  coalesce(d.type, c.type, 0) AS type, c.time_ns AS create_ns, d.time_ns AS destroy_ns
  FROM rtl_queue_id AS q
  LEFT JOIN (SELECT process, queue, gpu, uid, address, packets, type, max(time_ns) AS time_ns FROM rtl_e_rtl_hsa_queue_create
    GROUP BY process, queue) AS c ON c.process = q.process AND c.queue = q.queue
  LEFT JOIN (SELECT process, queue, gpu, uid, address, packets, type, max(time_ns) AS time_ns FROM rtl_e_rtl_hsa_queue_destroy
    GROUP BY process, queue) AS d ON d.process = q.process AND d.queue = q.queue;

-- From KFD nodes to numbers from 0 on, for outputs with gpu=index.
CREATE VIEW rtl_gpu_index AS SELECT t.process AS process, CAST(n.value AS INTEGER) AS node, CAST(i.value AS INTEGER) AS gpu_index
  FROM rtl_tracepoint AS t
  JOIN rtl_tracepoint_metadata AS n ON n.process = t.process AND n.uid = t.uid AND n.key = 'node'
  JOIN rtl_tracepoint_metadata AS i ON i.process = t.process AND i.uid = t.uid AND i.key = 'gpu_index'
  WHERE t.kind = 'agent' AND (SELECT value FROM rtl_meta WHERE key = 'gpu') = 'index' GROUP BY t.process, node;

-- ---- RPD's tables

CREATE VIEW rocpd_op AS
  SELECT o.id AS id, CASE WHEN (SELECT value FROM rtl_meta WHERE key = 'gpu') = 'index' THEN ifnull((SELECT g.gpu_index FROM rtl_gpu_index AS g
      WHERE g.process = o.process AND g.node = o.gpu), o.gpu) ELSE o.gpu END AS gpuId,
    CASE WHEN (SELECT count(*) FROM rtl_process) = 1 AND o.queue BETWEEN 1 AND 999 THEN o.queue
      ELSE (SELECT q.queueId FROM rtl_queue_id AS q WHERE q.process = o.process AND q.queue = o.queue) END AS queueId,
    o.packet_id AS sequenceId, o.begin_ns AS start, o.end_ns AS "end", o.name_id AS description_id, 2 AS opType_id
    FROM rtl_kernel_op AS o
  UNION ALL SELECT o.id, CASE WHEN (SELECT value FROM rtl_meta WHERE key = 'gpu') = 'index' THEN ifnull((SELECT g.gpu_index FROM rtl_gpu_index AS g
      WHERE g.process = o.process AND g.node = o.gpu), o.gpu) ELSE o.gpu END,
    0, o.instance, o.begin_ns, o.end_ns, 1, o.type_id FROM rtl_copy_op AS o;

-- Work whose call is not in the file is linked to a row of its own, the submission (KernelDispatch, MemoryCopy, MemoryFill).
CREATE VIEW rocpd_api_ops AS
  SELECT o.id AS id, ifnull(c.id, o.id) AS api_id, o.id AS op_id FROM rtl_kernel_op AS o
    LEFT JOIN rtl_call_number AS c ON c.process = o.process AND c.correlation = o.correlation
    WHERE c.id NOT NULL OR (SELECT value FROM rtl_meta WHERE key = 'links') IS NOT 'no'
  UNION ALL SELECT o.id, ifnull(c.id, o.id), o.id FROM rtl_copy_op AS o
    LEFT JOIN rtl_call_number AS c ON c.process = o.process AND c.correlation = o.correlation
    WHERE c.id NOT NULL OR (SELECT value FROM rtl_meta WHERE key = 'links') IS NOT 'no';

CREATE VIEW rocpd_api AS
  SELECT id, pid, tid, begin_ns AS start, end_ns AS "end", function_id AS apiName_id, category_id, domain_id,
    ifnull(args_id + 1099511627776, 1) AS args_id FROM rtl_call_all
  UNION ALL SELECT m.api_id, p.pid, m.tid, m.begin_ns, m.end_ns, 7, 1, 6, m.name_id FROM rtl_marker_all AS m
    LEFT JOIN rtl_process AS p ON p.process = m.process
  UNION ALL SELECT s.api_id, p.pid, s.tid, s.begin_ns, s.end_ns, s.name_id, s.category_id, s.domain_id, ifnull(s.args_id, 1)
    FROM rtl_span AS s LEFT JOIN rtl_process AS p ON p.process = s.process
  UNION ALL SELECT o.id, p.pid, o.tid, o.submit_ns, o.submit_ns, 3, 1, 4, o.name_id FROM rtl_kernel_op AS o
    LEFT JOIN rtl_call_number AS c ON c.process = o.process AND c.correlation = o.correlation
    LEFT JOIN rtl_process AS p ON p.process = o.process
    WHERE c.id IS NULL AND (SELECT value FROM rtl_meta WHERE key = 'links') IS NOT 'no'
  UNION ALL SELECT o.id, p.pid, o.tid, o.submit_ns, CASE WHEN o.sync THEN o.end_ns ELSE o.submit_ns END, 12 + o.is_fill, 1, 4, 1
    FROM rtl_copy_op AS o LEFT JOIN rtl_call_number AS c ON c.process = o.process AND c.correlation = o.correlation
    LEFT JOIN rtl_process AS p ON p.process = o.process
    WHERE c.id IS NULL AND (SELECT value FROM rtl_meta WHERE key = 'links') IS NOT 'no'
  UNION ALL SELECT api_id, pid, pid, first_ns, first_ns, 10, 1, 9, ifnull(n.id, 1) FROM rtl_process
  UNION ALL SELECT end_api_id, pid, pid, last_ns, last_ns, 11, 1, 9, 1 FROM rtl_process;
