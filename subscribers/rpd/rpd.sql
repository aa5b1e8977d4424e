-- SPDX-License-Identifier: MIT
-- Which events the rows of RPD's schema are: a question for each type, by its name and its stream's. Its first columns are process, thread,
-- time, uid (kind of the tracepoint << 56 | name), instance and correlation; the others are fields of the event, by name.
-- rpd_api and the like are the file's tables, with NULL for columns that it does not have.

-- What calls are, by name and domain. "own" are those of rtl, "submission" stand for calls that were not recorded: they say who submitted
-- the work, and when.
CREATE TEMP TABLE rpd_kind (name, domain, stream, category, PRIMARY KEY (name, domain)) WITHOUT ROWID;
INSERT INTO rpd_kind SELECT a.name, a.domain,
    CASE WHEN n.string = 'UserMarker' THEN 'marker' WHEN d.string = 'rtl' THEN 'own'
      WHEN d.string = 'hsa' AND n.string IN ('KernelDispatch', 'MemoryCopy', 'MemoryFill') THEN 'submission'
      WHEN d.string = 'hsa' THEN 'hsa' WHEN ifnull(d.string, '') IN ('', 'hip') THEN 'hip' ELSE 'other' END,
    CASE WHEN ifnull(c.string, '') = '' AND n.string LIKE 'hip%Launch%Kernel%' THEN 'launch' ELSE c.string END
  FROM (SELECT ifnull(apiName_id, 0) AS name, ifnull(domain_id, 0) AS domain, min(category_id) AS category
    FROM rpd_api GROUP BY 1, 2) AS a
  LEFT JOIN rpd_string AS n ON n.id = a.name LEFT JOIN rpd_string AS d ON d.id = a.domain
  LEFT JOIN rpd_string AS c ON c.id = a.category;
CREATE TEMP VIEW rpd_call AS SELECT a.*, k.stream AS stream, u.string AS text FROM rpd_api AS a
  CROSS JOIN rpd_kind AS k ON k.name = ifnull(a.apiName_id, 0) AND k.domain = ifnull(a.domain_id, 0)
  LEFT JOIN rpd_ustring AS u ON u.id = a.args_id;

-- Operations that are copies, by their types as one or another recorder calls them. 6: nobody knows from where to where.
CREATE TEMP TABLE rpd_direction (type PRIMARY KEY, direction) WITHOUT ROWID;
INSERT INTO rpd_direction SELECT id, CASE WHEN s LIKE '%hosttodevice%' THEN 1 WHEN s LIKE '%devicetohost%' THEN 2
    WHEN s LIKE '%devicetodevice%' THEN 3 WHEN s LIKE '%peertopeer%' THEN 4 WHEN s LIKE '%hosttohost%' THEN 5
    WHEN s LIKE '%copy%' OR s LIKE '%memcpy%' THEN 6 WHEN s LIKE 'fill%' OR s LIKE '%memset%' THEN 0 END AS direction
  FROM (SELECT id, replace(string, '_', '') AS s FROM rpd_string WHERE id IN (SELECT opType_id FROM rpd_op))
  WHERE direction NOT NULL;

-- Operations with what is known of their calls. Until version 2 of the schema launches and copies were of operations, then of calls.
-- Of a call there is room for one kernel: that of a graph is not all of its kernels'.
CREATE TEMP VIEW rpd_work AS
  SELECT o.*, d.direction AS direction, a.tid AS tid, CASE WHEN k.stream <> 'submission' THEN a.id END AS call,
    CASE WHEN k.stream = 'submission' THEN a.start END AS submit_ns, CASE WHEN k.stream <> 'submission' THEN a.start END AS call_ns,
    CASE WHEN o."end" THEN 0 ELSE 2 END AS flags, CASE WHEN old THEN o.id ELSE a.id END AS of, old,
    ifnull(a.pid, (SELECT CASE WHEN min(pid) = max(pid) THEN min(pid) END FROM rpd_api)) AS pid
  FROM rpd_op AS o CROSS JOIN (SELECT count(*) AS old FROM main.sqlite_master WHERE name = 'rocpd_kernelop')
  LEFT JOIN (SELECT op_id, min(api_id) AS api_id FROM rpd_link GROUP BY op_id) AS l ON l.op_id = o.id
  LEFT JOIN rpd_api AS a ON a.id = l.api_id
  LEFT JOIN rpd_kind AS k ON k.name = ifnull(a.apiName_id, 0) AND k.domain = ifnull(a.domain_id, 0)
  LEFT JOIN rpd_direction AS d ON d.type = o.opType_id;

-- Processes: pid, begin, program as rtl notes it.
SELECT pid, start, u.string FROM (SELECT pid, min(start) AS start, max(CASE WHEN domain_id IN (SELECT id FROM rpd_string WHERE string = 'rtl')
    AND apiName_id IN (SELECT id FROM rpd_string WHERE string = 'Process') THEN args_id END) AS args FROM rpd_api GROUP BY pid)
  LEFT JOIN rpd_ustring AS u ON u.id = args ORDER BY 2, 1;

-- A text; the category of a function.
SELECT string FROM rpd_string WHERE id = ?1;
SELECT category FROM rpd_kind WHERE name = ?1 AND category <> '';

-- Calls: of HIP, of HSA, of other domains.
SELECT pid AS "rtl.hip.call", tid AS function_end, "end", 2 << 56 | apiName_id, id, id, start AS begin_ns, "end" AS end_ns,
    apiName_id AS function, -1 AS device, n AS work
  FROM rpd_call LEFT JOIN (SELECT api_id, count(*) AS n FROM rpd_link GROUP BY 1) ON api_id = id
  WHERE stream = 'hip' ORDER BY 3, 7 DESC, 5;
SELECT pid AS "rtl.hsa.call", tid AS function_end, "end", 2 << 56 | apiName_id, id, id, start AS begin_ns, "end" AS end_ns,
    apiName_id AS function FROM rpd_call WHERE stream = 'hsa' ORDER BY 3, 7 DESC, 5;
SELECT pid AS "rpd.call", tid AS function_end, "end", 2 << 56 | apiName_id, id, id, start AS begin_ns, "end" AS end_ns,
    apiName_id AS function FROM rpd_call WHERE stream = 'other' ORDER BY 3, 7 DESC, 5;

-- Ranges, marks.
SELECT pid AS "rtl.roctx", tid AS region_end, "end", 0, id, 0, start AS begin_ns, "end" AS end_ns, tid AS begin_tid,
    length(text) > 1024 AS flags, substr(text, 1, 1024) AS name
  FROM rpd_call WHERE stream = 'marker' AND "end" > start ORDER BY 3, 7 DESC, 5;
SELECT pid AS "rtl.roctx", tid AS mark, "end", 0, id, 0, length(text) > 1024 AS flags, substr(text, 1, 1024) AS name
  FROM rpd_call WHERE stream = 'marker' AND NOT "end" > start ORDER BY 3, 5;

-- Kernels, and whatever else is no copy.
SELECT pid AS "rtl.hsa", tid AS task_end, "end", 1 << 56 | coalesce(s.id, opType_id, 0), w.id, call, start AS begin_ns, "end" AS end_ns, submit_ns,
    sequenceId AS packet_id, coalesce(s.id, opType_id, 0) AS kernel_name, gpuId AS gpu, queueId AS queue, tid AS submit_tid, flags,
    gridX AS grid_x, gridY AS grid_y, gridZ AS grid_z, workgroupX AS workgroup_x, workgroupY AS workgroup_y,
    workgroupZ AS workgroup_z, groupSegmentSize AS group_segment_bytes, privateSegmentSize AS private_segment_bytes, call_ns,
    stream AS hip_stream
  FROM rpd_work AS w LEFT JOIN rpd_string AS s ON s.id = description_id AND s.string <> ''
  LEFT JOIN rpd_launch AS k ON k.api_ptr_id = of AND (old OR k.kernelName_id = description_id)
  WHERE direction IS NULL ORDER BY 3, 7, 5;

-- Copies. `size` is that of all that the call has made: the first one has it.
SELECT pid AS "rtl.hsa.copy", tid AS transfer_end, "end", 3 << 56 | path, id, call, start AS begin_ns, "end" AS end_ns, submit_ns,
    CASE WHEN row_number() OVER (PARTITION BY of ORDER BY id) = 1 THEN size END AS bytes, src, dst, gpuId AS gpu, srcDevice AS src_gpu,
    dstDevice AS dst_gpu, path AS direction, CASE WHEN path = 0 THEN 4 WHEN height > 0 THEN 2 ELSE 1 END AS kind, tid AS submit_tid,
    flags, width AS extent_x, height AS extent_y, 1 AS parts, call_ns, stream AS hip_stream
  FROM (SELECT *, CASE WHEN direction = 6 AND kind BETWEEN 1 AND 3 THEN kind ELSE direction END AS path
    FROM rpd_work LEFT JOIN rpd_copy ON api_ptr_id = of WHERE direction NOT NULL) ORDER BY 3, 7, 5;
