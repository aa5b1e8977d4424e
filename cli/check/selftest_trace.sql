-- SPDX-License-Identifier: MIT
-- `rtl selftest`: what trace t of the last run has, as lines of its program's.
INSERT INTO line SELECT max(id), 1, 'lost', NULL, (SELECT sum(discarded + abandoned + missed) FROM t.rtl_ledger WHERE stream <> 'rtl.diagnostics'),
  NULL, NULL, NULL FROM run;
INSERT INTO line SELECT (SELECT max(id) FROM run), 1, 'api', function, count(*), NULL, NULL, NULL
  FROM t.rtl_calls WHERE domain = 'hip' GROUP BY function;
INSERT INTO line SELECT (SELECT max(id) FROM run), 1, 'kernel', kernel, count(*), NULL, NULL, NULL
  FROM t.rtl_dispatches WHERE kernel LIKE 'rtl_selftest%' GROUP BY kernel;
INSERT INTO line SELECT (SELECT max(id) FROM run), 1, 'time', substr(kernel, length('rtl_selftest_') + 1),
    row_number() OVER (PARTITION BY kernel ORDER BY begin_ns) - 1, duration_ns, NULL, NULL
  FROM t.rtl_dispatches WHERE kernel IN ('rtl_selftest_around', 'rtl_selftest_within');
INSERT INTO line SELECT (SELECT max(id) FROM run), 1, 'copy', CASE direction WHEN 'host to device' THEN 'to' ELSE 'from' END,
    bytes, duration_ns, NULL, NULL
  FROM t.rtl_copies WHERE direction IN ('host to device', 'device to host') AND bytes >= 1048576;
INSERT INTO line SELECT (SELECT max(id) FROM run), 1, 'counter', counter, count(value), min(value), printf('%.1f', avg(value)), max(value)
  FROM t.rtl_counters WHERE kernel LIKE 'rtl_selftest%' GROUP BY counter;
UPDATE run SET has_trace = 1 WHERE id = (SELECT max(id) FROM run);
