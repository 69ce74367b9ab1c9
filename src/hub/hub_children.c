/*
 * hub.info, hub.hubs, and the children's part of hub.methods, hub.schema and hub.hash.
 *
 * Children describe themselves: they are asked each time. One that cannot be reached, or that
 * was on the way already, is left out of lists and told, since the rest is right
 * without it.
 */
#include "hub/hub_children.h"

#include "base/hash.h"
#include "hub/params.h"
#include "live/peer.h"

/* ---- Asking each ------------------------------------------------------------------------ */

/* Whether a child may be asked to ask on: it is not on the way, and the way is not at its end. */
static bool may_pass(const struct call *c, const struct child_about *a, struct str own)
{
	return !a->id.n ||
	       (!str_eq(a->id, own) && !route_has(c->who->route, a->id) && !route_is_full(c->who->route));
}

struct asking {
	struct call *call;
	const char *hub;
	struct str only; /* the name that is wanted, with the hub's in front; empty = all */
	enum status (*fn)(struct call *c, const struct far_schema *f, struct err *err);
	struct sha *sha; /* of all that is heard; NULL = nobody wants it */
};

static enum status take_schema(void *ctx, struct str item, struct err *err)
{
	struct asking *a = ctx;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct far_schema f = { .hub = a->hub, .json = &j };
	uint32_t schema;
	struct str name;

	if (a->sha) {
		sha256_add(a->sha, item.p, item.n);
		sha256_add(a->sha, "\n", 1);
	}
	if (!a->fn)
		return STATUS_OK;
	if (json_read(&j, item, LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	schema = json_get(&j, 0, STR("schema"));
	name = json_string_in(&j, json_get(&j, 0, STR("name")), &mem);
	if (!name.n)
		return err_fail(err, STATUS_FORMAT, "hub.schema gave something without a name");
	f.name = arena_printf(&mem, "%s.%.*s", a->hub, (int)size_min(name.n, KIB), name.p);
	if (a->only.n && !str_eq(a->only, f.name))
		return STATUS_OK;
	f.is_handle = json_string_eq(&j, json_get(&j, 0, STR("type")), STR("handle"));
	f.summary = json_string_in(&j, json_get(&j, schema, STR("summary")), &mem);
	f.scope = json_string_in(&j, json_get(&j, schema, STR("scope")), &mem);
	if (!f.scope.n)
		f.scope = str_of(scope_name(SCOPE_WRITE));
	f.streaming = json_bool(&j, json_get(&j, schema, STR("streaming")));
	return a->fn(a->call, &f, err);
}

static void round_release(struct peer_round **r)
{
	peer_round_free(*r);
}

static enum status ask_one(struct call *c, struct peer_round *round, size_t which, struct str method,
			   struct str own, struct asking *a, struct err *err)
{
	struct children *all = c->who->children;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct child_about about CLEANUP(child_about_release) = { 0 };
	struct buf params CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct sink sink = { .item = take_schema, .ctx = a };
	struct child_ask ask = { .which = which, .method = STR("hub.schema"), .own = own };
	struct json_writer w;
	int64_t took;

	if (children_about_in(all, round, which, c->who, &mem, &about, &took, err))
		return err_failed(err->status);
	if (!may_pass(c, &about, own))
		return err_fail(err, STATUS_CONFLICT, "%s: is on the way already", a->hub);
	json_write_init(&w, &params, 0);
	json_write_object_begin(&w);
	if (method.n)
		put_text(&w, "method", method);
	json_write_object_end(&w);
	ask.params = buf_as_str(&params);
	ask.deadline_ns = children_deadline(all, which, &about, c->who);
	return children_ask(all, &ask, c->who, &sink, err);
}

static bool is_cut_off(const struct call *c)
{
	return !children_count(c->who->children) || (c->who->route && c->who->route->shallow);
}

/* The parameter `method`, for whoever has one. */
static struct str wanted_method(const struct call *c)
{
	for (const struct param *p = c->method->params; p && p->name; p++)
		if (str_eq(str_of(p->name), STR("method")))
			return call_text(c, "method");
	return (struct str){ 0 };
}

/* A failure that is the caller's own ends the list; all others are a child's. */
static bool is_ours(const struct call *c, enum status status)
{
	return call_is_cancelled(c) || status == STATUS_CANCELLED;
}

enum status each_far_schema(struct call *c,
			    enum status (*fn)(struct call *c, const struct far_schema *f, struct err *err),
			    struct err *err)
{
	struct buf problems CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct peer_round *round CLEANUP(round_release) = NULL;
	struct str wanted = wanted_method(c), rest = { 0 };
	char own[UUID_TEXT + 1];
	size_t only = SIZE_MAX;

	if (is_cut_off(c) || (wanted.n && !children_find(c->who->children, wanted, &only, &rest)))
		return STATUS_OK;
	if (hub_own_id(c, own, err))
		return err_failed(err->status);
	if (only == SIZE_MAX)
		round = children_round(c->who->children);
	for (size_t i = 0; i < children_count(c->who->children); i++) {
		struct asking a = {
			.call = c, .hub = children_at(c->who->children, i)->name, .only = wanted, .fn = fn
		};
		enum status status = STATUS_OK;

		if (only == SIZE_MAX || only == i)
			status = ask_one(c, round, i, rest, str_of(own), &a, err);

		if (status != STATUS_OK && is_ours(c, status))
			return status;
		if (status != STATUS_OK)
			buf_printf(&problems, "%s%s", problems.n ? "; " : "not asked: ", err->text);
	}
	if (problems.n)
		call_note(c, "%s", problems.p);
	return STATUS_OK;
}

/* ---- Handing on --------------------------------------------------------------------------- */

static void put_name(struct json_writer *w, const struct far_schema *f, uint32_t node)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct str name = json_string_in(f->json, node, &mem);

	json_write_string(
		w, arena_printf(&mem, "%s.%.*s", f->hub, (int)size_min(name.n, KIB), name.p ? name.p : ""));
}

static void put_members(struct json_writer *w, const struct far_schema *f, uint32_t object, bool outer)
{
	const struct json *j = f->json;

	for (uint32_t k = json_first(j, object); k != json_end(j, object); k = json_next(j, k + 1)) {
		struct arena mem CLEANUP(arena_release) = ARENA_INIT;

		json_write_key(w, json_string_in(j, k, &mem));
		if (json_string_eq(j, k, STR("name")) && json_is(j, k + 1, JSON_STRING)) {
			put_name(w, f, k + 1);
		} else if (outer && json_string_eq(j, k, STR("schema")) && json_is(j, k + 1, JSON_OBJECT)) {
			json_write_object_begin(w);
			put_members(w, f, k + 1, false);
			json_write_object_end(w);
		} else {
			json_copy_valid(w, j, k + 1);
		}
	}
}

void put_far_schema(struct json_writer *w, const struct far_schema *f)
{
	if (json_get(f->json, 0, STR("type")) == JSON_NONE)
		put_text(w, "type", STR("method"));
	put_members(w, f, 0, true);
}

/* ---- hub.hash -------------------------------------------------------------------------------- */

const struct field far_hash_fields[] = {
	{ .name = "name", .type = VALUE_TEXT, .help = "of the hub" },
	{ .name = "hash",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "SHA-256 over all schemas it gives, those of its own hubs among them" },
	{ .name = "error", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "why it could not be asked" },
	{ 0 },
};

static enum status put_far_hash(struct call *c, struct json_writer *w, struct peer_round *round, size_t which,
				struct str own, struct err *err)
{
	struct sha sha;
	struct asking a = { .call = c, .hub = children_at(c->who->children, which)->name, .sha = &sha };
	uint8_t digest[SHA256_BYTES];
	char text[2 * SHA256_BYTES + 1];
	enum status status;

	sha256_init(&sha);
	status = ask_one(c, round, which, (struct str){ 0 }, own, &a, err);
	if (status != STATUS_OK && is_ours(c, status))
		return status;
	sha256_end(&sha, digest);
	hex_encode(digest, sizeof digest, text);
	json_write_object_begin(w);
	put_text(w, "name", str_of(a.hub));
	if (status == STATUS_OK)
		put_text(w, "hash", str_of(text));
	else
		put_text(w, "error", str_of(err->text));
	json_write_object_end(w);
	return STATUS_OK;
}

enum status put_far_hashes(struct call *c, struct json_writer *w, struct err *err)
{
	struct peer_round *round CLEANUP(round_release) = NULL;
	char own[UUID_TEXT + 1];

	if (is_cut_off(c))
		return STATUS_OK;
	if (hub_own_id(c, own, err))
		return err_failed(err->status);
	round = children_round(c->who->children);
	json_write_key(w, STR("hubs"));
	json_write_array_begin(w);
	for (size_t i = 0; i < children_count(c->who->children); i++)
		if (put_far_hash(c, w, round, i, str_of(own), err))
			return err_failed(err->status);
	json_write_array_end(w);
	return STATUS_OK;
}

/* ---- hub.info ----------------------------------------------------------------------------------- */

static const struct field plugin_fields[] = {
	{ .name = "name", .type = VALUE_TEXT, .help = "as in handles" },
	{ .name = "version", .type = VALUE_TEXT, .help = "of what it hands out now" },
	{ .name = "majors",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL | FIELD_LIST,
	  .help = "other majors whose handles it resolves" },
	{ 0 },
};

static const struct field info_fields[] = {
	{ .name = "protocol",
	  .type = VALUE_INT,
	  .help = "version of the language hubs speak with each other" },
	{ .name = "id", .type = VALUE_ID, .help = "of this hub: that of its store" },
	{ .name = "name", .type = VALUE_TEXT, .help = "what kind of program it is" },
	{ .name = "version", .type = VALUE_TEXT, .help = "of the program" },
	{ .name = "plugins",
	  .type = VALUE_OBJECT,
	  .flags = FIELD_LIST,
	  .fields = plugin_fields,
	  .help = "whose handles it resolves itself" },
	{ .name = "hubs", .type = VALUE_INT, .help = "how many hubs it has below it" },
	{ 0 },
};

static void put_plugin(struct json_writer *w, const struct activation *a)
{
	json_write_object_begin(w);
	put_text(w, "name", str_of(a->name));
	put_text(w, "version", str_of(a->version));
	if (a->majors) {
		json_write_key(w, STR("majors"));
		json_write_array_begin(w);
		for (const int *major = a->majors; *major >= 0; major++)
			json_write_i64(w, *major);
		json_write_array_end(w);
	}
	json_write_object_end(w);
}

static enum status run_info(struct call *c, struct err *err)
{
	char id[UUID_TEXT + 1];
	struct json_writer *w;

	if (hub_own_id(c, id, err))
		return err_failed(err->status);
	w = call_begin(c);
	put_int(w, "protocol", PEER_PROTOCOL);
	put_text(w, "id", str_of(id));
	put_text(w, "name", STR("arbor"));
	put_text(w, "version", STR(ARBOR_VERSION));
	json_write_key(w, STR("plugins"));
	json_write_array_begin(w);
	for (const struct activation *const *a = c->hub->activations; *a; a++)
		if ((*a)->handles)
			put_plugin(w, *a);
	json_write_array_end(w);
	put_int(w, "hubs", (int64_t)children_count(c->who->children));
	return call_emit(c, err);
}

const struct method hub_info = {
	.name = "info",
	.summary = "Say which hub this is and whose handles it resolves",
	.text = "What hubs ask each other first. A hub that is asked twice on one way is known by its id.\n",
	.kind = RESULT_ONE,
	.fields = info_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "call hub.info", "this hub" }, { 0 } },
	.run = run_info,
};

/* ---- hub.hubs ----------------------------------------------------------------------------------- */

static const char *const states[] = { "ready", "unreachable", "loop", NULL };

static const struct field hubs_fields[] = {
	{ .name = "name", .type = VALUE_TEXT, .flags = FIELD_KEY, .help = "what its methods begin with" },
	{ .name = "state",
	  .type = VALUE_ENUM,
	  .choices = states,
	  .help = "whether it answers; 'loop' is this hub itself, which is not asked" },
	{ .name = "program",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "what it says that it is, and its version" },
	{ .name = "id",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "of a hub with a store" },
	{ .name = "command",
	  .type = VALUE_TEXT,
	  .flags = FIELD_LIST | FIELD_HIDDEN,
	  .help = "how it is started" },
	{ .name = "timeout_ms",
	  .type = VALUE_INT,
	  .flags = FIELD_HIDDEN,
	  .help = "how long it may be silent" },
	{ .name = "error",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_STRETCH,
	  .help = "why it does not answer" },
	{ 0 },
};

static void put_setting(struct json_writer *w, const struct child_setting *s)
{
	json_write_key(w, STR("command"));
	json_write_array_begin(w);
	for (const char *const *word = s->command; *word; word++)
		json_write_string(w, str_of(*word));
	json_write_array_end(w);
	put_int(w, "timeout_ms", s->timeout_ms);
}

static enum status emit_hub(struct call *c, struct peer_round *round, size_t which, struct str own,
			    struct err *err)
{
	const struct child_setting *s = children_at(c->who->children, which);
	struct child_about a CLEANUP(child_about_release) = { 0 };
	struct err why;
	int64_t took;
	bool ready = children_about_in(c->who->children, round, which, c->who, &c->mem, &a, &took, &why) ==
		     STATUS_OK;
	struct json_writer *w;

	if (!ready && is_ours(c, why.status)) {
		*err = why;
		return err_failed(err->status);
	}
	w = call_begin(c);
	put_text(w, "name", str_of(s->name));
	put_text(w, "state", !ready ? STR("unreachable") : str_eq(a.id, own) ? STR("loop") : STR("ready"));
	if (a.name.n)
		put_text(w, "program",
			 arena_printf(&c->mem, "%.*s%s%.*s", (int)size_min(a.name.n, KIB), a.name.p,
				      a.version.n ? " " : "", (int)size_min(a.version.n, KIB),
				      a.version.p ? a.version.p : ""));
	if (a.id.n)
		put_text(w, "id", a.id);
	put_setting(w, s);
	if (!ready)
		put_text(w, "error", str_of(why.text));
	return call_emit(c, err);
}

static enum status run_hubs(struct call *c, struct err *err)
{
	struct peer_round *round CLEANUP(round_release) = NULL;
	char own[UUID_TEXT + 1];

	if (!children_count(c->who->children))
		return STATUS_OK;
	if (hub_own_id(c, own, err))
		return err_failed(err->status);
	round = children_round(c->who->children);
	for (size_t i = 0; i < children_count(c->who->children); i++)
		if (emit_hub(c, round, i, str_of(own), err))
			return err_failed(err->status);
	return STATUS_OK;
}

const struct method hub_hubs = {
	.name = "hubs",
	.verb = "hubs",
	.also = "remotes remote servers peers",
	.group = "programs",
	.summary = "List the other hubs and whether they answer",
	.text = "Other hubs are programs that the setting 'hubs' names: anything that speaks JSON-RPC on its "
		"standard "
		"streams, another Arbor among them ('arbor rpc --stdio'). Each is started to see whether it "
		"answers. "
		"Their methods are called as NAME.METHOD, with 'arbor call' or from everywhere else.\n",
	.kind = RESULT_STREAM,
	.fields = hubs_fields,
	.empty = "no hubs; the setting 'hubs' names them",
	.scope = SCOPE_LOCAL, /* commands are nobody else's affair */
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "hubs", "who answers" }, { 0 } },
	.run = run_hubs,
};
