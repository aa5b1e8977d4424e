-- SPDX-License-Identifier: MIT
-- The list of what readers have put into `item`: text as it is; definitions, GPUS|NAME|BLOCK|EVENT or expression|UNIT|DESCRIPTION. YAML
-- names the GPUs. In XML a GPU has what is in the scope of its name and in `global`, and, where a base is named, what the base has by
-- then. A row without `what` is a source, source|PATH[|sums]. Of definitions of one name the first counts. '': scopes inherit from each other more than 4096 times for a GPU.
WITH RECURSIVE
  gpu AS (SELECT file, scope AS gpu, min(n) AS first FROM item WHERE scope GLOB 'gfx*' GROUP BY file, scope),
  -- a scope, up to an item; of two, the one whose path is less comes first
  visit (file, gpu, scope, path, end) AS (
    SELECT file, gpu, gpu, '0', 1e9 FROM gpu
    -- refers to counters: of no use to a GPU that has none
    UNION ALL SELECT file, gpu, 'global', '1', 1e9 FROM gpu
    UNION ALL SELECT v.file, v.gpu, i.base, v.path || printf('/%09d', i.n), i.n
      FROM visit AS v JOIN item AS i ON i.file = v.file AND i.scope = v.scope AND i.n < v.end WHERE i.base NOT NULL
    LIMIT (SELECT 4097 * count(*) FROM gpu)),
  given AS (SELECT v.file, v.gpu, i.n, row_number() OVER (PARTITION BY v.file, v.gpu, i.name
      ORDER BY v.path || printf('/%09d', i.n)) AS place
    FROM visit AS v JOIN item AS i ON i.file = v.file AND i.scope = v.scope AND i.n < v.end WHERE i.base IS NULL),
  owner AS (SELECT n, group_concat(gpu, '/') AS gpus
    FROM (SELECT given.n, gpu FROM given JOIN gpu USING (file, gpu) WHERE place = 1 ORDER BY given.n, first) GROUP BY n),
  field AS (SELECT i.n, ifnull(i.gpus, o.gpus) AS gpus, name, CASE WHEN what NOT NULL THEN ifnull(block, '') END AS block, what,
    ifnull(nullif(unit, ''), CASE WHEN what IS NULL THEN NULL
      WHEN instr(description, 'Unit: percent') THEN '%' WHEN instr(description, 'Unit: cycles') THEN 'cycles'
      WHEN instr(description, 'The percentage ') THEN '%' WHEN instr(description, 'Percentage ') THEN '%'
      WHEN instr(description, ' kilobytes ') THEN 'KiB' WHEN instr(description, 'Number of cycles ') THEN 'cycles'
      WHEN instr(description, 'number of cycles') THEN 'cycles' WHEN instr(description, 'Tie High') THEN 'cycles'
      ELSE '' END) AS unit, CASE WHEN what NOT NULL THEN ifnull(description, '') END AS description
    FROM item AS i LEFT JOIN owner AS o ON o.n = i.n WHERE text IS NULL),
  -- without the characters of a list
  clean AS (SELECT n, gpus, k.key, replace(replace(replace(replace(replace(k.value, ';', ','), '|', ','), char(10), ' '), char(13), ' '),
      char(9), ' ') AS value
    FROM field, json_each(json_array(name, block, what, unit, description)) AS k WHERE gpus NOT NULL AND k.value NOT NULL),
  line AS (SELECT n, gpus || '|' || group_concat(value, '|') || char(10) AS text
    FROM (SELECT * FROM clean ORDER BY n, key) GROUP BY n
    UNION ALL SELECT n, text FROM item WHERE text NOT NULL)
SELECT CASE WHEN (SELECT max(times) FROM (SELECT count(*) AS times FROM visit GROUP BY file, gpu)) > 4096 THEN ''
  ELSE (SELECT group_concat(text, '') FROM (SELECT text FROM line ORDER BY n)) END;
