/*
 * A word is printed when something comes behind it, so it is known whether it fits; one that is longer than a
 * line is broken. Where there is no width (a pipe) nothing is wrapped. Lines keep the blanks they begin with:
 * code does.
 */
#include "face/flow.h"

#include "base/utf8.h"
#include "face/text.h"

void flow_begin(struct flow *f, struct out *o, int indent)
{
	*f = (struct flow){ .out = o, .indent = indent, .filter.mode = TERM_TEXT };
	buf_init(&f->word, 64 * MIB);
}

static void new_line(struct flow *f)
{
	out_text(f->out, "\n");
	f->column = 0;
}

static void put(struct flow *f, struct str text)
{
	if (!f->column && text.n) {
		out_pad(f->out, f->indent);
		f->column = f->indent;
	}
	out_str(f->out, text);
	f->column += text_width(text);
}

static void put_blanks(struct flow *f)
{
	for (; f->blanks > 0; f->blanks--)
		put(f, STR(" "));
}

/* Longer than any line: in pieces. */
static struct str put_pieces(struct flow *f, struct str word)
{
	int room = f->out->columns - f->indent;

	while (room > 0 && text_width(word) > room) {
		struct str piece = text_start(word, room);

		if (!piece.n)
			break;
		put(f, piece);
		new_line(f);
		word = str_sub(word, piece.n, SIZE_MAX);
	}
	return word;
}

static void end_word(struct flow *f)
{
	struct str word = buf_as_str(&f->word);
	int columns = f->out->columns;

	if (!word.n)
		return;
	if (columns && f->column > f->indent && f->column + f->blanks + text_width(word) > columns) {
		f->blanks = 0;
		new_line(f);
	}
	put_blanks(f);
	put(f, columns > 2 * f->indent ? put_pieces(f, word) : word);
	buf_clear(&f->word);
}

static void add_safe(struct flow *f, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (c != ' ' && c != '\n' && c != '\t') {
			buf_byte(&f->word, c);
			continue;
		}
		end_word(f);
		if (c == '\n') {
			f->blanks = 0;
			new_line(f);
		} else {
			f->blanks += c == '\t' ? 8 - (f->column - f->indent + f->blanks) % 8 : 1;
		}
	}
}

void flow_add(struct flow *f, struct str foreign)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(256 * MIB);

	term_stream_add(&f->filter, &safe, foreign);
	add_safe(f, buf_as_str(&safe));
}

void flow_end(struct flow *f)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(KIB);

	term_stream_end(&f->filter, &safe);
	add_safe(f, buf_as_str(&safe));
	end_word(f);
	if (f->column)
		new_line(f);
	buf_release(&f->word);
}
