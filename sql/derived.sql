-- Derived: everything that can be recomputed from the facts.
--
-- Never migrated. When the hash of this file or of the rules that fill it
-- differs from the one the store was built with, all of it is dropped and made
-- anew, every source is put into `unread`, and reading them fills it again
-- (ingest/read.c). A sync does the same with what it has brought in, so there is
-- one way in which derived rows come about.

-- Sources with archived bytes that have not been read into these tables yet.
-- Written by whatever adds bytes, in the same transaction.
CREATE TABLE unread (
  source  INTEGER PRIMARY KEY
) STRICT;

-- Lines of the newest generation of each source, counted while its bytes pass by.
CREATE TABLE line_count (
  generation  INTEGER PRIMARY KEY,
  lines       INTEGER NOT NULL,    -- line feeds
  tail        INTEGER NOT NULL,    -- bytes behind the last line feed: a torn or unterminated line
  longest     INTEGER NOT NULL     -- longest line so far, the tail included, without its line feed
) STRICT;

-- Folders in which people worked, as the lines name them.
CREATE TABLE project (
  id    INTEGER PRIMARY KEY,
  path  TEXT NOT NULL UNIQUE       -- the client's cwd
) STRICT;

-- Models that answered, as the lines name them.
CREATE TABLE model (
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL UNIQUE
) STRICT;

-- Transcripts: conversations, and what their sub-agents said.
CREATE TABLE mirror_session (
  id          INTEGER PRIMARY KEY,
  session_id  BLOB NOT NULL CHECK (length(session_id) = 16),
                                   -- as its file is called; two roots may have the same. Of a
                                   -- sub-agent: the conversation's that asked for it
  agent       TEXT,                -- of a sub-agent: its id; NULL = a conversation
  source      INTEGER NOT NULL,
  generation  INTEGER NOT NULL,    -- the one its entries are in; they are addressed by offset
  old         INTEGER NOT NULL DEFAULT 0,
                                   -- 1 = an older version of the file: its entries are lines that the
                                   -- newest had no more when that was read
  old_for     INTEGER NOT NULL DEFAULT 0,
                                   -- of the newest: itself, once the older ones have been read; below 0,
                                   -- while they are: a random number of whoever reads them
  read_to     INTEGER NOT NULL,    -- bytes of it that have been read: a line end, or the end of an
                                   -- object that may get its line feed yet
  reading     INTEGER NOT NULL,    -- a random number, another one whenever reading starts over
  begun       INTEGER NOT NULL DEFAULT 0,
                                   -- lines with a uuid that have been read, and
  begun_hash  INTEGER NOT NULL DEFAULT 0,
                                   -- what stands for all they say (store/beginning.h)
  noted       INTEGER NOT NULL DEFAULT -1,
                                   -- offset of the last line that says where the client goes on; -1 = none does
  keyed_to    INTEGER NOT NULL DEFAULT 0,
                                   -- bytes of it whose nodes are in node_key, which is filled
                                   -- a little later (store/keys.c)
  project     INTEGER,             -- of its first line that has a cwd; NULL = none has
  branch      TEXT,                -- of its last line that has one
  permission  TEXT,                -- so too: what tools may do without being asked for
  mode        TEXT,                -- as the client noted last; NULL = it has not
  tag         TEXT,                -- so too; '' = it was taken away
  title       TEXT NOT NULL DEFAULT '',
  title_rank  INTEGER NOT NULL DEFAULT 0,
                                   -- what gave the title: 0 a prompt that says nothing, 1 the first one that does, 2 the client,
                                   -- 3 a person; a higher one wins, of equal ones the last,
                                   -- of prompts the first. A summary is better than a prompt
  started_at  INTEGER,             -- of its lines; NULL = none has a time
  updated_at  INTEGER,
  prompts     INTEGER NOT NULL DEFAULT 0, -- typed by a person
  messages    INTEGER NOT NULL DEFAULT 0, -- of either side, each once however many lines it has
  tools       INTEGER NOT NULL DEFAULT 0  -- calls of tools
) STRICT;
CREATE UNIQUE INDEX mirror_session_by_source ON mirror_session(source, generation);
CREATE INDEX mirror_session_by_id ON mirror_session(session_id);
CREATE INDEX mirror_session_by_time ON mirror_session(updated_at);
CREATE INDEX mirror_session_by_project ON mirror_session(project, updated_at);
CREATE INDEX mirror_session_unkeyed ON mirror_session(id) WHERE keyed_to < read_to;

-- What lines of a transcript say of it that may be several things, each once.
CREATE TABLE session_value (
  session  INTEGER NOT NULL,
  kind     INTEGER NOT NULL,       -- 1 a folder it worked in, 2 a branch of git, 3 a pull request as JSON,
                                   -- 4 what its plan is called
  value    TEXT NOT NULL,
  offset   INTEGER NOT NULL,       -- of the first line that says so
  PRIMARY KEY (session, kind, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_value_branch ON session_value(value) WHERE kind = 2;
CREATE INDEX session_value_plan ON session_value(value) WHERE kind = 4;

-- The branches of git that lines of a transcript were written on: where a line says another than the last that said
-- one (store/branch.h).
CREATE TABLE branch_run (
  session  INTEGER NOT NULL,
  offset   INTEGER NOT NULL,       -- of the first line on it
  branch   TEXT NOT NULL,          -- '' = on none
  PRIMARY KEY (session, offset)
) STRICT, WITHOUT ROWID;

-- What a transcript names outside of itself, each once: files it changed, pages, issues, commits,
-- sessions, identifiers, words it is about (claude/mention.h).
CREATE TABLE link (
  session  INTEGER NOT NULL,
  key      INTEGER NOT NULL,       -- of kind and name: link_key() (store/link.h)
  kind     INTEGER NOT NULL,       -- enum mention_kind
  name     TEXT NOT NULL,
  offset   INTEGER NOT NULL,       -- of the first line that names it
  times    INTEGER NOT NULL,       -- lines that do
  PRIMARY KEY (session, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_by_key ON link(key);

-- Titles that old clients gave: each names the last line of what it is about, and stands in
-- whichever file was open when it was written.
CREATE TABLE summary (
  session  INTEGER NOT NULL,       -- it stands in
  about    INTEGER NOT NULL,       -- the line it names: as in node_key
  title    TEXT NOT NULL,          -- of several in a file the last
  PRIMARY KEY (session, about)
) STRICT, WITHOUT ROWID;
CREATE INDEX summary_by_line ON summary(about);

-- The lines that they name, in all transcripts that have them; found when keys are entered.
CREATE TABLE summarised (
  session  INTEGER NOT NULL,
  offset   INTEGER NOT NULL,       -- of the line
  about    INTEGER NOT NULL,       -- its key
  PRIMARY KEY (session, offset)
) STRICT, WITHOUT ROWID;
CREATE INDEX summarised_by_line ON summarised(about);

-- Lines of the transcripts. The address of a line is its transcript and offset.
-- Its public id is id(uuid), or line_id where it has no uuid; those of its blocks
-- and of its message follow from the same uuid (docs/DATA.md) and are not stored.
CREATE TABLE entry (
  session  INTEGER NOT NULL,
  offset   INTEGER NOT NULL,       -- of its first byte in the session's generation
  length   INTEGER NOT NULL,       -- without its line feed
                                   -- Of a message inside a progress line: where that begins
  type     INTEGER NOT NULL,       -- enum record_type (claude/record.h)
  flags    INTEGER NOT NULL,       -- enum record_flag, ENTRY_TURN and ENTRY_MESSAGE (store/session.h)
  at       INTEGER,                -- its own time
  uuid     ANY,                    -- its own: 16 bytes; text if it is no UUID; NULL = none
  line_id  BLOB,                   -- only without uuid: the public id itself, of which
  parent   ANY,                    -- the line it follows, in the same file: by its offset, or where that
                                   -- was not at hand by its uuid (16 bytes, line_key()); NULL = none
  link     BLOB,                   -- line_key() of another it names: logicalParentUuid, leafUuid,
                                   -- forkedFrom
  content  INTEGER,                -- record_content(); NULL = it is no part of a conversation
  tools    ANY,                    -- XXH3 of the ids of the calls in it, or of those it answers: one as
                                   -- a number, several as 8 bytes each
  agent    TEXT,                   -- whose message a progress line carries
  same     INTEGER,                -- these are the first bytes of the SHA-256 of the line, and
  nth      INTEGER,                -- how many equal lines the session has before it
  message  INTEGER,                -- XXH3 of the API message's id; NULL = a message of its own, or none
  first    INTEGER,                -- offset of the first line of its message; NULL = it is no message
  doc      INTEGER,                -- sequence of its first document; NULL = it has none
  docs     INTEGER,                -- and how many
  blocks   INTEGER NOT NULL,       -- of its content, each a node
  PRIMARY KEY (session, offset)
) STRICT, WITHOUT ROWID;
CREATE INDEX entry_same ON entry(session, same, nth) WHERE same IS NOT NULL;

-- How transcripts begin, so that those that begin alike are known: of every sixteenth line with a uuid (store/beginning.h).
CREATE TABLE beginning (
  session  INTEGER NOT NULL,
  lines    INTEGER NOT NULL,       -- with a uuid, before it
  hash     INTEGER NOT NULL,       -- stands for all that these say
  offset   INTEGER NOT NULL,       -- of the line itself
  noted    INTEGER NOT NULL,       -- of the last line before that says where the client goes on; -1 = there is none
  PRIMARY KEY (session, lines)
) STRICT, WITHOUT ROWID;

-- Prompts that the client noted when they were typed, and that no later line of the file says so far
-- (store/queued.h).
CREATE TABLE queued (
  session  INTEGER NOT NULL,
  offset   INTEGER NOT NULL,       -- of the note
  said     INTEGER NOT NULL,       -- XXH3 of the text; 0 = no person typed it, and it only has its place in the queue
  waits    INTEGER NOT NULL,       -- 0 = it went to the model, or back to who typed it
  PRIMARY KEY (session, offset)
) STRICT, WITHOUT ROWID;

-- What answers cost: of each message of a transcript the most that any of its lines says.
-- The same message may stand in several files; whoever adds up takes it once.
CREATE TABLE usage (
  session    INTEGER NOT NULL,
  first      INTEGER NOT NULL,     -- offset of its first line
  model      INTEGER,
  told       BLOB NOT NULL,        -- what is read together, as store/tokens.c packs it: XXH3 of the message's id, or of its
                                   -- uuid where it has none; the time of its first line; whether one of its lines
                                   -- has a stop reason, whether it was asked for in a hurry, which costs more, whether
                                   -- one says where it was forked from; tokens of input and output, written into the
                                   -- cache, of that for an hour, read from it
  PRIMARY KEY (session, first)
) STRICT, WITHOUT ROWID;

-- From the beginning of a public id to what has it. The rest of the id follows
-- from the entry and is compared there.
CREATE TABLE node_key (
  key      INTEGER NOT NULL,       -- first 8 bytes of the id, as signed integer, big-endian
  session  INTEGER NOT NULL,
  offset   INTEGER NOT NULL,
  part     INTEGER NOT NULL,       -- -7 the tree that may begin here; -6 the turn that may;
                                   -- -5 key is of entry.tools: a call in the line, or its result;
                                   -- -4 another line that this one names and that may be in another
                                   -- file: its parent, what it goes on from or is a copy of;
                                   -- -3 key is entry.message, and this the first line with it;
                                   -- -2 the message that begins here, -1 the line, n its block n
  PRIMARY KEY (key, session, offset, part)
) STRICT, WITHOUT ROWID;

-- Lines that stand with different contents, here or there: each content has an id of its own then.
CREATE TABLE variant (
  key  INTEGER PRIMARY KEY         -- of the id of the line, as in node_key
) STRICT;

-- Transcripts that have lines or messages in common: copies, forks, continuations. Both ways.
-- Not every pair, but enough of them that all that have a line in common are connected.
CREATE TABLE kin (
  session  INTEGER NOT NULL,
  other    INTEGER NOT NULL,
  PRIMARY KEY (session, other)
) STRICT, WITHOUT ROWID;

-- Documents of lines that are copies of others, which say the same: runs of those that follow each
-- other (store/copied.h).
CREATE TABLE copied (
  doc      INTEGER PRIMARY KEY,    -- sequence of the first
  docs     INTEGER NOT NULL,
  session  INTEGER NOT NULL,
  original INTEGER NOT NULL        -- sequence of the first of those that have their words; 0 = they have
                                   -- words of their own: not the same ones
) STRICT;
CREATE INDEX copied_by_original ON copied(original, docs);

-- Files beside the conversations that have texts to be found: plans, memory, tasks, todos, typed history.
CREATE TABLE paper (
  source      INTEGER PRIMARY KEY,
  kind        INTEGER NOT NULL,    -- enum claude_kind (claude/layout.h)
  generation  INTEGER NOT NULL,    -- the one its texts are in
  read_to     INTEGER NOT NULL     -- bytes of it that have been read: of a history as in mirror_session,
                                   -- of any other file all that it had
) STRICT;

-- Their texts: a file, a task of it, a line that was typed.
CREATE TABLE paper_text (
  doc      INTEGER PRIMARY KEY,    -- sequence of its first document, whose offset this is, too
  docs     INTEGER NOT NULL,       -- and how many
  source   INTEGER NOT NULL,
  offset   INTEGER NOT NULL,       -- of the bytes it is read from: those of the line, or of the file
  length   INTEGER NOT NULL,
  part     INTEGER NOT NULL,       -- which text of these
  at       INTEGER,                -- its own time; NULL = it has none, and the file's date counts
  session  BLOB,                   -- id of the conversation it belongs to; NULL = it does not say
  project  TEXT,                   -- folder it was typed in; NULL = it does not say
  text_id  BLOB                    -- id of a line that was typed: as of any line without a uuid, equal ones being one;
                                   -- NULL = its file has the only id
) STRICT;
CREATE INDEX paper_text_by_source ON paper_text(source);
CREATE INDEX paper_text_by_id ON paper_text(text_id) WHERE text_id IS NOT NULL;

-- What was typed into conversations, which have it, too, where they are here: documents that follow each other.
CREATE TABLE paper_typed (
  doc      INTEGER PRIMARY KEY,    -- sequence of the first
  docs     INTEGER NOT NULL,
  source   INTEGER NOT NULL,
  session  BLOB NOT NULL           -- id of the conversation
) STRICT;

-- Nodes that were made (facts 2), as documents.
CREATE TABLE node_doc (
  node  INTEGER PRIMARY KEY,       -- row of the node, which is its document's offset, too
  doc   INTEGER NOT NULL           -- sequence of the document
) STRICT;

-- While their words are entered anew: of the nodes up to this row they are missing. One row, or none.
CREATE TABLE node_unread (
  id    INTEGER PRIMARY KEY CHECK (id = 1),
  last  INTEGER NOT NULL
) STRICT;

-- Words of all texts, one immutable document for each block. `text` is not text
-- but the packed words the reading threads made of it (store/fulltext.c), and before them
-- words that no text has for what it is: a call of which tool, an error (base/mark.h).
CREATE VIRTUAL TABLE search USING fts5(text, content='', contentless_delete=1, tokenize='arbor');
INSERT INTO search(search, rank) VALUES ('hashsize', 16777216);
INSERT INTO search(search, rank) VALUES ('automerge', 0);  -- in transactions of its own instead,
INSERT INTO search(search, rank) VALUES ('usermerge', 8);  -- and often: a search looks into every segment
INSERT INTO search(search, rank) VALUES ('crisismerge', 160);

-- What is known of documents, 128 in a row. What ranking needs of each match is in
-- its number: sequence * 2^7 + place * 2^4 + size, see store/fulltext.c. Numbers in
-- the blob are little-endian.
CREATE TABLE doc_chunk (
  id     INTEGER PRIMARY KEY,      -- sequence / 128
  used   INTEGER NOT NULL,         -- slots
  slots  BLOB NOT NULL             -- 21 bytes each: u32 session, u32 seconds since 1970, u16 block,
                                   -- u8 the lower 7 bits of the number, u40 offset of the line and in its
                                   -- upper 2 bits those of the milliseconds, u32 the lower half of XXH3 of
                                   -- its packed words, u8 the other bits of the milliseconds; session 0 =
                                   -- removed
) STRICT;

-- Around which day the documents of each chunk were written: ranking wants that of
-- most chunks, and finds all of them in a few rows.
CREATE TABLE doc_day (
  id     INTEGER PRIMARY KEY,      -- chunk / 256
  days   BLOB NOT NULL             -- of those that there are, in their order: u16 days since 1970, on average;
                                   -- 0 = none of its documents has one
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
