/*
 * arbor.tag_*: words on conversations and parts of them, to find them by.
 *
 * Any number of tags on a thing, and of things with a tag. The client has tags, too, one for a session; they
 * stand in its files. Whoever looks for a tag finds both.
 */
#include "hub/arbor_notes.h"

#include "hub/annotated.h"
#include "store/tag.h"

#define TAGS_PARAM(what) \
	{ .name = "tags", .type = VALUE_TEXT, .flags = PARAM_REQUIRED | PARAM_WORD | PARAM_REST, .shown = "TAG", \
	  .names = "arbor.tag_list", .help = (what) }

static const struct param set_params[] = {
	ANNOTATION_ON_PARAM(""),
	TAGS_PARAM("no blanks, no commas"),
	ANNOTATION_DELETE_PARAM("take these tags away instead"),
	ANNOTATION_AUTHOR_PARAM("who sets them"),
	{ 0 },
};

static const struct param delete_params[] = {
	ANNOTATION_ON_PARAM(""),
	TAGS_PARAM("which"),
	{ 0 },
};

static const struct param list_params[] = {
	{ .name = "tag",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD,
	  .shown = "TAG",
	  .names = "arbor.tag_list",
	  .help = "what has this tag; area* for all that begin so" },
	ANNOTATION_ONLY_ON_PARAM(0),
	ANNOTATION_LIST_PARAMS,
	{ 0 },
};

static const struct field set_fields[] = {
	ANNOTATION_DONE,
	{ .name = "tag", .type = VALUE_TEXT, .flags = FIELD_KEY, .help = "the tag" },
	{ .name = "id", .type = VALUE_ID, .flags = FIELD_HIDDEN, .help = "of this use of it" },
	{ .name = "updated", .type = VALUE_TIME, .flags = FIELD_SHORT, .help = "when it was set" },
	SUBJECT_FIELDS(0),
	SUBJECT_WHAT(FIELD_STRETCH),
	ANNOTATION_FIELDS,
	{ 0 },
};

static const struct field list_fields[] = {
	{ .name = "tag", .type = VALUE_TEXT, .flags = FIELD_KEY, .help = "the tag" },
	{ .name = "count", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "how many things have it" },
	{ .name = "id",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "of this use of it; absent = the client's, or all uses together" },
	{ .name = "updated",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_SHORT,
	  .help = "when it was set, or last" },
	SUBJECT_FIELDS(FIELD_OPTIONAL),
	SUBJECT_WHAT(FIELD_STRETCH),
	ANNOTATION_FIELDS,
	{ 0 },
};

static void put_tag(struct json_writer *w, const struct annotation *a)
{
	put_uuid(w, "id", &a->id);
	put_text(w, "tag", a->name);
}

/* ---- Setting ----------------------------------------------------------------------- */

static enum status add_tag(struct call *c, struct str name, const struct subject *on, struct err *err)
{
	struct annotation a = { .kind = ANNOTATION_TAG, .name = name, .author = call_text(c, "author") };

	return annotation_attach(c, &a, on, false, put_tag, err);
}

/* That on one thing. */
struct finding {
	const struct subject *on;
	struct arena *mem;
	struct annotation found;
};

static enum status take_tag(void *ctx, const struct annotation *a, bool *go_on, struct err *err)
{
	struct finding *f = ctx;

	(void)err;
	if (!uuid_eq(&a->on.id, &f->on->on.id) || !str_eq(a->on.agent, f->on->on.agent))
		return STATUS_OK;
	annotation_keep(&f->found, a, f->mem);
	*go_on = false;
	return STATUS_OK;
}

static enum status no_tag(const struct subject *on, struct str name, struct err *err)
{
	if (str_eq(on->session.tag, name) && str_eq(on->on.kind, STR("session")))
		return err_fail(err, STATUS_USAGE, "'%.*s' is the client's tag, and stands in its own file",
				STR_ARG(str_sub(name, 0, LIMIT_ANNOTATION_NAME)));
	return err_fail(err, STATUS_NOT_FOUND, "it has no tag '%.*s'",
			STR_ARG(str_sub(name, 0, LIMIT_ANNOTATION_NAME)));
}

static enum status find_tag(struct call *c, struct str name, struct finding *f, struct err *err)
{
	if (annotation_tagged(c->store, name, take_tag, f, err))
		return err_failed(err->status);
	return f->found.row ? STATUS_OK : no_tag(f->on, name, err);
}

/* All are there before the first goes. */
static enum status delete_tags(struct call *c, const struct value *tags, const struct subject *on,
			       struct err *err)
{
	struct finding *list = arena_alloc(&c->mem, tags->count * sizeof *list);

	for (size_t i = 0; i < tags->count; i++) {
		list[i] = (struct finding){ .on = on, .mem = &c->mem };
		if (find_tag(c, tags->list[i], &list[i], err))
			return err_failed(err->status);
	}
	for (size_t i = 0; i < tags->count; i++)
		if (annotation_detach(c, &list[i].found, put_tag, err))
			return err_failed(err->status);
	return STATUS_OK;
}

static enum status check_names(const struct value *tags, struct err *err)
{
	for (size_t i = 0; i < tags->count; i++)
		if (annotation_check_name(tags->list[i], err))
			return err_failed(err->status);
	return STATUS_OK;
}

static enum status run_set(struct call *c, struct err *err)
{
	const struct value *tags = call_value(c, "tags");
	struct subject on;

	if (check_names(tags, err) || annotation_check_author(call_text(c, "author"), err) ||
	    subject_resolve(c, call_text(c, "on"), &on, err))
		return err_failed(err->status);
	if (call_flag(c, "delete"))
		return delete_tags(c, tags, &on, err);
	for (size_t i = 0; i < tags->count; i++)
		if (add_tag(c, tags->list[i], &on, err))
			return err_failed(err->status);
	return STATUS_OK;
}

static enum status run_delete(struct call *c, struct err *err)
{
	const struct value *tags = call_value(c, "tags");
	struct subject on;

	if (check_names(tags, err) || subject_resolve(c, call_text(c, "on"), &on, err))
		return err_failed(err->status);
	return delete_tags(c, tags, &on, err);
}

/* ---- Listing ----------------------------------------------------------------------- */

struct counting {
	struct call *call;
	int64_t left; /* as many are given; 0 = all */
	int64_t count;
};

static enum status emit_use(void *ctx, const struct tag_use *t, struct err *err)
{
	struct counting *n = ctx;
	struct call *c = n->call;
	struct json_writer *w;

	if (n->count++ >= n->left && n->left)
		return STATUS_OK; /* only counted */
	w = call_begin(c);
	put_text(w, "tag", t->name);
	put_int(w, "count", t->count);
	if (t->last_at)
		put_time(w, "updated", t->last_at);
	return call_emit(c, err);
}

static enum status list_all(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct counting n = { .call = c, .left = call_int(c, "limit") };

	if (read_begin(c->store, &snapshot, err) || tag_each(c->store, emit_use, &n, err))
		return err_failed(err->status);
	if (n.left && n.count > n.left)
		call_note(c, "%" PRId64 " of %" PRId64 " tags; -n 0 lists all", n.left, n.count);
	return STATUS_OK;
}

static enum status run_list(struct call *c, struct err *err)
{
	struct str tag = call_text(c, "tag"), on = call_text(c, "on");

	if (tag.p && on.p)
		return err_fail(err, STATUS_USAGE, "TAG and --on: one of them");
	if (tag.p)
		return annotation_list_tagged(c, tag, put_tag, err);
	if (on.p || call_text(c, "project").p)
		return annotation_list(c, ANNOTATION_TAG, on, put_tag, err);
	return list_all(c, err);
}

const struct method arbor_tag_set = {
	.name = "tag_set",
	.verb = "tag",
	.also = "label",
	.group = "notes",
	.summary = "Tag a conversation or a part of it",
	.text = "ID is whatever 'arbor show' takes. Tags have no blanks in them, and their case does "
		"not matter. What has one is found by 'arbor search tag:NAME' with or without words, "
		"'arbor list --tag NAME', 'arbor tags NAME'. A tag on a session counts for all that "
		"was said in it and by its sub-agents.\n",
	.params = set_params,
	.kind = RESULT_STREAM,
	.fields = set_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "tag @ decision prices", "two at once" },
					      { "tag 7abd08b4 decision && arbor search tag:decision",
						"and find it again" },
					      { "tag @ draft && arbor tag @ draft --delete",
						"take one away" },
					      { 0 } },
	.run = run_set,
};

const struct method arbor_tag_list = {
	.name = "tag_list",
	.verb = "tags",
	.group = "notes",
	.summary = "List tags, or what has one",
	.text = "Without TAG all there are, and how often each was given. Those that the client gave "
		"its sessions are among them.\n",
	.params = list_params,
	.kind = RESULT_STREAM,
	.fields = list_fields,
	.empty = "no tags; 'arbor tag ID TAG' gives one",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "tag @ decision && arbor tags", "all there are" },
					      { "tag @ decision && arbor tags decision", "what has it" },
					      { 0 } },
	.run = run_list,
};

const struct method arbor_tag_delete = {
	.name = "tag_delete",
	.summary = "Take tags away",
	.text = "The same as tag_set with 'delete'. All of them have to be there.\n",
	.params = delete_params,
	.kind = RESULT_STREAM,
	.fields = set_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples =
		(const struct example[]){ { "tag @ draft && arbor call arbor.tag_delete --on @ --tags draft",
					    "from the last conversation" },
					  { 0 } },
	.run = run_delete,
};
