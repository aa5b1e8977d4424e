-- SPDX-License-Identifier: MIT
-- `rtl status`, `rtl top`: the text, of their JSON. Of the latter it has a period, in which was counted.
WITH session AS (SELECT key AS s, value AS j FROM json_each(?1, '$.sessions')),
  process AS (SELECT s, p.key AS p, p.value AS j FROM session, json_each(session.j, '$.processes') AS p
    WHERE json_extract(p.value, '$.alive')),
  started AS (SELECT s, p, u.value AS v, json_extract(u.value, '$.stream') AS stream, json_extract(u.value, '$.begin_ns') AS begin_ns
    FROM process, json_each(process.j, '$.unfinished') AS u),
  opened AS (SELECT s, p, v, json_extract(v, '$.tid') AS tid, json_extract(v, '$.age_ns') AS age, json_extract(v, '$.name') AS name, stream,
      -- copies: as one queue behind the others
      ifnull(json_extract(v, '$.queue'), CASE WHEN json_extract(v, '$.bytes') NOT NULL THEN 1000000000 END) AS queue
    -- one that a debug stream has, too, is shown once
    FROM started WHERE (s, p, stream || '.debug', begin_ns) NOT IN (SELECT s, p, stream, begin_ns FROM started
      WHERE stream LIKE '%.debug')),
  aged AS (SELECT s, p, v, tid, age, name, stream, queue FROM opened
    UNION ALL SELECT process.s, p, l.value, NULL, json_extract(?1, '$.now_ns') - json_extract(l.value, '$.end_ns'),
      json_extract(l.value, '$.kernel'), 'last', json_extract(l.value, '$.queue')
    FROM json_each(?1, '$.recent') AS r, json_each(r.value, '$.last') AS l JOIN process ON process.s = r.key
      AND json_extract(process.j, '$.pid') = json_extract(l.value, '$.pid')),
  aged_text AS (SELECT *, CASE
      WHEN age < 1000000 THEN printf('%.0f us', age / 1e3) WHEN age < 1000000000 THEN printf('%.0f ms', age / 1e6)
      WHEN age < 600000000000 THEN printf('%.1f s', age / 1e9) ELSE printf('%.0f min', age / 6e10) END AS age_text FROM aged),
  unfinished AS (SELECT * FROM aged_text WHERE stream <> 'last'),
  -- the first of a queue is at work, as far as that is known
  kernel AS (SELECT *, row_number() OVER queues AS place, count(*) OVER (PARTITION BY s, p, queue) - 1 AS behind FROM unfinished
    WHERE queue IS NOT NULL WINDOW queues AS (PARTITION BY s, p, queue ORDER BY json_extract(v, '$.packet_id'), age DESC)),
  stream AS (SELECT s, p, t.key AS t, t.value AS j, (SELECT sum(json_extract(l.value, '$.count'))
      FROM json_each(t.value, '$.losses') AS l WHERE json_extract(l.value, '$.cause') = 'under way when the process ended') AS under_way,
      -- not of `missed`, which was read before
      (SELECT sum(json_extract(l.value, '$.count')) FROM json_each(t.value, '$.losses') AS l
        WHERE json_extract(l.value, '$.cause') <> 'under way when the process ended') AS lost
    FROM process, json_each(process.j, '$.streams') AS t),
  recent AS (SELECT key AS s, value AS j FROM json_each(?1, '$.recent')),
  -- of what the database has, which is a little behind
  period AS (SELECT json_extract(?1, '$.now_ns') - 100000000 AS end_ns, json_extract(?1, '$.period_ns') AS length_ns,
      json_extract(?1, '$.period_ns') / 1e9 AS seconds WHERE json_extract(?1, '$.top')),
  work AS (SELECT s, json_extract(w.value, '$.what') AS what, json_extract(w.value, '$.gpu') AS gpu, json_extract(w.value, '$.name') AS name,
      json_extract(w.value, '$.count') AS count, json_extract(w.value, '$.total_ns') AS total_ns, json_extract(w.value, '$.bytes') AS bytes,
      json_extract(w.value, '$.end_ns') AS end_ns FROM recent, json_each(recent.j, '$.work') AS w, period),
  -- what is under way keeps its GPU busy since it was submitted, or what was before it ended
  busy AS (SELECT s, gpu, sum(ns) AS ns FROM (SELECT s, gpu, total_ns AS ns FROM work WHERE what = 'busy'
      UNION ALL SELECT s, gpu, max(0, period.end_ns - max(period.end_ns - period.length_ns, since, ifnull((SELECT w.end_ns FROM work AS w
          WHERE w.what = 'busy' AND w.s = u.s AND w.gpu = u.gpu), 0))) FROM period,
        (SELECT s, json_extract(v, '$.gpu') AS gpu, min(json_extract(v, '$.begin_ns')) AS since FROM kernel GROUP BY 1, 2) AS u)
    GROUP BY s, gpu),
  rate AS (SELECT s, what, name, sum(count) / seconds AS count, sum(total_ns) AS total_ns, sum(bytes) / seconds AS bytes
    FROM work, period WHERE what <> 'busy' GROUP BY s, what, name),
  looks AS (SELECT 1 AS sign, value AS j FROM json_each(?1, '$.sessions') UNION ALL SELECT -1, value FROM json_each(?1, '$.before')),
  -- what was recorded between both looks, and what is under way since
  grown AS (SELECT json_extract(p.value, '$.pid') AS pid, json_extract(t.value, '$.stream') AS stream,
      sum(sign * json_extract(t.value, '$.published')) * 1e9 / json_extract(?1, '$.period_ns') AS recorded,
      sum(sign * ifnull((SELECT json_extract(l.value, '$.count') FROM json_each(t.value, '$.losses') AS l
        WHERE json_extract(l.value, '$.cause') = 'under way when the process ended'), 0)) * 1e9 / json_extract(?1, '$.period_ns') AS begun
    FROM looks, json_each(looks.j, '$.processes') AS p, json_each(p.value, '$.streams') AS t GROUP BY 1, 2 HAVING count(*) = 2)
SELECT line FROM (
  SELECT 0 AS s, -1 AS p, 0 AS k, 0 AS n, 0 AS o, 'no program of yours is being traced' AS line WHERE NOT EXISTS (SELECT 1 FROM session)
  UNION ALL SELECT s, -1, 0, 0, 0, printf('rtl, process %d: %s', json_extract(j, '$.pid'), folder) || CASE WHEN folder
      GLOB '*/rtlasleep-*' THEN ', attached: what began before is not known' ELSE '' END
    FROM (SELECT s, j, json_extract(j, '$.folder') AS folder FROM session)
  UNION ALL SELECT s, -1, 1, gpu, 0, printf('  GPU %d: %.0f %% busy', gpu, 100.0 * ns / period.length_ns) FROM busy JOIN recent USING (s),
    period WHERE json_extract(recent.j, '$.database')
  UNION ALL SELECT s, -1, 2, 0, -total_ns, line FROM (SELECT s, total_ns, printf('  %5.1f %% of the kernels'' time: %s, %d a second',
      100.0 * total_ns / max(sum(total_ns) OVER (PARTITION BY s), 1), substr(name, 1, 60), count) AS line,
      row_number() OVER (PARTITION BY s ORDER BY total_ns DESC) AS place FROM rate WHERE what = 'kernel') WHERE place <= 10
  UNION ALL SELECT s, -1, 3, 0, -bytes, printf('  copies %s: %.1f MB a second, %d a second', name, bytes / 1e6, count) FROM rate
    WHERE what = 'copy'
  UNION ALL SELECT s, -1, 4, 0, 0, '  no database is being written, so ended work is not shown' FROM recent, period
    WHERE NOT json_extract(j, '$.database')
  UNION ALL SELECT s, p, 0, 0, 0, printf('process %d: %s', json_extract(j, '$.pid'), json_extract(j, '$.command')) FROM process
  UNION ALL SELECT s, p, 0, 1, 0, printf('  %d launches a second', recorded + begun) FROM process, period JOIN grown
      ON pid = json_extract(j, '$.pid') AND stream = 'rtl.hsa'
  UNION ALL SELECT s, p, 1, 0, 0, '  no call or range is open' FROM process
    WHERE NOT EXISTS (SELECT 1 FROM unfinished AS u WHERE u.s = process.s AND u.p = process.p AND queue IS NULL)
  UNION ALL SELECT s, p, 1, tid, -age, printf('  thread %d: %s in %s%s', tid, age_text,
      CASE WHEN stream = 'rtl.roctx' THEN 'range ' ELSE '' END, name) FROM unfinished WHERE queue IS NULL
  UNION ALL SELECT s, p, 2, queue, 0, printf('  GPU %d, ', json_extract(v, '$.gpu')) || CASE WHEN stream = 'rtl.hsa.copy'
      THEN printf('copies: %s, %d bytes', name, json_extract(v, '$.bytes'))
      ELSE printf('queue %d: kernel %s, grid %dx%dx%d', queue, name, json_extract(v, '$.grid_x'), json_extract(v, '$.grid_y'),
        json_extract(v, '$.grid_z')) END
      || printf(', submitted %s ago by thread %d', age_text, tid) || CASE WHEN behind THEN printf('; %d more behind it', behind) ELSE '' END
    FROM kernel WHERE place = 1
  UNION ALL SELECT s, p, 2, queue, 1, printf('  GPU %d, queue %d: kernel %s was the last to end, %s ago',
      json_extract(v, '$.gpu'), queue, name, age_text) FROM aged_text WHERE stream = 'last'
  UNION ALL SELECT s, p, 3, t, 0, printf('  %s: %d recorded%s%s, %d lost', json_extract(stream.j, '$.stream'),
      json_extract(stream.j, '$.published'), CASE WHEN recorded >= 1 THEN printf(', %d a second', recorded) ELSE '' END,
      CASE WHEN under_way THEN printf(', %d under way', under_way) ELSE '' END, lost)
    FROM stream JOIN process USING (s, p) LEFT JOIN grown ON pid = json_extract(process.j, '$.pid')
      AND grown.stream = json_extract(stream.j, '$.stream') WHERE NOT EXISTS (SELECT 1 FROM period)
  UNION ALL SELECT s, p, 4, 0, 0, printf('  buffers: %d events%s', (SELECT sum(json_extract(t.value, '$.undelivered'))
      FROM json_each(j, '$.streams') AS t), CASE WHEN json_extract(j, '$.waits') THEN printf('; threads waited %d times for room, %.3f s in all',
      json_extract(j, '$.waits'), json_extract(j, '$.waited_ns') / 1e9) ELSE '' END) FROM process WHERE NOT EXISTS (SELECT 1 FROM period)
  UNION ALL SELECT process.s, p, 5, 0, 0, '  memory in use: ' || group_concat(printf('%s %.1f MB', json_extract(m.value, '$.place'),
      json_extract(m.value, '$.bytes') / 1e6), ', ') FROM recent JOIN process USING (s), json_each(recent.j, '$.memory') AS m
    WHERE json_extract(m.value, '$.pid') = json_extract(process.j, '$.pid') GROUP BY process.s, p)
ORDER BY s, p, k, n, o;
