-- SPDX-License-Identifier: MIT
-- What the rows of convert_rows.sql refer to. A kernel's `code` is the hash of its code object; an agent's `place` is among its kind, from
-- 0; the agent in c_host stands for the processors; c_pmc are counters.

CREATE TEMP TABLE c_seen (process, uid INTEGER, name_id, gpu, queue, stream, tid, object, kernels, PRIMARY KEY (process, uid, name_id,
    gpu, queue, stream, tid));
INSERT INTO c_seen SELECT process, uid, name_id, gpu, queue, stream, tid, max(kernel_object), count(*) FROM c_dispatch
  WHERE id BETWEEN :from AND :to GROUP BY 1, 2, 3, 4, 5, 6, 7
  ON CONFLICT DO UPDATE SET kernels = kernels + excluded.kernels, object = max(object, excluded.object);
CREATE TEMP TABLE c_kernel AS SELECT row_number() OVER () AS id, s.process, s.uid, s.name_id, n.string AS name, ifnull(t.name,
    n.string) AS symbol, m.code, ifnull(s.object, 0) AS object, ifnull(m.vgprs, 0) AS vgprs, ifnull(m.agprs, 0) AS agprs,
    ifnull(m.sgprs, 0) AS sgprs, ifnull(m.lds_bytes, 0) AS lds_bytes, ifnull(m.scratch_bytes, 0) AS scratch_bytes,
    ifnull(m.kernarg_bytes, 0) AS kernarg_bytes
  FROM (SELECT process, uid, name_id, max(object) AS object FROM c_seen GROUP BY 1, 2, 3) AS s
  JOIN i.rocpd_string AS n ON n.id = s.name_id LEFT JOIN i.rtl_tracepoint AS t ON t.process = s.process AND t.uid = s.uid
  LEFT JOIN (SELECT process, uid, max(CASE key WHEN 'code_object' THEN value END) AS code, max(CASE key WHEN 'vgprs' THEN
    CAST(value AS INTEGER) END) AS vgprs, max(CASE key WHEN 'agprs' THEN CAST(value AS INTEGER) END) AS agprs, max(CASE key WHEN
    'sgprs' THEN CAST(value AS INTEGER) END) AS sgprs, max(CASE key WHEN 'group_segment_bytes' THEN CAST(value AS INTEGER) END) AS
    lds_bytes, max(CASE key WHEN 'private_segment_bytes' THEN CAST(value AS INTEGER) END) AS scratch_bytes, max(CASE key WHEN
    'kernarg_segment_bytes' THEN CAST(value AS INTEGER) END) AS kernarg_bytes FROM i.rtl_tracepoint_metadata GROUP BY process,
    uid) AS m ON m.process = s.process AND m.uid = s.uid;
CREATE UNIQUE INDEX temp.c_kernel_of ON c_kernel (process, uid, name_id);
CREATE TEMP TABLE c_agent (process, id, is_gpu, place, name, product, uuid, bus_id, compute_units, wavefront_size, clock_mhz,
    memory_bytes, PRIMARY KEY (process, id));
INSERT OR IGNORE INTO c_agent
  SELECT t.process, m.node, 1, 0, t.name, ifnull(m.product, ''), ifnull(m.uuid, ''), ifnull(m.bus_id, ''), ifnull(m.compute_units,
    0), ifnull(m.wavefront_size, 0), ifnull(m.clock_mhz, 0), ifnull(m.memory_bytes, 0)
  FROM i.rtl_tracepoint AS t JOIN c_process AS c USING (process)
  JOIN (SELECT process, uid, max(CASE key WHEN 'node' THEN CAST(value AS INTEGER) END) AS node, max(CASE key WHEN 'product' THEN
    value END) AS product, max(CASE key WHEN 'uuid' THEN value END) AS uuid, max(CASE key WHEN 'bus_id' THEN value END) AS bus_id,
    max(CASE key WHEN 'compute_units' THEN CAST(value AS INTEGER) END) AS compute_units, max(CASE key WHEN 'wavefront_size' THEN
    CAST(value AS INTEGER) END) AS wavefront_size, max(CASE key WHEN 'clock_mhz' THEN CAST(value AS INTEGER) END) AS clock_mhz,
    max(CASE key WHEN 'memory_bytes' THEN CAST(value AS INTEGER) END) AS memory_bytes FROM i.rtl_tracepoint_metadata GROUP BY
    process, uid) AS m ON m.process = t.process AND m.uid = t.uid
  WHERE t.kind = 'agent' AND m.node IS NOT NULL;
INSERT OR IGNORE INTO c_agent SELECT DISTINCT process, gpu, 1, 0, 'gpu', '', '', '', 0, 0, 0, 0 FROM c_seen;
INSERT OR IGNORE INTO c_agent SELECT DISTINCT process, gpu, 1, 0, 'gpu', '', '', '', 0, 0, 0, 0
  FROM (SELECT process, src_gpu AS gpu FROM c_copy UNION SELECT process, dst_gpu FROM c_copy) WHERE gpu;
CREATE TEMP TABLE c_host AS SELECT process, (SELECT CASE WHEN sum(id = 0) THEN max(id) + 1 ELSE 0 END FROM c_agent AS a WHERE
    a.process = c.process) AS agent
  FROM c_process AS c;
UPDATE c_host SET agent = 0 WHERE agent IS NULL;
INSERT OR IGNORE INTO c_agent SELECT process, agent, 0, 0, 'CPU', '', '', '', 0, 0, 0, 0 FROM c_host;
INSERT OR IGNORE INTO c_agent
  SELECT DISTINCT process, node, on_gpu, 0, CASE WHEN on_gpu THEN 'gpu' ELSE 'CPU' END, '', '', '', 0, 0, 0, 0 FROM c_mem;
UPDATE c_agent SET place = (SELECT count(*) FROM c_agent AS o WHERE o.process = c_agent.process AND o.is_gpu = c_agent.is_gpu AND
    o.id < c_agent.id);
CREATE TEMP TABLE c_stream (process, stream, number, PRIMARY KEY (process, stream));
INSERT OR IGNORE INTO c_stream SELECT process, 0, 0 FROM c_process;
INSERT OR IGNORE INTO c_stream SELECT DISTINCT process, stream, 0 FROM c_seen;
INSERT OR IGNORE INTO c_stream SELECT DISTINCT process, stream, 0 FROM c_copy;
UPDATE c_stream SET number = (SELECT count(*) FROM c_stream AS o WHERE o.process = c_stream.process AND o.stream AND o.stream <=
    c_stream.stream)
  WHERE stream;
CREATE TEMP TABLE c_pmc (id INTEGER PRIMARY KEY, process, gpu, name_id, name, derived, unit, block, description, UNIQUE (process,
    gpu, name_id));
INSERT OR IGNORE INTO c_pmc (process, gpu, name_id, name, derived, unit, block, description)
  SELECT q.process, q.gpu, q.name_id, n.string, q.derived, u.value, b.value, d.value
  FROM (SELECT DISTINCT process, gpu, name_id, uid, flags & 1 AS derived FROM i.rtl_counter) AS q
  JOIN i.rocpd_string AS n ON n.id = q.name_id
  LEFT JOIN i.rtl_tracepoint_metadata AS u ON u.process = q.process AND u.uid = q.uid AND u.key = 'unit'
  LEFT JOIN i.rtl_tracepoint_metadata AS b ON b.process = q.process AND b.uid = q.uid AND b.key = 'block'
  LEFT JOIN i.rtl_tracepoint_metadata AS d ON d.process = q.process AND d.uid = q.uid AND d.key = 'description';
CREATE TEMP TABLE c_queue (process, queue, PRIMARY KEY (process, queue));
INSERT OR IGNORE INTO c_queue SELECT process, 0 FROM c_process;
INSERT OR IGNORE INTO c_queue SELECT DISTINCT process, queue FROM c_seen;
SELECT max(id) FROM i.rocpd_op;
