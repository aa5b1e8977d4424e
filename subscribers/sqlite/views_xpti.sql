-- SPDX-License-Identifier: MIT
-- To these pieces.c adds the streams.
CREATE VIEW rtl_node AS SELECT 0 AS process, 0 AS id, 0 AS graph, '' AS name, '' AS kind, '' AS kernel, '' AS file, 0 AS line, '' AS device,
  0 AS queue, 0 AS time_ns, 0 AS tid, 0 AS uid, 0 AS instance, '' AS metadata WHERE 0;
CREATE VIEW rtl_edge AS SELECT 0 AS process, 0 AS id, 0 AS graph, 0 AS source, 0 AS target, '' AS name, 0 AS time_ns WHERE 0;
CREATE VIEW rtl_xpti_value AS SELECT 0 AS id, 0 AS process, 0 AS object, '' AS key, '' AS kind, '' AS value WHERE 0;
-- Of a node's work some was submitted within a call of HIP, some not; ranges and calls may lie between (scopes). The innermost node has it.
CREATE VIEW rtl_node_ops AS WITH RECURSIVE
  calls (process, instance, parent, id) AS (SELECT process, instance, parent, id FROM rtl_call_all WHERE parent),
  scopes (process, scope, parent) AS (SELECT process, instance, parent FROM rtl_marker
    UNION ALL SELECT process, instance, parent FROM calls WHERE instance IN
      (SELECT parent FROM rtl_marker UNION SELECT parent FROM calls) LIMIT -1),
  nodes (process, id, name, kernel, file, line) AS (SELECT process, id, name, kernel, file, line FROM rtl_node LIMIT -1),
  inside (process, scope, node) AS (SELECT s.process, s.scope, n.id FROM scopes AS s
      JOIN nodes AS n ON n.id = s.parent AND n.process = s.process
    UNION SELECT s.process, s.scope, i.node FROM inside AS i JOIN scopes AS s ON s.parent = i.scope AND s.process = i.process)
  SELECT n.process AS process, n.id AS node, n.name AS name, n.kernel AS kernel, n.file AS file, n.line AS line, w.op_id AS op_id,
    w.begin_ns AS begin_ns, w.end_ns AS end_ns FROM
    (SELECT DISTINCT d.op_id AS op_id, d.begin_ns AS begin_ns, d.end_ns AS end_ns, d.process AS process, ifnull(i.node, d.scope) AS node FROM
      (SELECT o.id AS op_id, o.begin_ns AS begin_ns, o.end_ns AS end_ns, o.process AS process, o.scope_instance AS scope FROM rtl_kernel_op AS o
        UNION ALL SELECT c.id, ifnull(c.begin_ns, c.submit_ns), ifnull(c.end_ns, c.submit_ns), c.process, c.scope_instance
          FROM rtl_copy AS c WHERE c.op_id NOT NULL
        UNION ALL SELECT o.id, o.start, o."end", c.process, c.parent FROM calls AS c
          JOIN rocpd_api_ops AS l ON l.api_id = c.id JOIN rocpd_op AS o ON o.id = l.op_id) AS d
      LEFT JOIN (SELECT process, scope, node FROM inside LIMIT -1) AS i ON i.process = d.process AND i.scope = d.scope) AS w
    JOIN nodes AS n ON n.process = w.process AND n.id = w.node;

-- What was told last of an object's key.
CREATE VIEW rtl_xpti_metadata AS SELECT process, object, key, kind, value
  FROM (SELECT process, object, key, kind, value, max(id) FROM rtl_xpti_value GROUP BY process, object, key);
