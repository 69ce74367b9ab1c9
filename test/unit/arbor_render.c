/*
 * Trees as text: what lines say and how wide they are; that a page is the same wherever it begins; and that one
 * costs no more in a large tree.
 */
#include "base/utf8.h"
#include "hub/activations.h"
#include "store/db.h"
#include "store/tree_walk.h"
#include "life.h"

struct drawn {
	struct world *w;
	struct buf text;
};

static enum status take_bytes(void *ctx, struct str bytes, struct err *err)
{
	struct drawn *d = ctx;

	(void)err;
	buf_str(&d->text, bytes);
	return STATUS_OK;
}

static enum status open_again(void *ctx, bool make, struct store **out, struct err *err)
{
	struct drawn *d = ctx;

	return store_open(&(struct store_options){ .path = d->w->path, .create = make }, out, err);
}

static enum status render(struct drawn *d, const struct uuid *tree, const char *more, struct err *err)
{
	struct hub_caller who = {
		.sink = { .bytes = take_bytes, .ctx = d }, .scopes = ~0u, .open_store = open_again, .ctx = d
	};
	char id[UUID_TEXT + 1], json[300];

	uuid_print(tree, id);
	snprintf(json, sizeof json, "{\"tree\":\"%s\"%s}", id, more);
	buf_clear(&d->text);
	return hub_call(&arbor_hub, STR("arbor.tree_render"), str_of(json), &who, err);
}

#define DRAWN(name, world) \
	struct drawn name CLEANUP(drawn_release) = { .w = &(world), .text = BUF_INIT(64 * MIB) }

static void drawn_release(struct drawn *d)
{
	buf_release(&d->text);
}

static int width_of(struct str line)
{
	int width = 0;

	for (size_t at = 0; at < line.n;) {
		int32_t c = utf8_next(line, &at);

		width += c == UTF8_BAD ? 1000 : utf8_width((uint32_t)c);
	}
	return width;
}

static struct uuid say(struct t *t, struct world *w, const struct uuid *tree, const struct uuid *parent,
		       const char *text)
{
	struct tree_node_new what = { .tree = *tree,
				      .parent = parent,
				      .kind = TREE_NODE_TEXT,
				      .role = ROLE_ASSISTANT,
				      .content = str_of(text),
				      .ephemeral = true };
	struct uuid id = { 0 };
	struct err err;

	if (tree_node_add(w->s, &what, &weeks, &id, &err))
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
	return id;
}

TEST(no_line_is_wider_than_it_may_be_whatever_it_says_and_however_deep)
{
	static const char *const texts[] = {
		"日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語",
		"é\tb\n\n\nc                    d 👍🏽 e\xcc\x81",
		"", "  \n", "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww"
	};
	static const int widths[] = { 40, 41, 42, 60, 99, 1000 };
	WORLD w;
	DRAWN(d, w);
	struct uuid tree, at;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	tree = plant(t, &w, "me");
	at = say(t, &w, &tree, NULL, "first");
	for (int i = 0; i < 200 && !t->failures; i++) {
		say(t, &w, &tree, &at, texts[i % (int)COUNT(texts)]);
		at = say(t, &w, &tree, &at, texts[(i + 1) % (int)COUNT(texts)]);
	}
	for (size_t i = 0; i < COUNT(widths); i++) {
		struct str rest, line;
		int lines = 0, widest = 0;
		char more[40];

		snprintf(more, sizeof more, ",\"width\":%d", widths[i]);
		OK(render(&d, &tree, more, &err));
		for (rest = buf_as_str(&d.text); rest.n; lines++) {
			line = str_cut(rest, '\n', &rest);
			if (width_of(line) > widths[i])
				t_fail(t, __FILE__, __LINE__, "%d wide, not %d: %.*s", width_of(line),
				       widths[i], STR_ARG(line));
			widest = width_of(line) > widest ? width_of(line) : widest;
			CHECK(!str_has_suffix(line, STR(" ")));
		}
		EQ(lines, 402);
		CHECK(widest == widths[i] || widths[i] == 1000);
	}
}

TEST(pages_put_together_are_the_whole)
{
	WORLD w;
	DRAWN(whole, w);
	DRAWN(page, w);
	struct buf all CLEANUP(buf_release) = BUF_INIT(MIB);
	struct uuid tree, nodes[60];
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	tree = plant(t, &w, "me");
	for (int i = 0; i < (int)COUNT(nodes); i++)
		nodes[i] = grow(t, &w, &tree, i ? &nodes[i * 7 % (i + 3) % i] : NULL, "node");
	OK(render(&whole, &tree, "", &err));
	for (int limit = 1; limit < 20; limit += 3) {
		char more[120], after[UUID_TEXT + 1] = "";

		buf_clear(&all);
		for (bool go_on = true; go_on;) {
			static const char mark[] = "… goes on after ";
			const char *end;

			snprintf(more, sizeof more, ",\"limit\":%d%s%s%s", limit,
				 after[0] ? ",\"after\":\"" : "", after, after[0] ? "\"" : "");
			OK(render(&page, &tree, more, &err));
			end = strstr(page.text.p, mark);
			go_on = end != NULL;
			if (end)
				snprintf(after, sizeof after, "%.36s", end + strlen(mark));
			buf_str(&all, str_sub(buf_as_str(&page.text), 0,
					      end ? (size_t)(end - page.text.p) : SIZE_MAX));
		}
		EQS(buf_as_str(&all), buf_as_str(&whole.text));
	}
}

TEST(a_line_says_what_a_node_is)
{
	WORLD w;
	DRAWN(d, w);
	struct uuid tree, id;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	OK(tree_add(w.s, &(struct tree_new){ .owner = STR("ann"), .metadata = STR("{\"a\":\n1}") }, &tree,
		    &err));
	OK(tree_node_add(w.s,
			 &(struct tree_node_new){
				 .tree = tree, .kind = TREE_NODE_EXTERNAL, .handle = STR("x@1::y:z") },
			 &weeks, &id, &err));
	say(t, &w, &tree, &id, "so\nit is");
	grow(t, &w, &tree, NULL, "a note");
	OK(render(&d, &tree, "", &err));
	CHECK(strstr(d.text.p, " ann {\"a\": 1}\n├─ "));
	CHECK(strstr(d.text.p, " → x@1::y:z\n│  └─ "));
	CHECK(strstr(d.text.p, " (scheduled) assistant: so it is\n└─ "));
	CHECK(strstr(d.text.p, " a note\n"));
}

/* Pages of the database that were asked for. */
static int64_t pages_read(struct store *s)
{
	int now = 0, high;

	sqlite3_db_status(s->db, SQLITE_DBSTATUS_CACHE_HIT, &now, &high, 0);
	int64_t sum = now;
	sqlite3_db_status(s->db, SQLITE_DBSTATUS_CACHE_MISS, &now, &high, 0);
	return sum + now;
}

static int64_t cost_of_page(struct t *t, struct world *w, int nodes)
{
	struct tree_walk walk CLEANUP(walk_release) = { 0 };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct uuid tree = plant(t, w, "me"), at = { 0 }, middle = { 0 };
	struct tree_node n;
	int64_t before, row;
	struct tree found;
	struct err err;

	if (txn_begin(w->s, &txn, &err))
		return -1;
	for (int i = 0; i < nodes; i++) {
		struct uuid new = grow(t, w, &tree, i % 9 ? &at : NULL, "x");

		at = new;
		middle = i == nodes / 2 ? new : middle;
	}
	if (txn_commit(&txn, &err) || tree_get(w->s, &tree, &mem, &found, &err) ||
	    tree_node_get(w->s, &middle, NODE_SKELETON, &mem, &n, &err))
		return -1;
	before = pages_read(w->s);
	if (walk_begin(&walk, w->s, 0, n.row, false, &err))
		return -1;
	for (int i = 0; i < 50; i++)
		if (walk_next(&walk, &row, &err) || !row)
			return -1;
	return pages_read(w->s) - before;
}

TEST(a_page_of_a_large_tree_looks_at_no_more_than_one_of_a_small_tree)
{
	WORLD w;
	int64_t few, many;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	few = cost_of_page(t, &w, 200);
	many = cost_of_page(t, &w, 20000);
	CHECK(few > 0 && many > 0);
	/* The database itself is one level deeper. */
	CHECK(many < 2 * few);
}

TESTS(CASE(no_line_is_wider_than_it_may_be_whatever_it_says_and_however_deep),
      CASE(pages_put_together_are_the_whole), CASE(a_line_says_what_a_node_is),
      CASE(a_page_of_a_large_tree_looks_at_no_more_than_one_of_a_small_tree))
