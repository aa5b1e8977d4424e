-- SPDX-License-Identifier: MIT
-- RPD's schema, version 3, as tables: for its tools that change a file or make indexes, which views do not allow. Facts of it:
-- the repository ROCm/rocmProfileData. `i` is the trace, whose views of these names have the rows; `o` is the file.
-- Keys are checked at the end of a transaction, as there.

CREATE TABLE o.rocpd_metadata (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, tag TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE o.rocpd_string (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, string TEXT NOT NULL);
CREATE TABLE o.rocpd_ustring (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, string TEXT NOT NULL);
CREATE TABLE o.rocpd_api (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, pid INTEGER NOT NULL, tid INTEGER NOT NULL,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL,
  apiName_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED,
  category_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED,
  domain_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED,
  args_id INTEGER NOT NULL REFERENCES rocpd_ustring (id) DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE o.rocpd_op (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, gpuId INTEGER NOT NULL, queueId INTEGER NOT NULL,
  sequenceId INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
  description_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED,
  opType_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE o.rocpd_api_ops (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
  api_id INTEGER NOT NULL REFERENCES rocpd_api (id) DEFERRABLE INITIALLY DEFERRED,
  op_id INTEGER NOT NULL REFERENCES rocpd_op (id) DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE o.rocpd_kernelapi (
  api_ptr_id INTEGER PRIMARY KEY NOT NULL REFERENCES rocpd_api (id) DEFERRABLE INITIALLY DEFERRED, stream TEXT NOT NULL,
  gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, workgroupX INTEGER NOT NULL, workgroupY INTEGER NOT NULL,
  workgroupZ INTEGER NOT NULL, groupSegmentSize INTEGER NOT NULL, privateSegmentSize INTEGER NOT NULL,
  kernelName_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE o.rocpd_copyapi (
  api_ptr_id INTEGER PRIMARY KEY NOT NULL REFERENCES rocpd_api (id) DEFERRABLE INITIALLY DEFERRED, stream TEXT NOT NULL,
  size INTEGER NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL, kind INTEGER NOT NULL, dst TEXT NOT NULL, src TEXT NOT NULL,
  dstDevice INTEGER NOT NULL, srcDevice INTEGER NOT NULL, sync INTEGER NOT NULL, pinned INTEGER NOT NULL);
CREATE TABLE o.rocpd_monitor (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, deviceType TEXT NOT NULL, deviceId INTEGER NOT NULL,
  monitorType TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, value TEXT NOT NULL);
CREATE TABLE o.rocpd_counter (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, value REAL NOT NULL,
  op_id INTEGER NOT NULL REFERENCES rocpd_op (id) DEFERRABLE INITIALLY DEFERRED,
  name_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE o.rocpd_stackframe (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
  api_ptr_id INTEGER NOT NULL REFERENCES rocpd_api (id) DEFERRABLE INITIALLY DEFERRED, depth INTEGER NOT NULL,
  name_id INTEGER NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED);

-- The tools that renumber strings know who refers to them, but for these two.
INSERT INTO o.rocpd_metadata (tag, value) SELECT tag, value FROM i.rocpd_metadata ORDER BY id;
INSERT INTO o.rocpd_metadata (tag, value) SELECT 'rtl_' || fact, value FROM c_fact;
INSERT INTO o.rocpd_metadata (tag, value) VALUES
  ('references::rocpd_string.id', '("rocpd_counter", "name_id")'),
  ('references::rocpd_string.id', '("rocpd_stackframe", "name_id")');
INSERT INTO o.rocpd_string SELECT * FROM i.rocpd_string ORDER BY id;
INSERT INTO o.rocpd_op SELECT * FROM i.rocpd_op ORDER BY id;
-- No number is below 0 here: tools that join files add to them.
INSERT INTO o.rocpd_api SELECT id, pid, tid, start, "end", apiName_id, category_id, domain_id,
  CASE WHEN args_id < 0 THEN 2199023255552 - args_id ELSE args_id END FROM i.rocpd_api ORDER BY id;
INSERT INTO o.rocpd_ustring SELECT CASE WHEN id < 0 THEN 2199023255552 - id ELSE id END AS number, string FROM i.rocpd_ustring
  WHERE number IN (SELECT args_id FROM o.rocpd_api) ORDER BY number;
INSERT INTO o.rocpd_api_ops SELECT * FROM i.rocpd_api_ops ORDER BY id;
INSERT INTO o.rocpd_kernelapi SELECT * FROM i.rocpd_kernelapi ORDER BY api_ptr_id;
INSERT INTO o.rocpd_copyapi SELECT * FROM i.rocpd_copyapi ORDER BY api_ptr_id;
INSERT INTO o.rocpd_monitor SELECT * FROM i.rocpd_monitor ORDER BY id;
INSERT INTO o.rocpd_counter SELECT * FROM i.rocpd_counter ORDER BY id;

CREATE VIEW o.api AS SELECT a.id AS id, a.pid AS pid, a.tid AS tid, a.start AS start, a."end" AS "end", dom.string AS domain,
  cat.string AS category, nam.string AS apiName, arg.string AS args FROM rocpd_api AS a JOIN rocpd_string AS dom ON dom.id = a.domain_id
  JOIN rocpd_string AS cat ON cat.id = a.category_id JOIN rocpd_string AS nam ON nam.id = a.apiName_id
  JOIN rocpd_ustring AS arg ON arg.id = a.args_id;
CREATE VIEW o.op AS SELECT o.id AS id, o.gpuId AS gpuId, o.queueId AS queueId, o.sequenceId AS sequenceId, o.start AS start,
  o."end" AS "end", des.string AS description, typ.string AS opType FROM rocpd_op AS o
  JOIN rocpd_string AS des ON des.id = o.description_id JOIN rocpd_string AS typ ON typ.id = o.opType_id;
-- A file that was merged of several nodes keeps the node in the high digits of its numbers.
CREATE VIEW o.napi AS SELECT id, pid / (SELECT value FROM rocpd_metadata WHERE tag = 'pid_stride') AS node,
  pid % (SELECT value FROM rocpd_metadata WHERE tag = 'pid_stride') AS pid,
  tid % (SELECT value FROM rocpd_metadata WHERE tag = 'pid_stride') AS tid, start, "end", domain, category, apiName, args FROM api;
CREATE VIEW o.nop AS SELECT id, gpuId / (SELECT value FROM rocpd_metadata WHERE tag = 'gpu_stride') AS node,
  gpuId % (SELECT value FROM rocpd_metadata WHERE tag = 'gpu_stride') AS gpuId,
  queueId % (SELECT value FROM rocpd_metadata WHERE tag = 'gpu_stride') AS queueId, sequenceId, start, "end", description, opType FROM op;
CREATE VIEW o.busy AS SELECT gpuId, GpuTime, WallTime, GpuTime * 1.0 / WallTime AS Busy
  FROM (SELECT gpuId, sum("end" - start) AS GpuTime FROM rocpd_op GROUP BY gpuId),
  (SELECT max("end") - min(start) AS WallTime FROM rocpd_op);
-- An operation without a description counts under the name of its type.
CREATE VIEW o.top AS SELECT s.string AS Name, count(*) AS TotalCalls, sum(t.ns) / 1000 AS TotalDuration_us,
  (sum(t.ns) / count(*)) / 1000.0 AS Ave_us, sum(t.ns) * 100.0 / (SELECT sum("end" - start) FROM rocpd_op) AS Percentage
  FROM (SELECT CASE d.string WHEN '' THEN o.opType_id ELSE o.description_id END AS name_id, o."end" - o.start AS ns
    FROM rocpd_op AS o JOIN rocpd_string AS d ON d.id = o.description_id) AS t
  JOIN rocpd_string AS s ON s.id = t.name_id GROUP BY s.string ORDER BY TotalDuration_us DESC;
CREATE VIEW o.kernel AS SELECT o.id AS id, o.gpuId AS gpuId, o.queueId AS queueId, o.sequenceId AS sequenceId, o.start AS start,
  o."end" AS "end", o."end" - o.start AS duration, k.stream AS stream, k.gridX AS gridX, k.gridY AS gridY, k.gridZ AS gridZ,
  k.workgroupX AS workgroupX, k.workgroupY AS workgroupY, k.workgroupZ AS workgroupZ, k.groupSegmentSize AS groupSegmentSize,
  k.privateSegmentSize AS privateSegmentSize, nam.string AS kernelName FROM rocpd_api_ops AS l JOIN rocpd_op AS o ON o.id = l.op_id
  JOIN rocpd_kernelapi AS k ON k.api_ptr_id = l.api_id JOIN rocpd_string AS nam ON nam.id = k.kernelName_id;
-- Copies with the times of the call, and with those of the GPU.
CREATE VIEW o.copy AS SELECT a.id AS id, a.pid AS pid, a.tid AS tid, a.start AS start, a."end" AS "end", nam.string AS apiName,
  c.stream AS stream, c.size AS size, c.width AS width, c.height AS height, c.kind AS kind, c.dst AS dst, c.src AS src,
  c.dstDevice AS dstDevice, c.srcDevice AS srcDevice, c.sync AS sync, c.pinned AS pinned FROM rocpd_copyapi AS c
  JOIN rocpd_api AS a ON a.id = c.api_ptr_id JOIN rocpd_string AS nam ON nam.id = a.apiName_id;
CREATE VIEW o.copyop AS SELECT o.id AS id, o.gpuId AS gpuId, o.queueId AS queueId, o.sequenceId AS sequenceId, o.start AS start,
  o."end" AS "end", o."end" - o.start AS duration, c.stream AS stream, c.size AS size, c.width AS width, c.height AS height,
  c.kind AS kind, c.dst AS dst, c.src AS src, c.dstDevice AS dstDevice, c.srcDevice AS srcDevice, c.sync AS sync, c.pinned AS pinned,
  nam.string AS apiName FROM rocpd_api_ops AS l JOIN rocpd_op AS o ON o.id = l.op_id JOIN rocpd_copyapi AS c ON c.api_ptr_id = l.api_id
  JOIN rocpd_api AS a ON a.id = l.api_id JOIN rocpd_string AS nam ON nam.id = a.apiName_id;
CREATE VIEW o.stackframe AS SELECT a.id AS id, nam.string AS string, f.depth AS depth, fra.string AS "string:1"
  FROM rocpd_stackframe AS f JOIN rocpd_api AS a ON a.id = f.api_ptr_id JOIN rocpd_string AS nam ON nam.id = a.apiName_id
  JOIN rocpd_string AS fra ON fra.id = f.name_id;
CREATE VIEW o.counter AS SELECT c.op_id AS op_id, ker.string AS kernelName, nam.string AS counterName, c.value AS value
  FROM rocpd_counter AS c JOIN rocpd_op AS o ON o.id = c.op_id JOIN rocpd_string AS ker ON ker.id = o.description_id
  JOIN rocpd_string AS nam ON nam.id = c.name_id;
CREATE VIEW o.counter_summary AS SELECT kernelName, counterName, count(*) AS dispatches, avg(value) AS avg, min(value) AS min,
  max(value) AS max FROM counter GROUP BY kernelName, counterName;
COMMIT;
DETACH o;
