/*
 * arbor complete WORD...: what could stand in place of the last word. Completion
 * scripts ask it for names of what is kept; a candidate and what it is, a tab
 * between, a line each.
 *
 * It is called while somebody types: it says nothing when something is wrong, makes
 * no store, and stops after MOST candidates.
 */
#include "face/face.h"

#include "base/clock.h"
#include "base/json.h"

#include <string.h>

enum { MOST = 200, ASKED = 1000, DESCRIPTION = 60 };
#define PATIENCE_NS ((int64_t)3 * 1000 * 1000 * 1000) /* with another hub */

struct asking {
	struct face *face;
	const struct method *method; /* that lists the candidates */
	const char *hub;	     /* or the hub whose methods they are */
	struct str prefix;
	int found;
};

static void offer(struct face *f, struct str prefix, struct str what, struct str is)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(MIB);

	if (!str_has_prefix(what, prefix))
		return;
	term_filter(&safe, what, TERM_LINE);
	/* What cannot be typed is not offered. */
	if (!str_eq(buf_as_str(&safe), what))
		return;
	out_str(&f->out, what);
	out_text(&f->out, "\t");
	out_foreign(&f->out, str_sub(is, 0, DESCRIPTION), TERM_LINE);
	out_text(&f->out, "\n");
}

/* ---- What is kept -------------------------------------------------------------- */

static const struct field *description(const struct field *fields)
{
	for (const struct field *f = fields; f && f->name; f++)
		if (f->flags & FIELD_STRETCH)
			return f;
	return NULL;
}

/* A path may be named by its end: from the first part on that begins as what was typed. */
static struct str typed_part(const struct field *key, struct str what, struct str prefix)
{
	struct str part = what;

	if (key->type != VALUE_PATH || !prefix.n || prefix.p[0] == '/')
		return what;
	while (part.n && !str_has_prefix(part, prefix))
		part = str_sub(part, size_min(str_find(part, '/'), part.n - 1) + 1, SIZE_MAX);
	return part.n ? part : what;
}

static enum status offer_item(void *ctx, struct str text, struct err *err)
{
	struct asking *a = ctx;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct json j CLEANUP(json_release) = JSON_INIT;
	const struct field *key = field_key(a->method->fields), *is = description(a->method->fields);
	struct str what, meaning = { 0 };

	if (json_read(&j, text, 0, err))
		return err_failed(err->status);
	what = json_string_in(&j, json_get(&j, 0, str_of(key->name)), &mem);
	what = typed_part(key, what, a->prefix);
	if (is)
		meaning = json_string_in(&j, json_get(&j, 0, str_of(is->name)), &mem);
	if (!str_has_prefix(what, a->prefix))
		return STATUS_OK;
	offer(a->face, a->prefix, what, meaning);
	return ++a->found < MOST ? STATUS_OK : err_fail(err, STATUS_CANCELLED, "enough");
}

static enum status no_bytes(void *ctx, struct str bytes, struct err *err)
{
	(void)ctx;
	(void)bytes;
	return err_fail(err, STATUS_CANCELLED, "no candidates");
}

static void offer_names(struct face *f, const char *names, struct str prefix)
{
	struct asking a = { .face = f, .prefix = prefix };
	struct hub_caller who = {
		.sink = { .item = offer_item, .bytes = no_bytes, .ctx = &a },
		.scopes = 1u << SCOPE_READ,
		.open_store = face_open_store,
		.ctx = f,
	};
	const struct activation *activation = NULL;
	const struct param *limit;
	struct params p;
	struct err ignored;

	if (hub_find(f->hub, str_of(names), &activation, &a.method, &ignored) || !field_key(a.method->fields))
		return;
	params_begin(&p, a.method, &f->mem);
	limit = params_find(&p, STR("limit"));
	if (limit) {
		int64_t most = limit->least < limit->most && limit->most < ASKED ? limit->most : ASKED;

		if (params_set_text(&p, limit, arena_printf(&f->mem, "%" PRId64, most), &ignored))
			return;
	}
	if (params_end(&p, &ignored) == STATUS_OK)
		(void)!hub_run(f->hub, a.method, p.values, &who, &ignored);
}

/* ---- Other hubs ------------------------------------------------------------------ */

static enum status offer_method(void *ctx, struct str text, struct err *err)
{
	struct asking *a = ctx;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct str name;

	if (json_read(&j, text, LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	if (json_string_eq(&j, json_get(&j, 0, STR("type")), STR("handle")))
		return STATUS_OK;
	name = json_string_in(&j, json_get(&j, 0, STR("name")), &mem);
	name = arena_printf(&mem, "%s.%.*s", a->hub, STR_ARG(name));
	if (!str_has_prefix(name, a->prefix))
		return STATUS_OK;
	offer(a->face, a->prefix, name,
	      json_string_in(&j, json_get(&j, json_get(&j, 0, STR("schema")), STR("summary")), &mem));
	return ++a->found < MOST ? STATUS_OK : err_fail(err, STATUS_CANCELLED, "enough");
}

/* The names of hubs; the methods of one whose name was typed, which is started for it. */
static void offer_hubs(struct face *f, struct str prefix)
{
	struct hub_caller who = { .scopes = 1u << SCOPE_READ, .deadline_ns = clock_monotonic_ns() + PATIENCE_NS };
	struct err ignored;

	for (size_t i = 0; i < children_count(f->children); i++) {
		const char *hub = children_at(f->children, i)->name;
		struct str front = arena_printf(&f->mem, "%s.", hub);
		struct asking a = { .face = f, .hub = hub, .prefix = prefix };
		struct sink sink = { .item = offer_method, .ctx = &a };
		struct child_ask ask = { .which = i, .method = STR("hub.schema") };

		if (str_has_prefix(prefix, front))
			(void)!children_ask(f->children, &ask, &who, &sink, &ignored);
		else
			offer(f, prefix, front, STR("another hub"));
	}
}

/* ---- What the table says --------------------------------------------------------- */

static void offer_verbs(struct face *f, struct str prefix)
{
	struct verb v;

	for (size_t i = 0; verb_at(f->hub, i, &v); i++)
		if (v.method->group)
			offer(f, prefix, str_of(v.method->verb), str_of(v.method->summary));
}

static void offer_methods(struct face *f, struct str prefix)
{
	offer_names(f, "hub.methods", prefix);
	offer_hubs(f, prefix);
}

/* Methods without a verb are many: only when one has begun. */
static void offer_help(struct face *f, struct str prefix)
{
	if (str_has_byte(prefix, '.'))
		offer_methods(f, prefix);
	offer_verbs(f, prefix);
	for (const struct topic *t = topics; t->name; t++)
		offer(f, prefix, str_of(t->name), str_of(t->summary));
}

static void offer_value(struct face *f, const struct param *q, struct str prefix)
{
	for (const char *const *c = q->choices; c && *c; c++)
		offer(f, prefix, str_of(*c), str_of(q->help));
	if (q->names && strcmp(q->names, NAMES_HELP) == 0)
		offer_help(f, prefix);
	else if (q->names && strcmp(q->names, "hub.methods") == 0)
		offer_methods(f, prefix);
	else if (q->names)
		offer_names(f, q->names, prefix);
}

static void offer_options(struct face *f, const struct method *m, struct str prefix)
{
	const struct method *both[] = { m, &common_options };
	char typed[PARAM_TYPED];

	for (size_t i = 0; i < COUNT(both); i++)
		for (const struct param *q = both[i]->params; q && q->name; q++)
			if (!(q->flags & PARAM_WORD))
				offer(f, prefix, str_of(param_typed(q, typed)), str_of(q->help));
}

/* The option that `word` is and whose value comes next; NULL = none. */
static const struct param *waiting_option(const struct method *m, const char *word)
{
	const struct param *q = NULL;

	if (strncmp(word, "--", 2) == 0)
		q = args_option(m, str_of(word + 2));
	else if (word[0] == '-' && word[1])
		q = args_letter(m, word[strlen(word) - 1]);
	return q && args_takes_word(q) ? q : NULL;
}

/* How many words stand before the last one. */
static size_t count_words(const struct method *m, int argc, char **argv)
{
	size_t words = 0;

	for (int i = 0; i + 1 < argc; i++) {
		if (argv[i][0] != '-')
			words++;
		else if (waiting_option(m, argv[i]))
			i++;
	}
	return words;
}

/* argv is what stands behind the verb. */
static void offer_for(struct face *f, const struct method *m, int argc, char **argv)
{
	struct str last = str_of(argv[argc - 1]), value, name;
	const struct param *q = argc > 1 ? waiting_option(m, argv[argc - 2]) : NULL;

	if (!q && str_has_prefix(last, STR("--"))) {
		name = str_cut(str_sub(last, 2, SIZE_MAX), '=', &value);
		q = value.p ? args_option(m, name) : NULL;
		if (q)
			last = value;
	}
	if (!q && str_has_prefix(last, STR("-"))) {
		offer_options(f, m, last);
		return;
	}
	if (!q)
		q = args_word(m, count_words(m, argc, argv));
	if (q)
		offer_value(f, q, last);
}

enum status run_complete(struct face *f, int argc, char **argv, const struct params *p, struct err *err)
{
	int at = argc ? args_first_word(argc - 1, argv) : -1;
	const struct activation *a = NULL;
	struct verb v;

	(void)p;
	f->log.sink = NULL;
	if (argc && at < 0) {
		if (argv[argc - 1][0] == '-')
			offer_options(f, &common_options, str_of(argv[argc - 1]));
		else
			offer_verbs(f, str_of(argv[argc - 1]));
		return STATUS_OK;
	}
	if (at < 0 || !verb_find(f->hub, str_of(argv[at]), &v))
		return STATUS_OK;
	argc -= at + 1;
	argv += at + 1;
	/* Behind 'call METHOD' stand the options of that method. */
	if (v.run == run_call && (at = args_first_word(argc - 1, argv)) >= 0 &&
	    face_find_method(f, str_of(argv[at]), &a, &v.method, err) == STATUS_OK) {
		argc -= at + 1;
		argv += at + 1;
	}
	offer_for(f, v.method, argc, argv);
	return STATUS_OK;
}
