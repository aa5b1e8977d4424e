-- SPDX-License-Identifier: MIT
-- `rtl list-counters`: the text, of its JSON. Names have 30 columns, units 14; what is long goes on below its beginning.
WITH gpu AS (SELECT key AS g, json_extract(value, '$.gpu') AS node, json_extract(value, '$.name') AS name,
    json_extract(value, '$.product') AS product, json_extract(value, '$.reason') AS why, value AS j FROM json_each(?1, '$.gpus')),
  entry AS (SELECT g, c.key AS c, json_extract(c.value, '$.name') AS name, json_extract(c.value, '$.unit') AS unit,
      nullif(json_extract(c.value, '$.description'), '') AS description, json_extract(c.value, '$.block') AS block,
      json_extract(c.value, '$.event') AS event, json_extract(c.value, '$.registers') AS registers,
      json_extract(c.value, '$.instances') AS instances, nullif(json_extract(c.value, '$.reason'), ifnull(why, '')) AS reason,
      (SELECT group_concat(value, ', ') FROM json_each(c.value, '$.needs')) AS needs
    FROM gpu, json_each(gpu.j, '$.counters') AS c),
  placed AS (SELECT *, CASE WHEN reason NOT NULL THEN 3 WHEN block NOT NULL THEN 2 ELSE 1 END AS part FROM entry)
SELECT line, goes_on FROM (
  SELECT g, 0 AS part, -3 AS c, 0 AS n, '' AS line, 0 AS goes_on FROM gpu WHERE g > 0
  UNION ALL SELECT g, 0, -2, 0, CASE WHEN node IS NULL THEN name || ', which is not looked for here'
      ELSE printf('GPU %d: %s', node, name) || ifnull(', ' || product, '') END, 0 FROM gpu
  UNION ALL SELECT g, 0, -1, 0, '  definitions: ' || json_extract(j, '$.definitions'), 0 FROM gpu
  UNION ALL SELECT g, 0, -1, 1, '  nothing can be counted here: ' || why, 0 FROM gpu WHERE node NOT NULL AND why NOT NULL
  UNION ALL SELECT DISTINCT g, part, -2, 0, '', 0 FROM placed
  UNION ALL SELECT DISTINCT g, part, -1, 0, CASE part WHEN 1 THEN '  Metrics' WHEN 2 THEN '  Counters' ELSE '  Cannot be had' END, 0 FROM placed
  UNION ALL SELECT g, part, c, 0, printf('  %-29s %s', name, reason), 32 FROM placed WHERE part = 3
  UNION ALL SELECT g, part, c, 0, printf('  %-29s %-13s %s', name, unit, ifnull(description, '-')), 46 FROM placed WHERE part < 3
  UNION ALL SELECT g, part, c, 1, printf('%46s%s, event %d', '', block, event)
      || CASE WHEN registers > 0 THEN printf('; %d at the same time, %d instance%s', registers, instances,
        CASE instances WHEN 1 THEN '' ELSE 's' END) ELSE '' END, 46
    FROM placed WHERE part = 2
  UNION ALL SELECT g, part, c, 1, printf('%46s%s', '', ifnull('needs ' || needs, 'constant')), 46 FROM placed WHERE part = 1)
  ORDER BY g, part, c, n;
