/*
 * The filter through which all foreign text reaches a terminal.
 *
 * Transcripts are data from strangers: they may hold escape sequences that
 * set the title, write the clipboard or repaint the screen, and bidirectional
 * controls that make text read as what it is not. Everything that can act on
 * a terminal is made visible instead:
 *
 *     ESC and other C0       their picture: U+2400 + code (␛ ␀ ␍ ...)
 *     DEL                    ␡ (U+2421)
 *     C1 (U+0080..9F)        <U+0085>
 *     bidi and other format  <U+202E>; zero-width, soft hyphen, tags, BOM,
 *     controls               line and paragraph separator, invisible fillers,
 *                            variation selectors beyond FE0F included; ZWJ
 *                            (U+200D) and FE0E/FE0F are kept, emoji and many
 *                            scripts need them
 *     bytes that are no      <XX> in hex
 *     UTF-8
 *
 * TERM_LINE also shows newline and tab, for text that belongs on one line (a
 * path, a title). TERM_TEXT keeps them.
 */
#ifndef ARBOR_BASE_TERM_H
#define ARBOR_BASE_TERM_H

#include "base/buf.h"

enum term_mode { TERM_LINE, TERM_TEXT };

void term_filter(struct buf *out, struct str foreign, enum term_mode mode);

/*
 * The same for a stream of chunks: a character may be cut between two of them.
 * term_stream_end() shows what was left over.
 */
struct term_stream {
	enum term_mode mode;
	char carry[4];
	size_t carried;
};

void term_stream_add(struct term_stream *s, struct buf *out, struct str chunk);
void term_stream_end(struct term_stream *s, struct buf *out);

#endif
