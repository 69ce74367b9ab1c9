/*
 * Questions of an agent, asked where somebody follows it.
 *
 *     ? Bash wants to run
 *       command:
 *         npm test
 *     y yes, n no, e edit, a always, s stop, and Enter:
 *
 * All of the input is shown: who answers decides by it. What was typed before the question was there does not
 * count as an answer, and neither does silence, the end of the input, a sentence that begins like an answer,
 * or an editor that was left without changing anything. While it is waited for, somebody else may be faster,
 * or the agent gone: then the question goes away by itself.
 */
#include "face/chat.h"

#include "base/file.h"
#include "base/json_write.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { LOOK_MS = 500, LINE = 4000 };

struct asking_here {
	struct view *v;
	struct chat *c;
	struct str id, tool;
	struct json input; /* of the tool */
};

/* ---- Whether it still has to be asked ------------------------------------------------- */

static struct str params_begin_with(struct buf *json, struct json_writer *w, struct str id)
{
	json_write_init(w, json, 0);
	json_write_object_begin(w);
	json_write_key(w, STR("approval"));
	json_write_string(w, id);
	return buf_as_str(json);
}

/* Looked at twice a second for as long as nobody answers, and an input may be large: nothing of it stays. */
static bool is_pending(struct asking_here *a)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct buf params CLEANUP(buf_release) = BUF_INIT(KIB);
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct json_writer w;
	struct str item;
	struct err err;

	params_begin_with(&params, &w, a->id);
	json_write_object_end(&w);
	if (chat_call(a->v->face, "loopback.pending", buf_as_str(&params), &mem, &item, &err) || !item.p ||
	    json_read(&j, item, LIMIT_JSON_DEPTH, &err))
		return false;
	return json_string_eq(&j, json_get(&j, 0, STR("state")), STR("pending"));
}

/* ---- The keyboard --------------------------------------------------------------------- */

enum heard { HEARD_LINE, HEARD_NOTHING, HEARD_END };

/* A line, without its end. HEARD_NOTHING: nobody has to be asked any more, or Ctrl-C. */
static enum heard hear_line(struct asking_here *a, char line[LINE])
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	size_t n = 0;

	for (;;) {
		char byte;
		int ready = poll(&in, 1, LOOK_MS);

		if (atomic_load(a->v->face->cancel))
			return HEARD_NOTHING;
		if (ready == 0 && !is_pending(a))
			return HEARD_NOTHING;
		if (ready <= 0)
			continue;
		if (read(STDIN_FILENO, &byte, 1) != 1)
			return HEARD_END;
		if (byte == '\n')
			break;
		if (n < LINE - 1)
			line[n++] = byte;
	}
	line[n] = '\0';
	return HEARD_LINE;
}

static enum heard prompt(struct asking_here *a, const char *text, char line[LINE])
{
	out_style(a->v->out, STYLE_MARK);
	out_text(a->v->out, text);
	out_plain(a->v->out);
	out_text(a->v->out, " ");
	out_flush(a->v->out);
	return hear_line(a, line);
}

/* ---- The answer ------------------------------------------------------------------------ */

struct reply {
	const char *decision;
	struct str input, answers; /* JSON */
	struct str message;
	bool interrupt, always;
};

static void put_json(struct json_writer *w, const char *key, struct str json)
{
	if (!json.p)
		return;
	json_write_key(w, str_of(key));
	json_write_raw(w, json);
}

static void put_string(struct json_writer *w, const char *key, struct str text)
{
	if (!text.p)
		return;
	json_write_key(w, str_of(key));
	json_write_string(w, text);
}

/* True when that is the answer, or it is too late for one: nobody is asked again. */
static bool give(struct asking_here *a, const struct reply *r)
{
	struct buf params CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct json_writer w;
	struct err err;

	params_begin_with(&params, &w, a->id);
	put_string(&w, "decision", str_of(r->decision));
	put_json(&w, "input", r->input);
	put_json(&w, "answers", r->answers);
	put_string(&w, "message", r->message);
	if (r->interrupt)
		put_json(&w, "interrupt", STR("true"));
	if (r->always)
		put_string(&w, "always", STR("session"));
	json_write_object_end(&w);
	if (!chat_call(a->v->face, "loopback.respond", buf_as_str(&params), NULL, NULL, &err)) {
		a->c->answered++;
		return true;
	}
	say_error(a->v->out, &err);
	return err.status == STATUS_CONFLICT;
}

static bool allow(struct asking_here *a)
{
	return give(a, &(struct reply){ .decision = "allow" });
}

static bool allow_always(struct asking_here *a)
{
	return give(a, &(struct reply){ .decision = "allow", .always = true });
}

static bool stop(struct asking_here *a)
{
	return give(a, &(struct reply){ .decision = "deny", .interrupt = true });
}

static bool deny(struct asking_here *a)
{
	struct reply r = { .decision = "deny" };
	char why[LINE];

	if (prompt(a, "why? (Enter: not said)", why) == HEARD_LINE && why[0])
		r.message = str_of(why);
	return give(a, &r);
}

/* ---- Editing --------------------------------------------------------------------------- */

/* The input in a file of its own, for $VISUAL or $EDITOR; also in `text`. */
static enum status write_input(struct asking_here *a, char path[LIMIT_PATH], struct buf *text,
			       struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	struct json_writer w;
	int fd;

	json_write_init(&w, text, 2);
	json_copy(&w, &a->input, 0);
	buf_byte(text, '\n');
	snprintf(path, LIMIT_PATH, "%.3000s/arbor-input-XXXXXX.json", tmp && tmp[0] == '/' ? tmp : "/tmp");
	fd = mkostemps(path, 5, 0);
	if (fd < 0)
		return err_fail_errno(err, errno, "%s", path);
	close(fd);
	return file_write_atomic(path, buf_as_str(text), 0600, err);
}

static bool edit(struct asking_here *a)
{
	struct buf before CLEANUP(buf_release) = BUF_INIT(SIZE_MAX / 4);
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_LINE_PARSED);
	struct json j CLEANUP(json_release) = JSON_INIT;
	char path[LIMIT_PATH] = "";
	bool given = false;
	struct err err;

	if (write_input(a, path, &before, &err)) {
		say_error(a->v->out, &err);
	} else if (!editor_run(path)) {
		say(a->v->out, "the editor failed; nothing was answered\n");
	} else if (file_read_all(path, &text, &err)) {
		say_error(a->v->out, &err);
	} else if (str_eq(str_trim(buf_as_str(&text)), str_trim(buf_as_str(&before)))) {
		say(a->v->out, "nothing was changed; nothing was answered\n");
	} else if (json_read(&j, buf_as_str(&text), LIMIT_JSON_DEPTH, &err) ||
		   !json_is(&j, json_root(&j), JSON_OBJECT)) {
		say(a->v->out, "that is no JSON object; nothing was answered\n");
	} else {
		given = give(a, &(struct reply){ .decision = "allow", .input = str_trim(buf_as_str(&text)) });
		if (given)
			view_input(a->v, &j, 0);
	}
	if (path[0])
		unlink(path);
	face_forget_interrupt();
	return given;
}

/* ---- What somebody is asked themselves ---------------------------------------------------- */

static void print_options(struct asking_here *a, uint32_t question)
{
	uint32_t options = json_get(&a->input, question, STR("options"));
	int n = 0;

	out_text(a->v->out, "  ");
	out_foreign(a->v->out, view_text(a->v, &a->input, question, "question"), TERM_TEXT);
	out_text(a->v->out, "\n");
	for (uint32_t i = json_first(&a->input, options); i != json_end(&a->input, options);
	     i = json_next(&a->input, i)) {
		out_printf(a->v->out, "    %d  ", ++n);
		out_foreign(a->v->out, view_text(a->v, &a->input, i, "label"), TERM_LINE);
		out_style(a->v->out, STYLE_DIM);
		out_text(a->v->out, "  ");
		out_foreign(a->v->out, view_text(a->v, &a->input, i, "description"), TERM_LINE);
		out_plain(a->v->out);
		out_text(a->v->out, "\n");
	}
}

/* "1", "1,3": labels; else the words themselves. */
static struct str chosen(struct asking_here *a, uint32_t question, struct str typed)
{
	uint32_t options = json_get(&a->input, question, STR("options"));
	struct buf all CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct str rest = typed;

	while (rest.n) {
		struct str word = str_trim(str_cut(rest, ',', &rest));
		uint32_t i = json_first(&a->input, options);
		uint64_t number;

		if (!str_to_u64(word, &number) || number < 1 || number > json_count(&a->input, options))
			return arena_str(&a->v->mem, typed);
		while (--number)
			i = json_next(&a->input, i);
		if (all.n)
			buf_text(&all, ", ");
		buf_str(&all, view_text(a->v, &a->input, i, "label"));
	}
	return arena_str(&a->v->mem, buf_as_str(&all));
}

static bool ask_person(struct asking_here *a)
{
	uint32_t questions = json_get(&a->input, json_root(&a->input), STR("questions"));
	struct buf answers CLEANUP(buf_release) = BUF_INIT(MIB);
	struct json_writer w;
	char line[LINE];

	json_write_init(&w, &answers, 0);
	json_write_object_begin(&w);
	for (uint32_t i = json_first(&a->input, questions); i != json_end(&a->input, questions);
	     i = json_next(&a->input, i)) {
		print_options(a, i);
		if (prompt(a, "a number, or your own words (Enter: no answer):", line) != HEARD_LINE)
			return true;
		if (!str_trim(str_of(line)).n)
			return give(a, &(struct reply){ .decision = "deny",
							.message = STR("no answer was given") });
		json_write_key(&w, view_text(a->v, &a->input, i, "question"));
		json_write_string(&w, chosen(a, i, str_trim(str_of(line))));
	}
	json_write_object_end(&w);
	return give(a, &(struct reply){ .decision = "allow", .answers = buf_as_str(&answers) });
}

/* ---- Asking ------------------------------------------------------------------------------ */

static const struct {
	const char *word;		       /* or its first letter alone */
	bool (*answer)(struct asking_here *a); /* false: it is asked again */
} words[] = {
	{ "yes", allow }, { "no", deny }, { "edit", edit }, { "always", allow_always }, { "stop", stop }
};

static bool is_plan(const struct asking_here *a)
{
	return str_eq(a->tool, STR("ExitPlanMode"));
}

static bool is_word(struct str typed, const char *word)
{
	bool same = typed.n == 1 || typed.n == strlen(word);

	for (size_t i = 0; same && i < typed.n; i++)
		same = ascii_lower(typed.p[i]) == word[i];
	return same;
}

/* Only a whole line counts: "you should not" is no yes, and neither is one of which only the beginning was
 * kept. */
static bool answer(struct asking_here *a, const char *line)
{
	struct str typed = str_trim(str_of(line));

	for (size_t i = 0; i < COUNT(words) && strlen(line) < LINE - 1; i++)
		if (is_word(typed, words[i].word))
			return words[i].answer(a);
	if (typed.n)
		say(a->v->out, "that is none of these; nothing was answered\n");
	return false;
}

static void ask(struct asking_here *a)
{
	const char *choice = is_plan(a) ? "y yes, n no, e edit, s stop, and Enter:"
					: "y yes, n no, e edit, a always, s stop, and Enter:";
	char line[LINE];
	enum heard heard;

	do {
		heard = prompt(a, choice, line);
	} while (heard == HEARD_LINE && !answer(a, line));
	if (heard == HEARD_END)
		a->c->asks = false;
	if (heard != HEARD_LINE)
		out_text(a->v->out, "\n");
}

static void print_question(struct asking_here *a, bool person)
{
	const char *what = person	? " asks you\n"
			   : is_plan(a) ? " wants this plan approved\n"
					: " wants to run\n";

	out_style(a->v->out, STYLE_MARK);
	out_text(a->v->out, "? ");
	out_plain(a->v->out);
	out_style(a->v->out, STYLE_USER);
	out_foreign(a->v->out, a->tool, TERM_LINE);
	out_plain(a->v->out);
	out_text(a->v->out, what);
	if (!person && json_count(&a->input, 0))
		view_input(a->v, &a->input, 0);
	else if (!person)
		out_text(a->v->out, "  (nothing more is said)\n");
}

static void say_how_to_answer(struct asking_here *a)
{
	out_text(a->v->out, "it waits: 'arbor answer ");
	out_foreign(a->v->out, str_sub(a->id, 0, 8), TERM_LINE);
	out_text(a->v->out, " allow', or deny\n");
}

static void asking_here_release(struct asking_here *a)
{
	json_release(&a->input);
}

bool chat_must_ask(struct view *v, const struct json *j, uint32_t data)
{
	struct asking_here a = { .v = v, .id = view_text(v, j, data, "approval_id") };

	return is_pending(&a);
}

void chat_ask(struct view *v, struct chat *c, const struct json *j, uint32_t data)
{
	struct asking_here a CLEANUP(asking_here_release) = { .v = v,
							      .c = c,
							      .id = view_text(v, j, data, "approval_id"),
							      .tool = view_text(v, j, data, "tool_name") };
	bool person = str_eq(a.tool, STR("AskUserQuestion"));
	struct err err;

	if (json_read(&a.input, json_raw(j, json_get(j, data, STR("input"))), LIMIT_JSON_DEPTH, &err))
		return;
	print_question(&a, person && c->asks);
	if (!c->asks) {
		say_how_to_answer(&a);
		return;
	}
	tcflush(STDIN_FILENO, TCIFLUSH);
	if (person)
		ask_person(&a);
	else
		ask(&a);
}
