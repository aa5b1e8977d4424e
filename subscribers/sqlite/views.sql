-- SPDX-License-Identifier: MIT
-- What people query: the tables that outputs of rtl have always had, and those of RPD's schema (rocpd_, and names without a prefix),
-- as SELECTs over the events (rtl_e_<stream>_<type>, see store.c).
--
-- Numbers of names are those that tables.sql gives to them. SQLite leaves out a LEFT JOIN whose columns nobody asks for.
-- "LIMIT -1" keeps a SELECT from becoming part of the query around it: it is done once, and gets an index for that query where one helps.
-- A UNION ALL whose columns are not of one affinity in all of its parts stays whole in a join as well: that is wanted, as each part
-- would be joined by itself. No word here is newer than SQLite 3.26.

-- What begins and ends in other streams: pieces.c adds them.
CREATE VIEW rtl_span AS SELECT 0 AS api_id, 0 AS process, 0 AS stream, '' AS type, 0 AS object, 0 AS parent, 0 AS uid, 0 AS parent_uid,
  0 AS instance, 0 AS correlation, 0 AS result, 0 AS unfinished, 0 AS tid, 0 AS begin_ns, 0 AS end_ns, 0 AS name_id, 0 AS category_id,
  0 AS domain_id, 0 AS args_id WHERE 0;

-- ---- names

-- Readers of RPD's schema paste names into JSON: `plain` is without what cannot stand there.
CREATE VIEW rocpd_string AS SELECT id, ifnull(plain, string) AS string FROM rtl_string;

-- Names by the ids of rocpd_string; behind them arguments; below 0 the commands of processes.
CREATE VIEW rocpd_ustring AS SELECT * FROM (SELECT id, string FROM rocpd_string
  UNION ALL SELECT id + 1099511627776, string FROM rtl_args
  UNION ALL SELECT -process, replace(replace(ifnull(command, ''), '"', ''''), '\', '/') FROM rtl_process LIMIT -1);

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

-- Calls of HIP, as what they submit is linked to them: by the number that both have.
CREATE VIEW rtl_hip_call AS
  SELECT e.id AS id, e.process AS process, e.correlation AS correlation, e.uid AS uid, e.function_id AS function_id, e.tid AS tid,
    e.begin_ns AS begin_ns, ifnull(e.end_ns, 0) AS end_ns FROM rtl_e_rtl_hip_call_debug_function_with_args_end AS e
  UNION ALL SELECT e.id, e.process, e.correlation, e.uid, e.function_id, e.tid_2, e.begin_ns, max(e.time_ns, e.begin_ns)
    FROM rtl_e_rtl_hip_call_debug_function_with_args_unfinished AS e
  UNION ALL SELECT e.id, e.process, e.correlation, e.uid, e.function_id, e.tid, e.begin_ns, ifnull(e.end_ns, 0)
    FROM rtl_e_rtl_hip_call_function_end AS e
  UNION ALL SELECT e.id, e.process, e.correlation, e.uid, e.function_id, e.tid_2, e.begin_ns, max(e.time_ns, e.begin_ns)
    FROM rtl_e_rtl_hip_call_function_unfinished AS e;
CREATE VIEW rtl_call_number AS SELECT id, process, correlation, uid FROM rtl_hip_call LIMIT -1;

-- ---- dispatches and copies

-- All that is known of a dispatch, and of a copy. `process` is an expression, so that SQLite does not begin with rtl_origin where it is
-- compared: of an event's other columns none has an index.
CREATE VIEW rtl_kernel_op AS SELECT e.id AS id, ifnull(e.process, 0) AS process, e.uid AS uid, ifnull(e.submit_ns, 0) AS submit_ns,
  e.packet_id AS packet_id, e.kernel_object AS kernel_object, e.gpu AS gpu, e.queue AS queue, e.submit_tid AS tid, e.flags AS flags,
  e.grid_x AS grid_x, e.grid_y AS grid_y, e.grid_z AS grid_z, e.workgroup_x AS workgroup_x, e.workgroup_y AS workgroup_y,
  e.workgroup_z AS workgroup_z, e.group_segment_bytes AS lds_bytes, e.private_segment_bytes AS scratch_bytes, e.scope AS scope,
  CASE WHEN e.scope THEN e.scope_instance END AS scope_instance, e.call_ns AS call_ns,
  CASE WHEN e.call_ns NOT NULL THEN e.hip_stream END AS stream, nullif(e.range, 0) AS range, e.correlation AS correlation,
  e.instance AS instance,
  -- without times of the GPU it lasts nothing, where it was submitted
  ifnull(CASE WHEN e.end_ns IS NULL THEN e.submit_ns ELSE e.begin_ns END, 0) AS begin_ns,
  coalesce(e.end_ns, e.submit_ns, 0) AS end_ns,
  coalesce(nullif(t.label, 1), nullif(e.kernel_name_id, 1), 23) AS name_id, t.name AS mangled,
  CASE WHEN (SELECT value FROM rtl_meta WHERE key = 'gpu') = 'index'
    THEN ifnull((SELECT CAST(m.value AS INTEGER) FROM rtl_tracepoint_metadata AS m
    WHERE m.process = e.process AND m.uid = e.parent_uid AND m.key = 'gpu_index'), e.gpu) ELSE e.gpu END AS gpuId,
  CASE WHEN (SELECT count(*) FROM rtl_process) = 1 AND e.queue BETWEEN 1 AND 999 THEN e.queue
    ELSE (SELECT q.queueId FROM rtl_queue_id AS q WHERE q.process = e.process AND q.queue = e.queue) END AS queueId
  FROM rtl_e_rtl_hsa_task_end AS e LEFT JOIN rtl_tracepoint AS t ON t.process = e.process AND t.uid = e.uid;
CREATE VIEW rtl_dispatch AS SELECT id AS op_id, process, uid, submit_ns, packet_id, kernel_object, gpu, queue, tid, flags,
  grid_x, grid_y, grid_z, workgroup_x, workgroup_y, workgroup_z, lds_bytes, scratch_bytes, scope, scope_instance, call_ns, stream,
  range, correlation, instance FROM rtl_kernel_op;

-- Dispatches and copies that had not ended when the process did. Of a copy the kernel is the direction.
CREATE VIEW rtl_under_way AS SELECT e.id AS id, p.pid AS pid, e.submit_tid AS tid, e.gpu AS gpu, e.queue AS queue,
  e.packet_id AS packet_id, n.string AS kernel, e.grid_x AS grid_x, e.grid_y AS grid_y, e.grid_z AS grid_z, e.submit_ns AS submit_ns,
  max(e.time_ns - e.submit_ns, 0) AS age_ns, CASE WHEN e.call_ns NOT NULL THEN e.hip_stream END AS stream,
  nullif(e.range, 0) AS range, e.flags AS flags, e.correlation AS correlation, e.instance AS instance, e.process AS process, NULL AS bytes
  FROM rtl_e_rtl_hsa_task_unfinished AS e LEFT JOIN rtl_process AS p ON p.process = e.process
  LEFT JOIN rtl_tracepoint AS t ON t.process = e.process AND t.uid = e.uid
  LEFT JOIN rocpd_string AS n ON n.id = coalesce(nullif(t.label, 1), nullif(e.kernel_name_id, 1), 23)
UNION ALL SELECT e.id, p.pid, e.submit_tid, e.gpu, NULL, NULL, n.string, NULL, NULL, NULL, e.submit_ns, max(e.time_ns - e.submit_ns, 0),
  CASE WHEN e.call_ns NOT NULL THEN e.hip_stream END, nullif(e.range, 0), e.flags, e.correlation, e.instance, e.process, e.bytes
  FROM rtl_e_rtl_hsa_copy_transfer_unfinished AS e LEFT JOIN rtl_process AS p ON p.process = e.process
  LEFT JOIN rocpd_string AS n ON n.id = CASE WHEN e.direction BETWEEN 0 AND 5 THEN e.direction + 14 ELSE 20 END;

CREATE VIEW rtl_copy_all AS SELECT e.id AS id, CASE WHEN e.gpu AND NOT e.flags & 16 THEN e.id END AS op_id,
  CASE WHEN e.begin_ns AND e.end_ns AND NOT e.flags & 18 THEN e.begin_ns END AS begin_ns,
  CASE WHEN e.begin_ns AND e.end_ns AND NOT e.flags & 18 THEN e.end_ns END AS end_ns,
  ifnull(e.process, 0) AS process, e.uid AS uid, ifnull(e.submit_ns, 0) AS submit_ns, e.bytes AS bytes, e.src AS src, e.dst AS dst,
  e.signal AS signal, e.gpu AS gpu, e.src_gpu AS src_gpu, e.dst_gpu AS dst_gpu, e.direction AS direction, e.kind AS kind,
  e.engine AS engine, e.submit_tid AS tid, e.flags AS flags, e.extent_x AS extent_x, e.extent_y AS extent_y, e.extent_z AS extent_z,
  e.parts AS parts, e.status AS status, e.scope AS scope, CASE WHEN e.scope THEN e.scope_instance END AS scope_instance,
  e.call_ns AS call_ns, CASE WHEN e.call_ns NOT NULL THEN e.hip_stream END AS stream, nullif(e.range, 0) AS range,
  e.correlation AS correlation, e.instance AS instance, e.parent_uid AS parent_uid
  FROM rtl_e_rtl_hsa_copy_transfer_end AS e;
CREATE VIEW rtl_copy AS SELECT id, op_id, begin_ns, end_ns, process, uid, submit_ns, bytes, src, dst, signal, gpu, src_gpu, dst_gpu,
  direction, kind, engine, tid, flags, extent_x, extent_y, extent_z, parts, status, scope, scope_instance, call_ns, stream, range,
  correlation, instance FROM rtl_copy_all;
CREATE VIEW rtl_copy_op AS SELECT c.id AS id, c.process AS process, c.correlation AS correlation, c.instance AS instance,
  c.submit_ns AS submit_ns, c.tid AS tid, ifnull(c.begin_ns, c.submit_ns) AS begin_ns, ifnull(c.end_ns, c.submit_ns) AS end_ns,
  CASE WHEN c.direction BETWEEN 0 AND 5 THEN c.direction + 14 ELSE 20 END AS type_id, c.kind = 4 AS is_fill,
  (c.flags & 32) <> 0 AS sync, CASE WHEN c.flags & 32 THEN ifnull(c.end_ns, c.submit_ns) ELSE c.submit_ns END AS call_end_ns,
  c.bytes AS bytes, c.extent_x AS width, c.extent_y AS height,
  CASE c.direction WHEN 1 THEN 1 WHEN 2 THEN 2 WHEN 3 THEN 3 WHEN 4 THEN 3 WHEN 0 THEN 0 WHEN 5 THEN 0 ELSE 4 END AS kind,
  printf('0x%x', c.dst) AS dst, printf('0x%x', c.src) AS src, c.dst_gpu AS dst_gpu, c.src_gpu AS src_gpu,
  CASE WHEN c.stream THEN printf('0x%x', c.stream) ELSE '' END AS stream, CASE WHEN (SELECT value FROM rtl_meta WHERE key = 'gpu') = 'index'
    THEN ifnull((SELECT CAST(m.value AS INTEGER) FROM rtl_tracepoint_metadata AS m
    WHERE m.process = c.process AND m.uid = c.parent_uid AND m.key = 'gpu_index'), c.gpu) ELSE c.gpu END AS gpuId
  FROM rtl_copy_all AS c WHERE c.gpu AND NOT c.flags & 16;

-- The calls that made copies. A trace has fewer copies than calls: these are looked up while the calls are read once.
CREATE VIEW rtl_copy_link AS SELECT k.id AS op_id, c.id AS api_id, c.process AS process, c.correlation AS correlation,
  c.function_id AS function_id, c.tid AS tid, c.begin_ns AS begin_ns, c.end_ns AS end_ns FROM rtl_hip_call AS c
  CROSS JOIN (SELECT id, process, correlation FROM rtl_copy_op LIMIT -1) AS k
  WHERE k.process = c.process AND k.correlation = c.correlation LIMIT -1;

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

-- ---- ranges, marks, memory, counters

CREATE VIEW rtl_marker_all AS
  SELECT e.id AS api_id, e.process AS process, 1 AS is_range, e.instance AS instance, e.parent AS parent, e.id_2 AS id,
    e.level AS level, e.tid AS end_tid, e.flags AS flags, e.begin_tid AS tid, e.begin_ns AS begin_ns,
    max(ifnull(e.end_ns, 0), e.begin_ns) AS end_ns, ifnull(e.name_id, 1) AS name_id FROM rtl_e_rtl_roctx_region_end AS e
  UNION ALL SELECT e.id, e.process, 1, e.instance, e.parent, e.id_2, e.level, 0, e.flags, e.begin_tid, e.begin_ns,
    max(e.time_ns, e.begin_ns), ifnull(e.name_id, 1) FROM rtl_e_rtl_roctx_region_unfinished AS e
  UNION ALL SELECT e.id, e.process, 0, e.instance, e.parent, 0, -1, e.tid, e.flags, e.tid, e.time_ns, e.time_ns,
    ifnull(e.name_id, 1) FROM rtl_e_rtl_roctx_mark AS e;
CREATE VIEW rtl_marker AS SELECT api_id, process, is_range, instance, parent, id, level, end_tid, flags FROM rtl_marker_all;
CREATE VIEW rtl_markers AS SELECT m.api_id AS api_id, p.pid AS pid, m.tid AS tid, n.string AS name, m.begin_ns AS begin_ns,
  m.end_ns AS end_ns, m.end_ns - m.begin_ns AS duration_ns, m.is_range AS is_range, m.level AS level, m.end_tid AS end_tid,
  m.process AS process, m.instance AS instance, m.parent AS parent, m.id AS id, m.flags AS flags, m.flags >> 2 & 1 AS unfinished
  FROM rtl_marker_all AS m LEFT JOIN rtl_process AS p ON p.process = m.process LEFT JOIN rocpd_string AS n ON n.id = m.name_id;

CREATE VIEW rtl_mem AS
  SELECT e.id AS id, e.process AS process, e.tid AS tid, 0 AS is_release, ifnull(e.begin_ns, 0) AS begin_ns, ifnull(e.end_ns, 0) AS end_ns,
    e.address AS address, e.bytes AS bytes, e.in_use_bytes AS in_use_bytes, e.pool AS pool, e.function AS function,
    e.segment AS segment, e.status AS status, e.node AS node, e.kind AS kind, e.flags AS flags, e.allocated_ns AS allocated_ns,
    e.instance AS instance, e.correlation AS correlation FROM rtl_e_rtl_hsa_mem_mem_alloc_end AS e
  UNION ALL SELECT e.id, e.process, e.tid, 1, ifnull(e.begin_ns, 0), ifnull(e.end_ns, 0), e.address, e.bytes, e.in_use_bytes, e.pool,
    e.function, e.segment, e.status, e.node, e.kind, e.flags, e.allocated_ns, e.instance, e.correlation
    FROM rtl_e_rtl_hsa_mem_mem_release_end AS e;
CREATE VIEW rtl_mem_in_use AS SELECT process, CASE WHEN kind <= 3
  THEN CASE WHEN flags & 1 THEN 'GPU ' ELSE 'CPU ' END || node
  WHEN kind = 4 THEN 'addresses' WHEN kind = 5 THEN 'locked' ELSE 'attached' END AS place,
  end_ns AS time_ns, in_use_bytes FROM rtl_mem WHERE NOT flags & 6;

-- Faults. memory: the allocation that the address was in, or had been in, or the nearest in use, within 256 MiB; of mode full.
CREATE VIEW rtl_faults AS SELECT f.id AS id, p.pid AS pid, f.process AS process, f.gpu AS gpu, f.queue AS queue, t.name AS kind,
  f.address AS address, f.reason AS reason, f.time_ns AS time_ns, CASE WHEN f.address
    AND EXISTS (SELECT 1 FROM rtl_mem AS m WHERE m.process = f.process) THEN ifnull((SELECT
      CASE WHEN n.past < 0 THEN printf('%d bytes before ', -n.past) WHEN n.past THEN printf('%d bytes behind ', n.past - 1) ELSE 'in ' END
      || ifnull((SELECT s.string FROM rtl_call_all AS c JOIN rocpd_string AS s ON s.id = c.function_id WHERE c.process = n.process
        AND c.correlation = n.correlation AND n.correlation AND c.domain_id = 5 LIMIT 1), n.function)
      || printf(' of %d bytes by thread %d', n.bytes, n.tid)
      || ifnull((SELECT ' in range ' || r.name FROM rtl_markers AS r WHERE r.process = n.process AND r.tid = n.tid AND r.is_range
        AND r.begin_ns <= n.begin_ns AND r.end_ns >= n.end_ns ORDER BY r.begin_ns DESC LIMIT 1), '')
      || CASE WHEN n.freed_ns NOT NULL THEN printf(', freed %.3f ms before by thread %d', (f.time_ns - n.freed_ns) / 1e6, n.freed_tid)
        ELSE '' END
    FROM (SELECT m.*, r.begin_ns AS freed_ns, r.tid AS freed_tid, CASE WHEN f.address < m.address THEN f.address - m.address
          WHEN f.address >= m.address + m.bytes THEN f.address - m.address - m.bytes + 1 ELSE 0 END AS past
        FROM rtl_mem AS m LEFT JOIN rtl_mem AS r ON r.is_release AND r.process = m.process AND r.address = m.address
          AND r.allocated_ns = m.begin_ns AND NOT r.flags & 4 AND r.begin_ns <= f.time_ns
        WHERE m.process = f.process AND NOT m.is_release AND NOT m.flags & 4 AND m.kind IN (1, 2, 6) AND m.begin_ns <= f.time_ns
          AND f.address BETWEEN m.address - 268435456 AND m.address + m.bytes + 268435456
        -- where it was comes before what is next to it
        ORDER BY past <> 0, freed_ns NOT NULL, abs(past), m.begin_ns DESC LIMIT 1) AS n
    WHERE n.past = 0 OR n.freed_ns IS NULL), 'within 256 MiB of no memory in use') END AS memory
  FROM rtl_e_rtl_hsa_fault AS f LEFT JOIN rtl_process AS p ON p.process = f.process
  LEFT JOIN rtl_tracepoint AS t ON t.process = f.process AND t.uid = f.uid;

-- A NaN is a BLOB of its bytes: no value.
CREATE VIEW rtl_counter AS SELECT ifnull(e.process, 0) AS process, e.instance AS dispatch, e.uid AS uid, ifnull(e.name_id, 1) AS name_id,
  CASE WHEN NOT e.flags & 2 AND typeof(e.value) = 'real' THEN e.value END AS value, ifnull(e.kernel, 0) AS kernel, e.gpu AS gpu,
  e.pass AS pass, e.flags AS flags FROM rtl_e_rtl_hsa_counter_value AS e;
CREATE VIEW rtl_counter_interval AS SELECT ifnull(e.process, 0) AS process, e.instance AS reading, e.uid AS uid, ifnull(e.name_id, 1) AS name_id,
  CASE WHEN NOT e.flags & 2 AND typeof(e.value) = 'real' THEN e.value END AS value, ifnull(e.begin_ns, 0) AS begin_ns,
  ifnull(e.end_ns, 0) AS end_ns, e.gpu AS gpu, e.pass AS pass, e.flags AS flags FROM rtl_e_rtl_hsa_counter_interval AS e;
CREATE VIEW rtl_counter_intervals AS SELECT p.pid AS pid, c.gpu AS gpu, nam.string AS counter, c.begin_ns AS begin_ns,
  c.end_ns AS end_ns, c.value AS value, uni.value AS unit, c.value * 1e9 / nullif(c.end_ns - c.begin_ns, 0) AS per_second,
  c.pass AS pass, c.flags & 1 AS derived, c.process AS process, c.reading AS reading, c.uid AS uid
  FROM rtl_counter_interval AS c JOIN rocpd_string AS nam ON nam.id = c.name_id JOIN rtl_process AS p ON p.process = c.process
  LEFT JOIN rtl_tracepoint_metadata AS uni ON uni.process = c.process AND uni.uid = c.uid AND uni.key = 'unit';
CREATE VIEW rtl_counters AS SELECT d.id AS op_id, p.pid AS pid, c.gpu AS gpu, d.queue AS queue, d.packet_id AS packet_id,
  ker.string AS kernel, nam.string AS counter, c.value AS value, uni.value AS unit, c.pass AS pass, c.flags & 1 AS derived,
  c.process AS process, c.dispatch AS dispatch, c.uid AS uid
  FROM rtl_counter AS c JOIN rocpd_string AS nam ON nam.id = c.name_id JOIN rtl_process AS p ON p.process = c.process
  LEFT JOIN (SELECT id, process, instance, queue, packet_id, name_id FROM rtl_kernel_op) AS d
    ON d.process = c.process AND d.instance = c.dispatch
  LEFT JOIN rocpd_string AS ker ON ker.id = d.name_id
  LEFT JOIN rtl_tracepoint_metadata AS uni ON uni.process = c.process AND uni.uid = c.uid AND uni.key = 'unit';

-- ---- RPD's tables

CREATE VIEW rocpd_op AS
  SELECT id, gpuId, queueId, packet_id AS sequenceId, begin_ns AS start, end_ns AS "end", name_id AS description_id, 2 AS opType_id
    FROM rtl_kernel_op
  UNION ALL SELECT id, gpuId, 0, instance, begin_ns, end_ns, 1, type_id FROM rtl_copy_op;

-- Work whose call is not in the file is linked to a row of its own, the submission (KernelDispatch, MemoryCopy, MemoryFill).
CREATE VIEW rocpd_api_ops AS
  SELECT o.id AS id, ifnull(c.id, o.id) AS api_id, o.id AS op_id FROM rtl_kernel_op AS o
    LEFT JOIN rtl_call_number AS c ON c.process = o.process AND c.correlation = o.correlation
  UNION ALL SELECT o.id, ifnull(l.api_id, o.id), o.id FROM rtl_copy_op AS o LEFT JOIN rtl_copy_link AS l ON l.op_id = o.id
    LIMIT -1;

-- What is no call: ranges, marks, regions of other streams, submissions that stand for calls.
CREATE VIEW rocpd_api_other AS
  SELECT m.api_id AS id, p.pid AS pid, m.tid AS tid, m.begin_ns AS start, m.end_ns AS "end", 7 AS apiName_id, 1 AS category_id,
    6 AS domain_id, m.name_id AS args_id FROM rtl_marker_all AS m
    LEFT JOIN rtl_process AS p ON p.process = m.process
  UNION ALL SELECT s.api_id, p.pid, s.tid, s.begin_ns, s.end_ns, s.name_id, s.category_id, s.domain_id, ifnull(s.args_id, 1)
    FROM rtl_span AS s LEFT JOIN rtl_process AS p ON p.process = s.process
  UNION ALL SELECT o.id, p.pid, o.tid, o.submit_ns, o.submit_ns, 3, 1, 4, o.name_id FROM rtl_kernel_op AS o
    LEFT JOIN rtl_call_number AS c ON c.process = o.process AND c.correlation = o.correlation
    LEFT JOIN rtl_process AS p ON p.process = o.process
    WHERE c.id IS NULL
  UNION ALL SELECT o.id, p.pid, o.tid, o.submit_ns, o.call_end_ns, 12 + o.is_fill, 1, 4, 1
    FROM rtl_copy_op AS o LEFT JOIN rtl_copy_link AS l ON l.op_id = o.id LEFT JOIN rtl_process AS p ON p.process = o.process
    WHERE l.op_id IS NULL;
CREATE VIEW rocpd_api AS
  SELECT id, pid, tid, begin_ns AS start, end_ns AS "end", function_id AS apiName_id, category_id, domain_id,
    ifnull(args_id + 1099511627776, 1) AS args_id FROM rtl_call_all
  UNION ALL SELECT id, pid, tid, start, "end", apiName_id, category_id, domain_id, args_id FROM rocpd_api_other
  UNION ALL SELECT api_id, pid, pid, first_ns, first_ns, 10, 1, 9, -process FROM rtl_process
  UNION ALL SELECT end_api_id, pid, pid, last_ns, last_ns, 11, 1, 9, -process FROM rtl_process;

-- There is room for one kernel of each call: the first of one that launches a kernel, none of a graph's.
CREATE VIEW rocpd_kernelapi AS
  SELECT f.call AS api_ptr_id, CASE WHEN o.stream THEN printf('0x%x', o.stream) ELSE '' END AS stream, o.grid_x AS gridX,
    o.grid_y AS gridY, o.grid_z AS gridZ, o.workgroup_x AS workgroupX, o.workgroup_y AS workgroupY, o.workgroup_z AS workgroupZ,
    o.lds_bytes AS groupSegmentSize, o.scratch_bytes AS privateSegmentSize, o.name_id AS kernelName_id
    FROM (SELECT c.id AS call, min(d.id) AS first FROM rtl_e_rtl_hsa_task_end AS d
      JOIN rtl_call_number AS c ON c.process = d.process AND c.correlation = d.correlation
      JOIN rtl_tracepoint AS t ON t.process = c.process AND t.uid = c.uid AND t.category = 8 GROUP BY c.id) AS f
    JOIN rtl_kernel_op AS o ON o.id = f.first
  UNION ALL SELECT o.id, '', o.grid_x, o.grid_y, o.grid_z, o.workgroup_x, o.workgroup_y, o.workgroup_z, o.lds_bytes,
    o.scratch_bytes, o.name_id FROM rtl_kernel_op AS o
    LEFT JOIN rtl_call_number AS c ON c.process = o.process AND c.correlation = o.correlation
    WHERE c.id IS NULL;

-- Of a call that makes several, the first, and the bytes of all. A fill is no copy there. Addresses are the call's own where its
-- arguments tell them: what HSA copied may be a staging buffer.
CREATE VIEW rtl_copy_call AS SELECT l.api_id AS api_id, l.process AS process, l.correlation AS correlation, l.function_id AS function_id,
  l.tid AS tid, l.begin_ns AS begin_ns, l.end_ns AS end_ns, min(o.id) AS first, o.stream AS stream, sum(o.bytes) AS size,
  o.width AS width, o.height AS height, o.kind AS kind,
  CASE WHEN a.string LIKE 'dst=0x%, src=0x%' THEN substr(a.string, 5, instr(a.string, ',') - 5) ELSE o.dst END AS dst,
  CASE WHEN a.string LIKE 'dst=0x%, src=0x%' THEN substr(a.string, instr(a.string, ', src=') + 6,
    instr(substr(a.string, instr(a.string, ', src=') + 6) || ',', ',') - 1) ELSE o.src END AS src,
  o.dst_gpu AS dstDevice, o.src_gpu AS srcDevice, o.sync AS sync FROM rtl_copy_link AS l CROSS JOIN rtl_copy_op AS o
  LEFT JOIN rtl_s_rtl_hip_call_debug_function_with_args_end AS h ON h.id = l.api_id LEFT JOIN rtl_args AS a ON a.id = h.args
  WHERE o.id = l.op_id AND NOT o.is_fill GROUP BY l.api_id;
-- A copy whose call is not in the file is its own call.
CREATE VIEW rtl_copy_alone AS SELECT o.id AS id, o.process AS process, o.gpuId AS gpuId, o.instance AS instance, o.tid AS tid,
  o.submit_ns AS submit_ns, o.call_end_ns AS call_end_ns, o.begin_ns AS begin_ns, o.end_ns AS end_ns, o.stream AS stream,
  o.bytes AS size, o.width AS width, o.height AS height, o.kind AS kind, o.dst AS dst, o.src AS src, o.dst_gpu AS dstDevice,
  o.src_gpu AS srcDevice, o.sync AS sync FROM rtl_copy_op AS o LEFT JOIN rtl_copy_link AS l ON l.op_id = o.id
  WHERE l.op_id IS NULL AND NOT o.is_fill;
CREATE VIEW rocpd_copyapi AS
  SELECT api_id AS api_ptr_id, stream, size, width, height, kind, dst, src, dstDevice, srcDevice, sync, 0 AS pinned FROM rtl_copy_call
  UNION ALL SELECT id, stream, size, width, height, kind, dst, src, dstDevice, srcDevice, sync, 0 FROM rtl_copy_alone;

-- Tools draw each monitorType of a GPU, and paste values into JSON.
CREATE VIEW rocpd_monitor AS SELECT e.id AS id, 'gpu' AS deviceType,
  CASE WHEN (SELECT value FROM rtl_meta WHERE key = 'gpu') = 'index'
    THEN ifnull((SELECT CAST(m.value AS INTEGER) FROM rtl_tracepoint_metadata AS m
    WHERE m.process = e.process AND m.uid = e.parent_uid AND m.key = 'gpu_index'), e.gpu) ELSE e.gpu END AS deviceId,
  n.string AS monitorType, e.begin_ns AS start, e.end_ns AS "end",
  CASE WHEN e.value = CAST(e.value AS INTEGER) THEN CAST(CAST(e.value AS INTEGER) AS TEXT) ELSE printf('%.15g', e.value) END AS value
  FROM rtl_e_rtl_hsa_counter_interval AS e JOIN rocpd_string AS n ON n.id = e.name_id
  WHERE NOT e.flags & 2 AND typeof(e.value) = 'real';
CREATE VIEW rocpd_counter AS SELECT e.id AS id, e.value AS value, d.id AS op_id, ifnull(e.name_id, 1) AS name_id
  FROM rtl_e_rtl_hsa_counter_value AS e JOIN (SELECT id, process, instance FROM rtl_e_rtl_hsa_task_end LIMIT -1) AS d
  ON d.process = e.process AND d.instance = e.instance WHERE NOT e.flags & 2 AND typeof(e.value) = 'real';
CREATE VIEW rocpd_stackframe AS SELECT 0 AS id, 0 AS api_ptr_id, 0 AS depth, 0 AS name_id WHERE 0;

-- ---- RPD's views

CREATE VIEW api AS
  SELECT a.id AS id, a.pid AS pid, a.tid AS tid, a.begin_ns AS start, a.end_ns AS "end", CASE a.domain_id WHEN 5 THEN 'hip' ELSE 'hsa' END AS domain,
    cat.string AS category, nam.string AS apiName, ifnull(arg.string, '') AS args FROM rtl_call_all AS a
    JOIN rocpd_string AS cat ON cat.id = a.category_id JOIN rocpd_string AS nam ON nam.id = a.function_id
    LEFT JOIN rtl_args AS arg ON arg.id = a.args_id
  UNION ALL SELECT a.id, a.pid, a.tid, a.start, a."end", dom.string, cat.string, nam.string, arg.string FROM rocpd_api_other AS a
    JOIN rocpd_string AS dom ON dom.id = a.domain_id JOIN rocpd_string AS cat ON cat.id = a.category_id
    JOIN rocpd_string AS nam ON nam.id = a.apiName_id JOIN rocpd_string AS arg ON arg.id = a.args_id
  UNION ALL SELECT p.api_id, p.pid, p.pid, p.first_ns, p.first_ns, 'rtl', '', 'Process', u.string FROM rtl_process AS p
    JOIN rocpd_ustring AS u ON u.id = -p.process
  UNION ALL SELECT p.end_api_id, p.pid, p.pid, p.last_ns, p.last_ns, 'rtl', '', 'ProcessEnd', u.string FROM rtl_process AS p
    JOIN rocpd_ustring AS u ON u.id = -p.process;

CREATE VIEW napi AS SELECT id, pid / (SELECT value FROM rocpd_metadata WHERE tag = 'pid_stride') AS node,
  pid % (SELECT value FROM rocpd_metadata WHERE tag = 'pid_stride') AS pid,
  tid % (SELECT value FROM rocpd_metadata WHERE tag = 'pid_stride') AS tid, start, "end", domain, category, apiName, args FROM api;
CREATE VIEW op AS SELECT o.id AS id, o.gpuId AS gpuId, o.queueId AS queueId, o.sequenceId AS sequenceId, o.start AS start, o."end" AS "end",
  des.string AS description, typ.string AS opType FROM rocpd_op AS o
  JOIN rocpd_string AS des ON des.id = o.description_id JOIN rocpd_string AS typ ON typ.id = o.opType_id;
CREATE VIEW nop AS SELECT id, gpuId / (SELECT value FROM rocpd_metadata WHERE tag = 'gpu_stride') AS node,
  gpuId % (SELECT value FROM rocpd_metadata WHERE tag = 'gpu_stride') AS gpuId,
  queueId % (SELECT value FROM rocpd_metadata WHERE tag = 'gpu_stride') AS queueId, sequenceId, start, "end", description, opType FROM op;
CREATE VIEW busy AS SELECT gpuId, sum(ns) AS GpuTime, max(max(last)) OVER () - min(min(first)) OVER () AS WallTime,
  sum(ns) * 1.0 / (max(max(last)) OVER () - min(min(first)) OVER ()) AS Busy
  FROM (SELECT gpuId, sum(end_ns - begin_ns) AS ns, min(begin_ns) AS first, max(end_ns) AS last FROM rtl_kernel_op GROUP BY gpuId
    UNION ALL SELECT gpuId, sum(end_ns - begin_ns), min(begin_ns), max(end_ns) FROM rtl_copy_op GROUP BY gpuId) GROUP BY gpuId;
-- An operation without a description counts under the name of its type.
CREATE VIEW top AS SELECT s.string AS Name, sum(t.calls) AS TotalCalls, sum(t.ns) / 1000 AS TotalDuration_us,
  (sum(t.ns) / sum(t.calls)) / 1000.0 AS Ave_us, sum(t.ns) * 100.0 / sum(sum(t.ns)) OVER () AS Percentage
  FROM (SELECT name_id, count(*) AS calls, sum(end_ns - begin_ns) AS ns FROM rtl_kernel_op GROUP BY name_id
    UNION ALL SELECT type_id, count(*), sum(end_ns - begin_ns) FROM rtl_copy_op GROUP BY type_id) AS t
  JOIN rocpd_string AS s ON s.id = t.name_id GROUP BY s.string ORDER BY TotalDuration_us DESC;
-- Each kernel with what is known of its launch.
CREATE VIEW kernel AS SELECT o.id AS id, o.gpuId AS gpuId, o.queueId AS queueId, o.packet_id AS sequenceId, o.begin_ns AS start,
  o.end_ns AS "end", o.end_ns - o.begin_ns AS duration,
  CASE WHEN c.id NOT NULL AND o.stream THEN printf('0x%x', o.stream) ELSE '' END AS stream, o.grid_x AS gridX, o.grid_y AS gridY,
  o.grid_z AS gridZ, o.workgroup_x AS workgroupX, o.workgroup_y AS workgroupY, o.workgroup_z AS workgroupZ,
  o.lds_bytes AS groupSegmentSize, o.scratch_bytes AS privateSegmentSize, n.string AS kernelName
  FROM rtl_kernel_op AS o LEFT JOIN rtl_call_number AS c ON c.process = o.process AND c.correlation = o.correlation
  LEFT JOIN rtl_tracepoint AS t ON t.process = c.process AND t.uid = c.uid JOIN rocpd_string AS n ON n.id = o.name_id
  WHERE t.category = 8 OR (c.id IS NULL);
-- Copies with the times of the call, and with those of the GPU.
CREATE VIEW copy AS
  SELECT c.api_id AS id, p.pid AS pid, c.tid AS tid, c.begin_ns AS start, c.end_ns AS "end", nam.string AS apiName, c.stream AS stream,
    c.size AS size, c.width AS width, c.height AS height, c.kind AS kind, c.dst AS dst, c.src AS src, c.dstDevice AS dstDevice,
    c.srcDevice AS srcDevice, c.sync AS sync, 0 AS pinned FROM rtl_copy_call AS c LEFT JOIN rtl_process AS p ON p.process = c.process
    JOIN rocpd_string AS nam ON nam.id = ifnull(c.function_id, 1)
  UNION ALL SELECT c.id, p.pid, c.tid, c.submit_ns, c.call_end_ns, 'MemoryCopy', c.stream, c.size, c.width, c.height, c.kind, c.dst,
    c.src, c.dstDevice, c.srcDevice, c.sync, 0 FROM rtl_copy_alone AS c LEFT JOIN rtl_process AS p ON p.process = c.process;
CREATE VIEW copyop AS
  SELECT o.id AS id, o.gpuId AS gpuId, 0 AS queueId, o.instance AS sequenceId, o.begin_ns AS start, o.end_ns AS "end",
    o.end_ns - o.begin_ns AS duration, c.stream AS stream, c.size AS size, c.width AS width, c.height AS height, c.kind AS kind,
    c.dst AS dst, c.src AS src, c.dstDevice AS dstDevice, c.srcDevice AS srcDevice, c.sync AS sync, 0 AS pinned,
    nam.string AS apiName FROM rtl_copy_link AS l JOIN rtl_copy_call AS c ON c.api_id = l.api_id JOIN rtl_copy_op AS o ON o.id = l.op_id
    JOIN rocpd_string AS nam ON nam.id = ifnull(c.function_id, 1)
  UNION ALL SELECT o.id, o.gpuId, o.queueId, o.packet_id, o.begin_ns, o.end_ns, o.end_ns - o.begin_ns, c.stream, c.size, c.width,
    c.height, c.kind, c.dst, c.src, c.dstDevice, c.srcDevice, c.sync, 0, nam.string FROM rtl_kernel_op AS o
    CROSS JOIN rtl_copy_call AS c JOIN rocpd_string AS nam ON nam.id = ifnull(c.function_id, 1)
    WHERE c.process = o.process AND c.correlation = o.correlation
  UNION ALL SELECT id, gpuId, 0, instance, begin_ns, end_ns, end_ns - begin_ns, stream, size, width, height, kind, dst, src, dstDevice,
    srcDevice, sync, 0, 'MemoryCopy' FROM rtl_copy_alone;
CREATE VIEW stackframe AS SELECT 0 AS id, '' AS string, 0 AS depth, '' AS "string:1" WHERE 0;
CREATE VIEW counter AS SELECT c.op_id AS op_id, ker.string AS kernelName, nam.string AS counterName, c.value AS value
  FROM rocpd_counter AS c JOIN rtl_kernel_op AS o ON o.id = c.op_id JOIN rocpd_string AS ker ON ker.id = o.name_id
  JOIN rocpd_string AS nam ON nam.id = c.name_id;
CREATE VIEW counter_summary AS SELECT kernelName, counterName, count(*) AS dispatches, avg(value) AS avg, min(value) AS min,
  max(value) AS max FROM counter GROUP BY kernelName, counterName;

-- ---- rtl's tables of calls, and views with names and times

CREATE VIEW rtl_work_count AS SELECT process, correlation, count(*) AS work FROM (SELECT process, correlation FROM rtl_kernel_op
  UNION ALL SELECT process, correlation FROM rtl_copy_op) WHERE correlation GROUP BY process, correlation;

CREATE VIEW rtl_call AS SELECT id AS api_id, process, uid, parent_uid, instance, correlation, status_id, result, parent, stream, device,
  flags, CASE WHEN domain_id = 5 THEN max(work, ifnull((SELECT w.work FROM rtl_work_count AS w WHERE w.process = c.process
    AND w.correlation = c.correlation), 0)) END AS work FROM rtl_call_all AS c;

CREATE VIEW rtl_calls AS SELECT c.id AS api_id, c.pid AS pid, c.tid AS tid, CASE c.domain_id WHEN 5 THEN 'hip' ELSE 'hsa' END AS domain, nullif(cat.string, '') AS category,
  nam.string AS function, c.begin_ns AS begin_ns, c.end_ns AS end_ns, c.end_ns - c.begin_ns AS duration_ns,
  ifnull(arg.string, '') AS args, nullif(sta.string, '') AS status, CASE WHEN c.flags & 4 THEN NULL ELSE c.result END AS result,
  c.process AS process, c.uid AS uid, c.parent_uid AS parent_uid, c.instance AS instance, c.correlation AS correlation,
  c.parent AS parent, c.stream AS stream, c.device AS device, c.flags & 1 AS failed,
  CASE WHEN c.domain_id = 5 THEN max(c.work, ifnull((SELECT w.work FROM rtl_work_count AS w WHERE w.process = c.process
    AND w.correlation = c.correlation), 0)) END AS work, ifnull(c.flags >> 2 & 1, 0) AS unfinished
  FROM rtl_call_all AS c JOIN rocpd_string AS cat ON cat.id = c.category_id
  JOIN rocpd_string AS nam ON nam.id = c.function_id JOIN rocpd_string AS sta ON sta.id = c.status_id
  LEFT JOIN rtl_args AS arg ON arg.id = c.args_id;

CREATE VIEW rtl_dispatches AS SELECT d.id AS op_id, p.pid AS pid, d.tid AS tid, d.gpu AS gpu, d.queue AS queue,
  d.packet_id AS packet_id, s.string AS kernel, d.mangled AS mangled, d.submit_ns AS submit_ns, d.begin_ns AS begin_ns,
  d.end_ns AS end_ns, max(d.end_ns - d.begin_ns, 0) AS duration_ns, max(d.begin_ns - nullif(d.submit_ns, 0), 0) AS wait_ns,
  d.grid_x AS grid_x, d.grid_y AS grid_y, d.grid_z AS grid_z, d.workgroup_x AS workgroup_x, d.workgroup_y AS workgroup_y,
  d.workgroup_z AS workgroup_z, d.lds_bytes AS lds_bytes, d.scratch_bytes AS scratch_bytes, d.correlation AS correlation,
  d.process AS process, d.uid AS uid, d.flags AS flags, d.call_ns AS call_ns, max(d.begin_ns - d.call_ns, 0) AS launch_ns,
  d.stream AS stream, d.range AS range FROM rtl_kernel_op AS d
  JOIN rocpd_string AS s ON s.id = d.name_id LEFT JOIN rtl_process AS p ON p.process = d.process;

CREATE VIEW rtl_copies AS SELECT c.id AS id, c.op_id AS op_id, p.pid AS pid,
  c.tid AS tid, CASE c.direction WHEN 0 THEN 'fill' WHEN 1 THEN 'host to device'
  WHEN 2 THEN 'device to host' WHEN 3 THEN 'device to device' WHEN 4 THEN 'peer to peer' WHEN 5 THEN 'host to host' END AS direction,
  CASE c.kind WHEN 1 THEN 'linear' WHEN 2 THEN 'rect' WHEN 3 THEN 'batch' WHEN 4 THEN 'fill' END AS kind,
  CASE WHEN c.flags & 16 THEN 'refused' WHEN c.flags & 4 THEN 'sdma' WHEN c.gpu = 0 THEN 'thread' WHEN c.flags & 8 THEN 'kernel' END AS done_by,
  c.gpu AS gpu, c.src_gpu AS src_gpu, c.dst_gpu AS dst_gpu, c.bytes AS bytes, c.submit_ns AS submit_ns, c.begin_ns AS begin_ns,
  c.end_ns AS end_ns, max(c.end_ns - c.begin_ns, 0) AS duration_ns, max(c.begin_ns - nullif(c.submit_ns, 0), 0) AS wait_ns,
  c.bytes * 1.0 / nullif(max(c.end_ns - c.begin_ns, 0), 0) AS gb_per_s, c.src AS src, c.dst AS dst, c.extent_x AS extent_x,
  c.extent_y AS extent_y, c.extent_z AS extent_z, c.parts AS parts, c.engine AS engine, c.signal AS signal,
  c.correlation AS correlation, c.process AS process, c.uid AS uid, c.flags AS flags, c.status AS status, c.call_ns AS call_ns,
  max(c.begin_ns - c.call_ns, 0) AS launch_ns, c.stream AS stream, c.range AS range
  FROM rtl_copy AS c LEFT JOIN rtl_process AS p ON p.process = c.process;

-- What each call made a GPU do, in the order in which it was submitted.
CREATE VIEW rtl_api_ops AS SELECT w.api_id AS api_id, fun.string AS function, w.op_id AS op_id,
  row_number() OVER (PARTITION BY w.api_id ORDER BY w.submit_ns, w.packet_id, w.instance) AS place, typ.string AS type,
  des.string AS name, w.submit_ns AS submit_ns, w.begin_ns AS begin_ns, w.end_ns AS end_ns, w.process AS process,
  w.correlation AS correlation FROM
  (SELECT ifnull(c.id, o.id) AS api_id, CASE WHEN c.id IS NULL THEN 3 ELSE ifnull(c.function_id, 1) END AS function_id, o.id AS op_id,
      o.process AS process, o.correlation AS correlation, o.submit_ns AS submit_ns, o.packet_id AS packet_id, o.instance AS instance,
      2 AS type_id, o.name_id AS name_id, o.begin_ns AS begin_ns, o.end_ns AS end_ns FROM rtl_kernel_op AS o
      LEFT JOIN (SELECT id, process, correlation, function_id FROM rtl_hip_call LIMIT -1) AS c
        ON c.process = o.process AND c.correlation = o.correlation
      UNION ALL SELECT ifnull(l.api_id, o.id), CASE WHEN l.api_id IS NULL THEN 12 + o.is_fill ELSE ifnull(l.function_id, 1) END, o.id,
      o.process, o.correlation, o.submit_ns, 0, o.instance, o.type_id, 1, o.begin_ns, o.end_ns FROM rtl_copy_op AS o
      LEFT JOIN rtl_copy_link AS l ON l.op_id = o.id
      ) AS w
  JOIN rocpd_string AS fun ON fun.id = w.function_id JOIN rocpd_string AS typ ON typ.id = w.type_id
  JOIN rocpd_string AS des ON des.id = w.name_id;

CREATE VIEW rtl_spans AS SELECT s.api_id AS api_id, p.pid AS pid, s.tid AS tid, s.type AS type,
  CASE nam.string WHEN 'UserMarker' THEN arg.string ELSE nam.string END AS name, arg.string AS text, s.begin_ns AS begin_ns,
  s.end_ns AS end_ns, s.end_ns - s.begin_ns AS duration_ns, s.process AS process, s.object AS object, s.parent AS parent,
  s.uid AS uid, s.instance AS instance, s.result AS result, t.name AS stream, s.unfinished AS unfinished FROM rtl_span AS s
  LEFT JOIN rtl_process AS p ON p.process = s.process JOIN rocpd_string AS nam ON nam.id = s.name_id
  JOIN rocpd_string AS arg ON arg.id = ifnull(s.args_id, 1) LEFT JOIN rtl_stream AS t ON t.stream = s.stream;

-- Of several ranks where each was when it ended: those that were alike, and about as long, in one row, the odd ones first.
CREATE VIEW rtl_ranks AS WITH open AS (SELECT process, function AS name, duration_ns AS ns, 0 AS is_range FROM rtl_calls WHERE unfinished
    UNION ALL SELECT process, 'range ' || name, duration_ns, 1 FROM rtl_markers WHERE unfinished),
  at AS (SELECT process, name, ns, row_number() OVER (PARTITION BY process ORDER BY is_range, ns DESC) AS place FROM open),
  kernel AS (SELECT process, kernel, queue, max(age_ns) AS age_ns FROM rtl_under_way WHERE bytes IS NULL GROUP BY process),
  each AS (SELECT p.rank AS rank, at.name AS name, k.kernel AS kernel, k.queue AS queue, ifnull(at.ns, k.age_ns) AS ns
    FROM rtl_process AS p LEFT JOIN at ON at.process = p.process AND at.place = 1 LEFT JOIN kernel AS k ON k.process = p.process
    WHERE p.rank NOT NULL AND (at.process NOT NULL OR k.process NOT NULL) AND (SELECT count(DISTINCT rank) FROM rtl_process) > 1),
  was AS (SELECT *, ns + 1000000000 > max(ns) OVER () / 2 AS long FROM each),
  placed AS (SELECT *, rank - row_number() OVER (PARTITION BY name, kernel, long ORDER BY rank) AS row FROM was),
  neighbours AS (SELECT name, kernel, long, min(rank) || CASE WHEN count(*) > 1 THEN '-' || max(rank) ELSE '' END AS ranks, count(*) AS count,
      max(ns) AS ns, CASE WHEN min(queue) = max(queue) THEN min(queue) END AS queue FROM placed GROUP BY name, kernel, long, row ORDER BY min(rank))
SELECT printf('%s %s had been %s for %.1f s', CASE sum(count) WHEN 1 THEN 'rank' ELSE 'ranks' END, group_concat(ranks, ', '),
    ifnull('in ' || name, 'in no call'), max(ns) / 1e9) || ifnull(' behind kernel ' || kernel, '')
    || CASE WHEN count(*) = 1 AND queue THEN printf(' (queue %d)', queue) ELSE '' END AS line,
  group_concat(ranks, ', ') AS ranks, name AS open, kernel, max(ns) AS age_ns FROM neighbours GROUP BY name, kernel, long
  ORDER BY sum(count), 1;
