/*
 * How results look. What a method gives is JSON (or bytes); a view prints it for
 * people: a table of a stream's items, the fields of a single result, or a view of
 * its own where that is not enough (view_*.c), listed by method in view.c.
 */
#ifndef ARBOR_FACE_VIEW_H
#define ARBOR_FACE_VIEW_H

#include "base/json.h"
#include "face/face.h"

struct view;

struct view_kind {
	const char *method;	       /* "memory.show"; NULL = of no method in particular */
	bool terminal_only;	       /* into a pipe goes the table instead */
	bool runs_client;	       /* the program becomes the client in the end */
	const char *given;	       /* the table, too, without this parameter; NULL = always this */
	size_t state;		       /* bytes of view->state */
	void (*begin)(struct view *v); /* may be NULL */
	void (*item)(struct view *v, const struct json *j);
	/* In its place when items are printed as JSON; may be NULL. */
	void (*unseen)(struct view *v, const struct json *j);
	void (*bytes)(struct view *v, struct str bytes);
	void (*end)(struct view *v, enum status status); /* may be NULL */
};

struct view {
	struct face *face;
	struct out *out;
	const char *activation;
	const struct method *method;
	const struct params *params;
	const struct view_kind *kind;
	void *state;	  /* zeroed at first, the kind's */
	struct arena mem; /* of the item being printed */
	int64_t items;
	struct str note; /* to be said in the end; empty = nothing */
};

void view_begin(struct view *v, struct face *f, const char *activation, const struct method *m,
		const struct params *p);
void view_end(struct view *v, enum status status);

/* Said when everything is printed: on standard error, or as the last line in a pager. */
void view_note(struct view *v, struct str text);

/* Whether its items are lines with columns in a pipe. */
bool view_has_columns(const struct verb *v);

/* Whether the client will be run with what the method gives. */
bool view_runs_client(const struct face *f, const char *activation, const struct method *m);

/* Whether this method can be printed as the options say. */
enum status view_refuse(const struct face *f, const struct method *m, struct err *err) MUST_USE;

/* Sinks; ctx is the view. */
enum status view_item(void *view, struct str json, struct err *err);
enum status view_bytes(void *view, struct str bytes, struct err *err);

extern const struct view_kind view_table, view_record, view_sync, view_check, view_show, view_log,
	view_search, view_around, view_tree, view_todos, view_plan, view_files, view_usage, view_stats,
	view_context, view_resolve, view_render, view_notes, view_approvals, view_chat, view_continue,
	view_tail, view_poll, view_branches, view_compare, view_resume,
	view_merge;

/* ---- For views -------------------------------------------------------------- */

/* A member's text, decoded, as it is: out_foreign() prints it. Empty when absent. */
struct str view_text(struct view *v, const struct json *j, uint32_t object, const char *name);
int64_t view_int(const struct json *j, uint32_t object, const char *name);

/* A member that names a file: its bytes, also when they are not UTF-8. */
struct str view_path(struct view *v, const struct json *j, uint32_t object, const char *name);

/* Appends a field as a person reads it (on a terminal) or a program (in a pipe),
 * filtered, on one line. */
void view_value(struct view *v, struct buf *out, const struct json *j, uint32_t object,
		const struct field *f);

/* Appends a member of the item as people read it, in its short form. */
void view_short(struct view *v, struct buf *out, const struct json *j, const char *name, enum value_type type);

/* Prints a member of the item in its short form behind two blanks; nothing when it is absent. */
void view_field(struct view *v, const struct json *j, const char *name, enum value_type type, enum style style);

/* Prints the title of a conversation on a line of its own, as long as the screen is wide. */
void view_title(struct view *v, const struct json *j);

/* Appends the bookmarks and tags of an item, '@name  #tag', and if asked for how many notes it has; on one line,
 * `front` before it when there is anything. */
void view_attached(struct view *v, struct buf *out, const struct json *j, const char *front, bool count_notes);

/* Prints the branches, tag, pull requests, modes and further folders of a conversation on a
 * line; nothing when there is nothing to be said. */
void view_facts(struct view *v, const struct json *j);

/* Prints commands below what they are for, each on a line of its own. */
void view_commands(struct view *v, const char *what, const struct buf *const *commands, size_t count);

/* Prints a tool's input, all of it: the name of every member, and its value as text. */
void view_input(struct view *v, const struct json *j, uint32_t input);

/* In which style a field stands. */
enum style view_style(const struct field *f);

/* A switch of the method, false when it has none of that name. */
bool view_switch(const struct view *v, const char *name);
struct str view_param(const struct view *v, const char *name);

#endif
