-- SPDX-License-Identifier: MIT
-- `rtl summary --csv`: of its JSON (RFC 4180), a line for each row of each table.
WITH section AS (SELECT key AS s, json_extract(value, '$.title') AS title, json_extract(value, '$.stream') AS stream,
    json_extract(value, '$.kind') AS kind, value AS j FROM json_each(?1, '$.sections')),
  counter AS (SELECT 2 AS part, key, 'Hardware counters' AS title, json_extract(value, '$.kernel') AS name, value AS j
    FROM json_each(?1, '$.counters')
    UNION ALL SELECT 3, key, 'Hardware counters, in intervals', 'GPU ' || json_extract(value, '$.gpu'), value
    FROM json_each(?1, '$.counter_intervals'))
SELECT line, NULL FROM (
  SELECT 0 AS part, 0 AS s, 0 AS r, 'table,stream,kind,name,count,total_ns,share,mean_ns,min_ns,p50_ns,p90_ns,p99_ns,max_ns,'
    || 'bytes,failed,counter,unit,of,mean,min,max,key' AS line
  UNION ALL SELECT 1, s, r.key, printf('"%w","%w","%w","%w",%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,,,,,,,"%w"', title, stream, kind,
      json_extract(r.value, '$.name'), json_extract(r.value, '$.count'), ifnull(json_extract(r.value, '$.total_ns'), 0),
      CASE WHEN json_extract(r.value, '$.share') NOT NULL THEN printf('%.6f', json_extract(r.value, '$.share')) END,
      CASE WHEN json_extract(r.value, '$.mean_ns') NOT NULL THEN printf('%.1f', json_extract(r.value, '$.mean_ns')) END,
      json_extract(r.value, '$.min_ns'), json_extract(r.value, '$.p50_ns'), json_extract(r.value, '$.p90_ns'),
      json_extract(r.value, '$.p99_ns'), json_extract(r.value, '$.max_ns'), json_extract(r.value, '$.bytes'),
      ifnull(json_extract(r.value, '$.failed'), 0), ifnull(json_extract(r.value, '$.key'), ''))
    FROM section, json_each(section.j, '$.rows') AS r
  UNION ALL SELECT part, 0, key, printf('"%w","rtl.hsa.counter","counter","%w",%s,,,,,,,,,,,"%w","%w",%s,%s,%s,%s,', title, name,
      json_extract(j, '$.counted'), json_extract(j, '$.counter'), ifnull(json_extract(j, '$.unit'), ''),
      ifnull(json_extract(j, '$.dispatches'), json_extract(j, '$.intervals')), json_extract(j, '$.mean'), json_extract(j, '$.min'),
      json_extract(j, '$.max')) FROM counter)
  ORDER BY part, s, r;
