-- SPDX-License-Identifier: MIT
-- Tables beside those of events, each of which follows from its stream's description (events.c). A row with a
-- higher version replaces those of the same order. store.c names the columns that it fills.

CREATE TABLE IF NOT EXISTS rtl_schema (
  schema UInt32 COMMENT 'number of this set of tables: an rtl writes to one only',
  version UInt64 COMMENT 'of the row: ns since 1970'
) ENGINE = ReplacingMergeTree(version) ORDER BY schema;

CREATE TABLE IF NOT EXISTS rtl_process (
  run LowCardinality(String) COMMENT 'the job, the same in all of its ranks',
  day Date COMMENT 'when it began',
  rank Int32 COMMENT 'as the launcher tells; -1: none',
  host LowCardinality(String) COMMENT 'name of the machine',
  pid UInt32 COMMENT 'number of the process',
  spool UInt64 COMMENT 'the process in this run',
  parent_pid UInt32 COMMENT 'its parent',
  program LowCardinality(String) COMMENT 'path of the executable',
  command String COMMENT 'command line',
  start_ns UInt64 COMMENT 'when the bus began there, as begin_ns of events: CLOCK_BOOTTIME of its host',
  boot_ns Int64 COMMENT 'what to add to times of its events for ns since 1970; 0: not known (a replay)',
  error_ns UInt64 COMMENT 'largest uncertainty of its times',
  waits UInt64 COMMENT 'how often a thread waited for room in its buffer',
  wait_ns UInt64 COMMENT 'how long they did, all together',
  state LowCardinality(String) COMMENT 'running, ended',
  rtl LowCardinality(String) COMMENT 'version of rtl',
  mode LowCardinality(String) COMMENT 'of the trace',
  ended LowCardinality(String) COMMENT 'how the command did, with status N or by signal N; empty: not known',
  pauses String COMMENT 'of recording: BEGIN-END and a blank for each, as begin_ns',
  version UInt64 COMMENT 'of the row: ns since 1970'
) ENGINE = ReplacingMergeTree(version) ORDER BY (run, spool);

CREATE TABLE IF NOT EXISTS rtl_gpu (
  run LowCardinality(String) COMMENT 'the job, the same in all of its ranks',
  rank Int32 COMMENT 'as the launcher tells; -1: none',
  host LowCardinality(String) COMMENT 'name of the machine',
  spool UInt64 COMMENT 'the process in this run, as in rtl_process',
  gpu UInt32 COMMENT 'KFD node id',
  uuid LowCardinality(String) COMMENT 'as the driver tells it',
  name LowCardinality(String) COMMENT 'architecture',
  product LowCardinality(String) COMMENT 'what is sold',
  bus_id LowCardinality(String) COMMENT 'place on the bus',
  version UInt64 COMMENT 'of the row: ns since 1970'
) ENGINE = ReplacingMergeTree(version) ORDER BY (run, host, spool, gpu);

CREATE TABLE IF NOT EXISTS rtl_ledger (
  run LowCardinality(String) COMMENT 'the job, the same in all of its ranks',
  rank Int32 COMMENT 'as the launcher tells; -1: none',
  host LowCardinality(String) COMMENT 'name of the machine',
  spool UInt64 COMMENT 'the process in this run, as in rtl_process',
  stream LowCardinality(String) COMMENT 'name of the stream',
  published UInt64 COMMENT 'events, while somebody wanted them',
  delivered UInt64 COMMENT 'of these, to subscribers',
  discarded UInt64 COMMENT 'of these, for lack of room',
  abandoned UInt64 COMMENT 'of these, that could not be delivered before the end',
  left_out UInt64 COMMENT 'of these, that the user did not select: a kernel, a period, a range',
  missed UInt64 COMMENT 'what happened and never became an event',
  version UInt64 COMMENT 'of the row: ns since 1970'
) ENGINE = ReplacingMergeTree(version) ORDER BY (run, spool, stream);

CREATE TABLE IF NOT EXISTS rtl_loss (
  run LowCardinality(String) COMMENT 'the job, the same in all of its ranks',
  rank Int32 COMMENT 'as the launcher tells; -1: none',
  host LowCardinality(String) COMMENT 'name of the machine',
  spool UInt64 COMMENT 'the process in this run, as in rtl_process',
  stream LowCardinality(String) COMMENT 'name of the stream',
  cause LowCardinality(String) COMMENT 'why',
  count UInt64 COMMENT 'events that were discarded or missed',
  version UInt64 COMMENT 'of the row: ns since 1970'
) ENGINE = ReplacingMergeTree(version) ORDER BY (run, spool, stream, cause);

CREATE TABLE IF NOT EXISTS rtl_left_out (
  run LowCardinality(String) COMMENT 'the job, the same in all of its ranks',
  rank Int32 COMMENT 'as the launcher tells; -1: none',
  host LowCardinality(String) COMMENT 'name of the machine',
  spool UInt64 COMMENT 'the process in this run, as in rtl_process',
  stream LowCardinality(String) COMMENT 'name of the stream',
  cause LowCardinality(String) COMMENT 'why',
  count UInt64 COMMENT 'events that were left out',
  version UInt64 COMMENT 'of the row: ns since 1970'
) ENGINE = ReplacingMergeTree(version) ORDER BY (run, spool, stream, cause);
