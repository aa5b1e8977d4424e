-- SPDX-License-Identifier: MIT
-- `rtl list-streams`: the text, of its JSON.
WITH stream AS (SELECT key AS s, value AS j FROM json_each(?1, '$.streams')),
  type AS (SELECT s, t.key AS t, t.value AS j FROM stream, json_each(stream.j, '$.types') AS t),
  field AS (SELECT s, t, f.key AS f, json_extract(f.value, '$.name') AS name, json_extract(f.value, '$.kind') AS kind,
      json_extract(f.value, '$.size') AS size, json_extract(f.value, '$.unit') AS unit, json_extract(f.value, '$.description') AS description
    FROM type, json_each(type.j, '$.fields') AS f)
SELECT line FROM (
  SELECT s, -3 AS t, 0 AS f, '' AS line FROM stream WHERE s > 0
  UNION ALL SELECT s, -2, 0, printf('%s %s: %s', json_extract(j, '$.name'), json_extract(j, '$.version'), json_extract(j, '$.description'))
    FROM stream
  UNION ALL SELECT s, -1, 0, '  from ' || json_extract(j, '$.from') FROM stream
  UNION ALL SELECT s, t, -1, printf('  %s (type %d, %d bytes): %s', json_extract(j, '$.name'), json_extract(j, '$.type'),
      json_extract(j, '$.payload_size'), json_extract(j, '$.description')) FROM type
  UNION ALL SELECT s, t, f, printf('    %-*s  %-9s  %-6s  %s', max(4, max(length(name)) OVER (PARTITION BY s, t)), name,
      kind || CASE WHEN kind IN ('uint', 'int', 'float') THEN size * 8 ELSE '' END, ifnull(nullif(unit, ''), '-'), description) FROM field)
  ORDER BY s, t, f;
