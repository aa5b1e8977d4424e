-- SPDX-License-Identifier: MIT
-- `rtl info FOLDER`: the text, of its JSON.
WITH folder AS (SELECT json_extract(?1, '$.folder') AS path, json_extract(?1, '$.kind') AS kind, json_extract(?1, '$.pid') AS pid,
    json_extract(?1, '$.running') AS running),
  process AS (SELECT key AS p, value AS j FROM json_each(?1, '$.processes')),
  -- the first of a queue is at work, as far as that is known
  kernel AS (SELECT p, u.value AS v, json_extract(u.value, '$.queue') AS queue, count(*) - 1 AS behind,
      min(ifnull(json_extract(u.value, '$.packet_id'), json_extract(u.value, '$.begin_ns')))
    FROM process, json_each(process.j, '$.unfinished') AS u WHERE json_extract(u.value, '$.gpu') IS NOT NULL GROUP BY p, queue),
  stream AS (SELECT p, s.key AS s, json_extract(s.value, '$.stream') AS name, s.value AS j FROM process, json_each(process.j, '$.streams') AS s)
SELECT line FROM (
  SELECT -9 AS p, 0 AS s, 0 AS n, path || CASE kind
      WHEN 'collector' THEN printf(': of `rtl trace`, process %d, %s', pid,
        CASE WHEN running THEN 'running' ELSE 'dead: `rtl recover` completes its output' END)
      WHEN 'spool' THEN printf(': of process %d, %s', pid, CASE WHEN running THEN 'running' ELSE 'ended' END)
      ELSE ': a recording' END AS line FROM folder
  UNION ALL SELECT -8, 0, 0, 'command: ' || json_extract(?1, '$.program')
  UNION ALL SELECT -7, 0, 0, 'subscribers: ' || json_extract(?1, '$.subscribers')
  UNION ALL SELECT -6, 0, 0, 'database: ' || json_extract(?1, '$.database')
  UNION ALL SELECT -5, 0, 0, 'interrupted: ' || json_extract(?1, '$.interrupted')
  UNION ALL SELECT p, -2, 0, '' FROM process
  UNION ALL SELECT p, -1, 0, printf('process %d (%s), of %d: %s', json_extract(j, '$.pid'),
      CASE WHEN json_extract(j, '$.alive') THEN 'alive' ELSE 'ended' END, json_extract(j, '$.parent_pid'), json_extract(j, '$.command'))
    FROM process
  UNION ALL SELECT p, -1, ifnull(queue, 1000000000), printf('  under way on GPU %d, ', json_extract(v, '$.gpu')) || CASE WHEN queue IS NULL
      THEN printf('copies: %s, %d bytes', json_extract(v, '$.name'), json_extract(v, '$.bytes'))
      ELSE printf('queue %d: kernel %s, grid %dx%dx%d', queue, json_extract(v, '$.name'), json_extract(v, '$.grid_x'),
        json_extract(v, '$.grid_y'), json_extract(v, '$.grid_z')) END
      || printf(', of thread %d', json_extract(v, '$.tid')) || CASE WHEN behind THEN printf('; %d more behind it', behind) ELSE '' END
    FROM kernel
  UNION ALL SELECT p, s, -1, printf('  %s: %d published, %d delivered, %d undelivered, %d discarded, %d missed', name,
      json_extract(j, '$.published'), json_extract(j, '$.delivered'), json_extract(j, '$.undelivered'), json_extract(j, '$.discarded'),
      json_extract(j, '$.missed')) FROM stream
  UNION ALL SELECT p, s, c.key, printf('    %s: %d', json_extract(c.value, '$.cause'), json_extract(c.value, '$.count'))
    FROM stream, json_each(stream.j, '$.losses') AS c
  UNION ALL SELECT p, s, 1000 + c.key, printf('    left out, %s: %d', json_extract(c.value, '$.cause'), json_extract(c.value, '$.count'))
    FROM stream, json_each(stream.j, '$.left_out') AS c
  UNION ALL SELECT p, 9999, 0, printf('  its threads waited %d times for room in their buffers, %.3f s in all', json_extract(j, '$.waits'),
      json_extract(j, '$.waited_ns') / 1e9) FROM process WHERE json_extract(j, '$.waits') > 0)
  WHERE line NOT NULL ORDER BY p, s, n;
