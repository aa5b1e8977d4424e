-- SPDX-License-Identifier: MIT
-- `rtl status`: the text, of its JSON.
WITH session AS (SELECT key AS s, value AS j FROM json_each(?1, '$.sessions')),
  process AS (SELECT s, p.key AS p, p.value AS j FROM session, json_each(session.j, '$.processes') AS p
    WHERE json_extract(p.value, '$.alive')),
  opened AS (SELECT s, p, u.value AS v, json_extract(u.value, '$.tid') AS tid, json_extract(u.value, '$.age_ns') AS age,
      json_extract(u.value, '$.name') AS name, json_extract(u.value, '$.stream') AS stream, json_extract(u.value, '$.queue') AS queue
    FROM process, json_each(process.j, '$.unfinished') AS u
    -- one that a debug stream has, too, is shown once
    WHERE NOT EXISTS (SELECT 1 FROM json_each(process.j, '$.unfinished') AS d
      WHERE json_extract(d.value, '$.stream') = json_extract(u.value, '$.stream') || '.debug'
        AND json_extract(d.value, '$.begin_ns') = json_extract(u.value, '$.begin_ns'))),
  unfinished AS (SELECT *, CASE
      WHEN age < 1000000 THEN printf('%.0f us', age / 1e3) WHEN age < 1000000000 THEN printf('%.0f ms', age / 1e6)
      WHEN age < 600000000000 THEN printf('%.1f s', age / 1e9) ELSE printf('%.0f min', age / 6e10) END AS age_text FROM opened),
  -- the first of a queue is at work, as far as that is known
  kernel AS (SELECT *, row_number() OVER queues AS place, count(*) OVER (PARTITION BY s, p, queue) - 1 AS behind FROM unfinished
    WHERE queue IS NOT NULL WINDOW queues AS (PARTITION BY s, p, queue ORDER BY json_extract(v, '$.packet_id'))),
  stream AS (SELECT s, p, t.key AS t, t.value AS j, (SELECT sum(json_extract(l.value, '$.count'))
      FROM json_each(t.value, '$.losses') AS l WHERE json_extract(l.value, '$.cause') = 'under way when the process ended') AS under_way
    FROM process, json_each(process.j, '$.streams') AS t)
SELECT line FROM (
  SELECT 0 AS s, -1 AS p, 0 AS k, 0 AS n, 0 AS o, 'no program of yours is being traced' AS line WHERE NOT EXISTS (SELECT 1 FROM session)
  UNION ALL SELECT s, -1, 0, 0, 0, printf('rtl, process %d: %s', json_extract(j, '$.pid'),
      json_extract(j, '$.folder')) FROM session
  UNION ALL SELECT s, p, 0, 0, 0, printf('process %d: %s', json_extract(j, '$.pid'), json_extract(j, '$.command')) FROM process
  UNION ALL SELECT s, p, 1, 0, 0, '  no call or range is open' FROM process
    WHERE NOT EXISTS (SELECT 1 FROM unfinished AS u WHERE u.s = process.s AND u.p = process.p AND queue IS NULL)
  UNION ALL SELECT s, p, 1, tid, -age, printf('  thread %d: %s in %s%s', tid, age_text,
      CASE WHEN stream = 'rtl.roctx' THEN 'range ' ELSE '' END, name) FROM unfinished WHERE queue IS NULL
  UNION ALL SELECT s, p, 2, queue, 0, printf('  GPU %d, queue %d: kernel %s, grid %dx%dx%d, submitted %s ago by thread %d%s',
      json_extract(v, '$.gpu'), queue, name, json_extract(v, '$.grid_x'), json_extract(v, '$.grid_y'), json_extract(v, '$.grid_z'),
      age_text, tid, CASE WHEN behind THEN printf('; %d more behind it', behind) ELSE '' END) FROM kernel WHERE place = 1
  UNION ALL SELECT s, p, 3, t, 0, printf('  %s: %d recorded%s, %d lost', json_extract(j, '$.stream'), json_extract(j, '$.published'),
      CASE WHEN under_way THEN printf(', %d under way', under_way) ELSE '' END,
      json_extract(j, '$.discarded') + json_extract(j, '$.missed') - ifnull(under_way, 0)) FROM stream)
ORDER BY s, p, k, n, o;
