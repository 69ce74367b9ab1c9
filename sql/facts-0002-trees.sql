-- Facts 2: trees and nodes made through arbor.*, their lifecycle, and what
-- people and programs attach to any node, mirrored ones included.
--
-- Mirrored nodes are derived and not here. Facts name any node by its public
-- id; there is no foreign key from a fact to something derived.

-- Trees made by hand or by an activation. Mirrored trees are derived.
CREATE TABLE tree (
  id          INTEGER PRIMARY KEY,
  tree_id     BLOB NOT NULL UNIQUE CHECK (length(tree_id) = 16),
  owner       TEXT NOT NULL DEFAULT '',   -- who made it
  root_id     BLOB NOT NULL CHECK (length(root_id) = 16),
                                          -- its root node
  metadata    TEXT,                       -- JSON as given
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  rev         INTEGER NOT NULL
) STRICT;

-- Nodes made through arbor.*. Immutable: an update is a new node.
CREATE TABLE node (
  id          INTEGER PRIMARY KEY,
  node_id     BLOB NOT NULL UNIQUE CHECK (length(node_id) = 16),
  tree_id     BLOB NOT NULL CHECK (length(tree_id) = 16),
                                          -- a tree of this table or a mirrored one
  parent_id   BLOB CHECK (length(parent_id) = 16),
                                          -- containment; NULL for the root of a tree
  prev_id     BLOB CHECK (length(prev_id) = 16),
                                          -- sequence; NULL where nothing precedes it
  position    INTEGER NOT NULL,           -- order among the children of its parent
  kind        TEXT NOT NULL CHECK (kind IN ('root', 'text', 'external')),
  role        TEXT CHECK (role IN ('system', 'user', 'assistant', 'note')),
                                          -- text: how it counts in a model's context; NULL = note
  content     TEXT,                       -- text: the text itself
  handle      TEXT,                       -- external: the handle as given, either form
  plugin_id   BLOB CHECK (length(plugin_id) = 16),
                                          -- external: who owns the handle, for look-up
  replaces_id BLOB CHECK (length(replaces_id) = 16),
                                          -- the node this one is an update of
  metadata    TEXT,                       -- JSON as given
  created_at  INTEGER NOT NULL,
  rev         INTEGER NOT NULL,
  CHECK ((kind = 'text') = (content IS NOT NULL)),
  CHECK ((kind = 'external') = (handle IS NOT NULL))
) STRICT;
CREATE INDEX node_in_tree ON node(tree_id, parent_id, position);
CREATE INDEX node_by_parent ON node(parent_id, position) WHERE parent_id IS NOT NULL;
CREATE INDEX node_by_prev ON node(prev_id) WHERE prev_id IS NOT NULL;

-- Who needs a tree or node to stay. A mirrored tree has a standing claim of
-- owner 'mirror' that is not written down; releasing it is (count 0).
CREATE TABLE claim (
  subject_id  BLOB NOT NULL CHECK (length(subject_id) = 16),
  subject     TEXT NOT NULL CHECK (subject IN ('tree', 'node')),
  owner       TEXT NOT NULL,
  count       INTEGER NOT NULL CHECK (count >= 0),
  claimed_at  INTEGER NOT NULL,
  rev         INTEGER NOT NULL,
  PRIMARY KEY (subject_id, owner)
) STRICT, WITHOUT ROWID;
CREATE INDEX claim_by_owner ON claim(owner, subject_id);

-- Trees and nodes that are not simply active. No row means active.
CREATE TABLE lifecycle (
  subject_id  BLOB PRIMARY KEY CHECK (length(subject_id) = 16),
  subject     TEXT NOT NULL CHECK (subject IN ('tree', 'node')),
  state       TEXT NOT NULL CHECK (state IN ('scheduled', 'archived', 'purged')),
  ephemeral   INTEGER NOT NULL DEFAULT 0, -- born scheduled
  since_at    INTEGER NOT NULL,           -- when it entered this state
  due_at      INTEGER,                    -- when it may move on; NULL when purged
  rev         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX lifecycle_due ON lifecycle(state, due_at);

-- Other ids of a tree or node, made by hand. Aliases that follow from the
-- archive are derived.
CREATE TABLE alias (
  alias_id    BLOB PRIMARY KEY CHECK (length(alias_id) = 16),
  target_id   BLOB NOT NULL CHECK (length(target_id) = 16),
  subject     TEXT NOT NULL CHECK (subject IN ('tree', 'node')),
  created_at  INTEGER NOT NULL,
  rev         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX alias_target ON alias(target_id);

-- Notes, bookmarks and tags. Never part of a model's context.
CREATE TABLE annotation (
  id             INTEGER PRIMARY KEY,
  annotation_id  BLOB NOT NULL UNIQUE CHECK (length(annotation_id) = 16),
  kind           TEXT NOT NULL CHECK (kind IN ('note', 'bookmark', 'tag')),
  subject_id     BLOB NOT NULL CHECK (length(subject_id) = 16),
                                           -- of a sub-agent: its conversation's
  subject        TEXT NOT NULL,            -- what it is: session, agent, turn, message, line, block; node
                                           -- and tree where these were made through arbor.*
  agent          TEXT NOT NULL DEFAULT '', -- of a sub-agent: its id
  session_id     BLOB CHECK (length(session_id) = 16),
                                           -- the conversation it is, or was in when this was written;
                                           -- NULL = none
  name           TEXT NOT NULL DEFAULT '', -- of a bookmark or tag; case does not matter
  text           TEXT NOT NULL DEFAULT '', -- of a note
  author         TEXT NOT NULL DEFAULT '',
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  rev            INTEGER NOT NULL
) STRICT;
CREATE INDEX annotation_of ON annotation(subject_id, agent);
CREATE INDEX annotation_in ON annotation(session_id, kind) WHERE session_id IS NOT NULL;
CREATE INDEX annotation_at ON annotation(kind, updated_at);
CREATE UNIQUE INDEX annotation_bookmark ON annotation(name COLLATE NOCASE) WHERE kind = 'bookmark';
CREATE UNIQUE INDEX annotation_tag ON annotation(name COLLATE NOCASE, subject_id, agent) WHERE kind = 'tag';

-- Templates that render resolved handles, set by people; the built-in ones are
-- in the program.
CREATE TABLE template (
  plugin_id   BLOB NOT NULL CHECK (length(plugin_id) = 16),
  method      TEXT NOT NULL,
  name        TEXT NOT NULL,
  body        TEXT NOT NULL,
  updated_at  INTEGER NOT NULL,
  rev         INTEGER NOT NULL,
  PRIMARY KEY (plugin_id, method, name)
) STRICT, WITHOUT ROWID;
