-- SPDX-License-Identifier: MIT
-- What is selected of a trace, `i`. rtl_selected(name, begin, end[, GPU]). The id of a dispatch is that of rocpd_op, of calls, markers and
-- spans that of rocpd_api, of a counter that of rocpd_counter. Stream 0 is the null stream.

PRAGMA temp_store = MEMORY;
CREATE TEMP TABLE c_process AS SELECT process, pid, parent_pid, start_ns, ifnull(end_ns, start_ns) AS end_ns, program, command,
    host_name
  FROM i.rtl_process WHERE rtl_wants_process(pid, program) ORDER BY process;

-- How it ended, and what is not in the trace.
CREATE TEMP VIEW c_fact AS SELECT key AS fact, value FROM i.rtl_meta WHERE key IN ('ended', 'interrupted', 'pauses')
    OR (key = 'state' AND value <> 'complete')
  UNION ALL SELECT printf('lost of %s: %s', stream, cause), CAST(sum(count) AS TEXT) FROM i.rtl_loss GROUP BY stream, cause
  UNION ALL SELECT printf('left out of %s: %s', stream, cause), CAST(sum(count) AS TEXT) FROM i.rtl_left_out GROUP BY stream, cause;
CREATE TEMP VIEW c_dispatch AS SELECT x.id, x.process, x.uid, x.name_id, s.string AS name, x.begin_ns, x.end_ns, x.gpu, x.queue, x.tid,
    x.grid_x, x.grid_y, x.grid_z, x.workgroup_x, x.workgroup_y, x.workgroup_z, x.lds_bytes, x.scratch_bytes,
    ifnull(x.stream, 0) AS stream, x.correlation, x.kernel_object
  FROM i.rtl_kernel_op AS x JOIN i.rocpd_string AS s ON s.id = x.name_id
  WHERE rtl_all() OR (x.process IN (SELECT process FROM c_process) AND rtl_selected(s.string, x.begin_ns, x.end_ns, x.gpu));
CREATE TEMP VIEW c_copy AS SELECT x.id, x.process, rtl_direction(x.direction) AS name, ifnull(x.begin_ns, x.submit_ns) AS
    begin_ns, ifnull(x.end_ns, x.submit_ns) AS end_ns, x.tid, x.bytes, x.src, x.dst, x.src_gpu, x.dst_gpu, ifnull(x.stream, 0) AS
    stream, x.correlation, x.kind, x.direction
  FROM i.rtl_copy AS x
  WHERE rtl_all() OR (x.process IN (SELECT process FROM c_process) AND rtl_selected(rtl_direction(x.direction), ifnull(x.begin_ns,
    x.submit_ns), ifnull(x.end_ns, x.submit_ns), x.gpu));
CREATE TEMP VIEW c_call AS SELECT x.id, x.process, x.uid, x.flags IS NOT NULL AS is_hip, x.function_id AS name_id, s.string AS name,
    x.begin_ns, x.end_ns, x.pid, x.tid, x.instance, x.correlation, ifnull(u.string, '') AS args
  FROM i.rtl_call_all AS x JOIN i.rocpd_string AS s ON s.id = x.function_id LEFT JOIN i.rtl_args AS u ON u.id = x.args_id
  WHERE rtl_all() OR (x.process IN (SELECT process FROM c_process) AND rtl_selected(s.string, x.begin_ns, x.end_ns));
CREATE TEMP VIEW c_marker AS SELECT x.api_id AS id, x.process, x.is_range, x.flags & 2 AS started, u.string AS name, x.begin_ns,
    x.end_ns, p.pid, x.tid, x.instance
  FROM i.rtl_marker_all AS x LEFT JOIN i.rtl_process AS p ON p.process = x.process
  LEFT JOIN i.rocpd_string AS u ON u.id = x.name_id
  WHERE rtl_all() OR (x.process IN (SELECT process FROM c_process) AND rtl_selected(u.string, x.begin_ns, x.end_ns));
CREATE TEMP VIEW c_span AS SELECT x.api_id AS id, x.process, t.name AS stream, x.name_id, s.string AS name, CASE
    s.string WHEN 'UserMarker' THEN ifnull(u.string, '') ELSE s.string END AS shown, u.string AS text, x.begin_ns,
    x.end_ns, x.tid, x.instance, x.correlation
  FROM i.rtl_span AS x JOIN i.rocpd_string AS s ON s.id = x.name_id
  LEFT JOIN i.rocpd_string AS u ON u.id = ifnull(x.args_id, 1) LEFT JOIN i.rtl_stream AS t ON t.stream = x.stream
  WHERE rtl_all() OR (x.process IN (SELECT process FROM c_process) AND rtl_selected(CASE s.string WHEN 'UserMarker' THEN
    ifnull(u.string, '') ELSE s.string END, x.begin_ns, x.end_ns));
CREATE TEMP VIEW c_counter AS SELECT x.id, d.process, d.id AS op_id, d.gpu, x.name_id, n.string AS name, x.value
  FROM i.rocpd_counter AS x JOIN c_dispatch AS d ON d.id = x.op_id JOIN i.rocpd_string AS n ON n.id = x.name_id;
CREATE TEMP VIEW c_interval AS SELECT x.rowid AS id, x.process, p.pid, x.gpu, n.string AS name, x.value, x.begin_ns, x.end_ns
  FROM i.rtl_counter_interval AS x JOIN i.rocpd_string AS n ON n.id = x.name_id JOIN c_process AS p ON p.process = x.process
  WHERE rtl_all() OR (x.process IN (SELECT process FROM c_process) AND rtl_selected(n.string, x.begin_ns, x.end_ns, x.gpu));
CREATE TEMP VIEW c_mem AS SELECT x.id, x.process, x.is_release, x.begin_ns, x.end_ns, x.tid, x.node, x.flags & 1 AS on_gpu, x.kind
    IN (3, 4) AS is_virtual, x.bytes, x.address, x.correlation
  FROM i.rtl_mem AS x
  WHERE rtl_all() OR (x.process IN (SELECT process FROM c_process) AND rtl_selected(x.function, x.begin_ns, x.end_ns));
