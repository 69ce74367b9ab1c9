/*
 * arbor.note_*: what somebody wrote about a conversation, or a part of one.
 *
 * A thing may have several notes. One is meant by its own id, or by what it is on where that has no other. To
 * write to a note that is there, its own id has to be given: nothing that is written is lost by writing more.
 */
#include "hub/arbor_notes.h"

#include "hub/annotated.h"

enum { LISTED = 8 };

static const struct param set_params[] = {
	ANNOTATION_ON_PARAM("; or a note that is to say something else"),
	{ .name = "text",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD | PARAM_INPUT | PARAM_JOIN,
	  .shown = "TEXT",
	  .help = "what it says, in quotes or not; - reads standard input" },
	ANNOTATION_AUTHOR_PARAM("who writes it"),
	ANNOTATION_DELETE_PARAM("take the note away instead"),
	{ 0 },
};

static const struct param list_params[] = {
	ANNOTATION_ONLY_ON_PARAM(PARAM_WORD),
	ANNOTATION_LIST_PARAMS,
	{ 0 },
};

static const struct param delete_params[] = {
	{ .name = "note",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "ID",
	  .names = "arbor.note_list",
	  .help = "the note, or what it is on where that has no other" },
	{ 0 },
};

#define NOTE_FIELDS \
	{ .name = "id", .type = VALUE_ID, .flags = FIELD_KEY, .help = "of the note" }, \
	{ .name = "updated", .type = VALUE_TIME, .flags = FIELD_SHORT, .help = "when it was last written" }, \
	SUBJECT_FIELDS(0), SUBJECT_WHAT(0), \
	{ .name = "text", .type = VALUE_TEXT, .flags = FIELD_STRETCH, .help = "what it says" }, \
	ANNOTATION_FIELDS

static const struct field list_fields[] = { NOTE_FIELDS, { 0 } };
static const struct field set_fields[] = { ANNOTATION_DONE, NOTE_FIELDS, { 0 } };

static void put_note(struct json_writer *w, const struct annotation *a)
{
	put_uuid(w, "id", &a->id);
	put_text(w, "text", a->text);
}

/* What a file or a pipe ends with is no part of it. */
static struct str without_last_line_feeds(struct str text)
{
	while (text.n && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
		text.n--;
	return text;
}

/* ---- Which is meant ---------------------------------------------------------------- */

struct finding {
	struct arena *mem;
	struct annotation list[LISTED];
	size_t count; /* of all */
};

static enum status several(struct str typed, const struct finding *f, struct err *err)
{
	struct buf lines CLEANUP(buf_release) = BUF_INIT(LIMIT_ERR_TEXT);
	char id[UUID_TEXT + 1];

	for (size_t i = 0; i < f->count && i < LISTED; i++) {
		uuid_print(&f->list[i].id, id);
		buf_printf(&lines, "\n  %s", id);
	}
	return err_fail(err, STATUS_AMBIGUOUS, "'%.*s' could be one of %zu notes:%.*s%s",
			(int)size_min(typed.n, 60), typed.p, f->count, STR_ARG(buf_as_str(&lines)),
			f->count > LISTED ? "\n  and others" : "");
}

/* By its own id; *found is false when no note has such a one. */
static enum status find_by_id(struct call *c, struct str typed, struct annotation *out, bool *found,
			      struct err *err)
{
	struct finding f = { .mem = &c->mem };
	struct id_match match;
	size_t others = 0;

	if (annotation_search(c->store, ANNOTATION_NOTE, typed, &c->mem, f.list, LISTED, &f.count, err))
		return err_failed(err->status);
	if (f.count > 1)
		return err_failed(several(typed, &f, err));
	/* A few digits may mean something that has no note yet. */
	if (f.count && typed.n < UUID_TEXT && id_search(c->store, typed, 0, &match, 1, &others, err))
		return err_failed(err->status);
	if (others)
		return err_fail(err, STATUS_AMBIGUOUS,
				"'%.*s' could be a note and a part of a conversation; give more of the id",
				(int)size_min(typed.n, 60), typed.p);
	*found = f.count == 1;
	if (*found)
		*out = f.list[0];
	return STATUS_OK;
}

static enum status take_note(void *ctx, const struct annotation *a, bool *go_on, struct err *err)
{
	struct finding *f = ctx;

	(void)err;
	(void)go_on;
	if (a->kind != ANNOTATION_NOTE)
		return STATUS_OK;
	if (f->count < LISTED)
		annotation_keep(&f->list[f->count], a, f->mem);
	f->count++;
	return STATUS_OK;
}

static enum status find_note(struct call *c, struct str typed, struct annotation *out, struct err *err)
{
	struct finding f = { .mem = &c->mem };
	struct subject on;
	bool found;

	if (find_by_id(c, typed, out, &found, err))
		return err_failed(err->status);
	if (found)
		return STATUS_OK;
	if (subject_resolve(c, typed, &on, err) ||
	    annotation_of(c->store, &on.on.id, on.on.agent, take_note, &f, err))
		return err_failed(err->status);
	if (f.count > 1)
		return err_failed(several(typed, &f, err));
	if (!f.count)
		return err_fail(err, STATUS_NOT_FOUND, "there is no note on '%.*s'; 'arbor notes' lists them",
				(int)size_min(typed.n, 60), typed.p);
	*out = f.list[0];
	return STATUS_OK;
}

/* ---- Methods ----------------------------------------------------------------------- */

static enum status delete_note(struct call *c, struct str typed, struct err *err)
{
	struct annotation a;

	return find_note(c, typed, &a, err) ? err_failed(err->status) : annotation_detach(c, &a, put_note, err);
}

static enum status add_note(struct call *c, struct str text, struct err *err)
{
	struct annotation a = { .kind = ANNOTATION_NOTE, .text = text, .author = call_text(c, "author") };

	return annotation_attach(c, &a, NULL, false, put_note, err);
}

static enum status run_set(struct call *c, struct err *err)
{
	struct str text = without_last_line_feeds(call_text(c, "text"));
	struct annotation a;
	bool found;

	if (call_flag(c, "delete")) {
		if (text.n)
			return err_fail(err, STATUS_USAGE, "--delete and a text: one of them");
		return delete_note(c, call_text(c, "on"), err);
	}
	if (annotation_check_text(text, err) || annotation_check_author(call_text(c, "author"), err) ||
	    find_by_id(c, call_text(c, "on"), &a, &found, err))
		return err_failed(err->status);
	if (!found)
		return add_note(c, text, err);
	return annotation_reword(c->store, &a, text, err) ? err_failed(err->status)
							  : annotation_emit(c, "changed", &a, put_note, err);
}

static enum status run_list(struct call *c, struct err *err)
{
	return annotation_list(c, ANNOTATION_NOTE, call_text(c, "on"), put_note, err);
}

static enum status run_delete(struct call *c, struct err *err)
{
	return delete_note(c, call_text(c, "note"), err);
}

const struct method arbor_note_set = {
	.name = "note_set",
	.verb = "note",
	.also = "comment annotate",
	.group = "notes",
	.summary = "Write a note on a conversation or a part of it",
	.text = "ID is whatever 'arbor show' takes; the ids that 'arbor search' prints will do. A "
		"thing may have several notes; the id of a note instead means that it says something "
		"else from now on. --delete takes a note away, by its own id, or by what it is on "
		"where that has no other.\n\n"
		"Notes are yours: they are found by 'arbor search' and shown by 'arbor show' and "
		"'arbor tree', they stay when the index is made anew and when what they are on is "
		"gone, and no model is ever sent them.\n",
	.params = set_params,
	.kind = RESULT_ONE,
	.fields = set_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "note @ 'the plan that worked'", "on the last conversation" },
					      { "note 7abd08b4 'decided: cents everywhere'",
						"on one message" },
					      { "note @ - <<< 'from a script'", "from standard input" },
					      { 0 } },
	.run = run_set,
};

const struct method arbor_note_list = {
	.name = "note_list",
	.verb = "notes",
	.group = "notes",
	.summary = "List notes, the last written first",
	.text = "With what they are on: the beginning of a message, the title of a session. Where "
		"that is gone, or is not mirrored in this store, the list says so, and the note is "
		"still there.\n",
	.params = list_params,
	.kind = RESULT_STREAM,
	.fields = list_fields,
	.empty = "no notes; 'arbor note ID TEXT' writes one",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "note @ 'ask Kim' && arbor notes", "all of them" },
					      { "note @ 'ask Kim' && arbor notes @",
						"of the last conversation" },
					      { 0 } },
	.run = run_list,
};

const struct method arbor_note_delete = {
	.name = "note_delete",
	.summary = "Take a note away",
	.text = "The same as note_set with 'delete'. Gives the note as it was.\n",
	.params = delete_params,
	.kind = RESULT_ONE,
	.fields = set_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "note @ 'ask Kim' && arbor call arbor.note_delete --note @",
						"the only one of the last conversation" },
					      { 0 } },
	.run = run_delete,
};
