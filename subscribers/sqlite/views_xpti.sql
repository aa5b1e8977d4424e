-- SPDX-License-Identifier: MIT
-- What the nodes of XPTI made a GPU do. Of a node's work some was submitted within a call of HIP, some not; ranges and calls may
-- lie between (scopes). The innermost node has it.
CREATE VIEW rtl_node_ops AS WITH RECURSIVE
  calls AS (SELECT id, process, instance, parent FROM rtl_call_all WHERE parent LIMIT -1),
  nodes AS (SELECT process, id, name, kernel, file, line FROM rtl_node LIMIT -1),
  scopes AS (SELECT process, instance AS scope, parent FROM rtl_marker_all UNION ALL SELECT process, instance, parent FROM calls
    WHERE instance IN (SELECT parent FROM rtl_marker_all UNION SELECT parent FROM calls) LIMIT -1),
  inside (process, scope, node) AS (SELECT s.process, s.scope, n.id FROM scopes AS s JOIN nodes AS n ON n.id = s.parent
      AND n.process = s.process
    UNION SELECT s.process, s.scope, i.node FROM inside AS i JOIN scopes AS s ON s.parent = i.scope AND s.process = i.process),
  work AS (SELECT op_id, process, scope_instance AS scope FROM rtl_dispatch WHERE scope_instance
    UNION ALL SELECT op_id, process, scope_instance FROM rtl_copy WHERE op_id NOT NULL AND scope_instance
    UNION ALL SELECT l.op_id, c.process, c.parent FROM calls AS c JOIN rocpd_api_ops AS l ON l.api_id = c.id),
  ops AS (SELECT id, begin_ns, end_ns FROM rtl_kernel_op UNION ALL SELECT id, begin_ns, end_ns FROM rtl_copy_op LIMIT -1)
  SELECT n.process AS process, n.id AS node, n.name AS name, n.kernel AS kernel, n.file AS file, n.line AS line,
    w.op_id AS op_id, o.begin_ns AS begin_ns, o.end_ns AS end_ns
  FROM (SELECT DISTINCT d.op_id, d.process, ifnull(i.node, d.scope) AS node FROM work AS d
      LEFT JOIN inside AS i ON i.process = d.process AND i.scope = d.scope) AS w
  JOIN nodes AS n ON n.process = w.process AND n.id = w.node JOIN ops AS o ON o.id = w.op_id;
