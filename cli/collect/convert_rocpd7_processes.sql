-- SPDX-License-Identifier: MIT
-- The processes of which a file for ROCm 7 has tables, with what its statements are given.
SELECT rtl_guid((c.start_ns + ifnull((SELECT k.realtime_ns - k.time_ns FROM i.rtl_clock AS k WHERE k.process = c.process
      AND k.realtime_ns IS NOT NULL LIMIT 1), 0)) / 1000000, ifnull(nullif(p.spool, 0), c.start_ns * 31 + c.pid)) AS guid,
    c.process, c.pid, c.host_name AS host, rtl_machine(c.host_name) AS machine, rtl_hash(rtl_machine(c.host_name)) AS hash,
    rtl_hash(rtl_machine(c.host_name)) % 4294967295 AS node, a.ops, a.ops + o.ops AS copies, a.ops + o.ops + m.copies AS mems
  FROM c_process AS c JOIN i.rtl_process AS p USING (process), (SELECT ifnull(max(id), 0) AS ops FROM i.rocpd_api) AS a,
    (SELECT ifnull(max(id), 0) AS ops FROM i.rocpd_op) AS o, (SELECT ifnull(max(id), 0) AS copies FROM i.rtl_copy) AS m
  ORDER BY c.process;
