-- SPDX-License-Identifier: MIT
-- `rtl selftest`: what each run of its program said, and what its trace has.
CREATE TABLE run(id INTEGER PRIMARY KEY, workload, mode, alone, ending, why, ended, compared, has_trace);
-- As the program prints it ("KIND NAME X Y", text: all behind KIND), or, `traced`, as the trace has it.
CREATE TABLE line(run, traced, kind, name, x NUMERIC, y NUMERIC, text, z NUMERIC);
CREATE TABLE fact(name, text);
CREATE TABLE finding(run, workload, level, checked, text);

-- The records of selftest.sh, with their words as JSON; what the program says is of the last run.
CREATE TABLE record(text, words);
CREATE TRIGGER fact AFTER INSERT ON record WHEN NEW.text GLOB 'fact *' BEGIN
  INSERT INTO fact SELECT name, substr(NEW.text, length(name) + 7) FROM (SELECT json_extract(NEW.words, '$[1]') AS name);
END;
CREATE TRIGGER run AFTER INSERT ON record WHEN NEW.text GLOB 'run *' BEGIN
  INSERT INTO run SELECT id, workload, nullif(mode, 'alone'), nullif(alone, 0), NULL, NULL, 0, compared, 0
  FROM (SELECT json_extract(NEW.words, '$[1]') + 0 AS id, json_extract(NEW.words, '$[2]') AS workload,
               json_extract(NEW.words, '$[3]') AS mode, json_extract(NEW.words, '$[4]') + 0 AS alone,
               ifnull(json_extract(NEW.words, '$[5]') + 0, 0) AS compared);
END;
CREATE TRIGGER said AFTER INSERT ON record WHEN NEW.text GLOB 'said ?*' BEGIN
  INSERT INTO line SELECT (SELECT max(id) FROM run), 0, kind, ifnull(json_extract(NEW.words, '$[2]'), ''), nullif(json_extract(NEW.words, '$[3]'), ''),
      nullif(json_extract(NEW.words, '$[4]'), ''), nullif(substr(NEW.text, length(kind) + 7), ''), NULL
    FROM (SELECT json_extract(NEW.words, '$[1]') AS kind) WHERE kind NOT IN ('end', 'failed');
  UPDATE run SET ended = 1 WHERE id = (SELECT max(id) FROM run) AND NEW.text = 'said end';
  UPDATE run SET why = substr(NEW.text, 13) WHERE id = (SELECT max(id) FROM run) AND NEW.text GLOB 'said failed *';
END;
CREATE TRIGGER error AFTER INSERT ON record WHEN NEW.text GLOB 'error *' BEGIN
  UPDATE run SET why = coalesce(why, substr(NEW.text, 7)) WHERE id = (SELECT max(id) FROM run);
END;
CREATE TRIGGER ending AFTER INSERT ON record WHEN NEW.text GLOB 'ending *' BEGIN
  UPDATE run SET ending = substr(NEW.text, 8) WHERE id = (SELECT max(id) FROM run);
END;

-- How often there was what can be counted.
CREATE VIEW counted AS
  SELECT run, kind, part, thing, total(n * NOT traced) AS said, total(n * traced) AS recorded
  FROM (SELECT run, kind, traced, CASE kind WHEN 'copy' THEN name END AS part, CASE kind WHEN 'copy' THEN x ELSE name END AS thing,
               CASE kind WHEN 'copy' THEN 1 ELSE x END AS n
        FROM line JOIN run ON run.id = run
        WHERE compared AND workload <> 'waves' AND has_trace AND (kind IN ('kernel', 'copy') OR kind = 'api' AND mode = 'hip'))
  GROUP BY run, kind, part, thing;
CREATE TABLE kind(kind, part, checked, what);
INSERT INTO kind VALUES
  ('api', NULL, 'calls', 'calls of HIP'), ('kernel', NULL, 'dispatches', 'dispatches'),
  ('time', 'around', 'times', 'kernels between hipEvents'), ('time', 'within', 'times', 'kernels with hipEvents of their own'),
  ('copy', 'to', 'copies_to_gpu', 'copies to the GPU'), ('copy', 'from', 'copies_from_gpu', 'copies from the GPU');

-- What is timed by hipEvents and by the GPU.
CREATE VIEW pair AS
  SELECT s.run, s.kind, s.name, s.y AS event, r.y AS span FROM line s JOIN line r USING (run, kind, name, x)
  WHERE kind IN ('time', 'copy') AND NOT s.traced AND r.traced;
-- The loops of launches; those of a round followed each other: what slows a machine for a while slows all.
CREATE VIEW pace AS
  SELECT coalesce(mode, 'alone') AS mode, coalesce(alone, id) AS round, CAST(name AS REAL) / x AS ns
  FROM run JOIN line ON run = id WHERE kind = 'loop' AND x > 0;
CREATE VIEW sample AS
  SELECT run, kind, name, 'event' AS what, event AS value FROM pair
  UNION ALL SELECT run, kind, name, 'span', span FROM pair
  UNION ALL SELECT run, kind, name, 'longer', event - span FROM pair
  UNION ALL SELECT run, kind, name, 'event', y FROM line WHERE kind = 'time' AND name = 'empty'
  UNION ALL SELECT 0, 'pace', mode, 'ns', ns FROM pace
  UNION ALL SELECT 0, 'pace', p.mode, 'ratio', p.ns / a.ns FROM pace p JOIN pace a USING (round) WHERE a.mode = 'alone';
CREATE VIEW median AS
  SELECT run, kind, name, what, avg(value) AS value
  FROM (SELECT *, row_number() OVER (PARTITION BY run, kind, name, what ORDER BY value) AS i,
               count(*) OVER (PARTITION BY run, kind, name, what) AS n FROM sample)
  WHERE i IN ((n + 1) / 2, (n + 2) / 2) GROUP BY run, kind, name, what;
