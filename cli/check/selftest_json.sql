-- SPDX-License-Identifier: MIT
-- `rtl selftest --json`: the report for programs.
WITH overhead AS (SELECT json_group_object(mode, json(o)) AS o, count(*) AS n FROM (
  SELECT mode, json_object(
    'ns_a_launch', (SELECT round(value, 1) FROM median WHERE kind = 'pace' AND name = mode AND what = 'ns'),
    'ratio', (SELECT round(value, 3) FROM median WHERE kind = 'pace' AND name = mode AND what = 'ratio'),
    'runs_ns', json_group_array(round(ns, 1))) AS o FROM pace GROUP BY mode))
SELECT json_patch(json_object(
    'machine', json_patch(
      (SELECT json_group_object(name, text) FROM fact WHERE name <> 'gpu'),
      (SELECT json_object('gpus', json_group_array(text)) FROM fact WHERE name = 'gpu')),
    'agree', (SELECT count(*) FROM finding WHERE level = 'agrees'),
    'differ', (SELECT count(*) FROM finding WHERE level = 'differs'),
    'not_run', (SELECT count(*) FROM finding WHERE level = 'not_run'),
    'checks', (SELECT json_group_array(json_object('workload', workload, 'check', checked, 'level', level, 'text', text))
      FROM (SELECT * FROM finding ORDER BY run, rowid))),
  CASE n WHEN 0 THEN '{}' ELSE json_object('overhead', json(o)) END) FROM overhead;
