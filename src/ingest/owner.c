/*
 * Whose a file is.
 *
 * A transcript belongs to the folder that its first line with a `cwd` names: that is its
 * project, wherever people or agents went later. The name of the folder it lies in
 * says less. The client makes it of the folder the conversation is in, but different ones
 * may have the same, and it is another one when the conversation was begun elsewhere. So a
 * transcript is excluded
 *   - when the folder it names is, or
 *   - when the name of the folder it lies in may be that of an excluded one, unless the
 *     folder it names is what that name was made of.
 *
 * What lies beside a transcript, below a folder of its id, goes with it. So do tasks, todos
 * and file history, which are kept by that id elsewhere; if there are several transcripts of
 * it, they are excluded with any of them. What belongs to a whole project (its memory)
 * goes with its transcripts when these agree, else as the name says.
 *
 * Nothing else names a session: plans do not, and typed history is one file for all.
 */
#include "ingest/owner.h"

#include "base/file.h"
#include "base/split.h"
#include "claude/folder.h"
#include "claude/layout.h"
#include "claude/live.h"
#include "claude/record.h"

#include <fcntl.h>

/* Read at once; the note of a running client is a hundredth of it. */
enum { PIECE = 64 * 1024 };

/* Of a file. */
struct owned {
	bool excluded;
	bool by_folder;	     /* because of the folder it names, not for want of it */
	struct uuid session; /* of a running client */
};

/* Of a session or project: how many transcripts are excluded, and how many are not because
 * of the folder they name. */
struct tally {
	size_t out, in;
};

void owners_release(struct owners *o)
{
	map_release(&o->files);
	map_release(&o->sessions);
	map_release(&o->projects);
	arena_release(&o->mem);
}

/* What the map has for a key; zeroed when it had nothing. */
static void *entry_of(struct owners *o, struct map *map, struct str key, size_t bytes)
{
	void *entry = map_get(map, key);

	if (entry)
		return entry;
	entry = arena_alloc(&o->mem, bytes);
	map_put(map, arena_str(&o->mem, key), entry);
	return entry;
}

static struct str id_key(const struct uuid *id)
{
	return str_from((const char *)id->b, UUID_BYTES);
}

/* ---- Transcripts ------------------------------------------------------------ */

static bool is_named_after(struct str name, struct str folder)
{
	struct buf made CLEANUP(buf_release) = BUF_INIT(CLAUDE_FOLDER_MAX);

	claude_encode_cwd(folder, &made);
	return str_eq(buf_as_str(&made), name);
}

static struct owned judge(const struct filter_rules *r, struct str path, struct str folder)
{
	struct str name = claude_project_of(path);

	if (folder.n && filter_excludes_folder(r, folder))
		return (struct owned){ .excluded = true, .by_folder = true };
	if (folder.n && is_named_after(name, folder))
		return (struct owned){ .by_folder = true };
	if (filter_excludes_name(r, name))
		return (struct owned){ .excluded = true };
	return (struct owned){ .by_folder = folder.n > 0 };
}

static void add_to(struct tally *t, const struct owned *f, size_t by)
{
	t->out += f->excluded && f->by_folder ? by : 0;
	t->in += !f->excluded && f->by_folder ? by : 0;
}

void owner_note(const struct filter_rules *r, struct str path, struct str folder)
{
	struct owners *o = filter_owners(r);
	bool is_new = !map_get(&o->files, path);
	struct owned *f = entry_of(o, &o->files, path, sizeof *f), before = *f;
	struct transcript_name name;
	struct tally *t;

	*f = judge(r, path, folder);
	t = entry_of(o, &o->projects, claude_project_of(path), sizeof *t);
	if (!is_new)
		add_to(t, &before, SIZE_MAX); /* one less */
	add_to(t, f, 1);
	if (!record_transcript_of_path(path, &name) || name.agent.n)
		return;
	t = entry_of(o, &o->sessions, id_key(&name.session), sizeof *t);
	t->out += (size_t)f->excluded - (size_t)before.excluded;
}

/* ---- Looking ---------------------------------------------------------------- */

struct looking {
	struct record_reader records;
	struct split lines;
	struct buf folder; /* empty = not found yet */
};

static void looking_release(struct looking *l)
{
	record_reader_release(&l->records);
	split_release(&l->lines);
	buf_release(&l->folder);
}

static bool take_line(void *ctx, const struct split_line *line)
{
	struct looking *l = ctx;
	struct record rec;

	if (!line->text.p)
		return true;
	record_begin(&l->records, line->text);
	while (record_next(&l->records, &rec))
		if (rec.cwd.n && !l->folder.n)
			buf_str(&l->folder, rec.cwd);
	return l->folder.n == 0;
}

static enum status find_folder(struct looking *l, int fd, struct err *err)
{
	char piece[PIECE];
	size_t got = sizeof piece;
	int64_t at = 0;

	split_begin(&l->lines, LIMIT_LINE_PARSED, 0, take_line, l);
	while (got == sizeof piece && at < (int64_t)LIMIT_FOLDER_SEARCH) {
		if (file_read_at(fd, at, piece, sizeof piece, &got, err))
			return err_failed(err->status);
		at += (int64_t)got;
		if (!split_add(&l->lines, str_from(piece, got)))
			return STATUS_OK;
	}
	split_end(&l->lines);
	return STATUS_OK;
}

static enum status look_at_transcript(const struct filter_rules *r, int fd, struct str path, struct err *err)
{
	struct looking l CLEANUP(looking_release) = { .folder = BUF_INIT(LIMIT_PATH) };

	if (find_folder(&l, fd, err))
		return err_pass(err, "%.*s", STR_ARG(path));
	owner_note(r, path, buf_as_str(&l.folder));
	return STATUS_OK;
}

static enum status look_at_live(const struct filter_rules *r, int fd, struct str path, struct err *err)
{
	struct owners *o = filter_owners(r);
	struct owned *f = entry_of(o, &o->files, path, sizeof *f);
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	char text[PIECE];
	struct live live;
	size_t got;

	if (file_read_at(fd, 0, text, sizeof text, &got, err))
		return err_pass(err, "%.*s", STR_ARG(path));
	*f = (struct owned){ 0 };
	if (live_read(str_from(text, got), &mem, &live))
		*f = (struct owned){ .session = live.session,
				     .excluded = live.cwd.n && filter_excludes_folder(r, live.cwd) };
	return STATUS_OK;
}

bool owner_is_named(struct str path)
{
	enum claude_kind kind = claude_kind_of(path);

	return kind == CLAUDE_TRANSCRIPT || kind == CLAUDE_SUBAGENT || kind == CLAUDE_LIVE;
}

enum status owner_look(const struct filter_rules *r, int root_fd, struct str path, struct err *err)
{
	int fd CLEANUP(file_close) = -1;

	if (file_open_beneath(root_fd, path, O_RDONLY, &fd, err))
		return err_failed(err->status);
	return claude_kind_of(path) == CLAUDE_LIVE ? look_at_live(r, fd, path, err)
						   : look_at_transcript(r, fd, path, err);
}

/* ---- Asking ----------------------------------------------------------------- */

static bool is_session_excluded(const struct owners *o, const struct uuid *id)
{
	const struct tally *t = map_get(&o->sessions, id_key(id));

	return t && t->out;
}

/* tasks/SESSION/..., file-history/SESSION/..., todos/SESSION-agent-... */
static bool is_excluded_by_id(const struct owners *o, struct str path)
{
	struct str rest;
	struct uuid id;

	str_cut(path, '/', &rest);
	return uuid_parse(str_sub(rest, 0, UUID_TEXT), &id) && is_session_excluded(o, &id);
}

static bool is_project_excluded(const struct filter_rules *r, struct str name)
{
	static const struct tally none;
	const struct tally *t = map_get(&filter_owners(r)->projects, name);

	t = t ? t : &none;
	if (!t->out == !t->in)
		return filter_excludes_name(r, name);
	return t->out > 0;
}

/* The transcript beside whose folder this is in; NULL = in no such folder, or not known. */
static const struct owned *conversation_of(const struct owners *o, struct str path)
{
	struct buf transcript CLEANUP(buf_release) = BUF_INIT(LIMIT_PATH);
	struct str name = claude_project_of(path), below;
	struct str session = str_cut(str_sub(path, STR("projects/").n + name.n + 1, SIZE_MAX), '/', &below);

	if (!below.p)
		return NULL;
	buf_str(&transcript, str_sub(path, 0, (size_t)(session.p + session.n - path.p)));
	buf_text(&transcript, ".jsonl");
	return map_get(&o->files, buf_as_str(&transcript));
}

static bool is_excluded_in_project(const struct filter_rules *r, struct str path)
{
	const struct owners *o = filter_owners(r);
	const struct owned *own = map_get(&o->files, path), *above = conversation_of(o, path);

	if (own && own->excluded && own->by_folder)
		return true;
	if (above)
		return above->excluded;
	return own ? own->excluded : is_project_excluded(r, claude_project_of(path));
}

bool owner_is_excluded(const struct filter_rules *r, struct str path)
{
	const struct owned *own;

	if (!filter_has_folders(r))
		return false;
	switch (claude_kind_of(path)) {
	case CLAUDE_TODO:
	case CLAUDE_TASK:
	case CLAUDE_FILE_HISTORY:
		return is_excluded_by_id(filter_owners(r), path);
	case CLAUDE_LIVE:
		own = map_get(&filter_owners(r)->files, path);
		return own && (own->excluded || is_session_excluded(filter_owners(r), &own->session));
	case CLAUDE_NONE:
	case CLAUDE_PLAN:
	case CLAUDE_HISTORY:
	case CLAUDE_KINDS:
		return false;
	case CLAUDE_TRANSCRIPT:
	case CLAUDE_SUBAGENT:
	case CLAUDE_SUBAGENT_META:
	case CLAUDE_TOOL_RESULT:
	case CLAUDE_MEMORY:
	case CLAUDE_OTHER:
		break;
	}
	return is_excluded_in_project(r, path);
}
