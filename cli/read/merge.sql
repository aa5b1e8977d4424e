-- SPDX-License-Identifier: MIT
-- merge.c runs it section by section. i: the input at hand; o: the output; main, in memory: what is known of the inputs before.
-- Strides tell hosts apart, as rocpd_metadata says: 10000000 of pids, 1000 of GPUs.

-- @make
CREATE TABLE known_host (name TEXT, node INTEGER, shift INTEGER); -- with --align-collectives, once it is known
CREATE TABLE known_gpu (uuid TEXT PRIMARY KEY, id INTEGER);
CREATE TABLE known_spool (spool INTEGER);
CREATE TABLE known_fact (key TEXT, value TEXT);
-- What becomes of the input at hand, and of its GPUs that are known under another number.
CREATE TABLE move (node INTEGER, shift INTEGER);
CREATE TABLE same_gpu (was INTEGER PRIMARY KEY, id INTEGER);
-- With --align-collectives: when collectives ended on the GPU, in the input at hand, and in those before.
CREATE TABLE collective (communicator, operation, sequence, end_ns, UNIQUE (communicator, operation, sequence));
CREATE TABLE known_collective (communicator, operation, sequence, end_ns, UNIQUE (communicator, operation, sequence));
CREATE VIEW differ AS SELECT k.end_ns - c.end_ns AS ns FROM known_collective AS k
  JOIN collective AS c USING (communicator, operation, sequence);

-- @collectives
SELECT CASE WHEN EXISTS (SELECT 1 FROM known_fact WHERE key = 'align')
    AND EXISTS (SELECT 1 FROM i.sqlite_master WHERE name = 'rtl_e_rtl_rccl_operation')
  THEN 'INSERT INTO collective SELECT o.communicator, o.operation, o.sequence, max(d.end_ns)
    FROM i.rtl_e_rtl_rccl_operation AS o JOIN i.rtl_dispatches AS d USING (process, correlation)
    WHERE correlation AND o.peer < 0 GROUP BY 1, 2, 3' END;

-- @check
-- What all must agree in.
SELECT CASE
  WHEN (SELECT count(DISTINCT host_name) > 1 FROM i.rtl_process)
    THEN 'merged of several hosts: name it first, or name the traces that it was merged from'
  WHEN (SELECT count(*) <> 3 FROM i.rtl_meta JOIN known_fact USING (key, value) WHERE key IN ('schema', 'gpu', 'clock'))
    THEN 'its schema, kind of clock or GPU numbering differs from the first trace''s (rtl_meta)'
  WHEN EXISTS (SELECT 1 FROM i.rtl_process WHERE spool IN (SELECT spool FROM known_spool))
    THEN 'holds a process that an earlier trace holds, too'
  WHEN EXISTS (SELECT 1 FROM known_fact WHERE key = 'align') AND NOT EXISTS (SELECT 1 FROM differ)
      AND NOT EXISTS (SELECT 1 FROM known_host WHERE name IS (SELECT min(host_name) FROM i.rtl_process)
        AND (node = 0 OR shift NOT NULL))
    THEN 'shares no collective with an earlier trace: its clock cannot be aligned'
  -- beyond, pids have no room in 32 bits
  WHEN (SELECT max(node) >= 213 FROM known_host) THEN 'too many hosts'
END;

-- A clock counts from the start of its machine (CLOCK_BOOTTIME): how two differ is known by the times of day that both have noted.

-- @first
INSERT INTO known_fact
  SELECT key, value FROM i.rtl_meta WHERE key IN ('schema', 'gpu', 'clock')
  UNION ALL SELECT 'of the first', (SELECT realtime_ns - time_ns FROM i.rtl_clock WHERE realtime_ns NOT NULL AND process = 1
    ORDER BY error_ns LIMIT 1);
INSERT INTO known_host SELECT host_name, min(pid) / 10000000, NULL FROM i.rtl_process GROUP BY host_name;
INSERT INTO move VALUES (0, 0);

-- @other
-- A host that is there keeps its node, another one gets the next.
INSERT INTO known_host SELECT DISTINCT host_name, (SELECT max(node) + 1 FROM known_host), NULL
  FROM i.rtl_process WHERE host_name NOT IN (SELECT name FROM known_host);
DELETE FROM move;
-- The median: ranks end a collective at about the same time.
UPDATE known_host SET shift = (SELECT ns FROM differ ORDER BY ns LIMIT 1 OFFSET (SELECT count(*) / 2 FROM differ))
  WHERE shift IS NULL AND node AND name IS (SELECT min(host_name) FROM i.rtl_process);
INSERT INTO move SELECT node, coalesce(shift, (SELECT realtime_ns - time_ns FROM i.rtl_clock WHERE realtime_ns NOT NULL ORDER BY error_ns LIMIT 1)
    - (SELECT value FROM known_fact WHERE key = 'of the first'), 0)
  FROM known_host WHERE name IS (SELECT min(host_name) FROM i.rtl_process);
-- Clocks of one boot differ by what NTP has set the time of day by, of two boots by more: it is the same clock.
UPDATE move SET shift = 0 WHERE node = 0 AND abs(shift) < 10000000000;

-- @rest
INSERT OR IGNORE INTO known_gpu SELECT u.value, CAST(n.value AS INTEGER)
  FROM i.rtl_tracepoint_metadata AS u JOIN i.rtl_tracepoint_metadata AS n USING (process, uid)
  WHERE u.key = 'uuid' AND n.key = 'node' AND u.value <> 'GPU-XX';
INSERT INTO known_spool SELECT spool FROM i.rtl_process;
INSERT OR IGNORE INTO known_collective SELECT communicator, operation, sequence, end_ns + (SELECT shift FROM move) FROM collective;
DELETE FROM collective;

-- @same
-- A GPU whose UUID is known is that one (GPU-XX: it has none); another one keeps its number, with its node's stride.
DELETE FROM same_gpu;
INSERT OR IGNORE INTO same_gpu SELECT CAST(n.value AS INTEGER), (SELECT id FROM known_gpu WHERE uuid = u.value)
  FROM i.rtl_tracepoint_metadata AS u JOIN i.rtl_tracepoint_metadata AS n USING (process, uid)
  WHERE u.key = 'uuid' AND n.key = 'node' AND u.value IN (SELECT uuid FROM known_gpu);

-- @list
-- One UPDATE for each column of events with a time, all others are relative to it, or the number of a GPU. Of a copy 0 is the host.
SELECT group_concat(printf('UPDATE i."%w" SET ', t.name) || CASE c.name
    WHEN 'time_ns' THEN 'time_ns = time_ns + (SELECT shift FROM move)'
    ELSE replace('@ = ifnull((SELECT id FROM same_gpu WHERE was = @), @ + (SELECT node FROM move) * 1000)', '@', c.name)
      || CASE WHEN c.name = 'node' THEN ' WHERE flags & 1'
        WHEN t.name GLOB 'rtl_s_rtl_hsa_copy_*' THEN ' WHERE ' || c.name ELSE '' END END, ';')
  FROM i.sqlite_master AS t JOIN pragma_table_info(t.name, 'i') AS c
  WHERE t.type = 'table' AND t.name GLOB 'rtl_s_*' AND (c.name IN ('time_ns', 'gpu', 'src_gpu', 'dst_gpu')
    OR (c.name = 'node' AND t.name GLOB 'rtl_s_rtl_hsa_mem_*'));

-- @move
UPDATE i.rtl_process SET start_ns = start_ns + (SELECT shift FROM move), end_ns = end_ns + (SELECT shift FROM move),
  first_ns = first_ns + (SELECT shift FROM move), last_ns = last_ns + (SELECT shift FROM move),
  pid = pid + (SELECT node FROM move) * 10000000, parent_pid = parent_pid + (SELECT node FROM move) * 10000000;
UPDATE i.rtl_clock SET time_ns = time_ns + (SELECT shift FROM move), first_ns = first_ns + (SELECT shift FROM move),
  last_ns = last_ns + (SELECT shift FROM move);
UPDATE i.rtl_tracepoint_metadata SET value = ifnull((SELECT id FROM same_gpu WHERE was = CAST(value AS INTEGER)),
  CAST(value AS INTEGER) + (SELECT node FROM move) * 1000) WHERE key IN ('node', 'gpu');
UPDATE i.rtl_meta SET value = (WITH RECURSIVE pause(rest, moved) AS (SELECT rtl_meta.value, '' UNION ALL
    SELECT substr(rest, instr(rest, ' ') + 1), moved || printf('%d-%d ', CAST(rest AS INTEGER) + shift,
      CAST(substr(rest, instr(rest, '-') + 1) AS INTEGER) + shift) FROM pause, move WHERE instr(rest, ' '))
  SELECT moved FROM pause WHERE NOT instr(rest, ' ')) WHERE key = 'pauses';

-- @take
-- Facts of all: one of them, or a list.
INSERT OR REPLACE INTO o.rtl_meta SELECT * FROM i.rtl_meta WHERE key IN ('state', 'mode', 'where', 'session', 'version', 'ended',
  'pauses');

-- @join
UPDATE o.rtl_meta SET value = (SELECT CASE WHEN x.value = rtl_meta.value THEN x.value
    WHEN rtl_meta.key = 'state' AND rtl_meta.value = 'complete' THEN x.value
    WHEN rtl_meta.key = 'state' THEN rtl_meta.value
    WHEN rtl_meta.key = 'pauses' THEN rtl_meta.value || x.value
    WHEN instr(', ' || rtl_meta.value || ',', ', ' || x.value || ',') THEN rtl_meta.value
    ELSE rtl_meta.value || ', ' || x.value
  END FROM i.rtl_meta AS x WHERE x.key = rtl_meta.key)
  WHERE key IN ('state', 'mode', 'where', 'session', 'version', 'ended', 'pauses') AND key IN (SELECT key FROM i.rtl_meta);
UPDATE o.rocpd_metadata SET value = value + ifnull((SELECT value FROM i.rocpd_metadata WHERE tag = 'session_count'), 1)
  WHERE tag = 'session_count';

-- @add
INSERT OR IGNORE INTO o.rtl_meta SELECT key, CASE key WHEN 'writer' THEN 'merged' ELSE value END
  FROM i.rtl_meta WHERE key IN ('interrupted', 'recovered', 'writer', 'ended', 'pauses');
-- The time of day that was noted in each process.
INSERT INTO o.rtl_clock (process, time_ns, realtime_ns, error_ns) SELECT o.process, c.time_ns, c.realtime_ns, c.error_ns
  FROM i.rtl_clock AS c JOIN i.rtl_process AS p USING (process) JOIN o.rtl_process AS o ON o.spool = p.spool
  WHERE c.realtime_ns NOT NULL;

-- @subscriber
-- Which one writes the output: in a list some characters mean something, and in a name "%".
SELECT 'libsqlite_sub.so?output=' || replace(replace(replace((SELECT value FROM known_fact WHERE key = 'output'),
    '%', '%25%25'), '&', '%26'), ':', '%3A')
  || CASE WHEN EXISTS (SELECT 1 FROM known_fact WHERE key = 'gpu' AND value = 'index') THEN '&gpu=index' ELSE '' END;
