-- Facts 4: what outlives purged lines, besides their ids.

-- What a line hung on that was purged by itself: whoever hung on it follows that
-- now, so that a conversation with a gap is still one. Lines of files that went
-- as a whole are not here.
CREATE TABLE line_parent (
  uuid    BLOB PRIMARY KEY CHECK (length(uuid) = 16),
                                   -- the line's own; for one that is no UUID v5("key", it)
  parent  BLOB CHECK (length(parent) = 16),
                                   -- of the line it hung on, likewise; NULL = it hung on none
  rev     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
