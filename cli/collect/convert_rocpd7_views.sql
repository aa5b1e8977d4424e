-- SPDX-License-Identifier: MIT
-- Behind the tables of all processes: rows that are statements, of views that join the tables of a name; then the schema's views.

SELECT 'CREATE VIEW o."' || base || '" AS ' || group_concat('SELECT * FROM "' || name || '"', ' UNION ALL ')
  FROM (SELECT name, substr(name, 1, length(name) - 37) AS base FROM o.sqlite_master WHERE type = 'table' AND name GLOB 'rocpd_*'
    ORDER BY rowid)
  GROUP BY base;

CREATE VIEW o.code_objects AS SELECT c.id, c.guid, c.nid, p.pid, a.absolute_index AS agent_abs_index, c.uri, c.load_base,
    c.load_size, c.load_delta, c.storage_type AS storage_type_str, json_extract(c.extdata, '$.size') AS code_object_size,
    json_extract(c.extdata, '$.storage_type') AS storage_type, json_extract(c.extdata, '$.memory_base') AS memory_base,
    json_extract(c.extdata, '$.memory_size') AS memory_size
  FROM rocpd_info_code_object AS c JOIN rocpd_info_agent AS a ON a.id = c.agent_id AND a.guid = c.guid
  JOIN rocpd_info_process AS p ON p.id = c.pid AND p.guid = c.guid;
CREATE VIEW o.kernel_symbols AS SELECT k.id, k.guid, k.nid, p.pid, k.code_object_id, k.kernel_name, k.display_name,
    k.kernel_object, k.kernarg_segment_size, k.kernarg_segment_alignment, k.group_segment_size, k.private_segment_size,
    k.sgpr_count, k.arch_vgpr_count, k.accum_vgpr_count, json_extract(k.extdata, '$.size') AS kernel_symbol_size,
    json_extract(k.extdata, '$.kernel_id') AS kernel_id, json_extract(k.extdata, '$.kernel_code_entry_byte_offset') AS
    kernel_code_entry_byte_offset, json_extract(k.extdata, '$.formatted_kernel_name') AS formatted_kernel_name,
    json_extract(k.extdata, '$.demangled_kernel_name') AS demangled_kernel_name, json_extract(k.extdata,
    '$.truncated_kernel_name') AS truncated_kernel_name, json_extract(k.extdata, '$.kernel_address.handle') AS kernel_address
  FROM rocpd_info_kernel_symbol AS k JOIN rocpd_info_process AS p ON p.id = k.pid AND p.guid = k.guid;
CREATE VIEW o.processes AS SELECT n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release, n.version AS
    system_version, p.guid, p.ppid, p.pid, p.init, p.start, p."end", p.fini, p.command
  FROM rocpd_info_process AS p JOIN rocpd_info_node AS n ON n.id = p.nid AND n.guid = p.guid;
CREATE VIEW o.threads AS SELECT n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release, n.version AS
    system_version, p.guid, p.ppid, p.pid, h.tid, h.start, h."end", h.name
  FROM rocpd_info_thread AS h JOIN rocpd_info_process AS p ON p.id = h.pid AND p.guid = h.guid
  JOIN rocpd_info_node AS n ON n.id = h.nid AND n.guid = h.guid;
CREATE VIEW o.regions AS SELECT r.id, r.guid, (SELECT t.string FROM rocpd_string AS t WHERE t.id = e.category_id AND t.guid =
    e.guid) AS category, s.string AS name, r.nid, p.pid, h.tid, r.start AS start, r."end" AS "end", r."end" - r.start AS duration,
    r.event_id, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id, e.extdata, e.call_stack, e.line_info
  FROM rocpd_region AS r JOIN rocpd_event AS e ON e.id = r.event_id AND e.guid = r.guid
  JOIN rocpd_string AS s ON s.id = r.name_id AND s.guid = r.guid
  JOIN rocpd_info_process AS p ON p.id = r.pid AND p.guid = r.guid
  JOIN rocpd_info_thread AS h ON h.id = r.tid AND h.guid = r.guid;
CREATE VIEW o.region_args AS SELECT r.id, r.guid, r.nid, p.pid, a.type, a.name, a.value FROM rocpd_region AS r
  JOIN rocpd_event AS e ON e.id = r.event_id AND e.guid = r.guid JOIN rocpd_arg AS a ON a.event_id = e.id AND a.guid = r.guid
  JOIN rocpd_info_process AS p ON p.id = r.pid AND p.guid = r.guid;
CREATE VIEW o.samples AS SELECT r.id, r.guid, (SELECT t.string FROM rocpd_string AS t WHERE t.id = e.category_id AND t.guid =
    e.guid) AS category, (SELECT t.string FROM rocpd_string AS t WHERE t.id = k.name_id AND t.guid = k.guid) AS name, k.nid,
    p.pid, h.tid, r.timestamp, r.event_id, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id, e.extdata, e.call_stack,
    e.line_info
  FROM rocpd_sample AS r JOIN rocpd_track AS k ON k.id = r.track_id AND k.guid = r.guid
  JOIN rocpd_event AS e ON e.id = r.event_id AND e.guid = r.guid
  JOIN rocpd_info_process AS p ON p.id = k.pid AND p.guid = k.guid
  JOIN rocpd_info_thread AS h ON h.id = k.tid AND h.guid = k.guid;
CREATE VIEW o.sample_regions AS SELECT id, guid, category, name, nid, pid, tid, timestamp AS start, timestamp AS "end", 0 AS
    duration, event_id, stack_id, parent_stack_id, corr_id, extdata, call_stack, line_info
  FROM samples;
CREATE VIEW o.regions_and_samples AS SELECT * FROM regions UNION ALL SELECT * FROM sample_regions;
CREATE VIEW o.kernels AS SELECT d.id, d.guid, h.tid, (SELECT t.string FROM rocpd_string AS t WHERE t.id = e.category_id AND t.guid
    = e.guid) AS category, r.string AS region, k.display_name AS name, d.nid, p.pid, a.absolute_index AS agent_abs_index,
    a.logical_index AS agent_log_index, a.type_index AS agent_type_index, a.type AS agent_type, k.code_object_id, d.kernel_id,
    d.dispatch_id, d.stream_id, d.queue_id, d.graph_exec_id, d.graph_node_id, q.name AS queue, s.name AS stream, d.start AS start, d."end" AS "end", d."end" -
    d.start AS duration, d.grid_size_x AS grid_x, d.grid_size_y AS grid_y, d.grid_size_z AS grid_z, d.workgroup_size_x AS
    workgroup_x, d.workgroup_size_y AS workgroup_y, d.workgroup_size_z AS workgroup_z, d.group_segment_size AS lds_size,
    d.private_segment_size AS scratch_size, k.arch_vgpr_count AS vgpr_count, k.accum_vgpr_count, k.sgpr_count,
    k.group_segment_size AS static_lds_size, k.private_segment_size AS static_scratch_size, e.stack_id, e.parent_stack_id,
    e.correlation_id AS corr_id
  FROM rocpd_kernel_dispatch AS d JOIN rocpd_info_agent AS a ON a.id = d.agent_id AND a.guid = d.guid
  JOIN rocpd_event AS e ON e.id = d.event_id AND e.guid = d.guid
  JOIN rocpd_string AS r ON r.id = d.region_name_id AND r.guid = d.guid
  JOIN rocpd_info_kernel_symbol AS k ON k.id = d.kernel_id AND k.guid = d.guid
  LEFT JOIN rocpd_info_stream AS s ON s.id = d.stream_id AND s.guid = d.guid
  LEFT JOIN rocpd_info_queue AS q ON q.id = d.queue_id AND q.guid = d.guid
  JOIN rocpd_info_process AS p ON p.id = q.pid AND p.guid = q.guid
  JOIN rocpd_info_thread AS h ON h.id = d.tid AND h.guid = d.guid;
CREATE VIEW o.pmc_info AS SELECT c.id, c.guid, c.nid, p.pid, a.absolute_index AS agent_abs_index, c.is_constant, c.is_derived,
    c.name, c.description, c.block, c.expression
  FROM rocpd_info_pmc AS c JOIN rocpd_info_agent AS a ON a.id = c.agent_id AND a.guid = c.guid
  JOIN rocpd_info_process AS p ON p.id = c.pid AND p.guid = c.guid;
CREATE VIEW o.pmc_events AS SELECT v.id, v.guid, v.pmc_id, e.id AS event_id, (SELECT t.string FROM rocpd_string AS t WHERE t.id =
    e.category_id AND t.guid = e.guid) AS category, k.display_name AS name, d.nid, p.pid, d.dispatch_id, d.start AS start, d."end"
    AS "end", d."end" - d.start AS duration, c.name AS counter_name, v.value AS counter_value
  FROM rocpd_pmc_event AS v JOIN rocpd_info_pmc AS c ON c.id = v.pmc_id AND c.guid = v.guid
  JOIN rocpd_event AS e ON e.id = v.event_id AND e.guid = v.guid
  JOIN rocpd_kernel_dispatch AS d ON d.event_id = v.event_id AND d.guid = v.guid
  JOIN rocpd_info_process AS p ON p.id = d.pid AND p.guid = d.guid
  LEFT JOIN rocpd_info_kernel_symbol AS k ON k.id = d.kernel_id AND k.guid = d.guid;
CREATE VIEW o.events_args AS SELECT e.id AS event_id, (SELECT t.string FROM rocpd_string AS t WHERE t.id = e.category_id AND
    t.guid = e.guid) AS category, e.stack_id, e.parent_stack_id, e.correlation_id, a.position AS arg_position, a.type AS arg_type,
    a.name AS arg_name, a.value AS arg_value, e.call_stack, e.line_info, a.extdata
  FROM rocpd_event AS e JOIN rocpd_arg AS a ON a.event_id = e.id AND a.guid = e.guid;
CREATE VIEW o.stream_args AS SELECT a.id AS argument_id, a.event_id, a.position AS arg_position, a.type AS arg_type, a.value AS
    arg_value, json_extract(a.extdata, '$.stream_id') AS stream_id, s.nid, p.pid, s.name AS stream_name, s.extdata
  FROM rocpd_arg AS a JOIN rocpd_info_stream AS s ON s.id = json_extract(a.extdata, '$.stream_id') AND s.guid = a.guid
  JOIN rocpd_info_process AS p ON p.id = s.pid AND p.guid = s.guid WHERE a.name = 'stream';
CREATE VIEW o.memory_copies AS SELECT c.id, c.guid, (SELECT t.string FROM rocpd_string AS t WHERE t.id = e.category_id AND t.guid
    = e.guid) AS category, c.nid, p.pid, h.tid, c.start AS start, c."end" AS "end", c."end" - c.start AS duration, n.string AS
    name, r.string AS region_name, c.stream_id, c.queue_id, c.graph_exec_id, c.graph_node_id, s.name AS stream_name, q.name AS queue_name, c.size, t.name AS
    dst_device, t.absolute_index AS dst_agent_abs_index, t.logical_index AS dst_agent_log_index, t.type_index AS
    dst_agent_type_index, t.type AS dst_agent_type, c.dst_address, f.name AS src_device, f.absolute_index AS src_agent_abs_index,
    f.logical_index AS src_agent_log_index, f.type_index AS src_agent_type_index, f.type AS src_agent_type, c.src_address,
    e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id
  FROM rocpd_memory_copy AS c JOIN rocpd_string AS n ON n.id = c.name_id AND n.guid = c.guid
  LEFT JOIN rocpd_string AS r ON r.id = c.region_name_id AND r.guid = c.guid
  JOIN rocpd_info_agent AS t ON t.id = c.dst_agent_id AND t.guid = c.guid
  JOIN rocpd_info_agent AS f ON f.id = c.src_agent_id AND f.guid = c.guid
  LEFT JOIN rocpd_info_queue AS q ON q.id = c.queue_id AND q.guid = c.guid
  LEFT JOIN rocpd_info_stream AS s ON s.id = c.stream_id AND s.guid = c.guid
  JOIN rocpd_event AS e ON e.id = c.event_id AND e.guid = c.guid
  JOIN rocpd_info_process AS p ON p.id = c.pid AND p.guid = c.guid
  JOIN rocpd_info_thread AS h ON h.id = c.tid AND h.guid = c.guid;
CREATE VIEW o.graph_launches AS SELECT g.id, g.guid, g.nid, p.pid, h.tid, g.agent_id, a.absolute_index AS agent_abs_index,
    a.logical_index AS agent_log_index, a.type_index AS agent_type_index, a.type AS agent_type, g.queue_id, q.name AS queue,
    'Graph Execution' AS name, g.start AS start, g."end" AS "end", g."end" - g.start AS duration, g.graph_exec_id,
    g.kernel_dispatch_count, g.event_id, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id
  FROM rocpd_graph_launch AS g LEFT JOIN rocpd_info_agent AS a ON a.id = g.agent_id AND a.guid = g.guid
  LEFT JOIN rocpd_info_queue AS q ON q.id = g.queue_id AND q.guid = g.guid
  JOIN rocpd_event AS e ON e.id = g.event_id AND e.guid = g.guid
  JOIN rocpd_info_process AS p ON p.id = g.pid AND p.guid = g.guid
  JOIN rocpd_info_thread AS h ON h.id = g.tid AND h.guid = g.guid;
CREATE VIEW o.memory_allocations AS SELECT m.id, m.guid, (SELECT t.string FROM rocpd_string AS t WHERE t.id = e.category_id AND
    t.guid = e.guid) AS category, m.nid, p.pid, h.tid, m.start AS start, m."end" AS "end", m."end" - m.start AS duration, m.type,
    m.level, a.name AS agent_name, a.absolute_index AS agent_abs_index, a.logical_index AS agent_log_index, a.type_index AS
    agent_type_index, a.type AS agent_type, m.address, m.size, m.queue_id, q.name AS queue_name, m.stream_id, s.name AS
    stream_name, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id
  FROM rocpd_memory_allocate AS m LEFT JOIN rocpd_info_agent AS a ON a.id = m.agent_id AND a.guid = m.guid
  LEFT JOIN rocpd_info_queue AS q ON q.id = m.queue_id AND q.guid = m.guid
  LEFT JOIN rocpd_info_stream AS s ON s.id = m.stream_id AND s.guid = m.guid
  JOIN rocpd_event AS e ON e.id = m.event_id AND e.guid = m.guid
  JOIN rocpd_info_process AS p ON p.id = m.pid AND p.guid = m.guid
  JOIN rocpd_info_thread AS h ON h.id = m.tid AND h.guid = m.guid;
CREATE VIEW o.scratch_memory AS SELECT m.id, m.guid, m.nid, p.pid, m.type AS operation, a.name AS agent_name, a.absolute_index AS
    agent_abs_index, a.logical_index AS agent_log_index, a.type_index AS agent_type_index, a.type AS agent_type, m.queue_id,
    h.tid, json_extract(m.extdata, '$.flags') AS alloc_flags, m.start, m."end", m."end" - m.start AS duration, m.size, m.address,
    e.correlation_id, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id, (SELECT t.string FROM rocpd_string AS t WHERE
    t.id = e.category_id AND t.guid = e.guid) AS category, e.extdata AS event_extdata
  FROM rocpd_memory_allocate AS m LEFT JOIN rocpd_info_agent AS a ON a.id = m.agent_id AND a.guid = m.guid
  LEFT JOIN rocpd_info_queue AS q ON q.id = m.queue_id AND q.guid = m.guid
  JOIN rocpd_event AS e ON e.id = m.event_id AND e.guid = m.guid
  JOIN rocpd_info_process AS p ON p.id = m.pid AND p.guid = m.guid
  JOIN rocpd_info_thread AS h ON h.id = m.tid AND h.guid = m.guid WHERE m.level = 'SCRATCH' ORDER BY m.start;
CREATE VIEW o.counters_collection AS SELECT min(v.id) AS id, v.guid, d.dispatch_id, d.kernel_id, e.id AS event_id,
    e.correlation_id, e.stack_id, e.parent_stack_id, p.pid, h.tid, d.agent_id, a.absolute_index AS agent_abs_index,
    a.logical_index AS agent_log_index, a.type_index AS agent_type_index, a.type AS agent_type, d.queue_id, d.grid_size_x,
    d.grid_size_y, d.grid_size_z, d.grid_size_x * d.grid_size_y * d.grid_size_z AS grid_size, k.display_name AS kernel_name,
    (SELECT t.string FROM rocpd_string AS t WHERE t.id = d.region_name_id AND t.guid = d.guid) AS kernel_region,
    d.workgroup_size_x, d.workgroup_size_y, d.workgroup_size_z, d.workgroup_size_x * d.workgroup_size_y * d.workgroup_size_z AS
    workgroup_size, d.group_segment_size AS lds_block_size, d.private_segment_size AS scratch_size, k.arch_vgpr_count AS
    vgpr_count, k.accum_vgpr_count, k.sgpr_count, c.name AS counter_name, c.symbol AS counter_symbol, c.component, c.description,
    c.block, c.expression, c.value_type, c.id AS counter_id, sum(v.value) AS value, d.start, d."end", c.is_constant, c.is_derived,
    d."end" - d.start AS duration, (SELECT t.string FROM rocpd_string AS t WHERE t.id = e.category_id AND t.guid = e.guid) AS
    category, d.nid, e.extdata, k.code_object_id
  FROM rocpd_pmc_event AS v JOIN rocpd_info_pmc AS c ON c.id = v.pmc_id AND c.guid = v.guid
  JOIN rocpd_event AS e ON e.id = v.event_id AND e.guid = v.guid
  JOIN rocpd_kernel_dispatch AS d ON d.event_id = v.event_id AND d.guid = v.guid
  JOIN rocpd_info_agent AS a ON a.id = d.agent_id AND a.guid = d.guid
  JOIN rocpd_info_kernel_symbol AS k ON k.id = d.kernel_id AND k.guid = d.guid
  JOIN rocpd_info_process AS p ON p.id = d.pid AND p.guid = d.guid
  JOIN rocpd_info_thread AS h ON h.id = d.tid AND h.guid = d.guid GROUP BY v.guid, d.dispatch_id, c.name, d.agent_id;
CREATE VIEW o.top_kernels AS SELECT name, count(*) AS total_calls, sum(duration) / 1000.0 AS total_duration, sum(duration) /
    count(*) / 1000.0 AS average, sum(duration) * 100.0 / (SELECT sum(duration) FROM kernels) AS percentage
  FROM kernels GROUP BY name ORDER BY total_duration DESC;
CREATE VIEW o.busy AS SELECT g.agent_id, a.type, g.busy AS GpuTime, w.wall AS WallTime, g.busy * 1.0 / w.wall AS Busy
  FROM (SELECT agent_id, guid, sum("end" - start) AS busy FROM (SELECT agent_id, guid, "end", start FROM rocpd_kernel_dispatch
    UNION ALL SELECT dst_agent_id, guid, "end", start FROM rocpd_memory_copy) GROUP BY agent_id, guid) AS g
  JOIN (SELECT max("end") - min(start) AS wall FROM (SELECT "end", start FROM rocpd_kernel_dispatch UNION ALL SELECT "end", start
    FROM rocpd_memory_copy)) AS w
  JOIN rocpd_info_agent AS a ON a.id = g.agent_id AND a.guid = g.guid;
CREATE VIEW o.top AS WITH operations AS (SELECT name, duration FROM kernels UNION ALL SELECT name, duration FROM memory_copies
    UNION ALL SELECT name, duration FROM regions)
  SELECT name, count(*) AS total_calls, sum(duration) / 1000.0 AS total_duration, sum(duration) / count(*) / 1000.0 AS average,
    sum(duration) * 100.0 / (SELECT sum(duration) FROM operations) AS percentage
  FROM operations GROUP BY name ORDER BY total_duration DESC;
COMMIT;
DETACH o;
