-- Derived, and made when transcripts first have lines in common: what a fork repeats has no rows of its own.
--
-- The tables of lines, of what they cost and of their keys are called entry_own, usage_own and node_key_own from
-- then on, and in their place are views of virtual ones that have the borrowed rows, too (store/borrowed_lines.c).
-- Whoever writes says `entry@own`, which is either name (store/db.h).
ALTER TABLE entry RENAME TO entry_own;
ALTER TABLE usage RENAME TO usage_own;
ALTER TABLE node_key RENAME TO node_key_own;

-- Runs of lines that follow each other in two transcripts: the rows of one, the borrower's, are those of the other, the
-- lender's, moved (store/borrowed.h).
CREATE TABLE borrowed (
  session  INTEGER NOT NULL,       -- the borrower
  offset   INTEGER NOT NULL,       -- of the first line
  until    INTEGER NOT NULL,       -- behind the last
  lender   INTEGER NOT NULL,       -- the session that has the rows
  at       INTEGER NOT NULL,       -- offset of the first line there
  docs     INTEGER NOT NULL,       -- to be added to the sequences of its documents
  parent   INTEGER,                -- the line that the first one follows, by its offset; NULL = the lender's, moved
  PRIMARY KEY (session, offset)
) STRICT, WITHOUT ROWID;
CREATE INDEX borrowed_by_lender ON borrowed(lender, at);
CREATE INDEX borrowed_by_both ON borrowed(session, lender, at);

-- The virtual tables are in no schema, so a program that has not got them can still drop these.
CREATE VIEW entry AS SELECT * FROM arbor_entry;
CREATE VIEW usage AS SELECT * FROM arbor_usage;
CREATE VIEW node_key AS SELECT * FROM arbor_node_key;
UPDATE derived_object SET type = 'view' WHERE name IN ('entry', 'usage', 'node_key');
