/*
 * arbor pick: choosing a conversation on a screen of its own, or with --plain a list for programs
 * that do that.
 *
 * One thread and one loop. What was typed is taken first, always; a search runs when nothing waits
 * to be read, on the line as it is then, and ends when something is typed meanwhile. So each key
 * costs at most one search, and none waits for another. Where searches are slow they begin only
 * when the keys have rested for about as long as one takes.
 *
 * The screen is the terminal's; standard output gets what was chosen and nothing else.
 */
#include "face/pick.h"

#include "base/clock.h"
#include "face/offer.h"
#include "face/screen.h"
#include "face/text.h"

enum {
	ESCAPE_MS = 40, /* the rest of a key's sequence comes within this time */
	QUICK_MS = 30,	/* a search that takes no longer begins at once */
	LONGEST_REST_MS = 300,
	PREVIEW_STEP = 3,
};

enum outcome { GOES_ON, TAKEN, LEFT, GONE };

struct picker {
	struct face *face;
	struct screen screen;
	struct keys keys;
	struct edit edit;
	struct pick_question question;
	struct pick_answer answer;
	struct pick_preview preview;
	struct pick_window window;
	struct buf message; /* why there is nothing, filtered */
	int scroll;
	int page;      /* rows of the list */
	int search_ms; /* as long as the last one took */
	bool with_preview;
	bool is_asked; /* the answer is that to the line as it is */
	bool is_drawn;
	enum outcome outcome;
};

static void picker_release(struct picker *p)
{
	screen_close(&p->screen);
	pick_answer_release(&p->answer);
	pick_preview_release(&p->preview);
	buf_release(&p->message);
}

/* ---- What is chosen --------------------------------------------------------------- */

static void print_choice(struct face *f, const struct pick_row *row, struct str how)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);

	if (str_eq(how, STR("resume")))
		offer_resume(f, &text, arena_cstr(&f->mem, row->session), row->project);
	else
		buf_str(&text, str_eq(how, STR("hit")) && row->hit.n ? row->hit : row->session);
	out_foreign(&f->out, buf_as_str(&text), TERM_LINE);
}

static void print_plain(struct face *f, const struct pick_answer *a, struct str how)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct pick_row *row = &a->rows[i];
		char local[LOCAL_TEXT], whole[TIME_TEXT + 1] = "";

		if (row->at)
			time_print(row->at, whole);
		print_choice(f, row, how);
		out_printf(&f->out, "\t%s\t", row->at && f->out.terminal ? local_time_text(row->at, local) : whole);
		out_foreign(&f->out, row->project, TERM_LINE);
		out_text(&f->out, "\t");
		out_str(&f->out, row->title);
		if (row->line.text.n) {
			out_text(&f->out, "\t");
			out_str(&f->out, row->line.text);
		}
		out_text(&f->out, "\n");
	}
}

/* ---- Asking ----------------------------------------------------------------------- */

static bool is_stale(void *ctx)
{
	const struct picker *p = ctx;

	return screen_has_input(&p->screen);
}

static const struct pick_row *current(const struct picker *p)
{
	return p->window.at < p->answer.count ? &p->answer.rows[p->window.at] : NULL;
}

/* The answer to the line as it is. */
static enum status ask(struct picker *p, struct err *err)
{
	int64_t begun = clock_monotonic_ns();
	enum status status;

	p->question.words = str_trim(edit_text(&p->edit));
	status = pick_ask(p->face, &p->question, &p->answer, err);
	if (status == STATUS_CANCELLED)
		return status;
	p->search_ms = (int)((clock_monotonic_ns() - begun) / 1000000);
	p->window = (struct pick_window){ 0 };
	p->is_asked = true;
	p->is_drawn = false;
	buf_clear(&p->message);
	if (status) {
		pick_answer_release(&p->answer);
		pick_preview_release(&p->preview);
		term_filter(&p->message, str_of(err->text), TERM_LINE);
	}
	return status;
}

static bool wants_other_preview(const struct picker *p)
{
	const struct pick_row *row = current(p);

	return p->with_preview && row && !str_eq(p->preview.of, row->hit.n ? row->hit : row->session);
}

static void ask_for_preview(struct picker *p)
{
	struct err ignored;

	if (pick_preview(p->face, current(p), &p->question, &p->preview, &ignored) != STATUS_CANCELLED)
		p->scroll = 0;
	p->is_drawn = false;
}

/* ---- Drawing ---------------------------------------------------------------------- */

static void write_foot(const struct picker *p, struct buf *out)
{
	bool hits = p->question.words.n > 0;

	/* What is listed was found for what stood there before. */
	if (!p->is_asked)
		buf_text(out, "searching …");
	else if (p->answer.count)
		buf_printf(out, "%zu/%zu%s %s", p->window.at + 1, p->answer.count,
			   p->answer.is_cut ? "+" : "", hits && p->question.every_hit ? "hits" : "sessions");
	else
		buf_text(out, "0 found");
	buf_text(out, "   Enter takes · Esc leaves · ↑↓ move · Tab preview");
}

static enum status draw(struct picker *p, struct err *err)
{
	struct buf foot CLEANUP(buf_release) = BUF_INIT(KIB);
	struct frame f CLEANUP(frame_release) = { 0 };
	struct clock clock = clock_system();
	struct pick_picture picture = {
		.edit = &p->edit,
		.answer = &p->answer,
		.window = &p->window,
		.preview = p->with_preview ? &p->preview : NULL,
		.scroll = &p->scroll,
		.message = buf_as_str(&p->message),
		.now_ms = clock_now(&clock),
	};
	int columns, rows;

	terminal_size(p->screen.tty, &columns, &rows);
	frame_begin(&f, columns, rows, p->face->out.tty_colour);
	p->page = pick_arrange(f.columns, f.rows, p->with_preview).list.rows;
	write_foot(p, &foot);
	picture.foot = buf_as_str(&foot);
	pick_draw(&picture, &f);
	p->is_drawn = true;
	return screen_show(&p->screen, &f, err);
}

/* ---- Keys ------------------------------------------------------------------------- */

static void leave(struct picker *p)
{
	p->outcome = LEFT;
}

static void toggle_preview(struct picker *p)
{
	p->with_preview = !p->with_preview;
}

static void redraw(struct picker *p)
{
	screen_resume(&p->screen);
}

static void suspend(struct picker *p)
{
	screen_suspend(&p->screen);
}

static void take(struct picker *p)
{
	struct err ignored;

	/* Enter may come before the answer to what was typed before it. */
	if (!p->is_asked) {
		p->question.is_stale = NULL;
		(void)!ask(p, &ignored);
		p->question.is_stale = is_stale;
	}
	if (current(p))
		p->outcome = TAKEN;
}

/* What each key does: to the line, to the list (so many rows, pages) and the preview (so many lines),
 * or something of its own. */
static const struct {
	bool (*edit)(struct edit *e);
	int rows, pages, lines;
	void (*act)(struct picker *p);
} deeds[KEY_KINDS] = {
	[KEY_BACKSPACE] = { .edit = edit_backspace },
	[KEY_DELETE] = { .edit = edit_delete },
	[KEY_KILL_LINE] = { .edit = edit_kill_line },
	[KEY_KILL_WORD] = { .edit = edit_kill_word },
	[KEY_LEFT] = { .edit = edit_left },
	[KEY_RIGHT] = { .edit = edit_right },
	[KEY_LINE_START] = { .edit = edit_start },
	[KEY_LINE_END] = { .edit = edit_end },
	[KEY_UP] = { .rows = -1 },
	[KEY_DOWN] = { .rows = 1 },
	[KEY_PAGE_UP] = { .pages = -1 },
	[KEY_PAGE_DOWN] = { .pages = 1 },
	[KEY_FIRST] = { .rows = -INT32_MAX },
	[KEY_LAST] = { .rows = INT32_MAX },
	[KEY_PREVIEW_UP] = { .lines = -PREVIEW_STEP },
	[KEY_PREVIEW_DOWN] = { .lines = PREVIEW_STEP },
	[KEY_PREVIEW] = { .act = toggle_preview },
	[KEY_REDRAW] = { .act = redraw },
	[KEY_SUSPEND] = { .act = suspend },
	[KEY_TAKE] = { .act = take },
	[KEY_LEAVE] = { .act = leave },
};

static void on_key(struct picker *p, const struct key *key)
{
	int64_t page = p->page > 1 ? p->page - 1 : 1;
	bool changed = false;

	if (key->kind == KEY_TEXT)
		changed = edit_insert(&p->edit, str_from(key->text, key->n));
	else if (key->kind == KEY_DELETE && p->edit.n == 0)
		leave(p); /* Ctrl-D, as everywhere */
	else if (deeds[key->kind].edit)
		changed = deeds[key->kind].edit(&p->edit);
	else if (deeds[key->kind].act)
		deeds[key->kind].act(p);
	pick_window_move(&p->window, deeds[key->kind].rows + deeds[key->kind].pages * page);
	p->scroll += deeds[key->kind].lines;
	p->is_asked = p->is_asked && !changed;
	p->is_drawn = false;
}

/* ---- The loop --------------------------------------------------------------------- */

static void take_keys(struct picker *p, bool idle)
{
	struct key key;

	while (p->outcome == GOES_ON && keys_next(&p->keys, idle, &key))
		on_key(p, &key);
}

/* How long nothing may come until the next thing is done. */
static int rest_ms(const struct picker *p)
{
	if (keys_wait(&p->keys))
		return ESCAPE_MS;
	if (!p->is_asked)
		return p->search_ms <= QUICK_MS		? 0
		       : p->search_ms < LONGEST_REST_MS ? p->search_ms
							: LONGEST_REST_MS;
	return wants_other_preview(p) ? 0 : -1;
}

/* Nothing came for as long as rest_ms() says. */
static void on_rest(struct picker *p)
{
	struct err err;

	if (keys_wait(&p->keys))
		take_keys(p, true);
	else if (!p->is_asked)
		(void)!ask(p, &err); /* what is wrong stands in the list */
	else if (wants_other_preview(p))
		ask_for_preview(p);
}

static void on_events(struct picker *p, unsigned events)
{
	if ((events & SCREEN_GONE) || ((events & SCREEN_INPUT) && !screen_read(&p->screen, &p->keys))) {
		p->outcome = GONE;
		return;
	}
	if (events & SCREEN_STOP)
		suspend(p);
	else if (events & SCREEN_CONTINUED)
		redraw(p);
	if (events & ~(unsigned)SCREEN_INPUT)
		p->is_drawn = false;
	take_keys(p, false);
}

static enum status run(struct picker *p, struct err *err)
{
	while (p->outcome == GOES_ON) {
		unsigned events;

		if (!p->is_drawn && draw(p, err))
			return err_failed(err->status);
		events = screen_wait(&p->screen, rest_ms(p));
		if (events)
			on_events(p, events);
		else
			on_rest(p);
	}
	return p->outcome == GONE ? err_fail(err, STATUS_IO, "the terminal is gone") : STATUS_OK;
}

/* ---- The verb --------------------------------------------------------------------- */

/* While there is a screen nothing else is written to the terminal. */
static void log_to_file(void *ctx, enum log_level level, struct str text)
{
	logfile_add(ctx, log_level_name(level), text);
}

static enum status run_on_screen(struct picker *p, struct err *err)
{
	struct face *f = p->face;
	struct log log = f->log;
	bool err_terminal = f->out.err_terminal;
	enum status status;
	struct err why;

	if (screen_open(&p->screen, &why))
		return err_fail(err, why.status, "%s; --plain prints lines for other pickers", why.text);
	f->log.sink = log_to_file;
	f->log.ctx = f;
	f->out.err_terminal = false;
	p->question.is_stale = is_stale;
	status = run(p, err);
	screen_close(&p->screen);
	f->log = log;
	f->out.err_terminal = err_terminal;
	return status;
}

static const struct value *param(const struct params *p, const char *name)
{
	return params_value(p, params_find(p, str_of(name)));
}

/* The words as one line, however many arguments they came in. */
static struct str join_words(struct face *f, const struct value *words)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(MIB);

	for (size_t i = 0; i < words->count; i++) {
		buf_text(&line, i ? " " : "");
		buf_str(&line, words->list[i]);
	}
	return arena_str(&f->mem, buf_as_str(&line));
}

static void say_cut(const struct picker *p)
{
	const char *what = p->question.words.n && p->question.every_hit ? "hits" : "sessions";
	struct out *out = &p->face->out;

	if (out->quiet)
		return;
	out_flush(out);
	say_dim(out, arena_printf(&p->face->mem, "there are more than these %zu %s; --limit shows more",
				  p->answer.count, what));
}

static enum status list_plainly(struct picker *p, struct str how, struct err *err)
{
	p->question.is_whole = true;
	if (pick_ask(p->face, &p->question, &p->answer, err))
		return err_failed(err->status);
	print_plain(p->face, &p->answer, how);
	if (p->answer.is_cut)
		say_cut(p);
	return STATUS_OK;
}

static enum status choose(struct picker *p, struct str how, struct err *err)
{
	struct face *f = p->face;

	if (p->question.words.n && !edit_insert(&p->edit, p->question.words))
		return err_fail(err, STATUS_LIMIT, "too many words to begin with: over %d bytes", EDIT_MOST);
	/* Before there is a screen: an index may have to be updated first, and errors be said. */
	if (ask(p, err) && (err->status != STATUS_NOT_FOUND || !p->question.words.n))
		return err_failed(err->status);
	if (run_on_screen(p, err))
		return err_failed(err->status);
	f->left = p->outcome == LEFT;
	if (f->left)
		return err_fail(err, STATUS_CANCELLED, "nothing was chosen");
	print_choice(f, current(p), how);
	out_text(&f->out, "\n");
	return STATUS_OK;
}

enum status run_pick(struct face *f, int argc, char **argv, const struct params *params, struct err *err)
{
	struct picker p CLEANUP(picker_release) = {
		.face = f, .screen = SCREEN_INIT, .message = BUF_INIT(MIB), .with_preview = true
	};
	struct str how = param(params, "print")->text;
	bool plain = param(params, "plain")->number != 0;

	(void)argc;
	(void)argv;
	p.question = (struct pick_question){ .words = str_trim(join_words(f, param(params, "words"))),
					     .project = param(params, "project")->text,
					     .every_hit = str_eq(how, STR("hit")),
					     .is_typed = true,
					     .most = (size_t)param(params, "limit")->number,
					     .ctx = &p };
	return plain ? list_plainly(&p, how, err) : choose(&p, how, err);
}
