-- SPDX-License-Identifier: MIT
-- `rtl selftest`: the report for people, a line each.
SELECT 'machine';
SELECT printf('  %-13s %s', name, text) FROM fact;
SELECT text FROM (
  SELECT min(run) AS first, 0 AS run, 0 AS at, workload AS text FROM finding GROUP BY workload
  UNION ALL SELECT (SELECT min(run) FROM finding f WHERE f.workload = g.workload), run, rowid,
    printf('  %-8s %s', CASE level WHEN 'not_run' THEN 'not run' WHEN 'differs' THEN 'DIFFERS' ELSE level END, text) FROM finding g)
  ORDER BY first, run, at;
SELECT 'overhead, of a loop that only launches small kernels' FROM pace WHERE mode = 'alone' LIMIT 1;
SELECT printf('  %-8s %8.0f ns a launch (%.0f to %.0f), %.2f times as long', mode,
    (SELECT value FROM median WHERE kind = 'pace' AND name = mode AND what = 'ns'), min(ns), max(ns),
    (SELECT value FROM median WHERE kind = 'pace' AND name = mode AND what = 'ratio'))
  FROM pace GROUP BY mode ORDER BY mode = 'hip', mode = 'standard';
SELECT printf('%d agree, %d differ%s, %d could not be run', total(level = 'agrees'), total(level = 'differs'),
    CASE total(level = 'differs') WHEN 1 THEN 's' ELSE '' END, total(level = 'not_run')) FROM finding;
