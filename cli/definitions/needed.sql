-- SPDX-License-Identifier: MIT
-- Of a list of definitions (?1), GPUS|NAME|BLOCK|EVENT or expression|..., what some counters and metrics (?2) need.
WITH RECURSIVE
  line AS (SELECT key AS n, value AS line FROM json_each('[' || replace(json_quote(replace(?1, char(10), ';')), ';', '","') || ']')),
  split AS (SELECT n, line, '[' || replace(json_quote(line), '|', '","') || ']' AS f FROM line),
  definition AS (SELECT n, line, json_extract(f, '$[0]') AS gpus, json_extract(f, '$[1]') AS name,
    json_extract(f, '$[2]') AS block, json_extract(f, '$[3]') AS expression FROM split WHERE json_array_length(f) > 4),
  -- what is asked for, and the expressions of the metrics in it
  needed (words) AS (SELECT ' ' || ?2 || ' ' UNION SELECT ' ' || expression || ' ' FROM needed JOIN definition
    ON block = '' AND words GLOB '*[^A-Za-z0-9_]' || name || '[^A-Za-z0-9_]*'),
  named AS (SELECT *, EXISTS (SELECT 1 FROM needed WHERE words GLOB '*[^A-Za-z0-9_]' || name || '[^A-Za-z0-9_]*') AS is_named,
    block <> '' AND EXISTS (SELECT 1 FROM needed WHERE words GLOB '*[^A-Za-z0-9_]' || block || '[^A-Za-z0-9_]*') AS block_is FROM definition)
-- of a block that is asked for by name ("TCC:20") an event is enough: then there are definitions of its GPUs
SELECT group_concat(line, ';') || ';' FROM (SELECT line FROM (
  SELECT n, line FROM line WHERE n = 0 OR line GLOB 'source|*'
  UNION ALL SELECT n, line FROM named WHERE is_named
  UNION ALL SELECT min(n), line FROM named WHERE block_is AND NOT is_named GROUP BY gpus) ORDER BY n);
