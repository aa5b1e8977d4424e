-- The tables that every output has. Tables of events are made as their streams are known (store.c).
CREATE TABLE rtl_meta (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE rtl_string (id INTEGER PRIMARY KEY NOT NULL, string TEXT NOT NULL, plain TEXT);
CREATE TABLE rtl_args (id INTEGER PRIMARY KEY NOT NULL, string TEXT NOT NULL, bytes BLOB, json TEXT);
CREATE TABLE rtl_origin (id INTEGER PRIMARY KEY NOT NULL, process INTEGER NOT NULL,
  tid INTEGER NOT NULL, uid INTEGER NOT NULL, parent_uid INTEGER NOT NULL);
CREATE TABLE rtl_process (process INTEGER PRIMARY KEY NOT NULL, pid INTEGER NOT NULL,
  parent_pid INTEGER NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER, program TEXT, command TEXT,
  host_name TEXT, spool INTEGER, rank INTEGER, run TEXT, api_id INTEGER NOT NULL,
  end_api_id INTEGER NOT NULL, first_ns INTEGER NOT NULL, last_ns INTEGER NOT NULL);
CREATE TABLE rtl_position (spool INTEGER NOT NULL, ring INTEGER NOT NULL,
  position INTEGER NOT NULL, PRIMARY KEY (spool, ring)) WITHOUT ROWID;
CREATE TABLE rtl_clock (process INTEGER NOT NULL, time_ns INTEGER NOT NULL, realtime_ns INTEGER,
  error_ns INTEGER, pairs INTEGER, tick_error_ns INTEGER, ns_per_tick REAL, first_ns INTEGER,
  last_ns INTEGER);
CREATE TABLE rtl_stream (stream INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL,
  version_major INTEGER NOT NULL, version_minor INTEGER NOT NULL, description TEXT);
CREATE TABLE rtl_type (stream INTEGER NOT NULL, type INTEGER NOT NULL, name TEXT, description TEXT,
  payload_bytes INTEGER NOT NULL, repeated_by INTEGER NOT NULL, table_name TEXT,
  PRIMARY KEY (stream, type)) WITHOUT ROWID;
CREATE TABLE rtl_field (stream INTEGER NOT NULL, type INTEGER NOT NULL, position INTEGER NOT NULL,
  name TEXT, column_name TEXT, group_name TEXT NOT NULL, kind TEXT NOT NULL, unit TEXT,
  offset INTEGER NOT NULL, size_bytes INTEGER NOT NULL, description TEXT,
  PRIMARY KEY (stream, type, position)) WITHOUT ROWID;
CREATE TABLE rtl_tracepoint (process INTEGER NOT NULL, uid INTEGER NOT NULL, kind TEXT, name TEXT,
  source TEXT, line INTEGER, "column" INTEGER, module TEXT, module_offset INTEGER, hash INTEGER,
  label INTEGER NOT NULL, category INTEGER NOT NULL, PRIMARY KEY (process, uid)) WITHOUT ROWID;
CREATE TABLE rtl_tracepoint_metadata (process INTEGER NOT NULL, uid INTEGER NOT NULL,
  key TEXT NOT NULL, value TEXT, kind INTEGER NOT NULL, position INTEGER NOT NULL,
  PRIMARY KEY (process, uid, key)) WITHOUT ROWID;
CREATE TABLE rtl_ledger (process INTEGER NOT NULL, stream TEXT NOT NULL, published INTEGER NOT NULL,
  delivered INTEGER NOT NULL, discarded INTEGER NOT NULL, abandoned INTEGER NOT NULL,
  missed INTEGER NOT NULL, left_out INTEGER NOT NULL, PRIMARY KEY (process, stream)) WITHOUT ROWID;
CREATE TABLE rtl_loss (process INTEGER NOT NULL, stream TEXT NOT NULL, cause TEXT NOT NULL,
  count INTEGER NOT NULL, PRIMARY KEY (process, stream, cause)) WITHOUT ROWID;
CREATE TABLE rtl_left_out (process INTEGER NOT NULL, stream TEXT NOT NULL, cause TEXT NOT NULL,
  count INTEGER NOT NULL, PRIMARY KEY (process, stream, cause)) WITHOUT ROWID;
CREATE TABLE rtl_wait (process INTEGER PRIMARY KEY NOT NULL, waits INTEGER NOT NULL,
  waited_ns INTEGER NOT NULL);
CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, tag TEXT NOT NULL,
  value TEXT NOT NULL);
-- Names that views refer to by these ids.
INSERT INTO rtl_string (string) VALUES (''), ('KernelExecution'), ('KernelDispatch'), ('hsa'), ('hip'),
  ('roctx'), ('UserMarker'), ('launch'), ('rtl'), ('Process'), ('ProcessEnd'), ('MemoryCopy'),
  ('MemoryFill'), ('FillBuffer'), ('CopyHostToDevice'), ('CopyDeviceToHost'), ('CopyDeviceToDevice'),
  ('CopyPeerToPeer'), ('CopyHostToHost'), ('Copy'), ('SYCL'), ('(unnamed)'), ('(unknown kernel)');
INSERT INTO rocpd_metadata (tag, value) VALUES ('gpu_stride', '1000'), ('pid_stride', '10000000'),
  ('schema_version', '3'), ('session_count', '1');
