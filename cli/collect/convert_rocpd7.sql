-- SPDX-License-Identifier: MIT
-- The rocpd schema of ROCm 7, version 3.0.2, of process :process: @name stands for its table rocpd_name, a lone @ for its guid, `o`
-- for the file. Names of tables and columns are facts of the format (rocprofiler-sdk, share/rocprofiler-sdk-rocpd).
--
-- Numbers within a process: agents are KFD nodes, threads and the process have the numbers that the system gave them, regions and
-- dispatches those of the trace. Events are numbered by kind: calls and ranges as their regions; dispatches behind :ops, copies
-- behind :copies, memory behind :mems. A graph_exec_id stands for an executable graph, from 1 in the order of their first launches; a
-- graph_node_id for a place in the launch, from 1 in the order of submission.

CREATE TABLE o.@metadata (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, tag TEXT NOT NULL, value TEXT NOT NULL);
INSERT INTO @metadata (tag, value) VALUES ('schema_version', '3.0.2'), ('uuid', '_' || replace('@', '-', '_')), ('guid', '@');
INSERT INTO @metadata (tag, value) SELECT 'rtl_' || fact, value FROM c_fact;

CREATE TABLE o.@string (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', string TEXT NOT NULL UNIQUE);
CREATE TABLE o.@info_node (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', hash BIGINT NOT NULL
    UNIQUE, machine_id TEXT NOT NULL UNIQUE, system_name TEXT, hostname TEXT, release TEXT, version TEXT, hardware_name TEXT,
    domain_name TEXT);
CREATE TABLE o.@info_process (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', nid INTEGER NOT NULL
    REFERENCES @info_node (id) ON UPDATE CASCADE, ppid INTEGER, pid INTEGER NOT NULL, init BIGINT, fini BIGINT, start BIGINT,
    "end" BIGINT, command TEXT, environment JSONB NOT NULL DEFAULT '{}', extdata JSONB NOT NULL DEFAULT '{}');
CREATE TABLE o.@info_thread (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', nid INTEGER NOT NULL
    REFERENCES @info_node (id) ON UPDATE CASCADE, ppid INTEGER, pid INTEGER NOT NULL REFERENCES @info_process (id) ON UPDATE
    CASCADE, tid INTEGER NOT NULL, name TEXT, start BIGINT, "end" BIGINT, extdata JSONB NOT NULL DEFAULT '{}');
CREATE TABLE o.@info_agent (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', nid INTEGER NOT NULL
    REFERENCES @info_node (id) ON UPDATE CASCADE, pid INTEGER NOT NULL REFERENCES @info_process (id) ON UPDATE CASCADE, type TEXT
    CHECK (type IN ('CPU', 'GPU', 'NIC')), absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, uuid INTEGER, name TEXT,
    model_name TEXT, vendor_name TEXT, product_name TEXT, user_name TEXT, extdata JSONB NOT NULL DEFAULT '{}');
CREATE TABLE o.@info_queue (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', nid INTEGER NOT NULL
    REFERENCES @info_node (id) ON UPDATE CASCADE, pid INTEGER NOT NULL REFERENCES @info_process (id) ON UPDATE CASCADE, name TEXT,
    extdata JSONB NOT NULL DEFAULT '{}');
CREATE TABLE o.@info_stream (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', nid INTEGER NOT NULL
    REFERENCES @info_node (id) ON UPDATE CASCADE, pid INTEGER NOT NULL REFERENCES @info_process (id) ON UPDATE CASCADE, name TEXT,
    extdata JSONB NOT NULL DEFAULT '{}');
CREATE TABLE o.@info_pmc (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', nid INTEGER NOT NULL
    REFERENCES @info_node (id) ON UPDATE CASCADE, pid INTEGER NOT NULL REFERENCES @info_process (id) ON UPDATE CASCADE, agent_id
    INTEGER REFERENCES @info_agent (id) ON UPDATE CASCADE, target_arch TEXT CHECK (target_arch IN ('CPU', 'GPU', 'NIC')), event_code INT,
    instance_id INTEGER, name TEXT NOT NULL, symbol TEXT NOT NULL, description TEXT, long_description TEXT DEFAULT '', component
    TEXT, units TEXT DEFAULT '', value_type TEXT CHECK (value_type IN ('ABS', 'ACCUM', 'RELATIVE')), block TEXT, expression TEXT,
    is_constant INTEGER, is_derived INTEGER, extdata JSONB NOT NULL DEFAULT '{}');
CREATE TABLE o.@info_code_object (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', nid INTEGER NOT
    NULL REFERENCES @info_node (id) ON UPDATE CASCADE, pid INTEGER NOT NULL REFERENCES @info_process (id) ON UPDATE CASCADE,
    agent_id INTEGER REFERENCES @info_agent (id) ON UPDATE CASCADE, uri TEXT, load_base BIGINT, load_size BIGINT, load_delta
    BIGINT, storage_type TEXT CHECK (storage_type IN ('FILE', 'MEMORY')), extdata JSONB NOT NULL DEFAULT '{}');
CREATE TABLE o.@info_kernel_symbol (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', nid INTEGER NOT
    NULL REFERENCES @info_node (id) ON UPDATE CASCADE, pid INTEGER NOT NULL REFERENCES @info_process (id) ON UPDATE CASCADE,
    code_object_id INTEGER NOT NULL REFERENCES @info_code_object (id) ON UPDATE CASCADE, kernel_name TEXT, display_name TEXT,
    kernel_object INTEGER, kernarg_segment_size INTEGER, kernarg_segment_alignment INTEGER, group_segment_size INTEGER,
    private_segment_size INTEGER, sgpr_count INTEGER, arch_vgpr_count INTEGER, accum_vgpr_count INTEGER, extdata JSONB NOT NULL
    DEFAULT '{}');
CREATE TABLE o.@track (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', nid INTEGER NOT NULL
    REFERENCES @info_node (id) ON UPDATE CASCADE, pid INTEGER REFERENCES @info_process (id) ON UPDATE CASCADE, tid INTEGER
    REFERENCES @info_thread (id) ON UPDATE CASCADE, name_id INTEGER REFERENCES @string (id) ON UPDATE CASCADE, extdata JSONB NOT
    NULL DEFAULT '{}');
CREATE TABLE o.@event (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', category_id INTEGER REFERENCES
    @string (id) ON UPDATE CASCADE, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, call_stack JSONB NOT NULL
    DEFAULT '{}', line_info JSONB NOT NULL DEFAULT '{}', extdata JSONB NOT NULL DEFAULT '{}');
CREATE TABLE o.@arg (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', event_id INTEGER NOT NULL
    REFERENCES @event (id) ON UPDATE CASCADE, position INTEGER NOT NULL, type TEXT NOT NULL, name TEXT NOT NULL, value TEXT,
    extdata JSONB NOT NULL DEFAULT '{}');
CREATE TABLE o.@pmc_event (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', event_id INTEGER
    REFERENCES @event (id) ON UPDATE CASCADE, pmc_id INTEGER NOT NULL REFERENCES @info_pmc (id) ON UPDATE CASCADE, value REAL
    DEFAULT 0.0, extdata JSONB NOT NULL DEFAULT '{}');
CREATE TABLE o.@region (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', nid INTEGER NOT NULL
    REFERENCES @info_node (id) ON UPDATE CASCADE, pid INTEGER NOT NULL REFERENCES @info_process (id) ON UPDATE CASCADE, tid
    INTEGER NOT NULL REFERENCES @info_thread (id) ON UPDATE CASCADE, start BIGINT NOT NULL, "end" BIGINT NOT NULL, name_id INTEGER
    NOT NULL REFERENCES @string (id) ON UPDATE CASCADE, event_id INTEGER REFERENCES @event (id) ON UPDATE CASCADE, extdata JSONB
    NOT NULL DEFAULT '{}');
CREATE TABLE o.@sample (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', track_id INTEGER NOT NULL
    REFERENCES @track (id) ON UPDATE CASCADE, timestamp BIGINT NOT NULL, event_id INTEGER REFERENCES @event (id) ON UPDATE
    CASCADE, extdata JSONB NOT NULL DEFAULT '{}');
CREATE TABLE o.@kernel_dispatch (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', nid INTEGER NOT NULL
    REFERENCES @info_node (id) ON UPDATE CASCADE, pid INTEGER NOT NULL REFERENCES @info_process (id) ON UPDATE CASCADE, tid
    INTEGER REFERENCES @info_thread (id) ON UPDATE CASCADE, agent_id INTEGER NOT NULL REFERENCES @info_agent (id) ON UPDATE
    CASCADE, kernel_id INTEGER NOT NULL REFERENCES @info_kernel_symbol (id) ON UPDATE CASCADE, dispatch_id INTEGER NOT NULL,
    queue_id INTEGER NOT NULL REFERENCES @info_queue (id) ON UPDATE CASCADE, stream_id INTEGER NOT NULL REFERENCES @info_stream
    (id) ON UPDATE CASCADE, start BIGINT NOT NULL, "end" BIGINT NOT NULL, private_segment_size INTEGER, group_segment_size
    INTEGER, workgroup_size_x INTEGER NOT NULL, workgroup_size_y INTEGER NOT NULL, workgroup_size_z INTEGER NOT NULL, grid_size_x
    INTEGER NOT NULL, grid_size_y INTEGER NOT NULL, grid_size_z INTEGER NOT NULL, graph_exec_id INTEGER NOT NULL DEFAULT 0,
    graph_node_id INTEGER NOT NULL DEFAULT 0, region_name_id INTEGER REFERENCES @string (id)
    ON UPDATE CASCADE, event_id INTEGER REFERENCES @event (id) ON UPDATE CASCADE, extdata JSONB NOT NULL DEFAULT '{}');
CREATE TABLE o.@memory_copy (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', nid INTEGER NOT NULL
    REFERENCES @info_node (id) ON UPDATE CASCADE, pid INTEGER NOT NULL REFERENCES @info_process (id) ON UPDATE CASCADE, tid
    INTEGER REFERENCES @info_thread (id) ON UPDATE CASCADE, start BIGINT NOT NULL, "end" BIGINT NOT NULL, name_id INTEGER NOT NULL
    REFERENCES @string (id) ON UPDATE CASCADE, dst_agent_id INTEGER REFERENCES @info_agent (id) ON UPDATE CASCADE, dst_address
    INTEGER, src_agent_id INTEGER REFERENCES @info_agent (id) ON UPDATE CASCADE, src_address INTEGER, size INTEGER NOT NULL,
    queue_id INTEGER REFERENCES @info_queue (id) ON UPDATE CASCADE, stream_id INTEGER REFERENCES @info_stream (id) ON UPDATE
    CASCADE, graph_exec_id INTEGER NOT NULL DEFAULT 0, graph_node_id INTEGER NOT NULL DEFAULT 0, region_name_id INTEGER
    REFERENCES @string (id) ON UPDATE CASCADE, event_id INTEGER REFERENCES @event (id) ON UPDATE CASCADE, extdata JSONB NOT NULL
    DEFAULT '{}');
CREATE TABLE o.@graph_launch (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', nid INTEGER NOT NULL
    REFERENCES @info_node (id) ON UPDATE CASCADE, pid INTEGER NOT NULL REFERENCES @info_process (id) ON UPDATE CASCADE, tid
    INTEGER REFERENCES @info_thread (id) ON UPDATE CASCADE, agent_id INTEGER REFERENCES @info_agent (id) ON UPDATE CASCADE,
    queue_id INTEGER REFERENCES @info_queue (id) ON UPDATE CASCADE, start BIGINT NOT NULL, "end" BIGINT NOT NULL, graph_exec_id
    INTEGER NOT NULL, kernel_dispatch_count INTEGER NOT NULL DEFAULT 0, event_id INTEGER REFERENCES @event (id) ON UPDATE
    CASCADE, extdata JSONB NOT NULL DEFAULT '{}');
CREATE TABLE o.@memory_allocate (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid TEXT NOT NULL DEFAULT '@', nid INTEGER NOT NULL
    REFERENCES @info_node (id) ON UPDATE CASCADE, pid INTEGER NOT NULL REFERENCES @info_process (id) ON UPDATE CASCADE, tid
    INTEGER REFERENCES @info_thread (id) ON UPDATE CASCADE, agent_id INTEGER REFERENCES @info_agent (id) ON UPDATE CASCADE, type
    TEXT CHECK (type IN ('ALLOC', 'FREE', 'REALLOC', 'RECLAIM')), level TEXT CHECK (level IN ('REAL', 'VIRTUAL', 'SCRATCH')),
    start BIGINT NOT NULL, "end" BIGINT NOT NULL, address INTEGER, size INTEGER NOT NULL, queue_id INTEGER REFERENCES @info_queue
    (id) ON UPDATE CASCADE, stream_id INTEGER REFERENCES @info_stream (id) ON UPDATE CASCADE, event_id INTEGER REFERENCES @event
    (id) ON UPDATE CASCADE, extdata JSONB NOT NULL DEFAULT '{}');

-- Launches of graphs that did not fail. An executable is an address until that is instantiated anew or destroyed.
CREATE TEMP TABLE IF NOT EXISTS c_launch (id, correlation, exec);
DELETE FROM c_launch;
INSERT INTO c_launch
  WITH call AS (SELECT x.id, x.instance, s.string AS name, x.begin_ns, substr(u.string, instr(u.string, '=') + 1,
      instr(u.string || ',', ',') - instr(u.string, '=') - 1) AS address
      FROM i.rtl_call_all AS x JOIN i.rocpd_string AS s ON s.id = x.function_id LEFT JOIN i.rtl_args AS u ON u.id = x.args_id
      WHERE x.process = :process AND NOT x.flags & 1 AND x.function_id IN (SELECT id FROM i.rocpd_string WHERE string GLOB
        'hipGraphLaunch*' OR string GLOB 'hipGraphInstantiate*' OR string = 'hipGraphExecDestroy')),
    life AS (SELECT *, sum(name NOT GLOB 'hipGraphLaunch*') OVER (PARTITION BY address ORDER BY begin_ns, id) AS life FROM call),
    launch AS (SELECT *, min(begin_ns) OVER (PARTITION BY address, life) AS first FROM life WHERE name GLOB 'hipGraphLaunch*')
  SELECT id, instance AS correlation, dense_rank() OVER (ORDER BY first) AS exec FROM launch;
CREATE INDEX IF NOT EXISTS temp.c_launch_of ON c_launch (correlation);
CREATE TEMP TABLE IF NOT EXISTS c_node (is_copy, id, launch, exec, node, begin_ns, end_ns, gpu, queue, PRIMARY KEY (is_copy, id));
DELETE FROM c_node;
INSERT INTO c_node
  SELECT w.is_copy, w.id, l.id, l.exec, row_number() OVER (PARTITION BY l.id ORDER BY w.submit_ns, w.queue, w.begin_ns), w.begin_ns,
    w.end_ns, w.gpu, w.queue
  FROM (SELECT 0 AS is_copy, id, correlation, submit_ns, queue, begin_ns, end_ns, gpu FROM i.rtl_kernel_op WHERE process = :process
      AND EXISTS (SELECT 1 FROM c_launch)
    UNION ALL SELECT 1, id, correlation, submit_ns, 0, begin_ns, end_ns, gpu FROM i.rtl_copy WHERE process = :process
      AND EXISTS (SELECT 1 FROM c_launch)) AS w
  JOIN c_launch AS l ON l.correlation = w.correlation;
CREATE INDEX IF NOT EXISTS temp.c_node_of ON c_node (launch);

INSERT INTO @info_node (id, hash, machine_id, system_name, hostname, release, version, hardware_name, domain_name)
  VALUES (:node, :hash, :machine, 'Linux', ifnull(:host, ''), '', '', '', '');
INSERT INTO @string (id, string) SELECT id, string FROM i.rocpd_string;
INSERT OR IGNORE INTO @string (string)
  VALUES (''), ('KERNEL_DISPATCH'), ('MEMORY_COPY'), ('MEMORY_ALLOCATION'), ('HIP_RUNTIME_API_EXT'), ('HSA_CORE_API'),
    ('MARKER_CORE_RANGE_API'), ('roctxThreadRangeA'), ('roctxProcessRangeA');
INSERT OR IGNORE INTO @string (string) SELECT rtl_direction(column1) FROM (VALUES (0), (1), (2), (3), (4), (5));
INSERT OR IGNORE INTO @string (string) SELECT name FROM i.rtl_stream;
INSERT INTO @info_process (id, nid, ppid, pid, init, fini, start, "end", command)
  SELECT pid, :node, parent_pid, pid, start_ns, end_ns, start_ns, end_ns, command FROM c_process WHERE process = :process;
INSERT INTO @info_agent (id, nid, pid, type, absolute_index, logical_index, type_index, name, model_name, vendor_name,
    product_name, user_name)
  SELECT id, :node, :pid, CASE WHEN is_gpu THEN 'GPU' ELSE 'CPU' END, id, row_number() OVER (ORDER BY id) - 1, place, name, '',
    CASE WHEN is_gpu THEN 'AMD' ELSE 'CPU' END, product, product
  FROM c_agent WHERE process = :process;
INSERT INTO @info_pmc (id, nid, pid, agent_id, target_arch, name, symbol, description, component, units, value_type, block,
    expression, is_constant, is_derived)
  SELECT id, :node, :pid, gpu, 'GPU', name, name, ifnull(description, ''), 'rocm', ifnull(unit, ''), 'ABS', ifnull(block, ''), '',
    0, derived
  FROM c_pmc WHERE process = :process;
INSERT INTO @info_queue (id, nid, pid, name)
  SELECT queue, :node, :pid, CASE queue WHEN 0 THEN 'Default Queue' ELSE 'Queue ' || queue END FROM c_queue
  WHERE process = :process;
INSERT INTO @info_stream (id, nid, pid, name, extdata)
  SELECT number, :node, :pid, CASE number WHEN 0 THEN 'Default Stream' ELSE 'Stream ' || number END, json_object('handle',
    printf('0x%x', stream))
  FROM c_stream WHERE process = :process;
INSERT INTO @info_code_object (id, nid, pid, agent_id, uri, storage_type)
  SELECT min(k.id), :node, :pid, min(s.gpu), ifnull(k.code, ''), 'MEMORY' FROM c_kernel AS k
  JOIN c_seen AS s USING (process, uid, name_id) WHERE k.process = :process GROUP BY k.code;
INSERT INTO @info_kernel_symbol (id, nid, pid, code_object_id, kernel_name, display_name, kernel_object, kernarg_segment_size,
    kernarg_segment_alignment, group_segment_size, private_segment_size, sgpr_count, arch_vgpr_count, accum_vgpr_count, extdata)
  SELECT id, :node, :pid, (SELECT min(o.id) FROM c_kernel AS o WHERE o.process = k.process AND o.code IS k.code), symbol, name,
    object, kernarg_bytes, 0, lds_bytes, scratch_bytes, sgprs, vgprs, agprs, json_object('size', 0, 'kernel_id', id,
    'kernel_code_entry_byte_offset', 0, 'formatted_kernel_name', name, 'demangled_kernel_name', name, 'truncated_kernel_name',
    name, 'kernel_address', json_object('handle', 0))
  FROM c_kernel AS k WHERE process = :process;
INSERT INTO @region (id, nid, pid, tid, start, "end", name_id, event_id)
  SELECT x.id, :node, :pid, x.tid, x.begin_ns, x.end_ns, x.name_id, x.id FROM c_call AS x
  WHERE x.process = :process AND x.id BETWEEN :from AND :to;
INSERT INTO @event (id, category_id, stack_id, parent_stack_id, correlation_id)
  SELECT x.id, CASE WHEN x.is_hip THEN (SELECT id FROM @string WHERE string = 'HIP_RUNTIME_API_EXT') ELSE (SELECT id FROM @string
    WHERE string = 'HSA_CORE_API') END, x.instance, CASE WHEN x.is_hip THEN 0 ELSE x.correlation END, 0
  FROM c_call AS x WHERE x.process = :process AND x.id BETWEEN :from AND :to;
INSERT INTO @region (id, nid, pid, tid, start, "end", name_id, event_id)
  SELECT x.id, :node, :pid, x.tid, x.begin_ns, x.end_ns, CASE WHEN x.started THEN (SELECT id FROM @string WHERE string =
    'roctxProcessRangeA') ELSE (SELECT id FROM @string WHERE string = 'roctxThreadRangeA') END, x.id
  FROM c_marker AS x WHERE x.is_range AND x.process = :process AND x.id BETWEEN :from AND :to;
INSERT OR IGNORE INTO @track (id, nid, pid, tid, name_id)
  SELECT DISTINCT x.tid, :node, :pid, x.tid, (SELECT id FROM @string WHERE string = 'MARKER_CORE_RANGE_API') FROM c_marker AS x
  WHERE NOT x.is_range AND x.process = :process AND x.id BETWEEN :from AND :to;
INSERT INTO @sample (id, track_id, timestamp, event_id) SELECT x.id, x.tid, x.begin_ns, x.id FROM c_marker AS x
  WHERE NOT x.is_range AND x.process = :process AND x.id BETWEEN :from AND :to;
INSERT INTO @event (id, category_id, stack_id, parent_stack_id, correlation_id, extdata)
  SELECT x.id, (SELECT id FROM @string WHERE string = 'MARKER_CORE_RANGE_API'), x.instance, 0, 0, json_object('message',
    ifnull(x.name, ''))
  FROM c_marker AS x WHERE x.process = :process AND x.id BETWEEN :from AND :to;
INSERT INTO @region (id, nid, pid, tid, start, "end", name_id, event_id)
  SELECT x.id, :node, :pid, x.tid, x.begin_ns, x.end_ns, x.name_id, x.id FROM c_span AS x
  WHERE x.process = :process AND x.id BETWEEN :from AND :to;
INSERT INTO @event (id, category_id, stack_id, parent_stack_id, correlation_id, extdata)
  SELECT x.id, (SELECT id FROM @string WHERE string = ifnull(x.stream, '')), x.instance, 0, 0, CASE ifnull(x.text, '') WHEN ''
    THEN '{}' ELSE json_object('message', x.text) END
  FROM c_span AS x WHERE x.process = :process AND x.id BETWEEN :from AND :to;
-- Arguments of calls as a trace has them, "size=4096, *ptr=0x7f2a", and as their functions declare them, "void **ptr, size_t size": a name
-- is what stands last there. A value, which may hold commas, ends before the next declared one; of "*ptr=1" the type has a star less.
INSERT INTO @arg (event_id, position, type, name, value)
  WITH declared AS (SELECT uid, position, type, substr(text, length(type) + 1) AS name FROM (SELECT m.uid AS uid, p.key AS position,
      p.value AS text, rtrim(p.value, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_[]') AS type
      FROM i.rtl_tracepoint_metadata AS m, json_each('["' || replace(m.value, ', ', '","') || '"]') AS p
      WHERE m.process = :process AND m.key = 'arguments')),
    call AS (SELECT id, uid, args, ', ' || args AS line FROM c_call
      WHERE process = :process AND args <> '' AND id BETWEEN :from AND :to),
    there AS (SELECT c.id AS id, args, position, type, name, instr(line, ', ' || name || '=') AS plain,
      instr(line, ', *' || name || '=') AS pointed FROM call AS c JOIN declared AS d ON d.uid = c.uid WHERE name <> ''),
    argument AS (SELECT id, args, position, ifnull(nullif(plain, 0), pointed) AS begin, substr('*', 1, NOT plain) || name AS name,
      rtrim(substr(type, 1, length(type) - (NOT plain AND type GLOB '*[*]')), ' ') AS type FROM there WHERE plain OR pointed),
    part AS (SELECT *, min(begin) OVER (PARTITION BY id) AS first, lead(begin) OVER (PARTITION BY id ORDER BY begin) AS next FROM argument)
  SELECT id, position, type, name, substr(args, begin + length(name) + 1,
      ifnull(next - 2, length(args) + 1) - begin - length(name) - 1) FROM part WHERE first = 1
  UNION ALL SELECT id, 0, '', '', args FROM call WHERE id NOT IN (SELECT id FROM argument WHERE begin = 1)
  ORDER BY 1, 2;
-- For the view stream_args: which stream one is.
UPDATE @arg SET extdata = json_object('stream_id', (SELECT s.number FROM c_stream AS s WHERE s.process = :process AND
    printf('0x%x', s.stream) = value))
  WHERE name = 'stream' AND value IN (SELECT printf('0x%x', stream) FROM c_stream);
INSERT INTO @kernel_dispatch (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "end",
    private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y,
    grid_size_z, graph_exec_id, graph_node_id, region_name_id, event_id)
  SELECT x.id, :node, :pid, x.tid, x.gpu, k.id, x.id, x.queue, s.number, x.begin_ns, x.end_ns, x.scratch_bytes, x.lds_bytes,
    x.workgroup_x, x.workgroup_y, x.workgroup_z, x.grid_x, x.grid_y, x.grid_z, ifnull(g.exec, 0), ifnull(g.node, 0), (SELECT id FROM @string
    WHERE string = ''), :ops + x.id
  FROM c_dispatch AS x CROSS JOIN c_kernel AS k ON k.process = x.process AND k.uid = x.uid AND k.name_id = x.name_id
  CROSS JOIN c_stream AS s ON s.process = x.process AND s.stream = x.stream LEFT JOIN c_node AS g ON g.is_copy = 0 AND g.id = x.id
  WHERE x.process = :process AND x.id BETWEEN :from AND :to;
INSERT INTO @event (id, category_id, stack_id, parent_stack_id, correlation_id)
  SELECT x.event_id, (SELECT id FROM @string WHERE string = 'KERNEL_DISPATCH'), d.correlation, d.correlation, 0
  FROM @kernel_dispatch AS x JOIN i.rtl_dispatch AS d ON d.op_id = x.id WHERE 1 AND x.id BETWEEN :from AND :to;
INSERT INTO @pmc_event (event_id, pmc_id, value) SELECT :ops + x.op_id, p.id, x.value FROM c_counter AS x
  CROSS JOIN c_pmc AS p ON p.process = x.process AND p.gpu = x.gpu AND p.name_id = x.name_id
  WHERE x.process = :process AND x.id BETWEEN :from AND :to;
INSERT INTO @memory_copy (id, nid, pid, tid, start, "end", name_id, dst_agent_id, dst_address, src_agent_id, src_address, size,
    stream_id, graph_exec_id, graph_node_id, event_id)
  SELECT x.id, :node, :pid, x.tid, x.begin_ns, x.end_ns, n.id, CASE WHEN x.dst_gpu THEN x.dst_gpu ELSE h.agent END, x.dst, CASE
    WHEN x.src_gpu THEN x.src_gpu ELSE h.agent END, x.src, x.bytes, s.number, ifnull(g.exec, 0), ifnull(g.node, 0), :copies + x.id
  FROM c_copy AS x CROSS JOIN c_stream AS s ON s.process = x.process AND s.stream = x.stream
  CROSS JOIN c_host AS h ON h.process = x.process CROSS JOIN @string AS n ON n.string = x.name
  LEFT JOIN c_node AS g ON g.is_copy = 1 AND g.id = x.id
  WHERE x.process = :process AND x.id BETWEEN :from AND :to;
INSERT INTO @event (id, category_id, stack_id, parent_stack_id, correlation_id)
  SELECT x.event_id, (SELECT id FROM @string WHERE string = 'MEMORY_COPY'), c.correlation, c.correlation, 0
  FROM @memory_copy AS x JOIN i.rtl_copy AS c ON c.id = x.id WHERE 1 AND x.id BETWEEN :from AND :to;
INSERT INTO @graph_launch (id, nid, pid, tid, agent_id, queue_id, start, "end", graph_exec_id, kernel_dispatch_count, event_id)
  SELECT x.id, :node, :pid, x.tid, (SELECT min(a.id) FROM @info_agent AS a JOIN c_node AS n ON n.gpu = a.id WHERE n.launch = x.id),
    (SELECT min(q.id) FROM @info_queue AS q JOIN c_node AS n ON n.queue = q.id WHERE n.launch = x.id AND NOT n.is_copy),
    ifnull(min(g.begin_ns), x.begin_ns), ifnull(max(g.end_ns), x.end_ns), l.exec, count(CASE WHEN NOT g.is_copy THEN 1 END), x.id
  FROM c_call AS x CROSS JOIN c_launch AS l ON l.id = x.id LEFT JOIN c_node AS g ON g.launch = l.id
  WHERE x.process = :process AND x.id BETWEEN :from AND :to GROUP BY x.id;
INSERT INTO @memory_allocate (id, nid, pid, tid, agent_id, type, level, start, "end", address, size, queue_id, stream_id,
    event_id)
  SELECT x.id, :node, :pid, x.tid, x.node, CASE WHEN x.is_release THEN 'FREE' ELSE 'ALLOC' END, CASE WHEN x.is_virtual THEN
    'VIRTUAL' ELSE 'REAL' END, x.begin_ns, x.end_ns, x.address, x.bytes, 0, 0, :mems + x.id
  FROM c_mem AS x WHERE x.process = :process AND x.id BETWEEN :from AND :to;
INSERT INTO @event (id, category_id, stack_id, parent_stack_id, correlation_id)
  SELECT x.event_id, (SELECT id FROM @string WHERE string = 'MEMORY_ALLOCATION'), m.correlation, 0, 0 FROM @memory_allocate AS x
  JOIN i.rtl_mem AS m ON m.id = x.id WHERE 1 AND x.id BETWEEN :from AND :to;
INSERT INTO @info_thread (id, nid, ppid, pid, tid, name)
  SELECT tid, :node, (SELECT ppid FROM @info_process), :pid, tid, CASE tid WHEN :pid THEN 'main thread' ELSE 'thread ' || tid END
  FROM (SELECT tid FROM @region UNION SELECT tid FROM @track UNION SELECT tid FROM @kernel_dispatch UNION SELECT tid FROM
    @memory_copy UNION SELECT tid FROM @memory_allocate);
