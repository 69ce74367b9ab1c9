-- Facts 3: named sessions, and agents run live: runs, their streams of events,
-- commands to their drivers, readers' cursors, approvals; plain model chats.

-- Sessions people name and continue. A mirrored session that nobody named is
-- derived. The head moves only by chat, set_head or adoption.
CREATE TABLE session (
  id                 INTEGER PRIMARY KEY,
  session_id         BLOB NOT NULL UNIQUE CHECK (length(session_id) = 16),
  name               TEXT NOT NULL,      -- unique among those that are not deleted
  agent              TEXT NOT NULL,      -- 'claude'
  tree_id            BLOB CHECK (length(tree_id) = 16),
                                         -- NULL before the first message
  head_id            BLOB CHECK (length(head_id) = 16),
                                         -- message the next one follows
  head_line_id       BLOB CHECK (length(head_line_id) = 16),
                                         -- last line included in the head
  claude_session_id  BLOB CHECK (length(claude_session_id) = 16),
                                         -- what --resume takes
  forked_from_id     BLOB CHECK (length(forked_from_id) = 16),
                                         -- session or node it was forked from
  working_dir        TEXT NOT NULL,
  model              TEXT,               -- NULL = the client's default
  system_prompt      TEXT,
  mcp_config         TEXT,               -- JSON as given
  allowed_tools      TEXT,               -- JSON array
  disallowed_tools   TEXT,               -- JSON array
  permission_mode    TEXT,
  loopback           INTEGER NOT NULL DEFAULT 0,
                                         -- 1 = ask Arbor for approvals
  metadata           TEXT,               -- JSON as given
  created_at         INTEGER NOT NULL,
  updated_at         INTEGER NOT NULL,
  deleted_at         INTEGER,            -- released, kept for its streams
  rev                INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX session_name ON session(name) WHERE deleted_at IS NULL;

-- One start of a driver: the process that owns the child. The lease tells any
-- reader whether it is still alive.
CREATE TABLE run (
  id             INTEGER PRIMARY KEY,
  run_id         BLOB NOT NULL UNIQUE CHECK (length(run_id) = 16),
  session        INTEGER NOT NULL REFERENCES session(id),
  client_msg_id  TEXT,                   -- the submitter's own id: at most once
  prompt         TEXT NOT NULL,          -- JSON: what was submitted
  ephemeral      INTEGER NOT NULL DEFAULT 0,
  argv           TEXT,                   -- JSON array; never the prompt
  init           TEXT,                   -- JSON: model, cwd, tools, servers, version as the client said
  exit_code      INTEGER,
  exit_signal    INTEGER,
  usage          TEXT,                   -- JSON: as reported
  stdout_id      BLOB CHECK (length(stdout_id) = 16),
                                         -- source that holds the child's output, where it is archived
  stderr_id      BLOB CHECK (length(stderr_id) = 16),
                                         -- source that holds what it wrote to stderr
  cost_micro     INTEGER,                -- reported, in millionths of a dollar; NULL = unknown
  lease_host     TEXT,                   -- host label
  lease_boot     TEXT,                   -- the machine's boot id
  lease_pid      INTEGER,
  lease_start    INTEGER,                -- start time of that pid, against reuse
  lease_at       INTEGER,                -- last renewed
  started_at     INTEGER NOT NULL,
  ended_at       INTEGER,
  rev            INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX run_once ON run(session, client_msg_id) WHERE client_msg_id IS NOT NULL;
-- A session has one driver at a time.
CREATE UNIQUE INDEX run_open ON run(session) WHERE ended_at IS NULL;

-- What a run says, as a sequence. States and their transitions are in
-- docs/DATA.md.
CREATE TABLE stream (
  id           INTEGER PRIMARY KEY,
  stream_id    BLOB NOT NULL UNIQUE CHECK (length(stream_id) = 16),
  session      INTEGER NOT NULL REFERENCES session(id),
  run          INTEGER NOT NULL REFERENCES run(id),
  state        TEXT NOT NULL CHECK (state IN ('running', 'awaiting_permission', 'complete', 'failed',
                                              'cancelled', 'interrupted')),
  continues_id BLOB CHECK (length(continues_id) = 16),
                                         -- the interrupted stream this one goes on from
  incarnation  INTEGER NOT NULL DEFAULT 1, -- of whoever may write to it; part of every cursor
  last_seq     INTEGER NOT NULL DEFAULT 0, -- of the newest event
  root_id      BLOB CHECK (length(root_id) = 16),
                                         -- the prompt's node
  head_id      BLOB CHECK (length(head_id) = 16),
                                         -- the new head, when complete
  error        TEXT,
  started_at   INTEGER NOT NULL,
  ended_at     INTEGER,
  compacted_at INTEGER,                  -- when its deltas were put together; NULL = they are all there
  rev          INTEGER NOT NULL
) STRICT;
CREATE INDEX stream_of_session ON stream(session, id);
CREATE INDEX stream_of_run ON stream(run);
CREATE INDEX stream_whole ON stream(ended_at) WHERE compacted_at IS NULL AND ended_at IS NOT NULL;

-- Events, dense from 1: each row begins where the one before it ended. Compaction replaces deltas
-- seq .. seq_last by one row.
-- An event's public id is made of its stream's id and seq (docs/DATA.md), so it
-- needs neither column nor index.
CREATE TABLE event (
  stream    INTEGER NOT NULL REFERENCES stream(id),
  seq       INTEGER NOT NULL,
  seq_last  INTEGER NOT NULL,            -- = seq unless compacted
  incarnation INTEGER NOT NULL,          -- of who wrote it: the same number may have been somebody else's
                                         -- event that was lost with the power
  type      TEXT NOT NULL,               -- start, content_delta, tool_use_end, ...
  node_id   BLOB CHECK (length(node_id) = 16),
                                         -- the node it is about; may not exist yet
  at        INTEGER NOT NULL,
  rev       INTEGER NOT NULL,
  data      TEXT NOT NULL,               -- JSON; last, for what does not read it
  PRIMARY KEY (stream, seq),
  CHECK (seq_last >= seq)
) STRICT, WITHOUT ROWID;

-- The inbox of a driver: other processes write, it acknowledges.
CREATE TABLE command (
  id          INTEGER PRIMARY KEY,
  command_id  BLOB NOT NULL UNIQUE CHECK (length(command_id) = 16),
  run         INTEGER NOT NULL REFERENCES run(id),
  verb        TEXT NOT NULL,             -- interrupt, queue, set_model, set_mode, answer, cancel
  data        TEXT NOT NULL,             -- JSON
  created_at  INTEGER NOT NULL,
  taken_at    INTEGER,                   -- the driver has read it
  done_at     INTEGER,                   -- the child has it, or result says why not
  result      TEXT,                      -- JSON
  rev         INTEGER NOT NULL
) STRICT;
CREATE INDEX command_open ON command(run, id) WHERE done_at IS NULL;

-- Named reading positions. They move only by advance.
CREATE TABLE cursor (
  stream       INTEGER NOT NULL REFERENCES stream(id),
  name         TEXT NOT NULL,
  incarnation  INTEGER NOT NULL,
  seq          INTEGER NOT NULL,         -- last event read; 0 = none
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  rev          INTEGER NOT NULL,
  PRIMARY KEY (stream, name)
) STRICT, WITHOUT ROWID;

-- Questions of agents: may this tool run? pending -> decided -> delivered, or
-- void when nobody can hear the answer any more (docs/DATA.md, States). That
-- nothing is allowed which nobody allowed, the checks demand, too.
CREATE TABLE approval (
  id             INTEGER PRIMARY KEY,
  approval_id    BLOB NOT NULL UNIQUE CHECK (length(approval_id) = 16),
  session        INTEGER REFERENCES session(id),
                                         -- NULL: of a session that nobody named here
  run            INTEGER REFERENCES run(id),
                                         -- NULL: asked by a client that Arbor did not start
  claude_session_id BLOB CHECK (length(claude_session_id) = 16),
  cwd            TEXT,
  request_id     TEXT NOT NULL,          -- the client's id of the question
  tool_use_id    TEXT,
  tool_name      TEXT NOT NULL,
  input          TEXT NOT NULL,          -- JSON as asked
  agent_id       TEXT,                   -- the sub-agent that asks
  suggestions    TEXT,                   -- JSON: rules the client offers
  state          TEXT NOT NULL CHECK (state IN ('pending', 'decided', 'delivered', 'void')),
  decision       TEXT CHECK (decision IN ('allow', 'deny')),
  edited_input   TEXT,                   -- JSON: what really ran, where it differs
  message        TEXT,                   -- for the model, with deny
  interrupt      INTEGER NOT NULL DEFAULT 0, -- 1: the turn ends, too
  answered_by    TEXT CHECK (answered_by IN ('person', 'program', 'rule', 'expiry')),
  answered_name  TEXT,                   -- of the person or program; NULL = not said
  rule           INTEGER REFERENCES approval_rule(id), -- that answered
  void_reason    TEXT CHECK (void_reason IN ('withdrawn', 'lost')),
                                         -- by who asked, or who asked is gone
  lease_host     TEXT NOT NULL,          -- who waits for the answer, as in run
  lease_boot     TEXT NOT NULL,
  lease_pid      INTEGER NOT NULL,
  lease_start    INTEGER NOT NULL,
  lease_at       INTEGER NOT NULL,
  asked_at       INTEGER NOT NULL,
  expires_at     INTEGER,                -- then it is denied; NULL = never
  decided_at     INTEGER,
  delivered_at   INTEGER,                -- handed to who asked, or about to be
  voided_at      INTEGER,
  rev            INTEGER NOT NULL,
  CHECK (state <> 'pending' OR decision IS NULL),
  CHECK (state NOT IN ('decided', 'delivered') OR decision IS NOT NULL),
  CHECK ((decision IS NULL) = (answered_by IS NULL) AND (decision IS NULL) = (decided_at IS NULL)),
  CHECK ((answered_by IS 'rule') = (rule IS NOT NULL)),
  CHECK (answered_by IS NOT 'program' OR session IS NOT NULL),
  CHECK (decision IS 'deny' OR answered_by IS NOT 'expiry'),
  CHECK (edited_input IS NULL OR (decision IS 'allow' AND answered_by IN ('person', 'program'))),
  CHECK (interrupt = 0 OR decision IS 'deny'),
  CHECK ((state = 'delivered') = (delivered_at IS NOT NULL)),
  CHECK ((state = 'void') = (voided_at IS NOT NULL) AND (state = 'void') = (void_reason IS NOT NULL))
) STRICT;
CREATE INDEX approval_open ON approval(state, id) WHERE state IN ('pending', 'decided');
CREATE UNIQUE INDEX approval_once ON approval(run, request_id) WHERE run IS NOT NULL;

-- Standing answers: of a session, of the client's session, or of all.
CREATE TABLE approval_rule (
  id          INTEGER PRIMARY KEY,
  rule_id     BLOB NOT NULL UNIQUE CHECK (length(rule_id) = 16),
  session     INTEGER REFERENCES session(id), -- NULL = every session
  claude_session_id BLOB CHECK (length(claude_session_id) = 16),
                                              -- NULL = every one
  tool_name   TEXT NOT NULL,                  -- exact, or with * (docs/APPROVALS.md)
  pattern     TEXT,                           -- on the input; NULL = any
  decision    TEXT NOT NULL CHECK (decision IN ('allow', 'deny', 'ask')),
  message     TEXT,                           -- for the model, with deny
  created_by  TEXT,                           -- a name; NULL = not said
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER,                        -- NULL = never
  deleted_at  INTEGER,                        -- kept for the approvals it answered
  rev         INTEGER NOT NULL,
  CHECK (session IS NULL OR claude_session_id IS NULL)
) STRICT;
CREATE INDEX approval_rule_used ON approval_rule(id) WHERE deleted_at IS NULL;

-- Plain language-model chats (cone.*).
CREATE TABLE cone (
  id             INTEGER PRIMARY KEY,
  cone_id        BLOB NOT NULL UNIQUE CHECK (length(cone_id) = 16),
  name           TEXT NOT NULL,          -- unique among those that are not deleted
  model          TEXT NOT NULL,
  system_prompt  TEXT,
  tree_id        BLOB NOT NULL CHECK (length(tree_id) = 16),
  head_id        BLOB NOT NULL CHECK (length(head_id) = 16),
  metadata       TEXT,                   -- JSON as given
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  deleted_at     INTEGER,
  rev            INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX cone_name ON cone(name) WHERE deleted_at IS NULL;

-- Their messages, whose nodes are external.
CREATE TABLE cone_message (
  id          INTEGER PRIMARY KEY,
  message_id  BLOB NOT NULL UNIQUE CHECK (length(message_id) = 16),
  cone        INTEGER NOT NULL REFERENCES cone(id),
  role        TEXT NOT NULL,
  content     TEXT NOT NULL,             -- JSON
  model       TEXT,
  usage       TEXT,                      -- JSON: as reported
  created_at  INTEGER NOT NULL,
  rev         INTEGER NOT NULL
) STRICT;
