/*
 * handles STORE: whether every node of a store has a handle that resolves to it, and to what 'arbor show'
 * gives for it.
 *
 * Sessions are shown with everything that is in them; each item and each block says its handle, and all
 * of these are resolved and compared with what was shown, member by member. The same for turns and
 * messages of the tree, for files, plans and tasks, and for each line by its id. Prints how many there
 * were of each kind, and what differs; exit code 1 when anything does.
 */
#include "base/map.h"
#include "hub/activations.h"
#include "store/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 400, COMPLAINTS = 20 };

/* One that is to be resolved. */
struct wanted {
	struct str asked; /* a handle, or an id */
	struct str item;  /* what was shown; p NULL = nothing to compare with */
	struct str id;	  /* that the answer has to have; p NULL = any */
};

struct walk {
	const char *store;
	struct arena mem; /* of the batch */
	struct wanted list[BATCH];
	size_t count, answered;
	struct map methods; /* -> int64_t */
	struct arena kept;  /* their names and numbers */
	int64_t total, bad;
};

static enum status open_store(void *ctx, bool make, struct store **out, struct err *err)
{
	const struct walk *w = ctx;

	(void)make;
	return store_open(&(struct store_options){ .path = w->store }, out, err);
}

static void complain(struct walk *w, const struct wanted *of, const char *what, struct str got)
{
	if (w->bad++ < COMPLAINTS)
		printf("# %.*s: %s: %.*s\n", STR_ARG(str_sub(of->asked, 0, 200)), what,
		       STR_ARG(str_sub(got, 0, 300)));
}

static void end(const char *what, const struct err *err)
{
	printf("# %s: %s\n", what, err->text);
	exit(2);
}

/* ---- Comparing ------------------------------------------------------------------------- */

/* What an item is, a handle says by its method; blocks are compared one by one; copies of a line may
 * have another time, or no model; and a session that is open may be closed by then. */
static bool is_passed_over(struct str key)
{
	static const char *const names[] = { "kind", "blocks", "at", "model", "alive", "pid" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (str_eq(key, str_of(names[i])))
			return true;
	return false;
}

/* Whether every member of one object is in the other, with the same value. */
static bool has_members(const struct json *a, uint32_t object, const struct json *b, uint32_t other)
{
	for (uint32_t k = json_first(a, object); k != json_end(a, object); k = json_next(a, k + 1)) {
		struct str key;
		uint32_t value;

		if (!json_text(a, k, &key))
			return false;
		if (is_passed_over(key))
			continue;
		value = json_get(b, other, key);
		/* A picture says nothing. */
		if (str_eq(key, STR("text")) && value == JSON_NONE && str_eq(json_raw(a, k + 1), STR("\"\"")))
			continue;
		if (value == JSON_NONE || !str_eq(json_raw(a, k + 1), json_raw(b, value)))
			return false;
	}
	return true;
}

/* Whether each block that was shown is among those of the answer. */
static bool has_blocks(const struct json *a, uint32_t item, const struct json *b, uint32_t data)
{
	uint32_t shown = json_get(a, item, STR("blocks")), list = json_get(b, data, STR("blocks"));
	uint32_t at = json_first(b, list);

	for (uint32_t i = json_first(a, shown); i != json_end(a, shown); i = json_next(a, i)) {
		while (at != json_end(b, list) && !has_members(a, i, b, at))
			at = json_next(b, at);
		if (at == json_end(b, list))
			return false;
		at = json_next(b, at);
	}
	return true;
}

static void compare(struct walk *w, const struct wanted *of, const struct json *answer)
{
	struct json item CLEANUP(json_release) = JSON_INIT;
	uint32_t data = json_get(answer, 0, STR("data")), error = json_get(answer, 0, STR("error"));
	struct err err;

	if (error != JSON_NONE) {
		complain(w, of, "cannot be resolved", json_raw(answer, error));
		return;
	}
	if (of->id.p && !json_string_eq(answer, json_get(answer, data, STR("id")), of->id))
		complain(w, of, "has another id", json_raw(answer, json_get(answer, data, STR("id"))));
	if (!of->item.p)
		return;
	if (json_read(&item, of->item, 0, &err))
		end("an item", &err);
	if (!has_members(&item, 0, answer, data) || !has_blocks(&item, 0, answer, data))
		complain(w, of, "is something else than was shown", of->item);
}

/* ---- Resolving ------------------------------------------------------------------------- */

static void count_method(struct walk *w, const struct json *answer)
{
	struct str method = json_string_in(answer, json_get(answer, 0, STR("method")), &w->mem);
	int64_t *n = map_get(&w->methods, method);

	if (!n) {
		n = arena_alloc(&w->kept, sizeof *n);
		map_put(&w->methods, arena_str(&w->kept, method), n);
	}
	(*n)++;
}

static enum status take_answer(void *ctx, struct str json, struct err *err)
{
	struct json answer CLEANUP(json_release) = JSON_INIT;
	struct walk *w = ctx;

	if (json_read(&answer, json, 0, err))
		return err_failed(err->status);
	count_method(w, &answer);
	compare(w, &w->list[w->answered++], &answer);
	return STATUS_OK;
}

static void resolve_batch(struct walk *w)
{
	struct hub_caller who = {
		.sink = { .item = take_answer, .ctx = w }, .scopes = ~0u, .open_store = open_store, .ctx = w
	};
	struct buf params CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct json_writer j;
	struct err err;

	json_write_init(&j, &params, 0);
	json_write_object_begin(&j);
	json_write_key(&j, STR("limit"));
	json_write_i64(&j, (int64_t)LIMIT_RESOLVED_MOST);
	json_write_key(&j, STR("handles"));
	json_write_array_begin(&j);
	for (size_t i = 0; i < w->count; i++)
		json_write_string(&j, w->list[i].asked);
	json_write_array_end(&j);
	json_write_object_end(&j);
	if (json_write_done(&j, &err))
		end("parameters", &err);
	w->answered = 0;
	if (w->count && hub_call(&arbor_hub, STR("hub.resolve_many"), buf_as_str(&params), &who, &err) &&
	    err.status != STATUS_PARTIAL)
		end("hub.resolve_many", &err);
	if (w->answered != w->count)
		complain(w, &w->list[w->answered], "no answer", STR(""));
	w->total += (int64_t)w->count;
	w->count = 0;
	arena_release(&w->mem);
}

static void want(struct walk *w, struct str asked, struct str item, struct str id)
{
	if (w->count == BATCH)
		resolve_batch(w);
	w->list[w->count++] = (struct wanted){ arena_str(&w->mem, asked),
					       item.p ? arena_str(&w->mem, item) : item,
					       id.p ? arena_str(&w->mem, id) : id };
}

/* ---- What there is ----------------------------------------------------------------------- */

/* An object with a handle. Blocks are compared as objects of their own, and in their message. */
static void want_object(struct walk *w, const struct json *j, uint32_t object, bool compare)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct str handle = json_string_in(j, json_get(j, object, STR("handle")), &mem);
	struct str id = json_string_in(j, json_get(j, object, STR("id")), &mem);

	/* A sub-agent is shown as its transcript, and resolved as 'arbor agents' lists it. */
	compare &= json_get(j, object, STR("agent")) == JSON_NONE;
	if (handle.n)
		want(w, handle, compare ? json_raw(j, object) : (struct str){ 0 },
		     compare ? id : (struct str){ 0 });
	else
		complain(w, &(struct wanted){ .asked = id }, "has no handle", json_raw(j, object));
}

static enum status take_shown(void *ctx, struct str json, struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct walk *w = ctx;
	uint32_t blocks;

	if (json_read(&j, json, 0, err))
		return err_failed(err->status);
	want_object(w, &j, 0, true);
	blocks = json_get(&j, 0, STR("blocks"));
	for (uint32_t b = json_first(&j, blocks); b != json_end(&j, blocks); b = json_next(&j, b))
		want_object(w, &j, b, true);
	return STATUS_OK;
}

static void want_tree(struct walk *w, const struct json *j)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct str id = json_string_in(j, json_get(j, 0, STR("tree_id")), &mem);

	if (id.n)
		want(w, arena_printf(&mem, "arbor@1.0.0::tree:%.*s", STR_ARG(id)), (struct str){ 0 }, id);
}

/* Turns and messages as the tree has them; what they say is told in another form there. */
static enum status take_drawn(void *ctx, struct str json, struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct walk *w = ctx;
	uint32_t kind;

	if (json_read(&j, json, 0, err))
		return err_failed(err->status);
	kind = json_get(&j, 0, STR("kind"));
	if (json_string_eq(&j, kind, STR("turn")) || json_string_eq(&j, kind, STR("message")))
		want_object(w, &j, 0, false);
	if (json_string_eq(&j, kind, STR("session")))
		want_tree(w, &j);
	return STATUS_OK;
}

static enum status take_listed(void *ctx, struct str json, struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;

	if (json_read(&j, json, 0, err))
		return err_failed(err->status);
	want_object(ctx, &j, 0, false);
	return STATUS_OK;
}

static void call(struct walk *w, const char *method, const char *params,
		 enum status (*take)(void *, struct str, struct err *))
{
	struct hub_caller who = {
		.sink = { .item = take, .ctx = w }, .scopes = ~0u, .open_store = open_store, .ctx = w
	};
	struct err err;

	if (hub_call(&arbor_hub, str_of(method), str_of(params), &who, &err) && err.status != STATUS_PARTIAL)
		end(method, &err);
}

/* Every line by its id: whatever it is, it has a handle. */
static enum status take_line(void *ctx, const struct node *line, const struct node_name *name, int64_t doc,
			     int64_t docs, struct err *err)
{
	char id[UUID_TEXT + 1];

	(void)name;
	(void)doc;
	(void)docs;
	(void)err;
	uuid_print(&line->id, id);
	want(ctx, str_of(id), (struct str){ 0 }, str_of(id));
	return STATUS_OK;
}

struct rows {
	int64_t list[100000];
	struct str ids[100000]; /* as one types them */
	size_t count;
	struct arena mem;
};

static enum status take_session(void *ctx, const struct session *s, bool *go_on, struct err *err)
{
	struct rows *r = ctx;

	(void)go_on;
	(void)err;
	if (r->count < COUNT(r->list)) {
		r->ids[r->count] = arena_printf(&r->mem, "%.*s:%.*s", STR_ARG(s->root), STR_ARG(s->path));
		r->list[r->count++] = s->row;
	}
	return STATUS_OK;
}

static void walk_session(struct walk *w, struct store *s, int64_t row, struct str name)
{
	struct buf params CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct json_writer j;
	struct err err;

	for (int tree = 0; tree < 2; tree++) {
		buf_clear(&params);
		json_write_init(&j, &params, 0);
		json_write_object_begin(&j);
		json_write_key(&j, STR("id"));
		if (!tree)
			json_write_array_begin(&j);
		json_write_string(&j, name);
		if (!tree)
			json_write_array_end(&j);
		json_write_key(&j, tree ? STR("messages") : STR("all"));
		json_write_bool(&j, true);
		if (tree) {
			json_write_key(&j, STR("agents"));
			json_write_bool(&j, true);
		}
		json_write_object_end(&j);
		if (json_write_done(&j, &err))
			end("parameters", &err);
		call(w, tree ? "memory.tree" : "memory.show", params.p, tree ? take_drawn : take_shown);
	}
	if (entry_each(s, row, take_line, w, &err))
		end("lines", &err);
}

int main(int argc, char **argv)
{
	struct rows *rows = mem_alloc(sizeof *rows);
	struct walk w = { .store = argc > 1 ? argv[1] : "" };
	struct store *s = NULL;
	struct err err;

	if (store_open(&(struct store_options){ .path = w.store }, &s, &err) ||
	    session_each(s, (struct str){ 0 }, take_session, rows, &err))
		end(w.store, &err);
	for (size_t i = 0; i < rows->count; i++)
		walk_session(&w, s, rows->list[i], rows->ids[i]);
	call(&w, "storage.sources", "{}", take_listed);
	call(&w, "storage.plans", "{}", take_listed);
	call(&w, "storage.todos", "{\"all\":true}", take_listed);
	resolve_batch(&w);
	for (size_t i = 0; i < w.methods.cap; i++)
		if (w.methods.slots[i].value)
			printf("%.*s %" PRId64 "\n", STR_ARG(w.methods.slots[i].key),
			       *(int64_t *)w.methods.slots[i].value);
	printf("total %" PRId64 "\nbad %" PRId64 "\n", w.total, w.bad);
	store_close(s);
	map_release(&w.methods);
	arena_release(&w.kept);
	arena_release(&rows->mem);
	mem_free(rows);
	return w.bad || !w.total;
}
