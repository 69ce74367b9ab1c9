-- Derived: everything that can be recomputed from the facts.
--
-- Never migrated. When the hash of this file or of the rules that fill it
-- differs from the one the store was built with, all of it is dropped, made
-- anew and filled again by ingest/rebuild.c.

-- Lines of the newest generation of each source, counted while its bytes pass by.
CREATE TABLE line_count (
  generation  INTEGER PRIMARY KEY,
  lines       INTEGER NOT NULL,    -- line feeds
  tail        INTEGER NOT NULL,    -- bytes behind the last line feed: a torn or unterminated line
  longest     INTEGER NOT NULL     -- longest line so far, the tail included, without its line feed
) STRICT;

-- What people look at: every source with its newest bytes. Readable with any
-- sqlite3 shell.
CREATE VIEW source_overview AS
SELECT lower(hex(s.source_id)) AS source_id, h.label AS host, r.label AS root, s.path,
       g.number AS generations, coalesce(g.length, 0) AS bytes, c.lines, c.tail,
       c.longest, s.first_at, s.vanished_at
  FROM source s
  JOIN root r ON r.id = s.root
  JOIN host h ON h.id = r.host
  LEFT JOIN generation g ON g.id = s.generation
  LEFT JOIN line_count c ON c.generation = g.id;
