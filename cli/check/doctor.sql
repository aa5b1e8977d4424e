-- SPDX-License-Identifier: MIT
-- `rtl doctor`: the text, of its JSON.
WITH finding AS (SELECT key AS f, json_extract(value, '$.section') AS section, json_extract(value, '$.level') AS level,
    json_extract(value, '$.text') AS text, json_extract(value, '$.remedy') AS remedy FROM json_each(?1, '$.checks')),
  total AS (SELECT json_extract(?1, '$.faults') AS faults, json_extract(?1, '$.warnings') AS warnings)
SELECT line FROM (
  SELECT f, 0 AS n, section AS line FROM (SELECT *, lag(section) OVER (ORDER BY f) AS before FROM finding) WHERE section IS NOT before
  UNION ALL SELECT f, 1, printf('  %-9s%s', level, text) || ifnull('; ' || remedy, '') FROM finding
  UNION ALL SELECT 9999, 0, printf('%d fault%s, %d warning%s', faults, CASE faults WHEN 1 THEN '' ELSE 's' END, warnings,
      CASE warnings WHEN 1 THEN '' ELSE 's' END) FROM total)
  ORDER BY f, n;
