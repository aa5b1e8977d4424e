-- SPDX-License-Identifier: MIT
-- Tables as text: each view here but c_... is a file of that name, and each row of c_own. Files and columns are those of
-- rocprofv3, but for counter_intervals, region_trace and run_facts (the last: only beside others), which are rtl's own. What rtl
-- does not know is 0. What fills memory is no copy to rocprofv3.

CREATE TEMP VIEW kernel_trace AS SELECT 'KERNEL_DISPATCH' AS Kind, 'Agent ' || d.gpu AS Agent_Id, d.queue AS Queue_Id, (SELECT
    s.number FROM c_stream AS s WHERE s.process = d.process AND s.stream = d.stream) AS Stream_Id, d.tid AS Thread_Id, d.id AS
    Dispatch_Id, d.name_id AS Kernel_Id, d.name AS Kernel_Name, d.correlation AS Correlation_Id, d.begin_ns AS Start_Timestamp,
    d.end_ns AS End_Timestamp, d.lds_bytes AS LDS_Block_Size, d.scratch_bytes AS Scratch_Size, k.vgprs AS VGPR_Count, k.agprs AS
    Accum_VGPR_Count, k.sgprs AS SGPR_Count, d.workgroup_x AS Workgroup_Size_X, d.workgroup_y AS Workgroup_Size_Y, d.workgroup_z
    AS Workgroup_Size_Z, d.grid_x AS Grid_Size_X, d.grid_y AS Grid_Size_Y, d.grid_z AS Grid_Size_Z
  FROM c_dispatch AS d CROSS JOIN c_kernel AS k ON k.process = d.process AND k.uid = d.uid AND k.name_id = d.name_id
  ORDER BY d.id;
CREATE TEMP VIEW counter_collection AS SELECT d.correlation AS Correlation_Id, d.id AS Dispatch_Id, 'Agent ' || d.gpu AS Agent_Id,
    d.queue AS Queue_Id, p.pid AS Process_Id, d.tid AS Thread_Id, d.grid_x * d.grid_y * d.grid_z AS Grid_Size, d.name_id AS
    Kernel_Id, d.name AS Kernel_Name, d.workgroup_x * d.workgroup_y * d.workgroup_z AS Workgroup_Size, d.lds_bytes AS
    LDS_Block_Size, d.scratch_bytes AS Scratch_Size, k.vgprs AS VGPR_Count, k.agprs AS Accum_VGPR_Count, k.sgprs AS SGPR_Count,
    n.string AS Counter_Name, c.value AS Counter_Value, d.begin_ns AS Start_Timestamp, d.end_ns AS End_Timestamp
  FROM i.rocpd_counter AS c CROSS JOIN c_dispatch AS d ON d.id = c.op_id
  CROSS JOIN c_kernel AS k ON k.process = d.process AND k.uid = d.uid AND k.name_id = d.name_id
  JOIN c_process AS p ON p.process = d.process JOIN i.rocpd_string AS n ON n.id = c.name_id ORDER BY c.id;
CREATE TEMP VIEW counter_intervals AS SELECT 'Agent ' || c.gpu AS Agent_Id, c.pid AS Process_Id, c.name AS Counter_Name, c.value
    AS Counter_Value, c.begin_ns AS Start_Timestamp, c.end_ns AS End_Timestamp
  FROM c_interval AS c ORDER BY c.end_ns, c.id;
CREATE TEMP VIEW hip_api_trace AS SELECT 'HIP_RUNTIME_API_EXT' AS Domain, name AS Function, pid AS Process_Id, tid AS Thread_Id,
    correlation AS Correlation_Id, begin_ns AS Start_Timestamp, end_ns AS End_Timestamp
  FROM c_call WHERE is_hip ORDER BY id;
CREATE TEMP VIEW hsa_api_trace AS SELECT 'HSA_CORE_API' AS Domain, name AS Function, pid AS Process_Id, tid AS Thread_Id,
    correlation AS Correlation_Id, begin_ns AS Start_Timestamp, end_ns AS End_Timestamp
  FROM c_call WHERE NOT is_hip ORDER BY id;
CREATE TEMP VIEW marker_api_trace AS SELECT CASE WHEN is_range THEN 'MARKER_CORE_RANGE_API' ELSE 'MARKER_CORE_API' END AS Domain,
    name AS Function, pid AS Process_Id, tid AS Thread_Id, instance AS Correlation_Id, begin_ns AS Start_Timestamp, end_ns AS
    End_Timestamp
  FROM c_marker ORDER BY id;
CREATE TEMP VIEW memory_copy_trace AS SELECT 'MEMORY_COPY' AS Kind, CASE WHEN direction THEN name ELSE
    'MEMORY_COPY_DEVICE_TO_DEVICE' END AS Direction, (SELECT s.number FROM c_stream AS s WHERE s.process = c_copy.process AND
    s.stream = c_copy.stream) AS Stream_Id, 'Agent ' || src_gpu AS Source_Agent_Id, 'Agent ' || dst_gpu AS Destination_Agent_Id,
    correlation AS Correlation_Id, begin_ns AS Start_Timestamp, end_ns AS End_Timestamp
  FROM c_copy WHERE kind <> 4 ORDER BY id;
CREATE TEMP VIEW memory_allocation_trace AS SELECT 'MEMORY_ALLOCATION' AS Kind, CASE WHEN is_release THEN 'MEMORY_ALLOCATION_FREE'
    ELSE 'MEMORY_ALLOCATION_ALLOCATE' END AS Operation, 'Agent ' || node AS Agent_Id, bytes AS Allocation_Size, printf('0x%x',
    address) AS Address, correlation AS Correlation_Id, begin_ns AS Start_Timestamp, end_ns AS End_Timestamp
  FROM c_mem ORDER BY id;
CREATE TEMP VIEW region_trace AS SELECT c.stream AS Stream, c.shown AS Name, p.pid AS Process_Id, c.tid AS Thread_Id, c.instance
    AS Instance, c.correlation AS Correlation_Id, c.begin_ns AS Start_Timestamp, c.end_ns AS End_Timestamp
  FROM c_span AS c CROSS JOIN c_process AS p ON p.process = c.process ORDER BY c.id;

CREATE TEMP VIEW run_facts AS SELECT fact AS Fact, value AS Value FROM c_fact;

-- For each table of events by their description: what reads the rows that are selected. What rtl itself publishes there is
-- described by it, too, but stands in the tables above.
CREATE TEMP VIEW c_field AS SELECT stream, type, position, name, kind, CASE kind WHEN 'time' THEN
    substr(column_name, 1, length(column_name) - 4) ELSE column_name END AS of
  FROM i.rtl_field WHERE column_name IS NOT NULL;
CREATE TEMP VIEW c_own AS SELECT printf('rtl_e_%s', substr(t.table_name, 7)) AS name,
    printf('coalesce(nullif(t.name, ''''), %s%Q)', (SELECT group_concat(printf('nullif(x."%w", ''''), ', of), '')
      FROM (SELECT of FROM c_field AS f WHERE f.stream = t.stream AND f.type = t.type AND kind IN ('string', 'text')
        ORDER BY position)), ifnull(t.name, 'event')) AS shown,
    (SELECT group_concat(printf(', CASE typeof(x."%w") WHEN ''blob'' THEN hex(x."%w") ELSE x."%w" END AS "%w"', of, of, of, name),
      '') FROM (SELECT of, name FROM c_field AS f WHERE f.stream = t.stream AND f.type = t.type ORDER BY position)) AS columns,
    (SELECT CASE WHEN max(kind = 'time' AND of = 'begin_ns') THEN 'ifnull(x.begin_ns, x.time_ns)' ELSE 'x.time_ns' END ||
      CASE WHEN max(kind = 'time' AND of = 'end_ns') THEN ', ifnull(x.end_ns, x.time_ns)' ELSE ', x.time_ns' END ||
      CASE WHEN max(of = 'gpu') THEN ', x.gpu' ELSE '' END
      FROM c_field AS f WHERE f.stream = t.stream AND f.type = t.type) AS place
  FROM i.rtl_type AS t JOIN i.rtl_stream AS s USING (stream)
  WHERE t.table_name GLOB 'rtl_s_*' AND t.table_name NOT GLOB '*[^A-Za-z0-9_]*' AND NOT (s.name GLOB 'rtl.h[is][ap]*' OR
    s.name GLOB 'rtl.roctx*' OR s.name = 'rtl.diagnostics')
  GROUP BY t.table_name ORDER BY t.stream, t.type;
CREATE TEMP VIEW c_file AS SELECT name, 'SELECT * FROM ' || name AS sql, name <> 'run_facts' AS alone
    FROM sqlite_temp_master WHERE type = 'view' AND name NOT GLOB 'c_*'
  UNION ALL SELECT name, printf('SELECT p.pid AS Process_Id, x.tid AS Thread_Id, x.time_ns AS Timestamp, %s AS Name, '
    || 'ifnull(x.instance, 0) AS Instance, ifnull(x.correlation, 0) AS Correlation_Id%s FROM i."%w" AS x '
    || 'JOIN c_process AS p ON p.process = x.process LEFT JOIN i.rtl_tracepoint AS t ON t.process = x.process AND t.uid = x.uid '
    || 'WHERE rtl_all() OR rtl_selected(%s, %s) ORDER BY x.id', shown, columns, name, shown, place), 1
  FROM c_own ORDER BY alone DESC;
