/*
 * The tables that people see (docs/SQL.md), as virtual tables over statements.
 *
 * A table is a list of columns, each an expression, and ways to find rows: by the id, by the session,
 * by words, or all of them. SQLite says which conditions it has, the first way that these allow is
 * taken, and a statement is put together of constant parts: the expressions of the columns that are
 * asked for, and what the way says. Views would do the same, but could not look ids up: what people
 * see of an id is computed.
 *
 * Columns that have to read the archive are computed when SQLite asks for their value, so of the
 * rows that pass the other conditions alone: by a statement of their own, whose parameters are the
 * three values of `place`.
 *
 * The modules have no xCreate: their tables exist wherever the connection looks for them, and cost
 * nothing before.
 */
#include "query/sql_inside.h"

#include "base/hash.h"
#include "claude/mention.h"
#include "store/summary.h"

#include <string.h>

enum { MOST_COLUMNS = 24, PLACE_VALUES = 3, WAY_BITS = 3 };

struct column {
	const char *name;  /* with its type, as declared */
	const char *now;   /* its expression; NULL = later */
	const char *later; /* the same over ?1, ?2, ?3: the table's `place` */
};

/* How rows are found: with a value for each of these columns. */
struct way {
	const char *key;  /* NULL = none is needed */
	bool match;	  /* by MATCH and not by equality */
	const char *from; /* and all that follows; the key is ?1 */
	double cost;
	int64_t rows;
};

struct sql_table {
	const char *name;
	bool distinct;
	const char *place; /* three expressions; NULL = rows are only counted */
	const struct column *columns;
	const struct way *ways; /* best first */
};

/* ---- What there is ------------------------------------------------------------------- */

/* Numbers that stand in the statements. */
_Static_assert(RECORD_USER == 1 && RECORD_ASSISTANT == 2 && RECORD_SYSTEM == 3 && RECORD_SUMMARY == 6 &&
		       RECORD_LAST_PROMPT == 9 && RECORD_SNAPSHOT == 10,
	       "types of lines");
_Static_assert(RECORD_BOUNDARY == 32 && RECORD_RESULT == 128 && RECORD_SIDECHAIN == 256 && RECORD_EMBEDDED == 512,
	       "flags of lines");
_Static_assert(PLACE_THINKING == 2 && PLACES == 7, "places of texts");

#define TRANSCRIPT_ID "arbor_uuid(s.session_id)"
#define AGENT	      "coalesce(e.agent, s.agent)"
#define LINE_ID	      "arbor_node(e.uuid, e.line_id, -1)"
#define MESSAGE_ID \
	"(SELECT arbor_node(m.uuid, m.line_id, -2) FROM entry m WHERE m.session = e.session" \
	" AND m.offset = e.first)"
#define OF_SESSION " AND s.session_id = arbor_blob(?1)"

static const struct column session_columns[] = {
	{ "id TEXT", TRANSCRIPT_ID, NULL },
	{ "project_path TEXT", "(SELECT path FROM project WHERE id = s.project)", NULL },
	{ "project_name TEXT", "(SELECT arbor_name(path) FROM project WHERE id = s.project)", NULL },
	{ "encoded_path TEXT",
	  "iif(f.path GLOB 'projects/*/*', substr(f.path, 10, instr(substr(f.path, 10), '/') - 1), NULL)",
	  NULL },
	{ "created_at TEXT", "arbor_time(s.started_at)", NULL },
	{ "last_message_at TEXT", "arbor_time(s.updated_at)", NULL },
	{ "message_count INTEGER", "s.messages", NULL },
	{ "tool_use_count INTEGER", "s.tools", NULL },
	{ "claude_version TEXT", NULL,
	  "SELECT arbor_member(session, offset, 'version') FROM entry WHERE session = ?1 AND uuid IS NOT NULL"
	  " AND flags & 512 = 0 ORDER BY offset DESC LIMIT 1" },
	{ "model TEXT", NULL,
	  "SELECT m.name FROM usage u CROSS JOIN entry e ON e.session = u.session AND e.offset = u.first"
	  " JOIN model m ON m.id = u.model WHERE u.session = ?1 AND e.flags & 256 = 0 AND e.agent IS NULL GROUP BY m.id"
	  " ORDER BY count(*) DESC, m.name LIMIT 1" },
	{ "summary TEXT", "nullif(" SUMMARY_TITLE("s") ", '')", NULL },
	{ "git_branch TEXT", "s.branch", NULL },
	{ "last_sync_at TEXT", "(SELECT arbor_time(synced_at) FROM root WHERE id = f.root)", NULL },
	{ "last_sync_line INTEGER", "(SELECT lines + (tail > 0) FROM line_count WHERE generation = s.generation)",
	  NULL },
	{ "prompt_count INTEGER", "s.prompts", NULL },
	{ "root TEXT", "(SELECT label FROM root WHERE id = f.root)", NULL },
	{ "file TEXT", "f.path", NULL },
	{ 0 },
};

#define SESSIONS "FROM mirror_session s JOIN source f ON f.id = s.source WHERE s.old = 0 AND s.agent IS NULL"

static const struct way session_ways[] = {
	{ "id", false, SESSIONS OF_SESSION, 5, 1 },
	{ NULL, false, SESSIONS, 1e4, 1000 },
};

static const struct column message_columns[] = {
	{ "session_id TEXT", TRANSCRIPT_ID, NULL },
	{ "role TEXT", "arbor_role(e.type, e.flags)", NULL },
	{ "content TEXT", NULL, "SELECT arbor_text(?1, ?2, -1)" },
	{ "thinking TEXT", NULL, "SELECT arbor_text(?1, ?2, -3)" },
	{ "timestamp TEXT", "arbor_time(e.at)", NULL },
	{ "id TEXT", LINE_ID, NULL },
	{ "uuid TEXT", "arbor_uuid(e.uuid)", NULL },
	{ "agent TEXT", AGENT, NULL },
	{ "messages HIDDEN", "arbor_hit_value(e.session, e.offset, h.query)", NULL },
	{ "rank HIDDEN", "h.rank", NULL },
	{ 0 },
};

/* Lines that are said, by whoever; and all that have words that are found. */
#define SAID		 " AND (e.type BETWEEN 1 AND 3 OR e.doc IS NOT NULL)"
#define LINES_OF_SESSION "mirror_session s CROSS JOIN entry e ON e.session = s.id"
#define LINES_BY_KEY(key) \
	"(SELECT session, offset FROM node_key WHERE key = " key " AND part = -1) k" \
	" CROSS JOIN entry e ON e.session = k.session AND e.offset = k.offset" \
	" CROSS JOIN mirror_session s ON s.id = e.session"
#define NOT_SEARCHED ", (SELECT NULL AS rank, NULL AS query) h WHERE s.old = 0" SAID
#define SEARCHED(places) \
	"FROM arbor_hit(?1, " places ") h CROSS JOIN mirror_session s ON s.id = h.session AND s.old = 0" \
	" CROSS JOIN entry e ON e.session = h.session AND e.offset = h.offset"

static const struct way message_ways[] = {
	{ "messages", true, SEARCHED("0"), 1e5, 200 },
	{ "content", true, SEARCHED("123"), 1e5, 200 }, /* all places but thinking */
	{ "thinking", true, SEARCHED("4"), 1e5, 200 }, /* that one */
	{ "id", false, "FROM " LINES_BY_KEY("arbor_key(?1)") NOT_SEARCHED, 5, 1 },
	{ "uuid", false, "FROM " LINES_BY_KEY("arbor_line_key(?1)") NOT_SEARCHED, 5, 1 },
	{ "session_id", false, "FROM " LINES_OF_SESSION NOT_SEARCHED OF_SESSION, 500, 500 },
	{ NULL, false, "FROM " LINES_OF_SESSION NOT_SEARCHED, 1e6, 1000000 },
};

#define USAGE(what) "(SELECT " what " FROM usage u WHERE u.session = e.session AND u.first = e.offset)"

static const struct column meta_columns[] = {
	{ "id TEXT", LINE_ID, NULL },
	{ "session_id TEXT", TRANSCRIPT_ID, NULL },
	{ "uuid TEXT", "arbor_uuid(e.uuid)", NULL },
	{ "parent_uuid TEXT",
	  "iif(typeof(e.parent) = 'integer', (SELECT arbor_uuid(p.uuid) FROM entry p WHERE p.session = "
	  "e.session"
	  " AND p.offset = e.parent), arbor_uuid(e.parent))",
	  NULL },
	{ "role TEXT", "arbor_role(e.type, e.flags)", NULL },
	{ "timestamp TEXT", "arbor_time(e.at)", NULL },
	{ "model TEXT",
	  "(SELECT m.name FROM usage u JOIN model m ON m.id = u.model WHERE u.session = e.session"
	  " AND u.first = e.first)",
	  NULL },
	{ "request_id TEXT", NULL, "SELECT arbor_member(?1, ?2, 'requestId')" },
	{ "input_tokens INTEGER", USAGE("arbor_tokens(u.told, 1)"), NULL },
	{ "output_tokens INTEGER", USAGE("arbor_tokens(u.told, 2)"), NULL },
	{ "cache_tokens INTEGER", USAGE("arbor_tokens(u.told, 3)"), NULL },
	{ "message_id TEXT", MESSAGE_ID, NULL },
	{ "agent TEXT", AGENT, NULL },
	{ "answer_id TEXT",
	  "iif(e.message IS NULL, coalesce(" MESSAGE_ID ", " LINE_ID "), format('%016x', e.message))", NULL },
	{ 0 },
};

static const struct way meta_ways[] = {
	{ "id", false, "FROM " LINES_BY_KEY("arbor_key(?1)") " WHERE s.old = 0" SAID, 5, 1 },
	{ "uuid", false, "FROM " LINES_BY_KEY("arbor_line_key(?1)") " WHERE s.old = 0" SAID, 5, 1 },
	{ "session_id", false, "FROM " LINES_OF_SESSION " WHERE s.old = 0" SAID OF_SESSION, 500, 500 },
	{ NULL, false, "FROM " LINES_OF_SESSION " WHERE s.old = 0" SAID, 1e6, 1000000 },
};

static const struct column tool_columns[] = {
	{ "id TEXT", "arbor_node(e.uuid, e.line_id, p.part)", NULL },
	{ "session_id TEXT", TRANSCRIPT_ID, NULL },
	{ "message_uuid TEXT", "arbor_uuid(e.uuid)", NULL },
	{ "tool_id TEXT", "p.call", NULL },
	{ "tool_name TEXT", "p.name", NULL },
	{ "input_json TEXT", "p.input", NULL },
	{ "output_text TEXT", NULL, "SELECT iif(arbor_result(?1, ?2, ?3, 1), NULL, arbor_result(?1, ?2, ?3, 0))" },
	{ "error_text TEXT", NULL, "SELECT iif(arbor_result(?1, ?2, ?3, 1), arbor_result(?1, ?2, ?3, 0), NULL)" },
	{ "is_error INTEGER", NULL, "SELECT arbor_result(?1, ?2, ?3, 1)" },
	{ "timestamp TEXT", "arbor_time(e.at)", NULL },
	{ "agent TEXT", AGENT, NULL },
	{ 0 },
};

#define CALLS \
	" CROSS JOIN arbor_part(e.session, e.offset, 0, e.blocks) p" \
	" WHERE s.old = 0 AND e.type = 2 AND e.tools IS NOT NULL AND p.kind = 'tool_use'"

static const struct way tool_ways[] = {
	{ "tool_id", false,
	  "FROM (SELECT session, offset FROM node_key WHERE key = arbor_call_key(?1) AND part = -5) k"
	  " CROSS JOIN entry e ON e.session = k.session AND e.offset = k.offset"
	  " CROSS JOIN mirror_session s ON s.id = e.session" CALLS,
	  5, 1 },
	{ "session_id", false, "FROM " LINES_OF_SESSION CALLS OF_SESSION, 1e3, 200 },
	{ NULL, false, "FROM " LINES_OF_SESSION CALLS, 1e7, 100000 },
};

static const struct column file_columns[] = {
	{ "session_id TEXT", TRANSCRIPT_ID, NULL },
	{ "file_path TEXT",
	  "iif(c.path GLOB '/*', c.path, coalesce((SELECT path || '/' FROM project WHERE id = s.project), "
	  "'') || c.path)",
	  NULL },
	{ "backup_file TEXT", "c.backup", NULL },
	{ "version INTEGER", "c.version", NULL },
	{ "modified_at TEXT", "arbor_time(c.at)", NULL },
	{ "change TEXT", "c.change", NULL },
	{ "tool TEXT", "c.tool", NULL },
	{ "agent TEXT", AGENT, NULL },
	{ 0 },
};

#define CHANGES \
	"FROM " LINES_OF_SESSION " CROSS JOIN arbor_change(e.session, e.offset) c" \
	" WHERE s.old = 0 AND (e.type = 10 OR (e.type = 1 AND e.flags & 128))"

static const struct way file_ways[] = {
	{ "session_id", false, CHANGES OF_SESSION, 1e3, 100 },
	{ NULL, false, CHANGES, 1e7, 10000 },
};

static const struct column extraction_columns[] = {
	{ "id TEXT", "arbor_uuid(f.source_id)", NULL },
	{ "session_file TEXT", "r.dir || '/' || f.path", NULL },
	/* One that has no line feed yet may have been read, and may not. */
	{ "last_line INTEGER",
	  "(SELECT c.lines + (c.tail > 0 AND s.read_to > g.length - c.tail) FROM line_count c"
	  " JOIN generation g ON g.id = c.generation WHERE c.generation = s.generation)",
	  NULL },
	{ "last_byte INTEGER", "s.read_to", NULL },
	{ "file_size INTEGER", "f.size", NULL },
	{ "file_mtime TEXT", "arbor_time(f.mtime_ns / 1000000)", NULL },
	{ "last_sync_at TEXT", "arbor_time(r.synced_at)", NULL },
	{ "session_id TEXT", TRANSCRIPT_ID, NULL },
	{ "agent TEXT", "s.agent", NULL },
	{ "vanished_at TEXT", "arbor_time(f.vanished_at)", NULL },
	{ 0 },
};

static const struct way extraction_ways[] = {
	{ NULL, false,
	  "FROM mirror_session s JOIN source f ON f.id = s.source JOIN root r ON r.id = f.root WHERE s.old = "
	  "0",
	  1e4, 1000 },
};

/* As mention_kind_name() and mention_relation() have them. */
#define NAME_OF_KIND \
	"CASE n.kind WHEN 1 THEN 'file' WHEN 2 THEN 'url' WHEN 3 THEN 'issue' WHEN 4 THEN 'commit'" \
	" WHEN 5 THEN 'session' WHEN 6 THEN 'identifier' ELSE 'topic' END"
#define RELATION_OF_KIND \
	"CASE n.kind WHEN 1 THEN 'touches_file' WHEN 7 THEN 'related_to' WHEN 2 THEN 'mentions'" \
	" WHEN 6 THEN 'mentions' ELSE 'references' END"
#define WEIGHT_OF_NAME \
	"arbor_weight(n.kind, sum(n.times), (SELECT count(*) FROM link x WHERE x.key = n.key)," \
	" (SELECT count(*) FROM mirror_session WHERE old = 0))"
_Static_assert(MENTION_FILE == 1 && MENTION_URL == 2 && MENTION_ISSUE == 3 && MENTION_COMMIT == 4 &&
		       MENTION_SESSION == 5 && MENTION_IDENTIFIER == 6 && MENTION_TOPIC == 7,
	       "kinds of names");

static const struct column link_columns[] = {
	{ "source_type TEXT", "l.source_type", NULL },
	{ "source_id TEXT", "l.source_id", NULL },
	{ "target_type TEXT", "l.target_type", NULL },
	{ "target_id TEXT", "l.target_id", NULL },
	{ "relationship TEXT", "l.relationship", NULL },
	{ "weight REAL", "l.weight", NULL },
	{ 0 },
};

/* What lines name is the key of another line: that of its uuid. */
static const struct way link_ways[] = {
	{ NULL, false,
	  "FROM (SELECT 'session' AS source_type, " TRANSCRIPT_ID " AS source_id, 'agent' AS target_type,"
	  " s.agent AS target_id, 'spawned' AS relationship, 0.5 AS weight FROM mirror_session s WHERE s.old = 0 AND "
	  "s.agent IS NOT NULL"
	  /* Those that are told in progress lines of their conversation. */
	  " UNION SELECT 'session', " TRANSCRIPT_ID ", 'agent', e.agent, 'spawned', 0.5 FROM " LINES_OF_SESSION
	  " WHERE s.old = 0 AND e.agent IS NOT NULL"
	  " UNION ALL SELECT 'session', " TRANSCRIPT_ID
	  ", 'session', arbor_uuid(o.session_id), 'shares_lines', 0.9"
	  " FROM mirror_session s CROSS JOIN json_each(arbor_sharing(s.id)) k"
	  " CROSS JOIN mirror_session o ON o.id = k.value"
	  " WHERE s.old = 0 AND o.old = 0 AND s.agent IS NULL AND o.agent IS NULL AND s.session_id <> "
	  "o.session_id"
	  " UNION ALL SELECT 'message', " LINE_ID ", 'message', arbor_node(e.link, NULL, -1),"
	  " CASE WHEN e.flags & 32 THEN 'continues' WHEN e.type IN (6, 9) THEN 'references' ELSE "
	  "'forked_from' END, 1.0"
	  " FROM " LINES_OF_SESSION " WHERE s.old = 0 AND e.link IS NOT NULL"
	  " UNION ALL SELECT 'session', " TRANSCRIPT_ID ", " NAME_OF_KIND ", n.name, " RELATION_OF_KIND
	  ", " WEIGHT_OF_NAME
	  " FROM mirror_session s CROSS JOIN link n ON n.session = s.id WHERE s.old = 0"
	  " AND (n.kind <> 5 OR (n.name <> " TRANSCRIPT_ID " AND EXISTS (SELECT 1 FROM mirror_session o"
	  " WHERE o.session_id = arbor_blob(n.name))))"
	  " GROUP BY s.session_id, n.key) l",
	  1e5, 1000 },
};

static const struct column topic_columns[] = {
	{ "id TEXT", "n.name", NULL },
	{ "name TEXT", "n.name", NULL },
	{ "weight REAL", "n.weight", NULL },
	{ "sessions INTEGER", "n.sessions", NULL },
	{ 0 },
};

static const struct way topic_ways[] = {
	{ NULL, false,
	  "FROM (SELECT n.name, count(DISTINCT s.session_id) AS sessions, " WEIGHT_OF_NAME " AS weight"
	  " FROM mirror_session s CROSS JOIN link n ON n.session = s.id WHERE s.old = 0 AND n.kind = 7"
	  " GROUP BY n.key) n",
	  1e5, 1000 },
};

static const struct column node_columns[] = {
	{ "id TEXT", "n.id", NULL },
	{ "tree_id TEXT", NULL,
	  "SELECT iif(?1, arbor_tree(?1, ?2), (SELECT arbor_uuid(t.tree_id) FROM node m JOIN tree t ON t.id = m.tree"
	  " WHERE m.id = ?2))" },
	{ "parent_id TEXT", "n.parent_id", NULL },
	{ "ref_count INTEGER",
	  "coalesce((SELECT sum(count) FROM claim WHERE subject_id = arbor_blob(n.id)), 0)"
	  " + n.standing",
	  NULL },
	{ "state TEXT",
	  "(SELECT CASE max(CASE state WHEN 'purged' THEN 3 WHEN 'archived' THEN 2 WHEN 'scheduled' THEN 1 END)"
	  " WHEN 3 THEN 'purged' WHEN 2 THEN 'archived' WHEN 1 THEN 'scheduled' ELSE 'active' END"
	  " FROM lifecycle WHERE subject_id IN (arbor_blob(n.id), arbor_blob(n.tree_id)))",
	  NULL },
	{ "scheduled_deletion_at TEXT",
	  "(SELECT arbor_time(due_at) FROM lifecycle WHERE subject_id = arbor_blob(n.id) AND state = "
	  "'scheduled')",
	  NULL },
	{ "archived_at TEXT",
	  "(SELECT arbor_time(since_at) FROM lifecycle WHERE subject_id = arbor_blob(n.id) AND state = "
	  "'archived')",
	  NULL },
	{ "node_type TEXT", "n.node_type", NULL },
	{ "content TEXT", NULL,
	  "SELECT iif(?1, arbor_text(?1, ?2, ?3), (SELECT content FROM node WHERE id = ?2))" },
	{ "handle_source TEXT", "NULL", NULL },
	{ "handle_source_version TEXT", "NULL", NULL },
	{ "handle_identifier TEXT", "n.handle", NULL },
	{ "handle_metadata TEXT", "NULL", NULL },
	{ "created_at TEXT", "n.created_at", NULL },
	{ "metadata TEXT", "n.metadata", NULL },
	{ "session_id TEXT", "n.session_id", NULL },
	{ 0 },
};

/* What the client tells the model: a line that is a message by itself. */
#define IS_OWN_MESSAGE "(e.flags & 33554432)"
_Static_assert(ENTRY_MESSAGE == 33554432, "as statements have it");

/* Nodes of lines, of messages and of their blocks, and those that were made through Arbor. */
#define MIRRORED(part) \
	"SELECT arbor_node(e.uuid, e.line_id, " part ") AS id, NULL AS tree_id," \
	" CASE WHEN " part " = -2 THEN NULL WHEN e.first IS NOT NULL THEN " MESSAGE_ID " WHEN " part \
	" >= 0 THEN " LINE_ID " WHEN " IS_OWN_MESSAGE " THEN arbor_node(e.uuid, e.line_id, -2) END AS parent_id," \
	" 1 AS standing," \
	" CASE " part " WHEN -2 THEN 'message' WHEN -1 THEN 'line' ELSE 'block' END AS node_type," \
	" NULL AS handle, arbor_time(e.at) AS created_at, NULL AS metadata," \
	" " TRANSCRIPT_ID " AS session_id, e.session AS session, e.offset AS offset, " part " AS part "
#define MADE \
	" UNION ALL SELECT arbor_uuid(m.node_id), (SELECT arbor_uuid(t.tree_id) FROM tree t WHERE t.id = m.tree)," \
	" (SELECT arbor_uuid(p.node_id) FROM node p WHERE p.id = m.parent)," \
	" NOT EXISTS (SELECT 1 FROM lifecycle WHERE subject_id = m.node_id), m.kind, m.handle," \
	" arbor_time(m.created_at), m.metadata, NULL, 0, m.id, 0 FROM node m JOIN tree h ON h.id = m.tree" \
	" AND (m.parent IS NOT NULL OR h.owner <> 'mirror')"
#define EACH_PART \
	"FROM " LINES_OF_SESSION " CROSS JOIN arbor_part(e.session, e.offset," \
	" iif(e.uuid IS NOT NULL AND (e.first = e.offset OR " IS_OWN_MESSAGE "), -2, -1)," \
	" iif(e.uuid IS NULL, 0, e.blocks)) p " \
	"WHERE s.old = 0"

static const struct way node_ways[] = {
	{ "id", false,
	  "FROM (" MIRRORED("k.part") "FROM node_key k CROSS JOIN entry e ON e.session = k.session AND"
				      " e.offset = k.offset CROSS JOIN mirror_session s ON s.id = e.session"
				      " WHERE k.key = arbor_key(?1) AND k.part > -3 AND s.old = 0" MADE
				      " WHERE m.node_id = arbor_blob(?1)) n",
	  5, 1 },
	{ "session_id", false, "FROM (" MIRRORED("p.part") EACH_PART OF_SESSION ") n", 1e3, 1000 },
	{ NULL, false, "FROM (" MIRRORED("p.part") EACH_PART MADE ") n", 1e6, 1000000 },
};

static const struct column tree_columns[] = {
	{ "id TEXT", "arbor_uuid(t.tree_id)", NULL },
	{ "root_id TEXT", "arbor_uuid(t.root_id)", NULL },
	{ "owner TEXT", "nullif(t.owner, '')", NULL },
	{ "ref_count INTEGER", "coalesce((SELECT sum(count) FROM claim WHERE subject_id = t.tree_id), 0)",
	  NULL },
	{ "state TEXT", "coalesce(nullif(l.state, 'held'), 'active')", NULL },
	{ "scheduled_deletion_at TEXT", "iif(l.state = 'scheduled', arbor_time(l.due_at), NULL)", NULL },
	{ "archived_at TEXT", "iif(l.state = 'archived', arbor_time(l.since_at), NULL)", NULL },
	{ "created_at TEXT", "arbor_time(t.created_at)", NULL },
	{ "updated_at TEXT", "arbor_time(t.updated_at)", NULL },
	{ "metadata TEXT", "t.metadata", NULL },
	{ 0 },
};

static const struct way tree_ways[] = {
	{ NULL, false, "FROM tree t LEFT JOIN lifecycle l ON l.subject_id = t.tree_id WHERE t.owner <> 'mirror'", 1e4,
	  100 },
};

/* Notes, bookmarks and tags: what they have in common, and how each is found. */
#define ANNOTATION_COLUMNS \
	{ "id TEXT", "arbor_uuid(a.annotation_id)", NULL }, { "subject_id TEXT", "arbor_uuid(a.subject_id)", NULL }, \
		{ "subject TEXT", "a.subject", NULL }, { "agent TEXT", "nullif(a.agent, '')", NULL }, \
		{ "session_id TEXT", "arbor_uuid(a.session_id)", NULL }, \
		{ "author TEXT", "nullif(a.author, '')", NULL }, \
		{ "created_at TEXT", "arbor_time(a.created_at)", NULL }, \
		{ "updated_at TEXT", "arbor_time(a.updated_at)", NULL }, { 0 }
#define ANNOTATIONS(kind) "FROM annotation a WHERE a.kind = '" kind "'"
/* Few have the same subject, and many the same kind. */
#define ANNOTATIONS_BY(column, kind) "FROM annotation a WHERE a." column " = arbor_blob(?1) AND +a.kind = '" kind "'"
#define ANNOTATION_WAYS(kind) \
	{ "id", false, ANNOTATIONS_BY("annotation_id", kind), 5, 1 }, \
		{ "subject_id", false, ANNOTATIONS_BY("subject_id", kind), 5, 2 }, \
		{ "session_id", false, ANNOTATIONS_BY("session_id", kind), 10, 10 }, \
		{ NULL, false, ANNOTATIONS(kind), 1e3, 1000 }

static const struct column note_columns[] = { { "text TEXT", "a.text", NULL }, ANNOTATION_COLUMNS };
static const struct way note_ways[] = { ANNOTATION_WAYS("note") };

/* Case does not matter to a name. */
static const struct column name_columns[] = { { "name TEXT COLLATE NOCASE", "a.name", NULL }, ANNOTATION_COLUMNS };
static const struct way bookmark_ways[] = {
	{ "name", false, ANNOTATIONS("bookmark") " AND a.name = ?1 COLLATE NOCASE", 5, 1 },
	ANNOTATION_WAYS("bookmark"),
};
static const struct way tag_ways[] = {
	{ "name", false, ANNOTATIONS("tag") " AND a.name = ?1 COLLATE NOCASE", 10, 20 },
	ANNOTATION_WAYS("tag"),
};

/* What agents were asked to do through Arbor, and all that came of it. */
#define STREAMS "FROM stream t CROSS JOIN session s ON s.id = t.session"

static const struct column stream_columns[] = {
	{ "id TEXT", "arbor_uuid(t.stream_id)", NULL },
	{ "session_id TEXT", "arbor_uuid(s.session_id)", NULL },
	{ "session_name TEXT", "s.name", NULL },
	{ "tree_id TEXT", "arbor_uuid(s.tree_id)", NULL },
	{ "stream_root_node TEXT", "iif(t.last_seq > 0, arbor_event(t.stream_id, 1), NULL)", NULL },
	{ "stream_head_node TEXT", "iif(t.last_seq > 0, arbor_event(t.stream_id, t.last_seq), NULL)", NULL },
	{ "status TEXT", "t.state", NULL },
	{ "started_at TEXT", "arbor_time(t.started_at)", NULL },
	{ "ended_at TEXT", "arbor_time(t.ended_at)", NULL },
	{ "error TEXT", "t.error", NULL },
	{ "event_count INTEGER", "t.last_seq", NULL },
	{ 0 },
};

static const struct way stream_ways[] = {
	{ "id", false, STREAMS " WHERE t.stream_id = arbor_blob(?1)", 5, 1 },
	{ "session_id", false,
	  "FROM session s CROSS JOIN stream t ON t.session = s.id WHERE s.session_id = arbor_blob(?1)", 10, 20 },
	{ NULL, false, STREAMS, 1e4, 1000 },
};

#define EVENTS " CROSS JOIN event e ON e.stream = t.id"

static const struct column event_columns[] = {
	{ "id TEXT", "arbor_event(t.stream_id, e.seq)", NULL },
	{ "session_id TEXT", "arbor_uuid(s.session_id)", NULL },
	{ "stream_id TEXT", "arbor_uuid(t.stream_id)", NULL },
	{ "seq INTEGER", "e.seq", NULL },
	{ "seq_last INTEGER", "e.seq_last", NULL },
	{ "event_type TEXT", "e.type", NULL },
	{ "event_data TEXT", "e.data", NULL },
	{ "node_id TEXT", "arbor_uuid(e.node_id)", NULL },
	{ "created_at TEXT", "arbor_time(e.at)", NULL },
	{ 0 },
};

static const struct way event_ways[] = {
	{ "stream_id", false, STREAMS EVENTS " WHERE t.stream_id = arbor_blob(?1)", 1e3, 1000 },
	{ "session_id", false,
	  "FROM session s CROSS JOIN stream t ON t.session = s.id" EVENTS " WHERE s.session_id = arbor_blob(?1)", 1e4,
	  10000 },
	{ NULL, false, STREAMS EVENTS, 1e6, 1000000 },
};

#define LINE_PLACE "e.session, e.offset, NULL"

static const struct sql_table tables[] = {
	{ "sessions", false, "s.id, NULL, NULL", session_columns, session_ways },
	{ "messages", false, LINE_PLACE, message_columns, message_ways },
	{ "messages_meta", false, LINE_PLACE, meta_columns, meta_ways },
	{ "tool_uses", false, "e.session, e.offset, p.call", tool_columns, tool_ways },
	{ "file_modifications", true, NULL, file_columns, file_ways },
	{ "extraction_state", false, "s.id, NULL, NULL", extraction_columns, extraction_ways },
	{ "links", false, NULL, link_columns, link_ways },
	{ "topics", false, NULL, topic_columns, topic_ways },
	{ "nodes", false, "n.session, n.offset, n.part", node_columns, node_ways },
	{ "trees", false, NULL, tree_columns, tree_ways },
	{ "notes", false, NULL, note_columns, note_ways },
	{ "bookmarks", false, NULL, name_columns, bookmark_ways },
	{ "tags", false, NULL, name_columns, tag_ways },
	{ "chat_streams", false, NULL, stream_columns, stream_ways },
	{ "chat_events", false, "t.id, e.seq, NULL", event_columns, event_ways },
};

/* Of SQLite's own: JSON taken apart, and what columns a table has. */
static const char *const harmless[] = { "json_each", "json_tree", "pragma_table_info" };

bool sql_table_allowed(const char *name)
{
	for (size_t i = 0; i < COUNT(tables); i++)
		if (sqlite3_stricmp(tables[i].name, name) == 0)
			return true;
	for (size_t i = 0; i < COUNT(harmless); i++)
		if (sqlite3_stricmp(harmless[i], name) == 0)
			return true;
	return false;
}

/* ---- A table ---------------------------------------------------------------------------- */

struct open_table {
	sqlite3_vtab base; /* first: SQLite knows it by this */
	struct sql *q;
	const struct sql_table *table;
	int columns;
};

/* What SQLite hands back when it connects: the table is found by its name. */
static int table_connect(sqlite3 *db, void *ctx, int argc, const char *const *argv, sqlite3_vtab **out,
			 char **error)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(4 * KIB);
	struct open_table *t = mem_alloc(sizeof *t);
	int code;

	(void)argc;
	(void)error;
	t->q = ctx;
	t->table = tables;
	while (sqlite3_stricmp(t->table->name, argv[0]) != 0)
		t->table++;
	buf_text(&text, "CREATE TABLE x(");
	for (const struct column *c = t->table->columns; c->name; c++, t->columns++)
		buf_printf(&text, "%s%s", t->columns ? ", " : "", c->name);
	buf_text(&text, ")");
	code = sqlite3_declare_vtab(db, text.p);
	*out = &t->base;
	if (code != SQLITE_OK) {
		mem_free(t);
		*out = NULL;
	}
	return code;
}

static int table_disconnect(sqlite3_vtab *table)
{
	mem_free(table);
	return SQLITE_OK;
}

static struct str name_of(const struct column *c)
{
	struct str rest;

	return str_cut(str_of(c->name), ' ', &rest);
}

/* The condition that gives a way its key; -1 = there is none that can be used. A table that is
 * called as a function gives its arguments by equality. */
static int find_condition(const struct open_table *t, const struct sqlite3_index_info *info,
			  const struct way *way)
{
	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn, op = info->aConstraint[i].op;
		const struct column *c;

		if (!info->aConstraint[i].usable || column < 0 || column >= t->columns)
			continue;
		c = &t->table->columns[column];
		if (!str_eq(name_of(c), str_of(way->key)))
			continue;
		if (way->match ? op == SQLITE_INDEX_CONSTRAINT_MATCH ||
					 (op == SQLITE_INDEX_CONSTRAINT_EQ && strstr(c->name, "HIDDEN"))
			       : op == SQLITE_INDEX_CONSTRAINT_EQ)
			return i;
	}
	return -1;
}

/* Hits come best first, which is the order of `rank`. */
static bool is_in_order(const struct open_table *t, const struct sqlite3_index_info *info,
			const struct way *way)
{
	return way->match && info->nOrderBy == 1 && !info->aOrderBy[0].desc &&
	       info->aOrderBy[0].iColumn >= 0 &&
	       str_eq(name_of(&t->table->columns[info->aOrderBy[0].iColumn]), STR("rank"));
}

static int table_best(sqlite3_vtab *table, sqlite3_index_info *info)
{
	const struct open_table *t = (struct open_table *)table;
	const struct way *way = t->table->ways;
	int at = -1;

	for (; way->key; way++)
		if ((at = find_condition(t, info, way)) >= 0)
			break;
	if (at >= 0) {
		info->aConstraintUsage[at].argvIndex = 1;
		info->aConstraintUsage[at].omit = way->match;
	}
	info->estimatedCost = way->cost;
	info->estimatedRows = way->rows;
	info->orderByConsumed = is_in_order(t, info, way);
	/* Which columns are wanted; of a distinct row all of them make it what it is. */
	info->idxNum = (int)(way - t->table->ways);
	info->idxNum |= (int)((t->table->distinct ? UINT32_MAX : (uint32_t)info->colUsed) &
			      ((1u << MOST_COLUMNS) - 1))
			<< WAY_BITS;
	return SQLITE_OK;
}

/* ---- Rows --------------------------------------------------------------------------------- */

struct row_cursor {
	sqlite3_vtab_cursor base;
	sqlite3_stmt *rows;
	sqlite3_stmt *later[MOST_COLUMNS]; /* NULL = not needed yet */
	int plan;			   /* of `rows`: the number it was made for */
	int64_t number;			   /* of the row */
	bool done;
};

static const struct open_table *table_of(const struct row_cursor *c)
{
	return (const struct open_table *)c->base.pVtab;
}

static int rows_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
	struct row_cursor *c = mem_alloc(sizeof *c);

	(void)table;
	*out = &c->base;
	return SQLITE_OK;
}

static int rows_close(sqlite3_vtab_cursor *cursor)
{
	struct row_cursor *c = (struct row_cursor *)cursor;

	sqlite3_finalize(c->rows);
	for (int i = 0; i < MOST_COLUMNS; i++)
		sqlite3_finalize(c->later[i]);
	mem_free(c);
	return SQLITE_OK;
}

/* Keeps what SQLite says of one of our statements for whoever reads the error of the query. */
static int rows_failed(struct row_cursor *c, int code)
{
	sqlite3_free(c->base.pVtab->zErrMsg);
	c->base.pVtab->zErrMsg = sqlite3_mprintf("%s", sqlite3_errmsg(table_of(c)->q->store->db));
	return code;
}

static int prepare(const struct row_cursor *c, const char *text, sqlite3_stmt **out)
{
	struct sql *q = table_of(c)->q;
	int code;

	q->inside++;
	code = sqlite3_prepare_v2(q->store->db, text, -1, out, NULL);
	q->inside--;
	return code;
}

static int step(const struct row_cursor *c, sqlite3_stmt *st)
{
	struct sql *q = table_of(c)->q;
	int code;

	q->inside++;
	code = sqlite3_step(st);
	q->inside--;
	return code;
}

/* Columns in their order, NULL where nobody asks or where it comes later, then the place. */
static void write_statement(const struct sql_table *t, int plan, struct buf *out)
{
	unsigned wanted = (unsigned)plan >> WAY_BITS;

	buf_text(out, t->distinct ? "SELECT DISTINCT " : "SELECT ");
	for (unsigned i = 0; t->columns[i].name; i++)
		buf_printf(out, "%s%s", i ? ", " : "",
			   t->columns[i].now && wanted >> i & 1 ? t->columns[i].now : "NULL");
	buf_printf(out, "%s%s %s", t->place ? ", " : "", t->place ? t->place : "",
		   t->ways[plan & ((1 << WAY_BITS) - 1)].from);
}

static int rows_next(sqlite3_vtab_cursor *cursor)
{
	struct row_cursor *c = (struct row_cursor *)cursor;
	int code = step(c, c->rows);

	c->done = code != SQLITE_ROW;
	c->number++;
	return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : rows_failed(c, code);
}

static int rows_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int count,
		       sqlite3_value **values)
{
	struct row_cursor *c = (struct row_cursor *)cursor;
	struct buf sql CLEANUP(buf_release) = BUF_INIT(16 * KIB);
	int code = SQLITE_OK;

	(void)text;
	if (c->rows && c->plan != plan) {
		sqlite3_finalize(c->rows);
		c->rows = NULL;
	}
	if (!c->rows) {
		write_statement(table_of(c)->table, plan, &sql);
		c->plan = plan;
		code = prepare(c, sql.p, &c->rows);
	}
	if (code != SQLITE_OK)
		return rows_failed(c, code);
	sqlite3_reset(c->rows);
	c->number = 0;
	if (count > 0)
		code = sqlite3_bind_value(c->rows, 1, values[0]);
	return code == SQLITE_OK ? rows_next(cursor) : rows_failed(c, code);
}

static int rows_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct row_cursor *)cursor)->done;
}

/* A column that was put off: of this row. */
static int give_later(struct row_cursor *c, sqlite3_context *result, int column)
{
	sqlite3_stmt **st = &c->later[column];
	int code = *st ? SQLITE_OK : prepare(c, table_of(c)->table->columns[column].later, st);

	for (int i = 0; i < PLACE_VALUES && i < sqlite3_bind_parameter_count(*st) && code == SQLITE_OK; i++)
		code = sqlite3_bind_value(*st, i + 1,
					  sqlite3_column_value(c->rows, table_of(c)->columns + i));
	if (code == SQLITE_OK)
		code = step(c, *st);
	if (code == SQLITE_ROW)
		sqlite3_result_value(result, sqlite3_column_value(*st, 0));
	else if (code != SQLITE_DONE)
		return rows_failed(c, code);
	sqlite3_reset(*st);
	return SQLITE_OK;
}

static int rows_column(sqlite3_vtab_cursor *cursor, sqlite3_context *result, int column)
{
	struct row_cursor *c = (struct row_cursor *)cursor;

	if (table_of(c)->table->columns[column].later)
		return give_later(c, result, column);
	sqlite3_result_value(result, sqlite3_column_value(c->rows, column));
	return SQLITE_OK;
}

/* SQLite tells rows apart by it when it finds them in several ways. */
static int rows_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
	const struct row_cursor *c = (struct row_cursor *)cursor;
	uint64_t hash = 0;

	*out = c->number;
	if (!table_of(c)->table->place)
		return SQLITE_OK;
	for (int i = 0; i < PLACE_VALUES; i++) {
		int at = table_of(c)->columns + i;
		bool is_text = sqlite3_column_type(c->rows, at) == SQLITE_TEXT;
		const void *text = is_text ? sqlite3_column_text(c->rows, at) : NULL;
		uint64_t value = text ? hash64(text, (size_t)sqlite3_column_bytes(c->rows, at))
				      : (uint64_t)sqlite3_column_int64(c->rows, at);

		hash = hash64((uint64_t[]){ hash, value }, 2 * sizeof hash);
	}
	*out = (int64_t)hash;
	return SQLITE_OK;
}

static const sqlite3_module table_module = {
	.xConnect = table_connect,
	.xBestIndex = table_best,
	.xDisconnect = table_disconnect,
	.xOpen = rows_open,
	.xClose = rows_close,
	.xFilter = rows_filter,
	.xNext = rows_next,
	.xEof = rows_eof,
	.xColumn = rows_column,
	.xRowid = rows_rowid,
};

int sql_register_tables(struct sql *q)
{
	int code = SQLITE_OK;

	for (size_t i = 0; i < COUNT(tables) && code == SQLITE_OK; i++)
		code = sqlite3_create_module_v2(q->store->db, tables[i].name, &table_module, q, NULL);
	return code;
}
