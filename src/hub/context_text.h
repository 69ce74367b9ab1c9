/*
 * An item of memory.context as Markdown, or without its marks. Who prints it and who finds out whether it
 * fits ask the same function, so that a budget holds for what is printed.
 */
#ifndef ARBOR_HUB_CONTEXT_TEXT_H
#define ARBOR_HUB_CONTEXT_TEXT_H

#include "base/arena.h"
#include "base/json.h"

/* A heading and a line, each with what stands before it and a line end behind it; all of it fit for a terminal. */
struct context_text {
	const char *front;
	struct str heading; /* empty = there is none, and nothing before it */
	const char *mark;
	struct str line;
};

/* `first` of its section: with the heading of that. */
void context_text(const struct json *j, bool plain, bool first, struct arena *mem, struct context_text *out);

/* How many characters that is. */
size_t context_text_size(const struct context_text *t);

/* Of any text, as people count. */
size_t context_characters(struct str text);

#endif
