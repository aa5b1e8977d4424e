-- SPDX-License-Identifier: MIT
-- `rtl list-subscribers`: the text, of its JSON.
WITH plugin AS (SELECT key AS p, json_extract(value, '$.file') AS file, json_extract(value, '$.shadowed_by') AS shadow,
    json_extract(value, '$.error') AS error, value AS j FROM json_each(?1, '$.subscribers')),
  named AS (SELECT *, replace(file, rtrim(file, replace(file, '/', '')), '') AS base FROM plugin)
SELECT line FROM (
  SELECT p, -3 AS s, '' AS line FROM plugin WHERE p > 0
  UNION ALL SELECT p, -2, base || CASE WHEN error IS NULL THEN printf(': %s %s, %s', json_extract(j, '$.name'), json_extract(j, '$.version'),
      json_extract(j, '$.description')) ELSE ': cannot be used' END FROM named
  UNION ALL SELECT p, -1, '  ' || ifnull(error, file) FROM plugin
  UNION ALL SELECT p, s.key, printf('%-20s  %s (%s)', printf('  %s=%s', json_extract(s.value, '$.key'), json_extract(s.value, '$.default')),
      json_extract(s.value, '$.description'), json_extract(s.value, '$.values')) FROM plugin, json_each(plugin.j, '$.settings') AS s
  UNION ALL SELECT p, 9999, '  shadowed: that name finds ' || shadow FROM plugin WHERE shadow NOT NULL
  UNION ALL SELECT 0, 0, 'There is no subscriber; name their folder in RTL_PLUGIN_PATH.' WHERE NOT EXISTS (SELECT 1 FROM plugin))
  ORDER BY p, s;
