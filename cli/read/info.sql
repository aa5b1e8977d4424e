-- SPDX-License-Identifier: MIT
-- What `rtl info` shows of a trace, part by part. Of each row the first column is the line, the others are what the JSON has.
-- A part of a table that the trace does not have has no rows.

-- @ranks
SELECT line, * FROM rtl_ranks;

-- @processes
SELECT printf('process %d: pid %d of %d, host %s, %s s: %s', process, pid, parent_pid, host_name,
    ifnull(round((end_ns - start_ns) / 1e9, 3), '?'), command) AS line,
  process, pid, parent_pid, command, host_name AS host, round((end_ns - start_ns) / 1e9, 3) AS seconds FROM rtl_process ORDER BY process;

-- @faults
SELECT printf('fault of GPU %d%s, process %d: %s%s: %s%s', gpu, CASE WHEN queue THEN printf(', queue %d', queue) ELSE '' END, process, kind,
    CASE WHEN address THEN printf(' at 0x%x', address) ELSE '' END, reason, ifnull(': ' || memory, '')) AS line,
  process, gpu, queue, kind, address, reason, memory, time_ns FROM rtl_faults ORDER BY id;

-- @open
SELECT printf('open when process %d ended: %s, thread %d, for %s s', process, name, tid, round(duration_ns / 1e9, 3)) AS line, *
  FROM (SELECT c.process AS process, c.tid AS tid, n.string AS name, c.end_ns - c.begin_ns AS duration_ns FROM rtl_call_all AS c
      JOIN rocpd_string AS n ON n.id = c.function_id WHERE c.flags & 4
    UNION ALL SELECT process, tid, name, duration_ns FROM rtl_markers WHERE flags & 4) ORDER BY process, duration_ns DESC;

-- The first of a queue is at work, as far as that is known.
-- @under_way
SELECT printf('under way when process %d ended: %s%s, thread %d, for %s s%s', process, name, ifnull(' on queue ' || queue, ''), tid,
    round(age_ns / 1e9, 3), CASE WHEN behind THEN printf('; %d more behind it', behind) ELSE '' END) AS line, *
  FROM (SELECT process, gpu, queue, tid, kernel AS name, max(age_ns) AS age_ns, count(*) - 1 AS behind FROM rtl_under_way
    GROUP BY process, gpu, queue) ORDER BY process, queue;

-- @gpus
SELECT printf('GPU %s of process %d: %s', ifnull(node, '?'), process, name) || ifnull(', ' || nullif(product, ''), '')
    || ifnull(', ' || nullif(uuid, ''), '') || ifnull(', ' || nullif(bus_id, ''), '') || ifnull(', ' || compute_units || ' compute units', '')
    || ifnull(', ' || memory_gib || ' GiB', '') AS line, *
  FROM (SELECT process, CAST(max(v) FILTER (WHERE k = 'node') AS INTEGER) AS node, name, max(v) FILTER (WHERE k = 'product') AS product,
      max(v) FILTER (WHERE k = 'uuid') AS uuid, max(v) FILTER (WHERE k = 'bus_id') AS bus_id,
      CAST(max(v) FILTER (WHERE k = 'compute_units') AS INTEGER) AS compute_units,
      round(max(v) FILTER (WHERE k = 'memory_bytes') / 1073741824.0, 1) AS memory_gib
    FROM (SELECT t.process AS process, t.uid AS uid, t.name AS name, m.key AS k, m.value AS v
      FROM rtl_tracepoint AS t JOIN rtl_tracepoint_metadata AS m USING (process, uid) WHERE t.kind = 'agent')
    GROUP BY process, uid ORDER BY process, 2);

-- Where that was not the intercepted queues that are the rule.
-- @sources
SELECT printf('source of process %d: %s', process, substr(text, 9)) AS line, process, substr(text, 9) AS source
  FROM rtl_e_rtl_diagnostics_diagnostics WHERE who = 'hsa' AND text LIKE 'source: %' ORDER BY process, id;

-- @streams
SELECT printf('stream %s %d.%d: %s', name, version_major, version_minor, description) AS line, name AS stream, version_major, version_minor,
  description FROM rtl_stream ORDER BY rtl_stream.stream;

-- @ledger
SELECT printf('ledger of %s: %d published, %d delivered, %d discarded, %d abandoned, %d missed', stream, sum(published), sum(delivered),
    sum(discarded), sum(abandoned), sum(missed)) AS line, stream, sum(published) AS published, sum(delivered) AS delivered,
  sum(discarded) AS discarded, sum(abandoned) AS abandoned, sum(missed) AS missed FROM rtl_ledger GROUP BY stream
  HAVING sum(published + discarded + missed) > 0 ORDER BY stream;

-- @losses
SELECT printf('  lost of %s: %s: %d', stream, cause, sum(count)) AS line, stream, cause, sum(count) AS count FROM rtl_loss
  GROUP BY stream, cause ORDER BY stream, cause;

-- @left_out
SELECT printf('  left out of %s: %s: %d', stream, cause, sum(count)) AS line, stream, cause, sum(count) AS count FROM rtl_left_out
  GROUP BY stream, cause ORDER BY stream, cause;

-- @waits
SELECT printf('process %d: its threads waited %d times for room in their buffers, %s s in all', process, waits,
  round(waited_ns / 1e9, 3)) AS line, process, waits, round(waited_ns / 1e9, 3) AS seconds FROM rtl_wait ORDER BY process;

-- @clock
SELECT printf('clock of process %d: %s, exact to %s ns', process,
    datetime(min(realtime_ns) / 1000000000, 'unixepoch') || ' UTC', ifnull(max(error_ns), '?')) AS line,
  process, datetime(min(realtime_ns) / 1000000000, 'unixepoch') || ' UTC' AS start, max(error_ns) AS error_ns
  FROM rtl_clock WHERE realtime_ns NOT NULL GROUP BY process;
