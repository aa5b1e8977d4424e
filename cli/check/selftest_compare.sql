-- SPDX-License-Identifier: MIT
-- `rtl selftest`: what came of it, when all has been run.
INSERT INTO fact SELECT 'hip', coalesce((SELECT text FROM line WHERE kind = 'hip'), 'none');
INSERT INTO fact SELECT 'hsa', coalesce((SELECT text FROM line WHERE kind = 'hsa'), 'none');
INSERT INTO fact SELECT 'gpu', printf('%s, %d compute units, wavefronts of %d', name, x, y)
    || CASE z WHEN '?' THEN '' ELSE ', ' || z END
    || CASE WHEN 'none' = (SELECT text FROM fact WHERE name = 'device') THEN ' (emulated)' ELSE '' END
  FROM (SELECT *, substr(text, length(name || x || y) + 4) AS z FROM (SELECT name, x, y, text FROM line WHERE kind = 'gpu'));

-- A program that fails alone tells nothing of rtl.
INSERT INTO finding SELECT id, 'gpu', 'not_run', 'gpu', coalesce(why, 'the runtime ends the program without a word, with ' || ending)
  FROM run WHERE workload = 'about' AND NOT ended;
INSERT INTO finding SELECT id, workload, 'not_run', 'end', 'alone, without rtl, the program fails: ' || coalesce(why, ending)
  FROM run WHERE mode IS NULL AND NOT ended AND workload NOT IN ('about', 'calibrate');

-- Whether it did what it does alone.
INSERT INTO finding SELECT r.id, r.workload, 'differs', 'end',
    'alone the program ends with ' || a.ending || ', traced with ' || r.ending || coalesce(': ' || r.why, '')
  FROM run r JOIN run a ON a.id = r.alone
  WHERE r.compared AND r.workload <> 'waves' AND NOT (r.ended AND r.ending = a.ending);
UPDATE run SET compared = 0 WHERE workload <> 'waves' AND NOT (ended AND ending = (SELECT ending FROM run a WHERE a.id = run.alone));
INSERT INTO finding
  SELECT id, workload,
    CASE WHEN traced <> alone OR traced = 'wrong' THEN 'differs' WHEN traced = 'right' THEN 'agrees' WHEN emulated THEN 'note' ELSE 'differs' END,
    'results',
    CASE WHEN traced <> alone THEN 'results alone: ' || alone || ', traced: ' || traced
      WHEN traced = 'right' THEN 'results: right, alone and traced'
      WHEN traced = 'wrong' THEN 'results are wrong, alone as well: not rtl''s doing'
      ELSE 'kernels have written nothing, alone as well' || CASE WHEN emulated THEN ': this GPU is emulated' ELSE '' END END
  FROM (SELECT r.id, workload, a.name AS alone, coalesce(t.name, 'none') AS traced,
          'none' = (SELECT text FROM fact WHERE name = 'device') AS emulated
        FROM run r JOIN line a ON a.run = r.alone AND a.kind = 'results' LEFT JOIN line t ON t.run = r.id AND t.kind = 'results'
        WHERE compared);
INSERT INTO finding SELECT id, workload, 'differs', 'trace', 'there is no trace' || coalesce(': ' || why, '')
  FROM run WHERE compared AND workload <> 'waves' AND NOT has_trace;
INSERT INTO finding SELECT id, workload, 'differs', 'lost', x || ' events lost, as the trace says'
  FROM run JOIN line ON run = id WHERE compared AND kind = 'lost' AND x > 0;

-- One finding for all that agrees, and one for each name that does not.
INSERT INTO finding SELECT run, workload, 'differs', checked,
    printf('%s of %s: %s, recorded: %d', what, thing, CASE WHEN said THEN printf('%d', said) ELSE 'none' END, recorded)
  FROM counted JOIN run ON id = run JOIN kind ON kind.kind = counted.kind AND kind.part IS counted.part WHERE said <> recorded;
INSERT INTO finding SELECT run, workload, 'agrees', checked, printf('%s: %d of %d recorded', what, sum(said), sum(recorded))
  FROM counted JOIN run ON id = run JOIN kind ON kind.kind = counted.kind AND kind.part IS counted.part
  GROUP BY run, checked HAVING NOT sum(said <> recorded);

-- Each time of the GPU's lies within its events, and those of kernels are not much longer. A hipEvent is told in ms as a float, and both clocks
-- have ticks: so far (0.5 % and 2 us) a kernel may seem longer than what is around it. In the median, what is around it may be longer by
-- 5 us, a fifth, and what events take that have nothing between them: events are packets of their own.
INSERT INTO finding
  SELECT run, workload, CASE WHEN events <> spans OR events <> pairs OR too_long OR apart THEN 'differs' ELSE 'agrees' END, checked,
    CASE WHEN events <> spans OR events <> pairs THEN printf('%s: %d timed by hipEvents, %d recorded', what, events, spans)
      ELSE printf('%s: %d, rtl %.2f us, hipEvent %.2f us (medians); hipEvents are longer by %.2f us (%.2f to %.2f)%s', what, events,
             span / 1e3, event / 1e3, longer / 1e3, least / 1e3, most / 1e3,
             CASE WHEN too_long THEN ': some of rtl''s are longer than what is around them' WHEN apart THEN ': rtl''s are too short' ELSE '' END) END
  FROM (SELECT *, kind = 'time' AND longer > 5000 + 4 * coalesce(empty, 0) + 0.2 * event AS apart
        FROM (SELECT run, workload, k.kind, checked, what, sum(NOT traced) AS events, sum(traced) AS spans,
                (SELECT count(*) FROM pair p WHERE p.run = l.run AND p.kind = l.kind AND p.name = l.name) AS pairs,
                (SELECT count(*) FROM pair p WHERE p.run = l.run AND p.kind = l.kind AND p.name = l.name
                  AND (span <= 0 OR span > event * 1.005 + 2000)) AS too_long,
                (SELECT min(event - span) FROM pair p WHERE p.run = l.run AND p.kind = l.kind AND p.name = l.name) AS least,
                (SELECT max(event - span) FROM pair p WHERE p.run = l.run AND p.kind = l.kind AND p.name = l.name) AS most,
                (SELECT value FROM median m WHERE m.run = l.run AND m.kind = l.kind AND m.name = l.name AND m.what = 'event') AS event,
                (SELECT value FROM median m WHERE m.run = l.run AND m.kind = l.kind AND m.name = l.name AND m.what = 'span') AS span,
                (SELECT value FROM median m WHERE m.run = l.run AND m.kind = l.kind AND m.name = l.name AND m.what = 'longer') AS longer,
                (SELECT value FROM median m WHERE m.run = l.run AND m.kind = 'time' AND m.name = 'empty') AS empty
              FROM line l JOIN run ON id = l.run JOIN kind k ON k.kind = l.kind AND k.part = l.name
              WHERE compared AND has_trace AND k.kind IN ('time', 'copy') GROUP BY l.run, l.kind, l.name HAVING sum(NOT traced)));

-- Counters: the waves of each dispatch are known, as the first GPU's wavefronts make them.
INSERT INTO finding
  SELECT id, workload, CASE WHEN kind.name <> 'SQ_WAVES' OR (x = dispatches AND y = wanted AND z = wanted) THEN 'agrees' ELSE 'differs' END,
    'counters',
    CASE kind.name WHEN 'SQ_WAVES'
      THEN printf('SQ_WAVES: %d in each of %d dispatches; counted: %.0f to %.0f, in %d', wanted, dispatches, y, z, x)
      ELSE printf('%s: %s to %s, mean %s, in %d dispatches (not judged)', kind.name, y, z, kind.text, x) END
  FROM (SELECT run.*,
          (SELECT name * ((x + wavefront - 1) / wavefront) FROM line, (SELECT y AS wavefront FROM line WHERE kind = 'gpu' LIMIT 1)
            WHERE run = id AND kind = 'waves') AS wanted,
          (SELECT x FROM line WHERE run = id AND kind = 'kernel' AND NOT traced) AS dispatches
        FROM run WHERE compared AND ended) JOIN line kind ON kind.run = id AND kind.kind = 'counter' ORDER BY kind.rowid;
INSERT INTO finding SELECT id, workload, 'not_run', 'counters', 'SQ_WAVES was not counted' || coalesce(': ' || why, '')
  FROM run WHERE compared AND workload = 'waves'
    AND NOT EXISTS (SELECT 1 FROM finding WHERE run = id AND checked = 'counters' AND text LIKE 'SQ\_WAVES: %' ESCAPE '\');
