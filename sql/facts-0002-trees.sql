-- Facts 2: trees and nodes made through arbor.*, their lifecycle, and what
-- people and programs attach to any node, mirrored ones included.
--
-- Mirrored nodes are derived and not here. Facts name any node by its public
-- id; there is no foreign key from a fact to something derived.

-- Trees made by hand or by an activation. Mirrored trees are derived; one that something made hangs on
-- has a row here that stands for it, with its id, and the owner 'mirror', which no other tree can have.
CREATE TABLE tree (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  tree_id     BLOB NOT NULL UNIQUE CHECK (length(tree_id) = 16),
  owner       TEXT NOT NULL DEFAULT '',   -- who made it
  root_id     BLOB NOT NULL CHECK (length(root_id) = 16),
                                          -- its root node
  metadata    TEXT,                       -- JSON as given
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,           -- of its metadata
  rev         INTEGER NOT NULL
) STRICT;

-- Nodes made through arbor.*, and of mirrored ones those that some of them hang on: roots in the tree that stands
-- for theirs, of which there may be several. Immutable: an update is a new node. A parent has been there before its
-- children and so has a smaller number: there are no cycles, and numbers in descending order are children
-- before parents. Paths follow these numbers and not ids, which lie anywhere in a table. None is given
-- twice: who works through many nodes in several transactions knows them by their numbers.
CREATE TABLE node (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  node_id     BLOB NOT NULL UNIQUE CHECK (length(node_id) = 16),
  tree        INTEGER NOT NULL REFERENCES tree(id),
  parent      INTEGER REFERENCES node(id),
                                          -- what contains it, which is what it follows; NULL for the root
                                          -- of a tree
  depth       INTEGER NOT NULL CHECK (depth >= 0),
                                          -- parents up to the root
  position    INTEGER NOT NULL,           -- order among the children of its parent, from 1 on
  kind        TEXT NOT NULL CHECK (kind IN ('root', 'text', 'external')),
  role        TEXT CHECK (role IN ('system', 'user', 'assistant', 'note')),
                                          -- text: how it counts in a model's context; NULL = note
  plugin_id   BLOB CHECK (length(plugin_id) = 16),
                                          -- external: who owns the handle, for look-up
  replaces_id BLOB CHECK (length(replaces_id) = 16),
                                          -- the node this one is an update of
  created_at  INTEGER NOT NULL,
  rev         INTEGER NOT NULL,
  metadata    TEXT,                       -- JSON as given
  handle      TEXT,                       -- external: the handle as given, either form
  content     TEXT,                       -- text: the text itself; last, for what does not read it
  CHECK ((kind = 'root') = (parent IS NULL)),
  CHECK ((kind = 'root') = (depth = 0)),
  CHECK (parent < id),
  CHECK ((kind = 'text') = (content IS NOT NULL)),
  CHECK ((kind = 'external') = (handle IS NOT NULL))
) STRICT;
CREATE INDEX tree_mirrored ON tree(tree_id) WHERE owner = 'mirror';
CREATE UNIQUE INDEX node_children ON node(parent, position) WHERE parent IS NOT NULL;
CREATE INDEX node_in_tree ON node(tree);

-- Who needs a tree or node to stay. Standing claims are not written down: that of owner 'mirror' on a
-- mirrored tree, until it is released (count 0); and that of a tree on each of its nodes, which is released by
-- a row of the node in lifecycle.
CREATE TABLE claim (
  subject_id  BLOB NOT NULL CHECK (length(subject_id) = 16),
  subject     TEXT NOT NULL CHECK (subject IN ('tree', 'node')),
  owner       TEXT NOT NULL,
  count       INTEGER NOT NULL CHECK (count >= 0),
  tree        INTEGER,                    -- of a made node: its tree
  claimed_at  INTEGER NOT NULL,           -- first
  rev         INTEGER NOT NULL,
  PRIMARY KEY (subject_id, owner)
) STRICT, WITHOUT ROWID;
CREATE INDEX claim_by_owner ON claim(owner, subject_id);
CREATE INDEX claim_in_tree ON claim(tree, subject) WHERE count > 0;

-- Trees and nodes that have been let go. No row means active.
CREATE TABLE lifecycle (
  subject_id  BLOB PRIMARY KEY CHECK (length(subject_id) = 16),
  subject     TEXT NOT NULL CHECK (subject IN ('tree', 'node')),
  state       TEXT NOT NULL CHECK (state IN ('held', 'scheduled', 'archived', 'purged')),
                                          -- held: active as long as something keeps it
  ephemeral   INTEGER NOT NULL DEFAULT 0, -- let go at birth
  parent      INTEGER,                    -- of a made node until it is purged: its parent
  held_by     INTEGER,                    -- held: a child that stays; NULL = a claim
  since_at    INTEGER NOT NULL,           -- when it entered this state
  due_at      INTEGER,                    -- when it may move on; NULL when held or purged
  rev         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX lifecycle_due ON lifecycle(state, due_at);
CREATE INDEX lifecycle_below ON lifecycle(parent, state, due_at) WHERE parent IS NOT NULL;

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
                                           -- and tree where these were made through arbor.*; file, typed
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
