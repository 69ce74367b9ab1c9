/*
 * Settings. What a file's text means is data (test/table/settings.test); here are
 * the order of the sources for every key, what a project may not do, where files
 * are looked for and which are believed, and that docs/SETTINGS.md is the table.
 */
#include "hub/settings.h"
#include "t.h"

#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EACH_KEY for (const struct setting_key *k = setting_keys; k->param.name; k++)

/* ---- A user with a home, projects, variables ---------------------------------- */

struct user {
	struct t *t;
	struct arena mem;
	struct buf warnings; /* one a line */
	struct log log;
	const char *root; /* private folder; HOME is home/ in it */
	const char *vars[64][2];
	size_t var_count;
	struct settings_where where;
	struct settings settings;
	struct err err;
};

static void keep_warning(void *ctx, enum log_level level, struct str text)
{
	struct user *u = ctx;

	if (level != LOG_WARN)
		t_fail(u->t, __FILE__, __LINE__, "not a warning: %.*s", STR_ARG(text));
	buf_str(&u->warnings, text);
	buf_byte(&u->warnings, '\n');
}

static const char *get_var(void *ctx, const char *name)
{
	struct user *u = ctx;

	for (size_t i = 0; i < u->var_count; i++)
		if (strcmp(u->vars[i][0], name) == 0)
			return u->vars[i][1];
	return NULL;
}

static void set_var(struct user *u, const char *name, const char *value)
{
	u->vars[u->var_count][0] = name;
	u->vars[u->var_count++][1] = value;
}

static const char *path_of(struct user *u, const char *name)
{
	return arena_printf(&u->mem, "%s/%s", u->root, name).p;
}

static void make_folder(struct user *u, const char *name)
{
	struct err err;

	if (file_make_dirs(path_of(u, name), &err))
		t_fail(u->t, __FILE__, __LINE__, "%s", err.text);
}

static void write_file(struct user *u, const char *name, struct str text)
{
	const char *path = path_of(u, name);
	struct err err;
	struct str folder = str_sub(str_of(name), 0, str_rfind(str_of(name), '/'));

	make_folder(u, arena_cstr(&u->mem, folder));
	if (file_write_atomic(path, text, 0600, &err))
		t_fail(u->t, __FILE__, __LINE__, "%s", err.text);
}

static void user_begin(struct user *u, struct t *t)
{
	*u = (struct user){ .t = t, .warnings = BUF_INIT(MIB), .root = t_tmpdir(t) };
	u->log = (struct log){ .level = LOG_DEBUG, .sink = keep_warning, .ctx = u };
	make_folder(u, "home/project/deep");
	u->where = (struct settings_where){
		.home = path_of(u, "home"),
		.cwd = path_of(u, "home/project"),
		.uid = getuid(),
		.env = get_var,
		.ctx = u,
	};
}

static void user_end(struct user *u)
{
	buf_release(&u->warnings);
	arena_release(&u->mem);
}

static enum status load(struct user *u)
{
	buf_clear(&u->warnings);
	return settings_load(&u->where, &u->mem, &u->log, &u->settings, &u->err);
}

static bool warned(const struct user *u, const char *part)
{
	return u->warnings.n && strstr(u->warnings.p, part);
}

#define USER_FILE    "home/.config/arbor/settings.json"
#define PROJECT_FILE "home/project/.arbor/settings.json"

/* ---- The table of texts ------------------------------------------------------- */

static void unescape(struct str s, struct buf *out)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned byte;

		if (s.n - i >= 4 && s.p[i] == '\\' && s.p[i + 1] == 'x' &&
		    sscanf(s.p + i + 2, "%2x", &byte) == 1) {
			buf_byte(out, (char)byte);
			i += 3;
		} else {
			buf_byte(out, s.p[i]);
		}
	}
}

/* "f:1:2: text" as "1:2 text". */
static void put_message(struct buf *out, const char *front, struct str text)
{
	struct str line, column, rest;

	str_cut(text, ':', &rest);
	line = str_cut(rest, ':', &rest);
	column = str_cut(rest, ':', &rest);
	buf_printf(out, "%s %.*s:%.*s%.*s\n", front, STR_ARG(line), STR_ARG(column), STR_ARG(rest));
}

static void put_message_of_log(void *ctx, enum log_level level, struct str text)
{
	(void)level;
	put_message(ctx, "warn", text);
}

static void put_value(struct buf *out, const struct settings *s, const struct setting_key *k)
{
	const char *name = k->param.name;

	if (k->param.type == VALUE_INT || k->param.type == VALUE_BYTES)
		buf_printf(out, "%" PRId64, settings_int(s, name));
	else if (k->param.type == VALUE_BOOL)
		buf_text(out, settings_flag(s, name) ? "true" : "false");
	else
		buf_str(out, settings_text(s, name));
}

/* What comes of a text, in the words of the table. */
static void outcome(enum setting_source from, struct str text, struct buf *out)
{
	struct arena mem = ARENA_INIT;
	struct log log = { .level = LOG_WARN, .sink = put_message_of_log, .ctx = out };
	struct settings s;
	struct err err;

	settings_begin(&s, "/home/me", &mem);
	s.user_file = "/home/me/.config/arbor/settings.json";
	if (settings_read(&s, from, "f", text, &log, &err)) {
		put_message(out, "error", str_of(err.text));
		if (err.status != STATUS_FORMAT)
			buf_printf(out, "status %s\n", status_info(err.status)->name);
	} else {
		EACH_KEY
		{
			struct str origin = settings_origin(&s, k->param.name);

			if (!str_has_prefix(origin, STR("f:")))
				continue;
			buf_printf(out, "set %s ", k->param.name);
			put_value(out, &s, k);
			buf_printf(out, " %.*s\n", STR_ARG(str_sub(origin, 2, SIZE_MAX)));
		}
	}
	arena_release(&mem);
}

struct table_case {
	int line; /* of the table */
	struct str whose;
	struct buf text; /* of the file */
	struct buf want;
};

static void add_line(struct table_case *c, struct str line, bool *first)
{
	if (line.p[0] != '|') {
		unescape(line, &c->want);
		buf_byte(&c->want, '\n');
		return;
	}
	if (!*first)
		buf_byte(&c->text, '\n');
	*first = false;
	unescape(str_sub(line, 1, SIZE_MAX), &c->text);
}

static bool next_case(struct str *rest, int *line, struct table_case *c)
{
	bool first = true;

	buf_clear(&c->text);
	buf_clear(&c->want);
	c->whose = (struct str){ 0 };
	while (rest->n) {
		struct str l = str_cut(*rest, '\n', rest);

		++*line;
		if (c->whose.n && l.n == 0)
			break;
		if (c->whose.n) {
			add_line(c, l, &first);
		} else if (l.n && l.p[0] != '#') {
			c->whose = l;
			c->line = *line;
		}
	}
	return c->whose.n != 0;
}

TEST(every_text_in_the_table_has_the_outcome_it_says)
{
	struct table_case c = { .text = BUF_INIT(MIB), .want = BUF_INIT(MIB) };
	struct buf file, got = BUF_INIT(MIB);
	int line = 0, cases = 0;
	struct str rest;

	if (!t_read_file(t, "test/table/settings.test", &file))
		return;
	rest = buf_as_str(&file);
	for (; next_case(&rest, &line, &c); cases++) {
		bool is_user = str_eq(c.whose, STR("user"));

		NEED(is_user || str_eq(c.whose, STR("project")));
		buf_clear(&got);
		outcome(is_user ? SETTING_USER : SETTING_PROJECT, buf_as_str(&c.text), &got);
		if (!str_eq(buf_as_str(&got), buf_as_str(&c.want)))
			t_fail(t, "settings.test", c.line, "gave\n%s# wanted\n%s", got.p ? got.p : "",
			       c.want.p ? c.want.p : "");
	}
	CHECK(cases > 90);
	buf_release(&file);
	buf_release(&c.text);
	buf_release(&c.want);
	buf_release(&got);
}

/* ---- The table of keys -------------------------------------------------------- */

TEST(every_key_is_described_and_has_a_default_it_takes)
{
	EACH_KEY
	{
		const struct param *p = &k->param;

		CHECK(strspn(p->name, "abcdefghijklmnopqrstuvwxyz0123456789_.") == strlen(p->name));
		CHECK(p->help && p->help[0] && !strchr(p->help, '\n') && p->help[strlen(p->help) - 1] != '.');
		CHECK((p->type == VALUE_ENUM) == (p->choices != NULL));
		CHECK(p->least <= p->most);
		for (const struct setting_key *other = setting_keys; other < k; other++) {
			size_t n = strlen(other->param.name);

			/* No key is another's group. */
			CHECK(strncmp(other->param.name, p->name, n) || (p->name[n] && p->name[n] != '.'));
		}
	}
}

/* ARBOR_SEARCH_LIMIT for search.limit: one that knows the key knows the variable. */
TEST(variables_are_named_after_their_keys_unless_they_are_another_programs)
{
	EACH_KEY
	{
		char name[64] = "ARBOR_";
		size_t n = strlen(name);

		for (const char *p = k->param.name; *p; p++)
			name[n++] = *p == '.' || *p == '_' ? '_' : (char)(*p - 'a' + 'A');
		CHECK(!k->env || strcmp(k->env, name) == 0 || strcmp(k->env, "CLAUDE_CONFIG_DIR") == 0);
		CHECK(!k->general_env || strncmp(k->general_env, "ARBOR_", 6) != 0);
	}
}

TEST(paths_and_commands_are_never_a_projects)
{
	EACH_KEY
	{
		bool only = k->flags & SETTING_USER_ONLY;

		EQ(only, k->why != NULL);
		CHECK(only || k->param.type != VALUE_PATH);
		CHECK(only || strcmp(k->param.name, "pager") != 0);
	}
}

TEST(without_settings_every_key_has_its_default)
{
	EQ(settings_int(NULL, "search.limit"), 10);
	EQ(settings_int(NULL, "list.limit"), 50);
	CHECK(!settings_flag(NULL, "show.full"));
	EQS(settings_text(NULL, "color"), STR("auto"));
	EQS(settings_text(NULL, "page"), STR("auto"));
	EQS(settings_text(NULL, "pager"), STR("less"));
	CHECK(!settings_text(NULL, "source").p);
	CHECK(!settings_text(NULL, "store").p);
	EQS(settings_origin(NULL, "color"), STR("default"));
}

static void ask_for_nothing(void)
{
	settings_text(NULL, "no.such.key");
}

static void ask_for_a_number_as_text(void)
{
	settings_text(NULL, "search.limit");
}

static void ask_for_a_text_as_number(void)
{
	settings_int(NULL, "color");
}

static void ask_for_a_number_as_switch(void)
{
	settings_flag(NULL, "search.limit");
}

TEST(asking_for_what_does_not_exist_ends_the_program)
{
	static void (*const asking[])(void) = {
		ask_for_nothing,
		ask_for_a_number_as_text,
		ask_for_a_text_as_number,
		ask_for_a_number_as_switch,
	};

	for (size_t i = 0; i < COUNT(asking); i++) {
		int status = 0;
		pid_t child = fork();

		if (child == 0) {
			if (!freopen("/dev/null", "w", stderr))
				_exit(1);
			asking[i]();
			_exit(0);
		}
		NEED(child > 0 && waitpid(child, &status, 0) == child);
		CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) > 1);
	}
}

/* ---- The order of the sources ------------------------------------------------- */

/* A value that is right for the key and, where there are enough, its own for each
 * source. */
static const char *sample(struct user *u, const struct setting_key *k, int source)
{
	size_t choices = 1; /* at least */

	if (k->param.type == VALUE_INT || k->param.type == VALUE_BYTES)
		return arena_printf(&u->mem, "%d", 100 + source).p;
	if (k->param.type == VALUE_BOOL)
		return source % 2 ? "true" : "false";
	if (strcmp(k->param.name, "hubs") == 0)
		return arena_printf(&u->mem, "{\"hub-%d\":{\"command\":[\"x\"]}}", source).p;
	if (strcmp(k->param.name, "search.weights") == 0)
		return arena_printf(&u->mem, "{\"prompt\":%d}", 10 + source).p;
	if (k->param.type == VALUE_JSON)
		return arena_printf(&u->mem, "{\"model-%d\":{\"input\":%d}}", source, source).p;
	if (k->param.type != VALUE_ENUM)
		return arena_printf(&u->mem, "/from/%d", source).p;
	while (k->param.choices[choices])
		choices++;
	return k->param.choices[(size_t)source % choices];
}

static struct str sample_file(struct user *u, const struct setting_key *k, int source)
{
	bool bare = k->param.type == VALUE_INT || k->param.type == VALUE_BOOL || k->param.type == VALUE_JSON;
	const char *quote = bare ? "" : "\"";

	return arena_printf(&u->mem, "{\n  \"%s\": %s%s%s\n}\n", k->param.name, quote, sample(u, k, source),
			    quote);
}

/* Whether this source can set the key at all. */
static bool can_come_from(const struct setting_key *k, int source)
{
	switch ((enum setting_source)source) {
	case SETTING_GENERAL:
		return k->general_env != NULL;
	case SETTING_PROJECT:
		return !(k->flags & SETTING_USER_ONLY);
	case SETTING_ENVIRONMENT:
		return k->env != NULL;
	case SETTING_DEFAULT:
	case SETTING_USER:
	case SETTING_FLAG:
		break;
	}
	return true;
}

static struct str origin_from(struct user *u, const struct setting_key *k, int source)
{
	switch ((enum setting_source)source) {
	case SETTING_DEFAULT:
		return STR("default");
	case SETTING_GENERAL:
		return arena_printf(&u->mem, "environment %s", k->general_env);
	case SETTING_USER:
		return arena_printf(&u->mem, "%s:2:3", path_of(u, USER_FILE));
	case SETTING_PROJECT:
		return arena_printf(&u->mem, "%s:2:3", path_of(u, PROJECT_FILE));
	case SETTING_ENVIRONMENT:
		return arena_printf(&u->mem, "environment %s", k->env);
	case SETTING_FLAG:
		return STR("flag");
	}
	return (struct str){ 0 };
}

/* Puts the key's samples into each source that has its bit in `sources`. */
static void place_samples(struct user *u, const struct setting_key *k, unsigned sources)
{
	unlink(path_of(u, USER_FILE));
	unlink(path_of(u, PROJECT_FILE));
	u->var_count = 0;
	if (sources & 1u << SETTING_GENERAL && k->general_env)
		set_var(u, k->general_env, sample(u, k, SETTING_GENERAL));
	if (sources & 1u << SETTING_USER)
		write_file(u, USER_FILE, sample_file(u, k, SETTING_USER));
	if (sources & 1u << SETTING_PROJECT)
		write_file(u, PROJECT_FILE, sample_file(u, k, SETTING_PROJECT));
	if (sources & 1u << SETTING_ENVIRONMENT && k->env)
		set_var(u, k->env, sample(u, k, SETTING_ENVIRONMENT));
}

static void check_order(struct t *t, struct user *u, const struct setting_key *k, unsigned sources)
{
	const char *name = k->param.name;
	struct buf got = BUF_INIT(KIB);
	int winner = SETTING_FLAG;

	while (winner > SETTING_DEFAULT && !(sources & 1u << winner && can_come_from(k, winner)))
		winner--;
	place_samples(u, k, sources);
	if (load(u) || (sources & 1u << SETTING_FLAG &&
			settings_set_flag(&u->settings, name, str_of(sample(u, k, SETTING_FLAG)), &u->err))) {
		t_fail(t, __FILE__, __LINE__, "%s, sources %x: %s", name, sources, u->err.text);
		return;
	}
	if (!EQS(settings_origin(&u->settings, name), origin_from(u, k, winner)))
		t_fail(t, __FILE__, __LINE__, "%s, sources %x", name, sources);
	put_value(&got, &u->settings, k);
	if (winner != SETTING_DEFAULT)
		EQS(buf_as_str(&got), str_of(sample(u, k, winner)));
	EQ(u->warnings.n != 0, sources & 1u << SETTING_PROJECT && k->flags & SETTING_USER_ONLY);
	buf_release(&got);
}

TEST(for_every_key_the_strongest_source_of_any_set_of_sources_wins)
{
	struct user u;

	user_begin(&u, t);
	EACH_KEY
	for (unsigned sources = 0; sources < 2u << SETTING_FLAG; sources += 2)
		check_order(t, &u, k, sources);
	user_end(&u);
}

TEST(one_key_in_one_source_leaves_all_others_as_they_were)
{
	struct user u;

	user_begin(&u, t);
	EACH_KEY
	{
		place_samples(&u, k, 1u << SETTING_USER);
		NEED(load(&u) == STATUS_OK);
		for (const struct setting_key *other = setting_keys; other->param.name; other++)
			EQ(str_eq(settings_origin(&u.settings, other->param.name), STR("default")),
			   other != k);
	}
	user_end(&u);
}

TEST(an_empty_variable_is_not_set)
{
	struct user u;

	user_begin(&u, t);
	EACH_KEY
	if (k->env)
		set_var(&u, k->env, "");
	set_var(&u, "PAGER", "more");
	NEED(load(&u) == STATUS_OK);
	EQS(settings_text(&u.settings, "pager"), STR("more"));
	EQS(settings_origin(&u.settings, "color"), STR("default"));
	EQS(settings_text(&u.settings, "source"), str_of(path_of(&u, "home/.claude")));
	user_end(&u);
}

TEST(a_wrong_variable_or_flag_is_named_with_what_is_wanted)
{
	struct user u;

	user_begin(&u, t);
	set_var(&u, "ARBOR_COLOR", "neon");
	EQ(load(&u), STATUS_USAGE);
	EQS(str_of(u.err.text),
	    STR("environment ARBOR_COLOR: color: wants one of auto, always, never, not 'neon'"));
	u.var_count = 0;
	set_var(&u, "ARBOR_SEARCH_LIMIT", "10001");
	EQ(load(&u), STATUS_USAGE);
	u.var_count = 0;
	NEED(load(&u) == STATUS_OK);
	EQ(settings_set_flag(&u.settings, "search.limit", STR("many"), &u.err), STATUS_USAGE);
	EQS(str_of(u.err.text), STR("search.limit: wants a whole number from 1 to 10000, not 'many'"));
	EQ(settings_set_flag(&u.settings, "store", STR(""), &u.err), STATUS_USAGE);
	EQS(settings_origin(&u.settings, "search.limit"), STR("default"));
	/* A shell has done what there is to do with "~"; relative paths are usual there. */
	NEED(settings_set_flag(&u.settings, "store", STR("x.db"), &u.err) == STATUS_OK);
	EQS(settings_text(&u.settings, "store"), STR("x.db"));
	user_end(&u);
}

/* ---- What a project may not do ------------------------------------------------ */

static void check_refusal(struct t *t, struct user *u, const struct setting_key *k, struct str text)
{
	write_file(u, PROJECT_FILE, text);
	NEED(load(u) == STATUS_OK);
	EQS(settings_origin(&u->settings, k->param.name), STR("default"));
	CHECK(warned(u, arena_printf(&u->mem, "%s:2:3: '%s' is ignored here: %s; set it in %s",
				     path_of(u, PROJECT_FILE), k->param.name, k->why, path_of(u, USER_FILE))
				.p));
}

TEST(what_only_the_user_may_set_is_refused_from_a_project_whatever_its_value)
{
	static const char *const values[] = { "\"/x\"", "5", "null", "{\"a\": [\"/x\"]}", "\"\"", "true" };
	struct user u;
	int refused = 0;

	user_begin(&u, t);
	EACH_KEY
	for (size_t i = 0; k->flags & SETTING_USER_ONLY && i < COUNT(values); i++, refused++)
		check_refusal(t, &u, k, arena_printf(&u.mem, "{\n  \"%s\": %s\n}", k->param.name, values[i]));
	CHECK(refused >= 18);
	user_end(&u);
}

TEST(a_hostile_project_file_neither_floods_nor_stalls)
{
	static const char *const members[] = { "\"color\":\"auto\",", "\"x\":1,", "\"pager\":0,",
					       "\"search\":{}," };
	struct buf text = BUF_INIT(LIMIT_SETTINGS);
	struct user u;

	user_begin(&u, t);
	for (size_t i = 0; i < COUNT(members); i++) {
		size_t lines = 0;

		buf_clear(&text);
		buf_byte(&text, '{');
		while (text.n + 32 < LIMIT_SETTINGS)
			buf_text(&text, members[i]);
		buf_byte(&text, '}');
		write_file(&u, PROJECT_FILE, buf_as_str(&text));
		NEED(load(&u) == STATUS_OK);
		for (size_t at = 0; at < u.warnings.n; at++)
			lines += u.warnings.p[at] == '\n';
		EQ(lines, i == 3 ? 0 : LIMIT_SETTINGS_WARNINGS + 1);
		CHECK(i == 3 || warned(&u, "more like these"));
	}
	buf_clear(&text); /* each could look for its end once more */
	while (text.n + 32 < LIMIT_SETTINGS)
		buf_text(&text, "/*");
	write_file(&u, PROJECT_FILE, buf_as_str(&text));
	EQ(load(&u), STATUS_OK);
	CHECK(warned(&u, "the whole file is ignored"));
	buf_clear(&text);
	while (text.n + 32 < LIMIT_SETTINGS)
		buf_text(&text, "{\"search\":");
	write_file(&u, PROJECT_FILE, buf_as_str(&text));
	EQ(load(&u), STATUS_OK);
	CHECK(warned(&u, "the whole file is ignored"));
	buf_release(&text);
	user_end(&u);
}

/* ---- Where files are ---------------------------------------------------------- */

TEST(the_users_file_is_below_xdg_config_home_or_home)
{
	struct user u;

	user_begin(&u, t);
	write_file(&u, USER_FILE, STR("{\"search.limit\": 1}"));
	write_file(&u, "xdg/arbor/settings.json", STR("{\"search.limit\": 2}"));
	write_file(&u, "own/arbor/settings.json", STR("{\"search.limit\": 3}"));
	NEED(load(&u) == STATUS_OK);
	EQ(settings_int(&u.settings, "search.limit"), 1);
	set_var(&u, "XDG_CONFIG_HOME", "xdg"); /* relative: not valid */
	NEED(load(&u) == STATUS_OK);
	EQ(settings_int(&u.settings, "search.limit"), 1);
	u.var_count = 0;
	set_var(&u, "XDG_CONFIG_HOME", path_of(&u, "xdg"));
	NEED(load(&u) == STATUS_OK);
	EQ(settings_int(&u.settings, "search.limit"), 2);
	u.where.config_dir = path_of(&u, "own");
	NEED(load(&u) == STATUS_OK);
	EQ(settings_int(&u.settings, "search.limit"), 3);
	u.where.config_dir = path_of(&u, "nothing");
	NEED(load(&u) == STATUS_OK);
	EQ(settings_int(&u.settings, "search.limit"), 10);
	user_end(&u);
}

TEST(nobody_needs_a_home_a_working_folder_or_variables)
{
	struct user u;

	user_begin(&u, t);
	u.where = (struct settings_where){ .uid = getuid() };
	NEED(load(&u) == STATUS_OK);
	CHECK(!settings_text(&u.settings, "source").p);
	EQ(settings_int(&u.settings, "search.limit"), 10);
	u.where.cwd = "(unreachable)/x";
	NEED(load(&u) == STATUS_OK);
	u.where.cwd = path_of(&u, "home/project/gone/away");
	u.where.home = path_of(&u, "home");
	write_file(&u, PROJECT_FILE, STR("{\"search.limit\": 4}"));
	NEED(load(&u) == STATUS_OK);
	EQ(settings_int(&u.settings, "search.limit"), 4);
	user_end(&u);
}

TEST(the_users_file_may_be_a_link_but_must_be_readable_and_a_file)
{
	struct user u;

	user_begin(&u, t);
	write_file(&u, "dotfiles/arbor.json", STR("{\"search.limit\": 7}"));
	make_folder(&u, "home/.config/arbor");
	NEED(symlink(path_of(&u, "dotfiles/arbor.json"), path_of(&u, USER_FILE)) == 0);
	NEED(load(&u) == STATUS_OK);
	EQ(settings_int(&u.settings, "search.limit"), 7);
	NEED(unlink(path_of(&u, USER_FILE)) == 0);
	make_folder(&u, USER_FILE);
	EQ(load(&u), STATUS_FORMAT);
	NEED(rmdir(path_of(&u, USER_FILE)) == 0);
	NEED(mkfifo(path_of(&u, USER_FILE), 0600) == 0);
	EQ(load(&u), STATUS_FORMAT);
	NEED(unlink(path_of(&u, USER_FILE)) == 0);
	NEED(symlink("settings.json", path_of(&u, USER_FILE)) == 0);
	EQ(load(&u), STATUS_DENIED);
	user_end(&u);
}

/* The limit that applies, as a word on where it came from. */
static int64_t limit_in(struct user *u, const char *cwd)
{
	u->where.cwd = path_of(u, cwd);
	return load(u) ? -1 : settings_int(&u->settings, "search.limit");
}

TEST(the_nearest_project_file_counts_and_no_other)
{
	struct user u;

	user_begin(&u, t);
	make_folder(&u, "home/project/deep/er");
	EQ(limit_in(&u, "home/project/deep/er"), 10);
	write_file(&u, "home/project/.arbor/settings.json", STR("{\"search.limit\": 1, \"list.limit\": 2}"));
	EQ(limit_in(&u, "home/project/deep/er"), 1);
	write_file(&u, "home/project/deep/.arbor/settings.json", STR("{\"search.limit\": 3}"));
	EQ(limit_in(&u, "home/project/deep/er"), 3);
	EQ(settings_int(&u.settings, "list.limit"), 50);
	EQ(limit_in(&u, "home/project"), 1);
	write_file(&u, "home/project/deep/er/.arbor", STR("a file"));
	EQ(limit_in(&u, "home/project/deep/er"), 3);
	user_end(&u);
}

TEST(the_search_ends_with_the_top_of_the_repository)
{
	struct user u;

	user_begin(&u, t);
	write_file(&u, "home/project/.arbor/settings.json", STR("{\"search.limit\": 1}"));
	make_folder(&u, "home/project/deep/er");
	make_folder(&u, "home/project/deep/.git");
	EQ(limit_in(&u, "home/project/deep/er"), 10);
	write_file(&u, "home/project/deep/.arbor/settings.json", STR("{\"search.limit\": 2}"));
	EQ(limit_in(&u, "home/project/deep/er"), 2);
	/* In a working tree of several, and in a submodule, .git is a file. */
	write_file(&u, "home/project/deep/er/.git", STR("gitdir: elsewhere"));
	EQ(limit_in(&u, "home/project/deep/er"), 10);
	user_end(&u);
}

TEST(what_lies_in_home_or_above_is_no_projects)
{
	struct user u;

	user_begin(&u, t);
	write_file(&u, ".arbor/settings.json", STR("{\"search.limit\": 1}"));
	write_file(&u, "home/.arbor/settings.json", STR("{\"search.limit\": 2}"));
	EQ(limit_in(&u, "home/project"), 10);
	EQ(limit_in(&u, "home"), 10);
	u.where.cwd = u.root;
	NEED(load(&u) == STATUS_OK);
	EQ(settings_int(&u.settings, "search.limit"), 1); /* outside of home it is one */
	NEED(symlink(path_of(&u, "home"), path_of(&u, "link")) == 0);
	u.where.home = path_of(&u, "link");
	EQ(limit_in(&u, "home/project"), 10);
	user_end(&u);
}

TEST(outside_of_home_the_search_goes_up_to_the_root)
{
	struct user u;

	user_begin(&u, t);
	u.where.home = NULL;
	u.where.cwd = "/";
	NEED(load(&u) == STATUS_OK);
	make_folder(&u, "srv/a/b");
	make_folder(&u, "srv/a/.arbor"); /* without a file it says nothing */
	write_file(&u, "srv/.arbor/settings.json", STR("{\"search.limit\": 6}"));
	EQ(limit_in(&u, "srv/a/b"), 6);
	user_end(&u);
}

/* ---- Which files are believed --------------------------------------------------- */

static void check_ignored(struct t *t, struct user *u, const char *why)
{
	EQ(limit_in(u, "home/project"), 10);
	if (!warned(u, why) || !warned(u, path_of(u, PROJECT_FILE)))
		t_fail(t, __FILE__, __LINE__, "wanted '%s', got '%s'", why,
		       u->warnings.p ? u->warnings.p : "");
}

TEST(a_project_file_behind_a_link_is_ignored_with_a_warning)
{
	struct user u;

	user_begin(&u, t);
	write_file(&u, "elsewhere/settings.json", STR("{\"search.limit\": 1}"));
	make_folder(&u, "home/project/.arbor");
	NEED(symlink(path_of(&u, "elsewhere/settings.json"), path_of(&u, PROJECT_FILE)) == 0);
	check_ignored(t, &u, "a link leads to it");
	NEED(unlink(path_of(&u, PROJECT_FILE)) == 0 && rmdir(path_of(&u, "home/project/.arbor")) == 0);
	NEED(symlink(path_of(&u, "elsewhere"), path_of(&u, "home/project/.arbor")) == 0);
	check_ignored(t, &u, "a link leads to it");
	user_end(&u);
}

TEST(a_project_file_that_is_not_a_plain_file_is_ignored_with_a_warning)
{
	struct user u;

	user_begin(&u, t);
	make_folder(&u, PROJECT_FILE);
	check_ignored(t, &u, "not a plain file");
	NEED(rmdir(path_of(&u, PROJECT_FILE)) == 0);
	NEED(mkfifo(path_of(&u, PROJECT_FILE), 0600) == 0);
	check_ignored(t, &u, "not a plain file");
	user_end(&u);
}

/* Also what it set before the place that is wrong. */
TEST(a_project_file_that_is_broken_is_ignored_whole_with_a_warning)
{
	struct user u;

	user_begin(&u, t);
	write_file(&u, USER_FILE, STR("{\"list.limit\": 7}"));
	write_file(&u, PROJECT_FILE, STR("{\"search.limit\": 1,\n \"list.limit\": \"many\"}"));
	check_ignored(t, &u, "settings.json:2:16: ");
	CHECK(warned(&u, "the whole file is ignored"));
	EQ(settings_int(&u.settings, "list.limit"), 7);
	user_end(&u);
}

/* As root the file can be given away; as anybody else, one can be another. */
TEST(a_project_file_of_another_user_is_ignored_with_a_warning)
{
	enum { STRANGER = 54321 };
	bool is_root = getuid() == 0;
	struct user u;

	user_begin(&u, t);
	write_file(&u, PROJECT_FILE, STR("{\"search.limit\": 1, broken"));
	if (is_root)
		NEED(chown(path_of(&u, PROJECT_FILE), STRANGER, (gid_t)-1) == 0);
	else
		u.where.uid = getuid() + 1;
	check_ignored(t, &u, "belongs to another user");
	if (is_root) {
		u.where.uid = STRANGER;
		write_file(&u, PROJECT_FILE, STR("{\"search.limit\": 1}"));
		EQ(limit_in(&u, "home/project"), 1); /* root's is believed */
	}
	user_end(&u);
}

TEST(files_up_to_one_mebibyte_are_read_and_larger_ones_refused)
{
	static const char *const files[] = { USER_FILE, PROJECT_FILE };
	struct buf text = BUF_INIT(2 * MIB);
	struct user u;

	user_begin(&u, t);
	buf_text(&text, "{\"search.limit\": 8}");
	while (text.n < LIMIT_SETTINGS)
		buf_byte(&text, '\n');
	for (size_t i = 0; i < COUNT(files); i++) {
		write_file(&u, files[i], buf_as_str(&text));
		EQ(limit_in(&u, "home/project"), 8);
		buf_byte(&text, '\n');
		write_file(&u, files[i], buf_as_str(&text));
		if (i == 0) {
			EQ(load(&u), STATUS_LIMIT);
			CHECK(strstr(u.err.text, path_of(&u, files[i])) == u.err.text);
		} else {
			check_ignored(t, &u, "larger than");
		}
		text.n--;
		write_file(&u, files[i], STR("{}"));
	}
	buf_release(&text);
	user_end(&u);
}

TEST(a_broken_file_of_the_user_is_an_error_with_its_place_and_leaves_the_settings_alone)
{
	struct user u;
	struct settings before;

	user_begin(&u, t);
	NEED(load(&u) == STATUS_OK);
	before = u.settings;
	write_file(&u, USER_FILE, STR("{\n  \"color\": \"never\"\n  \"page\"\n}"));
	EQ(load(&u), STATUS_FORMAT);
	EQS(str_of(u.err.text),
	    arena_printf(&u.mem, "%s:3:3: expected ',' or '}', found '\"'", path_of(&u, USER_FILE)));
	CHECK(u.settings.list == before.list);
	EQS(settings_text(&u.settings, "color"), STR("auto"));
	user_end(&u);
}

/* ---- The page for people -------------------------------------------------------- */

static void put_code(struct buf *out, const char *text)
{
	if (text)
		buf_printf(out, "`%s`", text);
	else
		buf_text(out, "-");
}

static void put_row(struct buf *out, const struct setting_key *k)
{
	buf_printf(out, "| `%s` | ", k->param.name);
	setting_wants(k, out);
	buf_text(out, " | ");
	put_code(out, k->param.initial);
	buf_text(out, " | ");
	put_code(out, k->env);
	if (k->general_env)
		buf_printf(out, ", then the files, then `%s`", k->general_env);
	buf_printf(out, " | %s | %s |\n", k->flags & SETTING_USER_ONLY ? "no" : "yes", k->param.help);
}

TEST(the_page_about_settings_has_the_rows_of_the_table)
{
	struct buf page, rows = BUF_INIT(MIB);

	if (!t_read_file(t, "docs/SETTINGS.md", &page))
		return;
	EACH_KEY
	put_row(&rows, k);
	buf_byte(&rows, '\n'); /* the table ends there */
	if (!memmem(page.p, page.n, rows.p, rows.n))
		t_fail(t, __FILE__, __LINE__, "docs/SETTINGS.md lacks these rows, in one piece:\n%s", rows.p);
	EACH_KEY
	if (k->why)
		CHECK(memmem(page.p, page.n, k->why, strlen(k->why)) != NULL);
	buf_release(&page);
	buf_release(&rows);
}

TESTS(CASE(every_text_in_the_table_has_the_outcome_it_says),
      CASE(every_key_is_described_and_has_a_default_it_takes),
      CASE(variables_are_named_after_their_keys_unless_they_are_another_programs),
      CASE(paths_and_commands_are_never_a_projects), CASE(without_settings_every_key_has_its_default),
      CASE(asking_for_what_does_not_exist_ends_the_program),
      CASE(for_every_key_the_strongest_source_of_any_set_of_sources_wins),
      CASE(one_key_in_one_source_leaves_all_others_as_they_were), CASE(an_empty_variable_is_not_set),
      CASE(a_wrong_variable_or_flag_is_named_with_what_is_wanted),
      CASE(what_only_the_user_may_set_is_refused_from_a_project_whatever_its_value),
      CASE(a_hostile_project_file_neither_floods_nor_stalls),
      CASE(the_users_file_is_below_xdg_config_home_or_home),
      CASE(nobody_needs_a_home_a_working_folder_or_variables),
      CASE(the_users_file_may_be_a_link_but_must_be_readable_and_a_file),
      CASE(the_nearest_project_file_counts_and_no_other),
      CASE(the_search_ends_with_the_top_of_the_repository), CASE(what_lies_in_home_or_above_is_no_projects),
      CASE(outside_of_home_the_search_goes_up_to_the_root),
      CASE(a_project_file_behind_a_link_is_ignored_with_a_warning),
      CASE(a_project_file_that_is_not_a_plain_file_is_ignored_with_a_warning),
      CASE(a_project_file_that_is_broken_is_ignored_whole_with_a_warning),
      CASE(a_project_file_of_another_user_is_ignored_with_a_warning),
      CASE(files_up_to_one_mebibyte_are_read_and_larger_ones_refused),
      CASE(a_broken_file_of_the_user_is_an_error_with_its_place_and_leaves_the_settings_alone),
      CASE(the_page_about_settings_has_the_rows_of_the_table))
