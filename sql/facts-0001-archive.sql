-- Facts 1: the store itself, and the archive of bytes.
--
-- Facts cannot be recomputed. They change only by numbered files like this one,
-- each run in one transaction. See docs/DATA.md for the rules a reader without
-- our code needs.
--
-- In every fact table:
--   rev    the store's commit counter when the row was last written; what a
--          later synchronisation asks for is "rows with rev > N"
--   *_id   BLOB of 16 bytes: a public id (UUID). Integers never leave the store.
--   *_at   milliseconds since 1970-01-01T00:00:00Z

-- Settings and counters of the store. Keys in use:
--   store_id      this store's own random UUID, as text
--   created_at    when it was made
--   rev           the commit counter
--   host_label    name of this machine in source keys (default 'local')
--   tombstone_key random, as hex: so that hashes of removed lines cannot be guessed
--   derived_hash  what the derived tables were built from; empty = not built
--   purged        rev of the last transaction that purged something; missing = none did
--   purge_left    what the last purge has still to do, and its number: 'bytes N', 'pages N', 'nothing N'
CREATE TABLE store_setting (
  key    TEXT PRIMARY KEY,
  value  ANY NOT NULL,
  rev    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Tables, indexes and views that sql/derived.sql made, so that a later version
-- can drop exactly these.
CREATE TABLE derived_object (
  name  TEXT PRIMARY KEY,
  type  TEXT NOT NULL              -- table, index or view
) STRICT, WITHOUT ROWID;

-- Machines whose files are mirrored here.
CREATE TABLE host (
  id     INTEGER PRIMARY KEY,
  label  TEXT NOT NULL UNIQUE,     -- part of every source key
  rev    INTEGER NOT NULL
) STRICT;

-- Folders that are mirrored: one ~/.claude each.
CREATE TABLE root (
  id        INTEGER PRIMARY KEY,
  host      INTEGER NOT NULL REFERENCES host(id),
  label     TEXT NOT NULL,         -- part of every source key; 'claude', 'claude-2', ...
  format    TEXT NOT NULL,         -- which adapter reads it: 'claude'
  dir       TEXT NOT NULL,         -- where it was found last, absolute; never part of an id
  added_at  INTEGER NOT NULL,
  synced_at INTEGER,               -- when a sync last changed something here
  rev       INTEGER NOT NULL,
  UNIQUE (host, label)
) STRICT;

-- Files. A source is one file over its whole life: it may grow, be rewritten,
-- renamed, vanish and come back.
CREATE TABLE source (
  id           INTEGER PRIMARY KEY,
  source_id    BLOB NOT NULL UNIQUE CHECK (length(source_id) = 16),
                                   -- v5('source', host label, root label, key)
  root         INTEGER NOT NULL REFERENCES root(id),
  key          TEXT NOT NULL,      -- the path it was first seen at; 'path//2' when a source that
                                   -- has since been renamed already owns that key
  path         TEXT NOT NULL,      -- where it is, or was last, below the root; bytes as the file
                                   -- system gave them
  generation   INTEGER,            -- its newest generation (generation.id); NULL before the first
  first_at     INTEGER NOT NULL,   -- first seen
  vanished_at  INTEGER,            -- when a sync no longer found it; NULL while it exists
  -- The file as it was when it was last read to its end; size is NULL while the
  -- newest generation has never been. mtime and ctime decide whether it is read
  -- again; ctime is NULL when the next sync must compare bytes whatever the times
  -- say (interrupted, or changed a moment before).
  inode        INTEGER,
  size         INTEGER,
  mtime_ns     INTEGER,
  ctime_ns     INTEGER,
  btime_ns     INTEGER,            -- birth; with inode it recognises a renamed file
  -- First bytes (at most 4096) of the newest generation, which a renamed file must
  -- have too. hash = XXH3-64, as signed integer.
  head_length  INTEGER NOT NULL DEFAULT 0,
  head_hash    INTEGER NOT NULL DEFAULT 0,
  rev          INTEGER NOT NULL,
  UNIQUE (root, key),
  UNIQUE (root, path)
) STRICT;

-- Paths a source had before it was renamed.
CREATE TABLE source_path (
  source    INTEGER NOT NULL REFERENCES source(id),
  path      TEXT NOT NULL,
  until_at  INTEGER NOT NULL,      -- when the new name was found
  rev       INTEGER NOT NULL,
  PRIMARY KEY (source, path)
) STRICT, WITHOUT ROWID;

-- Versions of a source's bytes. Appending goes on in the newest generation; a
-- file that no longer begins with what is archived starts another. Its first
-- `shared` bytes are the first `shared` bytes of generation `base` and are not
-- stored again.
CREATE TABLE generation (
  id          INTEGER PRIMARY KEY,
  source      INTEGER NOT NULL REFERENCES source(id),
  number      INTEGER NOT NULL,    -- 1, 2, 3, ... in the order seen
  base        INTEGER REFERENCES generation(id),
  shared      INTEGER NOT NULL DEFAULT 0 CHECK (shared >= 0),
  length      INTEGER NOT NULL CHECK (length >= shared),
                                   -- bytes archived; blocks cover shared .. length exactly
  started_at  INTEGER NOT NULL,    -- first seen by a sync
  mtime_ns    INTEGER,             -- the file's own date when it was last read to its end: the
                                   -- only one that plans, memory and backups have
  rev         INTEGER NOT NULL,
  UNIQUE (source, number),
  CHECK (base IS NOT NULL OR shared = 0)
) STRICT;
CREATE INDEX generation_base ON generation(base) WHERE base IS NOT NULL;

-- Where the bytes of a generation are. Bytes are addressed by (generation,
-- offset, length); how they are cut into blocks may change at any time.
CREATE TABLE block (
  generation  INTEGER NOT NULL REFERENCES generation(id),
  offset      INTEGER NOT NULL,    -- of its first byte in the generation
  length      INTEGER NOT NULL CHECK (length > 0),
                                   -- bytes when unpacked
  hash        INTEGER NOT NULL,    -- XXH3-64 of these bytes, as signed integer
  data        INTEGER NOT NULL UNIQUE REFERENCES block_data(id),
  rev         INTEGER NOT NULL,
  PRIMARY KEY (generation, offset)
) STRICT, WITHOUT ROWID;

-- The packed bytes, apart from the index above so that reading the index does
-- not touch them.
CREATE TABLE block_data (
  id     INTEGER PRIMARY KEY,
  codec  INTEGER NOT NULL,         -- 1 = one zstd frame, see block.hash
  bytes  BLOB NOT NULL
) STRICT;

-- Parts of a generation whose bytes were overwritten with filler of the same
-- length, by purging or redaction: blanks, and line feeds where line feeds were.
-- Whole lines, without the last one's line feed. As blocks, gaps are those of the
-- generation that stores the bytes; whoever shares them has the gaps, too. They
-- never overlap. Raw export refuses them unless asked.
CREATE TABLE gap (
  generation  INTEGER NOT NULL REFERENCES generation(id),
  offset      INTEGER NOT NULL,
  length      INTEGER NOT NULL CHECK (length > 0),
  reason      TEXT NOT NULL,       -- purge or redact
  at          INTEGER NOT NULL,
  rev         INTEGER NOT NULL,
  PRIMARY KEY (generation, offset)
) STRICT, WITHOUT ROWID;

-- The public id of a line whose bytes have gone, by purging or redaction: until
-- then it follows from them.
CREATE TABLE line (
  generation  INTEGER NOT NULL REFERENCES generation(id),
  offset      INTEGER NOT NULL,    -- of its first byte
  line_id     BLOB NOT NULL CHECK (length(line_id) = 16),
  uuid        ANY,                 -- the line's own uuid, from which the ids of its blocks, message
                                   -- and turn are made: 16 bytes, text if it is no UUID, NULL = none
  rev         INTEGER NOT NULL,
  PRIMARY KEY (generation, offset)
) STRICT, WITHOUT ROWID;

-- Deleted rows of fact tables, so that "what has changed since" includes them.
CREATE TABLE deleted_row (
  table_name  TEXT NOT NULL,
  key         ANY NOT NULL,        -- the row's public id, or its name where it has none
  at          INTEGER NOT NULL,
  rev         INTEGER NOT NULL,
  PRIMARY KEY (table_name, key)
) STRICT, WITHOUT ROWID;

-- What must not come back. Written before the bytes go; honoured by every way
-- in (sync, import, merge, rebuild). Only ever added to.
CREATE TABLE tombstone (
  id          INTEGER PRIMARY KEY,
  kind        TEXT NOT NULL CHECK (kind IN ('line', 'source', 'session', 'node', 'tree')),
  key_hash    BLOB,                -- line: SHA-256 of setting tombstone_key and its bytes
  host        TEXT,                -- source: host label, root label and path; future lines too
  root        TEXT,
  path        TEXT,
  subject_id  BLOB CHECK (length(subject_id) = 16),
                                   -- session, node, tree: its public id
  reason      TEXT NOT NULL DEFAULT '',
  at          INTEGER NOT NULL,
  rev         INTEGER NOT NULL,
  CHECK ((kind = 'line') = (key_hash IS NOT NULL)),
  CHECK ((kind = 'source') = (path IS NOT NULL AND host IS NOT NULL AND root IS NOT NULL)),
  CHECK ((kind IN ('session', 'node', 'tree')) = (subject_id IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX tombstone_line ON tombstone(key_hash) WHERE kind = 'line';
CREATE UNIQUE INDEX tombstone_source ON tombstone(host, root, path) WHERE kind = 'source';
CREATE UNIQUE INDEX tombstone_subject ON tombstone(kind, subject_id) WHERE subject_id IS NOT NULL;
