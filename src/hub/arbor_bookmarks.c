/*
 * arbor.bookmark_*: names for conversations and parts of them, to be typed as @NAME wherever an id is.
 *
 * A name means one thing in the whole store. Setting it on another is refused unless it is to be moved.
 */
#include "hub/arbor_notes.h"

#include "hub/annotated.h"

static const struct param set_params[] = {
	ANNOTATION_ON_PARAM("; with --delete the bookmark"),
	{ .name = "name",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD,
	  .shown = "NAME",
	  .help = "what it is called; no blanks, no @" },
	{ .name = "force",
	  .type = VALUE_BOOL,
	  .letter = 'f',
	  .help = "also if the name is on something else: it moves" },
	ANNOTATION_DELETE_PARAM("take the bookmark away instead"),
	ANNOTATION_AUTHOR_PARAM("who sets it"),
	{ 0 },
};

static const struct param list_params[] = {
	ANNOTATION_ONLY_ON_PARAM(0),
	ANNOTATION_LIST_PARAMS,
	{ 0 },
};

static const struct param delete_params[] = {
	{ .name = "name",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "NAME",
	  .names = "arbor.bookmark_list",
	  .help = "the bookmark" },
	{ 0 },
};

#define BOOKMARK_FIELDS \
	{ .name = "name", .type = VALUE_TEXT, .flags = FIELD_KEY, .help = "@NAME can be typed instead of an id" }, \
	{ .name = "id", .type = VALUE_ID, .flags = FIELD_HIDDEN, .help = "of the bookmark" }, \
	{ .name = "updated", .type = VALUE_TIME, .flags = FIELD_SHORT, .help = "when it was set" }, \
	SUBJECT_FIELDS(0), SUBJECT_WHAT(FIELD_STRETCH), ANNOTATION_FIELDS

static const struct field list_fields[] = { BOOKMARK_FIELDS, { 0 } };
static const struct field set_fields[] = { ANNOTATION_DONE, BOOKMARK_FIELDS, { 0 } };

static void put_bookmark(struct json_writer *w, const struct annotation *a)
{
	put_uuid(w, "id", &a->id);
	put_text(w, "name", a->name);
}

/* As it is typed elsewhere, or without the @. */
static struct str plain_name(struct str typed)
{
	return str_has_prefix(typed, STR("@")) ? str_sub(typed, 1, SIZE_MAX) : typed;
}

static enum status delete_bookmark(struct call *c, struct str typed, struct err *err)
{
	struct annotation a;

	return annotation_bookmark(c->store, plain_name(typed), &c->mem, &a, err)
		       ? err_failed(err->status)
		       : annotation_detach(c, &a, put_bookmark, err);
}

static enum status run_set(struct call *c, struct err *err)
{
	struct annotation a = { .kind = ANNOTATION_BOOKMARK,
				.name = plain_name(call_text(c, "name")),
				.author = call_text(c, "author") };

	if (call_flag(c, "delete")) {
		if (a.name.n)
			return err_fail(err, STATUS_USAGE,
					"--delete wants the name of the bookmark and nothing else");
		return delete_bookmark(c, call_text(c, "on"), err);
	}
	if (!call_text(c, "name").p)
		return err_fail(err, STATUS_USAGE, "what is it to be called? arbor bookmark ID NAME");
	if (annotation_check_name(a.name, err) || annotation_check_author(a.author, err))
		return err_failed(err->status);
	return annotation_attach(c, &a, NULL, call_flag(c, "force"), put_bookmark, err);
}

static enum status run_list(struct call *c, struct err *err)
{
	return annotation_list(c, ANNOTATION_BOOKMARK, call_text(c, "on"), put_bookmark, err);
}

static enum status run_delete(struct call *c, struct err *err)
{
	return delete_bookmark(c, call_text(c, "name"), err);
}

const struct method arbor_bookmark_set = {
	.name = "bookmark_set",
	.verb = "bookmark",
	.also = "mark star pin",
	.group = "notes",
	.summary = "Give a conversation or a part of it a name",
	.text = "ID is whatever 'arbor show' takes. @NAME can then be typed wherever an id can: "
		"'arbor show @NAME', 'arbor log @NAME'. A bookmark on a session is a session there: "
		"@NAME@7abd is a message of it.\n\n"
		"A name is one thing in the whole store, and its case does not matter. Like a branch "
		"of git it stays where it is until --force moves it. --delete takes it away: 'arbor "
		"bookmark --delete NAME'.\n",
	.params = set_params,
	.kind = RESULT_ONE,
	.fields = set_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "bookmark @ prices && arbor show @prices",
						"the last conversation" },
					      { "bookmark 7abd08b4 cents", "a message of one" },
					      { 0 } },
	.run = run_set,
};

const struct method arbor_bookmark_list = {
	.name = "bookmark_list",
	.verb = "bookmarks",
	.group = "notes",
	.summary = "List bookmarks, the last set first",
	.text = "With what they are on. Where that is gone, or is not mirrored in this store, the "
		"list says so.\n",
	.params = list_params,
	.kind = RESULT_STREAM,
	.fields = list_fields,
	.empty = "no bookmarks; 'arbor bookmark ID NAME' sets one",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "bookmark @ prices && arbor bookmarks", "all of them" },
					      { 0 } },
	.run = run_list,
};

const struct method arbor_bookmark_delete = {
	.name = "bookmark_delete",
	.summary = "Take a bookmark away",
	.text = "The same as bookmark_set with 'delete'. What it was on stays as it is.\n",
	.params = delete_params,
	.kind = RESULT_ONE,
	.fields = set_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples =
		(const struct example[]){
			{ "bookmark @ prices && arbor call arbor.bookmark_delete --name prices",
			  "by its name" },
			{ 0 } },
	.run = run_delete,
};
