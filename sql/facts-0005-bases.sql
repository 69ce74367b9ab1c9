-- Facts 5: bytes that are nearly those of others.

-- A fork or a continued conversation repeats all that was said before, with
-- another session's id in every line. Its blocks have codec 2: one zstd frame
-- that refers to other bytes (as of `zstd --patch-from`), which are those of the
-- blocks named here, unpacked, one behind the other. These have codec 1, and
-- before one of them changes, whoever refers to it gets bytes of its own.
CREATE TABLE block_base (
  data  INTEGER NOT NULL,          -- block_data.id, both
  nth   INTEGER NOT NULL,          -- 0, 1, ...
  base  INTEGER NOT NULL,
  PRIMARY KEY (data, nth)
) STRICT, WITHOUT ROWID;
CREATE INDEX block_base_by_base ON block_base(base);
