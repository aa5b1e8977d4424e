-- SPDX-License-Identifier: MIT
-- What puts a type's view (?3) of a stream (?1) and type (?2) into the views that are put together of several. ?5, ?6: the begin of what
-- it begins or ends, and how that is called; ?4: the view of the other one of the two, where both are needed; ?7, ?8: of XPTI's streams
-- the id of that name as a string, and 1. 1, 6, 7, 21, 22: ids of names in tables.sql.
WITH
  field AS (SELECT type, kind, name, min(position) FROM rtl_field WHERE stream = ?1 AND type IN (?5, ?5 + 1) AND kind IN ('string', 'text')
    GROUP BY type, kind ORDER BY type, kind),
  -- whether an end says when it began
  about AS (SELECT (SELECT count(DISTINCT name) FROM rtl_field WHERE stream = ?1 AND type = ?2 AND kind = 'time' AND size_bytes = 8
    AND name IN ('begin_ns', 'end_ns')) = 2 AND ?2 = ?5 + 1 AS whole),
  -- as the tracepoint is called, or by a string or text of the begin, or of the end
  region AS (SELECT whole, printf('coalesce(nullif(t.label, 1)%s, 22)', ifnull((SELECT group_concat(printf(', nullif(%s."%w_id", 1)',
      CASE WHEN whole OR type = ?5 THEN 'b' ELSE 'e' END, name), '') FROM field WHERE type = ?2 OR NOT whole), '')) AS name,
    CASE WHEN ?2 = ?5 THEN ?3 ELSE ?4 END AS begins, CASE WHEN ?2 = ?5 THEN ?4 ELSE ?3 END AS ends FROM about WHERE NOT ?8),
  tracepoint (j) AS (VALUES (' LEFT JOIN rtl_tracepoint AS t ON t.process = b.process AND t.uid = b.uid')),
  span AS (SELECT CASE WHEN ?6 = 'call' THEN printf('coalesce(nullif(b.text_id, 1), %d)', ?7)
      WHEN ?5 = 10 THEN printf('coalesce(nullif(t.label, 1), %d)', ?7) ELSE ?7 END AS name,
    CASE WHEN ?6 <> 'call' THEN 'b.text_id' WHEN ?2 <> ?5 AND EXISTS (SELECT 1 FROM rtl_field WHERE stream = ?1 AND type = ?2
      AND kind = 'text' AND name = 'arguments') THEN 'b.arguments_id' ELSE '1' END AS args,
    printf('SELECT b.id, b.process, %d, %Q, b.object, b.parent, b.uid, b.parent_uid, b.instance, b.correlation, ', ?1, ?6) AS head
    WHERE ?8 AND ?5 NOT NULL),
  piece (view, source, sql) AS (
    SELECT 'rtl_span', ?3, printf('SELECT b.id, b.process, %d, %Q, 0, 0, b.uid, b.parent_uid, b.instance, b.correlation, NULL, 0, b.tid,'
      || ' b.begin_ns, max(b.begin_ns, b.end_ns), 7, 1, 6, %s FROM "%w" AS b%s WHERE b.begin_ns > 0 AND b.end_ns > 0',
      ?1, ?6, name, ?3, j) FROM region, tracepoint WHERE whole
    UNION ALL SELECT 'rtl_span', begins, printf('SELECT b.id, b.process, %d, %Q, 0, 0, b.uid, b.parent_uid, b.instance, b.correlation, NULL,'
      || ' e.id IS NULL, b.tid, b.time_ns, max(b.time_ns, coalesce(e.time_ns, p.end_ns, p.last_ns)), 7, 1, 6, %s FROM "%w" AS b'
      || ' LEFT JOIN "%w" AS e ON e.instance = b.instance AND e.process = b.process JOIN rtl_process AS p ON p.process = b.process%s'
      || ' WHERE e.id NOT NULL OR p.end_ns NOT NULL', ?1, ?6, name, begins, ends, j) FROM region, tracepoint WHERE ?4 NOT NULL
    -- an end has all; else a begin whose end never came
    UNION ALL SELECT 'rtl_span', ?3, printf('%s%s, 0, b.tid, ifnull(min(b.begin_ns, b.time_ns), b.time_ns), b.time_ns, %s, %d, 21, %s'
      || ' FROM "%w" AS b%s', head, CASE ?2 WHEN 29 THEN 'b.result' ELSE 'NULL' END, name, ?7, args, ?3, j) FROM span, tracepoint
      WHERE ?2 <> ?5
    UNION ALL SELECT 'rtl_span', ?3, printf('%sNULL, 1, b.tid, b.time_ns, max(b.time_ns, ifnull(p.end_ns, p.last_ns)), %s, %d, 21, %s'
      || ' FROM "%w" AS b%s LEFT JOIN "%w" AS e ON e.instance = b.instance AND e.object = b.object AND e.process = b.process'
      || ' JOIN rtl_process AS p ON p.process = b.process WHERE e.id IS NULL AND p.end_ns NOT NULL', head, name, ?7, args, ?3, j, ?4)
      FROM span, tracepoint WHERE ?4 NOT NULL
    UNION ALL SELECT 'rtl_node', ?3, printf('SELECT b.process, b.object, nullif(b.parent, 0), t.name, nullif(b.text, ''''),'
      || ' json_extract(a.json, ''$.kernel_name[1]''), nullif(t.source, ''''), nullif(t.line, 0),'
      || ' ifnull(json_extract(a.json, ''$.sycl_device_name[1]''), json_extract(a.json, ''$.sycl_device_type[1]'')),'
      || ' json_extract(a.json, ''$.queue_id[1]''), b.time_ns, b.tid, b.uid, b.instance, nullif(b.metadata, '''')'
      || ' FROM "%w" AS b LEFT JOIN rtl_args AS a ON a.id = b.metadata_id%s', ?3, j) FROM tracepoint WHERE ?8 AND ?2 = 4
    UNION ALL SELECT 'rtl_edge', ?3, printf('SELECT b.process, b.object, nullif(b.parent, 0), b.source, b.target, t.name, b.time_ns'
      || ' FROM "%w" AS b%s', ?3, j) FROM tracepoint WHERE ?8 AND ?2 = 6
    -- of what graphs, nodes and queues are made with, and what is told later
    UNION ALL SELECT 'rtl_xpti_value', ?3, printf('SELECT b.id, b.process, b.object, j.key, json_extract(j.value, ''$[0]''),'
      || ' json_extract(j.value, ''$[1]'') FROM "%w" AS b JOIN rtl_args AS a ON a.id = b.metadata_id, json_each(a.json) AS j'
      || ' WHERE b.object <> 0', ?3) WHERE ?8 AND ?2 IN (2, 4, 26, 42))
SELECT group_concat(printf('DROP VIEW %s; %s UNION ALL %s', view, made, sql), ';') FROM
  (SELECT view, source, sql, (SELECT m.sql FROM sqlite_master AS m WHERE m.name = view) AS made FROM piece)
  WHERE instr(made, printf('"%w" AS b', source)) = 0;
