-- SPDX-License-Identifier: MIT
-- What has ended, of a database that is being written. ?1, ?2: when the period began and ended. There is no index: rows are looked at
-- from the newest on, as they were delivered.

-- @last
SELECT NULL, pid, gpu, queue, kernel, max(end_ns) AS end_ns
  FROM (SELECT pid, gpu, queue, kernel, end_ns FROM rtl_dispatches ORDER BY op_id DESC LIMIT 4096) GROUP BY pid, queue;

-- @memory
SELECT NULL, pid, place, in_use_bytes AS bytes, max(time_ns) AS time_ns FROM rtl_mem_in_use JOIN rtl_process USING (process)
  GROUP BY process, place;

-- @work
WITH RECURSIVE
  kernels(id) AS (SELECT max(id) FROM rtl_e_rtl_hsa_task_end UNION ALL SELECT id - 10000 FROM kernels
    WHERE (SELECT e.time_ns FROM rtl_e_rtl_hsa_task_end AS e WHERE e.id <= kernels.id ORDER BY e.id DESC LIMIT 1) > ?1),
  copies(id) AS (SELECT max(id) FROM rtl_e_rtl_hsa_copy_transfer_end UNION ALL SELECT id - 10000 FROM copies
    WHERE (SELECT e.time_ns FROM rtl_e_rtl_hsa_copy_transfer_end AS e WHERE e.id <= copies.id ORDER BY e.id DESC LIMIT 1) > ?1),
  work AS MATERIALIZED (SELECT 'kernel' AS what, gpu, kernel AS name, begin_ns, end_ns, 0 AS bytes FROM rtl_dispatches
      WHERE op_id >= (SELECT min(id) FROM kernels) AND end_ns > ?1 AND end_ns <= ?2
    UNION ALL SELECT 'copy', gpu, direction, ifnull(begin_ns, submit_ns), ifnull(end_ns, submit_ns), bytes FROM rtl_copies
      WHERE id >= (SELECT min(id) FROM copies) AND ifnull(end_ns, submit_ns) > ?1 AND ifnull(end_ns, submit_ns) <= ?2),
  -- each with the latest end of those that began before it
  covered AS (SELECT gpu, max(begin_ns, ?1) AS begin_ns, end_ns, max(end_ns) OVER (PARTITION BY gpu ORDER BY begin_ns, end_ns
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM work)
SELECT NULL, what, gpu, name, count(*) AS count, sum(end_ns - begin_ns) AS total_ns, sum(bytes) AS bytes, max(end_ns) AS end_ns FROM work
    GROUP BY what, gpu, name
  UNION ALL SELECT NULL, 'busy', gpu, NULL, count(*), sum(max(end_ns - max(begin_ns, ifnull(before, 0)), 0)), 0, max(end_ns) FROM covered
    GROUP BY gpu;
